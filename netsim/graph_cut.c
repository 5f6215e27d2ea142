/* The only file that includes metis.h. */
#include "netsim/graph_cut.h"

#include <metis.h>
#include <stdlib.h>

#include "base/arena.h"

/* Undirected, in compressed rows. A pair of nodes with several links is one edge of that weight. */
struct graph {
    idx_t nodes, *begin, *neighbour, *weight, *links;
};

static int compare_ids(const void *left, const void *right)
{
    idx_t a = *(const idx_t *)left, b = *(const idx_t *)right;
    return (a > b) - (a < b);
}

/* Both ends of every link, so that a pair cabled one way only is an edge too. */
static struct graph graph_of(const topo *t)
{
    uint32_t nodes = topo_nodes(t), links = topo_links(t);
    struct graph g = {(idx_t)nodes, SIM_NEW(idx_t, nodes + 1), SIM_NEW(idx_t, 2 * (size_t)links),
                      SIM_NEW(idx_t, 2 * (size_t)links), SIM_NEW(idx_t, nodes)};
    for (topo_link_id l = 0; l < links; l++) {
        g.links[topo_link_from(t, l)]++;
        g.links[topo_link_to(t, l)]++;
    }
    idx_t *all = SIM_NEW(idx_t, 2 * (size_t)links), *end = SIM_NEW(idx_t, nodes + 1);
    for (uint32_t n = 0; n < nodes; n++)
        end[n + 1] = end[n] + g.links[n];
    idx_t *at = SIM_NEW(idx_t, nodes);
    for (uint32_t n = 0; n < nodes; n++)
        at[n] = end[n];
    for (topo_link_id l = 0; l < links; l++) {
        topo_node_id from = topo_link_from(t, l), to = topo_link_to(t, l);
        all[at[from]++] = (idx_t)to;
        all[at[to]++] = (idx_t)from;
    }
    idx_t edges = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        g.begin[n] = edges;
        qsort(all + end[n], (size_t)g.links[n], sizeof *all, compare_ids);
        for (idx_t i = end[n]; i < end[n + 1]; i++) {
            if (i == end[n] || all[i] != all[i - 1]) g.neighbour[edges++] = all[i];
            g.weight[edges - 1]++;
        }
        if (g.links[n] == 0) g.links[n] = 1; /* METIS wants weights above 0 */
    }
    g.begin[nodes] = edges;
    sim_free(all);
    sim_free(end);
    sim_free(at);
    return g;
}

void net_graph_cut(const topo *t, uint32_t parts, uint32_t *part)
{
    struct graph g = graph_of(t);
    idx_t options[METIS_NOPTIONS], constraints = 1, wanted = (idx_t)parts, cut;
    idx_t *found = SIM_NEW(idx_t, (size_t)g.nodes);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int status = METIS_PartGraphKway(&g.nodes, &constraints, g.begin, g.neighbour, g.links, NULL,
                                     g.weight, &wanted, NULL, NULL, options, &cut, found);
    for (idx_t n = 0; n < g.nodes; n++) /* its failure (memory) costs balance, not results */
        part[n] = status == METIS_OK ? (uint32_t)found[n] : (uint32_t)n % parts;
    sim_free(g.begin);
    sim_free(g.neighbour);
    sim_free(g.weight);
    sim_free(g.links);
    sim_free(found);
}
