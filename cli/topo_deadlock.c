/*
 * Deadlock freedom of a topology's routing, as a table.
 */
#include "cli/topo_deadlock.h"

#include <stdio.h>

#include "base/quantity.h"
#include "cli/report.h"
#include "cli/version.h"
#include "topo/deadlock.h"
#include "topo/routing.h"

#define LINKS_SHOWN 12

static const struct cli_column columns[] = {{"topology", "topology", true},
                                            {"routing", "routing", true},
                                            {"channels", "virtual channels", false},
                                            {"dependencies", "dependencies", false},
                                            {"deadlock_free", "deadlock free", true},
                                            {"cycle", "cycle", true},
                                            {NULL, NULL, false}};

/* "0,0>1,0/0 1,0>2,0/0 ...": the links that wait for each other in a circle, with their channel. */
static const char *cycle_text(const topo *t, const struct topo_deadlock *d, char *buffer,
                              size_t bytes)
{
    char from[48], to[48];
    size_t at = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < d->cycle_length && i < LINKS_SHOWN && at < bytes; i++)
        at += (size_t)snprintf(buffer + at, bytes - at, "%s%s>%s/%u", i > 0 ? " " : "",
                               topo_node_format(t, topo_link_from(t, d->link[i]), from),
                               topo_node_format(t, topo_link_to(t, d->link[i]), to), d->channel[i]);
    if (d->cycle_length > LINKS_SHOWN && at < bytes)
        snprintf(buffer + at, bytes - at, " ... (%u links)", d->cycle_length);
    return buffer;
}

/* The rows, and whether all of them are free. */
struct table {
    cli_report *report;
    bool is_free;
};

static enum sim_status add_row(const topo *t, void *context, struct sim_error *err)
{
    struct table *table = context;
    struct topo_deadlock d = {0};
    char cycle[1024];
    enum sim_status status = topo_deadlock_check(t, err, &d);
    if (status == SIM_OK) {
        cli_cell_text(table->report, topo_spec(t));
        cli_cell_text(table->report, topo_routing_name(t));
        cli_cell_uint(table->report, d.channels, NULL);
        cli_cell_uint(table->report, d.dependencies, NULL);
        cli_cell_bool(table->report, d.is_free);
        cli_cell_text(table->report, cycle_text(t, &d, cycle, sizeof cycle));
        table->is_free = table->is_free && d.is_free;
    }
    topo_deadlock_release(&d);
    return status;
}

enum sim_status cli_deadlock_print(const struct cli_topo_specs *specs,
                                   const struct topo_options *options, enum cli_format format,
                                   struct sim_error *err)
{
    cli_report *report = cli_report_create(columns);
    struct table table = {.report = report, .is_free = true};
    cli_meta_text(report, "version", PODSIM_VERSION);
    enum sim_status status = cli_topo_specs_each(specs, options, add_row, &table, err);
    if (status == SIM_OK) cli_report_print(report, format, stdout);
    cli_report_destroy(report);
    if (status == SIM_OK && !table.is_free)
        return sim_error_set(err, SIM_ENO,
                             "a routing can deadlock: its links wait for each other in a circle");
    return status;
}
