/* Closed forms against breadth-first search (igraph), counted link loads, and brute-force
 * bisection. */
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

int main(void)
{
    const TTest *const tests[] = {distances_equal_search, all_to_all_rate_equals_counted_load,
                                  published_all_to_all_rates, vendor_bisection,
                                  bisection_equals_brute_force_where_exact};
    return run_suite(SUITE_OF("topo_metrics", tests));
}
