/*
 * Trains: the packets of one-hop messages, when nobody else is there, as one event.
 *
 * A train is packets *not yet looked at*. They wait at an injection head and go one hop, to a chip
 * where every link ejects by itself. They are of one message, or of a few that take turns, a packet
 * each, and so come again with a *period*. While nobody else wants their link, each leaves when the
 * one before it has left, arrives one hop later and is ejected at that moment; its slot is free
 * again one credit latency later. So nothing of this is done before somebody has to know: at
 * *settling*, at a time t, the packets before t are written down all at once, as they would stand
 * one by one, and the next one is at the head again.
 *
 *     start        start + period     t                end
 *     |--a0--|-b0-|--a1--|-b1-| ... |--ak--|-bk-| ... |--am--|
 *      left, arrived, ejected        ak is the head: goes on one by one
 *
 * The conditions for a start make the future certain but for one thing: who else wants the link.
 *   - Nobody does. Somebody who comes along is seen in the window in which its head is ready, and
 *     the train is settled at that window's start: all before it has happened, nothing after it has
 *     been told anyone. The client tells of its own streams (net_packet_interrupt()).
 *   - Every packet finds room in every channel it may take, so they take the channels in turn.
 *   - The receiver ejects them as they arrive: nothing else is in those rings. Packets still on
 *     their way to the same chip are ejected at the start, on the receiver's behalf and at their
 *     own times, which nobody can change any more either.
 *
 * A train costs as much as two to four packets. Trains end before a message's last packet, which
 * goes the ordinary way, and so do all that tell somebody something.
 */
#include <string.h>

#include "netsim/packet_visit.h"

/* Where a train runs. */
struct track {
    struct view v, receiver;
    struct output *out;
    struct queue *queue;
    struct train *train;
    uint32_t node, port, q, output;
    bool is_here;                       /* the receiver: on this rank */
    uint32_t first, count, next;        /* channels it takes in turn, `next` first */
    struct span span[NET_PACKET_TURNS]; /* of the packets of a period, */
    net_ticks at[NET_PACKET_TURNS];     /* and when each leaves in it */
    net_ticks period;
};

static void find_period(const net_packet_engine *e, struct track *k)
{
    k->period = 0;
    for (uint32_t i = 0; i < k->train->turns; i++) {
        k->span[i] = e->span[k->train->turn_size[i] * e->rates + k->out->rate];
        k->at[i] = k->period;
        k->period += k->span[i].whole;
    }
}

/* The slots used last, of all its channels at once: few of them are in a near cache. */
ALWAYS_INLINE void prefetch_back(const net_packet_engine *e, const struct track *k)
{
    enum { LINES = 3, SLOTS = LINE / sizeof(struct slot) };
    const uint32_t *gate = k->v.gate + 2 * (k->output * e->vcs + k->first);
    for (uint32_t i = 0; i < k->count; i++)
        for (uint32_t line = 0; line < LINES; line++)
            __builtin_prefetch(e->slot + ring_back(e, gate[2 * i], 1 + line * SLOTS), 1);
}

/* All but the period. It is large: written where it is wanted. */
static void find_track(const net_packet_engine *e, uint32_t node, uint32_t port, struct track *k)
{
    k->v = net_packet_view(e, node);
    k->node = node;
    k->port = port;
    k->q = k->v.node->rings + port;
    k->queue = &k->v.queue[k->q];
    uint32_t channel = k->queue->gate / 2;
    k->output = channel / e->vcs;
    k->out = &k->v.output[k->output];
    k->train = &k->v.train[port];
    k->is_here = k->out->node < e->nodes;
    if (k->is_here) k->receiver = net_packet_view(e, k->out->node);
    uint32_t after = k->out->vc + 1u;
    k->first = channel % e->vcs;
    k->count = k->queue->channels;
    k->next = after >= k->first && after < k->first + k->count ? after : k->first;
    prefetch_back(e, k);
}

/* The i-th in turn. */
static uint32_t channel_of(const struct track *k, uint64_t i)
{
    return k->first + (uint32_t)((k->next - k->first + i) % k->count);
}

/* The two gates of a channel. */
static uint32_t *gates_of(const net_packet_engine *e, const struct track *k, uint32_t vc)
{
    return k->v.gate + 2 * (k->output * e->vcs + vc);
}

static uint32_t receiver_queue(const net_packet_engine *e, const struct track *k, uint32_t vc)
{
    return (uint16_t)(k->output * e->vcs + vc + k->out->behind);
}

/* Whose turn it is; divisions are dear, and mostly there is one message. */
ALWAYS_INLINE uint64_t turn_of(const struct track *k, uint64_t packet)
{
    return k->train->turns == 1 ? 0 : packet % k->train->turns;
}

ALWAYS_INLINE net_ticks grant_of(const struct track *k, uint64_t packet)
{
    uint64_t rounds = k->train->turns == 1 ? packet : packet / k->train->turns;
    return k->train->start + rounds * k->period + k->at[turn_of(k, packet)];
}

/* From a packet's grant until the news that it is gone is back, without its own time in the slot.
 */
static net_ticks round_trip(const net_packet_engine *e, const struct track *k)
{
    uint32_t ring = k->receiver.node->first_ring + receiver_queue(e, k, k->first);
    return k->out->hop + (e->is_uniform ? e->credit : e->ring_credit[ring]);
}

/* ---- a start ---- */

static bool is_alone(const net_packet_engine *e, const struct track *k)
{
    const uint64_t *requests = requests_of(&k->v, e->words, k->output);
    for (uint32_t word = 0; word < e->words; word++) {
        uint64_t own = word == k->q / 64 ? UINT64_C(1) << k->q % 64 : 0;
        if ((requests[word] & ~own) != 0) return false;
    }
    return true;
}

/* By the receiver, at once. */
static bool is_ejected(const net_packet_engine *e, const struct track *k, uint32_t route)
{
    const struct node *n = k->receiver.node;
    return n->ejection == NONE16 && net_packet_step(e, n, route).output == n->links;
}

static bool is_one_hop(const net_packet_engine *e, const struct track *k)
{
    return k->is_here && is_ejected(e, k, route_of(k->queue->packet));
}

/* Is there room again for the packets that go round a ring once, whichever is the first? */
static bool is_deep_enough(const net_packet_engine *e, const struct track *k, uint32_t bubble)
{
    uint64_t round = (uint64_t)(e->depth - bubble) * k->count;
    if (round < k->count) return false;
    for (uint32_t i = 0; i < k->train->turns; i++) {
        net_ticks look = grant_of(k, i + round - (k->count - 1));
        if (grant_of(k, i) + k->span[i].room + round_trip(e, k) > look) return false;
    }
    return true;
}

/* Eject what is on its way through the ring, as its reader will. False: something in it goes on. */
static bool eject_ring(net_packet_engine *e, const struct track *k, uint32_t vc)
{
    struct visit reader = {
        .e = e, .node = k->out->node, .words = e->words, .is_uniform = e->is_uniform};
    begin_visit(&reader, k->receiver);
    uint32_t q = receiver_queue(e, k, vc);
    struct queue *queue = &k->receiver.queue[q];
    for (const struct slot *s; (s = e->slot + queue->head)->time >= OCCUPIED;) {
        if (!is_ejected(e, k, route_of(s->packet))) return false;
        eject(&reader, q, later_of(s->time - OCCUPIED, queue->ready), k->out->rate);
    }
    return true;
}

/* Will the packets that use the ring for the first time, the `turn`-th and each count-th after it,
 * find it free, also to look at while the other channels' turn is? From a slot to the one before,
 * which is free no later. */
static bool has_room(const net_packet_engine *e, const struct track *k, uint32_t turn,
                     uint32_t bubble)
{
    uint32_t slot = gates_of(e, k, channel_of(k, turn))[0];
    for (uint32_t ahead = e->depth; ahead-- > bubble;) {
        slot = ring_back(e, slot, 1);
        net_ticks free = e->slot[slot].time;
        if (free <= k->train->start) return true;
        uint64_t before = (uint64_t)(ahead - bubble) * k->count + turn;
        uint64_t looks = before < k->count ? 0 : before - (k->count - 1);
        if (free > grant_of(k, looks)) return false;
    }
    return true;
}

static bool can_start(net_packet_engine *e, const struct track *k)
{
    uint32_t bubble = k->queue->gate % 2 != 0 ? e->bubble : 0;
    if (!is_one_hop(e, k) || !is_deep_enough(e, k, bubble)) return false;
    for (uint32_t turn = 0; turn < k->count; turn++) {
        uint32_t vc = channel_of(k, turn);
        net_ticks arrival = grant_of(k, turn) + k->out->hop;
        if (!eject_ring(e, k, vc) || !has_room(e, k, turn, bubble) ||
            k->receiver.queue[receiver_queue(e, k, vc)].ready > arrival)
            return false;
    }
    return true;
}

/* The node behind the output that a port's head wants. */
static void make_receiver(net_packet_engine *e, uint32_t node, uint32_t port)
{
    struct view v = net_packet_view(e, node);
    uint32_t channel = v.queue[v.node->rings + port].gate / 2;
    uint32_t receiver = v.output[channel / e->vcs].node;
    if (receiver < e->nodes) net_packet_make(e, receiver);
}

void net_packet_train_start(net_packet_engine *e, uint32_t node, uint32_t port,
                            const struct net_packet *head)
{
    if (!e->are_trains) return;
    make_receiver(e, node, port);
    struct track k;
    find_track(e, node, port, &k);
    struct train *t = k.train;
    if (k.queue->ready < t->retry || !is_alone(e, &k)) return;
    t->start = later_of(k.queue->ready, k.out->free);
    t->turns = head->turns;
    memcpy(t->turn_size, head->turn_size, sizeof t->turn_size);
    find_period(e, &k);
    if (!can_start(e, &k)) {
        t->retry = t->start + e->lookahead;
        return;
    }
    t->more = head->more;
    t->end = grant_of(&k, t->more);
    clear_bit(requests_of(&k.v, e->words, k.output), k.q);
    set_bit(k.v.dirty, k.output);
    if (t->end < k.v.node->train_end) k.v.node->train_end = t->end;
    e->trains++;
    e->counts.trains++;
    e->counts.shared_trains += t->turns > 1;
}

/* ---- settling ---- */

/* The slots before `gate`, once `used` packets are through, the last of them `last`: only those not
 * free at `now` are worth writing. Written for speed: it is much of what a train costs. */
static void settle_slots(net_packet_engine *e, const struct track *k, uint32_t gate, uint64_t used,
                         uint64_t last, net_ticks now)
{
    uint32_t turns = k->train->turns, rounds_back = k->count / turns, back = k->count % turns;
    uint32_t turn = (uint32_t)turn_of(k, last), depth = e->depth, at = gate & (e->stride - 1);
    net_ticks trip = round_trip(e, k), start = grant_of(k, last) - k->at[turn] + trip;
    net_ticks step = rounds_back * k->period;
    struct slot *ring = e->slot + (gate - at);
    for (uint64_t left = used < depth ? used : depth; left > 0; left--) {
        net_ticks free = start + k->at[turn] + k->span[turn].room;
        if (free <= now) break;
        at = (at == 0 ? depth : at) - 1;
        ring[at].time = free;
        start -= step + (turn < back ? k->period : 0);
        turn = turn < back ? turn + turns - back : turn - back;
    }
}

/* The ring of the channel whose turn comes `turn`-th, once `packets` are gone. */
static void settle_channel(net_packet_engine *e, const struct track *k, uint64_t packets,
                           uint32_t turn)
{
    if (packets <= turn) return;
    uint32_t vc = channel_of(k, turn), *gate = gates_of(e, k, vc);
    uint64_t used = (packets - 1 - turn) / k->count + 1, last = turn + (used - 1) * k->count;
    struct queue *reader = &k->receiver.queue[receiver_queue(e, k, vc)];
    gate[0] = ring_on(e, gate[0], (uint32_t)(used % e->depth));
    gate[1] = ring_on(e, gate[0], e->bubble);
    settle_slots(e, k, gate[0], used, last, grant_of(k, packets));
    reader->head = gate[0];
    reader->ready = grant_of(k, last) + k->out->hop + k->span[turn_of(k, last)].whole;
}

/* `packets` are gone. */
static void write_down(net_packet_engine *e, const struct track *k, uint64_t packets)
{
    net_ticks gone = grant_of(k, packets);
    for (uint32_t turn = 0; turn < k->count; turn++)
        settle_channel(e, k, packets, turn);
    if (k->count > 1) k->out->vc = (uint8_t)channel_of(k, packets - 1);
    k->out->free = gone;
    k->out->busy += gone - k->train->start;
    k->out->last = (uint16_t)k->q;
    k->queue->ready = gone;
    e->counts.injected += packets;
    e->counts.hops += packets;
    e->counts.delivered += packets;
    uint32_t message = e->client.passed(e->client.context, k->node, k->port, packets);
    uint32_t size = k->train->turn_size[turn_of(k, packets)];
    k->queue->packet = packet_of(route_of(k->queue->packet), make_tag(message, size));
}

/* The trains of a node that end next. */
static void find_end(const struct view *v)
{
    v->node->train_end = NET_TICKS_NEVER;
    for (uint32_t port = 0; port < v->node->ports; port++)
        if (v->train[port].more > 0 && v->train[port].end < v->node->train_end)
            v->node->train_end = v->train[port].end;
}

/* Of its packets but the last, those that leave before `now`. */
static uint64_t left_before(const struct track *k, net_ticks now)
{
    const struct train *t = k->train;
    if (now <= t->start) return 0;
    if (now > t->end) return t->more;
    net_ticks since = now - 1 - t->start;
    uint64_t packets = since / k->period * t->turns;
    for (uint32_t i = 0; i < t->turns; i++)
        packets += k->at[i] <= since % k->period;
    return packets;
}

/* What leaves before `now` has left; the train is no more. */
static void settle(net_packet_engine *e, uint32_t node, uint32_t port, net_ticks now)
{
    struct track k;
    find_track(e, node, port, &k);
    struct train *t = k.train;
    find_period(e, &k);
    uint64_t packets = left_before(&k, now);
    if (packets > 0) write_down(e, &k, packets);
    e->counts.cuts += packets < t->more;
    e->counts.shared_cuts += packets < t->more && t->turns > 1;
    t->more = 0;
    e->trains--;
    set_bit(requests_of(&k.v, e->words, k.output), k.q);
    set_bit(k.v.dirty, k.output);
    find_end(&k.v);
}

void net_packet_train_finish(net_packet_engine *e, uint32_t node)
{
    struct view v = net_packet_view(e, node);
    net_ticks end = v.node->train_end;
    for (uint32_t port = 0; port < v.node->ports; port++)
        if (v.train[port].more > 0 && v.train[port].end == end) settle(e, node, port, end);
}

/* An output's train is that of the port of the same number. */
void net_packet_trains_yield(net_packet_engine *e, uint32_t node)
{
    struct view v = net_packet_view(e, node);
    for (uint32_t port = 0; port < v.node->ports; port++) {
        if (v.train[port].more == 0 || !is_wanted(&v, e->words, port)) continue;
        settle(e, node, port, e->begin);
        v.train[port].retry = e->begin + 4 * e->lookahead;
    }
}

void net_packet_interrupt(net_packet_engine *e, uint32_t node, uint32_t port, net_ticks now)
{
    struct view v = net_packet_view(e, node);
    if (e->can_train && v.train[port].more > 0) settle(e, node, port, now);
}

void net_packet_trains_settle(net_packet_engine *e, net_ticks now)
{
    for (uint32_t i = 0; i < e->owns && e->trains > 0; i++) {
        uint32_t node = e->own[i];
        struct view v = net_packet_view(e, node);
        for (uint32_t port = 0; v.node->train_end != NET_TICKS_NEVER && port < v.node->ports;
             port++) {
            if (v.train[port].more == 0) continue;
            settle(e, node, port, now);
            wake(e, node, v.queue[v.node->rings + port].ready);
        }
    }
}
