/*
 * Lists of slice sizes and host availabilities, and the table of goodputs.
 */
#include "cli/topo_goodput.h"

#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/version.h"
#include "topo/availability.h"

static const struct cli_column columns[] = {{"topology", "topology", true},
                                            {"slice_chips", "slice", false},
                                            {"host_availability", "host up", false},
                                            {"cube_availability", "cube good", false},
                                            {"goodput_all_up", "all up", false},
                                            {"at_least_one_slice", "a slice or more", false},
                                            {"goodput_with_ocs", "with OCS", false},
                                            {"goodput_without_ocs", "without", false},
                                            {"goodput_without_ocs_low", "95% interval", false},
                                            {"goodput_without_ocs_high", NULL, false},
                                            {"without_ocs_kind", NULL, true},
                                            {NULL, NULL, false}};

/* ---- lists ---- */

typedef enum sim_status (*take_item)(struct cli_goodput *g, const char *item,
                                     struct sim_error *err);

/* Give every item between commas, spaces around it cut off, to `take`. */
static enum sim_status each_item(struct cli_goodput *g, const char *value, take_item take,
                                 struct sim_error *err)
{
    char *copy = sim_strdup(value), *item = copy;
    enum sim_status status = SIM_OK;
    while (item != NULL && status == SIM_OK) {
        char *next = strchr(item, ',');
        if (next != NULL) *next++ = 0;
        while (*item == ' ')
            item++;
        status = take(g, item, err);
        item = next;
    }
    sim_free(copy);
    return status;
}

/* A number, an optional space, "chips". */
static enum sim_status take_slice(struct cli_goodput *g, const char *item, struct sim_error *err)
{
    char digits[24] = "", quoted[SIM_QUOTE_TEXT];
    uint64_t chips = 0;
    size_t bytes = strspn(item, "0123456789");
    const char *unit = item + bytes;
    if (*unit == ' ') unit++;
    if (bytes < sizeof digits) memcpy(digits, item, bytes);
    if ((strcmp(unit, "chips") != 0 && strcmp(unit, "chip") != 0) ||
        sim_count_parse(digits, 1, UINT32_MAX, NULL, &chips) != SIM_OK)
        return sim_error_set(err, SIM_EDATA,
                             "--slice: found %s, want a number of chips such as 1024chips",
                             sim_error_quote(item, quoted));
    SIM_GROW(g->slice_chips, g->slice_capacity, g->slice_count + 1);
    g->slice_chips[g->slice_count++] = (uint32_t)chips;
    return SIM_OK;
}

static enum sim_status take_host(struct cli_goodput *g, const char *item, struct sim_error *err)
{
    double value = 0;
    SIM_TRY(cli_option_error("host-availability", sim_share_parse(item, err, &value), err));
    SIM_GROW(g->host_availability, g->host_capacity, g->host_count + 1);
    g->host_availability[g->host_count++] = value;
    return SIM_OK;
}

enum sim_status cli_goodput_slices(struct cli_goodput *g, const char *value, struct sim_error *err)
{
    return each_item(g, value, take_slice, err);
}

enum sim_status cli_goodput_hosts(struct cli_goodput *g, const char *value, struct sim_error *err)
{
    return each_item(g, value, take_host, err);
}

void cli_goodput_release(struct cli_goodput *g)
{
    sim_free(g->slice_chips);
    sim_free(g->host_availability);
    *g = (struct cli_goodput){0};
}

/* ---- the table ---- */

static void share_cell(cli_report *report, double value)
{
    char text[SIM_QUANTITY_TEXT];
    snprintf(text, sizeof text, "%.4g%%", 100 * value);
    cli_cell_double(report, value, text);
}

static void add_row(cli_report *report, const topo *t, uint32_t chips,
                    const struct topo_availability_query *q)
{
    struct topo_availability a = topo_availability_of(q);
    const struct topo_goodput *without = &a.without_ocs;
    char text[SIM_QUANTITY_TEXT];
    cli_cell_text(report, topo_spec(t));
    cli_cell_uint(report, chips, sim_count_format(chips, text));
    share_cell(report, q->host_availability);
    share_cell(report, a.cube);
    share_cell(report, a.all_up);
    share_cell(report, a.at_least_one);
    share_cell(report, a.with_ocs);
    share_cell(report, without->value);
    snprintf(text, sizeof text, "%.4g%% to %.4g%%", 100 * without->low, 100 * without->high);
    cli_cell_double(report, without->low, without->is_exact ? "exact" : text);
    cli_cell_double(report, without->high, NULL);
    cli_cell_text(report, without->is_exact ? "exact" : "monte carlo");
}

/* What a pod's rows are made of and go to. */
struct table {
    const struct cli_goodput *g;
    cli_report *report;
};

static enum sim_status add_pod(const topo *t, void *context, struct sim_error *err)
{
    const struct table *table = context;
    const struct cli_goodput *g = table->g;
    for (uint32_t s = 0; s < g->slice_count; s++) {
        struct topo_availability_query q;
        SIM_TRY(topo_availability_query_of(t, g->slice_chips[s], err, &q));
        q.seed = g->seed;
        for (uint32_t h = 0; h < g->host_count; h++) {
            q.host_availability = g->host_availability[h];
            add_row(table->report, t, g->slice_chips[s], &q);
        }
    }
    return SIM_OK;
}

enum sim_status cli_goodput_print(const struct cli_goodput *g, const struct cli_topo_specs *specs,
                                  const struct topo_options *options, enum cli_format format,
                                  struct sim_error *err)
{
    cli_report *report = cli_report_create(columns);
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_double(report, "seed", (double)g->seed);
    cli_meta_double(report, "samples", TOPO_AVAILABILITY_SAMPLES);
    struct table table = {.g = g, .report = report};
    enum sim_status status = cli_topo_specs_each(specs, options, add_pod, &table, err);
    if (status == SIM_OK) cli_report_print(report, format, stdout);
    cli_report_destroy(report);
    return status;
}
