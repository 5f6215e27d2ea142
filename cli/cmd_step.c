/*
 * podsim step STUDY.yaml: one training step.
 */
#include "cli/commands.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/output.h"
#include "base/progress.h"
#include "base/time.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/step_report.h"
#include "cli/step_trace.h"
#include "netsim/mpi.h"

enum step_option {
    STEP_FORMAT,
    STEP_SET,
    STEP_ENGINE,
    STEP_TRAINS,
    STEP_TRACE,
    STEP_LINK_STATS,
    STEP_STATS
};

static const struct cli_option step_options[] = {
    [STEP_FORMAT] = {"format", "text|csv|json", "how to print the result; default text"},
    [STEP_SET] = {"set", "KEY=VALUE",
                  "replace a value of the study, e.g. training.batch=64; may be\nrepeated"},
    [STEP_ENGINE] = {"engine", "NAME",
                     "flow (default) or packet: simulate; bound: only what nothing\ncan beat"},
    [STEP_TRAINS] = {"trains", "on|off",
                     "packets of a message that meet nobody move as one event;\nthe result is the "
                     "same to the bit (default: the study's, on)"},
    [STEP_TRACE] = {"trace", "FILE",
                    "write the step of chip 0 as a Chrome trace (ui.perfetto.dev)"},
    [STEP_LINK_STATS] = {"link-stats", "FILE",
                         "write one CSV row a link: bytes, busy time, utilisation"},
    [STEP_STATS] = {"stats", "FILE", "write how the simulator itself did, as JSON"},
    {NULL, NULL, NULL},
};

static const struct cli_command step_command = {
    .name = "step",
    .summary = "time one training step: breakdown, MFU, memory",
    .usage = "STUDY.yaml [OPTIONS]",
    .details = "Prints the step's time and MFU, what of it is computing and what is waiting and "
               "for whom,\n"
               "memory by kind, the busiest links, and a bound that no schedule can beat.\n"
               "Exits 1 when the model does not fit the chips' memory.\n\n"
               "Example: podsim step examples/llama3-70b-v5p.yaml --set sharding.tensor=4 "
               "--set sharding.fsdp=128",
    .options = step_options,
};

static void (*const formats[])(FILE *, const struct wl_study *, const struct wl_step *) = {
    [CLI_TEXT] = step_report_text, [CLI_CSV] = step_report_csv, [CLI_JSON] = step_report_json};

struct options {
    const char *study, *trace, *link_stats, *stats;
    enum cli_format format;
    int engine, trains; /* -1: the study's; trains: 0 on, 1 off */
    const char **set;
    size_t set_count, set_capacity;
};

static void add_set(struct options *o, const char *assignment)
{
    SIM_GROW(o->set, o->set_capacity, o->set_count + 1);
    o->set[o->set_count++] = assignment;
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct options *o = request;
    switch (option) {
    case STEP_FORMAT:
        return cli_format_parse(value, err, &o->format);
    case STEP_SET:
        add_set(o, value);
        return SIM_OK;
    case STEP_ENGINE:
        return cli_choice("--engine", value, wl_engine_names, err, &o->engine);
    case STEP_TRAINS:
        return cli_choice("--trains", value, cli_on_off, err, &o->trains);
    case STEP_TRACE:
        o->trace = value;
        return SIM_OK;
    case STEP_LINK_STATS:
        o->link_stats = value;
        return SIM_OK;
    case STEP_STATS:
        o->stats = value;
        return SIM_OK;
    default: /* CLI_OPERAND */
        if (o->study != NULL)
            return sim_error_set(err, SIM_EUSAGE,
                                 "one study file at a time, found \"%s\" and \"%s\"", o->study,
                                 value);
        o->study = value;
        return SIM_OK;
    }
}

/* Output files are opened before the simulation, so that one that cannot be made costs no time. */
struct files {
    sim_output *trace, *link_stats, *stats;
};

static enum sim_status check_files(const struct options *o, const struct wl_study *study,
                                   struct sim_error *err)
{
    if (study->engine == WL_BOUND && (o->trace != NULL || o->link_stats != NULL))
        return sim_error_set(err, SIM_EUSAGE,
                             "--trace and --link-stats describe a run, the bound runs nothing");
    const char *output[] = {o->trace, o->link_stats, o->stats};
    return cli_check_outputs(o->study, output, 3, err);
}

static enum sim_status open_files(const struct options *o, struct sim_error *err, struct files *out)
{
    SIM_TRY(cli_output_open(o->trace, err, &out->trace));
    SIM_TRY(cli_output_open(o->link_stats, err, &out->link_stats));
    return cli_output_open(o->stats, err, &out->stats);
}

static enum sim_status write_files(struct files *files, const struct wl_study *study,
                                   const struct wl_step *step, struct cli_usage *usage,
                                   struct sim_error *err)
{
    if (files->link_stats != NULL && step->is_simulated)
        net_link_stats_write(&step->links, study->topology, (sim_ps)(step->step_s * 1e12 + 0.5),
                             sim_output_file(files->link_stats));
    cli_stats_write(&step->stats, usage,
                    files->stats != NULL ? sim_output_file(files->stats) : NULL);
    SIM_TRY(cli_output_commit(&files->trace, err));
    SIM_TRY(cli_output_commit(&files->link_stats, err));
    return cli_output_commit(&files->stats, err);
}

/* Do all ranks simulate a part of the pod each? */
static bool is_shared(const struct wl_study *study)
{
    return study->engine == WL_PACKET && net_mpi_ranks() > 1;
}

static enum sim_status simulate(const struct options *o, const struct wl_study *study,
                                struct files *files, struct sim_error *err)
{
    struct wl_step step;
    struct cli_usage usage = cli_usage_start();
    step_trace *trace = NULL;
    if (files->trace != NULL) trace = step_trace_create(sim_output_file(files->trace), study, 0);
    sim_progress *progress = sim_progress_create("step", 1, net_mpi_rank() != 0);
    enum sim_status status = wl_step_run(study, step_trace_observer(trace), progress, err, &step);
    sim_progress_destroy(progress);
    step_trace_destroy(trace);
    cli_usage_finish(&usage, is_shared(study));
    if (status != SIM_OK) {
        net_bytes_release(&usage.ranks);
        return status;
    }
    status = write_files(files, study, &step, &usage, err);
    if (status == SIM_OK) formats[o->format](stdout, study, &step);
    if (status == SIM_OK) status = sim_stdout_check(err);
    if (status == SIM_OK && !step.memory.fits) {
        char advice[400];
        status = sim_error_set(err, SIM_ENO, "%s",
                               wl_memory_advice(study, &step.memory, advice, sizeof advice));
    }
    wl_step_release(&step);
    return status;
}

static enum sim_status check_engine(const struct options *o, const struct wl_study *study,
                                    struct sim_error *err)
{
    if (o->trains < 0 || study->engine == WL_PACKET) return SIM_OK;
    return sim_error_set(err, SIM_EUSAGE, "--trains goes with --engine packet, found --engine %s",
                         wl_engine_names[study->engine]);
}

static enum sim_status run(const struct options *o, struct sim_error *err)
{
    struct wl_study study;
    struct files files = {0};
    if (strcmp(o->study, "-") == 0 && net_mpi_ranks() > 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "a study on standard input cannot be read by %u "
                             "ranks: give them a file",
                             net_mpi_ranks());
    SIM_TRY(
        net_mpi_agree(wl_study_load(o->study, o->set, (uint32_t)o->set_count, err, &study), err));
    if (o->engine >= 0) study.engine = (enum wl_engine)o->engine;
    if (o->trains >= 0) study.is_one_by_one = o->trains == 1;
    bool is_mine = net_mpi_rank() == 0 || is_shared(&study);
    enum sim_status status = check_engine(o, &study, err);
    if (status == SIM_OK) status = check_files(o, &study, err);
    if (status == SIM_OK) status = open_files(o, err, &files);
    status = net_mpi_agree(status, err);
    if (status == SIM_OK && is_mine) status = simulate(o, &study, &files, err);
    sim_output_discard(files.trace);
    sim_output_discard(files.link_stats);
    sim_output_discard(files.stats);
    wl_study_release(&study);
    return status;
}

enum sim_status cmd_step(int argc, char **argv, struct sim_error *err)
{
    struct options o = {.engine = -1, .trains = -1};
    bool is_help;
    enum sim_status status = cli_args_read(&step_command, argc, argv, take, &o, &is_help, err);
    if (status == SIM_OK && !is_help && o.study == NULL)
        status = sim_error_set(err, SIM_EUSAGE, "step needs a study file");
    if (status == SIM_OK && !is_help) status = run(&o, err);
    sim_free(o.set);
    return status;
}
