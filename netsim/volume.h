/**
 * How much a run has to do, known before it starts: to tell how long it will take, not to the last
 * message.
 */
#ifndef PODSIM_NETSIM_VOLUME_H
#define PODSIM_NETSIM_VOLUME_H

#include "netsim/schedule.h"

/** Of all chips. */
struct net_volume {
    double messages;
    double packet_hops; /* links that packets pass */
};

/** Of a schedule and all it calls, in packets of so many bytes. Of many chips some are asked,
 * evenly spread, and stand for all: it takes milliseconds. */
struct net_volume net_volume_of(const net_schedule *root, double packet_bytes);

#endif
