/*
 * The model table and its reader.
 *
 * Dimensions are those of the models' published configurations as AI-Hypercomputer/maxtext has them
 * (configs/models), of Korthikanti et al., arXiv 2205.05198, table 3 ("k22-..."), and of Narayanan
 * et al., arXiv 2104.04473, table 1
 * ("n21-..."). The last two papers use a vocabulary of 51,200 and tie the head to the embedding.
 */
#include "workloads/model.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define LLAMA(text, l, d, f, n, v)                                                                 \
    {                                                                                              \
        .name = text, .layers = l, .width = d, .mlp_width = f, .heads = n, .kv_heads = 8,          \
        .head_size = 128, .vocab = v, .is_gated = true                                             \
    }
/* h = heads * head size, MLP 4h, learned positions for 2,048 tokens. */
#define GPT(text, l, n, size, v)                                                                   \
    {                                                                                              \
        .name = text, .layers = l, .width = (n) * (size), .mlp_width = 4 * (n) * (size),           \
        .heads = n, .kv_heads = n, .head_size = size, .vocab = v, .positions = 2048,               \
        .is_tied = true, .has_layer_norm = true, .has_bias = true                                  \
    }

static const struct wl_model presets[] = {
    LLAMA("llama2-70b", 80, 8192, 28672, 64, 32000),
    LLAMA("llama3.1-8b", 32, 4096, 14336, 32, 128256),
    LLAMA("llama3.1-70b", 80, 8192, 28672, 64, 128256),
    LLAMA("llama3.1-405b", 126, 16384, 53248, 128, 128256),
    LLAMA("mistral-7b", 32, 4096, 14336, 32, 32000),
    GPT("gpt3-175b", 96, 96, 128, 50304),
    GPT("k22-22b", 48, 64, 96, 51200),
    GPT("k22-175b", 96, 96, 128, 51200),
    GPT("k22-530b", 105, 128, 160, 51200),
    GPT("k22-1t", 128, 160, 160, 51200),
    GPT("n21-1.7b", 24, 24, 96, 51200),
    GPT("n21-3.6b", 30, 32, 96, 51200),
    GPT("n21-7.5b", 36, 32, 128, 51200),
    GPT("n21-18.4b", 40, 48, 128, 51200),
    GPT("n21-76.1b", 60, 80, 128, 51200),
    GPT("n21-145.6b", 80, 96, 128, 51200),
};
#define PRESETS (sizeof presets / sizeof presets[0])

/* Known models whose layers are of another kind, and what kind. */
static const struct {
    const char *prefix, *kind;
} not_there[] = {
    {"mixtral", "mixture of experts"},     {"deepseek", "mixture of experts with latent attention"},
    {"qwen3-235b", "mixture of experts"},  {"qwen3-30b", "mixture of experts"},
    {"gpt-oss", "mixture of experts"},     {"llama4", "mixture of experts"},
    {"gemma", "sliding-window attention"},
};

const struct wl_model *wl_model_presets(uint32_t *count)
{
    *count = PRESETS;
    return presets;
}

const struct wl_model *wl_model_find(const char *name)
{
    for (size_t i = 0; i < PRESETS; i++)
        if (strcmp(presets[i].name, name) == 0) return &presets[i];
    return NULL;
}

struct wl_params wl_model_params(const struct wl_model *m)
{
    uint64_t query = m->heads * m->head_size, kv = m->kv_heads * m->head_size;
    uint64_t norm = m->width * (m->has_layer_norm ? 2 : 1);
    struct wl_params p = {
        .attention = 2 * m->width * query + 2 * m->width * kv,
        .mlp = (wl_model_mlp_inputs(m) + 1) * m->width * m->mlp_width,
        .norms = 2 * norm,
        .embedding = m->vocab * m->width,
        .positions = m->positions * m->width,
        .final_norm = norm,
        .head = m->is_tied ? 0 : m->vocab * m->width,
    };
    if (m->has_bias) {
        p.attention += query + 2 * kv + m->width;
        p.mlp += wl_model_mlp_inputs(m) * m->mlp_width + m->width;
    }
    p.layer = p.attention + p.mlp + p.norms;
    p.total = m->layers * p.layer + p.embedding + p.positions + p.final_norm + p.head;
    return p;
}

/* ---- reading ---- */

static const char *const mlp_names[] = {"plain", "gated", NULL};
static const char *const embedding_names[] = {"untied", "tied", NULL};
static const char *const norm_names[] = {"rms", "layernorm", NULL};

struct model_fields {
    uint64_t layers, width, mlp_width, heads, kv_heads, head_size, vocab, positions;
    const char *name;
    int mlp, embedding, norm;
    bool has_bias;
};

/* Dimensions are bounded so that no product of them passes 64 bits. */
#define DIMENSION(k, member, required)                                                             \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_COUNT, .offset = offsetof(struct model_fields, member),        \
        .is_required = required, .min = 1, .max = 10000000                                         \
    }
#define CHOICE(k, member, names)                                                                   \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_CHOICE, .offset = offsetof(struct model_fields, member),       \
        .choices = names                                                                           \
    }

static const struct sim_field model_table[] = {
    {.key = "name", .kind = SIM_FIELD_TEXT, .offset = offsetof(struct model_fields, name)},
    {.key = "layers",
     .kind = SIM_FIELD_COUNT,
     .offset = offsetof(struct model_fields, layers),
     .is_required = true,
     .min = 1,
     .max = 10000},
    DIMENSION("width", width, true),
    DIMENSION("mlp_width", mlp_width, true),
    DIMENSION("heads", heads, true),
    DIMENSION("kv_heads", kv_heads, false),
    DIMENSION("head_size", head_size, false),
    DIMENSION("vocab", vocab, true),
    {.key = "positions",
     .kind = SIM_FIELD_COUNT,
     .offset = offsetof(struct model_fields, positions),
     .max = 100000000},
    CHOICE("mlp", mlp, mlp_names),
    CHOICE("embedding", embedding, embedding_names),
    CHOICE("norm", norm, norm_names),
    {.key = "bias", .kind = SIM_FIELD_BOOL, .offset = offsetof(struct model_fields, has_bias)},
    {.key = NULL},
};

static enum sim_status read_mapping(const struct sim_yaml_node *node, struct sim_error *err,
                                    struct wl_model *out)
{
    struct model_fields f = {.name = "custom", .mlp = 1};
    SIM_TRY(sim_yaml_read(node, model_table, err, &f));
    if (f.kv_heads == 0) f.kv_heads = f.heads;
    if (f.head_size == 0) {
        if (f.width % f.heads != 0)
            return sim_yaml_error(node, err, SIM_EDATA,
                                  "width %llu is not a multiple of heads %llu: give head_size",
                                  (unsigned long long)f.width, (unsigned long long)f.heads);
        f.head_size = f.width / f.heads;
    }
    if (f.heads % f.kv_heads != 0)
        return sim_yaml_error(node, err, SIM_EDATA, "heads %llu is not a multiple of kv_heads %llu",
                              (unsigned long long)f.heads, (unsigned long long)f.kv_heads);
    struct wl_model m = {.layers = f.layers,
                         .width = f.width,
                         .mlp_width = f.mlp_width,
                         .heads = f.heads,
                         .kv_heads = f.kv_heads,
                         .head_size = f.head_size,
                         .vocab = f.vocab,
                         .positions = f.positions,
                         .is_gated = f.mlp == 1,
                         .is_tied = f.embedding == 1,
                         .has_layer_norm = f.norm == 1,
                         .has_bias = f.has_bias};
    snprintf(m.name, sizeof m.name, "%s", f.name);
    *out = m;
    return SIM_OK;
}

static bool is_file_name(const char *text)
{
    size_t length = strlen(text);
    return (length > 5 && strcmp(text + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(text + length - 4, ".yml") == 0);
}

static enum sim_status read_file(const struct sim_yaml_node *node, struct sim_error *err,
                                 struct wl_model *out)
{
    char path[4096];
    const char *slash = strrchr(node->file, '/');
    int length;
    if (node->text[0] == '/' || slash == NULL)
        length = snprintf(path, sizeof path, "%s", node->text);
    else
        length = snprintf(path, sizeof path, "%.*s/%s", (int)(slash - node->file), node->file,
                          node->text);
    if (length >= (int)sizeof path)
        return sim_yaml_error(node, err, SIM_EDATA, "file name of the model is too long");
    sim_yaml *doc;
    SIM_TRY(sim_yaml_load(path, err, &doc));
    enum sim_status status = read_mapping(sim_yaml_root(doc), err, out);
    sim_yaml_destroy(doc);
    return status;
}

static enum sim_status unknown_name(const struct sim_yaml_node *node, struct sim_error *err)
{
    for (size_t i = 0; i < sizeof not_there / sizeof not_there[0]; i++)
        if (strncmp(node->text, not_there[i].prefix, strlen(not_there[i].prefix)) == 0)
            return sim_yaml_error(node, err, SIM_EDATA,
                                  "model \"%s\" (%s) is not supported yet; dense decoders are",
                                  node->text, not_there[i].kind);
    const char *names[PRESETS + 1] = {0};
    for (size_t i = 0; i < PRESETS; i++)
        names[i] = presets[i].name;
    const char *near = sim_nearest_name(node->text, names);
    return sim_yaml_error(
        node, err, SIM_EDATA,
        "unknown model \"%s\"%s%s%s: want a preset (podsim presets), a .yaml file "
        "or a mapping",
        node->text, near ? ", did you mean \"" : "", near ? near : "", near ? "\"" : "");
}

enum sim_status wl_model_read(const struct sim_yaml_node *node, struct sim_error *err,
                              struct wl_model *out)
{
    if (node->kind == SIM_YAML_MAPPING) return read_mapping(node, err, out);
    if (node->kind != SIM_YAML_SCALAR)
        return sim_yaml_error(node, err, SIM_EDATA, "model is a list: want a name or a mapping");
    const struct wl_model *preset = wl_model_find(node->text);
    if (preset != NULL) {
        *out = *preset;
        return SIM_OK;
    }
    return is_file_name(node->text) ? read_file(node, err, out) : unknown_name(node, err);
}
