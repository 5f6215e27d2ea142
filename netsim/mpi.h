/**
 * The processes of one run: those MPI launched, or just this one.
 *
 * MPI is initialised only when a launcher started the program (start-up costs 0.2 s), so a plain
 * run never touches it. Results must not depend on the number of processes: what is exchanged are
 * integers, and only rank 0 writes.
 */
#ifndef PODSIM_NETSIM_MPI_H
#define PODSIM_NETSIM_MPI_H

#include <stdint.h>

#include "base/error.h"

/** Call first in main, and net_mpi_finalize() last, on every rank. */
void net_mpi_init(int *argc, char ***argv);
void net_mpi_finalize(void);

uint32_t net_mpi_rank(void);
uint32_t net_mpi_ranks(void);

/** Add up arrays of all ranks, element by element; every rank gets the sums. */
void net_mpi_sum(int64_t *values, int count);

/**
 * Agree on how it went: the status of the lowest rank that failed, with its message, on every rank.
 * Every rank must call it, or the others wait for ever.
 */
SIM_MUST_CHECK enum sim_status net_mpi_agree(enum sim_status status, struct sim_error *err);

#endif
