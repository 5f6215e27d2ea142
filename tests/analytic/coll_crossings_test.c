/*
 * Bucket and Swing over sizes, against times worked out by hand from their formulas; the engine
 * runs what is small enough, the forms stand for the rest.
 */
#include <math.h>

#include "collectives/choice.h"
#include "tests/analytic/run.h"

/* 2d-colour bucket, Swing halving and doubling, Swing exchanging all; in us, hop 1 us. */
static const struct {
    const char *spec;
    double bytes, bucket, swing, swing_latency; /* 0: not said */
} cases[] = {{"torus:8x8,link=45GB/s", 32, 28.0, 20.0, 10.0},
             {"torus:8x8,link=45GB/s", 32768, 28.4, 20.4, 11.8},
             {"torus:8x8,link=45GB/s", 1048576, 39.5, 32.6, 68.3},
             {"torus:8x8,link=45GB/s", 33554432, 395, 422, 1874},
             {"torus:8x8,link=45GB/s", 1073741824, 11772, 12883, 0},
             {"torus:16x16,link=45GB/s", 32, 60.0, 40.0, 20.0},
             {"torus:16x16,link=45GB/s", 32768, 60.4, 40.4, 23.6},
             {"torus:16x16,link=45GB/s", 1048576, 71.6, 53.2, 136.5},
             {"torus:16x16,link=45GB/s", 33554432, 431, 464, 3748},
             {"torus:16x16,link=45GB/s", 1073741824, 11944, 13602, 0},
             {"torus:8x8x8,link=90GB/s", 32, 42.0, 30.0, 15.0},
             {"torus:8x8x8,link=90GB/s", 32768, 42.1, 30.1, 15.9},
             {"torus:8x8x8,link=90GB/s", 1048576, 45.9, 34.0, 44.1},
             {"torus:8x8x8,link=90GB/s", 33554432, 166.0, 157.4, 947},
             {"torus:8x8x8,link=90GB/s", 1073741824, 4011, 4108, 0},
             {"torus:16x16x16,link=90GB/s", 32, 90.0, 60.0, 30.0},
             {"torus:16x16x16,link=90GB/s", 32768, 90.1, 60.1, 31.8},
             {"torus:16x16x16,link=90GB/s", 1048576, 93.9, 64.0, 88.3},
             {"torus:16x16x16,link=90GB/s", 33554432, 214.3, 188.5, 1894},
             {"torus:16x16x16,link=90GB/s", 1073741824, 4066, 4172, 0}};
#define CASES ((int)(sizeof cases / sizeof cases[0]))

static struct coll_cost form_of(const char *spec, enum coll_algorithm algorithm, double bytes)
{
    topo *t = topo_or_fail(spec);
    struct coll_spec c = {
        .op = COLL_ALL_REDUCE, .algorithm = algorithm, .group = topo_group_all(t), .bytes = bytes};
    struct coll_cost cost = coll_closed_form(t, &c);
    ck_assert_msg(cost.is_exact, "%s %s", spec, coll_algorithm_names[algorithm]);
    topo_destroy(t);
    return cost;
}

static double form_us(const char *spec, enum coll_algorithm algorithm, double bytes)
{
    return sim_ps_to_us(form_of(spec, algorithm, bytes).time_ps);
}

START_TEST(sizes_take_what_the_formulas_say)
{
    static const enum coll_algorithm algorithms[] = {COLL_BUCKET, COLL_SWING, COLL_SWING_LATENCY};
    const double wanted[] = {cases[_i].bucket, cases[_i].swing, cases[_i].swing_latency};
    for (int a = 0; a < 3; a++) {
        if (wanted[a] == 0) continue;
        double us = form_us(cases[_i].spec, algorithms[a], cases[_i].bytes);
        ck_assert_msg(fabs(us / wanted[a] - 1) <= 0.005, "%s %g B %s: %g us, want %g",
                      cases[_i].spec, cases[_i].bytes, coll_algorithm_names[algorithms[a]], us,
                      wanted[a]);
        if (_i >= 15) continue; /* 4,096 chips: the form alone */
        topo *t = topo_or_fail(cases[_i].spec);
        struct coll_spec c = {.op = COLL_ALL_REDUCE,
                              .algorithm = algorithms[a],
                              .group = topo_group_all(t),
                              .bytes = cases[_i].bytes};
        double run = run_us(t, &c);
        topo_destroy(t);
        ck_assert_msg(fabs(run / us - 1) <= 1e-6, "%s %g B %s: %g us, form %g", cases[_i].spec,
                      cases[_i].bytes, coll_algorithm_names[algorithms[a]], run, us);
    }
}
END_TEST

/* Above these sizes Swing loses to the 2d-colour bucket; below those to the both-ways bucket. */
START_TEST(swing_crosses_the_buckets)
{
    static const struct {
        const char *spec;
        double bucket, short_bucket_us, latency;
    } crossing[] = {{"torus:8x8,link=45GB/s", 7.7e6, 16, 134e3},
                    {"torus:16x16,link=45GB/s", 12.8e6, 32, 120e3},
                    {"torus:8x8x8,link=90GB/s", 118e6, 24, 374e3},
                    {"torus:16x16x16,link=90GB/s", 237e6, 48, 347e3}};
    for (size_t i = 0; i < sizeof crossing / sizeof crossing[0]; i++) {
        const char *spec = crossing[i].spec;
        double at = crossing[i].bucket, latency = crossing[i].latency;
        ck_assert_double_lt(form_us(spec, COLL_SWING, at * 0.98),
                            form_us(spec, COLL_BUCKET, at * 0.98));
        ck_assert_double_gt(form_us(spec, COLL_SWING, at * 1.02),
                            form_us(spec, COLL_BUCKET, at * 1.02));
        ck_assert_double_eq_tol(form_us(spec, COLL_BUCKET_SHORT, 1), crossing[i].short_bucket_us,
                                0.001);
        ck_assert_double_lt(form_us(spec, COLL_SWING_LATENCY, latency * 0.98),
                            form_us(spec, COLL_BUCKET_SHORT, latency * 0.98));
        ck_assert_double_gt(form_us(spec, COLL_SWING_LATENCY, latency * 1.02),
                            form_us(spec, COLL_BUCKET_SHORT, latency * 1.02));
    }
}
END_TEST

/* What auto says over all sizes is where those forms cross. */
START_TEST(auto_changes_its_mind_there)
{
    topo *t = topo_or_fail("torus:8x8,link=45GB/s");
    struct coll_spec c = {.op = COLL_ALL_REDUCE, .group = topo_group_all(t)};
    struct coll_switch at[COLL_SWITCHES_MAX];
    ck_assert_uint_eq(coll_switch_points(t, &c, 0, at), 2);
    ck_assert_uint_eq(at[0].algorithm, COLL_SWING_LATENCY);
    ck_assert_uint_eq(at[1].algorithm, COLL_BUCKET_SHORT);
    ck_assert_double_eq_tol(at[1].from_bytes, 134e3, 0.02 * 134e3);
    topo_destroy(t);
}
END_TEST

/* Bytes of a form over the bytes bound: 1 GiB without latency. */
static double congestion(const char *spec, enum coll_algorithm algorithm, double ports)
{
    topo *t = topo_or_fail(spec);
    double n = topo_chips(t), bytes = 1073741824;
    struct coll_cost cost = form_of(spec, algorithm, bytes);
    double bound_us = 2 * (n - 1) / n * bytes / (ports * 45e9) * 1e6;
    topo_destroy(t);
    return sim_ps_to_us(cost.time_ps - cost.latency_ps) / bound_us;
}

START_TEST(congestion_of_swing_and_doubling)
{
    /* Swing on 2d colours over 2d ports; recursive halving and doubling is one collective, over
     * one */
    static const struct {
        const char *spec;
        uint32_t axes;
        double swing, doubling;
    } tori[] = {
        {"torus:8x8,latency=0", 2, 1.095, 1.238},      {"torus:16x16,latency=0", 2, 1.141, 1.365},
        {"torus:32x32,latency=0", 2, 1.170, 1.431},    {"torus:8x8x8,latency=0", 3, 1.027, 1.123},
        {"torus:16x16x16,latency=0", 3, 1.034, 1.156}, {"torus:8,latency=0", 1, 1.29, 1.43},
        {"torus:16,latency=0", 1, 1.53, 1.87},         {"torus:64,latency=0", 1, 2.14, 2.79}};
    for (size_t i = 0; i < sizeof tori / sizeof tori[0]; i++) {
        double swing = congestion(tori[i].spec, COLL_SWING, 2.0 * tori[i].axes);
        double doubling = congestion(tori[i].spec, COLL_HALVING_DOUBLING, 1);
        ck_assert_msg(fabs(swing / tori[i].swing - 1) <= 0.005, "%s: %g", tori[i].spec, swing);
        ck_assert_msg(fabs(doubling / tori[i].doubling - 1) <= 0.005, "%s: %g", tori[i].spec,
                      doubling);
    }
}
END_TEST

/* Sides that differ: cyclic orders as worked out by max-min simulation elsewhere, all orders no
 * slower than wanted. us at 90 GB/s, 1 GiB. */
START_TEST(all_orders_even_out_unequal_sides)
{
    static const struct {
        const char *spec;
        double bound, cyclic, wanted;
    } sides[] = {{"torus:8x8x16,link=90GB/s", 3973, 4359, 4030},
                 {"torus:16x24x24,link=90GB/s", 3976, 4194, 4015},
                 {"torus:4x8x8,link=90GB/s", 3961, 4680, 4155},
                 {"torus:4x4x8,link=90GB/s", 3946, 4924, 4185}};
    for (size_t i = 0; i < sizeof sides / sizeof sides[0]; i++) {
        topo *t = topo_or_fail(sides[i].spec);
        struct coll_spec c = {
            .op = COLL_ALL_REDUCE, .group = topo_group_all(t), .bytes = 1073741824};
        ck_assert_double_eq_tol(sim_ps_to_us(coll_lower_bound(t, &c).time_ps), sides[i].bound, 1);
        ck_assert_double_eq_tol(form_us(sides[i].spec, COLL_BUCKET, c.bytes), sides[i].cyclic, 2);
        ck_assert_uint_eq(c.algorithm = coll_choose(t, &c), COLL_BUCKET_ALL);
        double form = sim_ps_to_us(coll_closed_form(t, &c).time_ps);
        ck_assert_double_le(form, sides[i].wanted);
        if (topo_chips(t) <= 256) ck_assert_double_eq_tol(run_us(t, &c), form, 1e-6 * form);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(large_buffers_come_near_the_bound)
{
    static const struct {
        const char *spec;
        enum coll_op op;
        enum coll_algorithm algorithm;
        double least;
    } large[] = {{"v5p:8x8x8", COLL_ALL_REDUCE, COLL_BUCKET, 0.97},
                 {"torus:4x4x4,latency=100ns", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99},
                 {"torus:8x8,latency=100ns", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99},
                 {"torus:5x6", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99},
                 {"v4:4x4x8", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99},
                 {"v4:4x4x8,twisted", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99},
                 {"torus:4x8,twisted", COLL_ALL_TO_ALL, COLL_DIRECT, 0.99}};
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        topo *t = topo_or_fail(large[i].spec);
        struct coll_spec c = {.op = large[i].op,
                              .algorithm = large[i].algorithm,
                              .group = topo_group_all(t),
                              .bytes = 1073741824};
        double bound = sim_ps_to_us(coll_lower_bound(t, &c).time_ps), us = run_us(t, &c);
        ck_assert_msg(bound / us >= large[i].least, "%s: %g of the bound", large[i].spec,
                      bound / us);
        topo_destroy(t);
    }
}
END_TEST

/* Between two corners over all shortest ways: 16 MiB over two ports and six hops. */
START_TEST(a_send_takes_both_ports)
{
    topo *t = topo_with_or_fail("v5e:4x4", "", "ecmp");
    struct coll_spec c = {.op = COLL_SEND,
                          .algorithm = COLL_DIRECT,
                          .group = topo_group_all(t),
                          .bytes = 16777216,
                          .receiver = 15};
    ck_assert_double_eq_tol(run_us(t, &c), 16777216 / 90e3 + 6, 1e-3);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        swing_crosses_the_buckets,         auto_changes_its_mind_there,
        congestion_of_swing_and_doubling,  all_orders_even_out_unequal_sides,
        large_buffers_come_near_the_bound, a_send_takes_both_ports};
    Suite *suite = SUITE_OF("coll_crossings", tests);
    TCase *loops = tcase_create("sizes");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, sizes_take_what_the_formulas_say, 0, CASES);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
