/**
 * What `podsim collective` runs: the rows that sizes, groups and algorithms multiply to.
 */
#ifndef PODSIM_CLI_COLLECTIVE_PLAN_H
#define PODSIM_CLI_COLLECTIVE_PLAN_H

#include "cli/collective_rows.h"

/** What was asked; texts are borrowed, NULL where not given. */
struct collective_question {
    enum coll_op op;
    enum collective_engine engine;
    double coalesce; /* share; 0: exact */
    const char *axes, *algorithms;
    const coll_msccl *file;               /* in place of algorithms; borrowed, or NULL */
    const char *pairs_path, *matrix_path; /* messages instead of sizes */
    const char *root, *from, *to;         /* ranks, or coordinates of a chip */
    const uint64_t *bytes;
    uint32_t bytes_count;
    double skew;     /* of an all-to-all; 0: none */
    uint32_t chunks; /* 0: chosen */
    bool is_one_group, is_tuned;
};

/** Owned; collective_plan_release() frees it. */
struct collective_plan {
    const topo *topology; /* borrowed */
    struct collective_row *row;
    size_t row_count, row_capacity;
    struct coll_pairs **pairs; /* message lists that rows point to */
    size_t pairs_count, pairs_capacity;
    bool is_left_out[COLL_ALGORITHMS]; /* of "all", as too long to simulate */
};

SIM_MUST_CHECK enum sim_status collective_plan_make(const topo *t,
                                                    const struct collective_question *q,
                                                    struct sim_error *err,
                                                    struct collective_plan *out);
/** Of each contest of a tuned plan, whose rows have run, keep the fastest. */
void collective_plan_settle(struct collective_plan *plan);
void collective_plan_release(struct collective_plan *plan);

/** "swing-latency, from 182KiB swing, from 118MiB bucket": which has the lowest form over all
 * sizes, for the group of a row; `among` as of coll_switch_points(). */
const char *collective_switch_points(const topo *t, const struct collective_row *row,
                                     uint32_t among, char *buffer, size_t bytes);

#endif
