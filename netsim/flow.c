/*
 * Flows and the links they hold; what a start or an end changes.
 *
 * A link that only flows of one hop use is loose: it is shared out on its own, and each of its
 * flows has its own timer. That keeps collectives of neighbours cheap: a flow alone on such a link
 * gets it at once, and several divide it evenly without the solver. Flows of several hops, and all
 * links and flows they touch, are in clusters (cluster.c), each solved as one.
 *
 * A flow's remaining bytes are brought up to date only when its rate changes, from the
 * whole-picosecond difference since the last change, so that results do not depend on when a run
 * began.
 */
#include "netsim/flow.h"

#include <math.h>

#include "base/arena.h"
#include "netsim/flow_internal.h"

/* Link bytes are summed in units of 2^-8 byte: integers add up the same in any order. */
#define BYTE_UNITS 256.0

net_flow_engine *net_flow_engine_create(uint32_t links, const struct net_flow_link *link,
                                        net_calendar *calendar, uint32_t timer_kind)
{
    net_flow_engine *e = SIM_NEW(net_flow_engine, 1);
    e->calendar = calendar;
    e->timer_kind = timer_kind;
    e->cluster_free = NONE;
    e->link = SIM_NEW(struct flow_link, links);
    net_maxmin_init(&e->network, links);
    for (uint32_t l = 0; l < links; l++) {
        e->network.link[l].capacity = link[l].bytes_per_s;
        e->link[l] = (struct flow_link){.latency_ps = link[l].latency_ps, .cluster = NONE};
    }
    return e;
}

void net_flow_engine_destroy(net_flow_engine *e)
{
    if (e == NULL) return;
    net_clusters_release(e);
    net_maxmin_release(&e->network);
    sim_free(e->link);
    sim_free(e->flow);
    sim_free(e->dirty);
    sim_free(e->pending);
    sim_free(e);
}

void net_flow_engine_coalesce(net_flow_engine *e, double share)
{
    assert(share >= 0);
    e->coalesce = share;
}

void net_flow_mark_dirty(net_flow_engine *e, topo_link_id link)
{
    if (e->link[link].is_dirty) return;
    e->link[link].is_dirty = true;
    SIM_GROW(e->dirty, e->dirty_capacity, e->dirty_count + 1);
    e->dirty[e->dirty_count++] = link;
}

void net_flow_set_rate(net_flow_engine *e, net_flow_id id, double rate, sim_ps now)
{
    struct flow *f = &e->flow[id];
    if (f->rate == rate) return;
    f->remaining_bytes -= f->rate * ((double)(now - f->updated_ps) * 1e-12);
    f->updated_ps = now;
    f->rate = rate;
    double left_ps = f->remaining_bytes / rate * 1e12;
    if (!(left_ps < (double)(SIM_PS_MAX - now))) {
        e->is_past_end = true;
        f->end_ps = SIM_PS_MAX;
        return;
    }
    sim_ps left = llrint(left_ps);
    f->end_ps = now + (left > 1 ? left : 1);
}

/* The same for a flow on a loose link, which has its own timer. */
static void set_loose_rate(net_flow_engine *e, net_flow_id id, double rate, sim_ps now)
{
    struct flow *f = &e->flow[id];
    if (f->timer != NONE && f->rate == rate) return;
    if (f->timer != NONE) net_calendar_cancel(e->calendar, f->timer);
    net_flow_set_rate(e, id, rate, now);
    f->timer = net_calendar_add(e->calendar, f->end_ps, e->timer_kind, id);
}

void net_flow_start(net_flow_engine *e, sim_ps now, double bytes, const topo_link_id *link,
                    uint32_t hops, uint32_t owner)
{
    assert(bytes > 0 && hops >= 1);
    for (uint32_t i = 0; i < hops; i++)
        if (e->network.link[link[i]].ref_count == 0) e->link[link[i]].busy_since_ps = now;
    net_flow_id id = net_maxmin_add(&e->network, link, hops);
    SIM_GROW(e->flow, e->flow_capacity, e->network.flows);
    e->flow[id] = (struct flow){.remaining_bytes = bytes,
                                .bytes = bytes,
                                .updated_ps = now,
                                .start_ps = now,
                                .timer = NONE,
                                .owner = owner};
    e->started++;
    const struct flow_link *l = &e->link[link[0]];
    if (hops > 1 || l->cluster != NONE) {
        SIM_GROW(e->pending, e->pending_capacity, e->pending_count + 1);
        e->pending[e->pending_count++] = id;
    } else if (e->network.link[link[0]].ref_count == 1 && !l->is_dirty) {
        set_loose_rate(e, id, e->network.link[link[0]].capacity, now);
    } else {
        net_flow_mark_dirty(e, link[0]);
    }
}

uint32_t net_flow_owner(const net_flow_engine *e, net_flow_id flow)
{
    return e->flow[flow].owner;
}

/* Records are shorter than two of the processor's lines, which they may begin anywhere in. */
#define FETCH(record)                                                                              \
    do {                                                                                           \
        __builtin_prefetch(record);                                                                \
        __builtin_prefetch((const char *)((record) + 1) - 1);                                      \
    } while (0)

void net_flow_fetch(const net_flow_engine *e, net_flow_id flow)
{
    FETCH(&e->flow[flow]);
    __builtin_prefetch(&e->network.path[flow]);
}

void net_flow_fetch_links(const net_flow_engine *e, net_flow_id flow)
{
    uint32_t hop = e->network.path[flow].begin;
    topo_link_id link = e->network.hop_link[hop];
    FETCH(&e->network.link[link]);
    FETCH(&e->link[link]);
    __builtin_prefetch(&e->network.hop_at[hop]);
}

void net_flow_due(net_flow_engine *e, net_flow_id id, sim_ps now)
{
    if (e->flow[id].timer != NONE) return; /* loose */
    uint32_t first = e->network.hop_link[e->network.path[id].begin];
    net_cluster_due(e, e->link[first].cluster, id, now);
}

uint32_t net_flow_end(net_flow_engine *e, sim_ps now, net_flow_id id, sim_ps *latency_ps)
{
    const struct flow *f = &e->flow[id];
    const struct net_maxmin_path *p = &e->network.path[id];
    const topo_link_id *link = e->network.hop_link + p->begin;
    uint32_t cluster = e->link[link[0]].cluster;
    if (cluster != NONE) net_cluster_leave(e, cluster, id, now);
    net_maxmin_drop(&e->network, id);
    *latency_ps = 0;
    uint64_t units = (uint64_t)llrint(f->bytes * BYTE_UNITS);
    for (uint32_t i = 0; i < p->length; i++) {
        struct flow_link *l = &e->link[link[i]];
        l->byte_units += units;
        *latency_ps += l->latency_ps;
        if (e->network.link[link[i]].ref_count == 0) {
            l->busy_ps += now - l->busy_since_ps;
            l->busy_since_ps = now; /* a path may pass a link twice */
        } else if (cluster == NONE) {
            net_flow_mark_dirty(e, link[i]);
        }
    }
    return f->owner;
}

/* A link with one-hop flows only. */
static void share_loose_link(net_flow_engine *e, topo_link_id link, sim_ps now)
{
    const struct net_maxmin_link *l = &e->network.link[link];
    double rate = l->capacity / l->ref_count;
    for (uint32_t i = 0; i < l->ref_count; i++)
        set_loose_rate(e, e->network.ref_flow[l->ref_begin + i], rate, now);
}

bool net_flow_settle(net_flow_engine *e, sim_ps now)
{
    for (uint32_t i = 0; i < e->pending_count; i++)
        net_cluster_join(e, e->pending[i]);
    e->pending_count = 0;
    net_clusters_settle(e, now); /* may leave links loose, and dirty */
    for (uint32_t i = 0; i < e->dirty_count; i++) {
        topo_link_id link = e->dirty[i];
        e->link[link].is_dirty = false;
        if (e->link[link].cluster != NONE || e->network.link[link].ref_count == 0) continue;
        e->solves++;
        share_loose_link(e, link, now);
    }
    e->dirty_count = 0;
    return !e->is_past_end;
}

/* ---- statistics ---- */

void net_flow_link_stats(const net_flow_engine *e, uint32_t link, double *bytes, sim_ps *busy_ps)
{
    *bytes = (double)e->link[link].byte_units / BYTE_UNITS;
    *busy_ps = e->link[link].busy_ps;
}

void net_flow_counts(const net_flow_engine *e, uint64_t *flows, uint64_t *solves, uint64_t *levels)
{
    *flows = e->started;
    *solves = e->solves;
    *levels = e->network.levels;
}
