/*
 * Permute: any set of messages at once.
 *
 * Without a list every rank sends its buffer to the next rank (the last to the first). With a list
 * each row is a message; several may leave or reach one chip and then share its links; a message to
 * its own chip takes no time.
 *
 *   shift by one around a wrapped axis   a + V/W
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/tree.h"
#include "topo/route.h"

static net_schedule *build_shift(const topo *t, const struct topo_group *group, double bytes)
{
    net_schedule *s = net_schedule_create(t, group);
    net_schedule_add_program(s);
    uint32_t n = group->size, *next = SIM_NEW(uint32_t, n), *previous = SIM_NEW(uint32_t, n);
    if (n > 1) {
        for (uint32_t r = 0; r < n; r++) {
            next[r] = (r + 1) % n;
            previous[r] = (r + n - 1) % n;
        }
        struct net_op send = {.kind = NET_OP_SEND,
                              .peer = net_peer_ranks(s, next),
                              .guard = NET_NONE,
                              .chunk = NET_NONE,
                              .bytes = bytes};
        net_op_add(s, 0, send);
        struct net_op receive = send;
        receive.kind = NET_OP_RECEIVE;
        receive.peer = net_peer_ranks(s, previous);
        net_op_add(s, 0, receive);
    }
    sim_free(next);
    sim_free(previous);
    return s;
}

/* The same among the chips that work. */
static net_schedule *build_shift_around(const topo *t, const struct coll_spec *spec)
{
    coll_plan *plan = coll_plan_create(t, spec, 1, 1);
    uint32_t n = coll_plan_members(plan);
    for (uint32_t m = 0; m < n; m++)
        coll_plan_send_part(plan, 0, 0, m, (m + 1) % n, 0, spec->bytes, false);
    return coll_plan_schedule(plan);
}

/* One message in every group. */
static net_schedule *build_send(const topo *t, const struct coll_spec *spec)
{
    coll_plan *plan = coll_plan_create(t, spec, 1, 1);
    uint32_t src = coll_member_of_rank(t, spec, spec->root),
             dst = coll_member_of_rank(t, spec, spec->receiver);
    if (src != dst) coll_plan_send_part(plan, 0, 0, src, dst, 0, spec->bytes, false);
    return coll_plan_schedule(plan);
}

/* Program 0 is for chips without messages; each chip with some has its own. */
static uint32_t program_of_chip(net_schedule *s, uint32_t *role, topo_chip_id chip)
{
    if (role[chip] == 0) role[chip] = net_schedule_add_program(s);
    return role[chip];
}

static net_schedule *build_list(const topo *t, const struct coll_pairs *pairs)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t *role = SIM_NEW(uint32_t, topo_chips(t)), *next_tag = SIM_NEW(uint32_t, topo_chips(t));
    net_schedule_add_program(s);
    for (uint32_t i = 0; i < pairs->count; i++) {
        struct net_op op = {.kind = NET_OP_SEND, .guard = NET_NONE, .chunk = NET_NONE};
        op.tag = next_tag[pairs->dst[i]]++;
        op.bytes = (double)pairs->bytes[i];
        op.peer = net_peer_chip(s, pairs->dst[i]);
        net_op_add(s, program_of_chip(s, role, pairs->src[i]), op);
        op.kind = NET_OP_RECEIVE;
        op.peer = net_peer_chip(s, pairs->src[i]);
        net_op_add(s, program_of_chip(s, role, pairs->dst[i]), op);
    }
    net_schedule_set_roles(s, role);
    sim_free(role);
    sim_free(next_tag);
    return s;
}

net_schedule *coll_permute_build(const topo *t, const struct coll_spec *spec)
{
    if (spec->pairs != NULL) return build_list(t, spec->pairs);
    if (spec->op == COLL_SEND) return build_send(t, spec);
    if (topo_failed_chips(t) > 0) return build_shift_around(t, spec);
    return build_shift(t, &spec->group, spec->bytes);
}

/* Over all of its ways, of which the shortest are equally long; their number is not asked for. */
static struct coll_cost send_cost(const topo *t, const struct coll_spec *spec)
{
    struct coll_network net = coll_network_of(t);
    uint32_t hops = topo_distance(t, topo_group_chip(t, &spec->group, 0, spec->root),
                                  topo_group_chip(t, &spec->group, 0, spec->receiver));
    if (spec->root == spec->receiver) return coll_cost_make(0, 0, true);
    return coll_cost_make(hops * net.hop_ps, spec->bytes / net.bytes_per_s * 1e12, false);
}

struct coll_cost coll_permute_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    if (spec->op == COLL_SEND) return send_cost(t, spec);
    bool is_ring = group->factor_count == 1 && group->factor[0].stride == 1 &&
                   topo_factor_is_ring(t, &group->factor[0]);
    bool has_two_cables = group->size == 2 && topo_has_ports(t);
    bool is_exact = spec->pairs == NULL && is_ring && !has_two_cables;
    return coll_cost_make(net.hop_ps, spec->bytes / net.bytes_per_s * 1e12, is_exact);
}
