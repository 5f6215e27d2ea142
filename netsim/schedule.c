/*
 * Building and sealing schedules.
 *
 * While it is built a program is a list of operations and a list of (operation, earlier) pairs.
 * Sealing turns the pairs into successor lists (counting sort by `earlier`), counts what each
 * operation waits for, and indexes receives by tag and calls by id, so that the executor never
 * searches.
 */
#include "netsim/schedule.h"

#include <string.h>

#include "base/arena.h"
#include "topo/route.h"

#define DEPENDENCIES_MAX 200 /* wait counts are bytes; see net_program.wait_count */

struct edge {
    net_op_id op, earlier;
};

struct program_builder {
    struct net_program view; /* what readers see; arrays below are its storage */
    struct net_op *op;
    uint32_t op_capacity;
    struct edge *edge;
    uint32_t edge_count, edge_capacity;
    uint32_t *successor_begin;
    net_op_id *successor, *root, *guarded_receive, *receive_of_tag, *op_of_call;
    uint8_t *wait_count;
};

struct net_schedule {
    const topo *topology;
    struct topo_group group;
    bool is_sealed;
    uint32_t program_count, program_capacity;
    struct program_builder *program;
    uint32_t *program_of_rank;  /* [group.size] or NULL */
    uint32_t *place_of_rank;    /* [group.size] among the ranks of its role; NULL without roles */
    uint32_t *position_of_rank; /* [group.size] or NULL: the space is the line set_line() gave */
    uint32_t peer_count, peer_capacity;
    struct net_peer *peer;
    uint32_t guard_count, guard_capacity;
    struct net_guard *guard;
    uint32_t chunk_count, chunk_capacity;
    struct net_chunk *chunk;
    uint32_t call_count;
    uint32_t parts, shards; /* 0: chunks are boxes */
    bool is_one_group;
    topo_chip_id one_group_of; /* which: this chip's */
    uint32_t idle_program;     /* of chips whose group takes no part */
};

net_schedule *net_schedule_create(const topo *t, const struct topo_group *group)
{
    net_schedule *s = SIM_NEW(net_schedule, 1);
    s->topology = t;
    s->group = *group;
    return s;
}

static void program_release(struct program_builder *p)
{
    sim_free(p->op);
    sim_free(p->edge);
    sim_free(p->successor_begin);
    sim_free(p->successor);
    sim_free(p->root);
    sim_free(p->guarded_receive);
    sim_free(p->receive_of_tag);
    sim_free(p->op_of_call);
    sim_free(p->wait_count);
}

void net_schedule_destroy(net_schedule *s)
{
    if (s == NULL) return;
    for (uint32_t i = 0; i < s->program_count; i++)
        program_release(&s->program[i]);
    for (uint32_t i = 0; i < s->peer_count; i++)
        sim_free((void *)s->peer[i].rank);
    for (uint32_t i = 0; i < s->chunk_count; i++) {
        sim_free((void *)s->chunk[i].begin);
        sim_free((void *)s->chunk[i].cell);
    }
    sim_free(s->program);
    sim_free(s->program_of_rank);
    sim_free(s->place_of_rank);
    sim_free(s->position_of_rank);
    sim_free(s->peer);
    sim_free(s->guard);
    sim_free(s->chunk);
    sim_free(s);
}

static uint32_t *copy_of(const uint32_t *array, uint32_t count)
{
    uint32_t *copy = SIM_NEW(uint32_t, count);
    if (count > 0) memcpy(copy, array, count * sizeof *copy);
    return copy;
}

static uint32_t *copy_ranks(const net_schedule *s, const uint32_t *rank)
{
    return copy_of(rank, s->group.size);
}

void net_schedule_set_line(net_schedule *s, const uint32_t *rank_at)
{
    assert(!s->is_sealed && s->position_of_rank == NULL);
    s->position_of_rank = SIM_NEW(uint32_t, s->group.size);
    for (uint32_t p = 0; p < s->group.size; p++) {
        assert(rank_at[p] < s->group.size);
        s->position_of_rank[rank_at[p]] = p;
    }
}

void net_schedule_set_cells(net_schedule *s, uint32_t parts, uint32_t shards)
{
    assert(!s->is_sealed && parts > 0 && shards > 0);
    s->parts = parts;
    s->shards = shards;
}

void net_schedule_set_one_group(net_schedule *s, topo_chip_id of)
{
    assert(!s->is_sealed && of < topo_chips(s->topology));
    s->is_one_group = true;
    s->one_group_of = of;
}

uint32_t net_schedule_add_program(net_schedule *s)
{
    assert(!s->is_sealed);
    SIM_GROW(s->program, s->program_capacity, s->program_count + 1);
    s->program[s->program_count] = (struct program_builder){0};
    return s->program_count++;
}

void net_schedule_set_roles(net_schedule *s, const uint32_t *program_of_rank)
{
    assert(!s->is_sealed && s->program_of_rank == NULL);
    s->program_of_rank = copy_ranks(s, program_of_rank);
    s->place_of_rank = SIM_NEW(uint32_t, s->group.size);
    uint32_t *ranks = SIM_NEW(uint32_t, s->program_count);
    for (uint32_t r = 0; r < s->group.size; r++) {
        assert(program_of_rank[r] < s->program_count);
        s->place_of_rank[r] = ranks[program_of_rank[r]]++;
    }
    sim_free(ranks);
}

static uint32_t add_peer(net_schedule *s, struct net_peer peer)
{
    assert(!s->is_sealed);
    SIM_GROW(s->peer, s->peer_capacity, s->peer_count + 1);
    s->peer[s->peer_count] = peer;
    return s->peer_count++;
}

uint32_t net_peer_hops(net_schedule *s, const int32_t hops[TOPO_AXES_MAX])
{
    struct net_peer peer = {.kind = NET_PEER_HOPS, .port = NET_NONE};
    uint32_t steps = 0;
    for (uint32_t a = 0; a < topo_axes(s->topology); a++) {
        peer.step[a] = hops[a];
        steps += (uint32_t)(hops[a] < 0 ? -hops[a] : hops[a]);
        if (hops[a] != 0) peer.port = 2 * a + (hops[a] < 0);
    }
    if (steps != 1) peer.port = NET_NONE;
    return add_peer(s, peer);
}

uint32_t net_peer_offset(net_schedule *s, const int32_t hops[TOPO_AXES_MAX])
{
    struct net_peer peer = {.kind = NET_PEER_OFFSET, .port = NET_NONE};
    memcpy(peer.step, hops, topo_axes(s->topology) * sizeof *hops);
    return add_peer(s, peer);
}

uint32_t net_peer_digits(net_schedule *s, const int32_t *digits)
{
    struct net_peer peer = {.kind = NET_PEER_DIGITS, .port = NET_NONE};
    for (uint32_t i = 0; i < s->group.factor_count; i++)
        peer.step[i] = digits[i];
    return add_peer(s, peer);
}

uint32_t net_peer_ranks(net_schedule *s, const uint32_t *rank)
{
    return add_peer(s, (struct net_peer){
                           .kind = NET_PEER_RANKS, .rank = copy_ranks(s, rank), .port = NET_NONE});
}

uint32_t net_peer_role(net_schedule *s, const uint32_t *rank, uint32_t ranks)
{
    assert(s->place_of_rank != NULL);
    return add_peer(s, (struct net_peer){
                           .kind = NET_PEER_ROLE, .rank = copy_of(rank, ranks), .port = NET_NONE});
}

uint32_t net_peer_chip(net_schedule *s, topo_chip_id chip)
{
    return add_peer(s, (struct net_peer){.kind = NET_PEER_CHIP, .chip = chip, .port = NET_NONE});
}

uint32_t net_guard_add(net_schedule *s, uint32_t axis, uint32_t low, uint32_t high)
{
    assert(!s->is_sealed);
    SIM_GROW(s->guard, s->guard_capacity, s->guard_count + 1);
    s->guard[s->guard_count] = (struct net_guard){axis, low, high};
    return s->guard_count++;
}

uint32_t net_chunk_add(net_schedule *s, struct net_chunk chunk)
{
    assert(!s->is_sealed);
    SIM_GROW(s->chunk, s->chunk_capacity, s->chunk_count + 1);
    s->chunk[s->chunk_count] = chunk;
    return s->chunk_count++;
}

uint32_t net_chunk_list(net_schedule *s, uint32_t ranks, const uint32_t *begin,
                        const uint32_t *cell)
{
    struct net_chunk chunk = {.begin = copy_of(begin, ranks + 1),
                              .cell = copy_of(cell, begin[ranks])};
    return net_chunk_add(s, chunk);
}

net_op_id net_op_add(net_schedule *s, uint32_t program, struct net_op op)
{
    assert(!s->is_sealed && program < s->program_count);
    struct program_builder *p = &s->program[program];
    SIM_GROW(p->op, p->op_capacity, p->view.op_count + 1);
    p->op[p->view.op_count] = op;
    if (op.kind == NET_OP_CALL && op.call_id >= s->call_count) s->call_count = op.call_id + 1;
    return p->view.op_count++;
}

void net_op_after(net_schedule *s, uint32_t program, net_op_id op, net_op_id earlier)
{
    assert(!s->is_sealed && program < s->program_count);
    if (earlier == NET_NONE) return;
    struct program_builder *p = &s->program[program];
    assert(earlier < op && op < p->view.op_count);
    SIM_GROW(p->edge, p->edge_capacity, p->edge_count + 1);
    p->edge[p->edge_count++] = (struct edge){op, earlier};
}

/* ---- sealing ---- */

static bool is_receive(const struct net_op *op)
{
    return op->kind == NET_OP_RECEIVE || op->kind == NET_OP_REDUCE;
}

static void seal_successors(struct program_builder *p)
{
    uint32_t n = p->view.op_count;
    p->successor_begin = SIM_NEW(uint32_t, (size_t)n + 2);
    p->successor = SIM_NEW(net_op_id, p->edge_count);
    uint32_t *fill = p->successor_begin + 1; /* shifted by one while filling */
    for (uint32_t e = 0; e < p->edge_count; e++)
        fill[p->edge[e].earlier + 1]++;
    for (uint32_t i = 0; i < n; i++)
        fill[i + 1] += fill[i];
    for (uint32_t e = 0; e < p->edge_count; e++)
        p->successor[fill[p->edge[e].earlier]++] = p->edge[e].op;
}

static void seal_waits(struct program_builder *p)
{
    uint32_t n = p->view.op_count, roots = 0, guarded = 0;
    uint32_t *dependencies = SIM_NEW(uint32_t, n);
    for (uint32_t e = 0; e < p->edge_count; e++)
        dependencies[p->edge[e].op]++;
    p->wait_count = SIM_NEW(uint8_t, n);
    p->root = SIM_NEW(net_op_id, n);
    p->guarded_receive = SIM_NEW(net_op_id, n);
    for (uint32_t i = 0; i < n; i++) {
        assert(dependencies[i] <= DEPENDENCIES_MAX);
        if (dependencies[i] == 0) p->root[roots++] = i;
        if (is_receive(&p->op[i]) && p->op[i].guard != NET_NONE) p->guarded_receive[guarded++] = i;
        p->wait_count[i] =
            (uint8_t)((dependencies[i] > 0 ? dependencies[i] : 1) + is_receive(&p->op[i]));
    }
    sim_free(dependencies);
    p->view.root_count = roots;
    p->view.guarded_receive_count = guarded;
}

static void seal_indexes(const net_schedule *s, struct program_builder *p)
{
    uint32_t n = p->view.op_count, tags = 0;
    for (uint32_t i = 0; i < n; i++)
        if (is_receive(&p->op[i]) && p->op[i].tag >= tags) tags = p->op[i].tag + 1;
    p->view.tag_count = tags;
    p->receive_of_tag = SIM_NEW(net_op_id, tags);
    p->op_of_call = SIM_NEW(net_op_id, s->call_count);
    for (uint32_t i = 0; i < tags; i++)
        p->receive_of_tag[i] = NET_NONE;
    for (uint32_t i = 0; i < s->call_count; i++)
        p->op_of_call[i] = NET_NONE;
    for (uint32_t i = 0; i < n; i++) {
        const struct net_op *op = &p->op[i];
        assert(op->guard == NET_NONE || op->guard < s->guard_count);
        assert(op->chunk == NET_NONE || op->chunk < s->chunk_count);
        if (is_receive(op)) {
            assert(p->receive_of_tag[op->tag] == NET_NONE);
            p->receive_of_tag[op->tag] = i;
        }
        if (op->kind == NET_OP_CALL) {
            assert(p->op_of_call[op->call_id] == NET_NONE);
            p->op_of_call[op->call_id] = i;
        }
        if (is_receive(op) || op->kind == NET_OP_SEND) assert(op->peer < s->peer_count);
    }
}

void net_schedule_seal(net_schedule *s)
{
    assert(!s->is_sealed);
    if (s->is_one_group) s->idle_program = net_schedule_add_program(s);
    for (uint32_t i = 0; i < s->program_count; i++) {
        struct program_builder *p = &s->program[i];
        seal_successors(p);
        seal_waits(p);
        seal_indexes(s, p);
        sim_free(p->edge);
        p->edge = NULL;
        p->view.op = p->op;
        p->view.successor_begin = p->successor_begin;
        p->view.successor = p->successor;
        p->view.wait_count = p->wait_count;
        p->view.root = p->root;
        p->view.guarded_receive = p->guarded_receive;
        p->view.receive_of_tag = p->receive_of_tag;
        p->view.op_of_call = p->op_of_call;
    }
    s->is_sealed = true;
}

/* ---- reading ---- */

const topo *net_schedule_topo(const net_schedule *s)
{
    return s->topology;
}

const struct topo_group *net_schedule_group(const net_schedule *s)
{
    return &s->group;
}

uint32_t net_schedule_programs(const net_schedule *s)
{
    return s->program_count;
}

const struct net_program *net_schedule_program(const net_schedule *s, uint32_t program)
{
    assert(s->is_sealed && program < s->program_count);
    return &s->program[program].view;
}

const struct net_peer *net_schedule_peer(const net_schedule *s, uint32_t peer)
{
    assert(peer < s->peer_count);
    return &s->peer[peer];
}

const struct net_chunk *net_schedule_chunk(const net_schedule *s, uint32_t chunk)
{
    assert(chunk < s->chunk_count);
    return &s->chunk[chunk];
}

uint32_t net_schedule_peers(const net_schedule *s)
{
    return s->peer_count;
}

uint32_t net_schedule_guards(const net_schedule *s)
{
    return s->guard_count;
}

const struct net_guard *net_schedule_guard(const net_schedule *s, uint32_t guard)
{
    assert(guard < s->guard_count);
    return &s->guard[guard];
}

uint32_t net_schedule_space_axes(const net_schedule *s)
{
    return s->position_of_rank != NULL ? 1 : s->group.factor_count;
}

uint32_t net_schedule_space_extent(const net_schedule *s, uint32_t axis)
{
    return s->position_of_rank != NULL ? s->group.size : s->group.factor[axis].extent;
}

uint32_t net_schedule_calls(const net_schedule *s)
{
    return s->call_count;
}

uint32_t net_schedule_parts(const net_schedule *s)
{
    return s->parts;
}

uint32_t net_schedule_shards(const net_schedule *s)
{
    return s->shards;
}

bool net_schedule_is_active(const net_schedule *s, topo_chip_id chip)
{
    return !s->is_one_group || topo_group_chip(s->topology, &s->group, chip, 0) ==
                                   topo_group_chip(s->topology, &s->group, s->one_group_of, 0);
}

uint32_t net_role(const net_schedule *s, topo_chip_id chip)
{
    if (!net_schedule_is_active(s, chip)) return s->idle_program;
    if (s->program_of_rank == NULL) return 0;
    return s->program_of_rank[topo_group_rank(s->topology, &s->group, chip)];
}

uint32_t net_place(const net_schedule *s, topo_chip_id chip)
{
    uint32_t rank = topo_group_rank(s->topology, &s->group, chip);
    return s->place_of_rank != NULL ? s->place_of_rank[rank] : rank;
}

uint32_t net_space_digit(const net_schedule *s, topo_chip_id chip, uint32_t axis)
{
    if (s->position_of_rank == NULL) return topo_group_digit(s->topology, &s->group, chip, axis);
    return s->position_of_rank[topo_group_rank(s->topology, &s->group, chip)];
}

bool net_op_exists(const net_schedule *s, topo_chip_id chip, const struct net_op *op)
{
    if (op->guard == NET_NONE) return true;
    const struct net_guard *g = &s->guard[op->guard];
    uint32_t digit = net_space_digit(s, chip, g->axis);
    return digit >= g->low && digit <= g->high;
}

static topo_chip_id chip_by_digits(const net_schedule *s, topo_chip_id chip, const int32_t *step)
{
    uint32_t rank = 0;
    for (uint32_t i = s->group.factor_count; i-- > 0;) {
        int64_t extent = s->group.factor[i].extent;
        int64_t digit =
            ((int64_t)topo_group_digit(s->topology, &s->group, chip, i) + step[i]) % extent;
        rank = rank * (uint32_t)extent + (uint32_t)(digit < 0 ? digit + extent : digit);
    }
    return topo_group_chip(s->topology, &s->group, chip, rank);
}

topo_chip_id net_peer_of(const net_schedule *s, topo_chip_id chip, uint32_t peer)
{
    const struct net_peer *p = net_schedule_peer(s, peer);
    switch (p->kind) {
    case NET_PEER_HOPS:
    case NET_PEER_OFFSET:
        if (p->port != NET_NONE) return topo_neighbour(s->topology, chip, p->port);
        return topo_translate(s->topology, chip, p->step);
    case NET_PEER_DIGITS:
        return chip_by_digits(s, chip, p->step);
    case NET_PEER_RANKS:
        return topo_group_chip(s->topology, &s->group, chip,
                               p->rank[topo_group_rank(s->topology, &s->group, chip)]);
    case NET_PEER_ROLE:
        return topo_group_chip(s->topology, &s->group, chip, p->rank[net_place(s, chip)]);
    case NET_PEER_CHIP:
        return p->chip;
    }
    assert(false);
    return 0;
}

topo_chip_id net_paths_to_peer(const net_schedule *s, topo_chip_id chip, uint32_t peer,
                               struct topo_paths *paths)
{
    const struct net_peer *p = net_schedule_peer(s, peer);
    topo_chip_id to = net_peer_of(s, chip, peer);
    bool is_walked = p->kind == NET_PEER_HOPS && topo_walk(s->topology, chip, p->step, paths);
    if (!is_walked) topo_route(s->topology, chip, to, paths);
    return to;
}
