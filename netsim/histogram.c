#include "netsim/histogram.h"

#include <math.h>

#include "base/arena.h"
#include "netsim/mpi.h"

/* 512 buckets for each power of two from 2^9 on; the first 1,024 values have one each. */
enum { BITS = 9, STEPS = 1 << BITS, BUCKETS = STEPS * (64 - BITS + 1) };

struct net_histogram {
    uint64_t count, max, sum_low, sum_high; /* sum: 128 bits */
    uint64_t bucket[BUCKETS];
};

net_histogram *net_histogram_create(void)
{
    return SIM_NEW(net_histogram, 1);
}

void net_histogram_destroy(net_histogram *h)
{
    sim_free(h);
}

static uint32_t bucket_of(uint64_t value)
{
    if (value < STEPS) return (uint32_t)value;
    uint32_t shift = 63 - BITS - (uint32_t)__builtin_clzll(value);
    return (shift + 1) * STEPS + (uint32_t)((value >> shift) - STEPS);
}

/* The largest value of a bucket. */
static uint64_t top_of(uint32_t bucket)
{
    if (bucket < 2 * STEPS) return bucket;
    uint32_t shift = bucket / STEPS - 1;
    return (((uint64_t)STEPS + bucket % STEPS + 1) << shift) - 1;
}

void net_histogram_add(net_histogram *h, uint64_t value)
{
    h->count++;
    h->bucket[bucket_of(value)]++;
    if (value > h->max) h->max = value;
    h->sum_low += value;
    if (h->sum_low < value) h->sum_high++;
}

/* The sum goes in pieces that cannot overflow. */
void net_histogram_share(net_histogram *h)
{
    const uint64_t low = UINT32_MAX;
    int64_t pieces[] = {(int64_t)h->count, (int64_t)(h->sum_low & low), (int64_t)(h->sum_low >> 32),
                        (int64_t)h->sum_high};
    net_mpi_sum(pieces, 4);
    net_mpi_max((int64_t *)&h->max, 1);
    net_mpi_sum((int64_t *)h->bucket, BUCKETS);
    uint64_t middle = (uint64_t)pieces[2] + ((uint64_t)pieces[1] >> 32);
    h->count = (uint64_t)pieces[0];
    h->sum_low = ((uint64_t)pieces[1] & low) | middle << 32;
    h->sum_high = (uint64_t)pieces[3] + (middle >> 32);
}

uint64_t net_histogram_count(const net_histogram *h)
{
    return h->count;
}

uint64_t net_histogram_max(const net_histogram *h)
{
    return h->max;
}

double net_histogram_mean(const net_histogram *h)
{
    if (h->count == 0) return 0;
    return (ldexp((double)h->sum_high, 64) + (double)h->sum_low) / (double)h->count;
}

uint64_t net_histogram_quantile(const net_histogram *h, double share)
{
    uint64_t wanted = (uint64_t)ceil(share * (double)h->count), seen = 0;
    if (h->count == 0) return 0;
    if (wanted == 0) wanted = 1;
    for (uint32_t i = 0; i < BUCKETS; i++) {
        seen += h->bucket[i];
        if (seen < wanted) continue;
        return top_of(i) < h->max ? top_of(i) : h->max;
    }
    return h->max;
}
