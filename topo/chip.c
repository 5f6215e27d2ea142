/*
 * The chip table. Sources, in short:
 *
 *   CD    cloud.google.com/tpu/docs/{v2,v3,v4,v5e,v5p,v6e,tpu7x}, read 2026
 *   SB    jax-ml/scaling-book, "How to think about TPUs" (one-way payload rates, hop latency, PCIe
 *         and DCN shares)
 *   CACM  Jouppi et al., "A domain-specific supercomputer for training deep neural networks", CACM
 *         63(7), 2020
 *   ISCA  Jouppi et al., "TPU v4", ISCA 2023
 *   GB8   Google Cloud, TPU 8t announcement, April 2026
 *
 * A link's payload rate is 0.9 of the vendor's figure from v4 on (SB; measured all-gathers on v7
 * give 89.4 of 100 GB/s). The hop latency is SB's "about 1 us". The launch overhead is what
 * measured small collectives take beyond their hops: v5e all-gather of 131 kB over a line of 4: 8
 * us measured, 3 hops of (1 + 0.73) us explain 5.2, leaving 2.8 (SB); v7 all-gathers on a 2x2 tray
 * fit 13.2 us + V/(178 GB/s), of which 2 are hops (AI-Hypercomputer tpu-recipes); the others have
 * no measurement and take 5 us, between the two.
 */
#include "topo/chip.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"

#define GB  1e9
#define TF  1e12
#define GIB (UINT64_C(1) << 30)
#define US  SIM_PS_PER_US

const char *const topo_precision_names[TOPO_PRECISIONS + 1] = {"bf16", "fp8", "int8", NULL};

/*
 * Efficiencies are for bf16, fp8, int8; 0 = no published row to fit one on. They are the only
 * fitted numbers here: scripts/fit-efficiency redoes the fit and prints every row's error.
 */
static const struct topo_chip presets[] = {
    {.name = "v2",
     .full_name = "TPU v2",
     .wrap_rule = TOPO_WRAP_FULL_POD,
     .axes = 2,
     .pod = {16, 16, 1},
     .pod_chips = 256,
     .host = {2, 2, 1},
     .link_bytes_per_s = 60 * GB,
     .link_raw_bytes_per_s = 62 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .flops = {46 * TF, 0, 0},
     .hbm_bytes = 16 * GIB,
     .hbm_bytes_per_s = 700 * GB,
     .source = "CD, CACM; link rate derived from SB's profile (120 GB/s both ways)"},
    {.name = "v3",
     .full_name = "TPU v3",
     .wrap_rule = TOPO_WRAP_FULL_POD,
     .axes = 2,
     .pod = {32, 32, 1},
     .pod_chips = 1024,
     .host = {2, 2, 1},
     .link_bytes_per_s = 82 * GB,
     .link_raw_bytes_per_s = 82 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .flops = {123 * TF, 0, 0},
     .hbm_bytes = 32 * GIB,
     .hbm_bytes_per_s = 900 * GB,
     .source = "CD; link rate CACM (656 Gbit/s), agrees with CD's 340 TB/s pod all-reduce"},
    {.name = "v4",
     .full_name = "TPU v4",
     .wrap_rule = TOPO_WRAP_CUBES,
     .axes = 3,
     .pod = {16, 16, 16},
     .pod_chips = 4096,
     .host = {2, 2, 1},
     .link_bytes_per_s = 45 * GB,
     .link_raw_bytes_per_s = 50 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .flops = {275 * TF, 0, 275 * TF},
     .hbm_bytes = 32 * GIB,
     .hbm_bytes_per_s = 1200 * GB,
     .pcie_bytes_per_s = 16 * GB,
     .dcn_bytes_per_s = 6.25 * GB,
     .source = "CD, ISCA; link rate, PCIe and DCN SB"},
    {.name = "v5e",
     .full_name = "TPU v5e",
     .wrap_rule = TOPO_WRAP_SIXTEEN,
     .axes = 2,
     .pod = {16, 16, 1},
     .pod_chips = 256,
     .host = {4, 2, 1},
     .link_bytes_per_s = 45 * GB,
     .link_raw_bytes_per_s = 50 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 28 * US / 10,
     .flops = {197 * TF, 0, 393 * TF},
     .hbm_bytes = 16000000000,
     .hbm_bytes_per_s = 819 * GB,
     .pcie_bytes_per_s = 16 * GB,
     .dcn_bytes_per_s = 3.125 * GB,
     .source = "CD; link rate, PCIe and DCN SB"},
    {.name = "v5p",
     .full_name = "TPU v5p",
     .wrap_rule = TOPO_WRAP_CUBES,
     .axes = 3,
     .pod = {16, 20, 28},
     .pod_chips = 8960,
     .host = {2, 2, 1},
     .link_bytes_per_s = 90 * GB,
     .link_raw_bytes_per_s = 100 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .flops = {459 * TF, 459 * TF, 918 * TF},
     .hbm_bytes = 95 * GIB,
     .hbm_bytes_per_s = 2765 * GB,
     .pcie_bytes_per_s = 16 * GB,
     .dcn_bytes_per_s = 6.25 * GB,
     .matmul_efficiency = {0.763069, 0.763069, 0.652436},
     .attention_efficiency = {0.236169},
     .hbm_efficiency = 0.85,
     .efficiency_source =
         "bf16 fitted on MaxText's 128B model, v5p-512 (68.83 % MFU); int8 on GPT3-175B, 512 chips "
         "(22.197 s, "
         "AI-Hypercomputer tpu-recipes); attention/matmul borrowed from v6e, fp8 from bf16; memory "
         "assumed 0.85, between v6e's and v7's",
     .source = "CD; link rate, int8, PCIe and DCN SB"},
    {.name = "v6e",
     .full_name = "TPU v6e (Trillium)",
     .wrap_rule = TOPO_WRAP_SIXTEEN,
     .axes = 2,
     .pod = {16, 16, 1},
     .pod_chips = 256,
     .host = {4, 2, 1},
     .link_bytes_per_s = 90 * GB,
     .link_raw_bytes_per_s = 100 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .flops = {918 * TF, 918 * TF, 1836 * TF},
     .hbm_bytes = 32000000000,
     .hbm_bytes_per_s = 1638 * GB,
     .pcie_bytes_per_s = 32 * GB,
     .dcn_bytes_per_s = 12.5 * GB,
     .matmul_efficiency = {0.760788, 0.760788, 0},
     .attention_efficiency = {0.235463},
     .hbm_efficiency = 0.83,
     .efficiency_source = "bf16 fitted on Llama3.1-70B (42.656 s) and Llama3.1-8B (4.546 s), 256 "
                          "chips (AI-Hypercomputer "
                          "tpu-recipes); fp8 borrowed from bf16; memory measured: 1359.6 of 1638 "
                          "GB/s (the same source)",
     .source = "CD; link rate, PCIe and DCN SB; fp8 taken as the bf16 rate"},
    {.name = "v7",
     .full_name = "TPU7x (Ironwood)",
     .wrap_rule = TOPO_WRAP_CUBES,
     .axes = 3,
     .pod = {16, 24, 24},
     .pod_chips = 9216,
     .host = {2, 2, 1},
     .link_bytes_per_s = 90 * GB,
     .link_raw_bytes_per_s = 100 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 11 * US,
     .flops = {2307 * TF, 4614 * TF, 0},
     .hbm_bytes = 192 * GIB,
     .hbm_bytes_per_s = 7380 * GB,
     .pcie_bytes_per_s = 16 * GB,
     .dcn_bytes_per_s = 12.5 * GB,
     .matmul_efficiency = {0.773443, 0.773443, 0},
     .attention_efficiency = {0.239380},
     .hbm_efficiency = 0.87,
     .efficiency_source =
         "bf16 fitted on Llama3.1-70B, 64 chips (12.20 s, AI-Hypercomputer tpu-recipes); "
         "attention/matmul "
         "borrowed from v6e, fp8 from bf16; memory measured: 6421 of 7380 GB/s (the same source)",
     .source = "CD; link rate, PCIe and DCN SB; the link between a chip's two dies is folded into "
               "the chip"},
    {.name = "v8t",
     .full_name = "TPU 8t",
     .wrap_rule = TOPO_WRAP_CUBES,
     .axes = 3,
     .pod = {20, 20, 24},
     .pod_chips = 9600,
     .host = {2, 2, 1},
     .link_bytes_per_s = 180 * GB,
     .link_raw_bytes_per_s = 200 * GB,
     .hop_latency_ps = 1 * US,
     .launch_overhead_ps = 5 * US,
     .hbm_bytes = 216000000000,
     .hbm_bytes_per_s = 6528 * GB,
     .source = "GB8; link rate derived (19.2 Tbit/s over 6 ports, 0.9 payload); matrix rates "
               "beyond FP4, PCIe and "
               "DCN shares are not published"},
};

const struct topo_chip *topo_chip_presets(uint32_t *count)
{
    *count = sizeof presets / sizeof presets[0];
    return presets;
}

const struct topo_chip *topo_chip_find(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (strcmp(presets[i].name, name) == 0) return &presets[i];
    return NULL;
}

enum sim_status topo_chip_require(const struct topo_chip *chip, double value, const char *what,
                                  const char *key, struct sim_error *err)
{
    if (value > 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "chip %s has no published %s; set %s to assume one",
                         chip->name, what, key);
}

/* ---- slice shapes ---- */

static const uint32_t cube_parts[][3] = {{2, 2, 1}, {2, 2, 2}, {2, 2, 4}, {2, 4, 4}};

static void sort3(uint32_t v[3])
{
    for (int i = 0; i < 2; i++)
        for (int j = 0; j + 1 < 3; j++)
            if (v[j] > v[j + 1]) {
                uint32_t swap = v[j];
                v[j] = v[j + 1];
                v[j + 1] = swap;
            }
}

/* Is the shape, in any axis order, one of the sub-cube slices? */
static bool is_cube_part(const uint32_t shape[3])
{
    uint32_t sorted[3] = {shape[0], shape[1], shape[2]};
    sort3(sorted);
    for (size_t i = 0; i < sizeof cube_parts / sizeof cube_parts[0]; i++) {
        uint32_t part[3] = {cube_parts[i][0], cube_parts[i][1], cube_parts[i][2]};
        sort3(part);
        if (memcmp(part, sorted, sizeof part) == 0) return true;
    }
    return false;
}

static bool is_power_of_two(uint32_t v)
{
    return v > 0 && (v & (v - 1)) == 0;
}

static uint64_t shape_chips(const uint32_t shape[3])
{
    return (uint64_t)shape[0] * shape[1] * shape[2];
}

/* v5e and v6e: 1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16, either way round: powers of two, sides at
 * most 2 apart. */
static bool is_square_slice(const uint32_t shape[3])
{
    uint32_t low = shape[0] < shape[1] ? shape[0] : shape[1];
    uint32_t high = shape[0] + shape[1] - low;
    return is_power_of_two(low) && is_power_of_two(high) && high <= 16 && high <= 2 * low &&
           !(low == 1 && high == 2);
}

static bool is_legal(const struct topo_chip *chip, const uint32_t shape[3])
{
    if (shape_chips(shape) > chip->pod_chips) return false;
    for (uint32_t a = chip->axes; a < 3; a++)
        if (shape[a] != 1) return false;
    switch (chip->wrap_rule) {
    case TOPO_WRAP_CUBES:
        for (int a = 0; a < 3; a++)
            if (shape[a] % chip->host[a] != 0) return false;
        return is_cube_part(shape) || (shape[0] % 4 == 0 && shape[1] % 4 == 0 && shape[2] % 4 == 0);
    case TOPO_WRAP_SIXTEEN:
        return is_square_slice(shape);
    case TOPO_WRAP_FULL_POD:
        return is_power_of_two(shape[0]) && is_power_of_two(shape[1]) && shape[0] <= chip->pod[0] &&
               shape[1] <= chip->pod[1];
    }
    return false;
}

static const char *rule_text(const struct topo_chip *chip)
{
    switch (chip->wrap_rule) {
    case TOPO_WRAP_CUBES:
        return "whole 4x4x4 cubes (sides multiples of 4), or 2x2x1, 2x2x2, 2x2x4, 2x4x4";
    case TOPO_WRAP_SIXTEEN:
        return "1x1, 2x2, 2x4, 4x4, 4x8, 8x8, 8x16, 16x16";
    case TOPO_WRAP_FULL_POD:
        return "powers of two up to the pod";
    }
    return "";
}

/* The legal shape with the least change: smallest sum of |log ratio|, measured as max/min products,
 * first in order. */
static void nearest_legal(const struct topo_chip *chip, const uint32_t shape[3], uint32_t best[3])
{
    double best_ratio = 1e300;
    uint32_t top[3] = {chip->axes > 0 ? 64 : 1, chip->axes > 1 ? 64 : 1, chip->axes > 2 ? 64 : 1};
    for (uint32_t x = 1; x <= top[0]; x++)
        for (uint32_t y = 1; y <= top[1]; y++)
            for (uint32_t z = 1; z <= top[2]; z++) {
                uint32_t candidate[3] = {x, y, z};
                if (!is_legal(chip, candidate)) continue;
                double ratio = 1;
                for (int a = 0; a < 3; a++) {
                    double r = (double)candidate[a] / (shape[a] > 0 ? shape[a] : 0.5);
                    ratio *= r > 1 ? r : 1 / r;
                }
                if (ratio < best_ratio) {
                    best_ratio = ratio;
                    memcpy(best, candidate, sizeof candidate);
                }
            }
}

static void format_shape(const struct topo_chip *chip, const uint32_t shape[3], char *buffer,
                         size_t bytes)
{
    if (chip->axes == 2 && shape[2] == 1)
        snprintf(buffer, bytes, "%ux%u", shape[0], shape[1]);
    else
        snprintf(buffer, bytes, "%ux%ux%u", shape[0], shape[1], shape[2]);
}

enum sim_status topo_chip_check_slice(const struct topo_chip *chip, const uint32_t shape[3],
                                      struct sim_error *err, bool is_wrapped[3])
{
    if (!is_legal(chip, shape)) {
        uint32_t near[3] = {1, 1, 1};
        nearest_legal(chip, shape, near);
        char found[48], nearest[48];
        format_shape(chip, shape, found, sizeof found);
        format_shape(chip, near, nearest, sizeof nearest);
        if (shape_chips(shape) > chip->pod_chips)
            return sim_error_set(err, SIM_EDATA,
                                 "%s:%s has %llu chips, a %s pod has %u; nearest legal shape %s",
                                 chip->name, found, (unsigned long long)shape_chips(shape),
                                 chip->name, chip->pod_chips, nearest);
        return sim_error_set(err, SIM_EDATA,
                             "%s:%s is no %s slice, want %s; nearest legal shape %s", chip->name,
                             found, chip->name, rule_text(chip), nearest);
    }
    for (uint32_t a = 0; a < 3; a++) {
        switch (chip->wrap_rule) {
        case TOPO_WRAP_CUBES:
            is_wrapped[a] = shape[0] % 4 == 0 && shape[1] % 4 == 0 && shape[2] % 4 == 0;
            break;
        case TOPO_WRAP_SIXTEEN:
            is_wrapped[a] = shape[a] == 16;
            break;
        case TOPO_WRAP_FULL_POD:
            is_wrapped[a] = shape[0] == chip->pod[0] && shape[1] == chip->pod[1];
            break;
        }
        if (shape[a] == 1) is_wrapped[a] = false;
    }
    return SIM_OK;
}

/* ---- all shapes of one size ---- */

/* The first legal order of three sides, in lexicographic order of shapes; false when none is. */
static bool first_legal_order(const struct topo_chip *chip, const uint32_t rising[3],
                              uint32_t shape[3])
{
    static const uint8_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (int i = 0; i < 6; i++) {
        for (int a = 0; a < 3; a++)
            shape[a] = rising[order[i][a]];
        if (is_legal(chip, shape)) return true;
    }
    return false;
}

/* Fill `out` (NULL: only count) with the legal shapes of `chips` chips. */
static uint32_t shapes_of(const struct topo_chip *chip, uint32_t chips, struct topo_shape *out)
{
    uint32_t count = 0;
    for (uint64_t x = 1; x * x * x <= chips; x++)
        for (uint64_t y = x; chips % x == 0 && x * y * y <= chips; y++) {
            uint32_t rising[3] = {(uint32_t)x, (uint32_t)y, (uint32_t)(chips / x / y)}, shape[3];
            if (chips / x % y != 0 || !first_legal_order(chip, rising, shape)) continue;
            if (out != NULL) memcpy(out[count].side, shape, sizeof shape);
            count++;
        }
    return count;
}

static enum sim_status no_shape_error(const struct topo_chip *chip, uint32_t chips,
                                      struct sim_error *err)
{
    uint32_t below = chips, above = chips;
    if (chips > chip->pod_chips)
        return sim_error_set(err, SIM_EDATA, "%s has no slice of %u chips, a pod has %u",
                             chip->name, chips, chip->pod_chips);
    while (below > 0 && shapes_of(chip, below, NULL) == 0)
        below--;
    while (above < chip->pod_chips && shapes_of(chip, above, NULL) == 0)
        above++;
    if (below == 0)
        return sim_error_set(err, SIM_EDATA, "%s has no slice of %u chips, the smallest has %u",
                             chip->name, chips, above);
    return sim_error_set(err, SIM_EDATA, "%s has no slice of %u chips, the nearest have %u and %u",
                         chip->name, chips, below, above);
}

enum sim_status topo_chip_list_shapes(const struct topo_chip *chip, uint32_t chips,
                                      struct sim_error *err, struct topo_shape **out,
                                      uint32_t *out_count)
{
    uint32_t count = chips > chip->pod_chips ? 0 : shapes_of(chip, chips, NULL);
    if (count == 0) return no_shape_error(chip, chips, err);
    *out = SIM_NEW(struct topo_shape, count);
    *out_count = shapes_of(chip, chips, *out);
    return SIM_OK;
}
