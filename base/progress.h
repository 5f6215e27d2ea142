/**
 * How far a long command is, on stderr.
 *
 * On a terminal a line at most four times a second, erased at the end. Anywhere, so that a batch
 * job's log has it, too, one line early in a command that will take over a minute: how long.
 */
#ifndef PODSIM_BASE_PROGRESS_H
#define PODSIM_BASE_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sim_progress sim_progress;

/** `what` one part is, and how many there are. NULL (and every call below a no-op) when `is_quiet`.
 */
sim_progress *sim_progress_create(const char *what, uint64_t parts, bool is_quiet);
/** So many parts are done. */
void sim_progress_update(sim_progress *progress, uint64_t done);
/** Is it time for sim_progress_share()? Looks at the clock: not for every event. */
bool sim_progress_is_due(const sim_progress *progress);
/** Of the part at hand about this share, 0 to 1, is done. Where it takes work to know it, only when
 * it is due. */
void sim_progress_share(sim_progress *progress, double share);
void sim_progress_destroy(sim_progress *progress);

#endif
