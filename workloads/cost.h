/**
 * The roofline: what one operation takes on one chip.
 *
 * An operation takes as long as the slower of its arithmetic (matrix rate times a fitted
 * efficiency) and its traffic with memory (rate times a measured efficiency). Elementwise work is
 * all traffic: every input read once, every output written once.
 */
#ifndef PODSIM_WORKLOADS_COST_H
#define PODSIM_WORKLOADS_COST_H

#include "base/time.h"
#include "workloads/study.h"

/** Which arithmetic an operation uses. */
enum wl_unit {
    WL_UNIT_LAYER,     /* a layer's matrix products: the training's precision */
    WL_UNIT_HEAD,      /* logits: bf16, quantised recipes leave them alone */
    WL_UNIT_ATTENTION, /* the attention kernel: bf16 */
    WL_UNIT_NONE       /* memory only */
};

struct wl_work {
    enum wl_unit unit;
    double flops; /* multiply-add = 2 */
    double bytes; /* read and written */
};

/** Rates after efficiencies. */
struct wl_rates {
    double flops_per_s[WL_UNIT_NONE];
    double hbm_bytes_per_s, pcie_bytes_per_s;
};

struct wl_rates wl_rates_of(const struct wl_study *study);

/** [ps], rounded to the nearest. */
sim_ps wl_work_ps(const struct wl_rates *rates, const struct wl_work *work);
/** One direction of PCIe. */
sim_ps wl_transfer_ps(const struct wl_rates *rates, double bytes);

/**
 * How often a byte that is reduced passes a chip's memory. The addition reads two operands and
 * writes one sum: 3. In a reduce-scatter each byte is also written by its arrival and read to be
 * sent on, by links that run while the additions run; those have nothing but memory to wait for, so
 * the two share it: 5. (A gather's two passes run beside matrix products, which leave memory idle;
 * so do those of an exchange, hence 3 there.)
 */
#define WL_ADDITION_PASSES  3
#define WL_REDUCTION_PASSES 5

#endif
