/*
 * "--set a.b.c=value": one value put into a document that is already loaded. The value is built in
 * the document's own arena; what it replaces stays there unused, and so do child arrays that had to
 * grow.
 */
#include "base/yaml_internal.h"

#include <assert.h>
#include <string.h>

static const char source[] = "--set";

static enum sim_status refuse(struct sim_error *err, const char *assignment, const char *why)
{
    char quoted[SIM_QUOTE_TEXT];

    return sim_error_at(err, SIM_EUSAGE, source, 0, 0, "%s %s, want KEY.KEY=VALUE",
                        sim_error_quote(assignment, quoted), why);
}

/* Make `node` a mapping without children at no place of a file. */
static void make_mapping(struct sim_yaml_node *node)
{
    *node = (struct sim_yaml_node){.kind = SIM_YAML_MAPPING, .file = source, .key = node->key};
}

/* The child of `mapping` with this key (borrowed), added without a value when there is none. */
static struct sim_yaml_node *child_of(sim_arena *arena, struct sim_yaml_node *mapping,
                                      const char *key)
{
    struct sim_yaml_node **child, *added;

    for (uint32_t i = 0; i < mapping->child_count; i++) {
        if (strcmp(mapping->child[i]->key, key) == 0) return mapping->child[i];
    }
    added = SIM_ARENA_NEW(arena, struct sim_yaml_node, 1);
    *added = (struct sim_yaml_node){.file = source, .key = key, .text = ""};
    child = SIM_ARENA_NEW(arena, struct sim_yaml_node *, (size_t)mapping->child_count + 1);
    if (mapping->child_count > 0) {
        memcpy(child, mapping->child, mapping->child_count * sizeof(struct sim_yaml_node *));
    }
    child[mapping->child_count++] = added;
    mapping->child = child;
    return added;
}

/* Why the path (`keys` parts, each closed by a zero byte) cannot be followed, or NULL: checked
 * before anything changes. */
static const char *path_problem(const struct sim_yaml_node *node, const char *part, uint32_t keys)
{
    for (uint32_t i = 0; i < keys; i++, part += strlen(part) + 1) {
        if (part[0] == '\0') return "has an empty key";
        if (node == NULL || sim_yaml_is_missing(node)) continue;
        if (node->kind != SIM_YAML_MAPPING) return "goes through a value that is no mapping";
        node = sim_yaml_find(node, part);
    }
    return NULL;
}

enum sim_status sim_yaml_override(sim_yaml *doc, const char *assignment, struct sim_error *err)
{
    const char *equals = strchr(assignment, '=');
    struct sim_yaml_node *node = doc->root, *value = NULL;
    struct sim_error local = {0};
    uint32_t keys = 1;
    const char *problem;
    char *part;

    if (equals == NULL) return refuse(err, assignment, "has no \"=\"");
    if (equals[1] == '\0') return refuse(err, assignment, "has no value");
    part = sim_arena_strdup(doc->arena, assignment);
    part[equals - assignment] = '\0';
    for (char *p = part; *p != '\0'; p++) {
        if (*p != '.') continue;
        *p = '\0';
        keys++;
    }
    if (keys >= SIM_YAML_DEPTH_MAX) return refuse(err, assignment, "is nested too deep");
    problem = path_problem(node, part, keys);
    if (problem != NULL) return refuse(err, assignment, problem);
    if (sim_yaml_build(doc->arena, equals + 1, strlen(equals + 1), source, false, keys, &local,
                       &value) != SIM_OK) {
        char quoted[SIM_QUOTE_TEXT];

        return sim_error_at(err, SIM_EUSAGE, source, 0, 0, "%s: %s",
                            sim_error_quote(assignment, quoted), local.text);
    }
    for (uint32_t i = 0; i < keys; i++, part += strlen(part) + 1) {
        if (node->kind != SIM_YAML_MAPPING) make_mapping(node);
        node = child_of(doc->arena, node, part);
    }
    value->key = node->key;
    *node = *value;
    return SIM_OK;
}
