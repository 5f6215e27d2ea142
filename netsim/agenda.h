/**
 * What is due on each chip, in order of time and, within an instant, of content.
 */
#ifndef PODSIM_NETSIM_AGENDA_H
#define PODSIM_NETSIM_AGENDA_H

#include "netsim/packet.h"

typedef struct net_agenda net_agenda;

struct net_due {
    net_ticks when;
    uint32_t timer, activity; /* the client's */
    uint32_t frame, op;       /* with `timer`: no two of one chip and instant are alike */
};

/** Order of two frames that are not the same. */
typedef int (*net_compare_frames)(const void *context, uint32_t left, uint32_t right);

net_agenda *net_agenda_create(uint32_t chips, net_compare_frames compare, const void *context);
void net_agenda_destroy(net_agenda *a);
void net_agenda_add(net_agenda *a, uint32_t chip, struct net_due due);
/** When the first is due; NET_TICKS_NEVER: nothing is. */
net_ticks net_agenda_next(const net_agenda *a, uint32_t chip);
/** Take the first, if it is due by `now`. */
bool net_agenda_take(net_agenda *a, uint32_t chip, net_ticks now, struct net_due *due);

#endif
