/*
 * One layer, forward and backward.
 *
 * Kernels. Matrix products, the attention kernel, and elementwise kernels (norm, rotation,
 * activation, residual) that read each input and write each output once. w = 2 bytes, T tokens of
 * the tensor group, t tensor, T/t tokens between the tensor regions (sequence parallelism):
 *
 *                   forward                            backward
 *     norm          x -> y              2 w T/t D      x, dy -> dx              3 w T/t D
 *     residual      x, y -> z           3 w T/t D      add two gradients        3 w T/t D
 *     rotation      q, k in place       2 w T (q+k)    the same
 *     activation    gate, up -> a       3 w T F/t      gate, up, da -> both     5 w T F/t
 *       plain       x -> a              2 w T F/t      x, da -> dx              3 w T F/t
 *     attention     2 products, lower half: 2 S FLOPs per token and column of q; backward 2.5 times
 *                   that (the kernel recomputes the scores: Dao, arXiv 2307.08691), after one pass
 *                   over the output and its gradient
 *
 * Recomputation. Backward of every product needs its input. What was not saved is made again, in
 * order, right before the layer's backward; what nothing needs (the MLP's output) never. Norms are
 * always made again unless all is kept.
 */
#include "workloads/step_parts.h"

static double local_bytes(const struct wl_parts *p)
{
    return WL_ACTIVATION_BYTES * p->shard.local_tokens * p->shard.width;
}

static void norm(struct wl_parts *p)
{
    wl_graph_elementwise(p->g, WL_KIND_NORM, 2 * local_bytes(p));
}

static void residual(struct wl_parts *p)
{
    wl_graph_elementwise(p->g, WL_KIND_RESIDUAL, 3 * local_bytes(p));
}

/* Through a norm and past it: the norm's input gradient, added to the one that came along the
 * residual. */
static void norm_backward(struct wl_parts *p)
{
    wl_graph_elementwise(p->g, WL_KIND_NORM, 3 * local_bytes(p));
    wl_graph_elementwise(p->g, WL_KIND_RESIDUAL, 3 * local_bytes(p));
}

static void rotation(struct wl_parts *p)
{
    if (p->g->study->model.positions > 0) return;
    wl_graph_elementwise(p->g, WL_KIND_ROPE,
                         2 * WL_ACTIVATION_BYTES * p->shard.tokens *
                             (p->shard.query + p->shard.kv));
}

static void activation(struct wl_parts *p, bool is_backward)
{
    double buffers = p->shard.mlp_inputs + 1 + (is_backward ? p->shard.mlp_inputs : 0);
    wl_graph_elementwise(p->g, WL_KIND_ACTIVATION,
                         buffers * WL_ACTIVATION_BYTES * p->shard.tokens * p->shard.mlp_width);
}

static void attention(struct wl_parts *p, bool is_backward)
{
    const struct wl_shard *s = &p->shard;
    double tensor = WL_ACTIVATION_BYTES * s->tokens;
    struct wl_work work = {
        .unit = WL_UNIT_ATTENTION,
        .flops = 2 * s->tokens * s->sequence * s->query,
        .bytes = tensor * (2 * s->query + 2 * s->kv),
    };
    if (is_backward) {
        wl_graph_elementwise(p->g, WL_KIND_ATTENTION, 2 * tensor * s->query);
        work.flops *= 2.5;
        work.bytes = tensor * (3 * s->query + 4 * s->kv);
    }
    wl_graph_compute(p->g, WL_KIND_ATTENTION, work);
}

static struct wl_product qkv(const struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    return (struct wl_product){WL_KIND_PROJECTIONS, WL_UNIT_LAYER, s->tokens, s->width,
                               s->query + 2 * s->kv};
}

static struct wl_product out_proj(const struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    return (struct wl_product){WL_KIND_PROJECTIONS, WL_UNIT_LAYER, s->tokens, s->query, s->width};
}

static struct wl_product mlp_in(const struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    return (struct wl_product){WL_KIND_MLP, WL_UNIT_LAYER, s->tokens, s->width,
                               s->mlp_inputs * s->mlp_width};
}

static struct wl_product mlp_out(const struct wl_parts *p)
{
    const struct wl_shard *s = &p->shard;
    return (struct wl_product){WL_KIND_MLP, WL_UNIT_LAYER, s->tokens, s->mlp_width, s->width};
}

static void save(struct wl_parts *p, uint32_t unit, enum wl_tensor tensor)
{
    if (p->remat->tensor[tensor] != WL_OFFLOAD) return;
    double bytes = wl_tensor_bytes(p->g->study, &p->shard, tensor);
    p->saved[unit] = wl_graph_save(p->g, bytes, p->g->last_compute);
}

/* At most two layers of gathered weights and of tensors on their way to the host: layer l's gather
 * starts with layer l - 1, and layer l waits for the saves of layer l - 2. */
void wl_layer_forward(struct wl_parts *p, uint32_t unit)
{
    net_op_id gate = unit >= 2 ? p->forward_end[unit - 2] : NET_NONE;
    wl_graph_wait(p->g, wl_gather_weights(p, p->shard.layer_params, gate));
    if (unit >= 2) wl_graph_wait(p->g, p->saved[unit - 2]);
    save(p, unit, WL_INPUT);
    norm(p);
    wl_product_gathered(p, qkv(p));
    rotation(p);
    save(p, unit, WL_QKV);
    attention(p, false);
    save(p, unit, WL_CONTEXT);
    wl_product_scattered(p, out_proj(p));
    save(p, unit, WL_OUT_PROJ);
    residual(p);
    norm(p);
    wl_product_gathered(p, mlp_in(p));
    save(p, unit, WL_MLP_IN);
    activation(p, false);
    save(p, unit, WL_MLP_ACT);
    wl_product_scattered(p, mlp_out(p));
    save(p, unit, WL_MLP_OUT);
    residual(p);
    p->forward_end[unit] = p->g->last_compute;
}

struct gathered {
    bool qkv_input, mlp_input; /* recomputation left them gathered */
};

static struct gathered recompute(struct wl_parts *p)
{
    const enum wl_saving *tensor = p->remat->tensor;
    struct gathered left = {false, false};
    p->g->pass = WL_RECOMPUTATION;
    if (!p->remat->keeps_norms) norm(p);
    if (tensor[WL_QKV] == WL_RECOMPUTE) {
        wl_product_gathered(p, qkv(p));
        rotation(p);
        left.qkv_input = true;
    }
    if (tensor[WL_CONTEXT] == WL_RECOMPUTE) attention(p, false);
    if (tensor[WL_OUT_PROJ] == WL_RECOMPUTE) wl_product_scattered(p, out_proj(p));
    if (!p->remat->keeps_norms) {
        residual(p);
        norm(p);
    }
    if (tensor[WL_MLP_IN] == WL_RECOMPUTE) {
        wl_product_gathered(p, mlp_in(p));
        left.mlp_input = true;
    }
    if (tensor[WL_MLP_ACT] == WL_RECOMPUTE) activation(p, false);
    p->g->pass = WL_BACKWARD;
    return left;
}

/* Weights and saved tensors come one layer ahead. Gradients leave in two halves, and a half waits
 * until the one of the layer above is gone: at most one layer of them is unreduced. */
void wl_layer_backward(struct wl_parts *p, uint32_t unit)
{
    net_op_id gate =
        unit + 2 <= p->layers + 1 ? p->backward_end[unit + 2] : p->forward_end[p->layers + 1];
    wl_graph_wait(p->g, wl_gather_weights(p, p->shard.layer_params, gate));
    wl_graph_wait(p->g, wl_graph_fetch(p->g, p->offload_bytes, gate, p->saved[unit]));
    struct gathered left = recompute(p);
    wl_graph_wait(p->g, p->mlp_reduced[unit + 1]);
    wl_product_scattered_backward(p, mlp_out(p));
    activation(p, true);
    wl_product_gathered_backward(p, mlp_in(p), left.mlp_input);
    norm_backward(p);
    p->mlp_reduced[unit] = wl_reduce_gradients(p, p->shard.mlp_params);
    wl_graph_wait(p->g, p->reduced[unit + 1]);
    wl_product_scattered_backward(p, out_proj(p));
    attention(p, true);
    rotation(p);
    wl_product_gathered_backward(p, qkv(p), left.qkv_input);
    norm_backward(p);
    p->backward_end[unit] = p->g->last_compute;
    p->reduced[unit] = wl_reduce_gradients(p, p->shard.layer_params - p->shard.mlp_params);
}
