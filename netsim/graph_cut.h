/**
 * Cutting a graph with METIS (G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for
 * partitioning irregular graphs", SIAM J. Sci. Comput. 20(1), 1998).
 */
#ifndef PODSIM_NETSIM_GRAPH_CUT_H
#define PODSIM_NETSIM_GRAPH_CUT_H

#include "topo/topo.h"

/** @param parts 2 .. nodes-1 @param part [nodes], written */
void net_graph_cut(const topo *t, uint32_t parts, uint32_t *part);

#endif
