/**
 * The log: lower-case lines on stderr. The level is a global of the program.
 */
#ifndef PODSIM_BASE_LOG_H
#define PODSIM_BASE_LOG_H

#include "base/error.h"

enum sim_log_level { SIM_LOG_ERROR, SIM_LOG_WARN, SIM_LOG_INFO, SIM_LOG_DEBUG, SIM_LOG_TRACE };

/** Default: SIM_LOG_WARN. */
void sim_log_set_level(enum sim_log_level level);
enum sim_log_level sim_log_level_get(void);
/** "error", "warn", "info", "debug", "trace"; SIM_EUSAGE otherwise. */
SIM_MUST_CHECK enum sim_status sim_log_level_parse(const char *text, struct sim_error *err,
                                                   enum sim_log_level *out);
/** Print "podsim: warn: ..." when `level` is enabled. */
void sim_log(enum sim_log_level level, const char *format, ...) SIM_PRINTF(2, 3);

#endif
