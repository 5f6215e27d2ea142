#include "netsim/traffic.h"

#include <math.h>

#include "base/arena.h"
#include "netsim/gap.h"
#include "netsim/histogram.h"
#include "netsim/mpi.h"
#include "netsim/packet_links.h"
#include "netsim/pair_route.h"
#include "topo/route.h"

#define MESSAGE_MASK (NET_PACKET_MESSAGES - 1)

/* The endless queue of a chip: only the creation time of its head exists. */
struct source {
    struct sim_rng rng;
    uint64_t birth; /* cycle */
    uint32_t gap;   /* index into gaps */
};

struct run {
    const struct net_traffic *traffic;
    net_packet_engine *engine;
    net_pair_routes *routes;
    struct source *source; /* [chips] */
    struct net_gap *gap;   /* [gaps] of each share of the load that chips have */
    double *gap_share;
    uint32_t gaps, chips;
    uint32_t size;
    net_ticks cycle, size_ticks;
    uint64_t begin, end;    /* cycles of the measurement */
    net_histogram *latency; /* ticks, of packets created in the measurement */
    int64_t created;        /* packets of the measurement */
    int64_t sources_before; /* chips whose head was created before the measurement's end */
    uint64_t accepted;
};

static bool is_measured(const struct run *r, uint64_t cycle)
{
    return cycle - r->begin < r->end - r->begin;
}

/* ---- the client ---- */

/* The packet created at the source's `birth`. */
static struct net_packet make_packet(struct run *r, uint32_t node)
{
    struct source *s = &r->source[node];
    topo_chip_id to = net_pattern_draw(r->traffic->pattern, node, &s->rng);
    if (is_measured(r, s->birth)) r->created++;
    return (struct net_packet){.route = net_pair_route(r->routes, node, to, &s->rng),
                               .message = (uint32_t)(s->birth & MESSAGE_MASK),
                               .size = r->size,
                               .is_last = true};
}

static bool next_packet(void *context, uint32_t node, uint32_t port, net_ticks free,
                        struct net_packet *packet, net_ticks *ready)
{
    struct run *r = context;
    struct source *s = &r->source[node];
    uint64_t last = s->birth;
    (void)port;
    s->birth += 1 + net_gap_draw(&r->gap[s->gap], &s->rng);
    if (s->birth >= r->end && last < r->end) r->sources_before--;
    *packet = make_packet(r, node);
    *ready = s->birth * r->cycle > free ? s->birth * r->cycle : free;
    return true;
}

static void take_packet(void *context, uint32_t node, uint32_t message, bool is_last,
                        net_ticks when)
{
    struct run *r = context;
    uint64_t cycle = when / r->cycle, age = (cycle - message) & MESSAGE_MASK;
    uint64_t birth = cycle - age;
    (void)is_last;
    (void)node;
    if (is_measured(r, cycle)) r->accepted++;
    if (is_measured(r, birth)) net_histogram_add(r->latency, when - birth * r->cycle);
}

/* How long the drain takes is not known; mostly little. */
static void tell_progress(void *context, net_ticks now)
{
    const struct run *r = context;
    if (!sim_progress_is_due(r->traffic->progress)) return;
    sim_progress_share(r->traffic->progress, (double)now / (double)(r->end * r->cycle));
}

/* Nothing is ever due. */
static void never(void *context, uint32_t node, net_ticks now)
{
    (void)context;
    (void)node;
    (void)now;
    assert(false);
}

/* ---- phases ---- */

double net_traffic_flight(const topo *t, const struct net_router *router)
{
    double cycle_ps = router->flit_bytes / topo_default_link_rate(t) * 1e12;
    double unit_ps = router->is_in_cycles ? cycle_ps : 1;
    sim_ps link_ps = 0;
    uint32_t hops = 0;
    topo_chip_id from = 0;
    for (topo_link_id l = 0; l < topo_links(t) && !router->is_in_cycles; l++)
        if (topo_link_latency_ps(t, l) > link_ps) link_ps = topo_link_latency_ps(t, l);
    while (topo_chip_is_failed(t, from))
        from++;
    for (topo_chip_id c = from; c < topo_chips(t); c++) {
        uint32_t distance = topo_chip_is_failed(t, c) ? 0 : topo_distance(t, from, c);
        if (distance > hops) hops = distance;
    }
    double own = (double)(router->injection + router->ejection + hops * router->hop) * unit_ps;
    return (own + hops * (double)link_ps) / cycle_ps +
           (double)router->packet_bytes / router->flit_bytes;
}

static uint64_t more_of(uint64_t cycles, double others)
{
    return (double)cycles > others ? cycles : (uint64_t)ceil(others);
}

void net_traffic_phases(const topo *t, const struct net_router *router, uint64_t *warmup,
                        uint64_t *measure, uint64_t *drain)
{
    const double flights = 10, most = 1e9, full = 8; /* flits of the curves' longest packets */
    double flight = flights * net_traffic_flight(t, router);
    double packets = (double)router->packet_bytes / router->flit_bytes / full;
    *warmup = more_of(NET_TRAFFIC_WARMUP, fmin(fmax(flight, packets * NET_TRAFFIC_WARMUP), most));
    *measure = more_of(NET_TRAFFIC_MEASURE, fmin(packets * NET_TRAFFIC_MEASURE, most));
    *drain = more_of(NET_TRAFFIC_DRAIN, fmin(fmax(flight, packets * NET_TRAFFIC_DRAIN), most));
}

/* ---- a run ---- */

/* Chips that send alike share a table. */
static uint32_t gap_of(struct run *r, double share)
{
    for (uint32_t i = 0; i < r->gaps; i++)
        if (r->gap_share[i] == share) return i;
    uint32_t i = r->gaps++;
    r->gap = sim_realloc(r->gap, r->gaps, sizeof *r->gap, "gap tables");
    r->gap_share = sim_realloc(r->gap_share, r->gaps, sizeof *r->gap_share, "gap tables");
    r->gap_share[i] = share;
    double cycles = (double)r->size_ticks / (double)r->cycle;
    net_gap_init(&r->gap[i], fmin(1, r->traffic->load * share / cycles));
    return i;
}

static void start_sources(struct run *r, const topo *t)
{
    for (topo_chip_id c = 0; c < r->chips; c++) {
        struct source *s = &r->source[c];
        double share = topo_chip_is_failed(t, c) ? 0 : net_pattern_share(r->traffic->pattern, c);
        if (share == 0 || !net_packet_has(r->engine, c)) continue;
        sim_rng_init(&s->rng, r->traffic->seed, c);
        s->gap = gap_of(r, share);
        s->birth = net_gap_draw(&r->gap[s->gap], &s->rng);
        r->sources_before += s->birth < r->end;
        struct net_packet packet = make_packet(r, c);
        net_packet_offer(r->engine, c, 0, &packet, s->birth * r->cycle);
    }
}

static void add_ranks(const struct run *r, int64_t *values, int count)
{
    if (r->traffic->partition != NULL) net_mpi_sum(values, count);
}

static bool is_drained(const struct run *r)
{
    int64_t left[] = {r->sources_before, r->created - (int64_t)net_histogram_count(r->latency)};
    add_ranks(r, left, 2);
    return left[0] == 0 && left[1] == 0;
}

static double offered_share(const struct run *r, const topo *t)
{
    double sum = 0;
    for (topo_chip_id c = 0; c < r->chips; c++)
        if (!topo_chip_is_failed(t, c)) sum += net_pattern_share(r->traffic->pattern, c);
    return sum / (double)(r->chips - topo_failed_chips(t));
}

static void note_ports(const struct run *r, const topo *t, struct net_traffic_result *out)
{
    double span = (double)(r->traffic->measure * r->cycle);
    int64_t most = 0;
    uint32_t chip = 0;
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        int64_t busy = (int64_t)net_packet_busy(r->engine, l, r->end * r->cycle);
        if (busy > most) most = busy;
    }
    if (r->traffic->partition != NULL) net_mpi_max(&most, 1);
    int64_t *busy = SIM_NEW(int64_t, r->chips);
    for (topo_chip_id c = 0; c < r->chips; c++)
        busy[c] = (int64_t)net_packet_ejection_busy(r->engine, c, r->end * r->cycle);
    add_ranks(r, busy, (int)r->chips);
    for (topo_chip_id c = 1; c < r->chips; c++)
        if (busy[c] > busy[chip]) chip = c;
    out->busiest_link = (double)most / span;
    out->busiest_chip = chip;
    out->busiest_ejection = (double)busy[chip] / span;
    sim_free(busy);
}

static void note_loads(const struct run *r, const topo *t, struct net_traffic_result *out)
{
    double chips = r->chips - topo_failed_chips(t), span = (double)(r->traffic->measure * r->cycle);
    double packets = r->traffic->load * offered_share(r, t) * span / (double)r->size_ticks * chips;
    out->accepted = (double)(r->accepted * r->size_ticks) / span / chips;
    double wanted = 0.97 * packets - 2 * sqrt(packets);
    out->is_saturated = (double)r->accepted < wanted;
}

static void note_latencies(const struct run *r, struct net_traffic_result *out)
{
    double per_ps = (double)net_packet_ticks_per_ps(r->engine);
    out->mean_ps = net_histogram_mean(r->latency) / per_ps;
    out->p50_ps = (double)net_histogram_quantile(r->latency, 0.5) / per_ps;
    out->p99_ps = (double)net_histogram_quantile(r->latency, 0.99) / per_ps;
    out->max_ps = (double)net_histogram_max(r->latency) / per_ps;
}

/* Until all that was measured has arrived; false: it has not in time. Looks no more often than once
 * a window, since a run ends the window it is in. */
static bool drain(struct run *r)
{
    enum { LOOKS = 100 }; /* at most */
    uint64_t most = r->traffic->drain, look = most / LOOKS + 1;
    uint64_t window = net_packet_window(r->engine) / r->cycle + 1;
    if (look < window) look = window;
    for (uint64_t passed = 0; passed < most && !is_drained(r);) {
        passed = passed + look < most ? passed + look : most;
        net_packet_run(r->engine, (r->end + passed) * r->cycle);
    }
    return is_drained(r);
}

/* Sources never end: where nothing moves any more, nothing can, unless an audit has stopped the
 * run. */
static enum sim_status run_until(struct run *r, uint64_t cycle, struct sim_error *err)
{
    if (net_packet_run(r->engine, cycle * r->cycle)) return SIM_OK;
    struct sim_error fault = {0};
    int64_t sums[] = {(int64_t)net_packet_in_flight(r->engine),
                      net_packet_fault(r->engine, &fault) != SIM_OK};
    add_ranks(r, sums, 2);
    return sums[0] > 0 && sums[1] == 0 ? net_packet_deadlock(r->engine, err) : SIM_OK;
}

static enum sim_status run_phases(struct run *r, const topo *t, struct sim_error *err,
                                  struct net_traffic_result *out)
{
    SIM_TRY(run_until(r, r->begin, err));
    net_packet_restart_links(r->engine, r->begin * r->cycle);
    SIM_TRY(run_until(r, r->end, err));
    add_ranks(r, (int64_t *)&r->accepted, 1);
    note_ports(r, t, out);
    note_loads(r, t, out);
    if (r->traffic->links != NULL)
        net_packet_links(r->engine, r->end * r->cycle, r->traffic->partition != NULL,
                         r->traffic->links);
    if (!out->is_saturated) out->is_saturated = !drain(r);
    if (r->traffic->partition != NULL) net_histogram_share(r->latency);
    out->measured = net_histogram_count(r->latency);
    if (!out->is_saturated && out->measured > 0) note_latencies(r, out);
    net_packet_counts(r->engine, &out->counts);
    uint64_t windows = out->counts.windows; /* all ranks run the same */
    add_ranks(r, (int64_t *)&out->counts, sizeof out->counts / sizeof(int64_t));
    out->counts.windows = windows;
    return net_packet_fault(r->engine, err);
}

enum sim_status net_traffic_run(const topo *t, const struct net_traffic *traffic,
                                struct sim_error *err, struct net_traffic_result *out)
{
    struct run r = {.traffic = traffic,
                    .chips = topo_chips(t),
                    .begin = traffic->warmup,
                    .end = traffic->warmup + traffic->measure};
    struct net_router router = *traffic->router;
    struct net_packet_client client = {.context = &r,
                                       .step = never,
                                       .next = next_packet,
                                       .deliver = take_packet,
                                       .look = traffic->progress != NULL ? tell_progress : NULL};
    assert(traffic->load > 0 && traffic->load <= 1);
    router.is_one_port = true;
    router.is_watched = traffic->links != NULL;
    *out = (struct net_traffic_result){0};
    const uint32_t *part = traffic->partition != NULL ? traffic->partition->part : NULL;
    SIM_TRY(net_packet_create(t, &router, &client, part, err, &r.engine));
    r.cycle = net_packet_cycle(r.engine);
    r.size = net_packet_size(r.engine, router.packet_bytes);
    r.size_ticks = net_packet_size_ticks(r.engine, r.size);
    r.routes = net_pair_routes_create(r.engine, t);
    r.source = SIM_NEW(struct source, r.chips);
    r.latency = net_histogram_create();
    out->cycle_ps = (double)r.cycle / (double)net_packet_ticks_per_ps(r.engine);
    start_sources(&r, t);
    enum sim_status status = run_phases(&r, t, err, out);
    net_histogram_destroy(r.latency);
    sim_free(r.source);
    sim_free(r.gap);
    sim_free(r.gap_share);
    net_pair_routes_destroy(r.routes);
    net_packet_destroy(r.engine);
    return status;
}
