/* Goodput against sums by hand, an independent binomial, the published numbers, and every state of
 * small pods. Pods of one host a cube make the host availability the cube's. */
#include <math.h>
#include <string.h>

#include "tests/support.h"
#include "topo/availability.h"

static struct topo_availability_query small(uint32_t x, uint32_t y, uint32_t z, uint32_t n,
                                            double p)
{
    return (struct topo_availability_query){.grid = {x, y, z},
                                            .cube_hosts = 1,
                                            .slice_hosts = n,
                                            .host_availability = p,
                                            .seed = 1,
                                            .samples = TOPO_AVAILABILITY_SAMPLES};
}

static struct topo_availability v4_pod(uint32_t slice_chips, double host_availability)
{
    struct sim_error err = {0};
    struct topo_availability_query q;
    topo *t = topo_or_fail("v4:16x16x16");
    ck_assert_int_eq(topo_availability_query_of(t, slice_chips, &err, &q), SIM_OK);
    q.host_availability = host_availability;
    topo_destroy(t);
    return topo_availability_of(&q);
}

START_TEST(three_cubes_by_hand)
{
    /* p = 1/2, slices of 2. With OCS one slice when 2 or 3 are good: 3/8 + 1/8 = 1/2, of 2/3 of the
     * pod: 1/3. Without, the one block at the corner: 1/4 of 2/3. */
    struct topo_availability_query q = small(3, 1, 1, 2, 0.5);
    struct topo_availability a = topo_availability_of(&q);
    ck_assert_double_eq_tol(a.at_least_one, 1. / 2, 1e-15);
    ck_assert_double_eq_tol(a.with_ocs, 1. / 3, 1e-15);
    ck_assert_double_eq_tol(a.without_ocs.value, 1. / 6, 1e-15);
    ck_assert(a.without_ocs.is_exact);
    ck_assert_double_eq(a.without_ocs.low, a.without_ocs.high);
    ck_assert_double_eq_tol(a.all_up, 2. / 3, 1e-15);
}
END_TEST

START_TEST(two_kinds_of_blocks_by_hand)
{
    /* 2x2, slices of 2, rows or columns, p = 1/2. All 4 good: 2 slices. 3 good (4 states): 1. 2
     * good side by side (4 states): 1, across (2 states): 0. E = (2 + 4 + 4)/16 = 5/8 slices of
     * half the pod. With OCS across counts too: (2 + 4 + 6)/16 / 2 = 3/8. */
    struct topo_availability_query q = small(2, 2, 1, 2, 0.5);
    struct topo_availability a = topo_availability_of(&q);
    ck_assert_double_eq_tol(a.with_ocs, 3. / 8, 1e-15);
    ck_assert(!a.without_ocs.is_exact);
    ck_assert(a.without_ocs.low <= 5. / 16 && 5. / 16 <= a.without_ocs.high);
    ck_assert_double_eq_tol(a.without_ocs.value, 5. / 16, 0.003);
}
END_TEST

START_TEST(parts_of_a_cube)
{
    /* 16 chips are 4 hosts: 0.99^4 = 0.96059601, switches or not; a cube 0.99^16 = 0.85145777 */
    struct topo_availability a = v4_pod(16, 0.99);
    ck_assert_double_eq_tol(a.with_ocs, 0.96059601, 1e-12);
    ck_assert_double_eq_tol(a.without_ocs.value, 0.96059601, 1e-12);
    ck_assert_double_eq_tol(a.cube, 0.85145777, 1e-8);
    ck_assert(a.without_ocs.is_exact && a.all_up == 1);
}
END_TEST

/* P(at least n of m), from factorials' logarithms. */
static double binomial_tail(uint32_t m, uint32_t n, double p)
{
    double sum = 0;
    for (uint32_t k = n; k <= m; k++)
        sum += exp(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) + k * log(p) +
                   (m - k) * log1p(-p));
    return sum;
}

START_TEST(with_ocs_is_a_sum_of_binomial_tails)
{
    /* E[floor(good / n)] = sum over i >= 1 of P(good >= i n) */
    for (uint32_t n = 1; n <= 144; n = 2 * n + 1)
        for (double p = 0.05; p < 1; p += 0.09) {
            struct topo_availability_query q = small(4, 6, 6, n, p);
            double slices = 0;
            for (uint32_t i = 1; i * n <= 144; i++)
                slices += binomial_tail(144, i * n, p);
            q.samples = 2;
            struct topo_availability a = topo_availability_of(&q);
            ck_assert_double_eq_tol(a.with_ocs, slices * n / 144, 1e-10);
            ck_assert_double_eq_tol(a.at_least_one, binomial_tail(144, n, p), 1e-10);
        }
}
END_TEST

START_TEST(published_goodput)
{
    /* ISCA 2023, figure 4, 99 % host availability: half of the pod for slices of 2,048 chips, three
     * quarters at most for 3,072. A cube is good with 0.99^16 = 0.8515, so 54.5 of 64 on average:
     * P(at least 48) = 0.98936, times 75 % = 74.2 %; two slices of 32 cubes need all 64. */
    ck_assert_double_eq_tol(v4_pod(2048, 0.99).with_ocs, 0.50, 5e-4);
    struct topo_availability a = v4_pod(3072, 0.99);
    ck_assert_double_eq_tol(a.with_ocs, 0.742, 5e-4);
    ck_assert_double_eq_tol(a.with_ocs, 0.75 * binomial_tail(64, 48, pow(0.99, 16)), 1e-12);
    ck_assert_double_eq(a.all_up, 0.75);
}
END_TEST

START_TEST(without_ocs_hosts_must_be_up_999_of_1000)
{
    /* Slices of 1,024 and 2,048 chips without switches reach at 99.9 % what they have with switches
     * at 99 %, and not at 99.5 %. */
    for (uint32_t chips = 1024; chips <= 2048; chips *= 2) {
        double wanted = v4_pod(chips, 0.99).with_ocs;
        ck_assert_double_gt(v4_pod(chips, 0.999).without_ocs.low, wanted);
        ck_assert_double_lt(v4_pod(chips, 0.995).without_ocs.high, 0.6 * wanted);
        ck_assert_double_lt(v4_pod(chips, 0.99).without_ocs.high, 0.3 * wanted);
    }
    /* the whole pod is one block: all 1,024 hosts, 0.999^1024 = 0.359, switches or not */
    struct topo_availability a = v4_pod(4096, 0.999);
    ck_assert_double_eq_tol(a.without_ocs.value, pow(0.999, 1024), 1e-12);
    ck_assert_double_eq_tol(a.with_ocs, pow(0.999, 1024), 1e-12);
}
END_TEST

/* ---- every state of a small pod ---- */

/* Whole blocks of x * y * z cubes in which every cube of `state` is set. */
static uint32_t whole_blocks(const uint32_t grid[3], const uint32_t side[3], uint32_t state)
{
    uint32_t good[64] = {0}, blocks = 0;
    for (uint32_t c = 0; c < grid[0] * grid[1] * grid[2]; c++) {
        uint32_t at[3] = {c % grid[0] / side[0], c / grid[0] % grid[1] / side[1],
                          c / grid[0] / grid[1] / side[2]};
        good[at[0] + 4 * at[1] + 16 * at[2]] += state >> c & 1;
    }
    for (uint32_t i = 0; i < 64; i++)
        blocks += good[i] == side[0] * side[1] * side[2];
    return blocks;
}

static uint32_t best_blocks(const uint32_t grid[3], uint32_t n, uint32_t state)
{
    uint32_t best = 0, side[3];
    for (side[0] = 1; side[0] <= grid[0]; side[0]++)
        for (side[1] = 1; side[1] <= grid[1]; side[1]++)
            for (side[2] = 1; side[2] <= grid[2]; side[2]++) {
                if (side[0] * side[1] * side[2] != n) continue;
                uint32_t blocks = whole_blocks(grid, side, state);
                if (blocks > best) best = blocks;
            }
    return best;
}

static double brute_goodput(const struct topo_availability_query *q)
{
    uint32_t cubes = q->grid[0] * q->grid[1] * q->grid[2];
    double slices = 0;
    for (uint32_t state = 0; state < UINT32_C(1) << cubes; state++) {
        double probability = 1;
        for (uint32_t c = 0; c < cubes; c++)
            probability *= state >> c & 1 ? q->host_availability : 1 - q->host_availability;
        slices += probability * best_blocks(q->grid, q->slice_hosts, state);
    }
    return slices * q->slice_hosts / cubes;
}

static const struct {
    uint32_t x, y, z, n;
} small_pods[] = {{2, 2, 1, 2}, {2, 2, 2, 2}, {2, 2, 2, 4}, {3, 2, 2, 2}, {3, 3, 1, 2},
                  {4, 3, 1, 2}, {4, 3, 1, 4}, {2, 2, 3, 4}, {3, 2, 2, 6}, {2, 2, 2, 3},
                  {2, 2, 2, 8}, {4, 3, 1, 6}, {3, 2, 2, 1}, {4, 1, 1, 2}};

START_TEST(interval_holds_the_sum_over_all_states)
{
    /* From hosts that are hardly ever up to hosts that hardly ever fail, where no draw shows it. A
     * 95 % interval may miss 1 in 20, by little. */
    static const double up[] = {1e-3, 0.02, 0.3, 0.5, 0.8, 0.95, 0.999, 0.9999999, 1};
    uint32_t intervals = 0, missed = 0;
    for (size_t i = 0; i < sizeof small_pods / sizeof small_pods[0]; i++)
        for (size_t k = 0; k < sizeof up / sizeof up[0]; k++) {
            struct topo_availability_query q =
                small(small_pods[i].x, small_pods[i].y, small_pods[i].z, small_pods[i].n, up[k]);
            struct topo_goodput g = topo_availability_of(&q).without_ocs;
            double exact = brute_goodput(&q), slack = 1e-12 + (g.high - g.low) / 2;
            ck_assert_msg(g.low - slack <= exact && exact <= g.high + slack,
                          "pod %zu, %g up: %.9g not near %.9g .. %.9g", i, up[k], exact, g.low,
                          g.high);
            ck_assert(g.low <= g.value && g.value <= g.high);
            if (g.is_exact) ck_assert_double_eq_tol(g.value, exact, 1e-12);
            intervals += !g.is_exact;
            missed += !g.is_exact && (exact < g.low - 1e-12 || exact > g.high + 1e-12);
        }
    ck_assert_uint_gt(intervals, 50);
    ck_assert_uint_le(missed, intervals / 20);
}
END_TEST

START_TEST(intervals_of_many_seeds_hold_it_often_enough)
{
    struct topo_availability_query q = small(2, 2, 2, 2, 0.7);
    double exact = brute_goodput(&q);
    uint32_t held = 0, seeds = 200;
    q.samples = 2000;
    for (q.seed = 0; q.seed < seeds; q.seed++) {
        struct topo_goodput g = topo_availability_of(&q).without_ocs;
        held += g.low <= exact && exact <= g.high;
    }
    ck_assert_uint_ge(held, seeds * 93 / 100);
    ck_assert_uint_lt(held, seeds); /* and it is no wider than it says */
}
END_TEST

START_TEST(same_seed_same_bits_and_never_above_ocs)
{
    double before = 0;
    for (double up = 0.97; up < 1; up += 0.005) {
        struct topo_availability a = v4_pod(1024, up), b = v4_pod(1024, up);
        ck_assert(memcmp(&a, &b, sizeof a) == 0);
        ck_assert_double_le(a.without_ocs.high, a.with_ocs);
        ck_assert_double_gt(a.without_ocs.value, before); /* the draws are shared */
        before = a.without_ocs.value;
    }
}
END_TEST

START_TEST(no_block_of_five_in_a_grid_of_four)
{
    /* 320 chips are 5 cubes: with OCS 12 slices of 64 cubes, without none in 4x4x4 */
    struct topo_availability a = v4_pod(320, 1);
    ck_assert_double_eq_tol(a.with_ocs, 60. / 64, 1e-15);
    ck_assert_double_eq_tol(a.all_up, 60. / 64, 1e-15);
    ck_assert_double_eq(a.without_ocs.value, 0);
    ck_assert(a.without_ocs.is_exact);
}
END_TEST

START_TEST(pods_and_slices_are_checked)
{
    static const struct {
        const char *spec, *says;
        uint32_t chips;
    } cases[] = {{"v6e:16x16", "v6e:16x16 is no pod of 4x4x4 cubes", 64},
                 {"torus:16x16x16", "no pod of 4x4x4 cubes", 64},
                 {"v5p:2x2x4", "no pod of 4x4x4 cubes", 8},
                 {"v4:8x8x8", "no slice of 1024 chips", 1024},
                 {"v4:8x8x8", "no slice of 65 chips", 65},
                 {"v4:8x8x8", "no slice of 2 chips", 2},
                 {"v4:8x8x8", "want 4, 8, 16, 32 or a multiple of 64 up to 512", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        struct topo_availability_query q;
        topo *t = topo_or_fail(cases[i].spec);
        ck_assert_int_eq(topo_availability_query_of(t, cases[i].chips, &err, &q), SIM_EDATA);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        topo_destroy(t);
    }
    struct sim_error err = {0};
    struct topo_availability_query q;
    topo *t = topo_or_fail("v7:16x24x24"); /* 144 cubes of 16 hosts; 1,024 chips are 256 hosts */
    ck_assert_int_eq(topo_availability_query_of(t, 1024, &err, &q), SIM_OK);
    ck_assert(q.grid[0] == 4 && q.grid[1] == 6 && q.grid[2] == 6);
    ck_assert(q.cube_hosts == 16 && q.slice_hosts == 256);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {three_cubes_by_hand,
                            two_kinds_of_blocks_by_hand,
                            parts_of_a_cube,
                            with_ocs_is_a_sum_of_binomial_tails,
                            published_goodput,
                            without_ocs_hosts_must_be_up_999_of_1000,
                            interval_holds_the_sum_over_all_states,
                            intervals_of_many_seeds_hold_it_often_enough,
                            same_seed_same_bits_and_never_above_ocs,
                            no_block_of_five_in_a_grid_of_four,
                            pods_and_slices_are_checked};
    return run_suite(SUITE_OF("topo_availability", tests));
}
