/**
 * What happens next: timers, grouped by the instant they fall on.
 *
 * A heap of distinct instants and a list of timers on each: a symmetrical run has millions of
 * timers but hundreds of instants. Cancelling takes a timer off its list and an emptied instant off
 * the heap, so nothing stale is left behind.
 */
#ifndef PODSIM_NETSIM_CALENDAR_H
#define PODSIM_NETSIM_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#include "base/time.h"

typedef struct net_calendar net_calendar;
typedef uint32_t net_timer_id;

net_calendar *net_calendar_create(void);
void net_calendar_destroy(net_calendar *cal);

/** Timers of one instant come out in the order they were added. */
net_timer_id net_calendar_add(net_calendar *cal, sim_ps at, uint32_t kind, uint32_t payload);
void net_calendar_cancel(net_calendar *cal, net_timer_id timer);
/** The earliest instant; false when there is none. */
bool net_calendar_next(const net_calendar *cal, sim_ps *at);
/** Take one timer that falls on `at`, the earliest instant; false when none is left there. */
bool net_calendar_take(net_calendar *cal, sim_ps at, uint32_t *kind, uint32_t *payload);

#endif
