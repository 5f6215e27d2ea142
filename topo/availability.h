/**
 * What failing hosts leave of a pod: the goodput of slices of one size, with and without optical
 * switches.
 *
 * Hosts are up independently, each with probability a. A 4x4x4 cube of 16 hosts is good when all of
 * them are up, p = a^16, since a slice is made of whole cubes. Slices of n cubes are then made from
 * the good cubes of a pod of m:
 *
 *     with optical switches    any n good cubes are a slice: floor(good / n) slices
 *     without                  a slice is a block of the pod's grid of cubes; its corner lies at
 *                              multiples of its sides, and every cube of it is good
 *
 * Goodput is the expected share of the pod's chips that are in usable slices:
 *
 *     E[slices] n / m
 *
 * It counts neither the time to detect and repair nor work lost with a slice. Without switches the
 * pod is cut into blocks of one shape and orientation, whichever gives the most slices at the
 * moment; mixing shapes in one pod is not considered.
 *
 *     16 cubes, slices of 4:    A A B B    A A A A     X is down: two 2x2 blocks are left (B, C),
 *                               A X B B    B X B B     and two rows (A, D); the other 14 cubes
 *                               C C X D    C C X C     make floor(14 / 4) = 3 slices through
 *                               C C D D    D D D D     switches
 *
 * Slices of part of a cube have no use for switches: each cube is cut into parts of h hosts, and
 * the goodput is a^h both ways.
 *
 * Source: Jouppi et al., "TPU v4: An Optically Reconfigurable Supercomputer for Machine Learning",
 * ISCA 2023, figure 4 and its text; the paper states results (50 % for slices of 2,048 chips and
 * 75 % for 3,072 of 4,096), the model above is what reproduces them.
 */
#ifndef PODSIM_TOPO_AVAILABILITY_H
#define PODSIM_TOPO_AVAILABILITY_H

#include "topo/topo.h"

#define TOPO_AVAILABILITY_SAMPLES 100000

struct topo_availability_query {
    uint32_t grid[3];         /* the pod, in cubes */
    uint32_t cube_hosts;      /* hosts of a cube */
    uint32_t slice_hosts;     /* a multiple of cube_hosts, or divides it */
    double host_availability; /* a, in (0, 1] */
    uint64_t seed;            /* for what has no formula */
    uint32_t samples;         /* >= 2 */
};

struct topo_goodput {
    double value;
    double low, high; /* 95 % interval of an estimate; both are `value` when it is exact */
    bool is_exact;
};

struct topo_availability {
    double cube;         /* p: the probability that a cube is good */
    double at_least_one; /* the probability of one usable slice or more, with optical switches */
    double all_up;       /* goodput when every host is up: what does not divide is lost */
    double with_ocs;     /* goodput, exact */
    struct topo_goodput without_ocs;
};

/**
 * The query for slices of `slice_chips` in a pod, availability 1, seed 1 and the usual samples.
 * Errors: SIM_EDATA (the pod is not made of cubes; no slice of that many chips).
 */
SIM_MUST_CHECK enum sim_status topo_availability_query_of(const topo *pod, uint32_t slice_chips,
                                                          struct sim_error *err,
                                                          struct topo_availability_query *out);

/**
 * Exact with switches (binomial), and without where one block shape fits; else Monte Carlo, the
 * same for the same seed on every machine. One seed gives every availability the same draws, so
 * estimates rise with it.
 */
struct topo_availability topo_availability_of(const struct topo_availability_query *q);

#endif
