/**
 * All-gathers written as exchanges: who holds which blocks, step by step.
 *
 * Every member begins with its own block. In a step some members send all they held when it began;
 * what they send is new to the receiver. Plans made this way reverse into reduce-scatters.
 */
#ifndef PODSIM_COLLECTIVES_GATHER_H
#define PODSIM_COLLECTIVES_GATHER_H

#include "collectives/plan.h"

struct coll_gather {
    coll_plan *plan;
    uint32_t part, lane; /* the share of the buffer, and the lane of its messages */
    double block_bytes;
    uint32_t members, words;
    uint32_t *count, *next_count; /* [members] blocks held */
    uint64_t *have, *next_have;   /* [members x words]; NULL where cells are not kept */
};

void coll_gather_init(struct coll_gather *g, coll_plan *plan, uint32_t part, uint32_t lane,
                      double block_bytes);
/** All that `src` has goes to `dst` in `step`. */
void coll_gather_send(struct coll_gather *g, uint32_t step, uint32_t src, uint32_t dst);
/** What `src` has and `dst` has not. */
void coll_gather_send_missing(struct coll_gather *g, uint32_t step, uint32_t src, uint32_t dst);
/** What was sent has arrived. */
void coll_gather_end_step(struct coll_gather *g);
void coll_gather_release(struct coll_gather *g);

#endif
