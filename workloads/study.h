/**
 * Studies: a system, a model, how it is trained and how it is laid out, read from a YAML file and
 * checked as a whole.
 *
 * Nothing is simulated before everything here is known to be possible: axes that multiply to the
 * chips, sizes that divide, placements that do not overlap, rates that the chip has.
 */
#ifndef PODSIM_WORKLOADS_STUDY_H
#define PODSIM_WORKLOADS_STUDY_H

#include "netsim/run.h"
#include "topo/group.h"
#include "topo/topo.h"
#include "workloads/flops.h"
#include "workloads/model.h"

/** Axes of the logical mesh, outermost first. Tensor includes sequence parallelism. */
enum wl_axis { WL_DATA, WL_FSDP, WL_TENSOR, WL_AXES };
extern const char *const wl_axis_names[WL_AXES + 1];

/** Tensors of a layer that backward reads, named as MaxText's custom policy names them. */
enum wl_tensor {
    WL_INPUT,    /* of the layer: norm 1's input */
    WL_QKV,      /* after the rotation */
    WL_CONTEXT,  /* what the attention core gives */
    WL_OUT_PROJ, /* output projection, before the residual */
    WL_MLP_IN,   /* gate and up */
    WL_MLP_ACT,  /* activation, the last matrix's input */
    WL_MLP_OUT,  /* never needed; kept only by policies that say so */
    WL_TENSORS
};
extern const char *const wl_tensor_names[WL_TENSORS + 1];

enum wl_saving { WL_RECOMPUTE, WL_KEEP, WL_OFFLOAD };

struct wl_remat {
    const char *name; /* static: "none", "minimal", "full", "offload", "custom" */
    enum wl_saving tensor[WL_TENSORS];
    bool keeps_norms; /* norm outputs and the middle residual too: nothing at all is recomputed */
};

enum wl_optimizer { WL_ADAMW, WL_SGD };
extern const char *const wl_optimizer_names[];

enum wl_engine { WL_FLOW, WL_PACKET, WL_BOUND };
extern const char *const wl_engine_names[];

struct wl_mesh_axis {
    uint64_t size;
    bool is_placed_by_user;
    struct topo_group group; /* size 1: empty */
};

struct wl_study {
    char name[128]; /* the file's name without folder and suffix */
    topo *topology; /* owned */
    struct topo_chip chip;
    bool has_override;         /* some chip value is the study's, not the preset's */
    bool has_own_efficiencies; /* some efficiency is */
    sim_ps launch_overhead_ps;
    bool is_unreduced;  /* every chip is run, whatever symmetry allows */
    bool is_one_by_one; /* packets never move as trains */
    enum wl_engine engine;
    struct net_router router; /* of the packet engine */
    struct wl_model model;
    uint64_t batch, sequence;
    enum topo_precision precision;
    struct wl_remat remat;
    enum wl_optimizer optimizer;
    double gradient_bytes; /* of one element as it is reduced */
    bool overlaps_tensor;
    enum wl_attention_count attention_count;
    struct wl_mesh_axis axis[WL_AXES];
};

/**
 * Read, override and check. Axes without a placement get one.
 *
 * @param overrides  "system.chip.bf16=100TFLOP/s" and so on
 * Errors: SIM_ENOINPUT, SIM_EDATA with place, SIM_ERESOURCE.
 */
SIM_MUST_CHECK enum sim_status wl_study_load(const char *path, const char *const *overrides,
                                             uint32_t override_count, struct sim_error *err,
                                             struct wl_study *out);
/** The same from memory; `name` stands for the file. */
SIM_MUST_CHECK enum sim_status wl_study_parse(const char *text, const char *name,
                                              struct sim_error *err, struct wl_study *out);
void wl_study_release(struct wl_study *study);

#endif
