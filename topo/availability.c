/*
 * Goodput of a pod whose hosts fail.
 *
 * With switches: the number of good cubes is binomial, and E[floor(good / n)] is summed over its
 * distribution, which is built by adding one cube at a time: m^2 / 2 multiply-adds for m cubes, no
 * logarithms or powers, hence the same bits everywhere.
 *
 * Without: cutting the pod into blocks of one shape gives k blocks, each good with p^n, so its
 * expected number is k p^n. When several shapes (or orientations of one) fit, the best of them at
 * the moment is the largest of correlated counts; nothing short of a sum over 2^m states gives its
 * mean, and it is drawn. A state is a bit per cube, a block a mask of bits.
 *
 * Interval of the estimate, in slices: 1.96 standard errors, plus k_max 3 / samples, what an event
 * too rare to be drawn may add (the rule of three: not seen in N draws, its probability is below
 * 3/N at 95 %; Hanley & Lippman-Hand, JAMA 249(13), 1983). It is then cut to what is certain: not
 * below the best single shape, nor above the sum of all, nor above the same pod with switches.
 */
#include "topo/availability.h"

#include <assert.h>
#include <math.h>

#include "base/arena.h"
#include "base/rng.h"
#include "topo/ocs.h"

/* ---- with switches ---- */

static double power(double base, uint32_t exponent)
{
    double result = 1;
    for (uint32_t i = 0; i < exponent; i++)
        result *= base;
    return result;
}

/* probability[k] = of k good cubes out of `cubes`; [cubes + 1], sim_free. */
static double *good_cubes_distribution(uint32_t cubes, double p)
{
    double *probability = SIM_NEW(double, cubes + 1);
    probability[0] = 1;
    for (uint32_t i = 1; i <= cubes; i++) {
        for (uint32_t k = i; k > 0; k--)
            probability[k] = probability[k] * (1 - p) + probability[k - 1] * p;
        probability[0] *= 1 - p;
    }
    return probability;
}

/* E[floor(good / n)], and the probability that it is not 0. */
static double switched_slices(uint32_t cubes, uint32_t n, double p, double *at_least_one)
{
    double *probability = good_cubes_distribution(cubes, p), slices = 0;
    *at_least_one = 0;
    for (uint32_t k = 0; k <= cubes; k++) { /* smallest terms first */
        slices += probability[k] * (k / n);
        if (k >= n) *at_least_one += probability[k];
    }
    sim_free(probability);
    if (*at_least_one > 1) *at_least_one = 1;
    return slices < cubes / n ? slices : cubes / n;
}

/* ---- without: every way to cut the pod into blocks of n cubes ---- */

/* Cut i has blocks begin[i] .. begin[i + 1]; block b is the cubes whose bits are set in mask[b *
 * words ...]. */
struct cuts {
    uint32_t count, words;
    uint32_t *begin; /* [count + 1] */
    uint64_t *mask;  /* [begin[count] * words] */
    uint32_t most;   /* blocks of the cut that has most */
};

static void block_mask(const uint32_t grid[3], const uint32_t corner[3], const uint32_t side[3],
                       uint64_t *mask)
{
    for (uint32_t z = corner[2]; z < corner[2] + side[2]; z++)
        for (uint32_t y = corner[1]; y < corner[1] + side[1]; y++)
            for (uint32_t x = corner[0]; x < corner[0] + side[0]; x++) {
                uint32_t cube = x + grid[0] * (y + grid[1] * z);
                mask[cube / 64] |= UINT64_C(1) << cube % 64;
            }
}

static void cut_add(struct cuts *cuts, const uint32_t grid[3], const uint32_t side[3])
{
    uint32_t blocks = (grid[0] / side[0]) * (grid[1] / side[1]) * (grid[2] / side[2]);
    uint32_t begin = cuts->begin[cuts->count], end = begin + blocks;
    cuts->begin = sim_realloc(cuts->begin, cuts->count + 2, sizeof *cuts->begin, "cuts");
    cuts->mask = sim_realloc(cuts->mask, (size_t)end * cuts->words, sizeof *cuts->mask, "blocks");
    cuts->begin[++cuts->count] = end;
    if (blocks > cuts->most) cuts->most = blocks;
    for (uint32_t i = 0; i < blocks; i++) {
        uint32_t across = grid[0] / side[0], down = grid[1] / side[1];
        uint32_t corner[3] = {i % across * side[0], i / across % down * side[1],
                              i / across / down * side[2]};
        uint64_t *mask = cuts->mask + (size_t)(begin + i) * cuts->words;
        for (uint32_t w = 0; w < cuts->words; w++)
            mask[w] = 0;
        block_mask(grid, corner, side, mask);
    }
}

static struct cuts cuts_make(const uint32_t grid[3], uint32_t n)
{
    uint32_t cubes = grid[0] * grid[1] * grid[2];
    struct cuts cuts = {.words = (cubes + 63) / 64, .begin = SIM_NEW(uint32_t, 1)};
    for (uint32_t x = 1; x <= grid[0]; x++)
        for (uint32_t y = 1; y <= grid[1]; y++) {
            uint32_t side[3] = {x, y, n / (x * y)};
            if (n % (x * y) == 0 && side[2] <= grid[2]) cut_add(&cuts, grid, side);
        }
    return cuts;
}

static void cuts_release(struct cuts *cuts)
{
    sim_free(cuts->begin);
    sim_free(cuts->mask);
}

static bool is_block_good(const struct cuts *cuts, uint32_t block, const uint64_t *good)
{
    const uint64_t *mask = cuts->mask + (size_t)block * cuts->words;
    for (uint32_t w = 0; w < cuts->words; w++)
        if ((mask[w] & ~good[w]) != 0) return false;
    return true;
}

/* Slices of the best cut in one state of the pod. */
static uint32_t best_cut(const struct cuts *cuts, const uint64_t *good)
{
    uint32_t best = 0;
    for (uint32_t c = 0; c < cuts->count; c++) {
        uint32_t slices = 0;
        for (uint32_t b = cuts->begin[c]; b < cuts->begin[c + 1]; b++)
            slices += is_block_good(cuts, b, good);
        if (slices > best) best = slices;
    }
    return best;
}

static void draw_cubes(struct sim_rng *rng, uint32_t cubes, double p, uint64_t *good)
{
    for (uint32_t cube = 0; cube < cubes; cube++) {
        uint64_t bit = UINT64_C(1) << cube % 64;
        if (sim_rng_unit(rng) < p)
            good[cube / 64] |= bit;
        else
            good[cube / 64] &= ~bit;
    }
}

/* Estimate E[best_cut] in slices. Counts are summed as integers: no order to keep. */
static struct topo_goodput drawn_slices(const struct topo_availability_query *q,
                                        const struct cuts *cuts, double p)
{
    uint32_t cubes = q->grid[0] * q->grid[1] * q->grid[2];
    uint64_t *good = SIM_NEW(uint64_t, cuts->words), sum = 0, squares = 0;
    struct sim_rng rng;
    sim_rng_init(&rng, q->seed, q->slice_hosts);
    for (uint32_t i = 0; i < q->samples; i++) {
        draw_cubes(&rng, cubes, p, good);
        uint64_t slices = best_cut(cuts, good);
        sum += slices;
        squares += slices * slices;
    }
    sim_free(good);
    double n = q->samples, mean = (double)sum / n;
    double variance = ((double)squares - (double)sum * mean) / (n - 1);
    double half = 1.96 * sqrt((variance > 0 ? variance : 0) / n) + 3 * cuts->most / n;
    return (struct topo_goodput){.value = mean, .low = mean - half, .high = mean + half};
}

static double clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* In slices; `switched` is what switches would give. */
static struct topo_goodput unswitched_slices(const struct topo_availability_query *q, double p,
                                             double switched)
{
    uint32_t n = q->slice_hosts / q->cube_hosts;
    struct cuts cuts = cuts_make(q->grid, n);
    double block = power(p, n), least = cuts.most * block;
    struct topo_goodput g = {.value = least, .low = least, .high = least, .is_exact = true};
    if (cuts.count > 1 && p < 1) {
        double most = cuts.begin[cuts.count] * block;
        if (most > switched) most = switched;
        if (most < least) most = least; /* by rounding */
        g = drawn_slices(q, &cuts, p);
        g.low = clamp(g.low, least, most);
        g.high = clamp(g.high, least, most);
        g.value = clamp(g.value, least, most);
    }
    cuts_release(&cuts);
    return g;
}

/* ---- the whole answer ---- */

static struct topo_availability parts_of_cubes(const struct topo_availability_query *q)
{
    double good = power(q->host_availability, q->slice_hosts);
    uint32_t cubes = q->grid[0] * q->grid[1] * q->grid[2];
    struct topo_availability a = {.all_up = 1, .with_ocs = good};
    a.cube = power(q->host_availability, q->cube_hosts);
    a.at_least_one = 1 - power(1 - good, cubes * (q->cube_hosts / q->slice_hosts));
    a.without_ocs = (struct topo_goodput){good, good, good, true};
    return a;
}

struct topo_availability topo_availability_of(const struct topo_availability_query *q)
{
    assert(q->host_availability > 0 && q->host_availability <= 1 && q->samples >= 2);
    assert(q->cube_hosts > 0 && q->slice_hosts > 0);
    if (q->slice_hosts < q->cube_hosts) return parts_of_cubes(q);
    assert(q->slice_hosts % q->cube_hosts == 0);
    uint32_t cubes = q->grid[0] * q->grid[1] * q->grid[2], n = q->slice_hosts / q->cube_hosts;
    double share = (double)n / cubes; /* of the pod, in one slice */
    struct topo_availability a = {.cube = power(q->host_availability, q->cube_hosts)};
    a.all_up = cubes / n * share;
    double slices = switched_slices(cubes, n, a.cube, &a.at_least_one);
    a.with_ocs = slices * share;
    a.without_ocs = unswitched_slices(q, a.cube, slices);
    a.without_ocs.value *= share;
    a.without_ocs.low *= share;
    a.without_ocs.high *= share;
    return a;
}

enum sim_status topo_availability_query_of(const topo *pod, uint32_t slice_chips,
                                           struct sim_error *err,
                                           struct topo_availability_query *out)
{
    const struct topo_chip *chip = topo_chip_of(pod);
    bool is_cubes = chip != NULL && chip->wrap_rule == TOPO_WRAP_CUBES;
    for (uint32_t a = 0; a < 3 && is_cubes; a++)
        is_cubes = topo_axis_size(pod, a) % TOPO_CUBE_SIDE == 0;
    if (!is_cubes)
        return sim_error_set(err, SIM_EDATA,
                             "%s is no pod of 4x4x4 cubes, want one such as v4:16x16x16",
                             topo_spec(pod));
    uint32_t host_chips = chip->host[0] * chip->host[1] * chip->host[2];
    bool is_part = slice_chips >= host_chips && slice_chips < TOPO_CUBE_CHIPS &&
                   TOPO_CUBE_CHIPS % slice_chips == 0;
    bool is_whole = slice_chips > 0 && slice_chips % TOPO_CUBE_CHIPS == 0;
    if ((!is_part && !is_whole) || slice_chips > topo_chips(pod))
        return sim_error_set(err, SIM_EDATA,
                             "%s has no slice of %u chips, want 4, 8, 16, 32 or a multiple of %d "
                             "up to %u",
                             topo_spec(pod), slice_chips, TOPO_CUBE_CHIPS, topo_chips(pod));
    *out = (struct topo_availability_query){.cube_hosts = TOPO_CUBE_CHIPS / host_chips,
                                            .slice_hosts = slice_chips / host_chips,
                                            .host_availability = 1,
                                            .seed = 1,
                                            .samples = TOPO_AVAILABILITY_SAMPLES};
    for (uint32_t a = 0; a < 3; a++)
        out->grid[a] = topo_axis_size(pod, a) / TOPO_CUBE_SIDE;
    return SIM_OK;
}
