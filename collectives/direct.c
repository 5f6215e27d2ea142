/*
 * Direct: every chip sends to every other at once; the network sorts it out.
 *
 *   all-gather       own shard to each          full mesh: a + V/(n W)
 *   reduce-scatter   each shard to its owner    the same
 *   all-reduce       one after the other        twice that
 *   all-to-all       one n-th to each           a + V/(n W); on torus axes of even side k with
 *                                               ties split: the largest V k/(8 W)
 *
 * One message per pair instead of n-1 steps: the choice for small buffers (one diameter of latency)
 * and for all-to-all. On a torus the form is a bound on the bytes plus the longest way, which a run
 * comes close to but need not equal.
 *
 * Source: Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005 (pairwise exchange); link loads by
 * counting.
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"

struct direct {
    net_schedule *s;
    uint32_t axes, size;
    uint32_t extent[TOPO_FACTORS_MAX];
    bool is_by_offset; /* peers */
};

/* Is it all chips, and no axis split? Then each factor is a whole axis. */
static bool has_whole_axes(const topo *t, const struct topo_group *group)
{
    for (uint32_t i = 0; i < group->factor_count; i++)
        if (group->factor[i].stride != 1) return false;
    return group->size == topo_chips(t);
}

/* On a twisted torus a step along the digits is not everywhere the same way through the network,
 * as an offset is: by offsets all chips are alike. */
static bool is_by_offset(const topo *t, const struct topo_group *group)
{
    return topo_has_ports(t) && topo_is_twisted(t) && !topo_is_faulty(t) &&
           has_whole_axes(t, group);
}

/* The peer `offset` (1 .. size-1) further, or back for `sign` -1. */
static uint32_t peer_at(const struct direct *d, uint32_t offset, int32_t sign)
{
    const struct topo_factor *factor = net_schedule_group(d->s)->factor;
    int32_t step[TOPO_FACTORS_MAX] = {0};
    for (uint32_t i = 0; i < d->axes; i++) {
        step[d->is_by_offset ? factor[i].axis : i] = sign * (int32_t)(offset % d->extent[i]);
        offset /= d->extent[i];
    }
    return d->is_by_offset ? net_peer_offset(d->s, step) : net_peer_digits(d->s, step);
}

/* What every message carries, as the sender says it (own: 0, the peer's) or the receiver. */
static uint32_t direct_chunk(const struct direct *d, enum coll_op op, bool is_sender)
{
    struct net_chunk chunk = {.part_count = 1};
    int32_t from = is_sender ? 0 : NET_DIGIT_PEER, to = is_sender ? NET_DIGIT_PEER : 0;
    for (uint32_t i = 0; i < d->axes; i++) {
        chunk.digit[i] = op == COLL_REDUCE_SCATTER ? to : from;
        if (op == COLL_ALL_TO_ALL) chunk.digit[d->axes + i] = to;
    }
    return net_chunk_add(d->s, chunk);
}

/* All messages of one exchange; each waits for `after`. Receives are chained; the last one is
 * returned. */
static net_op_id write_exchange(const struct direct *d, enum coll_op op, double bytes, uint32_t tag,
                                net_op_id after)
{
    net_op_id received = after;
    struct net_op send = {
        .kind = NET_OP_SEND, .guard = NET_NONE, .bytes = bytes, .chunk = direct_chunk(d, op, true)};
    struct net_op receive = send;
    receive.kind = op == COLL_REDUCE_SCATTER ? NET_OP_REDUCE : NET_OP_RECEIVE;
    receive.chunk = direct_chunk(d, op, false);
    for (uint32_t offset = 1; offset < d->size; offset++, tag++) {
        send.tag = receive.tag = tag;
        send.peer = peer_at(d, offset, 1);
        receive.peer = peer_at(d, offset, -1);
        net_op_after(d->s, 0, net_op_add(d->s, 0, send), after);
        net_op_id id = net_op_add(d->s, 0, receive);
        net_op_after(d->s, 0, id, received);
        received = id;
    }
    return received;
}

net_schedule *coll_direct_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct direct d = {.s = net_schedule_create(t, group),
                       .axes = group->factor_count,
                       .size = group->size,
                       .is_by_offset = is_by_offset(t, group)};
    for (uint32_t i = 0; i < d.axes; i++)
        d.extent[i] = group->factor[i].extent;
    net_schedule_add_program(d.s);
    double bytes = spec->bytes / group->size;
    if (spec->op == COLL_ALL_REDUCE) {
        net_op_id reduced = write_exchange(&d, COLL_REDUCE_SCATTER, bytes, 0, NET_NONE);
        write_exchange(&d, COLL_ALL_GATHER, bytes, group->size, reduced);
    } else {
        write_exchange(&d, spec->op, bytes, 0, NET_NONE);
    }
    return d.s;
}

/* Blocks the busiest link of a factor's axis carries when each chip of a group sends one block to
 * each other. */
static double factor_load(const topo *t, const struct topo_group *group,
                          const struct topo_factor *f)
{
    double k = f->extent, others = group->size / k;
    if (topo_factor_is_ring(t, f))
        return f->stride * others * (f->extent % 2 == 0 ? k * k / 8 : (k * k - 1) / 8);
    return f->stride * others * (double)(f->extent / 2) * (double)((f->extent + 1) / 2);
}

struct coll_cost coll_direct_cost(const topo *t, const struct coll_spec *spec)
{
    if (coll_is_over_slices(t, &spec->group)) return coll_direct_over_slices_cost(t, spec);
    const struct topo_group *group = &spec->group;
    struct coll_network net = coll_network_of(t);
    double hops = 0, load = 0;
    for (uint32_t i = 0; i < group->factor_count && topo_has_ports(t); i++) {
        const struct topo_factor *f = &group->factor[i];
        hops += f->stride * (topo_factor_is_ring(t, f) ? (double)(f->extent / 2) : f->extent - 1.0);
        double l = factor_load(t, group, f);
        if (l > load) load = l;
    }
    if (!topo_has_ports(t) && group->size > 1) hops = load = 1;
    double times = spec->op == COLL_ALL_REDUCE ? 2 : 1,
           block_ps = spec->bytes / group->size / net.bytes_per_s * 1e12;
    return coll_cost_make(times * hops * net.hop_ps, times * load * block_ps, !topo_has_ports(t));
}
