/*
 * Adaptive routing: a message alone takes the hand formula over every distance, two messages that
 * dimension order puts on one link both have a link's rate, every packet takes the fewest hops,
 * windows do not matter, nothing gets stuck at saturation with the least there is of buffers and
 * channels, and patterns that dimension order crowds go through.
 */
#include <string.h>

#include "netsim/run.h"
#include "netsim/traffic.h"
#include "tests/property/packet_cases.h"
#include "topo/route.h"

#define CASES 120

static topo *adaptive_or_fail(const char *spec)
{
    struct sim_error err = {0};
    topo *t = NULL;
    ck_assert_msg(topo_with(spec, "", NULL, "adaptive", &err, &t) == SIM_OK, "%s", err.text);
    return t;
}

struct outcome {
    struct net_result result;
    struct net_link_stats links;
    struct net_run_stats stats;
};

static void run_or_fail(const topo *t, const struct coll_spec *spec,
                        const struct net_options *options, struct outcome *o)
{
    struct sim_error err = {0};
    net_schedule *s;
    ck_assert_msg(coll_build(t, spec, &err, &s) == SIM_OK, "%s", err.text);
    net_link_stats_init(&o->links, t);
    enum sim_status status = net_run(s, options, NULL, &err, &o->result, &o->links, &o->stats);
    ck_assert_msg(status == SIM_OK, "%s: %s", topo_spec(t), err.text);
    net_schedule_destroy(s);
}

static struct outcome send_pairs(const topo *t, uint32_t count, const topo_chip_id *src,
                                 const topo_chip_id *dst, const uint64_t *bytes)
{
    struct net_router router = *net_router_find("tpu");
    const struct net_options options = {.router = &router};
    const struct coll_pairs pairs = {count, (topo_chip_id *)src, (topo_chip_id *)dst,
                                     (uint64_t *)bytes};
    const struct coll_spec spec = {
        .op = COLL_PERMUTE, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .pairs = &pairs};
    struct outcome o;
    router.is_audited = true;
    run_or_fail(t, &spec, &options, &o);
    return o;
}

/* 64 GB/s: 4096 bytes take 64 ns, and a hop 1 us. No chip is half way round: 5 and 7 are odd. */
START_TEST(a_packet_alone_takes_its_hops_and_its_bytes)
{
    static const char *const specs[] = {"torus:5x7,link=64GB/s,latency=1us",
                                        "mesh:3x4x2,link=64GB/s,latency=1us"};
    for (size_t i = 0; i < 2; i++) {
        topo *t = adaptive_or_fail(specs[i]);
        for (topo_chip_id to = 1; to < topo_chips(t); to++) {
            const topo_chip_id from = 0;
            const uint64_t bytes = 4096;
            struct outcome o = send_pairs(t, 1, &from, &to, &bytes);
            uint32_t hops = topo_distance(t, 0, to);
            ck_assert_int_eq(o.result.time_ps, hops * SIM_PS_PER_US + 64000);
            ck_assert_uint_eq(o.stats.packet_hops, hops);
            net_link_stats_release(&o.links);
        }
        topo_destroy(t);
    }
}
END_TEST

/*
 *     3 - 4 - 5        0 to 2 has one way, over 1 > 2. 1 to 5 goes over 1 > 2 in dimension order,
 *     |   |   |        over 1 > 4 > 5 with nobody there. 100 packets of 64 ns, two hops of 1 us:
 *     0 - 1 - 2        8.4 us. Where they share a link one of them takes nearly 2 x 6.4 us + 1 us.
 */
START_TEST(two_messages_go_round_each_other)
{
    const topo_chip_id src[] = {0, 1}, dst[] = {2, 5};
    const uint64_t bytes[] = {100 * 4096, 100 * 4096};
    topo *t = adaptive_or_fail("mesh:3x2,link=64GB/s,latency=1us");
    topo *ordered = topo_or_fail("mesh:3x2,link=64GB/s,latency=1us");
    struct outcome o = send_pairs(t, 2, src, dst, bytes);
    struct outcome in_order = send_pairs(ordered, 2, src, dst, bytes);
    ck_assert_int_ge(o.result.time_ps, 8400000);
    ck_assert_int_le(o.result.time_ps, 8400000 + 64000);
    ck_assert_int_ge(in_order.result.time_ps, 13000000);
    net_link_stats_release(&o.links);
    net_link_stats_release(&in_order.links);
    topo_destroy(ordered);
    topo_destroy(t);
}
END_TEST

/* All-to-all of one packet a pair: hops are the sum of distances, whatever way was taken. */
START_TEST(every_packet_takes_the_fewest_hops)
{
    static const char *const specs[] = {"torus:5x3x3", "mesh:4x3x2", "torus:7x1x5", "torus:3x3"};
    const struct net_router router = *net_router_find("tpu");
    const struct net_options options = {.router = &router};
    for (size_t i = 0; i < sizeof specs / sizeof(char *); i++) {
        topo *t = adaptive_or_fail(specs[i]);
        uint64_t hops = 0;
        for (topo_chip_id a = 0; a < topo_chips(t); a++)
            for (topo_chip_id b = 0; b < topo_chips(t); b++)
                hops += topo_distance(t, a, b);
        const struct coll_spec spec = {.op = COLL_ALL_TO_ALL,
                                       .algorithm = COLL_DIRECT,
                                       .group = topo_group_all(t),
                                       .bytes = 4096.0 * topo_chips(t)};
        struct outcome o;
        run_or_fail(t, &spec, &options, &o);
        ck_assert_uint_eq(o.stats.packet_hops, hops);
        net_link_stats_release(&o.links);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(windows_do_not_matter)
{
    struct sim_rng rng;
    sim_rng_init(&rng, (uint64_t)_i, 79);
    topo *t = random_adaptive_topology(&rng);
    const struct net_router router = random_late_router(&rng, t);
    struct net_options options = {.router = &router};
    struct coll_spec spec;
    struct outcome whole, part;
    if (random_spec(&rng, t, &spec)) {
        if (router.is_in_cycles) spec.bytes = 1 + spec.bytes / 20;
        run_or_fail(t, &spec, &options, &whole);
        options.window_ps = 1 + pick(&rng, 400000);
        run_or_fail(t, &spec, &options, &part);
        ck_assert_int_eq(whole.result.time_ps, part.result.time_ps);
        ck_assert_uint_eq(whole.stats.packet_hops, part.stats.packet_hops);
        for (topo_link_id l = 0; l < topo_links(t); l++)
            ck_assert_int_eq(whole.links.busy_ps[l], part.links.busy_ps[l]);
        net_link_stats_release(&whole.links);
        net_link_stats_release(&part.links);
    }
    topo_destroy(t);
}
END_TEST

/* Three channels of one packet each, bubbles that fit, everybody sends to everybody at once. */
START_TEST(nothing_gets_stuck_at_saturation)
{
    static const char *const specs[] = {"torus:4x4x4", "torus:8x8"};
    struct net_router router = *net_router_find("tpu");
    const struct net_options options = {.router = &router};
    router.vcs = 3;
    router.is_audited = true;
    for (size_t i = 0; i < 4; i++) {
        topo *t = adaptive_or_fail(specs[i % 2]);
        router.buffer_flits = 1 + i / 2;
        const struct coll_spec spec = {.op = COLL_ALL_TO_ALL,
                                       .algorithm = COLL_DIRECT,
                                       .group = topo_group_all(t),
                                       .bytes = 64 * 5 * 4096.0};
        struct outcome o;
        run_or_fail(t, &spec, &options, &o);
        net_link_stats_release(&o.links);
        topo_destroy(t);
    }
}
END_TEST

static struct net_traffic_result offer(const topo *t, const char *pattern, double load)
{
    struct net_router router = *net_router_find("tpu");
    struct sim_error err = {0};
    net_pattern *p = NULL;
    struct net_traffic_result result;
    router.vcs = 6;
    ck_assert_msg(net_pattern_parse(t, pattern, &err, &p) == SIM_OK, "%s", err.text);
    const struct net_traffic traffic = {&router, p, load, 1, 3000, 4000, 20000, NULL, NULL};
    ck_assert_msg(net_traffic_run(t, &traffic, &err, &result) == SIM_OK, "%s", err.text);
    net_pattern_destroy(p);
    return result;
}

/* Transpose on 8x8: in dimension order one link carries what 3 chips send; over all minimal ways
 * twice as much goes through. */
START_TEST(crowded_patterns_go_through)
{
    topo *t = adaptive_or_fail("torus:8x8"), *ordered = topo_or_fail("torus:8x8");
    ck_assert(offer(ordered, "transpose", 0.4).is_saturated);
    ck_assert(!offer(t, "transpose", 0.4).is_saturated);
    ck_assert(!offer(t, "transpose", 0.6).is_saturated);
    ck_assert(offer(ordered, "uniform", 0.78).is_saturated);
    ck_assert(!offer(t, "uniform", 0.78).is_saturated);
    ck_assert_double_ge(offer(t, "tornado", 0.4).accepted, offer(ordered, "tornado", 0.4).accepted);
    topo_destroy(ordered);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packet_adaptive");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, a_packet_alone_takes_its_hops_and_its_bytes);
    tcase_add_test(cases, two_messages_go_round_each_other);
    tcase_add_test(cases, every_packet_takes_the_fewest_hops);
    tcase_add_loop_test(cases, windows_do_not_matter, 0, CASES);
    tcase_add_test(cases, nothing_gets_stuck_at_saturation);
    tcase_add_test(cases, crowded_patterns_go_through);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
