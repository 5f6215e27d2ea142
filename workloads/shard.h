/**
 * Shards: what one chip holds and works on, once a model is laid out on a mesh.
 *
 * Sizes are real numbers: shards that do not divide evenly are padded by at most one element in
 * practice.
 */
#ifndef PODSIM_WORKLOADS_SHARD_H
#define PODSIM_WORKLOADS_SHARD_H

#include "workloads/study.h"

/** Bytes of an activation, and of a weight as it is gathered: bf16 whatever the matrix units use.
 */
#define WL_ACTIVATION_BYTES 2.0
/** Bytes of a master weight and of each optimizer moment: fp32. */
#define WL_MASTER_BYTES 4.0

/** Per chip. Tokens are those of a tensor group; between the tensor regions each chip has 1/t of
 * them. */
struct wl_shard {
    double tokens;       /* T = batch * sequence / (data * fsdp) */
    double local_tokens; /* T / t */
    double sequence;
    double data, fsdp, tensor;
    double width;            /* D, whole */
    double query, kv;        /* columns of q, of k (as many of v): N H / t, max(K / t, 1) H */
    double mlp_width, vocab; /* F / t, V / t */
    double mlp_inputs;       /* 2 gated, 1 plain */
    double kv_copies; /* chips of a tensor group that hold the same k and v heads: max(t / K, 1) */
    double layer_params; /* of one tensor rank, before fsdp shards them */
    double mlp_params;   /* the MLP's part of them */
    double embedding_params, head_params, other_params;
    double params; /* of one tensor rank: all layers and the rest */
};

struct wl_shard wl_shard_of(const struct wl_study *study);

/** Bytes of one layer's tensor on one chip. */
double wl_tensor_bytes(const struct wl_study *study, const struct wl_shard *shard,
                       enum wl_tensor tensor);

/** Bytes of softmax statistics that go with a kept context: one fp32 per token and head. */
double wl_statistics_bytes(const struct wl_study *study, const struct wl_shard *shard);

#endif
