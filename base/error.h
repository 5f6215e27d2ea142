/**
 * Status codes and the one error record of a run.
 *
 * Whoever first knows the cause of a failure writes the message; everyone above only passes the
 * status on. A message is one lower-case line that says what was found, what was wanted and where.
 */
#ifndef PODSIM_BASE_ERROR_H
#define PODSIM_BASE_ERROR_H

#include <stdarg.h>

/* X(name, meaning, exit code of <sysexits.h>) */
#define SIM_STATUS_MAP(X)                                                                          \
    X(OK, "success", 0)                                                                            \
    X(ENO, "it ran, and the answer is no", 1)                                                      \
    X(EUSAGE, "bad command line", 64)                                                              \
    X(EDATA, "bad input", 65)                                                                      \
    X(ENOINPUT, "cannot open input", 66)                                                           \
    X(ERESOURCE, "this machine has too little of something", 69)                                   \
    X(EINTERNAL, "internal error", 70)                                                             \
    X(ECREATE, "cannot create output", 73)                                                         \
    X(EIO, "input/output error", 74)

enum sim_status {
#define SIM_STATUS_ENUM(name, meaning, exit_code) SIM_##name,
    SIM_STATUS_MAP(SIM_STATUS_ENUM)
#undef SIM_STATUS_ENUM
};

#define SIM_MUST_CHECK __attribute__((warn_unused_result))

/* The argument numbers of the format and of the first value; 0 for a va_list. */
#define SIM_PRINTF(format_arg, first_arg) __attribute__((format(printf, format_arg, first_arg)))

/** One per run, on main's stack; zero-initialised. The first message wins: a later one does not
 * overwrite it. Functions that take one accept NULL from a caller who only wants the status. */
struct sim_error {
    char file[256];   /* "" when not about a file */
    int line, column; /* 1-based; 0 = whole file, whole line */
    char text[512];
};

/** Return early with the status of `call` unless it is SIM_OK. */
#define SIM_TRY(call)                                                                              \
    do {                                                                                           \
        enum sim_status sim_try_status_ = (call);                                                  \
        if (sim_try_status_ != SIM_OK) return sim_try_status_;                                     \
    } while (0)

/** Write a message that is not about a place in a file. Returns `status`. */
enum sim_status sim_error_set(struct sim_error *err, enum sim_status status, const char *format,
                              ...) SIM_PRINTF(3, 4);

/** Write a message about a place; line and column may be 0. Returns `status`. */
enum sim_status sim_error_at(struct sim_error *err, enum sim_status status, const char *file,
                             int line, int column, const char *format, ...) SIM_PRINTF(6, 7);

/** Give a message written without a place this one, if it has none yet. Returns `status`. */
enum sim_status sim_error_locate(struct sim_error *err, enum sim_status status, const char *file,
                                 int line, int column);

/** "file:line:column: text", as main prints it. Returns `buffer`. */
const char *sim_error_format(const struct sim_error *err, char *buffer, int buffer_bytes);

/* Room for what sim_error_quote() writes, with the closing zero. */
#define SIM_QUOTE_TEXT 128

/** `text` in double quotes for a message: printable, on one line, cut with "..." when long. Returns
 * `buffer`. */
const char *sim_error_quote(const char *text, char *buffer);

/** What main exits with. */
int sim_status_exit_code(enum sim_status status);

#endif
