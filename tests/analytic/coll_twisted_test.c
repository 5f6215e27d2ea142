/*
 * All-to-all on twisted against regular tori in the flow engine. The link loads say 1.745 (4x4x8)
 * and 1.391 (4x8x8); TPU v4 measured 1.63 and 1.31 (Jouppi et al., ISCA 2023, figure 6).
 */
#include "tests/analytic/run.h"

static double all_to_all_us(const char *spec)
{
    return time_us(spec, "xyz", COLL_ALL_TO_ALL, COLL_DIRECT, 1e9);
}

START_TEST(twisting_gains_what_the_links_say)
{
    double gain = all_to_all_us("v4:4x4x8") / all_to_all_us("v4:4x4x8,twisted");
    ck_assert_double_ge(gain, 1.743);
    ck_assert_double_le(gain, 1.746);
    gain = all_to_all_us("v4:4x8x8") / all_to_all_us("v4:4x8x8,twisted");
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
                c.op = (enum coll_op)op;
                c.algorithm = (enum coll_algorithm)a;
                if (coll_can(t, &c)) checked_us(t, &c);
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
