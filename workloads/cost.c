#include "workloads/cost.h"

#include <assert.h>
#include <math.h>

struct wl_rates wl_rates_of(const struct wl_study *study)
{
    const struct topo_chip *chip = &study->chip;
    enum topo_precision p = study->precision;
    return (struct wl_rates){
        .flops_per_s = {[WL_UNIT_LAYER] = chip->flops[p] * chip->matmul_efficiency[p],
                        [WL_UNIT_HEAD] =
                            chip->flops[TOPO_BF16] * chip->matmul_efficiency[TOPO_BF16],
                        [WL_UNIT_ATTENTION] =
                            chip->flops[TOPO_BF16] * chip->attention_efficiency[TOPO_BF16]},
        .hbm_bytes_per_s = chip->hbm_bytes_per_s * chip->hbm_efficiency,
        .pcie_bytes_per_s = chip->pcie_bytes_per_s,
    };
}

/* What picoseconds cannot hold becomes the end of time, which the run refuses. */
static sim_ps to_ps(double seconds)
{
    assert(seconds >= 0);
    double ps = seconds * 1e12;
    return ps < (double)SIM_PS_MAX ? llround(ps) : SIM_PS_MAX;
}

sim_ps wl_work_ps(const struct wl_rates *rates, const struct wl_work *work)
{
    double memory = work->bytes / rates->hbm_bytes_per_s;
    if (work->unit == WL_UNIT_NONE) return to_ps(memory);
    double arithmetic = work->flops / rates->flops_per_s[work->unit];
    return to_ps(arithmetic > memory ? arithmetic : memory);
}

sim_ps wl_transfer_ps(const struct wl_rates *rates, double bytes)
{
    return bytes > 0 ? to_ps(bytes / rates->pcie_bytes_per_s) : 0;
}
