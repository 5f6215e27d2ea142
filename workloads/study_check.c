/*
 * What must hold before anything is simulated. Each check names the place to mend.
 */
#include <stdio.h>

#include "workloads/study_internal.h"

static unsigned long long llu(uint64_t value)
{
    return value;
}

/* Which single axis, changed, makes the product right. */
static void suggest_size(const struct wl_study *study, uint64_t chips, char *buffer, size_t bytes)
{
    static const enum wl_axis order[] = {WL_FSDP, WL_DATA, WL_TENSOR};
    for (int i = 0; i < WL_AXES; i++) {
        uint64_t others = 1;
        for (int a = 0; a < WL_AXES; a++)
            if (a != (int)order[i]) others *= study->axis[a].size;
        bool is_allowed = order[i] != WL_TENSOR || study->model.heads % (chips / others) == 0;
        if (chips % others != 0 || !is_allowed) continue;
        snprintf(buffer, bytes, "%s %llu would fit", wl_axis_names[order[i]], llu(chips / others));
        return;
    }
    snprintf(buffer, bytes, "no change of one axis makes it fit");
}

static enum sim_status check_mesh(const struct wl_study *study, const struct sim_yaml_node *root,
                                  struct sim_error *err)
{
    const struct wl_mesh_axis *axis = study->axis;
    uint64_t chips = topo_chips(study->topology), product = 1;
    for (int a = 0; a < WL_AXES; a++) /* each is at most 1e8: no overflow below 1e16 */
        product = product > 100000000 ? product : product * axis[a].size;
    if (product == chips) return SIM_OK;
    char hint[96];
    suggest_size(study, chips, hint, sizeof hint);
    return sim_yaml_error(WL_PLACE(root, "sharding"), err, SIM_EDATA,
                          "data %llu x fsdp %llu x tensor %llu = %llu chips, but %s has %llu: %s",
                          llu(axis[WL_DATA].size), llu(axis[WL_FSDP].size),
                          llu(axis[WL_TENSOR].size), llu(product), topo_spec(study->topology),
                          llu(chips), hint);
}

static enum sim_status not_divided(const struct sim_yaml_node *node, struct sim_error *err,
                                   uint64_t tensor, const char *what, uint64_t value)
{
    return sim_yaml_error(node, err, SIM_EDATA, "tensor %llu does not divide the model's %s %llu",
                          llu(tensor), what, llu(value));
}

static enum sim_status check_tensor(const struct wl_study *study, const struct sim_yaml_node *root,
                                    struct sim_error *err)
{
    const struct wl_model *m = &study->model;
    const struct sim_yaml_node *node = WL_PLACE(root, "sharding", "tensor");
    uint64_t t = study->axis[WL_TENSOR].size;
    if (m->heads % t != 0) return not_divided(node, err, t, "heads", m->heads);
    if (m->kv_heads % t != 0 && t % m->kv_heads != 0)
        return sim_yaml_error(
            node, err, SIM_EDATA,
            "tensor %llu neither divides the model's kv_heads %llu nor is a multiple "
            "of them (copies)",
            llu(t), llu(m->kv_heads));
    if (m->mlp_width % t != 0) return not_divided(node, err, t, "mlp_width", m->mlp_width);
    if (study->sequence % t != 0)
        return sim_yaml_error(node, err, SIM_EDATA,
                              "tensor %llu does not divide the sequence of %llu tokens (norms are "
                              "split by sequence)",
                              llu(t), llu(study->sequence));
    return SIM_OK;
}

static enum sim_status check_batch(const struct wl_study *study, const struct sim_yaml_node *root,
                                   struct sim_error *err)
{
    uint64_t d = study->axis[WL_DATA].size, f = study->axis[WL_FSDP].size;
    if (study->batch % (d * f) == 0) return SIM_OK;
    uint64_t below = study->batch / (d * f) * (d * f);
    char fit[64];
    if (below > 0)
        snprintf(fit, sizeof fit, "%llu or %llu", llu(below), llu(below + d * f));
    else
        snprintf(fit, sizeof fit, "%llu", llu(d * f));
    return sim_yaml_error(WL_PLACE(root, "training", "batch"), err, SIM_EDATA,
                          "batch %llu is not a multiple of data %llu x fsdp %llu: %s would fit",
                          llu(study->batch), llu(d), llu(f), fit);
}

static enum sim_status require(const struct wl_study *study, const struct sim_yaml_node *place,
                               struct sim_error *err, double value, const char *what,
                               const char *key)
{
    enum sim_status status = topo_chip_require(&study->chip, value, what, key, err);
    if (status == SIM_OK) return SIM_OK;
    return sim_error_locate(err, status, place->file, place->line, place->column);
}

static bool offloads(const struct wl_study *study)
{
    for (int i = 0; i < WL_TENSORS; i++)
        if (study->remat.tensor[i] == WL_OFFLOAD) return true;
    return false;
}

static enum sim_status check_rates(const struct wl_study *study, const struct sim_yaml_node *root,
                                   struct sim_error *err)
{
    const struct topo_chip *chip = &study->chip;
    const char *precision = topo_precision_names[study->precision];
    const struct sim_yaml_node *place = WL_PLACE(root, "training", "precision");
    char what[64], key[64];
    if (place->kind != SIM_YAML_SCALAR) place = WL_PLACE(root, "system", "topology");
    snprintf(what, sizeof what, "%s rate", precision);
    snprintf(key, sizeof key, "system.chip.%s", precision);
    SIM_TRY(require(study, place, err, chip->flops[study->precision], what, key));
    place = WL_PLACE(root, "system", "topology");
    SIM_TRY(require(study, place, err, chip->flops[TOPO_BF16], "bf16 rate", "system.chip.bf16"));
    SIM_TRY(require(study, place, err, chip->hbm_bytes_per_s, "memory rate",
                    "system.chip.hbm_bandwidth"));
    SIM_TRY(require(study, place, err, (double)chip->hbm_bytes, "memory size", "system.chip.hbm"));
    snprintf(what, sizeof what, "%s matmul efficiency", precision);
    SIM_TRY(require(study, place, err, chip->matmul_efficiency[study->precision], what,
                    "system.chip.matmul_efficiency"));
    SIM_TRY(require(study, place, err, chip->matmul_efficiency[TOPO_BF16], "bf16 matmul efficiency",
                    "system.chip.matmul_efficiency"));
    SIM_TRY(require(study, place, err, chip->attention_efficiency[TOPO_BF16],
                    "bf16 attention efficiency", "system.chip.attention_efficiency"));
    SIM_TRY(require(study, place, err, chip->hbm_efficiency, "memory efficiency",
                    "system.chip.hbm_efficiency"));
    if (offloads(study))
        SIM_TRY(
            require(study, place, err, chip->pcie_bytes_per_s, "PCIe rate", "system.chip.pcie"));
    return SIM_OK;
}

/* More than 1e6 s of arithmetic alone would pass the simulator's clock. */
static enum sim_status check_size(const struct wl_study *study, const struct sim_yaml_node *root,
                                  struct sim_error *err)
{
    double flops = 2 * wl_flops_step(&study->model, (double)study->batch, (double)study->sequence,
                                     WL_COUNT_FULL);
    double slowest = study->chip.flops[TOPO_BF16] * study->chip.attention_efficiency[TOPO_BF16];
    double per_layer = flops / (double)topo_chips(study->topology) / slowest;
    if (per_layer < 1e6) return SIM_OK;
    return sim_yaml_error(WL_PLACE(root, "training", "batch"), err, SIM_EDATA,
                          "a step of %llu sequences of %llu tokens would take over a week",
                          llu(study->batch), llu(study->sequence));
}

enum sim_status wl_study_check(const struct wl_study *study, const struct sim_yaml_node *root,
                               struct sim_error *err)
{
    SIM_TRY(check_mesh(study, root, err));
    SIM_TRY(check_tensor(study, root, err));
    SIM_TRY(check_batch(study, root, err));
    SIM_TRY(check_rates(study, root, err));
    return check_size(study, root, err);
}
