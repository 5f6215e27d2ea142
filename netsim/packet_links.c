#include "netsim/packet_links.h"

#include "base/arena.h"
#include "netsim/mpi.h"
#include "netsim/packet_internal.h"

static void collect_busy(const net_packet_engine *e, net_ticks now, bool is_shared,
                         struct net_link_stats *out)
{
    int64_t *ticks = SIM_NEW(int64_t, out->count);
    for (topo_link_id l = 0; l < out->count; l++)
        ticks[l] = (int64_t)net_packet_busy(e, l, now);
    if (is_shared) net_mpi_sum(ticks, (int)out->count);
    for (topo_link_id l = 0; l < out->count; l++) {
        net_ticks busy = (net_ticks)ticks[l];
        out->busy_ps[l] = net_packet_ps(e, busy);
        out->bytes[l] =
            (double)busy / (double)e->ticks_per_ps * 1e-12 * topo_link_rate(e->topology, l);
    }
    sim_free(ticks);
}

static void collect_watch(const net_packet_engine *e, net_ticks now, bool is_shared,
                          struct net_link_stats *out)
{
    struct net_packet_watch *watch = SIM_NEW(struct net_packet_watch, out->count);
    net_packet_watch(e, now, watch);
    /* each link's reader, and its writer, are on one rank: sums are what that one has */
    if (is_shared)
        net_mpi_sum(&watch[0].waited, (int)(out->count * sizeof *watch / sizeof(int64_t)));
    for (topo_link_id l = 0; l < out->count; l++) {
        out->waited_ps[l] = net_packet_ps(e, (net_ticks)watch[l].waited);
        out->stalled_ps[l] = net_packet_ps(e, (net_ticks)watch[l].stalled);
        out->most[l] = (uint32_t)watch[l].most;
    }
    sim_free(watch);
}

void net_packet_links(const net_packet_engine *e, net_ticks now, bool is_shared,
                      struct net_link_stats *out)
{
    collect_busy(e, now, is_shared, out);
    if (out->waited_ps != NULL) collect_watch(e, now, is_shared, out);
}
