/** What reading and checking a study share. */
#ifndef PODSIM_WORKLOADS_STUDY_INTERNAL_H
#define PODSIM_WORKLOADS_STUDY_INTERNAL_H

#include "base/yaml.h"
#include "workloads/study.h"

/** The deepest node there is on the path of mapping keys (NULL-terminated); the root at worst. */
const struct sim_yaml_node *wl_study_place(const struct sim_yaml_node *root,
                                           const char *const *path);
#define WL_PLACE(root, ...) wl_study_place(root, (const char *const[]){__VA_ARGS__, NULL})

/** Mesh product, divisibility, rates the chip lacks. Before placement. */
SIM_MUST_CHECK enum sim_status wl_study_check(const struct wl_study *study,
                                              const struct sim_yaml_node *root,
                                              struct sim_error *err);

#endif
