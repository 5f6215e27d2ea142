#include "cli/hotspots.h"

#include <assert.h>

#include "base/arena.h"
#include "base/quantity.h"

struct cli_hotspots cli_hotspots_make(uint32_t wanted)
{
    return (struct cli_hotspots){.wanted = wanted,
                                 .hotspot = SIM_NEW(struct cli_hotspot, (size_t)wanted + 1)};
}

void cli_hotspots_release(struct cli_hotspots *h)
{
    sim_free(h->hotspot);
    *h = (struct cli_hotspots){0};
}

void cli_hotspots_find(struct cli_hotspots *h, const struct net_link_stats *links, const topo *t,
                       sim_ps time_ps)
{
    assert(h->wanted > 0);
    topo_link_id *link = SIM_NEW(topo_link_id, h->wanted);
    h->count = net_link_stats_hottest(links, t, h->wanted, link);
    for (uint32_t i = 0; i < h->count; i++) {
        struct cli_hotspot *found = &h->hotspot[i];
        *found = (struct cli_hotspot){
            .link = link[i], .utilisation = net_link_utilisation(links, t, link[i], time_ps)};
        if (links->waited_ps == NULL) continue;
        found->queue_mean = net_link_queue_mean(links, link[i], time_ps);
        found->queue_max = links->most[link[i]];
        found->stalled_us = sim_ps_to_us(links->stalled_ps[link[i]]);
        if (time_ps > 0)
            found->stalled_share = (double)links->stalled_ps[link[i]] / (double)time_ps;
    }
    sim_free(link);
}

void cli_hotspots_note(const struct cli_hotspots *h, const topo *t, bool are_packets,
                       const char *prefix, cli_report *report)
{
    char from[48], to[48], stalled[SIM_QUANTITY_TEXT];
    for (uint32_t i = 0; i < h->count; i++) {
        const struct cli_hotspot *found = &h->hotspot[i];
        topo_node_format(t, topo_link_from(t, found->link), from);
        topo_node_format(t, topo_link_to(t, found->link), to);
        if (!are_packets)
            cli_note(report, "%slink %s to %s: %.1f %% in use", prefix, from, to,
                     100 * found->utilisation);
        else
            cli_note(report,
                     "%slink %s to %s: %.1f %% in use; %.2f packets wait behind it on average, at "
                     "most %u in one channel; stalled %s us (%.1f %%)",
                     prefix, from, to, 100 * found->utilisation, found->queue_mean,
                     found->queue_max, sim_double_format(found->stalled_us, stalled),
                     100 * found->stalled_share);
    }
}
