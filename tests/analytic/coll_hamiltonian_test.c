/*
 * Rings on edge-disjoint Hamiltonian cycles: twice floor(n/2) hops, and the lower bound's bytes
 * where all cables of a torus are used.
 */
#include "collectives/choice.h"
#include "tests/analytic/run.h"

#define GIB   1073741824.0
#define BLOCK "chip:2,2;chip:3,2;chip:2,3;chip:3,3"

static struct coll_spec spec_of(const topo *t, enum coll_op op, double bytes)
{
    return (struct coll_spec){
        .op = op, .algorithm = COLL_HAMILTONIAN, .group = topo_group_all(t), .bytes = bytes};
}

/* Twisted and plain, odd and even, with one cycle, two, three and four. */
static const char *const exact[] = {"v4:4x4x8,twisted", "torus:4x8,twisted", "torus:3x6x6,twisted",
                                    "torus:4x4",        "torus:3x5",         "torus:3x4x5",
                                    "torus:3x3x3x3",    "torus:7",           "mesh:4x6",
                                    "v6e:4x8",          "mesh:2x3x3",        "torus:8,latency=0"};
#define EXACT ((int)(sizeof exact / sizeof exact[0]))

START_TEST(the_form_is_met)
{
    topo *t = topo_or_fail(exact[_i]);
    static const double sizes[] = {0, 1000, 16777216};
    for (int op = 0; op <= COLL_REDUCE_SCATTER; op++)
        for (int i = 0; i < 3; i++) {
            struct coll_spec c = spec_of(t, (enum coll_op)op, sizes[i]);
            struct coll_cost form = coll_closed_form(t, &c);
            double us = i == 0 ? checked_us(t, &c) : run_us(t, &c);
            ck_assert(form.is_exact);
            ck_assert_msg(us * 1e6 - (double)form.time_ps < topo_chips(t) &&
                              (double)form.time_ps - us * 1e6 < topo_chips(t),
                          "%s %s %g B: form %.6f us, run %.6f", exact[_i], coll_op_names[op],
                          c.bytes, sim_ps_to_us(form.time_ps), us);
        }
    topo_destroy(t);
}
END_TEST

/*
 * n = 128: 2 * 64 hops of 1 us, and 2 * 127/128 GiB over 6 links of 45 GB/s, 7891.505 us
 * n = 256: 2 * 128 hops, 7922.574 us
 */
START_TEST(twisted_tori_come_near_the_bound)
{
    static const struct {
        const char *spec;
        double us;
    } cases[] = {{"v4:4x4x8,twisted", 128 + 7891.505}, {"v4:4x8x8,twisted", 256 + 7922.574}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct coll_spec c = spec_of(t, COLL_ALL_REDUCE, GIB);
        double us = run_us(t, &c), bound_us = sim_ps_to_us(coll_lower_bound(t, &c).time_ps);
        ck_assert_double_eq_tol(us, cases[i].us, 0.001);
        ck_assert_double_ge(bound_us / us, 0.95);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(auto_takes_it_for_large_buffers)
{
    topo *t = topo_or_fail("v4:4x8x8,twisted"), *large = topo_or_fail("torus:8x16x16,twisted");
    struct coll_spec c = spec_of(t, COLL_ALL_REDUCE, GIB);
    ck_assert_int_eq(coll_choose(t, &c), COLL_HAMILTONIAN);
    c.bytes = 65536;
    ck_assert_int_ne(coll_choose(t, &c), COLL_HAMILTONIAN);
    /* 2,048 chips: not worth simulating */
    c = spec_of(large, COLL_ALL_REDUCE, 1024 * GIB);
    ck_assert_int_ne(coll_choose(large, &c), COLL_HAMILTONIAN);
    topo_destroy(t);
    topo_destroy(large);
}
END_TEST

/* 60 chips, one cycle both ways: 2 * 30 hops, and 2 * 59/60 GiB over 2 links of 45 GB/s: a
 * bidirectional ring, as if the hole were not there. */
START_TEST(a_hole_leaves_a_ring)
{
    static const char *const specs[] = {"mesh:8x8", "torus:8x8"};
    for (int i = 0; i < 2; i++) {
        topo *t = topo_with_or_fail(specs[i], BLOCK, NULL);
        struct coll_spec c = spec_of(t, COLL_ALL_REDUCE, GIB);
        ck_assert_double_eq_tol(checked_us(t, &c), 60 + 2 * 59.0 / 60 * GIB / 90e9 * 1e6, 0.001);
        topo_destroy(t);
    }
}
END_TEST

/* Two of three cycles stay whole: two thirds of the rate. */
START_TEST(a_dark_switch_costs_one_cycle)
{
    topo *t = topo_with_or_fail("v4:4x4x8", "ocs:z0", NULL);
    struct coll_spec c = spec_of(t, COLL_ALL_REDUCE, GIB);
    ck_assert_double_eq_tol(checked_us(t, &c), 128 + 7891.505 * 3 / 2, 0.001);
    topo_destroy(t);
}
END_TEST

/* Numbers of ranks follow the group's axes, whatever their order and however they are split. */
START_TEST(any_group_of_all_chips_will_do)
{
    topo *t = topo_or_fail("torus:4x6");
    static const char *const axes[] = {"yx", "x2y3x2@2y2@3"};
    for (int i = 0; i < 2; i++) {
        struct coll_spec c = spec_of(t, COLL_ALL_GATHER, 1e6);
        c.group = group_or_fail(t, axes[i]);
        ck_assert_double_eq_tol(checked_us(t, &c), 12 + 23.0 / 24 * 1e6 / 180e9 * 1e6, 1e-5);
    }
    topo_destroy(t);
}
END_TEST

START_TEST(it_says_why_it_cannot)
{
    static const struct {
        const char *spec, *axes, *want;
    } cases[] = {{"mesh:3x3", "xy", "want a closed walk past all working chips, none was found"},
                 {"torus:4x4", "x", "want one group of all chips"},
                 {"full:4", "x", "want a torus or mesh"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct coll_spec c = spec_of(t, COLL_ALL_REDUCE, 1);
        c.group = group_or_fail(t, cases[i].axes);
        ck_assert_str_eq(coll_obstacle(t, &c), cases[i].want);
        topo_destroy(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        twisted_tori_come_near_the_bound, auto_takes_it_for_large_buffers, a_hole_leaves_a_ring,
        a_dark_switch_costs_one_cycle,    any_group_of_all_chips_will_do,  it_says_why_it_cannot};
    Suite *suite = SUITE_OF("coll_hamiltonian", tests);
    TCase *forms = tcase_create("forms");
    tcase_set_timeout(forms, 120);
    tcase_add_loop_test(forms, the_form_is_met, 0, EXACT);
    suite_add_tcase(suite, forms);
    return run_suite(suite);
}
