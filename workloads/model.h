/**
 * Models: dense decoder transformers by their dimensions, and how many parameters they have.
 *
 * A layer is: norm, attention (grouped queries), residual, norm, MLP (gated or plain), residual.
 * Mixtures of experts, latent attention and sliding windows have other layers and are refused by
 * name.
 */
#ifndef PODSIM_WORKLOADS_MODEL_H
#define PODSIM_WORKLOADS_MODEL_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/yaml.h"

#define WL_NAME_MAX 64

/** Plain value. Letters are those of the literature: L layers, D width, F, N, K, H, V. */
struct wl_model {
    char name[WL_NAME_MAX];
    uint64_t layers, width, mlp_width, heads, kv_heads, head_size, vocab;
    uint64_t positions;  /* rows of a learned position table; 0 = rotary */
    bool is_gated;       /* MLP of three matrices (SwiGLU), else two */
    bool is_tied;        /* the head is the embedding's transpose */
    bool has_layer_norm; /* scale and bias; else RMS (scale only) */
    bool has_bias;       /* on every matrix of the layer */
};

/** Parameters by part. */
struct wl_params {
    uint64_t attention, mlp, norms; /* of one layer */
    uint64_t layer;                 /* the three */
    uint64_t embedding, positions, final_norm;
    uint64_t head; /* 0 when tied */
    uint64_t total;
};

struct wl_params wl_model_params(const struct wl_model *model);

/** Matrices on the MLP's way in: 2 gated, 1 plain. */
static inline uint64_t wl_model_mlp_inputs(const struct wl_model *model)
{
    return model->is_gated ? 2 : 1;
}

/** The presets, in a fixed order. */
const struct wl_model *wl_model_presets(uint32_t *count);
/** NULL when there is none of this name. */
const struct wl_model *wl_model_find(const char *name);

/**
 * Read a model from a study: a preset's name, a YAML file (relative to the file that names it), or
 * a mapping.
 *
 * Errors: SIM_EDATA with the place (unknown name, model kinds that are not there, impossible
 * dimensions), SIM_ENOINPUT (file).
 */
SIM_MUST_CHECK enum sim_status wl_model_read(const struct sim_yaml_node *node,
                                             struct sim_error *err, struct wl_model *out);

#endif
