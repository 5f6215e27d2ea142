/*
 * "graph:FILE": read a graph file, check what it says, and make a topology of it.
 *
 * The format goes by the file's ending, else by its content. Nodes are numbered in the order the
 * file first mentions them, chips first, then switches. Every edge of an undirected file is a link
 * each way; a directed file must have both. An attribute is given for all links or for none: a
 * missing one in between is far more often a mistake than a wish for the default.
 */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/quantity.h"
#include "topo/graph_internal.h"

/* igraph's GML reader takes 24 times the file in memory, the others less than 10. */
#define FILE_BYTES_MAX (256u << 20)
#define GML_BYTES_MAX  (32u << 20)
/* Links between two nodes, one way. A file with more is a mistake, and routing over them
 * hopeless. */
#define PARALLEL_MAX 256

/* ---- the file ---- */

/* All of the file and a zero; false with errno set when it cannot be read. Stops after the most. */
static bool read_all(FILE *file, char **out, size_t *out_bytes)
{
    char *text = NULL;
    size_t bytes = 0, capacity = 0, got;
    do {
        SIM_GROW(text, capacity, bytes + 65536);
        got = fread(text + bytes, 1, capacity - bytes - 1, file);
        bytes += got;
    } while (got > 0 && bytes <= FILE_BYTES_MAX);
    text[bytes] = 0;
    *out = text;
    *out_bytes = bytes;
    return ferror(file) == 0;
}

static enum sim_status load(const char *path, struct sim_error *err, char **text, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return sim_error_at(err, SIM_ENOINPUT, path, 0, 0, "cannot open: %s", strerror(errno));
    enum sim_status status = SIM_OK;
    if (!read_all(file, text, bytes))
        status = sim_error_at(err, SIM_ENOINPUT, path, 0, 0, "cannot read: %s", strerror(errno));
    fclose(file);
    return status;
}

/* Bytes of the well-formed UTF-8 character at `u` (overlong forms and surrogates pass), or 0. */
static size_t character_bytes(const unsigned char *u)
{
    size_t length = u[0] < 0x80 ? 1 : u[0] < 0xC2 ? 0 : u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    if (u[0] > 0xF4) return 0;
    for (size_t i = 1; i < length; i++)
        if ((u[i] & 0xC0) != 0x80) return 0;
    return length;
}

static enum sim_status check_text(const char *path, const char *text, size_t bytes,
                                  struct sim_error *err)
{
    int line = 1;
    if (bytes > FILE_BYTES_MAX)
        return sim_error_at(err, SIM_EDATA, path, 0, 0, "is larger than %u MiB",
                            FILE_BYTES_MAX >> 20);
    for (size_t at = 0, length; at < bytes; at += length) {
        length = text[at] == 0 ? 0 : character_bytes((const unsigned char *)text + at);
        if (length == 0)
            return sim_error_at(err, SIM_EDATA, path, line, 0, "is not text in UTF-8 (byte 0x%02X)",
                                (unsigned char)text[at]);
        line += text[at] == '\n' && line < INT_MAX;
    }
    if (text[strspn(text, " \t\r\n")] == 0)
        return sim_error_at(err, SIM_EDATA, path, 0, 0, "is empty");
    return SIM_OK;
}

/* XML starts with "<", GML has "graph [" somewhere; anything else may be an edge list. */
static enum topo_graph_format sniff(const char *text)
{
    if (text[strspn(text, " \t\r\n")] == '<') return TOPO_GRAPH_GRAPHML;
    for (const char *at = strstr(text, "graph"); at != NULL; at = strstr(at + 1, "graph"))
        if (at[5 + strspn(at + 5, " \t\r\n")] == '[') return TOPO_GRAPH_GML;
    return TOPO_GRAPH_EDGES;
}

/* igraph's XML reader drops entities without saying so in its status. */
static enum sim_status check_entities(const char *path, const char *text, struct sim_error *err)
{
    const char *found = strstr(text, "<!ENTITY");
    int line = 1;
    if (found == NULL) return SIM_OK;
    for (const char *at = text; at < found; at++)
        line += *at == '\n' && line < INT_MAX;
    return sim_error_at(err, SIM_EDATA, path, line, 0, "defines an XML entity, which is not read");
}

static enum sim_status read_table(char *text, size_t bytes, struct sim_error *err,
                                  struct graph_table *table)
{
    enum topo_graph_format format;
    if (!topo_graph_format_of(table->file, &format)) format = sniff(text);
    if (format == TOPO_GRAPH_DOT)
        return sim_error_at(err, SIM_EDATA, table->file, 0, 0,
                            "DOT is written, not read, want .graphml, .gml or .edges");
    if (format == TOPO_GRAPH_EDGES) return topo_graph_read_edges(text, err, table);
    if (format == TOPO_GRAPH_GML && bytes > GML_BYTES_MAX)
        return sim_error_at(err, SIM_EDATA, table->file, 0, 0,
                            "is larger than %u MiB, the most for GML; GraphML may be larger",
                            GML_BYTES_MAX >> 20);
    if (format == TOPO_GRAPH_GRAPHML) SIM_TRY(check_entities(table->file, text, err));
    return topo_graph_read_igraph(text, bytes, format, err, table);
}

enum sim_status topo_graph_file_build(topo *t, const char *path, const struct topo_options *options,
                                      struct sim_error *err)
{
    struct graph_table table = {.file = path};
    char *text = NULL;
    size_t bytes = 0;
    if (path[0] == 0)
        return sim_error_set(err, SIM_EDATA, "topology %s names no file, as in graph:pod.graphml",
                             t->spec);
    table.arena = sim_arena_create();
    enum sim_status status = load(path, err, &text, &bytes);
    if (status == SIM_OK) status = check_text(path, text, bytes, err);
    if (status == SIM_OK) status = read_table(text, bytes, err, &table);
    if (status == SIM_OK) status = topo_graph_assemble(t, &table, options, err);
    sim_free(text);
    sim_arena_destroy(table.arena);
    return status;
}

/* ---- values ---- */

struct assembly {
    const struct graph_table *table;
    topo_node_id *node; /* [table->nodes] number of each node of the file */
    uint32_t chips, switches;
    double bytes_per_s; /* where the file has no rates */
    sim_ps latency_ps;
};

static bool has_column(const struct graph_column *column)
{
    return column->number != NULL || column->text != NULL;
}

/* A cell as text ("" when not given); `buffer` holds numbers. */
static const char *cell(const struct graph_column *column, uint32_t i, char *buffer)
{
    if (column->text != NULL) return column->text[i];
    if (column->number == NULL || isnan(column->number[i])) return "";
    if (isinf(column->number[i])) return column->number[i] > 0 ? "inf" : "-inf";
    return sim_double_format(column->number[i], buffer);
}

/* A node in messages: its name in the file, or its place there. */
static const char *node_text(const struct graph_table *table, uint32_t i, char *buffer)
{
    char number[SIM_QUANTITY_TEXT];
    const char *name = cell(&table->node_name, i, number);
    if (name[0] != 0) return sim_error_quote(name, buffer);
    snprintf(buffer, SIM_QUOTE_TEXT, "%u", i);
    return buffer;
}

/* "the link from A to B" and what is wrong with it. */
static enum sim_status link_error(const struct graph_table *table, uint32_t edge,
                                  struct sim_error *err, const char *what)
{
    char a[SIM_QUOTE_TEXT], b[SIM_QUOTE_TEXT];
    return sim_error_at(err, SIM_EDATA, table->file, table->line != NULL ? table->line[edge] : 0, 0,
                        "the link from %s to %s %s", node_text(table, table->from[edge], a),
                        node_text(table, table->to[edge], b), what);
}

/* A plain decimal number and nothing else; strtod() alone would take "inf", "nan" and hex. */
static bool parse_number(const char *text, double *out)
{
    char *end;
    if (text[0] == 0 || text[strspn(text, "0123456789+-.eE")] != 0) return false;
    *out = strtod(text, &end);
    return *end == 0 && end != text;
}

static enum sim_status check_given(const struct graph_table *table, uint32_t edge, const char *text,
                                   const char *name, struct sim_error *err)
{
    char what[128];
    if (text[0] != 0) return SIM_OK;
    snprintf(what, sizeof what, "has no %s (or NaN); give every link one, or none", name);
    return link_error(table, edge, err, what);
}

static enum sim_status read_rate(const struct assembly *as, uint32_t edge, struct sim_error *err,
                                 double *out)
{
    char number[SIM_QUANTITY_TEXT], quote[SIM_QUOTE_TEXT], what[300];
    struct sim_error why = {0};
    *out = as->bytes_per_s;
    if (!has_column(&as->table->rate)) return SIM_OK;
    const char *text = cell(&as->table->rate, edge, number);
    SIM_TRY(check_given(as->table, edge, text, "rate", err));
    if (parse_number(text, out) ? *out > 0 && *out <= DBL_MAX
                                : sim_rate_parse(text, &why, out) == SIM_OK)
        return SIM_OK;
    snprintf(what, sizeof what,
             "has rate %s, want a positive number of bytes/s or a text such as \"45 GB/s\"",
             sim_error_quote(text, quote));
    return link_error(as->table, edge, err, what);
}

static enum sim_status read_latency(const struct assembly *as, uint32_t edge, struct sim_error *err,
                                    sim_ps *out)
{
    char number[SIM_QUANTITY_TEXT], quote[SIM_QUOTE_TEXT], what[300];
    struct sim_error why = {0};
    double seconds;
    *out = as->latency_ps;
    if (!has_column(&as->table->latency)) return SIM_OK;
    const char *text = cell(&as->table->latency, edge, number);
    SIM_TRY(check_given(as->table, edge, text, "latency", err));
    bool is_good;
    if (parse_number(text, &seconds)) {
        is_good = seconds >= 0 && seconds <= 1;
        if (is_good) *out = (sim_ps)llround(seconds * (double)SIM_PS_PER_S);
    } else {
        is_good = sim_time_parse(text, &why, out) == SIM_OK && *out <= GRAPH_LATENCY_MAX_PS;
    }
    if (is_good) return SIM_OK;
    snprintf(what, sizeof what,
             "has latency %s, want seconds from 0 to 1 or a text such as \"1us\"",
             sim_error_quote(text, quote));
    return link_error(as->table, edge, err, what);
}

static enum sim_status read_kind(const struct assembly *as, uint32_t edge, struct sim_error *err,
                                 enum topo_link_kind *out)
{
    char number[SIM_QUANTITY_TEXT], quote[SIM_QUOTE_TEXT], what[300];
    const struct graph_table *table = as->table;
    bool has_switch =
        as->node[table->from[edge]] >= as->chips || as->node[table->to[edge]] >= as->chips;
    *out = has_switch ? TOPO_SWITCH : TOPO_COPPER;
    const char *text = cell(&table->kind, edge, number);
    if (text[0] == 0) return SIM_OK;
    for (int kind = TOPO_COPPER; kind <= TOPO_DCN; kind++) {
        if (strcmp(text, topo_link_kind_names[kind]) != 0) continue;
        *out = (enum topo_link_kind)kind;
        return SIM_OK;
    }
    snprintf(what, sizeof what, "has kind %s, want copper, optical, switch or dcn",
             sim_error_quote(text, quote));
    return link_error(table, edge, err, what);
}

/* ---- nodes ---- */

static enum sim_status is_switch(const struct graph_table *table, uint32_t i, struct sim_error *err,
                                 bool *out)
{
    char number[SIM_QUANTITY_TEXT], kind[SIM_QUOTE_TEXT], node[SIM_QUOTE_TEXT];
    const char *text = cell(&table->node_kind, i, number);
    *out = strcmp(text, "switch") == 0;
    if (*out || text[0] == 0 || strcmp(text, "chip") == 0) return SIM_OK;
    return sim_error_at(err, SIM_EDATA, table->file, 0, 0,
                        "node %s has kind %s, want chip or switch", node_text(table, i, node),
                        sim_error_quote(text, kind));
}

/* Chips in the order of the file, then switches. */
static enum sim_status number_nodes(struct assembly *as, struct sim_error *err)
{
    const struct graph_table *table = as->table;
    bool found;
    for (uint32_t i = 0; i < table->nodes; i++) {
        SIM_TRY(is_switch(table, i, err, &found));
        as->node[i] = found ? as->switches++ : as->chips++;
    }
    for (uint32_t i = 0; i < table->nodes; i++) {
        SIM_TRY(is_switch(table, i, err, &found));
        if (found) as->node[i] += as->chips;
    }
    if (as->chips == 0)
        return sim_error_at(err, SIM_EDATA, table->file, 0, 0, "has no chip, want at least one");
    return SIM_OK;
}

/* A chip's coordinate, or false when it has none that makes sense. */
static bool read_coord(const struct graph_table *table, uint32_t axis, uint32_t i, uint32_t *out)
{
    char number[SIM_QUANTITY_TEXT];
    double value;
    if (!parse_number(cell(&table->node_axis[axis], i, number), &value)) return false;
    if (!(value >= 0 && value < TOPO_NONE - 1 && value == floor(value))) return false;
    *out = (uint32_t)value;
    return true;
}

/* The grid that the chips' coordinates fill, x fastest in chip order: as exported files have it.
 * False for anything else, such as places in a drawing. */
static bool read_grid(const struct assembly *as, struct topo_lattice *grid)
{
    const struct graph_table *table = as->table;
    uint32_t size[TOPO_AXES_MAX] = {0}, axes = 0, coord;
    while (axes < TOPO_AXES_MAX && has_column(&table->node_axis[axes]))
        axes++;
    uint64_t chips = 1;
    for (uint32_t a = 0; a < axes; a++) {
        for (uint32_t i = 0; i < table->nodes; i++) {
            if (as->node[i] >= as->chips) continue;
            if (!read_coord(table, a, i, &coord)) return false;
            if (coord >= size[a]) size[a] = coord + 1;
        }
        chips *= size[a];
        if (chips > as->chips) return false;
    }
    if (axes == 0 || chips != as->chips) return false;
    for (uint32_t a = 0, stride = 1; a < axes; stride *= size[a++])
        for (uint32_t i = 0; i < table->nodes; i++)
            if (as->node[i] < as->chips && read_coord(table, a, i, &coord) &&
                coord != as->node[i] / stride % size[a])
                return false;
    grid->axes = axes;
    memcpy(grid->size, size, sizeof size);
    return true;
}

/* ---- links ---- */

static enum sim_status read_links(const struct assembly *as, struct topo_edges *edges,
                                  struct sim_error *err)
{
    const struct graph_table *table = as->table;
    if (table->edges > GRAPH_LINKS_MAX / (table->is_directed ? 1 : 2))
        return sim_error_at(err, SIM_EDATA, table->file, 0, 0,
                            "has more than 16,000,000 links (an undirected edge is two)");
    for (uint32_t i = 0; i < table->edges; i++) {
        struct topo_edge e = {.from = as->node[table->from[i]], .to = as->node[table->to[i]]};
        if (e.from == e.to) return link_error(table, i, err, "leads from a node to itself");
        SIM_TRY(read_rate(as, i, err, &e.bytes_per_s));
        SIM_TRY(read_latency(as, i, err, &e.latency_ps));
        SIM_TRY(read_kind(as, i, err, &e.kind));
        if (!table->is_directed) {
            topo_edges_add(edges, e.from, e.to, e.bytes_per_s, e.latency_ps, e.kind);
            continue;
        }
        SIM_GROW(edges->edge, edges->capacity, edges->count + 1);
        edges->edge[edges->count++] = e;
    }
    return SIM_OK;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many of the sorted keys are `key`. */
static uint32_t count_key(const uint64_t *sorted, uint32_t count, uint64_t key)
{
    uint32_t low = 0, high = count, found = 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + found < count && sorted[low + found] == key)
        found++;
    return found;
}

/* Nodes that a topology numbered a and b, as the file calls them. */
static enum sim_status pair_error(const struct assembly *as, uint64_t key, struct sim_error *err,
                                  uint32_t there, uint32_t back)
{
    char from[SIM_QUOTE_TEXT] = "", to[SIM_QUOTE_TEXT] = "";
    for (uint32_t i = 0; i < as->table->nodes; i++) {
        if (as->node[i] == key >> 32) node_text(as->table, i, from);
        if (as->node[i] == (key & UINT32_MAX)) node_text(as->table, i, to);
    }
    if (there > PARALLEL_MAX)
        return sim_error_at(err, SIM_EDATA, as->table->file, 0, 0,
                            "%u links lead from %s to %s, want at most %d", there, from, to,
                            PARALLEL_MAX);
    return sim_error_at(err, SIM_EDATA, as->table->file, 0, 0,
                        "%u links lead from %s to %s and %u back; a directed graph needs both "
                        "ways, an undirected one gives them",
                        there, from, to, back);
}

/* As many links back as there, and not too many. */
static enum sim_status check_pairs(const struct assembly *as, const struct topo_edges *edges,
                                   struct sim_error *err)
{
    enum sim_status status = SIM_OK;
    uint64_t *key = SIM_NEW(uint64_t, edges->count);
    for (uint32_t i = 0; i < edges->count; i++)
        key[i] = (uint64_t)edges->edge[i].from << 32 | edges->edge[i].to;
    qsort(key, edges->count, sizeof *key, compare_u64);
    for (uint32_t i = 0, there; i < edges->count && status == SIM_OK; i += there) {
        there = count_key(key, edges->count, key[i]);
        uint32_t back = count_key(key, edges->count, key[i] << 32 | key[i] >> 32);
        if (there > PARALLEL_MAX || there != back)
            status = pair_error(as, key[i], err, there, back);
    }
    sim_free(key);
    return status;
}

/* ---- all together ---- */

/* Options are what links get that the file says nothing about. */
static enum sim_status take_options(struct assembly *as, const struct topo_options *options,
                                    struct sim_error *err)
{
    bool has_rates = has_column(&as->table->rate), has_latencies = has_column(&as->table->latency);
    as->bytes_per_s =
        options->link_bytes_per_s > 0 ? options->link_bytes_per_s : GRAPH_LINK_BYTES_PER_S;
    as->latency_ps = options->latency_ps >= 0 ? options->latency_ps : GRAPH_LATENCY_PS;
    if (options->link_bytes_per_s > 0 && has_rates)
        return sim_error_at(err, SIM_EDATA, as->table->file, 0, 0,
                            "gives the rate of every link, so that no other can be set");
    if (options->latency_ps >= 0 && has_latencies)
        return sim_error_at(err, SIM_EDATA, as->table->file, 0, 0,
                            "gives the latency of every link, so that no other can be set");
    if (as->latency_ps > GRAPH_LATENCY_MAX_PS)
        return sim_error_set(err, SIM_EDATA, "a hop's latency is over 1 s");
    return SIM_OK;
}

static void note_defaults(const struct assembly *as, const struct topo_options *options)
{
    char text[SIM_QUANTITY_TEXT];
    if (as->table->edges == 0) return;
    if (!has_column(&as->table->rate) && options->link_bytes_per_s <= 0)
        sim_log(SIM_LOG_WARN, "%s has no link rates: %s taken for all", as->table->file,
                sim_rate_format(as->bytes_per_s, text));
    if (!has_column(&as->table->latency) && options->latency_ps < 0)
        sim_log(SIM_LOG_WARN, "%s has no link latencies: %s taken for all", as->table->file,
                sim_time_format(as->latency_ps, text));
}

void topo_graph_set_defaults(topo *t)
{
    for (topo_link_id l = 0; l < t->links; l++) {
        if (l == 0 || t->link_rate[l] < t->link_bytes_per_s) t->link_bytes_per_s = t->link_rate[l];
        if (l == 0 || t->link_latency_ps[l] > t->latency_ps) t->latency_ps = t->link_latency_ps[l];
    }
    t->optical_latency_ps = t->latency_ps;
}

static enum sim_status assemble(struct assembly *as, topo *t, const struct topo_options *options,
                                struct sim_error *err)
{
    struct topo_edges edges = {0};
    SIM_TRY(take_options(as, options, err));
    SIM_TRY(number_nodes(as, err));
    t->grid = (struct topo_lattice){.axes = 1, .size = {as->chips}};
    read_grid(as, &t->grid);
    t->link_bytes_per_s = as->bytes_per_s;
    t->latency_ps = t->optical_latency_ps = as->latency_ps;
    t->tie = options->tie;
    enum sim_status status = read_links(as, &edges, err);
    if (status == SIM_OK) status = check_pairs(as, &edges, err);
    if (status == SIM_OK)
        return topo_graph_build(t, &edges, as->chips, as->switches, err); /* releases the edges */
    sim_free(edges.edge);
    return status;
}

enum sim_status topo_graph_assemble(topo *t, const struct graph_table *table,
                                    const struct topo_options *options, struct sim_error *err)
{
    struct assembly as = {.table = table, .node = SIM_NEW(topo_node_id, table->nodes)};
    enum sim_status status = assemble(&as, t, options, err);
    if (status == SIM_OK) {
        topo_graph_set_defaults(t);
        note_defaults(&as, options);
    }
    sim_free(as.node);
    return status;
}
