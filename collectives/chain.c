/*
 * Chain: chunk after chunk along a line of all members, from the root both ways.
 *
 *   broadcast     3 < 2 < 1 < root > 1 > 2 > 3      L = members on the longer side
 *   reduce        the same backwards
 *   all-reduce    inwards to the middle, added on the way, and out again: inwards and outwards use
 *                 the two directions of each link, so both run at once
 *
 * With q chunks, each hop passing a chunk on while the next one comes in:
 *
 *   broadcast, reduce   L a + (L - 1 + q)/q V/W
 *   all-reduce         2L a + (2L - 1 + q)/q V/W        towards V/W for many chunks: on a line
 *                                                       nothing is faster
 *
 * A chunk costs its send overhead, if there is one, at every member; it gains 1/q of the fill.
 *
 * Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (pipelined chain).
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/tree.h"

/* The line of all members, and where its root stands. */
struct chain {
    coll_plan *plan;
    uint32_t members, root, *member_at; /* [members] */
    uint32_t length[2];                 /* members to the right and to the left of the root */
    uint32_t chunks;
    double chunk_bytes;
};

enum lanes { INWARD, OUTWARD = 2 }; /* plus the side */

/* The member `hops` away from the root on a side. */
static uint32_t member_at(const struct chain *c, uint32_t side, uint32_t hops)
{
    uint32_t n = c->members, at = side == 0 ? c->root + hops : c->root + n - hops;
    return c->member_at[at % n];
}

static uint32_t longest(uint32_t members, uint32_t root, bool is_cycle, uint32_t length[2])
{
    length[0] = is_cycle ? members / 2 : members - 1 - root;
    length[1] = members - 1 - length[0];
    return length[0] > length[1] ? length[0] : length[1];
}

/* Members in line order; true when it closes. */
static bool line_of(const topo *t, const struct coll_spec *spec, uint32_t *member, uint32_t *count)
{
    uint32_t *rank_at = SIM_NEW(uint32_t, spec->group.size);
    bool is_cycle = topo_group_cycle(t, &spec->group, rank_at) && topo_failed_chips(t) == 0;
    *count = 0;
    for (uint32_t p = 0; p < spec->group.size; p++)
        if (!topo_chip_is_failed(t, topo_group_chip(t, &spec->group, 0, rank_at[p])))
            member[(*count)++] = coll_member_of_rank(t, spec, rank_at[p]);
    sim_free(rank_at);
    return is_cycle;
}

/* Out from the root; a chunk waits at the root for `inward` of both sides, if there were any. */
static void write_outward(const struct chain *c, uint32_t first_step, const uint32_t *inward)
{
    for (uint32_t chunk = 0; chunk < c->chunks; chunk++)
        for (uint32_t side = 0; side < 2; side++)
            for (uint32_t hop = 1; hop <= c->length[side]; hop++) {
                struct coll_transfer t = coll_plan_part(
                    c->plan, first_step + chunk + hop - 1, OUTWARD + side,
                    member_at(c, side, hop - 1), member_at(c, side, hop), chunk, c->chunk_bytes);
                for (int i = 0; i < 2 && hop == 1 && inward != NULL; i++)
                    t.after[i] = inward[2 * chunk + i];
                coll_plan_add(c->plan, &t);
            }
}

/* In to the root, adding up; notes the last message of each chunk and side. */
static void write_inward(const struct chain *c, uint32_t *inward)
{
    for (uint32_t chunk = 0; chunk < c->chunks; chunk++)
        for (uint32_t side = 0; side < 2; side++) {
            inward[2 * chunk + side] = NET_NONE;
            for (uint32_t hop = c->length[side]; hop > 0; hop--)
                inward[2 * chunk + side] = coll_plan_send_part(
                    c->plan, chunk + c->length[side] - hop, INWARD + side, member_at(c, side, hop),
                    member_at(c, side, hop - 1), chunk, c->chunk_bytes, true);
        }
}

static uint32_t chunks_of(const struct coll_spec *spec, uint32_t length)
{
    enum { CHUNKS_MAX = 256, CHUNK_BYTES_MIN = 4096 };
    if (spec->chunks > 0) return spec->chunks;
    uint32_t most = length < CHUNKS_MAX / 8 ? 8 * length : CHUNKS_MAX;
    double fit = spec->bytes / CHUNK_BYTES_MIN;
    return fit < 1 ? 1 : fit < most ? (uint32_t)fit : most;
}

/* All of a chain but its plan. */
static void find_line(const topo *t, const struct coll_spec *spec, struct chain *c)
{
    bool is_cycle = line_of(t, spec, c->member_at, &c->members);
    uint32_t root = coll_member_of_rank(t, spec, spec->root);
    while (spec->op != COLL_ALL_REDUCE && c->member_at[c->root] != root)
        c->root++;
    if (spec->op == COLL_ALL_REDUCE) c->root = c->members / 2;
    c->chunks = chunks_of(spec, longest(c->members, c->root, is_cycle, c->length));
    c->chunk_bytes = spec->bytes / c->chunks;
}

net_schedule *coll_chain_build(const topo *t, const struct coll_spec *spec)
{
    struct chain c = {.member_at = SIM_NEW(uint32_t, spec->group.size)};
    find_line(t, spec, &c);
    c.plan = coll_plan_create(t, spec, c.chunks, 1);
    if (spec->op == COLL_ALL_REDUCE) {
        uint32_t *inward = SIM_NEW(uint32_t, 2 * (size_t)c.chunks);
        write_inward(&c, inward);
        write_outward(&c, coll_plan_steps(c.plan), inward);
        sim_free(inward);
    } else {
        write_outward(&c, 0, NULL);
        coll_plan_serve(c.plan, spec->op);
    }
    sim_free(c.member_at);
    return coll_plan_schedule(c.plan);
}

/* Between two chips that close a ring a message takes both cables. */
static bool has_two_cables(const topo *t, const struct topo_group *group)
{
    return topo_has_ports(t) && group->size == 2 && topo_factor_is_ring(t, &group->factor[0]);
}

uint32_t coll_chain_chunks(const topo *t, const struct coll_spec *spec)
{
    struct chain c = {.member_at = SIM_NEW(uint32_t, spec->group.size)};
    find_line(t, spec, &c);
    sim_free(c.member_at);
    return c.chunks;
}

struct coll_cost coll_chain_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    uint32_t length[2], n = group->size, at = 0, *rank_at = SIM_NEW(uint32_t, n);
    bool is_cycle = topo_group_cycle(t, group, rank_at);
    while (spec->op != COLL_ALL_REDUCE && rank_at[at] != spec->root)
        at++;
    sim_free(rank_at);
    if (n == 1) return coll_cost_make(0, 0, true);
    if (spec->op == COLL_ALL_REDUCE) at = n / 2;
    double hops = longest(n, at, is_cycle, length), q = chunks_of(spec, (uint32_t)hops);
    if (spec->op == COLL_ALL_REDUCE) hops *= 2;
    double stride = group->factor_count == 1 ? group->factor[0].stride : 1;
    return coll_cost_make(hops * stride * net.hop_ps,
                          (hops - 1 + q) / q * stride * spec->bytes / net.bytes_per_s * 1e12,
                          coll_steps_are_single_links(t, group) && !has_two_cables(t, group));
}
