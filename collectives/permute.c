/*
 * Permute: any set of messages at once.
 *
 * Without a list every rank sends its buffer to the next rank (the last to the first). With a list
 * each row is a message; several may leave or reach one chip and then share its links; a message to
 * its own chip takes no time.
 *
 *   alone over h hops                    h a + V/W
 *   shift by one around a wrapped axis   a + V/W
 *
 * The form routes the messages: each is as slow as the busiest link on its way. That is exact where
 * no two share a link, and otherwise what max-min fairness comes near.
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

/* ---- the form ---- */

/* Messages of one instant, as src, dst, bytes. */
struct messages {
    uint32_t count;
    topo_chip_id *src, *dst;
    double *bytes;
};

/* Bytes that links carry, as the time that takes, and over how many ways they come. */
struct loads {
    double *ps;     /* [links] */
    uint32_t *ways; /* [links] */
};

static void add_loads(const topo *t, const struct topo_paths *p, double bytes, struct loads *l)
{
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t h = p->begin[i]; h < p->begin[i + 1]; h++) {
            l->ps[p->link[h]] += p->share[i] * bytes / topo_link_rate(t, p->link[h]) * 1e12;
            l->ways[p->link[h]]++;
        }
}

/* The slowest way of a message, if every link had to carry all of its load meanwhile: so it is for
 * a message that meets nobody. */
static struct coll_cost slowest_way(const topo *t, const struct topo_paths *p,
                                    const struct loads *l, bool *is_alone)
{
    struct coll_cost slowest = {0};
    for (uint32_t i = 0; i < p->count; i++) {
        double most_ps = 0;
        for (uint32_t h = p->begin[i]; h < p->begin[i + 1]; h++) {
            if (l->ps[p->link[h]] > most_ps) most_ps = l->ps[p->link[h]];
            if (l->ways[p->link[h]] > 1) *is_alone = false;
        }
        struct coll_cost way =
            coll_cost_make((double)topo_path_latency_ps(t, p, i), most_ps, false);
        if (way.time_ps > slowest.time_ps) slowest = way;
    }
    return slowest;
}

/* Exact where no two ways share a link, on whatever network. */
static struct coll_cost messages_cost(const topo *t, const struct messages *m)
{
    struct topo_paths paths = {0};
    struct loads loads = {SIM_NEW(double, topo_links(t)), SIM_NEW(uint32_t, topo_links(t))};
    struct coll_cost last = {0};
    bool is_alone = true;
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < m->count; i++) {
            if (m->src[i] == m->dst[i]) continue;
            topo_route(t, m->src[i], m->dst[i], &paths);
            if (round == 0) {
                add_loads(t, &paths, m->bytes[i], &loads);
                continue;
            }
            struct coll_cost cost = slowest_way(t, &paths, &loads, &is_alone);
            if (cost.time_ps > last.time_ps) last = cost;
        }
    last.is_exact = is_alone;
    topo_paths_release(&paths);
    sim_free(loads.ps);
    sim_free(loads.ways);
    return last;
}

/* Too many to route: the busiest chip's bytes, through one link. */
static struct coll_cost many_cost(const topo *t, const struct messages *m)
{
    struct coll_network net = coll_network_of(t);
    double *sent = SIM_NEW(double, topo_chips(t)), *received = SIM_NEW(double, topo_chips(t));
    double most = 0;
    for (uint32_t i = 0; i < m->count; i++) {
        if (m->src[i] == m->dst[i]) continue;
        sent[m->src[i]] += m->bytes[i];
        received[m->dst[i]] += m->bytes[i];
        if (sent[m->src[i]] > most) most = sent[m->src[i]];
        if (received[m->dst[i]] > most) most = received[m->dst[i]];
    }
    sim_free(sent);
    sim_free(received);
    return coll_cost_make(net.hop_ps, most / net.bytes_per_s * 1e12, false);
}

/* The next working chip after a chip's place in its group. */
static topo_chip_id next_of(const topo *t, const struct topo_group *group, topo_chip_id chip)
{
    uint32_t n = group->size, rank = topo_group_rank(t, group, chip);
    topo_chip_id next;
    do {
        rank = (rank + 1) % n;
        next = topo_group_chip(t, group, chip, rank);
    } while (topo_chip_is_failed(t, next));
    return next;
}

/* What every group sends, as a list. */
static struct messages list_groups(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    uint32_t chips = topo_chips(t);
    struct messages m = {0, SIM_NEW(topo_chip_id, chips), SIM_NEW(topo_chip_id, chips),
                         SIM_NEW(double, chips)};
    for (topo_chip_id c = 0; c < chips; c++) {
        bool is_sender = spec->op != COLL_SEND || topo_group_rank(t, group, c) == spec->root;
        if (topo_chip_is_failed(t, c) || !is_sender || !coll_is_active(t, spec, c)) continue;
        m.src[m.count] = c;
        m.dst[m.count] = spec->op == COLL_SEND ? topo_group_chip(t, group, c, spec->receiver)
                                               : next_of(t, group, c);
        m.bytes[m.count++] = spec->bytes;
    }
    return m;
}

static struct messages list_pairs(const struct coll_pairs *pairs)
{
    struct messages m = {pairs->count, SIM_NEW(topo_chip_id, pairs->count),
                         SIM_NEW(topo_chip_id, pairs->count), SIM_NEW(double, pairs->count)};
    for (uint32_t i = 0; i < pairs->count; i++) {
        m.src[i] = pairs->src[i];
        m.dst[i] = pairs->dst[i];
        m.bytes[i] = (double)pairs->bytes[i];
    }
    return m;
}

struct coll_cost coll_permute_cost(const topo *t, const struct coll_spec *spec)
{
    enum { ROUTED_MAX = 65536 };
    struct messages m = spec->pairs != NULL ? list_pairs(spec->pairs) : list_groups(t, spec);
    struct coll_cost cost = m.count <= ROUTED_MAX ? messages_cost(t, &m) : many_cost(t, &m);
    sim_free(m.src);
    sim_free(m.dst);
    sim_free(m.bytes);
    return cost;
}
