/*
 * Level-synchronous progressive filling with a lazy heap of links by share, resumed where a
 * change can first be felt.
 *
 * Levels form a stack. Making one records, per link it takes from, the residual before and the hops
 * taken; taking it back restores both to the bit. What a change leaves standing:
 *
 *   A flow that left was fixed by a level. Links that filled up in lower levels do not lie on its
 *   path (they would have fixed it), and on its own links fewer hops only raise the share, so the
 *   lower levels come out the same: same links, same counts, same subtractions.
 *
 *   A flow that entered adds a hop to each of its links. A level stands if the share of all these
 *   links, as it was before that level, is still above the level's rate. The link's records give
 *   residual and count at any level (first_reached()).
 *
 * Links that still have unfixed hops after taking back are among those that the levels taken back
 * had touched and those of the flows entered, so a solve never looks at the rest.
 */
#include "netsim/maxmin.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"

#define NONE  NET_MAXMIN_NONE
#define AHEAD 8

void net_maxmin_init(struct net_maxmin *w, uint32_t links)
{
    *w = (struct net_maxmin){.links = links};
    w->link = SIM_NEW(struct net_maxmin_link, links);
    w->heap = SIM_NEW(struct net_maxmin_node, links);
    w->taken = SIM_NEW(uint32_t, links);
    w->low = SIM_NEW(struct net_maxmin_node, links);
    w->listed = SIM_NEW(uint32_t, links);
    for (uint32_t l = 0; l < links; l++)
        w->link[l] = (struct net_maxmin_link){.newest = NONE};
    for (uint32_t i = 0; i < 32; i++)
        w->unused_room[i] = NONE;
}

void net_maxmin_release(struct net_maxmin *w)
{
    sim_free(w->link);
    sim_free(w->path);
    sim_free(w->is_fixed);
    sim_free(w->hop_link);
    sim_free(w->hop_at);
    sim_free(w->ref_flow);
    sim_free(w->ref_hop);
    sim_free(w->unused_path);
    sim_free(w->heap);
    sim_free(w->taken);
    sim_free(w->low);
    sim_free(w->listed);
    *w = (struct net_maxmin){0};
}

void net_levels_clear(struct net_levels *s)
{
    s->level_count = s->fixed_count = s->undo_count = s->entered_count = 0;
    s->flow_count = s->stale = 0;
}

void net_levels_release(struct net_levels *s)
{
    sim_free(s->level);
    sim_free(s->fixed);
    sim_free(s->undo);
    sim_free(s->entered);
    *s = (struct net_levels){0};
}

/* ---- flows on links ---- */

static bool is_fixed(const struct net_maxmin *w, uint32_t flow)
{
    return w->is_fixed[flow / 64] >> flow % 64 & 1;
}

static void set_fixed(struct net_maxmin *w, uint32_t flow, bool value)
{
    uint64_t bit = UINT64_C(1) << flow % 64;
    if (value)
        w->is_fixed[flow / 64] |= bit;
    else
        w->is_fixed[flow / 64] &= ~bit;
}

/* A room for 2^size refs. The first flow of an unused one names the next. */
static uint32_t room_take(struct net_maxmin *w, uint32_t size)
{
    uint32_t begin = w->unused_room[size];
    if (begin != NONE) {
        w->unused_room[size] = w->ref_flow[begin];
        return begin;
    }
    begin = w->refs;
    w->refs += UINT32_C(1) << size;
    SIM_GROW(w->ref_flow, w->ref_flow_capacity, w->refs);
    SIM_GROW(w->ref_hop, w->ref_hop_capacity, w->refs);
    return begin;
}

static void widen(struct net_maxmin *w, struct net_maxmin_link *l)
{
    uint32_t old_size = 0;
    while (UINT32_C(1) << old_size < l->ref_room)
        old_size++;
    uint32_t size = l->ref_room == 0 ? 0 : old_size + 1, begin = room_take(w, size);
    if (l->ref_room > 0) {
        size_t bytes = l->ref_count * sizeof(uint32_t);
        memcpy(w->ref_flow + begin, w->ref_flow + l->ref_begin, bytes);
        memcpy(w->ref_hop + begin, w->ref_hop + l->ref_begin, bytes);
        w->ref_flow[l->ref_begin] = w->unused_room[old_size];
        w->unused_room[old_size] = l->ref_begin;
    }
    l->ref_begin = begin;
    l->ref_room = UINT32_C(1) << size;
}

static uint32_t path_allocate(struct net_maxmin *w, uint32_t hops)
{
    if (hops >= w->unused_capacity) {
        uint32_t old = w->unused_capacity;
        SIM_GROW(w->unused_path, w->unused_capacity, hops + 1);
        for (uint32_t i = old; i < w->unused_capacity; i++)
            w->unused_path[i] = NONE;
    }
    uint32_t id = w->unused_path[hops];
    if (id != NONE) {
        w->unused_path[hops] = w->path[id].place;
        return id;
    }
    id = w->flows++;
    SIM_GROW(w->path, w->flow_capacity, w->flows);
    SIM_GROW(w->is_fixed, w->fixed_capacity, w->flows / 64 + 1);
    SIM_GROW(w->hop_link, w->hop_capacity, w->hops + hops);
    SIM_GROW(w->hop_at, w->hop_at_capacity, w->hops + hops);
    w->path[id] = (struct net_maxmin_path){.begin = w->hops, .length = hops};
    w->hops += hops;
    return id;
}

uint32_t net_maxmin_add(struct net_maxmin *w, const uint32_t *link, uint32_t hops)
{
    uint32_t id = path_allocate(w, hops), hop = w->path[id].begin;
    set_fixed(w, id, false);
    for (uint32_t i = 0; i < hops; i++, hop++) {
        struct net_maxmin_link *l = &w->link[link[i]];
        if (l->ref_count == l->ref_room) widen(w, l);
        w->hop_link[hop] = link[i];
        w->hop_at[hop] = l->ref_count;
        w->ref_flow[l->ref_begin + l->ref_count] = id;
        w->ref_hop[l->ref_begin + l->ref_count++] = hop;
    }
    return id;
}

void net_maxmin_drop(struct net_maxmin *w, uint32_t flow)
{
    struct net_maxmin_path *p = &w->path[flow];
    for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++) {
        struct net_maxmin_link *l = &w->link[w->hop_link[hop]];
        assert(l->ref_count > 0);
        uint32_t last = l->ref_begin + --l->ref_count, at = l->ref_begin + w->hop_at[hop];
        w->ref_flow[at] = w->ref_flow[last];
        w->ref_hop[at] = w->ref_hop[last];
        w->hop_at[w->ref_hop[last]] = w->hop_at[hop];
    }
    p->place = w->unused_path[p->length];
    w->unused_path[p->length] = flow;
}

void net_maxmin_reset_link(struct net_maxmin *w, uint32_t link)
{
    struct net_maxmin_link *l = &w->link[link];
    l->residual = l->capacity;
    l->unfixed = 0;
    l->newest = NONE;
}

/* ---- heap of links by share ---- */

/*
 * A link's share never falls while levels are made: each takes less per hop than the share is. So
 * the heap need not be told of every hop taken; what it knows of a link is a lower bound, looked at
 * again when it comes to the top. Rounding may take a share down by an ulp of the capacity for each
 * level that takes from the link, which is one per unfixed hop at most: the bound leaves room for
 * twice that.
 */
static double share_bound(const struct net_maxmin_link *l)
{
    return l->residual / l->unfixed - 2 * DBL_EPSILON * l->capacity * l->unfixed;
}

static bool before(struct net_maxmin_node a, struct net_maxmin_node b)
{
    return a.share < b.share || (a.share == b.share && a.link < b.link);
}

static void heap_push(struct net_maxmin *w, struct net_maxmin_node node)
{
    uint32_t at = w->heap_count++;
    for (; at > 0 && before(node, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = node;
}

static void heap_replace_top(struct net_maxmin *w, struct net_maxmin_node node)
{
    uint32_t at = 0;
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= w->heap_count) break;
        if (child + 1 < w->heap_count && before(w->heap[child + 1], w->heap[child])) child++;
        if (!before(w->heap[child], node)) break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = node;
}

static void heap_pop(struct net_maxmin *w)
{
    if (--w->heap_count > 0) heap_replace_top(w, w->heap[w->heap_count]);
}

static void push_link(struct net_maxmin *w, uint32_t link)
{
    heap_push(w, (struct net_maxmin_node){share_bound(&w->link[link]), link});
}

/* Those of low[count] with this share, first; the others go back on the heap. */
static uint32_t keep_lowest(struct net_maxmin *w, uint32_t count, double share)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (w->low[i].share == share)
            w->low[kept++] = w->low[i];
        else
            push_link(w, w->low[i].link);
    }
    return kept;
}

/* Take the links whose share is the lowest, to the last bit, into low[]. Returns how many; 0: no
 * link has an unfixed hop. Shares are at least `last`, the level before: rounding may take one an
 * ulp below. */
static uint32_t take_lowest(struct net_maxmin *w, double last, double *share)
{
    uint32_t count = 0;
    *share = INFINITY;
    while (w->heap_count > 0 && w->heap[0].share <= *share) {
        uint32_t link = w->heap[0].link;
        const struct net_maxmin_link *l = &w->link[link];
        if (l->unfixed == 0) {
            heap_pop(w);
            continue;
        }
        double bound = share_bound(l);
        if (bound > w->heap[0].share) {
            heap_replace_top(w, (struct net_maxmin_node){bound, link});
            continue;
        }
        double exact = l->residual / l->unfixed;
        if (exact < last) exact = last;
        if (exact < *share) *share = exact;
        w->low[count++] = (struct net_maxmin_node){exact, link};
        heap_pop(w);
    }
    return keep_lowest(w, count, *share);
}

/* ---- coming and going ---- */

void net_levels_enter(struct net_maxmin *w, struct net_levels *s, uint32_t flow)
{
    const struct net_maxmin_path *p = &w->path[flow];
    set_fixed(w, flow, false);
    for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++)
        w->link[w->hop_link[hop]].unfixed++;
    SIM_GROW(s->entered, s->entered_capacity, s->entered_count + 1);
    s->entered[s->entered_count++] = flow;
    s->flow_count++;
}

uint32_t net_level_of(const struct net_maxmin *w, const struct net_levels *s, uint32_t flow)
{
    if (!is_fixed(w, flow)) return NONE;
    uint32_t low = 0, high = s->level_count; /* the last level that begins at its place or before */
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (s->level[middle].fixed_begin <= w->path[flow].place)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void net_levels_leave(struct net_maxmin *w, struct net_levels *s, uint32_t flow)
{
    const struct net_maxmin_path *p = &w->path[flow];
    uint32_t level = net_level_of(w, s, flow);
    assert(level < s->level_count && s->fixed[p->place] == flow);
    s->fixed[p->place] = NONE;
    if (s->stale < s->level_count - level) s->stale = s->level_count - level;
    for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++)
        w->link[w->hop_link[hop]].unfixed--;
    s->flow_count--;
}

/* Links that may have to be filled, each once. */
static void list(struct net_maxmin *w, uint32_t link)
{
    if (w->link[link].is_listed) return;
    w->link[link].is_listed = true;
    w->listed[w->listed_count++] = link;
}

/* Take levels back until `keep` are left. */
static void take_back(struct net_maxmin *w, struct net_levels *s, uint32_t keep)
{
    if (keep == s->level_count) return;
    uint32_t undo_begin = s->level[keep].undo_begin, fixed_begin = s->level[keep].fixed_begin;
    for (uint32_t i = s->undo_count; i-- > undo_begin;) {
        const struct net_level_undo *u = &s->undo[i];
        struct net_maxmin_link *l = &w->link[u->link];
        l->residual = u->residual;
        l->unfixed += u->taken;
        l->newest = u->older;
        list(w, u->link);
    }
    for (uint32_t i = fixed_begin; i < s->fixed_count; i++)
        if (s->fixed[i] != NONE) set_fixed(w, s->fixed[i], false);
    s->undo_count = undo_begin;
    s->fixed_count = fixed_begin;
    s->level_count = keep;
}

/* First level of [begin, end) whose rate is at least `share`; end if none. */
static uint32_t level_at_least(const struct net_levels *s, uint32_t begin, uint32_t end,
                               double share)
{
    while (begin < end) {
        uint32_t middle = begin + (end - begin) / 2;
        if (s->level[middle].rate < share)
            begin = middle + 1;
        else
            end = middle;
    }
    return begin;
}

/*
 * The first level whose rate the link's share, with the hops that have entered, does not exceed:
 * there it would fill up now. Walks the link's records from the newest back. Before level i the
 * link has residual r and count c; r - rate(i) c never grows with i (a level takes from r what c
 * loses times its rate, and rates grow), so once it is clearly above 0 all earlier shares are above
 * their levels too. "Clearly" is far above what rounding can add up to.
 */
static uint32_t first_reached(const struct net_maxmin *w, const struct net_levels *s, uint32_t link)
{
    const struct net_maxmin_link *l = &w->link[link];
    double residual = l->residual;
    uint32_t count = l->unfixed, end = s->level_count, first = end;
    for (uint32_t at = l->newest;; at = s->undo[at].older) {
        uint32_t begin = at == NONE ? 0 : s->undo[at].level + 1;
        uint32_t reached = level_at_least(s, begin, end, residual / count);
        if (reached < end) first = reached;
        if (at == NONE) return first;
        const struct net_level_undo *u = &s->undo[at];
        if (residual - s->level[u->level].rate * count > 1e-9 * l->capacity) return first;
        residual = u->residual;
        count += u->taken;
        end = begin;
    }
}

/* How many levels the flows that entered leave as they are. */
static uint32_t levels_standing(struct net_maxmin *w, const struct net_levels *s)
{
    uint32_t keep = s->level_count;
    for (uint32_t i = 0; i < s->entered_count; i++) {
        const struct net_maxmin_path *p = &w->path[s->entered[i]];
        for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++) {
            uint32_t link = w->hop_link[hop];
            bool is_seen = w->taken[link] > 0;
            w->taken[link] = 1;
            if (is_seen || keep == 0) continue;
            uint32_t first = first_reached(w, s, link);
            if (first < keep) keep = first;
        }
    }
    for (uint32_t i = 0; i < s->entered_count; i++) {
        const struct net_maxmin_path *p = &w->path[s->entered[i]];
        for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++) {
            w->taken[w->hop_link[hop]] = 0;
            list(w, w->hop_link[hop]);
        }
    }
    return keep;
}

/* ---- filling ---- */

static void build_heap(struct net_maxmin *w)
{
    w->heap_count = 0;
    for (uint32_t i = 0; i < w->listed_count; i++) {
        struct net_maxmin_link *l = &w->link[w->listed[i]];
        l->is_listed = false;
        if (l->unfixed > 0) push_link(w, w->listed[i]);
    }
    w->listed_count = 0;
}

/* Count the hops that flows fixed from place `begin` on take; list the links that lose any. Paths
 * lie anywhere in memory; fix_flows() has had them fetched. */
static void count_hops(struct net_maxmin *w, const struct net_levels *s, uint32_t begin)
{
    for (uint32_t i = begin; i < s->fixed_count; i++) {
        if (i + AHEAD < s->fixed_count)
            __builtin_prefetch(&w->hop_link[w->path[s->fixed[i + AHEAD]].begin]);
        struct net_maxmin_path *p = &w->path[s->fixed[i]];
        p->place = i;
        for (uint32_t hop = p->begin; hop < p->begin + p->length; hop++)
            if (w->taken[w->hop_link[hop]]++ == 0) w->listed[w->listed_count++] = w->hop_link[hop];
    }
}

/* Fix the flows over a full link that no level has yet. */
static void fix_flows(struct net_maxmin *w, struct net_levels *s, uint32_t link)
{
    const struct net_maxmin_link *l = &w->link[link];
    const uint32_t *flow = w->ref_flow + l->ref_begin;
    uint32_t begin = s->fixed_count, end = begin;
    uint32_t left = l->unfixed - w->taken[link]; /* less, if a flow passes the link twice */
    for (uint32_t i = 0; i < l->ref_count && left > 0; i++) {
        if (is_fixed(w, flow[i])) continue;
        set_fixed(w, flow[i], true);
        __builtin_prefetch(&w->path[flow[i]]);
        s->fixed[end++] = flow[i];
        left--;
    }
    s->fixed_count = end;
    count_hops(w, s, begin);
}

/* Subtract the level once per link and keep what was before. */
static void take_from_links(struct net_maxmin *w, struct net_levels *s, double rate)
{
    SIM_GROW(s->undo, s->undo_capacity, s->undo_count + w->listed_count);
    for (uint32_t i = 0; i < w->listed_count; i++) {
        uint32_t link = w->listed[i], taken = w->taken[link];
        struct net_maxmin_link *l = &w->link[link];
        assert(l->unfixed >= taken);
        s->undo[s->undo_count] =
            (struct net_level_undo){l->residual, link, taken, s->level_count - 1, l->newest};
        l->newest = s->undo_count++;
        l->residual -= rate * taken;
        l->unfixed -= taken;
        w->taken[link] = 0;
    }
    w->listed_count = 0;
}

/* The level of the links low[saturated]. */
static void make_level(struct net_maxmin *w, struct net_levels *s, uint32_t saturated, double rate)
{
    SIM_GROW(s->level, s->level_capacity, s->level_count + 1);
    s->level[s->level_count++] = (struct net_level){rate, s->fixed_count, s->undo_count};
    if (w->heap_count > 0) /* most often the next to fill up */
        __builtin_prefetch(&w->ref_flow[w->link[w->heap[0].link].ref_begin]);
    for (uint32_t i = 0; i < saturated; i++)
        fix_flows(w, s, w->low[i].link);
    take_from_links(w, s, rate);
    w->levels++;
}

uint32_t net_levels_solve(struct net_maxmin *w, struct net_levels *s)
{
    take_back(w, s, s->level_count - s->stale);
    take_back(w, s, levels_standing(w, s));
    s->stale = s->entered_count = 0;
    uint32_t kept = s->level_count, saturated;
    SIM_GROW(s->fixed, s->fixed_capacity, s->flow_count);
    build_heap(w);
    double rate = kept > 0 ? s->level[kept - 1].rate : 0;
    while ((saturated = take_lowest(w, rate, &rate)) > 0)
        make_level(w, s, saturated, rate);
    return kept;
}
