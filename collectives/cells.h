/**
 * Which cells of the buffer a message carries: the reading of struct net_chunk.
 *
 * The buffer is parts x shards cells; cell part * shards + shard. Shards are positions in the
 * schedule's space, or pairs of them (source + positions * destination) for all-to-all.
 */
#ifndef PODSIM_COLLECTIVES_CELLS_H
#define PODSIM_COLLECTIVES_CELLS_H

#include "collectives/coll.h"

struct coll_cells {
    const net_schedule *s;
    uint32_t axes, digits, extent[NET_DIGITS_MAX];
    uint32_t parts, shards, count; /* count = parts * shards */
    uint32_t *cell;                /* [count] what coll_cells_of() found */
};

void coll_cells_init(struct coll_cells *c, const net_schedule *s, enum coll_op op);
void coll_cells_release(struct coll_cells *c);
/** Cells that a message of `chip` carries, into c->cell; returns how many. */
uint32_t coll_cells_of(struct coll_cells *c, topo_chip_id chip, const struct net_op *op);
/** The shard a chip owns where chunks are boxes: its position in the space. Where they are lists it
 * is the chip's number among the members. */
uint32_t coll_cells_position(const struct coll_cells *c, topo_chip_id chip);

#endif
