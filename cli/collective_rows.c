/*
 * Running and reporting one row of `podsim collective`.
 */
#include "cli/collective_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"

const char *const collective_engine_names[] = {"flow", "packet", "bound", NULL};

static const struct cli_column columns[] = {{"op", "op", true},
                                            {"algorithm", "algorithm", true},
                                            {"engine", NULL, true},
                                            {"topology", NULL, true},
                                            {"chips", NULL, false},
                                            {"axes", "axes", true},
                                            {"group", "group", false},
                                            {"bytes", "bytes", false},
                                            {"time_ps", NULL, false},
                                            {"time_us", "time us", false},
                                            {"algbw_gb_per_s", "algbw GB/s", false},
                                            {"busbw_gb_per_s", "busbw GB/s", false},
                                            {"bound_us", "bound us", false},
                                            {"efficiency", "of bound", false},
                                            {"limited_by", "limited by", true},
                                            {"latency_share", "latency", false},
                                            {"kind", "kind", true},
                                            {"bound_latency_us", NULL, false},
                                            {"bound_bytes_us", NULL, false},
                                            {"form_us", NULL, false},
                                            {"form_latency_us", NULL, false},
                                            {"chunks", "chunks", false},
                                            {NULL, NULL, false}};

/* ---- messages, in an order that does not depend on how the run went about it ---- */

struct message {
    topo_chip_id src, dst;
    double bytes;
    sim_ps start_ps, end_ps;
};

struct message_log {
    struct message *message;
    size_t count, capacity;
};

static void log_message(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                        sim_ps start_ps, sim_ps end_ps)
{
    struct message_log *log = context;
    SIM_GROW(log->message, log->capacity, log->count + 1);
    log->message[log->count++] = (struct message){src, dst, bytes, start_ps, end_ps};
}

static int compare(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static int by_start(const void *left, const void *right)
{
    const struct message *a = left, *b = right;
    int order = compare(a->start_ps, b->start_ps);
    if (order == 0) order = compare(a->src, b->src);
    if (order == 0) order = compare(a->dst, b->dst);
    if (order == 0) order = compare(a->end_ps, b->end_ps);
    if (order == 0) order = (a->bytes > b->bytes) - (a->bytes < b->bytes);
    return order; /* equal in all: the rows are the same */
}

static void write_messages(struct message_log *log, FILE *out)
{
    char bytes[SIM_QUANTITY_TEXT];
    if (log->count > 0) qsort(log->message, log->count, sizeof *log->message, by_start);
    fputs("src,dst,bytes,start_ps,end_ps\n", out);
    for (size_t i = 0; i < log->count; i++) {
        const struct message *m = &log->message[i];
        fprintf(out, "%u,%u,%s,%lld,%lld\n", m->src, m->dst, sim_double_format(m->bytes, bytes),
                (long long)m->start_ps, (long long)m->end_ps);
    }
}

/* ---- running ---- */

/* Do links of the kind of `link` differ in rate, or links of any kind? */
static bool has_several_rates(const topo *t, topo_link_id link, bool is_any_kind)
{
    for (topo_link_id l = 0; l < topo_links(t); l++)
        if ((is_any_kind || topo_link_kind(t, l) == topo_link_kind(t, link)) &&
            topo_link_rate(t, l) != topo_link_rate(t, link))
            return true;
    return false;
}

static int64_t busiest_link(const struct net_link_stats *links, const topo *t)
{
    topo_link_id link;
    return net_link_stats_busiest(links, t, 1, &link) == 0 ? -1 : (int64_t)link;
}

/* Is a link idle for a quarter of the time, though wanted, for want of room behind it, while none
 * is full? */
static bool is_stalled(const struct net_link_stats *links, const topo *t, sim_ps time_ps)
{
    sim_ps longest = 0;
    int64_t busiest = busiest_link(links, t);
    if (links->stalled_ps == NULL || busiest < 0) return false;
    for (topo_link_id l = 0; l < links->count; l++)
        if (links->stalled_ps[l] > longest) longest = links->stalled_ps[l];
    return longest > time_ps / 4 &&
           net_link_utilisation(links, t, (topo_link_id)busiest, time_ps) < 0.9;
}

/* Busy times of links; of packets their queues, too, where somebody looks at them. */
static void init_links(const struct net_options *options, const struct collective_outputs *outputs,
                       const topo *t, struct net_link_stats *links)
{
    bool is_shown = outputs->wants_link_stats || outputs->hotspots != NULL;
    if ((is_shown || outputs->wants_stalls) && options->router != NULL)
        net_link_stats_init_packets(links, t);
    else if (is_shown || has_several_rates(t, 0, true))
        net_link_stats_init(links, t);
}

static enum sim_status simulate(const topo *t, const struct net_options *options,
                                const struct collective_outputs *outputs,
                                struct collective_row *row, struct net_run_stats *totals,
                                struct sim_error *err)
{
    net_schedule *schedule;
    SIM_TRY(row->file != NULL ? coll_msccl_schedule(row->file, t, &row->spec, err, &schedule)
                              : coll_build(t, &row->spec, err, &schedule));
    struct message_log log = {0};
    struct net_observer observer = {.context = &log, .on_message = log_message};
    struct net_link_stats links = {0};
    struct net_result result;
    struct net_run_stats stats = {0};
    init_links(options, outputs, t, &links);
    enum sim_status status = net_run(schedule, options, outputs->wants_messages ? &observer : NULL,
                                     err, &result, links.bytes != NULL ? &links : NULL, &stats);
    if (status == SIM_OK) {
        row->time_ps = result.time_ps;
        row->latency_ps = result.latency_ps;
        row->overhead_ps = result.overhead_ps;
        if (has_several_rates(t, 0, true)) row->busiest_link = busiest_link(&links, t);
        row->is_stalled = is_stalled(&links, t, result.time_ps);
        if (outputs->messages != NULL) write_messages(&log, outputs->messages);
        if (outputs->hotspots != NULL)
            cli_hotspots_find(outputs->hotspots, &links, t, result.time_ps);
        if (outputs->link_stats != NULL)
            net_link_stats_write(&links, t, result.time_ps, outputs->link_stats);
        totals->events += stats.events;
        totals->messages += stats.messages;
        totals->flows += stats.flows;
        totals->solves += stats.solves;
        totals->levels += stats.levels;
        totals->instants += stats.instants;
        totals->classes += stats.classes;
        totals->parts += stats.parts;
        totals->parts_reused += stats.parts_reused;
        totals->packet_hops += stats.packet_hops;
        totals->windows += stats.windows;
        totals->trains += stats.trains;
        totals->cuts += stats.cuts;
        totals->shared_trains += stats.shared_trains;
        totals->shared_cuts += stats.shared_cuts;
    }
    net_link_stats_release(&links);
    sim_free(log.message);
    net_schedule_destroy(schedule);
    return status;
}

/* A number for people: at most 4 significant digits below 1000, whole parts in full. */
static const char *shown(double value, char *buffer)
{
    snprintf(buffer, SIM_QUANTITY_TEXT,
             value >= 1000  ? "%.1f"
             : value >= 100 ? "%.2f"
                            : "%.3f",
             value);
    return buffer;
}

/* Messages of an all-to-all that have to be run one by one. Around a fault ends ripple: 261,632
 * flows of 512 chips took an exact solver 868 s, coalesced to a hundredth 7 s. Groups that the
 * fault does not touch are run once for all. */
static uint64_t messages_at_once(const topo *t, const struct coll_spec *spec)
{
    uint64_t n = coll_members(t, spec), groups = topo_chips(t) / spec->group.size;
    return n * (n - 1) * (spec->is_one_group || topo_is_faulty(t) ? 1 : groups);
}

enum { FAULTY_MAX = 100000, COALESCED_MAX = 1000000, HEALTHY_MAX = 4000000 };
#define FLOWS_MAX UINT64_C(16000000) /* 4 GiB; 6.2 million of fat-tree:12 take 7 s and 1.6 GB */

/* Each message is a flow for each of its paths, up to 64 on fat-tree:16: counted from one chip. */
static uint64_t flows_at_once(const topo *t, const struct coll_spec *spec)
{
    struct topo_paths paths = {0};
    uint64_t flows = 0;
    topo_chip_id first = 0;
    while (topo_chip_is_failed(t, first))
        first++;
    for (uint32_t r = 0; r < spec->group.size; r++) {
        topo_chip_id other = topo_group_chip(t, &spec->group, first, r);
        if (other == first || topo_chip_is_failed(t, other)) continue;
        topo_route(t, first, other, &paths);
        flows += paths.count;
    }
    topo_paths_release(&paths);
    return flows * (messages_at_once(t, spec) / (coll_members(t, spec) - 1));
}

bool collective_is_in_reach(const topo *t, double coalesce, enum collective_engine engine,
                            const struct coll_spec *spec)
{
    bool is_direct = spec->op == COLL_ALL_TO_ALL && spec->algorithm == COLL_DIRECT;
    bool is_symmetric = topo_has_ports(t) && !topo_is_faulty(t);
    uint64_t most = !topo_is_faulty(t) ? HEALTHY_MAX : coalesce > 0 ? COALESCED_MAX : FAULTY_MAX;
    if (!is_direct || is_symmetric || engine != COLLECTIVE_FLOW || spec->pairs != NULL) return true;
    uint64_t messages = messages_at_once(t, spec);
    return messages == 0 || (messages <= most && flows_at_once(t, spec) <= FLOWS_MAX);
}

static enum sim_status check_messages(const topo *t, double coalesce,
                                      const struct collective_row *row, struct sim_error *err)
{
    char count[SIM_QUANTITY_TEXT], ways[SIM_QUANTITY_TEXT], bound[SIM_QUANTITY_TEXT];
    if (collective_is_in_reach(t, coalesce, row->engine, &row->spec)) return SIM_OK;
    uint64_t messages = messages_at_once(t, &row->spec), flows = flows_at_once(t, &row->spec);
    bool would_coalesce = topo_is_faulty(t) && coalesce == 0 && messages <= COALESCED_MAX;
    bool has_ways = flows > messages && !topo_is_faulty(t);
    return sim_error_set(
        err, SIM_ERESOURCE,
        "%s messages at once%s%s%s on %s are out of reach for exact flows (bound: %s us); "
        "want --algorithm phased, %s--engine packet, or --engine bound",
        sim_count_format(messages, count), has_ways ? " over " : "",
        has_ways ? sim_count_format(flows, ways) : "", has_ways ? " ways" : "", topo_spec(t),
        shown(sim_ps_to_us(row->bound.time_ps), bound), would_coalesce ? "--coalesce 0.01, " : "");
}

enum sim_status collective_prepare(const topo *t, double coalesce, struct collective_row *row,
                                   struct sim_error *err)
{
    char bytes[SIM_QUANTITY_TEXT];
    SIM_TRY(row->file != NULL ? coll_msccl_fits(row->file, t, &row->spec, err)
                              : coll_accept(t, &row->spec, err));
    row->bound = coll_lower_bound(t, &row->spec);
    row->chunks = 1;
    if (row->file == NULL) {
        if (row->spec.pairs == NULL && coll_members(t, &row->spec) > 1)
            row->chunks = coll_chunks(t, &row->spec);
        row->form = coll_closed_form(t, &row->spec);
        SIM_TRY(check_messages(t, coalesce, row, err));
    }
    if (row->bound.time_ps < SIM_PS_MAX && row->form.time_ps < SIM_PS_MAX) return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "%s of %s lasts longer than simulated time can hold (106 days)",
                         coll_op_names[row->spec.op], sim_bytes_format(row->bytes, bytes));
}

enum sim_status collective_run(const topo *t, const struct net_options *options,
                               const struct collective_outputs *outputs, struct collective_row *row,
                               struct net_run_stats *totals, struct sim_error *err)
{
    row->busiest_link = -1;
    row->bound = coll_bound_through(options->router, row->bound);
    if (row->engine != COLLECTIVE_BOUND) return simulate(t, options, outputs, row, totals, err);
    row->time_ps = row->bound.time_ps;
    row->latency_ps = row->bound.limited_by != NULL && strcmp(row->bound.limited_by, "latency") == 0
                          ? row->time_ps
                          : 0;
    return SIM_OK;
}

/* ---- reporting ---- */

/* Engines round each message to the picosecond, so a chain may differ by one per message. */
static bool is_exact(const struct collective_row *row)
{
    double off = (double)(row->time_ps - row->overhead_ps - row->form.time_ps);
    double allowed = 2.0 * row->spec.group.size + 1 + row->chunks;
    return row->form.is_exact && off <= allowed && -off <= allowed;
}

static double share(sim_ps part, sim_ps whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* "dcn links"; "50GB/s switch links" where switch links differ in rate. */
static const char *links_like(const topo *t, topo_link_id link, char *buffer, size_t bytes)
{
    char rate[SIM_QUANTITY_TEXT] = "";
    if (has_several_rates(t, link, false)) sim_rate_format(topo_link_rate(t, link), rate);
    snprintf(buffer, bytes, "%s%s%s links", rate, rate[0] != 0 ? " " : "",
             topo_link_kind_names[topo_link_kind(t, link)]);
    return buffer;
}

/* What most of the time goes to, or what the bytes queue for: what bounds them, where the time is
 * near the bound, else links; where links differ in rate, ones like the most used. */
static const char *limiting(const topo *t, const struct collective_row *row, char *buffer,
                            size_t bytes)
{
    if (row->time_ps == 0) return "nothing";
    if (share(row->overhead_ps, row->time_ps) > 0.5) return "overhead";
    if (share(row->latency_ps + row->overhead_ps, row->time_ps) > 0.5) return "latency";
    double near = share(row->bound.time_ps, row->time_ps);
    bool has_name = row->bound.bytes_ps > 0 && strcmp(row->bound.limited_by, "latency") != 0;
    if (row->is_stalled && near < 0.9) return "buffers";
    if (row->busiest_link < 0) return has_name && near > 0.5 ? row->bound.limited_by : "links";
    links_like(t, (topo_link_id)row->busiest_link, buffer, bytes);
    size_t used = strlen(buffer);
    if (has_name && near > 0.9)
        snprintf(buffer + used, bytes - used, " (%s)", row->bound.limited_by);
    return buffer;
}

static void percent_cell(cli_report *report, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.1f%%", 100 * value);
    cli_cell_double(report, value, text);
}

cli_report *collective_report_create(void)
{
    return cli_report_create(columns);
}

/* Levels by closed form, without their overlap. */
static void add_phases(cli_report *report, const topo *t, const struct collective_row *row)
{
    struct coll_phases p = coll_hierarchy_phases(t, &row->spec);
    char inside[SIM_QUANTITY_TEXT], between[SIM_QUANTITY_TEXT], text[SIM_QUANTITY_TEXT],
        overlap[48] = "one after the other";
    double each_us = (p.inside_hops_ps + p.inside_bytes_ps) / 1e6;
    if (row->chunks > 1) snprintf(overlap, sizeof overlap, "%u chunks overlap both", row->chunks);
    cli_note(report,
             "hierarchical, %s, by closed form: %s%s us inside slices, %s us between them; %s",
             sim_bytes_format(row->bytes, text), row->spec.op == COLL_ALL_REDUCE ? "twice " : "",
             shown(each_us, inside), shown((p.between_hops_ps + p.between_bytes_ps) / 1e6, between),
             overlap);
}

/* On twisted tori an axis ends on another line of its own, so that alone it is no ring. */
static void note_lines(cli_report *report, const topo *t, const struct topo_group *group)
{
    for (uint32_t i = 0; i < group->factor_count && group->size < topo_chips(t); i++) {
        uint32_t axis = group->factor[i].axis;
        if (topo_axis_is_closed(t, axis) && !topo_axis_is_wrapped(t, axis))
            cli_note(report, "%c closes onto another line of the twisted torus: alone it is a line",
                     "xyzw"[axis]);
    }
}

/* What is sent to oneself does not travel. */
static uint64_t travelling_bytes(const struct collective_row *row)
{
    const struct coll_pairs *pairs = row->spec.pairs;
    uint64_t bytes = row->bytes;
    for (uint32_t i = 0; row->spec.op == COLL_PERMUTE && pairs != NULL && i < pairs->count; i++)
        if (pairs->src[i] == pairs->dst[i]) bytes -= pairs->bytes[i];
    return bytes;
}

void collective_report_add(cli_report *report, const topo *t, const struct collective_row *row)
{
    char axes[64], limit[96], text[SIM_QUANTITY_TEXT];
    double seconds = sim_ps_to_s(row->time_ps);
    double algbw = row->time_ps > 0 ? (double)travelling_bytes(row) / seconds / 1e9 : 0;
    uint32_t members = coll_members(t, &row->spec);
    double busbw = algbw * coll_bus_factor(row->spec.op, members);
    bool is_all_overhead = row->time_ps == row->overhead_ps && row->bound.time_ps == 0;
    topo_group_format(t, &row->spec.group, axes, sizeof axes);
    cli_cell_text(report, coll_op_names[row->spec.op]);
    cli_cell_text(report, row->file != NULL ? coll_msccl_name(row->file)
                                            : coll_algorithm_names[row->spec.algorithm]);
    cli_cell_text(report, collective_engine_names[row->engine]);
    cli_cell_text(report, topo_spec(t));
    cli_cell_uint(report, topo_chips(t), NULL);
    cli_cell_text(report, axes);
    cli_cell_uint(report, members, NULL);
    cli_cell_uint(report, row->bytes, sim_bytes_format(row->bytes, text));
    cli_cell_uint(report, (uint64_t)row->time_ps, NULL);
    cli_cell_double(report, sim_ps_to_us(row->time_ps), shown(sim_ps_to_us(row->time_ps), text));
    cli_cell_double(report, algbw, shown(algbw, text));
    cli_cell_double(report, busbw, shown(busbw, text));
    cli_cell_double(report, sim_ps_to_us(row->bound.time_ps),
                    shown(sim_ps_to_us(row->bound.time_ps), text));
    percent_cell(report, is_all_overhead ? 1 : share(row->bound.time_ps, row->time_ps));
    cli_cell_text(report, limiting(t, row, limit, sizeof limit));
    percent_cell(report, share(row->latency_ps + row->overhead_ps, row->time_ps));
    cli_cell_text(report, row->engine == COLLECTIVE_BOUND ? "bound"
                          : is_exact(row)                 ? "exact"
                                                          : "modelled");
    cli_cell_double(report, sim_ps_to_us(row->bound.latency_ps), NULL);
    cli_cell_double(report, sim_ps_to_us(row->bound.bytes_ps), NULL);
    cli_cell_double(report, sim_ps_to_us(row->form.time_ps), NULL);
    cli_cell_double(report, sim_ps_to_us(row->form.latency_ps), NULL);
    cli_cell_uint(report, row->chunks, NULL);
    if (row->contest > 0 && row->form_choice_ps > row->time_ps)
        cli_note(report, "%s: the closed form would have chosen %s, %.1f %% slower",
                 coll_algorithm_names[row->spec.algorithm], coll_algorithm_names[row->form_choice],
                 100 * ((double)row->form_choice_ps / (double)row->time_ps - 1));
    if (row->spec.algorithm == COLL_HIERARCHICAL && row->form.time_ps > 0)
        add_phases(report, t, row);
    note_lines(report, t, &row->spec.group);
    if (members == 1 && row->spec.pairs == NULL)
        cli_note(report, "a group of one chip has nobody to send to: only the launch overhead, if "
                         "any, takes time");
}
