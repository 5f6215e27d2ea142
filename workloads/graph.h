/**
 * The operations of one training step of one chip, as a schedule, with what each is for.
 *
 * One program runs on every chip. It has four kinds of chains: the compute stream, where each
 * operation follows the one before; the two directions of PCIe; and collectives, which start when
 * what they need is there and run beside the rest. A compute operation waits for the collectives
 * and transfers whose results it reads, so what is hidden and what is exposed follows from the
 * schedule and the network alone.
 *
 *     compute   | norm | qkv | core | out |  ...  | norm | qkv |          time ->
 *     fsdp      [ gather of layer 1 ]     [ gather of layer 2 ]
 */
#ifndef PODSIM_WORKLOADS_GRAPH_H
#define PODSIM_WORKLOADS_GRAPH_H

#include "collectives/coll.h"
#include "netsim/schedule.h"
#include "workloads/cost.h"
#include "workloads/shard.h"
#include "workloads/study.h"

enum wl_kind {
    WL_KIND_PROJECTIONS, /* q, k, v and output */
    WL_KIND_ATTENTION,   /* the kernel */
    WL_KIND_MLP,
    WL_KIND_HEAD,
    WL_KIND_EMBEDDING,
    WL_KIND_NORM,
    WL_KIND_ROPE,
    WL_KIND_ACTIVATION,
    WL_KIND_RESIDUAL,
    WL_KIND_LOSS,
    WL_KIND_REDUCTION, /* the additions of reduce-scatters and all-reduces */
    WL_KIND_OPTIMIZER,
    WL_KINDS
};
extern const char *const wl_kind_names[];

enum wl_pass { WL_FORWARD, WL_RECOMPUTATION, WL_BACKWARD, WL_UPDATE, WL_PASSES };
extern const char *const wl_pass_names[];

enum wl_traffic {
    WL_TRAFFIC_WEIGHTS,
    WL_TRAFFIC_ACTIVATIONS,
    WL_TRAFFIC_GRADIENTS,
    WL_TRAFFIC_SCALARS, /* loss terms, gradient norm */
    WL_TRAFFIC_SAVED,   /* tensors to and from the host */
    WL_TRAFFICS
};
extern const char *const wl_traffic_names[];

/** Where traffic goes beyond the mesh axes. */
#define WL_AXIS_ALL  WL_AXES       /* every chip */
#define WL_AXIS_HOST (WL_AXES + 1) /* PCIe */
#define WL_AXIS_COPIES                                                                             \
    (WL_AXES + 2) /* the chips of a tensor group that hold the same k and v heads */
const char *wl_graph_axis_name(uint32_t axis);

/** Operations that are reported together. Compute: kind and pass; else axis, operation and traffic.
 */
struct wl_class {
    bool is_compute;
    enum wl_kind kind;
    enum wl_pass pass;
    uint32_t axis;
    enum coll_op op; /* host: COLL_ALL_GATHER is a fetch, COLL_REDUCE_SCATTER a save */
    enum wl_traffic traffic;
    uint64_t count;
    double bytes; /* buffers, as collectives count them; of a compute class: memory traffic */
    double flops;
    sim_ps compute_ps; /* of a compute class: the sum of its durations */
};

struct wl_graph_op {
    uint32_t class_id;
    uint32_t async_id;   /* NET_NONE for operations of the compute stream */
    net_op_id follows;   /* what a collective or transfer started after, if that is one too */
    uint32_t wait_begin; /* into wait: collectives and transfers this one waits for */
};

struct wl_callee {
    enum coll_op op;
    uint32_t axis;
    bool is_exchange;
    double bytes;
    net_schedule *schedule;
};

/** Built by graph.c's verbs below; read by step.c. */
struct wl_graph {
    const struct wl_study *study;
    struct wl_rates rates;
    net_schedule *schedule;
    struct wl_graph_op *op; /* [op_count + 1] */
    net_op_id *wait;        /* [wait_count] */
    struct wl_class *class; /* [class_count] */
    struct wl_callee *callee;
    size_t op_count, op_capacity, wait_count, wait_capacity, class_count, class_capacity,
        callee_count, callee_capacity;
    uint32_t async_count, call_count;
    net_op_id last_compute, last_save, last_fetch;
    net_op_id *pending; /* what the next compute operation waits for */
    size_t pending_count, pending_capacity;
    enum wl_pass pass;
    /* Totals of one chip. */
    double executed_flops, sent_bytes;
    sim_ps compute_ps, save_ps, fetch_ps;
    enum sim_status status; /* of the first callee that could not be built */
    struct sim_error *err;
};

/** Build the whole step. `err` receives what collectives refuse. */
SIM_MUST_CHECK enum sim_status wl_graph_create(const struct wl_study *study, struct sim_error *err,
                                               struct wl_graph *out);
void wl_graph_release(struct wl_graph *graph);

/* ---- verbs for the parts of a step (parts.c, layer.c, products.c) ---- */

/** The next compute operation waits for `op` too. NET_NONE is nothing. */
void wl_graph_wait(struct wl_graph *g, net_op_id op);
/** Append to the compute stream. */
net_op_id wl_graph_compute(struct wl_graph *g, enum wl_kind kind, struct wl_work work);
/** Memory-bound work. */
net_op_id wl_graph_elementwise(struct wl_graph *g, enum wl_kind kind, double bytes);
/** A collective over a mesh axis that starts after two operations; NET_NONE when its group has one
 * chip. */
net_op_id wl_graph_collective(struct wl_graph *g, uint32_t axis, enum coll_op op,
                              enum wl_traffic traffic, double bytes, net_op_id after,
                              net_op_id after_too);
/** Half of `bytes` to each neighbour along the tensor axis. */
net_op_id wl_graph_exchange(struct wl_graph *g, double bytes, net_op_id after, net_op_id after_too);
/** Tensors to the host, or back. NET_NONE when there are no bytes. */
net_op_id wl_graph_save(struct wl_graph *g, double bytes, net_op_id after);
net_op_id wl_graph_fetch(struct wl_graph *g, double bytes, net_op_id after, net_op_id after_too);

#endif
