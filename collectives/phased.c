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
 * and V k/(4 W) where no axis wraps. Unequal sides get the colours out of step, and those that meet
 * on an axis share it. Not evenly: an axis goes to flows, all at one rate, and a colour whose split
 * messages (to the chip half way round) are through has fewer left than one that has just come. The
 * form plays that out, for the busiest link of each axis. It is exact where all axes wrap, where
 * there are at most two, and where lines are equally long; else it is off by up to 4 % (of 3x4x6
 * without wraps, 1 MiB).
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

/* ---- the form ---- */

enum kind { HALF, WHOLE, KINDS };

/* An axis, as its busiest link: any one that wraps, the middle of a line. */
struct axis {
    double bytes_per_s, hop_s;
    double message; /* of a colour's bytes */
    double flows_of[KINDS],
        hops[KINDS]; /* that a colour puts on it, and how far the last of them go */
    double flows;    /* now */
    double reach;    /* bytes that a flow has sent which was there from the start */
};

/* A colour in its phase. Messages of one phase have one size; on a ring the one to the chip half
 * way round, if there is one, goes both ways in halves. So there are two kinds of flows, and all of
 * a kind end at once: when the axis has reached as far. */
struct runner {
    uint32_t phase;
    double flows[KINDS]; /* 0 when through */
    double until[KINDS]; /* the axis's reach at which they are */
    double over_s;       /* when all that has ended has also arrived */
};

struct race {
    uint32_t axes;
    double part_bytes; /* of a colour */
    double now_s;
    struct axis axis[TOPO_FACTORS_MAX];
    struct runner colour[TOPO_FACTORS_MAX];
};

static struct axis axis_of(const topo *t, const struct topo_factor *f)
{
    struct coll_network net = coll_network_of(t);
    double k = f->extent, whole = floor((k - 1) / 2);
    struct axis a = {.bytes_per_s = net.bytes_per_s / f->stride,
                     .hop_s = net.hop_ps * 1e-12 * f->stride,
                     .message = 1 / k};
    if (!topo_has_ports(t)) { /* a link for every two */
        a.flows_of[WHOLE] = a.hops[WHOLE] = 1;
    } else if (topo_factor_is_ring(t, f)) {
        a.flows_of[HALF] = f->extent % 2 == 0 ? k / 2 : 0;
        a.hops[HALF] = f->extent % 2 == 0 ? k / 2 : 0;
        a.flows_of[WHOLE] = whole * (whole + 1) / 2;
        a.hops[WHOLE] = whole;
    } else {
        a.flows_of[WHOLE] = floor(k / 2) * ceil(k / 2);
        a.hops[WHOLE] = k - 1;
    }
    return a;
}

static struct axis *axis_at(struct race *r, uint32_t colour)
{
    return &r->axis[(colour + r->colour[colour].phase) % r->axes];
}

static void enter_axis(struct race *r, uint32_t colour)
{
    struct runner *c = &r->colour[colour];
    struct axis *axis = axis_at(r, colour);
    double message = r->part_bytes * axis->message;
    for (int kind = 0; kind < KINDS; kind++) {
        c->flows[kind] = axis->flows_of[kind];
        c->until[kind] = axis->reach + (kind == HALF ? message / 2 : message);
        axis->flows += c->flows[kind];
    }
}

/* Through with its flows, what is left is to arrive. */
static bool is_arriving(const struct runner *c)
{
    return c->flows[HALF] == 0 && c->flows[WHOLE] == 0;
}

/* Halves end first. */
static enum kind next_kind(const struct runner *c)
{
    return c->flows[HALF] > 0 ? HALF : WHOLE;
}

/* Seconds until a colour's next flows end or its last have arrived. */
static double next_event_s(struct race *r, uint32_t colour)
{
    const struct runner *c = &r->colour[colour];
    const struct axis *axis = axis_at(r, colour);
    double s = is_arriving(c)
                   ? c->over_s - r->now_s
                   : (c->until[next_kind(c)] - axis->reach) * axis->flows / axis->bytes_per_s;
    return s > 0 ? s : 0;
}

static void take_event(struct race *r, uint32_t colour)
{
    struct runner *c = &r->colour[colour];
    if (is_arriving(c)) {
        if (++c->phase < r->axes) enter_axis(r, colour);
        return;
    }
    struct axis *axis = axis_at(r, colour);
    enum kind kind = next_kind(c);
    double arrival_s = r->now_s + axis->hops[kind] * axis->hop_s;
    axis->reach = c->until[kind]; /* what the steps come to, without their rounding */
    axis->flows -= c->flows[kind];
    c->flows[kind] = 0;
    if (arrival_s > c->over_s) c->over_s = arrival_s;
}

/* The colour whose event comes first, and when; r->axes when all are over. */
static uint32_t first_event(struct race *r, double *step_s)
{
    uint32_t first = r->axes;
    for (uint32_t c = 0; c < r->axes; c++) {
        if (r->colour[c].phase == r->axes) continue;
        double s = next_event_s(r, c);
        if (first < r->axes && s >= *step_s) continue;
        *step_s = s;
        first = c;
    }
    return first;
}

static double race_seconds(struct race *r)
{
    double step_s = 0;
    for (uint32_t c = 0; c < r->axes; c++)
        enter_axis(r, c);
    for (uint32_t c = first_event(r, &step_s); c < r->axes; c = first_event(r, &step_s)) {
        for (uint32_t a = 0; a < r->axes; a++)
            if (r->axis[a].flows > 0)
                r->axis[a].reach += step_s * r->axis[a].bytes_per_s / r->axis[a].flows;
        r->now_s += step_s;
        take_event(r, c);
    }
    return r->now_s;
}

/* Is the form what happens? On rings every link of an axis sees the same. On lines chips in the
 * middle go on later than those at the ends, which shows only when a third axis follows that others
 * are on already. */
static bool is_played_out(const topo *t, const struct topo_group *group)
{
    uint32_t rings = 0, equal = 0, axes = group->factor_count;
    for (uint32_t i = 0; i < axes; i++) {
        if (group->factor[i].stride != 1) return false;
        rings += topo_factor_is_ring(t, &group->factor[i]);
        equal += group->factor[i].extent == group->factor[0].extent;
    }
    if (!topo_has_ports(t)) return axes == 1;
    return rings == axes || axes <= 2 || (rings == 0 && equal == axes);
}

struct coll_cost coll_phased_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct race r = {.axes = group->factor_count, .part_bytes = spec->bytes / group->factor_count};
    double hops_s = 0;
    for (uint32_t i = 0; i < r.axes; i++) {
        r.axis[i] = axis_of(t, &group->factor[i]);
        hops_s += r.axis[i].hop_s * fmax(r.axis[i].hops[HALF], r.axis[i].hops[WHOLE]);
    }
    double bytes_s = race_seconds(&r) - hops_s;
    return coll_cost_make(hops_s * 1e12, (bytes_s > 0 ? bytes_s : 0) * 1e12,
                          is_played_out(t, group));
}
