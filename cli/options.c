/*
 * Option parsing over getopt's rules for long options, but with our messages: getopt_long()
 * abbreviates silently and cannot name the nearest option. Options and operands may be mixed; "--"
 * ends options.
 */
#include "cli/options.h"

#include <string.h>

#include "base/yaml.h"

#define NAMES_MAX 64

static const char *const format_names[] = {"text", "csv", "json", NULL};

/* Where a command is in its arguments. */
struct args {
    const struct cli_command *command;
    int argc;
    char **argv;
    int next; /* argument to look at next */
    bool is_past_options;
};

static enum sim_status unknown_option(const struct cli_command *command, const char *text,
                                      struct sim_error *err)
{
    const char *names[NAMES_MAX];
    int count = 0;
    for (const struct cli_option *o = command->options; o->name != NULL && count < NAMES_MAX - 1;
         o++)
        names[count++] = o->name;
    names[count] = NULL;
    const char *near = sim_nearest_name(text, names);
    if (near != NULL)
        return sim_error_set(err, SIM_EUSAGE, "unknown option --%s, did you mean --%s?", text,
                             near);
    return sim_error_set(err, SIM_EUSAGE, "unknown option --%s; podsim %s --help lists them", text,
                         command->name);
}

static int find_option(const struct cli_command *command, const char *text, size_t bytes)
{
    for (int i = 0; command->options[i].name != NULL; i++)
        if (strlen(command->options[i].name) == bytes &&
            strncmp(command->options[i].name, text, bytes) == 0)
            return i;
    return -1;
}

/* `text` is an option without its dashes. */
static enum sim_status read_option(struct args *args, const char *text, struct sim_error *err,
                                   int *option, const char **value)
{
    const char *equals = strchr(text, '=');
    size_t bytes = equals != NULL ? (size_t)(equals - text) : strlen(text);
    int found = find_option(args->command, text, bytes);
    if (found < 0) {
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(bytes < 63 ? bytes : 63), text);
        return unknown_option(args->command, name, err);
    }
    const struct cli_option *o = &args->command->options[found];
    if (o->argument == NULL && equals != NULL)
        return sim_error_set(err, SIM_EUSAGE, "option --%s takes no value", o->name);
    if (o->argument != NULL && equals == NULL && args->next == args->argc)
        return sim_error_set(err, SIM_EUSAGE, "option --%s needs a value: --%s %s", o->name,
                             o->name, o->argument);
    *option = found;
    *value = NULL;
    if (o->argument != NULL) *value = equals != NULL ? equals + 1 : args->argv[args->next++];
    return SIM_OK;
}

static enum sim_status read_argument(struct args *args, struct sim_error *err, int *option,
                                     const char **value)
{
    const char *text = args->argv[args->next++];
    *option = CLI_OPERAND;
    *value = text;
    if (args->is_past_options || text[0] != '-' || text[1] == 0) return SIM_OK;
    if (strncmp(text, "--", 2) == 0) return read_option(args, text + 2, err, option, value);
    return sim_error_set(err, SIM_EUSAGE, "unknown option %s; podsim %s --help lists them", text,
                         args->command->name);
}

enum sim_status cli_args_read(const struct cli_command *command, int argc, char **argv,
                              cli_take take, void *request, bool *is_help, struct sim_error *err)
{
    struct args args = {.command = command, .argc = argc, .argv = argv, .next = 1};
    *is_help = false;
    while (args.next < argc) {
        const char *text = argv[args.next];
        bool is_option = !args.is_past_options;
        if (is_option && strncmp(text, "--help=", 7) == 0)
            return sim_error_set(err, SIM_EUSAGE, "option --help takes no value");
        if (is_option && (strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0)) {
            cli_help_print(command, stdout);
            *is_help = true;
            return SIM_OK;
        }
        if (is_option && strcmp(text, "--") == 0) {
            args.is_past_options = true;
            args.next++;
            continue;
        }
        int option;
        const char *value;
        SIM_TRY(read_argument(&args, err, &option, &value));
        SIM_TRY(take(request, option, value, err));
    }
    return SIM_OK;
}

const char *const cli_on_off[] = {"on", "off", NULL};

enum sim_status cli_choice(const char *name, const char *value, const char *const *choices,
                           struct sim_error *err, int *out)
{
    char list[384] = "";
    size_t at = 0;
    for (int i = 0; choices[i] != NULL; i++) {
        if (strcmp(value, choices[i]) == 0) {
            *out = i;
            return SIM_OK;
        }
        if (at < sizeof list)
            at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i > 0 ? ", " : "",
                                   choices[i]);
    }
    const char *near = sim_nearest_name(value, choices);
    if (near != NULL)
        return sim_error_set(err, SIM_EUSAGE, "%s: unknown \"%s\", did you mean \"%s\"? (%s)", name,
                             value, near, list);
    return sim_error_set(err, SIM_EUSAGE, "%s: unknown \"%s\", want one of %s", name, value, list);
}

enum sim_status cli_format_parse(const char *value, struct sim_error *err, enum cli_format *out)
{
    int choice = 0;
    SIM_TRY(cli_choice("--format", value, format_names, err, &choice));
    *out = (enum cli_format)choice;
    return SIM_OK;
}

enum sim_status cli_option_error(const char *name, enum sim_status status, struct sim_error *err)
{
    if (status == SIM_OK) return status;
    char text[sizeof err->text];
    snprintf(text, sizeof text, "--%s: %.480s", name, err->text);
    memcpy(err->text, text, sizeof text);
    return status;
}

void cli_help_print(const struct cli_command *command, FILE *out)
{
    fprintf(out, "podsim %s - %s\n\nUsage: podsim %s %s\n\nOptions:\n", command->name,
            command->summary, command->name, command->usage);
    for (const struct cli_option *o = command->options; o->name != NULL; o++) {
        char left[64];
        snprintf(left, sizeof left, "--%s%s%s", o->name, o->argument != NULL ? " " : "",
                 o->argument != NULL ? o->argument : "");
        fprintf(out, "  %-28s ", left);
        for (const char *c = o->help; *c != 0; c++) {
            fputc(*c, out);
            if (*c == '\n') fprintf(out, "  %-28s ", "");
        }
        fputc('\n', out);
    }
    fprintf(out, "  %-28s print this and exit\n", "--help");
    if (command->details != NULL) fprintf(out, "\n%s\n", command->details);
}
