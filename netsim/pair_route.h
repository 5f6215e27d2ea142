/**
 * A route for one packet of a pair: on tori in dimension order by arithmetic, else from the
 * topology's routing, remembered. Of several equal ways a packet takes one at random.
 */
#ifndef PODSIM_NETSIM_PAIR_ROUTE_H
#define PODSIM_NETSIM_PAIR_ROUTE_H

#include "base/rng.h"
#include "netsim/packet.h"

typedef struct net_pair_routes net_pair_routes;

/** Both are borrowed. */
net_pair_routes *net_pair_routes_create(net_packet_engine *e, const topo *t);
void net_pair_routes_destroy(net_pair_routes *r);
/** Number for struct net_packet. */
uint32_t net_pair_route(net_pair_routes *r, topo_chip_id from, topo_chip_id to,
                        struct sim_rng *rng);

#endif
