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
};

void net_link_stats_init(struct net_link_stats *stats, const topo *t);
void net_link_stats_release(struct net_link_stats *stats);

/** bytes / (rate * time): the mean share of the link in use over the run; 0 for a run of no time.
 */
double net_link_utilisation(const struct net_link_stats *stats, const topo *t, topo_link_id link,
                            sim_ps time_ps);

/** The `count` most used links, most first, ties by id. Returns how many were written. */
uint32_t net_link_stats_busiest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link);

/** Write one CSV row a link: from, to, kind, bytes, busy_us, utilisation. */
void net_link_stats_write(const struct net_link_stats *stats, const topo *t, sim_ps time_ps,
                          FILE *out);

#endif
