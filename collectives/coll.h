/**
 * Collectives: operations, algorithms, and schedules for them over groups of chips.
 *
 * Bytes follow nccl-tests: the whole (unsharded) buffer for all-reduce, all-gather, reduce-scatter,
 * broadcast and reduce, and of the root for gather and scatter; the send buffer of one chip for
 * all-to-all, permute and send.
 */
#ifndef PODSIM_COLLECTIVES_COLL_H
#define PODSIM_COLLECTIVES_COLL_H

#include "base/error.h"
#include "netsim/schedule.h"
#include "topo/group.h"

enum coll_op {
    COLL_ALL_REDUCE,
    COLL_ALL_GATHER,
    COLL_REDUCE_SCATTER,
    COLL_ALL_TO_ALL,
    COLL_BROADCAST,
    COLL_REDUCE,
    COLL_GATHER,
    COLL_SCATTER,
    COLL_PERMUTE,
    COLL_SEND,
    COLL_OPS
};
extern const char *const coll_op_names[COLL_OPS + 1];

enum coll_algorithm {
    COLL_RING,               /* one direction around a Hamiltonian cycle; both ways on a line */
    COLL_BIDIRECTIONAL_RING, /* half of the buffer each way, n-1 steps */
    COLL_SHORT_RING,         /* own shard both ways, ceil((n-1)/2) steps */
    COLL_BUCKET,       /* axis by axis, 2d colours starting on different axes and directions */
    COLL_BUCKET_1,     /* the same with one colour and direction */
    COLL_BUCKET_2,     /* one colour in both directions */
    COLL_BUCKET_SHORT, /* d colours, own shard both ways */
    COLL_BUCKET_ALL,   /* all orders of the axes, in shares searched for unequal sides */
    COLL_DIRECT,       /* every chip to every other, all at once */
    COLL_RECURSIVE_DOUBLING, /* partners 1, 2, 4, ... away; all-reduce exchanges the whole buffer */
    COLL_HALVING_DOUBLING,   /* all-reduce as halving and doubling */
    COLL_BRUCK,              /* ceil(log2 n) steps for any n */
    COLL_BINOMIAL,           /* a tree of distances n/2, n/4, ..., 1 */
    COLL_BINE,               /* a binomial tree on negabinary ranks: shorter ways */
    COLL_CHAIN,              /* pipelined along a line from the root, both ways */
    COLL_BINARY_TREE,        /* one binary tree, pipelined */
    COLL_DOUBLE_TREE,        /* two binary trees, pipelined; inner in one is leaf in the other */
    COLL_SWING,              /* partners 1, 1, 3, 5, 11 ... away on 2d colours, halving */
    COLL_SWING_LATENCY,      /* the same exchanging all of the buffer */
    COLL_HIERARCHICAL,       /* inside slices, over the data-centre network, inside slices */
    COLL_CHANNELS,           /* a ring on each rail of a fabric of domains */
    COLL_HAMILTONIAN,        /* a ring on each of several cycles that share no cable */
    COLL_PHASED,             /* all-to-all axis by axis, a colour per axis order */
    COLL_ALGORITHMS
};
extern const char *const coll_algorithm_names[COLL_ALGORITHMS + 1];

/** Messages of a permute: [count] each; chips are ids. */
struct coll_pairs {
    uint32_t count;
    topo_chip_id *src, *dst;
    uint64_t *bytes;
};

struct coll_spec {
    enum coll_op op;
    enum coll_algorithm algorithm;
    struct topo_group group;
    double bytes;
    const struct coll_pairs
        *pairs;        /* COLL_PERMUTE only; NULL: each rank to the next one (wrapping) */
    uint32_t root;     /* rank; of broadcast, reduce, gather, scatter, and the sender of a send */
    uint32_t receiver; /* rank; of a send */
    uint32_t chunks;   /* of pipelined algorithms; 0: the closed form's best */
    bool is_one_group; /* only the group of chip `one_group_of` takes part */
    topo_chip_id one_group_of;
    bool is_unchecked; /* messages need not say what they carry: faster to build */
};

/** Chips of one group that take part: those that have not failed. */
uint32_t coll_members(const topo *t, const struct coll_spec *spec);
/** Does the chip's group take part? */
bool coll_is_active(const topo *t, const struct coll_spec *spec, topo_chip_id chip);
/** A chip whose group takes part. */
topo_chip_id coll_an_active_chip(const struct coll_spec *spec);
/** Does the algorithm do the operation at all? */
bool coll_algorithm_fits(enum coll_op op, enum coll_algorithm algorithm);
/** Why it cannot on this topology and group, as "want ..."; NULL when it can. */
const char *coll_obstacle(const topo *t, const struct coll_spec *spec);
/** Does the algorithm do the operation, here? */
bool coll_can(const topo *t, const struct coll_spec *spec);

/** Chunks of a pipelined algorithm, as asked for or chosen; 1 of the others. */
uint32_t coll_chunks(const topo *t, const struct coll_spec *spec);

/** Can it be built? Errors: SIM_EUSAGE (the algorithm does not do the operation, or not here),
 * SIM_EDATA (a failed chip is needed). */
SIM_MUST_CHECK enum sim_status coll_accept(const topo *t, const struct coll_spec *spec,
                                           struct sim_error *err);

/** A sealed schedule. Errors: those of coll_accept(). */
SIM_MUST_CHECK enum sim_status coll_build(const topo *t, const struct coll_spec *spec,
                                          struct sim_error *err, net_schedule **out);

/** busbw = algbw * factor: 2(n-1)/n all-reduce, (n-1)/n all-gather, reduce-scatter, all-to-all,
 * else 1. */
double coll_bus_factor(enum coll_op op, uint32_t ranks);

#endif
