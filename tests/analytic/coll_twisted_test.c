/*
 * All-to-all on twisted against regular tori in the flow engine. The link loads say 1.745 (4x4x8)
 * and 1.391 (4x8x8); TPU v4 measured 1.63 and 1.31 (Jouppi et al., ISCA 2023, figure 6).
 */
#include "collectives/check.h"
#include "collectives/cost.h"
#include "netsim/run.h"
#include "tests/support.h"

static double run_s(const topo *t, const struct coll_spec *c)
{
    static const struct net_options idle = {0};
    struct sim_error err = {0};
    struct net_result result;
    net_schedule *s;
    ck_assert_int_eq(coll_build(t, c, &err, &s), SIM_OK);
    ck_assert_msg(net_run(s, &idle, NULL, &err, &result, NULL, NULL) == SIM_OK, "%s", err.text);
    net_schedule_destroy(s);
    ck_assert_int_le(coll_lower_bound(t, c).time_ps, result.time_ps);
    return sim_ps_to_s(result.time_ps);
}

static double all_to_all_s(const char *spec)
{
    topo *t = topo_or_fail(spec);
    struct coll_spec c = {
        .op = COLL_ALL_TO_ALL, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .bytes = 1e9};
    double seconds = run_s(t, &c);
    topo_destroy(t);
    return seconds;
}

START_TEST(twisting_gains_what_the_links_say)
{
    double gain = all_to_all_s("v4:4x4x8") / all_to_all_s("v4:4x4x8,twisted");
    ck_assert_double_ge(gain, 1.743);
    ck_assert_double_le(gain, 1.746);
    gain = all_to_all_s("v4:4x8x8") / all_to_all_s("v4:4x8x8,twisted");
    ck_assert_double_ge(gain, 1.389);
    ck_assert_double_le(gain, 1.392);
}
END_TEST

START_TEST(every_algorithm_works_on_twisted_tori)
{
    static const char *const cases[][2] = {{"v4:4x4x8,twisted", "xyz"},
                                           {"torus:4x8,twisted", "xy"},
                                           {"torus:4x8,twisted", "x"},
                                           {"torus:4x8,twisted", "y"},
                                           {"torus:2x2x4,twisted", "xyz"},
                                           {"torus:3x6x6,twisted", "xz"},
                                           {"v4:4x4x8,twisted,optical=2us", "yz"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i][0]);
        struct coll_spec c = {.group = group_or_fail(t, cases[i][1]), .bytes = 1e6};
        for (int op = 0; op < COLL_OPS; op++)
            for (int a = 0; a < COLL_ALGORITHMS; a++) {
                struct sim_error err = {0};
                net_schedule *s;
                c.op = (enum coll_op)op;
                c.algorithm = (enum coll_algorithm)a;
                if (!coll_algorithm_fits(c.op, c.algorithm)) continue;
                run_s(t, &c);
                if (op == COLL_PERMUTE) continue;
                ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_OK);
                ck_assert_msg(coll_check(s, c.op, c.bytes, &err) == SIM_OK, "%s", err.text);
                net_schedule_destroy(s);
            }
        topo_destroy(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {twisting_gains_what_the_links_say,
                                  every_algorithm_works_on_twisted_tori};
    return run_suite(SUITE_OF("coll_twisted", tests));
}
