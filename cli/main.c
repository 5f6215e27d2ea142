/*
 * podsim: dispatch to a subcommand, print its error, exit with its code.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/output.h"
#include "base/yaml.h"
#include "cli/commands.h"
#include "cli/version.h"
#include "netsim/mpi.h"

/* A parallel command runs on every rank and agrees on its status; the others run on rank 0 while
 * the rest wait. */
static const struct {
    const char *name, *summary;
    enum sim_status (*run)(int argc, char **argv, struct sim_error *err);
    bool is_parallel;
} commands[] = {
    {"topo", "describe a pod: shape, links, distances, bisection", cmd_topo, false},
    {"collective", "time collectives: sizes x algorithms on a pod", cmd_collective, true},
    {"step", "time one training step: breakdown, MFU, memory", cmd_step, true},
    {"traffic", "open-loop traffic packet by packet: latency over load", cmd_traffic, true},
    {"validate", "published measurements beside podsim's numbers", cmd_validate, false},
    {"presets", "list the chips, pods and models built in", cmd_presets, false},
};
#define COMMANDS (sizeof commands / sizeof commands[0])

static void print_help(FILE *out)
{
    fputs("podsim - how long does this collective, or this training step, take on this pod, and "
          "what limits it?\n\n"
          "Usage: podsim COMMAND [ARGUMENTS]\n\nCommands:\n",
          out);
    for (size_t i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-12s %s\n", commands[i].name, commands[i].summary);
    fputs("\npodsim COMMAND --help says more; podsim --version prints the version.\n\n"
          "Examples:\n"
          "  podsim step examples/llama3-70b-v5p.yaml\n"
          "  podsim collective --topo v5p:8x8x8 --op all-reduce --bytes 1MiB,1GiB --algorithm all\n"
          "  podsim topo v5p:8x8x16\n\n"
          "Exit codes: 0 done, 1 it ran and the answer is no, 64 bad command line, 65 bad input, "
          "66 input cannot be\n"
          "read, 69 this machine is too small, 70 internal error, 73 output cannot be created, 74 "
          "input/output error.\n",
          out);
}

static enum sim_status run(int argc, char **argv, struct sim_error *err)
{
    if (argc < 2)
        return sim_error_set(err, SIM_EUSAGE, "no command given; podsim --help lists them");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        print_help(stdout);
        return SIM_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        puts("podsim " PODSIM_VERSION);
        return SIM_OK;
    }
    const char *names[COMMANDS + 1] = {NULL};
    for (size_t i = 0; i < COMMANDS; i++) {
        names[i] = commands[i].name;
        if (strcmp(argv[1], names[i]) != 0) continue;
        bool is_mine = commands[i].is_parallel || net_mpi_rank() == 0;
        return is_mine ? commands[i].run(argc - 1, argv + 1, err) : SIM_OK;
    }
    const char *near = sim_nearest_name(argv[1], names);
    if (near != NULL)
        return sim_error_set(err, SIM_EUSAGE, "unknown command \"%s\", did you mean \"%s\"?",
                             argv[1], near);
    return sim_error_set(err, SIM_EUSAGE, "unknown command \"%s\"; podsim --help lists them",
                         argv[1]);
}

int main(int argc, char **argv)
{
    struct sim_error err = {0};
    net_mpi_init(&argc, &argv);
    bool is_first = net_mpi_rank() == 0;
    if (!is_first && freopen("/dev/null", "w", stdout) == NULL)
        return sim_status_exit_code(SIM_EIO);
    if (!is_first) sim_log_set_level(SIM_LOG_ERROR); /* warnings once */
    enum sim_status status = net_mpi_agree(run(argc, argv, &err), &err);
    if (status == SIM_OK) status = net_mpi_agree(is_first ? sim_stdout_check(&err) : SIM_OK, &err);
    if (status != SIM_OK && is_first && err.text[0] != 0) {
        char line[1024];
        fprintf(stderr, "podsim: %s\n", sim_error_format(&err, line, sizeof line));
    }
    net_mpi_finalize();
    return sim_status_exit_code(status);
}
