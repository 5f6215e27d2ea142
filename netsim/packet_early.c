/*
 * Early binding: a head is first given a virtual channel of its next link, keeps it, and waits for
 * the link with it, as BookSim's routers do.
 *
 * Channels are given out by one pass of a separable allocator (iSLIP): every free channel picks a
 * waiting head, every head picks one of the channels that picked it, both round robin. A channel
 * is free again once the packet that had it has left the router. Heads that had their channel
 * before go first over heads that have just been given one.
 *
 * Packets have the link to their end, or it is given flit by flit: then a slot is a flit, a head
 * keeps its channel until the last flit has gone, and the link while the next flit waits. There,
 * heads that ask for a channel have their turn at the link as others do, and may waste it.
 *
 * Source: N. McKeown, "The iSLIP scheduling algorithm for input-queued switches", IEEE/ACM Trans.
 * Networking 7(2), 1999; the router is described in docs/packet.md.
 */
#include "netsim/packet_visit.h"

/* Of whole packets injection and ejection are bound late. */
ALWAYS_INLINE bool is_bound_early(const struct visit *w, uint32_t o)
{
    return w->is_by_flit || o < w->v.node->links;
}

/* From when on the channel can be given to a head; NEVER while it belongs to one. Room in it counts
 * where it is asked for, and where nothing is bound. */
ALWAYS_INLINE net_ticks free_from(const struct visit *w, uint32_t o, uint32_t channel)
{
    net_ticks free = w->v.available[channel];
    if (w->is_by_flit) return later_of(free, room_at(w, 2 * channel + 1));
    if (is_bound_early(w, o) && !w->e->router.is_credit_first) return free;
    return later_of(free, room_at(w, 2 * channel));
}

/* Is the output kept for another queue? */
ALWAYS_INLINE bool is_held(const struct visit *w, uint32_t o, uint32_t q)
{
    uint32_t hold = w->v.output[o].hold;
    return w->is_by_flit && hold != NONE16 && hold != q;
}

/* When a head may ask for a channel, or go through the one it has. */
ALWAYS_INLINE net_ticks act_from(struct visit *w, uint32_t o, uint32_t id)
{
    struct output *out = &w->v.output[o];
    const struct queue *q = &w->v.queue[id];
    net_ticks room = NET_TICKS_NEVER, link = out->free;
    if (q->is_bound && is_held(w, o, id)) return NET_TICKS_NEVER; /* planned after each flit */
    if (q->is_bound) {
        room = room_at(w, q->gate);
        out->is_blocked |= room >= OCCUPIED;
    } else {
        for (uint32_t i = 0; i < q->channels; i++) {
            net_ticks free = free_from(w, o, q->gate / 2 + i);
            out->is_blocked |= free > OCCUPIED;
            room = free < room ? free : room;
        }
        if (is_bound_early(w, o)) link = w->v.alloc[o];
    }
    net_ticks from = later_of(later_of(q->ready, room), link);
    return from < NET_TICKS_NEVER ? from : NET_TICKS_NEVER;
}

ALWAYS_INLINE void join_early(struct visit *w, uint32_t o, uint32_t q)
{
    struct output *out = &w->v.output[o];
    net_ticks from = act_from(w, o, q);
    out->nx = from < out->nx ? from : out->nx;
}

ALWAYS_INLINE void plan_early(struct visit *w, uint32_t o)
{
    const uint64_t *requests = requests_of(&w->v, w->words, o);
    uint32_t i;
    w->v.output[o].nx = NET_TICKS_NEVER;
    w->v.output[o].is_blocked = false;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(requests[word], i) join_early(w, o, 64 * word + i);
}

/* Heads that are there: those that ask for a channel, and those that have one with room in it. */
ALWAYS_INLINE void find_heads(const struct visit *w, uint32_t o, uint64_t *asking, uint64_t *able)
{
    const uint64_t *requests = requests_of(&w->v, w->words, o);
    net_ticks now = w->v.output[o].nx;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        asking[word] = able[word] = 0;
        FOR_EACH_BIT(requests[word], i)
        {
            const struct queue *q = &w->v.queue[64 * word + i];
            uint64_t is_ready = q->ready <= now, has_room = room_at(w, q->gate) <= now;
            uint64_t is_free = !is_held(w, o, 64 * word + i);
            asking[word] |= (is_ready & !q->is_bound) << i;
            able[word] |= (is_ready & q->is_bound & has_room & is_free) << i;
        }
    }
}

ALWAYS_INLINE void bind(struct visit *w, uint32_t o, uint32_t q, uint32_t vc)
{
    struct queue *queue = &w->v.queue[q];
    uint32_t channel = o * w->e->vcs + vc;
    w->v.accept_pointer[q] = (uint16_t)channel;
    w->v.grant_pointer[channel] = (uint16_t)q;
    w->v.available[channel] = NET_TICKS_NEVER;
    queue->gate = 2 * channel;
    queue->is_bound = true;
}

/* Does the channel belong to the head's class? */
ALWAYS_INLINE bool may_take(const struct queue *q, uint32_t channel)
{
    return channel - q->gate / 2 < q->channels;
}

/* Which of an output's channels that picked it a head takes: the next after the one that it, or the
 * head before it, took last, of all outputs' channels in turn. */
ALWAYS_INLINE uint32_t accept(const struct visit *w, uint32_t o, uint32_t q, uint64_t offers)
{
    uint32_t last = w->v.accept_pointer[q] - o * w->e->vcs;
    return first_after(offers, last < w->e->vcs ? ~UINT64_C(1) << last : 0);
}

/* Mostly there is one: every free channel picks it. */
ALWAYS_INLINE bool allocate_to_one(struct visit *w, uint32_t o, uint32_t q)
{
    const struct queue *queue = &w->v.queue[q];
    uint32_t first = queue->gate / 2, base = o * w->e->vcs;
    uint64_t offers = 0;
    for (uint32_t i = 0; i < queue->channels; i++)
        offers |= (uint64_t)(free_from(w, o, first + i) <= w->v.output[o].nx) << (first - base + i);
    if (offers == 0) return false;
    bind(w, o, q, accept(w, o, q, offers));
    return true;
}

/* The head that a channel picks of those that ask, or NONE32. */
ALWAYS_INLINE uint32_t pick_asker(const struct visit *w, uint32_t channel, const uint64_t *asking,
                                  uint64_t *scratch)
{
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        scratch[word] = 0;
        FOR_EACH_BIT(asking[word], i)
        scratch[word] |= (uint64_t)may_take(&w->v.queue[64 * word + i], channel) << i;
    }
    return next_round(scratch, w->words, w->v.grant_pointer[channel]);
}

/* Every free channel picks a head, and every head that is picked one of its channels. */
ALWAYS_INLINE bool allocate_to_all(struct visit *w, uint32_t o, const uint64_t *asking,
                                   uint64_t *scratch)
{
    uint32_t picked[NET_ROUTER_VCS_MAX], vcs = w->e->vcs;
    bool was_asked = false;
    for (uint32_t vc = 0; vc < vcs; vc++) {
        bool is_free = free_from(w, o, o * vcs + vc) <= w->v.output[o].nx;
        picked[vc] = is_free ? pick_asker(w, o * vcs + vc, asking, scratch) : NONE32;
        was_asked |= picked[vc] != NONE32;
    }
    for (uint32_t vc = 0; vc < vcs; vc++) {
        uint32_t q = picked[vc];
        if (q == NONE32 || w->v.queue[q].is_bound) continue;
        uint64_t offers = 0;
        for (uint32_t other = vc; other < vcs; other++)
            offers |= (uint64_t)(picked[other] == q) << other;
        bind(w, o, q, accept(w, o, q, offers));
    }
    return was_asked;
}

/* At most one head. */
ALWAYS_INLINE bool is_alone(const struct visit *w, const uint64_t *heads)
{
    return w->words == 1 && (heads[0] & (heads[0] - 1)) == 0;
}

/* One pass of the allocator. */
ALWAYS_INLINE void allocate(struct visit *w, uint32_t o, const uint64_t *asking, uint64_t *scratch)
{
    uint64_t first = asking[0];
    bool was_asked;
    if (w->words == 1 && first == 0) return;
    if (is_alone(w, asking))
        was_asked = allocate_to_one(w, o, (uint32_t)__builtin_ctzll(first));
    else
        was_asked = allocate_to_all(w, o, asking, scratch);
    if (was_asked) w->v.alloc[o] = w->v.output[o].nx + w->e->cycle;
}

/* The bound head that takes the link now, if any: those that have just been given a channel after
 * all others. */
ALWAYS_INLINE uint32_t arbitrate(const struct visit *w, uint32_t o, const uint64_t *asking,
                                 uint64_t *able)
{
    const struct output *out = &w->v.output[o];
    uint32_t q = next_round(able, w->words, out->last), i;
    if (q != NONE32) return q;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(asking[word], i)
        {
            const struct queue *queue = &w->v.queue[64 * word + i];
            uint64_t has_room = room_at(w, queue->gate) <= out->nx;
            able[word] |= (has_room & queue->is_bound) << i;
        }
    return next_round(able, w->words, out->last);
}

/* Injection and ejection: whoever is ready, through any channel with room. */
ALWAYS_INLINE void grant_port(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint64_t *asking = candidates_of(&w->v, w->words, o), free = 0;
    uint32_t base = o * w->e->vcs;
    find_heads(w, o, asking, w->v.able);
    for (uint32_t vc = 0; vc < w->e->vcs && !out->is_ejection; vc++)
        free |= (uint64_t)(free_from(w, o, base + vc) <= out->nx) << vc;
    if (free != 0) out->vc = (uint8_t)next_round(&free, 1, out->vc);
    uint32_t q = next_round(asking, w->words, out->last);
    move(w, o, q, base + out->vc, plan_early, join_early);
}

/* Does the packet's next flit wait already? Then it has the link next. */
ALWAYS_INLINE bool is_next_here(const struct visit *w, uint32_t q, net_ticks now)
{
    const struct queue *queue = &w->v.queue[q];
    if (q >= w->v.node->rings) return queue->head > 1;
    net_ticks next = w->slot[slots_on(w, queue->head, 1)].time;
    return next >= OCCUPIED && next - OCCUPIED <= now;
}

/* Queue q's head takes the link through the channel it has, which it gives up with its last flit. */
ALWAYS_INLINE void go(struct visit *w, uint32_t o, uint32_t q)
{
    struct output *out = &w->v.output[o];
    const struct queue *queue = &w->v.queue[q];
    uint32_t channel = queue->gate / 2;
    bool is_last = is_last_flit(w, queue->packet);
    if (is_last) w->v.available[channel] = out->nx + span_of(w, queue->packet, out->rate).whole;
    if (w->is_by_flit) out->hold = !is_last && is_next_here(w, q, out->nx) ? (uint16_t)q : NONE16;
    move(w, o, q, channel, plan_early, join_early);
}

ALWAYS_INLINE void grant_link(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint64_t *asking = candidates_of(&w->v, w->words, o), *able = w->v.able;
    find_heads(w, o, asking, able);
    allocate(w, o, asking, w->v.picking);
    uint32_t q = out->free <= out->nx ? arbitrate(w, o, asking, able) : NONE32;
    if (q == NONE32) {
        plan_early(w, o);
        return;
    }
    go(w, o, q);
}

/* ---- by flits ---- */

/* Is there a channel that the head may be given now? Or was there, if it has just asked alone? */
ALWAYS_INLINE bool is_offered(const struct visit *w, uint32_t o, const struct queue *q)
{
    bool is_free = q->is_bound;
    for (uint32_t i = 0; i < q->channels && !is_free; i++)
        is_free |= free_from(w, o, q->gate / 2 + i) <= w->v.output[o].nx;
    return is_free;
}

/* Heads that ask for a channel ask for the link, too: their turn may come though they are given no
 * channel, and then nobody goes. */
ALWAYS_INLINE void add_askers(const struct visit *w, uint32_t o, const uint64_t *asking,
                              uint64_t *able)
{
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(asking[word], i)
        {
            uint32_t q = 64 * word + i;
            able[word] |= (uint64_t)(!is_held(w, o, q) && is_offered(w, o, &w->v.queue[q])) << i;
        }
}

ALWAYS_INLINE void grant_flit(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint64_t *asking = candidates_of(&w->v, w->words, o), *able = w->v.able;
    bool is_idle = out->free <= out->nx;
    find_heads(w, o, asking, able);
    if (is_idle && !is_alone(w, asking)) add_askers(w, o, asking, able);
    allocate(w, o, asking, w->v.picking);
    if (is_idle && is_alone(w, asking)) add_askers(w, o, asking, able);
    uint32_t q = is_idle ? next_round(able, w->words, out->last) : NONE32;
    if (q != NONE32 && !w->v.queue[q].is_bound) {
        if (w->is_watched && o < w->v.node->links) net_packet_note_stall(w->e, w->node, o);
        out->last = (uint16_t)q;
        out->free = out->nx + w->e->cycle;
        q = NONE32;
    }
    if (q == NONE32) {
        plan_early(w, o);
        return;
    }
    go(w, o, q);
}

ALWAYS_INLINE void grant_early(struct visit *w, uint32_t o)
{
    if (w->is_by_flit)
        grant_flit(w, o);
    else if (is_bound_early(w, o))
        grant_link(w, o);
    else
        grant_port(w, o);
}

/* Twice, once for what matters for speed: what does not change is known when it is compiled. */
ALWAYS_INLINE void visit(struct visit w)
{
    const net_packet_engine *e = w.e;
    w.words = 1;
    w.is_uniform = true;
    if (e->words == 1 && e->is_uniform) {
        visit_node(w, plan_early, join_early, grant_early);
        return;
    }
    w.words = e->words;
    w.is_uniform = e->is_uniform;
    visit_node(w, plan_early, join_early, grant_early);
}

void net_packet_visit_early(net_packet_engine *e, uint32_t node, net_ticks end)
{
    visit((struct visit){.e = e, .node = node, .end = end});
}

void net_packet_visit_flits(net_packet_engine *e, uint32_t node, net_ticks end)
{
    visit((struct visit){.e = e, .node = node, .end = end, .is_by_flit = true});
}
