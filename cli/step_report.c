/*
 * What `podsim step` prints for programs: a CSV row, or JSON with every part of the step.
 */
#include "cli/step_report.h"

#include "base/json.h"
#include "base/quantity.h"
#include "cli/report.h"
#include "cli/step_words.h"
#include "cli/version.h"
#include "workloads/placement.h"

static const struct cli_column csv_columns[] = {
    {.key = "study"},
    {.key = "model"},
    {.key = "topology"},
    {.key = "chips"},
    {.key = "fits"},
    {.key = "step_s"},
    {.key = "tokens_per_s"},
    {.key = "tflops_per_chip"},
    {.key = "mfu"},
    {.key = "hfu"},
    {.key = "compute_s"},
    {.key = "exposed_comm_s"},
    {.key = "exposed_host_s"},
    {.key = "bound_s"},
    {.key = "memory_bytes_per_chip"},
    {.key = NULL},
};

void step_report_csv(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    const double values[] = {step->step_s,
                             step->tokens_per_s,
                             step->flops_per_chip_per_s / 1e12,
                             step->mfu,
                             step->hfu,
                             step->compute_s,
                             step->exposed_comm_s,
                             step->exposed_host_s,
                             step->bound.time_s,
                             step->memory.total_bytes};
    cli_report *report = cli_report_create(csv_columns);
    cli_cell_text(report, study->name);
    cli_cell_text(report, study->model.name);
    cli_cell_text(report, topo_spec(study->topology));
    cli_cell_uint(report, topo_chips(study->topology), NULL);
    cli_cell_bool(report, step->memory.fits);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        cli_cell_double(report, values[i], NULL);
    cli_report_print(report, CLI_CSV, out);
    cli_report_destroy(report);
}

static void json_meta(sim_json *json, const struct wl_study *study, const struct wl_step *step)
{
    const struct topo_chip *chip = &study->chip;
    sim_json_key(json, "meta");
    sim_json_object_begin(json);
    sim_json_put_text(json, "program", "podsim");
    sim_json_put_text(json, "version", PODSIM_VERSION);
    sim_json_put_text(json, "engine", wl_engine_names[study->engine]);
    sim_json_put_text(json, "kind", "modelled");
    sim_json_put_text(json, "mfu_counts", step_counted_text(study));
    sim_json_put_double(json, "link_bytes_per_s", topo_default_link_rate(study->topology));
    sim_json_put_double(json, "hop_latency_us",
                        sim_ps_to_us(topo_default_latency_ps(study->topology)));
    sim_json_put_double(json, "launch_overhead_us", sim_ps_to_us(study->launch_overhead_ps));
    sim_json_put_double(json, "peak_flops_per_s", step->peak_flops_per_s);
    sim_json_put_double(json, "hbm_bytes_per_s", chip->hbm_bytes_per_s);
    sim_json_put_double(json, "matmul_efficiency", chip->matmul_efficiency[study->precision]);
    sim_json_put_double(json, "attention_efficiency", chip->attention_efficiency[TOPO_BF16]);
    sim_json_put_double(json, "hbm_efficiency", chip->hbm_efficiency);
    sim_json_put_text(json, "efficiency_source", step_efficiency_text(study));
    sim_json_key(json, "chip_overrides");
    sim_json_bool(json, study->has_override);
    sim_json_object_end(json);
}

static void json_collectives(sim_json *json, const char *key, const struct wl_step *step,
                             bool is_host)
{
    sim_json_key(json, key);
    sim_json_array_begin(json);
    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct wl_part *part = &step->part[i];
        if (part->class.is_compute || (part->class.axis == WL_AXIS_HOST) != is_host) continue;
        sim_json_object_begin(json);
        sim_json_put_text(json, "axis", wl_graph_axis_name(part->class.axis));
        sim_json_put_text(json, "op", step_op_text(&part->class));
        sim_json_put_text(json, "of", wl_traffic_names[part->class.traffic]);
        sim_json_put_uint(json, "count", part->class.count);
        sim_json_put_double(json, "bytes", part->class.bytes);
        sim_json_put_double(json, "total_s", part->total_s);
        sim_json_put_double(json, "exposed_s", part->exposed_s);
        sim_json_object_end(json);
    }
    sim_json_array_end(json);
}

static void json_compute(sim_json *json, const struct wl_step *step)
{
    sim_json_key(json, "compute");
    sim_json_array_begin(json);
    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct wl_part *part = &step->part[i];
        if (!part->class.is_compute) continue;
        sim_json_object_begin(json);
        sim_json_put_text(json, "kind", wl_kind_names[part->class.kind]);
        sim_json_put_text(json, "pass", wl_pass_names[part->class.pass]);
        sim_json_put_uint(json, "count", part->class.count);
        sim_json_put_double(json, "flops", part->class.flops);
        sim_json_put_double(json, "bytes", part->class.bytes);
        sim_json_put_double(json, "total_s", part->total_s);
        sim_json_object_end(json);
    }
    sim_json_array_end(json);
}

static void json_memory(sim_json *json, const struct wl_memory *memory)
{
    sim_json_key(json, "memory");
    sim_json_array_begin(json);
    for (int k = 0; k < WL_MEMORY_KINDS; k++) {
        sim_json_object_begin(json);
        sim_json_put_text(json, "kind", wl_memory_names[k]);
        sim_json_put_double(json, "bytes", memory->bytes[k]);
        sim_json_put_text(json, "divided_by", wl_memory_divided_by[k]);
        sim_json_object_end(json);
    }
    sim_json_array_end(json);
}

static void json_placement(sim_json *json, const struct wl_study *study)
{
    char text[160];
    sim_json_key(json, "placement");
    sim_json_object_begin(json);
    for (int a = 0; a < WL_AXES; a++)
        sim_json_put_text(
            json, wl_axis_names[a],
            study->axis[a].size > 1
                ? topo_group_format(study->topology, &study->axis[a].group, text, sizeof text)
                : "");
    sim_json_object_end(json);
}

static void json_row(sim_json *json, const struct wl_study *study, const struct wl_step *step)
{
    char text[256];
    sim_json_object_begin(json);
    sim_json_put_text(json, "study", study->name);
    sim_json_put_text(json, "model", study->model.name);
    sim_json_put_text(json, "topology", topo_spec(study->topology));
    sim_json_put_text(json, "precision", topo_precision_names[study->precision]);
    sim_json_put_text(json, "remat", step_remat_text(&study->remat, text, sizeof text));
    sim_json_put_uint(json, "chips", topo_chips(study->topology));
    sim_json_put_double(json, "step_s", step->step_s);
    sim_json_put_double(json, "tokens_per_s", step->tokens_per_s);
    sim_json_put_double(json, "tflops_per_chip", step->flops_per_chip_per_s / 1e12);
    sim_json_put_double(json, "mfu", step->mfu);
    sim_json_put_double(json, "hfu", step->hfu);
    sim_json_put_double(json, "compute_s", step->compute_s);
    sim_json_put_double(json, "exposed_comm_s", step->exposed_comm_s);
    sim_json_put_double(json, "exposed_host_s", step->exposed_host_s);
    sim_json_put_double(json, "bound_s", step->bound.time_s);
    sim_json_put_text(json, "limited_by", step->bound.limited_by);
    sim_json_put_double(json, "memory_bytes_per_chip", step->memory.total_bytes);
    sim_json_put_double(json, "hbm_bytes_per_chip", step->memory.hbm_bytes);
    sim_json_put_double(json, "host_bytes_per_chip", step->memory.host_bytes);
    sim_json_key(json, "fits");
    sim_json_bool(json, step->memory.fits);
    sim_json_put_uint(json, "chip", step->chip);
    json_placement(json, study);
    json_collectives(json, "collectives", step, false);
    json_collectives(json, "transfers", step, true);
    json_compute(json, step);
    json_memory(json, &step->memory);
    sim_json_object_end(json);
}

void step_report_json(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    sim_json *json = sim_json_create(out);
    sim_json_object_begin(json);
    json_meta(json, study, step);
    sim_json_key(json, "rows");
    sim_json_array_begin(json);
    json_row(json, study, step);
    sim_json_array_end(json);
    sim_json_object_end(json);
    sim_json_destroy(json);
}
