/**
 * Where a pod is cut: what ranks tell each other after each window of the packet engine.
 *
 * A link that is cut has its rings twice. Those behind the sender's output are *far* rings: the
 * sender fills them as any others. After a window each rank tells its neighbours, those it has a
 * cut link with, which slots it filled and which it freed, and the other side does the same to its
 * rings: an arrival lies at least one window ahead, and so does a credit.
 *
 *     rank 0                        |                   rank 1
 *     output --> far ring           |  filled slots -->           ring --> queue
 *                     ^--           |  <-- free from
 *
 * Clients have mail for each other too. It goes from neighbour to neighbour, a step a window: no
 * slower than a packet sent in the same window.
 */
#ifndef PODSIM_NETSIM_PACKET_BORDER_H
#define PODSIM_NETSIM_PACKET_BORDER_H

#include "netsim/packet_internal.h"

/** The border of `e->part`; no links yet. */
struct net_border *net_border_create(const net_packet_engine *e);
void net_border_destroy(struct net_border *b);

/** One cut link; to be called in the same order on both sides. `ring`: the first of its rings, far
 * ones on the sender's side. */
void net_border_add_link(net_packet_engine *e, topo_link_id link, uint32_t ring);
/** Has the node a cut link? */
bool net_border_has_node(const struct net_border *b, uint32_t node);
/** Letters for one rank: `count` bytes, copied. */
void net_border_mail(net_packet_engine *e, uint32_t rank, const void *bytes, size_t count);
bool net_border_has_mail(const struct net_border *b);

/** Tell the neighbours what the border's nodes did in this window. */
void net_border_send(net_packet_engine *e);
/** Do to this side's rings what they told. */
void net_border_receive(net_packet_engine *e);

#endif
