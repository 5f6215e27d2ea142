/* Fuzz target: the YAML reader. Every node has a place, and overrides of a document leave one that
 * can be walked. */
#include "base/yaml.h"
#include "tests/fuzz/fuzz.h"

static void check_node(const struct sim_yaml_node *node, int depth)
{
    FUZZ_CHECK(depth <= 64);
    FUZZ_CHECK(node->line >= 0 && node->column >= 0);
    FUZZ_CHECK((node->kind == SIM_YAML_SCALAR) == (node->text != NULL));
    FUZZ_CHECK(node->kind != SIM_YAML_SCALAR || node->child_count == 0);
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct sim_yaml_node *child = node->child[i];
        FUZZ_CHECK((child->key != NULL) == (node->kind == SIM_YAML_MAPPING));
        if (child->key != NULL) FUZZ_CHECK(sim_yaml_find(node, child->key) == child);
        check_node(child, depth + 1);
    }
}

static void check_override(const char *assignment)
{
    static const char base[] = "a: {b: 1, c: [1, 2]}\nd: x\n";
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    FUZZ_CHECK(sim_yaml_parse(base, sizeof base - 1, "base", &err, &doc) == SIM_OK);
    fuzz_check_error(sim_yaml_override(doc, assignment, &err), &err);
    check_node(sim_yaml_root(doc), 1);
    sim_yaml_destroy(doc);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char *text = fuzz_text(data, bytes);
    enum sim_status status = sim_yaml_parse(text, bytes, "fuzz", &err, &doc);
    fuzz_check_error(status, &err);
    if (status == SIM_OK) check_node(sim_yaml_root(doc), 1);
    sim_yaml_destroy(doc);
    check_override(text);
    sim_free(text);
    return 0;
}
