/** Words for the parts of a step that its text, its JSON and its trace share. */
#ifndef PODSIM_CLI_STEP_WORDS_H
#define PODSIM_CLI_STEP_WORDS_H

#include <stddef.h>

#include "workloads/step.h"

/** "all-gather", or "save" and "fetch" of host transfers. */
const char *step_op_text(const struct wl_class *class);
/** Where the efficiencies come from. */
const char *step_efficiency_text(const struct wl_study *study);
/** Which attention FLOPs MFU counts. */
const char *step_counted_text(const struct wl_study *study);
/** "full", or what a custom policy does: "keeps input, offloads qkv". Returns `buffer` or a
 * constant. */
const char *step_remat_text(const struct wl_remat *remat, char *buffer, size_t bytes);

#endif
