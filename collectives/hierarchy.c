/*
 * Hierarchical: inside each slice, then between slices, then inside again.
 *
 *   all-reduce    reduce-scatter over the slice's axes   V           ICI
 *                 all-reduce of what each chip has       V/chips     data-centre network
 *                 all-gather over the slice's axes       V           ICI
 *
 * Every chip uses its own share of its host's NIC, and only V/chips passes it. Inside a slice it is
 * the multi-colour bucket; between slices a ring of the chips at one place of each. All-gather is
 * the second half of this, reduce-scatter the first. For m slices of n chips, with W' a chip's
 * share of the network:
 *
 *   all-reduce    2 T(bucket, V, n) + 2 (m-1) a' + 2 (m-1)/m V/(n W')
 *
 * In q chunks one is between slices while the next is inside: the bytes take a q-th of that and the
 * rest of the longer level only, while every chunk adds the hops of a phase:
 *
 *   chunk 0   RS  between  AG
 *   chunk 1       RS  between  AG        a phase waits for the same phase of the chunk before
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

/* The passes of a colour: between slices, then inside, in the order of an all-gather. */
struct passes {
    uint32_t count;
    struct coll_pass pass[TOPO_FACTORS_MAX];
};

static struct passes passes_of(net_schedule *s, const struct levels *l, uint32_t colour)
{
    const struct topo_group *group = net_schedule_group(s);
    int32_t direction = colour < l->inner_count || l->inner_count == 0 ? 1 : -1;
    struct passes p = {.count = 1};
    p.pass[0] = coll_pass_along(s, l->outer, COLL_PASS_RING, direction);
    for (uint32_t i = 0; i < l->inner_count; i++) {
        uint32_t factor = l->inner[(colour + i) % l->inner_count];
        bool is_ring = topo_factor_is_ring(l->slice, &group->factor[factor]);
        p.pass[p.count++] =
            coll_pass_along(s, factor, is_ring ? COLL_PASS_RING : COLL_PASS_LINE, direction);
    }
    return p;
}

/* One operation that is over when all of the lane's last ones are, and `other`. */
static net_op_id join(struct coll_lane *lane, net_op_id other)
{
    net_op_id id = net_op_add(
        lane->s, 0, (struct net_op){.kind = NET_OP_JOIN, .guard = NET_NONE, .chunk = NET_NONE});
    for (int i = 0; i < 4; i++)
        net_op_after(lane->s, 0, id, lane->wait[i]);
    net_op_after(lane->s, 0, id, other);
    return id;
}

/* A phase of a chunk, after the same phase of the chunk before, whose end `gate` has. */
static void write_phase(struct coll_lane *lane, const struct coll_pass *pass, bool is_reduce,
                        net_op_id *gate)
{
    if (*gate != NET_NONE) {
        lane->wait[0] = join(lane, *gate);
        lane->wait[1] = lane->wait[2] = lane->wait[3] = NET_NONE;
    }
    if (is_reduce)
        coll_pass_reduce_scatter(lane, pass);
    else
        coll_pass_gather(lane, pass);
    *gate = join(lane, NET_NONE);
}

static void write_colour(net_schedule *s, enum coll_op op, const struct passes *p,
                         uint32_t first_part, uint32_t chunks, double bytes, uint32_t *tag)
{
    net_op_id gate[2 * TOPO_FACTORS_MAX];
    for (uint32_t i = 0; i < 2 * p->count; i++)
        gate[i] = NET_NONE;
    for (uint32_t chunk = 0; chunk < chunks; chunk++) {
        struct coll_lane lane;
        coll_lane_init(&lane, s, first_part + chunk, 1, bytes / chunks, tag, op != COLL_ALL_GATHER);
        for (uint32_t i = p->count; i-- > 0 && op != COLL_ALL_GATHER;)
            write_phase(&lane, &p->pass[i], true, &gate[i]);
        for (uint32_t i = 0; i < p->count && op != COLL_REDUCE_SCATTER; i++)
            write_phase(&lane, &p->pass[i], false, &gate[p->count + i]);
    }
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

struct coll_phases coll_hierarchy_phases(const topo *t, const struct coll_spec *spec)
{
    struct topo_group group = coll_group_trimmed(&spec->group);
    struct coll_network net = coll_network_of(t);
    struct levels l = levels_of(t, &group);
    double hops = 0, buffers = 0, m = group.factor[l.outer].extent, inner = group.size / m;
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    inner_terms(&l, &group, &hops, &buffers);
    return (struct coll_phases){.inside_hops_ps = hops * net.hop_ps,
                                .inside_bytes_ps = buffers * spec->bytes / net.bytes_per_s * 1e12,
                                .between_hops_ps =
                                    times * (m - 1) * (double)slice_to_slice_ps(t, &group, l.outer),
                                .between_bytes_ps = times * (m - 1) / m * spec->bytes / inner /
                                                    share_bytes_per_s(t) * 1e12};
}

/* In q chunks: bytes overlap but for a q-th; every chunk more waits for the hops of one level. */
static struct coll_cost cost_in_chunks(const struct coll_phases *p, enum coll_op op, double q)
{
    double times = op == COLL_ALL_REDUCE ? 2 : 1;
    double inside = times * p->inside_bytes_ps, between = p->between_bytes_ps;
    double longer = inside > between ? inside : between;
    double slower = p->between_hops_ps / times; /* hops of a chunk's longest phase */
    if (p->inside_hops_ps > slower) slower = p->inside_hops_ps;
    return coll_cost_make(times * p->inside_hops_ps + p->between_hops_ps + (q - 1) * slower,
                          (inside + between) / q + longer * (q - 1) / q, false);
}

/* As asked, or whichever of 1, 2, 4, 8, 16 takes least. */
uint32_t coll_hierarchy_chunks(const topo *t, const struct coll_spec *spec)
{
    enum { CHUNKS_MAX = 16 };
    if (spec->chunks > 0) return spec->chunks;
    struct coll_phases p = coll_hierarchy_phases(t, spec);
    uint32_t best = 1;
    for (uint32_t q = 2; q <= CHUNKS_MAX; q *= 2)
        if (cost_in_chunks(&p, spec->op, q).time_ps < cost_in_chunks(&p, spec->op, best).time_ps)
            best = q;
    return best;
}

net_schedule *coll_hierarchy_build(const topo *t, const struct coll_spec *spec)
{
    net_schedule *s = net_schedule_create(t, &spec->group);
    net_schedule_add_program(s);
    struct levels l = levels_of(t, &spec->group);
    uint32_t colours = colours_of(&l, &spec->group), chunks = coll_hierarchy_chunks(t, spec),
             tag = 0;
    for (uint32_t c = 0; c < colours; c++) {
        struct passes p = passes_of(s, &l, c);
        write_colour(s, spec->op, &p, c * chunks, chunks, spec->bytes / colours, &tag);
    }
    return s;
}

struct coll_cost coll_hierarchy_cost(const topo *t, const struct coll_spec *spec)
{
    struct coll_phases p = coll_hierarchy_phases(t, spec);
    return cost_in_chunks(&p, spec->op, coll_hierarchy_chunks(t, spec));
}

/* Every shard over the network by itself: few hops, but all bytes of a chip through its share. */
struct coll_cost coll_direct_over_slices_cost(const topo *t, const struct coll_spec *spec)
{
    struct levels l = levels_of(t, &spec->group);
    double m = spec->group.factor[l.outer].extent, times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    double hops_ps = (double)slice_to_slice_ps(t, &spec->group, l.outer);
    return coll_cost_make(times * hops_ps,
                          times * (m - 1) / m * spec->bytes / share_bytes_per_s(t) * 1e12, false);
}

bool coll_is_over_slices(const topo *t, const struct topo_group *group)
{
    return topo_slice(t) != NULL && levels_of(t, group).outer != NET_NONE;
}

const char *coll_hierarchy_obstacle(const topo *t, const struct coll_spec *spec)
{
    struct topo_group group = coll_group_trimmed(&spec->group);
    if (!coll_is_over_slices(t, &group))
        return "want a group over several slices, as v5p:4x4x4*2 has";
    return topo_failed_chips(t) > 0 ? "want slices without failed chips" : NULL;
}
