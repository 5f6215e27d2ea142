#include "netsim/gap.h"

#include <assert.h>

void net_gap_init(struct net_gap *gap, double chance)
{
    double none = 1; /* so far */
    assert(chance > 0 && chance <= 1);
    for (uint32_t k = 0; k < NET_GAP_STEPS; k++) {
        none *= 1 - chance;
        gap->until[k] = (uint64_t)((1 - none) * 9223372036854775808.0);
    }
    uint32_t k = 0;
    for (uint64_t i = 0; i < NET_GAP_GUIDE; i++) {
        while (k < NET_GAP_STEPS && gap->until[k] <= i << 55)
            k++;
        gap->guide[i] = (uint16_t)k;
    }
}

/* Where a draw is beyond the table the process starts anew there: it has no memory. */
uint64_t net_gap_draw(const struct net_gap *gap, struct sim_rng *rng)
{
    for (uint64_t passed = 0;; passed += NET_GAP_STEPS) {
        uint64_t draw = sim_rng_next(rng) >> 1;
        uint32_t k = gap->guide[draw >> 55];
        while (k < NET_GAP_STEPS && gap->until[k] <= draw)
            k++;
        if (k < NET_GAP_STEPS) return passed + k;
    }
}
