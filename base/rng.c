/*
 * xoshiro256** (Blackman & Vigna, ACM Trans. Math. Softw. 47(4), 2021), its four words filled by
 * splitmix64 (Steele, Lea & Flood, OOPSLA 2014), both in the public domain form of
 * prng.di.unimi.it.
 *
 * The seed is mixed once before the stream id goes in, so that (a, b) and (b, a) differ, and the
 * words of neighbouring streams never overlap: they would only where ids differ by a small multiple
 * of splitmix64's increment, about 2^63.3.
 */
#include "base/rng.h"

#include <assert.h>

#include "base/time.h"

static uint64_t splitmix64_next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9E3779B97F4A7C15);

    z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
    return z ^ (z >> 31);
}

void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream)
{
    uint64_t mix = splitmix64_next(&seed) ^ stream;

    for (int i = 0; i < 4; i++)
        rng->state[i] = splitmix64_next(&mix);
}

/* Lemire, ACM Trans. Model. Comput. Simul. 29(1), 2019: the high word of a product is uniform once
 * the few products whose low word falls below 2^64 mod bound are drawn again. */
uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound)
{
    sim_u128 product;

    assert(bound > 0);
    product = (sim_u128)sim_rng_next(rng) * bound;
    if ((uint64_t)product < bound) {
        uint64_t threshold = (0 - bound) % bound;

        while ((uint64_t)product < threshold)
            product = (sim_u128)sim_rng_next(rng) * bound;
    }
    return (uint64_t)(product >> 64);
}

double sim_rng_unit(struct sim_rng *rng)
{
    return (double)(sim_rng_next(rng) >> 11) * 0x1p-53;
}
