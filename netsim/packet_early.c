/*
 * Early binding: a head is first given a virtual channel of its next link, keeps it, and waits for
 * the link with it, as BookSim's routers do.
 *
 * Channels are given out by one pass of a separable allocator (iSLIP): every free channel picks a
 * waiting head, every head picks one of the channels that picked it, both round robin. A channel
 * is free again once the packet that had it has left the router. Heads that had their channel
 * before go first over heads that have just been given one.
 *
 * Source: N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM Trans.
 * Networking 7(2), 1999; the router is described in docs/packet.md.
 */
#include "netsim/packet_visit.h"

/* Injection and ejection are bound late. */
ALWAYS_INLINE bool is_bound_early(const struct visit *w, uint32_t o)
{
    return !w->v.output[o].is_ejection && o != w->v.node->injection;
}

/* From when on the channel can be given to a head; NEVER while it belongs to one. */
ALWAYS_INLINE net_ticks free_from(const struct visit *w, uint32_t o, uint32_t channel,
                                  bool *is_blocked)
{
    if (is_bound_early(w, o) && w->v.owner[channel] != NONE16) return NET_TICKS_NEVER;
    net_ticks free = is_bound_early(w, o) ? w->v.available[channel] : 0;
    if (is_bound_early(w, o) && !w->e->router.is_credit_first) return free;
    net_ticks room = room_at(w, 2 * channel);
    if (room >= OCCUPIED) {
        *is_blocked = true;
        return NET_TICKS_NEVER;
    }
    return later_of(free, room);
}

ALWAYS_INLINE net_ticks class_free_from(const struct visit *w, uint32_t o, const struct queue *q,
                                        bool *is_blocked)
{
    net_ticks best = NET_TICKS_NEVER;
    if (w->v.output[o].is_ejection) return 0;
    for (uint32_t i = 0; i < q->channels; i++) {
        net_ticks free = free_from(w, o, q->gate / 2 + i, is_blocked);
        if (free < best) best = free;
    }
    return best;
}

/* When a bound head may go, but for the link. */
ALWAYS_INLINE net_ticks go_from(const struct visit *w, uint32_t o, const struct queue *q,
                                bool *is_blocked)
{
    net_ticks room = room_at(w, 2 * (o * w->e->vcs + q->vc));
    if (room < OCCUPIED) return later_of(q->ready, room);
    *is_blocked = true;
    return NET_TICKS_NEVER;
}

ALWAYS_INLINE void plan_early(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    bool is_blocked = false, is_early = is_bound_early(w, o);
    net_ticks best = NET_TICKS_NEVER;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(requests_of(&w->v, w->words, o)[word], i)
        {
            const struct queue *q = &w->v.queue[64 * word + i];
            net_ticks from;
            if (q->vc != VC_NONE) {
                from = later_of(go_from(w, o, q, &is_blocked), out->free);
            } else {
                from = later_of(q->ready, class_free_from(w, o, q, &is_blocked));
                from = later_of(from, is_early ? w->v.alloc[o] : out->free);
            }
            if (from < best) best = from;
        }
    out->nx = best;
    out->is_blocked = is_blocked;
}

/* Outputs are planned when all that is new is known. */
ALWAYS_INLINE void plan_later(struct visit *w, uint32_t o)
{
    set_bit(w->v.dirty, o);
}

ALWAYS_INLINE void join_early(struct visit *w, uint32_t o, uint32_t q)
{
    (void)q;
    plan_later(w, o);
}

/* Heads without a channel that could take this one. */
ALWAYS_INLINE bool find_askers(const struct visit *w, uint32_t o, uint32_t channel,
                               uint64_t *askers)
{
    uint64_t any = 0;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        askers[word] = 0;
        FOR_EACH_BIT(requests_of(&w->v, w->words, o)[word], i)
        {
            const struct queue *q = &w->v.queue[64 * word + i];
            bool asks = q->vc == VC_NONE && q->ready <= w->v.output[o].nx &&
                        channel - q->gate / 2 < q->channels;
            if (asks) askers[word] |= UINT64_C(1) << i;
        }
        any |= askers[word];
    }
    return any != 0;
}

/* One pass. Marks the heads that got a channel in `fresh`. */
static void allocate(struct visit *w, uint32_t o, uint64_t *askers, uint64_t *fresh)
{
    net_packet_engine *e = w->e;
    net_ticks now = w->v.output[o].nx;
    uint32_t picked[NET_ROUTER_VCS_MAX], base = o * e->vcs;
    bool is_blocked = false, was_asked = false;
    for (uint32_t vc = 0; vc < e->vcs; vc++) {
        picked[vc] = NONE32;
        if (free_from(w, o, base + vc, &is_blocked) > now) continue;
        if (!find_askers(w, o, base + vc, askers)) continue;
        picked[vc] = next_round(askers, w->words, w->v.grant_pointer[base + vc]);
        was_asked = true;
    }
    for (uint32_t vc = 0; vc < e->vcs; vc++) {
        uint32_t q = picked[vc];
        if (q == NONE32 || w->v.queue[q].vc != VC_NONE) continue;
        uint64_t offers = 0;
        for (uint32_t other = vc; other < e->vcs; other++)
            offers |= (uint64_t)(picked[other] == q) << other;
        uint32_t taken = next_round(&offers, 1, w->v.accept_pointer[q * w->v.node->outputs + o]);
        w->v.accept_pointer[q * w->v.node->outputs + o] = (uint8_t)taken;
        w->v.grant_pointer[base + taken] = (uint16_t)q;
        w->v.queue[q].vc = (uint8_t)taken;
        w->v.owner[base + taken] = (uint16_t)q;
        fresh[q / 64] |= UINT64_C(1) << q % 64;
    }
    if (was_asked) w->v.alloc[o] = now + e->cycle;
}

/* The bound head that takes the link now, if any; `fresh` ones after all others. */
static uint32_t arbitrate(const struct visit *w, uint32_t o, const uint64_t *fresh, uint64_t *ready)
{
    const struct output *out = &w->v.output[o];
    bool unused = false;
    uint32_t i;
    for (int is_fresh = 0; is_fresh < 2; is_fresh++) {
        for (uint32_t word = 0; word < w->words; word++) {
            uint64_t requests = requests_of(&w->v, w->words, o)[word];
            ready[word] = 0;
            FOR_EACH_BIT(requests & (is_fresh ? fresh[word] : ~fresh[word]), i)
            {
                const struct queue *q = &w->v.queue[64 * word + i];
                if (q->vc != VC_NONE && go_from(w, o, q, &unused) <= w->v.output[o].nx)
                    ready[word] |= UINT64_C(1) << i;
            }
        }
        uint32_t q = next_round(ready, w->words, out->last);
        if (q != NONE32) return q;
    }
    return NONE32;
}

/* Injection and ejection: whoever is ready, through any channel with room. */
static void grant_port(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint64_t *ready = candidates_of(&w->v, w->words, o), free = 0;
    bool unused = false;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        ready[word] = 0;
        FOR_EACH_BIT(requests_of(&w->v, w->words, o)[word], i)
        if (w->v.queue[64 * word + i].ready <= w->v.output[o].nx) ready[word] |= UINT64_C(1) << i;
    }
    uint32_t base = o * w->e->vcs;
    for (uint32_t vc = 0; vc < w->e->vcs && !out->is_ejection; vc++)
        if (free_from(w, o, base + vc, &unused) <= w->v.output[o].nx) free |= UINT64_C(1) << vc;
    if (free != 0) out->vc = (uint8_t)next_round(&free, 1, out->vc);
    move(w, o, next_round(ready, w->words, out->last), base + out->vc, plan_later, join_early);
}

static void grant_early(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    if (!is_bound_early(w, o)) {
        grant_port(w, o);
        return;
    }
    uint64_t *scratch = candidates_of(&w->v, w->words, o);
    for (uint32_t word = 0; word < w->words; word++)
        w->v.fresh[word] = 0;
    allocate(w, o, scratch, w->v.fresh);
    uint32_t q = out->free <= w->v.output[o].nx ? arbitrate(w, o, w->v.fresh, scratch) : NONE32;
    set_bit(w->v.dirty, o);
    if (q == NONE32) return;
    uint32_t channel = o * w->e->vcs + w->v.queue[q].vc;
    w->v.owner[channel] = NONE16;
    move(w, o, q, channel, plan_later, join_early);
    w->v.available[channel] = out->free;
}

void net_packet_visit_early(net_packet_engine *e, uint32_t node, net_ticks end)
{
    struct visit w = {.e = e, .node = node, .end = end, .words = e->words};
    visit_node(w, plan_early, join_early, grant_early);
}
