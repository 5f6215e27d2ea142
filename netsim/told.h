/**
 * What an observer is told, kept until the end of a run and then passed on in time order.
 */
#ifndef PODSIM_NETSIM_TOLD_H
#define PODSIM_NETSIM_TOLD_H

#include "netsim/run.h"

typedef struct net_told net_told;

/** `observer` is copied, `root` borrowed. */
net_told *net_told_create(const struct net_observer *observer, const net_schedule *root);
void net_told_destroy(net_told *t);
/** Keeps what it is told; valid as long as `t`. */
struct net_observer net_told_observer(net_told *t);
/** Every rank keeps what all ranks were told. */
void net_told_share(net_told *t);
/** Messages by end, then source, destination, start and bytes; operations by end, then chip, as
 * the chip did them. */
void net_told_pass_on(net_told *t);

#endif
