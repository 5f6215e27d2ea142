/*
 * Bine tree: a binomial tree on negabinary numbers, with ways of two thirds of the length.
 *
 * Members are written in base -2 (q digits for n = 2^q; ..., 4, -2, 1). At the step of digit j,
 * from high to low, who has the data passes it to the member whose digits 0 .. j are all flipped:
 *
 *   n = 8     step 0   0 -> 3 (000 > 111 = 4 - 2 + 1)             1, 1, 3, 5, 11, ... places away
 *             step 1   0 -> 7 (011 = -1)      3 -> 4 (100)        instead of 1, 2, 4, 8, 16
 *             step 2   0 -> 1   7 -> 6   3 -> 2   4 -> 5
 *
 * Costs and operations are those of the binomial tree; on a ring the hops are fewer.
 *
 * Source: De Sensi et al., "Bine trees: Enhancing collective operations by optimizing communication
 * locality", SC 2025.
 */
#include <stddef.h>

#include "collectives/coll_internal.h"
#include "collectives/tree.h"

/* The member whose base -2 digits these are, modulo n. */
static uint32_t member_of(uint32_t digits, uint32_t n)
{
    int64_t value = 0, weight = 1;
    for (uint32_t j = 0; UINT32_C(1) << j < n; j++, weight *= -2)
        if (digits >> j & 1) value += weight;
    return (uint32_t)(((value % n) + n) % n);
}

static uint32_t digit_count(uint32_t n)
{
    uint32_t q = 0;
    while (UINT32_C(1) << q < n)
        q++;
    return q;
}

/* Holders are in the order they were reached, as digits; `branch` remembers who they are. */
static void branches(uint32_t members, struct coll_branch *branch)
{
    uint32_t q = digit_count(members), count = 0;
    for (uint32_t step = 0; step < q; step++) {
        uint32_t flip = (UINT32_C(2) << (q - 1 - step)) - 1;
        for (uint32_t i = 0, holders = UINT32_C(1) << step; i < holders; i++) {
            uint32_t digits = 0; /* of the i-th holder: bit s of i says it was reached at step s */
            for (uint32_t s = 0; s < step; s++)
                if (i >> s & 1) digits ^= (UINT32_C(2) << (q - 1 - s)) - 1;
            branch[count++] = (struct coll_branch){step, member_of(digits, members),
                                                   member_of(digits ^ flip, members)};
        }
    }
}

net_schedule *coll_bine_build(const topo *t, const struct coll_spec *spec)
{
    return coll_tree_build(t, spec, branches);
}

struct coll_cost coll_bine_cost(const topo *t, const struct coll_spec *spec)
{
    return coll_tree_cost(t, spec, branches);
}

const char *coll_bine_obstacle(const topo *t, const struct coll_spec *spec)
{
    uint32_t n = coll_members(t, spec);
    return (n & (n - 1)) != 0 ? "want a group that is a power of two" : NULL;
}
