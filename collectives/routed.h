/**
 * What a schedule takes on idle links, from the ways its messages really go: closed forms for
 * fabrics, faults, twists, strided groups and slices, where no formula is exact.
 *
 * Sends are put into levels: a send stands one level after what it waits for. The messages of one
 * level are taken to be on the way together and to share links evenly, so that one of b bytes is as
 * slow as the link on its way that has most to do before it, each link at its own rate:
 *
 *     level 0            level 1              a link's load for it: over all messages of the level
 *     a > b, c > d       b > c, d > a         on that link, min(theirs, b)
 *                                             a message: hops + largest load / rate on its way
 *
 * and the schedule takes its longest chain of messages. That is affine in the bytes for any one
 * chain, so the time over all sizes is the largest of a few such lines (convex, piecewise affine),
 * which are found once. Chunks of a pipeline follow each other at the pace of the link that one
 * chunk loads most in all.
 *
 * Lanes whose steps differ in length get out of step, and messages of different levels meet: such
 * algorithms take something between the longest chain and one level after the other.
 *
 * Exact where the messages of a level start together and no others meet them, as on rings,
 * crossbars and full meshes; else an estimate, mostly within some per cent. Cost: a route for each
 * message of each level that differs from those before. Above COLL_ROUTED_VISITS_MAX links walked
 * there is no answer.
 */
#ifndef PODSIM_COLLECTIVES_ROUTED_H
#define PODSIM_COLLECTIVES_ROUTED_H

#include "netsim/schedule.h"

/** Links walked, all messages together: about a fifth of a second. */
#define COLL_ROUTED_VISITS_MAX 2000000
/** Operations of all chips whose chains are followed; above, levels follow each other. */
#define COLL_ROUTED_OPS_MAX   300000
#define COLL_ROUTED_LINES_MAX 12

/** One chain: hops plus what each byte of the buffer costs. */
struct coll_line {
    double hops_ps, ps_per_byte;
};

struct coll_routed {
    uint32_t count; /* 0: over the cap */
    struct coll_line line[COLL_ROUTED_LINES_MAX];
    struct coll_line levels; /* level after level instead, each as slow as its slowest message */
    double unevenness; /* 0: messages of a level take equally long; towards 1: most wait for few */
    double chunk_ps_per_byte; /* of the buffer: what one more chunk takes, if that chunk is all */
};

/** @param bytes what the schedule was built for, > 0; one chunk */
struct coll_routed coll_routed_make(const net_schedule *s, double bytes);
/** The line that counts for `bytes`. */
struct coll_line coll_routed_at(const struct coll_routed *r, double bytes);

#endif
