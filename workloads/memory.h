/**
 * Memory of one chip during a step, by kind, and whether it fits.
 *
 * What stays: master weights, gradient shards, optimizer moments, tensors kept for backward. On top
 * comes the working set of the moment; two moments can be the worst, the loss (logits of all
 * tokens) and the backward of a layer. They do not meet, so the larger one counts.
 */
#ifndef PODSIM_WORKLOADS_MEMORY_H
#define PODSIM_WORKLOADS_MEMORY_H

#include "workloads/shard.h"

enum wl_memory_kind {
    WL_MEMORY_MASTER,    /* fp32 weights: / (fsdp tensor) */
    WL_MEMORY_GATHERED,  /* bf16 layers in use: / tensor */
    WL_MEMORY_GRADIENTS, /* shards: / (fsdp tensor) */
    WL_MEMORY_UNREDUCED, /* gradients on their way: / tensor */
    WL_MEMORY_OPTIMIZER, /* moments: / (fsdp tensor) */
    WL_MEMORY_SAVED,     /* tensors kept for backward: / (data fsdp tensor) */
    WL_MEMORY_WORKING,   /* of the worst moment: / (data fsdp tensor) */
    WL_MEMORY_KINDS
};
extern const char *const wl_memory_names[];
/** What divides each kind, for people. */
extern const char *const wl_memory_divided_by[];

struct wl_memory {
    double bytes[WL_MEMORY_KINDS];
    double total_bytes, hbm_bytes;
    double host_bytes;        /* offloaded tensors, per chip */
    const char *worst_moment; /* "backward of a layer" or "loss" */
    bool fits;
};

struct wl_memory wl_memory_of(const struct wl_study *study);

/** One line: by how much it does not fit, what dominates, what would help. Returns `buffer`. */
const char *wl_memory_advice(const struct wl_study *study, const struct wl_memory *memory,
                             char *buffer, int bytes);

/**
 * Activations of one layer as Megatron stores them: 16 bit, plain MLP of 4 h, dropout, no fused
 * attention.
 *
 * @param tensor                t
 * @param is_sequence_parallel  everything is divided by t
 * @param is_selective          the attention core, 5 a s / h, is recomputed and not counted
 * @return s b h (34 + 5 a s / h) / t bytes, without sequence parallelism s b h (10 + 24 / t + 5 a s
 * / (h t))
 *
 * For comparison with the literature; podsim's own layers have neither dropout nor stored scores.
 * Source: Korthikanti et al., arXiv 2205.05198, equations 1, 2, 4, 6 and table 2.
 */
double wl_memory_megatron_layer(double sequence, double batch, double width, double heads,
                                double tensor, bool is_sequence_parallel, bool is_selective);

#endif
