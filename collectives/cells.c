/*
 * Boxes and lists of cells.
 */
#include "collectives/cells.h"

#include <string.h>

#include "base/arena.h"

static uint32_t listed_cells(struct coll_cells *c, topo_chip_id chip, const struct net_chunk *chunk)
{
    uint32_t place = net_place(c->s, chip), begin = chunk->begin[place];
    uint32_t count = chunk->begin[place + 1] - begin;
    assert(count <= c->count);
    if (count > 0) memcpy(c->cell, chunk->cell + begin, count * sizeof *c->cell);
    return count;
}

uint32_t coll_cells_of(struct coll_cells *c, topo_chip_id chip, const struct net_op *op)
{
    const struct net_chunk *chunk = net_schedule_chunk(c->s, op->chunk);
    if (chunk->begin != NULL) return listed_cells(c, chip, chunk);
    uint32_t low[NET_DIGITS_MAX], count[NET_DIGITS_MAX], total = 1;
    for (uint32_t i = 0; i < c->digits; i++) {
        int64_t extent = c->extent[i];
        bool is_all = chunk->digit[i] == NET_DIGIT_ALL;
        bool is_peer = chunk->digit[i] == NET_DIGIT_PEER;
        topo_chip_id whose = is_peer ? net_peer_of(c->s, chip, op->peer) : chip;
        int64_t from = net_space_digit(c->s, whose, i % c->axes);
        int64_t digit = is_all ? 0 : (from + (is_peer ? 0 : chunk->digit[i])) % extent;
        low[i] = (uint32_t)(digit < 0 ? digit + extent : digit);
        count[i] = is_all ? (uint32_t)extent : 1;
        total *= count[i];
    }
    uint32_t found = 0;
    for (uint32_t p = chunk->part_begin; p < chunk->part_begin + chunk->part_count; p++)
        for (uint32_t j = 0; j < total; j++) {
            uint32_t shard = 0, rest = j, stride = 1;
            for (uint32_t i = 0; i < c->digits; i++) {
                shard += (low[i] + rest % count[i]) * stride;
                rest /= count[i];
                stride *= c->extent[i];
            }
            c->cell[found++] = p * c->shards + shard;
        }
    return found;
}

uint32_t coll_cells_position(const struct coll_cells *c, topo_chip_id chip)
{
    uint32_t shard = 0, stride = 1;
    for (uint32_t i = 0; i < c->axes; i++) {
        shard += net_space_digit(c->s, chip, i) * stride;
        stride *= c->extent[i];
    }
    return shard;
}

static uint32_t count_parts(const net_schedule *s)
{
    uint32_t parts = 1;
    if (net_schedule_parts(s) > 0) return net_schedule_parts(s);
    for (uint32_t p = 0; p < net_schedule_programs(s); p++) {
        const struct net_program *program = net_schedule_program(s, p);
        for (net_op_id i = 0; i < program->op_count; i++) {
            if (program->op[i].chunk == NET_NONE) continue;
            const struct net_chunk *c = net_schedule_chunk(s, program->op[i].chunk);
            if (c->part_begin + c->part_count > parts) parts = c->part_begin + c->part_count;
        }
    }
    return parts;
}

/* Space and cells: of boxes as the group's factors give them, of lists as the schedule says. */
void coll_cells_init(struct coll_cells *c, const net_schedule *s, enum coll_op op)
{
    *c = (struct coll_cells){.s = s, .axes = net_schedule_space_axes(s), .shards = 1};
    c->digits = op == COLL_ALL_TO_ALL ? 2 * c->axes : c->axes;
    for (uint32_t i = 0; i < c->digits; i++) {
        c->extent[i] = net_schedule_space_extent(s, i % c->axes);
        c->shards *= c->extent[i];
    }
    if (net_schedule_shards(s) > 0) c->shards = net_schedule_shards(s);
    c->parts = count_parts(s);
    c->count = c->parts * c->shards;
    c->cell = SIM_NEW(uint32_t, c->count);
}

void coll_cells_release(struct coll_cells *c)
{
    sim_free(c->cell);
}
