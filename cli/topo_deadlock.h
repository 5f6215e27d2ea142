/** The answer to `podsim topo SPEC... --check-deadlock`. */
#ifndef PODSIM_CLI_TOPO_DEADLOCK_H
#define PODSIM_CLI_TOPO_DEADLOCK_H

#include "cli/options.h"
#include "cli/topo_specs.h"
#include "topo/topo.h"

/** A row per topology, and the cycle where there is one. Errors: SIM_ENO when a routing can
 * deadlock; those of building a topology. */
SIM_MUST_CHECK enum sim_status cli_deadlock_print(const struct cli_topo_specs *specs,
                                                  const struct topo_options *options,
                                                  enum cli_format format, struct sim_error *err);

#endif
