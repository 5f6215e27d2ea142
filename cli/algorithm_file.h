/** --algorithm-file and --export-algorithm of `podsim collective`. */
#ifndef PODSIM_CLI_ALGORITHM_FILE_H
#define PODSIM_CLI_ALGORITHM_FILE_H

#include "cli/collective_rows.h"

struct cli_algorithms {
    coll_msccl *read;     /* runs in place of --algorithm; NULL: none */
    coll_msccl *exported; /* to be written; may be the one that was read */
};

/** Read the file of --algorithm-file. Errors: SIM_EUSAGE, and those of coll_msccl_read(). */
SIM_MUST_CHECK enum sim_status cli_algorithm_read(const char *path, struct sim_error *err,
                                                  struct cli_algorithms *out);
/** Make the algorithm of the one row into what --export-algorithm writes. Errors: SIM_EUSAGE (not
 * one row), SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_algorithm_export(struct cli_algorithms *algorithms,
                                                    const topo *t, const struct collective_row *row,
                                                    size_t rows, struct sim_error *err);
/** What is worth knowing about the rows of an algorithm that was read. */
void cli_algorithm_notes(const struct cli_algorithms *algorithms, const struct collective_row *row,
                         size_t rows, cli_report *report);
void cli_algorithms_release(struct cli_algorithms *algorithms);

#endif
