/*
 * Swing: partners on alternating sides, 1, 1, 3, 5, 11, ... away.
 *
 *   step 0   0-1 2-3 4-5 6-7       rho(s) = (1 - (-2)^(s+1)) / 3 = 1, -1, 3, -5, 11, ...
 *   step 1   1-2 3-4 5-6 7-0       an even position goes to p + rho, an odd one to p - rho
 *   step 2   0-3 2-5 4-7 6-1
 *
 * Halving or doubling with these partners keeps nearer than 2^s. On a torus of d axes 2d such
 * collectives run together, each on its share of the buffer: one begins on each axis and goes round
 * the axes, and its mirror image uses the links the other way. With delta(s) = |rho(s)|:
 *
 *   swing           2 sum over s < log2 n of [ delta a + delta (V/2d) / 2^(s+1) / W ]    all-reduce
 *   swing-latency   sum over s < log2 n of [ delta a + delta (V/2d) / W ]     s counted per axis
 *
 * Every axis must be a power of two.
 *
 * Source: De Sensi et al., "Swing: Short-cutting rings for higher bandwidth allreduce", NSDI 2024.
 */
#include <stddef.h>

#include "collectives/coll_internal.h"
#include "collectives/gather.h"

#define STEPS_MAX 32

/* Which axis a colour works on at each step, and how many steps that axis has done before. */
struct order {
    uint32_t steps;
    uint32_t factor[STEPS_MAX], round[STEPS_MAX];
};

static struct order order_of(const struct topo_group *group, uint32_t first)
{
    struct order o = {0};
    for (uint32_t round = 0; round < STEPS_MAX; round++)
        for (uint32_t i = 0; i < group->factor_count; i++) {
            uint32_t factor = (first + i) % group->factor_count;
            if (group->factor[factor].extent >> round <= 1) continue;
            o.factor[o.steps] = factor;
            o.round[o.steps++] = round;
        }
    return o;
}

static int64_t rho(uint32_t round)
{
    int64_t power = INT64_C(2) << round; /* 2^(s+1) */
    return (round % 2 == 0 ? 1 + power : 1 - power) / 3;
}

static uint32_t partner(const struct topo_group *group, uint32_t member, const struct order *o,
                        uint32_t step, bool is_mirrored)
{
    uint32_t stride = 1;
    for (uint32_t i = 0; i < o->factor[step]; i++)
        stride *= group->factor[i].extent;
    int64_t k = group->factor[o->factor[step]].extent, digit = member / stride % (uint32_t)k;
    int64_t move = rho(o->round[step]);
    if ((digit % 2 == 1) != is_mirrored) move = -move;
    int64_t to = ((digit + move) % k + k) % k;
    return (uint32_t)((int64_t)member + (to - digit) * (int64_t)stride);
}

static uint32_t colours(const struct topo_group *group)
{
    return 2 * group->factor_count;
}

static void write_halving(coll_plan *plan, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    uint32_t n = group->size;
    for (uint32_t c = 0; c < colours(group); c++) {
        struct order o = order_of(group, c / 2);
        struct coll_gather g;
        coll_gather_init(&g, plan, c, c, spec->bytes / colours(group) / n);
        for (uint32_t s = o.steps; s-- > 0;) {
            for (uint32_t m = 0; m < n; m++)
                coll_gather_send(&g, o.steps - 1 - s, m, partner(group, m, &o, s, c % 2 == 1));
            coll_gather_end_step(&g);
        }
        coll_gather_release(&g);
    }
}

static void write_full_exchange(coll_plan *plan, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    for (uint32_t c = 0; c < colours(group); c++) {
        struct order o = order_of(group, c / 2);
        for (uint32_t s = 0; s < o.steps; s++)
            for (uint32_t m = 0; m < group->size; m++)
                coll_plan_send_part(plan, s, c, m, partner(group, m, &o, s, c % 2 == 1), c,
                                    spec->bytes / colours(group), true);
    }
}

net_schedule *coll_swing_build(const topo *t, const struct coll_spec *spec)
{
    uint32_t parts = colours(&spec->group);
    if (spec->algorithm == COLL_SWING_LATENCY) {
        coll_plan *plan = coll_plan_create(t, spec, parts, 1);
        write_full_exchange(plan, spec);
        return coll_plan_schedule(plan);
    }
    coll_plan *plan = coll_plan_create(t, spec, parts, spec->group.size);
    write_halving(plan, spec);
    coll_plan_serve(plan, spec->op);
    return coll_plan_schedule(plan);
}

/* What a colour and its mirror image take on their own, in bytes of one share, and what they put on
 * each axis. */
struct colour_cost {
    double hops, bytes, load[TOPO_FACTORS_MAX];
};

/* Hops of a step's farthest partners, and messages on its busiest link, of a colour and its mirror
 * image. On a line the partner beyond an end is at the other end. */
static void exchange_load(const topo *t, const struct topo_factor *f, uint32_t round, double *hops,
                          double *load)
{
    int64_t k = f->extent, r = rho(round), delta = r < 0 ? -r : r;
    *hops = *load = (double)delta * f->stride;
    if (topo_factor_is_ring(t, f)) return;
    *load = 0;
    for (int64_t cut = 0; cut + 1 < k; cut++) { /* between cut and cut + 1, one way */
        double crossing = 0;
        for (int64_t p = 0; p <= cut; p++)
            for (int64_t sign = -1; sign <= 1; sign += 2) {
                int64_t to = ((p + sign * r) % k + k) % k;
                int64_t apart = to > p ? to - p : p - to;
                if ((double)apart * f->stride > *hops) *hops = (double)apart * f->stride;
                crossing += to > cut;
            }
        if (crossing * f->stride > *load) *load = crossing * f->stride;
    }
}

static struct colour_cost colour_cost_of(const topo *t, const struct coll_spec *spec,
                                         uint32_t first)
{
    const struct topo_group *group = &spec->group;
    struct order o = order_of(group, first);
    struct colour_cost cost = {0};
    double share = 1;
    for (uint32_t s = 0; s < o.steps; s++) {
        const struct topo_factor *f = &group->factor[o.factor[s]];
        double hops = 1, load = 1;
        if (topo_has_ports(t)) exchange_load(t, f, o.round[s], &hops, &load);
        share /= 2;
        double bytes = load * (spec->algorithm == COLL_SWING_LATENCY ? 1 : share);
        cost.hops += hops;
        cost.bytes += bytes;
        cost.load[o.factor[s]] += bytes;
    }
    return cost;
}

/* Sides that differ leave the colours out of step: then the busiest axis, or the longest colour. */
struct coll_cost coll_swing_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    bool is_exact = topo_has_ports(t);
    double hops = 0, bytes = 0, load[TOPO_FACTORS_MAX] = {0};
    for (uint32_t c = 0; c < group->factor_count; c++) {
        struct colour_cost cost = colour_cost_of(t, spec, c);
        const struct topo_factor *f = &group->factor[c];
        if (cost.hops > hops) hops = cost.hops;
        if (cost.bytes > bytes) bytes = cost.bytes;
        for (uint32_t i = 0; i < group->factor_count; i++)
            load[i] += cost.load[i];
        is_exact = is_exact && f->stride == 1 && topo_factor_is_ring(t, f) &&
                   f->extent == group->factor[0].extent;
    }
    for (uint32_t i = 0; i < group->factor_count; i++)
        if (load[i] > bytes) bytes = load[i];
    bool is_twice = spec->op == COLL_ALL_REDUCE && spec->algorithm == COLL_SWING;
    double part_ps = spec->bytes / colours(group) / net.bytes_per_s * 1e12;
    if (!topo_has_ports(t)) part_ps *= colours(group); /* one link to a partner, whatever colour */
    return coll_cost_make((is_twice ? 2 : 1) * hops * net.hop_ps,
                          (is_twice ? 2 : 1) * bytes * part_ps, is_exact);
}

const char *coll_swing_obstacle(const topo *t, const struct coll_spec *spec)
{
    if (topo_failed_chips(t) > 0) return "want a slice without failed chips";
    for (uint32_t i = 0; i < spec->group.factor_count; i++)
        if ((spec->group.factor[i].extent & (spec->group.factor[i].extent - 1)) != 0)
            return "want axes that are powers of two";
    return NULL;
}
