/*
 * Trains change no bit. Random collectives, one to three at once, on random topologies with and
 * without faults, chips that start at once or at random times, and routers with deep and with
 * shallow buffers, whose messages leave packets of one size or of two: with trains and without, and
 * with windows shorter than the lookahead, the times of the run and of every message are the same,
 * as are every link's busy time and the counts of hops and deliveries, which are those foreseen. The
 * loop index is the seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/packet.h"
#include "netsim/run.h"
#include "netsim/volume.h"
#include "tests/property/at_once.h"
#include "tests/support.h"

#define CASES 300

static const char *const specs[] = {
    "torus:4x4",   "torus:6",   "torus:3x5", "torus:4x4x2",          "mesh:4x3",
    "torus:5x5",   "torus:8x2", "ring:7",    "torus:4x8,twisted",    "v4:4x4x4,optical=1.7us",
    "torus:4x3x3", "mesh:6",    "full:5",    "torus:3x3*2,dcn=3GB/s"};
static const char *const faults[] = {"links=1,seed=3", "chips=1,seed=5", NULL, NULL, NULL};

static topo *random_topology(struct sim_rng *rng)
{
    const char *spec = specs[pick(rng, sizeof specs / sizeof specs[0])];
    const char *random = faults[pick(rng, sizeof faults / sizeof faults[0])];
    struct sim_error err = {0};
    topo *t = NULL;
    if (random != NULL && topo_with(spec, "", random, NULL, &err, &t) == SIM_OK) return t;
    return topo_or_fail(spec);
}

static struct net_router random_router(struct sim_rng *rng)
{
    static const uint32_t packets[] = {4096, 1000, 16384};
    struct net_router r = *net_router_find("tpu");
    r.packet_bytes = r.flit_bytes = packets[pick(rng, 3)];
    if (pick(rng, 4) == 0) r.flit_bytes = r.packet_bytes / 4;
    r.buffer_flits = pick(rng, 3) > 0 ? 0 : r.packet_bytes / r.flit_bytes + pick(rng, 60);
    r.vcs = pick(rng, 3) == 0 ? 4 + pick(rng, 5) : 0;
    r.bubble = pick(rng, 4);
    r.arbitration = pick(rng, 2) == 0 ? NET_BY_INPUT : NET_BY_CHANNEL;
    r.ejection = pick(rng, 2) * 12345;
    r.hop = pick(rng, 2) * 77777;
    return r;
}

struct outcome {
    struct net_result result;
    struct net_link_stats links;
    struct net_run_stats stats;
    char *messages; /* a line each, in the order told */
    size_t bytes;
    FILE *text;
};

static void note_message(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                         sim_ps start_ps, sim_ps end_ps)
{
    struct outcome *o = context;
    fprintf(o->text, "%u %u %a %lld %lld\n", src, dst, bytes, (long long)start_ps,
            (long long)end_ps);
}

static bool run(const net_schedule *s, const struct net_options *options, struct outcome *o)
{
    struct sim_error err = {0};
    const struct net_observer observer = {.context = o, .on_message = note_message};
    *o = (struct outcome){0};
    o->text = open_memstream(&o->messages, &o->bytes);
    net_link_stats_init_packets(&o->links, net_schedule_topo(s));
    enum sim_status status = net_run(s, options, &observer, &err, &o->result, &o->links, &o->stats);
    fclose(o->text);
    /* more channels than the router has: the routing of a fault, or of two slices */
    ck_assert_msg(status == SIM_OK || strstr(err.text, "virtual channel") != NULL, "%s", err.text);
    return status == SIM_OK;
}

static void release(struct outcome *o)
{
    net_link_stats_release(&o->links);
    free(o->messages);
}

static void compare(const topo *t, const struct outcome *a, const struct outcome *b)
{
    ck_assert_int_eq(a->result.time_ps, b->result.time_ps);
    ck_assert_int_eq(a->result.latency_ps, b->result.latency_ps);
    ck_assert_int_eq(a->result.overhead_ps, b->result.overhead_ps);
    ck_assert_uint_eq(a->stats.packet_hops, b->stats.packet_hops);
    ck_assert_uint_eq(a->stats.events, b->stats.events);
    ck_assert_uint_eq(a->stats.messages, b->stats.messages);
    ck_assert(strcmp(a->messages, b->messages) == 0); /* too long to print */
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        ck_assert_int_eq(a->links.busy_ps[l], b->links.busy_ps[l]);
        ck_assert_int_eq(a->links.waited_ps[l], b->links.waited_ps[l]);
        ck_assert_int_eq(a->links.stalled_ps[l], b->links.stalled_ps[l]);
        ck_assert_uint_eq(a->links.most[l], b->links.most[l]);
    }
}

/* Which cases had trains and cuts, and of several messages; each case adds a line, in a file of the
 * parent's since Check runs each in a process. */
static FILE *tally;

static void check_case(const topo *t, const net_schedule *root, struct net_options options,
                       struct sim_rng *rng)
{
    struct outcome off, on, narrow;
    options.is_one_by_one = true;
    if (run(root, &options, &off)) {
        ck_assert_uint_eq(off.stats.trains, 0);
        options.is_one_by_one = false;
        ck_assert(run(root, &options, &on));
        compare(t, &off, &on);
        options.window_ps = 1 + pick(rng, 900000);
        ck_assert(run(root, &options, &narrow));
        compare(t, &off, &narrow);
        struct net_volume volume = net_volume_of(root, options.router->packet_bytes);
        ck_assert_double_eq(volume.messages, (double)off.stats.messages);
        ck_assert_double_eq(volume.packet_hops, (double)off.stats.packet_hops);
        fprintf(tally, "%d %d %d %d\n", on.stats.trains > 0, on.stats.cuts > 0,
                on.stats.shared_trains > 0, on.stats.shared_cuts > 0);
        fflush(tally);
        release(&on);
        release(&narrow);
    }
    release(&off);
}

START_TEST(trains_change_no_bit)
{
    struct sim_rng rng;
    sim_rng_init(&rng, (uint64_t)_i, 4711);
    topo *t = random_topology(&rng);
    const struct net_router router = random_router(&rng);
    const struct net_options options = {.router = &router,
                                        .launch_overhead_ps = pick(&rng, 2) * 1234};
    struct at_once at_once;
    at_once_init(&at_once, &rng, t, 1 + pick(&rng, AT_ONCE_MAX), 6000000);
    check_case(t, at_once.root, options, &rng);
    at_once_release(&at_once);
    topo_destroy(t);
}
END_TEST

/* ---- a client that sends one message, and looks in between ---- */

struct sender {
    net_packet_engine *engine;
    struct net_packet packet;
    uint64_t left; /* behind the head */
    uint64_t delivered;
    net_ticks last;
};

static void never(void *context, uint32_t node, net_ticks now)
{
    (void)context, (void)node, (void)now;
    ck_abort_msg("nothing is due");
}

static bool next(void *context, uint32_t node, uint32_t port, net_ticks free,
                 struct net_packet *packet, net_ticks *ready)
{
    struct sender *s = context;
    (void)node, (void)port;
    if (s->left == 0) return false;
    *packet = s->packet;
    packet->is_last = --s->left == 0;
    packet->more = s->left > 0 ? s->left - 1 : 0;
    packet->turns = 1;
    packet->turn_size[0] = (uint8_t)packet->size;
    *ready = free;
    return true;
}

static void deliver(void *context, uint32_t node, uint32_t message, bool is_last, net_ticks when)
{
    struct sender *s = context;
    (void)node, (void)message, (void)is_last;
    s->delivered++;
    if (when > s->last) s->last = when;
}

static uint32_t passed(void *context, uint32_t node, uint32_t port, uint64_t packets)
{
    struct sender *s = context;
    (void)node, (void)port;
    s->left -= packets;
    s->delivered += packets;
    return s->packet.message;
}

/* 1,000 packets of 4 KiB at 64 GB/s, 64 ns each, over 1 us. Looked at every 6.4 us less a tick,
 * a hundred packets have left each time. */
START_TEST(a_train_can_be_looked_at)
{
    topo *t = topo_or_fail("ring:4,link=64GB/s,latency=1us");
    struct sender s = {.left = 999};
    const struct net_packet_client client = {&s, never, next, deliver, NULL, passed};
    struct sim_error err = {0};
    struct topo_paths paths = {0};
    struct net_packet_counts counts;
    ck_assert(net_packet_create(t, net_router_find("tpu"), &client, NULL, &err, &s.engine) ==
              SIM_OK);
    topo_route(t, 0, 1, &paths);
    s.packet = (struct net_packet){.route = net_packet_route(s.engine, &paths, 0),
                                   .size = net_packet_size(s.engine, 4096)};
    uint32_t port;
    net_packet_ports_of(s.engine, 0, s.packet.route, &port);
    topo_link_id link = paths.link[0];
    net_packet_offer(s.engine, 0, port, &s.packet, 0);
    net_ticks ns = 1000 * net_packet_ticks_per_ps(s.engine);
    for (uint64_t i = 1; i <= 10; i++) {
        net_packet_run(s.engine, i * 6400 * ns);
        ck_assert_uint_eq(net_packet_busy(s.engine, link, i * 6400 * ns), i * 6400 * ns);
        net_packet_counts(s.engine, &counts);
        ck_assert_uint_eq(counts.hops, i * 100);
        if (i < 10) ck_assert_uint_eq(counts.trains, i);
    }
    ck_assert(!net_packet_run(s.engine, NET_TICKS_NEVER - 1));
    ck_assert_uint_eq(s.delivered, 1000);
    ck_assert_uint_eq(s.last, 65000 * ns);
    net_packet_destroy(s.engine);
    topo_paths_release(&paths);
    topo_destroy(t);
}
END_TEST

/* Identity would say nothing if no train ran. */
START_TEST(many_cases_had_trains_and_cuts)
{
    int had[4], with[4] = {0};
    rewind(tally);
    while (fscanf(tally, "%d %d %d %d", &had[0], &had[1], &had[2], &had[3]) == 4)
        for (int i = 0; i < 4; i++)
            with[i] += had[i];
    ck_assert_int_ge(with[0], CASES / 3);
    ck_assert_int_ge(with[1], CASES / 6);
    ck_assert_int_ge(with[2], CASES / 4);
    ck_assert_int_ge(with[3], CASES / 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packet_train");
    TCase *cases = tcase_create("cases"), *after = tcase_create("after");
    tally = tmpfile();
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, trains_change_no_bit, 0, CASES);
    tcase_add_test(after, a_train_can_be_looked_at);
    tcase_add_test(after, many_cases_had_trains_and_cuts);
    suite_add_tcase(suite, cases);
    suite_add_tcase(suite, after);
    return run_suite(suite);
}
