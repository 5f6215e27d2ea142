/* What flow.c and cluster.c share: the engine's state. */
#ifndef PODSIM_NETSIM_FLOW_INTERNAL_H
#define PODSIM_NETSIM_FLOW_INTERNAL_H

#include "netsim/flow.h"
#include "netsim/maxmin.h"

#define NONE NET_MAXMIN_NONE

struct flow {
    double remaining_bytes; /* true at updated_ps */
    double rate;            /* bytes/s since then; 0 before the first settle */
    sim_ps updated_ps;
    sim_ps end_ps; /* at this rate */
    sim_ps start_ps;
    double bytes;
    net_timer_id timer; /* of a loose flow that has a rate; else NONE */
    uint32_t owner;
};

struct flow_link {
    sim_ps latency_ps;
    sim_ps busy_since_ps, busy_ps;
    uint64_t byte_units;
    uint32_t cluster; /* NONE: loose */
    bool is_dirty;
};

/* The next end among the flows of a level, and among all levels up to it. */
struct due {
    sim_ps end_ps;
    net_flow_id flow; /* the first of the level that ends then */
    uint32_t least;   /* index of the first level, up to this one, that ends first */
};

/*
 * A cluster: links, and all flows on them, that may have to be shared out together. It holds whole
 * components (flows and links connected with each other); right after it was made, just one.
 */
struct cluster {
    struct net_levels levels;
    struct due *due; /* [levels.level_count] after a settle */
    topo_link_id *link;
    uint32_t link_count, link_capacity, due_capacity;
    uint32_t long_count; /* flows of more than one hop */
    uint32_t ends;       /* flows that have left since it was made */
    net_timer_id timer;  /* of the next end: NONE when there is none or it has come */
    sim_ps timer_ps;
    net_flow_id timer_flow;
    uint32_t free_next;
    bool is_dirty;
};

struct net_flow_engine {
    net_calendar *calendar;
    uint32_t timer_kind;
    double coalesce;
    struct net_maxmin network;
    struct flow_link *link; /* [network.links] */
    struct flow *flow;      /* [network.flows] */
    uint32_t flow_capacity;

    topo_link_id *dirty; /* loose links to share out anew */
    uint32_t dirty_count, dirty_capacity;
    net_flow_id *pending; /* flows that start and belong in a cluster */
    uint32_t pending_count, pending_capacity;
    struct cluster *cluster;
    uint32_t cluster_count, cluster_capacity, cluster_free;
    uint32_t *dirty_cluster, dirty_cluster_count, dirty_cluster_capacity;

    uint64_t started, solves;
    bool is_past_end; /* some end lies beyond SIM_PS_MAX */
};

/* ---- flow.c ---- */

/** Give the flow a rate from now on; its end follows. Nothing happens if the rate's bits are the
 * flow's. */
void net_flow_set_rate(net_flow_engine *e, net_flow_id flow, double rate, sim_ps now);
void net_flow_mark_dirty(net_flow_engine *e, topo_link_id link);

/* ---- cluster.c ---- */

/** A flow that has started joins the cluster of its links, which may have to be made or merged. */
void net_cluster_join(net_flow_engine *e, net_flow_id flow);
/** The timer of a flow of the cluster has come. The first to end at an instant puts all others of
 * the cluster that end with it on the calendar. */
void net_cluster_due(net_flow_engine *e, uint32_t cluster, net_flow_id flow, sim_ps now);
/** A flow of the cluster ends: it leaves. */
void net_cluster_leave(net_flow_engine *e, uint32_t cluster, net_flow_id flow, sim_ps now);
/** Share the links of all clusters in which something changed. */
void net_clusters_settle(net_flow_engine *e, sim_ps now);
void net_clusters_release(net_flow_engine *e);

#endif
