/*
 * MPI through Open MPI; the only file that includes mpi.h.
 */
#include "netsim/mpi.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdlib.h>

#include "base/arena.h"

/* What libsc calls the communicator of the library: set once by net_mpi_init(), read-only
 * afterwards. */
static bool is_launched;
static int my_rank, rank_count = 1;
static struct net_mpi_counts counts;

/* In flight between start and finish. */
static MPI_Request *send_request, least_request;
static uint32_t sends, send_capacity;
static int64_t least_mine[NET_MPI_LEAST], least_found[NET_MPI_LEAST];

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
    sim_free(send_request);
    send_request = NULL;
    send_capacity = 0;
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

void net_mpi_max(int64_t *values, int count)
{
    if (is_launched)
        MPI_Allreduce(MPI_IN_PLACE, values, count, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
}

void net_mpi_broadcast(uint32_t *values, uint32_t count)
{
    if (is_launched) MPI_Bcast(values, (int)count, MPI_UINT32_T, 0, MPI_COMM_WORLD);
}

void net_mpi_gather(const struct net_bytes *mine, struct net_bytes *all)
{
    if (!is_launched) {
        net_bytes_put(all, mine->data, mine->count);
        return;
    }
    size_t ranks = (size_t)rank_count;
    int *count = SIM_NEW(int, ranks), *begin = SIM_NEW(int, ranks), own = (int)mine->count;
    assert(mine->count <= INT32_MAX);
    MPI_Allgather(&own, 1, MPI_INT, count, 1, MPI_INT, MPI_COMM_WORLD);
    size_t total = 0;
    for (size_t r = 0; r < ranks; r++) {
        begin[r] = (int)total;
        total += (size_t)count[r];
    }
    assert(total <= INT32_MAX);
    SIM_GROW(all->data, all->capacity, all->count + total);
    MPI_Allgatherv(mine->data, own, MPI_BYTE, all->data + all->count, count, begin, MPI_BYTE,
                   MPI_COMM_WORLD);
    all->count += total;
    sim_free(count);
    sim_free(begin);
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

/* ---- without the others having to wait ---- */

void net_mpi_send(uint32_t rank, const struct net_bytes *bytes)
{
    SIM_GROW(send_request, send_capacity, sends + 1);
    assert(bytes->count <= INT32_MAX);
    MPI_Isend(bytes->data, (int)bytes->count, MPI_BYTE, (int)rank, 0, MPI_COMM_WORLD,
              &send_request[sends++]);
    counts.messages++;
    counts.bytes += bytes->count;
}

void net_mpi_finish_sends(void)
{
    double start = MPI_Wtime();
    MPI_Waitall((int)sends, send_request, MPI_STATUSES_IGNORE);
    counts.wait_s += MPI_Wtime() - start;
    sends = 0;
}

void net_mpi_receive(uint32_t rank, struct net_bytes *bytes)
{
    double start = MPI_Wtime();
    MPI_Message message;
    MPI_Status status;
    int count;
    MPI_Mprobe((int)rank, 0, MPI_COMM_WORLD, &message, &status);
    MPI_Get_count(&status, MPI_BYTE, &count);
    net_bytes_clear(bytes);
    SIM_GROW(bytes->data, bytes->capacity, (size_t)count);
    MPI_Mrecv(bytes->data, count, MPI_BYTE, &message, MPI_STATUS_IGNORE);
    bytes->count = (size_t)count;
    counts.wait_s += MPI_Wtime() - start;
}

void net_mpi_start_least(const int64_t value[NET_MPI_LEAST])
{
    memcpy(least_mine, value, sizeof least_mine);
    MPI_Iallreduce(least_mine, least_found, NET_MPI_LEAST, MPI_INT64_T, MPI_MIN, MPI_COMM_WORLD,
                   &least_request);
}

void net_mpi_finish_least(int64_t value[NET_MPI_LEAST])
{
    double start = MPI_Wtime();
    MPI_Wait(&least_request, MPI_STATUS_IGNORE);
    counts.wait_s += MPI_Wtime() - start;
    memcpy(value, least_found, sizeof least_found);
}

struct net_mpi_counts net_mpi_counts(void)
{
    return counts;
}
