/*
 * Symbolic execution. A cell is a chunk on a rank: the set of ranks whose contribution it holds, as
 * a bit set. A message takes a copy of the cells it carries when its send runs; a receive stores or
 * adds them when it runs.
 *
 *   store   what arrives must hold all that is there, and more (equal: the chunk came twice)
 *   add     what arrives must have nothing in common with what is there (else it was added twice)
 *
 * A rank's operations become ready as in the executor; the order among ready ones is
 * first-in-first-out, last-in-first-out or random, once each. Cost: ranks^2 * parts cells of
 * ranks/8 bytes (all-to-all: ranks^3 cells), times the orders.
 */
#include "collectives/check.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "collectives/cells.h"

enum order { ORDER_FIRST_IN, ORDER_LAST_IN, ORDER_RANDOM, ORDERS };

struct message {
    bool is_sent;
    uint32_t cell_count;
    uint32_t *cell; /* [cell_count] which cells it carries */
    uint64_t *set;  /* [cell_count x words] what they hold */
};

struct checker {
    const net_schedule *s;
    const topo *topology;
    const struct coll_spec *spec;
    enum order order;
    uint32_t ranks, members, *member_of_rank; /* NET_NONE: failed */
    struct coll_cells cells;                  /* of each rank */
    uint32_t words;                           /* 64-bit words of one set */
    topo_chip_id *chip;                       /* [ranks] */
    uint64_t *have;                           /* [ranks x cells x words] */
    uint8_t **wait;                           /* [ranks] wait counts */
    struct message **inbox;                   /* [ranks][tag] */
    struct {
        uint32_t rank;
        net_op_id op;
    } * ready;
    uint32_t ready_begin, ready_count, ready_capacity;
    double *part_bytes; /* [parts] of a cell of each; negative before a message had one */
    struct sim_rng rng;
};

static uint64_t *set_of(const struct checker *k, uint32_t rank, uint32_t cell)
{
    return k->have + ((size_t)rank * k->cells.count + cell) * k->words;
}

/* The shard a rank owns: its position in the space, or its number among the members. */
static uint32_t own_shard(const struct checker *k, uint32_t rank)
{
    if (net_schedule_shards(k->s) > 0) return k->member_of_rank[rank];
    return coll_cells_position(&k->cells, k->chip[rank]);
}

/* ---- set up and take down ---- */

static const struct net_program *program_of(const struct checker *k, uint32_t rank)
{
    return net_schedule_program(k->s, net_role(k->s, k->chip[rank]));
}

static void push_ready(struct checker *k, uint32_t rank, net_op_id op)
{
    SIM_GROW(k->ready, k->ready_capacity, k->ready_count + 1);
    k->ready[k->ready_count].rank = rank;
    k->ready[k->ready_count++].op = op;
}

static void count_down(struct checker *k, uint32_t rank, net_op_id op)
{
    assert(k->wait[rank][op] > 0);
    if (--k->wait[rank][op] == 0) push_ready(k, rank, op);
}

static void set_bit(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

/* Does the rank start with this cell? All-gather starts with the own shard, all-to-all with the own
 * row, the root of a broadcast with all, reductions with an own contribution everywhere. */
static bool starts_with(const struct checker *k, uint32_t rank, uint32_t shard)
{
    switch (k->spec->op) {
    case COLL_ALL_GATHER:
    case COLL_GATHER:
        return shard == own_shard(k, rank);
    case COLL_ALL_TO_ALL:
        return shard % k->members == own_shard(k, rank);
    case COLL_BROADCAST:
    case COLL_SCATTER:
        return rank == k->spec->root;
    default:
        return true;
    }
}

static void init_cells(struct checker *k, uint32_t rank)
{
    for (uint32_t cell = 0; cell < k->cells.count; cell++)
        if (starts_with(k, rank, cell % k->cells.shards)) set_bit(set_of(k, rank, cell), rank);
}

static void init_rank(struct checker *k, uint32_t rank)
{
    const struct net_program *p = program_of(k, rank);
    k->wait[rank] = SIM_NEW(uint8_t, p->op_count);
    k->inbox[rank] = SIM_NEW(struct message, p->tag_count);
    memcpy(k->wait[rank], p->wait_count, p->op_count);
    for (uint32_t i = 0; i < p->guarded_receive_count; i++) {
        net_op_id op = p->guarded_receive[i];
        if (!net_op_exists(k->s, k->chip[rank], &p->op[op])) k->wait[rank][op]--;
    }
    if (k->member_of_rank[rank] != NET_NONE) init_cells(k, rank);
    for (uint32_t i = 0; i < p->root_count; i++)
        count_down(k, rank, p->root[i]);
}

static void init(struct checker *k, const net_schedule *s, const struct coll_spec *spec,
                 topo_chip_id member, enum order order)
{
    *k = (struct checker){.s = s, .topology = net_schedule_topo(s), .spec = spec, .order = order};
    const struct topo_group *group = net_schedule_group(s);
    k->ranks = group->size;
    k->chip = SIM_NEW(topo_chip_id, k->ranks);
    k->member_of_rank = SIM_NEW(uint32_t, k->ranks);
    for (uint32_t r = 0; r < k->ranks; r++) {
        k->chip[r] = topo_group_chip(k->topology, group, member, r);
        k->member_of_rank[r] =
            topo_chip_is_failed(k->topology, k->chip[r]) ? NET_NONE : k->members++;
    }
    coll_cells_init(&k->cells, s, spec->op);
    k->words = (k->ranks + 63) / 64;
    k->have = SIM_NEW(uint64_t, (size_t)k->ranks * k->cells.count * k->words);
    k->part_bytes = SIM_NEW(double, k->cells.parts);
    for (uint32_t p = 0; p < k->cells.parts; p++)
        k->part_bytes[p] = -1;
    k->wait = SIM_NEW(uint8_t *, k->ranks);
    k->inbox = SIM_NEW(struct message *, k->ranks);
    sim_rng_init(&k->rng, 1, order);
    for (uint32_t r = 0; r < k->ranks; r++)
        init_rank(k, r);
}

static void release(struct checker *k)
{
    for (uint32_t r = 0; r < k->ranks; r++) {
        for (uint32_t i = 0; i < program_of(k, r)->tag_count; i++) {
            sim_free(k->inbox[r][i].cell);
            sim_free(k->inbox[r][i].set);
        }
        sim_free(k->inbox[r]);
        sim_free(k->wait[r]);
    }
    sim_free(k->chip);
    sim_free(k->member_of_rank);
    sim_free(k->have);
    coll_cells_release(&k->cells);
    sim_free(k->part_bytes);
    sim_free(k->wait);
    sim_free(k->inbox);
    sim_free(k->ready);
}

/* ---- operations ---- */

static enum sim_status fault(const struct checker *k, uint32_t rank, net_op_id op,
                             struct sim_error *err, const char *what)
{
    char chip[48];
    return sim_error_set(err, SIM_EDATA, "%s: chip %s, operation %u: %s",
                         coll_op_names[k->spec->op],
                         topo_node_format(k->topology, k->chip[rank], chip), op, what);
}

static bool is_empty(const uint64_t *set, uint32_t words)
{
    for (uint32_t w = 0; w < words; w++)
        if (set[w] != 0) return false;
    return true;
}

/* The cells of a part are of one size, so a message of known parts is as large as they say; the
 * first message of a part says it. The message's cells are k->cells.cell[0 .. count - 1]. */
static enum sim_status check_bytes(struct checker *k, uint32_t rank, net_op_id id, double bytes,
                                   uint32_t count, struct sim_error *err)
{
    double known = 0;
    uint32_t unknown = 0;
    for (uint32_t i = 0; i < count; i++) {
        double cell = k->part_bytes[k->cells.cell[i] / k->cells.shards];
        known += cell < 0 ? 0 : cell;
        unknown += cell < 0;
    }
    for (uint32_t i = 0; i < count && unknown > 0; i++) {
        double *cell = &k->part_bytes[k->cells.cell[i] / k->cells.shards];
        if (*cell < 0) *cell = (bytes - known) / unknown;
    }
    double off = unknown > 0 ? 0 : bytes - known, allowed = 1e-9 * known;
    if (off > allowed || -off > allowed)
        return fault(k, rank, id, err, "the message's bytes do not match the chunks it carries");
    return SIM_OK;
}

static enum sim_status run_send(struct checker *k, uint32_t rank, net_op_id id,
                                const struct net_op *op, struct sim_error *err)
{
    const struct topo_group *group = net_schedule_group(k->s);
    topo_chip_id to = net_peer_of(k->s, k->chip[rank], op->peer);
    uint32_t peer = topo_group_rank(k->topology, group, to);
    if (k->chip[peer] != to) return fault(k, rank, id, err, "sends to a chip outside its group");
    if (op->tag >= program_of(k, peer)->tag_count ||
        program_of(k, peer)->receive_of_tag[op->tag] == NET_NONE)
        return fault(k, rank, id, err, "nobody receives this message");
    struct message *m = &k->inbox[peer][op->tag];
    if (m->is_sent)
        return fault(k, rank, id, err, "the receiver got this message from somebody else already");
    m->is_sent = true;
    m->cell_count = coll_cells_of(&k->cells, k->chip[rank], op);
    m->cell = SIM_NEW(uint32_t, m->cell_count);
    m->set = SIM_NEW(uint64_t, (size_t)m->cell_count * k->words);
    memcpy(m->cell, k->cells.cell, m->cell_count * sizeof *m->cell);
    SIM_TRY(check_bytes(k, rank, id, op->bytes, m->cell_count, err));
    for (uint32_t i = 0; i < m->cell_count; i++) {
        const uint64_t *set = set_of(k, rank, k->cells.cell[i]);
        if (is_empty(set, k->words))
            return fault(k, rank, id, err, "sends a chunk it does not have");
        memcpy(m->set + (size_t)i * k->words, set, k->words * sizeof *set);
    }
    count_down(k, peer, program_of(k, peer)->receive_of_tag[op->tag]);
    return SIM_OK;
}

static enum sim_status merge(struct checker *k, uint32_t rank, net_op_id id, bool is_reduce,
                             uint64_t *have, const uint64_t *got, struct sim_error *err)
{
    bool is_equal = memcmp(have, got, k->words * sizeof *have) == 0;
    if (!is_reduce && is_equal) return fault(k, rank, id, err, "a chunk comes twice");
    for (uint32_t w = 0; w < k->words; w++) {
        if (is_reduce && (have[w] & got[w]) != 0)
            return fault(k, rank, id, err, "a contribution is added twice");
        if (!is_reduce && (have[w] & ~got[w]) != 0)
            return fault(k, rank, id, err,
                         "a chunk is overwritten by one that lacks a contribution");
        have[w] |= got[w];
    }
    return SIM_OK;
}

static enum sim_status run_receive(struct checker *k, uint32_t rank, net_op_id id,
                                   const struct net_op *op, struct sim_error *err)
{
    struct message *m = &k->inbox[rank][op->tag];
    uint32_t count = coll_cells_of(&k->cells, k->chip[rank], op);
    if (count != m->cell_count)
        return fault(k, rank, id, err, "the message has another size than expected");
    if (memcmp(k->cells.cell, m->cell, count * sizeof *m->cell) != 0)
        return fault(k, rank, id, err, "the message carries another chunk than expected");
    for (uint32_t i = 0; i < count; i++)
        SIM_TRY(merge(k, rank, id, op->kind == NET_OP_REDUCE, set_of(k, rank, k->cells.cell[i]),
                      m->set + (size_t)i * k->words, err));
    return SIM_OK;
}

static enum sim_status run_op(struct checker *k, uint32_t rank, net_op_id id, struct sim_error *err)
{
    const struct net_program *p = program_of(k, rank);
    const struct net_op *op = &p->op[id];
    if (net_op_exists(k->s, k->chip[rank], op)) {
        if (op->kind == NET_OP_SEND) SIM_TRY(run_send(k, rank, id, op, err));
        if (op->kind == NET_OP_RECEIVE || op->kind == NET_OP_REDUCE)
            SIM_TRY(run_receive(k, rank, id, op, err));
    }
    for (uint32_t i = p->successor_begin[id]; i < p->successor_begin[id + 1]; i++)
        count_down(k, rank, p->successor[i]);
    return SIM_OK;
}

/* Take one ready operation off by the order under test. */
static void pick(struct checker *k, uint32_t *rank, net_op_id *op)
{
    uint32_t live = k->ready_count - k->ready_begin, at = k->ready_begin;
    if (k->order == ORDER_LAST_IN) at = k->ready_count - 1;
    if (k->order == ORDER_RANDOM) at += (uint32_t)sim_rng_below(&k->rng, live);
    *rank = k->ready[at].rank;
    *op = k->ready[at].op;
    if (k->order == ORDER_FIRST_IN)
        k->ready_begin++;
    else
        k->ready[at] = k->ready[--k->ready_count];
}

/* ---- the verdict ---- */

static bool is_wanted(const struct checker *k, uint32_t cell, uint32_t contributor)
{
    uint32_t shard = cell % k->cells.shards;
    if (k->member_of_rank[contributor] == NET_NONE) return false;
    switch (k->spec->op) {
    case COLL_ALL_GATHER:
    case COLL_GATHER:
        return own_shard(k, contributor) == shard;
    case COLL_ALL_TO_ALL:
        return own_shard(k, contributor) == shard % k->members;
    case COLL_BROADCAST:
    case COLL_SCATTER:
        return contributor == k->spec->root;
    default:
        return true;
    }
}

/* Must this rank hold this cell at the end? What else it holds is its own affair. */
static bool must_hold(const struct checker *k, uint32_t rank, uint32_t cell)
{
    uint32_t shard = cell % k->cells.shards;
    if (k->member_of_rank[rank] == NET_NONE) return false;
    switch (k->spec->op) {
    case COLL_REDUCE_SCATTER:
    case COLL_SCATTER:
        return shard == own_shard(k, rank);
    case COLL_ALL_TO_ALL:
        return shard / k->members == own_shard(k, rank);
    case COLL_REDUCE:
    case COLL_GATHER:
        return rank == k->spec->root;
    default:
        return true;
    }
}

static enum sim_status judge(const struct checker *k, struct sim_error *err)
{
    for (uint32_t rank = 0; rank < k->ranks; rank++) {
        for (uint32_t cell = 0; cell < k->cells.count; cell++) {
            if (!must_hold(k, rank, cell)) continue;
            const uint64_t *set = set_of(k, rank, cell);
            for (uint32_t c = 0; c < k->ranks; c++) {
                bool has = set[c / 64] >> c % 64 & 1;
                if (has == is_wanted(k, cell, c)) continue;
                char chip[48], other[48];
                return sim_error_set(
                    err, SIM_EDATA,
                    "%s: at the end chip %s, shard %u of part %u %s the contribution of chip %s",
                    coll_op_names[k->spec->op], topo_node_format(k->topology, k->chip[rank], chip),
                    cell % k->cells.shards, cell / k->cells.shards, has ? "has in excess" : "lacks",
                    topo_node_format(k->topology, k->chip[c], other));
            }
        }
    }
    return SIM_OK;
}

/* A buffer is shards cells of each part; of an all-to-all a rank's send buffer is its row of
 * them. */
static enum sim_status check_total(const struct checker *k, struct sim_error *err)
{
    double bytes = k->spec->bytes, total = 0;
    for (uint32_t p = 0; p < k->cells.parts; p++) {
        if (k->part_bytes[p] < 0) return SIM_OK; /* nothing was sent */
        total += k->part_bytes[p] * (k->spec->op == COLL_ALL_TO_ALL ? k->members : k->cells.shards);
    }
    double off = total - bytes;
    if (off <= 1e-9 * bytes && -off <= 1e-9 * bytes) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "%s: messages come to a buffer of %g bytes, want %g",
                         coll_op_names[k->spec->op], total, bytes);
}

static enum sim_status find_unfinished(const struct checker *k, struct sim_error *err)
{
    for (uint32_t rank = 0; rank < k->ranks; rank++)
        for (net_op_id op = 0; op < program_of(k, rank)->op_count; op++)
            if (k->wait[rank][op] > 0) return fault(k, rank, op, err, "waits for ever");
    return SIM_OK;
}

static enum sim_status check_group(const net_schedule *s, const struct coll_spec *spec,
                                   topo_chip_id member, enum order order, struct sim_error *err)
{
    struct checker k;
    init(&k, s, spec, member, order);
    enum sim_status status = SIM_OK;
    while (status == SIM_OK && k.ready_begin < k.ready_count) {
        uint32_t rank;
        net_op_id id;
        pick(&k, &rank, &id);
        status = run_op(&k, rank, id, err);
    }
    if (status == SIM_OK) status = find_unfinished(&k, err);
    if (status == SIM_OK) status = judge(&k, err);
    if (status == SIM_OK) status = check_total(&k, err);
    release(&k);
    return status;
}

/* A permute carries no chunks: its messages are its meaning. */
enum sim_status coll_check(const net_schedule *schedule, const struct coll_spec *spec,
                           struct sim_error *err)
{
    assert(spec->op != COLL_PERMUTE && spec->op != COLL_SEND);
    topo_chip_id last = topo_chips(net_schedule_topo(schedule)) - 1;
    for (int order = 0; order < ORDERS; order++) {
        SIM_TRY(check_group(schedule, spec, 0, (enum order)order, err));
        if (net_schedule_is_active(schedule, last))
            SIM_TRY(check_group(schedule, spec, last, (enum order)order, err));
    }
    return SIM_OK;
}
