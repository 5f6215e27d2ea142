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

static enum sim_status add_row(cli_report *report, const char *spec,
                               const struct topo_options *options, bool *is_free,
                               struct sim_error *err)
{
    topo *t;
    struct topo_deadlock d = {0};
    char cycle[1024];
    SIM_TRY(topo_create(spec, options, err, &t));
    enum sim_status status = topo_deadlock_check(t, err, &d);
    if (status == SIM_OK) {
        cli_cell_text(report, topo_spec(t));
        cli_cell_text(report, topo_routing_name(t));
        cli_cell_uint(report, d.channels, NULL);
        cli_cell_uint(report, d.dependencies, NULL);
        cli_cell_bool(report, d.is_free);
        cli_cell_text(report, cycle_text(t, &d, cycle, sizeof cycle));
        *is_free = *is_free && d.is_free;
    }
    topo_deadlock_release(&d);
    topo_destroy(t);
    return status;
}

enum sim_status cli_deadlock_print(const struct cli_topo_specs *specs,
                                   const struct topo_options *options, enum cli_format format,
                                   struct sim_error *err)
{
    cli_report *report = cli_report_create(columns);
    bool is_free = true;
    enum sim_status status = SIM_OK;
    cli_meta_text(report, "version", PODSIM_VERSION);
    for (uint32_t i = 0; i < specs->count && status == SIM_OK; i++)
        status = add_row(report, specs->spec[i], options, &is_free, err);
    if (status == SIM_OK) cli_report_print(report, format, stdout);
    cli_report_destroy(report);
    if (status == SIM_OK && !is_free)
        return sim_error_set(err, SIM_ENO,
                             "a routing can deadlock: its links wait for each other in a circle");
    return status;
}
