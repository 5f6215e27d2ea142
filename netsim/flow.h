/**
 * The flow engine: messages are fluids that share links max-min fairly at every instant.
 *
 * Exact: rates change only when a flow starts or ends, and then the part of the network that the
 * change can reach is solved anew. Ends are rounded to the nearest picosecond (at least one after
 * the start); bytes are not rounded.
 */
#ifndef PODSIM_NETSIM_FLOW_H
#define PODSIM_NETSIM_FLOW_H

#include "netsim/calendar.h"
#include "netsim/link_stats.h"
#include "topo/topo.h"

typedef struct net_flow_engine net_flow_engine;
typedef uint32_t net_flow_id;

struct net_flow_link {
    double bytes_per_s;
    sim_ps latency_ps;
};

/** Ends of flows come out of `calendar` as timers of this kind, with the flow as payload. */
net_flow_engine *net_flow_engine_create(uint32_t links, const struct net_flow_link *link,
                                        net_calendar *calendar, uint32_t timer_kind);
void net_flow_engine_destroy(net_flow_engine *e);
/** From now on, an end takes along the other ends of its component that would come within this
 * share of their flow's time so far. 0, as at first: none, exact. */
void net_flow_engine_coalesce(net_flow_engine *e, double share);

/**
 * Start a flow of `bytes` > 0 over `link` (hops >= 1 links in order). `owner` is given back at its
 * end. Takes effect when net_flow_settle() is called for this instant.
 */
void net_flow_start(net_flow_engine *e, sim_ps now, double bytes, const topo_link_id *link,
                    uint32_t hops, uint32_t owner);
/** Whose flow it is. */
uint32_t net_flow_owner(const net_flow_engine *e, net_flow_id flow);
/** Have the processor fetch what the flow's end will need: itself; then its links. */
void net_flow_fetch(const net_flow_engine *e, net_flow_id flow);
void net_flow_fetch_links(const net_flow_engine *e, net_flow_id flow);
/** A flow's timer has been taken off the calendar: who ends with it is put there, to be ended at
 * this instant too. */
void net_flow_due(net_flow_engine *e, net_flow_id flow, sim_ps now);
/** A flow's timer has come: it leaves the network. Returns its owner and its path's latency. */
uint32_t net_flow_end(net_flow_engine *e, sim_ps now, net_flow_id flow, sim_ps *latency_ps);
/** All starts and ends of this instant are in: share the links anew. False: an end lies past the
 * end of time. */
bool net_flow_settle(net_flow_engine *e, sim_ps now);

/** What a link has carried so far, and for how long. */
void net_flow_link_stats(const net_flow_engine *e, uint32_t link, double *bytes, sim_ps *busy_ps);
void net_flow_counts(const net_flow_engine *e, uint64_t *flows, uint64_t *solves, uint64_t *levels);

#endif
