/*
 * Multi-colour bucket: axis by axis, every link of every axis at work.
 *
 * The buffer is cut into 2d colours for d axes. Colour c of each direction gathers along axis c
 * first, then c+1, and so on around; its blocks grow by the extent of each axis it has done. In any
 * phase each axis is used by one colour in each direction:
 *
 *            phase 1   phase 2   phase 3
 *   colour 0    x         y         z        + direction: 3 colours, - direction: 3 colours
 *   colour 1    y         z         x
 *   colour 2    z         x         y
 *
 * Reduce-scatter runs the phases backwards. With d equal wrapped sides k, N = k^d:
 *
 *   all-gather, reduce-scatter   d (k-1) a + (N-1)/N V/(2d W)        all-reduce: twice that
 *
 * which meets the bandwidth bound. An unwrapped axis is passed as a line, both directions at once;
 * where no axis wraps there is one colour per axis. With unequal sides the phases are unequal too
 * and colours wait for each other: the cost below is then an estimate.
 *
 * Sources: Jain & Sabharwal, "Optimal bucket algorithms for large MPI collectives on torus
 * interconnects", ICS 2010; Barnett et al., "Global combine on mesh architectures with wormhole
 * routing", IPPS 1993 (bucket).
 */
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

net_schedule *coll_bucket_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    net_schedule *s = net_schedule_create(t, group);
    net_schedule_add_program(s);
    uint32_t axes = group->factor_count, ways = directions(t, group), tag = 0;
    double bytes = spec->bytes / (axes * ways);
    uint32_t order[TOPO_FACTORS_MAX];
    order_factors(t, group, order);
    for (uint32_t colour = 0; colour < axes * ways; colour++) {
        struct coll_pass pass[TOPO_FACTORS_MAX];
        int32_t direction = colour < axes ? 1 : -1;
        for (uint32_t i = 0; i < axes; i++) {
            uint32_t factor = order[(colour + i) % axes];
            bool is_ring = topo_factor_is_ring(t, &group->factor[factor]);
            pass[i] =
                coll_pass_along(s, factor, is_ring ? COLL_PASS_RING : COLL_PASS_LINE, direction);
        }
        coll_lane_write(s, spec->op, colour, 1, bytes, &tag, pass, axes);
    }
    return s;
}

struct coll_cost coll_bucket_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    uint32_t axes = group->factor_count, ways = directions(t, group), rings = 0;
    bool is_exact = true;
    double latency_ps = 0, slowest = 0;
    uint32_t order[TOPO_FACTORS_MAX];
    order_factors(t, group, order);
    for (uint32_t i = 0; i < axes; i++) {
        const struct topo_factor *f = &group->factor[i];
        rings += topo_factor_is_ring(t, f);
        is_exact = is_exact && f->stride == 1 && f->extent == group->factor[0].extent;
        latency_ps += (f->extent - 1.0) * f->stride * net.hop_ps;
    }
    /* phases of a mesh overlap, since the middle of a line is done before its ends; without ports
     * axes share links */
    is_exact = is_exact && (rings == axes || axes == 1) && (topo_has_ports(t) || group->size > 2);
    /* every colour goes through all axes, one after another, at W of a direction or W/2 of a shared
     * line */
    for (uint32_t colour = 0; colour < axes; colour++) {
        double bytes = spec->bytes / (axes * ways) / group->size, total = 0;
        for (uint32_t i = 0; i < axes; i++) {
            const struct topo_factor *f = &group->factor[order[(colour + i) % axes]];
            double sharing = f->stride * (topo_factor_is_ring(t, f) ? 1.0 : ways);
            if (!topo_has_ports(t) && f->extent == 2) sharing = ways;
            total += (f->extent - 1.0) * bytes * sharing;
            bytes *= f->extent;
        }
        if (total > slowest) slowest = total;
    }
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    return coll_cost_make(times * latency_ps, times * slowest / net.bytes_per_s * 1e12, is_exact);
}
