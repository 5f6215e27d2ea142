/**
 * A progress line on stderr, only when that is a terminal, at most four times a second, erased at
 * the end.
 */
#ifndef PODSIM_BASE_PROGRESS_H
#define PODSIM_BASE_PROGRESS_H

#include <stdint.h>

typedef struct sim_progress sim_progress;

/** NULL (and every call below a no-op) when stderr is no terminal or `is_quiet`. */
sim_progress *sim_progress_create(const char *what, uint64_t total, int is_quiet);
void sim_progress_update(sim_progress *progress, uint64_t done);
void sim_progress_destroy(sim_progress *progress);

#endif
