/*
 * Who waits for whom when nothing moves any more.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "netsim/packet_internal.h"

static uint32_t ring_behind(const net_packet_engine *e, const struct view *v, uint32_t channel)
{
    return v->gate[2 * channel] >> e->shift;
}

/* [rings / vcs] links by the rings behind them; TOPO_NONE: an injection's. */
static topo_link_id *links_by_ring(const net_packet_engine *e)
{
    topo_link_id *link = SIM_NEW(topo_link_id, e->rings / e->vcs + 1);
    for (uint32_t i = 0; i <= e->rings / e->vcs; i++)
        link[i] = TOPO_NONE;
    for (topo_link_id l = 0; l < topo_links(e->topology); l++) {
        struct view v = net_packet_view(e, topo_link_from(e->topology, l));
        link[ring_behind(e, &v, e->output_of_link[l] * e->vcs) / e->vcs] = l;
    }
    return link;
}

/* [rings] the ring that each ring's head waits for; NONE32: it has no head that waits. */
static uint32_t *who_waits(const net_packet_engine *e)
{
    uint32_t *waits_for = SIM_NEW(uint32_t, e->rings);
    for (uint32_t i = 0; i < e->nodes; i++) {
        struct view v = net_packet_view(e, i);
        for (uint32_t q = 0; q < v.node->rings; q++) {
            bool is_idle = v.idle[q / 64] >> q % 64 & 1;
            uint32_t channel = v.queue[q].gate / 2, output = channel / e->vcs;
            bool waits = !is_idle && !v.output[output].is_ejection;
            waits_for[v.node->first_ring + q] = waits ? ring_behind(e, &v, channel) : NONE32;
        }
    }
    return waits_for;
}

/* A ring on a circle, or NONE32: from every start, follow who is waited for. */
static uint32_t find_circle(const net_packet_engine *e, const uint32_t *waits_for)
{
    uint32_t *visit = SIM_NEW(uint32_t, e->rings), found = NONE32;
    for (uint32_t start = 0; start < e->rings && found == NONE32; start++) {
        uint32_t at = start;
        while (at != NONE32 && visit[at] == 0) {
            visit[at] = start + 1;
            at = waits_for[at];
        }
        if (at != NONE32 && visit[at] == start + 1) found = at;
    }
    sim_free(visit);
    return found;
}

enum sim_status net_packet_deadlock(const net_packet_engine *e, struct sim_error *err)
{
    enum { SHOWN = 6 };
    uint32_t *waits_for = who_waits(e), start = find_circle(e, waits_for), length = 0;
    topo_link_id *link = links_by_ring(e);
    char text[SHOWN * 96] = "", from[48], to[48];
    for (uint32_t at = start; start != NONE32 && (at != start || length == 0); length++) {
        topo_link_id l = link[at / e->vcs];
        size_t used = strlen(text);
        if (length < SHOWN && l != TOPO_NONE)
            snprintf(text + used, sizeof text - used, "%s%s to %s vc %u", length > 0 ? " -> " : "",
                     topo_node_format(e->topology, topo_link_from(e->topology, l), from),
                     topo_node_format(e->topology, topo_link_to(e->topology, l), to), at % e->vcs);
        at = waits_for[at];
    }
    sim_free(waits_for);
    sim_free(link);
    if (start == NONE32)
        return sim_error_set(err, SIM_EINTERNAL, "packets are stuck, but none waits for another");
    return sim_error_set(err, SIM_EDATA,
                         "deadlock: %u full buffers wait for each other in a circle: %s%s", length,
                         text, length > SHOWN ? " -> ..." : "");
}
