/*
 * Flows, the links they hold, and which of them a change reaches.
 *
 * A flow has one hop record per link of its path; the hops on a link form a list. A start or an end
 * marks links dirty; settling walks from each dirty link over hops to flows and on to their links,
 * collects that component, solves it and moves the end of every flow whose rate changed by a bit.
 * Two shortcuts keep collectives of neighbours cheap: a flow alone on a one-hop path gets the whole
 * link at once and leaves it without dirt, and a component of one link is shared without the
 * solver.
 *
 * A flow's remaining bytes are brought up to date only when its rate changes, from the
 * whole-picosecond difference since the last change, so that results do not depend on when a run
 * began.
 */
#include "netsim/flow.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "netsim/maxmin.h"

#define NONE UINT32_MAX

/* Link bytes are summed in units of 2^-8 byte: integers add up the same in any order. */
#define BYTE_UNITS 256.0

struct flow {
    double remaining_bytes; /* true at updated_ps */
    double rate;            /* bytes/s since then; 0 before the first settle */
    double bytes;
    sim_ps updated_ps;
    net_timer_id timer; /* NONE before the first settle */
    uint32_t owner;
    uint32_t hop_begin,
        hop_count; /* its hops are consecutive; a free flow keeps them for its successor */
    uint32_t free_next;
    uint32_t visit; /* == engine.visit: already in the component being collected */
};

struct hop {
    uint32_t flow;
    topo_link_id link;
    uint32_t next, prev; /* on the link */
};

struct link {
    double capacity;
    sim_ps latency_ps;
    sim_ps busy_since_ps, busy_ps;
    uint64_t byte_units;
    uint32_t head, count; /* hops on it */
    uint32_t long_count;  /* of these, hops of flows with more than one */
    uint32_t visit;
    uint32_t local; /* index within the component being solved */
    bool is_dirty;
};

struct net_flow_engine {
    net_calendar *calendar;
    uint32_t timer_kind;
    struct link *link; /* [links] */
    struct flow *flow;
    uint32_t flow_count, flow_capacity;
    uint32_t *free_by_hops; /* [free_capacity] head of the free flows with so many hops */
    uint32_t free_capacity;
    struct hop *hop;
    uint32_t hop_count, hop_capacity;
    topo_link_id *dirty;
    uint32_t dirty_count, dirty_capacity;
    uint32_t visit;

    /* the component being solved */
    uint32_t *member, member_count, member_capacity; /* flows */
    topo_link_id *part;                              /* links */
    uint32_t part_count, part_capacity;
    uint32_t *path_begin, path_begin_capacity, *path_link, path_capacity;
    double *capacity, *rate;
    uint32_t capacity_capacity, rate_capacity;
    struct net_maxmin solver;
    uint64_t started, solves;
    bool is_past_end; /* some end lies beyond SIM_PS_MAX */
};

net_flow_engine *net_flow_engine_create(uint32_t links, const struct net_flow_link *link,
                                        net_calendar *calendar, uint32_t timer_kind)
{
    net_flow_engine *e = SIM_NEW(net_flow_engine, 1);
    e->calendar = calendar;
    e->timer_kind = timer_kind;
    e->link = SIM_NEW(struct link, links);
    for (uint32_t l = 0; l < links; l++)
        e->link[l] = (struct link){
            .capacity = link[l].bytes_per_s, .latency_ps = link[l].latency_ps, .head = NONE};
    return e;
}

void net_flow_engine_destroy(net_flow_engine *e)
{
    if (e == NULL) return;
    sim_free(e->link);
    sim_free(e->flow);
    sim_free(e->free_by_hops);
    sim_free(e->hop);
    sim_free(e->dirty);
    sim_free(e->member);
    sim_free(e->part);
    sim_free(e->path_begin);
    sim_free(e->path_link);
    sim_free(e->capacity);
    sim_free(e->rate);
    net_maxmin_release(&e->solver);
    sim_free(e);
}

/* ---- flows and their hops ---- */

static uint32_t flow_allocate(net_flow_engine *e, uint32_t hops)
{
    if (hops >= e->free_capacity) {
        uint32_t old = e->free_capacity;
        SIM_GROW(e->free_by_hops, e->free_capacity, hops + 1);
        for (uint32_t i = old; i < e->free_capacity; i++)
            e->free_by_hops[i] = NONE;
    }
    uint32_t id = e->free_by_hops[hops];
    if (id != NONE) {
        e->free_by_hops[hops] = e->flow[id].free_next;
        return id;
    }
    SIM_GROW(e->flow, e->flow_capacity, e->flow_count + 1);
    SIM_GROW(e->hop, e->hop_capacity, e->hop_count + hops);
    id = e->flow_count++;
    e->flow[id] = (struct flow){.hop_begin = e->hop_count, .hop_count = hops};
    e->hop_count += hops;
    return id;
}

static void mark_dirty(net_flow_engine *e, topo_link_id link)
{
    if (e->link[link].is_dirty) return;
    e->link[link].is_dirty = true;
    SIM_GROW(e->dirty, e->dirty_capacity, e->dirty_count + 1);
    e->dirty[e->dirty_count++] = link;
}

static void hop_attach(net_flow_engine *e, uint32_t hop, sim_ps now)
{
    struct link *l = &e->link[e->hop[hop].link];
    if (l->count++ == 0) l->busy_since_ps = now;
    l->long_count += e->flow[e->hop[hop].flow].hop_count > 1;
    e->hop[hop].prev = NONE;
    e->hop[hop].next = l->head;
    if (l->head != NONE) e->hop[l->head].prev = hop;
    l->head = hop;
}

static void hop_detach(net_flow_engine *e, uint32_t hop, sim_ps now)
{
    struct hop *h = &e->hop[hop];
    struct link *l = &e->link[h->link];
    if (h->prev == NONE)
        l->head = h->next;
    else
        e->hop[h->prev].next = h->next;
    if (h->next != NONE) e->hop[h->next].prev = h->prev;
    assert(l->count > 0);
    l->long_count -= e->flow[h->flow].hop_count > 1;
    if (--l->count == 0) l->busy_ps += now - l->busy_since_ps;
}

/* Give the flow a rate and move its end. */
static void set_rate(net_flow_engine *e, uint32_t id, double rate, sim_ps now)
{
    struct flow *f = &e->flow[id];
    if (f->rate == rate) return;
    f->remaining_bytes -= f->rate * ((double)(now - f->updated_ps) * 1e-12);
    f->updated_ps = now;
    f->rate = rate;
    double left_ps = f->remaining_bytes / rate * 1e12;
    if (!(left_ps < (double)(SIM_PS_MAX - now))) {
        e->is_past_end = true;
        return;
    }
    sim_ps left = llrint(left_ps);
    if (f->timer != NONE) net_calendar_cancel(e->calendar, f->timer);
    f->timer = net_calendar_add(e->calendar, now + (left > 1 ? left : 1), e->timer_kind, id);
}

void net_flow_start(net_flow_engine *e, sim_ps now, double bytes, const topo_link_id *link,
                    uint32_t hops, uint32_t owner)
{
    assert(bytes > 0 && hops >= 1);
    uint32_t id = flow_allocate(e, hops);
    struct flow *f = &e->flow[id];
    f->bytes = f->remaining_bytes = bytes;
    f->rate = 0;
    f->updated_ps = now;
    f->timer = NONE;
    f->owner = owner;
    e->started++;
    bool is_alone = hops == 1 && e->link[link[0]].count == 0 && !e->link[link[0]].is_dirty;
    for (uint32_t i = 0; i < hops; i++) {
        e->hop[f->hop_begin + i].flow = id;
        e->hop[f->hop_begin + i].link = link[i];
        hop_attach(e, f->hop_begin + i, now);
    }
    if (is_alone) {
        set_rate(e, id, e->link[link[0]].capacity, now);
        return;
    }
    for (uint32_t i = 0; i < hops; i++)
        mark_dirty(e, link[i]);
}

uint32_t net_flow_owner(const net_flow_engine *e, net_flow_id flow)
{
    return e->flow[flow].owner;
}

uint32_t net_flow_end(net_flow_engine *e, sim_ps now, net_flow_id id, sim_ps *latency_ps)
{
    struct flow *f = &e->flow[id];
    *latency_ps = 0;
    uint64_t units = (uint64_t)llrint(f->bytes * BYTE_UNITS);
    for (uint32_t i = 0; i < f->hop_count; i++) {
        uint32_t hop = f->hop_begin + i;
        topo_link_id link = e->hop[hop].link;
        hop_detach(e, hop, now);
        e->link[link].byte_units += units;
        *latency_ps += e->link[link].latency_ps;
        if (e->link[link].count > 0) mark_dirty(e, link);
    }
    f->free_next = e->free_by_hops[f->hop_count];
    e->free_by_hops[f->hop_count] = id;
    return f->owner;
}

/* ---- settling ---- */

static void visit_link(net_flow_engine *e, topo_link_id link)
{
    struct link *l = &e->link[link];
    if (l->visit == e->visit) return;
    l->visit = e->visit;
    l->local = e->part_count;
    SIM_GROW(e->part, e->part_capacity, e->part_count + 1);
    e->part[e->part_count++] = link;
}

/* Flows and links connected with `start`; e->part is the queue. */
static void collect(net_flow_engine *e, topo_link_id start)
{
    e->part_count = e->member_count = 0;
    visit_link(e, start);
    for (uint32_t i = 0; i < e->part_count; i++) {
        for (uint32_t h = e->link[e->part[i]].head; h != NONE; h = e->hop[h].next) {
            struct flow *f = &e->flow[e->hop[h].flow];
            if (f->visit == e->visit) continue;
            f->visit = e->visit;
            SIM_GROW(e->member, e->member_capacity, e->member_count + 1);
            e->member[e->member_count++] = e->hop[h].flow;
            for (uint32_t j = 0; j < f->hop_count; j++)
                visit_link(e, e->hop[f->hop_begin + j].link);
        }
    }
}

/* A link with one-hop flows only is a component of its own. */
static void share_one_link(net_flow_engine *e, const struct link *l, sim_ps now)
{
    double rate = l->capacity / l->count;
    for (uint32_t h = l->head; h != NONE; h = e->hop[h].next)
        set_rate(e, e->hop[h].flow, rate, now);
}

static void solve(net_flow_engine *e, sim_ps now)
{
    uint32_t hops = 0;
    SIM_GROW(e->path_begin, e->path_begin_capacity, e->member_count + 1);
    SIM_GROW(e->rate, e->rate_capacity, e->member_count);
    SIM_GROW(e->capacity, e->capacity_capacity, e->part_count);
    for (uint32_t i = 0; i < e->member_count; i++) {
        const struct flow *f = &e->flow[e->member[i]];
        e->path_begin[i] = hops;
        SIM_GROW(e->path_link, e->path_capacity, hops + f->hop_count);
        for (uint32_t j = 0; j < f->hop_count; j++)
            e->path_link[hops++] = e->link[e->hop[f->hop_begin + j].link].local;
    }
    e->path_begin[e->member_count] = hops;
    for (uint32_t i = 0; i < e->part_count; i++)
        e->capacity[i] = e->link[e->part[i]].capacity;
    net_maxmin_solve(&e->solver, e->part_count, e->capacity, e->member_count, e->path_begin,
                     e->path_link, e->rate);
    for (uint32_t i = 0; i < e->member_count; i++)
        set_rate(e, e->member[i], e->rate[i], now);
}

bool net_flow_settle(net_flow_engine *e, sim_ps now)
{
    if (e->dirty_count > 0)
        e->visit++; /* components of one settling are disjoint: one number serves */
    for (uint32_t i = 0; i < e->dirty_count; i++) {
        struct link *l = &e->link[e->dirty[i]];
        l->is_dirty = false;
        if (l->visit == e->visit || l->count == 0) continue;
        e->solves++;
        if (l->long_count == 0) {
            share_one_link(e, l, now);
            continue;
        }
        collect(e, e->dirty[i]);
        solve(e, now);
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
    *levels = e->solver.levels;
}
