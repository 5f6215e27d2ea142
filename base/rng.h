/**
 * Random numbers: one stream per (seed, stream id), the same on every machine, never rand().
 */
#ifndef PODSIM_BASE_RNG_H
#define PODSIM_BASE_RNG_H

#include <stdint.h>

struct sim_rng {
    uint64_t state[4];
};

/** Streams of one seed are independent of each other and of the order they are made in. */
void sim_rng_init(struct sim_rng *rng, uint64_t seed, uint64_t stream);
static inline uint64_t sim_rng_next(struct sim_rng *rng)
{
    uint64_t *s = rng->state, result = s[1] * 5, t = s[1] << 17;

    result = (result << 7 | result >> 57) * 9;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= t;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/** Uniform in [0, bound), without bias; bound > 0. */
uint64_t sim_rng_below(struct sim_rng *rng, uint64_t bound);
/** Uniform in [0, 1), 53 bits. */
double sim_rng_unit(struct sim_rng *rng);

#endif
