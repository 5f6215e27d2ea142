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

static struct wl_study load(const char *name)
{
    struct sim_error err = {0};
    struct wl_study study;
    char path[512];
    snprintf(path, sizeof path, "%s/tests/studies/%s.yaml", PODSIM_SOURCE_DIR, name);
    ck_assert_msg(wl_study_load(path, NULL, 0, &err, &study) == SIM_OK, "%s", err.text);
    return study;
}

START_TEST(step_takes_as_long_as_measured)
{
    struct sim_error err = {0};
    struct wl_study study = load(rows[_i].study);
    struct wl_step step;
    ck_assert_msg(wl_step_run(&study, NULL, NULL, &err, &step) == SIM_OK, "%s", err.text);
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
