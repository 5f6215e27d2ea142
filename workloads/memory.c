/*
 * Working sets, in units of one chip's tensors (w = 2 bytes):
 *
 *   backward of a layer, at the MLP: the tensors recomputation made again, the three gradients at
 *   its edges (dY whole, the activation's gradient; those of gate and up overwrite them), the
 *   fetched tensors of this layer and the next.
 *
 *   loss: the head's input, whole and as shards, and the logits; their gradient overwrites them.
 */
#include "workloads/memory.h"

#include <stdio.h>

const char *const wl_memory_names[] = {
    "master weights",  "gathered weights",  "gradients",   "gradients in flight",
    "optimizer state", "saved activations", "working set", NULL};
const char *const wl_memory_divided_by[] = {"fsdp x tensor",        "tensor",
                                            "fsdp x tensor",        "tensor",
                                            "fsdp x tensor",        "data x fsdp x tensor",
                                            "data x fsdp x tensor", NULL};

/* Norm outputs and the residual between attention and MLP: kept by policy "none", else made again.
 */
static double norm_bytes(const struct wl_shard *s)
{
    return 3 * WL_ACTIVATION_BYTES * s->local_tokens * s->width;
}

static double saved_per_layer(const struct wl_study *study, const struct wl_shard *s,
                              enum wl_saving how)
{
    double bytes = 0;
    for (int i = 0; i < WL_TENSORS; i++)
        if (study->remat.tensor[i] == how) bytes += wl_tensor_bytes(study, s, (enum wl_tensor)i);
    if (how == WL_KEEP && study->remat.keeps_norms) bytes += norm_bytes(s);
    return bytes;
}

static double backward_bytes(const struct wl_study *study, const struct wl_shard *s)
{
    double whole = WL_ACTIVATION_BYTES * s->tokens * s->width;
    double bytes = study->remat.keeps_norms ? 0 : norm_bytes(s);
    for (int i = 0; i < WL_MLP_OUT; i++)
        if (study->remat.tensor[i] == WL_RECOMPUTE)
            bytes += wl_tensor_bytes(study, s, (enum wl_tensor)i);
    bytes += 2 * saved_per_layer(study, s, WL_OFFLOAD);
    bytes += whole + wl_tensor_bytes(study, s, WL_MLP_ACT);
    if (s->tensor > 1) bytes += whole; /* the MLP's input, gathered for its weight gradient */
    return bytes;
}

static double loss_bytes(const struct wl_study *study, const struct wl_shard *s)
{
    double whole = WL_ACTIVATION_BYTES * s->tokens * s->width;
    double saves_under_way = 2 * saved_per_layer(study, s, WL_OFFLOAD);
    return WL_ACTIVATION_BYTES * s->tokens * s->vocab + whole + whole / s->tensor + saves_under_way;
}

struct wl_memory wl_memory_of(const struct wl_study *study)
{
    struct wl_shard s = wl_shard_of(study);
    double shard_params = s.params / s.fsdp, layers = (double)study->model.layers;
    double head = study->model.is_tied ? s.embedding_params : s.head_params;
    bool is_sharded = s.fsdp > 1, is_reduced = s.fsdp * s.data > 1;
    double backward = backward_bytes(study, &s), loss = loss_bytes(study, &s);
    /* Gathered: this layer and the next; at the loss the head and the last layer. Without fsdp a
     * layer's bf16 copy. */
    double at_layer = (is_sharded ? 2 : 1) * WL_ACTIVATION_BYTES * s.layer_params;
    double at_loss = WL_ACTIVATION_BYTES * (head + (is_sharded ? s.layer_params : 0));
    double unreduced_layer = is_reduced ? study->gradient_bytes * s.layer_params : 0;
    double unreduced_head = is_reduced ? study->gradient_bytes * head : 0;
    bool is_loss_worst = loss + at_loss + unreduced_head > backward + at_layer + unreduced_layer;

    struct wl_memory m = {
        .bytes = {[WL_MEMORY_MASTER] = WL_MASTER_BYTES * shard_params,
                  [WL_MEMORY_GATHERED] = is_loss_worst ? at_loss : at_layer,
                  [WL_MEMORY_GRADIENTS] = WL_MASTER_BYTES * shard_params,
                  [WL_MEMORY_UNREDUCED] = is_loss_worst ? unreduced_head : unreduced_layer,
                  [WL_MEMORY_OPTIMIZER] =
                      study->optimizer == WL_ADAMW ? 2 * WL_MASTER_BYTES * shard_params : 0,
                  [WL_MEMORY_SAVED] = layers * saved_per_layer(study, &s, WL_KEEP),
                  [WL_MEMORY_WORKING] = is_loss_worst ? loss : backward},
        .hbm_bytes = (double)study->chip.hbm_bytes,
        .host_bytes = layers * saved_per_layer(study, &s, WL_OFFLOAD),
        .worst_moment = is_loss_worst ? "loss" : "backward of a layer",
    };
    for (int k = 0; k < WL_MEMORY_KINDS; k++)
        m.total_bytes += m.bytes[k];
    m.fits = m.total_bytes <= m.hbm_bytes;
    return m;
}

static const char *remedy(enum wl_memory_kind kind, const struct wl_study *study)
{
    switch (kind) {
    case WL_MEMORY_SAVED:
        return "remat full or offload keeps less; fewer sequences per chip need less";
    case WL_MEMORY_WORKING:
        return study->axis[WL_TENSOR].size > 1
                   ? "fewer sequences per chip need less"
                   : "fewer sequences per chip or a tensor axis need less";
    case WL_MEMORY_GATHERED:
    case WL_MEMORY_UNREDUCED:
        return "a larger tensor axis divides it";
    default:
        return "a larger fsdp axis (more chips) divides it";
    }
}

const char *wl_memory_advice(const struct wl_study *study, const struct wl_memory *m, char *buffer,
                             int bytes)
{
    int worst = 0;
    for (int k = 1; k < WL_MEMORY_KINDS; k++)
        if (m->bytes[k] > m->bytes[worst]) worst = k;
    snprintf(buffer, (size_t)bytes,
             "does not fit: %.2f GB of %.2f GB, %.2f GB too much; most is %s (%.2f GB, divided by "
             "%s): %s",
             m->total_bytes / 1e9, m->hbm_bytes / 1e9, (m->total_bytes - m->hbm_bytes) / 1e9,
             wl_memory_names[worst], m->bytes[worst] / 1e9, wl_memory_divided_by[worst],
             remedy((enum wl_memory_kind)worst, study));
    return buffer;
}

double wl_memory_megatron_layer(double sequence, double batch, double width, double heads,
                                double tensor, bool is_sequence_parallel, bool is_selective)
{
    double scores = is_selective ? 0 : 5 * heads * sequence / width;
    double tokens = sequence * batch * width;
    if (is_sequence_parallel) return tokens * (34 + scores) / tensor;
    return tokens * (10 + 24 / tensor + scores / tensor);
}
