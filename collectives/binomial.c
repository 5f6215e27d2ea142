/*
 * Binomial tree: who has the data passes it on half of the remaining way, ceil(log2 n) times.
 *
 *   step 0   0 -------> 4              the farthest first, so that on a line the ways of a
 *   step 1   0 --> 2    4 --> 6        step do not meet
 *   step 2   0>1  2>3   4>5  6>7
 *
 *   broadcast, reduce    log2 n (a + V/W)           on a full mesh; n a power of two
 *   scatter, gather      log2 n a + (n-1)/n V/W
 *   all-reduce           a reduction and a broadcast
 *
 * For other n the form follows the tree: a member passes on one message after the other.
 *
 * Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005.
 */
#include "collectives/coll_internal.h"
#include "collectives/tree.h"

static uint32_t highest_mask(uint32_t n)
{
    uint32_t mask = 1;
    while (2 * mask < n)
        mask *= 2;
    return n > 1 ? mask : 0;
}

static void branches(uint32_t members, struct coll_branch *branch)
{
    uint32_t count = 0, step = 0;
    for (uint32_t mask = highest_mask(members); mask > 0; mask /= 2, step++)
        for (uint32_t m = 0; m + mask < members; m += 2 * mask)
            branch[count++] = (struct coll_branch){step, m, m + mask};
    assert(members == 0 || count == members - 1);
}

net_schedule *coll_binomial_build(const topo *t, const struct coll_spec *spec)
{
    return coll_tree_build(t, spec, branches);
}

struct coll_cost coll_binomial_cost(const topo *t, const struct coll_spec *spec)
{
    return coll_tree_cost(t, spec, branches);
}
