/** The parts of a training step, as graph.c, parts.c, layer.c and products.c share them. */
#ifndef PODSIM_WORKLOADS_STEP_PARTS_H
#define PODSIM_WORKLOADS_STEP_PARTS_H

#include "workloads/cost.h"
#include "workloads/graph.h"

/** A matrix product of one chip: [rows x inner] times [inner x columns]. */
struct wl_product {
    enum wl_kind kind;
    enum wl_unit unit;
    double rows, inner, columns;
};

/** A step while it is being built. Unit 0 is the embedding, 1 .. L the layers, L + 1 the head. */
struct wl_parts {
    struct wl_graph *g;
    struct wl_shard shard;
    const struct wl_remat *remat;
    uint32_t layers;
    double gradient_bytes;                 /* per element */
    double tensor_buffer;                  /* w T D: what tensor gathers and scatters move */
    double offload_bytes;                  /* per layer */
    net_op_id *forward_end, *backward_end; /* [layers + 2] last compute operation of each unit */
    net_op_id *saved;                      /* [layers + 2] a layer's last save to the host */
    /* [layers + 2] gradients of a unit are where they belong; a layer's in two halves, MLP first */
    net_op_id *reduced, *mlp_reduced;
};

/** Append everything a step does. */
void wl_step_parts(struct wl_graph *g);

/* layer.c */
void wl_layer_forward(struct wl_parts *p, uint32_t unit);
void wl_layer_backward(struct wl_parts *p, uint32_t unit);

/* parts.c */
/** Gather `params` weights over fsdp after an operation. */
net_op_id wl_gather_weights(struct wl_parts *p, double params, net_op_id after);
/** Reduce the gradients of `params` weights over fsdp and data behind what follows; the additions
 * are done here. */
net_op_id wl_reduce_gradients(struct wl_parts *p, double params);
/** The arithmetic of reducing `bytes` over `chips`. */
void wl_reduction_additions(struct wl_parts *p, double bytes, double chips);

/* products.c */
void wl_product_plain(struct wl_parts *p, struct wl_product product);
/** The rows are gathered over tensor first. */
void wl_product_gathered(struct wl_parts *p, struct wl_product product);
/** The results are partial sums, scattered over tensor; the next compute operation waits for that.
 */
void wl_product_scattered(struct wl_parts *p, struct wl_product product);
/** Backward of wl_product_scattered(): gather the output's gradient, gradient of the input, of the
 * weight. */
void wl_product_scattered_backward(struct wl_parts *p, struct wl_product product);
/** Backward of wl_product_gathered(); `is_input_gathered` when the gathered input is still there.
 */
void wl_product_gathered_backward(struct wl_parts *p, struct wl_product product,
                                  bool is_input_gathered);
/** Reduce-scatter activations over tensor after the last compute operation, with its additions; the
 * next compute operation waits. Gives the scatter. */
net_op_id wl_scatter_activations(struct wl_parts *p);
/** Gather activations over tensor; the next compute operation waits. */
void wl_gather_activations(struct wl_parts *p);

#endif
