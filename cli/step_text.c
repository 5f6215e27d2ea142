/*
 * What `podsim step` prints for people: the time first, then where it went, then what it assumes.
 */
#include <inttypes.h>
#include <stdbool.h>

#include "base/quantity.h"
#include "cli/step_report.h"
#include "cli/step_words.h"
#include "workloads/cost.h"
#include "workloads/placement.h"

#define LINKS_SHOWN 4

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double part_sum(const struct wl_step *step, enum wl_pass pass)
{
    double sum = 0;
    for (uint32_t i = 0; i < step->part_count; i++)
        if (step->part[i].class.is_compute && step->part[i].class.pass == pass)
            sum += step->part[i].total_s;
    return sum;
}

static void text_head(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    char tokens[SIM_QUANTITY_TEXT], per_chip[SIM_QUANTITY_TEXT], chips[SIM_QUANTITY_TEXT];
    char remat[256];
    double chip_count = topo_chips(study->topology);
    fprintf(out, "%s: %s on %s, %s chips\n", study->name, study->model.name,
            topo_spec(study->topology), sim_count_format(topo_chips(study->topology), chips));
    fprintf(
        out,
        "%" PRIu64 " sequences of %" PRIu64 " tokens a step (fixed for the whole job), %s, remat "
        "%s, %s\n\n",
        study->batch, study->sequence, topo_precision_names[study->precision],
        step_remat_text(&study->remat, remat, sizeof remat), wl_optimizer_names[study->optimizer]);
    fprintf(out, "step time   %.6g s%s\n", step->step_s,
            step->is_simulated ? "" : " at least (bound, nothing simulated)");
    fprintf(out, "tokens/s    %s, %s a chip\n",
            sim_count_format((uint64_t)(step->tokens_per_s + 0.5), tokens),
            sim_count_format((uint64_t)(step->tokens_per_s / chip_count + 0.5), per_chip));
    fprintf(out,
            "MFU         %.2f %%   %.4g of %.4g TFLOP/s a chip; %s, recomputation not counted\n",
            100 * step->mfu, step->flops_per_chip_per_s / 1e12, step->peak_flops_per_s / 1e12,
            step_counted_text(study));
    fprintf(out, "HFU         %.2f %%   all that is executed: causal attention, recomputation\n",
            100 * step->hfu);
    fprintf(out, "bound       %.6g s   no schedule is faster (%s); the step is %.2f %% above it\n",
            step->bound.time_s, step->bound.limited_by,
            100 * (step->step_s / step->bound.time_s - 1));
}

static const struct wl_part *find_compute(const struct wl_step *step, enum wl_kind kind,
                                          enum wl_pass pass)
{
    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct wl_class *class = &step->part[i].class;
        if (class->is_compute && class->kind == kind && class->pass == pass) return &step->part[i];
    }
    return NULL;
}

static void text_breakdown(FILE *out, const struct wl_step *step)
{
    fprintf(out, "\n%-24s", "seconds of the step");
    for (int p = 0; p < WL_PASSES; p++)
        fprintf(out, "%11s", wl_pass_names[p]);
    fprintf(out, "%11s%9s\n", "sum", "%");
    for (int k = 0; k < WL_KINDS; k++) {
        double sum = 0;
        bool is_there = false;
        for (int p = 0; p < WL_PASSES; p++) {
            const struct wl_part *part = find_compute(step, (enum wl_kind)k, (enum wl_pass)p);
            is_there |= part != NULL;
            sum += part != NULL ? part->total_s : 0;
        }
        if (!is_there) continue;
        fprintf(out, "%-24s", wl_kind_names[k]);
        for (int p = 0; p < WL_PASSES; p++) {
            const struct wl_part *part = find_compute(step, (enum wl_kind)k, (enum wl_pass)p);
            if (part != NULL)
                fprintf(out, "%11.4f", part->total_s);
            else
                fprintf(out, "%11s", "-");
        }
        fprintf(out, "%11.4f%9.2f\n", sum, percent(sum, step->step_s));
    }
    fprintf(out, "%-24s", "computing");
    for (int p = 0; p < WL_PASSES; p++)
        fprintf(out, "%11.4f", part_sum(step, (enum wl_pass)p));
    fprintf(out, "%11.4f%9.2f\n", step->compute_s, percent(step->compute_s, step->step_s));
    if (!step->is_simulated) return;
    fprintf(out, "%-24s%55.4f%9.2f\n", "exposed communication", step->exposed_comm_s,
            percent(step->exposed_comm_s, step->step_s));
    fprintf(out, "%-24s%55.4f%9.2f\n", "exposed host transfers", step->exposed_host_s,
            percent(step->exposed_host_s, step->step_s));
}

static void text_collectives(FILE *out, const struct wl_step *step)
{
    fprintf(out, "\n%-10s%-16s%-13s%8s%14s%12s%12s%9s\n", "axis", "operation", "of", "count",
            "buffers GB", "total s", "exposed s", "%");
    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct wl_part *part = &step->part[i];
        if (part->class.is_compute) continue;
        fprintf(out, "%-10s%-16s%-13s%8" PRIu64 "%14.3f%12.4f%12.4f%9.2f\n",
                wl_graph_axis_name(part->class.axis), step_op_text(&part->class),
                wl_traffic_names[part->class.traffic], part->class.count, part->class.bytes / 1e9,
                part->total_s, part->exposed_s, percent(part->exposed_s, step->step_s));
    }
}

static void text_placement(FILE *out, const struct wl_study *study)
{
    char text[160];
    fprintf(out, "\n%-10s%8s  placement on %s\n", "mesh axis", "size", topo_spec(study->topology));
    for (int a = 0; a < WL_AXES; a++)
        fprintf(out, "%-10s%8" PRIu64 "  %s\n", wl_axis_names[a], study->axis[a].size,
                wl_placement_format(study->topology, &study->axis[a].group, text, sizeof text));
}

static void text_memory(FILE *out, const struct wl_step *step)
{
    const struct wl_memory *m = &step->memory;
    fprintf(out, "\n%-24s%10s  divided by\n", "memory of a chip", "GB");
    for (int k = 0; k < WL_MEMORY_KINDS; k++)
        fprintf(out, "%-24s%10.3f  %s\n", wl_memory_names[k], m->bytes[k] / 1e9,
                wl_memory_divided_by[k]);
    fprintf(out, "%-24s%10.3f  of %.3f: %s (worst moment: %s)\n", "sum", m->total_bytes / 1e9,
            m->hbm_bytes / 1e9, m->fits ? "fits" : "DOES NOT FIT", m->worst_moment);
    if (m->host_bytes > 0) fprintf(out, "%-24s%10.3f\n", "on the host", m->host_bytes / 1e9);
}

static void text_links(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    topo_link_id busiest[LINKS_SHOWN];
    const topo *t = study->topology;
    uint32_t count = net_link_stats_busiest(&step->links, t, LINKS_SHOWN, busiest);
    sim_ps time_ps = (sim_ps)(step->step_s * 1e12 + 0.5);
    fprintf(out, "\n%-24s%14s%12s%9s\n", "busiest links", "GB", "busy s", "used %");
    for (uint32_t i = 0; i < count; i++) {
        char from[48], to[48], text[100];
        topo_link_id l = busiest[i];
        snprintf(text, sizeof text, "%s > %s", topo_node_format(t, topo_link_from(t, l), from),
                 topo_node_format(t, topo_link_to(t, l), to));
        fprintf(out, "%-24s%14.3f%12.4f%9.2f\n", text, step->links.bytes[l] / 1e9,
                sim_ps_to_s(step->links.busy_ps[l]),
                100 * net_link_utilisation(&step->links, t, l, time_ps));
    }
}

static void text_assumptions(FILE *out, const struct wl_study *study)
{
    const struct topo_chip *chip = &study->chip;
    char link[SIM_QUANTITY_TEXT], hop[SIM_QUANTITY_TEXT], launch[SIM_QUANTITY_TEXT];
    fprintf(
        out,
        "\nassumed: links %s one way, %s a hop, %s to start a collective; matrix products at %.4g "
        "and the attention kernel at %.4g of the matrix rate, memory at %.4g of its rate; reduced "
        "bytes pass memory %d times, beside the reduction\n",
        sim_rate_format(topo_default_link_rate(study->topology), link),
        sim_time_format(topo_default_latency_ps(study->topology), hop),
        sim_time_format(study->launch_overhead_ps, launch),
        chip->matmul_efficiency[study->precision], chip->attention_efficiency[TOPO_BF16],
        chip->hbm_efficiency, WL_REDUCTION_PASSES);
    fprintf(out, "efficiencies: %s\n", step_efficiency_text(study));
}

static const char *network_advice(const struct wl_study *study, const struct wl_class *class)
{
    if (class->axis == WL_AXIS_HOST) return "keep more on the chip, or recompute more";
    if (class->axis == WL_TENSOR)
        return study->overlaps_tensor
                   ? "try a smaller tensor axis"
                   : "try training.tensor_overlap: true, or a smaller tensor axis";
    if (class->axis == WL_FSDP)
        return "try more sequences a chip, or a larger tensor axis and a smaller fsdp axis";
    return "try more sequences a chip, or training.gradient: bf16";
}

/* The collective or transfer that computing waits for longest; NULL without any. */
static const struct wl_part *worst_wait(const struct wl_step *step)
{
    const struct wl_part *worst = NULL;
    for (uint32_t i = 0; i < step->part_count; i++)
        if (!step->part[i].class.is_compute &&
            (worst == NULL || step->part[i].exposed_s > worst->exposed_s))
            worst = &step->part[i];
    return worst;
}

static void text_limit(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    const struct wl_part *worst = worst_wait(step);
    double recompute_s = part_sum(step, WL_RECOMPUTATION);
    double free_bytes = step->memory.hbm_bytes - step->memory.total_bytes;
    bool is_waiting = worst != NULL && worst->exposed_s > 0.05 * step->step_s;
    fprintf(out, "\n");
    if (step->compute_s > 0.5 * step->step_s)
        fprintf(out, "limited by computing on %s: %.1f %% of the step\n", study->chip.name,
                percent(step->compute_s, step->step_s));
    if (is_waiting)
        fprintf(out, "%s %s of %s over %s, exposed for %.1f %% of the step: %s\n",
                step->compute_s > 0.5 * step->step_s ? "beside that" : "limited by",
                step_op_text(&worst->class), wl_traffic_names[worst->class.traffic],
                wl_graph_axis_name(worst->class.axis), percent(worst->exposed_s, step->step_s),
                network_advice(study, &worst->class));
    if (recompute_s > 0.1 * step->step_s && free_bytes > 0.2 * step->memory.hbm_bytes)
        fprintf(out,
                "%.1f %% of computing is recomputation while %.1f GB are free: try keeping more "
                "(training.remat)\n",
                percent(recompute_s, step->compute_s), free_bytes / 1e9);
}

void step_report_text(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    text_head(out, study, step);
    text_breakdown(out, step);
    if (step->is_simulated) text_collectives(out, step);
    text_placement(out, study);
    text_memory(out, step);
    if (step->is_simulated) text_links(out, study, step);
    text_assumptions(out, study);
    text_limit(out, study, step);
}
