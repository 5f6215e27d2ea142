/**
 * Plans: algorithms written message by message over the members of a group.
 *
 * Trees, butterflies and imported algorithms have no rule that is the same on every chip. A plan
 * lists their messages; coll_plan_schedule() then finds the members that do the same things in the
 * same order, gives each such role one program and its peers a list, so that a butterfly over 4,096
 * chips is one program.
 *
 * Members are the working chips of the group in rank order; only where a chip has failed does a
 * member's number differ from its rank.
 *
 * Order. Every message has a step, and a lane at either end. On a member, what belongs to one lane
 * runs step after step, within a step all sends at once and then the receives. What different lanes
 * do is independent unless `after` says otherwise.
 *
 *      step 0           step 1
 *      a: send, receive   send, receive      the second send waits for both of step 0
 *
 * Cells are what messages carry, for the checker alone; they are kept for small groups only.
 */
#ifndef PODSIM_COLLECTIVES_PLAN_H
#define PODSIM_COLLECTIVES_PLAN_H

#include "collectives/coll.h"

/** Largest group whose messages say which cells they carry. */
#define COLL_CELLS_RANKS_MAX 256

typedef struct coll_plan coll_plan;

struct coll_transfer {
    uint32_t src, dst; /* members */
    uint32_t step;
    uint32_t src_lane, dst_lane;
    uint32_t slot; /* tells apart what a member receives in one step and lane */
    double bytes;
    bool is_reduce;
    uint32_t after[2];               /* transfers that src must have received before; NET_NONE */
    uint32_t cell_begin, cell_count; /* of the plan's pool */
};

/** @param parts, shards  cells that the buffer is cut into; shard i is member i's where it is
 * somebody's, all-to-all has one for each pair, source + members * destination */
coll_plan *coll_plan_create(const topo *t, const struct coll_spec *spec, uint32_t parts,
                            uint32_t shards);
uint32_t coll_plan_members(const coll_plan *plan);
/** Are cells kept, or is the group too large? */
bool coll_plan_has_cells(const coll_plan *plan);
/** Append to the pool and give where; call it in one go for each message. */
uint32_t coll_plan_cell(coll_plan *plan, uint32_t cell);
/** Where the pool ends. */
uint32_t coll_plan_cells_end(const coll_plan *plan);
/** Append a message (copied) and give its id. */
uint32_t coll_plan_add(coll_plan *plan, const struct coll_transfer *transfer);
/** A message of all of a part (of a plan with one shard), in one lane and after nothing; not added.
 */
struct coll_transfer coll_plan_part(coll_plan *plan, uint32_t step, uint32_t lane, uint32_t src,
                                    uint32_t dst, uint32_t part, double bytes);
/** The same, added; gives its id. */
uint32_t coll_plan_send_part(coll_plan *plan, uint32_t step, uint32_t lane, uint32_t src,
                             uint32_t dst, uint32_t part, double bytes, bool is_reduce);
/** Steps so far: one more than the last. */
uint32_t coll_plan_steps(const coll_plan *plan);

/** Turn a gather into the scatter, or a broadcast into the reduction, that is its mirror image in
 * time: every message comes back, the last first. Needs messages without `after`. */
void coll_plan_reverse(coll_plan *plan, bool is_reduce);
/** From here on for all-reduce: the messages so far reversed and reducing, then as they are. */
void coll_plan_reduce_first(coll_plan *plan);
/** A plan for all-gather becomes what `op` asks: as it is, reversed, or both; the same for
 * broadcast, reduce and all-reduce, and for scatter and gather. */
void coll_plan_serve(coll_plan *plan, enum coll_op op);

/** Takes the plan. Not sealed yet. */
net_schedule *coll_plan_schedule(coll_plan *plan);

#endif
