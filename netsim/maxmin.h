/**
 * Max-min fair rates: nobody's rate can grow without taking from somebody who has no more.
 *
 * Progressive filling, level by level. Raise all rates together until some links are full; flows
 * over them are fixed at that level; go on with the rest. A link that is the reason for a flow's
 * rate is its bottleneck: full, and nobody on it has more. (Bertsekas & Gallager, Data Networks,
 * 2nd ed., section 6.5.2.)
 *
 * All links whose share is the lowest to the last bit are taken in one level, counts are integers,
 * and what a level takes from a link is subtracted once (level * count), never flow by flow: links
 * that see the same flows compute the same bits, whatever order they are visited in.
 */
#ifndef PODSIM_NETSIM_MAXMIN_H
#define PODSIM_NETSIM_MAXMIN_H

#include <stdint.h>

/** Room to solve in; zero-initialise, reuse, release. */
struct net_maxmin {
    uint32_t link_capacity, flow_capacity, hop_capacity;
    double *residual, *key;        /* [links] */
    uint32_t *count, *taken;       /* [links] unfixed hops on a link; hops a level fixes on it */
    uint32_t *heap, *heap_at;      /* [links] by (key, id) */
    uint32_t *saturated, *touched; /* [links] */
    uint32_t *flow_begin, *flow;   /* CSR link -> flows: [links + 1], [hops] */
    uint64_t levels;               /* solved so far, all calls */
};

void net_maxmin_release(struct net_maxmin *w);

/**
 * @param capacity    [links] bytes/s, > 0
 * @param path_begin  [flows + 1] offsets into path_link
 * @param path_link   links of each flow, at least one; a link that a flow passes twice counts twice
 * @param rate        [flows] out: bytes/s
 * Cost: O(hops + levels * log links).
 */
void net_maxmin_solve(struct net_maxmin *w, uint32_t links, const double *capacity, uint32_t flows,
                      const uint32_t *path_begin, const uint32_t *path_link, double *rate);

#endif
