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

/* What is the same during one visit. Never given to a function that is not inlined: the compiler
 * would have to suppose that anything it calls changes it, and take nothing here for known. */
struct visit {
    net_packet_engine *e;
    struct view v;
    const struct kind *kind;
    uint32_t node, words;
    bool is_uniform;   /* as of the engine */
    bool is_by_flit;   /* as of the engine */
    bool is_watched;   /* as of the router */
    struct slot *slot; /* of the engine, as `mask`: the compiler may not suppose that these stay */
    uint32_t mask;     /* of a slot in its ring, where rings are a power of two */
    net_ticks end;
    net_ticks later; /* heads that arrive after the window */
    uint64_t hops;
};

/* For statistics: the head of queue q leaves at `when`; output o is granted at its nx. */
void net_packet_note_wait(const net_packet_engine *e, uint32_t node, uint32_t q, net_ticks when);
void net_packet_note_stall(const net_packet_engine *e, uint32_t node, uint32_t o);

ALWAYS_INLINE net_ticks later_of(net_ticks a, net_ticks b)
{
    return a > b ? a : b;
}

/* The slot so many (up to a ring's depth) after another of its ring, or before it. */
ALWAYS_INLINE uint32_t ring_on(const net_packet_engine *e, uint32_t slot, uint32_t count)
{
    uint32_t at = (slot & (e->stride - 1)) + count;
    return slot + count - (at >= e->depth ? e->depth : 0);
}

ALWAYS_INLINE uint32_t ring_back(const net_packet_engine *e, uint32_t slot, uint32_t count)
{
    return slot - count + ((slot & (e->stride - 1)) < count ? e->depth : 0);
}

/* The same, of a power of two by a mask. */
ALWAYS_INLINE uint32_t slots_on(const struct visit *w, uint32_t slot, uint32_t count)
{
    if (w->is_uniform) return slot ^ (((slot + count) ^ slot) & w->mask);
    return ring_on(w->e, slot, count);
}

/* A node walks far along its rings in a window: ask for the next line, or the one after it. */
ALWAYS_INLINE void prefetch_along(const struct visit *w, uint32_t slot)
{
    __builtin_prefetch(w->slot + slot + SLOTS_AHEAD, 1);
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

/* Queues that want an output, and those of them that can go at its nx. */
ALWAYS_INLINE uint64_t *requests_of(const struct view *v, uint32_t words, uint32_t o)
{
    return words == 1 ? &v->output[o].requests : v->requests + (size_t)o * words;
}

ALWAYS_INLINE uint64_t *candidates_of(const struct view *v, uint32_t words, uint32_t o)
{
    return words == 1 ? &v->output[o].candidates : v->candidates + (size_t)o * words;
}

ALWAYS_INLINE bool is_wanted(const struct view *v, uint32_t words, uint32_t o)
{
    const uint64_t *requests = requests_of(v, words, o);
    uint64_t any = 0;
    for (uint32_t word = 0; word < words; word++)
        any |= requests[word];
    return any != 0;
}

ALWAYS_INLINE uint64_t *arriving_at(const net_packet_engine *e, uint32_t words, uint32_t node)
{
    return e->arriving + (size_t)node * words;
}

ALWAYS_INLINE uint64_t *awaited_at(const net_packet_engine *e, uint32_t words, uint32_t node)
{
    return e->awaited + (size_t)node * words;
}

/* From when on there is room behind a gate; OCCUPIED or later: not known yet. */
ALWAYS_INLINE net_ticks room_at(const struct visit *w, uint32_t gate)
{
    return w->slot[w->v.gate[gate]].time;
}

/* Queue q's head, of this tag, wants to take a step. */
ALWAYS_INLINE void request(const net_packet_engine *e, struct view *v, uint32_t words, uint32_t q,
                           struct step step, uint32_t tag)
{
    struct queue *queue = &v->queue[q];
    struct class_range range = e->range[step.class];
    bool enters = (queue->axis != step.output / 2) & (step.output < v->node->links);
    queue->packet = packet_of(step.route, tag);
    queue->gate = 2 * (step.output * e->vcs + range.first) + enters;
    queue->channels = (uint8_t)range.count;
    queue->is_bound = false;
    set_bit(requests_of(v, words, step.output), q);
}

/* The output that the packet wants. */
ALWAYS_INLINE uint32_t put_head(const net_packet_engine *e, struct view *v, uint32_t words,
                                uint32_t port, const struct net_packet *packet, net_ticks ready)
{
    const struct node *n = v->node;
    uint32_t q = n->rings + port, route = packet->route | (packet->is_last ? ROUTE_LAST : 0);
    struct queue *queue = &v->queue[q];
    assert(queue->head == 0);
    queue->head = e->flits[packet->size];
    if (e->is_by_flit && queue->head == 1) route |= ROUTE_TAIL;
    queue->ready = later_of(queue->ready, ready);
    struct step step = {n->injection, NET_ROUTER_VCS_MAX, route};
    if (n->injection == NONE16) step = net_packet_step(e, n, route);
    assert(step.output < n->outputs); /* else the client keeps such messages to itself */
    request(e, v, words, q, step, make_tag(packet->message, packet->size));
    return step.output;
}

/* What a packet, or one of its flits, takes on a link of the rate. */
ALWAYS_INLINE struct span span_of(const struct visit *w, uint64_t packet, uint32_t rate)
{
    if (w->is_by_flit) return (struct span){w->e->flit[w->is_uniform ? 0 : rate], 0};
    uint32_t size = tag_of(packet) >> TAG_SIZE_BIT;
    return w->is_uniform ? w->e->span[size] : w->e->span[size * w->e->rates + rate];
}

/* A packet goes on from the head of queue q at `when`: its slot is free for another once enough of
 * it has left and the news is upstream. */
ALWAYS_INLINE void leave_ring(struct visit *w, uint32_t q, net_ticks when, net_ticks room)
{
    net_packet_engine *e = w->e;
    uint32_t ring = w->v.node->first_ring + q, at = w->v.queue[q].head;
    uint64_t *awaited = awaited_at(e, w->words, w->node) + q / 64, own = UINT64_C(1) << q % 64;
    if (w->is_watched) net_packet_note_wait(e, w->node, q, when);
    net_ticks free = when + room + (w->is_uniform ? e->credit : e->ring_credit[ring]);
    w->slot[at].time = free;
    prefetch_along(w, at);
    w->v.queue[q].head = slots_on(w, at, 1);
    if ((*awaited & own) == 0) return;
    *awaited &= ~own;
    wake(e, e->upstream[ring], free);
}

ALWAYS_INLINE bool is_last_flit(const struct visit *w, uint64_t packet)
{
    return !w->is_by_flit || (route_of(packet) & ROUTE_TAIL) != 0;
}

ALWAYS_INLINE void deliver(struct visit *w, uint64_t packet, net_ticks when)
{
    if (!is_last_flit(w, packet)) return;
    net_packet_engine *e = w->e;
    e->counts.delivered++;
    e->client.deliver(e->client.context, w->node, tag_of(packet) & (NET_PACKET_MESSAGES - 1),
                      (route_of(packet) & ROUTE_LAST) != 0, when + e->ejection);
}

/* The head of queue q, which is there, leaves the network at `when`; its link's rate is `rate`. */
ALWAYS_INLINE void eject(struct visit *w, uint32_t q, net_ticks when, uint32_t rate)
{
    uint64_t packet = w->slot[w->v.queue[q].head].packet;
    struct span span = span_of(w, packet, rate);
    leave_ring(w, q, when, span.room);
    w->v.queue[q].ready = when + span.whole;
    deliver(w, packet, when + span.whole);
}

/* Output `o` is planned; or queue q wants it, too; or its turn has come. */
typedef void (*plan_fn)(struct visit *w, uint32_t o);
typedef void (*join_fn)(struct visit *w, uint32_t o, uint32_t q);
typedef void (*grant_fn)(struct visit *w, uint32_t o);

/* So late that a packet that has arrived at `arrived` does not run dry on a faster link. */
ALWAYS_INLINE net_ticks start_of(const struct visit *w, net_ticks arrived, uint64_t packet,
                                 uint32_t in, uint32_t output)
{
    if (w->is_uniform) return arrived;
    net_ticks slow = span_of(w, packet, in).whole;
    net_ticks fast = span_of(w, packet, w->v.output[output].rate).whole;
    return slow > fast ? arrived + slow - fast : arrived;
}

/* The next flit of queue q's packet goes where the one before it went. */
ALWAYS_INLINE void follow(struct visit *w, uint32_t q, uint32_t output, uint64_t packet)
{
    w->v.queue[q].packet = packet;
    set_bit(requests_of(&w->v, w->words, output), q);
}

/* Does the queue have a head in this window? Where every link ejects by itself, those that are
 * there go at once. */
ALWAYS_INLINE bool look(struct visit *w, uint32_t q, join_fn join)
{
    net_packet_engine *e = w->e;
    const struct node *n = w->v.node;
    struct queue *queue = &w->v.queue[q];
    uint32_t in = w->is_uniform ? 0 : e->ring_rate[n->first_ring + q];
    for (;;) {
        const struct slot *s = w->slot + queue->head;
        if (s->time < OCCUPIED) {
            clear_bit(arriving_at(e, w->words, w->node), q);
            return false;
        }
        net_ticks arrived = s->time - OCCUPIED, ready = later_of(arrived, queue->ready);
        if (ready >= w->end) {
            if (ready < w->later) w->later = ready;
            return false;
        }
        uint64_t packet = s->packet;
        struct step step = net_packet_step(e, n, route_of(packet));
        if (n->ejection == NONE16 && step.output == n->links) {
            eject(w, q, ready, in);
            continue;
        }
        queue->ready = later_of(start_of(w, arrived, packet, in, step.output), queue->ready);
        if (w->is_by_flit && queue->is_open)
            follow(w, q, step.output, packet_of(step.route, tag_of(packet)));
        else
            request(e, &w->v, w->words, q, step, tag_of(packet));
        join(w, step.output, q);
        return true;
    }
}

/* The client's next packet after the one at an injection head. */
ALWAYS_INLINE void refill(struct visit *w, uint32_t q, join_fn join)
{
    net_packet_engine *e = w->e;
    struct net_packet packet;
    net_ticks ready;
    uint32_t port = q - w->v.node->rings;
    w->v.queue[q].head = 0;
    e->counts.injected++;
    if (!e->client.next(e->client.context, w->node, port, w->v.queue[q].ready, &packet, &ready))
        return;
    join(w, put_head(e, &w->v, w->words, port, &packet, ready), q);
    if (packet.more >= TRAIN_LEAST) net_packet_train_start(e, w->node, port, &packet);
}

/* From an injection head: the next flit of its packet, or the next packet. */
ALWAYS_INLINE void take_next(struct visit *w, uint32_t o, uint32_t q, join_fn join)
{
    struct queue *queue = &w->v.queue[q];
    if (!w->is_by_flit || queue->head == 1) {
        refill(w, q, join);
        return;
    }
    uint64_t tail = --queue->head == 1 ? ROUTE_TAIL : 0;
    follow(w, q, o, queue->packet | tail);
    join(w, o, q);
}

/* Into the ring behind an output's channel. */
ALWAYS_INLINE void push(struct visit *w, struct output *out, uint32_t channel, uint64_t packet)
{
    net_packet_engine *e = w->e;
    uint32_t *gate = w->v.gate + 2 * channel, at = gate[0];
    net_ticks arrives = out->nx + out->hop;
    gate[0] = slots_on(w, at, 1);
    gate[1] = slots_on(w, gate[1], 1);
    w->slot[at] = (struct slot){OCCUPIED | arrives, packet};
    prefetch_along(w, at);
    set_bit(arriving_at(e, w->words, out->node), (uint16_t)(channel + out->behind));
    wake(e, out->node, arrives);
}

/* Queue q's head takes the output at its nx, through a channel behind it. */
ALWAYS_INLINE void move(struct visit *w, uint32_t o, uint32_t q, uint32_t channel, plan_fn plan,
                        join_fn join)
{
    struct view *v = &w->v;
    struct output *out = &v->output[o];
    struct queue *queue = &v->queue[q];
    net_ticks now = out->nx;
    uint64_t packet = queue->packet;
    struct span span = span_of(w, packet, out->rate);
    if (w->is_watched && o < v->node->links) net_packet_note_stall(w->e, w->node, o);
    if (out->is_ejection) {
        deliver(w, packet, now + span.whole);
    } else {
        push(w, out, channel, packet);
        w->hops += (o < v->node->links) & is_last_flit(w, packet);
    }
    out->free = now + span.whole;
    out->busy += span.whole;
    out->last = (uint16_t)q;
    out->nx = NET_TICKS_NEVER;
    clear_bit(requests_of(v, w->words, o), q);
    if (is_wanted(v, w->words, o)) plan(w, o);
    queue->ready = now + span.whole;
    if (w->is_by_flit) queue->is_open = !is_last_flit(w, packet);
    if (q >= v->node->rings) {
        take_next(w, o, q, join);
    } else {
        leave_ring(w, q, now, span.room);
        if (!look(w, q, join)) set_bit(v->idle, q);
    }
}

/* The first of `bits` that is in `after`, too, or else the first. */
ALWAYS_INLINE uint32_t first_after(uint64_t bits, uint64_t after)
{
    uint64_t above = bits & after;
    return (uint32_t)__builtin_ctzll(above != 0 ? above : bits);
}

/* The first of `bits` after `last`, going round; NONE32: there are none. */
ALWAYS_INLINE uint32_t next_round(const uint64_t *bits, uint32_t words, uint32_t last)
{
    if (words == 1) return bits[0] == 0 ? NONE32 : first_after(bits[0], ~UINT64_C(1) << last);
    uint32_t first = last / 64;
    uint64_t above = last % 64 == 63 ? 0 : bits[first] & (~UINT64_C(0) << (last % 64 + 1));
    if (above != 0) return 64 * first + (uint32_t)__builtin_ctzll(above);
    for (uint32_t i = 1; i <= words; i++) {
        uint32_t word = first + i >= words ? first + i - words : first + i;
        if (bits[word] != 0) return 64 * word + (uint32_t)__builtin_ctzll(bits[word]);
    }
    return NONE32;
}

/* Queues without a known head that may have one look for it, and outputs for credits. */
ALWAYS_INLINE void start_visit(struct visit *w, join_fn join)
{
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(w->v.idle[word] & arriving_at(w->e, w->words, w->node)[word], i)
    if (look(w, 64 * word + i, join)) clear_bit(w->v.idle, 64 * word + i);
}

/* Outputs that wait for room nobody has told of yet are looked at anew when the node is next woken,
 * and who pops a packet behind them wakes it. */
ALWAYS_INLINE void await_room(struct visit *w)
{
    net_packet_engine *e = w->e;
    uint32_t outputs = w->v.node->outputs, vcs = e->vcs;
    for (uint32_t o = 0; o < outputs; o++) {
        const struct output *out = &w->v.output[o];
        if (!out->is_blocked) continue;
        set_bit(w->v.dirty, o);
        for (uint32_t channel = o * vcs; channel < (o + 1) * vcs; channel++)
            set_bit(awaited_at(e, w->words, out->node), (uint16_t)(channel + out->behind));
    }
}

/* It is time for the node's client. */
ALWAYS_INLINE void take_due(net_packet_engine *e, uint32_t node)
{
    net_ticks due = e->due[node];
    e->due[node] = NET_TICKS_NEVER;
    e->client.step(e->client.context, node, due);
}

/* Is a packet on its way to the node, or in its buffers and not seen yet? */
ALWAYS_INLINE bool is_expecting(const net_packet_engine *e, uint32_t node)
{
    uint64_t arriving = 0;
    for (uint32_t word = 0; word < e->words; word++)
        arriving |= arriving_at(e, e->words, node)[word];
    return arriving != 0;
}

ALWAYS_INLINE net_ticks earlier_of(net_ticks a, net_ticks b)
{
    return a < b ? a : b;
}

/* The earliest grant. */
ALWAYS_INLINE net_ticks plan_dirty(struct visit *w, plan_fn plan)
{
    uint32_t outputs = w->v.node->outputs, i;
    if (w->v.node->train_end != NET_TICKS_NEVER) net_packet_trains_yield(w->e, w->node);
    for (uint32_t word = 0; word < w->words; word++) {
        FOR_EACH_BIT(w->v.dirty[word], i) plan(w, 64 * word + i);
        w->v.dirty[word] = 0;
    }
    net_ticks first = NET_TICKS_NEVER;
    for (const struct output *o = w->v.output; o < w->v.output + outputs; o += 4) {
        net_ticks one = earlier_of(o[0].nx, o[1].nx), other = earlier_of(o[2].nx, o[3].nx);
        first = earlier_of(first, earlier_of(one, other));
    }
    return first;
}

/* Of a word first the mask, without branches: which outputs take part is as good as random. */
ALWAYS_INLINE void grant_before(struct visit *w, net_ticks limit, grant_fn grant)
{
    uint32_t outputs = w->v.node->outputs, i;
    for (uint32_t first = 0; first < outputs; first += 64) {
        uint32_t end = outputs - first < 64 ? OUTPUTS(outputs) : first + 64;
        uint64_t due = 0;
        for (const struct output *o = w->v.output + end; o > w->v.output + first;) {
            o -= 4;
            due = 2 * due + (o[3].nx < limit);
            due = 2 * due + (o[2].nx < limit);
            due = 2 * due + (o[1].nx < limit);
            due = 2 * due + (o[0].nx < limit);
        }
        FOR_EACH_BIT(due, i) grant(w, first + i);
    }
}

/* What a visit knows of its engine and node, whose view this is. */
ALWAYS_INLINE void begin_visit(struct visit *w, struct view v)
{
    w->v = v;
    w->kind = net_packet_kind(w->e, w->node);
    w->is_watched = w->e->router.is_watched;
    w->slot = w->e->slot;
    w->mask = w->e->stride - 1;
    w->later = NET_TICKS_NEVER;
}

/* `w` says which node and until when. */
ALWAYS_INLINE void visit_node(struct visit w, plan_fn plan, join_fn join, grant_fn grant)
{
    net_packet_engine *e = w.e;
    begin_visit(&w, net_packet_view(e, w.node));
    struct node *n = w.v.node;
    const net_ticks *due = &e->due[w.node];
    e->wake[w.node] = NET_TICKS_NEVER;
    e->counts.visits++;
    start_visit(&w, join);
    net_ticks first;
    for (;;) {
        first = plan_dirty(&w, plan);
        if (n->train_end < w.end && n->train_end <= first && n->train_end <= *due) {
            net_packet_train_finish(e, w.node);
            continue;
        }
        if (*due <= first) {
            if (*due >= w.end) break;
            take_due(e, w.node);
            continue;
        }
        if (first >= w.end) break;
        net_ticks limit = first + e->round;
        if (limit > w.end) limit = w.end;
        if (limit > *due) limit = *due;
        grant_before(&w, limit, grant);
    }
    await_room(&w);
    if (w.later < first) first = w.later;
    if (*due < first) first = *due;
    if (n->train_end < first) first = n->train_end;
    wake(e, w.node, first);
    e->counts.hops += w.hops;
}

#endif
