/* Patterns, gaps, quantiles, and what saturates. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/gap.h"
#include "netsim/histogram.h"
#include "netsim/traffic.h"
#include "tests/support.h"

static net_pattern *pattern_or_fail(const topo *t, const char *text)
{
    struct sim_error err = {0};
    net_pattern *p = NULL;
    ck_assert_msg(net_pattern_parse(t, text, &err, &p) == SIM_OK, "%s", err.text);
    return p;
}

static topo_chip_id destination(const char *spec, const char *pattern, topo_chip_id from)
{
    topo *t = topo_or_fail(spec);
    net_pattern *p = pattern_or_fail(t, pattern);
    struct sim_rng rng;
    sim_rng_init(&rng, 1, from);
    topo_chip_id to = net_pattern_draw(p, from, &rng);
    net_pattern_destroy(p);
    topo_destroy(t);
    return to;
}

START_TEST(patterns_send_where_their_definitions_say)
{
    /* chip x + 8 y + 64 z */
    ck_assert_uint_eq(destination("torus:8x8", "tornado", 2 + 8 * 7), 5 + 8 * 2);
    ck_assert_uint_eq(destination("torus:4x4x4", "tornado", 3), 0 + 4 * 1 + 16 * 1);
    ck_assert_uint_eq(destination("torus:8x8", "neighbour", 7 + 8 * 3), 0 + 8 * 4);
    ck_assert_uint_eq(destination("torus:8x8", "neighbor", 7 + 8 * 3), 0 + 8 * 4);
    ck_assert_uint_eq(destination("torus:8x8", "transpose", 2 + 8 * 5), 5 + 8 * 2);
    ck_assert_uint_eq(destination("torus:4x4x4", "transpose", 6 + 8 * 5), 5 + 8 * 6);
    ck_assert_uint_eq(destination("torus:8x8", "bitcomp", 2 + 8 * 5), 5 + 8 * 2);
    ck_assert_uint_eq(destination("torus:3x5", "bitcomp", 0), 2 + 3 * 4);
    ck_assert_uint_eq(destination("torus:8x8", "bitrev", 1), 32);
    ck_assert_uint_eq(destination("torus:8x8", "hotspot:9:1", 3), 9);
}
END_TEST

START_TEST(patterns_that_do_not_fit_say_why)
{
    static const struct {
        const char *spec, *pattern, *says;
    } cases[] = {{"torus:3x5", "transpose", "square"},   {"torus:3x5", "bitrev", "2, 4, 8"},
                 {"torus:4x4", "hotspot:16", "0 to 15"}, {"torus:4x4", "hotspot:1:2", "share"},
                 {"torus:4x4", "uniform:3", "nothing"},  {"torus:4x4", "chaos", "tornado"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct sim_error err = {0};
        net_pattern *p;
        ck_assert_int_eq(net_pattern_parse(t, cases[i].pattern, &err, &p), SIM_EDATA);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(a_matrix_is_drawn_by_weight)
{
    topo *t = topo_or_fail("ring:4");
    const topo_chip_id src[] = {0, 1, 0, 2}, dst[] = {1, 2, 3, 0};
    const uint64_t weight[] = {30, 20, 10, 0};
    struct sim_error err = {0};
    net_pattern *p;
    ck_assert_int_eq(net_pattern_matrix(t, 4, src, dst, weight, &err, &p), SIM_OK);
    ck_assert_double_eq(net_pattern_share(p, 0), 1);
    ck_assert_double_eq(net_pattern_share(p, 1), 0.5);
    ck_assert_double_eq(net_pattern_share(p, 2), 0);
    ck_assert_double_eq(net_pattern_share(p, 3), 0);
    struct sim_rng rng;
    uint32_t ones = 0;
    sim_rng_init(&rng, 5, 0);
    for (int i = 0; i < 100000; i++) {
        topo_chip_id to = net_pattern_draw(p, 0, &rng);
        ck_assert(to == 1 || to == 3);
        ones += to == 1;
    }
    ck_assert_uint_gt(ones, 74000);
    ck_assert_uint_lt(ones, 76000);
    net_pattern_destroy(p);
    topo_destroy(t);
}
END_TEST

/* Mean (1-p)/p, variance (1-p)/p^2 of a geometric number; also beyond the table. */
START_TEST(gaps_are_geometric)
{
    static const double chances[] = {1, 0.9, 0.3, 0.01, 0.0003};
    enum { DRAWS = 200000 };
    for (size_t i = 0; i < sizeof chances / sizeof chances[0]; i++) {
        double p = chances[i], sum = 0, squares = 0;
        struct net_gap gap;
        struct sim_rng rng;
        net_gap_init(&gap, p);
        sim_rng_init(&rng, 3, i);
        for (int k = 0; k < DRAWS; k++) {
            double g = (double)net_gap_draw(&gap, &rng);
            sum += g;
            squares += g * g;
        }
        double mean = sum / DRAWS, variance = squares / DRAWS - mean * mean;
        ck_assert_double_le(fabs(mean - (1 - p) / p), 5 * sqrt((1 - p) / DRAWS) / p);
        ck_assert_double_le(fabs(variance - (1 - p) / p / p), 0.05 * (1 - p) / p / p);
    }
}
END_TEST

START_TEST(quantiles_are_within_a_bucket)
{
    net_histogram *h = net_histogram_create();
    ck_assert_uint_eq(net_histogram_quantile(h, 0.5), 0);
    for (uint64_t v = 1; v <= 100000; v++)
        net_histogram_add(h, v * 1000);
    ck_assert_double_eq(net_histogram_mean(h), 50000500);
    ck_assert_uint_eq(net_histogram_max(h), 100000000);
    ck_assert_uint_eq(net_histogram_quantile(h, 1), 100000000);
    double median = (double)net_histogram_quantile(h, 0.5);
    ck_assert_double_ge(median, 50000000);
    ck_assert_double_le(median, 50000000 * (1 + 1.0 / 512));
    net_histogram_destroy(h);
    h = net_histogram_create();
    for (uint64_t v = 0; v < 1000; v++) /* exact */
        net_histogram_add(h, v);
    ck_assert_uint_eq(net_histogram_quantile(h, 0.99), 989);
    net_histogram_add(h, UINT64_MAX);
    net_histogram_add(h, UINT64_MAX);
    ck_assert_uint_eq(net_histogram_max(h), UINT64_MAX);
    net_histogram_destroy(h);
}
END_TEST

static struct net_traffic_result traffic_or_fail(const char *spec, const char *router,
                                                 const char *pattern, double load)
{
    topo *t = topo_or_fail(spec);
    net_pattern *p = pattern_or_fail(t, pattern);
    const struct net_traffic traffic = {.router = net_router_find(router),
                                        .pattern = p,
                                        .load = load,
                                        .seed = 1,
                                        .warmup = 2000,
                                        .measure = 2000,
                                        .drain = 10000};
    struct net_traffic_result r;
    struct sim_error err = {0};
    ck_assert_msg(net_traffic_run(t, &traffic, &err, &r) == SIM_OK, "%s", err.text);
    net_pattern_destroy(p);
    topo_destroy(t);
    return r;
}

START_TEST(what_cannot_be_carried_is_saturated_and_the_rest_is_not)
{
    /* uniform traffic loads a link of a 10x10 torus 10/8 as much as a chip sends: at most 0.8 */
    ck_assert(traffic_or_fail("torus:10x10", "tpu", "uniform", 0.9).is_saturated);
    struct net_traffic_result r = traffic_or_fail("torus:10x10", "tpu", "uniform", 0.2);
    ck_assert(!r.is_saturated);
    ck_assert_double_le(fabs(r.accepted - 0.2), 0.006);
    /* every chip sends a fifth to chip 0 */
    r = traffic_or_fail("torus:4x4", "tpu", "hotspot", 0.6);
    ck_assert(r.is_saturated);
    ck_assert_double_gt(r.busiest_ejection, 0.95);
    ck_assert(!traffic_or_fail("torus:4x4", "tpu", "hotspot", 0.1).is_saturated);
}
END_TEST

/* Every packet of a permutation of one distance takes the same, while they never meet. */
START_TEST(zero_load_latency_is_the_hand_formula)
{
    struct net_traffic_result r = traffic_or_fail("torus:8x8", "booksim-a", "neighbour", 0.01);
    ck_assert_double_eq_tol(r.mean_ps / r.cycle_ps, 2 + 3 * (2 + 1), 1e-9);
    ck_assert_double_eq_tol(r.max_ps, r.mean_ps, 1e-6);
    r = traffic_or_fail("torus:4x4x4", "booksim-p", "neighbour", 0.001);
    ck_assert_double_eq_tol(r.p50_ps / r.cycle_ps, 2 + 3 * (3 + 1) + 7, 0.05);
    r = traffic_or_fail("torus:8x8,link=90GB/s,latency=1us", "tpu", "neighbour", 0.001);
    ck_assert_double_le(fabs(r.p50_ps - (2e6 + 4096 * 100 / 9.0)), 4e3); /* a bucket: 1/512 */
}
END_TEST

/* ---- links in the measurement ---- */

struct measured {
    struct net_traffic_result result;
    struct net_link_stats links;
    topo *topology;
    double span_ps;
};

/* `p` is taken over. */
static struct measured measure_pattern(topo *t, net_pattern *p, const char *router, double load,
                                       uint64_t warmup, uint64_t cycles)
{
    struct measured m = {.topology = t};
    net_link_stats_init_packets(&m.links, t);
    const struct net_traffic traffic = {.router = net_router_find(router),
                                        .pattern = p,
                                        .load = load,
                                        .seed = 1,
                                        .warmup = warmup,
                                        .measure = cycles,
                                        .drain = 10000,
                                        .links = &m.links};
    struct sim_error err = {0};
    ck_assert_msg(net_traffic_run(t, &traffic, &err, &m.result) == SIM_OK, "%s", err.text);
    m.span_ps = (double)cycles * m.result.cycle_ps;
    net_pattern_destroy(p);
    return m;
}

static struct measured measure(const char *spec, const char *router, const char *pattern,
                               double load, uint64_t warmup, uint64_t cycles)
{
    topo *t = topo_or_fail(spec);
    return measure_pattern(t, pattern_or_fail(t, pattern), router, load, warmup, cycles);
}

static void release(struct measured *m)
{
    net_link_stats_release(&m->links);
    topo_destroy(m->topology);
}

/* The link of a ring from a chip to the next one up (or down). */
static topo_link_id link_of(const topo *t, topo_chip_id from, topo_chip_id to)
{
    topo_link_id l = 0;
    while (topo_link_from(t, l) != from || topo_link_to(t, l) != to)
        l++;
    return l;
}

/* At a load of 1 a packet starts on every link up in every cycle, and none waits. */
START_TEST(links_of_a_full_ring_are_always_busy_one_way)
{
    struct measured m = measure("ring:8,link=32GB/s", "booksim-a", "neighbour", 1, 100, 700);
    for (topo_chip_id c = 0; c < 8; c++) {
        topo_link_id up = link_of(m.topology, c, (c + 1) % 8);
        topo_link_id down = link_of(m.topology, c, (c + 7) % 8);
        ck_assert_double_eq_tol((double)m.links.busy_ps[up], m.span_ps, 1);
        ck_assert_double_eq_tol(net_link_utilisation(&m.links, m.topology, up, (sim_ps)m.span_ps),
                                1, 1e-6);
        ck_assert_int_eq(m.links.stalled_ps[up], 0);
        ck_assert_uint_eq(m.links.most[up], 0);
        ck_assert_int_eq(m.links.busy_ps[down], 0);
    }
    release(&m);
}
END_TEST

/* Chips 0 and 1 send to chip 2, each at all times: 1 > 2 is full, and on it what comes from chip 0
 * takes turns with chip 1. So 0 > 1 is busy half of the time and wants for room in the other half,
 * and behind it wait the packets of its full buffers: all but those that are on their way or whose
 * credit is. */
START_TEST(a_link_before_a_full_one_stalls)
{
    const topo_chip_id src[] = {0, 1}, dst[] = {2, 2};
    const uint64_t weight[] = {1, 1};
    struct sim_error err = {0};
    topo *t = topo_or_fail("mesh:3,link=45GB/s,latency=1us");
    net_pattern *p;
    ck_assert_int_eq(net_pattern_matrix(t, 2, src, dst, weight, &err, &p), SIM_OK);
    struct measured m = measure_pattern(t, p, "tpu", 1, 1000, 1000);
    topo_link_id first = link_of(m.topology, 0, 1), second = link_of(m.topology, 1, 2);
    ck_assert_double_eq_tol((double)m.links.busy_ps[second], m.span_ps, 1);
    ck_assert_double_eq_tol((double)m.links.busy_ps[first] / m.span_ps, 0.5, 0.001);
    ck_assert_double_eq_tol((double)m.links.stalled_ps[first] / m.span_ps, 0.5, 0.001);
    ck_assert_int_eq(m.links.stalled_ps[second], 0);
    double waiting = net_link_queue_mean(&m.links, first, (sim_ps)m.span_ps);
    /* In each of the 2 channels of its class 32 slots, of which chip 0 leaves 2 free; a slot is
     * under way for 1 us, and its credit for 1 us, at half a packet a 4,096 B / 45 GB/s. */
    ck_assert_double_eq_tol(waiting, 2 * (32 - 2) - 0.5 * 2000 / (4096 / 45.0), 0.01);
    ck_assert_uint_eq(m.links.most[first], 25); /* 24.5 in each */
    ck_assert_uint_eq(m.result.busiest_chip, 2);
    ck_assert_double_eq_tol(m.result.busiest_ejection, 1, 1e-9);
    release(&m);
}
END_TEST

/* Each packet is on as many links as its way has: 3 up a ring of 8 by tornado; one each axis of
 * torus:4x4 by neighbour. What arrives in the measurement is what crosses links in it, but for what
 * is on its way at either end: at most some tens of packets. */
START_TEST(links_carry_what_arrives_times_its_hops)
{
    static const struct {
        const char *spec, *pattern;
        double load, hops;
    } cases[] = {{"ring:8", "tornado", 0.2, 3},
                 {"torus:4x4", "neighbour", 0.4, 2},
                 {"torus:4x4x4", "neighbour", 0.9, 3},
                 {"mesh:3", "hotspot:2:1", 0.1, 1}}; /* (2 + 1 + 0) / 3 */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct measured m =
            measure(cases[i].spec, "booksim-p", cases[i].pattern, cases[i].load, 2000, 20000);
        double sum = 0, chips = topo_chips(m.topology);
        for (topo_link_id l = 0; l < m.links.count; l++)
            sum += (double)m.links.busy_ps[l] / m.span_ps;
        double wanted = m.result.accepted * cases[i].hops * chips;
        ck_assert_double_le(fabs(sum - wanted), (i == 3 ? 0.05 : 0.003) * wanted);
        release(&m);
    }
}
END_TEST

/* What waits or is stalled across the border of two measurements counts in each for its own part:
 * so that they add up to one that lasts as long as both, however full the network is. */
START_TEST(measurements_one_after_the_other_add_up)
{
    static const struct {
        const char *spec, *router, *pattern;
        double load;
    } cases[] = {{"torus:10x10", "tpu", "uniform", 1},
                 {"ring:8", "tpu", "tornado", 0.6},
                 {"torus:4x4", "booksim-p", "hotspot", 0.7},
                 {"torus:8x8", "booksim-a", "transpose", 0.5}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct measured part[3];
        for (int k = 0; k < 3; k++)
            part[k] = measure(cases[i].spec, cases[i].router, cases[i].pattern, cases[i].load,
                              k == 1 ? 1311 : 1000,
                              k == 0   ? 311
                              : k == 1 ? 217
                                       : 528);
        const struct net_link_stats *a = &part[0].links, *b = &part[1].links, *c = &part[2].links;
        sim_ps stalled = 0;
        for (topo_link_id l = 0; l < a->count; l++) {
            enum { ROUNDING = 2 }; /* of three numbers in ps */
            ck_assert_int_le(llabs(a->busy_ps[l] + b->busy_ps[l] - c->busy_ps[l]), ROUNDING);
            ck_assert_int_le(llabs(a->waited_ps[l] + b->waited_ps[l] - c->waited_ps[l]), ROUNDING);
            ck_assert_int_le(llabs(a->stalled_ps[l] + b->stalled_ps[l] - c->stalled_ps[l]),
                             ROUNDING);
            ck_assert_uint_eq(a->most[l] > b->most[l] ? a->most[l] : b->most[l], c->most[l]);
            ck_assert_double_le((double)(c->busy_ps[l] + c->stalled_ps[l]), part[2].span_ps + 1);
            stalled += c->stalled_ps[l];
        }
        ck_assert_int_gt(stalled, 0);
        for (int k = 0; k < 3; k++)
            release(&part[k]);
    }
}
END_TEST

/* Packets of 8 flits, one behind the other without a gap: of 13 cycles an ejection port is busy in
 * 13, though parts of up to three packets lie in them. */
START_TEST(an_ejection_port_is_busy_at_most_all_the_time)
{
    topo *t = topo_or_fail("ring:5");
    struct measured m =
        measure_pattern(t, pattern_or_fail(t, "neighbour"), "booksim-p", 1, 4000, 13);
    ck_assert_double_le(m.result.busiest_ejection, 1);
    ck_assert_double_gt(m.result.busiest_ejection, 0.9);
    release(&m);
}
END_TEST

/* 8 hops of 3 cycles, 2 in, 3 out with the flit; and 8 us at 32 bytes in 0.711 ns. */
START_TEST(phases_are_longer_than_a_packets_way)
{
    topo *t = topo_or_fail("torus:8x8,link=45GB/s,latency=1us");
    uint64_t phase[3];
    struct net_router small = *net_router_find("tpu");
    small.packet_bytes = small.flit_bytes = 32;
    ck_assert_double_eq_tol(net_traffic_flight(t, net_router_find("booksim-a")), 30, 1e-9);
    ck_assert_double_eq_tol(net_traffic_flight(t, &small), 8e-6 * 45e9 / 32 + 1, 1e-6);
    net_traffic_phases(t, net_router_find("booksim-p"), &phase[0], &phase[1], &phase[2]);
    ck_assert(phase[0] == 3000 && phase[1] == 4000 && phase[2] == 20000);
    net_traffic_phases(t, &small, &phase[0], &phase[1], &phase[2]);
    ck_assert(phase[0] == 112510 && phase[1] == 4000 && phase[2] == 112510);
    small.packet_bytes = 64 * 32;
    net_traffic_phases(t, &small, &phase[0], &phase[1], &phase[2]);
    ck_assert_uint_eq(phase[1], 8 * 4000);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_traffic");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 120);
    tcase_add_test(cases, patterns_send_where_their_definitions_say);
    tcase_add_test(cases, patterns_that_do_not_fit_say_why);
    tcase_add_test(cases, a_matrix_is_drawn_by_weight);
    tcase_add_test(cases, gaps_are_geometric);
    tcase_add_test(cases, quantiles_are_within_a_bucket);
    tcase_add_test(cases, what_cannot_be_carried_is_saturated_and_the_rest_is_not);
    tcase_add_test(cases, zero_load_latency_is_the_hand_formula);
    tcase_add_test(cases, links_of_a_full_ring_are_always_busy_one_way);
    tcase_add_test(cases, a_link_before_a_full_one_stalls);
    tcase_add_test(cases, links_carry_what_arrives_times_its_hops);
    tcase_add_test(cases, measurements_one_after_the_other_add_up);
    tcase_add_test(cases, an_ejection_port_is_busy_at_most_all_the_time);
    tcase_add_test(cases, phases_are_longer_than_a_packets_way);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
