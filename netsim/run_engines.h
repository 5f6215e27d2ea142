/**
 * A run in one engine or the other; arguments and errors are net_run()'s.
 */
#ifndef PODSIM_NETSIM_RUN_ENGINES_H
#define PODSIM_NETSIM_RUN_ENGINES_H

#include "netsim/run.h"

SIM_MUST_CHECK enum sim_status
net_run_flows(const net_schedule *root, const struct net_options *options,
              const struct net_observer *observer, struct sim_error *err, struct net_result *result,
              struct net_link_stats *stats, struct net_run_stats *run_stats);
SIM_MUST_CHECK enum sim_status net_run_packets(const net_schedule *root,
                                               const struct net_options *options,
                                               const struct net_observer *observer,
                                               struct sim_error *err, struct net_result *result,
                                               struct net_link_stats *stats,
                                               struct net_run_stats *run_stats);

#endif
