/*
 * Good studies, and bad ones: each gives one line with its place.
 */
#include "workloads/study.h"

#include <string.h>

#include "topo/routing.h"
#include "workloads/shard.h"
#include "wl_study_fixture.h"

START_TEST(defaults)
{
    struct wl_study s =
        wl_study_or_fail("v5p:4x4x4", "llama3.1-8b", "batch: 64, sequence: 4096", "fsdp: 64");
    ck_assert_int_eq(s.precision, TOPO_BF16);
    ck_assert_str_eq(s.remat.name, "full");
    ck_assert_int_eq(s.optimizer, WL_ADAMW);
    ck_assert_double_eq(s.gradient_bytes, 4);
    ck_assert(!s.overlaps_tensor);
    ck_assert_int_eq(s.attention_count, WL_COUNT_CAUSAL);
    ck_assert_int_eq(s.engine, WL_FLOW);
    ck_assert_int_eq(s.launch_overhead_ps, 5 * SIM_PS_PER_US); /* v5p's */
    ck_assert_str_eq(s.name, "s");
    ck_assert_uint_eq(s.axis[WL_FSDP].group.size, 64);
    ck_assert(s.has_override);
    ck_assert(s.has_own_efficiencies);
    wl_study_release(&s);
}
END_TEST

START_TEST(everything_said)
{
    static const char text[] =
        "system:\n"
        "  topology: v6e:8x8\n"
        "  chip: {bf16: 100TFLOP/s, int8: 200TOP/s, hbm: 16GiB, hbm_bandwidth: 800GB/s, pcie: "
        "8GB/s,\n"
        "         matmul_efficiency: {bf16: 0.5, int8: 40%}, attention_efficiency: 0.2, "
        "hbm_efficiency: 0.9}\n"
        "  network: {link: 50GB/s, hop_latency: 2us, launch_overhead: 0, engine: bound, tie: "
        "positive,\n"
        "            routing: up-down, fail: \"link:0,0:+x;link:1,1:+y:out\", fail_random: "
        "\"links=1,seed=2\"}\n"
        "model: {layers: 2, width: 1024, mlp_width: 4096, heads: 8, vocab: 1000}\n"
        "training:\n"
        "  batch: 32\n  sequence: 128\n  precision: int8\n"
        "  remat: {input: offload, qkv: keep, mlp_act: offload}\n"
        "  optimizer: sgd\n  gradient: bf16\n  attention_flops: full\n  tensor_overlap: true\n"
        "sharding:\n  data: 2\n  fsdp: 8\n  tensor: 4\n"
        "  placement: {tensor: x4, data: x2@4}\n";
    struct sim_error err = {0};
    struct wl_study s;
    ck_assert_int_eq(wl_study_parse(text, "dir/all.yaml", &err, &s), SIM_OK);
    ck_assert_str_eq(s.name, "all");
    ck_assert_double_eq(s.chip.flops[TOPO_INT8], 200e12);
    ck_assert_double_eq(s.chip.matmul_efficiency[TOPO_INT8], 0.4);
    ck_assert_double_eq(s.chip.matmul_efficiency[TOPO_BF16], 0.5);
    ck_assert_double_eq(s.chip.attention_efficiency[TOPO_BF16], 0.2);
    ck_assert_uint_eq(s.chip.hbm_bytes, UINT64_C(16) << 30);
    ck_assert_double_eq(topo_default_link_rate(s.topology), 50e9);
    ck_assert_int_eq(topo_default_latency_ps(s.topology), 2 * SIM_PS_PER_US);
    ck_assert_str_eq(topo_routing_name(s.topology), "up-down");
    ck_assert_uint_eq(topo_links(s.topology), 2 * 2 * 7 * 8 - 2 - 1 - 2);
    ck_assert_int_eq(s.launch_overhead_ps, 0);
    ck_assert_int_eq(s.engine, WL_BOUND);
    ck_assert_str_eq(s.remat.name, "custom");
    ck_assert_int_eq(s.remat.tensor[WL_INPUT], WL_OFFLOAD);
    ck_assert_int_eq(s.remat.tensor[WL_QKV], WL_KEEP);
    ck_assert_int_eq(s.remat.tensor[WL_CONTEXT], WL_RECOMPUTE);
    ck_assert_int_eq(s.remat.tensor[WL_MLP_ACT], WL_OFFLOAD);
    ck_assert_double_eq(s.gradient_bytes, 2);
    ck_assert(s.overlaps_tensor);
    char text_of[64]; /* what was left: y, whole */
    ck_assert_str_eq(topo_group_format(s.topology, &s.axis[WL_FSDP].group, text_of, sizeof text_of),
                     "y");
    wl_study_release(&s);
}
END_TEST

START_TEST(shard_of_a_mesh)
{
    /* data 2 x fsdp 8 x tensor 4: 32 sequences of 128 tokens are 2 sequences, 256 tokens, a tensor
     * group */
    struct wl_study s =
        wl_study_or_fail("v5p:4x4x4",
                         "{layers: 3, width: 1024, mlp_width: 4096, heads: 8, kv_heads: 2, "
                         "vocab: 1000}",
                         "batch: 32, sequence: 128", "data: 2, fsdp: 8, tensor: 4");
    struct wl_shard shard = wl_shard_of(&s);
    ck_assert_double_eq(shard.tokens, 256);
    ck_assert_double_eq(shard.local_tokens, 64);
    ck_assert_double_eq(shard.query, 256); /* 8 heads of 128 over 4 */
    ck_assert_double_eq(shard.kv, 128);    /* 2 heads over 4 chips: one each, two copies */
    ck_assert_double_eq(shard.kv_copies, 2);
    ck_assert_double_eq(shard.mlp_width, 1024);
    /* 1024 x (2 x 256 + 2 x 128) + 3 x 1024 x 1024 + 2 x 1024 */
    ck_assert_double_eq(shard.layer_params, 786432 + 3145728 + 2048);
    ck_assert_double_eq(wl_tensor_bytes(&s, &shard, WL_INPUT), 2.0 * 64 * 1024);
    ck_assert_double_eq(wl_tensor_bytes(&s, &shard, WL_QKV), 2.0 * 256 * (256 + 2 * 128));
    ck_assert_double_eq(wl_tensor_bytes(&s, &shard, WL_MLP_IN), 2.0 * 256 * 2 * 1024);
    wl_study_release(&s);
}
END_TEST

/* Each row changes one thing in this study. */
#define SYSTEM   "system: {topology: \"v5p:4x4x4\", " WL_CHIP "}\n"
#define MODEL    "model: llama3.1-8b\n"
#define TRAINING "training: {batch: 64, sequence: 4096}\n"
#define SHARDING "sharding: {fsdp: 64}\n"

static const struct {
    const char *text, *message;
} bad[] = {
    {SYSTEM MODEL "training: {batch: 64, sequence: 4096, pecision: bf16}\n" SHARDING,
     "s.yaml:3:39: unknown key \"pecision\", did you mean \"precision\"?"},
    {"system: {topology: \"v5p:4x4x4\", network: {link: 50}}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:49: link: \"50\" has no unit, want a number with a unit such as \"45GB/s\" or "
     "\"100Gbps\" (B/s, kB/s, MB/s, GB/s, TB/s; KiB/s to TiB/s; bps, kbps, Mbps, Gbps, Tbps)"},
    {"system: {topology: \"v5p:4x4x4\", network: {fail: \"link:9,0,0:+x\"}}\n" MODEL TRAINING
         SHARDING,
     "s.yaml:1:42: fault place \"9,0,0:+x\": x is 9, want less than 4"},
    {"system: {topology: \"v5p:4x0x4\"}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:20: topology v5p:4x0x4: dimension y is 0, want >= 1"},
    {"system: {topology: \"toruss:4x4\"}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:20: unknown topology \"toruss\" in \"toruss:4x4\", did you mean \"torus\"?"},
    {"system: {topology: \"v5p:3x4x4\"}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:20: v5p:3x4x4 is no v5p slice, want whole 4x4x4 cubes (sides multiples of 4), or "
     "2x2x1, 2x2x2, 2x2x4, 2x4x4; nearest legal shape 4x4x4"},
    {"system: {topology: \"v4:4x4x4\"}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:20: chip v4 has no published bf16 matmul efficiency; set "
     "system.chip.matmul_efficiency to assume one"},
    {"system: {topology: \"v8t:4x4x4\"}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:20: chip v8t has no published bf16 rate; set system.chip.bf16 to assume one"},
    {SYSTEM MODEL "training: {batch: 64, sequence: 4096, precision: fp4}\n" SHARDING,
     "s.yaml:3:50: precision is \"fp4\", want one of \"bf16\", \"fp8\", \"int8\" (did you mean "
     "\"fp8\"?)"},
    {"system: {topology: \"v7:4x4x4\", " WL_CHIP "}\n" MODEL
     "training: {batch: 64, sequence: 4096, precision: int8}\n" SHARDING,
     "s.yaml:3:50: chip v7 has no published int8 rate; set system.chip.int8 to assume one"},
    {SYSTEM MODEL "training: {batch: -64, sequence: 4096}\n" SHARDING,
     "s.yaml:3:19: batch is \"-64\", want a whole number from 1 to 1000000000"},
    {SYSTEM MODEL "training: {batch: 96, sequence: 4096}\n" SHARDING,
     "s.yaml:3:19: batch 96 is not a multiple of data 1 x fsdp 64: 64 or 128 would fit"},
    {SYSTEM MODEL "training: {sequence: 4096}\n" SHARDING,
     "s.yaml:3:1: missing key \"batch\" in training"},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 32}\n",
     "s.yaml:4:11: data 1 x fsdp 32 x tensor 1 = 32 chips, but v5p:4x4x4 has 64: fsdp 64 would "
     "fit"},
    {SYSTEM MODEL TRAINING "sharding: {data: 3, fsdp: 7, tensor: 5}\n",
     "s.yaml:4:11: data 3 x fsdp 7 x tensor 5 = 105 chips, but v5p:4x4x4 has 64: no change of one "
     "axis makes it fit"},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 1, tensor: 64}\n",
     "s.yaml:4:29: tensor 64 does not divide the model's heads 32"},
    {SYSTEM
     "model: {layers: 2, width: 768, mlp_width: 3072, heads: 16, kv_heads: 16, head_size: 48, "
     "vocab: "
     "9, mlp: plain}\ntraining: {batch: 64, sequence: 4098}\nsharding: {fsdp: 16, tensor: 4}\n",
     "s.yaml:4:30: tensor 4 does not divide the sequence of 4098 tokens (norms are split by "
     "sequence)"},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 16, tensor: 4, placement: {tensor: x, fsdp: xy}}\n",
     "s.yaml:4:44: placement of tensor overlaps another axis's: two factors of axis x in a group "
     "overlap"},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 16, tensor: 4, placement: {tensor: xy}}\n",
     "s.yaml:4:53: placement \"xy\" of tensor has 16 chips, the axis has 4"},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 16, tensor: 4, placement: {tensor: q}}\n",
     "s.yaml:4:53: axes \"q\": no axis \"q\" in v5p:4x4x4, want some of \"xyz\""},
    {SYSTEM MODEL "training: {batch: 64, sequence: 4096, remat: ful}\n" SHARDING,
     "s.yaml:3:46: remat is \"ful\", did you mean \"full\": want none, minimal, full, offload or a "
     "mapping of tensors"},
    {SYSTEM MODEL "training: {batch: 64, sequence: 4096, remat: {input: recompute}}\n" SHARDING,
     "s.yaml:3:54: a layer's input cannot be recomputed: want keep or offload"},
    {SYSTEM MODEL "training: {batch: 64, sequence: 4096, remat: {qkw: keep}}\n" SHARDING,
     "s.yaml:3:47: unknown key \"qkw\", did you mean \"qkv\"?"},
    {"system: {topology: \"v5p:4x4x4\", chip: {matmul_efficiency: 1.5}}\n" MODEL TRAINING SHARDING,
     "s.yaml:1:59: matmul_efficiency: \"1.5\" is above 1, want a share above 0 and up to 1 such as "
     "\"0.6\" or \"60%\""},
    {"system: {topology: \"v5p:4x4x4\", chip: {matmul_efficiency: [0.5]}}\n" MODEL TRAINING
         SHARDING,
     "s.yaml:1:59: matmul_efficiency is a list: want a share such as 0.6"},
    {"system: {topology: \"v3:32x32\", " WL_CHIP "}\n" MODEL
     "training: {batch: 1024, sequence: 4096, remat: offload}\nsharding: {fsdp: 1024}\n",
     "s.yaml:1:20: chip v3 has no published PCIe rate; set system.chip.pcie to assume one"},
    {SYSTEM MODEL "training: {batch: 1000000000, sequence: 99999744}\nsharding: {fsdp: 64}\n",
     "s.yaml:3:19: a step of 1000000000 sequences of 99999744 tokens would take over a week"},
    {SYSTEM MODEL TRAINING, "s.yaml:1:1: missing key \"sharding\""},
    {SYSTEM MODEL TRAINING "sharding: {fsdp: 64\n",
     "s.yaml:5:1: did not find expected ',' or '}' while parsing a flow mapping from line 4"},
};

START_TEST(bad_study_gives_one_line)
{
    struct sim_error err = {0};
    struct wl_study study;
    char text[1024];
    enum sim_status status = wl_study_parse(bad[_i].text, "s.yaml", &err, &study);
    ck_assert_int_eq(status, SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, text, sizeof text), bad[_i].message);
}
END_TEST

START_TEST(missing_file)
{
    struct sim_error err = {0};
    struct wl_study study;
    ck_assert_int_eq(wl_study_load("/nonexistent/s.yaml", NULL, 0, &err, &study), SIM_ENOINPUT);
}
END_TEST

/* A model's file is looked for beside the study. */
START_TEST(model_from_a_file)
{
    static const char text[] = SYSTEM "model: models/maxtext-128b.yaml\n" TRAINING SHARDING;
    struct sim_error err = {0};
    struct wl_study study;
    ck_assert_int_eq(wl_study_parse(text, PODSIM_SOURCE_DIR "/tests/studies/s.yaml", &err, &study),
                     SIM_OK);
    ck_assert_str_eq(study.model.name, "maxtext-128b");
    /* 64 x (4 x 8192 x 16384 + 3 x 8192 x 57344 + 2 x 8192) + 2 x 32000 x 8192 + 8192 */
    ck_assert_uint_eq(wl_model_params(&study.model).total, UINT64_C(125079396352));
    wl_study_release(&study);
    ck_assert_int_eq(wl_study_parse(text, "elsewhere/s.yaml", &err, &study), SIM_ENOINPUT);
    ck_assert_str_eq(err.file, "elsewhere/models/maxtext-128b.yaml");
}
END_TEST

START_TEST(overrides_come_with_their_own_place)
{
    static const char *const one[] = {"training.batch=63"};
    const char *path = PODSIM_SOURCE_DIR "/tests/studies/v6e-llama3.1-70b-t3.yaml";
    struct sim_error err = {0};
    struct wl_study study;
    char text[1024];
    ck_assert_int_eq(wl_study_load(path, one, 1, &err, &study), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, text, sizeof text),
                     "--set: batch 63 is not a multiple of data 1 x fsdp 256: 256 would fit");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("study");
    TCase *c = tcase_create("good");
    tcase_add_test(c, defaults);
    tcase_add_test(c, everything_said);
    tcase_add_test(c, shard_of_a_mesh);
    suite_add_tcase(s, c);
    c = tcase_create("bad");
    tcase_add_loop_test(c, bad_study_gives_one_line, 0, (int)(sizeof bad / sizeof bad[0]));
    tcase_add_test(c, missing_file);
    tcase_add_test(c, model_from_a_file);
    tcase_add_test(c, overrides_come_with_their_own_place);
    suite_add_tcase(s, c);
    return run_suite(s);
}
