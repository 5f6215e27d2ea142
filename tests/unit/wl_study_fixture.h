/**
 * Studies as text for the tests of the workloads layer.
 */
#ifndef PODSIM_TESTS_UNIT_WL_STUDY_FIXTURE_H
#define PODSIM_TESTS_UNIT_WL_STUDY_FIXTURE_H

#include <stdio.h>

#include "check_main.h"
#include "workloads/study.h"

/** Efficiencies of their own, so that tests do not move when a preset is fitted again. */
#define WL_CHIP "chip: {matmul_efficiency: 0.7, attention_efficiency: 0.25, hbm_efficiency: 0.8}"

/** A study of `topology` (with a chip that has rates), `model`, `training` (the mapping's inside)
 * and `sharding`. */
static inline void wl_study_text(char *out, size_t bytes, const char *topology, const char *model,
                                 const char *training, const char *sharding)
{
    int length = snprintf(out, bytes,
                          "system: {topology: \"%s\", " WL_CHIP "}\nmodel: %s\ntraining: {%s}\n"
                          "sharding: {%s}\n",
                          topology, model, training, sharding);
    ck_assert_int_lt(length, (int)bytes);
}

static inline struct wl_study wl_study_or_fail(const char *topology, const char *model,
                                               const char *training, const char *sharding)
{
    char text[2048], message[1024];
    struct sim_error err = {0};
    struct wl_study study;
    wl_study_text(text, sizeof text, topology, model, training, sharding);
    if (wl_study_parse(text, "s.yaml", &err, &study) != SIM_OK)
        ck_abort_msg("%s", sim_error_format(&err, message, sizeof message));
    return study;
}

#endif
