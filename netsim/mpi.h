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
#include "netsim/bytes.h"

/** Call first in main, and net_mpi_finalize() last, on every rank. */
void net_mpi_init(int *argc, char ***argv);
void net_mpi_finalize(void);

uint32_t net_mpi_rank(void);
uint32_t net_mpi_ranks(void);

/** Add up arrays of all ranks, element by element; every rank gets the sums. */
void net_mpi_sum(int64_t *values, int count);
/** The largest of each element; every rank gets them. */
void net_mpi_max(int64_t *values, int count);
/** Everybody's array becomes rank 0's. */
void net_mpi_broadcast(uint32_t *values, uint32_t count);
/** Append what every rank has, in the order of ranks, to `all` of every rank. */
void net_mpi_gather(const struct net_bytes *mine, struct net_bytes *all);

/**
 * Agree on how it went: the status of the lowest rank that failed, with its message, on every rank.
 * Every rank must call it, or the others wait for ever.
 */
SIM_MUST_CHECK enum sim_status net_mpi_agree(enum sim_status status, struct sim_error *err);

/* ---- without the others having to wait ---- */

/** `bytes` must stay as they are until net_mpi_finish_sends(). */
void net_mpi_send(uint32_t rank, const struct net_bytes *bytes);
void net_mpi_finish_sends(void);
/** Waits for the next message from that rank; replaces `bytes`. */
void net_mpi_receive(uint32_t rank, struct net_bytes *bytes);

#define NET_MPI_LEAST 2
/** Start finding the least of each value over all ranks; net_mpi_finish_least() has the result, and
 * must be called before the next start. */
void net_mpi_start_least(const int64_t value[NET_MPI_LEAST]);
void net_mpi_finish_least(int64_t value[NET_MPI_LEAST]);

/** Of the functions from net_mpi_send() on, since the program began. */
struct net_mpi_counts {
    uint64_t messages, bytes; /* sent */
    double wait_s;            /* in receive and finish */
};
struct net_mpi_counts net_mpi_counts(void);

#endif
