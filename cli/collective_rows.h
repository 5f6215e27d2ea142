/**
 * The rows of `podsim collective`: what to run, what came out, and the table.
 */
#ifndef PODSIM_CLI_COLLECTIVE_ROWS_H
#define PODSIM_CLI_COLLECTIVE_ROWS_H

#include "cli/hotspots.h"
#include "cli/report.h"
#include "collectives/cost.h"
#include "collectives/msccl.h"
#include "netsim/run.h"

enum collective_engine { COLLECTIVE_FLOW, COLLECTIVE_PACKET, COLLECTIVE_BOUND };
extern const char *const collective_engine_names[];

/** One row: a run, and (after collective_run()) its result. */
struct collective_row {
    struct coll_spec spec;
    const coll_msccl *file; /* in place of the spec's algorithm; borrowed, NULL: none */
    uint64_t bytes;
    enum collective_engine engine;
    uint32_t chunks; /* of pipelined algorithms; 1 of the others */

    uint32_t contest; /* rows of one number are run for the fastest of them; 0: on its own */
    bool is_form_choice;

    sim_ps time_ps, latency_ps, overhead_ps;
    int64_t busiest_link; /* the most used, where links differ in rate; else -1 */
    bool is_stalled;      /* no link is full, and one is idle though wanted for want of buffers */
    struct coll_bound bound;
    struct coll_cost form;
    enum coll_algorithm form_choice; /* of the contest this row has won, and what it took */
    sim_ps form_choice_ps;
};

/** What is wanted of a run's messages and link totals, the same on every rank, and where it goes:
 * NULL but on the rank that writes. */
struct collective_outputs {
    bool wants_messages, wants_link_stats;
    bool wants_stalls; /* of packets: see whether buffers limit, at 3/10 of the run's time */
    FILE *messages, *link_stats;
    struct cli_hotspots *hotspots; /* NULL: not wanted */
};

/** Is simulating it a matter of minutes? All-to-all with all messages at once may take days. */
bool collective_is_in_reach(const topo *t, double coalesce, enum collective_engine engine,
                            const struct coll_spec *spec);
/** What is known before running: the bound and the closed form. Errors: SIM_EDATA (longer than
 * simulated time). */
SIM_MUST_CHECK enum sim_status collective_prepare(const topo *t, double coalesce,
                                                  struct collective_row *row,
                                                  struct sim_error *err);
/** Build and run one prepared row; `totals` is added to. */
SIM_MUST_CHECK enum sim_status collective_run(const topo *t, const struct net_options *options,
                                              const struct collective_outputs *outputs,
                                              struct collective_row *row,
                                              struct net_run_stats *totals, struct sim_error *err);

cli_report *collective_report_create(void);
void collective_report_add(cli_report *report, const topo *t, const struct collective_row *row);

#endif
