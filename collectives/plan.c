/*
 * From messages to programs: every member's operations in order, with what they wait for; members
 * with the same list share a program.
 *
 * An operation waits for the last send and the last receive before it in its lane, and a send for
 * the receives of `after`. Lists are compared by hash, then word by word. Cost: messages, sorted.
 */
#include "collectives/plan.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"

#define WAITS 4 /* two of the lane, two of `after` */

struct coll_plan {
    const topo *topology;
    struct topo_group group;
    uint32_t parts, shards;
    uint32_t members, *rank_of_member;
    bool has_cells;
    struct coll_transfer *transfer;
    uint32_t transfers, capacity, lanes, slots, steps;
    uint32_t *cell, cells, cell_capacity;
};

coll_plan *coll_plan_create(const topo *t, const struct coll_spec *spec, uint32_t parts,
                            uint32_t shards)
{
    coll_plan *plan = SIM_NEW(coll_plan, 1);
    *plan = (coll_plan){.topology = t, .group = spec->group, .parts = parts, .shards = shards};
    plan->rank_of_member = SIM_NEW(uint32_t, spec->group.size);
    for (uint32_t r = 0; r < spec->group.size; r++)
        if (!topo_chip_is_failed(t, topo_group_chip(t, &spec->group, 0, r)))
            plan->rank_of_member[plan->members++] = r;
    plan->has_cells = plan->members <= COLL_CELLS_RANKS_MAX && !spec->is_unchecked;
    return plan;
}

uint32_t coll_plan_members(const coll_plan *plan)
{
    return plan->members;
}

bool coll_plan_has_cells(const coll_plan *plan)
{
    return plan->has_cells;
}

uint32_t coll_plan_cell(coll_plan *plan, uint32_t cell)
{
    assert(plan->has_cells && cell < plan->parts * plan->shards);
    SIM_GROW(plan->cell, plan->cell_capacity, plan->cells + 1);
    plan->cell[plan->cells] = cell;
    return plan->cells++;
}

uint32_t coll_plan_cells_end(const coll_plan *plan)
{
    return plan->cells;
}

uint32_t coll_plan_add(coll_plan *plan, const struct coll_transfer *transfer)
{
    assert(transfer->src < plan->members && transfer->dst < plan->members);
    assert(transfer->src != transfer->dst);
    SIM_GROW(plan->transfer, plan->capacity, plan->transfers + 1);
    plan->transfer[plan->transfers] = *transfer;
    uint32_t lane =
        transfer->src_lane > transfer->dst_lane ? transfer->src_lane : transfer->dst_lane;
    if (lane >= plan->lanes) plan->lanes = lane + 1;
    if (transfer->slot >= plan->slots) plan->slots = transfer->slot + 1;
    if (transfer->step >= plan->steps) plan->steps = transfer->step + 1;
    return plan->transfers++;
}

struct coll_transfer coll_plan_part(coll_plan *plan, uint32_t step, uint32_t lane, uint32_t src,
                                    uint32_t dst, uint32_t part, double bytes)
{
    assert(plan->shards == 1);
    struct coll_transfer t = {.src = src,
                              .dst = dst,
                              .step = step,
                              .src_lane = lane,
                              .dst_lane = lane,
                              .bytes = bytes,
                              .after = {NET_NONE, NET_NONE},
                              .cell_begin = plan->cells};
    if (plan->has_cells) {
        coll_plan_cell(plan, part);
        t.cell_count = 1;
    }
    return t;
}

uint32_t coll_plan_send_part(coll_plan *plan, uint32_t step, uint32_t lane, uint32_t src,
                             uint32_t dst, uint32_t part, double bytes, bool is_reduce)
{
    struct coll_transfer t = coll_plan_part(plan, step, lane, src, dst, part, bytes);
    t.is_reduce = is_reduce;
    return coll_plan_add(plan, &t);
}

uint32_t coll_plan_steps(const coll_plan *plan)
{
    return plan->steps;
}

/* ---- mirror images ---- */

static struct coll_transfer mirrored(const struct coll_transfer *t, uint32_t steps, bool is_reduce)
{
    struct coll_transfer back = *t;
    assert(t->after[0] == NET_NONE && t->after[1] == NET_NONE);
    back.src = t->dst;
    back.dst = t->src;
    back.src_lane = t->dst_lane;
    back.dst_lane = t->src_lane;
    back.step = steps - 1 - t->step;
    back.is_reduce = is_reduce;
    return back;
}

void coll_plan_reverse(coll_plan *plan, bool is_reduce)
{
    for (uint32_t i = 0; i < plan->transfers; i++)
        plan->transfer[i] = mirrored(&plan->transfer[i], plan->steps, is_reduce);
}

void coll_plan_reduce_first(coll_plan *plan)
{
    uint32_t count = plan->transfers, steps = plan->steps;
    for (uint32_t i = 0; i < count; i++) {
        struct coll_transfer back = mirrored(&plan->transfer[i], steps, true);
        plan->transfer[i].step += steps;
        coll_plan_add(plan, &back);
    }
    plan->steps = 2 * steps;
}

void coll_plan_serve(coll_plan *plan, enum coll_op op)
{
    if (op == COLL_ALL_REDUCE) coll_plan_reduce_first(plan);
    if (op == COLL_REDUCE_SCATTER || op == COLL_REDUCE) coll_plan_reverse(plan, true);
    if (op == COLL_GATHER) coll_plan_reverse(plan, false);
}

/* ---- operations of each member ---- */

struct half {
    uint32_t transfer;
    bool is_receive;
    net_op_id wait[WAITS];
};

/* All members' operations: member m has half[begin[m] .. begin[m + 1]]. */
struct halves {
    uint32_t *begin;
    struct half *half;
    net_op_id *op_of_receive; /* [transfers] index within the receiving member's list */
};

struct by_step {
    uint32_t step, lane, slot, transfer;
};

static int compare_steps(const void *left, const void *right)
{
    const struct by_step *a = left, *b = right;
    if (a->step != b->step) return a->step < b->step ? -1 : 1;
    if (a->lane != b->lane) return a->lane < b->lane ? -1 : 1;
    if (a->slot != b->slot) return a->slot < b->slot ? -1 : 1;
    return a->transfer < b->transfer ? -1 : a->transfer > b->transfer;
}

static struct by_step *sort_by_step(const coll_plan *plan)
{
    struct by_step *order = SIM_NEW(struct by_step, plan->transfers);
    for (uint32_t i = 0; i < plan->transfers; i++)
        order[i] = (struct by_step){plan->transfer[i].step, plan->transfer[i].dst_lane,
                                    plan->transfer[i].slot, i};
    if (plan->transfers > 0) qsort(order, plan->transfers, sizeof *order, compare_steps);
    return order;
}

/* Where lists are being written. */
struct writer {
    const coll_plan *plan;
    struct halves *out;
    uint32_t *fill;             /* [members] */
    net_op_id *sent, *received; /* [members x lanes] last of the lane, or NET_NONE */
    net_op_id *sending;         /* the same, of the step being written */
};

static struct half *append_half(struct writer *w, uint32_t transfer, bool is_receive,
                                uint32_t member, size_t lane)
{
    struct half *half = &w->out->half[w->out->begin[member] + w->fill[member]++];
    *half = (struct half){.transfer = transfer,
                          .is_receive = is_receive,
                          .wait = {w->sent[lane], w->received[lane], NET_NONE, NET_NONE}};
    return half;
}

static void write_send(struct writer *w, uint32_t transfer)
{
    const struct coll_transfer *t = &w->plan->transfer[transfer];
    size_t lane = (size_t)t->src * w->plan->lanes + t->src_lane;
    w->sending[lane] = w->fill[t->src];
    struct half *half = append_half(w, transfer, false, t->src, lane);
    for (int i = 0; i < 2; i++)
        if (t->after[i] != NET_NONE) half->wait[2 + i] = w->out->op_of_receive[t->after[i]];
}

static void write_receive(struct writer *w, uint32_t transfer)
{
    const struct coll_transfer *t = &w->plan->transfer[transfer];
    size_t lane = (size_t)t->dst * w->plan->lanes + t->dst_lane;
    net_op_id id = w->fill[t->dst];
    append_half(w, transfer, true, t->dst, lane);
    w->received[lane] = w->out->op_of_receive[transfer] = id;
}

static void write_step(struct writer *w, const struct by_step *order, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        write_send(w, order[i].transfer);
    for (uint32_t i = 0; i < count; i++) {
        const struct coll_transfer *t = &w->plan->transfer[order[i].transfer];
        size_t lane = (size_t)t->src * w->plan->lanes + t->src_lane;
        w->sent[lane] = w->sending[lane];
    }
    for (uint32_t i = 0; i < count; i++)
        write_receive(w, order[i].transfer);
}

static void count_halves(const coll_plan *plan, struct halves *out)
{
    out->begin = SIM_NEW(uint32_t, plan->members + 1);
    for (uint32_t i = 0; i < plan->transfers; i++) {
        out->begin[plan->transfer[i].src + 1]++;
        out->begin[plan->transfer[i].dst + 1]++;
    }
    for (uint32_t m = 0; m < plan->members; m++)
        out->begin[m + 1] += out->begin[m];
}

static struct halves write_halves(const coll_plan *plan)
{
    struct halves out = {0};
    struct by_step *order = sort_by_step(plan);
    size_t lanes = (size_t)plan->members * plan->lanes;
    struct writer w = {.plan = plan, .out = &out, .fill = SIM_NEW(uint32_t, plan->members)};
    w.sent = SIM_NEW(net_op_id, lanes);
    w.received = SIM_NEW(net_op_id, lanes);
    w.sending = SIM_NEW(net_op_id, lanes);
    for (size_t i = 0; i < lanes; i++)
        w.sent[i] = w.received[i] = NET_NONE;
    count_halves(plan, &out);
    out.half = SIM_NEW(struct half, 2 * (size_t)plan->transfers);
    out.op_of_receive = SIM_NEW(net_op_id, plan->transfers);
    for (uint32_t i = 0, end; i < plan->transfers; i = end) {
        for (end = i; end < plan->transfers && order[end].step == order[i].step;)
            end++;
        write_step(&w, order + i, end - i);
    }
    sim_free(w.fill);
    sim_free(w.sent);
    sim_free(w.received);
    sim_free(w.sending);
    sim_free(order);
    return out;
}

static void halves_release(struct halves *h)
{
    sim_free(h->begin);
    sim_free(h->half);
    sim_free(h->op_of_receive);
}

/* ---- roles ---- */

static uint32_t tag_of(const coll_plan *plan, const struct coll_transfer *t)
{
    return (t->step * plan->lanes + t->dst_lane) * plan->slots + t->slot;
}

static bool is_same_half(const coll_plan *plan, const struct half *a, const struct half *b)
{
    const struct coll_transfer *x = &plan->transfer[a->transfer], *y = &plan->transfer[b->transfer];
    return a->is_receive == b->is_receive && x->is_reduce == y->is_reduce && x->bytes == y->bytes &&
           tag_of(plan, x) == tag_of(plan, y) && memcmp(a->wait, b->wait, sizeof a->wait) == 0;
}

static bool is_same_list(const coll_plan *plan, const struct halves *h, uint32_t a, uint32_t b)
{
    uint32_t count = h->begin[a + 1] - h->begin[a];
    if (h->begin[b + 1] - h->begin[b] != count) return false;
    for (uint32_t i = 0; i < count; i++)
        if (!is_same_half(plan, &h->half[h->begin[a] + i], &h->half[h->begin[b] + i])) return false;
    return true;
}

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash ^= word;
    hash *= UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

static uint64_t hash_list(const coll_plan *plan, const struct halves *h, uint32_t member)
{
    uint64_t hash = h->begin[member + 1] - h->begin[member];
    for (uint32_t i = h->begin[member]; i < h->begin[member + 1]; i++) {
        const struct coll_transfer *t = &plan->transfer[h->half[i].transfer];
        hash = mix(hash, (uint64_t)tag_of(plan, t) << 2 | (uint64_t)t->is_reduce << 1 |
                             h->half[i].is_receive);
        hash = mix(hash, (uint64_t)(t->bytes * 1024));
    }
    return hash;
}

/* The members of each role: role r has member[begin[r] .. begin[r + 1]], rising. */
struct roles {
    uint32_t count, *begin, *member;
    uint32_t *of_member; /* [members] */
};

/* Open addressing over the first member of each role. */
static struct roles find_roles(const coll_plan *plan, const struct halves *h)
{
    uint32_t slots = 1, n = plan->members;
    while (slots < 2 * n)
        slots *= 2;
    uint32_t *first = SIM_NEW(uint32_t, slots), *size = SIM_NEW(uint32_t, n + 1);
    struct roles roles = {.of_member = SIM_NEW(uint32_t, n)};
    for (uint32_t i = 0; i < slots; i++)
        first[i] = NET_NONE;
    for (uint32_t m = 0; m < n; m++) {
        uint32_t slot = (uint32_t)hash_list(plan, h, m) & (slots - 1);
        while (first[slot] != NET_NONE && !is_same_list(plan, h, first[slot], m))
            slot = (slot + 1) & (slots - 1);
        if (first[slot] == NET_NONE) {
            first[slot] = m;
            roles.of_member[m] = roles.count++;
        }
        roles.of_member[m] = roles.of_member[first[slot]];
        size[roles.of_member[m] + 1]++;
    }
    for (uint32_t r = 0; r < roles.count; r++)
        size[r + 1] += size[r];
    roles.begin = size;
    roles.member = SIM_NEW(uint32_t, n);
    uint32_t *fill = SIM_NEW(uint32_t, roles.count);
    for (uint32_t m = 0; m < n; m++) {
        uint32_t r = roles.of_member[m];
        roles.member[roles.begin[r] + fill[r]++] = m;
    }
    sim_free(fill);
    sim_free(first);
    return roles;
}

static void roles_release(struct roles *r)
{
    sim_free(r->begin);
    sim_free(r->member);
    sim_free(r->of_member);
}

/* ---- programs ---- */

static const struct coll_transfer *transfer_of(const coll_plan *plan, const struct halves *h,
                                               uint32_t member, uint32_t op)
{
    return &plan->transfer[h->half[h->begin[member] + op].transfer];
}

static uint32_t add_peer(const coll_plan *plan, net_schedule *s, const struct halves *h,
                         const struct roles *roles, uint32_t role, uint32_t op)
{
    uint32_t begin = roles->begin[role], count = roles->begin[role + 1] - begin;
    uint32_t *rank = SIM_NEW(uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t member = roles->member[begin + i];
        const struct coll_transfer *t = transfer_of(plan, h, member, op);
        rank[i] = plan->rank_of_member[t->src == member ? t->dst : t->src];
    }
    uint32_t peer = net_peer_role(s, rank, count);
    sim_free(rank);
    return peer;
}

static uint32_t add_chunk(const coll_plan *plan, net_schedule *s, const struct halves *h,
                          const struct roles *roles, uint32_t role, uint32_t op)
{
    if (!plan->has_cells) return NET_NONE;
    uint32_t first = roles->begin[role], count = roles->begin[role + 1] - first, cells = 0;
    uint32_t *begin = SIM_NEW(uint32_t, count + 1), *cell = NULL;
    for (uint32_t i = 0; i < count; i++)
        begin[i + 1] = cells += transfer_of(plan, h, roles->member[first + i], op)->cell_count;
    cell = SIM_NEW(uint32_t, cells);
    for (uint32_t i = 0; i < count; i++) {
        const struct coll_transfer *t = transfer_of(plan, h, roles->member[first + i], op);
        if (t->cell_count > 0)
            memcpy(cell + begin[i], plan->cell + t->cell_begin, t->cell_count * sizeof *cell);
    }
    uint32_t chunk = net_chunk_list(s, count, begin, cell);
    sim_free(begin);
    sim_free(cell);
    return chunk;
}

static void write_program(const coll_plan *plan, net_schedule *s, const struct halves *h,
                          const struct roles *roles, uint32_t role)
{
    uint32_t first = roles->member[roles->begin[role]];
    for (uint32_t i = 0; i < h->begin[first + 1] - h->begin[first]; i++) {
        const struct half *half = &h->half[h->begin[first] + i];
        const struct coll_transfer *t = &plan->transfer[half->transfer];
        struct net_op op = {.kind = !half->is_receive ? NET_OP_SEND
                                    : t->is_reduce    ? NET_OP_REDUCE
                                                      : NET_OP_RECEIVE,
                            .peer = add_peer(plan, s, h, roles, role, i),
                            .tag = tag_of(plan, t),
                            .guard = NET_NONE,
                            .chunk = add_chunk(plan, s, h, roles, role, i),
                            .bytes = t->bytes};
        net_op_id id = net_op_add(s, role, op);
        for (int w = 0; w < WAITS; w++)
            net_op_after(s, role, id, half->wait[w]);
    }
}

/* Failed chips have a program of their own, without operations. */
static void set_roles(const coll_plan *plan, net_schedule *s, const struct roles *roles)
{
    uint32_t *role = SIM_NEW(uint32_t, plan->group.size);
    for (uint32_t i = 0; i < roles->count; i++)
        net_schedule_add_program(s);
    uint32_t idle = plan->members < plan->group.size ? net_schedule_add_program(s) : 0;
    for (uint32_t r = 0; r < plan->group.size; r++)
        role[r] = idle;
    for (uint32_t m = 0; m < plan->members; m++)
        role[plan->rank_of_member[m]] = roles->of_member[m];
    net_schedule_set_roles(s, role);
    sim_free(role);
}

net_schedule *coll_plan_schedule(coll_plan *plan)
{
    net_schedule *s = net_schedule_create(plan->topology, &plan->group);
    struct halves halves = write_halves(plan);
    struct roles roles = find_roles(plan, &halves);
    net_schedule_set_cells(s, plan->parts, plan->shards);
    set_roles(plan, s, &roles);
    for (uint32_t r = 0; r < roles.count; r++)
        write_program(plan, s, &halves, &roles, r);
    roles_release(&roles);
    halves_release(&halves);
    sim_free(plan->rank_of_member);
    sim_free(plan->transfer);
    sim_free(plan->cell);
    sim_free(plan);
    return s;
}
