/**
 * podsim collective --together FILE: collectives that run at once and share the links.
 */
#ifndef PODSIM_CLI_TOGETHER_H
#define PODSIM_CLI_TOGETHER_H

#include "cli/report.h"
#include "netsim/run.h"

/**
 * Read the file, run all of it once, and each collective alone for comparison; a row each, in the
 * file's order. The file has a key `collectives`, a list of mappings: `op` and `bytes`, and
 * optional `name`, `axes`, `algorithm`, `start`, `root`, `chunks`, `one_group`.
 *
 * @param options  the launch overhead of each collective is options->entry_overhead_ps
 * Errors: those of reading YAML, groups and algorithms, at their place in the file; of running.
 */
SIM_MUST_CHECK enum sim_status cli_together_run(const char *path, const topo *t,
                                                const struct net_options *options,
                                                cli_report *report, struct net_run_stats *stats,
                                                struct sim_error *err);
/** An empty report with the columns of those rows. */
cli_report *cli_together_report(void);

#endif
