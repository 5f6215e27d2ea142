/*
 * What links go through: how long packets wait behind them, how many at a time, and how long a link
 * stands idle though somebody wants it, since nowhere is room. By Little's law the mean number that
 * wait is the time they wait over the time of the run. A train's packets never wait.
 */
#include "base/arena.h"
#include "netsim/packet_visit.h"

void net_packet_note_wait(const net_packet_engine *e, uint32_t node, uint32_t q, net_ticks when)
{
    const struct view v = net_packet_view(e, node);
    uint32_t at = v.queue[q].head, count = 0;
    net_ticks arrived = e->slot[at].time - OCCUPIED;
    if (arrived >= when) return;
    v.waited[q] += when - arrived;
    while (count < e->depth && e->slot[at].time >= OCCUPIED && e->slot[at].time - OCCUPIED < when) {
        at = ring_on(e, at, 1);
        count++;
    }
    if (count > v.most[q]) v.most[q] = count;
}

void net_packet_note_stall(const net_packet_engine *e, uint32_t node, uint32_t o)
{
    const struct view v = net_packet_view(e, node);
    const struct output *out = &v.output[o];
    const uint64_t *requests = requests_of(&v, e->words, o);
    net_ticks wanted = NET_TICKS_NEVER;
    uint32_t i;
    for (uint32_t word = 0; word < e->words; word++)
        FOR_EACH_BIT(requests[word], i)
        {
            net_ticks ready = v.queue[64 * word + i].ready;
            if (ready < wanted) wanted = ready;
        }
    wanted = later_of(wanted, out->free);
    if (wanted < out->nx) v.stalled[o] += out->nx - wanted;
}

/* Where slots are flits, each is its part of a full packet. */
static void add_queues(const net_packet_engine *e, const struct view *v,
                       struct net_packet_watch *watch)
{
    uint32_t slots = e->is_by_flit ? e->router.packet_bytes / e->router.flit_bytes : 1;
    for (uint32_t q = 0; q < v->node->rings; q++) {
        topo_link_id link = e->ring_link[(v->node->first_ring + q) / e->vcs];
        if (link == TOPO_NONE) continue;
        int64_t most = (v->most[q] + slots - 1) / slots;
        watch[link].waited += (int64_t)(v->waited[q] / slots);
        if (most > watch[link].most) watch[link].most = most;
    }
}

void net_packet_watch(const net_packet_engine *e, struct net_packet_watch *watch)
{
    const topo *t = e->topology;
    topo_link_id *link = SIM_NEW(topo_link_id, topo_max_degree(t) + topo_ports(t) + 2);
    for (uint32_t i = 0; i < e->owns; i++) {
        struct view v = net_packet_view(e, e->own[i]);
        add_queues(e, &v, watch);
        net_packet_links_of(e, e->own[i], link);
        for (uint32_t o = 0; o < v.node->links; o++)
            if (link[o] != TOPO_NONE) watch[link[o]].stalled += (int64_t)v.stalled[o];
    }
    sim_free(link);
}
