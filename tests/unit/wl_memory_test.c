/*
 * Memory by kind, by hand; and the closed forms of the literature.
 */
#include "workloads/memory.h"

#include <string.h>

#include "wl_study_fixture.h"

#define GIB 1073741824.0

/* One layer of GPT-3 175B, S 2048, b 1: sbh (34 + 5as/h) = 2048 x 12288 x (34 + 80) = 2.869 GB, an
 * eighth of it with 8-way tensor and sequence parallelism. */
START_TEST(megatron_layer)
{
    ck_assert_double_eq_tol(wl_memory_megatron_layer(2048, 1, 12288, 96, 1, false, false), 2.869e9,
                            5e5);
    ck_assert_double_eq_tol(wl_memory_megatron_layer(2048, 1, 12288, 96, 8, true, false), 0.3586e9,
                            5e4);
    /* tensor parallel alone leaves 10 undivided: sbh (10 + 3 + 10) = 23 sbh */
    ck_assert_double_eq_tol(wl_memory_megatron_layer(2048, 1, 12288, 96, 8, false, false),
                            23.0 * 2048 * 12288, 1);
    ck_assert_double_eq_tol(wl_memory_megatron_layer(2048, 1, 12288, 96, 8, true, true),
                            34.0 / 8 * 2048 * 12288, 1);
}
END_TEST

/* Korthikanti et al., figures 1 and 7 (tensor 8, micro-batch 1, 22B: 4). GiB of the first stage:
 * layers in flight are L, times 1 + (p - 1)/(p v) with interleaving. Percentages are of the
 * tensor-parallel baseline. */
static const struct {
    double heads, width, layers, batch, in_flight;
    double baseline_gib, both_gib, sequence_percent, selective_percent, both_percent;
} k22[] = {
    {64, 6144, 48, 4, 1, 59.25, 9.5625, 66.77, 49.37, 16.14},
    {96, 12288, 96, 1, 1 + 7.0 / 24, 66.84375, 12.3515625, 61.96, 56.52, 18.48},
    {128, 20480, 105, 1, 1 + 34.0 / 105, 114.0234375, 23.076171875, 58.33, 61.90, 20.24},
    {160, 25600, 128, 1, 1, 131.25, 26.5625, 58.33, 61.90, 20.24},
};

START_TEST(megatron_figures)
{
    double layers = k22[_i].layers * k22[_i].in_flight / GIB, b = k22[_i].batch, h = k22[_i].width,
           a = k22[_i].heads;
    double base = wl_memory_megatron_layer(2048, b, h, a, 8, false, false);
    double sequence = wl_memory_megatron_layer(2048, b, h, a, 8, true, false);
    double selective = wl_memory_megatron_layer(2048, b, h, a, 8, false, true);
    double both = wl_memory_megatron_layer(2048, b, h, a, 8, true, true);
    ck_assert_double_eq_tol(base * layers, k22[_i].baseline_gib, 1e-9);
    ck_assert_double_eq_tol(both * layers, k22[_i].both_gib, 1e-9);
    ck_assert_double_eq_tol(100 * sequence / base, k22[_i].sequence_percent, 0.005);
    ck_assert_double_eq_tol(100 * selective / base, k22[_i].selective_percent, 0.005);
    ck_assert_double_eq_tol(100 * both / base, k22[_i].both_percent, 0.005);
}
END_TEST

/* Llama-3.1-8B, 64 chips, fsdp 64, 1 sequence of 4096 a chip, full recomputation. Parameters
 * 8,030,261,248, a layer 218,112,000. */
START_TEST(by_hand)
{
    struct wl_study s =
        wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", "batch: 64, sequence: 4096", "fsdp: 64");
    struct wl_memory m = wl_memory_of(&s);
    double shard = 8030261248.0 / 64;
    ck_assert_double_eq(m.bytes[WL_MEMORY_MASTER], 4 * shard);
    ck_assert_double_eq(m.bytes[WL_MEMORY_GRADIENTS], 4 * shard);
    ck_assert_double_eq(m.bytes[WL_MEMORY_OPTIMIZER], 8 * shard);
    ck_assert_double_eq(m.bytes[WL_MEMORY_SAVED],
                        32 * 2.0 * 4096 * 4096); /* the input of each layer */
    /* The loss is worst: logits 2 x 4096 x 128256 and the head's input twice (whole and as shards:
     * t = 1) */
    ck_assert_str_eq(m.worst_moment, "loss");
    ck_assert_double_eq(m.bytes[WL_MEMORY_WORKING], 2.0 * 4096 * 128256 + 2 * 2.0 * 4096 * 4096);
    ck_assert_double_eq(m.bytes[WL_MEMORY_GATHERED], 2 * (128256.0 * 4096 + 218112000));
    ck_assert_double_eq(m.bytes[WL_MEMORY_UNREDUCED], 4 * 128256.0 * 4096);
    double sum = 0;
    for (int k = 0; k < WL_MEMORY_KINDS; k++)
        sum += m.bytes[k];
    ck_assert_double_eq(m.total_bytes, sum);
    ck_assert(m.fits);
    ck_assert_double_eq(m.host_bytes, 0);
    wl_study_release(&s);
}
END_TEST

/* Small vocabulary: the backward of a layer is worst. Tokens 4096, D 1024, F 4096, 8 heads of 128,
 * plain MLP. Made again with remat full: 3 D (norms, residual) + 3 D (q, k, v) + D (context) + D
 * (out) + F + F; edges: D and F. In D: 8 + 8 + 1
 * + 4 = 21, plus softmax statistics of 4 bytes a token and head. */
START_TEST(backward_working_set)
{
    struct wl_study s = wl_study_or_fail(
        "v5p:4x4x4", "{layers: 4, width: 1024, mlp_width: 4096, heads: 8, vocab: 1000, mlp: plain}",
        "batch: 64, sequence: 4096", "fsdp: 64");
    struct wl_memory m = wl_memory_of(&s);
    ck_assert_str_eq(m.worst_moment, "backward of a layer");
    ck_assert_double_eq(m.bytes[WL_MEMORY_WORKING], 2.0 * 4096 * 1024 * 21 + 4 * 4096 * 8);
    wl_study_release(&s);
}
END_TEST

static double kind_of(const char *sharding, const char *training, enum wl_memory_kind kind)
{
    struct wl_study s = wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", training, sharding);
    struct wl_memory m = wl_memory_of(&s);
    wl_study_release(&s);
    return m.bytes[kind];
}

/* Each kind halves when the axis that divides it doubles, and does not move with one that does not.
 * Norms (1e-4 of the parameters) and, beyond 8 chips, copied k and v heads are not divided by
 * tensor. */
START_TEST(halves_when_its_axis_doubles)
{
    static const enum wl_memory_kind shards[] = {WL_MEMORY_MASTER, WL_MEMORY_GRADIENTS,
                                                 WL_MEMORY_OPTIMIZER};
    const char *t = "batch: 64, sequence: 4096";
    for (int i = 0; i < 3; i++) {
        double base = kind_of("data: 4, fsdp: 8, tensor: 2", t, shards[i]);
        ck_assert_double_eq(kind_of("data: 2, fsdp: 16, tensor: 2", t, shards[i]), base / 2);
        ck_assert_double_eq_tol(kind_of("data: 2, fsdp: 8, tensor: 4", t, shards[i]) / base, 0.5,
                                1e-3);
        ck_assert_double_eq_tol(kind_of("data: 8, fsdp: 8, tensor: 1", t, shards[i]) / base, 2,
                                1e-3);
    }
    double saved = kind_of("data: 4, fsdp: 8, tensor: 2", t, WL_MEMORY_SAVED);
    ck_assert_double_eq(kind_of("data: 8, fsdp: 8, tensor: 1", t, WL_MEMORY_SAVED), saved);
    ck_assert_double_eq(kind_of("fsdp: 32, tensor: 2", t, WL_MEMORY_SAVED), saved);
    ck_assert_double_eq(
        kind_of("fsdp: 32, tensor: 2", "batch: 128, sequence: 4096", WL_MEMORY_SAVED), 2 * saved);
    double gathered = kind_of("data: 4, fsdp: 8, tensor: 2", t, WL_MEMORY_GATHERED);
    ck_assert_double_eq(kind_of("fsdp: 32, tensor: 2", t, WL_MEMORY_GATHERED), gathered);
    ck_assert_double_eq_tol(kind_of("fsdp: 16, tensor: 4", t, WL_MEMORY_GATHERED) / gathered, 0.5,
                            1e-3);
}
END_TEST

START_TEST(policies)
{
    /* Bytes of a token and layer of Llama-3.1-8B, one chip's, w = 2: D 4096, q + 2 kv 6144, F
     * 14336, 32 heads */
    double tokens = 4096, d = 2 * 4096, qkv = 2 * 6144, f = 2 * 14336, statistics = 4 * 32;
    const struct {
        const char *training;
        double saved, host;
    } rows[] = {
        {"batch: 64, sequence: 4096, remat: full", d, 0},
        {"batch: 64, sequence: 4096, remat: minimal", 4 * d + qkv + statistics + 2 * f, 0},
        {"batch: 64, sequence: 4096, remat: none", 3 * d + qkv + statistics + 3 * f + 3 * d, 0},
        {"batch: 64, sequence: 4096, remat: offload", 0, d + qkv},
        {"batch: 64, sequence: 4096, remat: {input: offload, mlp_act: keep}", f, d},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct wl_study s =
            wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", rows[i].training, "fsdp: 64");
        struct wl_memory m = wl_memory_of(&s);
        ck_assert_double_eq(m.bytes[WL_MEMORY_SAVED], 32 * tokens * rows[i].saved);
        ck_assert_double_eq(m.host_bytes, 32 * tokens * rows[i].host);
        wl_study_release(&s);
    }
}
END_TEST

START_TEST(says_what_does_not_fit)
{
    char text[400];
    struct wl_study s =
        wl_study_or_fail("v6e:4x4", "llama3.1-70b", "batch: 16, sequence: 4096", "fsdp: 16");
    struct wl_memory m = wl_memory_of(&s);
    ck_assert(!m.fits); /* 16 bytes x 70.55e9 / 16 alone are 70.6 GB */
    wl_memory_advice(&s, &m, text, sizeof text);
    ck_assert_ptr_nonnull(strstr(text, "of 32.00 GB"));
    ck_assert_ptr_nonnull(strstr(text,
                                 "most is optimizer state (35.28 GB, divided by fsdp x tensor): a "
                                 "larger fsdp axis (more chips) divides it"));
    wl_study_release(&s);
}
END_TEST

/* The runs that were published did fit. */
static const char *const published[] = {
    "v6e-llama2-70b-t1",  "v6e-llama3.1-70b-t3",  "v6e-llama3.1-70b-t5",
    "v6e-llama3.1-8b-t7", "v6e-llama3.1-8b-t11a", "v6e-llama3.1-8b-t11b",
    "v7-llama3.1-70b-i1", "v5p-gpt3-175b-p2",     "v5p-128b"};

START_TEST(published_runs_fit)
{
    static const char *const set[] = {"system.chip.matmul_efficiency=0.7",
                                      "system.chip.attention_efficiency=0.2",
                                      "system.chip.hbm_efficiency=0.8"};
    char path[512];
    struct sim_error err = {0};
    struct wl_study s;
    snprintf(path, sizeof path, "%s/tests/studies/%s.yaml", PODSIM_SOURCE_DIR, published[_i]);
    ck_assert_msg(wl_study_load(path, set, 3, &err, &s) == SIM_OK, "%s", err.text);
    struct wl_memory m = wl_memory_of(&s);
    ck_assert_msg(m.fits, "%s: %.2f of %.2f GB", published[_i], m.total_bytes / 1e9,
                  m.hbm_bytes / 1e9);
    wl_study_release(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("memory");
    TCase *c = tcase_create("literature");
    tcase_add_test(c, megatron_layer);
    tcase_add_loop_test(c, megatron_figures, 0, 4);
    suite_add_tcase(s, c);
    c = tcase_create("kinds");
    tcase_add_test(c, by_hand);
    tcase_add_test(c, backward_working_set);
    tcase_add_test(c, halves_when_its_axis_doubles);
    tcase_add_test(c, policies);
    tcase_add_test(c, says_what_does_not_fit);
    tcase_add_loop_test(c, published_runs_fit, 0, (int)(sizeof published / sizeof published[0]));
    suite_add_tcase(s, c);
    return run_suite(s);
}
