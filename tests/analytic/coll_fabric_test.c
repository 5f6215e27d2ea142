/*
 * Collectives on switched fabrics, products and several slices: worked numbers, and bounds that no
 * run beats.
 *
 * Links are 45 GB/s and 1 us a hop unless the spec says so: 1 MiB takes 23.302 us on one.
 */
#include "tests/analytic/run.h"

/* `count` messages of 1 MiB at once: chip first + i * step sends to `to` + i * to_step. */
static double messages_us(const char *spec, uint32_t count, uint32_t first, uint32_t step,
                          uint32_t to, uint32_t to_step)
{
    topo *t = topo_or_fail(spec);
    topo_chip_id src[64], dst[64];
    uint64_t bytes[64];
    ck_assert_uint_le(count, 64);
    for (uint32_t i = 0; i < count; i++) {
        src[i] = first + i * step;
        dst[i] = to + i * to_step;
        bytes[i] = 1048576;
    }
    struct coll_pairs pairs = {count, src, dst, bytes};
    struct coll_spec c = {.op = COLL_PERMUTE,
                          .algorithm = COLL_DIRECT,
                          .group = topo_group_all(t),
                          .bytes = 1048576.0 * count,
                          .pairs = &pairs};
    double us = run_us(t, &c);
    topo_destroy(t);
    return us;
}

START_TEST(messages_through_switches)
{
    const double tol = 2e-3;
    /* incast: eight share the ninth's cable: 8 x 23.302 + 2 hops */
    ck_assert_double_eq_tol(messages_us("switch:9", 8, 0, 1, 8, 0), 188.414, tol);
    /* one to eight shares the sender's */
    ck_assert_double_eq_tol(messages_us("switch:9", 8, 8, 0, 0, 1), 188.414, tol);
    /* a permutation runs at full rate, whatever it is */
    ck_assert_double_eq_tol(messages_us("switch:8", 8, 0, 1, 7, UINT32_MAX), 25.302, tol);
    ck_assert_double_eq_tol(messages_us("switch:64", 32, 0, 1, 32, 1), 25.302, tol);
    /* so it does through the core of a fat tree, evenly over all cores: 6 hops */
    ck_assert_double_eq_tol(messages_us("fat-tree:4", 8, 0, 1, 8, 1), 29.302, tol);
    ck_assert_double_eq_tol(messages_us("fat-tree:8", 64, 0, 1, 64, 1), 29.302, tol);
    /* 2 to 1: across leaves half the rate, 4 hops; inside a leaf all of it */
    const char *clos = "clos:2x8,spines=4,oversubscription=2";
    ck_assert_double_eq_tol(messages_us(clos, 8, 0, 1, 8, 1), 2 * 23.302 + 4, tol);
    ck_assert_double_eq_tol(messages_us(clos, 4, 0, 1, 4, 1), 25.302, tol);
    /* dragonfly:4,chips=2: the two chips of the router towards group 1 share the one global link */
    const char *dragonfly = "dragonfly:4,chips=2,global=2";
    ck_assert_double_eq_tol(messages_us(dragonfly, 1, 0, 1, 8, 1), 26.302, tol);
    ck_assert_double_eq_tol(messages_us(dragonfly, 2, 0, 1, 8, 1), 2 * 23.302 + 3, tol);
    /* same rank of another box: its own rail at 50 GB/s, 20.972 us; eight ranks, eight rails */
    ck_assert_double_eq_tol(messages_us("dgx-h100:2", 1, 0, 1, 8, 1), 22.972, tol);
    ck_assert_double_eq_tol(messages_us("dgx-h100:2", 8, 0, 1, 8, 1), 22.972, tol);
}
END_TEST

START_TEST(chips_of_a_host_share_its_nic)
{
    const double tol = 2e-3;
    /* PCIe 16 GB/s: 65.536 us; NIC 25 GB/s: half of it 83.886, a quarter 167.772; 10 us of latency.
     * Chips 0, 1, 4, 5 are one host, 0 and 2 two. */
    ck_assert_double_eq_tol(messages_us("v5p:4x4x4*2", 1, 0, 1, 64, 1), 75.536, tol);
    ck_assert_double_eq_tol(messages_us("v5p:4x4x4*2", 2, 0, 1, 64, 1), 93.886, tol);
    ck_assert_double_eq_tol(messages_us("v5p:4x4x4*2", 2, 0, 2, 64, 2), 75.536, tol);
    ck_assert_double_eq_tol(messages_us("v5p:4x4x4*2", 64, 0, 1, 64, 1), 177.772, tol);
    /* a NIC of 12.5 GB/s is slower than PCIe: two chips get half each */
    const char *slow = "v5p:4x4x4*2,dcn=3.125GB/s,dcn-latency=20us";
    ck_assert_double_eq_tol(messages_us(slow, 1, 0, 1, 64, 1), 103.886, tol);
    ck_assert_double_eq_tol(messages_us(slow, 2, 0, 1, 64, 1), 187.772, tol);
    /* both ways at once cost nothing: links are one-way */
    ck_assert_double_eq_tol(messages_us("v5e:1x1*2,dcn=1GB/s", 2, 0, 1, 1, UINT32_MAX), 1058.576,
                            tol);
}
END_TEST

START_TEST(factors_are_what_they_are_alone)
{
    for (int a = 0; a < COLL_ALGORITHMS; a++) {
        enum coll_algorithm algorithm = (enum coll_algorithm)a;
        if (!coll_algorithm_fits(COLL_ALL_GATHER, algorithm) || algorithm == COLL_HIERARCHICAL ||
            algorithm == COLL_HAMILTONIAN ||
            algorithm == COLL_CHANNELS) /* of slices, tori, domains */
            continue;
        ck_assert_double_eq(time_us("mesh:2*switch:16", "y", COLL_ALL_REDUCE, algorithm, 1e6),
                            time_us("switch:16", "x", COLL_ALL_REDUCE, algorithm, 1e6));
        ck_assert_double_eq(time_us("switch:4*fat-tree:2", "x", COLL_ALL_GATHER, algorithm, 1e6),
                            time_us("switch:4", "x", COLL_ALL_GATHER, algorithm, 1e6));
    }
    /* 14 (1 us + 2.913 us) around the ring, as on ring:8 */
    ck_assert_double_eq_tol(time_us("ring:8*switch:16", "x", COLL_ALL_REDUCE, COLL_RING, 1048576),
                            54.778, 2e-3);
    /* a domain of 8: 7/8 V over 450 GB/s, and 7 x 2 hops */
    ck_assert_double_eq_tol(
        time_us("rail:4x8,domain=450GB/s,rail=50GB/s", "x", COLL_ALL_GATHER, COLL_RING, 8e6),
        7e6 / 450e3 + 14, 2e-3);
    ck_assert_double_eq_tol(
        time_us("rail:4x8,domain=450GB/s,rail=50GB/s", "y", COLL_ALL_GATHER, COLL_RING, 8e6),
        6e6 / 50e3 + 6, 2e-3);
    /* inside slices the network between them is idle; around 4 chips 2 x 3/4 V/W + 6 hops */
    ck_assert_double_eq_tol(time_us("v5p:4x4x4*2", "x", COLL_ALL_REDUCE, COLL_RING, 1e6),
                            1.5e6 / 90e3 + 6, 2e-3);
}
END_TEST

static const char *const sweep[][2] = {{"hypercube:3", "x"},
                                       {"hypercube:4", "x4@2"},
                                       {"switch:1", "x"},
                                       {"switch:2", "x"},
                                       {"switch:7", "x"},
                                       {"fat-tree:2", "xyz"},
                                       {"fat-tree:4", "xyz"},
                                       {"fat-tree:4", "z"},
                                       {"clos:3x4,spines=2,oversubscription=3", "xy"},
                                       {"clos:3x4", "y"},
                                       {"dragonfly:2,chips=2,global=1", "xyz"},
                                       {"dragonfly:2,chips=2,global=2,groups=3", "z"},
                                       {"hyperx:2x3,chips=2", "xyz"},
                                       {"hyperx:4", "xy"},
                                       {"rail:3x4,domain=450GB/s,rail=50GB/s", "xy"},
                                       {"dgx-h100:2", "yx"},
                                       {"ring:3*switch:4", "xy"},
                                       {"ring:2*full:2", "xy"},
                                       {"ring:2*mesh:2", "xy"},
                                       {"torus:2x3*hypercube:1", "xyz"},
                                       {"full:3*ring:3,latency=0", "yx"},
                                       {"v5p:2x2x1*2", "xyzw"},
                                       {"v5p:2x2x2*3,dcn=1GB/s", "w"},
                                       {"v5p:2x2x1*2,dcn-latency=0", "xyzw"},
                                       {"v6e:2x4*2", "xyz"},
                                       {"ring:5*2,dcn=1GB/s", "xy"}};
#define SWEEP ((int)(sizeof sweep / sizeof sweep[0]))

START_TEST(everything_runs_and_bounds_hold)
{
    static const double sizes[] = {0, 1, 1000, 1048576};
    topo *t = topo_or_fail(sweep[_i][0]);
    struct coll_spec c = {.group = group_or_fail(t, sweep[_i][1])};
    for (int op = 0; op < COLL_OPS; op++)
        for (int a = 0; a < COLL_ALGORITHMS; a++)
            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                c.op = (enum coll_op)op;
                c.algorithm = (enum coll_algorithm)a;
                c.bytes = sizes[i];
                if (!coll_can(t, &c)) continue;
                double us = run_us(t, &c);
                struct coll_cost form = coll_closed_form(t, &c);
                /* each message of a chain is rounded to the picosecond */
                if (form.is_exact && c.group.size > 1)
                    ck_assert_double_eq_tol(us, sim_ps_to_us(form.time_ps),
                                            1e-9 * us + 2e-6 * c.group.size + 1e-6);
            }
    topo_destroy(t);
}
END_TEST

/* V over all rails at once, 2(n-1)/n V/(k W') and some hops: 8 rails of 25 GB/s, n = 24; 4 of 50,
 * n = 16. One ring would take a rail's time for all of V. */
START_TEST(channels_fill_the_rails)
{
    const double V = 1073741824;
    double us =
        time_us("rail:3x8,domain=300GB/s,rail=25GB/s", "xy", COLL_ALL_REDUCE, COLL_CHANNELS, V);
    ck_assert_double_eq_tol(us, 2 * 23 / 24.0 * V / (8 * 25e3), 1e-3 * us);
    us = time_us("rail:4x4,domain=450GB/s,rail=50GB/s", "xy", COLL_ALL_GATHER, COLL_CHANNELS, V);
    ck_assert_double_eq_tol(us, 15 / 16.0 * V / (4 * 50e3), 1e-3 * us);
    /* 3 rails as fast as the domain: each chip passes on all of V inside, a third by a rail */
    us = time_us("rail:4x3,domain=25GB/s,rail=25GB/s", "xy", COLL_ALL_GATHER, COLL_CHANNELS, V);
    ck_assert_double_eq_tol(us, 11 / 12.0 * V / 25e3, 1e-3 * us);
}
END_TEST

/* Where the form of channels calls itself exact it is: without bytes, and where rails are never
 * idle; never where a rail is as fast as what leads to it, or two rings share one. */
START_TEST(channels_know_when_they_are_exact)
{
    static const struct {
        const char *spec;
        bool with_few, with_many;
    } cases[] = {{"dgx-h100:4", true, true},
                 {"dgx-a100:3", true, true},
                 {"rail:3x4,domain=400GB/s,rail=10GB/s", true, true},
                 {"rail:4x2,domain=100GB/s,rail=40GB/s", true, true},
                 {"full:4,link=150GB/s*ring:3,link=20GB/s", true, true},
                 {"switch:4,link=200GB/s*switch:3,link=50GB/s", true, false},
                 {"full:4,link=150GB/s*mesh:3,link=20GB/s", false, false},
                 {"rail:4x4,domain=100GB/s,rail=100GB/s", false, false},
                 {"clos:4x4", false, false}};
    static const double sizes[] = {0, 1, 65536, 1e6, 8e6, 3e7, 6e7, 1e8, 2e8, 4e8, 1e9, 1e10};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct coll_spec c = {.algorithm = COLL_CHANNELS, .group = topo_group_all(t)};
        for (int op = COLL_ALL_REDUCE; op <= COLL_REDUCE_SCATTER; op++)
            for (int k = 0; k < SIZES; k++) {
                c.op = (enum coll_op)op;
                c.bytes = sizes[k];
                struct coll_cost form = coll_closed_form(t, &c);
                double us = run_us(t, &c), off = fabs(us - sim_ps_to_us(form.time_ps));
                if (k == 0) ck_assert_int_eq(form.is_exact, cases[i].with_few);
                if (k == SIZES - 1) ck_assert_int_eq(form.is_exact, cases[i].with_many);
                ck_assert_msg(!form.is_exact || off <= 2e-6 * c.group.size,
                              "%s %s %g B: %.6f us, form %.6f", cases[i].spec, coll_op_names[op],
                              sizes[k], us, sim_ps_to_us(form.time_ps));
            }
        topo_destroy(t);
    }
    /* 62 steps of V/256 at 50 GB/s, and a last way of 4 us over chip, switch, chip, rail, chip */
    double us = time_us("dgx-h100:4", "xy", COLL_ALL_REDUCE, COLL_CHANNELS, 1073741824);
    ck_assert_double_eq_tol(us, 62.0 * 1073741824 / 256 / 50e3 + 4, 1e-4);
    /* 62 steps of 2 us inside, 8 of which are crossings of 4 */
    us = time_us("dgx-h100:4", "xy", COLL_ALL_REDUCE, COLL_CHANNELS, 0);
    ck_assert_double_eq_tol(us, 54 * 2 + 8 * 4, 1e-4);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {messages_through_switches, chips_of_a_host_share_its_nic,
                                  factors_are_what_they_are_alone, channels_fill_the_rails,
                                  channels_know_when_they_are_exact};
    Suite *suite = SUITE_OF("coll_fabric", tests);
    TCase *loops = tcase_create("sweep");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, everything_runs_and_bounds_hold, 0, SWEEP);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
