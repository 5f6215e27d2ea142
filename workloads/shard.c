#include "workloads/shard.h"

struct wl_shard wl_shard_of(const struct wl_study *study)
{
    const struct wl_model *m = &study->model;
    struct wl_params p = wl_model_params(m);
    double t = (double)study->axis[WL_TENSOR].size;
    struct wl_shard s = {
        .sequence = (double)study->sequence,
        .data = (double)study->axis[WL_DATA].size,
        .fsdp = (double)study->axis[WL_FSDP].size,
        .tensor = t,
        .width = (double)m->width,
        .query = (double)(m->heads * m->head_size) / t,
        .mlp_width = (double)m->mlp_width / t,
        .vocab = (double)m->vocab / t,
        .mlp_inputs = (double)wl_model_mlp_inputs(m),
        .kv_copies = t > (double)m->kv_heads ? t / (double)m->kv_heads : 1,
    };
    s.tokens = (double)study->batch * s.sequence / (s.data * s.fsdp);
    s.local_tokens = s.tokens / t;
    s.kv = (double)(m->kv_heads * m->head_size) * s.kv_copies / t;
    double attention = 2 * s.width * (s.query + s.kv);
    if (m->has_bias) attention += s.query + 2 * s.kv + s.width;
    s.mlp_params = (double)p.mlp / t;
    s.layer_params = attention + s.mlp_params + (double)p.norms;
    s.embedding_params = (double)p.embedding / t;
    s.head_params = (double)p.head / t;
    s.other_params = (double)(p.positions + p.final_norm);
    s.params =
        (double)m->layers * s.layer_params + s.embedding_params + s.head_params + s.other_params;
    return s;
}

double wl_statistics_bytes(const struct wl_study *study, const struct wl_shard *s)
{
    return 4 * s->tokens * s->query / (double)study->model.head_size;
}

double wl_tensor_bytes(const struct wl_study *study, const struct wl_shard *s,
                       enum wl_tensor tensor)
{
    double w = WL_ACTIVATION_BYTES;
    switch (tensor) {
    case WL_INPUT:
    case WL_OUT_PROJ:
    case WL_MLP_OUT:
        return w * s->local_tokens * s->width;
    case WL_QKV:
        return w * s->tokens * (s->query + 2 * s->kv);
    case WL_CONTEXT:
        return w * s->tokens * s->query + wl_statistics_bytes(study, s);
    case WL_MLP_IN:
        return w * s->tokens * s->mlp_inputs * s->mlp_width;
    case WL_MLP_ACT:
        return w * s->tokens * s->mlp_width;
    case WL_TENSORS:
        break;
    }
    return 0;
}
