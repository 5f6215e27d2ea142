/*
 * What a step consists of: volumes of the collectives and FLOPs of the recomputation policies, by
 * hand.
 */
#include "workloads/graph.h"

#include <string.h>

#include "wl_study_fixture.h"

#define GB 1e9

static struct wl_graph graph_or_fail(const struct wl_study *s)
{
    struct sim_error err = {0};
    struct wl_graph g;
    ck_assert_int_eq(wl_graph_create(s, &err, &g), SIM_OK);
    return g;
}

/* Calls and buffer bytes of a class; zeros when the step has none. */
static struct wl_class find(const struct wl_graph *g, uint32_t axis, enum coll_op op,
                            enum wl_traffic traffic)
{
    for (size_t i = 0; i < g->class_count; i++) {
        const struct wl_class *c = &g->class[i];
        if (!c->is_compute && c->axis == axis && c->op == op && c->traffic == traffic) return *c;
    }
    return (struct wl_class){0};
}

/* GPT-3 175B, 512 chips, fsdp 64 x tensor 8, 4 sequences of 2048 a chip: T = 65,536 tokens a tensor
 * group, buffer w T D = 1.611 GB. Nothing recomputed: a layer gathers 2 + 2 (backward) + 2 (inputs
 * again for the weight gradients) and scatters 2 + 2: 10 buffers, 10 x 7/8 x 1.611 = 14.09 GB
 * through a ring per chip; 1353 GB in 96 layers. */
START_TEST(tensor_volume_of_gpt3)
{
    struct wl_study s =
        wl_study_or_fail("v5p:8x8x8", "k22-175b", "batch: 2048, sequence: 2048, remat: minimal",
                         "fsdp: 64, tensor: 8");
    struct wl_graph g = graph_or_fail(&s);
    struct wl_class gather = find(&g, WL_TENSOR, COLL_ALL_GATHER, WL_TRAFFIC_ACTIVATIONS);
    struct wl_class scatter = find(&g, WL_TENSOR, COLL_REDUCE_SCATTER, WL_TRAFFIC_ACTIVATIONS);
    double buffer = 2.0 * 65536 * 12288;
    ck_assert_uint_eq(gather.count, 96 * 6 + 2);  /* and head, embedding's gradient */
    ck_assert_uint_eq(scatter.count, 96 * 4 + 2); /* and embedding, head's gradient */
    ck_assert_double_eq(gather.bytes, (double)gather.count * buffer);
    double layers = (double)(gather.count + scatter.count - 4) * buffer * 7 / 8;
    ck_assert_double_eq_tol(layers / 96 / GB, 14.09, 0.01);
    ck_assert_double_eq_tol(layers / GB, 1353, 0.5);
    /* Weights gathered twice, 2 x 2 B x 174.6e9 / 8 = 87.3 GB; gradients in fp32 the same */
    ck_assert_double_eq_tol(find(&g, WL_FSDP, COLL_ALL_GATHER, WL_TRAFFIC_WEIGHTS).bytes / GB, 87.3,
                            0.1);
    ck_assert_double_eq_tol(find(&g, WL_FSDP, COLL_REDUCE_SCATTER, WL_TRAFFIC_GRADIENTS).bytes / GB,
                            87.3, 0.15);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* Full recomputation adds the gathers of both inputs and the scatter between, but their products
 * make the re-gathers for the weight gradients needless, and nobody needs the last scatter: 6 - 2 +
 * 2 gathers, 4 + 1 scatters. */
START_TEST(recomputation_serves_the_regathers)
{
    struct wl_study s = wl_study_or_fail(
        "v5p:8x8x8", "k22-175b", "batch: 2048, sequence: 2048, remat: full", "fsdp: 64, tensor: 8");
    struct wl_graph g = graph_or_fail(&s);
    ck_assert_uint_eq(find(&g, WL_TENSOR, COLL_ALL_GATHER, WL_TRAFFIC_ACTIVATIONS).count,
                      96 * 6 + 2);
    ck_assert_uint_eq(find(&g, WL_TENSOR, COLL_REDUCE_SCATTER, WL_TRAFFIC_ACTIVATIONS).count,
                      96 * 5 + 2);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* Buffers of a tensor group: Llama-3 405B, one sequence of 8192, t = 8: 268.4 MB, 10 x 7/8 of
 * it 2.349 GB a layer; Korthikanti's 22B, 4 sequences of 2048: 100.7 MB, an all-reduce (gather +
 * scatter) 176.2 MB through a ring. */
START_TEST(tensor_buffers)
{
    struct wl_study s =
        wl_study_or_fail("v5p:4x4x4", "llama3.1-405b", "batch: 8, sequence: 8192, remat: none",
                         "fsdp: 8, tensor: 8");
    struct wl_graph g = graph_or_fail(&s);
    struct wl_class c = find(&g, WL_TENSOR, COLL_ALL_GATHER, WL_TRAFFIC_ACTIVATIONS);
    ck_assert_double_eq_tol(c.bytes / (double)c.count, 268.4e6, 5e4);
    ck_assert_double_eq_tol(c.bytes / (double)c.count * 10 * 7 / 8, 2.349e9, 5e5);
    wl_graph_release(&g);
    wl_study_release(&s);
    s = wl_study_or_fail("v5p:2x2x2", "k22-22b", "batch: 4, sequence: 2048", "tensor: 8");
    g = graph_or_fail(&s);
    c = find(&g, WL_TENSOR, COLL_ALL_GATHER, WL_TRAFFIC_ACTIVATIONS);
    ck_assert_double_eq_tol(c.bytes / (double)c.count, 100.7e6, 5e4);
    ck_assert_double_eq_tol(2 * c.bytes / (double)c.count * 7 / 8, 176.2e6, 5e4);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* Llama-3.1-70B on 256 chips, fsdp alone: each layer's 855,654,400 weights twice in bf16, embedding
 * and head once each: 80 x 2 x 1.711 + 2 x 2.101 = 278.0 GB; gradients 4 x 70.55e9 = 282.2 GB, in
 * bf16 141.1 GB. */
START_TEST(fsdp_volume_of_llama)
{
    static const char *const training[] = {
        "batch: 1280, sequence: 8192, remat: offload",
        "batch: 1280, sequence: 8192, remat: offload, gradient: bf16"};
    for (int i = 0; i < 2; i++) {
        struct wl_study s = wl_study_or_fail("v6e:16x16", "llama3.1-70b", training[i], "fsdp: 256");
        struct wl_graph g = graph_or_fail(&s);
        ck_assert_double_eq_tol(find(&g, WL_FSDP, COLL_ALL_GATHER, WL_TRAFFIC_WEIGHTS).bytes / GB,
                                278.0, 0.05);
        ck_assert_double_eq_tol(find(&g, WL_FSDP, COLL_REDUCE_SCATTER, WL_TRAFFIC_GRADIENTS).bytes /
                                    GB,
                                i == 0 ? 282.2 : 141.1, 0.05);
        /* to the host and back: 80 layers x 40,960 tokens x 2 bytes x (8192 + 10240), over 32 GB/s
         * one way */
        ck_assert_double_eq(find(&g, WL_AXIS_HOST, COLL_ALL_GATHER, WL_TRAFFIC_SAVED).bytes,
                            80.0 * 40960 * 2 * 18432);
        ck_assert_double_eq_tol(sim_ps_to_s(g.save_ps), 80.0 * 40960 * 2 * 18432 / 32e9, 1e-9);
        wl_graph_release(&g);
        wl_study_release(&s);
    }
}
END_TEST

/* data 8 x fsdp 8: the shard each chip keeps, 1/8 of the gradients, is all-reduced over data. */
START_TEST(data_volume)
{
    struct wl_study s = wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", "batch: 64, sequence: 4096",
                                         "data: 8, fsdp: 8");
    struct wl_graph g = graph_or_fail(&s);
    double scattered = find(&g, WL_FSDP, COLL_REDUCE_SCATTER, WL_TRAFFIC_GRADIENTS).bytes;
    ck_assert_double_eq_tol(scattered / (4 * 8030261248.0), 1, 1e-12);
    ck_assert_double_eq_tol(find(&g, WL_DATA, COLL_ALL_REDUCE, WL_TRAFFIC_GRADIENTS).bytes,
                            scattered / 8, 1);
    ck_assert_double_eq(find(&g, WL_AXIS_ALL, COLL_ALL_REDUCE, WL_TRAFFIC_SCALARS).bytes, 4);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* k and v heads: 8, tensor 16: pairs of chips hold the same and add up their gradients. */
START_TEST(copied_heads_are_summed)
{
    struct wl_study s = wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", "batch: 64, sequence: 4096",
                                         "fsdp: 4, tensor: 16");
    struct wl_graph g = graph_or_fail(&s);
    struct wl_class c = find(&g, WL_AXIS_COPIES, COLL_ALL_REDUCE, WL_TRAFFIC_GRADIENTS);
    ck_assert_uint_eq(c.count, 1);
    ck_assert_double_eq(c.bytes, 4.0 * 32 * 2 * 4096 * 128 / 4);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* (forward + backward + recomputation) / forward of a layer of Llama-3.1-70B at 8192 causal tokens,
 * core backward counted twice its forward as the literature does (the kernel's own recomputation,
 * half a core more, is taken off). Shares of the forward: qkv 9.1 %, core 7.3 %, output 7.3 %, MLP
 * in 50.9 %, out 25.5 %. */
static const struct {
    const char *remat;
    double factor;
} policies[] = {
    {"none", 3.00},
    {"minimal", 3.00},
    {"{input: keep, qkv: keep, out_proj: keep, mlp_in: keep, mlp_out: keep}",
     3.07}, /* MaxText's minimal */
    {"{input: keep, qkv: keep, context: keep, out_proj: keep}",
     3.51},                                             /* save_dot_with_context_except_mlp */
    {"{input: keep, qkv: keep, out_proj: keep}", 3.58}, /* save_dot_except_mlp */
    {"{input: keep, qkv: keep}", 3.655},                /* save_qkv_proj */
    {"{input: keep, out_proj: keep}", 3.67},            /* save_out_proj */
    {"offload", 3.655},
    {"full", 3.75},
};

START_TEST(policy_factor)
{
    char training[160];
    snprintf(training, sizeof training, "batch: 64, sequence: 8192, remat: %s", policies[_i].remat);
    struct wl_study s = wl_study_or_fail("v5p:4x4x4", "llama3.1-70b", training, "fsdp: 64");
    struct wl_graph g = graph_or_fail(&s);
    double sum = 0, forward = 0, core = 0;
    for (size_t i = 0; i < g.class_count; i++) {
        const struct wl_class *c = &g.class[i];
        if (!c->is_compute || c->kind == WL_KIND_HEAD) continue;
        sum += c->flops;
        if (c->pass == WL_FORWARD) forward += c->flops;
        if (c->pass == WL_FORWARD && c->kind == WL_KIND_ATTENTION) core = c->flops;
    }
    ck_assert_double_eq_tol((sum - 0.5 * core) / forward, policies[_i].factor, 0.005);
    /* The counter of MFU agrees with the operations: forward of all layers. */
    struct wl_flops counted = wl_flops_forward(&s.model, 1, 8192, WL_COUNT_CAUSAL);
    ck_assert_double_eq_tol(
        forward / (counted.attention_projections + counted.attention_core + counted.mlp), 1, 1e-12);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

/* Elementwise traffic of a plain layer by hand. One chip, T = 128, D = 256, F = 1024, bf16, nothing
 * recomputed, learned positions: norms 2 x (2 forward + 3 backward) w T D and the final one's 2 +
 * 3; residuals 2 x 3 + 2 x 3; activation (2 + 3) w T F; head's loss (1 + 2) w T V. */
START_TEST(elementwise_bytes)
{
    struct wl_study s = wl_study_or_fail("v6e:1x1",
                                         "{layers: 1, width: 256, mlp_width: 1024, heads: 2, "
                                         "vocab: 512, mlp: plain, positions: 128, embedding: tied}",
                                         "batch: 1, sequence: 128, remat: none", "fsdp: 1");
    struct wl_graph g = graph_or_fail(&s);
    double bytes[WL_KINDS] = {0}, unit = 2.0 * 128 * 256;
    for (size_t i = 0; i < g.class_count; i++)
        if (g.class[i].is_compute) bytes[g.class[i].kind] += g.class[i].bytes;
    ck_assert_double_eq(bytes[WL_KIND_NORM], unit * (2 * 5 + 5));
    ck_assert_double_eq(bytes[WL_KIND_RESIDUAL], unit * 12);
    ck_assert_double_eq(bytes[WL_KIND_ACTIVATION], 4 * unit * 5);
    ck_assert_double_eq(bytes[WL_KIND_ROPE], 0);
    ck_assert_double_eq(bytes[WL_KIND_LOSS], 2 * unit * 3);
    ck_assert_double_eq(bytes[WL_KIND_REDUCTION], 0); /* alone */
    ck_assert_uint_eq(g.async_count, 0);
    wl_graph_release(&g);
    wl_study_release(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("graph");
    TCase *c = tcase_create("volumes");
    tcase_add_test(c, tensor_volume_of_gpt3);
    tcase_add_test(c, recomputation_serves_the_regathers);
    tcase_add_test(c, tensor_buffers);
    tcase_add_test(c, fsdp_volume_of_llama);
    tcase_add_test(c, data_volume);
    tcase_add_test(c, copied_heads_are_summed);
    suite_add_tcase(s, c);
    c = tcase_create("compute");
    tcase_add_loop_test(c, policy_factor, 0, (int)(sizeof policies / sizeof policies[0]));
    tcase_add_test(c, elementwise_bytes);
    suite_add_tcase(s, c);
    return run_suite(s);
}
