/**
 * All-to-all with unequal sizes: a matrix from a file, or skewed towards the first ranks.
 */
#ifndef PODSIM_CLI_MATRIX_H
#define PODSIM_CLI_MATRIX_H

#include "collectives/coll.h"

/**
 * A row a line for each rank of the group: what it sends to rank 0, 1, ... (quantities of bytes,
 * separated by spaces or commas; # starts a comment). Every group of the slice sends the same.
 *
 * @param row_bytes  out: of the rank that sends most
 * Errors: SIM_ENOINPUT, SIM_EDATA with file and line.
 */
SIM_MUST_CHECK enum sim_status cli_matrix_read(const char *path, const topo *t,
                                               const struct topo_group *group, bool is_one_group,
                                               struct sim_error *err, struct coll_pairs *out,
                                               uint64_t *row_bytes);

/**
 * Every rank sends `bytes` in all, `skew` (1 .. ranks) times its even share of them to rank 0 and
 * to rank j a share that falls as (j + 1)^-s.
 */
void cli_matrix_skew(const topo *t, const struct topo_group *group, bool is_one_group,
                     uint64_t bytes, double skew, struct coll_pairs *out);

#endif
