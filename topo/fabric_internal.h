/**
 * Families for comparison with tori: what their specs say, and how each is built.
 *
 * A build function finds the numbers of the shape in t->grid.size, puts the coordinates there
 * instead, and fills the links. Coordinates follow the hierarchy, nearest chips first, so that
 * --axes x is always the group with the shortest ways.
 */
#ifndef PODSIM_TOPO_FABRIC_INTERNAL_H
#define PODSIM_TOPO_FABRIC_INTERNAL_H

#include "topo/topo_internal.h"

/** What a spec may say beside its shape, link= and latency=; 0 = not said. */
struct topo_fabric {
    uint32_t spines, chips, global, groups;
    double oversubscription;
    double domain_bytes_per_s, rail_bytes_per_s;
    double dcn_bytes_per_s;     /* a chip's share of its host's NIC, one direction */
    sim_ps dcn_latency_ps;      /* from chip to chip; -1 = not said */
    const char *cubes, *spares; /* of a slice of cubes, as lists; borrowed */
};

/** A slice of whole cubes, through its pod's optical switches. */
SIM_MUST_CHECK enum sim_status topo_slice_build(topo *t, const struct topo_fabric *f,
                                                struct sim_error *err);

/** 2^D chips; chip c has a link to every c with one bit flipped. */
SIM_MUST_CHECK enum sim_status topo_hypercube_build(topo *t, const struct topo_fabric *f,
                                                    struct sim_error *err);
/** N chips on one non-blocking switch. */
SIM_MUST_CHECK enum sim_status topo_switch_build(topo *t, const struct topo_fabric *f,
                                                 struct sim_error *err);
/** Three levels of switches with K ports: chips by edge switch, edge switches by pod, pods. */
SIM_MUST_CHECK enum sim_status topo_fat_tree_build(topo *t, const struct topo_fabric *f,
                                                   struct sim_error *err);
/** Two levels: chips by leaf, leaves. */
SIM_MUST_CHECK enum sim_status topo_clos_build(topo *t, const struct topo_fabric *f,
                                               struct sim_error *err);
/** Chips by router, routers by group, groups. */
SIM_MUST_CHECK enum sim_status topo_dragonfly_build(topo *t, const struct topo_fabric *f,
                                                    struct sim_error *err);
/** Chips by switch, then the switches' own coordinates. */
SIM_MUST_CHECK enum sim_status topo_hyperx_build(topo *t, const struct topo_fabric *f,
                                                 struct sim_error *err);
/** GPUs by domain, domains. */
SIM_MUST_CHECK enum sim_status topo_rail_build(topo *t, const struct topo_fabric *f,
                                               struct sim_error *err);
SIM_MUST_CHECK enum sim_status topo_dgx_a100_build(topo *t, const struct topo_fabric *f,
                                                   struct sim_error *err);
SIM_MUST_CHECK enum sim_status topo_dgx_h100_build(topo *t, const struct topo_fabric *f,
                                                   struct sim_error *err);

/** The product of t->factor[0 .. factors - 1], of which t is the owner. */
SIM_MUST_CHECK enum sim_status topo_product_build(topo *t, struct sim_error *err);
/** `slices` copies of t->factor[0], joined by host NICs and one DCN switch. */
SIM_MUST_CHECK enum sim_status
topo_multislice_build(topo *t, uint32_t slices, const struct topo_fabric *f, struct sim_error *err);

/** Before any link is made: are these few enough nodes and links for this machine? */
SIM_MUST_CHECK enum sim_status topo_edges_check(const topo *t, uint64_t nodes, uint64_t links,
                                                struct sim_error *err);
/** The same for graphs with a hop count of every pair. */
SIM_MUST_CHECK enum sim_status topo_graph_check(const topo *t, uint64_t nodes, uint64_t links,
                                                struct sim_error *err);
/** One more link, one way only. */
void topo_edges_push(struct topo_edges *edges, struct topo_edge edge);
/** Bytes/s out of the first half of the chips: a halving of any topology, if seldom the least. */
double topo_half_of_chips_cut(const topo *t);

#endif
