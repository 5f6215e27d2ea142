/*
 * Rings in channels: as many rings as a domain has chips, each on a rail of its own.
 *
 *     channel 0    a0 a1 a2 a3 | b0 b1 b2 b3 | a0     past the chips of a domain, then to the next
 *     channel 1    a1 a2 a3 a0 | b1 b2 b3 b0 | a1     one; the channel's number is the place where
 *     ...                                             it enters, so each enters by another rail
 *
 * Each carries V/k, k chips in a domain. One ring leaves a domain by a single rail; k rings by all,
 * and what leaves from another place first goes inside the domain to the chip on the rail. With
 * hops a, rate W inside and a', W' between domains, n chips in m domains:
 *
 *     T = 2 ((n-m) a + (m-1) a' ) + 2(n-1)/n V max(1/(k W'), 1/W)
 *
 * The first part is an estimate: a chain of n-1 steps crosses m-1 or m times.
 *
 * Source: the channels of NCCL's rings; Hu et al., "Demystifying NCCL", arXiv:2507.04786, 2025.
 */
#include <stddef.h>

#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/plan.h"
#include "topo/route.h"

/* The ranks in the order of a channel. */
static void channel_order(const struct topo_group *group, uint32_t channel, uint32_t *rank_at)
{
    uint32_t k = group->factor[0].extent;
    for (uint32_t i = 0; i < group->size; i++)
        rank_at[i] = i / k * k + (channel + i) % k;
}

net_schedule *coll_channels_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    uint32_t n = group->size, channels = group->factor[0].extent, tag = 0;
    net_schedule *s = net_schedule_create(t, group);
    uint32_t *rank_at = SIM_NEW(uint32_t, n);
    struct coll_cycle cycle = {n, rank_at, n <= COLL_CELLS_RANKS_MAX && !spec->is_unchecked};
    net_schedule_add_program(s);
    if (cycle.has_cells) net_schedule_set_cells(s, channels, n);
    for (uint32_t c = 0; c < channels; c++) {
        struct coll_pass pass = {.kind = COLL_PASS_RING, .cycle = &cycle, .direction = 1};
        channel_order(group, c, rank_at);
        coll_line_peers(s, rank_at, n, true, pass.peer);
        coll_lane_write(s, spec->op, c, 1, spec->bytes / channels, &tag, &pass, 1);
    }
    sim_free(rank_at);
    return s;
}

/* Hops and slowest link of the way from rank 0 to another. */
static struct coll_network way_to(const topo *t, const struct topo_group *group, uint32_t rank)
{
    struct coll_network way = {0};
    struct topo_paths paths = {0};
    topo_route(t, topo_group_chip(t, group, 0, 0), topo_group_chip(t, group, 0, rank), &paths);
    way.hop_ps = (double)topo_path_latency_ps(t, &paths, 0);
    for (uint32_t h = paths.begin[0]; h < paths.begin[1]; h++) {
        double rate = topo_link_rate(t, paths.link[h]);
        if (way.bytes_per_s == 0 || rate < way.bytes_per_s) way.bytes_per_s = rate;
    }
    topo_paths_release(&paths);
    return way;
}

struct coll_cost coll_channels_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    double k = group->factor[0].extent, n = group->size, m = n / k;
    struct coll_network inside = way_to(t, group, 1), between = way_to(t, group, (uint32_t)k);
    double hops_ps = (n - m) * inside.hop_ps + (m - 1) * between.hop_ps;
    double rail = 1 / (k * between.bytes_per_s), domain = 1 / inside.bytes_per_s;
    double bytes_ps = (n - 1) / n * spec->bytes * (rail > domain ? rail : domain) * 1e12;
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    return coll_cost_make(times * hops_ps, times * bytes_ps, false);
}

const char *coll_channels_obstacle(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    bool is_all = group->size == topo_chips(t) && group->factor_count == 2;
    if (topo_has_ports(t) || !is_all || group->factor[0].extent < 2 || group->factor[1].extent < 2)
        return "want all chips of a fabric with several domains of several chips";
    return NULL;
}
