/*
 * podsim traffic: open-loop traffic in the packet engine, latency and accepted load over offered
 * load.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/hotspots.h"
#include "cli/links.h"
#include "cli/loads.h"
#include "cli/options.h"
#include "cli/pairs.h"
#include "cli/report.h"
#include "cli/router.h"
#include "cli/version.h"
#include "netsim/mpi.h"
#include "netsim/traffic.h"

static const struct cli_option options[] = {
    {"topo", "SPEC", "the pod, as in podsim topo"},
    {"pattern", "NAME",
     "uniform, neighbour, tornado, transpose, bitcomp, bitrev,\nhotspot[:CHIP[:SHARE]], or a FILE "
     "of lines \"src dst weight\""},
    {"load", "LIST", "shares of the link rate: 0.1,0.5 or FROM:TO:STEP\n(default: 0.05:1.0:0.05)"},
    {"seed", "N", "of what is drawn (default: 1)"},
    {"warmup", "CYCLES",
     "before anything is counted (default: 3000, or\n10 times through the idle network)"},
    {"measure", "CYCLES", "in which load and latency are measured (default: 4000)"},
    {"drain", "CYCLES",
     "at most, until what was measured has arrived (default:\n20000, or 10 times through the idle "
     "network)"},
    {"limit", "on|off",
     "try what a saturated point lacks: with twice the channels,\ntwice the buffers (default: on)"},
    {"past", "N", "points after the first saturated one (default: all)"},
    {"format", "FORMAT", "text, csv or json (default: text)"},
    {"hotspots", "N",
     "name the N links that were longest in use or stalled in the\nmeasurement, and the chip that "
     "takes most, load by load"},
    {"link-stats", "FILE", "write a CSV row per link, of the measurement (one load only)"},
    {"stats", "FILE", "write how the simulator itself did, as JSON"},
    CLI_ROUTER_OPTIONS,
    CLI_TOPOLOGY_OPTIONS,
    {NULL, NULL, NULL}};
/* What the shared blocks hold goes by name. */
enum {
    OPT_TOPO,
    OPT_PATTERN,
    OPT_LOAD,
    OPT_SEED,
    OPT_WARMUP,
    OPT_MEASURE,
    OPT_DRAIN,
    OPT_LIMIT,
    OPT_PAST,
    OPT_FORMAT,
    OPT_HOTSPOTS,
    OPT_LINK_STATS,
    OPT_STATS,
    OPT_SHARED
};

static const struct cli_command command = {
    "traffic", "open-loop traffic packet by packet: latency over load",
    "--topo SPEC --pattern "
    "NAME [OPTIONS]",
    "Every chip creates packets at random times, whatever the network does; they wait at their "
    "source for its one\n"
    "port. Latency is from a packet's creation until its last byte is out. accepted is what "
    "arrives, as a share of\n"
    "the link rate, like the load offered. A point is saturated when less than 97 % of what is "
    "offered arrives, or\n"
    "when what was measured has not arrived at the end of the drain: queues grow for ever, and "
    "their latency says\n"
    "how long the run was, so it is left out. A cycle is the time of a flit on a link.\n\n"
    "Example: podsim traffic --topo torus:8x8 --pattern uniform --router booksim-a",
    options};

#define NOT_ASKED UINT64_MAX

struct request {
    const char *spec, *pattern, *link_stats, *stats;
    struct topo_options topology;
    struct cli_router router;
    double *load;
    uint32_t loads;
    uint64_t seed, past, hotspots;
    uint64_t phase[3]; /* warm-up, measurement, drain; NOT_ASKED: chosen by the pod */
    int limit;         /* 0: on, 1: off */
    enum cli_format format;
};

/* ---- arguments ---- */

static enum sim_status take_count(const char *name, const char *value, uint64_t least,
                                  uint64_t most, uint64_t *out, struct sim_error *err)
{
    return cli_option_error(name, sim_count_parse(value, least, most, err, out), err);
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    enum { CYCLES_MAX = 1000000000 };
    struct request *q = request;
    switch (option) {
    case CLI_OPERAND:
        return sim_error_set(err, SIM_EUSAGE, "unexpected argument \"%s\"", value);
    case OPT_TOPO:
        q->spec = value;
        return SIM_OK;
    case OPT_PATTERN:
        q->pattern = value;
        return SIM_OK;
    case OPT_LOAD:
        sim_free(q->load);
        q->load = NULL;
        return cli_option_error("load", cli_loads_parse(value, err, &q->load, &q->loads), err);
    case OPT_SEED:
        return take_count("seed", value, 0, UINT64_C(1) << 53, &q->seed, err);
    case OPT_WARMUP:
    case OPT_MEASURE:
    case OPT_DRAIN:
        return take_count(options[option].name, value, option == OPT_MEASURE, CYCLES_MAX,
                          &q->phase[option - OPT_WARMUP], err);
    case OPT_LIMIT:
        return cli_choice("--limit", value, cli_on_off, err, &q->limit);
    case OPT_PAST:
        return take_count("past", value, 0, UINT32_MAX, &q->past, err);
    case OPT_FORMAT:
        return cli_format_parse(value, err, &q->format);
    case OPT_HOTSPOTS:
        return take_count("hotspots", value, 1, CLI_HOTSPOTS_MAX, &q->hotspots, err);
    case OPT_LINK_STATS:
        q->link_stats = value;
        return SIM_OK;
    case OPT_STATS:
        q->stats = value;
        return SIM_OK;
    default:
        if (cli_router_option(&q->router, options[option].name, value)) return SIM_OK;
        return cli_topology_option(options[option].name, value, &q->topology, err);
    }
}

static enum sim_status check(struct request *q, struct sim_error *err)
{
    if (q->spec == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--topo is missing, as in --topo torus:8x8");
    if (q->pattern == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--pattern is missing, as in --pattern uniform");
    if (q->load == NULL) SIM_TRY(cli_loads_parse("0.05:1.0:0.05", err, &q->load, &q->loads));
    if (q->link_stats != NULL && q->loads != 1)
        return sim_error_set(err, SIM_EUSAGE, "--link-stats describes one load, this asks for %u",
                             q->loads);
    return SIM_OK;
}

static enum sim_status make_pattern(const struct request *q, const topo *t, struct sim_error *err,
                                    net_pattern **out)
{
    if (net_pattern_is_name(q->pattern) || strpbrk(q->pattern, "./") == NULL)
        return net_pattern_parse(t, q->pattern, err, out);
    struct coll_pairs pairs;
    SIM_TRY(cli_pairs_read(q->pattern, t, err, &pairs));
    enum sim_status status =
        net_pattern_matrix(t, pairs.count, pairs.src, pairs.dst, pairs.bytes, err, out);
    cli_pairs_release(&pairs);
    return status;
}

/* ---- running ---- */

static const struct cli_column columns[] = {{"topology", NULL, true},
                                            {"pattern", NULL, true},
                                            {"offered", "offered", false},
                                            {"accepted", "accepted", false},
                                            {"latency_mean_us", "mean us", false},
                                            {"latency_p50_us", "p50", false},
                                            {"latency_p99_us", "p99", false},
                                            {"latency_max_us", "max", false},
                                            {"latency_mean_cycles", "mean cycles", false},
                                            {"busiest_link", "busiest link", false},
                                            {"busiest_ejection", "busiest ejection", false},
                                            {"saturated", "saturated", true},
                                            {"limited_by", "limited by", true},
                                            {NULL, NULL, false}};

struct sweep {
    const struct request *q;
    const topo *topology;
    struct net_router router;
    const net_pattern *pattern;
    const struct net_partition *partition;
    const char *limit; /* of the first saturated point */
    struct net_packet_counts counts;
    sim_output *link_stats; /* NULL: not asked for, or another rank writes */
    sim_progress *progress;
    uint32_t done; /* loads */
};

/* `links` may be NULL. */
static enum sim_status run_point(const struct sweep *s, const struct net_router *router,
                                 double load, struct sim_error *err, struct net_link_stats *links,
                                 struct net_traffic_result *out)
{
    const struct net_traffic traffic = {.router = router,
                                        .pattern = s->pattern,
                                        .load = load,
                                        .seed = s->q->seed,
                                        .warmup = s->q->phase[0],
                                        .measure = s->q->phase[1],
                                        .drain = s->q->phase[2],
                                        .partition = s->partition->parts > 1 ? s->partition : NULL,
                                        .links = links,
                                        .progress = s->progress};
    sim_progress_update(s->progress, s->done);
    return net_traffic_run(s->topology, &traffic, err, out);
}

/* What a saturated point lacks: links or ports that are full; else what helps more when there is
 * twice as much of it, by trying. */
static enum sim_status find_limit(struct sweep *s, double load,
                                  const struct net_traffic_result *point, struct sim_error *err)
{
    const double full = 0.95, helps = 1.01;
    struct net_router wider = s->router, deeper = s->router;
    struct net_traffic_result more_vcs = *point, more_buffer = *point;
    s->limit = point->busiest_ejection >= full ? "ejection"
               : point->busiest_link >= full   ? "link"
                                               : NULL;
    if (s->limit != NULL) return SIM_OK;
    wider.vcs *= 2;
    deeper.buffer_flits *= 2;
    if (net_router_check(&wider, &(struct sim_error){0}) == SIM_OK)
        SIM_TRY(run_point(s, &wider, load, err, NULL, &more_vcs));
    if (net_router_check(&deeper, &(struct sim_error){0}) == SIM_OK)
        SIM_TRY(run_point(s, &deeper, load, err, NULL, &more_buffer));
    if (more_vcs.accepted > helps * point->accepted && more_vcs.accepted >= more_buffer.accepted)
        s->limit = "virtual channels";
    else if (more_buffer.accepted > helps * point->accepted)
        s->limit = "buffers";
    else
        s->limit = "arbitration";
    return SIM_OK;
}

static void share(cli_report *report, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.4f", value);
    cli_cell_double(report, value, text);
}

static void latency(cli_report *report, double value, bool is_known)
{
    char text[SIM_QUANTITY_TEXT];
    if (!is_known) {
        cli_cell_none(report);
        return;
    }
    snprintf(text, sizeof text, value >= 100 ? "%.1f" : value >= 0.1 ? "%.3f" : "%.5f", value);
    cli_cell_double(report, value, text);
}

static void add_row(cli_report *report, const struct sweep *s, double load,
                    const struct net_traffic_result *p)
{
    bool is_known = !p->is_saturated && p->measured > 0;
    cli_cell_text(report, topo_spec(s->topology));
    cli_cell_text(report, s->q->pattern);
    share(report, load);
    share(report, p->accepted);
    latency(report, p->mean_ps * 1e-6, is_known);
    latency(report, p->p50_ps * 1e-6, is_known);
    latency(report, p->p99_ps * 1e-6, is_known);
    latency(report, p->max_ps * 1e-6, is_known);
    latency(report, p->mean_ps / p->cycle_ps, is_known);
    share(report, p->busiest_link);
    share(report, p->busiest_ejection);
    cli_cell_bool(report, p->is_saturated);
    cli_cell_text(report, p->is_saturated && s->limit != NULL ? s->limit : "");
}

static void add_meta(cli_report *report, const struct sweep *s)
{
    const topo *t = s->topology;
    char text[512];
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_text(report, "topology", topo_spec(t));
    cli_meta_text(report, "link", cli_link_rates(t, text, sizeof text));
    if (!s->router.is_in_cycles)
        cli_meta_text(report, "latency", cli_link_latencies(t, text, sizeof text));
    cli_meta_text(report, "routing", cli_routing_text(&s->q->topology, t));
    cli_meta_text(report, "router", net_router_format(&s->router, text, sizeof text));
    cli_meta_text(report, "pattern", s->q->pattern);
    cli_meta_double(report, "seed", (double)s->q->seed);
    snprintf(text, sizeof text, "%llu warm-up, %llu measured, at most %llu drain cycles",
             (unsigned long long)s->q->phase[0], (unsigned long long)s->q->phase[1],
             (unsigned long long)s->q->phase[2]);
    cli_meta_text(report, "phases", text);
}

static void note_unmeasured(cli_report *report, const struct sweep *s, double load,
                            const struct net_traffic_result *p)
{
    if (p->measured > 0 || p->is_saturated) return;
    cli_note(report,
             "load %.4g: no packet was created in the %llu cycles measured; more: --measure", load,
             (unsigned long long)s->q->phase[1]);
}

/* They make every row mean less than it seems to. */
static void note_short_phases(cli_report *report, const struct sweep *s)
{
    double flight = net_traffic_flight(s->topology, &s->router);
    if ((double)s->q->phase[0] < flight)
        cli_note(report,
                 "the warm-up of %llu cycles is shorter than a packet's way through the idle "
                 "network, up to %.0f: what arrives is less than what is offered for that alone",
                 (unsigned long long)s->q->phase[0], flight);
    if ((double)s->q->phase[2] < flight)
        cli_note(
            report,
            "the drain of %llu cycles is shorter than a packet's way through the idle network, "
            "up to %.0f: a load may count as saturated for that alone",
            (unsigned long long)s->q->phase[2], flight);
}

/* The largest load carried, and what arrived at the first that was not. */
static void note_saturation(cli_report *report, double carried, double load, double accepted,
                            const char *limit)
{
    const char *by = limit != NULL ? "; limited by " : "", *what = limit != NULL ? limit : "";
    if (load == 0)
        cli_note(report, "no load asked for saturates it");
    else if (carried == 0)
        cli_note(report,
                 "saturates at the least load asked for, %.4g of the link rate: %.4g arrive%s%s",
                 load, accepted, by, what);
    else
        cli_note(report, "saturates between %.4g and %.4g of the link rate, where %.4g arrive%s%s",
                 carried, load, accepted, by, what);
}

/* Where it waits: of the links, as podsim collective says it, and of the chips' ports. */
static void note_hotspots(const struct sweep *s, double load, const struct net_link_stats *links,
                          const struct net_traffic_result *point, cli_report *report)
{
    const topo *t = s->topology;
    sim_ps time_ps = (sim_ps)llrint((double)s->q->phase[1] * point->cycle_ps);
    struct cli_hotspots hotspots = cli_hotspots_make((uint32_t)s->q->hotspots);
    char prefix[32], chip[48];
    snprintf(prefix, sizeof prefix, "load %.4g: ", load);
    if (hotspots.wanted > 0) {
        cli_hotspots_find(&hotspots, links, t, time_ps);
        cli_hotspots_note(&hotspots, t, true, prefix, report);
        cli_note(report, "%schip %s takes most: its port out is %.1f %% in use", prefix,
                 topo_node_format(t, point->busiest_chip, chip), 100 * point->busiest_ejection);
    }
    if (s->link_stats != NULL)
        net_link_stats_write(links, t, time_ps, sim_output_file(s->link_stats));
    cli_hotspots_release(&hotspots);
}

/* A point of the curve, with what is asked of its links. */
static enum sim_status run_load(const struct sweep *s, double load, cli_report *report,
                                struct sim_error *err, struct net_traffic_result *out)
{
    struct net_link_stats links = {0};
    bool is_asked = s->q->hotspots > 0 || s->q->link_stats != NULL;
    if (is_asked) net_link_stats_init_packets(&links, s->topology);
    enum sim_status status = run_point(s, &s->router, load, err, is_asked ? &links : NULL, out);
    if (status == SIM_OK && is_asked) note_hotspots(s, load, &links, out, report);
    net_link_stats_release(&links);
    return status;
}

static enum sim_status run_loads(struct sweep *s, cli_report *report, struct sim_error *err)
{
    s->progress = sim_progress_create("load", s->q->loads, net_mpi_rank() != 0);
    enum sim_status status = SIM_OK;
    double carried = 0, saturated = 0, accepted = 0;
    uint64_t past = 0;
    for (uint32_t i = 0; i < s->q->loads && status == SIM_OK && past <= s->q->past; i++) {
        struct net_traffic_result point;
        double load = s->q->load[i];
        status = run_load(s, load, report, err, &point);
        if (status != SIM_OK) break;
        if (point.is_saturated && saturated == 0) {
            saturated = load;
            accepted = point.accepted;
            if (s->q->limit == 0) status = find_limit(s, load, &point, err);
        }
        if (!point.is_saturated && saturated == 0) carried = load;
        if (saturated > 0) past++;
        add_row(report, s, load, &point);
        note_unmeasured(report, s, load, &point);
        if (i == 0) note_short_phases(report, s);
        s->counts.hops += point.counts.hops;
        s->counts.delivered += point.counts.delivered;
        s->counts.windows += point.counts.windows;
        s->done = i + 1;
    }
    sim_progress_destroy(s->progress);
    if (status == SIM_OK) note_saturation(report, carried, saturated, accepted, s->limit);
    return status;
}

static enum sim_status print_sweep(struct sweep *s, sim_output *stats, struct sim_error *err)
{
    struct cli_usage usage = cli_usage_start();
    cli_report *report = cli_report_create(columns);
    add_meta(report, s);
    enum sim_status status = run_loads(s, report, err);
    if (status == SIM_OK) cli_report_print(report, s->q->format, stdout);
    cli_report_destroy(report);
    const struct net_run_stats counts = {.events = s->counts.hops + s->counts.delivered,
                                         .messages = s->counts.delivered,
                                         .packet_hops = s->counts.hops,
                                         .windows = s->counts.windows,
                                         .classes = topo_chips(s->topology),
                                         .cut_links = s->partition->cut_links,
                                         .most_nodes = s->partition->most_nodes,
                                         .fewest_nodes = s->partition->fewest_nodes};
    cli_usage_finish(&usage, true);
    cli_stats_write(&counts, &usage,
                    status == SIM_OK && stats != NULL ? sim_output_file(stats) : NULL);
    return status;
}

static void choose_phases(struct request *q, const topo *t, const struct net_router *router)
{
    uint64_t phase[3];
    net_traffic_phases(t, router, &phase[0], &phase[1], &phase[2]);
    for (int i = 0; i < 3; i++)
        if (q->phase[i] == NOT_ASKED) q->phase[i] = phase[i];
}

static enum sim_status run(struct request *q, struct sim_error *err)
{
    topo *t = NULL;
    net_pattern *pattern = NULL;
    struct net_partition partition = {0};
    sim_output *stats = NULL;
    const char *output[] = {q->stats, q->link_stats};
    SIM_TRY(check(q, err));
    enum sim_status status = topo_create(q->spec, &q->topology, err, &t);
    struct sweep s = {.q = q, .topology = t};
    if (status == SIM_OK) status = cli_router_make(&q->router, t, err, &s.router);
    if (status == SIM_OK) choose_phases(q, t, &s.router);
    if (status == SIM_OK) status = make_pattern(q, t, err, &pattern);
    if (status == SIM_OK) status = cli_check_outputs(q->pattern, output, 2, err);
    if (status == SIM_OK) status = cli_output_open(q->stats, err, &stats);
    if (status == SIM_OK) status = cli_output_open(q->link_stats, err, &s.link_stats);
    s.pattern = pattern;
    status = net_mpi_agree(status, err);
    if (status == SIM_OK) {
        net_partition_make_ranks(t, &partition);
        s.partition = &partition;
        status = print_sweep(&s, stats, err);
    }
    net_partition_release(&partition);
    if (status == SIM_OK) status = cli_output_commit(&s.link_stats, err);
    if (status == SIM_OK) status = cli_output_commit(&stats, err);
    sim_output_discard(s.link_stats);
    sim_output_discard(stats);
    net_pattern_destroy(pattern);
    topo_destroy(t);
    return status == SIM_OK ? sim_stdout_check(err) : status;
}

enum sim_status cmd_traffic(int argc, char **argv, struct sim_error *err)
{
    struct request q = {.topology = TOPO_OPTIONS_DEFAULT,
                        .seed = 1,
                        .past = UINT32_MAX,
                        .phase = {NOT_ASKED, NOT_ASKED, NOT_ASKED}};
    bool is_help;
    enum sim_status status = cli_args_read(&command, argc, argv, take, &q, &is_help, err);
    if (status == SIM_OK && !is_help) status = run(&q, err);
    sim_free(q.load);
    return status;
}
