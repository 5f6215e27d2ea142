/**
 * The executor: runs a schedule on a topology with an engine.
 */
#ifndef PODSIM_NETSIM_RUN_H
#define PODSIM_NETSIM_RUN_H

#include <stdio.h>

#include "base/error.h"
#include "base/progress.h"
#include "netsim/link_stats.h"
#include "netsim/router.h"
#include "netsim/schedule.h"

/** Costs that are not the links'. All default to 0. */
struct net_options {
    sim_ps entry_overhead_ps;  /* every chip enters the root schedule this late */
    sim_ps entry_spread_ps;    /* and each by a random time up to this, its own, later still */
    sim_ps launch_overhead_ps; /* a chip enters a called schedule this much after it could */
    sim_ps send_overhead_ps;   /* between a send's start and its first byte */
    bool is_unreduced;         /* run every chip, though symmetry would give the same bits */
    double coalesce;           /* ends within this share of a flow's time go together; 0: exact */
    const struct net_router *router; /* packet by packet through these; NULL: flows */
    bool is_one_by_one;              /* packets: none as trains, though the bits are the same */
    sim_ps window_ps;                /* packets: shorter windows than one lookahead, for tests */
    bool is_partitioned; /* packets: the pod is cut over all MPI ranks, which all call net_run() and
                            all get the whole result */
    sim_progress *progress; /* told how far the run is, borrowed; NULL: nobody is */
};

/** Told what happens, in time order; any may be NULL. Chips and operations are those of the root
 * schedule. What a class of chips does is told for each of them. */
struct net_observer {
    void *context;
    bool wants_classes; /* on_op only: told for one chip of each class */
    /** A message arrived: all of [src, dst, bytes, start, end]. */
    void (*on_message)(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                       sim_ps start_ps, sim_ps end_ps);
    /** A compute or call operation of the root schedule is done on a chip. A call's start excludes
     * nothing. */
    void (*on_op)(void *context, topo_chip_id chip, const struct net_op *op, sim_ps start_ps,
                  sim_ps end_ps);
};

/** How the simulator itself did; not part of the result. */
struct net_run_stats {
    uint64_t events, messages, flows, solves, levels, instants;
    uint64_t packet_hops, windows, trains, cuts;  /* see packet.h */
    uint64_t shared_trains, shared_cuts;          /* there, too */
    uint64_t cut_links, most_nodes, fewest_nodes; /* between ranks; of a rank; 0: one rank */
    uint64_t classes;             /* chips that were run for all others; see symmetry.h */
    uint64_t parts, parts_reused; /* see parts.h; of them those that another stood for */
};

/** The finish, and what the chain of operations that led to it was made of. */
struct net_result {
    sim_ps time_ps;
    sim_ps latency_ps;  /* hops on the critical path */
    sim_ps overhead_ps; /* launch and send overheads on it */
    sim_ps compute_ps;  /* compute operations on it; the rest of time_ps is bytes on links */
};

/**
 * Run to the end.
 *
 * @param stats may be NULL; else every link's bytes and busy time @param run_stats may be NULL
 * Errors: SIM_ERESOURCE (more state than this machine has memory), SIM_EDATA (the schedule cannot
 * finish: names who waits for whom; or time passes 106 days).
 */
SIM_MUST_CHECK enum sim_status net_run(const net_schedule *root, const struct net_options *options,
                                       const struct net_observer *observer, struct sim_error *err,
                                       struct net_result *result, struct net_link_stats *stats,
                                       struct net_run_stats *run_stats);

#endif
