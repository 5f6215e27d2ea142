#include "workloads/flops.h"

struct wl_flops wl_flops_forward(const struct wl_model *m, double sequences, double sequence,
                                 enum wl_attention_count count)
{
    double tokens = sequences * sequence;
    double layer_tokens = tokens * (double)m->layers;
    double width = (double)m->width;
    double query = (double)m->heads * (double)m->head_size;
    double kv = (double)m->kv_heads * (double)m->head_size;
    double share = count == WL_COUNT_CAUSAL ? 0.5 : 1;
    return (struct wl_flops){
        .attention_projections = layer_tokens * 4 * width * (query + kv),
        .attention_core = layer_tokens * 4 * sequence * query * share,
        .mlp =
            layer_tokens * 2 * width * (double)m->mlp_width * (double)(wl_model_mlp_inputs(m) + 1),
        .head = tokens * 2 * width * (double)m->vocab,
    };
}

double wl_flops_step(const struct wl_model *m, double sequences, double sequence,
                     enum wl_attention_count count)
{
    struct wl_flops f = wl_flops_forward(m, sequences, sequence, count);
    return 3 * (f.attention_projections + f.attention_core + f.mlp + f.head);
}
