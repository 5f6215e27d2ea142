/**
 * The arithmetic of tori: which hops lead from one chip to another.
 *
 * A torus is a grid of sizes k_a whose axes may close. Closing axis a may be twisted: the step from
 * coordinate k_a - 1 back to 0 also moves the other coordinates by twist[a][b]. Hops h and h' lead
 * to the same chip when h - h' is a sum of the closing vectors
 *
 *     L_a = (0 .. k_a .. 0) - twist[a]        k_a steps along a come back, moved by the twist
 *
 * so minimal hops are the shortest vectors d + sum c_a L_a for the coordinate difference d. On a
 * plain torus each axis decides alone; with a twist all combinations with |c_a| <= 2 are tried,
 * enough because no k_a steps along a closed axis are ever shorter than the way back.
 *
 * Source: Camarero, Martinez & Beivide, "Lattice graphs for high-scale interconnection topologies",
 * IEEE TPDS 26(9), 2015.
 */
#ifndef PODSIM_TOPO_LATTICE_H
#define PODSIM_TOPO_LATTICE_H

#include <stdbool.h>
#include <stdint.h>

#define TOPO_AXES_MAX 4
/** More minimal vectors than any pair has on the shapes that can be built: 2 per axis on a plain
 * torus, up to 24 on a twisted one of 4 axes. */
#define TOPO_VECTORS_MAX 32

struct topo_lattice {
    uint32_t axes, size[TOPO_AXES_MAX];
    bool is_wrapped[TOPO_AXES_MAX];
    uint32_t twist[TOPO_AXES_MAX]
                  [TOPO_AXES_MAX]; /* [a][b]: added to b where a closes; 0 on [a][a] */
};

bool topo_lattice_is_twisted(const struct topo_lattice *lattice);

/** Minimal hops for a coordinate difference: how many vectors (>= 1), the most positive first. */
uint32_t topo_lattice_minimal(const struct topo_lattice *lattice,
                              const int32_t difference[TOPO_AXES_MAX],
                              int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX]);

/** Links of the shortest path between two chips (ids with axis 0 fastest). */
uint32_t topo_lattice_distance(const struct topo_lattice *lattice, uint32_t src, uint32_t dst);

/** Coordinates after one step through a port (2 a: +, 2 a + 1: -); false at a mesh's edge. */
bool topo_lattice_step(const struct topo_lattice *lattice, uint32_t coord[TOPO_AXES_MAX],
                       uint32_t port);

#endif
