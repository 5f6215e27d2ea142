/** A training step on one chip as a timeline. */
#ifndef PODSIM_CLI_STEP_TRACE_H
#define PODSIM_CLI_STEP_TRACE_H

#include <stdio.h>

#include "workloads/step.h"

typedef struct step_trace step_trace;

/**
 * A Chrome trace (ui.perfetto.dev) of one chip: its compute stream, its collectives and transfers.
 * Writes to `out` (borrowed) until it is destroyed.
 */
step_trace *step_trace_create(FILE *out, const struct wl_study *study, topo_chip_id chip);
/** Ends the document. Accepts NULL. */
void step_trace_destroy(step_trace *trace);
/** What wl_step_run() tells; valid as long as the trace. */
const struct wl_step_observer *step_trace_observer(const step_trace *trace);

#endif
