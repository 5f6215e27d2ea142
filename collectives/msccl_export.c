/*
 * A schedule of podsim's as an algorithm. Every rank's sends and receives go into thread blocks of
 * one peer, direction and channel, where each waits for the one before anyway, so that putting them
 * in a row costs no time:
 *
 *     channel   the first where, at both ends, the message before in it is one this one waits for
 *     piece     of a message: chunks that lie side by side at both ends; one step each
 *     waits     what the operation waits for and its thread block does not say (transitively)
 *     races     receives that add to one chunk are put in a row too: the last decides when all are
 *               done, in whichever order they come (their messages wait for nobody)
 *
 * Chunks. In place, but for all-to-all: its buffers are input by destination and output by source,
 * and what passes through waits in scratch.
 *
 * Memory: ranks * operations of one squared / 8 bytes.
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "collectives/cells.h"
#include "collectives/msccl_internal.h"

#define OPS_MAX 8192 /* of a rank */

/* Where a chunk lies on a rank. */
struct home {
    enum msccl_buffer buffer;
    uint32_t offset;
};

struct piece {
    struct home src, dst;
    int32_t count;
};

/* An operation of a rank. Real ones send or receive; the others only pass waits on. */
struct node {
    bool is_real, is_receive, is_reduce;
    uint32_t rank, op, peer, channel;
    uint32_t message;                /* the send's node number */
    uint32_t piece_begin, piece_end; /* of sends */
    uint32_t first_step, last_step;  /* in the draft */
};

struct exporter {
    const net_schedule *s;
    const struct coll_spec *spec;
    struct sim_error *err;
    uint32_t ranks, share; /* chunks of one rank */
    topo_chip_id *chip;
    struct coll_cells cells;
    uint32_t *rank_of_shard; /* [ranks] of the shard, or position, of a cell */
    uint32_t *node_begin;    /* [ranks + 1] */
    struct node *node;
    uint64_t **before; /* [ranks] real operations each of the rank's waits for: bits, row by row */
    struct piece *piece;
    uint32_t pieces, piece_capacity;
    uint32_t *slot; /* all-to-all: [ranks x cells] place in scratch, or NET_NONE */
    coll_msccl *a;  /* the draft: dependences are edges, not in the steps */
    struct msccl_edge *edge;
    uint32_t edges, edge_capacity;
};

static enum sim_status SIM_PRINTF(2, 3) cannot(struct exporter *x, const char *format, ...)
{
    char why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return sim_error_set(x->err, SIM_EDATA, "%s cannot be written as MSCCL XML: %s",
                         coll_op_names[x->spec->op], why);
}

/* ---- operations ---- */

static const struct net_program *program_of(const struct exporter *x, uint32_t rank)
{
    return net_schedule_program(x->s, net_role(x->s, x->chip[rank]));
}

static uint32_t row_words(const struct exporter *x, uint32_t rank)
{
    return (program_of(x, rank)->op_count + 63) / 64;
}

static uint64_t *before_of(const struct exporter *x, const struct node *node)
{
    return x->before[node->rank] + (size_t)node->op * row_words(x, node->rank);
}

static bool has_bit(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

/* set |= what node waits for, and itself. */
static void add_with_before(const struct exporter *x, uint64_t *set, const struct node *node)
{
    const uint64_t *before = before_of(x, node);
    for (uint32_t w = 0; w < row_words(x, node->rank); w++)
        set[w] |= before[w];
    if (node->is_real) set[node->op / 64] |= UINT64_C(1) << node->op % 64;
}

static void find_before(struct exporter *x, uint32_t rank)
{
    const struct net_program *p = program_of(x, rank);
    x->before[rank] = SIM_NEW(uint64_t, (size_t)p->op_count * row_words(x, rank));
    for (net_op_id i = 0; i < p->op_count; i++)
        for (uint32_t e = p->successor_begin[i]; e < p->successor_begin[i + 1]; e++) {
            struct node *first = &x->node[x->node_begin[rank]];
            add_with_before(x, before_of(x, first + p->successor[e]), first + i);
        }
}

static enum sim_status read_node(struct exporter *x, uint32_t rank, net_op_id op)
{
    const struct net_op *o = &program_of(x, rank)->op[op];
    struct node *node = &x->node[x->node_begin[rank] + op];
    *node = (struct node){.rank = rank, .op = op};
    if (o->kind == NET_OP_COMPUTE || o->kind == NET_OP_CALL)
        return cannot(x, "it computes or calls");
    node->is_real = o->kind != NET_OP_JOIN && net_op_exists(x->s, x->chip[rank], o);
    if (!node->is_real) return SIM_OK;
    if (o->chunk == NET_NONE) return cannot(x, "its messages do not say what they carry");
    node->is_receive = o->kind != NET_OP_SEND;
    node->is_reduce = o->kind == NET_OP_REDUCE;
    topo_chip_id peer = net_peer_of(x->s, x->chip[rank], o->peer);
    node->peer = topo_group_rank(net_schedule_topo(x->s), net_schedule_group(x->s), peer);
    return SIM_OK;
}

/* The receive that a send meets. */
static struct node *receive_of(const struct exporter *x, const struct node *send)
{
    uint32_t tag = program_of(x, send->rank)->op[send->op].tag;
    return &x->node[x->node_begin[send->peer] + program_of(x, send->peer)->receive_of_tag[tag]];
}

static enum sim_status read_nodes(struct exporter *x)
{
    for (uint32_t r = 0; r < x->ranks; r++) {
        uint32_t ops = program_of(x, r)->op_count;
        if (ops > OPS_MAX) return cannot(x, "a chip has %u operations, at most %d", ops, OPS_MAX);
        x->node_begin[r + 1] = x->node_begin[r] + ops;
    }
    x->node = SIM_NEW(struct node, x->node_begin[x->ranks]);
    for (uint32_t r = 0; r < x->ranks; r++) {
        for (net_op_id op = 0; op < program_of(x, r)->op_count; op++)
            SIM_TRY(read_node(x, r, op));
        find_before(x, r);
    }
    return SIM_OK;
}

/* ---- pieces ---- */

static struct home home_of(struct exporter *x, uint32_t rank, uint32_t cell)
{
    uint32_t part = cell / x->cells.shards, shard = cell % x->cells.shards;
    enum coll_op op = x->spec->op;
    if (op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER)
        return (struct home){op == COLL_ALL_GATHER ? MSCCL_OUTPUT : MSCCL_INPUT,
                             x->rank_of_shard[shard] * x->share + part};
    if (op != COLL_ALL_TO_ALL) return (struct home){MSCCL_INPUT, cell};
    uint32_t src = x->rank_of_shard[shard % x->ranks], dst = x->rank_of_shard[shard / x->ranks];
    if (rank == src) return (struct home){MSCCL_INPUT, dst * x->share + part};
    if (rank == dst) return (struct home){MSCCL_OUTPUT, src * x->share + part};
    uint32_t *slot = &x->slot[(size_t)rank * x->cells.count + cell];
    if (*slot == NET_NONE) *slot = x->a->gpu[rank].chunks[MSCCL_SCRATCH]++;
    return (struct home){MSCCL_SCRATCH, *slot};
}

static int compare_pieces(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;
    if (a->src.buffer != b->src.buffer) return a->src.buffer < b->src.buffer ? -1 : 1;
    return a->src.offset < b->src.offset ? -1 : a->src.offset > b->src.offset;
}

static bool is_next(const struct piece *a, const struct piece *b)
{
    uint32_t count = (uint32_t)a->count;
    return a->count < MSCCL_COUNT_MAX && a->src.buffer == b->src.buffer &&
           a->dst.buffer == b->dst.buffer && a->src.offset + count == b->src.offset &&
           a->dst.offset + count == b->dst.offset;
}

static enum sim_status cut_message(struct exporter *x, struct node *send)
{
    const struct net_op *op = &program_of(x, send->rank)->op[send->op];
    uint32_t count = coll_cells_of(&x->cells, x->chip[send->rank], op);
    if (count == 0) return cannot(x, "it has messages that carry nothing");
    double bytes = count * (x->spec->bytes / x->a->chunks), off = op->bytes - bytes;
    if (off > 1e-9 * bytes || -off > 1e-9 * bytes)
        return cannot(x, "its parts are not of one size (a message of %g bytes has %u of %g)",
                      op->bytes, count, x->spec->bytes / x->a->chunks);
    SIM_GROW(x->piece, x->piece_capacity, x->pieces + count);
    struct piece *piece = x->piece + x->pieces;
    for (uint32_t i = 0; i < count; i++)
        piece[i] = (struct piece){home_of(x, send->rank, x->cells.cell[i]),
                                  home_of(x, send->peer, x->cells.cell[i]), 1};
    qsort(piece, count, sizeof *piece, compare_pieces);
    uint32_t kept = 1;
    for (uint32_t i = 1; i < count; i++) {
        if (is_next(&piece[kept - 1], &piece[i]))
            piece[kept - 1].count++;
        else
            piece[kept++] = piece[i];
    }
    send->piece_begin = x->pieces;
    send->piece_end = x->pieces += kept;
    return SIM_OK;
}

/* ---- channels ---- */

/* The end of what one channel between two ranks carries so far. */
struct chain {
    const struct node *send, *receive; /* NULL: nothing */
    uint32_t steps;
};

static bool can_follow(const struct exporter *x, const struct chain *chain, const struct node *send,
                       const struct node *receive)
{
    uint32_t steps = chain->steps + send->piece_end - send->piece_begin;
    if (chain->send == NULL) return true;
    return steps <= MSCCL_STEPS_MAX / 4 && /* the rest is for waits */
           has_bit(before_of(x, send), chain->send->op) &&
           has_bit(before_of(x, receive), chain->receive->op);
}

static enum sim_status choose_channel(struct exporter *x, struct chain *chains, struct node *send)
{
    struct node *receive = receive_of(x, send);
    SIM_TRY(cut_message(x, send));
    for (uint32_t c = 0; c < MSCCL_CHANNELS_MAX; c++) {
        struct chain *chain = &chains[send->peer * MSCCL_CHANNELS_MAX + c];
        if (!can_follow(x, chain, send, receive)) continue;
        chain->send = send;
        chain->receive = receive;
        chain->steps += send->piece_end - send->piece_begin;
        send->channel = receive->channel = c;
        send->message = receive->message = (uint32_t)(send - x->node);
        if (c >= x->a->channels) x->a->channels = c + 1;
        return SIM_OK;
    }
    return cannot(x, "it needs more than %d channels between two chips", MSCCL_CHANNELS_MAX);
}

static enum sim_status choose_channels(struct exporter *x, uint32_t rank)
{
    struct chain *chains = SIM_NEW(struct chain, (size_t)x->ranks * MSCCL_CHANNELS_MAX);
    enum sim_status status = SIM_OK;
    for (uint32_t i = x->node_begin[rank]; i < x->node_begin[rank + 1] && status == SIM_OK; i++)
        if (x->node[i].is_real && !x->node[i].is_receive)
            status = choose_channel(x, chains, &x->node[i]);
    sim_free(chains);
    return status;
}

/* ---- the draft ---- */

static int compare_nodes(const void *left, const void *right)
{
    const struct node *a = *(struct node *const *)left, *b = *(struct node *const *)right;
    if (a->is_receive != b->is_receive) return a->is_receive ? 1 : -1;
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    if (a->channel != b->channel) return a->channel < b->channel ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

static struct msccl_block *draft_block(struct exporter *x, uint32_t rank)
{
    struct msccl_gpu *gpu = &x->a->gpu[rank];
    struct msccl_block *block = msccl_add_block(x->a);
    *block = (struct msccl_block){.id = (int32_t)(x->a->block_count - 1 - gpu->block_begin),
                                  .send = -1,
                                  .receive = -1,
                                  .gpu = rank,
                                  .step_begin = x->a->step_count,
                                  .step_end = x->a->step_count};
    gpu->block_end = x->a->block_count;
    return block;
}

static void draft_step(struct exporter *x, enum msccl_type type, const struct piece *piece)
{
    const struct msccl_traits *traits = &msccl_traits[type];
    struct home here = traits->sends ? piece->src : piece->dst;
    struct msccl_step *step = msccl_add_step(x->a);
    step->type = type;
    step->src_buffer = type == MSCCL_COPY ? piece->src.buffer : here.buffer;
    step->dst_buffer = here.buffer;
    uint32_t src = type == MSCCL_COPY ? piece->src.offset : here.offset;
    step->src_offset = traits->reads_src ? (int32_t)src : -1;
    step->dst_offset = traits->writes_dst ? (int32_t)here.offset : -1;
    step->count = piece->count;
}

/* What a rank sends itself: a copy on the chip. */
static void draft_copy(struct exporter *x, uint32_t rank)
{
    draft_block(x, rank)->channel = -1;
    for (uint32_t at = 0; at < x->share; at += MSCCL_COUNT_MAX) {
        uint32_t left = x->share - at, offset = rank * x->share + at;
        struct piece piece = {{MSCCL_INPUT, offset}, {MSCCL_OUTPUT, offset}, MSCCL_COUNT_MAX};
        if (left < MSCCL_COUNT_MAX) piece.count = (int32_t)left;
        draft_step(x, MSCCL_COPY, &piece);
    }
}

/* Edges to the node's first step from all it waits for that its thread block does not say. */
static void add_edges(struct exporter *x, const struct node *node, const struct node *previous)
{
    const uint64_t *before = before_of(x, node);
    uint64_t *known = SIM_NEW(uint64_t, row_words(x, node->rank));
    if (previous != NULL) add_with_before(x, known, previous);
    for (uint32_t op = node->op; op-- > 0;) {
        const struct node *earlier = &x->node[x->node_begin[node->rank] + op];
        if (!has_bit(before, op) || has_bit(known, op)) continue;
        add_with_before(x, known, earlier);
        SIM_GROW(x->edge, x->edge_capacity, x->edges + 1);
        x->edge[x->edges++] = (struct msccl_edge){earlier->last_step, node->first_step};
    }
    sim_free(known);
}

static void draft_node(struct exporter *x, struct node *node)
{
    const struct node *send = &x->node[node->message];
    enum msccl_type type = !node->is_receive ? MSCCL_SEND
                           : node->is_reduce ? MSCCL_RECEIVE_REDUCE_COPY
                                             : MSCCL_RECEIVE;
    node->first_step = x->a->step_count;
    for (uint32_t i = send->piece_begin; i < send->piece_end; i++)
        draft_step(x, type, &x->piece[i]);
    node->last_step = x->a->step_count - 1;
}

static void draft_gpu(struct exporter *x, uint32_t rank)
{
    uint32_t count = 0, ops = x->node_begin[rank + 1] - x->node_begin[rank];
    struct node **sorted = SIM_NEW(struct node *, ops);
    for (uint32_t i = x->node_begin[rank]; i < x->node_begin[rank + 1]; i++)
        if (x->node[i].is_real) sorted[count++] = &x->node[i];
    if (count > 0) qsort(sorted, count, sizeof(struct node *), compare_nodes);
    x->a->gpu[rank].block_begin = x->a->gpu[rank].block_end = x->a->block_count;
    if (x->spec->op == COLL_ALL_TO_ALL) draft_copy(x, rank);
    struct node *last = NULL;
    for (uint32_t i = 0; i < count; last = sorted[i++]) {
        struct node *n = sorted[i];
        if (last == NULL || n->is_receive != last->is_receive || n->peer != last->peer ||
            n->channel != last->channel) {
            struct msccl_block *block = draft_block(x, rank);
            block->channel = (int32_t)n->channel;
            *(n->is_receive ? &block->receive : &block->send) = (int32_t)n->peer;
        }
        draft_node(x, n);
    }
    for (uint32_t i = 0; i < count; i++) {
        bool is_first = x->a->block[x->a->step[sorted[i]->first_step].block].step_begin ==
                        sorted[i]->first_step;
        add_edges(x, sorted[i], is_first ? NULL : sorted[i - 1]);
    }
    sim_free(sorted);
}

static bool add_race(void *context, uint32_t earlier, uint32_t later)
{
    struct exporter *x = context;
    SIM_GROW(x->edge, x->edge_capacity, x->edges + 1);
    x->edge[x->edges++] = (struct msccl_edge){earlier, later};
    return true;
}

static enum sim_status draft(struct exporter *x)
{
    for (uint32_t r = 0; r < x->ranks; r++)
        SIM_TRY(choose_channels(x, r));
    for (uint32_t r = 0; r < x->ranks; r++)
        draft_gpu(x, r);
    for (uint32_t r = 0; r < x->ranks; r++)
        if (x->a->gpu[r].block_end - x->a->gpu[r].block_begin > MSCCL_BLOCKS_MAX)
            return cannot(x, "a chip needs more than %d thread blocks", MSCCL_BLOCKS_MAX);
    SIM_TRY(msccl_match(x->a, x->err));
    struct msccl_order order = msccl_order_make(x->a, x->edge, x->edges);
    enum sim_status status = msccl_order_check(x->a, &order, x->err);
    if (status == SIM_OK) msccl_find_races(x->a, &order, x->a->in_place, add_race, x);
    msccl_order_release(&order);
    return status;
}

/* ---- set up and take down ---- */

static void init_algorithm(struct exporter *x, const char *name)
{
    coll_msccl *a = x->a = msccl_create("the algorithm written");
    snprintf(a->name, sizeof a->name, "%s", name);
    a->op = x->spec->op;
    a->gpus = x->ranks;
    a->channels = 1;
    a->in_place = a->op != COLL_ALL_TO_ALL;
    a->out_of_place = !a->in_place;
    a->chunks = a->op == COLL_ALL_TO_ALL ? x->cells.parts * x->ranks : x->cells.count;
    x->share = a->chunks / x->ranks;
    for (uint32_t r = 0; r < x->ranks; r++) {
        struct msccl_gpu *gpu = msccl_add_gpu(a, r);
        gpu->chunks[MSCCL_INPUT] = msccl_buffer_chunks(a, MSCCL_INPUT);
        gpu->chunks[MSCCL_OUTPUT] = msccl_buffer_chunks(a, MSCCL_OUTPUT);
        gpu->line = 1;
    }
}

static void init(struct exporter *x, const char *name)
{
    const struct topo_group *group = net_schedule_group(x->s);
    x->ranks = group->size;
    x->chip = SIM_NEW(topo_chip_id, x->ranks);
    x->rank_of_shard = SIM_NEW(uint32_t, x->ranks);
    x->node_begin = SIM_NEW(uint32_t, x->ranks + 1);
    x->before = SIM_NEW(uint64_t *, x->ranks);
    coll_cells_init(&x->cells, x->s, x->spec->op);
    for (uint32_t r = 0; r < x->ranks; r++) {
        x->chip[r] = topo_group_chip(net_schedule_topo(x->s), group, 0, r);
        bool is_listed = net_schedule_shards(x->s) > 0;
        x->rank_of_shard[is_listed ? r : coll_cells_position(&x->cells, x->chip[r])] = r;
    }
    if (x->spec->op == COLL_ALL_TO_ALL) {
        size_t slots = (size_t)x->ranks * x->cells.count;
        x->slot = SIM_NEW(uint32_t, slots);
        memset(x->slot, 0xFF, slots * sizeof *x->slot);
    }
    init_algorithm(x, name);
}

static void release(struct exporter *x)
{
    for (uint32_t r = 0; r < x->ranks; r++)
        sim_free(x->before[r]);
    sim_free(x->before);
    sim_free(x->chip);
    sim_free(x->rank_of_shard);
    sim_free(x->node_begin);
    sim_free(x->node);
    sim_free(x->piece);
    sim_free(x->slot);
    sim_free(x->edge);
    coll_cells_release(&x->cells);
    coll_msccl_destroy(x->a);
}

enum sim_status coll_msccl_export(const net_schedule *schedule, const struct coll_spec *spec,
                                  const char *name, struct sim_error *err, coll_msccl **out)
{
    struct exporter x = {.s = schedule, .spec = spec, .err = err};
    if (msccl_coll_name(spec->op) == NULL) return cannot(&x, "it has no name there");
    if (spec->group.size > COLL_MSCCL_EXPORT_MAX)
        return cannot(&x, "a group has %u chips, at most %d", spec->group.size,
                      COLL_MSCCL_EXPORT_MAX);
    if (topo_failed_chips(net_schedule_topo(schedule)) > 0) return cannot(&x, "chips have failed");
    init(&x, name);
    enum sim_status status = SIM_OK;
    if (x.a->chunks > MSCCL_CHUNKS_MAX)
        status = cannot(&x, "it has %u chunks, at most %d", x.a->chunks, MSCCL_CHUNKS_MAX);
    if (status == SIM_OK) status = read_nodes(&x);
    if (status == SIM_OK) status = draft(&x);
    if (status == SIM_OK) status = msccl_with_edges(x.a, x.edge, x.edges, spec->root, err, out);
    release(&x);
    return status;
}
