/**
 * Which algorithm: by closed form for one size, and over all sizes.
 */
#ifndef PODSIM_COLLECTIVES_CHOICE_H
#define PODSIM_COLLECTIVES_CHOICE_H

#include "collectives/cost.h"

/** Largest group for which the direct algorithm is considered where there is another. */
#define COLL_DIRECT_CHOICE_MAX 512
/** Largest group for which Hamiltonian rings are considered: simulating them takes n^2 messages. */
#define COLL_HAMILTONIAN_CHOICE_MAX 1024

/** Would coll_choose() consider the spec's algorithm? */
bool coll_is_candidate(const topo *t, const struct coll_spec *spec);
/** About the flows that simulating this takes: all messages, each on as many ways as the first and
 * last chip have between them. 0 on tori and meshes, where flows are few and rows alike. */
double coll_flows(const topo *t, const struct coll_spec *spec);
/** The algorithm whose closed form is lowest for this spec (its `algorithm` is ignored). */
enum coll_algorithm coll_choose(const topo *t, const struct coll_spec *spec);
/** The same for many sizes. */
enum coll_algorithm coll_choose_from(coll_forms *forms, double bytes);

/** From this size on (to 1 %) coll_choose() says this algorithm. */
struct coll_switch {
    double from_bytes;
    enum coll_algorithm algorithm;
};
#define COLL_SWITCHES_MAX 12

/** The choices from 1 byte to 16 GiB, sizes rising (the spec's are ignored); how many. `among` as
 * of coll_forms_restrict(), and 0 for all candidates. */
uint32_t coll_switch_points(const topo *t, const struct coll_spec *spec, uint32_t among,
                            struct coll_switch out[COLL_SWITCHES_MAX]);

#endif
