/*
 * Is everything still there? After a window: packets in = packets out + packets in buffers; in
 * every ring the packets stand together from the reader's head to the writer's tail, so that no
 * credit was lost and no buffer overrun.
 */
#include "netsim/mpi.h"
#include "netsim/packet_visit.h"

/* Packets that stand together from the head of queue q. */
static uint32_t count_from_head(const net_packet_engine *e, const struct view *v, uint32_t q)
{
    uint32_t count = 0, at = v->queue[q].head;
    while (count < e->depth && e->slot[at].time >= OCCUPIED) {
        at = ring_on(e, at, 1);
        count++;
    }
    return count;
}

/* Packets whose last flit, where slots are flits, is among so many from the head on. */
static uint32_t count_packets(const net_packet_engine *e, uint32_t at, uint32_t slots)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < slots; i++)
        count += !e->is_by_flit || (route_of(e->slot[ring_on(e, at, i)].packet) & ROUTE_TAIL) != 0;
    return count;
}

static uint32_t count_all(const net_packet_engine *e, uint32_t ring)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->depth; i++)
        count += e->slot[(ring << e->shift) + i].time >= OCCUPIED;
    return count;
}

static void note_fault(net_packet_engine *e, uint32_t node, uint32_t q, const char *what)
{
    char name[48];
    e->wants_stop = true;
    if (e->fault.text[0] != 0) return;
    (void)sim_error_set(&e->fault, SIM_EINTERNAL, "audit: %s in buffer %u of %s, before %llu ticks",
                        what, q, topo_node_format(e->topology, node, name),
                        (unsigned long long)e->now);
}

/* Packets in the node's rings. [rings] `end`: the slot behind the last packet of each. */
static uint64_t audit_rings(net_packet_engine *e, uint32_t node, uint32_t *end)
{
    net_packet_make(e, node); /* packets may be on their way to it */
    struct view v = net_packet_view(e, node);
    uint64_t count = 0;
    for (uint32_t q = 0; q < v.node->rings; q++) {
        uint32_t ring = v.node->first_ring + q, here = count_from_head(e, &v, q);
        if (here != count_all(e, ring)) note_fault(e, node, q, "packets are scattered");
        end[ring] = here == e->depth ? v.queue[q].head : ring_on(e, v.queue[q].head, here);
        count += count_packets(e, v.queue[q].head, here);
    }
    return count;
}

/* Rings that this node writes and this rank reads. */
static void audit_tails(net_packet_engine *e, uint32_t node, const uint32_t *end)
{
    struct view v = net_packet_view(e, node);
    for (uint32_t c = 0; c < v.node->outputs * e->vcs; c++) {
        uint32_t at = v.gate[2 * c], ring = at >> e->shift;
        if (v.output[c / e->vcs].is_ejection || ring >= e->rings) continue;
        bool is_apart = v.gate[2 * c + 1] == ring_on(e, at, e->bubble);
        if (at != end[ring] || !is_apart) note_fault(e, node, c, "a credit is lost or given twice");
    }
}

void net_packet_audit(net_packet_engine *e)
{
    uint32_t *end = SIM_NEW(uint32_t, e->rings);
    int64_t left = (int64_t)(e->counts.injected - e->counts.delivered);
    for (uint32_t i = 0; i < e->owns; i++)
        left -= (int64_t)audit_rings(e, e->own[i], end);
    for (uint32_t i = 0; i < e->owns; i++)
        audit_tails(e, e->own[i], end);
    sim_free(end);
    if (e->part != NULL) net_mpi_sum(&left, 1);
    if (left != 0) note_fault(e, 0, 0, left > 0 ? "packets are lost" : "packets are made");
}

enum sim_status net_packet_fault(const net_packet_engine *e, struct sim_error *err)
{
    if (e->fault.text[0] == 0) return SIM_OK;
    return sim_error_set(err, SIM_EINTERNAL, "%s", e->fault.text);
}
