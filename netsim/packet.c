/*
 * Making the packet engine: ticks, routers, rings.
 */
#include "netsim/packet.h"

#include <math.h>

#include "base/arena.h"
#include "netsim/mpi.h"
#include "netsim/packet_border.h"
#include "netsim/packet_visit.h"
#include "topo/routing.h"

/* ---- ticks ---- */

/* The fewest ticks per ps for which a byte takes whole ticks at every rate. */
static net_ticks find_ticks_per_ps(const topo *t)
{
    enum { MOST = 4096, FALLBACK = 1024 };
    double *ps = SIM_NEW(double, topo_links(t) + 1);
    uint32_t count = 0;
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        double ps_per_byte = 1e12 / topo_link_rate(t, l);
        uint32_t i = 0;
        while (i < count && ps[i] != ps_per_byte)
            i++;
        if (i == count) ps[count++] = ps_per_byte;
    }
    net_ticks found = 0;
    for (net_ticks q = 1; q <= MOST && found == 0; q++) {
        bool fits = true;
        for (uint32_t i = 0; i < count && fits; i++) {
            double ticks = ps[i] * (double)q;
            fits = rint(ticks) > 0 && fabs(ticks - rint(ticks)) < 1e-9 * ticks;
        }
        if (fits) found = q;
    }
    sim_free(ps);
    return found != 0 ? found : FALLBACK;
}

static double ticks_per_byte(const net_packet_engine *e, double rate)
{
    double ticks = 1e12 / rate * (double)e->ticks_per_ps;
    return fabs(ticks - rint(ticks)) < 1e-9 * ticks ? rint(ticks) : ticks;
}

static uint8_t rate_index(net_packet_engine *e, double rate)
{
    double ticks = ticks_per_byte(e, rate);
    for (uint32_t i = 0; i < e->rates; i++)
        if (e->ticks_per_byte[i] == ticks) return (uint8_t)i;
    assert(e->rates <= UINT8_MAX);
    e->ticks_per_byte =
        sim_realloc(e->ticks_per_byte, e->rates + 1, sizeof *e->ticks_per_byte, "link rates");
    e->ticks_per_byte[e->rates] = ticks;
    return (uint8_t)e->rates++;
}

uint8_t net_packet_rate_of(net_packet_engine *e, topo_link_id link)
{
    return rate_index(e, topo_link_rate(e->topology, link));
}

static void note_latency(net_packet_engine *e, struct latency latency)
{
    for (uint32_t i = 0; i < e->latencies; i++)
        if (e->latency[i].hop == latency.hop && e->latency[i].credit == latency.credit) return;
    e->latency = sim_realloc(e->latency, e->latencies + 1, sizeof *e->latency, "link latencies");
    e->latency[e->latencies++] = latency;
}

/* A router's latency in its own unit. */
net_ticks net_packet_router_ticks(const net_packet_engine *e, uint64_t latency)
{
    return latency * (e->router.is_in_cycles ? e->cycle : e->ticks_per_ps);
}

struct latency net_packet_latency_of(const net_packet_engine *e, topo_link_id link)
{
    struct latency own = {net_packet_router_ticks(e, e->router.hop),
                          net_packet_router_ticks(e, e->router.credit)};
    if (e->router.is_in_cycles) return own;
    net_ticks ticks = (net_ticks)topo_link_latency_ps(e->topology, link) * e->ticks_per_ps;
    return (struct latency){own.hop + ticks, own.credit + ticks};
}

/* ---- the router ---- */

static void choose_times(net_packet_engine *e)
{
    e->ticks_per_ps = find_ticks_per_ps(e->topology);
    rate_index(e, topo_default_link_rate(e->topology));
    e->cycle = (net_ticks)llrint(e->router.flit_bytes * e->ticks_per_byte[0]);
    e->ejection = net_packet_router_ticks(e, e->router.ejection);
    if (e->router.is_in_cycles) e->ejection -= e->cycle; /* counted with the flit's own cycle */
    e->lookahead = OCCUPIED - 1;
    for (topo_link_id l = 0; l < topo_links(e->topology); l++) {
        net_packet_rate_of(e, l);
        struct latency latency = net_packet_latency_of(e, l);
        note_latency(e, latency);
        if (latency.hop < e->lookahead) e->lookahead = latency.hop;
        if (latency.credit < e->lookahead) e->lookahead = latency.credit;
    }
    if (e->router.is_injection_buffered) {
        struct latency in = {net_packet_router_ticks(e, e->router.injection),
                             net_packet_router_ticks(e, e->router.credit)};
        note_latency(e, in);
        if (in.hop < e->lookahead) e->lookahead = in.hop;
        if (in.credit < e->lookahead) e->lookahead = in.credit;
    }
    e->window = e->lookahead;
    e->flit = SIM_NEW(net_ticks, e->rates);
    for (uint32_t r = 0; r < e->rates; r++)
        e->flit[r] = (net_ticks)llrint(e->router.flit_bytes * e->ticks_per_byte[r]);
    e->span = SIM_NEW(struct span, (size_t)(SIZES_MAX + 1) * e->rates);
    e->round = e->cycle;
    for (uint32_t r = 0; r < e->rates && e->is_by_flit; r++)
        if (e->flit[r] < e->round) e->round = e->flit[r];
}

/* Slots of a power of two that keep the fastest link busy while credits come round. */
static uint32_t default_depth(const net_packet_engine *e)
{
    double least = 1e300;
    for (uint32_t r = 0; r < e->rates; r++)
        least = fmin(least, e->router.packet_bytes * e->ticks_per_byte[r]);
    uint32_t depth = 2;
    for (uint32_t i = 0; i < e->latencies; i++) {
        double loop = (double)(e->latency[i].hop + e->latency[i].credit) / least + 2;
        while (depth < loop && depth < NET_ROUTER_BUFFER_MAX)
            depth *= 2;
    }
    return depth;
}

/* A rule of the router's own knows of classes before and behind one dateline an axis. Routes that
 * are not packed have the routing's classes, whatever the rule. */
static enum sim_status check_class_rule(const net_packet_engine *e, struct sim_error *err)
{
    const topo *t = e->topology;
    bool is_wrap = e->router.class_rule == NET_CLASS_WRAP;
    bool is_in_order = topo_routing_is_own(t) || e->is_adaptive;
    if (e->router.class_rule == NET_CLASS_ROUTING || !e->is_packed || e->router.is_unchecked ||
        (is_in_order && !(is_wrap && topo_is_twisted(t))))
        return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "class rule %s holds on healthy%s tori in dimension order; on %s with "
                         "routing %s packets could wait for each other in a circle: want "
                         "--class-rule routing%s",
                         is_wrap ? "wrap" : "dateline", is_wrap ? " untwisted" : "", topo_spec(t),
                         topo_routing_name(t),
                         is_in_order || topo_is_faulty(t) ? "" : " or --routing dimension-order");
}

static enum sim_status choose_channels(net_packet_engine *e, struct sim_error *err)
{
    uint32_t wanted = topo_routing_channels(e->topology);
    if (wanted == 0) wanted = 1;
    if (e->router.vcs == 0) e->router.vcs = 2 * wanted;
    if (e->router.vcs < wanted && !e->router.is_unchecked)
        return sim_error_set(err, SIM_EDATA,
                             "%u virtual channel%s a link: the %s routing of %s needs %u so that "
                             "packets cannot wait for each other in a circle",
                             e->router.vcs, e->router.vcs == 1 ? "" : "s",
                             topo_routing_name(e->topology), topo_spec(e->topology), wanted);
    if (e->router.vcs > NET_ROUTER_VCS_MAX && wanted <= NET_ROUTER_VCS_MAX)
        e->router.vcs = NET_ROUTER_VCS_MAX;
    if (e->router.vcs > NET_ROUTER_VCS_MAX)
        return sim_error_set(err, SIM_EDATA,
                             "the %s routing of %s needs %u virtual channels, at "
                             "most %u are possible",
                             topo_routing_name(e->topology), topo_spec(e->topology), e->router.vcs,
                             NET_ROUTER_VCS_MAX);
    e->vcs = e->router.vcs;
    e->classes = wanted < e->vcs ? wanted : e->vcs;
    for (uint32_t c = 0; c < NET_ROUTER_VCS_MAX; c++) {
        uint32_t of = c % e->classes; /* forced onto fewer */
        uint32_t first = of * e->vcs / e->classes, end = (of + 1) * e->vcs / e->classes;
        e->range[c] = (struct class_range){(uint16_t)first, (uint16_t)(end - first)};
    }
    e->range[NET_ROUTER_VCS_MAX] = (struct class_range){0, (uint16_t)e->vcs};
    uint32_t flits = e->router.packet_bytes / e->router.flit_bytes;
    if (e->router.buffer_flits == 0) e->router.buffer_flits = default_depth(e) * flits;
    uint32_t slot_flits = e->is_by_flit ? 1 : flits;
    e->depth = e->router.buffer_flits / slot_flits;
    e->slack = e->router.buffer_flits % slot_flits;
    while (e->stride < e->depth)
        e->stride = UINT32_C(1) << ++e->shift;
    e->is_uniform = e->rates == 1 && e->stride == e->depth;
    for (uint32_t i = 1; i < e->latencies; i++)
        e->is_uniform &= e->latency[i].credit == e->latency[0].credit;
    uint32_t bubble = e->is_by_flit ? flits - 1 : e->router.bubble; /* room for a whole packet */
    e->bubble = bubble < e->depth ? bubble : e->depth - 1;
    return SIM_OK;
}

/* A packet that takes no time would never be over. */
static enum sim_status check_rates(const net_packet_engine *e, struct sim_error *err)
{
    for (uint32_t r = 0; r < e->rates; r++)
        if (e->flit[r] == 0)
            return sim_error_set(err, SIM_EDATA,
                                 "a link so fast that %u bytes take less than 1/%llu ps, the "
                                 "packet engine's tick: want a lower rate, or --engine flow",
                                 e->router.flit_bytes, (unsigned long long)e->ticks_per_ps);
    return SIM_OK;
}

static enum sim_status check_latencies(const net_packet_engine *e, struct sim_error *err)
{
    if (topo_links(e->topology) == 0 || e->lookahead > 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "a link latency of 0: the packet engine needs at least 1 ps (links of "
                         "nearly no latency: --latency 1ns)");
}

/* ---- kinds of nodes ---- */

static struct kind kind_of(const net_packet_engine *e, const struct node *n)
{
    struct kind k = {.like = *n};
    uint32_t words = e->words, outputs = n->outputs, queues = n->queues, early = e->is_early;
    uint32_t channels = outputs * e->vcs, inputs = n->rings / e->vcs + n->ports;
    uint32_t trains = e->can_train ? n->ports : 0, watched = e->router.is_watched;
    k.inputs = (uint16_t)inputs;
    size_t at = sizeof(struct node);
#define X(type, name, count)                                                                       \
    k.at.name = (uint32_t)at;                                                                      \
    at += (sizeof(type) * (count) + 7) / 8 * 8;
    NODE_PARTS(X)
#undef X
    k.bytes = (uint32_t)((at + LINE - 1) / LINE * LINE);
    for (uint32_t q = 0; q < queues && words == 1; q++) {
        bool is_alone = q >= n->rings || e->router.arbitration == NET_BY_CHANNEL;
        uint32_t first = is_alone ? q : q / e->vcs * e->vcs, count = is_alone ? 1 : e->vcs;
        k.together[q] = ~UINT64_C(0) >> (64 - count) << first;
        k.after[q] = ~(k.together[q] | ((UINT64_C(1) << first) - 1));
    }
    return k;
}

/* The node's, made if it is the first of it. */
static uint32_t find_kind(net_packet_engine *e, const struct node *n)
{
    for (uint32_t i = 0; i < e->kinds; i++) {
        const struct node *like = &e->kind[i].like;
        if (like->rings == n->rings && like->ports == n->ports && like->links == n->links &&
            like->outputs == n->outputs)
            return i;
    }
    e->kind = sim_realloc(e->kind, e->kinds + 1, sizeof *e->kind, "kinds of nodes");
    e->kind[e->kinds] = kind_of(e, n);
    return e->kinds++;
}

/* ---- nodes and rings ---- */

struct degrees {
    uint32_t *in, *out; /* [nodes] */
};

static struct degrees count_links(const topo *t)
{
    struct degrees d = {SIM_NEW(uint32_t, topo_nodes(t)), SIM_NEW(uint32_t, topo_nodes(t))};
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        d.in[topo_link_to(t, l)]++;
        d.out[topo_link_from(t, l)]++;
    }
    return d;
}

/* A torus has an output for each port, cabled or not, so that ports need no table. */
static struct node node_of(const net_packet_engine *e, const struct degrees *d, uint32_t id)
{
    bool is_chip = id < topo_chips(e->topology), is_buffered = e->router.is_injection_buffered;
    uint32_t links = topo_has_ports(e->topology) ? topo_ports(e->topology) : d->out[id];
    struct node n = {.train_end = NET_TICKS_NEVER, .ejection = NONE16, .injection = NONE16};
    n.rings = (uint16_t)((d->in[id] + (is_chip && is_buffered)) * e->vcs);
    n.ports = (uint16_t)(!is_chip ? 0 : e->router.is_one_port ? 1 : links);
    n.queues = (uint16_t)(n.rings + n.ports);
    n.outputs = n.links = (uint16_t)links;
    if (is_chip && e->router.is_one_port) n.ejection = n.outputs++;
    if (is_chip && is_buffered) n.injection = n.outputs++;
    return n;
}

/* Who writes into the rings of a link, and what they are like. */
static void describe_rings(net_packet_engine *e, topo_link_id link, uint32_t first)
{
    topo_node_id from = topo_link_from(e->topology, link);
    for (uint32_t ring = first; ring < first + e->vcs; ring++) {
        e->upstream[ring] = net_packet_is_here(e, from) ? from : e->nodes;
        if (e->ring_rate != NULL) e->ring_rate[ring] = net_packet_rate_of(e, link);
        if (e->ring_credit != NULL) e->ring_credit[ring] = net_packet_latency_of(e, link).credit;
    }
    e->ring_link[first / e->vcs] = link;
}

/* Connect a link's output with the next free rings of the node at its end; either may be on another
 * rank. */
static void connect(net_packet_engine *e, topo_link_id link, uint32_t output, uint32_t *rings_used)
{
    topo_node_id from = topo_link_from(e->topology, link), to = topo_link_to(e->topology, link);
    bool has_output = net_packet_is_here(e, from), has_rings = net_packet_is_here(e, to);
    uint32_t ring = has_rings ? e->first_ring[to] + rings_used[to] : e->rings + e->far_rings;
    e->output_of_link[link] = output;
    e->ring_of_link[link] = ring;
    if (has_rings) describe_rings(e, link, ring);
    if (has_output && !has_rings) e->far_rings += e->vcs;
    if (has_output != has_rings) net_border_add_link(e, link, ring);
    rings_used[to] += e->vcs;
}

/* The rings that injections are written into: behind those of links. */
static void connect_injections(net_packet_engine *e)
{
    for (topo_node_id n = 0; n < topo_chips(e->topology); n++) {
        if (!net_packet_is_here(e, n)) continue;
        uint32_t end = e->first_ring[n] + net_packet_kind(e, n)->like.rings;
        for (uint32_t ring = end - e->vcs; ring < end; ring++) {
            e->upstream[ring] = n;
            if (e->ring_credit != NULL)
                e->ring_credit[ring] = net_packet_router_ticks(e, e->router.credit);
        }
    }
}

static void connect_all(net_packet_engine *e)
{
    const topo *t = e->topology;
    uint32_t *rings_used = SIM_NEW(uint32_t, e->nodes);
    topo_link_id *out = SIM_NEW(topo_link_id, topo_max_degree(t) + 1);
    for (topo_node_id n = 0; n < e->nodes; n++) {
        uint32_t degree = topo_has_ports(t) ? topo_ports(t) : topo_out_links(t, n, out);
        for (uint32_t i = 0; i < degree; i++) {
            topo_link_id link = topo_has_ports(t) ? topo_port_link(t, n, i) : out[i];
            if (link != TOPO_NONE) connect(e, link, i, rings_used);
        }
    }
    if (e->router.is_injection_buffered) connect_injections(e);
    sim_free(rings_used);
    sim_free(out);
}

static enum sim_status check_size(const net_packet_engine *e, uint64_t rings, uint64_t most_queues,
                                  struct sim_error *err)
{
    if (rings << e->shift >= NONE32 || most_queues >= NONE16)
        return sim_error_set(err, SIM_EDATA,
                             "%s has too many links for the packet engine with %u virtual "
                             "channels: a node may have 65,534 buffers, all together room for "
                             "4,294,967,294 packets",
                             topo_spec(e->topology), e->vcs);
    return SIM_OK;
}

/* How much there is of what the nodes here need. */
struct extent {
    uint64_t rings, far_rings, most_queues;
};

static struct extent measure(const net_packet_engine *e, const struct degrees *d)
{
    struct extent x = {.most_queues = 1};
    for (uint32_t i = 0; i < e->nodes; i++) {
        struct node n = node_of(e, d, i);
        uint64_t queues = (uint64_t)(d->in[i] + 1) * e->vcs + n.ports;
        if (queues > x.most_queues) x.most_queues = queues;
        if (n.outputs > x.most_queues) x.most_queues = n.outputs;
        if (net_packet_is_here(e, i)) x.rings += n.rings;
    }
    for (topo_link_id l = 0; l < topo_links(e->topology); l++)
        if (net_packet_is_here(e, topo_link_from(e->topology, l)) &&
            !net_packet_is_here(e, topo_link_to(e->topology, l)))
            x.far_rings += e->vcs;
    return x;
}

/* Blocks and rings of the nodes here, one after the other; the others have none. Nothing is written
 * to them yet. */
static void place_nodes(net_packet_engine *e, const struct degrees *d)
{
    size_t bytes = 0;
    uint32_t ring = 0;
    e->block_begin = SIM_NEW(size_t, e->nodes + 1);
    e->first_ring = SIM_NEW(uint32_t, e->nodes);
    e->kind_of = SIM_NEW(uint32_t, e->nodes);
    e->is_made = SIM_NEW(uint8_t, e->nodes);
    for (uint32_t i = 0; i < e->nodes; i++) {
        struct node n = node_of(e, d, i);
        e->block_begin[i] = bytes;
        e->first_ring[i] = ring;
        e->kind_of[i] = find_kind(e, &n);
        if (!net_packet_is_here(e, i)) continue;
        bytes += net_packet_kind(e, i)->bytes;
        ring += n.rings;
    }
    e->block_begin[e->nodes] = bytes;
    e->memory = SIM_NEW(char, bytes + LINE);
    e->block = e->memory + (LINE - (uintptr_t)e->memory % LINE) % LINE;
}

/* Those at the border first, so that the others run while what they did is under way. */
static void list_own(net_packet_engine *e)
{
    e->own = SIM_NEW(uint32_t, e->nodes);
    for (int is_inner = 0; is_inner < 2; is_inner++) {
        for (uint32_t i = 0; i < e->nodes; i++) {
            bool is_at_border = e->border != NULL && net_border_has_node(e->border, i);
            if (net_packet_is_here(e, i) && is_at_border != is_inner) e->own[e->owns++] = i;
        }
        if (!is_inner) e->border_owns = e->owns;
    }
}

static enum sim_status build(net_packet_engine *e, struct sim_error *err)
{
    const topo *t = e->topology;
    struct degrees d = count_links(t);
    e->nodes = topo_nodes(t);
    const struct extent x = measure(e, &d);
    enum sim_status status = check_size(e, x.rings + x.far_rings, x.most_queues, err);
    if (status == SIM_OK) {
        e->words = (uint32_t)((x.most_queues + 63) / 64);
        e->rings = (uint32_t)x.rings;
        e->all_rings = (uint32_t)(x.rings + x.far_rings);
        e->wake = SIM_NEW(net_ticks, e->nodes + 1);
        e->due = SIM_NEW(net_ticks, e->nodes + 1);
        e->arriving = SIM_NEW(uint64_t, (size_t)(e->nodes + 1) * e->words);
        e->awaited = SIM_NEW(uint64_t, (size_t)(e->nodes + 1) * e->words);
        e->upstream = SIM_NEW(uint32_t, e->rings);
        e->ring_link = SIM_NEW(topo_link_id, e->rings / e->vcs + 1);
        e->output_of_link = SIM_NEW(uint32_t, topo_links(t));
        e->ring_of_link = SIM_NEW(uint32_t, topo_links(t));
        e->links_of_one = SIM_NEW(topo_link_id, topo_max_degree(t) + topo_ports(t) + 2);
        e->slot = SIM_NEW(struct slot, ((size_t)e->all_rings << e->shift) + 1 + SLOTS_AHEAD);
        if (!e->is_uniform) e->ring_rate = SIM_NEW(uint8_t, e->rings);
        if (!e->is_uniform) e->ring_credit = SIM_NEW(net_ticks, e->rings);
        e->credit = e->latencies > 0 ? e->latency[0].credit : 0;
        for (uint32_t i = 0; i <= e->rings / e->vcs; i++)
            e->ring_link[i] = TOPO_NONE;
        if (e->part != NULL) e->border = net_border_create(e);
        for (uint32_t i = 0; i <= e->nodes; i++)
            e->wake[i] = e->due[i] = NET_TICKS_NEVER;
        place_nodes(e, &d);
        connect_all(e);
        list_own(e);
    }
    sim_free(d.in);
    sim_free(d.out);
    return status;
}

/* Hops packed into a word: three axes in order, at most 127 hops each. */
static bool can_pack(const topo *t)
{
    return topo_has_ports(t) && topo_axes(t) <= 3 && topo_ports(t) == 2 * topo_axes(t);
}

static enum sim_status resolve(net_packet_engine *e, const topo *t, const struct net_router *router,
                               struct sim_error *err)
{
    SIM_TRY(net_router_check(router, err));
    e->topology = t;
    e->router = *router;
    e->stride = 1;
    e->is_early = router->binding == NET_VC_EARLY;
    e->is_by_flit = router->switching == NET_BY_FLIT;
    e->visit = e->is_by_flit ? net_packet_visit_flits
               : e->is_early ? net_packet_visit_early
                             : net_packet_visit_late;
    e->is_adaptive = topo_routing_is_adaptive(t);
    e->is_packed = can_pack(t);
    e->route_end = e->is_packed ? UINT32_C(1) << (8 * topo_axes(t)) : 1;
    e->raises_at_once = router->class_rule == NET_CLASS_DATELINE;
    e->can_train =
        !e->is_early && !e->is_adaptive && !router->is_one_port && !router->is_injection_buffered;
    e->are_trains = e->can_train;
    choose_times(e);
    SIM_TRY(check_rates(e, err));
    SIM_TRY(check_latencies(e, err));
    SIM_TRY(check_class_rule(e, err));
    SIM_TRY(choose_channels(e, err));
    return e->is_adaptive ? net_packet_adaptive_set_up(e, err) : SIM_OK;
}

enum sim_status net_packet_create(const topo *t, const struct net_router *router,
                                  const struct net_packet_client *client, const uint32_t *part,
                                  struct sim_error *err, net_packet_engine **out)
{
    net_packet_engine *e = SIM_NEW(net_packet_engine, 1);
    e->client = *client;
    e->part = part;
    e->rank = part != NULL ? net_mpi_rank() : 0;
    enum sim_status status = resolve(e, t, router, err);
    if (status == SIM_OK) status = build(e, err);
    if (status == SIM_OK)
        *out = e;
    else
        net_packet_destroy(e);
    return status;
}

enum sim_status net_packet_check(const topo *t, const struct net_router *router,
                                 struct sim_error *err, struct net_router *resolved)
{
    net_packet_engine *e = SIM_NEW(net_packet_engine, 1);
    enum sim_status status = resolve(e, t, router, err);
    if (status == SIM_OK) *resolved = e->router;
    net_packet_destroy(e);
    return status;
}

void net_packet_destroy(net_packet_engine *e)
{
    if (e == NULL) return;
    sim_free(e->ticks_per_byte);
    sim_free(e->flit);
    sim_free(e->latency);
    sim_free(e->span);
    sim_free(e->kind);
    sim_free(e->memory);
    sim_free(e->block_begin);
    sim_free(e->first_ring);
    sim_free(e->kind_of);
    sim_free(e->is_made);
    sim_free(e->wake);
    sim_free(e->due);
    sim_free(e->arriving);
    sim_free(e->awaited);
    sim_free(e->upstream);
    sim_free(e->ring_link);
    sim_free(e->own);
    sim_free(e->table_route);
    net_border_destroy(e->border);
    sim_free(e->ring_rate);
    sim_free(e->ring_credit);
    sim_free(e->slot);
    sim_free(e->output_of_link);
    sim_free(e->ring_of_link);
    sim_free(e->links_of_one);
    sim_free(e->step);
    sim_free(e);
}

/* ---- sizes and times ---- */

void net_packet_set_window(net_packet_engine *e, net_ticks ticks)
{
    e->window = ticks > 0 && ticks < e->lookahead ? ticks : e->lookahead;
}

void net_packet_set_trains(net_packet_engine *e, bool are_trains)
{
    e->are_trains = are_trains && e->can_train;
}

net_ticks net_packet_window(const net_packet_engine *e)
{
    return e->window;
}

net_ticks net_packet_ticks_per_ps(const net_packet_engine *e)
{
    return e->ticks_per_ps;
}

double net_packet_ticks_per_byte(const net_packet_engine *e)
{
    return e->ticks_per_byte[0];
}

net_ticks net_packet_cycle(const net_packet_engine *e)
{
    return e->cycle;
}

sim_ps net_packet_ps(const net_packet_engine *e, net_ticks ticks)
{
    return (sim_ps)((ticks + e->ticks_per_ps / 2) / e->ticks_per_ps);
}

const struct net_router *net_packet_router(const net_packet_engine *e)
{
    return &e->router;
}

bool net_packet_is_ordered(const net_packet_engine *e)
{
    return e->vcs == e->classes && !e->is_adaptive;
}

uint32_t net_packet_size(net_packet_engine *e, double bytes)
{
    assert(bytes > 0 && bytes <= e->router.packet_bytes);
    for (uint32_t i = 0; i < e->sizes; i++)
        if (e->size_bytes[i] == bytes) return i;
    if (e->sizes == SIZES_MAX) return NET_PACKET_NO_SIZE;
    e->size_bytes[e->sizes] = bytes;
    for (uint32_t r = 0; r < e->rates; r++) {
        net_ticks ticks = (net_ticks)llrint(bytes * e->ticks_per_byte[r]);
        if (ticks == 0) ticks = 1;
        net_ticks last = e->flit[r] * (1 + e->slack);
        e->span[e->sizes * e->rates + r] = (struct span){ticks, ticks > last ? ticks - last : 0};
        if (ticks < e->round && !e->is_by_flit) e->round = ticks;
    }
    e->flits[e->sizes] = e->is_by_flit ? (uint32_t)ceil(bytes / e->router.flit_bytes) : 1;
    return e->sizes++;
}

uint32_t net_packet_sizes(const net_packet_engine *e, const double **bytes)
{
    *bytes = e->size_bytes;
    return e->sizes;
}

net_ticks net_packet_size_ticks(const net_packet_engine *e, uint32_t size)
{
    return e->span[size * e->rates].whole;
}

/* ---- the client's side of a node ---- */

/* Within the window the node looks by itself. */
static void lower_wake(net_packet_engine *e, uint32_t node, net_ticks when)
{
    if (when >= e->now) wake(e, node, when);
}

uint32_t net_packet_ports(const net_packet_engine *e, uint32_t node)
{
    return net_packet_kind(e, node)->like.ports;
}

uint32_t net_packet_ports_of(const net_packet_engine *e, uint32_t node, uint32_t route,
                             uint32_t *port)
{
    uint32_t count = 0;
    port[0] = 0;
    if (e->router.is_one_port) return 1;
    port[0] = net_packet_step(e, &net_packet_kind(e, node)->like, route).output;
    if (!e->is_adaptive) return 1;
    for (uint32_t ways = net_packet_ways(route); ways != 0; ways &= ways - 1)
        port[count++] = (uint32_t)__builtin_ctz(ways);
    return count;
}

void net_packet_offer(net_packet_engine *e, uint32_t node, uint32_t port,
                      const struct net_packet *packet, net_ticks ready)
{
    net_packet_make(e, node);
    struct view v = net_packet_view(e, node);
    uint32_t output = put_head(e, &v, e->words, port, packet, ready);
    set_bit(v.dirty, output);
    if (e->is_adaptive) net_packet_want_all(e, &v, v.node->rings + port, output);
    lower_wake(e, node, ready);
}

void net_packet_set_due(net_packet_engine *e, uint32_t node, net_ticks due)
{
    e->due[node] = due;
    lower_wake(e, node, due);
}

/* ---- what there is to know ---- */

bool net_packet_has(const net_packet_engine *e, uint32_t node)
{
    return net_packet_is_here(e, node);
}

void net_packet_mail(net_packet_engine *e, uint32_t rank, const void *bytes, size_t count)
{
    net_border_mail(e, rank, bytes, count);
}

void net_packet_counts(const net_packet_engine *e, struct net_packet_counts *out)
{
    *out = e->counts;
}

uint64_t net_packet_in_flight(const net_packet_engine *e)
{
    uint64_t count = 0;
    for (uint32_t i = 0; i < e->owns; i++) {
        if (!e->is_made[e->own[i]] && !is_expecting(e, e->own[i])) continue;
        const struct slot *slot = e->slot + ((size_t)e->first_ring[e->own[i]] << e->shift);
        size_t slots = (size_t)net_packet_kind(e, e->own[i])->like.rings << e->shift;
        for (size_t s = 0; s < slots; s++)
            count += slot[s].time >= OCCUPIED;
    }
    return count;
}
