/*
 * Adaptive routing over minimal ways, with escape channels.
 *
 * A head may take any link that leads nearer to where it goes, through the *adaptive* channels
 * there, and the link that dimension order says through the *escape* channel of its class. It wants
 * all of these outputs at once and goes through the first that can take it; into an escape channel
 * only where no adaptive one has room. From there it may come back.
 *
 *         +y  adaptive          wanted by a head that goes to +x +y:
 *          ^                    adaptive channels of +x and +y, the escape channel of +x
 *     head o--> +x  adaptive, escape
 *
 * Why nothing waits for ever: number the escape channels by axis, class (before the dateline or
 * behind it) and place along the axis. A packet's class rises where it passes the dateline on
 * whatever channel, no axis is taken up again once its hops are done, and a hop never leads back;
 * so the escape channels that one packet asks for, one after the other, have rising numbers. Of the
 * escape buffers that are not empty the one of the highest number therefore moves on: its head
 * leaves the network, or asks for an empty one. Were nothing to move, all escape buffers would be
 * empty, and then every head could go. (Packets fit whole into a buffer, so none holds two of them
 * for long.)
 *
 * Who goes where, of heads and outputs that could at one instant: a head prefers the output with
 * the most free slots in its adaptive channels; then the axis with the most hops left; then the
 * lower axis, and half way round a ring the side its route says. Outputs go by number, each takes
 * the next in turn of the heads that prefer it then. Only what has happened up to that instant
 * counts, and that is the same in whatever windows and on whatever ranks.
 *
 * Rounds are an instant each, since outputs share heads: here their order counts.
 *
 * Sources: J. Duato, "A new theory of deadlock-free adaptive routing in wormhole networks", IEEE
 * TPDS 4(12), 1993; Dally & Towles, Principles and Practices of Interconnection Networks, 2004,
 * section 14.3; N. Adiga et al., "Blue Gene/L torus interconnection network", IBM J. Res. Dev.
 * 49(2/3), 2005, has dynamic channels beside an escape channel, too.
 */
#include "netsim/packet_pick.h"
#include "topo/routing.h"

enum { AXES = 3, HOPS_MAX = 127 };

static uint32_t hops_of(uint32_t route, uint32_t axis)
{
    return route >> (8 * axis) & HOPS_MAX;
}

/* Around or along an axis, on the shorter way. */
static uint32_t reach_of(const topo *t, uint32_t axis)
{
    uint32_t size = topo_axis_size(t, axis);
    return topo_axis_is_wrapped(t, axis) ? size / 2 : size - 1;
}

static enum sim_status check(const net_packet_engine *e, struct sim_error *err)
{
    const topo *t = e->topology;
    if (e->is_early)
        return sim_error_set(err, SIM_EDATA,
                             "routing adaptive picks a virtual channel with the link, found "
                             "--vc-binding early, want late");
    if (!e->is_packed)
        return sim_error_set(err, SIM_EDATA, "routing adaptive is for 1 to 3 axes, %s has %u",
                             topo_spec(t), topo_axes(t));
    for (uint32_t a = 0; a < topo_axes(t); a++)
        if (reach_of(t, a) > HOPS_MAX)
            return sim_error_set(err, SIM_EDATA,
                                 "routing adaptive is for at most %d hops along an axis, %s has "
                                 "up to %u",
                                 HOPS_MAX, topo_spec(t), reach_of(t, a));
    if (e->rates > 1)
        return sim_error_set(err, SIM_EDATA, "routing adaptive is for links of one rate");
    if (e->vcs < 2)
        return sim_error_set(err, SIM_EDATA,
                             "routing adaptive needs 2 virtual channels at the least");
    return SIM_OK;
}

/* A channel for each class of escape, the others for every way. Fewer than it takes, where that is
 * not checked: classes share. */
enum sim_status net_packet_adaptive_set_up(net_packet_engine *e, struct sim_error *err)
{
    SIM_TRY(check(e, err));
    uint32_t escapes = topo_routing_channels(e->topology) - 1;
    if (escapes >= e->vcs) escapes = e->vcs - 1;
    for (uint32_t c = 0; c < NET_ROUTER_VCS_MAX; c++)
        e->range[c] = (struct class_range){(uint16_t)(c % escapes), 1};
    e->adaptive = (struct class_range){(uint16_t)escapes, (uint16_t)(e->vcs - escapes)};
    e->visit = net_packet_visit_adaptive;
    e->round = 1;
    return SIM_OK;
}

/* ---- ways ---- */

uint32_t net_packet_ways(uint32_t route)
{
    uint32_t ways = 0;
    for (uint32_t a = 0; a < AXES; a++) {
        uint32_t side = route >> (8 * a + 7) & 1, is_free = route >> (ROUTE_FREE_BIT + a) & 1;
        uint32_t sides = is_free != 0 ? 3 : UINT32_C(1) << side;
        if (hops_of(route, a) > 0) ways |= sides << (2 * a);
    }
    return ways;
}

static uint32_t class_bit(const struct node *n, uint32_t output)
{
    return (uint32_t)n->raises[output] << (ROUTE_CLASS_BIT + output / 2);
}

/* The route behind a link. */
static uint32_t route_behind(const struct node *n, uint32_t route, uint32_t output)
{
    uint32_t axis = output / 2, side = UINT32_C(1) << (8 * axis + 7);
    route = output % 2 != 0 ? route | side : route & ~side;
    route &= ~(UINT32_C(1) << (ROUTE_FREE_BIT + axis));
    return (route | class_bit(n, output)) - (UINT32_C(1) << (8 * axis));
}

/* The route before the link that dimension order says: a link that closes the axis is passed
 * once. */
static uint32_t route_before(const struct node *n, uint32_t route, uint32_t output)
{
    return (route & ~class_bit(n, output)) + (UINT32_C(1) << (8 * (output / 2)));
}

/* Outputs that the head of queue q wants. */
static uint32_t wants(const net_packet_engine *e, const struct view *v, uint32_t q)
{
    const struct queue *queue = &v->queue[q];
    uint32_t channel = queue->gate / 2;
    if (channel >= v->node->links * e->vcs) return UINT32_C(1) << channel / e->vcs; /* a port */
    return net_packet_ways(route_of(queue->packet));
}

void net_packet_want_all(const net_packet_engine *e, struct view *v, uint32_t q, uint32_t output)
{
    struct queue *queue = &v->queue[q];
    uint32_t route = route_of(queue->packet), o;
    if (output < v->node->links) route = route_before(v->node, route, output);
    queue->packet = packet_of(route, tag_of(queue->packet));
    FOR_EACH_BIT(wants(e, v, q), o)
    {
        set_bit(requests_of(v, e->words, o), q);
        set_bit(v->dirty, o);
    }
}

/* ---- when, where ---- */

/* The head of queue q as one that takes the adaptive channels of a link. */
ALWAYS_INLINE struct queue on_any_way(const struct visit *w, uint32_t o, uint32_t q)
{
    struct queue head = w->v.queue[q];
    head.gate = 2 * (o * w->e->vcs + w->e->adaptive.first) + (head.axis != o / 2);
    head.channels = (uint8_t)w->e->adaptive.count;
    return head;
}

/* Does the head's escape channel, or the port it wants, lie behind this output? */
ALWAYS_INLINE bool is_in_order(const struct visit *w, uint32_t o, uint32_t q)
{
    return w->v.queue[q].gate / 2 - o * w->e->vcs < w->e->vcs;
}

/* As go_from(), over all channels that the head may take. */
ALWAYS_INLINE net_ticks go_any_from(const struct visit *w, uint32_t o, uint32_t q, net_ticks *rooms)
{
    const struct output *out = &w->v.output[o];
    net_ticks from = NET_TICKS_NEVER;
    if (is_in_order(w, o, q)) from = go_from(w, out, &w->v.queue[q], rooms);
    if (o >= w->v.node->links) return from;
    const struct queue head = on_any_way(w, o, q);
    return earlier_of(from, go_from(w, out, &head, rooms));
}

ALWAYS_INLINE bool is_open(const struct visit *w, uint32_t o, uint32_t q, net_ticks now)
{
    const struct queue head = on_any_way(w, o, q);
    return go_from(w, &w->v.output[o], &head, &(net_ticks){0}) <= now;
}

/* Free slots of a ring from its writer's next one on: those that are free come first. */
ALWAYS_INLINE uint32_t count_free(const struct visit *w, uint32_t at, net_ticks now)
{
    const net_packet_engine *e = w->e;
    uint32_t least = 0, most = e->depth;
    while (least < most) {
        uint32_t middle = (least + most) / 2;
        if (e->slot[ring_on(e, at, middle)].time <= now)
            least = middle + 1;
        else
            most = middle;
    }
    return least;
}

static uint32_t room_behind(const struct visit *w, uint32_t o, net_ticks now)
{
    uint32_t first = o * w->e->vcs + w->e->adaptive.first, count = 0;
    for (uint32_t c = first; c < first + w->e->adaptive.count; c++)
        count += count_free(w, w->v.gate[2 * c], now);
    return count;
}

/* Where a head that can go now goes, if it is asked. */
static uint32_t preferred(const struct visit *w, uint32_t q, net_ticks now)
{
    uint32_t route = route_of(w->v.queue[q].packet), ways = wants(w->e, &w->v, q), best = NONE32;
    uint64_t most = 0;
    if ((ways & (ways - 1)) == 0) return (uint32_t)__builtin_ctz(ways);
    for (uint32_t i = 0; i < 2 * AXES; i++) {
        uint32_t o = i ^ (route >> (8 * (i / 2) + 7) & 1); /* the route's side first */
        if ((ways >> o & 1) == 0 || !is_open(w, o, q, now)) continue;
        uint64_t good = (uint64_t)room_behind(w, o, now) << 8 | hops_of(route, o / 2);
        if (good > most) {
            most = good;
            best = o;
        }
    }
    if (best != NONE32) return best;
    return net_packet_packed_step(w->e, w->v.node, route).output;
}

/* ---- an output's turn ---- */

ALWAYS_INLINE void plan_adaptive(struct visit *w, uint32_t o)
{
    const uint64_t *requests = requests_of(&w->v, w->words, o);
    net_ticks nx = NET_TICKS_NEVER, rooms = 0;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(requests[word], i)
        {
            nx = earlier_of(nx, go_any_from(w, o, 64 * word + i, &rooms));
        }
    w->v.output[o].nx = nx;
    w->v.output[o].is_blocked = rooms >= OCCUPIED;
}

/* To be planned before the next round. */
ALWAYS_INLINE void mark(struct visit *w, uint32_t o)
{
    set_bit(w->v.dirty, o);
}

ALWAYS_INLINE void join_adaptive(struct visit *w, uint32_t o, uint32_t q)
{
    net_packet_want_all(w->e, &w->v, q, o);
}

/* Heads that can go through output o now, and would not rather go elsewhere. */
ALWAYS_INLINE bool find_candidates(struct visit *w, uint32_t o)
{
    const uint64_t *requests = requests_of(&w->v, w->words, o);
    uint64_t *candidates = candidates_of(&w->v, w->words, o), any = 0;
    net_ticks now = w->v.output[o].nx, rooms = 0;
    uint32_t i;
    for (uint32_t word = 0; word < w->words; word++) {
        candidates[word] = 0;
        FOR_EACH_BIT(requests[word], i)
        {
            uint32_t q = 64 * word + i;
            if (go_any_from(w, o, q, &rooms) > now || preferred(w, q, now) != o) continue;
            candidates[word] |= UINT64_C(1) << i;
        }
        any |= candidates[word];
    }
    return any != 0;
}

/* Queue q's head goes through output o: the others see it no more. */
ALWAYS_INLINE void choose(struct visit *w, uint32_t o, uint32_t q)
{
    struct queue *queue = &w->v.queue[q];
    uint32_t others = wants(w->e, &w->v, q) & ~(UINT32_C(1) << o), i;
    FOR_EACH_BIT(others, i)
    {
        clear_bit(requests_of(&w->v, w->words, i), q);
        mark(w, i);
    }
    if (o >= w->v.node->links) return;
    uint32_t route = route_behind(w->v.node, route_of(queue->packet), o);
    queue->packet = packet_of(route, tag_of(queue->packet));
}

ALWAYS_INLINE void grant_adaptive(struct visit *w, uint32_t o)
{
    if (!find_candidates(w, o)) return;
    uint32_t q = pick_words(w, o);
    struct queue head = w->v.queue[q];
    if (o < w->v.node->links && is_open(w, o, q, w->v.output[o].nx)) head = on_any_way(w, o, q);
    choose(w, o, q);
    move(w, o, q, pick_channel(w, o, &head), mark, join_adaptive);
}

void net_packet_visit_adaptive(net_packet_engine *e, uint32_t node, net_ticks end)
{
    struct visit w = {
        .e = e, .node = node, .end = end, .words = e->words, .is_uniform = e->is_uniform};
    visit_node(w, plan_adaptive, join_adaptive, grant_adaptive);
}
