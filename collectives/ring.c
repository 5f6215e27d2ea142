/*
 * Ring algorithms: one Hamiltonian cycle through the group, in three ways of using it.
 *
 *   ring                 one direction, n-1 steps            (n-1) a + (n-1)/n V/W
 *   bidirectional-ring   half of the buffer each way         (n-1) a + (n-1)/n V/(2W)
 *   short-ring           own shard both ways                 ceil((n-1)/2) a + (n-1)/n V/(2W)
 *
 * for all-gather and reduce-scatter; all-reduce is one after the other and takes twice as long.
 * Where the group has no cycle (an unwrapped axis, an odd grid) all three become the line, which
 * uses both directions of each link at once:
 *
 *   line                 (n-1) a + (n-1)/n V/W               the end links carry n-1 shards
 *
 * Sources: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009 (ring, optimal bytes); Chan
 * et al., Concurrency and Computation 19(13), 2007 (line and ring forms); the scaling book's n/2
 * hops are the short ring.
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"

/* Ranks in cycle (or snake) order; a single factor is in order already. The caller frees. */
static uint32_t *ring_order(const topo *t, const struct topo_group *group, bool *is_cycle)
{
    uint32_t *rank_at = SIM_NEW(uint32_t, group->size);
    *is_cycle = topo_group_cycle(t, group, rank_at);
    return rank_at;
}

void coll_line_peers(net_schedule *s, const uint32_t *rank_at, uint32_t count, bool is_cycle,
                     uint32_t peer[2])
{
    uint32_t n = net_schedule_group(s)->size;
    uint32_t *next = SIM_NEW(uint32_t, n), *previous = SIM_NEW(uint32_t, n);
    for (uint32_t r = 0; r < n; r++)
        next[r] = previous[r] = r;
    for (uint32_t p = is_cycle ? 0 : 1; p < count; p++) {
        uint32_t before = rank_at[(p + count - 1) % count];
        next[before] = rank_at[p];
        previous[rank_at[p]] = before;
    }
    peer[0] = net_peer_ranks(s, next);
    peer[1] = net_peer_ranks(s, previous);
    sim_free(next);
    sim_free(previous);
}

static struct coll_pass ring_pass(const topo *t, net_schedule *s, bool *is_cycle)
{
    const struct topo_group *group = net_schedule_group(s);
    if (group->factor_count == 1) {
        *is_cycle = topo_factor_is_ring(t, &group->factor[0]);
        return coll_pass_along(s, 0, COLL_PASS_RING, 1);
    }
    struct coll_pass pass = {.axis = 0, .direction = 1};
    uint32_t *rank_at = ring_order(t, group, is_cycle);
    net_schedule_set_line(s, rank_at);
    coll_line_peers(s, rank_at, group->size, *is_cycle, pass.peer);
    sim_free(rank_at);
    return pass;
}

net_schedule *coll_ring_build(const topo *t, const struct coll_spec *spec)
{
    net_schedule *s = net_schedule_create(t, &spec->group);
    net_schedule_add_program(s);
    bool is_cycle;
    struct coll_pass pass = ring_pass(t, s, &is_cycle);
    uint32_t tag = 0;
    if (!is_cycle) {
        pass.kind = COLL_PASS_LINE;
        coll_lane_write(s, spec->op, 0, 1, spec->bytes, &tag, &pass, 1);
    } else if (spec->algorithm == COLL_SHORT_RING) {
        pass.kind = COLL_PASS_SHORT;
        coll_lane_write(s, spec->op, 0, 2, spec->bytes, &tag, &pass, 1);
    } else {
        bool is_both_ways = spec->algorithm == COLL_BIDIRECTIONAL_RING;
        pass.kind = COLL_PASS_RING;
        coll_lane_write(s, spec->op, 0, 1, is_both_ways ? spec->bytes / 2 : spec->bytes, &tag,
                        &pass, 1);
        pass.direction = -1;
        if (is_both_ways) coll_lane_write(s, spec->op, 1, 1, spec->bytes / 2, &tag, &pass, 1);
    }
    return s;
}

bool coll_steps_are_single_links(const topo *t, const struct topo_group *group)
{
    for (uint32_t i = 0; i < group->factor_count; i++) {
        if (group->factor[i].stride != 1) return false;
        /* two cables to one neighbour: a routed message takes both */
        if (group->factor_count > 1 && group->factor[i].extent == 2 &&
            topo_axis_is_wrapped(t, group->factor[i].axis) &&
            topo_axis_size(t, group->factor[i].axis) == 2)
            return false;
    }
    return true;
}

struct coll_cost coll_ring_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    double n = group->size, wire_ps = (n - 1) / n * spec->bytes / net.bytes_per_s * 1e12,
           hops = n - 1;
    bool is_cycle;
    sim_free(ring_order(t, group, &is_cycle));
    bool is_exact = coll_steps_are_single_links(t, group);
    double stride =
        group->factor_count == 1 ? group->factor[0].stride : 1; /* groups between share the links */
    bool is_both_ways = is_cycle && spec->algorithm != COLL_RING;
    /* without ports a pair has one link: both directions of a ring of 2 share it */
    if (is_both_ways && (topo_has_ports(t) || group->size > 2)) wire_ps /= 2;
    if (is_cycle && spec->algorithm == COLL_SHORT_RING) hops = (double)(group->size / 2);
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    return coll_cost_make(times * hops * stride * net.hop_ps, times * stride * wire_ps, is_exact);
}
