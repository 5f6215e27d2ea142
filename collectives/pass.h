/**
 * Passes: the pieces that ring, line and bucket algorithms are made of.
 *
 * A lane is a share of the buffer (one part, or two halves for short passes) with a chain of
 * passes. A pass gathers, or reduces and scatters, the lane's blocks along one axis of the
 * schedule's space:
 *
 *   ring, one way     k-1 steps; step s passes on the block that came s steps ago
 *
 *        0 > 1 > 2 > 3 > 0     block of chip p is at p+1 after step 0, at p+2 after step 1, ...
 *
 *   line, both ways   k-1 steps; what comes from the left goes on to the right and the other way
 *                     round, so the ends do less: guards say who takes part in which step
 *
 *        0 > 1 > 2 > 3         the link 2>3 carries blocks 2, 1, 0; the link 1>0 blocks 1, 2, 3
 *
 *   short ring        ceil((k-1)/2) steps; every block goes both ways round and meets itself on the
 *                     far side, where an even k leaves one chip that gets one half from either side
 *
 * Reduce-scatter is the same picture backwards in time. Sends of a step wait for what they pass on
 * and for the previous send on the same way; receives of a way are chained, so that the last one
 * says the pass is over.
 */
#ifndef PODSIM_COLLECTIVES_PASS_H
#define PODSIM_COLLECTIVES_PASS_H

#include "netsim/schedule.h"

enum coll_pass_kind { COLL_PASS_RING, COLL_PASS_LINE, COLL_PASS_SHORT };

/** A cycle of a lane's own past all members, for schedules whose lanes go different ways. Program 0
 * is that of the members, and chunks are lists: shard i is member i's. */
struct coll_cycle {
    uint32_t length;           /* members */
    const uint32_t *member_at; /* [length] in cycle order */
    bool has_cells;            /* messages say what they carry */
};

struct coll_pass {
    enum coll_pass_kind kind;
    uint32_t axis;                  /* of the space */
    const struct coll_cycle *cycle; /* the one axis there is, if so; else NULL */
    int32_t direction;              /* COLL_PASS_RING: +1 or -1 */
    uint32_t peer[2];               /* the next chip in + and in - direction */
};

/** Where a lane stands while its program is being written. */
struct coll_lane {
    net_schedule *s;
    uint32_t part_begin, part_count; /* 2 when any pass is short, else 1 */
    double bytes;                    /* of the lane's share of the whole buffer */
    uint32_t *next_tag;              /* shared by the lanes of a program */
    bool is_whole[TOPO_FACTORS_MAX]; /* per space axis: blocks span it */
    net_op_id wait[4];               /* what the next pass waits for; NET_NONE where nothing */
};

/** Begin a lane; for gathers every axis starts as a single block, for reduces as whole. */
void coll_lane_init(struct coll_lane *lane, net_schedule *s, uint32_t part_begin,
                    uint32_t part_count, double bytes, uint32_t *next_tag, bool is_whole);
void coll_pass_gather(struct coll_lane *lane, const struct coll_pass *pass);
void coll_pass_reduce_scatter(struct coll_lane *lane, const struct coll_pass *pass);

#endif
