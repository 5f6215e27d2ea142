/*
 * Graph algorithms through igraph; the only file that includes it. igraph's errors become ours.
 *
 * igraph's default handler aborts the process, so ours is set once, before the first graph. Cost:
 * one breadth-first search per chip.
 */
#include <igraph.h>

#include "base/arena.h"
#include "topo/metrics.h"

static void ignore_error(const char *reason, const char *file, int line, igraph_error_t code)
{
    (void)reason, (void)file, (void)line, (void)code;
    IGRAPH_FINALLY_FREE();
}

static enum sim_status graph_of(const topo *t, struct sim_error *err, igraph_t *graph)
{
    igraph_set_error_handler(ignore_error);
    igraph_integer_t *ends = SIM_NEW(igraph_integer_t, 2 * (size_t)topo_links(t));
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        ends[2 * (size_t)l] = topo_link_from(t, l);
        ends[2 * (size_t)l + 1] = topo_link_to(t, l);
    }
    igraph_vector_int_t view;
    igraph_vector_int_view(&view, ends, 2 * (igraph_integer_t)topo_links(t));
    igraph_error_t code = igraph_create(graph, &view, topo_chips(t), IGRAPH_DIRECTED);
    sim_free(ends);
    if (code != IGRAPH_SUCCESS)
        return sim_error_set(err, SIM_EINTERNAL, "igraph: %s", igraph_strerror(code));
    return SIM_OK;
}

enum sim_status topo_graph_distances(const topo *t, struct sim_error *err, uint32_t *diameter,
                                     double *mean_hops)
{
    igraph_t graph;
    SIM_TRY(graph_of(t, err, &graph));
    igraph_real_t longest = 0, mean = 0;
    igraph_error_t code = igraph_diameter(&graph, &longest, NULL, NULL, NULL, NULL, true, false);
    if (code == IGRAPH_SUCCESS) code = igraph_average_path_length(&graph, &mean, NULL, true, false);
    igraph_destroy(&graph);
    if (code != IGRAPH_SUCCESS)
        return sim_error_set(err, SIM_EINTERNAL, "igraph: %s", igraph_strerror(code));
    double n = topo_chips(t);
    *diameter = n > 1 ? (uint32_t)longest : 0;
    *mean_hops =
        n > 1 ? mean * (n - 1) / n : 0; /* igraph leaves out the pairs of a chip with itself */
    return SIM_OK;
}
