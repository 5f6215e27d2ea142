/**
 * Traffic patterns: who sends to whom in open-loop traffic.
 *
 *     uniform        any chip, the sender included
 *     neighbour      the next chip along every axis (so d hops, not 1)
 *     tornado        ceil(k/2) - 1 further along every axis
 *     transpose      y,x from x,y; on other shapes of 4^n chips the halves of the id's bits swapped
 *     bitcomp        k-1-x along every axis: all bits of the id inverted
 *     bitrev         the bits of the id reversed; 2^n chips
 *     hotspot[:CHIP[:SHARE]]  a share (default 0.2) to one chip (default 0), the rest uniform
 *     (a matrix)     each chip to others by weight; the one that sends most sends the offered load
 *
 * Source: W. J. Dally & B. Towles, "Principles and Practices of Interconnection Networks", 2004,
 * table 3.1; definitions per axis as in BookSim2.
 */
#ifndef PODSIM_NETSIM_PATTERN_H
#define PODSIM_NETSIM_PATTERN_H

#include "base/error.h"
#include "base/rng.h"
#include "topo/topo.h"

typedef struct net_pattern net_pattern;

/** Is it one of the names above, whatever follows a colon? */
bool net_pattern_is_name(const char *text);
/** Errors: SIM_EDATA (no such pattern, or it does not fit the topology: says why). */
SIM_MUST_CHECK enum sim_status net_pattern_parse(const topo *t, const char *text,
                                                 struct sim_error *err, net_pattern **out);
/** Of `count` entries in any order; several of one pair add up. Errors: SIM_EDATA (a failed chip;
 * all weights are 0; a chip's sum passes 2^63). */
SIM_MUST_CHECK enum sim_status net_pattern_matrix(const topo *t, uint32_t count,
                                                  const topo_chip_id *src, const topo_chip_id *dst,
                                                  const uint64_t *weight, struct sim_error *err,
                                                  net_pattern **out);
void net_pattern_destroy(net_pattern *p);

/** What a chip sends of the offered load, 0 .. 1. */
double net_pattern_share(const net_pattern *p, topo_chip_id from);
/** Where the next packet goes. */
topo_chip_id net_pattern_draw(const net_pattern *p, topo_chip_id from, struct sim_rng *rng);

#endif
