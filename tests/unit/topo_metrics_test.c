/* Closed forms against breadth-first search (igraph), counted link loads, and brute-force
 * bisection. */
#include <math.h>
#include <stdlib.h>

#include "tests/support.h"
#include "topo/metrics.h"
#include "topo/route.h"

START_TEST(distances_equal_search)
{
    static const char *const specs[] = {"torus:4x4x8",   "torus:5x3", "mesh:4x5",   "v6e:8x16",
                                        "torus:2x2",     "torus:1",   "mesh:1x6x2", "full:7",
                                        "torus:3x4x2x2", "ring:9"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct sim_error err = {0};
        topo *t = topo_or_fail(specs[i]);
        struct topo_metrics m = topo_metrics_of(t);
        uint32_t diameter;
        double mean;
        ck_assert_int_eq(topo_graph_distances(t, &err, &diameter, &mean), SIM_OK);
        ck_assert_uint_eq(m.diameter, diameter);
        ck_assert_double_eq_tol(m.mean_hops, mean, 1e-12);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(all_to_all_rate_equals_counted_load)
{
    static const char *const specs[] = {"torus:8x8", "torus:4x6x5", "mesh:4x4",
                                        "mesh:5x3",  "v6e:8x16",    "torus:16x16",
                                        "full:6",    "torus:2x4",   "torus:9"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_or_fail(specs[i]);
        double *load = calloc(topo_links(t), sizeof *load), worst = 0, n = topo_chips(t);
        struct topo_paths paths = {0};
        for (topo_chip_id src = 0; src < topo_chips(t); src++)
            for (topo_chip_id dst = 0; dst < topo_chips(t); dst++) {
                topo_route(t, src, dst, &paths);
                for (uint32_t h = 0; h < paths.begin[paths.count]; h++)
                    load[paths.link[h]] += 1 / n / paths.count;
            }
        for (topo_link_id l = 0; l < topo_links(t); l++)
            worst = load[l] > worst ? load[l] : worst;
        ck_assert_double_eq_tol(topo_metrics_of(t).all_to_all_bytes_per_s,
                                topo_default_link_rate(t) / worst, 1);
        free(load);
        topo_paths_release(&paths);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(published_all_to_all_rates)
{
    /* 2 W / h* per chip at 45 GB/s: 4x4x4 90, 8x8x8 45, 8x8x16 22.5, 16x16 22.5 */
    static const struct {
        const char *spec;
        double gb_per_s;
    } cases[] = {{"v4:4x4x4", 90},      {"v4:8x8x8", 45},      {"v4:8x8x16", 22.5},
                 {"torus:16x16", 22.5}, {"v5p:4x4x64", 11.25}, {"v5p:4x8x32", 22.5},
                 {"v5p:8x8x16", 45}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        ck_assert_double_eq_tol(topo_metrics_of(t).all_to_all_bytes_per_s, cases[i].gb_per_s * 1e9,
                                1);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(vendor_bisection)
{
    /* pod bisection, one direction: v6e 3.2 TB/s raw = 32 links of 100 GB/s; here 32 x 90. v4 512
     * links x 45. */
    topo *t = topo_or_fail("v6e:16x16");
    ck_assert_double_eq_tol(topo_metrics_of(t).bisection_bytes_per_s, 32 * 90e9, 1);
    topo_destroy(t);
    t = topo_or_fail("v4:16x16x16");
    ck_assert_double_eq_tol(topo_metrics_of(t).bisection_bytes_per_s, 512 * 45e9, 1);
    topo_destroy(t);
}
END_TEST

/* Least number of links from one half to the other over all halvings. */
static uint32_t brute_force_cut(const topo *t)
{
    uint32_t n = topo_chips(t), best = UINT32_MAX;
    for (uint32_t mask = 0; mask < 1u << n; mask++) {
        if ((uint32_t)__builtin_popcount(mask) != n / 2) continue;
        uint32_t cut = 0;
        for (topo_link_id l = 0; l < topo_links(t); l++)
            cut += (mask >> topo_link_from(t, l) & 1) && !(mask >> topo_link_to(t, l) & 1);
        if (cut < best) best = cut;
    }
    return best;
}

START_TEST(bisection_equals_brute_force_where_exact)
{
    static const char *const specs[] = {"torus:4x4",   "mesh:4x4", "torus:8",  "mesh:2x4x2",
                                        "torus:2x3x2", "full:8",   "mesh:3x4", "torus:4x3",
                                        "full:7",      "torus:6x2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_or_fail(specs[i]);
        struct topo_metrics m = topo_metrics_of(t);
        double brute = brute_force_cut(t) * topo_default_link_rate(t);
        if (m.is_bisection_exact)
            ck_assert_double_eq_tol(m.bisection_bytes_per_s, brute, 1);
        else
            ck_assert_double_ge(m.bisection_bytes_per_s, brute);
        topo_destroy(t);
    }
}
END_TEST

/* ---- neighbours ---- */

START_TEST(neighbour_rates_by_hand)
{
    static const struct {
        const char *spec, *fail, *routing;
        double links; /* the rate in those of one link */
    } cases[] = {
        {"torus:4x4x4", "", NULL, 6}, /* every port full */
        {"torus:5x3", "", NULL, 4},
        {"torus:1x4", "", NULL, 2},
        {"torus:128x128x64", "", NULL, 6},
        {"v4:4x4x8,twisted", "", NULL, 6},
        {"torus:1", "", NULL, 0},
        {"torus:2", "", NULL, 2},                             /* both cables */
        {"torus:2", "", "dimension-order,tie=positive", 1},   /* one of them */
        {"torus:2x4", "", "dimension-order,tie=negative", 2}, /* 2 of 4 parts on one */
        {"mesh:4", "", NULL, 1},                              /* an end sends all one way */
        {"mesh:4x4", "", NULL, 2},                            /* a corner has two ports */
        {"v6e:8x16", "", NULL, 3},                            /* ... or three, y wraps */
        {"full:5", "", NULL, 2},                              /* ids +1 and -1 */
        {"full:2", "", NULL, 1},                              /* the same chip twice */
        {"switch:4", "", NULL, 1},                            /* one cable */
        {"hypercube:2", "", NULL, 1},                         /* 0 -> 1 also carries 0 -> 1 -> 3 */
        {"ring:4", "link:3:+x", NULL, 1},                     /* 1 -> 2 also carries 0 -> 3 */
        {"ring:4", "link:3:+x:out", NULL, 1},                 /* 2 -> 1 also carries 3 -> 0 */
        {"ring:9", "link:3:+x", NULL, 1},                     /* half, however long the way */
        {"ring:4", "chip:0", NULL, 1},                        /* a line of three */
        {"torus:4x4", "link:0,0:+x", NULL, 2},                /* two parts of 4 on the way round */
        {"torus:4x4x4", "link:1,2,3:-z", NULL, 3},            /* two parts of 6 */
        {"torus:4x4", "chip:1,1", NULL, 3},                   /* beside it three ports are left */
        {"mesh:3x3", "chip:1,1", NULL, 2},
        {"full:5", "chip:2", NULL, 1}, /* chip 1 sends all to chip 0 */
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_with_or_fail(cases[i].spec, cases[i].fail, cases[i].routing);
        double found = topo_metrics_of(t).neighbour_bytes_per_s / topo_default_link_rate(t);
        ck_assert_msg(fabs(found - cases[i].links) < 1e-9, "%s %s: %g links", cases[i].spec,
                      cases[i].fail, found);
        topo_destroy(t);
    }
}
END_TEST

/* Working neighbours by coordinates, from no list of ports: one step either way along each axis. */
static uint32_t grid_neighbours(const topo *t, topo_chip_id chip, topo_chip_id *list)
{
    uint32_t count = 0, coord[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++)
        coord[a] = topo_coord(t, chip, a);
    for (uint32_t a = 0; a < topo_axes(t); a++)
        for (int up = 0; up < 2; up++) {
            uint32_t at = coord[a], k = topo_axis_size(t, a), edge = up ? k - 1 : 0;
            if (k == 1 || (at == edge && !topo_axis_is_wrapped(t, a))) continue;
            coord[a] = (at + (up ? 1 : k - 1)) % k;
            topo_chip_id next = topo_chip_at(t, coord);
            coord[a] = at;
            if (!topo_chip_is_failed(t, next)) list[count++] = next;
        }
    return count;
}

START_TEST(neighbour_rate_equals_counted_load)
{
    static const struct {
        const char *spec, *fail, *routing;
    } cases[] = {{"torus:3x4x2x2", "", NULL},
                 {"torus:3x4x2x2", "", "dimension-order,tie=positive"},
                 {"torus:4x5", "", "balanced"},
                 {"torus:4x4", "", "valiant"},
                 {"torus:4x4", "", "up-down"},
                 {"mesh:3x4x2", "", NULL},
                 {"v6e:8x16", "", NULL},
                 {"torus:4x4x4", "link:0,0,0:+x;link:0,1,0:+x;link:3,3,3:-z:out", NULL},
                 {"v5p:4x4x4", "host:3;link:0,0,0:+z", NULL},
                 {"mesh:4x4", "link:0,0:+x", NULL},
                 {"torus:5x4", "chip:2,2;link:1,1:+y", "up-down"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_with_or_fail(cases[i].spec, cases[i].fail, cases[i].routing);
        double *load = calloc(topo_links(t), sizeof *load), worst = 0;
        topo_chip_id next[2 * TOPO_AXES_MAX];
        struct topo_paths paths = {0};
        for (topo_chip_id c = 0; c < topo_chips(t); c++) {
            uint32_t count = topo_chip_is_failed(t, c) ? 0 : grid_neighbours(t, c, next);
            for (uint32_t n = 0; n < count; n++) {
                topo_route(t, c, next[n], &paths);
                for (uint32_t p = 0; p < paths.count; p++)
                    for (uint32_t h = paths.begin[p]; h < paths.begin[p + 1]; h++)
                        load[paths.link[h]] += paths.share[p] / count;
            }
        }
        for (topo_link_id l = 0; l < topo_links(t); l++)
            worst = load[l] > worst ? load[l] : worst;
        double wanted = topo_default_link_rate(t) / worst;
        double found = topo_metrics_of(t).neighbour_bytes_per_s;
        ck_assert_msg(fabs(found - wanted) < 1e-9 * wanted, "case %zu, %s: %g, want %g", i,
                      cases[i].spec, found, wanted);
        free(load);
        topo_paths_release(&paths);
        topo_destroy(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {distances_equal_search,
                                  all_to_all_rate_equals_counted_load,
                                  published_all_to_all_rates,
                                  vendor_bisection,
                                  bisection_equals_brute_force_where_exact,
                                  neighbour_rates_by_hand,
                                  neighbour_rate_equals_counted_load};
    return run_suite(SUITE_OF("topo_metrics", tests));
}
