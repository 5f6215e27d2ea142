/**
 * Cutting a topology into parts of equal work with few links between them.
 *
 * Tori and meshes are bisected by coordinates: across the longest side, in proportion to the parts
 * on either hand, and each half again. Other graphs are cut by METIS, with weights by link rate.
 */
#ifndef PODSIM_NETSIM_PARTITION_H
#define PODSIM_NETSIM_PARTITION_H

#include "topo/topo.h"

struct net_partition {
    uint32_t parts;
    uint32_t *part;                    /* [nodes] */
    uint32_t cut_links;                /* from one part to another */
    uint32_t most_nodes, fewest_nodes; /* of a part */
};

/** `parts` > 0; with more parts than nodes some are empty. The same on every machine with the same
 * METIS. Release with net_partition_release(). */
void net_partition_make(const topo *t, uint32_t parts, struct net_partition *out);
/** A part for every MPI rank, the same on all of them; every rank must call it. */
void net_partition_make_ranks(const topo *t, struct net_partition *out);
void net_partition_release(struct net_partition *p);

#endif
