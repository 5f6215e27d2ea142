/**
 * How many cycles pass before a Bernoulli process fires: integers only after the table is made, so
 * that every machine draws the same.
 */
#ifndef PODSIM_NETSIM_GAP_H
#define PODSIM_NETSIM_GAP_H

#include <stdint.h>

#include "base/rng.h"

#define NET_GAP_STEPS 1024
#define NET_GAP_GUIDE 256

/** until[k]: 2^63 times the chance of a gap of at most k. */
struct net_gap {
    uint64_t until[NET_GAP_STEPS];
    uint16_t guide[NET_GAP_GUIDE]; /* first k by the top 8 bits of a draw */
};

/** `chance` per cycle, in (0, 1]. */
void net_gap_init(struct net_gap *gap, double chance);
/** Cycles without, 0 or more. */
uint64_t net_gap_draw(const struct net_gap *gap, struct sim_rng *rng);

#endif
