/**
 * Link totals of a packet run, brought together from all ranks.
 */
#ifndef PODSIM_NETSIM_PACKET_LINKS_H
#define PODSIM_NETSIM_PACKET_LINKS_H

#include "netsim/link_stats.h"
#include "netsim/packet.h"

/**
 * Since the run began, or since net_packet_restart_links(), up to `now` (as net_packet_watch()).
 *
 * @param is_shared the pod is cut over the MPI ranks, which all call it and all get the whole
 * @param out written; what only packets tell if it has room for that and the router is watched
 */
void net_packet_links(const net_packet_engine *e, net_ticks now, bool is_shared,
                      struct net_link_stats *out);

#endif
