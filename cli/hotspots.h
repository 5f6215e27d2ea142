/**
 * The links of a run that were longest in use or stalled, by name.
 */
#ifndef PODSIM_CLI_HOTSPOTS_H
#define PODSIM_CLI_HOTSPOTS_H

#include "cli/report.h"
#include "netsim/link_stats.h"

#define CLI_HOTSPOTS_MAX 10000

struct cli_hotspot {
    topo_link_id link;
    double utilisation;
    double queue_mean, stalled_us, stalled_share; /* of packets only, as queue_max */
    uint32_t queue_max;
};

struct cli_hotspots {
    uint32_t wanted, count;
    struct cli_hotspot *hotspot; /* [wanted], the hottest first */
};

/** Room for `wanted` (0: they are not asked for); release with cli_hotspots_release(). */
struct cli_hotspots cli_hotspots_make(uint32_t wanted);
void cli_hotspots_release(struct cli_hotspots *h);
/** Of link totals over `time_ps`; `wanted` > 0. */
void cli_hotspots_find(struct cli_hotspots *h, const struct net_link_stats *links, const topo *t,
                       sim_ps time_ps);
/** A note each, which begins with `prefix`. */
void cli_hotspots_note(const struct cli_hotspots *h, const topo *t, bool are_packets,
                       const char *prefix, cli_report *report);

#endif
