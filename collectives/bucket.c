/*
 * Multi-colour bucket: axis by axis, every link of every axis at work.
 *
 * The buffer is cut into colours. A colour gathers along one axis after the other; its blocks grow
 * by the extent of each axis it has done. With 2d colours for d axes, colour c of each direction
 * begins on axis c and goes on around, so that in any phase each axis is used by one colour in each
 * direction:
 *
 *            phase 1   phase 2   phase 3
 *   colour 0    x         y         z        + direction: 3 colours, - direction: 3 colours
 *   colour 1    y         z         x
 *   colour 2    z         x         y
 *
 * Reduce-scatter runs the phases backwards. With d equal wrapped sides k, N = k^d, all-gather and
 * reduce-scatter take (all-reduce twice as much)
 *
 *   bucket-1       d (k-1) a + (N-1)/N V/W             one colour: one link in 2d works
 *   bucket-2       d (k-1) a + (N-1)/N V/(2W)          both directions
 *   bucket-short   d ceil((k-1)/2) a + (N-1)/N V/(2dW) d colours, own shard both ways
 *   bucket         d (k-1) a + (N-1)/N V/(2dW)         2d colours; meets the bandwidth bound
 *   bucket-all     as bucket; all orders of the axes, with searched shares: for unequal sides
 *
 * An unwrapped axis is passed as a line, both directions at once; where no axis wraps there is one
 * direction. With unequal sides the phases are unequal too and colours wait for each other: the
 * time is then that of the model in bucket_search.c.
 *
 * Sources: Jain & Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus
 * interconnects", ICS 2010; Barnett et al., "Global combine on mesh architectures with wormhole
 * routing", IPPS 1993 (bucket).
 */
#include "collectives/bucket.h"

#include <stddef.h>

#include "collectives/coll_internal.h"

/* Colours per direction are axes; directions are 2 when anything wraps. */
static uint32_t directions(const topo *t, const struct topo_group *group)
{
    for (uint32_t i = 0; i < group->factor_count; i++)
        if (topo_factor_is_ring(t, &group->factor[i])) return 2;
    return 1;
}

/* Factors by falling extent, rings first: colours follow this order, so that it does not matter
 * how the axes are named. */
static int by_extent(const topo *t, const struct topo_factor *a, const struct topo_factor *b)
{
    if (a->extent != b->extent) return a->extent > b->extent ? -1 : 1;
    return (int)topo_factor_is_ring(t, b) - (int)topo_factor_is_ring(t, a);
}

static void order_factors(const topo *t, const struct topo_group *group,
                          uint32_t order[TOPO_FACTORS_MAX])
{
    for (uint32_t i = 0; i < group->factor_count; i++) {
        uint32_t at = i;
        for (; at > 0 && by_extent(t, &group->factor[i], &group->factor[order[at - 1]]) < 0; at--)
            order[at] = order[at - 1];
        order[at] = i;
    }
}

/* How a group's axes are used, by the algorithm's variant. */
struct plan {
    uint32_t axes, ways, order[TOPO_FACTORS_MAX];
    struct coll_bucket_axis axis[TOPO_FACTORS_MAX];
    struct coll_colours colours;
};

static void cyclic_colours(struct plan *p, uint32_t count)
{
    p->colours = (struct coll_colours){.axes = p->axes, .count = count, .parts = count};
    for (uint32_t c = 0; c < count; c++) {
        p->colours.colour[c].parts = 1;
        for (uint32_t i = 0; i < p->axes; i++)
            p->colours.colour[c].factor[i] = (uint8_t)p->order[(c + i) % p->axes];
    }
}

/* A ring's short pass sends every block both ways round, half of one when k is even; a line's both
 * directions serve the colours of both. */
static struct coll_bucket_axis axis_of(const topo *t, const struct coll_spec *spec,
                                       const struct topo_factor *f, uint32_t ways)
{
    struct coll_network net = coll_network_of(t);
    bool is_ring = topo_factor_is_ring(t, f);
    struct coll_bucket_axis a = {.extent = f->extent, .steps = f->extent - 1, .last_step = 1};
    double sharing = f->stride * (is_ring ? 1.0 : ways);
    if (!topo_has_ports(t) && f->extent == 2) sharing = ways; /* one link for all */
    if (spec->algorithm == COLL_BUCKET_SHORT && is_ring) {
        a.steps = f->extent / 2;
        if (f->extent % 2 == 0) a.last_step = topo_has_ports(t) || f->extent > 2 ? 0.5 : 1;
    }
    a.bytes_per_s = net.bytes_per_s / sharing;
    a.hop_s = f->stride * net.hop_ps * 1e-12;
    return a;
}

static bool are_equal(const struct topo_group *group)
{
    for (uint32_t i = 1; i < group->factor_count; i++)
        if (group->factor[i].extent != group->factor[0].extent) return false;
    return true;
}

static struct plan plan_of(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct plan p = {.axes = group->factor_count, .ways = directions(t, group)};
    if (spec->algorithm == COLL_BUCKET_1 || spec->algorithm == COLL_BUCKET_SHORT) p.ways = 1;
    order_factors(t, group, p.order);
    for (uint32_t i = 0; i < p.axes; i++)
        p.axis[i] = axis_of(t, spec, &group->factor[i], p.ways);
    bool has_one = spec->algorithm == COLL_BUCKET_1 || spec->algorithm == COLL_BUCKET_2;
    if (spec->algorithm == COLL_BUCKET_ALL && !are_equal(group))
        coll_bucket_search(p.axes, p.order, p.axis, spec->op, spec->bytes / p.ways, &p.colours);
    else
        cyclic_colours(&p, has_one ? 1 : p.axes);
    return p;
}

static void write_colour(net_schedule *s, const struct coll_spec *spec, const struct plan *p,
                         uint32_t colour, int32_t direction, uint32_t part, uint32_t *tag)
{
    const struct coll_colour *c = &p->colours.colour[colour];
    bool is_short = spec->algorithm == COLL_BUCKET_SHORT;
    struct coll_pass pass[TOPO_FACTORS_MAX];
    for (uint32_t i = 0; i < p->axes; i++) {
        bool is_ring = topo_factor_is_ring(net_schedule_topo(s), &spec->group.factor[c->factor[i]]);
        enum coll_pass_kind ring = is_short ? COLL_PASS_SHORT : COLL_PASS_RING;
        pass[i] = coll_pass_along(s, c->factor[i], is_ring ? ring : COLL_PASS_LINE, direction);
    }
    double share = (double)c->parts / p->colours.parts / p->ways;
    coll_lane_write(s, spec->op, part, is_short ? 2 : 1, spec->bytes * share, tag, pass, p->axes);
}

net_schedule *coll_bucket_build(const topo *t, const struct coll_spec *spec)
{
    net_schedule *s = net_schedule_create(t, &spec->group);
    net_schedule_add_program(s);
    struct plan p = plan_of(t, spec);
    uint32_t tag = 0, part = 0;
    for (uint32_t way = 0; way < p.ways; way++)
        for (uint32_t c = 0; c < p.colours.count; c++) {
            if (p.colours.colour[c].parts == 0) continue;
            write_colour(s, spec, &p, c, way == 0 ? 1 : -1, part, &tag);
            part += spec->algorithm == COLL_BUCKET_SHORT ? 2 : 1;
        }
    return s;
}

/* Is the model's time the engine's? Not on meshes of several axes, whose phases overlap since the
 * middle of a line is done before its ends, nor where groups or axes share links. */
static bool is_model_exact(const topo *t, const struct topo_group *group)
{
    uint32_t rings = 0;
    for (uint32_t i = 0; i < group->factor_count; i++) {
        if (group->factor[i].stride != 1) return false;
        rings += topo_factor_is_ring(t, &group->factor[i]);
    }
    if (rings < group->factor_count && group->factor_count > 1) return false;
    return topo_has_ports(t) || (group->size > 2 && group->factor_count == 1);
}

struct coll_cost coll_bucket_cost(const topo *t, const struct coll_spec *spec)
{
    struct plan p = plan_of(t, spec);
    double hops_s = 0, times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    for (uint32_t i = 0; i < p.axes; i++)
        hops_s += times * p.axis[i].steps * p.axis[i].hop_s;
    double seconds = coll_bucket_seconds(&p.colours, p.axis, spec->op, spec->bytes / p.ways);
    double bytes_s = seconds > hops_s ? seconds - hops_s : 0;
    return coll_cost_make(hops_s * 1e12, bytes_s * 1e12, is_model_exact(t, &spec->group));
}

const char *coll_bucket_obstacle(const topo *t, const struct coll_spec *spec)
{
    (void)t;
    bool is_search = spec->algorithm == COLL_BUCKET_ALL;
    return is_search && spec->group.factor_count > 3 ? "want at most 3 axes" : NULL;
}
