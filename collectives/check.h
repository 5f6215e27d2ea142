/**
 * The symbolic checker: does a schedule do what its operation promises?
 *
 * It runs the schedule without time, moving sets of contributions instead of bytes, and proves that
 * at the end every rank holds exactly the chunks it should, each with every contribution it should
 * have, each exactly once: nothing dropped, doubled or sent astray, and every message as large as
 * what it carries. Failed chips have no part in it. It does so in several orders of
 * ready operations (each is an order some network could produce) and demands the same result.
 */
#ifndef PODSIM_COLLECTIVES_CHECK_H
#define PODSIM_COLLECTIVES_CHECK_H

#include "collectives/coll.h"

/**
 * The group of the first chip, and that of the last where all take part. The schedule must say what
 * its messages carry (see COLL_CELLS_RANKS_MAX).
 *
 * @param spec  op, bytes and root are what the schedule is held to
 * Errors: SIM_EDATA with the chip, chunk and operation at fault. Memory grows as ranks^2 * parts *
 * ranks / 8.
 */
SIM_MUST_CHECK enum sim_status coll_check(const net_schedule *schedule,
                                          const struct coll_spec *spec, struct sim_error *err);

#endif
