/**
 * FLOPs of a training step, as they are counted for MFU: what the model asks for, never what was
 * recomputed.
 *
 * A multiply-add counts 2. The 6P rule is not used: it forgets the attention core.
 */
#ifndef PODSIM_WORKLOADS_FLOPS_H
#define PODSIM_WORKLOADS_FLOPS_H

#include "workloads/model.h"

/** How the attention core is counted: a decoder needs only the lower half of the scores. */
enum wl_attention_count { WL_COUNT_CAUSAL, WL_COUNT_FULL };

/** Of one forward pass over some sequences. */
struct wl_flops {
    double attention_projections; /* q, k, v and output */
    double attention_core;        /* scores and values */
    double mlp;
    double head; /* logits */
};

/**
 * Forward pass of `sequences` sequences of `sequence` tokens, whole model.
 *
 *     per token:  projections  4 D (N + K) H      core  4 S N H (half if causal)
 *                 MLP          6 D F gated, 4 D F plain           head  2 D V
 *
 * Source: AI-Hypercomputer/maxtext, calculate_tflops_training_per_device (causal: half the core, as
 * there).
 */
struct wl_flops wl_flops_forward(const struct wl_model *model, double sequences, double sequence,
                                 enum wl_attention_count count);

/** A training step: forward plus twice that backward. */
double wl_flops_step(const struct wl_model *model, double sequences, double sequence,
                     enum wl_attention_count count);

#endif
