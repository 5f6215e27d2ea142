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

ALWAYS_INLINE void wake(net_packet_engine *e, uint32_t node, net_ticks when)
{
    if (when < e->wake[node]) e->wake[node] = when;
}

/* Where the next packet goes behind an output's channel, or `ahead` slots on: free when so many
 * before it are. */
ALWAYS_INLINE const struct slot *tail_of(const struct visit *w, uint32_t o, uint32_t vc,
                                         uint32_t ahead)
{
    const net_packet_engine *e = w->e;
    return e->slot + slots_on(e, w->v.tail[o * e->vcs + vc], ahead);
}

/* Queue q's head wants an output. */
ALWAYS_INLINE void request(struct view *v, uint32_t words, uint32_t q, uint32_t output,
                           uint32_t class, uint32_t route)
{
    struct queue *queue = &v->queue[q];
    bool stays = v->axis[queue->input] == output / 2 || output >= v->node->links;
    queue->output = (uint16_t)output;
    queue->class = (uint8_t)(class | (stays ? 0 : ENTERS));
    queue->vc = VC_NONE;
    queue->route = route;
    v->idle[q / 64] &= ~(UINT64_C(1) << q % 64);
    v->requests[output * words + q / 64] |= UINT64_C(1) << q % 64;
    v->dirty[output / 64] |= UINT64_C(1) << output % 64;
}

ALWAYS_INLINE void put_head(const net_packet_engine *e, struct view *v, uint32_t words,
                            uint32_t port, const struct net_packet *packet, net_ticks ready)
{
    const struct node *n = v->node;
    uint32_t q = n->rings + port;
    struct queue *queue = &v->queue[q];
    assert(queue->head == 0);
    queue->head = 1;
    queue->ready = later_of(queue->ready, ready);
    v->injection[port] = (head){0, packet->route | (packet->is_last ? ROUTE_LAST : 0),
                                packet->message | packet->size << TAG_SIZE_BIT};
    if (n->injection != NONE16) {
        request(v, words, q, n->injection, NET_ROUTER_VCS_MAX, v->injection[port].route);
        return;
    }
    struct step step = net_packet_step(e, v, v->injection[port].route);
    if (step.output == NONE32) {
        assert(n->ejection != NONE16); /* else the client keeps such messages to itself */
        step = (struct step){n->ejection, NET_ROUTER_VCS_MAX, step.route};
    }
    request(v, words, q, step.output, step.class, step.route);
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
    w->v.queue[q].head = slots_on(e, at, 1);
    if (was_full) wake(e, e->upstream[ring], free);
}

ALWAYS_INLINE void deliver(struct visit *w, uint32_t route, uint32_t tag, net_ticks when)
{
    net_packet_engine *e = w->e;
    e->counts.delivered++;
    e->client.deliver(e->client.context, w->node, tag & (NET_PACKET_MESSAGES - 1),
                      (route & ROUTE_LAST) != 0, when + e->ejection);
}

/* The head of queue q, which is there, leaves the network at `when`; its link's rate is `rate`. */
ALWAYS_INLINE void eject(struct visit *w, uint32_t q, net_ticks when, uint32_t rate)
{
    const struct slot *s = w->e->slot + w->v.queue[q].head;
    uint32_t route = s->route, tag = s->tag;
    struct span span = net_packet_span(w->e, tag, rate);
    leave_ring(w, q, when, span.room);
    w->v.queue[q].ready = when + span.whole;
    deliver(w, route, tag, when + span.whole);
}

/* Does the queue have a head in this window? Where every link ejects by itself, those that are
 * there go at once. */
ALWAYS_INLINE void look(struct visit *w, uint32_t q)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct queue *queue = &v->queue[q];
    uint32_t in = e->ring_rate == NULL ? 0 : e->ring_rate[v->node->first_ring + q];
    for (;;) {
        const struct slot *s = e->slot + queue->head;
        if (s->time < OCCUPIED) break;
        net_ticks ready = later_of(s->time - OCCUPIED, queue->ready);
        if (ready >= w->end) {
            if (ready < w->later) w->later = ready;
            break;
        }
        struct step step = net_packet_step(e, v, s->route);
        if (step.output == NONE32 && v->node->ejection == NONE16) {
            eject(w, q, ready, in);
            continue;
        }
        if (step.output == NONE32)
            step = (struct step){v->node->ejection, NET_ROUTER_VCS_MAX, s->route};
        if (e->rates > 1) { /* must not run dry on a faster link */
            net_ticks slow = net_packet_span(e, s->tag, in).whole,
                      fast = net_packet_span(e, s->tag, v->output[step.output].rate).whole;
            if (slow > fast) ready = later_of(s->time - OCCUPIED + slow - fast, queue->ready);
        }
        queue->ready = ready;
        request(v, w->words, q, step.output, step.class, step.route);
        return;
    }
    v->idle[q / 64] |= UINT64_C(1) << q % 64;
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

/* Queue q's head takes the output at its nx, through channel `vc` behind it. */
ALWAYS_INLINE void move(struct visit *w, uint32_t o, uint32_t q, uint32_t vc)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct output *out = &v->output[o];
    struct queue *queue = &v->queue[q];
    uint32_t rings = v->node->rings;
    net_ticks now = out->nx;
    uint32_t tag = q < rings ? e->slot[queue->head].tag : v->injection[q - rings].tag;
    struct span span = net_packet_span(e, tag, out->rate);
    out->free = now + span.whole;
    out->busy += span.whole;
    out->last = (uint16_t)q;
    v->requests[o * w->words + q / 64] &= ~(UINT64_C(1) << q % 64);
    v->dirty[o / 64] |= UINT64_C(1) << o % 64;
    if (out->is_ejection) {
        deliver(w, queue->route, tag, now + span.whole);
    } else {
        uint32_t *tail = &v->tail[o * e->vcs + vc];
        e->slot[*tail] = (struct slot){OCCUPIED | (now + out->hop), queue->route, tag};
        *tail = slots_on(e, *tail, 1);
        wake(e, out->node, now + out->hop);
        w->hops += o < v->node->links;
    }
    queue->ready = now + span.whole;
    if (q < rings) {
        leave_ring(w, q, now, span.room);
        look(w, q);
    } else {
        refill(w, q);
    }
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
    const struct node *n = w->v.node;
    uint32_t i;
    for (uint32_t o = 0; o < n->outputs; o++)
        if (w->v.output[o].is_blocked) w->v.dirty[o / 64] |= UINT64_C(1) << o % 64;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(w->v.idle[word], i) look(w, 64 * word + i);
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
        if (w->v.output[o].nx < first) first = w->v.output[o].nx;
    return first;
}

ALWAYS_INLINE void visit_node(net_packet_engine *e, uint32_t node, net_ticks end, uint32_t words,
                              plan_fn plan, grant_fn grant)
{
    struct visit w = {.e = e, .node = node, .words = words, .end = end, .later = NET_TICKS_NEVER};
    struct node *n = net_packet_node(e, node);
    net_packet_layout(e, (char *)n, n, words, &w.v);
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
        for (uint32_t o = 0; o < n->outputs; o++)
            if (w.v.output[o].nx < limit) grant(&w, o);
    }
    if (w.later < first) first = w.later;
    if (n->due < first) first = n->due;
    if (n->train_end < first) first = n->train_end;
    wake(e, node, first);
    e->counts.hops += w.hops;
}

#endif
