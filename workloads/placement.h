/**
 * Placement: mesh axes onto the axes of the torus.
 *
 * The most network-hungry axis (tensor, then fsdp, then data) chooses first. It takes whole
 * physical axes where some have the right product, else it splits axes from the inside out (a
 * sub-ring of x4, a 2x2 square, ...). Among several ways the one whose all-gathers take least time
 * by closed form wins, all mesh axes together weighted by their bytes. Source of the order: JAX,
 * mesh_utils.create_device_mesh.
 */
#ifndef PODSIM_WORKLOADS_PLACEMENT_H
#define PODSIM_WORKLOADS_PLACEMENT_H

#include "workloads/study.h"

/** Place the axes that have none. The sizes must multiply to the chips. Errors: SIM_EDATA (the axes
 * given leave no way). */
SIM_MUST_CHECK enum sim_status wl_placement_choose(struct wl_study *study, struct sim_error *err);

/** "x (8 chips, wrapped)" or "x4@2 (4 chips 2 apart, line)". Returns `buffer`. */
const char *wl_placement_format(const topo *t, const struct topo_group *group, char *buffer,
                                int bytes);

#endif
