/*
 * Lists of messages against what their links say: V bytes over h hops of a = 1 us take
 * h a + V/W, W the slowest link on the way.
 */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "tests/analytic/run.h"

#define MESSAGES_MAX 4

struct list {
    topo_chip_id src[MESSAGES_MAX], dst[MESSAGES_MAX];
    uint64_t bytes[MESSAGES_MAX];
    uint32_t count;
};

/* Runs a list; its form, and how long it took. */
static struct coll_cost run_list(const topo *t, struct list *l, double *us)
{
    const struct coll_pairs pairs = {l->count, l->src, l->dst, l->bytes};
    struct coll_spec c = {
        .op = COLL_PERMUTE, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .pairs = &pairs};
    for (uint32_t i = 0; i < l->count; i++)
        c.bytes += (double)l->bytes[i];
    *us = run_us(t, &c);
    return coll_closed_form(t, &c);
}

START_TEST(what_lists_take)
{
    static const struct {
        const char *spec;
        struct list list;
        bool is_exact;
        double us;
    } cases[] = {/* 3 hops, 1 MB at 45 GB/s */
                 {"mesh:8", {{0}, {3}, {1000000}, 1}, true, 3 + 1e3 / 45},
                 /* two hops either way round, half each */
                 {"torus:4", {{0}, {2}, {1000000}, 1}, true, 2 + 1e3 / 90},
                 /* along x over one link, then both ways round y: the first link carries all */
                 {"torus:4x4", {{0}, {9}, {1000000}, 1}, false, 3 + 1e3 / 45},
                 /* out and in through the switch */
                 {"switch:4", {{0, 1}, {1, 2}, {1000000, 500000}, 2}, true, 2 + 1e3 / 45},
                 /* to oneself: nothing */
                 {"ring:4", {{0, 2}, {1, 2}, {1000000, UINT64_C(1) << 40}, 2}, true, 1 + 1e3 / 45},
                 /* two over one link */
                 {"mesh:4", {{0, 1}, {2, 2}, {1000000, 1000000}, 2}, false, 2 + 2e3 / 45},
                 /* nobody to anybody */
                 {"ring:4", {{3}, {3}, {7}, 1}, true, 0},
                 {"ring:4", {{3}, {1}, {0}, 1}, true, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct list list = cases[i].list;
        double us;
        struct coll_cost form = run_list(t, &list, &us);
        ck_assert_msg(fabs(us - cases[i].us) < 1e-5, "%zu: %.6f us, want %.6f", i, us, cases[i].us);
        ck_assert_msg(form.is_exact == cases[i].is_exact, "%zu: exact %d", i, form.is_exact);
        if (form.is_exact) ck_assert_double_eq_tol(sim_ps_to_us(form.time_ps), us, 3e-6);
        topo_destroy(t);
    }
}
END_TEST

/* Random lists anywhere: some share links and some do not, and no form that calls itself exact is
 * off. */
START_TEST(exact_forms_are_met_on_any_network)
{
    static const char *const specs[][2] = {
        {"torus:4x4", ""},         {"torus:5x3x2", ""},         {"mesh:4x4", "link:1,1:+x"},
        {"dgx-h100:2", ""},        {"fat-tree:4", ""},          {"ring:4*switch:4", ""},
        {"v5p:2x2x1*3", ""},       {"torus:4x4x8,twisted", ""}, {"torus:4x4", "chip:1,1"},
        {"dragonfly:2", ""},       {"hypercube:4", ""},         {"torus:2x2", ""},
        {"hyperx:3x3,chips=2", ""}};
    struct sim_rng rng;
    sim_rng_init(&rng, 41, 0);
    uint32_t exact = 0, lists = 0;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_with_or_fail(specs[i][0], specs[i][1], NULL);
        for (int k = 0; k < 60; k++, lists++) {
            struct list l = {.count = 1 + (uint32_t)sim_rng_below(&rng, MESSAGES_MAX)};
            for (uint32_t m = 0; m < l.count; m++) {
                do
                    l.src[m] = (topo_chip_id)sim_rng_below(&rng, topo_chips(t));
                while (topo_chip_is_failed(t, l.src[m]));
                do
                    l.dst[m] = (topo_chip_id)sim_rng_below(&rng, topo_chips(t));
                while (topo_chip_is_failed(t, l.dst[m]));
                l.bytes[m] = sim_rng_below(&rng, 1000000);
            }
            double us;
            struct coll_cost form = run_list(t, &l, &us);
            exact += form.is_exact;
            if (form.is_exact)
                ck_assert_msg(fabs(us - sim_ps_to_us(form.time_ps)) < 3e-6,
                              "%s, list %d: %.6f us, form %.6f", specs[i][0], k, us,
                              sim_ps_to_us(form.time_ps));
        }
        topo_destroy(t);
    }
    ck_assert_uint_gt(exact, lists / 4);
    ck_assert_uint_lt(exact, lists);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_lists_take, exact_forms_are_met_on_any_network};
    return run_suite(SUITE_OF("coll_messages", tests));
}
