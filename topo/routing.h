/**
 * Choosing a routing by name.
 *
 *     dimension-order[,tie=split|positive|negative]   tori and meshes: x first, the default
 *     balanced        all minimal routes evenly: on tori all shortest vectors, elsewhere ECMP
 *     fault-tolerant  tori and meshes: one free hop beside dimension order; the default with faults
 *     adaptive        healthy tori and meshes, packet by packet: any minimal way, by what has room;
 *                     topo_route() is dimension order, the way of the escape channels
 *     ecmp            graphs and fabrics: evenly over all shortest paths; the default there
 *     up-down         anything: up* down* over a breadth-first tree, deadlock-free on one channel
 *     valiant[,seed=N] anything: over random intermediate chips, each leg by the default routing
 *     FILE            a line a pair, "src dst: chip chip ..."; other pairs keep the default
 */
#ifndef PODSIM_TOPO_ROUTING_H
#define PODSIM_TOPO_ROUTING_H

#include "topo/topo.h"

/** Give a topology just built (faults applied) the routing `text` names. Errors: SIM_EDATA,
 * SIM_ENOINPUT (file). */
SIM_MUST_CHECK enum sim_status topo_routing_choose(topo *t, const char *text,
                                                   struct sim_error *err);

/** The routing's name and the virtual channels it asks for. */
const char *topo_routing_name(const topo *t);
uint32_t topo_routing_channels(const topo *t);
/** Is it a healthy grid's own routing, through the axes in order, however ties are broken? */
bool topo_routing_is_own(const topo *t);
/** Do packets choose their ways under way? Then the last of its virtual channels is for all ways,
 * those before it are the escape channels. */
bool topo_routing_is_adaptive(const topo *t);

#endif
