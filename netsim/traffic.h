/**
 * Open-loop traffic in the packet engine: each chip creates packets at random times, whatever the
 * network does, and they wait in an endless queue at their source.
 *
 * Time is in cycles: a flit on a link of the default rate. A run has three phases: warm-up,
 * measurement, and drain, which lasts until every packet created in the measurement has arrived;
 * traffic goes on in all three. Accepted load is what arrives during the measurement. A point is
 * *saturated* when that is less than 97 % of what was offered (less two standard deviations of the
 * number of packets), or when the drain is not done in time: queues grow for ever.
 */
#ifndef PODSIM_NETSIM_TRAFFIC_H
#define PODSIM_NETSIM_TRAFFIC_H

#include "base/progress.h"
#include "netsim/link_stats.h"
#include "netsim/packet.h"
#include "netsim/partition.h"
#include "netsim/pattern.h"

struct net_traffic {
    const struct net_router *router; /* injects through one port a chip */
    const net_pattern *pattern;
    double load; /* of the link rate, in (0, 1] */
    uint64_t seed;
    uint64_t warmup, measure, drain;       /* cycles; drain: at most */
    const struct net_partition *partition; /* of the ranks, which all run it; NULL: all is here */
    struct net_link_stats *links; /* made for packets; written: of the measurement; NULL: none */
    sim_progress *progress;       /* told how far it is, borrowed; NULL: nobody is */
};

/* Cycles unless something else is asked for: as in the reference curves of docs/packet.md. */
#define NET_TRAFFIC_WARMUP  3000
#define NET_TRAFFIC_MEASURE 4000
#define NET_TRAFFIC_DRAIN   20000

/** Cycles that a packet takes on the longest way from the first chip through the idle network: a
 * warm-up that is shorter fills only part of it. */
double net_traffic_flight(const topo *t, const struct net_router *router);
/** Phases long enough for such flights and for packets of many flits: the above or more. */
void net_traffic_phases(const topo *t, const struct net_router *router, uint64_t *warmup,
                        uint64_t *measure, uint64_t *drain);

struct net_traffic_result {
    double accepted;                        /* share of the link rate, mean over chips */
    double mean_ps, p50_ps, p99_ps, max_ps; /* creation to last byte out; 0 if not known */
    uint64_t measured; /* packets they are of: created in the measurement and arrived */
    double cycle_ps;
    double busiest_link, busiest_ejection; /* shares of the measurement */
    topo_chip_id busiest_chip;             /* the first with that ejection */
    bool is_saturated;
    struct net_packet_counts counts; /* of all ranks */
};

/** One point of a curve. Errors: as net_packet_create(). */
SIM_MUST_CHECK enum sim_status net_traffic_run(const topo *t, const struct net_traffic *traffic,
                                               struct sim_error *err,
                                               struct net_traffic_result *out);

#endif
