/* Faults by name and at random; every routing reaches every pair that is still connected. */
#include <stdio.h>
#include <string.h>

#include "tests/support.h"
#include "topo/metrics.h"
#include "topo/route.h"

START_TEST(each_kind_takes_its_links)
{
    /* healthy: torus:4x4 64 links, v4:4x4x4 384, v4:4x4x8 768, v5p:8x8x8 3072 */
    static const struct {
        const char *spec, *fail;
        uint32_t links, chips;
    } cases[] = {
        {"torus:4x4", "link:0,0:+x", 62, 0},             /* a cable is two links */
        {"torus:4x4", "link:0,0:+x:out", 63, 0},         /* one way only */
        {"torus:4x4", "link:0,0:+x;link:1,0:-x", 62, 0}, /* the same cable twice */
        {"torus:4x4", "chip:2,1", 56, 1},                /* 4 out, 4 in */
        {"torus:2x2", "link:0,0:+x", 14, 0},             /* one of two cables to the neighbour */
        {"v4:4x4x4", "host:0", 384 - 2 * 20, 4}, /* 2x2x1: 24 ports, 4 cables inside: 20 cables */
        {"v4:4x4x8", "cube:0,0,1", 768 - 384 + 64 - 64 - 32, 64},
        {"v5p:8x8x8", "ocs:x0", 3072 - 2 * 8, 0}, /* 4 lines of cubes along x, 2 cables each */
        {"v4:4x4x8", "ocs:z15", 768 - 2 * 2, 0}}; /* one line of two cubes, both ends */
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_with_or_fail(cases[i].spec, cases[i].fail, NULL);
        if (cases[i].chips < 64)
            ck_assert_msg(topo_links(t) == cases[i].links, "%s %s: %u links", cases[i].spec,
                          cases[i].fail, topo_links(t));
        ck_assert_uint_eq(topo_failed_chips(t), cases[i].chips);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(a_failed_cube_leaves_a_torus_cut_open)
{
    /* v4:4x4x8 less its upper cube: 64 chips that wrap in x and y, a mesh of 4 along z: 2 * 16 *
     * (4 + 4 + 3) links */
    topo *t = topo_with_or_fail("v4:4x4x8", "cube:0,0,1", NULL);
    ck_assert_uint_eq(topo_links(t), 2 * 16 * (4 + 4 + 3));
    topo_destroy(t);
}
END_TEST

START_TEST(bad_faults_are_refused)
{
    static const struct {
        const char *spec, *fail, *says;
    } cases[] = {{"torus:4x4", "chip:4,0", "x is 4, want less than 4"},
                 {"torus:4x4", "chip:1", "want 2 coordinates"},
                 {"torus:4x4", "chip:1,1,1", "want 2 coordinates"},
                 {"torus:4x4", "chip:-1,1", "want 2 coordinates"},
                 {"torus:4x4", "link:0,0:+q", "want a chip and a port"},
                 {"torus:4x4", "link:0,0:+z", "want a chip and a port"},
                 {"torus:4x4", "link:0,0", "want a chip and a port"},
                 {"torus:4x4", "link:0,0:+x:in", "want a chip and a port"},
                 {"mesh:4x4", "link:0,0:-x", "no cable there"},
                 {"torus:4x4", "host:0", "names no chip"},
                 {"v4:4x4x4", "host:16", "want a number from 0 to 15"},
                 {"v4:2x2x2", "cube:0,0,0", "no slice of whole cubes"},
                 {"v5e:16x16", "ocs:x0", "no optical switches"},
                 {"v4:4x4x4", "ocs:x16", "want a dimension and a face position"},
                 {"v4:4x4x4", "ocs:w1", "want a dimension and a face position"},
                 {"torus:4x4", "rack:1", "want chip:, link:, host:, cube: or ocs:"},
                 {"torus:4x4", "", ""},
                 {"mesh:4", "link:1:+x", "cut 2 chips of mesh:4 off: 2; 3"},
                 {"mesh:2x2", "chip:0,0;chip:1,1", "cut 1 chips of mesh:2x2 off: 0,1"},
                 {"ring:2", "chip:0;chip:1", "leave no chip"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status = topo_with(cases[i].spec, cases[i].fail, NULL, NULL, &err, &t);
        if (cases[i].says[0] == 0) {
            ck_assert_int_eq(status, SIM_OK);
            topo_destroy(t);
            continue;
        }
        ck_assert_msg(status == SIM_EDATA, "%s %s was taken", cases[i].spec, cases[i].fail);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].fail, err.text);
    }
}
END_TEST

static void assert_reaches_all(const topo *t)
{
    struct topo_paths paths = {0};
    for (topo_chip_id src = 0; src < topo_chips(t); src++)
        for (topo_chip_id dst = 0; dst < topo_chips(t); dst++) {
            if (topo_chip_is_failed(t, src) || topo_chip_is_failed(t, dst)) continue;
            topo_route(t, src, dst, &paths);
            double share = 0;
            ck_assert_uint_ge(paths.count, 1);
            for (uint32_t i = 0; i < paths.count; i++) {
                topo_node_id at = src;
                share += paths.share[i];
                for (uint32_t h = paths.begin[i]; h < paths.begin[i + 1]; h++) {
                    ck_assert_uint_eq(topo_link_from(t, paths.link[h]), at);
                    at = topo_link_to(t, paths.link[h]);
                }
                ck_assert_uint_eq(at, dst);
            }
            ck_assert_double_eq_tol(share, 1, 1e-12);
        }
    topo_paths_release(&paths);
}

static const char *const shapes[] = {"torus:4x4", "mesh:3x4",   "torus:3x3x2",       "torus:5x2",
                                     "full:6",    "v4:4x4x4",   "torus:4x8,twisted", "ring:7",
                                     "v6e:4x4",   SMALL_FABRICS};
#define SHAPES ((int)(sizeof shapes / sizeof shapes[0]))
static const char *const routings[] = {NULL, "up-down", "valiant,seed=5", "ecmp"};

/* 0 to 5 random faults; a slice that falls apart must say so, any other must route. */
START_TEST(random_faults_leave_routes)
{
    struct sim_error err = {0};
    topo *t = NULL;
    char random[64];
    const char *spec = shapes[_i % SHAPES];
    snprintf(random, sizeof random, "links=%d,chips=%d,seed=%d", _i % 4, _i / 4 % 3, _i);
    enum sim_status status = topo_with(spec, "", random, routings[_i / SHAPES % 4], &err, &t);
    if (status != SIM_OK) {
        ck_assert_msg(strstr(err.text, "off: ") != NULL, "%s %s: %s", spec, random, err.text);
        return;
    }
    assert_reaches_all(t);
    topo_destroy(t);
}
END_TEST

START_TEST(hosts_count_on_in_the_next_slice)
{
    /* a slice of v5p:4x4x4 has 16 hosts of 2x2x1 chips: 17 is x 2..3, y 0..1, z 0 of the next */
    topo *t = topo_with_or_fail("v5p:4x4x4*2,dcn=6.25GB/s", "host:17", NULL);
    uint32_t failed = 0;
    for (topo_chip_id c = 0; c < topo_chips(t); c++)
        failed += topo_chip_is_failed(t, c);
    ck_assert_uint_eq(failed, 4);
    ck_assert(topo_chip_is_failed(t, 64 + 2) && topo_chip_is_failed(t, 64 + 4 + 3));
    topo_destroy(t);
}
END_TEST

START_TEST(the_same_seed_takes_the_same_links)
{
    struct sim_error err = {0};
    topo *a = NULL, *b = NULL;
    ck_assert_int_eq(topo_with("torus:8x8", "", "links=5,chips=1,seed=9", NULL, &err, &a), SIM_OK);
    ck_assert_int_eq(topo_with("torus:8x8", "", "links=5,chips=1,seed=9", NULL, &err, &b), SIM_OK);
    ck_assert_uint_eq(topo_links(a), topo_links(b));
    for (topo_link_id l = 0; l < topo_links(a); l++) {
        ck_assert_uint_eq(topo_link_from(a, l), topo_link_from(b, l));
        ck_assert_uint_eq(topo_link_to(a, l), topo_link_to(b, l));
    }
    topo_destroy(a);
    topo_destroy(b);
}
END_TEST

START_TEST(one_dark_switch_keeps_most_of_all_to_all)
{
    /* ocs:x0 of 8x8x8 takes 1 of 16 cables of the cut: 60/64 = 0.9375 is the most; 0.88 is
     * wanted. TPU v4 under such a fault kept 0.922 to 1.017 of its all-to-all (Zu et al., NSDI
     * 2024). */
    topo *healthy = topo_or_fail("v4:8x8x8"),
         *faulty = topo_with_or_fail("v4:8x8x8", "ocs:x0", NULL);
    double kept = topo_metrics_of(faulty).all_to_all_bytes_per_s /
                  topo_metrics_of(healthy).all_to_all_bytes_per_s;
    ck_assert_double_ge(kept, 0.88);
    ck_assert_double_le(kept, 0.9375);
    topo_destroy(healthy);
    topo_destroy(faulty);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_kind_takes_its_links,
                                  a_failed_cube_leaves_a_torus_cut_open,
                                  bad_faults_are_refused,
                                  hosts_count_on_in_the_next_slice,
                                  the_same_seed_takes_the_same_links,
                                  one_dark_switch_keeps_most_of_all_to_all};
    Suite *suite = SUITE_OF("topo_fault", tests);
    TCase *loops = tcase_create("random");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, random_faults_leave_routes, 0, 250);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
