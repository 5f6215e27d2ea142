/* Known answers of the published generators, streams, and the two distributions. */
#include <math.h>
#include <stdint.h>

#include "base/rng.h"
#include "tests/unit/check_main.h"

/* xoshiro256** from the state {1, 2, 3, 4}. The first three by hand:
 *   rotl(2 * 5, 7) * 9 = 10 * 128 * 9 = 11520. The step makes s0 = 1 ^ (4 ^ 2) = 7, s1 = 2 ^ (3 ^
 * 1) = 0 and s2 = (3 ^ 1) ^ (2 << 17) = 262146. s1 = 0 gives 0. The next step makes s1 = 0 ^
 * (262146 ^ 7) = 262149, and rotl(262149 * 5, 7) * 9 = 1310745 * 128 * 9 = 1509978240. The rest are
 * those of the reference implementation, as in the tests of other libraries. */
START_TEST(xoshiro_known_answers)
{
    static const uint64_t expected[] = {11520,
                                        0,
                                        1509978240,
                                        1215971899390074240,
                                        1216172134540287360,
                                        607988272756665600,
                                        UINT64_C(16172922978634559625),
                                        8476171486693032832,
                                        UINT64_C(10595114339597558777),
                                        2904607092377533576};
    struct sim_rng rng = {{1, 2, 3, 4}};

    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        ck_assert_uint_eq(sim_rng_next(&rng), expected[i]);
    }
}
END_TEST

/* splitmix64 once more, written down as in the paper: the state that sim_rng_init() must give. */
static uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

START_TEST(state_comes_from_seed_and_stream)
{
    uint64_t state = 1234567;
    struct sim_rng rng;

    /* The published first outputs of splitmix64 for the seed 1234567. */
    ck_assert_uint_eq(splitmix64(&state), UINT64_C(6457827717110365317));
    ck_assert_uint_eq(splitmix64(&state), UINT64_C(3203168211198807973));
    ck_assert_uint_eq(splitmix64(&state), UINT64_C(9817491932198370423));

    state = UINT64_C(6457827717110365317) ^ 42; /* mixed seed, then the stream id */
    sim_rng_init(&rng, 1234567, 42);
    for (int i = 0; i < 4; i++)
        ck_assert_uint_eq(rng.state[i], splitmix64(&state));
}
END_TEST

START_TEST(streams_differ)
{
    enum { STREAMS = 200 };
    uint64_t first[STREAMS * 2];
    struct sim_rng a, b;

    sim_rng_init(&a, 7, 3);
    sim_rng_init(&b, 3, 7);
    ck_assert_uint_ne(sim_rng_next(&a), sim_rng_next(&b)); /* (a, b) is not (b, a) */
    for (uint64_t i = 0; i < STREAMS; i++) {
        sim_rng_init(&a, 0, i);
        first[i] = sim_rng_next(&a);
        sim_rng_init(&a, 1, i);
        first[STREAMS + i] = sim_rng_next(&a);
    }
    /* 400 values of 64 bits: the chance of any two equal is 400^2 / 2^65 < 1e-14. */
    for (int i = 0; i < STREAMS * 2; i++) {
        for (int j = 0; j < i; j++)
            ck_assert_uint_ne(first[i], first[j]);
    }
}
END_TEST

START_TEST(same_stream_twice_is_the_same)
{
    struct sim_rng a, b;

    sim_rng_init(&a, 42, 9);
    sim_rng_init(&b, 42, 9);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(sim_rng_next(&a), sim_rng_next(&b));
}
END_TEST

/* 60,000 dice: each face 10,000 +- 5 standard deviations of sqrt(60000 * 1/6 * 5/6) = 91. */
START_TEST(below_is_uniform)
{
    int count[6] = {0};
    struct sim_rng rng;

    sim_rng_init(&rng, 1, 0);
    for (int i = 0; i < 60000; i++) {
        uint64_t face = sim_rng_below(&rng, 6);

        ck_assert_uint_lt(face, 6);
        count[face]++;
    }
    for (int i = 0; i < 6; i++) {
        ck_assert_int_gt(count[i], 10000 - 5 * 91);
        ck_assert_int_lt(count[i], 10000 + 5 * 91);
    }
}
END_TEST

/* A bound of 3/4 * 2^64: the high word of the product alone would give one value in three (those
 * divisible by 3) twice as often as the others, so half of all draws instead of a third. Standard
 * deviations over 40,000 draws: 1/sqrt(12 * 40000) = 0.0014 for the mean, sqrt(2/9 / 40000) =
 * 0.0024 for the share. */
START_TEST(below_has_no_bias_at_large_bounds)
{
    const uint64_t bound = UINT64_C(3) << 62;
    struct sim_rng rng;
    int low = 0;
    double sum = 0.0;

    sim_rng_init(&rng, 2, 0);
    for (int i = 0; i < 40000; i++) {
        uint64_t x = sim_rng_below(&rng, bound);

        ck_assert_uint_lt(x, bound);
        low += x % 3 == 0;
        sum += (double)x / (double)bound;
    }
    ck_assert_double_lt(fabs(sum / 40000 - 0.5), 5 * 0.0014);
    ck_assert_double_lt(fabs(low / 40000.0 - 1.0 / 3), 5 * 0.0024);
}
END_TEST

START_TEST(below_one_is_zero)
{
    struct sim_rng rng;

    sim_rng_init(&rng, 3, 0);
    for (int i = 0; i < 100; i++)
        ck_assert_uint_eq(sim_rng_below(&rng, 1), 0);
    (void)sim_rng_below(&rng, UINT64_MAX);
}
END_TEST

START_TEST(unit_is_in_range)
{
    struct sim_rng rng;
    double sum = 0.0;

    /* The largest value: 53 ones. */
    ck_assert_double_lt((double)(UINT64_MAX >> 11) * 0x1p-53, 1.0);
    sim_rng_init(&rng, 4, 0);
    for (int i = 0; i < 40000; i++) {
        double x = sim_rng_unit(&rng);

        ck_assert(x >= 0.0 && x < 1.0);
        sum += x;
    }
    ck_assert_double_lt(fabs(sum / 40000 - 0.5), 5 * 0.0014); /* 1/sqrt(12 * 40000) = 0.0014 */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/rng");
    TCase *tc = tcase_create("rng");

    tcase_add_test(tc, xoshiro_known_answers);
    tcase_add_test(tc, state_comes_from_seed_and_stream);
    tcase_add_test(tc, streams_differ);
    tcase_add_test(tc, same_stream_twice_is_the_same);
    tcase_add_test(tc, below_is_uniform);
    tcase_add_test(tc, below_has_no_bias_at_large_bounds);
    tcase_add_test(tc, below_one_is_zero);
    tcase_add_test(tc, unit_is_in_range);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
