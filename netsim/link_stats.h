/**
 * Per-link totals of a run: bytes carried, time with any traffic, and the highest share of the rate
 * in use.
 */
#ifndef PODSIM_NETSIM_LINK_STATS_H
#define PODSIM_NETSIM_LINK_STATS_H

#include <stdio.h>

#include "topo/topo.h"

struct net_link_stats {
    uint32_t count;
    double *bytes;   /* [count] */
    sim_ps *busy_ps; /* [count] time with at least one message on the link */
    /* Of the packet engine, where asked for; else NULL. [count] */
    sim_ps *waited_ps;  /* of all packets, in the buffers behind the link */
    sim_ps *stalled_ps; /* the link was idle though wanted: no room behind it */
    uint32_t *most;     /* packets that waited at once in one channel */
};

void net_link_stats_init(struct net_link_stats *stats, const topo *t);
/** The same with what only packets tell. */
void net_link_stats_init_packets(struct net_link_stats *stats, const topo *t);
void net_link_stats_release(struct net_link_stats *stats);

/** bytes / (rate * time): the mean share of the link in use over the run; 0 for a run of no time.
 */
double net_link_utilisation(const struct net_link_stats *stats, const topo *t, topo_link_id link,
                            sim_ps time_ps);

/** The `count` most used links, most first, ties by id. Returns how many were written. */
uint32_t net_link_stats_busiest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link);

/** The `count` links that were longest in use or stalled; else as net_link_stats_busiest(). */
uint32_t net_link_stats_hottest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link);

/** Packets that waited behind the link, on average over the run. */
double net_link_queue_mean(const struct net_link_stats *stats, topo_link_id link, sim_ps time_ps);

/** Write one CSV row a link: from, to, kind, bytes, busy_us, utilisation; of packets queue_mean,
 * queue_max, stalled_us, too. */
void net_link_stats_write(const struct net_link_stats *stats, const topo *t, sim_ps time_ps,
                          FILE *out);

#endif
