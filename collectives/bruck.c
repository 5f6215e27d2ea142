/*
 * Bruck: ceil(log2 n) steps for any number of members, partners 1, 2, 4, ... places back.
 *
 *   all-gather, n = 5      step 0   i gives block i to i-1              blocks i, i+1
 *                          step 1   i gives i, i+1 to i-2               blocks i .. i+3
 *                          step 2   i gives block i to i-4              all
 *
 *   all-to-all             a block that must go d places forward goes 2^s of them in step s where
 *                          bit s of d is set: about half of the buffer a step
 *
 * On a full mesh, with a message's hop a:
 *
 *   all-gather, reduce-scatter   ceil(log2 n) a + (n-1)/n V/W       all-reduce: twice that
 *   all-to-all                   ceil(log2 n) a + V/(n W) sum over s of #{d < n: bit s of d set}
 *
 * Few steps, for small buffers. On rings and tori 2^s places are as many hops, which share links:
 * there the form is an estimate.
 *
 * Source: Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997.
 */
#include "collectives/coll_internal.h"
#include "collectives/plan.h"

static uint32_t steps_for(uint32_t n)
{
    uint32_t steps = 0;
    while (UINT32_C(1) << steps < n)
        steps++;
    return steps;
}

/* Blocks that everyone sends in a step of the all-gather. */
static uint32_t blocks_at(uint32_t n, uint32_t step)
{
    uint32_t held = UINT32_C(1) << step;
    return n - held < held ? n - held : held;
}

static struct coll_transfer message(const coll_plan *plan, uint32_t step, uint32_t src,
                                    uint32_t dst)
{
    return (struct coll_transfer){.src = src,
                                  .dst = dst,
                                  .step = step,
                                  .after = {NET_NONE, NET_NONE},
                                  .cell_begin = coll_plan_cells_end(plan)};
}

static void write_gather(coll_plan *plan, uint32_t n, double block_bytes)
{
    for (uint32_t s = 0; s < steps_for(n); s++)
        for (uint32_t m = 0; m < n; m++) {
            struct coll_transfer t = message(plan, s, m, (m + n - (UINT32_C(1) << s)) % n);
            t.bytes = blocks_at(n, s) * block_bytes;
            for (uint32_t i = 0; coll_plan_has_cells(plan) && i < blocks_at(n, s);
                 i++, t.cell_count++)
                coll_plan_cell(plan, (m + i) % n);
            coll_plan_add(plan, &t);
        }
}

/* Of the offsets d, those that move at step s. */
static uint32_t moving(uint32_t n, uint32_t step)
{
    uint32_t count = 0;
    for (uint32_t d = 0; d < n; d++)
        count += d >> step & 1;
    return count;
}

static void write_all_to_all(coll_plan *plan, uint32_t n, double block_bytes)
{
    for (uint32_t s = 0; s < steps_for(n); s++)
        for (uint32_t m = 0; m < n; m++) {
            uint32_t places = UINT32_C(1) << s;
            struct coll_transfer t = message(plan, s, m, (m + places) % n);
            t.bytes = moving(n, s) * block_bytes;
            for (uint32_t d = 0; coll_plan_has_cells(plan) && d < n; d++) {
                if (!(d & places)) continue;
                uint32_t source = (m + n - (d & (places - 1))) % n; /* it has come so far */
                coll_plan_cell(plan, source + n * ((source + d) % n));
                t.cell_count++;
            }
            coll_plan_add(plan, &t);
        }
}

net_schedule *coll_bruck_build(const topo *t, const struct coll_spec *spec)
{
    uint32_t n = coll_members(t, spec);
    bool is_all_to_all = spec->op == COLL_ALL_TO_ALL;
    coll_plan *plan = coll_plan_create(t, spec, 1, is_all_to_all ? n * n : n);
    if (is_all_to_all)
        write_all_to_all(plan, n, spec->bytes / n);
    else
        write_gather(plan, n, spec->bytes / n);
    coll_plan_serve(plan, spec->op);
    return coll_plan_schedule(plan);
}

/* Places away as hops: along a ring of all members, the shorter way. */
static double hops_of(const topo *t, uint32_t n, uint32_t places)
{
    if (!topo_has_ports(t)) return 1;
    return places < n - places ? places : n - places;
}

struct coll_cost coll_bruck_cost(const topo *t, const struct coll_spec *spec)
{
    struct coll_network net = coll_network_of(t);
    uint32_t n = spec->group.size;
    double hops = 0, blocks = 0;
    for (uint32_t s = 0; s < steps_for(n); s++) {
        double apart = hops_of(t, n, UINT32_C(1) << s);
        hops += apart;
        blocks += apart * (spec->op == COLL_ALL_TO_ALL ? moving(n, s) : blocks_at(n, s));
    }
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    return coll_cost_make(times * hops * net.hop_ps,
                          times * blocks * spec->bytes / n / net.bytes_per_s * 1e12,
                          !topo_has_ports(t) || n == 1);
}
