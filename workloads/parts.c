/*
 * A training step: embedding, layers, head and loss, the same backward, optimizer. Sources of the
 * traffic: fsdp as XLA does it from sharding propagation (gather weights forward and again
 * backward, scatter gradients: 2 w + g bytes per weight); data parallel on top all-reduces the
 * gradient shards; vocabulary-parallel embedding and logits.
 */
#include "workloads/step_parts.h"

#include "base/arena.h"

net_op_id wl_gather_weights(struct wl_parts *p, double params, net_op_id after)
{
    return wl_graph_collective(p->g, WL_FSDP, COLL_ALL_GATHER, WL_TRAFFIC_WEIGHTS,
                               WL_ACTIVATION_BYTES * params, after, NET_NONE);
}

/* A reduction over n chips adds what arrives, (n - 1)/n of the buffer. */
void wl_reduction_additions(struct wl_parts *p, double bytes, double chips)
{
    if (chips <= 1) return;
    wl_graph_elementwise(p->g, WL_KIND_REDUCTION,
                         WL_REDUCTION_PASSES * bytes * (chips - 1) / chips);
}

net_op_id wl_reduce_gradients(struct wl_parts *p, double params)
{
    const struct wl_shard *s = &p->shard;
    double bytes = p->gradient_bytes * params;
    net_op_id ready = p->g->last_compute;
    net_op_id scattered = wl_graph_collective(p->g, WL_FSDP, COLL_REDUCE_SCATTER,
                                              WL_TRAFFIC_GRADIENTS, bytes, ready, NET_NONE);
    wl_reduction_additions(p, bytes, s->fsdp);
    net_op_id reduced = wl_graph_collective(p->g, WL_DATA, COLL_ALL_REDUCE, WL_TRAFFIC_GRADIENTS,
                                            bytes / s->fsdp, ready, scattered);
    wl_reduction_additions(p, bytes / s->fsdp, s->data);
    return reduced != NET_NONE ? reduced : scattered;
}

/* ---- embedding ---- */

static double whole_bytes(const struct wl_parts *p)
{
    return WL_ACTIVATION_BYTES * p->shard.tokens * p->shard.width;
}

/* Rows that another chip of the tensor group has come as zeros and are summed by the scatter. */
static void embedding_forward(struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    wl_graph_wait(p->g, wl_gather_weights(p, s->embedding_params + s->other_params, NET_NONE));
    wl_graph_elementwise(p->g, WL_KIND_EMBEDDING, 2 * whole_bytes(p));
    wl_scatter_activations(p);
    if (p->g->study->model.positions > 0)
        wl_graph_elementwise(p->g, WL_KIND_EMBEDDING, 3 * whole_bytes(p) / s->tensor);
    p->forward_end[0] = p->g->last_compute;
}

/* Clear the table's gradient, then read each token's gradient and add it to its row. */
static void embedding_backward(struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    wl_graph_wait(p->g, p->mlp_reduced[1]);
    wl_graph_wait(p->g, p->reduced[1]);
    wl_gather_activations(p);
    wl_graph_elementwise(p->g, WL_KIND_EMBEDDING,
                         p->gradient_bytes * s->embedding_params + whole_bytes(p) +
                             2 * p->gradient_bytes * s->tokens * s->width);
    if (p->g->study->model.is_tied)
        wl_graph_elementwise(p->g, WL_KIND_EMBEDDING, 3 * p->gradient_bytes * s->embedding_params);
    p->backward_end[0] = p->g->last_compute;
    p->reduced[0] = wl_reduce_gradients(p, s->embedding_params + s->other_params);
}

/* ---- head and loss ---- */

static void head(struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    uint32_t unit = p->layers + 1;
    double local = WL_ACTIVATION_BYTES * s->local_tokens * s->width;
    double logits = WL_ACTIVATION_BYTES * s->tokens * s->vocab;
    struct wl_product product = {WL_KIND_HEAD, WL_UNIT_HEAD, s->tokens, s->width, s->vocab};
    bool is_tied = p->g->study->model.is_tied;
    double params = is_tied ? s->embedding_params : s->head_params;
    wl_graph_wait(p->g, wl_gather_weights(p, params, p->forward_end[unit - 2]));
    wl_graph_elementwise(p->g, WL_KIND_NORM, 2 * local);
    wl_product_gathered(p, product);
    wl_graph_elementwise(p->g, WL_KIND_LOSS, logits);
    /* maximum, sum and target logit of each token */
    for (int i = 0; i < 3; i++)
        wl_graph_wait(p->g,
                      wl_graph_collective(p->g, WL_TENSOR, COLL_ALL_REDUCE, WL_TRAFFIC_SCALARS,
                                          4 * s->tokens, p->g->last_compute, NET_NONE));
    p->forward_end[unit] = p->g->last_compute;
    p->g->pass = WL_BACKWARD;
    wl_graph_elementwise(p->g, WL_KIND_LOSS, 2 * logits);
    wl_product_gathered_backward(p, product, true);
    wl_graph_elementwise(p->g, WL_KIND_NORM, 3 * local);
    p->backward_end[unit] = p->g->last_compute;
    /* a tied head's gradient goes with the embedding's */
    p->reduced[unit] = is_tied ? NET_NONE : wl_reduce_gradients(p, params);
    p->mlp_reduced[unit] = p->reduced[unit]; /* the top layer's MLP half waits for the head's */
}

/* ---- optimizer ---- */

/* Gradients that tensor-parallel chips share: of norms and positions (each saw its own tokens) and
 * of copied k and v heads. */
static void shared_gradients(struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    struct wl_params params = wl_model_params(&p->g->study->model);
    double shared = (double)(p->layers * params.norms + params.final_norm + params.positions);
    wl_graph_wait(p->g, wl_graph_collective(p->g, WL_TENSOR, COLL_ALL_REDUCE, WL_TRAFFIC_GRADIENTS,
                                            p->gradient_bytes * shared / s->fsdp,
                                            p->g->last_compute, NET_NONE));
    double copies = p->gradient_bytes * p->layers * 2 * s->width * s->kv / s->fsdp;
    wl_graph_wait(p->g,
                  wl_graph_collective(p->g, WL_AXIS_COPIES, COLL_ALL_REDUCE, WL_TRAFFIC_GRADIENTS,
                                      copies, p->g->last_compute, p->reduced[1]));
}

/* AdamW reads weight, gradient and two moments and writes weight and moments, 28 bytes in fp32;
 * SGD 12. The norm over all gradients comes first: nobody updates before everybody has contributed.
 */
static void optimizer(struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    double params = s->params / s->fsdp;
    p->g->pass = WL_UPDATE;
    wl_graph_wait(p->g, p->reduced[0]);
    wl_graph_wait(p->g, p->reduced[1]);
    wl_graph_wait(p->g, p->mlp_reduced[1]);
    shared_gradients(p);
    wl_graph_elementwise(p->g, WL_KIND_OPTIMIZER, WL_MASTER_BYTES * params);
    wl_graph_wait(p->g, wl_graph_collective(p->g, WL_AXIS_ALL, COLL_ALL_REDUCE, WL_TRAFFIC_SCALARS,
                                            4, p->g->last_compute, NET_NONE));
    double buffers = p->g->study->optimizer == WL_ADAMW ? 7 : 3;
    wl_graph_elementwise(p->g, WL_KIND_OPTIMIZER, buffers * WL_MASTER_BYTES * params);
}

/* ---- the step ---- */

static double offload_bytes(const struct wl_parts *p)
{
    double bytes = 0;
    for (int i = 0; i < WL_TENSORS; i++)
        if (p->remat->tensor[i] == WL_OFFLOAD)
            bytes += wl_tensor_bytes(p->g->study, &p->shard, (enum wl_tensor)i);
    return bytes;
}

static net_op_id *no_ops(uint32_t count)
{
    net_op_id *op = SIM_NEW(net_op_id, count);
    for (uint32_t i = 0; i < count; i++)
        op[i] = NET_NONE;
    return op;
}

void wl_step_parts(struct wl_graph *g)
{
    struct wl_parts p = {.g = g,
                         .shard = wl_shard_of(g->study),
                         .remat = &g->study->remat,
                         .layers = (uint32_t)g->study->model.layers,
                         .gradient_bytes = g->study->gradient_bytes};
    uint32_t units = p.layers + 2;
    p.tensor_buffer = whole_bytes(&p);
    p.offload_bytes = offload_bytes(&p);
    p.forward_end = no_ops(units);
    p.backward_end = no_ops(units);
    p.saved = no_ops(units);
    p.reduced = no_ops(units);
    p.mlp_reduced = no_ops(units);

    g->pass = WL_FORWARD;
    embedding_forward(&p);
    for (uint32_t unit = 1; unit <= p.layers; unit++)
        wl_layer_forward(&p, unit);
    head(&p);
    for (uint32_t unit = p.layers; unit >= 1; unit--)
        wl_layer_backward(&p, unit);
    embedding_backward(&p);
    optimizer(&p);

    sim_free(p.forward_end);
    sim_free(p.backward_end);
    sim_free(p.saved);
    sim_free(p.reduced);
    sim_free(p.mlp_reduced);
}
