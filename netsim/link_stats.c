/*
 * Link totals: storage, ranking, CSV.
 */
#include "netsim/link_stats.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/quantity.h"

void net_link_stats_init(struct net_link_stats *stats, const topo *t)
{
    stats->count = topo_links(t);
    stats->bytes = SIM_NEW(double, stats->count);
    stats->busy_ps = SIM_NEW(sim_ps, stats->count);
}

void net_link_stats_release(struct net_link_stats *stats)
{
    sim_free(stats->bytes);
    sim_free(stats->busy_ps);
    *stats = (struct net_link_stats){0};
}

double net_link_utilisation(const struct net_link_stats *stats, const topo *t, topo_link_id link,
                            sim_ps time_ps)
{
    if (time_ps <= 0) return 0;
    return stats->bytes[link] / (topo_link_rate(t, link) * sim_ps_to_s(time_ps));
}

/* Time the bytes take at the full rate: what "most used" means when rates differ. */
static double load_s(const struct net_link_stats *stats, const topo *t, topo_link_id link)
{
    return stats->bytes[link] / topo_link_rate(t, link);
}

uint32_t net_link_stats_busiest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link)
{
    uint32_t found = 0;
    for (topo_link_id l = 0; l < stats->count; l++) { /* insertion into a short sorted list */
        double load = load_s(stats, t, l);
        if (load == 0 || (found == count && load <= load_s(stats, t, link[count - 1]))) continue;
        uint32_t at = found < count ? found++ : count - 1;
        for (; at > 0 && load_s(stats, t, link[at - 1]) < load; at--)
            link[at] = link[at - 1];
        link[at] = l;
    }
    return found;
}

void net_link_stats_write(const struct net_link_stats *stats, const topo *t, sim_ps time_ps,
                          FILE *out)
{
    fputs("from,to,kind,bytes,busy_us,utilisation\n", out);
    for (topo_link_id l = 0; l < stats->count; l++) {
        char from[48], to[48], bytes[SIM_QUANTITY_TEXT], busy[SIM_QUANTITY_TEXT],
            share[SIM_QUANTITY_TEXT];
        fprintf(out, "\"%s\",\"%s\",%s,%s,%s,%s\n", topo_node_format(t, topo_link_from(t, l), from),
                topo_node_format(t, topo_link_to(t, l), to),
                topo_link_kind_names[topo_link_kind(t, l)],
                sim_double_format(stats->bytes[l], bytes),
                sim_double_format(sim_ps_to_us(stats->busy_ps[l]), busy),
                sim_double_format(net_link_utilisation(stats, t, l, time_ps), share));
    }
}
