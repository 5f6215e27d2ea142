/*
 * Link totals: storage, ranking, CSV.
 */
#include "netsim/link_stats.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/quantity.h"

void net_link_stats_init(struct net_link_stats *stats, const topo *t)
{
    uint32_t links = topo_links(t);
    *stats = (struct net_link_stats){links, SIM_NEW(double, links), SIM_NEW(sim_ps, links)};
}

void net_link_stats_init_packets(struct net_link_stats *stats, const topo *t)
{
    net_link_stats_init(stats, t);
    stats->waited_ps = SIM_NEW(sim_ps, stats->count);
    stats->stalled_ps = SIM_NEW(sim_ps, stats->count);
    stats->most = SIM_NEW(uint32_t, stats->count);
}

void net_link_stats_release(struct net_link_stats *stats)
{
    sim_free(stats->bytes);
    sim_free(stats->busy_ps);
    sim_free(stats->waited_ps);
    sim_free(stats->stalled_ps);
    sim_free(stats->most);
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

static double heat_s(const struct net_link_stats *stats, const topo *t, topo_link_id link)
{
    double stalled_s = stats->stalled_ps != NULL ? sim_ps_to_s(stats->stalled_ps[link]) : 0;
    return load_s(stats, t, link) + stalled_s;
}

typedef double (*measure_fn)(const struct net_link_stats *stats, const topo *t, topo_link_id link);

/* By insertion into a short sorted list. */
static uint32_t find_most(const struct net_link_stats *stats, const topo *t, measure_fn measure,
                          uint32_t count, topo_link_id *link)
{
    uint32_t found = 0;
    for (topo_link_id l = 0; l < stats->count; l++) {
        double value = measure(stats, t, l);
        if (value == 0 || (found == count && value <= measure(stats, t, link[count - 1]))) continue;
        uint32_t at = found < count ? found++ : count - 1;
        for (; at > 0 && measure(stats, t, link[at - 1]) < value; at--)
            link[at] = link[at - 1];
        link[at] = l;
    }
    return found;
}

uint32_t net_link_stats_busiest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link)
{
    return find_most(stats, t, load_s, count, link);
}

uint32_t net_link_stats_hottest(const struct net_link_stats *stats, const topo *t, uint32_t count,
                                topo_link_id *link)
{
    return find_most(stats, t, heat_s, count, link);
}

double net_link_queue_mean(const struct net_link_stats *stats, topo_link_id link, sim_ps time_ps)
{
    return time_ps > 0 ? (double)stats->waited_ps[link] / (double)time_ps : 0;
}

void net_link_stats_write(const struct net_link_stats *stats, const topo *t, sim_ps time_ps,
                          FILE *out)
{
    bool has_packets = stats->waited_ps != NULL;
    fprintf(out, "from,to,kind,bytes,busy_us,utilisation%s\n",
            has_packets ? ",queue_mean,queue_max,stalled_us" : "");
    for (topo_link_id l = 0; l < stats->count; l++) {
        char from[48], to[48], bytes[SIM_QUANTITY_TEXT], busy[SIM_QUANTITY_TEXT],
            share[SIM_QUANTITY_TEXT];
        fprintf(out, "\"%s\",\"%s\",%s,%s,%s,%s", topo_node_format(t, topo_link_from(t, l), from),
                topo_node_format(t, topo_link_to(t, l), to),
                topo_link_kind_names[topo_link_kind(t, l)],
                sim_double_format(stats->bytes[l], bytes),
                sim_double_format(sim_ps_to_us(stats->busy_ps[l]), busy),
                sim_double_format(net_link_utilisation(stats, t, l, time_ps), share));
        if (has_packets)
            fprintf(out, ",%s,%u,%s",
                    sim_double_format(net_link_queue_mean(stats, l, time_ps), bytes),
                    stats->most[l], sim_double_format(sim_ps_to_us(stats->stalled_ps[l]), busy));
        fputc('\n', out);
    }
}
