#include "base/time.h"

#include <time.h>

static double clock_s(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0) return 0.0;
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

double sim_wall_s(void)
{
    return clock_s(CLOCK_MONOTONIC);
}

double sim_cpu_s(void)
{
    return clock_s(CLOCK_PROCESS_CPUTIME_ID);
}
