/**
 * Command line options: one table per command feeds the parser and --help.
 */
#ifndef PODSIM_CLI_OPTIONS_H
#define PODSIM_CLI_OPTIONS_H

#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/time.h"

struct cli_option {
    const char *name;     /* long name; NULL ends the table */
    const char *argument; /* placeholder in --help; NULL: takes none */
    const char *help;
};

/** A command as --help shows it. */
struct cli_command {
    const char *name, *summary;
    const char *usage;                /* after "podsim NAME" */
    const char *details;              /* paragraphs after the options; may be NULL */
    const struct cli_option *options; /* [up to the NULL name] */
};

enum { CLI_END = -1, CLI_OPERAND = -2, CLI_HELP = -3 };

/** Where a command is in its arguments. */
struct cli_args {
    const struct cli_command *command;
    int argc;
    char **argv;
    int next;            /* argument to look at next */
    int is_past_options; /* after "--" */
};

void cli_args_init(struct cli_args *args, const struct cli_command *command, int argc, char **argv);

/**
 * The next option or operand.
 *
 * @param option  out: row of the table, CLI_OPERAND (value is it), CLI_END, or CLI_HELP (help was
 * printed: stop)
 * @param value   out: the option's argument ("--name VALUE" or "--name=VALUE") or the operand;
 * borrowed Errors: SIM_EUSAGE (unknown option: the nearest is named; missing or unwanted argument).
 */
SIM_MUST_CHECK enum sim_status cli_args_next(struct cli_args *args, struct sim_error *err,
                                             int *option, const char **value);

/** `name` (an option without dashes, for the message) must be one of NULL-terminated `choices`.
 * Errors: SIM_EUSAGE. */
SIM_MUST_CHECK enum sim_status cli_choice(const char *name, const char *value,
                                          const char *const *choices, struct sim_error *err,
                                          int *out);

enum cli_format { CLI_TEXT, CLI_CSV, CLI_JSON };
SIM_MUST_CHECK enum sim_status cli_format_parse(const char *value, struct sim_error *err,
                                                enum cli_format *out);

/** Prefix a quantity's message with the option it came from. Returns `status`. */
enum sim_status cli_option_error(const char *name, enum sim_status status, struct sim_error *err);

void cli_help_print(const struct cli_command *command, FILE *out);

#endif
