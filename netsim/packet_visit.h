/**
 * What a node does in a window; shared by the two ways of binding virtual channels.
 *
 * At a window's start every arrival of the window is already in the rings, so only queues without a
 * known head look. Then come rounds: all outputs whose next grant is less than the shortest packet
 * after the earliest one are independent of each other (a queue shows its next head one packet
 * later), and go in any order.
 */
#ifndef PODSIM_NETSIM_PACKET_VISIT_H
#define PODSIM_NETSIM_PACKET_VISIT_H

#include "netsim/packet_internal.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define FOR_EACH_BIT(bits, i)                                                                      \
    for (uint64_t left_ = (bits); left_ != 0 && ((i) = (uint32_t)__builtin_ctzll(left_), 1);       \
         left_ &= left_ - 1)

/* What is the same during one visit. */
struct visit {
    net_packet_engine *e;
    struct view v;
    const struct kind *kind;
    uint32_t node, words;
    net_ticks end;
    net_ticks later; /* heads that arrive after the window */
    uint64_t hops;
};

ALWAYS_INLINE net_ticks later_of(net_ticks a, net_ticks b)
{
    return a > b ? a : b;
}

/* The slot so many (up to a ring's depth) after another of its ring, or before it. */
ALWAYS_INLINE uint32_t slots_on(const net_packet_engine *e, uint32_t slot, uint32_t count)
{
    uint32_t at = (slot & (e->stride - 1)) + count;
    return slot + count - (at >= e->depth ? e->depth : 0);
}

ALWAYS_INLINE uint32_t slots_back(const net_packet_engine *e, uint32_t slot, uint32_t count)
{
    return slot - count + ((slot & (e->stride - 1)) < count ? e->depth : 0);
}

/* A node walks far along its rings in a window: ask for the next line but one. */
ALWAYS_INLINE void prefetch_along(const net_packet_engine *e, uint32_t slot)
{
    __builtin_prefetch(e->slot + slot + SLOTS_AHEAD, 1);
}

ALWAYS_INLINE void wake(net_packet_engine *e, uint32_t node, net_ticks when)
{
    if (when < e->wake[node]) e->wake[node] = when;
}

ALWAYS_INLINE void set_bit(uint64_t *mask, uint32_t i)
{
    mask[i / 64] |= UINT64_C(1) << i % 64;
}

ALWAYS_INLINE void clear_bit(uint64_t *mask, uint32_t i)
{
    mask[i / 64] &= ~(UINT64_C(1) << i % 64);
}

ALWAYS_INLINE bool is_empty(const uint64_t *mask, uint32_t words)
{
    uint64_t any = 0;
    for (uint32_t word = 0; word < words; word++)
        any |= mask[word];
    return any == 0;
}

/* From when on there is room for a packet that leaves so many slots free behind a channel; OCCUPIED
 * or later: not known yet. */
ALWAYS_INLINE net_ticks room_at(const struct visit *w, uint32_t channel, uint32_t bubble)
{
    return w->e->slot[slots_on(w->e, w->v.tail[channel], bubble)].time;
}

/* Queue q's head, `packet`, wants an output. */
ALWAYS_INLINE void request(const net_packet_engine *e, struct view *v, uint32_t words, uint32_t q,
                           uint32_t output, uint32_t class, uint64_t packet)
{
    struct queue *queue = &v->queue[q];
    struct class_range range = e->range[class];
    bool enters = (queue->axis != output / 2) & (output < v->node->links);
    queue->packet = packet;
    queue->channel = output * e->vcs + range.first;
    queue->channels = range.count;
    queue->bubble = (uint16_t)(enters ? e->bubble : 0);
    queue->vc = VC_NONE;
    set_bit(v->requests + output * words, q);
    set_bit(v->dirty, output);
}

/* Its next step. */
ALWAYS_INLINE void request_step(const net_packet_engine *e, struct view *v, uint32_t words,
                                uint32_t q, struct step step, uint32_t tag)
{
    request(e, v, words, q, step.output, step.class, step.route | (uint64_t)tag << 32);
}

ALWAYS_INLINE void put_head(const net_packet_engine *e, struct view *v, uint32_t words,
                            uint32_t port, const struct net_packet *packet, net_ticks ready)
{
    const struct node *n = v->node;
    uint32_t q = n->rings + port, route = packet->route | (packet->is_last ? ROUTE_LAST : 0);
    uint32_t tag = packet->message | packet->size << TAG_SIZE_BIT;
    struct queue *queue = &v->queue[q];
    assert(queue->head == 0);
    queue->head = 1;
    queue->ready = later_of(queue->ready, ready);
    struct step step = {n->injection, NET_ROUTER_VCS_MAX, route};
    if (n->injection == NONE16) step = net_packet_step(e, n, route);
    assert(step.output < n->outputs); /* else the client keeps such messages to itself */
    request_step(e, v, words, q, step, tag);
}

/* A packet goes on from the head of queue q at `when`: its slot is free for another once enough of
 * it has left and the news is upstream. */
ALWAYS_INLINE void leave_ring(struct visit *w, uint32_t q, net_ticks when, net_ticks room)
{
    net_packet_engine *e = w->e;
    uint32_t ring = w->v.node->first_ring + q, at = w->v.queue[q].head;
    /* occupied when a sender may have to wait */
    bool was_full = e->slot[slots_back(e, at, e->bubble + 1)].time >= OCCUPIED;
    net_ticks free = when + room + (e->ring_credit == NULL ? e->credit : e->ring_credit[ring]);
    e->slot[at].time = free;
    prefetch_along(e, at);
    w->v.queue[q].head = slots_on(e, at, 1);
    if (was_full) wake(e, e->upstream[ring], free);
}

ALWAYS_INLINE void deliver(struct visit *w, uint64_t packet, net_ticks when)
{
    net_packet_engine *e = w->e;
    e->counts.delivered++;
    e->client.deliver(e->client.context, w->node, tag_of(packet) & (NET_PACKET_MESSAGES - 1),
                      (route_of(packet) & ROUTE_LAST) != 0, when + e->ejection);
}

/* The head of queue q, which is there, leaves the network at `when`; its link's rate is `rate`. */
ALWAYS_INLINE void eject(struct visit *w, uint32_t q, net_ticks when, uint32_t rate)
{
    uint64_t packet = w->e->slot[w->v.queue[q].head].packet;
    struct span span = net_packet_span(w->e, tag_of(packet), rate);
    leave_ring(w, q, when, span.room);
    w->v.queue[q].ready = when + span.whole;
    deliver(w, packet, when + span.whole);
}

/* Does the queue have a head in this window? Where every link ejects by itself, those that are
 * there go at once. */
ALWAYS_INLINE bool look(struct visit *w, uint32_t q)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct queue *queue = &v->queue[q];
    uint32_t in = e->ring_rate == NULL ? 0 : e->ring_rate[v->node->first_ring + q];
    for (;;) {
        const struct slot *s = e->slot + queue->head;
        if (s->time < OCCUPIED) return false;
        net_ticks ready = later_of(s->time - OCCUPIED, queue->ready);
        if (ready >= w->end) {
            if (ready < w->later) w->later = ready;
            return false;
        }
        uint64_t packet = s->packet;
        uint32_t tag = tag_of(packet);
        struct step step = net_packet_step(e, v->node, route_of(packet));
        if (step.output == v->node->links && v->node->ejection == NONE16) {
            eject(w, q, ready, in);
            continue;
        }
        if (e->rates > 1) { /* must not run dry on a faster link */
            net_ticks slow = net_packet_span(e, tag, in).whole,
                      fast = net_packet_span(e, tag, v->output[step.output].rate).whole;
            if (slow > fast) ready = later_of(s->time - OCCUPIED + slow - fast, queue->ready);
        }
        queue->ready = ready;
        request_step(e, v, w->words, q, step, tag);
        return true;
    }
}

/* The client's next packet after the one at an injection head. */
ALWAYS_INLINE void refill(struct visit *w, uint32_t q)
{
    net_packet_engine *e = w->e;
    struct net_packet packet;
    net_ticks ready;
    uint32_t port = q - w->v.node->rings;
    w->v.queue[q].head = 0;
    e->counts.injected++;
    if (!e->client.next(e->client.context, w->node, port, w->v.queue[q].ready, &packet, &ready))
        return;
    put_head(e, &w->v, w->words, port, &packet, ready);
    if (packet.more >= TRAIN_LEAST) net_packet_train_start(e, w->node, port, packet.more);
}

/* Queue q's head takes the output at its nx, through a channel behind it. Where nobody else wants
 * the output there is nothing to plan. */
ALWAYS_INLINE void move(struct visit *w, uint32_t o, uint32_t q, uint32_t channel)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct output *out = &v->output[o];
    struct queue *queue = &v->queue[q];
    net_ticks now = v->nx[o];
    uint64_t packet = queue->packet;
    struct span span = net_packet_span(e, tag_of(packet), out->rate);
    out->free = now + span.whole;
    out->busy += span.whole;
    out->last = (uint16_t)q;
    v->nx[o] = NET_TICKS_NEVER;
    clear_bit(v->requests + o * w->words, q);
    clear_bit(v->blocked, o);
    v->dirty[o / 64] |= (uint64_t)!is_empty(v->requests + o * w->words, w->words) << o % 64;
    if (out->is_ejection) {
        deliver(w, packet, now + span.whole);
    } else {
        uint32_t at = v->tail[channel];
        v->tail[channel] = slots_on(e, at, 1);
        e->slot[at] = (struct slot){OCCUPIED | (now + out->hop), packet};
        prefetch_along(e, at);
        wake(e, out->node, now + out->hop);
        w->hops += o < v->node->links;
    }
    queue->ready = now + span.whole;
    if (q >= v->node->rings) {
        refill(w, q);
        return;
    }
    leave_ring(w, q, now, span.room);
    if (!look(w, q)) set_bit(v->idle, q);
}

/* The first of `bits` after `last`, going round. */
ALWAYS_INLINE uint32_t next_round(const uint64_t *bits, uint32_t words, uint32_t last)
{
    uint32_t first = last / 64;
    uint64_t above = last % 64 == 63 ? 0 : bits[first] & (~UINT64_C(0) << (last % 64 + 1));
    if (above != 0) return 64 * first + (uint32_t)__builtin_ctzll(above);
    for (uint32_t i = 1; i <= words; i++) {
        uint32_t word = first + i >= words ? first + i - words : first + i;
        if (bits[word] != 0) return 64 * word + (uint32_t)__builtin_ctzll(bits[word]);
    }
    return NONE32;
}

typedef void (*plan_fn)(struct visit *w, uint32_t output);
typedef void (*grant_fn)(struct visit *w, uint32_t output);

ALWAYS_INLINE void start_visit(struct visit *w)
{
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        w->v.dirty[word] |= w->v.blocked[word];
        FOR_EACH_BIT(w->v.idle[word], i)
        if (look(w, 64 * word + i)) clear_bit(w->v.idle, 64 * word + i);
    }
}

/* An output's train is that of the port of the same number. */
ALWAYS_INLINE bool has_train(const struct view *v, uint32_t output)
{
    return output < v->node->ports && v->train[output].more > 0;
}

/* The earliest grant. */
ALWAYS_INLINE net_ticks plan_dirty(struct visit *w, plan_fn plan)
{
    uint32_t outputs = w->v.node->outputs, i;
    bool has_trains = w->v.node->train_end != NET_TICKS_NEVER;
    for (uint32_t word = 0; word < w->words; word++) {
        FOR_EACH_BIT(w->v.dirty[word], i)
        {
            if (has_trains && has_train(&w->v, 64 * word + i))
                net_packet_train_yield(w->e, w->node, 64 * word + i);
            plan(w, 64 * word + i);
        }
        w->v.dirty[word] = 0;
    }
    net_ticks first = NET_TICKS_NEVER;
    for (uint32_t o = 0; o < outputs; o++)
        first = w->v.nx[o] < first ? w->v.nx[o] : first;
    return first;
}

/* Of one word first the mask, without branches: which outputs take part is as good as random. */
ALWAYS_INLINE void grant_before(struct visit *w, net_ticks limit, grant_fn grant)
{
    uint32_t outputs = w->v.node->outputs, i;
    for (uint32_t first = 0; first < outputs; first += 64) {
        uint32_t count = outputs - first < 64 ? outputs - first : 64;
        uint64_t due = 0;
        for (uint32_t o = 0; o < count; o++)
            due |= (uint64_t)(w->v.nx[first + o] < limit) << o;
        FOR_EACH_BIT(due, i) grant(w, first + i);
    }
}

ALWAYS_INLINE void visit_node(net_packet_engine *e, uint32_t node, net_ticks end, uint32_t words,
                              plan_fn plan, grant_fn grant)
{
    struct visit w = {.e = e,
                      .v = net_packet_view(e, node),
                      .node = node,
                      .words = words,
                      .end = end,
                      .later = NET_TICKS_NEVER};
    struct node *n = w.v.node;
    w.kind = &e->kind[n->kind];
    e->wake[node] = NET_TICKS_NEVER;
    e->counts.visits++;
    start_visit(&w);
    net_ticks first;
    for (;;) {
        first = plan_dirty(&w, plan);
        if (n->train_end < end && n->train_end <= first && n->train_end <= n->due) {
            net_packet_train_finish(e, node);
            continue;
        }
        if (n->due <= first) {
            net_ticks due = n->due;
            if (due >= end) break;
            n->due = NET_TICKS_NEVER;
            e->client.step(e->client.context, node, due);
            continue;
        }
        if (first >= end) break;
        net_ticks limit = first + e->round;
        if (limit > end) limit = end;
        if (limit > n->due) limit = n->due;
        grant_before(&w, limit, grant);
    }
    if (w.later < first) first = w.later;
    if (n->due < first) first = n->due;
    if (n->train_end < first) first = n->train_end;
    wake(e, node, first);
    e->counts.hops += w.hops;
}

#endif
