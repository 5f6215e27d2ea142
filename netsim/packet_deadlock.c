/*
 * Who waits for whom when nothing moves any more.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "netsim/mpi.h"
#include "netsim/packet_internal.h"

/* Buffers are numbered link * vcs + vc here, so that all ranks mean the same. */
struct buffers {
    uint32_t count;
    uint32_t *waits_for; /* buffer that each buffer's head waits for; NONE32: it waits for none */
};

void net_packet_links_of(const net_packet_engine *e, uint32_t node, topo_link_id *link)
{
    const topo *t = e->topology;
    uint32_t degree = topo_has_ports(t) ? topo_ports(t) : topo_out_links(t, node, link);
    for (uint32_t i = 0; i < degree && topo_has_ports(t); i++)
        link[i] = topo_port_link(t, node, i);
    for (uint32_t i = degree; i < net_packet_node(e, node)->outputs; i++)
        link[i] = TOPO_NONE;
}

/* As waits_for, but 0 for none and one more otherwise: so that ranks can be added up. */
static void note_waits(const net_packet_engine *e, uint32_t node, const topo_link_id *link,
                       int64_t *waits)
{
    struct view v = net_packet_view(e, node);
    for (uint32_t q = 0; q < v.node->rings; q++) {
        bool is_idle = v.idle[q / 64] >> q % 64 & 1;
        uint32_t channel = v.queue[q].gate / 2;
        topo_link_id in = e->ring_link[(v.node->first_ring + q) / e->vcs];
        topo_link_id out = link[channel / e->vcs];
        if (is_idle || in == TOPO_NONE || out == TOPO_NONE) continue;
        waits[in * e->vcs + q % e->vcs] = 1 + (int64_t)out * e->vcs + channel % e->vcs;
    }
}

static struct buffers who_waits(const net_packet_engine *e)
{
    uint32_t count = topo_links(e->topology) * e->vcs;
    struct buffers b = {count, SIM_NEW(uint32_t, count)};
    int64_t *waits = SIM_NEW(int64_t, count);
    topo_link_id *link =
        SIM_NEW(topo_link_id, topo_max_degree(e->topology) + topo_ports(e->topology) + 2);
    for (uint32_t i = 0; i < e->owns; i++) {
        net_packet_links_of(e, e->own[i], link);
        note_waits(e, e->own[i], link, waits);
    }
    if (e->part != NULL) net_mpi_sum(waits, (int)count);
    for (uint32_t i = 0; i < count; i++)
        b.waits_for[i] = waits[i] > 0 ? (uint32_t)(waits[i] - 1) : NONE32;
    sim_free(waits);
    sim_free(link);
    return b;
}

/* A buffer on a circle, or NONE32: from every start, follow who is waited for. */
static uint32_t find_circle(const struct buffers *b)
{
    uint32_t *visit = SIM_NEW(uint32_t, b->count), found = NONE32;
    for (uint32_t start = 0; start < b->count && found == NONE32; start++) {
        uint32_t at = start;
        while (at != NONE32 && visit[at] == 0) {
            visit[at] = start + 1;
            at = b->waits_for[at];
        }
        if (at != NONE32 && visit[at] == start + 1) found = at;
    }
    sim_free(visit);
    return found;
}

enum sim_status net_packet_deadlock(const net_packet_engine *e, struct sim_error *err)
{
    enum { SHOWN = 6 };
    const topo *t = e->topology;
    struct buffers b = who_waits(e);
    uint32_t start = find_circle(&b), length = 0;
    char text[SHOWN * 96] = "", from[48], to[48];
    for (uint32_t at = start; start != NONE32 && (at != start || length == 0); length++) {
        topo_link_id l = at / e->vcs;
        size_t used = strlen(text);
        if (length < SHOWN)
            snprintf(text + used, sizeof text - used, "%s%s to %s vc %u", length > 0 ? " -> " : "",
                     topo_node_format(t, topo_link_from(t, l), from),
                     topo_node_format(t, topo_link_to(t, l), to), at % e->vcs);
        at = b.waits_for[at];
    }
    sim_free(b.waits_for);
    if (start == NONE32)
        return sim_error_set(err, SIM_EINTERNAL, "packets are stuck, but none waits for another");
    return sim_error_set(err, SIM_EDATA,
                         "deadlock: %u full buffers wait for each other in a circle: %s%s", length,
                         text, length > SHOWN ? " -> ..." : "");
}
