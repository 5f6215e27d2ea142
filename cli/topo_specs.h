/**
 * The topologies of a command line, with "v5p:*:512" spelled out: every slice of that many chips.
 */
#ifndef PODSIM_CLI_TOPO_SPECS_H
#define PODSIM_CLI_TOPO_SPECS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

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
void cli_topo_specs_release(struct cli_topo_specs *specs);

#endif
