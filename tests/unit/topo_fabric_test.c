/* Switched fabrics, products and several slices: counts, distances, routes, loads, hostile
 * specs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"
#include "topo/metrics.h"
#include "topo/route.h"

static const struct topo_options none = TOPO_OPTIONS_DEFAULT;

START_TEST(counts_and_diameters)
{
    /*
     * fat-tree:K: K^3/4 chips, 5 K^2/4 switches, 3 K^3/4 cables. clos LxD: LD + LS cables.
     * dragonfly a=4, p=2, h=2: 9 groups, 72 chips, 36 routers, cables 72 + 9x6 + 36. hyperx 3x4
     * with 2 chips: 12 switches, cables 24 + 4x3 + 3x6. rail DxG: D + G switches, 2 cables a chip.
     * ring:8*switch:16: 8 switches, cables 16x8 + 128. Slices: v5p:4x4x4 has 384 links and 16
     * hosts: 2 x 384 + 2 x (128 + 32).
     */
    static const struct {
        const char *spec;
        uint32_t chips, switches, links, diameter;
    } cases[] = {{"hypercube:1", 2, 0, 2, 1},
                 {"hypercube:6", 64, 0, 384, 6},
                 {"switch:1", 1, 1, 2, 0},
                 {"switch:9", 9, 1, 18, 2},
                 {"fat-tree:2", 2, 5, 12, 6},
                 {"fat-tree:4", 16, 20, 96, 6},
                 {"fat-tree:6", 54, 45, 324, 6},
                 {"fat-tree:8", 128, 80, 768, 6},
                 {"clos:4x8", 32, 12, 128, 4},
                 {"clos:4x8,spines=2,oversubscription=4", 32, 6, 80, 4},
                 {"clos:1x4,spines=1", 4, 2, 10, 2},
                 {"dragonfly:4,chips=2,global=2", 72, 36, 324, 5},
                 {"dragonfly:4,chips=2,global=2,groups=5", 40, 20, 180, 5},
                 {"dragonfly:1", 2, 2, 6, 3},
                 {"hyperx:3x4,chips=2", 24, 12, 108, 4},
                 {"hyperx:5", 5, 5, 30, 3},
                 {"hyperx:2x3x4,chips=3", 72, 24, 288, 5},
                 {"rail:4x8,domain=450GB/s,rail=50GB/s", 32, 12, 128, 4},
                 {"dgx-h100:32", 256, 40, 1024, 4},
                 {"dgx-a100:2", 16, 10, 64, 4},
                 {"ring:8*switch:16", 128, 8, 512, 6},
                 {"torus:4x2*full:3", 24, 0, 144, 4},
                 {"switch:3*mesh:2*switch:4", 24, 14, 120, 5},
                 {"v5p:4x4x4*2", 128, 33, 1088, 6},
                 {"v5p:2x2x1*3", 12, 4, 54, 4},
                 {"v6e:8x8*2", 128, 17, 736, 14},
                 {"mesh:3*2,dcn=1GB/s", 6, 7, 32, 4}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        struct topo_metrics m = topo_metrics_of(t);
        bool is_same = topo_chips(t) == cases[i].chips &&
                       topo_nodes(t) == cases[i].chips + cases[i].switches &&
                       topo_links(t) == cases[i].links && m.diameter == cases[i].diameter;
        ck_assert_msg(is_same, "%s: %u chips, %u nodes, %u links, diameter %u", cases[i].spec,
                      topo_chips(t), topo_nodes(t), topo_links(t), m.diameter);
        ck_assert_str_eq(topo_spec(t), cases[i].spec);
        topo_destroy(t);
    }
}
END_TEST

/* ---- what must hold on every fabric ---- */

static const struct {
    const char *spec;
    bool is_shortest; /* no way is shorter than the routing's */
} sweep[] = {{"hypercube:4", true},
             {"switch:5", true},
             {"fat-tree:2", true},
             {"fat-tree:4", true},
             {"fat-tree:6", true},
             {"clos:3x4,spines=3,oversubscription=1.5", true},
             {"clos:4x2", true},
             {"dragonfly:4,chips=2,global=2", false},
             {"dragonfly:4,chips=2,global=1,groups=3", false},
             {"dragonfly:2,chips=3,global=1", false},
             {"hyperx:3x4,chips=2", true},
             {"hyperx:2x2x3", true},
             {"rail:3x4,domain=450GB/s,rail=50GB/s", true},
             {"dgx-h100:2", true},
             {"ring:5*switch:4", true},
             {"switch:4*ring:6", true},
             {"ring:4*clos:2x2*ring:4", true},
             {"torus:4x4*hypercube:2", true},
             {"full:3*full:4", true},
             {"fat-tree:4*ring:2", true},
             {"v5p:4x4x4*2", false},
             {"v6e:4x4*3,dcn=5GB/s,dcn-latency=40us", false},
             {"v5e:1x1*4", true},
             {"v4:4x4x8*2,twisted", false},
             {"ring:6*2,dcn=1GB/s", false}};
#define SWEEP ((int)(sizeof sweep / sizeof sweep[0]))

START_TEST(links_come_in_pairs)
{
    topo *t = topo_or_fail(sweep[_i].spec);
    uint32_t n = topo_nodes(t);
    double *rate = calloc((size_t)n * n, sizeof *rate);
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        uint32_t from = topo_link_from(t, l), to = topo_link_to(t, l);
        ck_assert_uint_ne(from, to);
        ck_assert_double_gt(topo_link_rate(t, l), 0);
        rate[(size_t)from * n + to] += topo_link_rate(t, l);
    }
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++)
            ck_assert_double_eq(rate[(size_t)a * n + b], rate[(size_t)b * n + a]);
    free(rate);
    topo_destroy(t);
}
END_TEST

/* Breadth first over all nodes. */
static void search(const topo *t, topo_node_id from, uint32_t *hops)
{
    topo_node_id *queue = malloc(topo_nodes(t) * sizeof *queue);
    topo_link_id *out = malloc(topo_max_degree(t) * sizeof *out);
    uint32_t head = 0, tail = 0;
    for (topo_node_id n = 0; n < topo_nodes(t); n++)
        hops[n] = UINT32_MAX;
    hops[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        topo_node_id node = queue[head++];
        for (uint32_t i = topo_out_links(t, node, out); i-- > 0;) {
            topo_node_id to = topo_link_to(t, out[i]);
            if (hops[to] != UINT32_MAX) continue;
            hops[to] = hops[node] + 1;
            queue[tail++] = to;
        }
    }
    ck_assert_uint_eq(tail, topo_nodes(t)); /* connected, switches too */
    free(queue);
    free(out);
}

/* Connected walks of the distance's length; shares add up. Adds the load of 1 byte. */
static void check_paths(const topo *t, topo_chip_id src, topo_chip_id dst,
                        const struct topo_paths *paths, double *load)
{
    double sum = 0;
    ck_assert_uint_ge(paths->count, 1);
    for (uint32_t i = 0; i < paths->count; i++) {
        topo_node_id at = src;
        sum += paths->share[i];
        ck_assert_uint_eq(paths->begin[i + 1] - paths->begin[i], topo_distance(t, src, dst));
        for (uint32_t h = paths->begin[i]; h < paths->begin[i + 1]; h++) {
            ck_assert_uint_eq(topo_link_from(t, paths->link[h]), at);
            at = topo_link_to(t, paths->link[h]);
            load[paths->link[h]] += paths->share[i];
        }
        ck_assert_uint_eq(at, dst);
    }
    ck_assert_double_eq_tol(sum, 1, 1e-9);
}

START_TEST(routes_and_metrics_agree_with_counting)
{
    topo *t = topo_or_fail(sweep[_i].spec);
    struct topo_metrics m = topo_metrics_of(t);
    struct topo_paths paths = {0};
    uint32_t *hops = malloc(topo_nodes(t) * sizeof *hops), diameter = 0, n = topo_chips(t);
    double *load = calloc(topo_links(t), sizeof *load), sum = 0, worst = 0;
    for (topo_chip_id src = 0; src < n; src++) {
        search(t, src, hops);
        for (topo_chip_id dst = 0; dst < n; dst++) {
            uint32_t distance = topo_distance(t, src, dst);
            topo_route(t, src, dst, &paths);
            check_paths(t, src, dst, &paths, load);
            ck_assert_uint_ge(distance, hops[dst]);
            if (sweep[_i].is_shortest) ck_assert_uint_eq(distance, hops[dst]);
            if (distance > diameter) diameter = distance;
            sum += distance;
        }
    }
    for (topo_link_id l = 0; l < topo_links(t); l++)
        if (load[l] / n / topo_link_rate(t, l) > worst) worst = load[l] / n / topo_link_rate(t, l);
    ck_assert_uint_eq(m.diameter, diameter);
    ck_assert_double_eq_tol(m.mean_hops, sum / n / n, 1e-9);
    ck_assert_double_eq_tol(m.all_to_all_bytes_per_s * worst, 1, 1e-9);
    topo_paths_release(&paths);
    free(load);
    free(hops);
    topo_destroy(t);
}
END_TEST

/* ---- single fabrics ---- */

static uint32_t degree(const topo *t, topo_node_id node)
{
    topo_link_id out[256];
    ck_assert_uint_le(topo_max_degree(t), 256);
    return topo_out_links(t, node, out);
}

START_TEST(degrees)
{
    /* {chips, switches}: all ports of a fat tree's switches are used; p + a-1 + h; T + sum of sides
     * less one */
    static const struct {
        const char *spec;
        uint32_t chip, other;
    } cases[] = {{"fat-tree:6", 1, 6},         {"dragonfly:4,chips=2,global=2", 1, 7},
                 {"hyperx:3x4,chips=2", 1, 7}, {"hypercube:5", 5, 0},
                 {"ring:8*switch:16", 3, 16},  {"dragonfly:4,chips=2,global=2,groups=5", 1, 7},
                 {"torus:3x3*full:4", 7, 0},   {"rail:8x8,domain=1GB/s,rail=1GB/s", 2, 8}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        for (topo_node_id n = 0; n < topo_nodes(t); n++)
            ck_assert_uint_eq(degree(t, n), n < topo_chips(t) ? cases[i].chip : cases[i].other);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(fat_tree_distances_by_level)
{
    topo *t = topo_or_fail("fat-tree:6"); /* 3 chips an edge switch, 9 a pod */
    ck_assert_uint_eq(topo_distance(t, 0, 2), 2);
    ck_assert_uint_eq(topo_distance(t, 0, 3), 4);
    ck_assert_uint_eq(topo_distance(t, 0, 8), 4);
    ck_assert_uint_eq(topo_distance(t, 0, 9), 6);
    ck_assert_uint_eq(topo_coord(t, 9, 2), 1);
    topo_destroy(t);
}
END_TEST

START_TEST(clos_uplinks_follow_oversubscription)
{
    /* 8 chips of 45 GB/s, 4 spines, 2 to 1: uplinks of 8 x 45 / (2 x 4) = 45 GB/s */
    topo *t = topo_or_fail("clos:4x8,spines=4,oversubscription=2:1");
    topo_link_id out[16];
    uint32_t count = topo_out_links(t, topo_chips(t), out);
    ck_assert_uint_eq(count, 12);
    ck_assert_double_eq(topo_link_rate(t, out[11]), 45e9);
    topo_destroy(t);
    t = topo_or_fail("clos:4x8,spines=2,link=10GB/s");
    topo_out_links(t, topo_chips(t), out);
    ck_assert_double_eq(topo_link_rate(t, out[9]), 40e9);
    ck_assert_double_eq(topo_link_rate(t, 0), 10e9);
    topo_destroy(t);
}
END_TEST

START_TEST(many_paths_stay_even)
{
    /* 81 shortest paths a pair, of which 64 are taken: half the chips send to the other half, and
     * no link carries more than one chip's bytes */
    topo *t = topo_or_fail("fat-tree:18");
    struct topo_paths paths = {0};
    double *load = calloc(topo_links(t), sizeof *load);
    uint32_t half = topo_chips(t) / 2;
    for (topo_chip_id c = 0; c < half; c++) {
        topo_route(t, c, c + half, &paths);
        check_paths(t, c, c + half, &paths, load);
    }
    for (topo_link_id l = 0; l < topo_links(t); l++)
        ck_assert_double_le(load[l], 1 + 1e-9);
    free(load);
    topo_paths_release(&paths);
    topo_destroy(t);
}
END_TEST

START_TEST(dragonfly_takes_one_global_link)
{
    topo *t = topo_or_fail("dragonfly:4,chips=2,global=2");
    struct topo_paths paths = {0};
    for (topo_chip_id dst = 0; dst < topo_chips(t); dst++) {
        topo_route(t, 5, dst, &paths);
        uint32_t globals = 0;
        for (uint32_t h = 0; h < paths.begin[1]; h++) {
            topo_node_id from = topo_link_from(t, paths.link[h]),
                         to = topo_link_to(t, paths.link[h]);
            if (from >= 72 && to >= 72) globals += (from - 72) / 4 != (to - 72) / 4;
        }
        ck_assert_uint_eq(globals, topo_coord(t, dst, 2) != topo_coord(t, 5, 2));
    }
    topo_paths_release(&paths);
    topo_destroy(t);
}
END_TEST

START_TEST(rails_go_inside_the_domain_first)
{
    /* chip 0 of domain 0 to chip 3 of domain 2: domain switch, chip 3 of domain 0, rail switch 3 */
    topo *t = topo_or_fail("rail:4x8,domain=450GB/s,rail=400Gbit/s");
    struct topo_paths paths = {0};
    topo_route(t, 0, 2 * 8 + 3, &paths);
    ck_assert_uint_eq(paths.count, 1);
    ck_assert_uint_eq(topo_link_to(t, paths.link[1]), 3);
    ck_assert_double_eq(topo_link_rate(t, paths.link[0]), 450e9);
    ck_assert_double_eq(topo_link_rate(t, paths.link[2]), 50e9);
    topo_paths_release(&paths);
    topo_destroy(t);
}
END_TEST

START_TEST(product_options_belong_to_their_factor)
{
    topo *t = topo_or_fail("ring:4,link=10GB/s*switch:2,link=20GB/s,latency=3us");
    topo_link_id out[8];
    ck_assert_uint_eq(topo_out_links(t, 0, out), 3);
    ck_assert_double_eq(topo_link_rate(t, out[0]), 10e9);
    ck_assert_double_eq(topo_link_rate(t, out[2]), 20e9);
    ck_assert_int_eq(topo_link_latency_ps(t, out[0]), SIM_PS_PER_US);
    ck_assert_int_eq(topo_link_latency_ps(t, out[2]), 3 * SIM_PS_PER_US);
    ck_assert_uint_eq(topo_axes(t), 2);
    ck_assert_uint_eq(topo_axis_size(t, 1), 2);
    topo_destroy(t);
}
END_TEST

START_TEST(cuts_take_their_switches_along)
{
    /* a leaf's uplinks; half of the chips' cables; the NICs of a slice (16 x 25); 8 switches with 2
     * links each to the other half of their line; two domains' rails */
    static const struct {
        const char *spec;
        uint32_t axis, positions;
        double gb_per_s;
    } cases[] = {{"clos:4x8,spines=4,oversubscription=2", 1, 1, 180},
                 {"switch:8", 0, 4, 180},
                 {"v5p:4x4x4*2", 3, 1, 400},
                 {"hyperx:4x4,chips=4", 1, 2, 720},
                 {"rail:4x8,domain=450GB/s,rail=50GB/s", 1, 2, 800},
                 {"hypercube:4", 0, 8, 360},
                 {"torus:4x4", 0, 1, 360}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        double cut = topo_cut_bytes_per_s(t, cases[i].axis, cases[i].positions);
        ck_assert_msg(fabs(cut - cases[i].gb_per_s * 1e9) < 1, "%s: %g", cases[i].spec, cut);
        topo_destroy(t);
    }
}
END_TEST

/* ---- several slices ---- */

START_TEST(slices_keep_their_torus)
{
    topo *one = topo_or_fail("v5p:4x4x8"), *two = topo_or_fail("v5p:4x4x8*2");
    struct topo_paths a = {0}, b = {0};
    uint32_t n = topo_chips(one);
    for (topo_chip_id src = 0; src < n; src += 7)
        for (topo_chip_id dst = 0; dst < n; dst++) {
            topo_route(one, src, dst, &a);
            topo_route(two, n + src, n + dst, &b);
            ck_assert_uint_eq(a.count, b.count);
            for (uint32_t h = 0; h < a.begin[a.count]; h++) {
                ck_assert_uint_eq(topo_link_to(one, a.link[h]) + n, topo_link_to(two, b.link[h]));
                ck_assert_uint_eq(a.channel[h], b.channel[h]);
                ck_assert_double_eq(topo_link_rate(one, a.link[h]), topo_link_rate(two, b.link[h]));
                ck_assert_int_eq(topo_link_kind(one, a.link[h]), topo_link_kind(two, b.link[h]));
            }
        }
    topo_paths_release(&a);
    topo_paths_release(&b);
    topo_destroy(one);
    topo_destroy(two);
}
END_TEST

START_TEST(slices_meet_through_host_nics)
{
    /* v5p: PCIe 16 GB/s a chip, hosts of 4 chips, 6.25 GB/s a chip: NICs of 25 GB/s; 10 us in four
     * links */
    topo *t = topo_or_fail("v5p:4x4x4*2");
    struct topo_paths paths = {0};
    topo_route(t, 0, 64, &paths);
    ck_assert_uint_eq(paths.count, 1);
    ck_assert_uint_eq(paths.begin[1], 4);
    static const double rate[] = {16e9, 25e9, 25e9, 16e9};
    for (uint32_t h = 0; h < 4; h++) {
        ck_assert_double_eq(topo_link_rate(t, paths.link[h]), rate[h]);
        ck_assert_int_eq(topo_link_kind(t, paths.link[h]), TOPO_DCN);
    }
    ck_assert_int_eq(topo_path_latency_ps(t, &paths, 0), 10 * SIM_PS_PER_US);
    topo_node_id nic = topo_link_to(t, paths.link[0]);
    static const topo_chip_id same_host[] = {1, 4, 5}, other_host[] = {2, 16};
    for (int i = 0; i < 3; i++) {
        topo_route(t, same_host[i], 64, &paths);
        ck_assert_uint_eq(topo_link_to(t, paths.link[0]), nic);
    }
    for (int i = 0; i < 2; i++) {
        topo_route(t, other_host[i], 64, &paths);
        ck_assert_uint_ne(topo_link_to(t, paths.link[0]), nic);
    }
    topo_paths_release(&paths);
    ck_assert_uint_eq(topo_axes(t), 4);
    ck_assert_uint_eq(topo_axis_size(t, 3), 2);
    topo_destroy(t);
}
END_TEST

START_TEST(one_slice_is_no_suffix)
{
    topo *one = topo_or_fail("v5p:4x4x4*1,dcn=1GB/s"), *plain = topo_or_fail("v5p:4x4x4");
    ck_assert_uint_eq(topo_links(one), topo_links(plain));
    ck_assert_uint_eq(topo_nodes(one), topo_nodes(plain));
    ck_assert_uint_eq(topo_axes(one), 3);
    ck_assert(topo_has_ports(one));
    topo_destroy(one);
    topo_destroy(plain);
}
END_TEST

START_TEST(large_pods_build)
{
    topo *t = topo_or_fail("v5p:16x16x16*4,dcn=6.25GB/s");
    struct topo_metrics m = topo_metrics_of(t);
    ck_assert_uint_eq(topo_chips(t), 16384);
    ck_assert_uint_eq(m.diameter, 24);
    /* 6.25 GB/s a chip, of which 3/4 leave the slice */
    ck_assert_double_eq_tol(m.all_to_all_bytes_per_s, 6.25e9 * 4 / 3, 1);
    topo_destroy(t);
}
END_TEST

START_TEST(hostile_specs)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {
        {"hypercube:0", "dimension x is 0"},
        {"hypercube:32", "at most 31"},
        {"hypercube:31", "chips and"},
        {"hypercube:2x2", "a hypercube has one size, as in hypercube:4"},
        {"switch:4294967294", "over 4,294,967,294"},
        {"switch:4294967295", "no whole number"},
        {"switch:0", "is 0"},
        {"fat-tree:5", "5 ports, want an even number"},
        {"fat-tree:1", "1 ports, want an even number"},
        {"fat-tree:4294967292", "graphs may have 20000"},
        {"fat-tree:4,spines=2", "unknown part \"spines=2\", want link=RATE or latency=TIME"},
        {"clos:4", "a shape of 1 numbers, want 2"},
        {"clos:4294967294x4294967294", "graphs may have 20000"},
        {"clos:4x4,spines=0", "0"},
        {"clos:4x4,spines=4000000000", "graphs may have 20000"},
        {"clos:4x4,oversubscription=0", "no ratio"},
        {"clos:4x4,oversubscription=nan", "no ratio"},
        {"clos:4x4,oversubscription=1e9", "no ratio"},
        {"clos:4x4,oversubscription=2:2", "no ratio"},
        {"clos:4x4,oversubscription=0x2", "no ratio"},
        {"clos:4x4,spines=2,spines=2", "spines is given twice"},
        {"dragonfly:4,chips=2,global=2,groups=10", "10 groups, want 2 to 9"},
        {"dragonfly:4,chips=2,global=2,groups=1", "1 groups"},
        {"dragonfly:4,chips=2,global=2,groups=4", "4 groups"},
        {"dragonfly:4294967294,global=4294967294", "graphs may have 20000"},
        {"dragonfly:2,chips=4294967294", "graphs may have 20000"},
        {"dragonfly:100,global=100", "graphs may have 20000"},
        {"hyperx:2x2x2x2", "want 1 to 3"},
        {"hyperx:4294967294x4294967294x4294967294,chips=4294967294", "graphs may have"},
        {"rail:4x8", "does not say domain=RATE"},
        {"rail:4x8,domain=1GB/s", "does not say rail=RATE"},
        {"rail:4x8,link=1GB/s", "unknown part \"link=1GB/s\""},
        {"rail:4294967294x4294967294,domain=1GB/s,rail=1GB/s", "over 4,294,967,294"},
        {"dgx-h100:0", "is 0"},
        {"dgx-h200:4", "did you mean \"dgx-h100\""},
        {"fattree:4", "did you mean \"fat-tree\""},
        {"v5p:4x4x4*0", "found \"*0\""},
        {"v5p:4x4x4*", "found \"*\""},
        {"v5p:4x4x4*-1", "found \"*-1\""},
        {"v5p:4x4x4*2*2", "found \"*2*2\""},
        {"v5p:4x4x4*2,dcn=0", "dcn"},
        {"v5p:4x4x4*2,dcn-latency=-1us", "-1us"},
        {"v5p:4x4x4*2,dcn-latency=2s", "over 1 s"},
        {"v5p:4x4x4*4000000000", "over 4,294,967,294"},
        {"v5p:4x4x5*2", "nearest legal shape"},
        {"torus:2x2x2x2*2,dcn=1GB/s", "none for the slice index"},
        {"torus:4*2", "no published data-centre rate"},
        {"switch:4*2", "several slices are of tori"},
        {"full:4*2", "several slices are of tori"},
        {"*ring:4", "no shape"},
        {"ring:4*", "found \"*\""},
        {"ring:4**ring:4", "no shape"},
        {"ring:4*ring:4*", "no shape"},
        {"ring:4*ring:0", "dimension x is 0"},
        {"ring:4*2*ring:4", "\"2\" has no shape"},
        {"ring:2*ring:2*ring:2*ring:2*ring:2", "more than 4 factors"},
        {"fat-tree:4*torus:2x2", "5 axes together"},
        {"torus:4x8,twisted*ring:2", "is no factor of a product"},
        {"ring:2*v5p:4x4x4", "is no factor of a product"},
        {"ring:70000*ring:70000", "over 4,294,967,294"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status = topo_create(cases[i].spec, &none, &err, &t);
        ck_assert_msg(status == SIM_EDATA || status == SIM_ERESOURCE, "%s is accepted",
                      cases[i].spec);
        ck_assert_ptr_null(t);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].spec, err.text);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {counts_and_diameters,
                                  degrees,
                                  fat_tree_distances_by_level,
                                  clos_uplinks_follow_oversubscription,
                                  many_paths_stay_even,
                                  dragonfly_takes_one_global_link,
                                  rails_go_inside_the_domain_first,
                                  product_options_belong_to_their_factor,
                                  cuts_take_their_switches_along,
                                  slices_keep_their_torus,
                                  slices_meet_through_host_nics,
                                  one_slice_is_no_suffix,
                                  large_pods_build,
                                  hostile_specs};
    Suite *suite = SUITE_OF("topo_fabric", tests);
    TCase *loops = tcase_create("sweep");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, links_come_in_pairs, 0, SWEEP);
    tcase_add_loop_test(loops, routes_and_metrics_agree_with_counting, 0, SWEEP);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
