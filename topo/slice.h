/**
 * Slices of cubes: which cubes of the pod a slice is made of, and spare cubes taken into it.
 *
 * A repair gives the place of a broken cube to a spare one: the switches let go of the circuits of
 * the one and make the same for the other, and the slice is the torus it was.
 *
 *      before  A --x-- B --x-- C      spare D        after  A --x-- D --x-- C      B is out
 *
 * Every switch serves each cube, so all 48 turn for one cube: at most two circuits of each.
 */
#ifndef PODSIM_TOPO_SLICE_H
#define PODSIM_TOPO_SLICE_H

#include <stddef.h>

#include "topo/ocs.h"
#include "topo/topo.h"

/** A spare cube at a place of the grid of cubes. */
struct topo_swap {
    uint32_t at[3];
    uint32_t broken, spare; /* cubes of the pod */
};

/** What a repair did to the optical switches. */
struct topo_repair {
    uint32_t count;
    struct topo_swap *swap; /* [count], places rising */
    uint32_t switches;      /* whose permutation changed */
    uint32_t circuits_cut, circuits_set;
};

/** The place (x, y, z) of the grid is taken by cube[x + gx (y + gy z)] of the pod. */
struct topo_cubes {
    uint32_t grid[3];
    uint32_t *cube; /* [grid[0] * grid[1] * grid[2]] */
    bool *is_spare; /* [topo_ocs_cubes(ocs)] may still take a broken one's place */
    topo_ocs *ocs;  /* as the slice's circuits are set */
    struct topo_repair repair;
};

/** NULL unless the topology is one slice of whole cubes. */
const struct topo_cubes *topo_cubes_of(const topo *t);
uint32_t topo_cubes_places(const struct topo_cubes *cubes);
uint32_t topo_cubes_spares(const struct topo_cubes *cubes);
/** The cubes in the order of their places, as a spec says them, "0+3-5+9"; past `bytes` "...". */
const char *topo_cubes_format(const struct topo_cubes *cubes, char *buffer, size_t bytes);

#endif
