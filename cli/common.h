/**
 * What several commands share: options that change a topology, and the simulator's own statistics.
 */
#ifndef PODSIM_CLI_COMMON_H
#define PODSIM_CLI_COMMON_H

#include "base/output.h"
#include "netsim/bytes.h"
#include "netsim/run.h"
#include "topo/topo.h"

/* Rows for an option table; keep them in one block. */
#define CLI_TOPOLOGY_OPTIONS                                                                       \
    {"link", "RATE", "one-way rate of every link, e.g. 45GB/s (default: the spec's)"},             \
        {"latency", "TIME", "of every hop, e.g. 1us (default: the spec's)"},                       \
        {"fail", "FAULT",                                                                          \
         "chip:3,4,5 link:0,0,0:+x[:out] host:5 cube:1,0,2 ocs:x7;\nmay be repeated, or a list "   \
         "with ;"},                                                                                \
        {"fail-random", "LIST", "links=N,chips=N,seed=N"},                                         \
        {"repair", "spare", "spare cubes take the place of those with failed chips or cables"},    \
    {                                                                                              \
        "routing", "NAME",                                                                         \
            "dimension-order[,tie=split|positive|negative|simgrid],\nbalanced, fault-tolerant, "   \
            "adaptive (packets), ecmp,\n"                                                          \
            "up-down, valiant[,seed=N], or a FILE"                                                 \
    }

/** Apply one of CLI_TOPOLOGY_OPTIONS, named by `name`. */
SIM_MUST_CHECK enum sim_status cli_topology_option(const char *name, const char *value,
                                                   struct topo_options *options,
                                                   struct sim_error *err);
/** The routing asked for, else the topology's own. */
const char *cli_routing_text(const struct topo_options *options, const topo *t);

/**
 * Would writing one of `count` outputs replace the input, or another output? Any may be NULL, and
 * "-" is no file. Errors: SIM_EUSAGE.
 */
SIM_MUST_CHECK enum sim_status cli_check_outputs(const char *input, const char *const *output,
                                                 int count, struct sim_error *err);

/** An output file that may not have been asked for: NULL when `path` is NULL, and on ranks that do
 * not write. */
SIM_MUST_CHECK enum sim_status cli_output_open(const char *path, struct sim_error *err,
                                               sim_output **out);

/** Commits an output that is there (else nothing) and forgets it. */
SIM_MUST_CHECK enum sim_status cli_output_commit(sim_output **output, struct sim_error *err);

struct cli_rank_usage {
    uint64_t peak_rss_bytes, mpi_messages, mpi_bytes;
    double cpu_s, mpi_wait_s;
};
/** How podsim itself did on every rank. */
struct cli_usage {
    struct cli_rank_usage start; /* of this rank */
    struct net_bytes ranks;      /* of struct cli_rank_usage; once it is finished */
    double wall_s;               /* since cli_usage_start() */
};
struct cli_usage cli_usage_start(void);
/** What it took since the start. With `is_shared` of all ranks, which must all call it; else of
 * this one. */
void cli_usage_finish(struct cli_usage *u, bool is_shared);
/** As JSON (the file of --stats); releases `u`. `out` NULL: nothing is written. */
void cli_stats_write(const struct net_run_stats *stats, struct cli_usage *u, FILE *out);

#endif
