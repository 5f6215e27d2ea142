/** The file of --pairs: a message a line, "src dst bytes". */
#ifndef PODSIM_CLI_PAIRS_H
#define PODSIM_CLI_PAIRS_H

#include "collectives/coll.h"

/** Blank lines and lines that start with # are skipped. Errors: SIM_ENOINPUT, SIM_EDATA with file
 * and line. */
SIM_MUST_CHECK enum sim_status cli_pairs_read(const char *path, const topo *t,
                                              struct sim_error *err, struct coll_pairs *out);
void cli_pairs_release(struct coll_pairs *pairs);

#endif
