/*
 * Measuring the rows of `podsim validate`, and their table.
 */
#include "cli/validate.h"

#include <assert.h>

#include "base/arena.h"
#include "base/progress.h"
#include "base/quantity.h"
#include "cli/collective_rows.h"
#include "cli/report.h"
#include "cli/version.h"
#include "collectives/choice.h"
#include "topo/availability.h"
#include "topo/fault.h"
#include "topo/metrics.h"

/* ---- measures ---- */

static enum sim_status make_topology(const struct validate_run *run, struct sim_error *err,
                                     topo **out)
{
    struct topo_options options = TOPO_OPTIONS_DEFAULT;
    options.routing = run->routing;
    if (run->fail != NULL) SIM_TRY(topo_options_fail(&options, run->fail, err));
    return topo_create(run->spec, &options, err, out);
}

static enum sim_status run_on(const topo *t, const struct validate_run *run, struct sim_error *err,
                              struct collective_row *row)
{
    const struct collective_outputs none = {0};
    struct net_run_stats totals = {0};
    *row = (struct collective_row){.bytes = run->bytes, .engine = COLLECTIVE_FLOW};
    row->spec = (struct coll_spec){.op = run->op,
                                   .algorithm = run->algorithm,
                                   .group = topo_group_all(t),
                                   .bytes = (double)run->bytes,
                                   .receiver = run->receiver};
    if (run->axes != NULL) SIM_TRY(topo_group_parse(t, run->axes, err, &row->spec.group));
    if (!run->is_named) row->spec.algorithm = coll_choose(t, &row->spec);
    SIM_TRY(collective_prepare(t, 0, row, err));
    const struct topo_chip *chip = topo_chip_of(t);
    struct net_options net = {.entry_overhead_ps = chip != NULL ? chip->launch_overhead_ps : 0};
    return collective_run(t, &net, &none, row, &totals, err);
}

static enum sim_status time_of(const struct validate_run *run, struct sim_error *err,
                               double *time_us, const char **algorithm)
{
    topo *t;
    struct collective_row row;
    SIM_TRY(make_topology(run, err, &t));
    enum sim_status status = run_on(t, run, err, &row);
    topo_destroy(t);
    if (status != SIM_OK) return status;
    *time_us = sim_ps_to_us(row.time_ps);
    *algorithm = coll_algorithm_names[row.spec.algorithm];
    return SIM_OK;
}

enum sim_status validate_time_us(const struct validate_row *row, struct sim_error *err,
                                 struct validate_result *out)
{
    return time_of(&row->run, err, &out->value, &out->algorithm);
}

enum sim_status validate_rate(const struct validate_row *row, struct sim_error *err,
                              struct validate_result *out)
{
    double us;
    SIM_TRY(time_of(&row->run, err, &us, &out->algorithm));
    out->value = row->factor * (double)row->run.bytes / us / 1e3;
    return SIM_OK;
}

enum sim_status validate_speed(const struct validate_row *row, struct sim_error *err,
                               struct validate_result *out)
{
    double base_us, us;
    SIM_TRY(time_of(&row->base, err, &base_us, &out->algorithm));
    SIM_TRY(time_of(&row->run, err, &us, &out->algorithm));
    out->value = base_us / us;
    return SIM_OK;
}

static enum sim_status all_to_all_of(const struct validate_run *run, struct sim_error *err,
                                     double *out)
{
    topo *t;
    SIM_TRY(make_topology(run, err, &t));
    *out = topo_metrics_of(t).all_to_all_bytes_per_s;
    topo_destroy(t);
    return SIM_OK;
}

enum sim_status validate_all_to_all(const struct validate_row *row, struct sim_error *err,
                                    struct validate_result *out)
{
    double base, rate;
    SIM_TRY(all_to_all_of(&row->base, err, &base));
    SIM_TRY(all_to_all_of(&row->run, err, &rate));
    *out = (struct validate_result){.value = rate / base, .algorithm = ""};
    return SIM_OK;
}

enum sim_status validate_goodput(const struct validate_row *row, struct sim_error *err,
                                 struct validate_result *out)
{
    topo *t;
    struct topo_availability_query q;
    SIM_TRY(make_topology(&row->run, err, &t));
    enum sim_status status = topo_availability_query_of(t, (uint32_t)row->factor, err, &q);
    topo_destroy(t);
    if (status != SIM_OK) return status;
    q.host_availability = 0.99;
    q.samples = 2; /* for the goodput without switches, which is not asked for */
    *out =
        (struct validate_result){.value = 100 * topo_availability_of(&q).with_ocs, .algorithm = ""};
    return SIM_OK;
}

bool validate_is_within(const struct validate_row *row, double value)
{
    return row->low <= value && value <= row->high;
}

/* ---- the table ---- */

static const struct cli_column columns[] = {{"row", "row", true},
                                            {"what", "what", true},
                                            {"source", "source", true},
                                            {"published", "published", false},
                                            {"low", "low", false},
                                            {"high", "high", false},
                                            {"podsim", "podsim", false},
                                            {"unit", "unit", true},
                                            {"error_percent", "error %", false},
                                            {"verdict", "verdict", true},
                                            {"algorithm", NULL, true},
                                            {NULL, NULL, false}};

static void number_cell(cli_report *report, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, value >= 1000 ? "%.0f" : "%.4g", value);
    cli_cell_double(report, value, text);
}

static void add_row(cli_report *report, const struct validate_row *row,
                    const struct validate_result *result)
{
    char text[SIM_QUANTITY_TEXT];
    bool is_within = validate_is_within(row, result->value);
    double error_percent = 100 * (result->value / row->published - 1);
    snprintf(text, sizeof text, "%+.1f", error_percent);
    cli_cell_text(report, row->name);
    cli_cell_text(report, row->what);
    cli_cell_text(report, row->source);
    number_cell(report, row->published);
    number_cell(report, row->low);
    number_cell(report, row->high);
    number_cell(report, result->value);
    cli_cell_text(report, row->unit);
    cli_cell_double(report, error_percent, text);
    cli_cell_text(report, is_within ? "within" : "outside");
    cli_cell_text(report, result->algorithm);
}

static enum sim_status measure_rows(const struct validate_row *const *rows, uint32_t count,
                                    cli_report *report, uint32_t *outside, struct sim_error *err)
{
    enum sim_status status = SIM_OK;
    sim_progress *progress = sim_progress_create("row", count, false);
    for (uint32_t i = 0; i < count; i++) {
        struct validate_result result = {0};
        status = rows[i]->measure(rows[i], err, &result);
        if (status != SIM_OK) break;
        assert(result.algorithm != NULL && rows[i]->published > 0);
        *outside += !validate_is_within(rows[i], result.value);
        add_row(report, rows[i], &result);
        sim_progress_update(progress, i + 1);
    }
    sim_progress_destroy(progress);
    return status;
}

enum sim_status validate_print(const struct validate_row *const *rows, uint32_t count,
                               enum cli_format format, FILE *out, struct sim_error *err)
{
    uint32_t outside = 0;
    cli_report *report = cli_report_create(columns);
    cli_meta_text(report, "version", PODSIM_VERSION);
    enum sim_status status = measure_rows(rows, count, report, &outside, err);
    if (status == SIM_OK) cli_report_print(report, format, out);
    cli_report_destroy(report);
    if (status != SIM_OK || outside == 0) return status;
    return sim_error_set(err, SIM_ENO, "%u of %u rows %s outside the accepted range", outside,
                         count, outside == 1 ? "lies" : "lie");
}
