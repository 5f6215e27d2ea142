/*
 * podsim validate: published measurements beside podsim's numbers, with the error of each.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/validate.h"

static const struct cli_option options[] = {
    {"format", "FORMAT", "text, csv or json (default: text)"}, {NULL, NULL, NULL}};

static const struct cli_command command = {
    "validate", "published measurements beside podsim's numbers", "[ROW...] [OPTIONS]",
    "All rows, or those named: V7, or V16 for V16.2048 and its like. error is (podsim - published) "
    "/ "
    "published;\n"
    "low and high are the accepted range. Every row runs with the rates and overheads of its "
    "chip's preset\n"
    "(podsim presets); none has its own. Exit code 1: a row lies outside of its range; a note says "
    "why.",
    options};

struct request {
    enum cli_format format;
    bool is_any;
    bool *is_wanted; /* [rows] */
};

/* "V16" stands for "V16.2048", but not for "V160". */
static bool is_called(const struct validate_row *row, const char *name)
{
    size_t bytes = strlen(name);
    return strncmp(row->name, name, bytes) == 0 &&
           (row->name[bytes] == 0 || row->name[bytes] == '.');
}

static enum sim_status want(struct request *q, const char *name, struct sim_error *err)
{
    uint32_t count;
    int ignored;
    const struct validate_row *rows = validate_rows(&count);
    bool is_found = false;
    for (uint32_t i = 0; i < count; i++) {
        if (!is_called(&rows[i], name)) continue;
        q->is_wanted[i] = is_found = true;
    }
    q->is_any = true;
    if (is_found) return SIM_OK;
    const char **names = SIM_NEW(const char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        names[i] = rows[i].name;
    enum sim_status status = cli_choice("row", name, names, err, &ignored);
    sim_free(names);
    return status;
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct request *q = request;
    if (option == CLI_OPERAND) return want(q, value, err);
    return cli_format_parse(value, err, &q->format);
}

static enum sim_status print_wanted(const struct request *q, struct sim_error *err)
{
    uint32_t count, wanted = 0;
    const struct validate_row *rows = validate_rows(&count);
    const struct validate_row **list = SIM_NEW(const struct validate_row *, count);
    for (uint32_t i = 0; i < count; i++)
        if (!q->is_any || q->is_wanted[i]) list[wanted++] = &rows[i];
    enum sim_status status = validate_print(list, wanted, q->format, stdout, err);
    sim_free(list);
    return status;
}

enum sim_status cmd_validate(int argc, char **argv, struct sim_error *err)
{
    uint32_t count;
    bool is_help;
    validate_rows(&count);
    struct request q = {.is_wanted = SIM_NEW(bool, count)};
    enum sim_status status = cli_args_read(&command, argc, argv, take, &q, &is_help, err);
    if (status == SIM_OK && !is_help) status = print_wanted(&q, err);
    sim_free(q.is_wanted);
    return status;
}
