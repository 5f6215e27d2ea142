/**
 * What `podsim step` prints, in its three formats.
 */
#ifndef PODSIM_CLI_STEP_REPORT_H
#define PODSIM_CLI_STEP_REPORT_H

#include <stdio.h>

#include "workloads/step.h"

void step_report_text(FILE *out, const struct wl_study *study, const struct wl_step *step);
void step_report_csv(FILE *out, const struct wl_study *study, const struct wl_step *step);
void step_report_json(FILE *out, const struct wl_study *study, const struct wl_step *step);

#endif
