/*
 * Graph files out: GraphML, DOT and edge lists, written link by link without a second graph in
 * memory.
 *
 * They are not igraph's: its edge lists have no attributes, its GML carries the date, and its
 * GraphML changes with the locale and the release; ours are the same bytes everywhere. Doubles are
 * the shortest text that reads back as the same double, latencies seconds rounded to that, so that
 * a file read back is the same topology. Names of nodes are n0, n1, ..: chips, then switches.
 */
#include <string.h>

#include "base/output.h"
#include "base/quantity.h"
#include "topo/graph.h"

const char *const topo_graph_format_names[] = {"graphml", "gml", "edges", "dot", NULL};

bool topo_graph_format_of(const char *path, enum topo_graph_format *out)
{
    static const struct {
        const char *ending;
        enum topo_graph_format format;
    } known[] = {{".graphml", TOPO_GRAPH_GRAPHML}, {".xml", TOPO_GRAPH_GRAPHML},
                 {".gml", TOPO_GRAPH_GML},         {".edges", TOPO_GRAPH_EDGES},
                 {".edgelist", TOPO_GRAPH_EDGES},  {".txt", TOPO_GRAPH_EDGES},
                 {".dot", TOPO_GRAPH_DOT},         {".gv", TOPO_GRAPH_DOT}};
    size_t bytes = strlen(path);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        size_t ending = strlen(known[i].ending);
        if (bytes < ending || strcmp(path + bytes - ending, known[i].ending) != 0) continue;
        *out = known[i].format;
        return true;
    }
    return false;
}

static const char *node_kind(const topo *t, topo_node_id node)
{
    return node < topo_chips(t) ? "chip" : "switch";
}

/* Rate and latency of a link, as text that reads back exactly. */
struct link_text {
    char rate[SIM_QUANTITY_TEXT], latency[SIM_QUANTITY_TEXT];
    const char *kind;
};

static struct link_text link_text(const topo *t, topo_link_id l)
{
    struct link_text text = {.kind = topo_link_kind_names[topo_link_kind(t, l)]};
    sim_double_format(topo_link_rate(t, l), text.rate);
    sim_double_format((double)topo_link_latency_ps(t, l) / (double)SIM_PS_PER_S, text.latency);
    return text;
}

/* ---- GraphML ---- */

static void graphml_head(const topo *t, FILE *file)
{
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
          "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
          "  <key id=\"kind\" for=\"node\" attr.name=\"kind\" attr.type=\"string\"/>\n",
          file);
    for (uint32_t a = 0; a < topo_axes(t); a++)
        fprintf(file, "  <key id=\"%c\" for=\"node\" attr.name=\"%c\" attr.type=\"double\"/>\n",
                "xyzw"[a], "xyzw"[a]);
    fputs("  <key id=\"rate\" for=\"edge\" attr.name=\"rate\" attr.type=\"double\"/>\n"
          "  <key id=\"latency\" for=\"edge\" attr.name=\"latency\" attr.type=\"double\"/>\n"
          "  <key id=\"link\" for=\"edge\" attr.name=\"kind\" attr.type=\"string\"/>\n"
          "  <graph id=\"topology\" edgedefault=\"directed\">\n",
          file);
}

static void graphml_write(const topo *t, FILE *file)
{
    graphml_head(t, file);
    for (topo_node_id n = 0; n < topo_nodes(t); n++) {
        fprintf(file, "    <node id=\"n%u\"><data key=\"kind\">%s</data>", n, node_kind(t, n));
        for (uint32_t a = 0; n < topo_chips(t) && a < topo_axes(t); a++)
            fprintf(file, "<data key=\"%c\">%u</data>", "xyzw"[a], topo_coord(t, n, a));
        fputs("</node>\n", file);
    }
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        struct link_text text = link_text(t, l);
        fprintf(file,
                "    <edge source=\"n%u\" target=\"n%u\"><data key=\"rate\">%s</data>"
                "<data key=\"latency\">%s</data><data key=\"link\">%s</data></edge>\n",
                topo_link_from(t, l), topo_link_to(t, l), text.rate, text.latency, text.kind);
    }
    fputs("  </graph>\n</graphml>\n", file);
}

/* ---- DOT ---- */

static void dot_write(const topo *t, FILE *file)
{
    fputs("digraph topology {\n", file);
    for (topo_node_id n = 0; n < topo_nodes(t); n++) {
        fprintf(file, "  n%u [kind=%s", n, node_kind(t, n));
        for (uint32_t a = 0; n < topo_chips(t) && a < topo_axes(t); a++)
            fprintf(file, ", %c=%u", "xyzw"[a], topo_coord(t, n, a));
        fputs("];\n", file);
    }
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        struct link_text text = link_text(t, l);
        fprintf(file, "  n%u -> n%u [rate=\"%s\", latency=\"%s\", kind=%s];\n",
                topo_link_from(t, l), topo_link_to(t, l), text.rate, text.latency, text.kind);
    }
    fputs("}\n", file);
}

/* ---- edge list ---- */

static void edges_write(const topo *t, FILE *file)
{
    fputs("# node ID KIND COORDINATES; FROM TO BYTES/S SECONDS KIND\ndirected\n", file);
    for (topo_node_id n = 0; n < topo_nodes(t); n++) {
        fprintf(file, "node %u %s", n, node_kind(t, n));
        for (uint32_t a = 0; n < topo_chips(t) && a < topo_axes(t); a++)
            fprintf(file, " %u", topo_coord(t, n, a));
        fputs("\n", file);
    }
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        struct link_text text = link_text(t, l);
        fprintf(file, "%u %u %s %s %s\n", topo_link_from(t, l), topo_link_to(t, l), text.rate,
                text.latency, text.kind);
    }
}

void topo_graph_write(const topo *t, enum topo_graph_format format, FILE *file)
{
    assert(format != TOPO_GRAPH_GML);
    if (format == TOPO_GRAPH_GRAPHML) graphml_write(t, file);
    if (format == TOPO_GRAPH_DOT) dot_write(t, file);
    if (format == TOPO_GRAPH_EDGES) edges_write(t, file);
}

enum sim_status topo_graph_export(const topo *t, const char *path, enum topo_graph_format format,
                                  struct sim_error *err)
{
    sim_output *output = NULL;
    if (format == TOPO_GRAPH_GML)
        return sim_error_set(err, SIM_EUSAGE,
                             "GML is read, not written, want graphml, edges or dot");
    SIM_TRY(sim_output_open(path, err, &output));
    topo_graph_write(t, format, sim_output_file(output));
    return sim_output_commit(output, err);
}
