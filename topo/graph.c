/*
 * Graph files and graph algorithms through igraph; the only file that includes it.
 *
 * igraph's default error handler aborts the process, so ours is set before every use; it keeps the
 * first reason of a failure, which is the most precise one. igraph runs in one thread, and so does
 * what is kept here. Its readers fill attribute tables, from which columns are copied out.
 */
#include <igraph.h>

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/graph_internal.h"
#include "topo/metrics.h"

/* A handler has no context to write to. */
static char first_reason[256];

/* Reasons may quote bytes of a file: keep one printable line. */
static void keep_reason(const char *reason, const char *file, int line, igraph_error_t code)
{
    (void)file, (void)line, (void)code;
    if (first_reason[0] == 0) {
        size_t bytes = 0;
        for (; reason[bytes] != 0 && bytes + 1 < sizeof first_reason; bytes++)
            first_reason[bytes] = isprint((unsigned char)reason[bytes]) ? reason[bytes] : ' ';
        while (bytes > 0 && strchr(" .", first_reason[bytes - 1]) != NULL)
            bytes--;
        first_reason[bytes] = 0;
    }
    IGRAPH_FINALLY_FREE();
}

static void ignore_warning(const char *reason, const char *file, int line)
{
    (void)reason, (void)file, (void)line;
}

static void begin(void)
{
    first_reason[0] = 0;
    igraph_set_error_handler(keep_reason);
    igraph_set_warning_handler(ignore_warning);
}

static enum sim_status failed(igraph_error_t code, struct sim_error *err)
{
    if (code == IGRAPH_ENOMEM)
        return sim_error_set(err, SIM_ERESOURCE, "the graph needs more memory than there is");
    return sim_error_set(err, SIM_EINTERNAL, "igraph: %s",
                         first_reason[0] != 0 ? first_reason : igraph_strerror(code));
}

/* ---- files ---- */

/* "Line 6: Extra content .." or "Parse error in GML file, line 3 (syntax error, ..)". */
static enum sim_status syntax_error(const char *file, const char *content, const char *format,
                                    struct sim_error *err)
{
    const char *text = first_reason, *place = strstr(first_reason, "ine ");
    int line = 0;
    char *end = NULL;
    if (place != NULL) {
        unsigned long found = strtoul(place + 4, &end, 10);
        if (found > 0 && found < INT_MAX) line = (int)found;
    }
    if (line > 0 && place == first_reason + 1 && end[0] == ':') text = end + strspn(end, ": ");
    /* The parser has "Extra content at the end of the document" for it. */
    if (strstr(content, "<graphml") != NULL && strstr(content, "</graphml") == NULL)
        return sim_error_at(err, SIM_EDATA, file, line, 0, "is cut off: </graphml> is missing");
    return sim_error_at(err, SIM_EDATA, file, line, 0, "is no %s that can be read: %s", format,
                        text[0] != 0 ? text : "unknown error");
}

struct source {
    igraph_t graph;
    igraph_strvector_t names[3]; /* of graph, node and edge attributes */
    igraph_vector_int_t types[3];
    sim_arena *arena;
};

/* Where an attribute is among the names, or -1. */
static igraph_integer_t attribute_find(const struct source *s, int element, const char *name)
{
    for (igraph_integer_t i = 0; i < igraph_strvector_size(&s->names[element]); i++)
        if (strcmp(STR(s->names[element], i), name) == 0) return i;
    return -1;
}

static double number_of(const struct source *s, int element, const char *name, uint32_t i)
{
    return element == IGRAPH_ATTRIBUTE_VERTEX ? VAN(&s->graph, name, i) : EAN(&s->graph, name, i);
}

static const char *text_of(const struct source *s, int element, const char *name, uint32_t i)
{
    return element == IGRAPH_ATTRIBUTE_VERTEX ? VAS(&s->graph, name, i) : EAS(&s->graph, name, i);
}

static bool truth_of(const struct source *s, int element, const char *name, uint32_t i)
{
    return element == IGRAPH_ATTRIBUTE_VERTEX ? VAB(&s->graph, name, i) : EAB(&s->graph, name, i);
}

/* Copy an attribute of all nodes or edges; false when the file has none of this name. */
static bool copy_column(const struct source *s, int element, const char *name, uint32_t count,
                        struct graph_column *out)
{
    igraph_integer_t at = attribute_find(s, element, name);
    if (at < 0) return false;
    igraph_attribute_type_t type = (igraph_attribute_type_t)VECTOR(s->types[element])[at];
    if (type == IGRAPH_ATTRIBUTE_NUMERIC) {
        out->number = SIM_ARENA_NEW(s->arena, double, count);
        for (uint32_t i = 0; i < count; i++)
            out->number[i] = number_of(s, element, name, i);
        return true;
    }
    out->text = SIM_ARENA_NEW(s->arena, const char *, count);
    for (uint32_t i = 0; i < count; i++) {
        if (type == IGRAPH_ATTRIBUTE_BOOLEAN)
            out->text[i] = truth_of(s, element, name, i) ? "true" : "false";
        else
            out->text[i] = sim_arena_strdup(s->arena, text_of(s, element, name, i));
    }
    return true;
}

/* The first attribute there is of several names. */
static void copy_first(const struct source *s, int element, const char *const *names,
                       uint32_t count, struct graph_column *out)
{
    while (*names != NULL && !copy_column(s, element, *names, count, out))
        names++;
}

/* Whoever gives links an error rate or a weight wants it to count: what does not is refused, but
 * for names. */
static enum sim_status check_link_attributes(const struct source *s, const char *file,
                                             struct sim_error *err)
{
    static const char *const known[] = {"rate", "latency", "kind", "label", "name", "id", NULL};
    for (igraph_integer_t i = 0; i < igraph_strvector_size(&s->names[IGRAPH_ATTRIBUTE_EDGE]); i++) {
        const char *name = STR(s->names[IGRAPH_ATTRIBUTE_EDGE], i);
        int k = 0;
        while (known[k] != NULL && strcmp(known[k], name) != 0)
            k++;
        if (known[k] == NULL)
            return sim_error_at(
                err, SIM_EDATA, file, 0, 0,
                "gives links a \"%.40s\", which is not modelled; want rate, latency, "
                "kind, and label, name or id",
                name);
    }
    return SIM_OK;
}

static enum sim_status copy_table(const struct source *s, struct sim_error *err,
                                  struct graph_table *out)
{
    static const char *const node_kind[] = {"kind", "type", NULL};
    static const char *const node_name[] = {"label", "name", "id", NULL};
    static const char *const axis[TOPO_AXES_MAX][2] = {{"x"}, {"y"}, {"z"}, {"w"}};
    static const char *const link[3][2] = {{"rate"}, {"latency"}, {"kind"}};
    igraph_integer_t nodes = igraph_vcount(&s->graph), edges = igraph_ecount(&s->graph);
    if (nodes >= TOPO_NONE / 2 || edges >= TOPO_NONE / 2)
        return sim_error_at(err, SIM_EDATA, out->file, 0, 0, "has too many nodes or edges");
    SIM_TRY(check_link_attributes(s, out->file, err));
    out->nodes = (uint32_t)nodes;
    out->edges = (uint32_t)edges;
    out->is_directed = igraph_is_directed(&s->graph);
    copy_first(s, IGRAPH_ATTRIBUTE_VERTEX, node_kind, out->nodes, &out->node_kind);
    copy_first(s, IGRAPH_ATTRIBUTE_VERTEX, node_name, out->nodes, &out->node_name);
    for (int a = 0; a < TOPO_AXES_MAX; a++)
        copy_first(s, IGRAPH_ATTRIBUTE_VERTEX, axis[a], out->nodes, &out->node_axis[a]);
    copy_first(s, IGRAPH_ATTRIBUTE_EDGE, link[0], out->edges, &out->rate);
    copy_first(s, IGRAPH_ATTRIBUTE_EDGE, link[1], out->edges, &out->latency);
    copy_first(s, IGRAPH_ATTRIBUTE_EDGE, link[2], out->edges, &out->kind);
    out->from = SIM_ARENA_NEW(out->arena, uint32_t, out->edges);
    out->to = SIM_ARENA_NEW(out->arena, uint32_t, out->edges);
    for (uint32_t i = 0; i < out->edges; i++) {
        igraph_integer_t from = IGRAPH_FROM(&s->graph, i), to = IGRAPH_TO(&s->graph, i);
        /* igraph turns undirected edges to lead from the larger node; the smaller reads better. */
        out->from[i] = (uint32_t)(out->is_directed ? from : to);
        out->to[i] = (uint32_t)(out->is_directed ? to : from);
    }
    return SIM_OK;
}

static enum sim_status read_source(struct source *s, struct sim_error *err, struct graph_table *out)
{
    enum sim_status status = SIM_OK;
    for (int e = 0; e < 3; e++) {
        igraph_error_t code = igraph_strvector_init(&s->names[e], 0);
        if (code == IGRAPH_SUCCESS) code = igraph_vector_int_init(&s->types[e], 0);
        assert(code == IGRAPH_SUCCESS);
        (void)code;
    }
    igraph_error_t code =
        igraph_cattribute_list(&s->graph, &s->names[0], &s->types[0], &s->names[1], &s->types[1],
                               &s->names[2], &s->types[2]);
    status = code == IGRAPH_SUCCESS ? copy_table(s, err, out) : failed(code, err);
    for (int e = 0; e < 3; e++) {
        igraph_strvector_destroy(&s->names[e]);
        igraph_vector_int_destroy(&s->types[e]);
    }
    return status;
}

/* Numbers have a decimal point, whatever the locale. */
static igraph_error_t read_graph(FILE *file, enum topo_graph_format format, igraph_t *graph)
{
    igraph_safelocale_t locale;
    igraph_error_t code = igraph_enter_safelocale(&locale);
    if (code != IGRAPH_SUCCESS) return code;
    code = format == TOPO_GRAPH_GML ? igraph_read_graph_gml(graph, file)
                                    : igraph_read_graph_graphml(graph, file, 0);
    igraph_exit_safelocale(&locale);
    return code;
}

enum sim_status topo_graph_read_igraph(const char *text, size_t bytes,
                                       enum topo_graph_format format, struct sim_error *err,
                                       struct graph_table *out)
{
    struct source s = {.arena = out->arena};
    FILE *file = fmemopen((void *)(uintptr_t)text, bytes, "r");
    if (file == NULL)
        return sim_error_at(err, SIM_ERESOURCE, out->file, 0, 0, "cannot be read from memory");
    begin();
    igraph_set_attribute_table(&igraph_cattribute_table);
    igraph_error_t code = read_graph(file, format, &s.graph);
    fclose(file);
    if (code != IGRAPH_SUCCESS)
        return syntax_error(out->file, text, format == TOPO_GRAPH_GML ? "GML" : "GraphML", err);
    enum sim_status status = read_source(&s, err, out);
    igraph_destroy(&s.graph);
    return status;
}

/* ---- topologies as graphs ---- */

/* Nodes and links as they are; edge ids are link ids. */
static enum sim_status graph_of(const topo *t, struct sim_error *err, igraph_t *graph)
{
    begin();
    igraph_integer_t *ends = SIM_NEW(igraph_integer_t, 2 * (size_t)topo_links(t));
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        ends[2 * (size_t)l] = topo_link_from(t, l);
        ends[2 * (size_t)l + 1] = topo_link_to(t, l);
    }
    igraph_vector_int_t view;
    igraph_vector_int_view(&view, ends, 2 * (igraph_integer_t)topo_links(t));
    igraph_error_t code = igraph_create(graph, &view, topo_nodes(t), IGRAPH_DIRECTED);
    sim_free(ends);
    return code == IGRAPH_SUCCESS ? SIM_OK : failed(code, err);
}

/* Distances from one chip to all chips, into `row`. */
static igraph_error_t distances_from(const igraph_t *graph, topo_chip_id from, uint32_t chips,
                                     igraph_matrix_t *row)
{
    return igraph_distances(graph, row, igraph_vss_1(from), igraph_vss_range(0, chips), IGRAPH_OUT);
}

enum sim_status topo_graph_distances(const topo *t, struct sim_error *err, uint32_t *diameter,
                                     double *mean_hops)
{
    igraph_t graph;
    igraph_matrix_t row;
    uint32_t chips = topo_chips(t);
    double longest = 0, sum = 0;
    SIM_TRY(graph_of(t, err, &graph));
    igraph_error_t code = igraph_matrix_init(&row, 1, chips);
    for (topo_chip_id c = 0; c < chips && code == IGRAPH_SUCCESS; c++) {
        code = distances_from(&graph, c, chips, &row);
        for (topo_chip_id d = 0; d < chips && code == IGRAPH_SUCCESS; d++) {
            sum += MATRIX(row, 0, d);
            if (MATRIX(row, 0, d) > longest) longest = MATRIX(row, 0, d);
        }
    }
    igraph_matrix_destroy(&row);
    igraph_destroy(&graph);
    if (code != IGRAPH_SUCCESS) return failed(code, err);
    *diameter = (uint32_t)longest;
    *mean_hops = sum / chips / chips;
    return SIM_OK;
}

/* ---- edge betweenness ---- */

#define BETWEENNESS_STEPS_MAX UINT64_C(4000000000)

/* The first link within rounding of the largest. */
static topo_link_id first_largest(const igraph_vector_t *value)
{
    const double rounding = 1e-9; /* sums of 1/n over at most 4e8 pairs */
    double most = igraph_vector_max(value);
    topo_link_id link = 0;
    while (VECTOR(*value)[link] < most * (1 - rounding))
        link++;
    return link;
}

enum sim_status topo_graph_betweenness(const topo *t, struct sim_error *err, double *most,
                                       topo_link_id *link)
{
    igraph_t graph;
    igraph_vector_t value;
    *most = 0;
    *link = TOPO_NONE;
    if (topo_links(t) == 0) return SIM_OK;
    if ((uint64_t)topo_chips(t) * topo_links(t) > BETWEENNESS_STEPS_MAX)
        return sim_error_set(err, SIM_ERESOURCE,
                             "topology %s is too large for edge betweenness (%u chips times %u "
                             "links, want at most 4e9)",
                             topo_spec(t), topo_chips(t), topo_links(t));
    SIM_TRY(graph_of(t, err, &graph));
    igraph_vs_t chips = igraph_vss_range(0, topo_chips(t));
    igraph_error_t code = igraph_vector_init(&value, 0);
    if (code == IGRAPH_SUCCESS) {
        code = igraph_edge_betweenness_subset(&graph, &value, igraph_ess_all(IGRAPH_EDGEORDER_ID),
                                              IGRAPH_DIRECTED, chips, chips, NULL);
        if (code == IGRAPH_SUCCESS) *link = first_largest(&value);
        if (code == IGRAPH_SUCCESS) *most = VECTOR(value)[*link];
        igraph_vector_destroy(&value);
    }
    igraph_destroy(&graph);
    return code == IGRAPH_SUCCESS ? SIM_OK : failed(code, err);
}

/* ---- isomorphism ----
 *
 * igraph's isomorphism tests want simple graphs. Parallel links a -> b are merged into one, whose
 * colour says how many there are of each kind; and a coloured link becomes two nodes,
 *
 *      a --- tail --- head --- b          colours 2 + 2 k and 3 + 2 k for the k-th colour
 *
 * so that bliss, which colours nodes and knows no directions, compares colours and directions of
 * links as well. Cables with the most common colour both ways need no nodes: they are an edge
 * (full:300 takes 0.3 s instead of 33). bliss is fast on the symmetric graphs at hand, where VF2
 * (which has edge colours) takes exponential time to say no. Chips have colour 0, switches 1.
 */

#define ISOMORPHISM_LINKS_MAX 2000000

struct merged {
    uint64_t key, colour; /* from << 32 | to; 16 bits with the number of links of each kind */
};

struct merged_links {
    uint32_t count;
    struct merged *link;
};

static int compare_merged(const void *a, const void *b)
{
    const struct merged *x = a, *y = b;
    return (x->key > y->key) - (x->key < y->key);
}

static struct merged_links merge_links(const topo *t, bool has_kinds)
{
    struct merged_links m = {.link = SIM_NEW(struct merged, topo_links(t))};
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        int kind = has_kinds ? (int)topo_link_kind(t, l) : 0;
        m.link[l] = (struct merged){(uint64_t)topo_link_from(t, l) << 32 | topo_link_to(t, l),
                                    UINT64_C(1) << 16 * kind};
    }
    qsort(m.link, topo_links(t), sizeof *m.link, compare_merged);
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        if (m.count > 0 && m.link[m.count - 1].key == m.link[l].key)
            m.link[m.count - 1].colour += m.link[l].colour;
        else
            m.link[m.count++] = m.link[l];
    }
    return m;
}

static int compare_u64(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Sorted colours of links, for numbering them. Owned by the caller. */
static uint64_t *sorted_colours(const struct merged_links *m)
{
    uint64_t *colour = SIM_NEW(uint64_t, m->count);
    for (uint32_t i = 0; i < m->count; i++)
        colour[i] = m->link[i].colour;
    qsort(colour, m->count, sizeof *colour, compare_u64);
    return colour;
}

/* Where a colour first is among the sorted ones: its number. */
static uint32_t colour_number(const uint64_t *sorted, uint32_t count, uint64_t colour)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sorted[middle] < colour)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The colour that most links have; of equals the lowest. 0 without links. */
static uint64_t most_common(const uint64_t *sorted, uint32_t count)
{
    uint32_t most = 0;
    uint64_t colour = 0;
    for (uint32_t i = 0, same; i < count; i += same) {
        for (same = 1; i + same < count && sorted[i + same] == sorted[i]; same++)
            continue;
        if (same <= most) continue;
        most = same;
        colour = sorted[i];
    }
    return colour;
}

/* Do both ways of link i have this colour? */
static bool is_common(const struct merged_links *m, uint32_t i, uint64_t common)
{
    struct merged back = {.key = m->link[i].key << 32 | m->link[i].key >> 32};
    if (m->link[i].colour != common) return false;
    const struct merged *found = bsearch(&back, m->link, m->count, sizeof *m->link, compare_merged);
    return found != NULL && found->colour == common;
}

struct coloured {
    igraph_t graph;
    igraph_vector_int_t colour;
};

/* Edges of the coloured graph into `ends` ([6 * links]) and colours of link nodes, as they come.
 * Returns how many numbers `ends` has. */
static igraph_integer_t coloured_ends(const struct merged_links *m, const uint64_t *sorted,
                                      igraph_integer_t *ends, igraph_vector_int_t *colour)
{
    igraph_integer_t *end = ends;
    uint64_t common = most_common(sorted, m->count);
    for (uint32_t i = 0; i < m->count; i++) {
        igraph_integer_t from = (igraph_integer_t)(m->link[i].key >> 32);
        igraph_integer_t to = (igraph_integer_t)(m->link[i].key & UINT32_MAX);
        if (is_common(m, i, common)) {
            if (from > to) continue; /* the other way is this edge */
            *end++ = from;
            *end++ = to;
            continue;
        }
        igraph_integer_t tail = igraph_vector_int_size(colour);
        igraph_integer_t number = colour_number(sorted, m->count, m->link[i].colour);
        igraph_vector_int_push_back(colour, 2 + 2 * number); /* room is reserved */
        igraph_vector_int_push_back(colour, 3 + 2 * number);
        *end++ = from;
        *end++ = tail;
        *end++ = tail;
        *end++ = tail + 1;
        *end++ = tail + 1;
        *end++ = to;
    }
    return end - ends;
}

static igraph_error_t coloured_init(struct coloured *c, const topo *t, const struct merged_links *m,
                                    const uint64_t *sorted)
{
    igraph_integer_t nodes = topo_nodes(t);
    igraph_vector_int_t view;
    igraph_error_t code = igraph_vector_int_init(&c->colour, nodes);
    if (code != IGRAPH_SUCCESS) return code;
    code = igraph_vector_int_reserve(&c->colour, nodes + 2 * (igraph_integer_t)m->count);
    if (code == IGRAPH_SUCCESS) {
        igraph_integer_t *ends = SIM_NEW(igraph_integer_t, 6 * (size_t)m->count);
        for (igraph_integer_t n = topo_chips(t); n < nodes; n++)
            VECTOR(c->colour)[n] = 1;
        igraph_integer_t numbers = coloured_ends(m, sorted, ends, &c->colour);
        igraph_vector_int_view(&view, ends, numbers);
        code =
            igraph_create(&c->graph, &view, igraph_vector_int_size(&c->colour), IGRAPH_UNDIRECTED);
        sim_free(ends);
    }
    if (code != IGRAPH_SUCCESS) igraph_vector_int_destroy(&c->colour);
    return code;
}

static void coloured_release(struct coloured *c)
{
    igraph_destroy(&c->graph);
    igraph_vector_int_destroy(&c->colour);
}

static enum sim_status compare(const topo *a, const topo *b, const struct merged_links m[2],
                               uint64_t *const sorted[2], struct sim_error *err, bool *out)
{
    struct coloured g, h;
    igraph_bool_t is_same = false;
    begin();
    igraph_error_t code = coloured_init(&g, a, &m[0], sorted[0]);
    if (code != IGRAPH_SUCCESS) return failed(code, err);
    code = coloured_init(&h, b, &m[1], sorted[1]);
    if (code == IGRAPH_SUCCESS) {
        code = igraph_isomorphic_bliss(&g.graph, &h.graph, &g.colour, &h.colour, &is_same, NULL,
                                       NULL, IGRAPH_BLISS_FL, NULL, NULL);
        coloured_release(&h);
    }
    coloured_release(&g);
    if (code != IGRAPH_SUCCESS) return failed(code, err);
    *out = is_same;
    return SIM_OK;
}

enum sim_status topo_graph_is_isomorphic(const topo *a, const topo *b, bool has_kinds,
                                         struct sim_error *err, bool *out)
{
    enum sim_status status = SIM_OK;
    if (topo_links(a) > ISOMORPHISM_LINKS_MAX || topo_links(b) > ISOMORPHISM_LINKS_MAX)
        return sim_error_set(err, SIM_ERESOURCE,
                             "topologies of more than 2,000,000 links are not compared");
    *out = false;
    if (topo_chips(a) != topo_chips(b) || topo_nodes(a) != topo_nodes(b) ||
        topo_links(a) != topo_links(b))
        return SIM_OK;
    struct merged_links m[2] = {merge_links(a, has_kinds), merge_links(b, has_kinds)};
    uint64_t *sorted[2] = {sorted_colours(&m[0]), sorted_colours(&m[1])};
    /* The same colours as often on both sides, or there is no need to look; then their places
     * among the sorted ones are common numbers. */
    if (m[0].count == m[1].count &&
        memcmp(sorted[0], sorted[1], m[0].count * sizeof *sorted[0]) == 0)
        status = compare(a, b, m, sorted, err, out);
    for (int i = 0; i < 2; i++) {
        sim_free(m[i].link);
        sim_free(sorted[i]);
    }
    return status;
}

/* ---- cycles ---- */

/* Strong component of every node; some component of more than one node has a cycle. */
static igraph_error_t find_cycle(const igraph_t *graph, igraph_vector_int_t *cycle)
{
    igraph_vector_int_t member, size;
    igraph_integer_t from = -1, to = -1;
    IGRAPH_CHECK(igraph_vector_int_init(&member, 0));
    IGRAPH_FINALLY(igraph_vector_int_destroy, &member);
    IGRAPH_CHECK(igraph_vector_int_init(&size, 0));
    IGRAPH_FINALLY(igraph_vector_int_destroy, &size);
    IGRAPH_CHECK(igraph_connected_components(graph, &member, &size, NULL, IGRAPH_STRONG));
    for (igraph_integer_t e = 0; e < igraph_ecount(graph) && from < 0; e++) {
        igraph_integer_t a = IGRAPH_FROM(graph, e), b = IGRAPH_TO(graph, e);
        bool is_inside =
            VECTOR(member)[a] == VECTOR(member)[b] && VECTOR(size)[VECTOR(member)[a]] > 1;
        if (!is_inside && a != b) continue;
        from = a;
        to = b;
    }
    /* the edge from -> to, and the shortest way back */
    if (from >= 0) IGRAPH_CHECK(igraph_get_shortest_path(graph, cycle, NULL, to, from, IGRAPH_OUT));
    igraph_vector_int_destroy(&size);
    igraph_vector_int_destroy(&member);
    IGRAPH_FINALLY_CLEAN(2);
    return IGRAPH_SUCCESS;
}

enum sim_status topo_digraph_cycle(uint32_t nodes, uint64_t edges, const uint32_t *ends,
                                   struct sim_error *err, uint32_t *cycle, uint32_t *length)
{
    begin();
    igraph_integer_t *wide = SIM_NEW(igraph_integer_t, 2 * edges);
    for (uint64_t i = 0; i < 2 * edges; i++)
        wide[i] = ends[i];
    igraph_vector_int_t view, way;
    igraph_t graph;
    igraph_bool_t is_free = true;
    igraph_vector_int_view(&view, wide, 2 * (igraph_integer_t)edges);
    igraph_error_t code = igraph_create(&graph, &view, nodes, IGRAPH_DIRECTED);
    sim_free(wide);
    if (code != IGRAPH_SUCCESS) return failed(code, err);
    igraph_vector_int_init(&way, 0);
    code = igraph_is_dag(&graph, &is_free);
    if (code == IGRAPH_SUCCESS && !is_free) code = find_cycle(&graph, &way);
    *length = (uint32_t)igraph_vector_int_size(&way);
    for (uint32_t i = 0; i < *length; i++)
        cycle[i] = (uint32_t)VECTOR(way)[i];
    igraph_vector_int_destroy(&way);
    igraph_destroy(&graph);
    if (code != IGRAPH_SUCCESS) return failed(code, err);
    return SIM_OK;
}
