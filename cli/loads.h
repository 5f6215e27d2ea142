/** The list of --load: shares of the link rate. */
#ifndef PODSIM_CLI_LOADS_H
#define PODSIM_CLI_LOADS_H

#include "base/error.h"

#include <stdint.h>

/**
 * "0.1,0.5" and ranges FROM:TO:STEP ("0.05:1.0:0.05", both ends included); at most 10,000 values,
 * rounded to 1e-9. On success `*out` is owned by the caller (sim_free). Errors: SIM_EDATA.
 */
SIM_MUST_CHECK enum sim_status cli_loads_parse(const char *text, struct sim_error *err,
                                               double **out, uint32_t *count);

#endif
