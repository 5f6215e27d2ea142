/**
 * Chips and pods that are built in: rates, memories, shapes and calibration of each TPU generation.
 *
 * Every number is a published one, derived from published ones, or absent. Absent is 0: whoever
 * needs it asks with topo_chip_require() and the user gets one line that names the study key to
 * set. Nothing is guessed.
 */
#ifndef PODSIM_TOPO_CHIP_H
#define PODSIM_TOPO_CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time.h"

enum topo_precision { TOPO_BF16, TOPO_FP8, TOPO_INT8, TOPO_PRECISIONS };

/** How the axes of a slice close. */
enum topo_wrap_rule {
    TOPO_WRAP_FULL_POD, /* v2, v3: torus in a whole pod, mesh below */
    TOPO_WRAP_CUBES,    /* v4, v5p, v7, v8t: slices of whole 4x4x4 cubes wrap on every axis, smaller
                           ones on none */
    TOPO_WRAP_SIXTEEN   /* v5e, v6e: an axis of 16 wraps, others do not */
};

struct topo_chip {
    const char *name, *full_name;
    enum topo_wrap_rule wrap_rule;
    uint32_t axes;               /* of a slice: 2 or 3 */
    uint32_t pod[3];             /* largest shape; axes beyond `axes` are 1 */
    uint32_t pod_chips;          /* most chips in one slice */
    uint32_t host[3];            /* chips of one host */
    double link_bytes_per_s;     /* one link, one direction, payload */
    double link_raw_bytes_per_s; /* the vendor's figure */
    sim_ps hop_latency_ps;
    sim_ps launch_overhead_ps;     /* fixed cost of starting a collective */
    double flops[TOPO_PRECISIONS]; /* dense matrix rate, multiply-add = 2 */
    uint64_t hbm_bytes;
    double hbm_bytes_per_s;
    double pcie_bytes_per_s; /* one chip's share, one direction */
    double dcn_bytes_per_s;  /* one chip's share, egress */
    double matmul_efficiency[TOPO_PRECISIONS];
    double attention_efficiency[TOPO_PRECISIONS];
    double hbm_efficiency;
    const char *source;            /* of the hardware numbers */
    const char *efficiency_source; /* which published rows the two efficiencies were fitted on;
                                      NULL: not fitted */
};

extern const char
    *const topo_precision_names[TOPO_PRECISIONS + 1]; /* "bf16", "fp8", "int8", NULL */

/** The presets, oldest first. */
const struct topo_chip *topo_chip_presets(uint32_t *count);
/** NULL when there is none of this name. */
const struct topo_chip *topo_chip_find(const char *name);

/** SIM_EDATA unless `value` > 0: "chip v8t: no published bf16 rate; set system.chip.bf16". */
SIM_MUST_CHECK enum sim_status topo_chip_require(const struct topo_chip *chip, double value,
                                                 const char *what, const char *key,
                                                 struct sim_error *err);

/**
 * Is `shape` (axes beyond the chip's are 1) a slice of this generation, and which axes wrap?
 *
 * Errors (SIM_EDATA) name the rule that is broken and the nearest legal shape.
 */
SIM_MUST_CHECK enum sim_status topo_chip_check_slice(const struct topo_chip *chip,
                                                     const uint32_t shape[3], struct sim_error *err,
                                                     bool is_wrapped[3]);

struct topo_shape {
    uint32_t side[3]; /* axes beyond the chip's are 1 */
};

/**
 * Every slice of `chips` chips, one for each set of sides: the first legal order of 2x4x4, 4x2x4,
 * 4x4x2 stands for all. Sides rise where the generation allows, and the shape with the smallest
 * first side comes first. On success `*out` is owned by the caller (sim_free).
 * Errors (SIM_EDATA): no slice has that many chips; the nearest counts are named.
 */
SIM_MUST_CHECK enum sim_status topo_chip_list_shapes(const struct topo_chip *chip, uint32_t chips,
                                                     struct sim_error *err, struct topo_shape **out,
                                                     uint32_t *out_count);

#endif
