/*
 * MPI through Open MPI; the only file that includes mpi.h.
 */
#include "netsim/mpi.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

/* What libsc calls the communicator of the library: set once by net_mpi_init(), read-only
 * afterwards. */
static bool is_launched;
static int my_rank, rank_count = 1;

/* Asked before MPI_Init, which itself sets PMIX_RANK in a process nobody launched. */
static bool was_launched_by_mpi(void)
{
    return getenv("OMPI_COMM_WORLD_SIZE") != NULL || getenv("PMIX_RANK") != NULL;
}

void net_mpi_init(int *argc, char ***argv)
{
    is_launched = was_launched_by_mpi();
    if (!is_launched) return;
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &my_rank);
    MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
}

void net_mpi_finalize(void)
{
    if (is_launched) MPI_Finalize();
}

uint32_t net_mpi_rank(void)
{
    return (uint32_t)my_rank;
}

uint32_t net_mpi_ranks(void)
{
    return (uint32_t)rank_count;
}

void net_mpi_sum(int64_t *values, int count)
{
    if (is_launched)
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
}

enum sim_status net_mpi_agree(enum sim_status status, struct sim_error *err)
{
    if (!is_launched) return status;
    int mine = status == SIM_OK ? rank_count : my_rank, first, code = status;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == rank_count) return SIM_OK;
    MPI_Bcast(&code, 1, MPI_INT, first, MPI_COMM_WORLD);
    MPI_Bcast(err, (int)sizeof *err, MPI_BYTE, first, MPI_COMM_WORLD);
    return (enum sim_status)code;
}
