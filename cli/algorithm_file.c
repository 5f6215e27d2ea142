/*
 * Algorithms from and to files, for the rows of `podsim collective`.
 */
#include "cli/algorithm_file.h"

#include <string.h>

#include "base/quantity.h"
#include "netsim/mpi.h"

enum sim_status cli_algorithm_read(const char *path, struct sim_error *err,
                                   struct cli_algorithms *out)
{
    if (strcmp(path, "-") == 0 && net_mpi_ranks() > 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--algorithm-file - cannot be read by %u ranks: give them a file",
                             net_mpi_ranks());
    return coll_msccl_read(path, err, &out->read);
}

enum sim_status cli_algorithm_export(struct cli_algorithms *algorithms, const topo *t,
                                     const struct collective_row *row, size_t rows,
                                     struct sim_error *err)
{
    net_schedule *schedule;
    if (rows != 1)
        return sim_error_set(err, SIM_EUSAGE,
                             "--export-algorithm writes one algorithm, this asks for %zu rows",
                             rows);
    if (algorithms->read != NULL) {
        algorithms->exported = algorithms->read;
        return SIM_OK;
    }
    SIM_TRY(coll_build(t, &row->spec, err, &schedule));
    enum sim_status status =
        coll_msccl_export(schedule, &row->spec, coll_algorithm_names[row->spec.algorithm], err,
                          &algorithms->exported);
    net_schedule_destroy(schedule);
    return status;
}

void cli_algorithm_notes(const struct cli_algorithms *algorithms, const struct collective_row *row,
                         size_t rows, cli_report *report)
{
    uint64_t least, most;
    char low[SIM_QUANTITY_TEXT], high[SIM_QUANTITY_TEXT];
    if (algorithms->read == NULL) return;
    if (coll_msccl_op(algorithms->read) == COLL_OPS)
        cli_note(report, "what a custom algorithm does is not checked, only that it can run");
    coll_msccl_range(algorithms->read, &least, &most);
    for (size_t i = 0; i < rows; i++)
        if (row[i].bytes < least || row[i].bytes > most) {
            cli_note(report, "the algorithm says it is for %s to %s", sim_bytes_format(least, low),
                     most == UINT64_MAX ? "any size" : sim_bytes_format(most, high));
            return;
        }
}

void cli_algorithms_release(struct cli_algorithms *algorithms)
{
    if (algorithms->exported != algorithms->read) coll_msccl_destroy(algorithms->exported);
    coll_msccl_destroy(algorithms->read);
    *algorithms = (struct cli_algorithms){0};
}
