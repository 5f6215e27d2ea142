/**
 * Simulated time: whole picoseconds, so that times are exact and compare equal. INT64_MAX is 106
 * days.
 */
#ifndef PODSIM_BASE_TIME_H
#define PODSIM_BASE_TIME_H

#include <assert.h>
#include <stdint.h>

typedef int64_t sim_ps;
__extension__ typedef unsigned __int128 sim_u128; /* bytes * 1e12 passes 64 bits at 18 MB */

#define SIM_PS_PER_S  INT64_C(1000000000000)
#define SIM_PS_PER_US INT64_C(1000000)
#define SIM_PS_PER_NS INT64_C(1000)
#define SIM_PS_MAX    INT64_MAX

static inline double sim_ps_to_s(sim_ps ps)
{
    return (double)ps / 1e12;
}
static inline double sim_ps_to_us(sim_ps ps)
{
    return (double)ps / 1e6;
}

/** Seconds of the wall clock and of this process's CPU; for statistics about podsim itself, never
 * for a result. */
double sim_wall_s(void);
double sim_cpu_s(void);

#endif
