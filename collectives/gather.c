/*
 * Counts for every size of group, sets of blocks for those whose messages say what they carry.
 */
#include "collectives/gather.h"

#include <string.h>

#include "base/arena.h"

void coll_gather_init(struct coll_gather *g, coll_plan *plan, uint32_t part, uint32_t lane,
                      double block_bytes)
{
    uint32_t n = coll_plan_members(plan);
    *g = (struct coll_gather){.plan = plan,
                              .part = part,
                              .lane = lane,
                              .block_bytes = block_bytes,
                              .members = n,
                              .words = (n + 63) / 64};
    g->count = SIM_NEW(uint32_t, n);
    g->next_count = SIM_NEW(uint32_t, n);
    for (uint32_t m = 0; m < n; m++)
        g->count[m] = g->next_count[m] = 1;
    if (!coll_plan_has_cells(plan)) return;
    g->have = SIM_NEW(uint64_t, (size_t)n * g->words);
    g->next_have = SIM_NEW(uint64_t, (size_t)n * g->words);
    for (uint32_t m = 0; m < n; m++)
        g->have[(size_t)m * g->words + m / 64] = UINT64_C(1) << m % 64;
    memcpy(g->next_have, g->have, (size_t)n * g->words * sizeof *g->have);
}

/* `known` blocks of the receiver (NULL: none) stay where they are. */
static void send_blocks(struct coll_gather *g, uint32_t step, uint32_t src, uint32_t dst,
                        uint32_t known_count, const uint64_t *known)
{
    struct coll_transfer t = {.src = src,
                              .dst = dst,
                              .step = step,
                              .src_lane = g->lane,
                              .dst_lane = g->lane,
                              .bytes = (g->count[src] - known_count) * g->block_bytes,
                              .after = {NET_NONE, NET_NONE},
                              .cell_begin = coll_plan_cells_end(g->plan)};
    g->next_count[dst] += g->count[src] - known_count;
    for (uint32_t b = 0; g->have != NULL && b < g->members; b++) {
        const uint64_t *have = g->have + (size_t)src * g->words;
        uint64_t bit = UINT64_C(1) << b % 64;
        if ((have[b / 64] & bit) == 0 || (known != NULL && (known[b / 64] & bit) != 0)) continue;
        coll_plan_cell(g->plan, g->part * g->members + b);
        t.cell_count++;
        g->next_have[(size_t)dst * g->words + b / 64] |= bit;
    }
    coll_plan_add(g->plan, &t);
}

void coll_gather_send(struct coll_gather *g, uint32_t step, uint32_t src, uint32_t dst)
{
    send_blocks(g, step, src, dst, 0, NULL);
}

void coll_gather_send_missing(struct coll_gather *g, uint32_t step, uint32_t src, uint32_t dst)
{
    send_blocks(g, step, src, dst, g->count[dst],
                g->have != NULL ? g->have + (size_t)dst * g->words : NULL);
}

void coll_gather_end_step(struct coll_gather *g)
{
    memcpy(g->count, g->next_count, g->members * sizeof *g->count);
    if (g->have != NULL)
        memcpy(g->have, g->next_have, (size_t)g->members * g->words * sizeof *g->have);
}

void coll_gather_release(struct coll_gather *g)
{
    sim_free(g->count);
    sim_free(g->next_count);
    sim_free(g->have);
    sim_free(g->next_have);
}
