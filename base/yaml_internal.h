/**
 * What the YAML loader and the override share.
 */
#ifndef PODSIM_BASE_YAML_INTERNAL_H
#define PODSIM_BASE_YAML_INTERNAL_H

#include "base/arena.h"
#include "base/yaml.h"

#include <string.h>

#define SIM_YAML_DEPTH_MAX 64

struct sim_yaml {
    sim_arena *arena; /* nodes, keys and texts */
    struct sim_yaml_node *root;
};

/** The one document in `text` as nodes in `arena`. `file` is borrowed for as long as the nodes
 * live. With `has_places` false, nodes and messages carry no line or column. `depth` levels of
 * nesting are already used up. */
SIM_MUST_CHECK enum sim_status sim_yaml_build(sim_arena *arena, const char *text, size_t bytes,
                                              const char *file, bool has_places, uint32_t depth,
                                              struct sim_error *err, struct sim_yaml_node **out);

/** A value that was left out ("key:") or is YAML's null. */
static inline bool sim_yaml_is_missing(const struct sim_yaml_node *node)
{
    static const char *const null_text[] = {"", "~", "null", "Null", "NULL"};

    if (node->kind != SIM_YAML_SCALAR || node->is_quoted) return false;
    for (size_t i = 0; i < sizeof null_text / sizeof null_text[0]; i++) {
        if (strcmp(node->text, null_text[i]) == 0) return true;
    }
    return false;
}

#endif
