/*
 * Reading a study: the YAML document into plain fields through schemas, the fields into a study,
 * then the checks.
 */
#include "workloads/study.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "topo/fault.h"
#include "workloads/placement.h"
#include "workloads/study_internal.h"

const char *const wl_axis_names[WL_AXES + 1] = {"data", "fsdp", "tensor", NULL};
const char *const wl_tensor_names[WL_TENSORS + 1] = {"input",  "qkv",     "context", "out_proj",
                                                     "mlp_in", "mlp_act", "mlp_out", NULL};
const char *const wl_optimizer_names[] = {"adamw", "sgd", NULL};
const char *const wl_engine_names[] = {"flow", "packet", "bound", NULL};

static const char *const tie_names[] = {"split", "positive", "negative", "simgrid", NULL};
static const char *const on_off[] = {"on", "off", NULL};
static const char *const repair_names[] = {"none", "spare", NULL};
static const char *const gradient_names[] = {"fp32", "bf16", NULL};
static const char *const attention_names[] = {"causal", "full", NULL};
static const char *const saving_names[] = {"recompute", "keep", "offload", NULL};

/* MaxText's policies of the same names; "minimal" is its minimal_with_context. */
static const struct wl_remat policies[] = {
    {.name = "none",
     .tensor = {WL_KEEP, WL_KEEP, WL_KEEP, WL_KEEP, WL_KEEP, WL_KEEP, WL_RECOMPUTE},
     .keeps_norms = true},
    {.name = "minimal",
     .tensor = {WL_KEEP, WL_KEEP, WL_KEEP, WL_KEEP, WL_KEEP, WL_RECOMPUTE, WL_KEEP}},
    {.name = "full", .tensor = {[WL_INPUT] = WL_KEEP}},
    {.name = "offload", .tensor = {[WL_INPUT] = WL_OFFLOAD, [WL_QKV] = WL_OFFLOAD}},
};
static const char *const policy_names[] = {"none", "minimal", "full", "offload", NULL};

/* ---- schemas ---- */

struct chip_fields {
    double bf16, fp8, int8, hbm_bandwidth, pcie, hbm_efficiency;
    uint64_t hbm;
    const struct sim_yaml_node *matmul_efficiency, *attention_efficiency;
};
struct network_fields {
    double link;
    sim_ps hop_latency, launch_overhead;
    int engine, tie, repair, symmetry, trains;
    const char *routing, *fail, *fail_random;
    struct router_fields {
        const char *preset, *packet, *flit, *vcs, *buffer, *hop_latency, *credit_latency,
            *injection_latency, *ejection_latency, *class_rule, *vc_binding, *arbitration, *switching,
            *bubble;
    } router;
};
struct sharding_fields {
    uint64_t size[WL_AXES];
    const char *placement[WL_AXES];
};
struct study_fields {
    const char *topology;
    struct chip_fields chip;
    struct network_fields network;
    const struct sim_yaml_node *model;
    uint64_t batch, sequence;
    int precision, optimizer, gradient, attention_flops;
    bool tensor_overlap;
    const struct sim_yaml_node *remat;
    struct sharding_fields sharding;
};

#define FIELD(k, type, member)                                                                     \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_##type, .offset = offsetof(struct study_fields, member)        \
    }
#define CHOICE(k, member, names)                                                                   \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_CHOICE, .offset = offsetof(struct study_fields, member),       \
        .choices = names                                                                           \
    }
#define COUNT(k, member, required, most)                                                           \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_COUNT, .offset = offsetof(struct study_fields, member),        \
        .is_required = required, .min = 1, .max = most                                             \
    }
/* Nested tables count their offsets from the whole struct, so every mapping starts at 0. */
#define MAPPING(k, required, table)                                                                \
    {                                                                                              \
        .key = k, .kind = SIM_FIELD_MAPPING, .is_required = required, .fields = table              \
    }

static const struct sim_field chip_table[] = {
    FIELD("bf16", FLOPS, chip.bf16),
    FIELD("fp8", FLOPS, chip.fp8),
    FIELD("int8", FLOPS, chip.int8),
    FIELD("hbm", BYTES, chip.hbm),
    FIELD("hbm_bandwidth", RATE, chip.hbm_bandwidth),
    FIELD("pcie", RATE, chip.pcie),
    FIELD("matmul_efficiency", NODE, chip.matmul_efficiency),
    FIELD("attention_efficiency", NODE, chip.attention_efficiency),
    FIELD("hbm_efficiency", SHARE, chip.hbm_efficiency),
    {.key = NULL},
};
static const struct sim_field router_table[] = {
    FIELD("preset", TEXT, network.router.preset),
    FIELD("packet", TEXT, network.router.packet),
    FIELD("flit", TEXT, network.router.flit),
    FIELD("vcs", TEXT, network.router.vcs),
    FIELD("buffer", TEXT, network.router.buffer),
    FIELD("hop_latency", TEXT, network.router.hop_latency),
    FIELD("credit_latency", TEXT, network.router.credit_latency),
    FIELD("injection_latency", TEXT, network.router.injection_latency),
    FIELD("ejection_latency", TEXT, network.router.ejection_latency),
    FIELD("class_rule", TEXT, network.router.class_rule),
    FIELD("vc_binding", TEXT, network.router.vc_binding),
    FIELD("arbitration", TEXT, network.router.arbitration),
    FIELD("switching", TEXT, network.router.switching),
    FIELD("bubble", TEXT, network.router.bubble),
    {.key = NULL},
};
static const struct sim_field network_table[] = {
    FIELD("link", RATE, network.link),
    FIELD("hop_latency", TIME, network.hop_latency),
    FIELD("launch_overhead", TIME, network.launch_overhead),
    CHOICE("engine", network.engine, wl_engine_names),
    CHOICE("tie", network.tie, tie_names),
    FIELD("routing", TEXT, network.routing),
    MAPPING("router", false, router_table),
    FIELD("fail", TEXT, network.fail),
    FIELD("fail_random", TEXT, network.fail_random),
    CHOICE("repair", network.repair, repair_names),
    CHOICE("symmetry", network.symmetry, on_off),
    CHOICE("trains", network.trains, on_off),
    {.key = NULL},
};
static const struct sim_field system_table[] = {
    {.key = "topology",
     .kind = SIM_FIELD_TEXT,
     .offset = offsetof(struct study_fields, topology),
     .is_required = true},
    MAPPING("chip", false, chip_table),
    MAPPING("network", false, network_table),
    {.key = NULL},
};
static const struct sim_field training_table[] = {
    COUNT("batch", batch, true, 1000000000),
    COUNT("sequence", sequence, true, 100000000),
    CHOICE("precision", precision, topo_precision_names),
    FIELD("remat", NODE, remat),
    CHOICE("optimizer", optimizer, wl_optimizer_names),
    CHOICE("gradient", gradient, gradient_names),
    CHOICE("attention_flops", attention_flops, attention_names),
    FIELD("tensor_overlap", BOOL, tensor_overlap),
    {.key = NULL},
};
static const struct sim_field placement_table[] = {
    FIELD("data", TEXT, sharding.placement[WL_DATA]),
    FIELD("fsdp", TEXT, sharding.placement[WL_FSDP]),
    FIELD("tensor", TEXT, sharding.placement[WL_TENSOR]),
    {.key = NULL},
};
static const struct sim_field sharding_table[] = {
    COUNT("data", sharding.size[WL_DATA], false, 100000000),
    COUNT("fsdp", sharding.size[WL_FSDP], false, 100000000),
    COUNT("tensor", sharding.size[WL_TENSOR], false, 100000000),
    MAPPING("placement", false, placement_table),
    {.key = NULL},
};
static const struct sim_field study_table[] = {
    MAPPING("system", true, system_table),
    {.key = "model",
     .kind = SIM_FIELD_NODE,
     .offset = offsetof(struct study_fields, model),
     .is_required = true},
    MAPPING("training", true, training_table),
    MAPPING("sharding", true, sharding_table),
    {.key = NULL},
};

const struct sim_yaml_node *wl_study_place(const struct sim_yaml_node *root,
                                           const char *const *path)
{
    const struct sim_yaml_node *node = root;
    for (; *path != NULL && node->kind == SIM_YAML_MAPPING; path++) {
        const struct sim_yaml_node *child = sim_yaml_find(node, *path);
        if (child == NULL) break;
        node = child;
    }
    return node;
}

/* ---- fields that schemas cannot say ---- */

/* A share for all precisions, or a mapping from precision to share. */
static enum sim_status read_efficiency(const struct sim_yaml_node *node, struct sim_error *err,
                                       double share[TOPO_PRECISIONS])
{
    if (node == NULL) return SIM_OK;
    if (node->kind == SIM_YAML_MAPPING) {
        const struct sim_field table[] = {
            {.key = "bf16", .kind = SIM_FIELD_SHARE, .offset = TOPO_BF16 * sizeof(double)},
            {.key = "fp8", .kind = SIM_FIELD_SHARE, .offset = TOPO_FP8 * sizeof(double)},
            {.key = "int8", .kind = SIM_FIELD_SHARE, .offset = TOPO_INT8 * sizeof(double)},
            {.key = NULL},
        };
        return sim_yaml_read(node, table, err, share);
    }
    if (node->kind != SIM_YAML_SCALAR)
        return sim_yaml_error(node, err, SIM_EDATA, "%s is a list: want a share such as 0.6",
                              node->key);
    double value;
    struct sim_error why = {0};
    enum sim_status status = sim_share_parse(node->text, &why, &value);
    if (status != SIM_OK) return sim_yaml_error(node, err, status, "%s: %s", node->key, why.text);
    for (int p = 0; p < TOPO_PRECISIONS; p++)
        share[p] = value;
    return SIM_OK;
}

static enum sim_status read_remat_mapping(const struct sim_yaml_node *node, struct sim_error *err,
                                          struct wl_remat *out)
{
    struct sim_field table[WL_TENSORS + 1] = {0};
    int choice[WL_TENSORS] = {[WL_INPUT] = WL_KEEP};
    for (int i = 0; i < WL_TENSORS; i++)
        table[i] = (struct sim_field){.key = wl_tensor_names[i],
                                      .kind = SIM_FIELD_CHOICE,
                                      .offset = (size_t)i * sizeof(int),
                                      .choices = saving_names};
    SIM_TRY(sim_yaml_read(node, table, err, choice));
    if (choice[WL_INPUT] == WL_RECOMPUTE)
        return sim_yaml_error(sim_yaml_find(node, "input"), err, SIM_EDATA,
                              "a layer's input cannot be recomputed: want keep or offload");
    *out = (struct wl_remat){.name = "custom"};
    for (int i = 0; i < WL_TENSORS; i++)
        out->tensor[i] = (enum wl_saving)choice[i];
    return SIM_OK;
}

static enum sim_status read_remat(const struct sim_yaml_node *node, struct sim_error *err,
                                  struct wl_remat *out)
{
    *out = policies[2];
    if (node == NULL) return SIM_OK;
    if (node->kind == SIM_YAML_MAPPING) return read_remat_mapping(node, err, out);
    if (node->kind == SIM_YAML_SCALAR)
        for (size_t i = 0; policy_names[i] != NULL; i++)
            if (strcmp(policy_names[i], node->text) == 0) {
                *out = policies[i];
                return SIM_OK;
            }
    const char *near =
        node->kind == SIM_YAML_SCALAR ? sim_nearest_name(node->text, policy_names) : NULL;
    return sim_yaml_error(
        node, err, SIM_EDATA,
        "remat is \"%s\"%s%s%s: want none, minimal, full, offload or a mapping of "
        "tensors",
        node->kind == SIM_YAML_SCALAR ? node->text : "a list", near ? ", did you mean \"" : "",
        near ? near : "", near ? "\"" : "");
}

/* ---- fields into a study ---- */

static enum sim_status misplaced(const struct sim_yaml_node *root, const char *key,
                                 struct sim_error *err, enum sim_status status)
{
    const struct sim_yaml_node *node = WL_PLACE(root, "system", key);
    return sim_error_locate(err, status, node->file, node->line, node->column);
}

/* Faults and routing come second, so that what is wrong with them is shown at their own place. */
static enum sim_status make_topology(const struct study_fields *f, const struct sim_yaml_node *root,
                                     struct sim_error *err, topo **out)
{
    struct topo_options options = TOPO_OPTIONS_DEFAULT;
    options.link_bytes_per_s = f->network.link;
    options.latency_ps = f->network.hop_latency;
    options.tie = (enum topo_tie)f->network.tie;
    enum sim_status status = topo_create(f->topology, &options, err, out);
    if (status != SIM_OK) return misplaced(root, "topology", err, status);
    const struct network_fields *n = &f->network;
    if (n->routing == NULL && n->fail == NULL && n->fail_random == NULL && n->repair == 0)
        return SIM_OK;
    topo_destroy(*out);
    *out = NULL;
    options.routing = n->routing;
    options.fail_random = n->fail_random;
    options.is_repaired = n->repair != 0;
    if (n->fail != NULL) status = topo_options_fail(&options, n->fail, err);
    if (status == SIM_OK) status = topo_create(f->topology, &options, err, out);
    return status == SIM_OK ? SIM_OK : misplaced(root, "network", err, status);
}

/* The preset with what the study changes; the engine fits it to the topology. */
static enum sim_status read_router(const struct study_fields *f, const struct sim_yaml_node *root,
                                   struct sim_error *err, struct wl_study *study)
{
    const struct router_fields *r = &f->network.router;
    const char *name = r->preset != NULL ? r->preset : "tpu";
    const char *const values[] = {r->packet,
                                  r->flit,
                                  r->vcs,
                                  r->buffer,
                                  r->hop_latency,
                                  r->credit_latency,
                                  r->injection_latency,
                                  r->ejection_latency,
                                  r->class_rule,
                                  r->vc_binding,
                                  r->arbitration,
                                  r->switching,
                                  r->bubble};
    const struct net_router *preset = net_router_find(name);
    enum sim_status status = SIM_OK;
    if (preset == NULL)
        status = sim_error_set(err, SIM_EDATA,
                               "router preset \"%s\": want tpu, booksim-a, booksim-ad, booksim-p "
                               "or booksim-pd",
                               name);
    else
        study->router = *preset;
    for (int i = 0; status == SIM_OK && net_router_parameters[i] != NULL; i++)
        if (values[i] != NULL)
            status = net_router_set(&study->router, net_router_parameters[i], values[i], err);
    return status == SIM_OK ? SIM_OK : misplaced(root, "network", err, status);
}

static enum sim_status read_system(const struct study_fields *f, const struct sim_yaml_node *root,
                                   struct sim_error *err, struct wl_study *study)
{
    SIM_TRY(make_topology(f, root, err, &study->topology));
    const struct topo_chip *preset = topo_chip_of(study->topology);
    struct topo_chip *chip = &study->chip;
    *chip = preset != NULL ? *preset : (struct topo_chip){.name = "custom", .full_name = "custom"};
    if (f->chip.bf16 > 0) chip->flops[TOPO_BF16] = f->chip.bf16;
    if (f->chip.fp8 > 0) chip->flops[TOPO_FP8] = f->chip.fp8;
    if (f->chip.int8 > 0) chip->flops[TOPO_INT8] = f->chip.int8;
    if (f->chip.hbm > 0) chip->hbm_bytes = f->chip.hbm;
    if (f->chip.hbm_bandwidth > 0) chip->hbm_bytes_per_s = f->chip.hbm_bandwidth;
    if (f->chip.pcie > 0) chip->pcie_bytes_per_s = f->chip.pcie;
    if (f->chip.hbm_efficiency > 0) chip->hbm_efficiency = f->chip.hbm_efficiency;
    SIM_TRY(read_efficiency(f->chip.matmul_efficiency, err, chip->matmul_efficiency));
    SIM_TRY(read_efficiency(f->chip.attention_efficiency, err, chip->attention_efficiency));
    const struct chip_fields none = {0};
    study->has_override = memcmp(&none, &f->chip, sizeof none) != 0;
    study->has_own_efficiencies = f->chip.matmul_efficiency != NULL ||
                                  f->chip.attention_efficiency != NULL ||
                                  f->chip.hbm_efficiency > 0;
    study->launch_overhead_ps =
        f->network.launch_overhead >= 0 ? f->network.launch_overhead : chip->launch_overhead_ps;
    study->engine = (enum wl_engine)f->network.engine;
    study->is_unreduced = f->network.symmetry == 1;
    study->is_one_by_one = f->network.trains == 1;
    return read_router(f, root, err, study);
}

static enum sim_status read_placement(const struct study_fields *f,
                                      const struct sim_yaml_node *root, struct sim_error *err,
                                      struct wl_study *study)
{
    for (int a = 0; a < WL_AXES; a++) {
        struct wl_mesh_axis *axis = &study->axis[a];
        if (f->sharding.placement[a] == NULL) continue;
        const struct sim_yaml_node *node =
            WL_PLACE(root, "sharding", "placement", wl_axis_names[a]);
        enum sim_status status =
            topo_group_parse(study->topology, f->sharding.placement[a], err, &axis->group);
        if (status != SIM_OK)
            return sim_error_locate(err, status, node->file, node->line, node->column);
        if (axis->group.size != axis->size)
            return sim_yaml_error(
                node, err, SIM_EDATA, "placement \"%s\" of %s has %u chips, the axis has %llu",
                node->text, wl_axis_names[a], axis->group.size, (unsigned long long)axis->size);
        axis->is_placed_by_user = true;
    }
    return SIM_OK;
}

static void study_name(const char *path, char *out, size_t bytes)
{
    const char *slash = strrchr(path, '/');
    const char *start = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(start, '.');
    int length = dot != NULL && dot != start ? (int)(dot - start) : (int)strlen(start);
    snprintf(out, bytes, "%.*s", length, start);
}

static enum sim_status read_study(const struct sim_yaml_node *root, struct sim_error *err,
                                  struct wl_study *study)
{
    struct study_fields f = {
        .network = {.hop_latency = -1, .launch_overhead = -1},
        .sharding = {.size = {1, 1, 1}},
    };
    SIM_TRY(sim_yaml_read(root, study_table, err, &f));
    SIM_TRY(wl_model_read(f.model, err, &study->model));
    SIM_TRY(read_remat(f.remat, err, &study->remat));
    study->batch = f.batch;
    study->sequence = f.sequence;
    study->precision = (enum topo_precision)f.precision;
    study->optimizer = (enum wl_optimizer)f.optimizer;
    study->gradient_bytes = f.gradient == 1 ? 2 : 4;
    study->overlaps_tensor = f.tensor_overlap;
    study->attention_count = (enum wl_attention_count)f.attention_flops;
    for (int a = 0; a < WL_AXES; a++) {
        study->axis[a].size = f.sharding.size[a];
        study->axis[a].group.size = 1;
    }
    SIM_TRY(read_system(&f, root, err, study));
    SIM_TRY(wl_study_check(study, root, err));
    SIM_TRY(read_placement(&f, root, err, study));
    enum sim_status status = wl_placement_choose(study, err);
    if (status != SIM_OK) {
        const struct sim_yaml_node *node = WL_PLACE(root, "sharding", "placement");
        return sim_error_locate(err, status, node->file, node->line, node->column);
    }
    return SIM_OK;
}

static enum sim_status finish(sim_yaml *doc, const char *path, struct sim_error *err,
                              struct wl_study *out)
{
    struct wl_study study = {0};
    study_name(path, study.name, sizeof study.name);
    enum sim_status status = read_study(sim_yaml_root(doc), err, &study);
    if (status == SIM_OK)
        *out = study;
    else
        topo_destroy(study.topology);
    return status;
}

enum sim_status wl_study_load(const char *path, const char *const *overrides,
                              uint32_t override_count, struct sim_error *err, struct wl_study *out)
{
    sim_yaml *doc;
    SIM_TRY(sim_yaml_load(path, err, &doc));
    enum sim_status status = SIM_OK;
    for (uint32_t i = 0; i < override_count && status == SIM_OK; i++)
        status = sim_yaml_override(doc, overrides[i], err);
    if (status == SIM_OK) status = finish(doc, path, err, out);
    sim_yaml_destroy(doc);
    return status;
}

enum sim_status wl_study_parse(const char *text, const char *name, struct sim_error *err,
                               struct wl_study *out)
{
    sim_yaml *doc;
    SIM_TRY(sim_yaml_parse(text, strlen(text), name, err, &doc));
    enum sim_status status = finish(doc, name, err, out);
    sim_yaml_destroy(doc);
    return status;
}

void wl_study_release(struct wl_study *study)
{
    topo_destroy(study->topology);
    study->topology = NULL;
}
