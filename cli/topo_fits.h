/**
 * podsim topo --availability --fail ...: the slices for which a pod still has room.
 */
#ifndef PODSIM_CLI_TOPO_FITS_H
#define PODSIM_CLI_TOPO_FITS_H

#include "cli/topo_goodput.h"

/** A row for every shape of every slice size, for each pod. Errors: SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_fits_print(const struct cli_goodput *g,
                                              const struct cli_topo_specs *specs,
                                              const struct topo_options *options,
                                              enum cli_format format, struct sim_error *err);

#endif
