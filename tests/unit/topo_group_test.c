/* Groups: texts, ranks, partitions of the slice, Hamiltonian cycles. */
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"
#include "topo/route.h"

START_TEST(texts_round_trip)
{
    static const char *const texts[] = {"x",    "xy",     "zx",  "x4",  "x2@4",
                                        "x2y2", "x2x2@2", "xyz", "y3@1"};
    topo *t = topo_or_fail("torus:8x6x2");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char buffer[64];
        struct topo_group g = group_or_fail(t, texts[i]);
        topo_group_format(t, &g, buffer, sizeof buffer);
        struct topo_group again = group_or_fail(t, buffer);
        ck_assert_uint_eq(again.factor_count, g.factor_count);
        ck_assert_mem_eq(again.factor, g.factor, g.factor_count * sizeof g.factor[0]);
    }
    topo_destroy(t);
}
END_TEST

START_TEST(bad_texts_are_refused)
{
    static const char *const texts[] = {
        "", "q", "w", "x3", "x0", "x4@4", "xx", "x4x4", "x99999999999", "x@3", "x4@0", "x,y"};
    topo *t = topo_or_fail("torus:8x6x2");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sim_error err = {0};
        struct topo_group g;
        ck_assert_msg(topo_group_parse(t, texts[i], &err, &g) == SIM_EDATA, "\"%s\" was taken",
                      texts[i]);
        ck_assert_uint_gt(strlen(err.text), 0);
    }
    topo_destroy(t);
}
END_TEST

START_TEST(overlapping_factors_are_refused)
{
    /* digits x mod 3 and (x / 4) mod 3 of 0 .. 11 are no mixed-radix pair: 4 is no multiple of 3 */
    struct sim_error err = {0};
    struct topo_group g;
    topo *t = topo_or_fail("torus:12");
    ck_assert_int_eq(topo_group_parse(t, "x3x3@4", &err, &g), SIM_EDATA);
    ck_assert_int_eq(topo_group_parse(t, "x3x4@3", &err, &g), SIM_OK);
    topo_destroy(t);
}
END_TEST

START_TEST(groups_cover_the_slice_once)
{
    static const char *const texts[] = {"x", "y", "xz", "x4", "x2@4", "x2y3", "x2x2@2", "zyx"};
    topo *t = topo_or_fail("torus:8x6x2");
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct topo_group g = group_or_fail(t, texts[i]);
        for (topo_chip_id c = 0; c < topo_chips(t); c++) {
            uint32_t rank = topo_group_rank(t, &g, c);
            ck_assert_uint_eq(topo_group_chip(t, &g, c, rank), c);
            for (uint32_t r = 0; r < g.size; r++) {
                topo_chip_id member = topo_group_chip(t, &g, c, r);
                ck_assert_uint_eq(topo_group_rank(t, &g, member), r);
                ck_assert_uint_eq(topo_group_chip(t, &g, member, rank), c); /* the same group */
            }
        }
    }
    topo_destroy(t);
}
END_TEST

START_TEST(split_axis_by_hand)
{
    topo *t = topo_or_fail("torus:8");
    struct topo_group low = group_or_fail(t, "x4"), high = group_or_fail(t, "x2@4");
    ck_assert_uint_eq(topo_group_chip(t, &low, 6, 0), 4);  /* {4,5,6,7} */
    ck_assert_uint_eq(topo_group_chip(t, &high, 6, 0), 2); /* {2,6} */
    ck_assert(!topo_factor_is_ring(t, &low.factor[0]));
    ck_assert(topo_factor_is_ring(t, &high.factor[0])); /* 4 hops on, 4 hops back round */
    topo_destroy(t);
}
END_TEST

/* Every rank once, consecutive ones adjacent (distance = the stride of one factor), closing when it
 * says so. */
static void assert_cycle(const char *spec, const char *axes, bool wants_cycle)
{
    topo *t = topo_or_fail(spec);
    struct topo_group g = group_or_fail(t, axes);
    uint32_t *rank_at = calloc(g.size, sizeof *rank_at);
    bool *is_seen = calloc(g.size, sizeof *is_seen);
    bool is_cycle = topo_group_cycle(t, &g, rank_at);
    ck_assert_msg(is_cycle == wants_cycle, "%s %s", spec, axes);
    for (uint32_t p = 0; p < g.size; p++) {
        ck_assert(!is_seen[rank_at[p]]);
        is_seen[rank_at[p]] = true;
        if (p + 1 == g.size && !is_cycle) continue;
        topo_chip_id a = topo_group_chip(t, &g, 0, rank_at[p]),
                     b = topo_group_chip(t, &g, 0, rank_at[(p + 1) % g.size]);
        uint32_t apart = 0;
        for (uint32_t f = 0; f < g.factor_count; f++) {
            uint32_t da = topo_group_digit(t, &g, a, f), db = topo_group_digit(t, &g, b, f),
                     k = g.factor[f].extent;
            uint32_t step = da > db ? da - db : db - da;
            if (topo_factor_is_ring(t, &g.factor[f]) && k - step < step) step = k - step;
            apart += step;
        }
        ck_assert_msg(apart == 1 || g.size == 1, "%s %s: positions %u and next are %u apart", spec,
                      axes, p, apart);
    }
    free(rank_at);
    free(is_seen);
    topo_destroy(t);
}

START_TEST(hamiltonian_cycles)
{
    static const struct {
        const char *spec, *axes;
        bool is_cycle;
    } cases[] = {{"torus:4", "x", true},        {"mesh:4", "x", false},
                 {"torus:2", "x", true},        {"torus:1", "x", true},
                 {"mesh:2", "x", false},        {"torus:4x4", "xy", true},
                 {"torus:3x3", "xy", true},     {"torus:5x3x7", "xyz", true},
                 {"mesh:3x3", "xy", false},     {"mesh:3x4", "xy", true},
                 {"mesh:4x3", "xy", true},      {"mesh:2x2", "xy", true},
                 {"mesh:3x3x2", "xyz", true},   {"mesh:3x3x3", "xyz", false},
                 {"mesh:2x3x3", "zxy", true},   {"v6e:8x16", "xy", true},
                 {"torus:16x16", "x2y2", true}, {"torus:16x16", "x4", false},
                 {"torus:16x16", "x4y4", true}, {"torus:9x9", "x3y3", false},
                 {"torus:9x9", "x3@3y3", true}, {"full:5", "x", true},
                 {"torus:4x4x4", "xyz", true},  {"torus:2x2x2", "xyz", true},
                 {"mesh:1x5", "xy", false},     {"mesh:1x1x2", "xyz", false},
                 {"torus:3x1x3", "xyz", true},  {"torus:2x3x2x3", "xyzw", true},
                 {"mesh:5x5x2x3", "xyzw", true}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_cycle(cases[i].spec, cases[i].axes, cases[i].is_cycle);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {texts_round_trip,
                                  bad_texts_are_refused,
                                  overlapping_factors_are_refused,
                                  groups_cover_the_slice_once,
                                  split_axis_by_hand,
                                  hamiltonian_cycles};
    return run_suite(SUITE_OF("topo_group", tests));
}
