/**
 * Which chips are tied together: by a message, or by a link that both use.
 */
#ifndef PODSIM_NETSIM_TIES_H
#define PODSIM_NETSIM_TIES_H

#include "topo/topo.h"

struct net_ties {
    uint32_t *above;    /* [chips] union-find */
    topo_chip_id *user; /* [links] a chip that uses it, or TOPO_NONE; NULL at first */
    uint32_t sets;      /* of chips that work */
};

/** Every chip on its own. */
struct net_ties net_ties_none(const topo *t);
void net_ties_release(struct net_ties *t);
/** The chip that stands for those tied to `chip`. */
topo_chip_id net_ties_root(const struct net_ties *t, topo_chip_id chip);
/** From now on links tie too. */
void net_ties_watch_links(struct net_ties *ties, const topo *t);
void net_tie(struct net_ties *t, topo_chip_id chip, topo_chip_id other);
void net_tie_link(struct net_ties *t, topo_chip_id chip, topo_link_id link);

#endif
