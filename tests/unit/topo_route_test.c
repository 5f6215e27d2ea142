/* Routes are connected walks of the shortest length; ties are used evenly; walks go where they are
 * told. */
#include "tests/support.h"
#include "topo/route.h"

static void assert_walk(const topo *t, const struct topo_paths *paths, uint32_t i, topo_chip_id src,
                        topo_chip_id dst)
{
    topo_chip_id at = src;
    for (uint32_t h = paths->begin[i]; h < paths->begin[i + 1]; h++) {
        ck_assert_uint_eq(topo_link_from(t, paths->link[h]), at);
        at = topo_link_to(t, paths->link[h]);
    }
    ck_assert_uint_eq(at, dst);
}

START_TEST(all_routes_of_small_topologies)
{
    static const char *const specs[] = {"torus:4x3x2", "mesh:3x4x2",    "torus:5x2",
                                        "full:6",      "torus:2x2x2x3", "v6e:4x8"};
    struct topo_paths paths = {0};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_or_fail(specs[i]);
        for (topo_chip_id src = 0; src < topo_chips(t); src++)
            for (topo_chip_id dst = 0; dst < topo_chips(t); dst++) {
                topo_route(t, src, dst, &paths);
                ck_assert_uint_ge(paths.count, 1);
                for (uint32_t p = 0; p < paths.count; p++) {
                    assert_walk(t, &paths, p, src, dst);
                    ck_assert_uint_eq(paths.begin[p + 1] - paths.begin[p],
                                      topo_distance(t, src, dst));
                    ck_assert_int_eq(topo_path_latency_ps(t, &paths, p),
                                     1000000 * (sim_ps)topo_distance(t, src, dst));
                }
            }
        topo_destroy(t);
    }
    topo_paths_release(&paths);
}
END_TEST

START_TEST(ring_of_four_knows_its_neighbours)
{
    topo *t = topo_or_fail("torus:4");
    ck_assert_uint_eq(topo_distance(t, 0, 3), 1); /* over the wrap, not 0-1-2-3 */
    ck_assert_uint_eq(topo_distance(t, 0, 2), 2);
    topo_destroy(t);
}
END_TEST

START_TEST(a_tie_is_split_over_both_directions)
{
    topo *t = topo_or_fail("torus:4x4");
    struct topo_paths paths = {0};
    topo_route(t, 0, 2, &paths); /* x: 0 -> 2 is two hops either way */
    ck_assert_uint_eq(paths.count, 2);
    ck_assert_uint_eq(paths.link[paths.begin[0]], topo_port_link(t, 0, 0));
    ck_assert_uint_eq(paths.link[paths.begin[1]], topo_port_link(t, 0, 1));
    topo_route(t, 0, 10, &paths); /* (2,2): a tie in both axes */
    ck_assert_uint_eq(paths.count, 4);
    topo_destroy(t);

    static const struct {
        enum topo_tie tie;
        uint32_t port;
    } rules[] = {{TOPO_TIE_POSITIVE, 0}, {TOPO_TIE_NEGATIVE, 1}};
    for (int i = 0; i < 2; i++) {
        struct sim_error err = {0};
        struct topo_options o = {.latency_ps = -1, .tie = rules[i].tie};
        ck_assert_int_eq(topo_create("torus:4x4", &o, &err, &t), SIM_OK);
        topo_route(t, 0, 2, &paths);
        ck_assert_uint_eq(paths.count, 1);
        ck_assert_uint_eq(paths.link[0], topo_port_link(t, 0, rules[i].port));
        topo_destroy(t);
    }
    topo_paths_release(&paths);
}
END_TEST

START_TEST(an_axis_of_two_has_two_cables)
{
    topo *t = topo_or_fail("torus:2");
    struct topo_paths paths = {0};
    topo_route(t, 0, 1, &paths);
    ck_assert_uint_eq(paths.count, 2);
    ck_assert_uint_ne(paths.link[0], paths.link[1]);
    int32_t minus[TOPO_AXES_MAX] = {-1};
    topo_walk(t, 0, minus, &paths);
    ck_assert_uint_eq(paths.count, 1);
    ck_assert_uint_eq(paths.link[0], topo_port_link(t, 0, 1));
    ck_assert_uint_eq(topo_translate(t, 0, minus), 1);
    topo_destroy(t);
    topo_paths_release(&paths);
}
END_TEST

START_TEST(walks_agree_with_translation)
{
    topo *t = topo_or_fail("torus:4x3x5");
    struct topo_paths paths = {0};
    for (int32_t x = -5; x <= 5; x++)
        for (int32_t z = -7; z <= 7; z += 3) {
            int32_t hops[TOPO_AXES_MAX] = {x, -2, z};
            topo_walk(t, 17, hops, &paths);
            assert_walk(t, &paths, 0, 17, topo_translate(t, 17, hops));
        }
    topo_destroy(t);
    topo_paths_release(&paths);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {all_routes_of_small_topologies, ring_of_four_knows_its_neighbours,
                                  a_tie_is_split_over_both_directions,
                                  an_axis_of_two_has_two_cables, walks_agree_with_translation};
    return run_suite(SUITE_OF("topo_route", tests));
}
