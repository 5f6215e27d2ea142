/*
 * podsim collective: sizes x algorithms on a pod, the table nccl-tests users know.
 *
 * Everything is read and checked, and every output file opened, before anything is simulated.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "cli/algorithm_file.h"
#include "cli/collective_plan.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/links.h"
#include "cli/options.h"
#include "cli/router.h"
#include "cli/together.h"
#include "cli/version.h"
#include "netsim/mpi.h"

static const struct cli_option options[] = {
    {"topo", "SPEC", "the pod: v5p:8x8x8, torus:4x4, ... (podsim topo --help)"},
    {"together", "FILE", "run the collectives of a YAML list at once (see the manual)"},
    {"op", "OP",
     "all-reduce, all-gather, reduce-scatter, all-to-all,\nbroadcast, reduce, gather, scatter, "
     "permute, send"},
    {"bytes", "LIST", "sizes: 1MiB,1GiB or 1KiB:1GiB:x4 (from:to:xfactor)"},
    {"algorithm", "LIST",
     "a name (podsim presets algorithms), auto (by closed form)\nor all that can (default: auto)"},
    {"tune", NULL, "simulate what auto chooses among; say what it would have lost"},
    {"algorithm-file", "FILE", "run the algorithm of an MSCCL XML file instead"},
    {"export-algorithm", "FILE",
     "write the algorithm as MSCCL XML (one row, up to 64 chips a group)"},
    {"axes", "LIST",
     "axes of the groups, all groups at once: x,xy,x4y2\n(default: all axes, one group)"},
    {"one-group", NULL, "only the group of chip 0 runs"},
    {"root", "RANK",
     "of broadcast, reduce, gather, scatter: a rank, or a chip's\ncoordinates (default: 0)"},
    {"from", "RANK", "send: who sends (default: 0)"},
    {"to", "RANK", "send: who receives"},
    {"chunks", "N", "of pipelined algorithms (default: chosen)"},
    {"engine", "NAME",
     "flow (max-min fair fluids), packet (virtual cut-through\nrouters) or bound (default: flow)"},
    {"symmetry", "on|off",
     "run one chip for all that do the same; the result is the\nsame to the bit (default: on)"},
    {"trains", "on|off",
     "packets of a message that meet nobody move as one event;\nthe result is the same to the bit "
     "(default: on)"},
    {"launch-overhead", "TIME", "fixed cost of starting (default: the chip's)"},
    {"start-spread", "TIME",
     "each chip starts at a random time up to this, the same in\nevery run (default: 0)"},
    {"send-overhead", "TIME", "before each message's first byte (default: 0)"},
    {"pairs", "FILE",
     "permute: a message a line, \"src dst bytes\"; bytes and\nalgbw are then those of all "
     "messages together"},
    {"matrix", "FILE",
     "all-to-all: a row of bytes for each rank; bytes is then\nwhat the busiest rank sends"},
    {"skew", "X", "all-to-all: rank 0 gets X times its even share, later\nranks less"},
    {"coalesce", "X",
     "messages that would end within this share of their time\nare taken together: faster, not "
     "exact (default: 0)"},
    {"format", "FORMAT", "text, csv or json (default: text)"},
    {"messages", "FILE", "write a CSV row per message (one run only)"},
    {"link-stats", "FILE", "write a CSV row per link (one run only)"},
    {"hotspots", "N", "name the N links that were longest in use or stalled\n(one run only)"},
    {"stats", "FILE", "write how the simulator itself did, as JSON"},
    CLI_ROUTER_OPTIONS,
    CLI_TOPOLOGY_OPTIONS,
    {NULL, NULL, NULL}};
#define CHUNKS_MAX 65536
enum {
    OPT_TOPO,
    OPT_TOGETHER,
    OPT_OP,
    OPT_BYTES,
    OPT_ALGORITHM,
    OPT_TUNE,
    OPT_ALGORITHM_FILE,
    OPT_EXPORT_ALGORITHM,
    OPT_AXES,
    OPT_ONE_GROUP,
    OPT_ROOT,
    OPT_FROM,
    OPT_TO,
    OPT_CHUNKS,
    OPT_ENGINE,
    OPT_SYMMETRY,
    OPT_TRAINS,
    OPT_LAUNCH,
    OPT_SPREAD,
    OPT_SEND,
    OPT_PAIRS,
    OPT_MATRIX,
    OPT_SKEW,
    OPT_COALESCE,
    OPT_FORMAT,
    OPT_MESSAGES,
    OPT_LINK_STATS,
    OPT_HOTSPOTS,
    OPT_STATS
};

static const struct cli_command command = {
    "collective", "time collectives: sizes x algorithms on a pod",
    "--topo SPEC --op OP --bytes LIST [OPTIONS]",
    "bytes is the whole buffer for all-reduce, all-gather and reduce-scatter, and one chip's send "
    "buffer for\n"
    "all-to-all and permute. algbw = bytes / time; busbw = algbw x 2(n-1)/n for all-reduce, "
    "(n-1)/n for\n"
    "all-gather, reduce-scatter and all-to-all, 1 for permute. bound is what no algorithm can beat "
    "with every\n"
    "group active; \"of bound\" is bound / time. kind exact: the time equals a closed form; "
    "modelled: simulated.\n\n"
    "Example: podsim collective --topo v5p:8x8x8 --op all-reduce --bytes 1MiB,1GiB --algorithm all",
    options};

struct request {
    const char *spec, *together_path, *bytes_text, *messages_path, *link_stats_path, *stats_path,
        *algorithm_path, *export_path;
    struct collective_question question;
    int op;       /* -1: not given */
    int symmetry; /* 0: on, 1: off */
    int trains;   /* as symmetry; -1: not given */
    enum cli_format format;
    struct topo_options topology;
    struct cli_router router;
    sim_ps launch_overhead_ps; /* -1: the chip's */
    sim_ps start_spread_ps, send_overhead_ps;
    uint64_t *bytes;
    uint32_t bytes_count;
    uint64_t hotspots; /* 0: none */
};

/* A plain number from `least` to `most`; `wanted` says so. */
static enum sim_status parse_number(const char *option, const char *value, double least,
                                    double most, const char *wanted, struct sim_error *err,
                                    double *out)
{
    char *end = NULL;
    *out = strtod(value, &end);
    bool is_number = *value >= '0' && *value <= '9' && *end == 0;
    if (is_number && *out >= least && *out <= most) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "--%s: found \"%s\", want %s", option, value, wanted);
}

static enum sim_status parse_engine(const char *value, struct request *q, struct sim_error *err)
{
    int engine = 0;
    SIM_TRY(cli_choice("--engine", value, collective_engine_names, err, &engine));
    q->question.engine = (enum collective_engine)engine;
    return SIM_OK;
}

/* Which rows there are to be. */
static enum sim_status take_question(struct request *request, int option, const char *value,
                                     struct sim_error *err)
{
    struct collective_question *q = &request->question;
    uint64_t count = 0;
    const char **text = option == OPT_ALGORITHM ? &q->algorithms
                        : option == OPT_AXES    ? &q->axes
                        : option == OPT_PAIRS   ? &q->pairs_path
                        : option == OPT_MATRIX  ? &q->matrix_path
                        : option == OPT_ROOT    ? &q->root
                        : option == OPT_FROM    ? &q->from
                        : option == OPT_TO      ? &q->to
                                                : NULL;
    if (text != NULL) {
        *text = value;
        return SIM_OK;
    }
    switch (option) {
    case OPT_TUNE:
        q->is_tuned = true;
        return SIM_OK;
    case OPT_ONE_GROUP:
        q->is_one_group = true;
        return SIM_OK;
    case OPT_CHUNKS:
        SIM_TRY(
            cli_option_error("chunks", sim_count_parse(value, 1, CHUNKS_MAX, err, &count), err));
        q->chunks = (uint32_t)count;
        return SIM_OK;
    case OPT_SKEW:
        return parse_number("skew", value, 1, HUGE_VAL, "a number from 1", err, &q->skew);
    default:
        return cli_topology_option(options[option].name, value, &request->topology, err);
    }
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct request *q = request;
    switch (option) {
    case CLI_OPERAND:
        return sim_error_set(err, SIM_EUSAGE, "unexpected argument \"%s\"", value);
    case OPT_TOPO:
        q->spec = value;
        return SIM_OK;
    case OPT_TOGETHER:
        q->together_path = value;
        return SIM_OK;
    case OPT_OP:
        return cli_choice("--op", value, coll_op_names, err, &q->op);
    case OPT_BYTES:
        q->bytes_text = value;
        sim_free(q->bytes);
        q->bytes = NULL;
        return cli_option_error("bytes",
                                sim_bytes_list_parse(value, err, &q->bytes, &q->bytes_count), err);
    case OPT_ALGORITHM_FILE:
        q->algorithm_path = value;
        return SIM_OK;
    case OPT_EXPORT_ALGORITHM:
        q->export_path = value;
        return SIM_OK;
    case OPT_ENGINE:
        return parse_engine(value, q, err);
    case OPT_SYMMETRY:
        return cli_choice("--symmetry", value, cli_on_off, err, &q->symmetry);
    case OPT_TRAINS:
        return cli_choice("--trains", value, cli_on_off, err, &q->trains);
    case OPT_LAUNCH:
        return cli_option_error("launch-overhead",
                                sim_time_parse(value, err, &q->launch_overhead_ps), err);
    case OPT_SPREAD:
        return cli_option_error("start-spread", sim_time_parse(value, err, &q->start_spread_ps),
                                err);
    case OPT_SEND:
        return cli_option_error("send-overhead", sim_time_parse(value, err, &q->send_overhead_ps),
                                err);
    case OPT_COALESCE:
        return parse_number("coalesce", value, 0, 0.1, "a share from 0 to 0.1", err,
                            &q->question.coalesce);
    case OPT_FORMAT:
        return cli_format_parse(value, err, &q->format);
    case OPT_MESSAGES:
        q->messages_path = value;
        return SIM_OK;
    case OPT_LINK_STATS:
        q->link_stats_path = value;
        return SIM_OK;
    case OPT_HOTSPOTS:
        return cli_option_error(
            "hotspots", sim_count_parse(value, 1, CLI_HOTSPOTS_MAX, err, &q->hotspots), err);
    case OPT_STATS:
        q->stats_path = value;
        return SIM_OK;
    default:
        if (cli_router_option(&q->router, options[option].name, value)) return SIM_OK;
        return take_question(q, option, value, err);
    }
}

static bool has_root(int op)
{
    return op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_GATHER || op == COLL_SCATTER;
}

/* Options that go with some operations only, or not with each other. */
static enum sim_status check_question(const struct request *request, struct sim_error *err)
{
    const struct collective_question *q = &request->question;
    const char *op = coll_op_names[request->op];
    bool is_uneven = q->matrix_path != NULL || q->skew > 0;
    if (is_uneven && request->op != COLL_ALL_TO_ALL)
        return sim_error_set(err, SIM_EUSAGE,
                             "--matrix and --skew go with --op all-to-all, found --op %s", op);
    if (q->matrix_path != NULL && (request->bytes_text != NULL || q->skew > 0))
        return sim_error_set(err, SIM_EUSAGE,
                             "--matrix gives the bytes itself; leave out --bytes and --skew");
    if (is_uneven && (q->algorithms != NULL || q->is_tuned))
        return sim_error_set(err, SIM_EUSAGE,
                             "unequal sizes are sent directly; leave out --algorithm and --tune");
    if (q->root != NULL && !has_root(request->op))
        return sim_error_set(
            err, SIM_EUSAGE,
            "--root goes with broadcast, reduce, gather and scatter, found --op %s", op);
    if ((q->from != NULL || q->to != NULL) && request->op != COLL_SEND)
        return sim_error_set(err, SIM_EUSAGE, "--from and --to go with --op send, found --op %s",
                             op);
    if (request->op == COLL_SEND && q->to == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--to is missing, as in --from 0 --to 5");
    if (q->is_tuned && q->algorithms != NULL)
        return sim_error_set(err, SIM_EUSAGE,
                             "--tune tries every algorithm; leave out --algorithm %s",
                             q->algorithms);
    if (q->is_tuned && q->engine == COLLECTIVE_BOUND)
        return sim_error_set(err, SIM_EUSAGE, "--tune simulates; leave out --engine bound");
    return SIM_OK;
}

/* A file says what is sent, as --algorithm and the lists of messages do. */
static enum sim_status check_algorithm_file(const struct request *q, struct sim_error *err)
{
    const struct collective_question *other = &q->question;
    const char *taken = other->algorithms != NULL    ? "--algorithm"
                        : other->is_tuned            ? "--tune"
                        : other->pairs_path != NULL  ? "--pairs"
                        : other->matrix_path != NULL ? "--matrix"
                        : other->skew > 0            ? "--skew"
                        : other->chunks > 0          ? "--chunks"
                                                     : NULL;
    if (q->algorithm_path == NULL || taken == NULL) return SIM_OK;
    return sim_error_set(err, SIM_EUSAGE, "--algorithm-file takes the place of %s", taken);
}

/* The file says what runs; the options that say so too have no place beside it. */
static enum sim_status check_together(const struct request *q, struct sim_error *err)
{
    const struct collective_question *also = &q->question;
    bool is_alone = q->op < 0 && q->bytes_text == NULL && also->algorithms == NULL &&
                    also->axes == NULL && also->pairs_path == NULL && also->matrix_path == NULL &&
                    also->root == NULL && also->from == NULL && also->to == NULL &&
                    also->skew == 0 && also->chunks == 0 && !also->is_one_group &&
                    !also->is_tuned && q->algorithm_path == NULL && q->export_path == NULL;
    if (!is_alone)
        return sim_error_set(err, SIM_EUSAGE,
                             "--together takes operations, groups and sizes from its file; leave "
                             "out the options for them");
    if (q->messages_path != NULL || q->link_stats_path != NULL || q->hotspots > 0)
        return sim_error_set(err, SIM_EUSAGE,
                             "--messages, --link-stats and --hotspots describe one collective, not "
                             "--together");
    if (also->engine == COLLECTIVE_BOUND)
        return sim_error_set(err, SIM_EUSAGE, "--together simulates; leave out --engine bound");
    return SIM_OK;
}

static enum sim_status check_request(const struct request *q, struct sim_error *err)
{
    if (q->spec == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--topo is missing, as in --topo v5p:8x8x8");
    if (q->router.is_any && q->question.engine != COLLECTIVE_PACKET)
        return sim_error_set(err, SIM_EUSAGE,
                             "the router's options go with --engine packet, found --engine %s",
                             collective_engine_names[q->question.engine]);
    if (q->trains >= 0 && q->question.engine != COLLECTIVE_PACKET)
        return sim_error_set(err, SIM_EUSAGE,
                             "--trains goes with --engine packet, found --engine %s",
                             collective_engine_names[q->question.engine]);
    if (q->question.coalesce > 0 && q->question.engine == COLLECTIVE_PACKET)
        return sim_error_set(err, SIM_EUSAGE,
                             "--coalesce is about flows; leave out --engine packet");
    if (q->together_path != NULL) return check_together(q, err);
    if (q->op < 0) return sim_error_set(err, SIM_EUSAGE, "--op is missing, as in --op all-reduce");
    if (q->question.pairs_path != NULL && strcmp(q->question.pairs_path, "-") == 0 &&
        net_mpi_ranks() > 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--pairs - cannot be read by %u ranks: give them a file",
                             net_mpi_ranks());
    if (q->question.pairs_path != NULL && q->op != COLL_PERMUTE)
        return sim_error_set(err, SIM_EUSAGE, "--pairs goes with --op permute, found --op %s",
                             coll_op_names[q->op]);
    if (q->question.pairs_path != NULL && (q->bytes_text != NULL || q->question.axes != NULL))
        return sim_error_set(err, SIM_EUSAGE,
                             "--pairs gives chips and bytes itself; leave out --bytes and --axes");
    if (q->question.pairs_path != NULL && q->question.algorithms != NULL &&
        strcmp(q->question.algorithms, "direct") != 0)
        return sim_error_set(err, SIM_EUSAGE, "--pairs sends directly; leave out --algorithm %s",
                             q->question.algorithms);
    SIM_TRY(check_question(q, err));
    SIM_TRY(check_algorithm_file(q, err));
    if (q->question.pairs_path == NULL && q->question.matrix_path == NULL && q->bytes_text == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--bytes is missing, as in --bytes 1MiB,1GiB");
    return SIM_OK;
}

/* ---- running ---- */

struct files {
    sim_output *messages, *link_stats, *stats, *algorithm;
};

static enum sim_status open_files(const struct request *q, const struct collective_plan *p,
                                  struct files *f, struct sim_error *err)
{
    bool wants_run = q->messages_path != NULL || q->link_stats_path != NULL || q->hotspots > 0;
    if (wants_run && q->question.engine == COLLECTIVE_BOUND)
        return sim_error_set(
            err, SIM_EUSAGE,
            "--messages, --link-stats and --hotspots describe a run, --engine bound runs nothing");
    if (wants_run && p->row_count != 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--messages, --link-stats and --hotspots describe one run, this asks "
                             "for %zu rows",
                             p->row_count);
    const char *output[] = {q->messages_path, q->link_stats_path, q->stats_path, q->export_path};
    SIM_TRY(cli_check_outputs(q->question.pairs_path, output, 4, err));
    SIM_TRY(cli_check_outputs(q->algorithm_path, output, 4, err));
    SIM_TRY(cli_output_open(q->messages_path, err, &f->messages));
    SIM_TRY(cli_output_open(q->link_stats_path, err, &f->link_stats));
    SIM_TRY(cli_output_open(q->export_path, err, &f->algorithm));
    return cli_output_open(q->stats_path, err, &f->stats);
}

static enum sim_status close_files(struct files *f, struct sim_error *err)
{
    sim_output **all[] = {&f->messages, &f->link_stats, &f->stats, &f->algorithm};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        SIM_TRY(cli_output_commit(all[i], err));
    return SIM_OK;
}

static void discard_files(struct files *f)
{
    sim_output_discard(f->messages);
    sim_output_discard(f->link_stats);
    sim_output_discard(f->stats);
    sim_output_discard(f->algorithm);
}

static sim_ps launch_overhead_ps(const struct request *q, const topo *t)
{
    if (q->launch_overhead_ps >= 0) return q->launch_overhead_ps;
    return topo_chip_of(t) != NULL ? topo_chip_of(t)->launch_overhead_ps : 0;
}

/* How the rows are run; `router` is where the packet engine's lives. */
static enum sim_status make_net_options(const struct request *q, const topo *t,
                                        struct net_router *router, struct sim_error *err,
                                        struct net_options *out)
{
    *out = (struct net_options){.send_overhead_ps = q->send_overhead_ps,
                                .entry_overhead_ps = launch_overhead_ps(q, t),
                                .entry_spread_ps = q->start_spread_ps,
                                .is_unreduced = q->symmetry == 1,
                                .is_one_by_one = q->trains == 1,
                                .coalesce = q->question.coalesce};
    if (q->question.engine != COLLECTIVE_PACKET) return SIM_OK;
    out->is_partitioned = true;
    out->router = router;
    return cli_router_make(&q->router, t, err, router);
}

/* Rows of flows are dealt to the ranks in turn; every rank gets every result. */
static void share_results(struct collective_plan *p, struct net_run_stats *totals)
{
    enum { PER_ROW = 4 };
    int64_t *values = SIM_NEW(int64_t, PER_ROW * p->row_count);
    for (size_t i = 0; i < p->row_count; i++) {
        if (i % net_mpi_ranks() != net_mpi_rank()) continue;
        values[PER_ROW * i] = p->row[i].time_ps;
        values[PER_ROW * i + 1] = p->row[i].latency_ps;
        values[PER_ROW * i + 2] = p->row[i].overhead_ps;
        values[PER_ROW * i + 3] = p->row[i].busiest_link;
    }
    net_mpi_sum(values, (int)(PER_ROW * p->row_count));
    for (size_t i = 0; i < p->row_count; i++) {
        p->row[i].time_ps = values[PER_ROW * i];
        p->row[i].latency_ps = values[PER_ROW * i + 1];
        p->row[i].overhead_ps = values[PER_ROW * i + 2];
        p->row[i].busiest_link = values[PER_ROW * i + 3];
    }
    sim_free(values);
    net_mpi_sum((int64_t *)totals, sizeof *totals / sizeof(int64_t));
}

static enum sim_status run_rows(const struct request *q, const struct net_options *net,
                                struct collective_plan *p, struct files *f,
                                struct cli_hotspots *hotspots, struct sim_error *err)
{
    struct collective_outputs outputs = {.wants_messages = q->messages_path != NULL,
                                         .wants_link_stats = q->link_stats_path != NULL,
                                         .wants_stalls = q->router.is_any,
                                         .hotspots = q->hotspots > 0 ? hotspots : NULL};
    if (f->messages != NULL) outputs.messages = sim_output_file(f->messages);
    if (f->link_stats != NULL) outputs.link_stats = sim_output_file(f->link_stats);
    struct net_run_stats totals = {0};
    struct cli_usage usage = cli_usage_start();
    sim_progress *progress = sim_progress_create("run", p->row_count, net_mpi_rank() != 0);
    enum sim_status status = SIM_OK;
    struct net_options told = *net;
    told.progress = progress;
    size_t first = net->is_partitioned ? 0 : net_mpi_rank();
    size_t step = net->is_partitioned ? 1 : net_mpi_ranks();
    for (size_t i = first; i < p->row_count && status == SIM_OK; i += step) {
        status = collective_run(p->topology, &told, &outputs, &p->row[i], &totals, err);
        sim_progress_update(progress, i + 1);
    }
    sim_progress_destroy(progress);
    SIM_TRY(net_mpi_agree(status, err));
    if (!net->is_partitioned) share_results(p, &totals);
    cli_usage_finish(&usage, true);
    cli_stats_write(&totals, &usage, f->stats != NULL ? sim_output_file(f->stats) : NULL);
    return SIM_OK;
}

/* Is auto among the algorithms asked for, by name or as the default, or all? */
static bool is_choice_asked(const char *algorithms)
{
    for (const char *list = algorithms; list != NULL; list = strchr(list, ',')) {
        list += *list == ',';
        size_t length = strcspn(list, ",");
        bool is_auto = length == 4 && strncmp(list, "auto", 4) == 0;
        if (is_auto || (length == 3 && strncmp(list, "all", 3) == 0)) return true;
    }
    return algorithms == NULL;
}

static bool is_one_group(const struct collective_row *a, const struct collective_row *b)
{
    return memcmp(&a->spec.group, &b->spec.group, sizeof a->spec.group) == 0;
}

/* The algorithms of the rows of one group, which begin at `first`; 0 if there is one only. */
static uint32_t algorithms_named(const struct collective_plan *p, size_t first)
{
    uint32_t among = 0;
    for (size_t i = first; i < p->row_count && is_one_group(&p->row[i], &p->row[first]); i++)
        among |= UINT32_C(1) << p->row[i].spec.algorithm;
    return (among & (among - 1)) != 0 ? among : 0;
}

/* At which sizes auto changes its mind, a line for each group; of several algorithms named, which
 * of them is the fastest. */
static void add_switch_points(cli_report *report, const struct request *q,
                              const struct collective_plan *p)
{
    char text[512], key[96], axes[64];
    bool is_auto = is_choice_asked(q->question.algorithms);
    for (size_t i = 0; i < p->row_count; i++) {
        const struct collective_row *row = &p->row[i];
        if (i > 0 && is_one_group(row, row - 1)) continue;
        if (row->file != NULL || row->spec.pairs != NULL || row->spec.op == COLL_PERMUTE ||
            row->spec.op == COLL_SEND || row->spec.group.size == 1)
            continue;
        uint32_t among = is_auto ? 0 : algorithms_named(p, i);
        if (!is_auto && among == 0) continue;
        topo_group_format(p->topology, &row->spec.group, axes, sizeof axes);
        snprintf(key, sizeof key, is_auto ? "auto over %s" : "fastest by form over %s", axes);
        cli_meta_text(report, key,
                      collective_switch_points(p->topology, row, among, text, sizeof text));
    }
}

/* What all rows have in common. */
static void add_meta(cli_report *report, const struct request *q, const topo *t,
                     const struct net_router *router)
{
    char text[512];
    sim_ps launch = launch_overhead_ps(q, t);
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_text(report, "topology", topo_spec(t));
    cli_meta_text(report, "link", cli_link_rates(t, text, sizeof text));
    cli_meta_text(report, "latency", cli_link_latencies(t, text, sizeof text));
    cli_meta_text(report, "launch_overhead", sim_time_format(launch, text));
    if (q->start_spread_ps > 0)
        cli_meta_text(report, "start_spread", sim_time_format(q->start_spread_ps, text));
    if (q->send_overhead_ps > 0)
        cli_meta_text(report, "send_overhead", sim_time_format(q->send_overhead_ps, text));
    cli_meta_text(report, "routing", cli_routing_text(&q->topology, t));
    cli_meta_text(report, "engine", collective_engine_names[q->question.engine]);
    if (router != NULL)
        cli_meta_text(report, "router", net_router_format(router, text, sizeof text));
    if (q->question.coalesce > 0) cli_meta_double(report, "coalesce", q->question.coalesce);
}

static void note_left_out(cli_report *report, const struct collective_plan *p)
{
    char names[512] = "";
    size_t used = 0;
    for (int i = 0; i < COLL_ALGORITHMS; i++)
        if (p->is_left_out[i])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                     used > 0 ? ", " : "", coll_algorithm_names[i]);
    if (used > 0)
        cli_note(report,
                 "all leaves out %s: too many flows at once; named alone it runs or says why not",
                 names);
}

static void print_rows(const struct request *q, const struct net_options *net,
                       const struct collective_plan *p, const struct cli_algorithms *algorithms,
                       const struct cli_hotspots *hotspots)
{
    const topo *t = p->topology;
    cli_report *report = collective_report_create();
    add_meta(report, q, t, net->router);
    add_switch_points(report, q, p);
    bool has_chunks = false;
    for (size_t i = 0; i < p->row_count; i++) {
        collective_report_add(report, t, &p->row[i]);
        has_chunks = has_chunks || p->row[i].chunks > 1;
    }
    if (!has_chunks) cli_report_hide(report, "chunks");
    note_left_out(report, p);
    cli_hotspots_note(hotspots, t, net->router != NULL, "", report);
    cli_algorithm_notes(algorithms, p->row, p->row_count, report);
    cli_report_print(report, q->format, stdout);
    cli_report_destroy(report);
}

/* What two chips have between them is all of their shortest ways, unless a routing is named. */
static enum sim_status make_topology(const struct request *q, struct sim_error *err, topo **out)
{
    enum { WAYS_CHIPS_MAX = 4096 }; /* ECMP counts the hops of every pair */
    SIM_TRY(topo_create(q->spec, &q->topology, err, out));
    bool is_default = q->op == COLL_SEND && q->topology.routing == NULL && !topo_is_faulty(*out);
    if (!is_default || topo_chips(*out) > WAYS_CHIPS_MAX) return SIM_OK;
    struct topo_options all_ways = q->topology;
    all_ways.routing = "ecmp";
    topo_destroy(*out);
    return topo_create(q->spec, &all_ways, err, out);
}

/* Rows, with all that can be known before they run. */
static enum sim_status make_plan(const struct request *q, const topo *t,
                                 struct cli_algorithms *algorithms, struct sim_error *err,
                                 struct collective_plan *plan)
{
    struct collective_question question = q->question;
    if (q->algorithm_path != NULL) SIM_TRY(cli_algorithm_read(q->algorithm_path, err, algorithms));
    question.file = algorithms->read;
    SIM_TRY(collective_plan_make(t, &question, err, plan));
    for (size_t i = 0; i < plan->row_count; i++)
        SIM_TRY(collective_prepare(t, q->question.coalesce, &plan->row[i], err));
    if (algorithms->read != NULL)
        SIM_TRY(coll_msccl_check(algorithms->read, plan->row[0].spec.root, err));
    if (q->export_path == NULL) return SIM_OK;
    return cli_algorithm_export(algorithms, t, plan->row, plan->row_count, err);
}

/* Every rank makes the same plan; only rank 0 opens files, so the ranks agree before they run and
 * before they leave. */
static enum sim_status run_request(const struct request *q, struct sim_error *err)
{
    struct collective_plan plan = {0};
    struct cli_algorithms algorithms = {0};
    struct files files = {0};
    struct cli_hotspots hotspots = cli_hotspots_make((uint32_t)q->hotspots);
    struct net_router router;
    struct net_options net;
    topo *topology = NULL;
    enum sim_status status = make_topology(q, err, &topology);
    if (status == SIM_OK) status = make_net_options(q, topology, &router, err, &net);
    if (status == SIM_OK) status = make_plan(q, topology, &algorithms, err, &plan);
    if (status == SIM_OK) status = open_files(q, &plan, &files, err);
    status = net_mpi_agree(status, err);
    if (status == SIM_OK) status = run_rows(q, &net, &plan, &files, &hotspots, err);
    if (status == SIM_OK && files.algorithm != NULL)
        coll_msccl_write(algorithms.exported, sim_output_file(files.algorithm));
    if (status == SIM_OK) status = close_files(&files, err);
    if (status == SIM_OK) collective_plan_settle(&plan);
    if (status == SIM_OK) print_rows(q, &net, &plan, &algorithms, &hotspots);
    cli_hotspots_release(&hotspots);
    discard_files(&files);
    collective_plan_release(&plan);
    cli_algorithms_release(&algorithms);
    topo_destroy(topology);
    return status;
}

static enum sim_status run_together(const struct request *q, struct sim_error *err)
{
    topo *t = NULL;
    sim_output *stats_file = NULL;
    struct net_run_stats stats = {0};
    struct cli_usage usage = cli_usage_start();
    cli_report *report = cli_together_report();
    struct net_router router;
    struct net_options net;
    enum sim_status status = topo_create(q->spec, &q->topology, err, &t);
    if (status == SIM_OK) status = make_net_options(q, t, &router, err, &net);
    if (status == SIM_OK) add_meta(report, q, t, net.router);
    if (status == SIM_OK) status = cli_check_outputs(q->together_path, &q->stats_path, 1, err);
    if (status == SIM_OK) status = cli_output_open(q->stats_path, err, &stats_file);
    status = net_mpi_agree(status, err);
    if (status == SIM_OK) status = cli_together_run(q->together_path, t, &net, report, &stats, err);
    if (status == SIM_OK) cli_usage_finish(&usage, true);
    cli_stats_write(&stats, &usage,
                    status == SIM_OK && stats_file != NULL ? sim_output_file(stats_file) : NULL);
    if (status == SIM_OK && stats_file != NULL) {
        status = sim_output_commit(stats_file, err);
        stats_file = NULL;
    }
    sim_output_discard(stats_file);
    if (status == SIM_OK) cli_report_print(report, q->format, stdout);
    cli_report_destroy(report);
    topo_destroy(t);
    return status;
}

enum sim_status cmd_collective(int argc, char **argv, struct sim_error *err)
{
    struct request q = {
        .op = -1, .trains = -1, .launch_overhead_ps = -1, .topology = TOPO_OPTIONS_DEFAULT};
    bool is_help;
    enum sim_status status = cli_args_read(&command, argc, argv, take, &q, &is_help, err);
    if (status == SIM_OK && !is_help) status = check_request(&q, err);
    q.question.op = (enum coll_op)q.op;
    q.question.bytes = q.bytes;
    q.question.bytes_count = q.bytes_count;
    if (status == SIM_OK && !is_help)
        status = q.together_path != NULL ? run_together(&q, err) : run_request(&q, err);
    sim_free(q.bytes);
    return status;
}
