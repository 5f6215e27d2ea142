/**
 * What a pod of cubes with given faults still has room for.
 *
 * A block of chips is good when all of them work and so do the cables between any two of them.
 * With optical switches (OCS) any n good 4x4x4 cubes make a slice of n cubes. Without, a slice is a
 * block of its shape, in whichever orientation gives the most at the moment, whose corner lies at
 * multiples of its sides. A slice below a cube is such a block of one cube either way: the chips of
 * two half-broken cubes make no whole one.
 */
#ifndef PODSIM_TOPO_FIT_H
#define PODSIM_TOPO_FIT_H

#include "topo/chip.h"
#include "topo/topo.h"

struct topo_fit {
    uint32_t good_cubes;
    uint32_t with_ocs, without_ocs; /* slices at once */
};

/** Slices of `shape`, legal for the pod's chip, in a pod whose sides are multiples of 4. */
struct topo_fit topo_fit_of(const topo *pod, const struct topo_shape *shape);

#endif
