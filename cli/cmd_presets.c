/*
 * podsim presets: the chips, pods, models and algorithms built in, with their sources. What is not
 * published is shown as "-".
 */
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/version.h"
#include "collectives/about.h"
#include "topo/chip.h"
#include "workloads/model.h"

static const struct cli_option options[] = {
    {"format", "FORMAT", "text, csv or json (default: text)"}, {NULL, NULL, NULL}};

static const struct cli_command command = {
    "presets", "list the chips, pods, models and algorithms built in",
    "[chips|models|algorithms] [OPTIONS]",
    "Rates are per chip; link is one direction of one link; efficiencies are fitted on the rows "
    "named in\n"
    "efficiency_source and on nothing else. 0 (\"-\" in text) means not published: podsim asks "
    "before it needs one.",
    options};

static const struct cli_column chip_columns[] = {{"chip", "chip", true},
                                                 {"pod", "largest pod", true},
                                                 {"pod_chips", "chips", false},
                                                 {"host", "host", true},
                                                 {"link_gb_per_s", "link GB/s", false},
                                                 {"hop_latency_us", "hop us", false},
                                                 {"launch_overhead_us", "launch us", false},
                                                 {"bf16_tflops", "bf16 TF/s", false},
                                                 {"fp8_tflops", "fp8", false},
                                                 {"int8_tflops", "int8", false},
                                                 {"hbm_gib", "HBM GiB", false},
                                                 {"hbm_gb_per_s", "HBM GB/s", false},
                                                 {"pcie_gb_per_s", "PCIe GB/s", false},
                                                 {"dcn_gb_per_s", "DCN GB/s", false},
                                                 {"matmul_efficiency_bf16", "matmul eff", false},
                                                 {"attention_efficiency_bf16", "attn eff", false},
                                                 {"hbm_efficiency", "HBM eff", false},
                                                 {"efficiency_source", NULL, true},
                                                 {"source", NULL, true},
                                                 {NULL, NULL, false}};

static const struct cli_column model_columns[] = {
    {"model", "model", true},  {"parameters", "parameters", false}, {"layers", "layers", false},
    {"width", "width", false}, {"mlp_width", "MLP", false},         {"heads", "heads", false},
    {"kv_heads", "KV", false}, {"head_size", "head size", false},   {"vocab", "vocab", false},
    {"mlp", "MLP kind", true}, {"embedding", "embedding", true},    {NULL, NULL, false}};

/* A number, or "-" where there is none. */
static void cell(cli_report *r, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.4g", value);
    cli_cell_double(r, value, value > 0 ? text : "-");
}

static void add_chip(cli_report *r, const struct topo_chip *c)
{
    char pod[32], host[32];
    snprintf(pod, sizeof pod, c->axes == 2 ? "%ux%u" : "%ux%ux%u", c->pod[0], c->pod[1], c->pod[2]);
    snprintf(host, sizeof host, c->axes == 2 ? "%ux%u" : "%ux%ux%u", c->host[0], c->host[1],
             c->host[2]);
    cli_cell_text(r, c->name);
    cli_cell_text(r, pod);
    cli_cell_uint(r, c->pod_chips, NULL);
    cli_cell_text(r, host);
    cell(r, c->link_bytes_per_s / 1e9);
    cell(r, sim_ps_to_us(c->hop_latency_ps));
    cell(r, sim_ps_to_us(c->launch_overhead_ps));
    for (int p = 0; p < TOPO_PRECISIONS; p++)
        cell(r, c->flops[p] / 1e12);
    cell(r, (double)c->hbm_bytes / (double)(1 << 30));
    cell(r, c->hbm_bytes_per_s / 1e9);
    cell(r, c->pcie_bytes_per_s / 1e9);
    cell(r, c->dcn_bytes_per_s / 1e9);
    cell(r, c->matmul_efficiency[TOPO_BF16]);
    cell(r, c->attention_efficiency[TOPO_BF16]);
    cell(r, c->hbm_efficiency);
    cli_cell_text(r, c->efficiency_source != NULL ? c->efficiency_source : "");
    cli_cell_text(r, c->source);
}

static void print_chips(enum cli_format format)
{
    cli_report *r = cli_report_create(chip_columns);
    uint32_t count;
    const struct topo_chip *chips = topo_chip_presets(&count);
    cli_meta_text(r, "version", PODSIM_VERSION);
    for (uint32_t i = 0; i < count; i++) {
        add_chip(r, &chips[i]);
        if (chips[i].efficiency_source != NULL)
            cli_note(r, "%s efficiencies: %s", chips[i].name, chips[i].efficiency_source);
    }
    for (uint32_t i = 0; i < count; i++)
        cli_note(r, "%s: %s", chips[i].name, chips[i].source);
    cli_report_print(r, format, stdout);
    cli_report_destroy(r);
}

static void add_model(cli_report *r, const struct wl_model *m)
{
    char parameters[SIM_QUANTITY_TEXT];
    uint64_t total = wl_model_params(m).total;
    snprintf(parameters, sizeof parameters, "%.2fB", (double)total / 1e9);
    cli_cell_text(r, m->name);
    cli_cell_uint(r, total, parameters);
    cli_cell_uint(r, m->layers, NULL);
    cli_cell_uint(r, m->width, NULL);
    cli_cell_uint(r, m->mlp_width, NULL);
    cli_cell_uint(r, m->heads, NULL);
    cli_cell_uint(r, m->kv_heads, NULL);
    cli_cell_uint(r, m->head_size, NULL);
    cli_cell_uint(r, m->vocab, NULL);
    cli_cell_text(r, m->is_gated ? "gated" : "plain");
    cli_cell_text(r, m->is_tied ? "tied" : "untied");
}

static void print_models(enum cli_format format)
{
    cli_report *r = cli_report_create(model_columns);
    uint32_t count;
    const struct wl_model *models = wl_model_presets(&count);
    cli_meta_text(r, "version", PODSIM_VERSION);
    for (uint32_t i = 0; i < count; i++)
        add_model(r, &models[i]);
    cli_report_print(r, format, stdout);
    cli_report_destroy(r);
}

static const struct cli_column algorithm_columns[] = {{"algorithm", "algorithm", true},
                                                      {"operations", "operations", true},
                                                      {"idea", "idea", true},
                                                      {"time", "time on an idle torus", true},
                                                      {"wants", "wants", true},
                                                      {"source", "source", true},
                                                      {NULL, NULL, false}};

static void add_algorithm(cli_report *r, enum coll_algorithm algorithm)
{
    const struct coll_about *about = coll_about(algorithm);
    char ops[160];
    size_t at = 0;
    for (int op = 0; op < COLL_OPS; op++)
        if (coll_algorithm_fits((enum coll_op)op, algorithm))
            at += (size_t)snprintf(ops + at, sizeof ops - at, "%s%s", at > 0 ? " " : "",
                                   coll_op_names[op]);
    cli_cell_text(r, coll_algorithm_names[algorithm]);
    cli_cell_text(r, ops);
    cli_cell_text(r, about->idea);
    cli_cell_text(r, about->form);
    cli_cell_text(r, about->limits);
    cli_cell_text(r, about->source);
}

static void print_algorithms(enum cli_format format)
{
    cli_report *r = cli_report_create(algorithm_columns);
    cli_meta_text(r, "version", PODSIM_VERSION);
    for (int a = 0; a < COLL_ALGORITHMS; a++)
        add_algorithm(r, (enum coll_algorithm)a);
    cli_note(r, "n members, d axes of k, a: a hop, V: the buffer, W: a link, q chunks; of "
                "all-reduce where it is one of the operations");
    cli_report_print(r, format, stdout);
    cli_report_destroy(r);
}

struct request {
    enum cli_format format;
    bool is_chosen;
    int kind;
};

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    static const char *const kinds[] = {"chips", "models", "algorithms", NULL};
    struct request *q = request;
    if (option != CLI_OPERAND) return cli_format_parse(value, err, &q->format);
    q->is_chosen = true;
    return cli_choice("presets", value, kinds, err, &q->kind);
}

enum sim_status cmd_presets(int argc, char **argv, struct sim_error *err)
{
    struct request q = {0};
    bool is_help;
    SIM_TRY(cli_args_read(&command, argc, argv, take, &q, &is_help, err));
    if (is_help) return SIM_OK;
    if (!q.is_chosen && q.format == CLI_TEXT) {
        print_chips(q.format);
        putchar('\n');
        print_models(q.format);
        putchar('\n');
        print_algorithms(q.format);
        return SIM_OK;
    }
    static void (*const print[])(enum cli_format) = {print_chips, print_models, print_algorithms};
    print[q.kind](q.format);
    return SIM_OK;
}
