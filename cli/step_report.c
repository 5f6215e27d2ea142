#include "cli/step_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/quantity.h"
#include "cli/report.h"
#include "cli/version.h"
#include "workloads/placement.h"

#define LINKS_SHOWN 4

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static const char *op_name(const struct wl_class *class)
{
    if (class->axis != WL_AXIS_HOST) return coll_op_names[class->op];
    return class->op == COLL_ALL_GATHER ? "fetch" : "save";
}

static const char *efficiency_source(const struct wl_study *study)
{
    if (study->has_own_efficiencies) return "set in the study";
    const char *source = study->chip.efficiency_source;
    return source != NULL ? source : "not fitted";
}

static const char *counted(const struct wl_study *study)
{
    return study->attention_count == WL_COUNT_CAUSAL ? "causal attention" : "full attention";
}

static double part_sum(const struct wl_step *step, enum wl_pass pass)
{
    double sum = 0;
    for (uint32_t i = 0; i < step->part_count; i++)
        if (step->part[i].class.is_compute && step->part[i].class.pass == pass)
            sum += step->part[i].total_s;
    return sum;
}

/* "full", or what a custom policy does: "keeps input, offloads qkv". */
static const char *remat_text(const struct wl_remat *remat, char *buffer, size_t bytes)
{
    static const struct {
        enum wl_saving how;
        const char *verb;
    } parts[] = {{WL_KEEP, "keeps "}, {WL_OFFLOAD, "offloads "}};
    if (strcmp(remat->name, "custom") != 0) return remat->name;
    size_t at = 0;
    buffer[0] = 0;
    for (int p = 0; p < 2; p++) {
        const char *before = parts[p].verb; /* "keeps " before the first only */
        for (int i = 0; i < WL_TENSORS && at < bytes; i++) {
            if (remat->tensor[i] != parts[p].how) continue;
            at += (size_t)snprintf(buffer + at, bytes - at, "%s%s%s", at > 0 ? ", " : "", before,
                                   wl_tensor_names[i]);
            before = "";
        }
    }
    return buffer;
}

/* ---- text ---- */

static void text_head(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    char tokens[SIM_QUANTITY_TEXT], per_chip[SIM_QUANTITY_TEXT], chips[SIM_QUANTITY_TEXT];
    char remat[256];
    double chip_count = topo_chips(study->topology);
    fprintf(out, "%s: %s on %s, %s chips\n", study->name, study->model.name,
            topo_spec(study->topology), sim_count_format(topo_chips(study->topology), chips));
    fprintf(out,
            "%" PRIu64 " sequences of %" PRIu64
            " tokens a step (fixed for the whole job), %s, remat "
            "%s, %s\n\n",
            study->batch, study->sequence, topo_precision_names[study->precision],
            remat_text(&study->remat, remat, sizeof remat), wl_optimizer_names[study->optimizer]);
    fprintf(out, "step time   %.6g s%s\n", step->step_s,
            step->is_simulated ? "" : " at least (bound, nothing simulated)");
    fprintf(out, "tokens/s    %s, %s a chip\n",
            sim_count_format((uint64_t)(step->tokens_per_s + 0.5), tokens),
            sim_count_format((uint64_t)(step->tokens_per_s / chip_count + 0.5), per_chip));
    fprintf(out,
            "MFU         %.2f %%   %.4g of %.4g TFLOP/s a chip; %s, recomputation not counted\n",
            100 * step->mfu, step->flops_per_chip_per_s / 1e12, step->peak_flops_per_s / 1e12,
            counted(study));
    fprintf(out, "HFU         %.2f %%   all that is executed: causal attention, recomputation\n",
            100 * step->hfu);
    fprintf(out, "bound       %.6g s   no schedule is faster: %s; the step takes %.3g times that\n",
            step->bound.time_s, step->bound.limited_by, step->step_s / step->bound.time_s);
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
                wl_graph_axis_name(part->class.axis), op_name(&part->class),
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
        snprintf(text, sizeof text, "%s > %s", topo_chip_format(t, topo_link_from(t, l), from),
                 topo_chip_format(t, topo_link_to(t, l), to));
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
        "and the attention kernel at %.4g of the matrix rate, memory at %.4g of its rate\n",
        sim_rate_format(topo_default_link_rate(study->topology), link),
        sim_time_format(topo_default_latency_ps(study->topology), hop),
        sim_time_format(study->launch_overhead_ps, launch),
        chip->matmul_efficiency[study->precision], chip->attention_efficiency[TOPO_BF16],
        chip->hbm_efficiency);
    fprintf(out, "efficiencies: %s\n", efficiency_source(study));
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

static void text_limit(FILE *out, const struct wl_study *study, const struct wl_step *step)
{
    const struct wl_part *worst = NULL;
    for (uint32_t i = 0; i < step->part_count; i++)
        if (!step->part[i].class.is_compute &&
            (worst == NULL || step->part[i].exposed_s > worst->exposed_s))
            worst = &step->part[i];
    double recompute_s = part_sum(step, WL_RECOMPUTATION);
    double free_bytes = step->memory.hbm_bytes - step->memory.total_bytes;
    if (worst != NULL && worst->exposed_s > 0.05 * step->step_s)
        fprintf(out, "\nlimited by %s of %s over %s, exposed for %.1f %% of the step: %s\n",
                op_name(&worst->class), wl_traffic_names[worst->class.traffic],
                wl_graph_axis_name(worst->class.axis), percent(worst->exposed_s, step->step_s),
                network_advice(study, &worst->class));
    else if (recompute_s > 0.1 * step->step_s && free_bytes > 0.2 * step->memory.hbm_bytes)
        fprintf(out,
                "\nlimited by computing, %.1f %% of it recomputation while %.1f GB are free: try "
                "keeping "
                "more (training.remat)\n",
                percent(recompute_s, step->compute_s), free_bytes / 1e9);
    else
        fprintf(out, "\nlimited by computing on %s (%.1f %% of the step): more chips shorten it\n",
                study->chip.name, percent(step->compute_s, step->step_s));
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

/* ---- CSV ---- */

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

/* ---- JSON ---- */

static void put_text(sim_json *json, const char *key, const char *value)
{
    sim_json_key(json, key);
    sim_json_text(json, value);
}

static void put_double(sim_json *json, const char *key, double value)
{
    sim_json_key(json, key);
    sim_json_double(json, value);
}

static void put_uint(sim_json *json, const char *key, uint64_t value)
{
    sim_json_key(json, key);
    sim_json_uint(json, value);
}

static void json_meta(sim_json *json, const struct wl_study *study, const struct wl_step *step)
{
    const struct topo_chip *chip = &study->chip;
    sim_json_key(json, "meta");
    sim_json_object_begin(json);
    put_text(json, "program", "podsim");
    put_text(json, "version", PODSIM_VERSION);
    put_text(json, "engine", wl_engine_names[study->engine]);
    put_text(json, "kind", "modelled");
    put_text(json, "mfu_counts", counted(study));
    put_double(json, "link_bytes_per_s", topo_default_link_rate(study->topology));
    put_double(json, "hop_latency_us", sim_ps_to_us(topo_default_latency_ps(study->topology)));
    put_double(json, "launch_overhead_us", sim_ps_to_us(study->launch_overhead_ps));
    put_double(json, "peak_flops_per_s", step->peak_flops_per_s);
    put_double(json, "hbm_bytes_per_s", chip->hbm_bytes_per_s);
    put_double(json, "matmul_efficiency", chip->matmul_efficiency[study->precision]);
    put_double(json, "attention_efficiency", chip->attention_efficiency[TOPO_BF16]);
    put_double(json, "hbm_efficiency", chip->hbm_efficiency);
    put_text(json, "efficiency_source", efficiency_source(study));
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
        put_text(json, "axis", wl_graph_axis_name(part->class.axis));
        put_text(json, "op", op_name(&part->class));
        put_text(json, "of", wl_traffic_names[part->class.traffic]);
        put_uint(json, "count", part->class.count);
        put_double(json, "bytes", part->class.bytes);
        put_double(json, "total_s", part->total_s);
        put_double(json, "exposed_s", part->exposed_s);
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
        put_text(json, "kind", wl_kind_names[part->class.kind]);
        put_text(json, "pass", wl_pass_names[part->class.pass]);
        put_uint(json, "count", part->class.count);
        put_double(json, "flops", part->class.flops);
        put_double(json, "bytes", part->class.bytes);
        put_double(json, "total_s", part->total_s);
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
        put_text(json, "kind", wl_memory_names[k]);
        put_double(json, "bytes", memory->bytes[k]);
        put_text(json, "divided_by", wl_memory_divided_by[k]);
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
        put_text(json, wl_axis_names[a],
                 study->axis[a].size > 1
                     ? topo_group_format(study->topology, &study->axis[a].group, text, sizeof text)
                     : "");
    sim_json_object_end(json);
}

static void json_row(sim_json *json, const struct wl_study *study, const struct wl_step *step)
{
    char text[256];
    sim_json_object_begin(json);
    put_text(json, "study", study->name);
    put_text(json, "model", study->model.name);
    put_text(json, "topology", topo_spec(study->topology));
    put_text(json, "precision", topo_precision_names[study->precision]);
    put_text(json, "remat", remat_text(&study->remat, text, sizeof text));
    put_uint(json, "chips", topo_chips(study->topology));
    put_double(json, "step_s", step->step_s);
    put_double(json, "tokens_per_s", step->tokens_per_s);
    put_double(json, "tflops_per_chip", step->flops_per_chip_per_s / 1e12);
    put_double(json, "mfu", step->mfu);
    put_double(json, "hfu", step->hfu);
    put_double(json, "compute_s", step->compute_s);
    put_double(json, "exposed_comm_s", step->exposed_comm_s);
    put_double(json, "exposed_host_s", step->exposed_host_s);
    put_double(json, "bound_s", step->bound.time_s);
    put_text(json, "limited_by", step->bound.limited_by);
    put_double(json, "memory_bytes_per_chip", step->memory.total_bytes);
    put_double(json, "hbm_bytes_per_chip", step->memory.hbm_bytes);
    put_double(json, "host_bytes_per_chip", step->memory.host_bytes);
    sim_json_key(json, "fits");
    sim_json_bool(json, step->memory.fits);
    put_uint(json, "chip", step->chip);
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

/* ---- trace ----
 *
 * The compute stream is a thread of complete slices ("X"). Collectives and host transfers may
 * overlap, so each is an asynchronous slice ("b" and "e", matched by id), which gets a row per
 * name. Times are microseconds; six decimals keep the picoseconds.
 */

struct step_trace {
    FILE *out;
    uint64_t count;
    struct wl_step_observer observer;
};

static void put_time(FILE *out, const char *key, sim_ps ps)
{
    fprintf(out, ",\"%s\":%" PRId64 ".%06" PRId64, key, ps / SIM_PS_PER_US, ps % SIM_PS_PER_US);
}

static void put_compute(FILE *out, const struct wl_class *class, sim_ps start_ps, sim_ps end_ps)
{
    fprintf(out, ",\n{\"ph\":\"X\",\"pid\":0,\"tid\":0,\"cat\":\"%s\",\"name\":\"%s\"",
            wl_pass_names[class->pass], wl_kind_names[class->kind]);
    put_time(out, "ts", start_ps);
    put_time(out, "dur", end_ps - start_ps);
    fputc('}', out);
}

static void put_edge(FILE *out, char phase, const struct wl_class *class, uint64_t id, sim_ps at_ps)
{
    const char *axis = wl_graph_axis_name(class->axis);
    fprintf(out,
            ",\n{\"ph\":\"%c\",\"pid\":0,\"tid\":1,\"cat\":\"%s\",\"id\":%" PRIu64
            ",\"name\":\"%s %s of %s\"",
            phase, axis, id, axis, op_name(class), wl_traffic_names[class->traffic]);
    put_time(out, "ts", at_ps);
    fputc('}', out);
}

static void on_op(void *context, const struct wl_class *class, sim_ps start_ps, sim_ps end_ps)
{
    step_trace *trace = context;
    trace->count++;
    if (class->is_compute) {
        put_compute(trace->out, class, start_ps, end_ps);
        return;
    }
    put_edge(trace->out, 'b', class, trace->count, start_ps);
    put_edge(trace->out, 'e', class, trace->count, end_ps);
}

step_trace *step_trace_create(FILE *out, const struct wl_study *study, topo_chip_id chip)
{
    step_trace *trace = SIM_NEW(step_trace, 1);
    char where[48];
    trace->out = out;
    trace->observer = (struct wl_step_observer){.context = trace, .chip = chip, .on_op = on_op};
    fprintf(out,
            "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n"
            "{\"ph\":\"M\",\"pid\":0,\"name\":\"process_name\",\"args\":{\"name\":\"chip %s of "
            "%s\"}},\n"
            "{\"ph\":\"M\",\"pid\":0,\"tid\":0,\"name\":\"thread_name\",\"args\":{\"name\":"
            "\"compute\"}}",
            topo_chip_format(study->topology, chip, where), topo_spec(study->topology));
    return trace;
}

void step_trace_destroy(step_trace *trace)
{
    if (trace == NULL) return;
    fputs("\n]}\n", trace->out);
    sim_free(trace);
}

const struct wl_step_observer *step_trace_observer(const step_trace *trace)
{
    return trace != NULL ? &trace->observer : NULL;
}
