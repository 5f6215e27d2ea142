/*
 * podsim topo SPEC...: what a pod is and what it can do, without simulating.
 *
 * The specs are described one by one, or compared (--compare), or asked what failing hosts leave of
 * them (--availability).
 */
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/topo_deadlock.h"
#include "cli/topo_fits.h"
#include "cli/topo_goodput.h"
#include "cli/topo_report.h"
#include "cli/version.h"
#include "topo/graph.h"
#include "topo/routing.h"

#define SPECS_MAX 64
/* A double holds every smaller seed, so JSON shows the seed that was given. */
#define SEED_MAX (UINT64_C(1) << 53)

static const struct cli_option options[] = {
    {"format", "FORMAT", "text, csv or json (default: text)"},
    {"compare", "SPEC...",
     "the pods side by side, with ratios to the first, which --fail leaves whole"},
    {"availability", NULL,
     "goodput of slices of a pod of cubes whose hosts fail;\nwith --fail the slices that still "
     "fit"},
    {"slice", "LIST", "slice sizes for it, e.g. 1024chips,2048chips"},
    {"host-availability", "LIST", "how much a host is up (default: 0.99,0.995,0.999)"},
    {"seed", "N", "of what is drawn (default: 1)"},
    {"export", "FILE", "the graph; by its ending: graphml, dot or edges (a link a line)"},
    {"check-deadlock", NULL, "can messages wait in a circle? exits 1 if so"},
    CLI_TOPOLOGY_OPTIONS,
    {NULL, NULL, NULL}};
/* What CLI_TOPOLOGY_OPTIONS holds goes by name. */
enum {
    OPT_FORMAT,
    OPT_COMPARE,
    OPT_AVAILABILITY,
    OPT_SLICE,
    OPT_HOST,
    OPT_SEED,
    OPT_EXPORT,
    OPT_DEADLOCK,
    OPT_TOPOLOGY
};

static const struct cli_command command = {
    "topo", "describe a pod: shape, links, distances, bisection", "SPEC... [OPTIONS]",
    "A SPEC is a chip and its slice (v5p:8x8x16, v6e:16x16), or a plain topology: torus:8x8x8, "
    "mesh:4x4, ring:8,\n"
    "full:8, each with optional ,link=45GB/s,latency=1us. v5p:*:512 is every v5p slice of 512 "
    "chips, up to axis\n"
    "order. Chips have ids, x fastest: chip x + X (y + Y z).\n\n"
    "mean_hops counts ordered pairs, a chip's distance 0 to itself included; bisection is one "
    "direction;\n"
    "all_to_all is the rate each chip may send at, evenly to all chips, until the busiest link is "
    "full;\n"
    "neighbour the same, evenly to its neighbours (without ports: ids +1 and -1), dark cables "
    "bypassed.\n"
    "betweenness is the most pairs that any link has on their shortest paths (up to 4,096 chips)."
    "\n\n"
    "Goodput is the expected share of the pod's chips in usable slices: with optical switches "
    "(OCS) "
    "any good\n"
    "cubes make a slice, without them only a block of the pod; a cube is good when its 16 hosts "
    "are up.",
    options};

struct request {
    enum cli_format format;
    struct topo_options topology;
    struct cli_topo_specs specs;
    struct cli_goodput goodput;
    uint32_t operands;
    const char *export; /* NULL: none */
    bool is_comparison, is_availability, is_deadlock, has_seed;
};

/* ---- arguments ---- */

static enum sim_status take_spec(struct request *q, const char *value, struct sim_error *err)
{
    if (q->operands++ == SPECS_MAX)
        return sim_error_set(err, SIM_EUSAGE, "more than %d topologies", SPECS_MAX);
    return cli_topo_specs_add(&q->specs, value, err);
}

static enum sim_status take_compare(struct request *q, const char *value, struct sim_error *err)
{
    if (q->operands == 0)
        return sim_error_set(err, SIM_EUSAGE,
                             "--compare: no topology before it, as in podsim topo v5p:8x8x8 "
                             "--compare v5p:4x8x16");
    q->is_comparison = true;
    return take_spec(q, value, err);
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct request *q = request;
    switch (option) {
    case CLI_OPERAND:
        return take_spec(q, value, err);
    case OPT_FORMAT:
        return cli_format_parse(value, err, &q->format);
    case OPT_COMPARE:
        return take_compare(q, value, err);
    case OPT_AVAILABILITY:
        q->is_availability = true;
        return SIM_OK;
    case OPT_EXPORT:
        q->export = value;
        return SIM_OK;
    case OPT_DEADLOCK:
        q->is_deadlock = true;
        return SIM_OK;
    case OPT_SLICE:
        return cli_goodput_slices(&q->goodput, value, err);
    case OPT_HOST:
        return cli_goodput_hosts(&q->goodput, value, err);
    case OPT_SEED:
        q->has_seed = true;
        return cli_option_error("seed", sim_count_parse(value, 0, SEED_MAX, err, &q->goodput.seed),
                                err);
    default:
        return cli_topology_option(options[option].name, value, &q->topology, err);
    }
}

static bool has_faults(const struct request *q)
{
    return q->topology.fail[0] != 0 || q->topology.fail_random != NULL;
}

static enum sim_status check(struct request *q, struct sim_error *err)
{
    if (q->operands == 0)
        return sim_error_set(err, SIM_EUSAGE, "no topology given, as in podsim topo v5p:8x8x8");
    bool has_goodput = q->goodput.slice_count > 0 || q->goodput.host_count > 0 || q->has_seed;
    if (!q->is_availability && has_goodput)
        return sim_error_set(err, SIM_EUSAGE,
                             "--slice, --host-availability and --seed belong to --availability");
    if (q->is_availability + q->is_comparison + q->is_deadlock + (q->export != NULL) > 1)
        return sim_error_set(
            err, SIM_EUSAGE,
            "--compare, --availability, --export and --check-deadlock do one thing each, take one");
    if (q->export != NULL && (q->operands > 1 || q->specs.has_shapes))
        return sim_error_set(err, SIM_EUSAGE, "--export: one topology goes into a file");
    if (!q->is_availability) return SIM_OK;
    if (has_faults(q) && (q->goodput.host_count > 0 || q->has_seed))
        return sim_error_set(err, SIM_EUSAGE,
                             "--availability counts what given faults leave, or averages over "
                             "--host-availability: take one");
    if (q->goodput.slice_count == 0)
        return sim_error_set(err, SIM_EUSAGE,
                             "--availability: --slice is missing, as in --slice 1024chips");
    if (q->goodput.host_count == 0) return cli_goodput_hosts(&q->goodput, "0.99,0.995,0.999", err);
    return SIM_OK;
}

/* ---- answers ---- */

/* What to do with each topology in turn. */
struct output {
    const struct request *request;
    cli_report *report;              /* NULL: text */
    cli_topo_comparison *comparison; /* NULL: none */
    const char *routing;             /* of all so far */
};

static void note_routing(struct output *o, const topo *t)
{
    const char *routing = cli_routing_text(&o->request->topology, t);
    if (o->routing == NULL)
        o->routing = routing;
    else if (strcmp(o->routing, routing) != 0)
        o->routing = "each topology's default";
}

static enum sim_status show(struct output *o, const char *spec, bool is_whole,
                            struct sim_error *err)
{
    topo *t;
    struct topo_options said = o->request->topology;
    if (is_whole) {
        said.fail[0] = 0;
        said.fail_random = NULL;
    }
    SIM_TRY(topo_create(spec, &said, err, &t));
    if (topo_routing_is_adaptive(t)) {
        topo_destroy(t);
        return sim_error_set(err, SIM_EDATA,
                             "routing adaptive: loads follow from the traffic, see podsim traffic; "
                             "--check-deadlock looks at its escape channels");
    }
    struct topo_metrics m = topo_metrics_of(t);
    note_routing(o, t);
    if (o->comparison != NULL)
        cli_topo_comparison_add(o->comparison, t, &m);
    else if (o->report != NULL)
        cli_topo_row(o->report, t, &m, o->request->format == CLI_TEXT);
    else
        cli_topo_describe(t, &m, &o->request->topology);
    topo_destroy(t);
    return SIM_OK;
}

static enum sim_status show_all(struct output *o, struct sim_error *err)
{
    const struct cli_topo_specs *specs = &o->request->specs;
    for (uint32_t i = 0; i < specs->count; i++) /* faults are compared with the first pod whole */
        SIM_TRY(show(o, specs->spec[i], o->comparison != NULL && i == 0, err));
    return SIM_OK;
}

static enum sim_status compare(const struct request *q, struct sim_error *err)
{
    struct output o = {.request = q, .comparison = cli_topo_comparison_create()};
    enum sim_status status = show_all(&o, err);
    if (status == SIM_OK) cli_topo_comparison_print(o.comparison, o.routing, q->format);
    cli_topo_comparison_destroy(o.comparison);
    return status;
}

static enum sim_status tabulate(const struct request *q, struct sim_error *err)
{
    struct output o = {.request = q, .report = cli_report_create(cli_topo_columns)};
    cli_meta_text(o.report, "version", PODSIM_VERSION);
    enum sim_status status = show_all(&o, err);
    if (status == SIM_OK) {
        cli_meta_text(o.report, "routing", o.routing);
        cli_report_print(o.report, q->format, stdout);
    }
    cli_report_destroy(o.report);
    return status;
}

static enum sim_status export_graph(const struct request *q, struct sim_error *err)
{
    enum topo_graph_format format;
    if (!topo_graph_format_of(q->export, &format))
        return sim_error_set(err, SIM_EUSAGE,
                             "--export: found \"%s\", want a name that ends in .graphml, .dot or "
                             ".edges",
                             q->export);
    topo *t;
    SIM_TRY(topo_create(q->specs.spec[0], &q->topology, err, &t));
    enum sim_status status = topo_graph_export(t, q->export, format, err);
    topo_destroy(t);
    return status;
}

static enum sim_status answer(const struct request *q, struct sim_error *err)
{
    if (q->is_availability && has_faults(q))
        return cli_fits_print(&q->goodput, &q->specs, &q->topology, q->format, err);
    if (q->is_availability)
        return cli_goodput_print(&q->goodput, &q->specs, &q->topology, q->format, err);
    if (q->export != NULL) return export_graph(q, err);
    if (q->is_deadlock) return cli_deadlock_print(&q->specs, &q->topology, q->format, err);
    if (q->is_comparison) return compare(q, err);
    if (q->format != CLI_TEXT || q->specs.has_shapes) return tabulate(q, err);
    return show_all(&(struct output){.request = q}, err);
}

enum sim_status cmd_topo(int argc, char **argv, struct sim_error *err)
{
    struct request q = {.topology = TOPO_OPTIONS_DEFAULT, .goodput.seed = 1};
    bool is_help;
    enum sim_status status = cli_args_read(&command, argc, argv, take, &q, &is_help, err);
    if (status == SIM_OK && !is_help) {
        status = check(&q, err);
        if (status == SIM_OK) status = answer(&q, err);
    }
    cli_topo_specs_release(&q.specs);
    cli_goodput_release(&q.goodput);
    return status;
}
