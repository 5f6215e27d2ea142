/*
 * Clusters: who has to be shared out together, and which of their flows ends next.
 *
 * A flow of several hops ties its links together. A start that touches several clusters merges
 * them, the smaller into the larger, whose levels stand as far as max-min sharing lets them. Ends
 * may split a cluster; to look for that at each end would cost more than a solve. It need not be
 * seen at once: links that have nothing to do with each other get the same bits whether they are
 * solved together or apart. So a cluster is taken apart and put together anew when more flows have
 * left since it was made than are left, or when no flow of several hops is left; each flow's end
 * pays for a constant number of such moves.
 *
 * A cluster has one timer, for its next end: the least end of each level and, up the stack, the
 * least so far. A solve renews that for the levels it made, and touches a flow's end only where its
 * rate changed. When the timer comes, the levels with ends now are searched for the others.
 */
#include <math.h>

#include "base/arena.h"
#include "netsim/flow_internal.h"

#define AHEAD 8 /* flows fetched ahead: they lie anywhere in memory */

static uint32_t cluster_create(net_flow_engine *e)
{
    uint32_t id = e->cluster_free;
    if (id != NONE) {
        e->cluster_free = e->cluster[id].free_next;
    } else {
        SIM_GROW(e->cluster, e->cluster_capacity, e->cluster_count + 1);
        id = e->cluster_count++;
        e->cluster[id] = (struct cluster){.timer = NONE};
    }
    return id;
}

static void cancel_timer(net_flow_engine *e, struct cluster *c)
{
    if (c->timer != NONE) net_calendar_cancel(e->calendar, c->timer);
    c->timer = NONE;
}

/* Its arrays stay for the next one. */
static void cluster_destroy(net_flow_engine *e, uint32_t id)
{
    struct cluster *c = &e->cluster[id];
    cancel_timer(e, c);
    net_levels_clear(&c->levels);
    c->link_count = c->long_count = c->ends = 0;
    c->is_dirty = false;
    c->free_next = e->cluster_free;
    e->cluster_free = id;
}

void net_clusters_release(net_flow_engine *e)
{
    for (uint32_t i = 0; i < e->cluster_count; i++) {
        net_levels_release(&e->cluster[i].levels);
        sim_free(e->cluster[i].due);
        sim_free(e->cluster[i].link);
    }
    sim_free(e->cluster);
    sim_free(e->dirty_cluster);
}

static void mark_cluster(net_flow_engine *e, uint32_t id)
{
    if (e->cluster[id].is_dirty) return;
    e->cluster[id].is_dirty = true;
    SIM_GROW(e->dirty_cluster, e->dirty_cluster_capacity, e->dirty_cluster_count + 1);
    e->dirty_cluster[e->dirty_cluster_count++] = id;
}

/* ---- joining and leaving ---- */

static void enter(net_flow_engine *e, uint32_t id, net_flow_id flow)
{
    struct cluster *c = &e->cluster[id];
    net_levels_enter(&e->network, &c->levels, flow);
    c->long_count += e->network.path[flow].length > 1;
    mark_cluster(e, id);
}

static void add_link(net_flow_engine *e, uint32_t id, topo_link_id link)
{
    struct cluster *c = &e->cluster[id];
    net_maxmin_reset_link(&e->network, link);
    e->link[link].cluster = id;
    SIM_GROW(c->link, c->link_capacity, c->link_count + 1);
    c->link[c->link_count++] = link;
}

/* A loose link, with the flows that have it for themselves. */
static void adopt_link(net_flow_engine *e, uint32_t id, topo_link_id link)
{
    add_link(e, id, link);
    const struct net_maxmin_link *l = &e->network.link[link];
    for (uint32_t i = 0; i < l->ref_count; i++) {
        net_flow_id f = e->network.ref_flow[l->ref_begin + i];
        if (e->network.path[f].length > 1) continue; /* joins by itself */
        if (e->flow[f].timer != NONE) net_calendar_cancel(e->calendar, e->flow[f].timer);
        e->flow[f].timer = NONE;
        enter(e, id, f);
    }
}

/* Flow i of a cluster: those fixed (NONE where one has left), then those that wait. */
static net_flow_id flow_at(const struct net_levels *s, uint32_t i)
{
    return i < s->fixed_count ? s->fixed[i] : s->entered[i - s->fixed_count];
}

static uint32_t merge(net_flow_engine *e, uint32_t a, uint32_t b)
{
    bool is_a_larger = e->cluster[a].levels.flow_count >= e->cluster[b].levels.flow_count;
    uint32_t into = is_a_larger ? a : b, from = is_a_larger ? b : a;
    const struct cluster *c = &e->cluster[from];
    for (uint32_t i = 0; i < c->link_count; i++)
        add_link(e, into, c->link[i]);
    for (uint32_t i = 0; i < c->levels.fixed_count + c->levels.entered_count; i++) {
        net_flow_id f = flow_at(&c->levels, i);
        if (f != NONE) enter(e, into, f);
    }
    e->cluster[into].ends += c->ends;
    cluster_destroy(e, from);
    return into;
}

void net_cluster_join(net_flow_engine *e, net_flow_id flow)
{
    const struct net_maxmin_path *p = &e->network.path[flow];
    const topo_link_id *link = e->network.hop_link + p->begin;
    uint32_t into = NONE;
    for (uint32_t i = 0; i < p->length; i++) {
        uint32_t id = e->link[link[i]].cluster;
        if (id == NONE || id == into) continue;
        into = into == NONE ? id : merge(e, into, id);
    }
    if (into == NONE) into = cluster_create(e);
    for (uint32_t i = 0; i < p->length; i++)
        if (e->link[link[i]].cluster == NONE) adopt_link(e, into, link[i]);
    enter(e, into, flow);
}

/* The cluster's timer has come with `first`: everybody else who ends now follows on the calendar.
 * With coalescing, so does who would end within that share of its own time in the network. */
static void announce_ends(net_flow_engine *e, const struct cluster *c, net_flow_id first,
                          sim_ps now)
{
    const struct net_levels *s = &c->levels;
    sim_ps margin = llrint((double)now * e->coalesce);
    sim_ps limit = margin < SIM_PS_MAX - now ? now + margin : SIM_PS_MAX;
    for (uint32_t k = 0; k < s->level_count; k++) {
        if (c->due[k].end_ps > limit) continue;
        uint32_t end = k + 1 < s->level_count ? s->level[k + 1].fixed_begin : s->fixed_count;
        for (uint32_t i = s->level[k].fixed_begin; i < end; i++) {
            const struct flow *f = &e->flow[s->fixed[i]];
            double early_ps = (double)(f->end_ps - now);
            if (s->fixed[i] != first && early_ps <= e->coalesce * (double)(now - f->start_ps))
                net_calendar_add(e->calendar, now, e->timer_kind, s->fixed[i]);
        }
    }
}

void net_cluster_due(net_flow_engine *e, uint32_t id, net_flow_id flow, sim_ps now)
{
    struct cluster *c = &e->cluster[id];
    if (c->timer == NONE) return; /* announced already */
    assert(c->timer_ps == now && c->timer_flow == flow);
    c->timer = NONE;
    announce_ends(e, c, flow, now);
}

void net_cluster_leave(net_flow_engine *e, uint32_t id, net_flow_id flow, sim_ps now)
{
    struct cluster *c = &e->cluster[id];
    net_cluster_due(e, id, flow, now);
    net_levels_leave(&e->network, &c->levels, flow);
    c->long_count -= e->network.path[flow].length > 1;
    c->ends++;
    mark_cluster(e, id);
}

/* ---- settling ---- */

/* Into the clusters, one a component, that its flows of several hops make; what is left is loose
 * again. */
static void take_apart(net_flow_engine *e, uint32_t id)
{
    struct cluster *c = &e->cluster[id];
    for (uint32_t i = 0; i < c->link_count; i++)
        e->link[c->link[i]].cluster = NONE;
    for (uint32_t i = 0; i < c->levels.fixed_count + c->levels.entered_count; i++) {
        net_flow_id f = flow_at(&c->levels, i);
        if (f == NONE || e->network.path[f].length == 1) continue;
        net_cluster_join(e, f);
        c = &e->cluster[id]; /* joining may have moved it */
    }
    for (uint32_t i = 0; i < c->link_count; i++) {
        topo_link_id link = c->link[i];
        if (e->link[link].cluster == NONE && e->network.link[link].ref_count > 0)
            net_flow_mark_dirty(e, link);
    }
    cluster_destroy(e, id);
}

/* Rates and next ends of the levels from `first` on. */
static void renew_due(net_flow_engine *e, struct cluster *c, uint32_t first, sim_ps now)
{
    const struct net_levels *s = &c->levels;
    SIM_GROW(c->due, c->due_capacity, s->level_count);
    for (uint32_t k = first; k < s->level_count; k++) {
        uint32_t end = k + 1 < s->level_count ? s->level[k + 1].fixed_begin : s->fixed_count;
        struct due due = {.end_ps = SIM_PS_MAX, .flow = NONE, .least = k};
        for (uint32_t i = s->level[k].fixed_begin; i < end; i++) {
            net_flow_id f = s->fixed[i];
            if (i + AHEAD < s->fixed_count) __builtin_prefetch(&e->flow[s->fixed[i + AHEAD]]);
            net_flow_set_rate(e, f, s->level[k].rate, now);
            if (e->flow[f].end_ps >= due.end_ps) continue;
            due.end_ps = e->flow[f].end_ps;
            due.flow = f;
        }
        if (k > 0 && c->due[c->due[k - 1].least].end_ps <= due.end_ps)
            due.least = c->due[k - 1].least;
        c->due[k] = due;
    }
}

static void set_timer(net_flow_engine *e, struct cluster *c)
{
    const struct due *next = &c->due[c->due[c->levels.level_count - 1].least];
    if (c->timer != NONE && c->timer_ps == next->end_ps && c->timer_flow == next->flow) return;
    cancel_timer(e, c);
    if (next->flow == NONE) return; /* past the end of time */
    c->timer_ps = next->end_ps;
    c->timer_flow = next->flow;
    c->timer = net_calendar_add(e->calendar, c->timer_ps, e->timer_kind, c->timer_flow);
}

void net_clusters_settle(net_flow_engine *e, sim_ps now)
{
    for (uint32_t i = 0; i < e->dirty_cluster_count; i++) { /* grows while one is taken apart */
        uint32_t id = e->dirty_cluster[i];
        struct cluster *c = &e->cluster[id];
        if (!c->is_dirty) continue; /* merged */
        c->is_dirty = false;
        if (c->long_count == 0 || c->ends > c->levels.flow_count) {
            take_apart(e, id);
            continue;
        }
        e->solves++;
        renew_due(e, c, net_levels_solve(&e->network, &c->levels), now);
        set_timer(e, c);
    }
    e->dirty_cluster_count = 0;
}
