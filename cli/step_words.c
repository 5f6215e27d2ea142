#include "cli/step_words.h"

#include <stdio.h>
#include <string.h>

const char *step_op_text(const struct wl_class *class)
{
    if (class->axis != WL_AXIS_HOST) return coll_op_names[class->op];
    return class->op == COLL_ALL_GATHER ? "fetch" : "save";
}

const char *step_efficiency_text(const struct wl_study *study)
{
    if (study->has_own_efficiencies) return "set in the study";
    const char *source = study->chip.efficiency_source;
    return source != NULL ? source : "not fitted";
}

const char *step_counted_text(const struct wl_study *study)
{
    return study->attention_count == WL_COUNT_CAUSAL ? "causal attention" : "full attention";
}

const char *step_remat_text(const struct wl_remat *remat, char *buffer, size_t bytes)
{
    static const struct {
        enum wl_saving how;
        const char *verb;
    } parts[] = {{WL_KEEP, "keeps "}, {WL_OFFLOAD, "offloads "}};
    if (strcmp(remat->name, "custom") != 0) return remat->name;
    size_t at = 0;
    buffer[0] = 0;
    for (int p = 0; p < 2; p++) {
        const char *before = parts[p].verb; /* "keeps " before the first only */
        for (int i = 0; i < WL_TENSORS && at < bytes; i++) {
            if (remat->tensor[i] != parts[p].how) continue;
            at += (size_t)snprintf(buffer + at, bytes - at, "%s%s%s", at > 0 ? ", " : "", before,
                                   wl_tensor_names[i]);
            before = "";
        }
    }
    return buffer;
}
