/**
 * What links are like, for people: one number where all agree, else one a kind.
 */
#ifndef PODSIM_CLI_LINKS_H
#define PODSIM_CLI_LINKS_H

#include <stddef.h>

#include "topo/topo.h"

/** "45GB/s"; "copper and optical 90GB/s, dcn 16GB/s to 25GB/s" where links differ. Without
 * links the default. */
const char *cli_link_rates(const topo *t, char *buffer, size_t bytes);
/** The same of their latencies. */
const char *cli_link_latencies(const topo *t, char *buffer, size_t bytes);

#endif
