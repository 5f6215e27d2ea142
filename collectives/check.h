/**
 * The symbolic checker: does a schedule do what its operation promises?
 *
 * It runs the schedule without time, moving sets of contributions instead of bytes, and proves that
 * at the end every rank holds exactly the chunks it should, each with every contribution it should
 * have, each exactly once: nothing dropped, doubled or sent astray,
 * and every message as large as what it carries. It does so in several orders of
 * ready operations (each is an order some network could produce) and demands the same result.
 */
#ifndef PODSIM_COLLECTIVES_CHECK_H
#define PODSIM_COLLECTIVES_CHECK_H

#include "collectives/coll.h"

/**
 * @param bytes  what coll_spec.bytes says of the buffer; messages must come to it
 * Errors: SIM_EDATA with the chip, chunk and operation at fault. Memory grows as ranks^2 * parts *
 * ranks / 8.
 */
SIM_MUST_CHECK enum sim_status coll_check(const net_schedule *schedule, enum coll_op op,
                                          double bytes, struct sim_error *err);

#endif
