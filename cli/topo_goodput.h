/**
 * podsim topo --availability: what failing hosts leave of a pod, as a table.
 */
#ifndef PODSIM_CLI_TOPO_GOODPUT_H
#define PODSIM_CLI_TOPO_GOODPUT_H

#include "cli/report.h"
#include "cli/topo_specs.h"
#include "topo/topo.h"

/** What was asked. Zero-initialise; cli_goodput_release() frees the lists. */
struct cli_goodput {
    uint32_t *slice_chips, slice_count, slice_capacity;
    double *host_availability;
    uint32_t host_count, host_capacity;
    uint64_t seed;
};

/** "1024chips,2048chips". Errors: SIM_EUSAGE, SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_goodput_slices(struct cli_goodput *g, const char *value,
                                                  struct sim_error *err);
/** "0.99,99.5%". Errors: SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_goodput_hosts(struct cli_goodput *g, const char *value,
                                                 struct sim_error *err);
void cli_goodput_release(struct cli_goodput *g);

/** Every pod with every slice size and host availability, in that order; prints to stdout when all
 * are legal. Errors: SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_goodput_print(const struct cli_goodput *g,
                                                 const struct cli_topo_specs *specs,
                                                 const struct topo_options *options,
                                                 enum cli_format format, struct sim_error *err);

#endif
