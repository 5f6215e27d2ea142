/*
 * A build without MPI (PODSIM_MPI=OFF): one process.
 */
#include "netsim/mpi.h"

void net_mpi_init(int *argc, char ***argv)
{
    (void)argc, (void)argv;
}

void net_mpi_finalize(void)
{
}

uint32_t net_mpi_rank(void)
{
    return 0;
}

uint32_t net_mpi_ranks(void)
{
    return 1;
}

void net_mpi_sum(int64_t *values, int count)
{
    (void)values, (void)count;
}

enum sim_status net_mpi_agree(enum sim_status status, struct sim_error *err)
{
    (void)err;
    return status;
}
