/*
 * Matrix products with tensor parallelism around them.
 *
 * Column-parallel products (q, k, v; MLP in) read rows that are gathered over the tensor axis;
 * row-parallel ones (output projection; MLP out) give partial sums that are scattered. Korthikanti
 * et al., arXiv 2205.05198. Their backward:
 *
 *     column   dX = dY W' -> scatter            dW = X' dY, X gathered again (kept as shards)
 *     row      dY -> gather, dX = dY W'         dW = X' dY
 *
 * Plain form: the compute stream stands still while a gather or scatter runs. With tensor_overlap a
 * gather is cut into t - 1 exchanges with both neighbours and the product into t chunks (own rows
 * first; chunk s needs exchange s - 1), a scatter likewise (exchange s needs chunk s); the
 * re-gather runs beside the product before it and the scatter of an input gradient beside the
 * product after it. Wang et al., "Overlap communication with dependent computation via
 * decomposition in large deep learning models", ASPLOS 2023.
 *
 * Whoever reduces must add what arrives; those additions are operations of the compute stream
 * beside the scatter.
 */
#include "workloads/step_parts.h"

static struct wl_work forward_work(const struct wl_product *x, double share)
{
    double rows = x->rows * share;
    return (struct wl_work){
        .unit = x->unit,
        .flops = 2 * rows * x->inner * x->columns,
        .bytes =
            WL_ACTIVATION_BYTES * (rows * x->inner + x->inner * x->columns + rows * x->columns),
    };
}

/* The same three matrices; the result goes out as a gradient. */
static struct wl_work weight_work(const struct wl_parts *p, const struct wl_product *x)
{
    struct wl_work work = forward_work(x, 1);
    work.bytes += (p->gradient_bytes - WL_ACTIVATION_BYTES) * x->inner * x->columns;
    return work;
}

static bool is_split(const struct wl_parts *p)
{
    return p->shard.tensor > 1;
}

static bool overlaps(const struct wl_parts *p)
{
    return is_split(p) && p->g->study->overlaps_tensor;
}

static net_op_id collective(struct wl_parts *p, enum coll_op op, net_op_id after)
{
    return wl_graph_collective(p->g, WL_TENSOR, op, WL_TRAFFIC_ACTIVATIONS, p->tensor_buffer, after,
                               NET_NONE);
}

void wl_gather_activations(struct wl_parts *p)
{
    wl_graph_wait(p->g, collective(p, COLL_ALL_GATHER, p->g->last_compute));
}

net_op_id wl_scatter_activations(struct wl_parts *p)
{
    if (!is_split(p)) return NET_NONE;
    net_op_id scatter = collective(p, COLL_REDUCE_SCATTER, p->g->last_compute);
    wl_reduction_additions(p, p->tensor_buffer, p->shard.tensor);
    wl_graph_wait(p->g, scatter);
    return scatter;
}

void wl_product_plain(struct wl_parts *p, struct wl_product x)
{
    wl_graph_compute(p->g, x.kind, forward_work(&x, 1));
}

/* t chunks; chunk s waits for exchange s - 1, exchanges follow each other. */
static void gathered_in_chunks(struct wl_parts *p, const struct wl_product *x)
{
    uint32_t t = (uint32_t)p->shard.tensor;
    double shard_bytes = p->tensor_buffer / p->shard.tensor;
    net_op_id before = p->g->last_compute, exchange = NET_NONE;
    for (uint32_t s = 0; s < t; s++) {
        wl_graph_wait(p->g, exchange);
        if (s + 1 < t)
            exchange = wl_graph_exchange(p->g, shard_bytes, s == 0 ? before : exchange, NET_NONE);
        wl_graph_compute(p->g, x->kind, forward_work(x, 1 / p->shard.tensor));
    }
}

/* t chunks, own rows last; exchange s carries chunk s and what arrived before, added. */
static void scattered_in_chunks(struct wl_parts *p, const struct wl_product *x)
{
    uint32_t t = (uint32_t)p->shard.tensor;
    double share = 1 / p->shard.tensor;
    net_op_id exchange = NET_NONE;
    for (uint32_t s = 0; s < t; s++) {
        net_op_id chunk = wl_graph_compute(p->g, x->kind, forward_work(x, share));
        if (s > 0) {
            wl_graph_wait(p->g, exchange);
            wl_graph_elementwise(p->g, WL_KIND_REDUCTION,
                                 WL_ADDITION_PASSES * p->tensor_buffer * share);
            chunk = p->g->last_compute;
        }
        if (s + 1 < t)
            exchange = wl_graph_exchange(p->g, p->tensor_buffer * share, chunk, NET_NONE);
    }
}

void wl_product_gathered(struct wl_parts *p, struct wl_product x)
{
    if (overlaps(p)) {
        gathered_in_chunks(p, &x);
        return;
    }
    wl_gather_activations(p);
    wl_product_plain(p, x);
}

void wl_product_scattered(struct wl_parts *p, struct wl_product x)
{
    if (overlaps(p)) {
        scattered_in_chunks(p, &x);
        return;
    }
    wl_product_plain(p, x);
    wl_scatter_activations(p);
}

void wl_product_scattered_backward(struct wl_parts *p, struct wl_product x)
{
    /* dX: rows x columns times columns x inner */
    struct wl_product input = x;
    input.inner = x.columns;
    input.columns = x.inner;
    wl_product_gathered(p, input);
    wl_graph_compute(p->g, x.kind, weight_work(p, &x));
}

void wl_product_gathered_backward(struct wl_parts *p, struct wl_product x, bool is_input_gathered)
{
    struct wl_product input = x;
    input.inner = x.columns;
    input.columns = x.inner;
    bool regathers = is_split(p) && !is_input_gathered;
    if (!overlaps(p)) {
        wl_product_plain(p, input);
        net_op_id scatter = wl_scatter_activations(p);
        if (regathers) wl_graph_wait(p->g, collective(p, COLL_ALL_GATHER, scatter));
        wl_graph_compute(p->g, x.kind, weight_work(p, &x));
        return;
    }
    net_op_id gather = regathers ? collective(p, COLL_ALL_GATHER, p->g->last_compute) : NET_NONE;
    wl_product_plain(p, input);
    net_op_id scatter = collective(p, COLL_REDUCE_SCATTER, p->g->last_compute);
    wl_reduction_additions(p, p->tensor_buffer, p->shard.tensor);
    wl_graph_wait(p->g, gather);
    wl_graph_compute(p->g, x.kind, weight_work(p, &x));
    wl_graph_wait(p->g, scatter); /* only now: the product ran beside it */
}
