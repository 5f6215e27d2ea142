/**
 * Groups of chips: a mixed-radix list of (axis, stride, extent), for every value of the rest, all
 * at once.
 *
 * Whole axes, split axes, 2x2 sub-rings, slices and pipeline stages are the same thing. A factor
 * takes the digit (coord[axis] / stride) mod extent of a chip's coordinate; the digits, first
 * factor fastest, are its rank.
 *
 *     axis x of 8:   (x,1,8)  one group of 8
 *                    (x,1,4)  {0..3} {4..7}
 *                    (x,4,2)  {0,4} {1,5} {2,6} {3,7}
 */
#ifndef PODSIM_TOPO_GROUP_H
#define PODSIM_TOPO_GROUP_H

#include "topo/topo.h"

#define TOPO_FACTORS_MAX 8

struct topo_factor {
    uint8_t axis;
    uint32_t stride, extent; /* stride * extent divides the axis */
};

/** Plain value; `size` is the product of the extents. An empty list is the group of one. */
struct topo_group {
    uint32_t factor_count;
    struct topo_factor factor[TOPO_FACTORS_MAX];
    uint32_t size;
};

/** All axes. */
struct topo_group topo_group_all(const topo *t);
/** Append a factor. Errors: SIM_EDATA (does not divide, overlaps an earlier factor, too many). */
SIM_MUST_CHECK enum sim_status topo_group_add(const topo *t, struct topo_group *group,
                                              struct topo_factor factor, struct sim_error *err);
/** "xy", "x4y2" (the first 4 of x, the first 2 of y), "x4@2" (4 of x, 2 apart). Errors: SIM_EDATA.
 */
SIM_MUST_CHECK enum sim_status topo_group_parse(const topo *t, const char *text,
                                                struct sim_error *err, struct topo_group *out);
/** The text that topo_group_parse() reads. Returns `buffer`. */
const char *topo_group_format(const topo *t, const struct topo_group *group, char *buffer,
                              int bytes);

uint32_t topo_group_digit(const topo *t, const struct topo_group *group, topo_chip_id chip,
                          uint32_t factor);
uint32_t topo_group_rank(const topo *t, const struct topo_group *group, topo_chip_id chip);
/** The chip of rank `rank` in the group that `chip` belongs to. */
topo_chip_id topo_group_chip(const topo *t, const struct topo_group *group, topo_chip_id chip,
                             uint32_t rank);
/** Does the factor close on itself over links: it spans a wrapped axis (or there are no ports and
 * any order does)? */
bool topo_factor_is_ring(const topo *t, const struct topo_factor *factor);

/**
 * Order a group's ranks so that consecutive ones are neighbours along factors.
 *
 * @param rank_at [group->size] out: rank at each position @return true when the last is a neighbour
 * of the first too (a Hamiltonian cycle); false: a snake line
 *
 * A cycle exists when some factor of at least 3 closes (or 2, over its second cable), or when the
 * size is even and two factors are longer than 1; an odd unwrapped grid is bipartite with unequal
 * sides and has none.
 */
bool topo_group_cycle(const topo *t, const struct topo_group *group, uint32_t *rank_at);

#endif
