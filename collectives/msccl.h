/**
 * Algorithms in files: the XML form of MSCCL, in and out.
 *
 * One file is one algorithm for a number of GPUs, here chips of a group by rank. Each GPU has
 * thread blocks, each a sequence of steps with at most one peer to send to and one to receive
 * from; the buffers are cut into chunks.
 *
 *     <algo name="pair" proto="Simple" nchannels="1" nchunksperloop="1" ngpus="2" coll="allreduce"
 *           inplace="1">
 *       <gpu id="0" i_chunks="1" o_chunks="1" s_chunks="0">
 *         <tb id="0" send="1" recv="1" chan="0">
 *           <step s="0" type="s" srcbuf="i" srcoff="0" dstbuf="i" dstoff="-1" cnt="1"
 *                 depid="-1" deps="-1" hasdep="0"/>
 *
 * The k-th send of a thread block meets the k-th receive of the peer's thread block of the same
 * channel. A step waits for the step before it in its thread block and for the one it depends on.
 * Chunks have bytes / nchunksperloop bytes, bytes as coll.h counts them.
 */
#ifndef PODSIM_COLLECTIVES_MSCCL_H
#define PODSIM_COLLECTIVES_MSCCL_H

#include <stdio.h>

#include "collectives/coll.h"

typedef struct coll_msccl coll_msccl;

/** Largest group that coll_msccl_export() takes. */
#define COLL_MSCCL_EXPORT_MAX 64

/**
 * Read a file ("-": standard input), and check that it can run: ids, peers, chunks within buffers,
 * dependences, a receive for every send, nothing that waits in a circle.
 *
 * Errors: SIM_ENOINPUT; SIM_EDATA with line and column, and gpu, thread block and step at fault.
 */
SIM_MUST_CHECK enum sim_status coll_msccl_read(const char *path, struct sim_error *err,
                                               coll_msccl **out);
void coll_msccl_destroy(coll_msccl *a);

const char *coll_msccl_name(const coll_msccl *a);
uint32_t coll_msccl_gpus(const coll_msccl *a);
/** The operation; COLL_OPS for "custom", which may stand for any. */
enum coll_op coll_msccl_op(const coll_msccl *a);
/** Buffer sizes it is meant for; a most of UINT64_MAX is no limit. */
void coll_msccl_range(const coll_msccl *a, uint64_t *least_bytes, uint64_t *most_bytes);

/**
 * Prove that it does what its collective promises, in every form (in place, out of place) that the
 * file claims: steps of one GPU that touch one chunk, one of them writing, are ordered, and at the
 * end each chunk holds each contribution exactly once. Of "custom" only the order is checked.
 *
 * @param root  rank, of broadcast and reduce
 * Errors: SIM_EDATA with the steps or the chunk at fault.
 */
SIM_MUST_CHECK enum sim_status coll_msccl_check(const coll_msccl *a, uint32_t root,
                                                struct sim_error *err);

/** Is it for this group and operation? Errors: SIM_EDATA (another number of chips or operation,
 * failed chips). */
SIM_MUST_CHECK enum sim_status coll_msccl_fits(const coll_msccl *a, const topo *t,
                                               const struct coll_spec *spec, struct sim_error *err);
/** A sealed schedule over every group of the spec's. Errors: those of coll_msccl_fits(). */
SIM_MUST_CHECK enum sim_status coll_msccl_schedule(const coll_msccl *a, const topo *t,
                                                   const struct coll_spec *spec,
                                                   struct sim_error *err, net_schedule **out);

/**
 * What a schedule of podsim's does, as an algorithm, checked. The schedule must say what its
 * messages carry.
 *
 * Times stay the same but for three things a file cannot say: which way round a message goes when
 * two are as short, that a send has copied what a later receive overwrites, and that the pieces of
 * a message whose chunks do not lie side by side are one message (they go one after the other,
 * each with the send overhead).
 *
 * Errors: SIM_EDATA (what cannot be written, and why).
 */
SIM_MUST_CHECK enum sim_status coll_msccl_export(const net_schedule *schedule,
                                                 const struct coll_spec *spec, const char *name,
                                                 struct sim_error *err, coll_msccl **out);
void coll_msccl_write(const coll_msccl *a, FILE *out);

#endif
