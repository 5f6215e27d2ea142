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
};

ALWAYS_INLINE net_ticks later_of(net_ticks a, net_ticks b)
{
    return a > b ? a : b;
}

ALWAYS_INLINE struct slot *ring_of(const net_packet_engine *e, uint32_t ring)
{
    return e->slot + (size_t)ring * e->depth;
}

ALWAYS_INLINE uint32_t after(const net_packet_engine *e, uint32_t at)
{
    return at + 1 == e->depth ? 0 : at + 1;
}

ALWAYS_INLINE void wake(net_packet_engine *e, uint32_t node, net_ticks when)
{
    if (when < e->wake[node]) e->wake[node] = when;
}

/* The slot behind an output's channel where the next packet goes. */
ALWAYS_INLINE struct slot *tail_of(const struct visit *w, uint32_t o, uint32_t vc)
{
    const struct output *out = &w->v.output[o];
    return ring_of(w->e, out->ring + vc) + w->v.tail[o * w->e->vcs + vc];
}

/* The same, `ahead` slots on: free when so many before it are. */
ALWAYS_INLINE struct slot *slot_behind(const struct visit *w, uint32_t o, uint32_t vc,
                                       uint32_t ahead)
{
    uint32_t at = w->v.tail[o * w->e->vcs + vc] + ahead;
    if (at >= w->e->depth) at -= w->e->depth;
    return ring_of(w->e, w->v.output[o].ring + vc) + at;
}

/* Queue q's head wants an output. */
ALWAYS_INLINE void request(struct view *v, uint32_t words, uint32_t q, uint32_t output,
                           uint32_t class)
{
    uint32_t axis = v->axis[v->queue[q].input];
    bool stays = axis == output / 2 || output >= v->node->links;
    v->queue[q].output = (uint16_t)output;
    v->queue[q].class = (uint8_t)(class | (stays ? 0 : ENTERS));
    v->queue[q].vc = VC_NONE;
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
        request(v, words, q, n->injection, NET_ROUTER_VCS_MAX);
        return;
    }
    struct step step = net_packet_step(e, v, packet->route);
    if (step.output == NONE32) {
        assert(n->ejection != NONE16); /* else the client keeps such messages to itself */
        step = (struct step){n->ejection, NET_ROUTER_VCS_MAX, 0};
    }
    request(v, words, q, step.output, step.class);
}

/* A packet goes on from the head of queue q at `when`, `ticks` long at `rate`: its slot is free for
 * another once enough of it has left and the news is upstream. */
ALWAYS_INLINE void leave_ring(struct visit *w, uint32_t q, net_ticks when, net_ticks ticks,
                              uint32_t rate)
{
    net_packet_engine *e = w->e;
    uint32_t ring = w->v.node->first_ring + q, at = w->v.queue[q].head;
    struct slot *slots = ring_of(e, ring);
    uint32_t full = at + e->depth - 1 - e->bubble; /* occupied when a sender may have to wait */
    bool was_full = slots[full < e->depth ? full : full - e->depth].time >= OCCUPIED;
    net_ticks last_flits = e->flit[rate] * (1 + e->slack);
    net_ticks credit = e->latency[e->ring_latency == NULL ? 0 : e->ring_latency[ring]].credit;
    net_ticks free = when + (ticks > last_flits ? ticks - last_flits : 0) + credit;
    slots[at].time = free;
    w->v.queue[q].head = (uint16_t)after(e, at);
    if (was_full) wake(e, e->upstream[ring], free);
}

ALWAYS_INLINE void deliver(struct visit *w, const struct slot *packet, net_ticks when)
{
    net_packet_engine *e = w->e;
    e->counts.delivered++;
    e->client.deliver(e->client.context, w->node, packet->tag & (NET_PACKET_MESSAGES - 1),
                      (packet->route & ROUTE_LAST) != 0, when + e->ejection);
}

/* Does the queue have a head in this window? Where every link ejects by itself, those that are
 * there go at once. */
ALWAYS_INLINE void look(struct visit *w, uint32_t q)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct queue *queue = &v->queue[q];
    uint32_t ring = v->node->first_ring + q;
    for (;;) {
        const struct slot *s = ring_of(e, ring) + queue->head;
        if (s->time < OCCUPIED) break;
        net_ticks ready = later_of(s->time - OCCUPIED, queue->ready);
        if (ready >= w->end) {
            if (ready < w->later) w->later = ready;
            break;
        }
        struct step step = net_packet_step(e, v, s->route);
        uint32_t in = e->ring_rate == NULL ? 0 : e->ring_rate[ring];
        if (step.output != NONE32 && e->rates > 1) { /* must not run dry on a faster link */
            net_ticks slow = net_packet_ticks(e, s->tag, in),
                      fast = net_packet_ticks(e, s->tag, v->output[step.output].rate);
            if (slow > fast) ready = later_of(s->time - OCCUPIED + slow - fast, queue->ready);
        }
        if (step.output == NONE32 && v->node->ejection == NONE16) {
            net_ticks ticks = net_packet_ticks(e, s->tag, in);
            struct slot packet = *s;
            leave_ring(w, q, ready, ticks, in);
            queue->ready = ready + ticks;
            deliver(w, &packet, ready + ticks);
            continue;
        }
        queue->ready = ready;
        if (step.output == NONE32)
            request(v, w->words, q, v->node->ejection, NET_ROUTER_VCS_MAX);
        else
            request(v, w->words, q, step.output, step.class);
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
    if (e->client.next(e->client.context, w->node, port, w->v.queue[q].ready, &packet, &ready))
        put_head(e, &w->v, w->words, port, &packet, ready);
}

/* Queue q's head takes the output at its nx, through channel `vc` behind it. */
ALWAYS_INLINE void move(struct visit *w, uint32_t o, uint32_t q, uint32_t vc)
{
    net_packet_engine *e = w->e;
    struct view *v = &w->v;
    struct output *out = &v->output[o];
    struct queue *queue = &v->queue[q];
    bool is_ring = q < v->node->rings;
    net_ticks now = out->nx;
    struct slot packet = is_ring ? ring_of(e, v->node->first_ring + q)[queue->head]
                                 : v->injection[q - v->node->rings];
    net_ticks ticks = net_packet_ticks(e, packet.tag, out->rate);
    out->free = now + ticks;
    out->busy += ticks;
    out->last = (uint16_t)q;
    v->requests[o * w->words + q / 64] &= ~(UINT64_C(1) << q % 64);
    v->dirty[o / 64] |= UINT64_C(1) << o % 64;
    if (out->ring == NONE32) {
        deliver(w, &packet, now + ticks);
    } else {
        struct slot *to = tail_of(w, o, vc);
        uint16_t *tail = &v->tail[o * e->vcs + vc];
        net_ticks arrival = now + e->latency[out->hop].hop;
        if (o != v->node->injection) {
            packet.route = net_packet_step(e, v, packet.route).route;
            e->counts.hops++;
        }
        *to = (struct slot){OCCUPIED | arrival, packet.route, packet.tag};
        *tail = (uint16_t)after(e, *tail);
        wake(e, out->node, arrival);
    }
    queue->ready = now + ticks;
    if (is_ring) {
        leave_ring(w, q, now, ticks, out->rate);
        queue->ready = now + ticks;
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

/* The earliest grant. */
ALWAYS_INLINE net_ticks plan_dirty(struct visit *w, plan_fn plan)
{
    uint32_t outputs = w->v.node->outputs, i;
    for (uint32_t word = 0; word < (outputs + 63) / 64; word++) {
        FOR_EACH_BIT(w->v.dirty[word], i) plan(w, 64 * word + i);
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
    wake(e, node, first);
}

#endif
