/**
 * Paths between chips: a set of paths that share a message, or the walk along given hops.
 */
#ifndef PODSIM_TOPO_ROUTE_H
#define PODSIM_TOPO_ROUTE_H

#include "topo/topo.h"

/** Paths of one pair and what share of a message each carries. Zero-initialise; reused from call to
 * call. */
struct topo_paths {
    uint32_t count;
    uint32_t *begin;    /* [count + 1] offsets into link */
    double *share;      /* [count] adds up to 1 */
    topo_link_id *link; /* [begin[count]] */
    uint8_t *channel;   /* [begin[count]] virtual channel of each link, for deadlock freedom */
    uint32_t begin_capacity, share_capacity, link_capacity, channel_capacity;
    struct topo_paths *leg; /* scratch of routings that put ways together; NULL at first */
};

void topo_paths_release(struct topo_paths *paths);
/** Sum of the link latencies of path `i`. */
sim_ps topo_path_latency_ps(const topo *t, const struct topo_paths *paths, uint32_t i);

/**
 * The topology's routing. A pair src == dst has one path without links.
 *
 * Tori and meshes: dimension order (x first). Where both directions around an axis are equally long
 * the message is split evenly over them (2^j paths for j such axes), or takes the side
 * topo_options.tie names.
 */
void topo_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths);

/** Where `hops` (signed, per axis) lead from `src`; a step over a mesh's edge is a bug. */
topo_chip_id topo_translate(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX]);
/** One path: the walk along `hops`, axis by axis. Unlike topo_route() it takes the direction it is
 * told. False when one of its cables has failed. */
bool topo_walk(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX],
               struct topo_paths *paths);
/** Number of links of the shortest path. */
uint32_t topo_distance(const topo *t, topo_chip_id src, topo_chip_id dst);

#endif
