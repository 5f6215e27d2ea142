/**
 * Edge-disjoint Hamiltonian cycles: closed walks past every working chip that share no cable.
 *
 *     0 - 1 - 2 - 3      on a torus of 4x4 the 32 cables make two cycles of 16; rings
 *     |           |      of both then keep every link of every chip at work
 *     7 - 6 - 5 - 4
 */
#ifndef PODSIM_TOPO_HAMILTON_H
#define PODSIM_TOPO_HAMILTON_H

#include "topo/topo.h"

struct topo_cycles {
    uint32_t count;     /* of cycles; 0: none was found */
    uint32_t length;    /* of each: the working chips */
    topo_chip_id *chip; /* [count * length] cycle by cycle; the last is cabled to the first */
};

/**
 * As many as were found, at most one per two working ports of a chip; borrowed, found when first
 * asked for, the same on every machine. Needs ports.
 *
 * Healthy tori, twisted or not, have one per axis longer than 1 (one less where an axis of 2 meets
 * odd ones, and on 2x2x2). None found is no proof that there is none, except where no cable joins
 * chips of one chess board colour and the colours have unequal numbers.
 */
const struct topo_cycles *topo_hamilton_cycles(const topo *t);

/** Does every cycle pass every working chip once over working cables, and no cable serve twice? */
bool topo_cycles_valid(const topo *t, const struct topo_cycles *cycles);

#endif
