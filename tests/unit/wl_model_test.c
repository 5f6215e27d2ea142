/*
 * Parameter sums against the published ones, and the closed form of the GPT family.
 */
#include "workloads/model.h"

#include <math.h>
#include <string.h>

#include "check_main.h"

static const struct wl_model *model_or_fail(const char *name)
{
    const struct wl_model *m = wl_model_find(name);
    ck_assert_ptr_nonnull(m);
    return m;
}

static const struct {
    const char *name;
    double params_1e9, tolerance_1e9; /* half of the last printed digit */
} sums[] = {
    /* V 51200: 12 L h^2 (1 + 13/12h + (V + S)/12Lh), [N21] table 1 and [K22] table 3 */
    {"n21-1.7b", 1.7, 0.05},
    {"n21-3.6b", 3.6, 0.05},
    {"n21-7.5b", 7.5, 0.05},
    {"n21-18.4b", 18.4, 0.05},
    {"n21-76.1b", 76.1, 0.05},
    {"n21-145.6b", 145.6, 0.05},
    {"k22-22b", 22, 0.5},
    {"k22-175b", 174.6, 0.05},
    {"k22-530b", 529.6, 0.05},
    {"k22-1t", 1008.0, 0.05},
    {"gpt3-175b", 174.6, 0.05},
    /* 32 x (4096 x (2 x 4096 + 2 x 1024) + 3 x 4096 x 14336 + 2 x 4096) + 2 x 128256 x 4096 + 4096
       = 8,030,261,248 */
    {"llama3.1-8b", 8.030261248, 1e-9},
    {"llama3.1-70b", 70.55, 0.005},
    {"llama3.1-405b", 405.9, 0.06},
    {"llama2-70b", 68.98, 0.005},
    {"mistral-7b", 7.24, 0.005},
};

START_TEST(sum_is_the_published_one)
{
    const struct wl_model *m = model_or_fail(sums[_i].name);
    double total = (double)wl_model_params(m).total / 1e9;
    ck_assert_msg(fabs(total - sums[_i].params_1e9) <= sums[_i].tolerance_1e9,
                  "%s: %.9f, want %.9f", m->name, total, sums[_i].params_1e9);
}
END_TEST

START_TEST(parts_of_a_layer)
{
    /* GPT layer: attention 4 h^2 + 4 h, MLP 8 h^2 + 5 h, norms 4 h: 12 h^2 + 13 h */
    uint64_t h = 12288;
    struct wl_params p = wl_model_params(model_or_fail("k22-175b"));
    ck_assert_uint_eq(p.attention, 4 * h * h + 4 * h);
    ck_assert_uint_eq(p.mlp, 8 * h * h + 5 * h);
    ck_assert_uint_eq(p.norms, 4 * h);
    ck_assert_uint_eq(p.layer, 12 * h * h + 13 * h);
    ck_assert_uint_eq(p.embedding, 51200 * h);
    ck_assert_uint_eq(p.positions, 2048 * h);
    ck_assert_uint_eq(p.head, 0); /* tied */
    ck_assert_uint_eq(p.total, 96 * p.layer + (51200 + 2048) * h + 2 * h);

    /* Llama: D (2 N + 2 K) H = 8192 x 144 x 128, 3 D F = 3 x 8192 x 28672 */
    p = wl_model_params(model_or_fail("llama3.1-70b"));
    ck_assert_uint_eq(p.attention, 150994944);
    ck_assert_uint_eq(p.mlp, 704643072);
    ck_assert_uint_eq(p.norms, 16384);
    ck_assert_uint_eq(p.head, p.embedding);
}
END_TEST

static enum sim_status read(const char *text, struct sim_error *err, struct wl_model *out)
{
    sim_yaml *doc;
    ck_assert_int_eq(sim_yaml_parse(text, strlen(text), "m.yaml", err, &doc), SIM_OK);
    enum sim_status status = wl_model_read(sim_yaml_find(sim_yaml_root(doc), "model"), err, out);
    sim_yaml_destroy(doc);
    return status;
}

START_TEST(mapping_gives_the_same_as_the_preset)
{
    struct sim_error err = {0};
    struct wl_model m;
    ck_assert_int_eq(read("model: {name: x, layers: 80, width: 8192, mlp_width: 28672, heads: 64, "
                          "kv_heads: 8, vocab: 128256}\n",
                          &err, &m),
                     SIM_OK);
    ck_assert_str_eq(m.name, "x");
    ck_assert_uint_eq(m.head_size, 128); /* width / heads */
    ck_assert_uint_eq(wl_model_params(&m).total,
                      wl_model_params(model_or_fail("llama3.1-70b")).total);
    ck_assert_int_eq(
        read("model: {layers: 96, width: 12288, mlp_width: 49152, heads: 96, vocab: 51200, "
             "positions: 2048, mlp: plain, embedding: tied, norm: layernorm, bias: true}\n",
             &err, &m),
        SIM_OK);
    ck_assert_uint_eq(wl_model_params(&m).total, wl_model_params(model_or_fail("k22-175b")).total);
}
END_TEST

static const struct {
    const char *text, *message;
} bad[] = {
    {"model: mixtral-8x7b\n",
     "m.yaml:1:8: model \"mixtral-8x7b\" (mixture of experts) is not supported "
     "yet; dense decoders are"},
    {"model: gemma3-12b\n", "m.yaml:1:8: model \"gemma3-12b\" (sliding-window attention) is not "
                            "supported yet; dense decoders are"},
    {"model: llama3.1-7b\n",
     "m.yaml:1:8: unknown model \"llama3.1-7b\", did you mean \"llama3.1-8b\": "
     "want a preset (podsim presets), a .yaml file or a mapping"},
    {"model: {layers: 2, width: 10, mlp_width: 8, heads: 3, vocab: 5}\n",
     "m.yaml:1:8: width 10 is not a multiple of heads 3: give head_size"},
    {"model: {layers: 2, width: 12, mlp_width: 8, heads: 3, kv_heads: 2, vocab: 5}\n",
     "m.yaml:1:8: heads 3 is not a multiple of kv_heads 2"},
};

START_TEST(bad_model_gives_one_line)
{
    struct sim_error err = {0};
    struct wl_model m;
    char text[1024];
    ck_assert_int_eq(read(bad[_i].text, &err, &m), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, text, sizeof text), bad[_i].message);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("model");
    TCase *c = tcase_create("params");
    tcase_add_loop_test(c, sum_is_the_published_one, 0, (int)(sizeof sums / sizeof sums[0]));
    tcase_add_test(c, parts_of_a_layer);
    tcase_add_test(c, mapping_gives_the_same_as_the_preset);
    tcase_add_loop_test(c, bad_model_gives_one_line, 0, (int)(sizeof bad / sizeof bad[0]));
    suite_add_tcase(s, c);
    return run_suite(s);
}
