/**
 * What a topology can do, without simulating it: distances, bisection, and the load that uniform
 * traffic puts on links.
 */
#ifndef PODSIM_TOPO_METRICS_H
#define PODSIM_TOPO_METRICS_H

#include "topo/topo.h"

struct topo_metrics {
    uint32_t diameter; /* hops */
    double mean_hops;  /* over ordered pairs, a chip's distance 0 to itself included */
    double axis_mean_hops[TOPO_AXES_MAX]; /* the part of mean_hops along each axis; 0 without ports
                                          and with faults */
    double bisection_bytes_per_s;         /* one direction */
    bool is_bisection_exact;              /* else an upper bound: the best halving found */
    double all_to_all_bytes_per_s; /* send rate per chip at which the busiest link is full, uniform
                                      traffic, own share included (it crosses no link) */
    /* Send rate per chip at which the busiest link is full when every working chip sends at this
     * rate, in equal parts to its working neighbours, by the routing in force. It is what a chip
     * sends to all of them together, each byte once however many links it crosses. Neighbours are
     * those of the healthy grid, one per port: a dark cable's two ends still send to each other,
     * the long way. Without ports they are the chips with the next lower and higher id, round the
     * end. Chips at a mesh's edge, or beside a failed chip, send the same in fewer parts; chips
     * without a neighbour send nothing. 0: nobody has one. */
    double neighbour_bytes_per_s;
};

/** By closed forms on tori, meshes and full meshes of any size; twisted tori from the routes of one
 * chip; graphs in general from the routes of all pairs. Neighbours: on healthy tori and meshes from
 * the routes of one chip, else from those of all neighbours. */
struct topo_metrics topo_metrics_of(const topo *t);
/**
 * A cut: bytes/s, in the direction that has more, over the links between two sets of nodes, one of
 * which holds the chips at the first `positions` places of `axis` and the other all other chips.
 * Switches are put on the sides that seem to make it small: any sides give a true cut.
 */
double topo_cut_bytes_per_s(const topo *t, uint32_t axis, uint32_t positions);
/** Diameter and mean distance of any topology by breadth-first search (igraph); what the closed
 * forms are tested on. */
SIM_MUST_CHECK enum sim_status topo_graph_distances(const topo *t, struct sim_error *err,
                                                    uint32_t *diameter, double *mean_hops);

#endif
