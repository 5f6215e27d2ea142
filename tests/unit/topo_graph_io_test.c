/* Graph files: export and import are inverse, hostile files give one line, igraph's view of
 * topologies. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/log.h"
#include "base/rng.h"
#include "tests/support.h"
#include "topo/graph.h"
#include "topo/metrics.h"
#include "topo/route.h"

/* ---- files of a temporary directory ---- */

static char directory[] = "/tmp/podsim-graph-XXXXXX";

/* Before the tests fork. */
static void make_directory(void)
{
    if (mkdtemp(directory) == NULL) exit(EXIT_FAILURE);
    sim_log_set_level(SIM_LOG_ERROR); /* defaults taken are not what is tested here */
}

static void remove_directory(void)
{
    rmdir(directory); /* fails, and shows in /tmp, when a test left a file */
}

static const char *path_of(const char *name, char *path)
{
    snprintf(path, 64, "%s/%s", directory, name);
    return path;
}

static void write_file(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fwrite(text, 1, bytes, file), bytes);
    ck_assert_int_eq(fclose(file), 0);
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    ck_assert_ptr_nonnull(file);
    fseek(file, 0, SEEK_END);
    long bytes = ftell(file);
    rewind(file);
    char *text = SIM_NEW(char, (size_t)bytes + 1);
    ck_assert_uint_eq(fread(text, 1, (size_t)bytes, file), (size_t)bytes);
    fclose(file);
    return text;
}

/* A topology from a file that is gone afterwards. */
static enum sim_status read_as(const char *family, const char *name, const char *text, size_t bytes,
                               struct sim_error *err, topo **out)
{
    char path[64], spec[96];
    write_file(path_of(name, path), text, bytes);
    snprintf(spec, sizeof spec, "%s:%s", family, path);
    enum sim_status status = topo_create(spec, NULL, err, out);
    remove(path);
    return status;
}

static topo *graph_or_fail(const char *name, const char *text)
{
    struct sim_error err = {0};
    topo *t = NULL;
    enum sim_status status = read_as("graph", name, text, strlen(text), &err, &t);
    ck_assert_msg(status == SIM_OK, "%s: %s", name, err.text);
    return t;
}

static topo *astra_or_fail(const char *text)
{
    struct sim_error err = {0};
    topo *t = NULL;
    enum sim_status status = read_as("astra", "network.yml", text, strlen(text), &err, &t);
    ck_assert_msg(status == SIM_OK, "%d:%d %s", err.line, err.column, err.text);
    return t;
}

/* ---- comparing ---- */

struct link {
    topo_node_id from, to;
    double rate;
    sim_ps latency;
    int kind;
};

static int compare_links(const void *a, const void *b)
{
    const struct link *x = a, *y = b;
    if (x->from != y->from) return x->from < y->from ? -1 : 1;
    if (x->to != y->to) return x->to < y->to ? -1 : 1;
    if (x->rate != y->rate) return x->rate < y->rate ? -1 : 1;
    if (x->latency != y->latency) return x->latency < y->latency ? -1 : 1;
    return x->kind - y->kind;
}

static struct link *sorted_links(const topo *t)
{
    struct link *link = SIM_NEW(struct link, topo_links(t));
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        link[l].from = topo_link_from(t, l);
        link[l].to = topo_link_to(t, l);
        link[l].rate = topo_link_rate(t, l);
        link[l].latency = topo_link_latency_ps(t, l);
        link[l].kind = (int)topo_link_kind(t, l);
    }
    qsort(link, topo_links(t), sizeof *link, compare_links);
    return link;
}

static void check_same(const topo *a, const topo *b)
{
    ck_assert_uint_eq(topo_chips(a), topo_chips(b));
    ck_assert_uint_eq(topo_nodes(a), topo_nodes(b));
    ck_assert_uint_eq(topo_links(a), topo_links(b));
    ck_assert_uint_eq(topo_axes(a), topo_axes(b));
    for (uint32_t x = 0; x < topo_axes(a); x++)
        ck_assert_uint_eq(topo_axis_size(a, x), topo_axis_size(b, x));
    struct link *la = sorted_links(a), *lb = sorted_links(b);
    for (topo_link_id l = 0; l < topo_links(a); l++)
        ck_assert_int_eq(compare_links(&la[l], &lb[l]), 0);
    sim_free(la);
    sim_free(lb);
}

/* Export, import, export: the same topology, and the same bytes. */
static void check_round_trip(const topo *t, enum topo_graph_format format)
{
    struct sim_error err = {0};
    char path[64];
    path_of(format == TOPO_GRAPH_EDGES ? "a.edges" : "a.graphml", path);
    ck_assert_int_eq(topo_graph_export(t, path, format, &err), SIM_OK);
    char *first = read_file(path);
    topo *back = graph_or_fail(format == TOPO_GRAPH_EDGES ? "a.edges" : "a.graphml", first);
    check_same(t, back);
    ck_assert_int_eq(topo_graph_export(back, path, format, &err), SIM_OK);
    char *second = read_file(path);
    ck_assert_str_eq(first, second);
    remove(path);
    sim_free(first);
    sim_free(second);
    topo_destroy(back);
}

START_TEST(import_of_export_is_identity)
{
    static const char *const specs[] = {"torus:1",      "torus:2",
                                        "torus:4x4",    "torus:2x3x2,link=1.1GB/s",
                                        "mesh:3x4",     "torus:4x8,twisted",
                                        "v4:4x4x8",     "v4:4x4x8,twisted,optical=1.7us",
                                        "full:1",       "full:7",
                                        "v5p:2x2x1",    "torus:4x4x8,twisted,latency=3ps",
                                        "torus:2x2x2x2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_or_fail(specs[i]);
        check_round_trip(t, TOPO_GRAPH_GRAPHML);
        check_round_trip(t, TOPO_GRAPH_EDGES);
        topo_destroy(t);
    }
}
END_TEST

/* A random connected graph of chips and switches as an edge list: a tree and more, with parallel
 * links and rates and latencies of all sizes. */
static topo *random_graph(uint64_t seed)
{
    static const char *const kinds[] = {"copper", "optical", "switch", "dcn"};
    static char text[65536];
    struct sim_rng rng;
    sim_rng_init(&rng, 17, seed);
    int at = 0;
    uint32_t nodes = 2 + (uint32_t)sim_rng_below(&rng, 40);
    for (uint32_t n = 1; n < nodes; n++)
        if (sim_rng_below(&rng, 3) == 0) at += sprintf(text + at, "node %u switch\n", n);
    for (uint32_t i = 1; i < 3 * nodes; i++) {
        uint32_t a = i < nodes ? i : (uint32_t)sim_rng_below(&rng, nodes);
        uint32_t b = (uint32_t)sim_rng_below(&rng, i < nodes ? i : nodes);
        if (a == b) continue;
        double rate = ldexp(1 + (double)sim_rng_below(&rng, 1000000) / 7, (int)(i % 40));
        double latency = (double)sim_rng_below(&rng, 1000001) / 1e6 / (double)(1 + i % 5);
        at += sprintf(text + at, "%u %u %.17g %.17g %s\n", a, b, rate, latency,
                      kinds[sim_rng_below(&rng, 4)]);
    }
    return graph_or_fail("random.edges", text);
}

START_TEST(import_of_export_is_identity_on_random_graphs)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        topo *t = random_graph(seed);
        check_round_trip(t, TOPO_GRAPH_GRAPHML);
        check_round_trip(t, TOPO_GRAPH_EDGES);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(dot_has_every_node_and_link)
{
    topo *t = topo_or_fail("torus:2");
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    topo_graph_write(t, TOPO_GRAPH_DOT, file);
    fclose(file);
    ck_assert_str_eq(text, "digraph topology {\n"
                           "  n0 [kind=chip, x=0];\n"
                           "  n1 [kind=chip, x=1];\n"
                           "  n0 -> n1 [rate=\"45000000000\", latency=\"1e-06\", kind=copper];\n"
                           "  n0 -> n1 [rate=\"45000000000\", latency=\"1e-06\", kind=copper];\n"
                           "  n1 -> n0 [rate=\"45000000000\", latency=\"1e-06\", kind=copper];\n"
                           "  n1 -> n0 [rate=\"45000000000\", latency=\"1e-06\", kind=copper];\n"
                           "}\n");
    free(text);
    topo_destroy(t);
}
END_TEST

START_TEST(export_says_why_it_cannot)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:2");
    ck_assert_int_eq(topo_graph_export(t, "/nowhere/at/all", TOPO_GRAPH_DOT, &err), SIM_ECREATE);
    err = (struct sim_error){0};
    ck_assert_int_eq(topo_graph_export(t, "x", TOPO_GRAPH_GML, &err), SIM_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "GML is read, not written"));
    enum topo_graph_format format;
    ck_assert(topo_graph_format_of("a.b.gv", &format) && format == TOPO_GRAPH_DOT);
    ck_assert(topo_graph_format_of("a.txt", &format) && format == TOPO_GRAPH_EDGES);
    ck_assert(!topo_graph_format_of("graphml", &format) && !topo_graph_format_of("a.md", &format));
    topo_destroy(t);
}
END_TEST

/* ---- what files may say ---- */

START_TEST(gml_has_texts_kinds_and_its_own_order)
{
    /* Chips are numbered before switches: 30 is chip 0, 20 chip 1, 10 the switch, node 2. */
    topo *t =
        graph_or_fail("a.gml", "graph [ directed 0\n"
                               "node [ id 10 type \"switch\" ] node [ id 30 ] node [ id 20 ]\n"
                               "edge [ source 10 target 30 rate \"45 GB/s\" latency \"1us\" ]\n"
                               "edge [ source 20 target 10 rate 1e9 latency 5e-7 ] ]\n");
    ck_assert_uint_eq(topo_chips(t), 2);
    ck_assert_uint_eq(topo_nodes(t), 3);
    ck_assert_uint_eq(topo_links(t), 4);
    ck_assert_uint_eq(topo_link_from(t, 0), 0);
    ck_assert_uint_eq(topo_link_to(t, 0), 2);
    ck_assert_double_eq(topo_link_rate(t, 0), 45e9);
    ck_assert_int_eq(topo_link_latency_ps(t, 0), 1000000);
    ck_assert_double_eq(topo_link_rate(t, 1), 1e9);
    ck_assert_int_eq(topo_link_latency_ps(t, 1), 500000);
    ck_assert_int_eq(topo_link_kind(t, 0), TOPO_SWITCH);
    /* As a whole: the slowest link, the longest latency. */
    ck_assert_double_eq(topo_default_link_rate(t), 1e9);
    ck_assert_int_eq(topo_default_latency_ps(t), 1000000);
    topo_destroy(t);
}
END_TEST

START_TEST(formats_are_known_by_content_and_plain_lists_get_defaults)
{
    static const char *const texts[] = {
        "0 1\n1 2\n",
        "Creator \"x\"\ngraph [ node [ id 0 ] node [ id 1 ] node [ id 2 ]\n"
        "edge [ source 0 target 1 ] edge [ source 1 target 2 ] ]",
        "\n<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>"
        "<node id=\"c\"/><edge source=\"a\" target=\"b\"/><edge source=\"b\" target=\"c\"/>"
        "</graph></graphml>"};
    topo *mesh = topo_or_fail("mesh:3"); /* 45 GB/s and 1 us, as a bare mesh has */
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        topo *t = graph_or_fail("unknown", texts[i]);
        check_same(mesh, t);
        topo_destroy(t);
    }
    topo_destroy(mesh);
}
END_TEST

START_TEST(options_stand_in_for_what_a_file_leaves_out)
{
    struct topo_options o = {.link_bytes_per_s = 2e9, .latency_ps = 7};
    struct sim_error err = {0};
    char path[64], spec[96];
    topo *t = NULL;
    snprintf(spec, sizeof spec, "graph:%s", path_of("a.edges", path));
    write_file(path, "0 1\n", 4);
    ck_assert_int_eq(topo_create(spec, &o, &err, &t), SIM_OK);
    ck_assert_double_eq(topo_link_rate(t, 1), 2e9);
    ck_assert_int_eq(topo_link_latency_ps(t, 1), 7);
    ck_assert_str_eq(topo_spec(t), spec);
    topo_destroy(t);
    write_file(path, "0 1 1e9\n", 8);
    ck_assert_int_eq(topo_create(spec, &o, &err, &t), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "gives the rate of every link"));
    remove(path);
}
END_TEST

START_TEST(one_chip_and_no_link_is_a_graph)
{
    topo *t = graph_or_fail("one.edges", "node 0 chip\n");
    struct topo_metrics m = topo_metrics_of(t);
    ck_assert_uint_eq(topo_chips(t), 1);
    ck_assert_uint_eq(topo_links(t), 0);
    ck_assert_uint_eq(m.diameter, 0);
    topo_destroy(t);
}
END_TEST

/* ---- hostile files ---- */

#define GRAPHML(body)                                                                              \
    "<graphml><key id=\"r\" for=\"edge\" attr.name=\"rate\" attr.type=\"double\"/>"                \
    "<key id=\"t\" for=\"edge\" attr.name=\"latency\" attr.type=\"string\"/>"                      \
    "<graph edgedefault=\"undirected\">\n<node id=\"a\"/><node id=\"b\"/>" body                    \
    "</graph></graphml>\n"
#define EDGE(data) "<edge source=\"a\" target=\"b\">" data "</edge>"

static const struct {
    const char *name, *text;
    int line;
    const char *says;
} hostile[] = {
    {"a.graphml", "", 0, "is empty"},
    {"a.txt", " \n\n", 0, "is empty"},
    {"a.edges", "# nothing\n", 0, "has no chip"},
    {"a.edges", "node 0 switch\n", 0, "has no chip"},
    {"a.edges", "0 1\n\n2 2\n", 3, "the link from 2 to 2 leads from a node to itself"},
    {"a.edges", "0 1 -1\n", 1, "has rate \"-1\", want a positive number"},
    {"a.edges", "0 1 0\n", 1, "has rate \"0\""},
    {"a.edges", "0 1 nan\n", 1, "has rate \"nan\""},
    {"a.edges", "0 1 inf\n", 1, "has rate \"inf\""},
    {"a.edges", "0 1 1e999\n", 1, "has rate \"1e999\""},
    {"a.edges", "0 1 45GB\n", 1, "has rate \"45GB\""},
    {"a.edges", "0 1 45 -1\n", 1, "has latency \"-1\", want seconds from 0 to 1"},
    {"a.edges", "0 1 45 2s\n", 1, "has latency \"2s\""},
    {"a.edges", "0 1 45 1us wire\n", 1, "has kind \"wire\", want copper, optical, switch or dcn"},
    {"a.edges", "0 1 45 1us dcn more\n", 1, "too many words"},
    {"a.edges", "0\n", 1, "too few words"},
    {"a.edges", "0 1 1e9\n1 2\n", 2, "the link from 1 to 2 has no rate (or NaN); give every link"},
    {"a.edges", "0,1\n", 1, "too few words"},
    {"a.edges", "0 x\n", 1, "\"x\" is no node"},
    {"a.edges", "0 -1\n", 1, "\"-1\" is no node"},
    {"a.edges", "0 4000000000\n", 1, "\"4000000000\" is no node"},
    {"a.edges", "0 9999999\n", 0, "10,000,000 chips"},
    {"a.edges", "node 0 router\n0 1\n", 0, "node 0 has kind \"router\", want chip or switch"},
    {"a.edges", "node 0\n", 1, "want \"node ID KIND\""},
    {"a.edges", "node 0 chip\nnode 0 chip\n", 2, "node 0 is given twice"},
    {"a.edges", "directed\n0 1\n", 0, "1 links lead from 0 to 1 and 0 back"},
    {"a.edges", "0 1\n3 4\n", 0, "3 chips are cut off from chip 0: 2; 3; 4"},
    {"a.edges", "0 1\n\xff\xfe\n", 2, "is not text in UTF-8 (byte 0xFF)"},
    {"a.dot", "digraph {}", 0, "DOT is written, not read"},
    {"a.graphml", GRAPHML(EDGE("<data key=\"r\">-5</data>")), 0,
     "the link from \"a\" to \"b\" has rate \"-5\""},
    {"a.graphml", GRAPHML(EDGE("<data key=\"r\">inf</data>")), 0, "has rate \"inf\""},
    {"a.graphml", GRAPHML(EDGE("<data key=\"r\">1</data>")), 0, "has no latency"},
    {"a.graphml", GRAPHML(EDGE("<data key=\"r\">NaN</data>")), 0, "has no rate (or NaN)"},
    {"a.graphml", GRAPHML(EDGE("<data key=\"r\">x</data>")), 0, "is no GraphML that can be read"},
    {"a.graphml", GRAPHML("<edge source=\"a\" target=\"a\"/>"), 0, "leads from a node to itself"},
    {"a.graphml", "<graphml>\n<graph><node id=\"a\"/>\n", 2, "is cut off: </graphml> is missing"},
    {"a.graphml", "<graphml><graph/></graphml>", 0, "has no chip"},
    {"a.graphml", "<html/>", 0, "is no GraphML that can be read"},
    {"a.graphml", "0 1\n", 1, "is no GraphML that can be read"},
    {"a.graphml", "<!DOCTYPE g [\n<!ENTITY a \"b\">]><graphml/>", 2, "defines an XML entity"},
    {"a.graphml", "\xe9", 1, "is not text in UTF-8"},
    {"a.graphml",
     "<graphml><key id=\"e\" for=\"edge\" attr.name=\"error_rate\" attr.type=\"double\"/>"
     "<graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>" EDGE(
         "<data key=\"e\">0.1</data>") "</graph></graphml>",
     0, "gives links a \"error_rate\", which is not modelled"},
    {"a.gml",
     "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 label \"x\" weight 2 ] ]", 0,
     "gives links a \"weight\", which is not modelled"},
    {"a.gml", "graph [\n node [ id 1", 2, "is no GML that can be read"},
    {"a.gml", "graph [\n node [ id 1 ]\n node [ id 1 ] ]", 3, "is no GML that can be read"},
    {"a.gml", "graph [ node [ id 1 ]\n edge [ source 1 target 2 ] ]", 2, "is no GML"},
    {"a.gml", "hello", 1, "is no GML that can be read"},
    {"a.gml", "graph [ node [ id 1 kind 7 ] ]", 0, "node \"1\" has kind \"7\""},
    {"a.gml", "graph [ node [ id 1 ] node [ id 2 ] edge [ source 1 target 2 rate -1 ] ]", 0,
     "the link from \"1\" to \"2\" has rate \"-1\""},
};

START_TEST(hostile_files_give_one_line)
{
    for (size_t i = 0; i < sizeof hostile / sizeof hostile[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status =
            read_as("graph", hostile[i].name, hostile[i].text, strlen(hostile[i].text), &err, &t);
        ck_assert_msg(status != SIM_OK && strstr(err.text, hostile[i].says) != NULL,
                      "case %zu (%s): %d \"%s\", want \"%s\"", i, hostile[i].text, (int)status,
                      err.text, hostile[i].says);
        ck_assert_msg(err.line == hostile[i].line, "case %zu: line %d (%s)", i, err.line, err.text);
        ck_assert_ptr_null(strchr(err.text, '\n'));
        /* What igraph or the parser found names the file; the rest has it in the spec. */
        ck_assert(strstr(err.file, hostile[i].name) || strstr(err.text, hostile[i].name));
    }
}
END_TEST

START_TEST(what_is_no_file_is_said)
{
    struct sim_error err = {0};
    char spec[96];
    topo *t = NULL;
    ck_assert_int_eq(topo_create("graph:/no/such/file", NULL, &err, &t), SIM_ENOINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot open: No such file"));
    err = (struct sim_error){0};
    snprintf(spec, sizeof spec, "graph:%s", directory);
    ck_assert_int_eq(topo_create(spec, NULL, &err, &t), SIM_ENOINPUT);
    ck_assert_ptr_nonnull(strstr(err.text, "cannot read: Is a directory"));
    err = (struct sim_error){0};
    ck_assert_int_eq(topo_create("graph:/dev/zero", NULL, &err, &t), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "is larger than 256 MiB"));
    err = (struct sim_error){0};
    ck_assert_int_eq(topo_create("graph:", NULL, &err, &t), SIM_EDATA);
    err = (struct sim_error){0};
    ck_assert_int_eq(read_as("graph", "zero.edges", "0 1\n\0", 5, &err, &t), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "byte 0x00"));
}
END_TEST

/* A file of `head`, `count` lines that may want their number, and `tail`. */
static void check_many(const char *name, const char *head, const char *line, uint32_t count,
                       const char *tail, const char *says)
{
    struct sim_error err = {0};
    char path[64], spec[96];
    topo *t = NULL;
    FILE *file = fopen(path_of(name, path), "w");
    fputs(head, file);
    for (uint32_t i = 0; i < count; i++)
        fprintf(file, line, i);
    fputs(tail, file);
    fclose(file);
    snprintf(spec, sizeof spec, "graph:%s", path);
    ck_assert_int_ne(topo_create(spec, NULL, &err, &t), SIM_OK);
    ck_assert_msg(strstr(err.text, says) != NULL, "%s", err.text);
    remove(path);
}

START_TEST(a_million_parallel_edges_and_two_million_nodes_are_refused)
{
    check_many("a.edges", "", "0 1 1e9\n", 1000000, "", "1000000 links lead from 0 to 1");
    check_many("a.graphml",
               "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>\n",
               "<edge source=\"a\" target=\"b\"/>\n", 1000000, "</graph></graphml>",
               "1000000 links lead from \"a\" to \"b\", want at most 256");
    check_many("a.graphml", "<graphml><graph>\n", "<node id=\"n%u\"/>\n", 2000000,
               "</graph></graphml>", "has 2,000,000 chips");
    check_many("a.gml", "graph [\n", "node [ id %u ]\n", 2000000, "]", "is larger than 32 MiB");
}
END_TEST

/* ---- ASTRA-sim's network descriptions ---- */

START_TEST(astra_dimensions_multiply)
{
    /* 2 x 3 x 4 chips: ring of 2 (one cable: 12 x 2 links), full mesh of 3 (8 lines x 6), switch of
     * 4 (6 switches x 8). 50 GB/s is 50 x 2^30 bytes/s. */
    topo *t = astra_or_fail("topology: [ Ring, FullyConnected, Switch ]\n"
                            "npus_count: [ 2, 3, 4 ] # 24\n"
                            "bandwidth: [ 200.0, 100, 50 ]\nlatency: [ 50.0, 500, 2000.5 ]\n");
    uint32_t links[3] = {0};
    ck_assert_uint_eq(topo_chips(t), 24);
    ck_assert_uint_eq(topo_nodes(t), 30);
    ck_assert_uint_eq(topo_links(t), 24 + 48 + 48);
    ck_assert_uint_eq(topo_axes(t), 3);
    ck_assert_uint_eq(topo_axis_size(t, 1), 3);
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        static const double rate[] = {200 * 1073741824.0, 100 * 1073741824.0, 50 * 1073741824.0};
        static const sim_ps latency[] = {50000, 500000, 2000500};
        topo_node_id a = topo_link_from(t, l), b = topo_link_to(t, l);
        uint32_t d = topo_link_kind(t, l) == TOPO_SWITCH ? 2 : a / 2 == b / 2 ? 0 : 1;
        links[d]++;
        ck_assert_double_eq(topo_link_rate(t, l), rate[d]);
        ck_assert_int_eq(topo_link_latency_ps(t, l), latency[d]);
        if (d == 1) ck_assert_uint_eq(topo_coord(t, a, 0), topo_coord(t, b, 0));
        if (d == 1) ck_assert_uint_eq(topo_coord(t, a, 2), topo_coord(t, b, 2));
    }
    ck_assert_uint_eq(links[0], 24);
    ck_assert_uint_eq(links[1], 48);
    /* Chips 0 and 6 x 3 share a switch: two hops; 0 and 23 differ in all: 1 + 1 + 2. */
    ck_assert_uint_eq(topo_distance(t, 0, 18), 2);
    ck_assert_uint_eq(topo_distance(t, 0, 23), 4);
    topo_destroy(t);
}
END_TEST

START_TEST(astra_rings_are_tori)
{
    struct sim_error err = {0};
    bool is_same = false;
    topo *t = astra_or_fail("topology: [ Ring, Ring ]\nnpus_count: [ 4, 8 ]\n"
                            "bandwidth: [ 50, 50 ]\nlatency: [ 500, 500 ]\n");
    topo *torus = topo_or_fail("torus:4x8");
    ck_assert_int_eq(topo_graph_is_isomorphic(t, torus, true, &err, &is_same), SIM_OK);
    ck_assert(is_same);
    topo_destroy(t);
    topo_destroy(torus);
}
END_TEST

START_TEST(astra_errors_have_a_place)
{
    static const struct {
        const char *text;
        int line, column;
        const char *says;
    } cases[] = {
        {"topology: Ring\nnpus_count: [4]\nbandwidth: [5]\nlatency: [1]\n", 1, 11, "is no list"},
        {"topology: [ Mesh ]\nnpus_count: [4]\nbandwidth: [5]\nlatency: [1]\n", 1, 13,
         "topology is \"Mesh\", want Ring, FullyConnected or Switch"},
        {"topology: [ Ring ]\nnpus_count: [4, 2]\nbandwidth: [5]\nlatency: [1]\n", 2, 13,
         "npus_count has 2 values, topology has 1"},
        {"topology: [ Ring ]\nnpus_count: [0]\nbandwidth: [5]\nlatency: [1]\n", 2, 14,
         "npus_count is \"0\""},
        {"topology: [ Ring ]\nnpus_count: [4]\nbandwidth: [-5]\nlatency: [1]\n", 3, 13,
         "found \"-5\", want a bandwidth above 0"},
        {"topology: [ Ring ]\nnpus_count: [4]\nbandwidth: [50GB/s]\nlatency: [1]\n", 3, 13,
         "found \"50GB/s\", want a bandwidth above 0"},
        {"topology: [ Ring ]\nnpus_count: [4]\nbandwidth: [nan]\nlatency: [1]\n", 3, 13, "\"nan\""},
        {"topology: [ Ring ]\nnpus_count: [4]\nbandwidth: [5]\nlatency: [-1]\n", 4, 11,
         "found \"-1\", want a latency in ns"},
        {"topology: [ Ring ]\nnpus_count: [[4]]\nbandwidth: [5]\nlatency: [1]\n", 2, 14,
         "holds no simple value"},
        {"topology: [ Ring ]\nnpus_count: [4]\nbandwith: [5]\nlatency: [1]\n", 3, 1,
         "did you mean \"bandwidth\"?"},
        {"topology: [ FullyConnected ]\nnpus_count: [100000]\nbandwidth: [5]\nlatency: [1]\n", 2,
         13, "more than 16,000,000 links"},
        {"topology: []\nnpus_count: []\nbandwidth: []\nlatency: []\n", 1, 11, "0 dimensions"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status =
            read_as("astra", "a.yml", cases[i].text, strlen(cases[i].text), &err, &t);
        ck_assert_msg(status != SIM_OK && strstr(err.text, cases[i].says) != NULL,
                      "case %zu: \"%s\"", i, err.text);
        ck_assert_msg(err.line == cases[i].line && err.column == cases[i].column, "case %zu: %d:%d",
                      i, err.line, err.column);
        ck_assert_ptr_nonnull(strstr(err.file, "a.yml"));
    }
}
END_TEST

/* ---- betweenness ---- */

START_TEST(betweenness_of_what_can_be_counted)
{
    static const struct {
        const char *spec;
        double most;
        topo_link_id link;
    } cases[] = {
        {"torus:1", 0, TOPO_NONE}, {"mesh:4", 4, 1}, /* 2 x 2 pairs cross the middle, link 1 -> 2 */
        {"full:5", 1, 0},                            /* one pair a link */
        {"torus:2", 0.5, 0},                         /* two cables share a pair */
        {"torus:5", 3, 0},                           /* hops 5 x (1 + 1 + 2 + 2) over 10 links */
        {"torus:4x4x4", 32, 0} /* 64 x 192 hops over 384 links: h = 1 an axis, 3 in all */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        double most = -1;
        topo_link_id link = 0;
        topo *t = topo_or_fail(cases[i].spec);
        ck_assert_int_eq(topo_graph_betweenness(t, &err, &most, &link), SIM_OK);
        ck_assert_msg(fabs(most - cases[i].most) < 1e-9, "%s: %g", cases[i].spec, most);
        ck_assert_msg(link == cases[i].link, "%s: link %u", cases[i].spec, link);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(switches_send_nothing)
{
    /* Four chips around a switch: 3 pairs on every link, none of the switch's own. */
    struct sim_error err = {0};
    double most = 0, mean = 0;
    topo_link_id link = 0;
    uint32_t diameter = 0;
    topo *t = graph_or_fail("a.edges", "node 4 switch\n0 4\n1 4\n2 4\n3 4\n");
    ck_assert_int_eq(topo_graph_betweenness(t, &err, &most, &link), SIM_OK);
    ck_assert_double_eq(most, 3);
    ck_assert_int_eq(topo_graph_distances(t, &err, &diameter, &mean), SIM_OK);
    ck_assert_uint_eq(diameter, 2);
    ck_assert_double_eq(mean, 1.5); /* 2 hops to 3 of 4 chips */
    topo_destroy(t);
}
END_TEST

/* ---- isomorphism ---- */

static bool is_same(const topo *a, const topo *b, bool has_kinds)
{
    struct sim_error err = {0};
    bool out = false;
    ck_assert_int_eq(topo_graph_is_isomorphic(a, b, has_kinds, &err, &out), SIM_OK);
    return out;
}

/* The torus `spec` with every link between 4x4x4 cubes optical, through an edge list. */
static topo *torus_of_cubes(const char *spec)
{
    topo *t = topo_or_fail(spec);
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    fputs("directed\n", file);
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        topo_node_id a = topo_link_from(t, l), b = topo_link_to(t, l);
        uint32_t axis = 0, moved = 0;
        for (uint32_t x = 0; x < 3; x++)
            if (topo_coord(t, a, x) != topo_coord(t, b, x)) axis = x, moved++;
        uint32_t low = topo_coord(t, a, axis), high = topo_coord(t, b, axis);
        bool is_inside = moved == 1 && low / 4 == high / 4 && (low + 1 == high || high + 1 == low);
        fprintf(file, "%u %u 45e9 1e-6 %s\n", a, b, is_inside ? "copper" : "optical");
    }
    fclose(file);
    topo_destroy(t);
    t = graph_or_fail("cubes.edges", text);
    free(text);
    return t;
}

START_TEST(slices_through_switches_are_the_tori_built_directly)
{
    static const struct {
        const char *slice, *torus;
    } cases[] = {{"v4:4x4x8", "torus:4x4x8"},
                 {"v4:4x4x8,twisted", "torus:4x4x8,twisted"},
                 {"v4:4x8x8", "torus:4x8x8"},
                 {"v4:4x8x8,twisted", "torus:4x8x8,twisted"}};
    enum { CASES = sizeof cases / sizeof cases[0] };
    topo *slice[CASES], *cubes[CASES];
    for (int i = 0; i < CASES; i++) {
        topo *torus = topo_or_fail(cases[i].torus);
        slice[i] = topo_or_fail(cases[i].slice);
        cubes[i] = torus_of_cubes(cases[i].torus);
        ck_assert_msg(is_same(slice[i], torus, false), "%s", cases[i].slice);
        ck_assert_msg(is_same(slice[i], cubes[i], true), "%s with kinds", cases[i].slice);
        ck_assert(!is_same(slice[i], torus, true)); /* a bare torus is all copper */
        topo_destroy(torus);
    }
    ck_assert(!is_same(slice[0], cubes[1], false)); /* the twist shows */
    ck_assert(!is_same(slice[2], cubes[3], false));
    for (int i = 0; i < CASES; i++) {
        topo_destroy(slice[i]);
        topo_destroy(cubes[i]);
    }
}
END_TEST

START_TEST(colours_and_counts_of_links_matter)
{
    static const struct {
        const char *a, *b;
        bool plain, kinds;
    } cases[] = {/* the same line renamed */
                 {"0 1\n1 2\n", "0 2\n2 1\n", true, true},
                 /* a triangle with a doubled edge, and a square: 4 cables, but 3 and 4 chips */
                 {"0 1\n0 1\n1 2\n2 0\n", "0 1\n1 2\n2 3\n3 0\n", false, false},
                 /* the doubled cable at the end or in the middle of a line */
                 {"0 1\n0 1\n1 2\n2 3\n", "0 1\n1 2\n1 2\n2 3\n", false, false},
                 {"0 1\n0 1\n1 2\n2 3\n", "0 1\n1 2\n2 3\n3 2\n", true, true},
                 /* the optical cable at the end or in the middle */
                 {"0 1 1 0 optical\n1 2 1 0 copper\n2 3 1 0 copper\n",
                  "0 1 1 0 copper\n1 2 1 0 optical\n2 3 1 0 copper\n", true, false},
                 {"0 1 1 0 optical\n1 2 1 0 copper\n2 3 1 0 copper\n",
                  "0 1 1 0 copper\n1 2 1 0 copper\n2 3 1 0 optical\n", true, true},
                 /* a switch in the middle or at the end */
                 {"node 1 switch\n0 1\n1 2\n", "node 2 switch\n0 1\n1 2\n", false, false},
                 {"node 1 switch\n0 1\n1 2\n", "node 0 switch\n1 0\n0 2\n", true, true},
                 /* one way of a cable optical: towards the end or from it */
                 {"directed\n0 1 1 0 optical\n1 0 1 0 copper\n1 2 1 0 copper\n2 1 1 0 copper\n",
                  "directed\n0 1 1 0 copper\n1 0 1 0 optical\n1 2 1 0 copper\n2 1 1 0 copper\n",
                  true, false},
                 /* rates do not matter */
                 {"0 1 1\n", "0 1 2\n", true, true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *a = graph_or_fail("a.edges", cases[i].a), *b = graph_or_fail("b.edges", cases[i].b);
        ck_assert_msg(is_same(a, b, false) == cases[i].plain, "case %zu without kinds", i);
        ck_assert_msg(is_same(a, b, true) == cases[i].kinds, "case %zu with kinds", i);
        topo_destroy(a);
        topo_destroy(b);
    }
}
END_TEST

START_TEST(renaming_chips_changes_nothing)
{
    /* 4x6x2 against 2x4x6; 8x8 is not 4x16. */
    topo *a = topo_or_fail("torus:4x6x2"), *b = topo_or_fail("torus:2x4x6"),
         *c = topo_or_fail("torus:8x8"), *d = topo_or_fail("torus:4x16");
    ck_assert(is_same(a, b, true) && !is_same(c, d, true));
    topo_destroy(a);
    topo_destroy(b);
    topo_destroy(c);
    topo_destroy(d);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {import_of_export_is_identity,
                                  import_of_export_is_identity_on_random_graphs,
                                  dot_has_every_node_and_link,
                                  export_says_why_it_cannot,
                                  gml_has_texts_kinds_and_its_own_order,
                                  formats_are_known_by_content_and_plain_lists_get_defaults,
                                  options_stand_in_for_what_a_file_leaves_out,
                                  one_chip_and_no_link_is_a_graph,
                                  hostile_files_give_one_line,
                                  what_is_no_file_is_said,
                                  a_million_parallel_edges_and_two_million_nodes_are_refused,
                                  astra_dimensions_multiply,
                                  astra_rings_are_tori,
                                  astra_errors_have_a_place,
                                  betweenness_of_what_can_be_counted,
                                  switches_send_nothing,
                                  slices_through_switches_are_the_tori_built_directly,
                                  colours_and_counts_of_links_matter,
                                  renaming_chips_changes_nothing};
    make_directory();
    int failed = run_suite(SUITE_OF("topo_graph_io", tests));
    remove_directory();
    return failed;
}
