/*
 * podsim collective: sizes x algorithms on a pod, the table nccl-tests users know.
 *
 * Everything is read and checked, and every output file opened, before anything is simulated.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "cli/collective_rows.h"
#include "cli/commands.h"
#include "cli/common.h"
#include "cli/options.h"
#include "cli/pairs.h"
#include "cli/version.h"
#include "netsim/mpi.h"

static const struct cli_option options[] = {
    {"topo", "SPEC", "the pod: v5p:8x8x8, torus:4x4, ... (podsim topo --help)"},
    {"op", "OP", "all-reduce, all-gather, reduce-scatter, all-to-all, permute"},
    {"bytes", "LIST", "sizes: 1MiB,1GiB or 1KiB:1GiB:x4 (from:to:xfactor)"},
    {"algorithm", "LIST",
     "ring, bidirectional-ring, short-ring, bucket, direct,\nauto (by closed form) or all "
     "(default: auto)"},
    {"axes", "LIST",
     "axes of the groups, all groups at once: x,xy,x4y2\n(default: all axes, one group)"},
    {"engine", "NAME", "flow (max-min fair fluids) or bound (default: flow)"},
    {"symmetry", "on|off", "accepted; results never depend on it"},
    {"launch-overhead", "TIME", "fixed cost of starting (default: the chip's)"},
    {"send-overhead", "TIME", "before each message's first byte (default: 0)"},
    {"pairs", "FILE",
     "permute: a message a line, \"src dst bytes\"; bytes and\nalgbw are then those of all "
     "messages together"},
    {"format", "FORMAT", "text, csv or json (default: text)"},
    {"messages", "FILE", "write a CSV row per message (one run only)"},
    {"link-stats", "FILE", "write a CSV row per link (one run only)"},
    {"stats", "FILE", "write how the simulator itself did, as JSON"},
    CLI_TOPOLOGY_OPTIONS,
    {NULL, NULL, NULL}};
enum {
    OPT_TOPO,
    OPT_OP,
    OPT_BYTES,
    OPT_ALGORITHM,
    OPT_AXES,
    OPT_ENGINE,
    OPT_SYMMETRY,
    OPT_LAUNCH,
    OPT_SEND,
    OPT_PAIRS,
    OPT_FORMAT,
    OPT_MESSAGES,
    OPT_LINK_STATS,
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
    const char *spec, *axes, *algorithms, *bytes_text, *pairs_path, *messages_path,
        *link_stats_path, *stats_path;
    int op; /* -1: not given */
    enum collective_engine engine;
    enum cli_format format;
    struct topo_options topology;
    sim_ps launch_overhead_ps; /* -1: the chip's */
    sim_ps send_overhead_ps;
    uint64_t *bytes;
    uint32_t bytes_count;
};

/* Everything a run needs, owned. */
struct plan {
    topo *topology;
    struct coll_pairs pairs;
    struct collective_row *row;
    size_t row_count, row_capacity;
};

static enum sim_status parse_engine(const char *value, struct request *q, struct sim_error *err)
{
    if (strcmp(value, "packet") == 0)
        return sim_error_set(err, SIM_EUSAGE,
                             "--engine: this version has no packet engine, want flow or bound");
    int engine = 0;
    SIM_TRY(cli_choice("--engine", value, collective_engine_names, err, &engine));
    q->engine = (enum collective_engine)engine;
    return SIM_OK;
}

static enum sim_status take(void *request, int option, const char *value, struct sim_error *err)
{
    struct request *q = request;
    static const char *const on_off[] = {"on", "off", NULL};
    int ignored;
    switch (option) {
    case CLI_OPERAND:
        return sim_error_set(err, SIM_EUSAGE, "unexpected argument \"%s\"", value);
    case OPT_TOPO:
        q->spec = value;
        return SIM_OK;
    case OPT_OP:
        return cli_choice("--op", value, coll_op_names, err, &q->op);
    case OPT_BYTES:
        q->bytes_text = value;
        sim_free(q->bytes);
        q->bytes = NULL;
        return cli_option_error("bytes",
                                sim_bytes_list_parse(value, err, &q->bytes, &q->bytes_count), err);
    case OPT_ALGORITHM:
        q->algorithms = value;
        return SIM_OK;
    case OPT_AXES:
        q->axes = value;
        return SIM_OK;
    case OPT_ENGINE:
        return parse_engine(value, q, err);
    case OPT_SYMMETRY:
        return cli_choice("--symmetry", value, on_off, err, &ignored);
    case OPT_LAUNCH:
        return cli_option_error("launch-overhead",
                                sim_time_parse(value, err, &q->launch_overhead_ps), err);
    case OPT_SEND:
        return cli_option_error("send-overhead", sim_time_parse(value, err, &q->send_overhead_ps),
                                err);
    case OPT_PAIRS:
        q->pairs_path = value;
        return SIM_OK;
    case OPT_FORMAT:
        return cli_format_parse(value, err, &q->format);
    case OPT_MESSAGES:
        q->messages_path = value;
        return SIM_OK;
    case OPT_LINK_STATS:
        q->link_stats_path = value;
        return SIM_OK;
    case OPT_STATS:
        q->stats_path = value;
        return SIM_OK;
    default:
        return cli_topology_option(options[option].name, value, &q->topology, err);
    }
}

static enum sim_status check_request(const struct request *q, struct sim_error *err)
{
    if (q->spec == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--topo is missing, as in --topo v5p:8x8x8");
    if (q->op < 0) return sim_error_set(err, SIM_EUSAGE, "--op is missing, as in --op all-reduce");
    if (q->pairs_path != NULL && strcmp(q->pairs_path, "-") == 0 && net_mpi_ranks() > 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--pairs - cannot be read by %u ranks: give them a file",
                             net_mpi_ranks());
    if (q->pairs_path != NULL && q->op != COLL_PERMUTE)
        return sim_error_set(err, SIM_EUSAGE, "--pairs goes with --op permute, found --op %s",
                             coll_op_names[q->op]);
    if (q->pairs_path != NULL && (q->bytes_text != NULL || q->axes != NULL))
        return sim_error_set(err, SIM_EUSAGE,
                             "--pairs gives chips and bytes itself; leave out --bytes and --axes");
    if (q->pairs_path != NULL && q->algorithms != NULL && strcmp(q->algorithms, "direct") != 0)
        return sim_error_set(err, SIM_EUSAGE, "--pairs sends directly; leave out --algorithm %s",
                             q->algorithms);
    if (q->pairs_path == NULL && q->bytes_text == NULL)
        return sim_error_set(err, SIM_EUSAGE, "--bytes is missing, as in --bytes 1MiB,1GiB");
    return SIM_OK;
}

/* ---- planning ---- */

/* The next comma-separated word, copied; false at the end of the list. An empty word is a word. */
static bool next_word(const char **list, char *word, size_t bytes)
{
    if (*list == NULL) return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static void add_row(struct plan *p, const struct request *q, const struct topo_group *group,
                    uint64_t bytes, enum coll_algorithm algorithm)
{
    struct coll_spec spec = {.op = (enum coll_op)q->op, .algorithm = algorithm, .group = *group};
    spec.bytes = (double)bytes;
    SIM_GROW(p->row, p->row_capacity, p->row_count + 1);
    p->row[p->row_count++] =
        (struct collective_row){.spec = spec, .bytes = bytes, .engine = q->engine};
}

/* One algorithm word: a name, "auto" (the closed form's choice) or "all" (that fit). */
static enum sim_status add_algorithm(struct plan *p, const struct request *q,
                                     const struct topo_group *group, uint64_t bytes,
                                     const char *word, struct sim_error *err)
{
    static const char *names[COLL_ALGORITHMS + 3];
    for (int i = 0; i < COLL_ALGORITHMS; i++)
        names[i] = coll_algorithm_names[i];
    names[COLL_ALGORITHMS] = "auto";
    names[COLL_ALGORITHMS + 1] = "all";
    int choice = 0;
    SIM_TRY(cli_choice("--algorithm", word, names, err, &choice));
    struct coll_spec spec = {.op = (enum coll_op)q->op, .group = *group, .bytes = (double)bytes};
    if (choice == COLL_ALGORITHMS) {
        add_row(p, q, group, bytes, coll_choose(p->topology, &spec));
        return SIM_OK;
    }
    if (choice == COLL_ALGORITHMS + 1) {
        for (int i = 0; i < COLL_ALGORITHMS; i++)
            if (spec.algorithm = (enum coll_algorithm)i, coll_can(p->topology, &spec))
                add_row(p, q, group, bytes, (enum coll_algorithm)i);
        return SIM_OK;
    }
    if (!coll_algorithm_fits(spec.op, (enum coll_algorithm)choice))
        return sim_error_set(err, SIM_EUSAGE, "--algorithm: %s does not do %s, want direct", word,
                             coll_op_names[q->op]);
    add_row(p, q, group, bytes, (enum coll_algorithm)choice);
    return SIM_OK;
}

static enum sim_status plan_group(struct plan *p, const struct request *q,
                                  const struct topo_group *group, struct sim_error *err)
{
    for (uint32_t i = 0; i < q->bytes_count; i++) {
        const char *list = q->algorithms != NULL ? q->algorithms : "auto";
        char word[64];
        while (next_word(&list, word, sizeof word))
            SIM_TRY(add_algorithm(p, q, group, q->bytes[i], word, err));
    }
    return SIM_OK;
}

static enum sim_status plan_pairs(struct plan *p, const struct request *q, struct sim_error *err)
{
    SIM_TRY(cli_pairs_read(q->pairs_path, p->topology, err, &p->pairs));
    struct topo_group all = topo_group_all(p->topology);
    uint64_t total = 0;
    for (uint32_t i = 0; i < p->pairs.count; i++) {
        if (total > (uint64_t)INT64_MAX - p->pairs.bytes[i])
            return sim_error_set(err, SIM_EDATA,
                                 "the messages of %s come to more bytes than 64 bits count",
                                 q->pairs_path);
        total += p->pairs.bytes[i];
    }
    add_row(p, q, &all, total, COLL_DIRECT);
    p->row[0].spec.pairs = &p->pairs;
    return SIM_OK;
}

static enum sim_status make_plan(struct plan *p, const struct request *q, struct sim_error *err)
{
    SIM_TRY(topo_create(q->spec, &q->topology, err, &p->topology));
    if (q->pairs_path != NULL) return plan_pairs(p, q, err);
    const char *list = q->axes;
    char word[64];
    if (list == NULL) {
        struct topo_group all = topo_group_all(p->topology);
        return plan_group(p, q, &all, err);
    }
    while (next_word(&list, word, sizeof word)) {
        struct topo_group group;
        SIM_TRY(cli_option_error("axes", topo_group_parse(p->topology, word, err, &group), err));
        SIM_TRY(plan_group(p, q, &group, err));
    }
    return SIM_OK;
}

/* ---- running ---- */

struct files {
    sim_output *messages, *link_stats, *stats;
};

static enum sim_status open_files(const struct request *q, const struct plan *p, struct files *f,
                                  struct sim_error *err)
{
    bool wants_run = q->messages_path != NULL || q->link_stats_path != NULL;
    if (wants_run && q->engine != COLLECTIVE_FLOW)
        return sim_error_set(
            err, SIM_EUSAGE,
            "--messages and --link-stats describe a run, --engine bound runs nothing");
    if (wants_run && p->row_count != 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--messages and --link-stats describe one run, this asks for %zu rows",
                             p->row_count);
    const char *output[] = {q->messages_path, q->link_stats_path, q->stats_path};
    SIM_TRY(cli_check_outputs(q->pairs_path, output, 3, err));
    SIM_TRY(cli_output_open(q->messages_path, err, &f->messages));
    SIM_TRY(cli_output_open(q->link_stats_path, err, &f->link_stats));
    return cli_output_open(q->stats_path, err, &f->stats);
}

static enum sim_status close_files(struct files *f, struct sim_error *err)
{
    sim_output **all[] = {&f->messages, &f->link_stats, &f->stats};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        sim_output *output = *all[i];
        *all[i] = NULL;
        if (output != NULL) SIM_TRY(sim_output_commit(output, err));
    }
    return SIM_OK;
}

static void discard_files(struct files *f)
{
    sim_output_discard(f->messages);
    sim_output_discard(f->link_stats);
    sim_output_discard(f->stats);
}

static sim_ps launch_overhead_ps(const struct request *q, const topo *t)
{
    if (q->launch_overhead_ps >= 0) return q->launch_overhead_ps;
    return topo_chip_of(t) != NULL ? topo_chip_of(t)->launch_overhead_ps : 0;
}

/* Rows are dealt to the ranks in turn; every rank gets every result. */
static void share_results(struct plan *p, struct net_run_stats *totals)
{
    enum { PER_ROW = 3 };
    int64_t *values = SIM_NEW(int64_t, PER_ROW * p->row_count);
    for (size_t i = 0; i < p->row_count; i++) {
        if (i % net_mpi_ranks() != net_mpi_rank()) continue;
        values[PER_ROW * i] = p->row[i].time_ps;
        values[PER_ROW * i + 1] = p->row[i].latency_ps;
        values[PER_ROW * i + 2] = p->row[i].overhead_ps;
    }
    net_mpi_sum(values, (int)(PER_ROW * p->row_count));
    for (size_t i = 0; i < p->row_count; i++) {
        p->row[i].time_ps = values[PER_ROW * i];
        p->row[i].latency_ps = values[PER_ROW * i + 1];
        p->row[i].overhead_ps = values[PER_ROW * i + 2];
    }
    sim_free(values);
    net_mpi_sum((int64_t *)totals, sizeof *totals / sizeof(int64_t));
}

static enum sim_status run_rows(const struct request *q, struct plan *p, struct files *f,
                                struct sim_error *err)
{
    struct net_options net = {.send_overhead_ps = q->send_overhead_ps,
                              .entry_overhead_ps = launch_overhead_ps(q, p->topology)};
    struct collective_outputs outputs = {0};
    if (f->messages != NULL) outputs.messages = sim_output_file(f->messages);
    if (f->link_stats != NULL) outputs.link_stats = sim_output_file(f->link_stats);
    struct net_run_stats totals = {0};
    double wall = sim_wall_s(), cpu = sim_cpu_s();
    sim_progress *progress = sim_progress_create("runs", p->row_count, net_mpi_rank() != 0);
    enum sim_status status = SIM_OK;
    for (size_t i = net_mpi_rank(); i < p->row_count && status == SIM_OK; i += net_mpi_ranks()) {
        status = collective_run(p->topology, &net, &outputs, &p->row[i], &totals, err);
        sim_progress_update(progress, i + 1);
    }
    sim_progress_destroy(progress);
    SIM_TRY(net_mpi_agree(status, err));
    share_results(p, &totals);
    if (f->stats != NULL)
        cli_stats_write(&totals, sim_wall_s() - wall, sim_cpu_s() - cpu, sim_output_file(f->stats));
    return SIM_OK;
}

static void print_rows(const struct request *q, const struct plan *p)
{
    char text[SIM_QUANTITY_TEXT];
    const topo *t = p->topology;
    sim_ps launch = launch_overhead_ps(q, t);
    cli_report *report = collective_report_create();
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_text(report, "topology", topo_spec(t));
    cli_meta_text(report, "link", sim_rate_format(topo_default_link_rate(t), text));
    cli_meta_text(report, "latency", sim_time_format(topo_default_latency_ps(t), text));
    cli_meta_text(report, "launch_overhead", sim_time_format(launch, text));
    if (q->send_overhead_ps > 0)
        cli_meta_text(report, "send_overhead", sim_time_format(q->send_overhead_ps, text));
    cli_meta_text(report, "routing", cli_routing_text(&q->topology, t));
    cli_meta_text(report, "engine", collective_engine_names[q->engine]);
    for (size_t i = 0; i < p->row_count; i++)
        collective_report_add(report, t, &p->row[i]);
    cli_report_print(report, q->format, stdout);
    cli_report_destroy(report);
}

/* Every rank makes the same plan; only rank 0 opens files, so the ranks agree before they run and
 * before they leave. */
static enum sim_status run_request(const struct request *q, struct sim_error *err)
{
    struct plan plan = {0};
    struct files files = {0};
    enum sim_status status = make_plan(&plan, q, err);
    for (size_t i = 0; i < plan.row_count && status == SIM_OK; i++)
        status = collective_prepare(plan.topology, &plan.row[i], err);
    if (status == SIM_OK) status = open_files(q, &plan, &files, err);
    status = net_mpi_agree(status, err);
    if (status == SIM_OK) status = run_rows(q, &plan, &files, err);
    if (status == SIM_OK) status = close_files(&files, err);
    if (status == SIM_OK) print_rows(q, &plan);
    discard_files(&files);
    sim_free(plan.row);
    cli_pairs_release(&plan.pairs);
    topo_destroy(plan.topology);
    return status;
}

enum sim_status cmd_collective(int argc, char **argv, struct sim_error *err)
{
    struct request q = {.op = -1, .launch_overhead_ps = -1, .topology = TOPO_OPTIONS_DEFAULT};
    bool is_help;
    enum sim_status status = cli_args_read(&command, argc, argv, take, &q, &is_help, err);
    if (status == SIM_OK && !is_help) status = check_request(&q, err);
    if (status == SIM_OK && !is_help) status = run_request(&q, err);
    sim_free(q.bytes);
    return status;
}
