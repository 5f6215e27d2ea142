/**
 * The subcommands of podsim. Each reads its own arguments (argv[0] is its name), prints results to
 * stdout, and returns a status; main turns it into a message and an exit code.
 */
#ifndef PODSIM_CLI_COMMANDS_H
#define PODSIM_CLI_COMMANDS_H

#include "base/error.h"

enum sim_status cmd_topo(int argc, char **argv, struct sim_error *err);
enum sim_status cmd_collective(int argc, char **argv, struct sim_error *err);
enum sim_status cmd_step(int argc, char **argv, struct sim_error *err);
enum sim_status cmd_traffic(int argc, char **argv, struct sim_error *err);
enum sim_status cmd_validate(int argc, char **argv, struct sim_error *err);
enum sim_status cmd_presets(int argc, char **argv, struct sim_error *err);

#endif
