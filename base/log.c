#include "base/log.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const char *const level_name[] = {"error", "warn", "info", "debug", "trace"};

static enum sim_log_level log_level = SIM_LOG_WARN;

void sim_log_set_level(enum sim_log_level level)
{
    assert(level <= SIM_LOG_TRACE);
    log_level = level;
}

enum sim_log_level sim_log_level_get(void)
{
    return log_level;
}

enum sim_status sim_log_level_parse(const char *text, struct sim_error *err,
                                    enum sim_log_level *out)
{
    char quoted[SIM_QUOTE_TEXT];

    for (int i = SIM_LOG_ERROR; i <= SIM_LOG_TRACE; i++) {
        if (strcmp(text, level_name[i]) == 0) {
            *out = (enum sim_log_level)i;
            return SIM_OK;
        }
    }
    return sim_error_set(err, SIM_EUSAGE,
                         "%s is not a log level, want error, warn, info, debug or trace",
                         sim_error_quote(text, quoted));
}

void sim_log(enum sim_log_level level, const char *format, ...)
{
    char line[1024]; /* one write per line, so that lines of several processes do not mix */
    va_list args;

    assert(level <= SIM_LOG_TRACE);
    if (level > log_level) return;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    fprintf(stderr, "podsim: %s: %s\n", level_name[level], line);
}
