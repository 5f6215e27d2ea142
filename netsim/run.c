#include "netsim/run.h"

#include "netsim/run_engines.h"

enum sim_status net_run(const net_schedule *root, const struct net_options *options,
                        const struct net_observer *observer, struct sim_error *err,
                        struct net_result *result, struct net_link_stats *stats,
                        struct net_run_stats *run_stats)
{
    return (options->router != NULL ? net_run_packets : net_run_flows)(root, options, observer, err,
                                                                       result, stats, run_stats);
}
