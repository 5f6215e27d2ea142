/*
 * Collectives on faulty slices: what a dark optical switch does to a ring and to all-to-all, and
 * that everything still runs, above its bound, when links fail at random.
 */
#include <stdio.h>

#include <string.h>

#include "collectives/choice.h"
#include "tests/analytic/run.h"
#include "topo/metrics.h"

START_TEST(a_ring_over_a_dark_switch_keeps_half)
{
    /* each broken cable's messages take one detour over the next line, whose links then carry
     * two rings: 0.50 of the throughput on the affected links (Zu et al., NSDI 2024) */
    topo *healthy = topo_or_fail("v4:8x4x4"),
         *faulty = topo_with_or_fail("v4:8x4x4", "ocs:x0", NULL);
    struct coll_spec c = {
        .op = COLL_ALL_REDUCE, .algorithm = COLL_BIDIRECTIONAL_RING, .bytes = 1e9};
    c.group = group_or_fail(healthy, "x");
    double kept = checked_us(healthy, &c) / checked_us(faulty, &c);
    ck_assert_double_eq_tol(kept, 0.5, 0.005);
    topo_destroy(healthy);
    topo_destroy(faulty);
}
END_TEST

START_TEST(all_to_all_in_the_engine_agrees_with_link_loads)
{
    topo *healthy = topo_or_fail("v4:4x4x8"),
         *faulty = topo_with_or_fail("v4:4x4x8", "ocs:z0", NULL);
    struct coll_spec c = {.op = COLL_ALL_TO_ALL,
                          .algorithm = COLL_DIRECT,
                          .bytes = 1e9,
                          .group = topo_group_all(healthy)};
    double kept = checked_us(healthy, &c) / checked_us(faulty, &c);
    double by_load = topo_metrics_of(faulty).all_to_all_bytes_per_s /
                     topo_metrics_of(healthy).all_to_all_bytes_per_s;
    ck_assert_double_eq_tol(kept, by_load, 0.01);
    /* at most what is left of the cut, 15 of 16 cables; one that is not evened out keeps 0.8 */
    ck_assert_double_ge(kept, 0.88);
    ck_assert_double_le(kept, 60.0 / 64 + 1e-9);
    topo_destroy(healthy);
    topo_destroy(faulty);
}
END_TEST

START_TEST(everything_runs_on_faulty_links)
{
    static const char *const specs[] = {"torus:4x4",   "mesh:3x4",          "torus:3x3x2",
                                        "torus:2x2x4", "torus:2x4,twisted", "full:6",
                                        "ring:6"};
    char random[32];
    snprintf(random, sizeof random, "links=%d,seed=%d", 1 + _i % 3, _i);
    struct sim_error err = {0};
    topo *t;
    if (topo_with(specs[_i % 7], "", random, NULL, &err, &t) != SIM_OK) return; /* cut apart */
    struct coll_spec c = {.group = topo_group_all(t), .bytes = 1e6};
    for (int op = 0; op < COLL_OPS; op++)
        for (int a = 0; a < COLL_ALGORITHMS; a++) {
            c.op = (enum coll_op)op;
            c.algorithm = (enum coll_algorithm)a;
            if (coll_can(t, &c)) checked_us(t, &c);
        }
    topo_destroy(t);
}
END_TEST

/* One group alone: a chip elsewhere that hangs by one cable bounds it no more than a long way of
 * another group's does; each group, where it is, by everything it can do. */
START_TEST(a_group_alone_is_bound_by_its_own_chips)
{
    topo *t = topo_with_or_fail("torus:4x4", "link:3,3:+x;link:3,3:-x;link:3,3:+y", NULL);
    static const char *const axes[] = {"x2y2", "x", "y", "x2y", "x2@2"};
    for (size_t i = 0; i < sizeof axes / sizeof axes[0]; i++)
        for (topo_chip_id of = 0; of < 16; of++) {
            struct coll_spec c = {.group = group_or_fail(t, axes[i]),
                                  .bytes = 1e6,
                                  .is_one_group = true,
                                  .one_group_of = of};
            for (int op = 0; op < COLL_OPS; op++)
                for (int a = 0; a < COLL_ALGORITHMS; a++) {
                    c.op = (enum coll_op)op;
                    c.algorithm = (enum coll_algorithm)a;
                    c.receiver = c.op == COLL_SEND;
                    if (coll_can(t, &c)) run_us(t, &c);
                }
        }
    /* 0,0 to 1,1 is whole: both ways round, 3/8 V/W and 3 hops at most */
    struct coll_spec near = {.op = COLL_ALL_GATHER,
                             .algorithm = COLL_BIDIRECTIONAL_RING,
                             .group = group_or_fail(t, "x2y2"),
                             .bytes = 1e6,
                             .is_one_group = true};
    ck_assert_double_eq_tol(run_us(t, &near), 3 / 8.0 * 1e6 / 45e3 + 3, 1e-3);
    /* 3,3's is not: it has one cable for 3/4 V */
    near.one_group_of = 15;
    ck_assert_double_ge(run_us(t, &near), 3 / 4.0 * 1e6 / 45e3 + 3);
    topo_destroy(t);
}
END_TEST

/* The others go on without it, with algorithms that need no full grid. */
START_TEST(a_failed_chip_is_left_out)
{
    struct sim_error err = {0};
    net_schedule *s = NULL;
    topo *t = topo_with_or_fail("torus:4x4", "chip:1,2;link:0,0:+x", NULL);
    struct coll_spec c = {.bytes = 1e6, .group = topo_group_all(t), .root = 3};
    for (int op = 0; op < COLL_PERMUTE; op++) {
        int able = 0;
        for (int a = 0; a < COLL_ALGORITHMS; a++) {
            c.op = (enum coll_op)op;
            c.algorithm = (enum coll_algorithm)a;
            if (!coll_can(t, &c)) continue;
            able++;
            checked_us(t, &c);
        }
        ck_assert_msg(able > 0, "nothing does %s", coll_op_names[op]);
    }
    c.op = COLL_ALL_GATHER;
    c.algorithm = COLL_BUCKET;
    ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_EUSAGE);
    ck_assert_msg(strstr(err.text, "want a slice without failed chips") != NULL, "%s", err.text);
    err = (struct sim_error){0};
    c.algorithm = COLL_BRUCK;
    c.group = group_or_fail(t, "x");
    ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_EDATA);
    ck_assert_msg(strstr(err.text, "only one group of the whole slice") != NULL, "%s", err.text);
    err = (struct sim_error){0};
    c = (struct coll_spec){.op = COLL_BROADCAST,
                           .algorithm = COLL_BINOMIAL,
                           .group = topo_group_all(t),
                           .root = 1 + 4 * 2};
    ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_EDATA);
    ck_assert_msg(strstr(err.text, "broadcast is to begin or end at it") != NULL, "%s", err.text);
    topo_destroy(t);
}
END_TEST

/* Holes that leave a power of two, a few, or one; the forms are asked as auto asks them. */
START_TEST(whatever_is_left_goes_on)
{
    static const char *const cases[][2] = {{"ring:5", "chip:4"},
                                           {"full:9", "chip:3"},
                                           {"mesh:6x6", "chip:2,2;chip:3,2;chip:2,3;chip:3,3"},
                                           {"torus:3x3", "chip:1,1"},
                                           {"mesh:2", "chip:0"},
                                           {"ring:4", "chip:1;chip:3;chip:2"},
                                           {"switch:9", "chip:3"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        if (topo_with(cases[i][0], cases[i][1], NULL, NULL, &err, &t) != SIM_OK) continue;
        struct coll_spec c = {.bytes = 1e6, .group = topo_group_all(t)};
        while (topo_chip_is_failed(t, topo_group_chip(t, &c.group, 0, c.root)))
            c.root++;
        c.receiver = c.root;
        for (int op = 0; op < COLL_OPS; op++) {
            c.op = (enum coll_op)op;
            c.algorithm = coll_choose(t, &c);
            checked_us(t, &c);
        }
        topo_destroy(t);
    }
}
END_TEST

/* A receiver that lost its way out still takes in by both ports: 1 GB over 90 GB/s and 4 hops. */
START_TEST(ways_in_and_out_are_told_apart)
{
    topo *t = topo_with_or_fail("ring:8", "link:4:+x:out", NULL);
    struct coll_spec c = {.op = COLL_SEND,
                          .algorithm = COLL_DIRECT,
                          .group = topo_group_all(t),
                          .bytes = 1e9,
                          .receiver = 4};
    ck_assert_double_le(sim_ps_to_us(coll_lower_bound(t, &c).time_ps), 1e9 / 90e3 + 4);
    run_us(t, &c);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_group_alone_is_bound_by_its_own_chips,
                                  a_ring_over_a_dark_switch_keeps_half,
                                  all_to_all_in_the_engine_agrees_with_link_loads,
                                  a_failed_chip_is_left_out,
                                  whatever_is_left_goes_on,
                                  ways_in_and_out_are_told_apart};
    Suite *suite = SUITE_OF("coll_fault", tests);
    TCase *loops = tcase_create("random");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, everything_runs_on_faulty_links, 0, 42);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
