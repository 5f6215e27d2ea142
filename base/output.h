/**
 * Output files that are whole or absent: written under a temporary name beside the target, renamed
 * at the end.
 */
#ifndef PODSIM_BASE_OUTPUT_H
#define PODSIM_BASE_OUTPUT_H

#include <stdio.h>

#include "base/error.h"

typedef struct sim_output sim_output;

/** "-" is stdout. A target that exists and is no regular file (a device, a pipe) is written
 * directly. Errors: SIM_ECREATE. */
SIM_MUST_CHECK enum sim_status sim_output_open(const char *path, struct sim_error *err,
                                               sim_output **out);
FILE *sim_output_file(sim_output *output);
/** Flush, check, rename; destroys `output` either way. Errors: SIM_EIO. */
SIM_MUST_CHECK enum sim_status sim_output_commit(sim_output *output, struct sim_error *err);
/** Remove what was written. Accepts NULL. */
void sim_output_discard(sim_output *output);
/** Flush stdout and say whether everything written to it arrived (a full disk, a closed pipe). */
SIM_MUST_CHECK enum sim_status sim_stdout_check(struct sim_error *err);

#endif
