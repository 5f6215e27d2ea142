/**
 * Command line options: one table per command feeds the parser and --help.
 */
#ifndef PODSIM_CLI_OPTIONS_H
#define PODSIM_CLI_OPTIONS_H

#include <stdbool.h>
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

#define CLI_OPERAND (-1)

/** Takes one option (a row of the table) or operand; `value` is its argument or the operand,
 * borrowed. */
typedef enum sim_status (*cli_take)(void *request, int option, const char *value,
                                    struct sim_error *err);

/**
 * Read all arguments: "--name VALUE" or "--name=VALUE", operands anywhere, only operands after
 * "--".
 *
 * @param is_help  out: --help was given and printed; the command has nothing left to do
 * Errors: SIM_EUSAGE (unknown option: the nearest is named; missing or unwanted argument), or what
 * `take` returns.
 */
SIM_MUST_CHECK enum sim_status cli_args_read(const struct cli_command *command, int argc,
                                             char **argv, cli_take take, void *request,
                                             bool *is_help, struct sim_error *err);

/** "on", "off". */
extern const char *const cli_on_off[];
/** `name` (an option or operand, for the message) must be one of NULL-terminated `choices`.
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
