/*
 * Rings on edge-disjoint Hamiltonian cycles: on a torus of d axes there are d closed walks past all
 * chips that share no cable (topo/hamilton.h), and a ring on each, both ways, keeps every link at
 * work from the first step to the last.
 *
 *     +-+-+-+-+         one of the two cycles of a 4x4 torus; the other has the other 16 cables,
 *     | +-+ +-+         and each carries half of the buffer
 *     | | | |
 *
 * Unlike the bucket it does not care whether axes are equally long or close without a twist, and
 * where chips have failed one cycle around the hole is often left. On each of c cycles, of length
 * n, runs the short ring: shards go both ways and meet on the far side.
 *
 *   all-reduce         2 floor(n/2) a + 2 (n-1)/n V/(2 c W)
 *   all-gather,          floor(n/2) a +   (n-1)/n V/(2 c W)       n and the lower bound's bytes
 *   reduce-scatter                                                where 2c is the ports of a chip
 *
 * The first term makes it one for large buffers: floor(n/2) hops, against the sum of the axes' k-1.
 * One ring a direction, half of the cycle's buffer on each, would take n-1 hops for the same bytes.
 *
 * Sources: Bermond, Favaron & Maheo, "Hamiltonian decomposition of Cayley graphs of degree 4", J.
 * Combin. Theory B 46(2), 1989 (the cycles); Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2),
 * 2009 (the ring on each); Kumar & Jouppi, arXiv:2011.03605, 2020 (around holes).
 */
#include <stddef.h>

#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/plan.h"
#include "topo/hamilton.h"

/* Program 0 for the working chips, an empty one for the others. Gives the member of each rank. */
static uint32_t *add_programs(const topo *t, net_schedule *s)
{
    const struct topo_group *group = net_schedule_group(s);
    uint32_t *member = SIM_NEW(uint32_t, group->size), *program = SIM_NEW(uint32_t, group->size);
    net_schedule_add_program(s);
    if (topo_failed_chips(t) > 0) net_schedule_add_program(s);
    for (uint32_t r = 0, members = 0; r < group->size; r++) {
        program[r] = topo_chip_is_failed(t, topo_group_chip(t, group, 0, r));
        member[r] = members;
        members += program[r] == 0;
    }
    net_schedule_set_roles(s, program);
    sim_free(program);
    return member;
}

net_schedule *coll_hamiltonian_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_cycles *cycles = topo_hamilton_cycles(t);
    uint32_t n = cycles->length, tag = 0;
    net_schedule *s = net_schedule_create(t, &spec->group);
    uint32_t *member = add_programs(t, s), *rank_at = SIM_NEW(uint32_t, n),
             *member_at = SIM_NEW(uint32_t, n);
    struct coll_cycle cycle = {n, member_at, n <= COLL_CELLS_RANKS_MAX && !spec->is_unchecked};
    if (cycle.has_cells) net_schedule_set_cells(s, 2 * cycles->count, n);
    for (uint32_t c = 0; c < cycles->count; c++) {
        struct coll_pass pass = {.kind = COLL_PASS_SHORT, .cycle = &cycle};
        for (uint32_t i = 0; i < n; i++) {
            rank_at[i] = topo_group_rank(t, &spec->group, cycles->chip[(size_t)c * n + i]);
            member_at[i] = member[rank_at[i]];
        }
        coll_line_peers(s, rank_at, n, true, pass.peer);
        coll_lane_write(s, spec->op, 2 * c, 2, spec->bytes / cycles->count, &tag, &pass, 1);
    }
    sim_free(member);
    sim_free(rank_at);
    sim_free(member_at);
    return s;
}

/* Two cables to one neighbour: a routed message takes both, whichever cycle they are on. */
static bool has_two_cables(const topo *t)
{
    for (topo_chip_id chip = 0; chip < topo_chips(t); chip++)
        for (uint32_t p = 0; p < topo_ports(t); p++)
            for (uint32_t q = 0; q < p; q++)
                if (topo_neighbour(t, chip, p) != TOPO_NONE &&
                    topo_neighbour(t, chip, p) == topo_neighbour(t, chip, q))
                    return true;
    return false;
}

struct coll_cost coll_hamiltonian_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_cycles *cycles = topo_hamilton_cycles(t);
    struct coll_network net = coll_network_of(t);
    double n = cycles->length, times = spec->op == COLL_ALL_REDUCE ? 2 : 1;
    double bytes_s = (n - 1) / n * spec->bytes / (2.0 * cycles->count) / net.bytes_per_s;
    return coll_cost_make(times * (cycles->length / 2) * net.hop_ps, times * bytes_s * 1e12,
                          !has_two_cables(t));
}

const char *coll_hamiltonian_obstacle(const topo *t, const struct coll_spec *spec)
{
    if (!topo_has_ports(t)) return "want a torus or mesh";
    if (spec->group.size != topo_chips(t)) return "want one group of all chips";
    if (topo_hamilton_cycles(t)->count == 0)
        return "want a closed walk past all working chips, none was found";
    return NULL;
}
