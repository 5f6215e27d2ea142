/*
 * Edge lists: one line an edge.
 *
 *     # comment
 *     directed                        every line is one way (else each gives a link both ways)
 *     node ID KIND [X [Y [Z [W]]]]    for nodes that are no chips, or that no edge mentions
 *     FROM TO [RATE [LATENCY [KIND]]]
 *
 * Ids are whole numbers from 0; there are as many nodes as the largest id + 1, as in igraph's edge
 * lists ("0 1" lines alone). igraph's reader is not used: it knows no columns, comments or line
 * numbers.
 */
#include <string.h>

#include "base/quantity.h"
#include "topo/graph_internal.h"

#define COLUMNS_MAX (3 + TOPO_AXES_MAX)
#define NODE_ID_MAX 9999999

struct node_row {
    uint32_t node;
    int line;
    const char *kind, *axis[TOPO_AXES_MAX];
};

struct edge_row {
    uint32_t from, to;
    int line;
    const char *cell[3]; /* rate, latency, kind; "" when short */
};

struct rows {
    struct graph_table *table;
    uint32_t nodes; /* largest id + 1 */
    uint32_t node_rows, node_capacity, edge_rows, edge_capacity, axes;
    struct node_row *node;
    struct edge_row *edge;
};

/* Cut `line` into words; COLUMNS_MAX + 1 means more than that. */
static uint32_t split(char *line, char *word[COLUMNS_MAX])
{
    uint32_t count = 0;
    char *rest = NULL;
    for (char *at = strtok_r(line, " \t\r", &rest); at != NULL;
         at = strtok_r(NULL, " \t\r", &rest)) {
        if (count == COLUMNS_MAX) return COLUMNS_MAX + 1;
        word[count++] = at;
    }
    return count;
}

static enum sim_status read_id(struct rows *rows, const char *text, int line, struct sim_error *err,
                               uint32_t *out)
{
    char quote[SIM_QUOTE_TEXT];
    struct sim_error why = {0};
    uint64_t id = 0;
    if (sim_count_parse(text, 0, NODE_ID_MAX, &why, &id) != SIM_OK)
        return sim_error_at(err, SIM_EDATA, rows->table->file, line, 0,
                            "%s is no node, want a whole number from 0 to 9,999,999",
                            sim_error_quote(text, quote));
    *out = (uint32_t)id;
    if (*out >= rows->nodes) rows->nodes = *out + 1;
    return SIM_OK;
}

static enum sim_status read_node(struct rows *rows, char *word[], uint32_t words, int line,
                                 struct sim_error *err)
{
    struct node_row row = {.line = line};
    if (words < 3 || words > 3 + TOPO_AXES_MAX)
        return sim_error_at(err, SIM_EDATA, rows->table->file, line, 0,
                            "want \"node ID KIND\" and at most %d coordinates", TOPO_AXES_MAX);
    SIM_TRY(read_id(rows, word[1], line, err, &row.node));
    row.kind = word[2];
    for (uint32_t a = 0; a < TOPO_AXES_MAX; a++)
        row.axis[a] = 3 + a < words ? word[3 + a] : "";
    if (words - 3 > rows->axes) rows->axes = words - 3;
    SIM_GROW(rows->node, rows->node_capacity, rows->node_rows + 1);
    rows->node[rows->node_rows++] = row;
    return SIM_OK;
}

static enum sim_status read_edge(struct rows *rows, char *word[], uint32_t words, int line,
                                 struct sim_error *err)
{
    struct edge_row row = {.line = line};
    if (words < 2 || words > 5)
        return sim_error_at(err, SIM_EDATA, rows->table->file, line, 0,
                            "found %s words, want FROM TO [RATE [LATENCY [KIND]]], as in "
                            "0 1 45GB/s 1us",
                            words < 2 ? "too few" : "too many");
    SIM_TRY(read_id(rows, word[0], line, err, &row.from));
    SIM_TRY(read_id(rows, word[1], line, err, &row.to));
    for (uint32_t i = 0; i < 3; i++)
        row.cell[i] = 2 + i < words ? word[2 + i] : "";
    if (rows->edge_rows == GRAPH_LINKS_MAX)
        return sim_error_at(err, SIM_EDATA, rows->table->file, line, 0,
                            "too many links, want at most 16,000,000");
    SIM_GROW(rows->edge, rows->edge_capacity, rows->edge_rows + 1);
    rows->edge[rows->edge_rows++] = row;
    return SIM_OK;
}

static enum sim_status read_line(struct rows *rows, char *text, int line, struct sim_error *err)
{
    char *word[COLUMNS_MAX];
    uint32_t words;
    text[strcspn(text, "#")] = 0;
    words = split(text, word);
    if (words == 0) return SIM_OK;
    if (strcmp(word[0], "node") == 0) return read_node(rows, word, words, line, err);
    if (words > 1 || strcmp(word[0], "directed") != 0)
        return read_edge(rows, word, words, line, err);
    rows->table->is_directed = true;
    return SIM_OK;
}

/* ---- rows to columns ---- */

static const char **new_column(struct graph_table *table, uint32_t count)
{
    const char **text = SIM_ARENA_NEW(table->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++)
        text[i] = "";
    return text;
}

static enum sim_status fill_nodes(struct rows *rows, struct sim_error *err)
{
    struct graph_table *table = rows->table;
    table->nodes = rows->nodes;
    table->node_kind.text = new_column(table, rows->nodes);
    for (uint32_t a = 0; a < rows->axes; a++)
        table->node_axis[a].text = new_column(table, rows->nodes);
    for (uint32_t i = 0; i < rows->node_rows; i++) {
        const struct node_row *row = &rows->node[i];
        if (table->node_kind.text[row->node][0] != 0)
            return sim_error_at(err, SIM_EDATA, table->file, row->line, 0, "node %u is given twice",
                                row->node);
        table->node_kind.text[row->node] = row->kind;
        for (uint32_t a = 0; a < rows->axes; a++)
            table->node_axis[a].text[row->node] = row->axis[a];
    }
    return SIM_OK;
}

static void fill_edges(struct rows *rows)
{
    struct graph_table *table = rows->table;
    struct graph_column *column[3] = {&table->rate, &table->latency, &table->kind};
    table->edges = rows->edge_rows;
    table->from = SIM_ARENA_NEW(table->arena, uint32_t, table->edges);
    table->to = SIM_ARENA_NEW(table->arena, uint32_t, table->edges);
    table->line = SIM_ARENA_NEW(table->arena, int, table->edges);
    for (uint32_t i = 0; i < table->edges; i++) {
        const struct edge_row *row = &rows->edge[i];
        table->from[i] = row->from;
        table->to[i] = row->to;
        table->line[i] = row->line;
        for (uint32_t c = 0; c < 3; c++) {
            if (row->cell[c][0] == 0) continue;
            if (column[c]->text == NULL) column[c]->text = new_column(table, table->edges);
            column[c]->text[i] = row->cell[c];
        }
    }
}

enum sim_status topo_graph_read_edges(char *text, struct sim_error *err, struct graph_table *out)
{
    struct rows rows = {.table = out};
    enum sim_status status = SIM_OK;
    int line = 0;
    for (char *at = text; at != NULL && status == SIM_OK;) {
        char *next = strchr(at, '\n');
        if (next != NULL) *next++ = 0;
        status = read_line(&rows, at, ++line, err);
        at = next;
    }
    if (status == SIM_OK) status = fill_nodes(&rows, err);
    if (status == SIM_OK) fill_edges(&rows);
    sim_free(rows.node);
    sim_free(rows.edge);
    return status;
}
