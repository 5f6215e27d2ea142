/*
 * podsim topo SPEC...: what a pod is and what it can do, without simulating.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/report.h"
#include "cli/version.h"
#include "topo/metrics.h"

#define SPECS_MAX 64

static const struct cli_option options[] = {
    {"format", "FORMAT", "text, csv or json (default: text)"},
    CLI_TOPOLOGY_OPTIONS,
    {NULL, NULL, NULL}};
enum { OPT_FORMAT, OPT_LINK, OPT_LATENCY, OPT_ROUTING };

static const struct cli_command command = {
    "topo", "describe a pod: shape, links, distances, bisection", "SPEC... [OPTIONS]",
    "A SPEC is a chip and its slice (v5p:8x8x16, v6e:16x16), or a plain topology: torus:8x8x8, "
    "mesh:4x4, ring:8,\n"
    "full:8, each with optional ,link=45GB/s,latency=1us. Chips have ids, x fastest: chip x + X (y "
    "+ Y z).\n\n"
    "mean_hops counts ordered pairs, a chip's distance 0 to itself included; bisection is one "
    "direction;\n"
    "all_to_all is the rate each chip may send at, evenly to all chips, until the busiest link is "
    "full.",
    options};

static const struct cli_column columns[] = {{"topology", NULL, true},
                                            {"chips", NULL, false},
                                            {"links", NULL, false},
                                            {"diameter", NULL, false},
                                            {"mean_hops", NULL, false},
                                            {"axis_mean_hops", NULL, false},
                                            {"bisection_gb_per_s", NULL, false},
                                            {"bisection_kind", NULL, true},
                                            {"all_to_all_gb_per_s", NULL, false},
                                            {"axes", NULL, true},
                                            {"wrapped_axes", NULL, true},
                                            {"hosts", NULL, false},
                                            {"link_gb_per_s", NULL, false},
                                            {"latency_us", NULL, false},
                                            {NULL, NULL, false}};

struct request {
    enum cli_format format;
    struct topo_options topology;
    const char *spec[SPECS_MAX];
    uint32_t spec_count;
};

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct request *q = request;
    switch (option) {
    case CLI_OPERAND:
        if (q->spec_count == SPECS_MAX)
            return sim_error_set(err, SIM_EUSAGE, "more than %d topologies", SPECS_MAX);
        q->spec[q->spec_count++] = value;
        return SIM_OK;
    case OPT_FORMAT:
        return cli_format_parse(value, err, &q->format);
    default:
        return cli_topology_option(options[option].name, value, &q->topology, err);
    }
}

static void axis_texts(const topo *t, char *shape, char *wrapped, size_t bytes)
{
    size_t at = 0, wrap_at = 0;
    shape[0] = wrapped[0] = 0;
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        at += (size_t)snprintf(shape + at, bytes - at, "%s%u", a > 0 ? "x" : "",
                               topo_axis_size(t, a));
        if (topo_has_ports(t) && topo_axis_is_wrapped(t, a))
            wrap_at += (size_t)snprintf(wrapped + wrap_at, bytes - wrap_at, "%c", "xyzw"[a]);
    }
}

/* Hosts of a slice: its shape in whole host blocks (a slice smaller than a host is one). */
static uint64_t host_count(const topo *t, uint32_t grid[3])
{
    const struct topo_chip *chip = topo_chip_of(t);
    uint64_t hosts = 1;
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t size = a < topo_axes(t) ? topo_axis_size(t, a) : 1;
        grid[a] = chip != NULL ? (size + chip->host[a] - 1) / chip->host[a] : 0;
        hosts *= grid[a];
    }
    return hosts;
}

static void print_description(const topo *t, const struct topo_metrics *m,
                              const struct topo_options *o)
{
    char shape[64], wrapped[8], a[SIM_QUANTITY_TEXT], b[SIM_QUANTITY_TEXT], c[SIM_QUANTITY_TEXT];
    const struct topo_chip *chip = topo_chip_of(t);
    axis_texts(t, shape, wrapped, sizeof shape);
    printf("%s\n", topo_spec(t));
    printf("  chips          %s%s", sim_count_format(topo_chips(t), a),
           topo_has_ports(t) ? "" : "\n");
    if (topo_has_ports(t))
        printf(" (%s, %s%s)\n", shape, wrapped[0] != 0 ? "wrapped: " : "no axis wraps", wrapped);
    if (chip != NULL) {
        uint32_t grid[3];
        uint64_t hosts = host_count(t, grid);
        printf("  chip           %s, hosts of %ux%ux%u chips: %s (%ux%ux%u)\n", chip->full_name,
               chip->host[0], chip->host[1], chip->host[2], sim_count_format(hosts, a), grid[0],
               grid[1], grid[2]);
    }
    printf("  links          %s one-way, %s each, %s a hop, routing %s\n",
           sim_count_format(topo_links(t), a), sim_rate_format(topo_default_link_rate(t), b),
           sim_time_format(topo_default_latency_ps(t), c), cli_routing_text(o));
    printf("  diameter       %u hops, mean %.4g", m->diameter, m->mean_hops);
    for (uint32_t i = 0; i < topo_axes(t) && topo_has_ports(t); i++)
        printf("%s%c %.4g", i == 0 ? " (" : ", ", "xyzw"[i], m -> axis_mean_hops[i]);
    printf("%s\n", topo_has_ports(t) ? ")" : "");
    printf("  bisection      %s one way (%s)\n", sim_rate_format(m->bisection_bytes_per_s, a),
           m->is_bisection_exact ? "exact" : "upper bound");
    if (m->all_to_all_bytes_per_s > 0)
        printf("  all-to-all     %s a chip, evenly to all, fills the busiest link\n",
               sim_rate_format(m->all_to_all_bytes_per_s, a));
    printf("  numbering      chip id = x + X (y + Y (z ...)), ids 0 to %s\n",
           sim_count_format(topo_chips(t) - 1, a));
}

static void add_row(cli_report *report, const topo *t, const struct topo_metrics *m)
{
    char shape[64], wrapped[8];
    uint32_t grid[3];
    axis_texts(t, shape, wrapped, sizeof shape);
    cli_cell_text(report, topo_spec(t));
    cli_cell_uint(report, topo_chips(t), NULL);
    cli_cell_uint(report, topo_links(t), NULL);
    cli_cell_uint(report, m->diameter, NULL);
    cli_cell_double(report, m->mean_hops, NULL);
    cli_cell_array(report, m->axis_mean_hops, topo_has_ports(t) ? topo_axes(t) : 0, NULL);
    cli_cell_double(report, m->bisection_bytes_per_s / 1e9, NULL);
    cli_cell_text(report, m->is_bisection_exact ? "exact" : "upper bound");
    cli_cell_double(report, m->all_to_all_bytes_per_s / 1e9, NULL);
    cli_cell_text(report, shape);
    cli_cell_text(report, wrapped);
    cli_cell_uint(report, topo_chip_of(t) != NULL ? host_count(t, grid) : 0, NULL);
    cli_cell_double(report, topo_default_link_rate(t) / 1e9, NULL);
    cli_cell_double(report, sim_ps_to_us(topo_default_latency_ps(t)), NULL);
}

static enum sim_status describe(const struct request *q, const char *spec, cli_report *report,
                                struct sim_error *err)
{
    topo *t;
    SIM_TRY(topo_create(spec, &q->topology, err, &t));
    struct topo_metrics m = topo_metrics_of(t);
    if (q->format == CLI_TEXT)
        print_description(t, &m, &q->topology);
    else
        add_row(report, t, &m);
    topo_destroy(t);
    return SIM_OK;
}

enum sim_status cmd_topo(int argc, char **argv, struct sim_error *err)
{
    struct request q = {.topology = TOPO_OPTIONS_DEFAULT};
    bool is_help;
    SIM_TRY(cli_args_read(&command, argc, argv, take, &q, &is_help, err));
    if (is_help) return SIM_OK;
    if (q.spec_count == 0)
        return sim_error_set(err, SIM_EUSAGE, "no topology given, as in podsim topo v5p:8x8x8");
    cli_report *report = cli_report_create(columns);
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_text(report, "routing", cli_routing_text(&q.topology));
    enum sim_status status = SIM_OK;
    for (uint32_t i = 0; i < q.spec_count && status == SIM_OK; i++)
        status = describe(&q, q.spec[i], report, err);
    if (status == SIM_OK && q.format != CLI_TEXT) cli_report_print(report, q.format, stdout);
    cli_report_destroy(report);
    return status;
}
