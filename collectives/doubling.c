/*
 * Recursive doubling and halving: partners 1, 2, 4, ... away, in every axis in turn.
 *
 *   halving (reduce-scatter)     0 - 1   2 - 3      half of the buffer to the neighbour,
 *                                0 - - 2  1 - - 3   a quarter two away, ...
 *   doubling (all-gather)        the same backwards
 *
 *   recursive-doubling           all-gather, reduce-scatter: as above; all-reduce: all of the
 *                                buffer in every step
 *   halving-doubling             all-reduce: halving, then doubling (Rabenseifner)
 *
 * Each of the log2 n steps is one exchange of every member with its partner. On a full mesh
 *
 *   all-gather, reduce-scatter   log2(n) a + (n-1)/n V/W
 *   halving-doubling             twice that
 *   recursive-doubling           log2(n) (a + V/W)
 *
 * On an axis the partner is 2^s hops away and a link carries l(s) messages: 2^s, or k/4 at the last
 * step around a ring of k, where both ways are used. A step then takes 2^s a + l(s) bytes/W. With
 * several axes the steps go round the axes, so that what is large stays near.
 *
 * Members that are no power of two hand what they have to one of the first 2^q before and get the
 * result after: two more steps. Axes that are no powers of two are taken as one.
 *
 * Sources: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005; Rabenseifner, ICCS 2004.
 */
#include "collectives/coll_internal.h"
#include "collectives/gather.h"

#define MASKS_MAX 32

/* Partners by flipped bits of the member number, nearest first. */
struct partners {
    uint32_t members, paired; /* paired = 2^masks; the rest fold onto the first ones */
    uint32_t masks, mask[MASKS_MAX];
    uint32_t factor[MASKS_MAX], bit[MASKS_MAX]; /* what the mask is on; factor 0 when flattened */
    bool is_flat;
};

static uint32_t log2_floor(uint32_t n)
{
    uint32_t bits = 0;
    while (n >> (bits + 1) != 0)
        bits++;
    return bits;
}

static void add_mask(struct partners *p, uint32_t factor, uint32_t bit, uint32_t stride)
{
    p->factor[p->masks] = factor;
    p->bit[p->masks] = bit;
    p->mask[p->masks++] = stride << bit;
}

static struct partners partners_of(const struct topo_group *group, uint32_t members)
{
    struct partners p = {.members = members, .is_flat = members < group->size};
    for (uint32_t i = 0; i < group->factor_count; i++)
        p.is_flat = p.is_flat || (group->factor[i].extent & (group->factor[i].extent - 1)) != 0;
    uint32_t bits = log2_floor(members);
    p.paired = UINT32_C(1) << bits;
    for (uint32_t bit = 0; bit < bits; bit++) {
        uint32_t stride = 1;
        if (p.is_flat) add_mask(&p, 0, bit, 1);
        for (uint32_t i = 0; i < group->factor_count && !p.is_flat; i++) {
            if (group->factor[i].extent >> bit > 1) add_mask(&p, i, bit, stride);
            stride *= group->factor[i].extent;
        }
    }
    return p;
}

/* Doubling: the farthest partner first, while there is little to send. */
static void write_doubling(const struct partners *p, struct coll_gather *g)
{
    uint32_t step = 0, extras = p->members - p->paired;
    for (uint32_t i = 0; i < extras; i++)
        coll_gather_send(g, step, p->paired + i, i);
    coll_gather_end_step(g);
    step += extras > 0;
    for (uint32_t s = p->masks; s-- > 0; step++) {
        for (uint32_t m = 0; m < p->paired; m++)
            coll_gather_send(g, step, m, m ^ p->mask[s]);
        coll_gather_end_step(g);
    }
    for (uint32_t i = 0; i < extras; i++)
        coll_gather_send_missing(g, step, i, p->paired + i);
}

static void write_full_exchange(const struct partners *p, coll_plan *plan, double bytes)
{
    uint32_t step = 0, extras = p->members - p->paired;
    for (uint32_t i = 0; i < extras; i++)
        coll_plan_send_part(plan, step, 0, p->paired + i, i, 0, bytes, true);
    step += extras > 0;
    for (uint32_t s = 0; s < p->masks; s++, step++)
        for (uint32_t m = 0; m < p->paired; m++)
            coll_plan_send_part(plan, step, 0, m, m ^ p->mask[s], 0, bytes, true);
    for (uint32_t i = 0; i < extras; i++)
        coll_plan_send_part(plan, step, 0, i, p->paired + i, 0, bytes, false);
}

net_schedule *coll_doubling_build(const topo *t, const struct coll_spec *spec)
{
    bool is_full = spec->op == COLL_ALL_REDUCE && spec->algorithm == COLL_RECURSIVE_DOUBLING;
    uint32_t members = coll_members(t, spec);
    struct partners p = partners_of(&spec->group, members);
    if (is_full) {
        coll_plan *plan = coll_plan_create(t, spec, 1, 1);
        write_full_exchange(&p, plan, spec->bytes);
        return coll_plan_schedule(plan);
    }
    coll_plan *plan = coll_plan_create(t, spec, 1, members);
    struct coll_gather g;
    coll_gather_init(&g, plan, 0, 0, spec->bytes / members);
    write_doubling(&p, &g);
    coll_gather_release(&g);
    coll_plan_serve(plan, spec->op);
    return coll_plan_schedule(plan);
}

/* Hops to a partner and messages on the busiest link. Without ports both are 1. */
static void step_load(const topo *t, const struct topo_factor *f, uint32_t bit, double *hops,
                      double *load)
{
    double apart = (double)(UINT32_C(1) << bit);
    *hops = *load = 1;
    if (!topo_has_ports(t)) return;
    *hops = apart * f->stride;
    *load = apart * f->stride;
    if (topo_factor_is_ring(t, f) && UINT32_C(2) << bit == f->extent) *load /= 2;
}

struct coll_cost coll_doubling_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    struct partners p = partners_of(group, coll_members(t, spec));
    bool is_full = spec->op == COLL_ALL_REDUCE && spec->algorithm == COLL_RECURSIVE_DOUBLING;
    bool is_exact = !p.is_flat;
    double latency = 0, bytes = 0, share = 1;
    for (uint32_t s = 0; s < p.masks; s++) {
        double hops, load;
        step_load(t, &group->factor[p.factor[s]], p.bit[s], &hops, &load);
        share /= 2;
        latency += hops;
        bytes += load * (is_full ? 1 : share);
        is_exact = is_exact && group->factor[p.factor[s]].stride == 1;
    }
    if (p.paired < p.members) { /* there and back again, the extras' ways side by side */
        double extras = p.members - p.paired, apart = 1, sharing = 1;
        if (topo_has_ports(t)) {
            apart = p.paired < extras ? p.paired : extras;
            sharing = (extras + 1) / 2;
        }
        latency += 2 * apart;
        bytes += sharing * (is_full ? 2 : 1);
    }
    double times = spec->op == COLL_ALL_REDUCE && !is_full ? 2 : 1;
    return coll_cost_make(times * latency * net.hop_ps,
                          times * bytes * spec->bytes / net.bytes_per_s * 1e12, is_exact);
}
