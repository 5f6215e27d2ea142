/*
 * Phased all-to-all: one axis after the other, storing in between.
 *
 * In the phase of an axis everybody sends, to each of the others on its line, all it holds for that
 * position: V/k a message instead of V/n. The buffer is cut into a colour for each axis, which
 * begins there, so that all axes work in every phase. With d axes of k that wrap, ties split,
 * about:
 *
 *   d floor(k/2) a + V k/(8 W)                  the bytes of the direct algorithm, which is the
 *                                               bound of the links; k odd: V (k^2 - 1)/(8 k W)
 *
 * and V k/(4 W) where no axis wraps. Unequal sides get the colours out of step; those that meet on
 * an axis then share it evenly: an estimate, low by 9 % on 4x8 and 12 % on 6x8x10 at 1 GiB, since
 * a colour's messages of one phase do not all end together and the next phase starts piecemeal.
 *
 * Source: Suh & Shin, "All-to-all personalized communication in multidimensional torus and mesh
 * networks", IEEE TPDS 12(1), 2001 (the idea; link loads by counting).
 */
#include <stddef.h>

#include <math.h>
#include "collectives/coll_internal.h"
#include "collectives/plan.h"

/* What a phase of a colour is about. */
struct phase {
    const struct topo_group *group;
    uint32_t colour, index;          /* of the phase */
    uint32_t factor, stride, extent; /* the axis it works on */
};

static uint32_t stride_of(const struct topo_group *group, uint32_t factor)
{
    uint32_t stride = 1;
    for (uint32_t i = 0; i < factor; i++)
        stride *= group->factor[i].extent;
    return stride;
}

static struct phase phase_of(const struct topo_group *group, uint32_t colour, uint32_t index)
{
    struct phase p = {.group = group, .colour = colour, .index = index};
    p.factor = (colour + index) % group->factor_count;
    p.stride = stride_of(group, p.factor);
    p.extent = group->factor[p.factor].extent;
    return p;
}

/* Has the colour's phase of this factor passed? */
static bool is_done(const struct phase *p, uint32_t factor)
{
    uint32_t d = p->group->factor_count;
    return (factor + d - p->colour) % d < p->index;
}

/* Does `holder` have the block from `source` to `target` when the phase begins? */
static bool holds(const struct phase *p, uint32_t holder, uint32_t source, uint32_t target)
{
    for (uint32_t i = 0; i < p->group->factor_count; i++) {
        uint32_t stride = stride_of(p->group, i), k = p->group->factor[i].extent;
        uint32_t at = is_done(p, i) ? target : source;
        if (holder / stride % k != at / stride % k) return false;
    }
    return true;
}

static void add_cells(coll_plan *plan, const struct phase *p, struct coll_transfer *t)
{
    uint32_t n = p->group->size;
    for (uint32_t target = 0; target < n; target++) {
        if (target / p->stride % p->extent != t->dst / p->stride % p->extent) continue;
        for (uint32_t source = 0; source < n; source++) {
            if (!holds(p, t->src, source, target)) continue;
            coll_plan_cell(plan, p->colour * n * n + source + n * target);
            t->cell_count++;
        }
    }
}

static void write_phase(coll_plan *plan, const struct phase *p, double bytes)
{
    for (uint32_t m = 0; m < p->group->size; m++)
        for (uint32_t offset = 1; offset < p->extent; offset++) {
            uint32_t digit = m / p->stride % p->extent, to = (digit + offset) % p->extent;
            struct coll_transfer t = {.src = m,
                                      .dst = m - digit * p->stride + to * p->stride,
                                      .step = p->index,
                                      .src_lane = p->colour,
                                      .dst_lane = p->colour,
                                      .slot = offset - 1,
                                      .bytes = bytes / p->extent,
                                      .after = {NET_NONE, NET_NONE},
                                      .cell_begin = coll_plan_cells_end(plan)};
            if (coll_plan_has_cells(plan)) add_cells(plan, p, &t);
            coll_plan_add(plan, &t);
        }
}

net_schedule *coll_phased_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    uint32_t colours = group->factor_count;
    coll_plan *plan = coll_plan_create(t, spec, colours, group->size * group->size);
    for (uint32_t c = 0; c < colours; c++)
        for (uint32_t i = 0; i < colours; i++) {
            struct phase phase = phase_of(group, c, i);
            write_phase(plan, &phase, spec->bytes / colours);
        }
    return coll_plan_schedule(plan);
}

/* How long the colours take over the axes, in the units of `load`, one colour's on each axis: those
 * on one axis at a time share it. */
static double shared_axes(const double *load, uint32_t axes)
{
    double left[TOPO_FACTORS_MAX], now = 0;
    uint32_t phase[TOPO_FACTORS_MAX] = {0};
    for (uint32_t c = 0; c < axes; c++)
        left[c] = load[c];
    for (uint32_t running = axes; running > 0;) {
        uint32_t sharing[TOPO_FACTORS_MAX] = {0}, next = axes;
        for (uint32_t c = 0; c < axes; c++)
            if (phase[c] < axes) sharing[(c + phase[c]) % axes]++;
        for (uint32_t c = 0; c < axes; c++) {
            if (phase[c] == axes) continue;
            if (next == axes || left[c] * sharing[(c + phase[c]) % axes] <
                                    left[next] * sharing[(next + phase[next]) % axes])
                next = c;
        }
        double step = left[next] * sharing[(next + phase[next]) % axes];
        now += step;
        for (uint32_t c = 0; c < axes; c++)
            if (phase[c] < axes) left[c] -= step / sharing[(c + phase[c]) % axes];
        phase[next]++;
        if (phase[next] == axes)
            running--;
        else
            left[next] = load[(next + phase[next]) % axes];
    }
    return now;
}

struct coll_cost coll_phased_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    double hops = 0, loads[TOPO_FACTORS_MAX];
    for (uint32_t i = 0; i < group->factor_count; i++) {
        const struct topo_factor *f = &group->factor[i];
        double k = f->extent, load = 1 / k, far = 1;
        if (topo_has_ports(t)) {
            bool is_ring = topo_factor_is_ring(t, f);
            far = is_ring ? floor(k / 2) : k - 1;
            load = floor(k / 2) * ceil(k / 2) / k / (is_ring ? 2 : 1);
            if (is_ring && f->extent % 2 == 1) load = (k * k - 1) / (8 * k);
        }
        hops += far * f->stride;
        loads[i] = load * f->stride / group->factor_count;
    }
    double shared = shared_axes(loads, group->factor_count);
    return coll_cost_make(hops * net.hop_ps, shared * spec->bytes / net.bytes_per_s * 1e12, false);
}
