/*
 * Published training steps: the rows the efficiencies are fitted on come out, the others are
 * predicted within 10 %.
 *
 * The studies in tests/studies say what each run was and where it was published.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../unit/check_main.h"
#include "workloads/step.h"

#define FITTED    5e-4 /* four digits of the constants */
#define PREDICTED 0.10

static const struct {
    const char *study;
    double seconds, tolerance;
} rows[] = {
    {"v6e-llama2-70b-t1", 9.052, PREDICTED},    {"v6e-llama3.1-70b-t3", 42.656, FITTED},
    {"v6e-llama3.1-70b-t5", 18.688, PREDICTED}, {"v6e-llama3.1-8b-t7", 4.546, FITTED},
    {"v6e-llama3.1-8b-t11a", 3.443, PREDICTED}, {"v6e-llama3.1-8b-t11b", 3.393, PREDICTED},
    {"v7-llama3.1-70b-i1", 12.20, FITTED},      {"v5p-128b", 5.0217, FITTED},
    {"v5p-gpt3-175b-p2", 22.197, FITTED},
};

/* What scripts/fit-efficiency prints, for chips whose preset does not have it yet. */
static const struct {
    const char *chip, *set[3];
} fitted[] = {
    {"v6e",
     {"system.chip.matmul_efficiency=0.7608", "system.chip.attention_efficiency=0.2355",
      "system.chip.hbm_efficiency=0.83"}},
    {"v7",
     {"system.chip.matmul_efficiency=0.7734", "system.chip.attention_efficiency=0.2394",
      "system.chip.hbm_efficiency=0.87"}},
    {"v5p",
     {"system.chip.matmul_efficiency={bf16: 0.7630, int8: 0.6524}",
      "system.chip.attention_efficiency=0.2362", "system.chip.hbm_efficiency=0.85"}},
};

static struct wl_study load(const char *name)
{
    char path[512], chip[8];
    struct sim_error err = {0};
    struct wl_study study;
    uint32_t count = 0;
    const char *const *set = NULL;
    snprintf(chip, sizeof chip, "%.*s", (int)strcspn(name, "-"), name);
    const struct topo_chip *preset = topo_chip_find(chip);
    ck_assert_ptr_nonnull(preset);
    for (size_t i = 0; i < sizeof fitted / sizeof fitted[0]; i++)
        if (strcmp(fitted[i].chip, chip) == 0 && preset->matmul_efficiency[TOPO_BF16] == 0) {
            set = fitted[i].set;
            count = 3;
        }
    snprintf(path, sizeof path, "%s/tests/studies/%s.yaml", PODSIM_SOURCE_DIR, name);
    ck_assert_msg(wl_study_load(path, set, count, &err, &study) == SIM_OK, "%s", err.text);
    return study;
}

START_TEST(step_takes_as_long_as_measured)
{
    struct sim_error err = {0};
    struct wl_study study = load(rows[_i].study);
    struct wl_step step;
    ck_assert_msg(wl_step_run(&study, NULL, &err, &step) == SIM_OK, "%s", err.text);
    double error = step.step_s / rows[_i].seconds - 1;
    ck_assert_msg(fabs(error) <= rows[_i].tolerance, "%s: %.4f s, measured %.4f s (%+.2f %%)",
                  rows[_i].study, step.step_s, rows[_i].seconds, 100 * error);
    ck_assert(step.memory.fits);
    wl_step_release(&step);
    wl_study_release(&study);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("step rows");
    TCase *c = tcase_create("published");
    tcase_set_timeout(c, 200);
    tcase_add_loop_test(c, step_takes_as_long_as_measured, 0, (int)(sizeof rows / sizeof rows[0]));
    suite_add_tcase(s, c);
    return run_suite(s);
}
