/** What the search for Hamiltonian cycles is made of: cables, 2-factors, and joining their cycles.
 */
#ifndef PODSIM_TOPO_HAMILTON_INTERNAL_H
#define PODSIM_TOPO_HAMILTON_INTERNAL_H

#include "topo/topo.h"

/** The cables of a topology as an undirected multigraph over its chips. */
struct topo_cables {
    uint32_t chips, ports;
    uint32_t count;
    uint32_t *at;        /* [chips * ports] cable behind a port; TOPO_NONE */
    topo_chip_id *end;   /* [2 * count] the chip at the + port, the chip at the - port */
    uint8_t *axis;       /* [count] */
    bool *is_dead;       /* [count] */
    uint32_t dead_count; /* of cables */
};

/** The end that is not `chip`. */
static inline topo_chip_id topo_cable_other(const struct topo_cables *c, uint32_t cable,
                                            topo_chip_id chip)
{
    return c->end[2 * cable] == chip ? c->end[2 * cable + 1] : c->end[2 * cable];
}

/**
 * Choose cables so that every chip that has any colour has exactly `degree` (bipartite: augmenting
 * paths).
 *
 * @param colour  [chips] 0, 1, or 2: no part of it; a cable counts where it joins 0 and 1
 * @param from    [count] cables to choose among @param chosen [count] out
 * @return false when it cannot be
 */
bool topo_factor_choose(const struct topo_cables *c, const uint8_t *colour, const bool *from,
                        uint32_t degree, bool *chosen);

/**
 * Join the cycles of 2-factors into one cycle each, by switching squares.
 *
 * @param classes  2-factors; cables of class `classes` are in none of them and free to take
 * @param class_of [count] in and out
 * @return cycles in all classes together at the end: `classes` when all are Hamiltonian
 */
uint32_t topo_factors_join(const struct topo_cables *c, uint32_t classes, uint8_t *class_of);

#endif
