/**
 * Trees of messages with one root: broadcast, scatter, and their mirror images reduce and gather.
 */
#ifndef PODSIM_COLLECTIVES_TREE_H
#define PODSIM_COLLECTIVES_TREE_H

#include "collectives/cost.h"
#include "collectives/plan.h"

/** In `step` the parent, which has been reached before, reaches the child. */
struct coll_branch {
    uint32_t step, parent, child;
};

/** [members - 1] branches in the order of their steps. Root is member 0; the caller moves it. */
typedef void (*coll_tree_branches)(uint32_t members, struct coll_branch *branch);

/** The member of a rank: itself less the failed ones before it. */
uint32_t coll_member_of_rank(const topo *t, const struct coll_spec *spec, uint32_t rank);
/** A tree from spec's root for broadcast, reduce, scatter, gather; all-reduce is a reduction to
 * member 0 and a broadcast. */
net_schedule *coll_tree_build(const topo *t, const struct coll_spec *spec,
                              coll_tree_branches branches);

/** What that takes step by step: a member passes on one message after the other, and takes in
 * several at once; messages of a step share links (of at most 512 members). Exact on full meshes.
 */
struct coll_cost coll_tree_cost(const topo *t, const struct coll_spec *spec,
                                coll_tree_branches branches);

#endif
