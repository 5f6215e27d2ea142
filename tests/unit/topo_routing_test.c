/* What a chosen routing does to link loads, against loads counted by hand. */
#include "tests/support.h"
#include "topo/metrics.h"
#include "topo/routing.h"

START_TEST(metrics_follow_the_routing)
{
    /*
     * Pairs over the busiest link, links of 45 GB/s. ring:4: by default 0>1 and half of 0>2 and of
     * 3>1; with ties positive all of the last two. Up* down* (root 0, then 1 before 3 before 2):
     * 1<>3 must go over 0, and 0>2 over 1, so 0>1 carries 0>1, 3>1 and 0>2. mesh:3: 0>2 and 1>2.
     * hypercube:3 in e-cube order: 4 of a dimension's 32 pairs each way on each of its links.
     */
    static const struct {
        const char *spec, *routing;
        double pairs, chips;
    } cases[] = {{"ring:4", NULL, 2, 4},
                 {"ring:4", "balanced", 2, 4},
                 {"ring:4", "dimension-order,tie=positive", 3, 4},
                 {"ring:4", "ecmp", 2, 4},
                 {"ring:4", "fault-tolerant", 2, 4},
                 {"ring:4", "up-down", 3, 4},
                 {"mesh:3", "up-down", 2, 3},
                 {"hypercube:3", NULL, 4, 8},
                 {"hypercube:3", "ecmp", 4, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_with_or_fail(cases[i].spec, "", cases[i].routing);
        double want = 45e9 / (cases[i].pairs / cases[i].chips);
        ck_assert_double_eq_tol(topo_metrics_of(t).all_to_all_bytes_per_s / want, 1, 1e-12);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(cuts_stay_the_topologys)
{
    static const char *const routings[] = {"up-down", "valiant", "ecmp", "fault-tolerant"};
    struct topo_metrics plain, m;
    topo *t = topo_with_or_fail("torus:4x6", "", NULL);
    plain = topo_metrics_of(t);
    topo_destroy(t);
    for (size_t i = 0; i < sizeof routings / sizeof routings[0]; i++) {
        t = topo_with_or_fail("torus:4x6", "", routings[i]);
        m = topo_metrics_of(t);
        ck_assert(m.bisection_bytes_per_s == plain.bisection_bytes_per_s);
        ck_assert_double_le(m.all_to_all_bytes_per_s, plain.all_to_all_bytes_per_s * (1 + 1e-12));
        topo_destroy(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {metrics_follow_the_routing, cuts_stay_the_topologys};
    return run_suite(SUITE_OF("topo_routing", tests));
}
