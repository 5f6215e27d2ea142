/**
 * Can messages wait for each other in a circle?
 *
 * The channel dependency graph has a node per (link, virtual channel) and an edge from each channel
 * to every channel that some route takes next. A routing is free of deadlock when this graph has no
 * cycle.
 *
 * Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
 * networks", IEEE Trans. Computers C-36(5), 1987.
 */
#ifndef PODSIM_TOPO_DEADLOCK_H
#define PODSIM_TOPO_DEADLOCK_H

#include "topo/topo.h"

struct topo_deadlock {
    bool is_free;
    uint32_t channels;     /* virtual channels that routes use: the highest + 1 */
    uint64_t dependencies; /* edges */
    uint32_t cycle_length; /* 0 when free */
    topo_link_id *link;    /* [cycle_length] each waits for the next, the last for the first */
    uint8_t *channel;      /* [cycle_length] */
};

/** Look at the routes of all pairs of working chips. Errors: SIM_EINTERNAL (igraph). */
SIM_MUST_CHECK enum sim_status topo_deadlock_check(const topo *t, struct sim_error *err,
                                                   struct topo_deadlock *out);
void topo_deadlock_release(struct topo_deadlock *d);

#endif
