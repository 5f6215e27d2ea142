/**
 * The topologies of a command line, with "v5p:*:512" spelled out: every slice of that many chips.
 */
#ifndef PODSIM_CLI_TOPO_SPECS_H
#define PODSIM_CLI_TOPO_SPECS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "topo/topo.h"

/** Zero-initialise; cli_topo_specs_release() frees it. */
struct cli_topo_specs {
    uint32_t count, capacity;
    char **spec;
    bool has_shapes; /* some came from a "*" */
};

/** Add one operand. Errors: SIM_EDATA (a "*" with an unknown chip, or a count it has no slice of).
 */
SIM_MUST_CHECK enum sim_status cli_topo_specs_add(struct cli_topo_specs *specs, const char *text,
                                                  struct sim_error *err);

/** Build each topology in turn and show it to `visit`; stops at the first error. */
typedef enum sim_status (*cli_topo_visit)(const topo *t, void *context, struct sim_error *err);
SIM_MUST_CHECK enum sim_status cli_topo_specs_each(const struct cli_topo_specs *specs,
                                                   const struct topo_options *options,
                                                   cli_topo_visit visit, void *context,
                                                   struct sim_error *err);
void cli_topo_specs_release(struct cli_topo_specs *specs);

#endif
