/*
 * The flow engine against closed forms and bounds.
 *
 * V bytes of the whole buffer, W one-way link rate, a = 1 us hop latency, n chips in the group.
 */
#include <math.h>
#include <stdlib.h>

#include "collectives/choice.h"
#include "tests/analytic/run.h"

START_TEST(worked_examples)
{
    static const struct {
        const char *spec, *axes;
        enum coll_op op;
        enum coll_algorithm algorithm;
        double bytes, us;
    } cases[] = {
        /* 3/4 V/(2W) + 3a = 0.75 x 2,097,152 / 90e9 + 3 us */
        {"v4:4x4x4", "x", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 2097152, 20.476},
        /* 15/16 V/(4W) + 6a */
        {"v4:4x4x4", "xy", COLL_ALL_GATHER, COLL_BUCKET, 8388608, 49.691},
        /* 2 x 3/4 V/(2W) + 6a */
        {"v4:4x4x4", "z", COLL_ALL_REDUCE, COLL_BIDIRECTIONAL_RING, 524288, 14.738},
        {"v5p:4x4x4", "x", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 33554432, 142.810},
        /* a line: 3/4 V/W + 3a, the end link carries three shards */
        {"mesh:4,link=90GB/s,latency=1us", "x", COLL_ALL_GATHER, COLL_RING, 33554432, 282.620},
        {"v5e:8x4", "y", COLL_ALL_GATHER, COLL_RING, 33554432, 562.241},
        /* 2 x 511/512 V/(6W) + 42a */
        {"v5p:8x8x8", "xyz", COLL_ALL_REDUCE, COLL_BUCKET, 1073741824,
         2 * 511.0 / 512 * 1073741824 / (6 * 90e3) + 42},
        /* rings of 8 .. 64 at 1 MiB: 2(n-1)(a + V/(nW)) */
        {"ring:8", "x", COLL_ALL_REDUCE, COLL_RING, 1048576, 54.778},
        {"ring:16", "x", COLL_ALL_REDUCE, COLL_RING, 1048576, 73.691},
        {"ring:32", "x", COLL_ALL_REDUCE, COLL_RING, 1048576, 107.147},
        {"ring:64", "x", COLL_ALL_REDUCE, COLL_RING, 1048576, 171.875},
        {"ring:8", "x", COLL_ALL_REDUCE, COLL_RING, 4294967296, 167041},
        /* one n-th to each over an own link: V/(4W) at 25 GB/s without latency */
        {"full:4,link=25GB/s,latency=0", "x", COLL_ALL_TO_ALL, COLL_DIRECT, 1073741824, 10737.418},
        /* v6e:8x16 wraps y only: a line of 8 over x 7/8 V/W + 7a, a ring of 16 over y 15/32 V/W +
           15a */
        {"v6e:8x16", "x", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 1073741824, 10439.156 + 7},
        {"v6e:8x16", "y", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 1073741824, 5592.405 + 15},
        /* a 2x2 sub-ring both ways: 3 V/(8W) + 3a; four chips in a line: 3/4 V/W + 3a */
        {"torus:16x16", "x2y2", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 48e6, 403},
        {"torus:16x16", "x4", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 48e6, 803},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double us =
            time_us(cases[i].spec, cases[i].axes, cases[i].op, cases[i].algorithm, cases[i].bytes);
        ck_assert_msg(fabs(us / cases[i].us - 1) < 1e-3, "%s %s: %.3f us, want %.3f", cases[i].spec,
                      cases[i].axes, us, cases[i].us);
    }
    double direct =
        time_us("torus:4", "x", COLL_ALL_GATHER, COLL_DIRECT, 256); /* two hops and the wire time */
    ck_assert_double_ge(direct, 2.000);
    ck_assert_double_le(direct, 2.004);
}
END_TEST

START_TEST(rules_of_thumb)
{
    /*
     * The scaling book's worked answers take the larger of latency and bytes instead of their sum,
     * and V instead of V (n-1)/n. What podsim gives for the same question, and why it differs:
     *
     *   what                            book us   podsim us   why
     *   S1  v4 4x4x4 AG x, 2.10 MB        23.3       19.5     3/4 of the bytes, + 2 hops
     *   S2  the same over xy, 8.39 MB     46.6       49.7     15/16 of the bytes, + 6 hops
     *   S3  AR over z, 0.52 MB            11.65      14.7     3/4 of the bytes, + 6 hops
     *   S4  S1, S2 over unused axes       11.5, 31   no row   all groups run: no idle axes
     *   S5  AG of 256 B on a ring of 4     2          2.0     latency only: no difference
     *   S7  v5e 8x4 AG y, 33.6 MB        560        562.2     the form is the same, + 3 hops
     *   S22 v5p AG on 4, 33.6 MB         186.4      142.8     wrapped: 3/4 of the bytes, + 3 hops
     *       the same on a line           279.6      282.6     the form is the same, + 3 hops
     */
    static const struct {
        const char *spec, *axes;
        enum coll_op op;
        enum coll_algorithm algorithm;
        double bytes, book_us, n, hops;
    } cases[] = {
        {"v4:4x4x4", "x", COLL_ALL_GATHER, COLL_SHORT_RING, 2097152, 23.302, 4, 2},
        {"v4:4x4x4", "xy", COLL_ALL_GATHER, COLL_BUCKET, 8388608, 46.603, 16, 6},
        {"v4:4x4x4", "z", COLL_ALL_REDUCE, COLL_BIDIRECTIONAL_RING, 524288, 11.651, 4, 6},
        {"v5p:4x4x4", "x", COLL_ALL_GATHER, COLL_BIDIRECTIONAL_RING, 33554432, 186.414, 4, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        double us =
            time_us(cases[i].spec, cases[i].axes, cases[i].op, cases[i].algorithm, cases[i].bytes);
        double explained = cases[i].book_us * (cases[i].n - 1) / cases[i].n + cases[i].hops;
        ck_assert_double_eq_tol(us, explained, 1e-3 * explained);
    }
}
END_TEST

static const char *const sweep[][2] = {
    {"torus:4", "x"},          {"torus:7", "x"},          {"torus:2", "x"},
    {"mesh:5", "x"},           {"mesh:2", "x"},           {"torus:4x4", "xy"},
    {"torus:3x5", "xy"},       {"torus:4x4x4", "xyz"},    {"torus:4x4x4", "y"},
    {"mesh:4x4", "xy"},        {"mesh:3x4", "y"},         {"v6e:8x16", "xy"},
    {"torus:2x2", "xy"},       {"torus:2x4", "xy"},       {"torus:16", "x4@4"},
    {"torus:16", "x4"},        {"torus:8x8", "x2y2"},     {"full:5", "x"},
    {"full:2", "x"},           {"torus:1", "x"},          {"mesh:3x3x3", "xyz"},
    {"torus:1x6", "xy"},       {"torus:3x3x3", "zxy"},    {"torus:8,latency=0", "x"},
    {"mesh:6,latency=0", "x"}, {"torus:4x2x3x2", "xyzw"}, {"full:9,latency=0", "x"}};
#define SWEEP ((int)(sizeof sweep / sizeof sweep[0]))

START_TEST(bounds_hold_and_exact_forms_are_met)
{
    static const double sizes[] = {0, 1, 100, 65536, 1048576, 1073741824};
    topo *t = topo_or_fail(sweep[_i][0]);
    struct coll_spec c = {.group = group_or_fail(t, sweep[_i][1])};
    for (int op = 0; op < COLL_OPS; op++)
        for (int a = 0; a < COLL_ALGORITHMS; a++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                c.op = (enum coll_op)op;
                c.algorithm = (enum coll_algorithm)a;
                c.bytes = sizes[i];
                if (!coll_can(t, &c)) continue;
                double us = run_us(t, &c), bound = sim_ps_to_us(coll_lower_bound(t, &c).time_ps);
                struct coll_cost form = coll_closed_form(t, &c);
                ck_assert_msg(bound <= us, "%s %s %s %s %g B: bound %.6f us, run %.6f",
                              sweep[_i][0], sweep[_i][1], coll_op_names[op],
                              coll_algorithm_names[a], c.bytes, bound, us);
                /* each of up to 2n messages in a chain, or 2n + 256 with chunks, is rounded to the
                 * picosecond, and to one at least */
                double chunks = c.algorithm == COLL_CHAIN ? 256 : 0;
                double allowed = 1e-9 * us + 2e-6 * c.group.size + 1e-6 * (1 + chunks);
                if (form.is_exact)
                    ck_assert_msg(fabs(us - sim_ps_to_us(form.time_ps)) <= allowed,
                                  "%s %s %s %s %g B: form %.6f us, run %.6f", sweep[_i][0],
                                  sweep[_i][1], coll_op_names[op], coll_algorithm_names[a], c.bytes,
                                  sim_ps_to_us(form.time_ps), us);
            }
    topo_destroy(t);
}
END_TEST

START_TEST(a_thousand_small_ones_cost_far_more_than_one_large)
{
    /* 1,000 KiB on a ring of 8: 14 (1 us + 1,024,000 B / 8 / 45 GB/s) = 53.8 us; 1,000 times 1 KiB:
     * 14,040 us */
    double large = time_us("ring:8", "x", COLL_ALL_REDUCE, COLL_RING, 1024000);
    double small = 1000 * time_us("ring:8", "x", COLL_ALL_REDUCE, COLL_RING, 1024);
    ck_assert_double_eq_tol(large, 53.822, 1e-3);
    ck_assert_double_eq_tol(small, 14039.8, 0.1);
}
END_TEST

START_TEST(forms_differ_between_topologies)
{
    /* ring of 8, line of 8, full mesh of 8 and of 64, torus 4x2: nobody may get the same number by
     * accident */
    static const char *const specs[] = {"ring:8", "mesh:8", "full:8", "full:64", "torus:4x2"};
    double us[5];
    for (int i = 0; i < 5; i++) {
        topo *t = topo_or_fail(specs[i]);
        struct coll_spec c = {.op = COLL_ALL_REDUCE, .group = topo_group_all(t), .bytes = 1e6};
        c.algorithm = coll_choose(t, &c);
        us[i] = run_us(t, &c);
        for (int j = 0; j < i; j++)
            ck_assert_double_gt(fabs(us[i] / us[j] - 1), 0.01);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(renamed_axes_give_the_same_bits)
{
    static const char *const specs[] = {"torus:4x3x2", "torus:4x2x3", "torus:3x4x2",
                                        "torus:3x2x4", "torus:2x4x3", "torus:2x3x4"};
    static const enum coll_algorithm algorithms[] = {COLL_BUCKET, COLL_DIRECT};
    for (int op = 0; op < COLL_OPS; op++)
        for (int a = 0; a < 2; a++) {
            struct coll_spec c = {.op = (enum coll_op)op, .algorithm = algorithms[a], .bytes = 1e6};
            double us[6];
            sim_ps bound[6];
            for (int i = 0; i < 6 && coll_algorithm_fits(c.op, c.algorithm); i++) {
                topo *t = topo_or_fail(specs[i]);
                c.group = topo_group_all(t);
                us[i] = run_us(t, &c);
                bound[i] = coll_lower_bound(t, &c).time_ps;
                ck_assert_msg(us[i] == us[0] && bound[i] == bound[0], "%s: %.17g and %.17g us",
                              specs[i], us[i], us[0]);
                topo_destroy(t);
            }
        }
}
END_TEST

/* Unequal sides get the colours out of step, and still the form says how long it takes; with lines
 * among three axes nearly so, and says so. */
START_TEST(phased_is_its_form)
{
    static const struct {
        const char *spec;
        double off; /* most, of the run; 0: exact */
    } cases[] = {
        {"torus:4x4x4", 0}, {"torus:3x5", 0},      {"torus:4x8", 0},   {"torus:6x8x10", 0},
        {"torus:4x16", 0},  {"torus:4x8x16", 0},   {"torus:2x3x4", 0}, {"torus:2x2", 0},
        {"mesh:4x4", 0},    {"torus:5x2x3x4", 0},  {"mesh:5x7", 0},    {"mesh:2x9", 0},
        {"v6e:8x16", 0},    {"mesh:3x3x3", 0},     {"full:7", 0},      {"mesh:6", 0},
        {"ring:2", 0},      {"mesh:3x4x6", 0.025}, {"v4:2x4x4", 0.01}, {"mesh:3x3x5", 0.03}};
    static const double sizes[] = {1, 65536, 200000, 1048576, 1073741824};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
            struct coll_spec c = {.op = COLL_ALL_TO_ALL,
                                  .algorithm = COLL_PHASED,
                                  .group = topo_group_all(t),
                                  .bytes = sizes[k]};
            struct coll_cost form = coll_closed_form(t, &c);
            double us = run_us(t, &c), off = fabs(sim_ps_to_us(form.time_ps) - us);
            ck_assert_msg(form.is_exact == (cases[i].off == 0), "%s: exact %d", cases[i].spec,
                          form.is_exact);
            ck_assert_msg(off <= cases[i].off * us + 1e-4, "%s, %g B: %.6f us, run %.6f",
                          cases[i].spec, sizes[k], sim_ps_to_us(form.time_ps), us);
        }
        topo_destroy(t);
    }
}
END_TEST

/* By hand: two colours of V/2 on 4x8, W = 45 GB/s, no latency; in V/W, and in messages of the axis
 * they are on. Along x (4) a colour has 2 halves and 1 whole over each link, along y (8) 4 and 6:
 *
 *   0        x: 3 flows to 1/2 of V/8: 3/16 V/W; then 1 flow: 1/16 more; the first colour leaves x
 *            at 1/4, when y has reached 1/40 V of its V/16 (10 flows), the halves' end at 1/32
 *   1/4      20 flows on y: 1/32 - 1/40 = 1/160 more takes 1/8: at 3/8 the second colour has 6 left
 *   3/8      16 flows: the second's whole ones have 1/32 to go: 1/2, and the first's halves, which
 *            came at 1/40, end at 9/160, 1/40 later: 2/5 to 31/40
 *   31/40    12 flows: 1/16 - 9/160 = 1/160 takes 3/40: at 17/20 the second leaves y for x
 *   17/20    on x 1/4 more: over at 11/10; the first is through before
 */
START_TEST(phased_by_hand)
{
    double us = time_us("torus:4x8,latency=0", "xy", COLL_ALL_TO_ALL, COLL_PHASED, 1e9);
    ck_assert_double_eq_tol(us, 1.1 * 1e9 / 45e3, 1e-3);
}
END_TEST

START_TEST(auto_is_never_beaten_by_a_form)
{
    topo *t = topo_or_fail(sweep[_i][0]);
    struct coll_spec c = {.group = group_or_fail(t, sweep[_i][1]), .bytes = 1e5};
    for (int op = 0; op < COLL_OPS; op++) {
        c.op = (enum coll_op)op;
        c.algorithm = coll_choose(t, &c);
        sim_ps chosen = coll_closed_form(t, &c).time_ps;
        for (int a = 0; a < COLL_ALGORITHMS; a++) {
            c.algorithm = (enum coll_algorithm)a;
            if (coll_can(t, &c)) ck_assert_int_le(chosen, coll_closed_form(t, &c).time_ps);
        }
    }
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {worked_examples,
                                  rules_of_thumb,
                                  forms_differ_between_topologies,
                                  renamed_axes_give_the_same_bits,
                                  phased_is_its_form,
                                  phased_by_hand,
                                  a_thousand_small_ones_cost_far_more_than_one_large};
    Suite *suite = SUITE_OF("coll_forms", tests);
    TCase *loops = tcase_create("sweep");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, bounds_hold_and_exact_forms_are_met, 0, SWEEP);
    tcase_add_loop_test(loops, auto_is_never_beaten_by_a_form, 0, SWEEP);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
