#include "netsim/run.h"

#include "netsim/run_engines.h"
#include "topo/routing.h"

enum sim_status net_run(const net_schedule *root, const struct net_options *options,
                        const struct net_observer *observer, struct sim_error *err,
                        struct net_result *result, struct net_link_stats *stats,
                        struct net_run_stats *run_stats)
{
    const topo *t = net_schedule_topo(root);
    if (options->router == NULL && topo_routing_is_adaptive(t))
        return sim_error_set(err, SIM_EDATA,
                             "routing adaptive chooses the ways packet by packet: it needs the "
                             "packet engine (--engine packet)");
    return (options->router != NULL ? net_run_packets : net_run_flows)(root, options, observer, err,
                                                                       result, stats, run_stats);
}
