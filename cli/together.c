/*
 * Reading the list, one root schedule that waits and calls, and a row for each call.
 */
#include "cli/together.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "base/yaml.h"
#include "cli/options.h"
#include "collectives/choice.h"
#include "collectives/cost.h"
#include "netsim/mpi.h"

static const struct cli_column columns[] = {
    {"name", "name", true},           {"op", "op", true},
    {"algorithm", "algorithm", true}, {"axes", "axes", true},
    {"group", "group", false},        {"bytes", "bytes", false},
    {"start_us", "start us", false},  {"end_us", "end us", false},
    {"time_us", "time us", false},    {"alone_us", "alone us", false},
    {"slowdown", "slowdown", false},  {"busbw_gb_per_s", "busbw GB/s", false},
    {"bound_us", "bound us", false},  {NULL, NULL, false}};

/* ---- reading ---- */

struct entry_fields {
    const char *name, *axes, *algorithm;
    int op;
    uint64_t bytes, root, chunks, group_of; /* UINT64_MAX: not given */
    sim_ps start_ps;
    bool is_one_group;
};

#define FIELD(key_, kind_, member)                                                                 \
    {                                                                                              \
        .key = key_, .kind = SIM_FIELD_##kind_, .offset = offsetof(struct entry_fields, member)    \
    }
static const struct sim_field entry_table[] = {
    {.key = "op",
     .kind = SIM_FIELD_CHOICE,
     .offset = offsetof(struct entry_fields, op),
     .is_required = true,
     .choices = coll_op_names},
    {.key = "bytes",
     .kind = SIM_FIELD_BYTES,
     .offset = offsetof(struct entry_fields, bytes),
     .is_required = true},
    FIELD("algorithm", TEXT, algorithm),
    FIELD("name", TEXT, name),
    FIELD("axes", TEXT, axes),
    FIELD("start", TIME, start_ps),
    FIELD("root", COUNT, root),
    {.key = "chunks",
     .kind = SIM_FIELD_COUNT,
     .offset = offsetof(struct entry_fields, chunks),
     .min = 1,
     .max = 65536},
    FIELD("one_group", BOOL, is_one_group),
    FIELD("group_of", COUNT, group_of),
    {.key = NULL},
};

struct file_fields {
    const struct sim_yaml_node *collectives;
};
static const struct sim_field file_table[] = {
    {.key = "collectives",
     .kind = SIM_FIELD_NODE,
     .offset = offsetof(struct file_fields, collectives),
     .is_required = true},
    {.key = NULL},
};

/* One collective of the list, and what came out. */
struct entry {
    struct coll_spec spec;
    char name[64];
    uint64_t bytes;
    sim_ps start_ps, end_ps, alone_ps;
    net_schedule *schedule;
};

static enum sim_status place(const struct sim_yaml_node *node, enum sim_status status,
                             struct sim_error *err)
{
    if (status == SIM_OK) return SIM_OK;
    return sim_error_locate(err, status, node->file, node->line, node->column);
}

static enum sim_status make_schedule(const struct entry_fields *f, const topo *t, struct entry *e,
                                     struct sim_error *err)
{
    e->spec = (struct coll_spec){.op = (enum coll_op)f->op,
                                 .bytes = (double)f->bytes,
                                 .root = (uint32_t)f->root,
                                 .chunks = (uint32_t)f->chunks,
                                 .is_one_group = f->is_one_group || f->group_of != UINT64_MAX};
    e->spec.group = topo_group_all(t);
    if (f->axes != NULL) SIM_TRY(topo_group_parse(t, f->axes, err, &e->spec.group));
    if (f->group_of != UINT64_MAX && f->group_of >= topo_chips(t))
        return sim_error_set(err, SIM_EDATA, "group_of is %llu, want a chip id from 0 to %u",
                             (unsigned long long)f->group_of, topo_chips(t) - 1);
    if (f->group_of != UINT64_MAX) e->spec.one_group_of = (topo_chip_id)f->group_of;
    if (f->root >= e->spec.group.size)
        return sim_error_set(err, SIM_EDATA, "root is %llu, want a rank from 0 to %u",
                             (unsigned long long)f->root, e->spec.group.size - 1);
    int choice = 0;
    bool is_auto = f->algorithm == NULL || strcmp(f->algorithm, "auto") == 0;
    if (!is_auto &&
        cli_choice("algorithm", f->algorithm, coll_algorithm_names, err, &choice) != SIM_OK)
        return SIM_EDATA;
    e->spec.algorithm = is_auto ? coll_choose(t, &e->spec) : (enum coll_algorithm)choice;
    SIM_TRY(coll_accept(t, &e->spec, err));
    return coll_build(t, &e->spec, err, &e->schedule);
}

static enum sim_status read_entry(const struct sim_yaml_node *node, uint32_t index, const topo *t,
                                  struct entry *e, struct sim_error *err)
{
    struct entry_fields f = {.group_of = UINT64_MAX};
    if (node->kind != SIM_YAML_MAPPING)
        return sim_yaml_error(node, err, SIM_EDATA,
                              "want a mapping such as {op: all-reduce, bytes: 1MiB}");
    SIM_TRY(sim_yaml_read(node, entry_table, err, &f));
    if (f.op == COLL_SEND)
        return sim_yaml_error(node, err, SIM_EDATA, "%s is not among what runs together",
                              coll_op_names[f.op]);
    e->bytes = f.bytes;
    e->start_ps = f.start_ps;
    if (f.name != NULL)
        snprintf(e->name, sizeof e->name, "%s", f.name);
    else
        snprintf(e->name, sizeof e->name, "%u", index + 1);
    return place(node, make_schedule(&f, t, e, err), err);
}

/* ---- running ---- */

/* When each call is over on the last of its chips. */
struct ends {
    struct entry *entry;
};

static void note_end(void *context, topo_chip_id chip, const struct net_op *op, sim_ps start_ps,
                     sim_ps end_ps)
{
    const struct ends *ends = context;
    (void)chip, (void)start_ps;
    if (op->kind != NET_OP_CALL) return;
    struct entry *e = &ends->entry[op->call_id];
    if (end_ps > e->end_ps) e->end_ps = end_ps;
}

/* Every chip waits for each start and calls; nothing waits for anything else. */
static net_schedule *make_root(const topo *t, const struct entry *entry, uint32_t count)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    net_schedule_add_program(s);
    for (uint32_t i = 0; i < count; i++) {
        struct net_op op = {.kind = NET_OP_COMPUTE,
                            .guard = NET_NONE,
                            .chunk = NET_NONE,
                            .duration_ps = entry[i].start_ps};
        net_op_id wait = entry[i].start_ps > 0 ? net_op_add(s, 0, op) : NET_NONE;
        op = (struct net_op){.kind = NET_OP_CALL,
                             .guard = NET_NONE,
                             .chunk = NET_NONE,
                             .callee = entry[i].schedule,
                             .call_id = i};
        net_op_after(s, 0, net_op_add(s, 0, op), wait);
    }
    net_schedule_seal(s);
    return s;
}

static enum sim_status run_all(const topo *t, const struct net_options *asked, struct entry *entry,
                               uint32_t count, struct net_run_stats *stats, struct sim_error *err)
{
    struct net_options options = *asked;
    struct ends ends = {.entry = entry};
    struct net_result result;
    const struct net_observer observer = {
        .context = &ends, .wants_classes = true, .on_op = note_end};
    options.launch_overhead_ps = asked->entry_overhead_ps;
    options.entry_overhead_ps = 0;
    net_schedule *root = make_root(t, entry, count);
    enum sim_status status = net_run(root, &options, &observer, err, &result, NULL, stats);
    net_schedule_destroy(root);
    return status;
}

static enum sim_status run_alone(const struct net_options *options, struct entry *e,
                                 struct sim_error *err)
{
    struct net_result result = {0};
    SIM_TRY(net_run(e->schedule, options, NULL, err, &result, NULL, NULL));
    e->alone_ps = result.time_ps;
    return SIM_OK;
}

/* ---- reporting ---- */

cli_report *cli_together_report(void)
{
    return cli_report_create(columns);
}

static void microseconds(cli_report *report, sim_ps ps)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.3f", sim_ps_to_us(ps));
    cli_cell_double(report, sim_ps_to_us(ps), text);
}

static void number(cli_report *report, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.3f", value);
    cli_cell_double(report, value, text);
}

static void add_row(cli_report *report, const topo *t, const struct net_options *options,
                    const struct entry *e)
{
    char axes[64], text[SIM_QUANTITY_TEXT];
    sim_ps time = e->end_ps - e->start_ps;
    uint32_t members = coll_members(t, &e->spec);
    double busbw = time > 0 ? (double)e->bytes / sim_ps_to_s(time) / 1e9 : 0;
    cli_cell_text(report, e->name);
    cli_cell_text(report, coll_op_names[e->spec.op]);
    cli_cell_text(report, coll_algorithm_names[e->spec.algorithm]);
    cli_cell_text(report, topo_group_format(t, &e->spec.group, axes, sizeof axes));
    cli_cell_uint(report, members, NULL);
    cli_cell_uint(report, e->bytes, sim_bytes_format(e->bytes, text));
    microseconds(report, e->start_ps);
    microseconds(report, e->end_ps);
    microseconds(report, time);
    microseconds(report, e->alone_ps);
    number(report, e->alone_ps > 0 ? (double)time / (double)e->alone_ps : 1);
    number(report, busbw * coll_bus_factor(e->spec.op, members));
    struct coll_bound bound = coll_lower_bound(t, &e->spec);
    microseconds(report, coll_bound_through(options->router, bound).time_ps);
}

static enum sim_status run_list(const struct sim_yaml_node *list, const topo *t,
                                const struct net_options *asked, cli_report *report,
                                struct net_run_stats *stats, struct sim_error *err)
{
    if (list->kind != SIM_YAML_SEQUENCE || list->child_count == 0)
        return sim_yaml_error(list, err, SIM_EDATA, "collectives: want a list of collectives");
    uint32_t count = list->child_count;
    struct net_options options = *asked;
    options.progress = sim_progress_create("run", count + 1, net_mpi_rank() != 0);
    struct entry *entry = SIM_NEW(struct entry, count);
    enum sim_status status = SIM_OK;
    for (uint32_t i = 0; i < count && status == SIM_OK; i++)
        status = read_entry(list->child[i], i, t, &entry[i], err);
    if (status == SIM_OK) status = run_all(t, &options, entry, count, stats, err);
    for (uint32_t i = 0; i < count && status == SIM_OK; i++) {
        sim_progress_update(options.progress, i + 1);
        status = run_alone(&options, &entry[i], err);
    }
    sim_progress_destroy(options.progress);
    for (uint32_t i = 0; i < count && status == SIM_OK; i++)
        add_row(report, t, &options, &entry[i]);
    for (uint32_t i = 0; i < count; i++)
        net_schedule_destroy(entry[i].schedule);
    sim_free(entry);
    return status;
}

enum sim_status cli_together_run(const char *path, const topo *t, const struct net_options *options,
                                 cli_report *report, struct net_run_stats *stats,
                                 struct sim_error *err)
{
    sim_yaml *doc = NULL;
    struct file_fields file = {0};
    SIM_TRY(sim_yaml_load(path, err, &doc));
    enum sim_status status = sim_yaml_read(sim_yaml_root(doc), file_table, err, &file);
    if (status == SIM_OK) status = run_list(file.collectives, t, options, report, stats, err);
    sim_yaml_destroy(doc);
    return status;
}
