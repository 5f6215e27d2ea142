/**
 * Optical circuit switches: a pod of 4x4x4 cubes whose faces meet in 48 switches.
 *
 * Every cube has 16 links on each of its six faces. The + and - face links of dimension d at one
 * position p of the face (p = u + 4 v, the other two coordinates in rising order) end at one switch
 * (d, p), for all cubes of the pod: 3 x 16 = 48 switches. Switch (d, p) holds a permutation: the
 * + side of cube c is connected to the - side of cube target(d, p, c).
 *
 *      cube A  +x >--\   switch (x,5)   /--> -x  cube B        target(x, 5, A) = B
 *      cube B  +x >---\________________/---> -x  cube A        target(x, 5, B) = A
 *
 * A slice is any set of free cubes, each given a place in a grid of cubes; configuring it sets the
 * switches so that + leads to the next place, around the grid, moved by the twist where an axis
 * closes. The torus and its twist follow from the permutations alone.
 *
 * Source: Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning",
 * ISCA 2023, section 2.
 */
#ifndef PODSIM_TOPO_OCS_H
#define PODSIM_TOPO_OCS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

#define TOPO_CUBE_SIDE      4
#define TOPO_CUBE_CHIPS     64
#define TOPO_FACE_POSITIONS 16
#define TOPO_NO_CUBE        UINT32_MAX

typedef struct topo_ocs topo_ocs;

/** A pod of `cubes` cubes, all free, no circuit set. */
topo_ocs *topo_ocs_create(uint32_t cubes);
void topo_ocs_destroy(topo_ocs *ocs);
uint32_t topo_ocs_cubes(const topo_ocs *ocs);
bool topo_ocs_is_free(const topo_ocs *ocs, uint32_t cube);
/** The cube whose - side the + side of `cube` leads to, or TOPO_NO_CUBE. */
uint32_t topo_ocs_target(const topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t cube);
/** The cube whose + side leads to the - side of `cube`, or TOPO_NO_CUBE. */
uint32_t topo_ocs_source(const topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t cube);

/** A slice in cubes: place (x, y, z) of the grid is cube[x + gx (y + gy z)]. */
struct topo_slice {
    uint32_t grid[3];
    uint32_t twist[3][3]; /* [a][b]: cubes that b moves where a closes */
    const uint32_t *cube; /* [grid[0] * grid[1] * grid[2]] */
};

/**
 * Set the circuits of a slice. Every switch stays a permutation: no side is connected twice.
 * Errors: SIM_EDATA (a cube beyond the pod, used twice, or not free).
 */
SIM_MUST_CHECK enum sim_status topo_ocs_configure(topo_ocs *ocs, const struct topo_slice *slice,
                                                  struct sim_error *err);
/** Whole-object check: targets and sources mirror each other. */
bool topo_ocs_is_valid(const topo_ocs *ocs);

#endif
