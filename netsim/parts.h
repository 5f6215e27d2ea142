/**
 * Parts of a run: chips tied together by messages or by links they share. What happens in one part
 * does not show in another.
 */
#ifndef PODSIM_NETSIM_PARTS_H
#define PODSIM_NETSIM_PARTS_H

#include "netsim/symmetry.h"

struct net_parts {
    uint64_t count; /* parts in which somebody sends */
    uint64_t run;   /* of these, as many as were run; the others have their classes */
};

struct net_parts net_parts_count(const net_schedule *root, const struct net_symmetry *s);

#endif
