/*
 * A build without MPI (PODSIM_MPI=OFF): one process.
 */
#include "netsim/mpi.h"

#include <stdbool.h>

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

void net_mpi_max(int64_t *values, int count)
{
    (void)values, (void)count;
}

void net_mpi_broadcast(uint32_t *values, uint32_t count)
{
    (void)values, (void)count;
}

void net_mpi_gather(const struct net_bytes *mine, struct net_bytes *all)
{
    net_bytes_put(all, mine->data, mine->count);
}

enum sim_status net_mpi_agree(enum sim_status status, struct sim_error *err)
{
    (void)err;
    return status;
}

/* ---- only with others ---- */

void net_mpi_send(uint32_t rank, const struct net_bytes *bytes)
{
    (void)rank, (void)bytes;
    assert(false);
}

void net_mpi_finish_sends(void)
{
}

void net_mpi_receive(uint32_t rank, struct net_bytes *bytes)
{
    (void)rank, (void)bytes;
    assert(false);
}

void net_mpi_start_least(const int64_t value[NET_MPI_LEAST])
{
    (void)value;
}

void net_mpi_finish_least(int64_t value[NET_MPI_LEAST])
{
    (void)value;
}

struct net_mpi_counts net_mpi_counts(void)
{
    return (struct net_mpi_counts){0};
}
