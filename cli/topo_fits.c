/*
 * The table of shapes and how many of each fit.
 */
#include "cli/topo_fits.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/version.h"
#include "topo/availability.h"
#include "topo/fit.h"

static const struct cli_column columns[] = {{"topology", "topology", true},
                                            {"slice", "slice", true},
                                            {"slice_chips", "chips", false},
                                            {"good_cubes", "good cubes", false},
                                            {"slices_with_ocs", "with OCS", false},
                                            {"slices_without_ocs", "without", false},
                                            {NULL, NULL, false}};

static void add_row(cli_report *report, const topo *t, const struct topo_shape *shape)
{
    char text[64], count[SIM_QUANTITY_TEXT];
    const uint32_t *side = shape->side;
    uint64_t chips = (uint64_t)side[0] * side[1] * side[2];
    struct topo_fit fit = topo_fit_of(t, shape);
    snprintf(text, sizeof text, "%ux%ux%u", side[0], side[1], side[2]);
    cli_cell_text(report, topo_spec(t));
    cli_cell_text(report, text);
    cli_cell_uint(report, chips, sim_count_format(chips, count));
    cli_cell_uint(report, fit.good_cubes, NULL);
    cli_cell_uint(report, fit.with_ocs, NULL);
    cli_cell_uint(report, fit.without_ocs, NULL);
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
        struct topo_availability_query legal;
        struct topo_shape *shape = NULL;
        uint32_t count = 0;
        SIM_TRY(topo_availability_query_of(t, g->slice_chips[s], err, &legal));
        SIM_TRY(topo_chip_list_shapes(topo_chip_of(t), g->slice_chips[s], err, &shape, &count));
        for (uint32_t i = 0; i < count; i++)
            add_row(table->report, t, &shape[i]);
        sim_free(shape);
    }
    return SIM_OK;
}

enum sim_status cli_fits_print(const struct cli_goodput *g, const struct cli_topo_specs *specs,
                               const struct topo_options *options, enum cli_format format,
                               struct sim_error *err)
{
    cli_report *report = cli_report_create(columns);
    cli_meta_text(report, "version", PODSIM_VERSION);
    struct table table = {.g = g, .report = report};
    enum sim_status status = cli_topo_specs_each(specs, options, add_pod, &table, err);
    if (status == SIM_OK) cli_report_print(report, format, stdout);
    cli_report_destroy(report);
    return status;
}
