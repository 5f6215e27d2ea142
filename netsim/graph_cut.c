/* The only file that includes metis.h. */
#include "netsim/graph_cut.h"

#include <math.h>
#include <metis.h>
#include <stdlib.h>

#include "base/arena.h"

/* Undirected, in compressed rows; all the links of a pair of nodes are one edge. Links weigh as
 * much as they can carry, nodes as all their links: that is where packets, and so work, can be. */
struct graph {
    idx_t nodes, *begin, *neighbour, *weight, *work;
};

struct end {
    idx_t node, weight;
};

static int compare_ends(const void *left, const void *right)
{
    idx_t a = ((const struct end *)left)->node, b = ((const struct end *)right)->node;
    return (a > b) - (a < b);
}

/* 1 .. 100, so that 32 bits hold the sum over millions of links. */
static idx_t weight_of(const topo *t, topo_link_id link, double fastest)
{
    return (idx_t)lrint(fmax(1, 100 * topo_link_rate(t, link) / fastest));
}

static double fastest_link(const topo *t)
{
    double fastest = 0;
    for (topo_link_id l = 0; l < topo_links(t); l++)
        fastest = fmax(fastest, topo_link_rate(t, l));
    return fastest;
}

/* [2 x links] both ends of every link, so that a pair cabled one way only is an edge too; node n's
 * neighbours are [begin[n], begin[n + 1]). */
static struct end *list_ends(const topo *t, size_t *begin)
{
    uint32_t nodes = topo_nodes(t), links = topo_links(t);
    struct end *end = SIM_NEW(struct end, 2 * (size_t)links);
    size_t *at = SIM_NEW(size_t, nodes + 1);
    double fastest = fastest_link(t);
    for (topo_link_id l = 0; l < links; l++) {
        begin[topo_link_from(t, l) + 1]++;
        begin[topo_link_to(t, l) + 1]++;
    }
    for (uint32_t n = 0; n < nodes; n++)
        at[n + 1] = begin[n + 1] += begin[n];
    for (topo_link_id l = 0; l < links; l++) {
        topo_node_id from = topo_link_from(t, l), to = topo_link_to(t, l);
        idx_t weight = weight_of(t, l, fastest);
        end[at[from]++] = (struct end){(idx_t)to, weight};
        end[at[to]++] = (struct end){(idx_t)from, weight};
    }
    sim_free(at);
    return end;
}

static struct graph graph_of(const topo *t)
{
    uint32_t nodes = topo_nodes(t);
    size_t room = 2 * (size_t)topo_links(t), *begin = SIM_NEW(size_t, nodes + 1);
    struct graph g = {(idx_t)nodes, SIM_NEW(idx_t, nodes + 1), SIM_NEW(idx_t, room),
                      SIM_NEW(idx_t, room), SIM_NEW(idx_t, nodes)};
    struct end *end = list_ends(t, begin);
    idx_t edges = 0;
    for (uint32_t n = 0; n < nodes; n++) {
        g.begin[n] = edges;
        g.work[n] = 1;
        if (begin[n] < begin[n + 1])
            qsort(end + begin[n], begin[n + 1] - begin[n], sizeof *end, compare_ends);
        for (size_t i = begin[n]; i < begin[n + 1]; i++) {
            if (i == begin[n] || end[i].node != end[i - 1].node) g.neighbour[edges++] = end[i].node;
            g.weight[edges - 1] += end[i].weight;
            g.work[n] += end[i].weight;
        }
    }
    g.begin[nodes] = edges;
    sim_free(end);
    sim_free(begin);
    return g;
}

void net_graph_cut(const topo *t, uint32_t parts, uint32_t *part)
{
    struct graph g = graph_of(t);
    idx_t options[METIS_NOPTIONS], constraints = 1, wanted = (idx_t)parts, cut;
    idx_t *found = SIM_NEW(idx_t, (size_t)g.nodes);
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    int status = METIS_PartGraphKway(&g.nodes, &constraints, g.begin, g.neighbour, g.work, NULL,
                                     g.weight, &wanted, NULL, NULL, options, &cut, found);
    for (idx_t n = 0; n < g.nodes; n++) /* its failure (memory) costs balance, not results */
        part[n] = status == METIS_OK ? (uint32_t)found[n] : (uint32_t)n % parts;
    sim_free(g.begin);
    sim_free(g.neighbour);
    sim_free(g.weight);
    sim_free(g.work);
    sim_free(found);
}
