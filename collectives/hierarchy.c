/*
 * Hierarchical: inside each slice, then between slices, then inside again.
 *
 *   all-reduce    reduce-scatter over the slice's axes   V           ICI
 *                 all-reduce of what each chip has       V/chips     data-centre network
 *                 all-gather over the slice's axes       V           ICI
 *
 * Every chip uses its own share of its host's NIC, and only V/chips passes it. Inside a slice it is
 * the multi-colour bucket; between slices a ring of the chips at one place of each. All-gather is
 * the second half of this, reduce-scatter the first. For m slices of n chips, with W' a chip's share
 * of the network:
 *
 *   all-reduce    2 T(bucket, V, n) + 2 (m-1) a' + 2 (m-1)/m V/(n W')
 *
 * Source: Cho et al., "BlueConnect: Decomposing all-reduce for deep learning on heterogeneous
 * network hierarchy", IBM JRD 63(6), 2019.
 */
#include "base/arena.h"
#include <stddef.h>

#include "collectives/coll_internal.h"
#include "topo/route.h"

/* The group's factors inside slices, and the one over them. */
struct levels {
    const topo *slice;
    uint32_t inner_count, inner[TOPO_FACTORS_MAX];
    uint32_t outer; /* NET_NONE: the group lies inside slices */
};

static struct levels levels_of(const topo *t, const struct topo_group *group)
{
    struct levels l = {.slice = topo_slice(t), .outer = NET_NONE};
    for (uint32_t i = 0; i < group->factor_count; i++) {
        if (group->factor[i].axis + 1u == topo_axes(t))
            l.outer = i; /* several factors of it: the last one, the rest like inner axes */
        else
            l.inner[l.inner_count++] = i;
    }
    return l;
}

static uint32_t colours_of(const struct levels *l, const struct topo_group *group)
{
    if (l->inner_count == 0) return 1;
    for (uint32_t i = 0; i < l->inner_count; i++)
        if (topo_factor_is_ring(l->slice, &group->factor[l->inner[i]])) return 2 * l->inner_count;
    return l->inner_count;
}

net_schedule *coll_hierarchy_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    net_schedule *s = net_schedule_create(t, group);
    net_schedule_add_program(s);
    struct levels l = levels_of(t, group);
    uint32_t colours = colours_of(&l, group), tag = 0;
    for (uint32_t c = 0; c < colours; c++) {
        struct coll_pass pass[TOPO_FACTORS_MAX];
        uint32_t count = 0;
        int32_t direction = c < l.inner_count || l.inner_count == 0 ? 1 : -1;
        pass[count++] = coll_pass_along(s, l.outer, COLL_PASS_RING, direction);
        for (uint32_t i = 0; i < l.inner_count; i++) {
            uint32_t factor = l.inner[(c + i) % l.inner_count];
            bool is_ring = topo_factor_is_ring(l.slice, &group->factor[factor]);
            pass[count++] =
                coll_pass_along(s, factor, is_ring ? COLL_PASS_RING : COLL_PASS_LINE, direction);
        }
        coll_lane_write(s, spec->op, c, 1, spec->bytes / colours, &tag, pass, count);
    }
    return s;
}

/* A chip's share of the network beyond its slice: of its own link, or of the NIC it is behind. */
static double share_bytes_per_s(const topo *t)
{
    topo_link_id *link = SIM_NEW(topo_link_id, topo_max_degree(t));
    double share = 0;
    for (uint32_t i = topo_out_links(t, 0, link); i-- > 0;) {
        if (topo_link_kind(t, link[i]) != TOPO_DCN) continue;
        topo_node_id nic = topo_link_to(t, link[i]);
        uint32_t behind = 0;
        double up = 0;
        share = topo_link_rate(t, link[i]);
        for (uint32_t j = topo_out_links(t, nic, link); j-- > 0;) {
            if (topo_link_to(t, link[j]) < topo_chips(t))
                behind++;
            else
                up = topo_link_rate(t, link[j]);
        }
        if (behind > 0 && up / behind < share) share = up / behind;
        break;
    }
    sim_free(link);
    return share;
}

/* From a chip to the one at its place in the next slice. */
static sim_ps slice_to_slice_ps(const topo *t, const struct topo_group *group, uint32_t outer)
{
    struct topo_paths paths = {0};
    uint32_t rank = 1;
    for (uint32_t i = 0; i < outer; i++)
        rank *= group->factor[i].extent;
    topo_route(t, 0, topo_group_chip(t, group, 0, rank), &paths);
    sim_ps latency = topo_path_latency_ps(t, &paths, 0);
    topo_paths_release(&paths);
    return latency;
}

/* Of the bucket inside the slice: the terms of one half, a reduce-scatter or an all-gather. */
static void inner_terms(const struct levels *l, const struct topo_group *group, double *hops,
                        double *buffers)
{
    uint32_t colours = colours_of(l, group), ways = colours > l->inner_count ? 2 : 1;
    double slowest = 0;
    for (uint32_t c = 0; c < l->inner_count; c++) {
        double share = 1.0 / colours, total = 0, chain = 0;
        for (uint32_t i = l->inner_count; i-- > 0;) {
            const struct topo_factor *f = &group->factor[l->inner[(c + i) % l->inner_count]];
            double k = f->extent, sharing = topo_factor_is_ring(l->slice, f) ? 1 : ways;
            share /= k;
            total += (k - 1) * share * sharing * f->stride;
            chain += (k - 1) * f->stride;
        }
        if (total > slowest) slowest = total;
        *hops = chain;
    }
    *buffers = slowest;
}

struct coll_cost coll_hierarchy_cost(const topo *t, const struct coll_spec *spec)
{
    struct topo_group group = coll_group_trimmed(&spec->group);
    struct coll_network net = coll_network_of(t);
    struct levels l = levels_of(t, &group);
    if (l.outer == NET_NONE) return coll_cost_make(0, 0, false);
    double hops = 0, buffers = 0, m = group.factor[l.outer].extent, inner = group.size / m;
    inner_terms(&l, &group, &hops, &buffers);
    double between_ps = (m - 1) * (double)slice_to_slice_ps(t, &group, l.outer);
    double bytes_s = buffers * spec->bytes / net.bytes_per_s +
                     (m - 1) / m * spec->bytes / inner / share_bytes_per_s(t);
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    return coll_cost_make(times * (hops * net.hop_ps + between_ps), times * bytes_s * 1e12, false);
}

const char *coll_hierarchy_obstacle(const topo *t, const struct coll_spec *spec)
{
    struct topo_group group = coll_group_trimmed(&spec->group);
    if (topo_slice(t) == NULL || levels_of(t, &group).outer == NET_NONE)
        return "want a group over several slices, as v5p:4x4x4*2 has";
    return topo_failed_chips(t) > 0 ? "want slices without failed chips" : NULL;
}
