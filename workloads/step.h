/**
 * One training step, simulated: how long it takes, what of it is computing and what is waiting, and
 * for what.
 */
#ifndef PODSIM_WORKLOADS_STEP_H
#define PODSIM_WORKLOADS_STEP_H

#include "netsim/link_stats.h"
#include "netsim/run.h"
#include "base/progress.h"
#include "workloads/graph.h"
#include "workloads/memory.h"

/** Operations of one class on the chip that is reported. */
struct wl_part {
    struct wl_class class;
    double total_s; /* durations summed; of collectives from when they could start to their end */
    double
        exposed_s; /* the compute stream stood still until one of these was done; 0 for compute */
};

struct wl_bound {
    double time_s; /* the largest of the next four */
    double compute_s, network_s, save_s, fetch_s;
    const char *limited_by; /* "compute", "network", "PCIe" */
};

/** A step. Rates are per chip. */
struct wl_step {
    double step_s, tokens_per_s; /* the latter of the whole job */
    double model_flops;          /* per step, whole job, as the study counts attention */
    double executed_flops; /* with recomputation and the kernel's own, lower half only; whole job */
    double peak_flops_per_s;     /* of one chip at the training's precision */
    double flops_per_chip_per_s; /* model FLOPs */
    double mfu, hfu;
    double compute_s, exposed_comm_s, exposed_host_s; /* their sum is step_s */
    uint32_t chip; /* the one reported: the last to finish, the lowest id of those */
    struct wl_bound bound;
    struct wl_memory memory;
    uint32_t part_count;
    struct wl_part *part; /* [part_count] owned */
    bool is_simulated;    /* else step_s is the bound and the parts have no exposure */
    struct net_link_stats links;
    struct net_run_stats stats;
};

/** Told each operation of one chip when it is done. */
struct wl_step_observer {
    void *context;
    topo_chip_id chip;
    void (*on_op)(void *context, const struct wl_class *class, sim_ps start_ps, sim_ps end_ps);
};

/**
 * @param observer  may be NULL
 * @param progress  told how far it is; may be NULL
 * Errors: those of net_run().
 */
SIM_MUST_CHECK enum sim_status wl_step_run(const struct wl_study *study,
                                           const struct wl_step_observer *observer,
                                           sim_progress *progress, struct sim_error *err,
                                           struct wl_step *out);
void wl_step_release(struct wl_step *step);

#endif
