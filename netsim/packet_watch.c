/*
 * What links go through: how long they are busy, how long packets wait behind them, how many at a
 * time, and how long a link stands idle though somebody wants it, since nowhere is room. By
 * Little's law the mean number that wait is the time they wait over the time of the run. A train's
 * packets never wait.
 *
 * Times are noted when they are over. What has not ended yet is split at the moment that is asked
 * about, so that the phases of a run add up.
 */
#include "base/arena.h"
#include "netsim/packet_visit.h"

/* Those of a queue that are there before `when`: how many, and the sum of their times since. */
struct waiting {
    uint32_t count;
    net_ticks time;
};

static struct waiting waiting_at(const net_packet_engine *e, uint32_t head, net_ticks when)
{
    struct waiting w = {0, 0};
    for (uint32_t at = head; w.count < e->depth; at = ring_on(e, at, 1)) {
        net_ticks time = e->slot[at].time;
        if (time < OCCUPIED || time - OCCUPIED >= when) break;
        w.time += when - (time - OCCUPIED);
        w.count++;
    }
    return w;
}

void net_packet_note_wait(const net_packet_engine *e, uint32_t node, uint32_t q, net_ticks when)
{
    const struct view v = net_packet_view(e, node);
    net_ticks arrived = e->slot[v.queue[q].head].time - OCCUPIED;
    if (arrived >= when) return;
    uint32_t count = waiting_at(e, v.queue[q].head, when).count;
    v.waited[q] += when - arrived;
    if (count > v.most[q]) v.most[q] = count;
}

/* How long the output, idle until `when`, has been wanted by then. */
static net_ticks stalled_by(const net_packet_engine *e, const struct view *v, uint32_t o,
                            net_ticks when)
{
    const uint64_t *requests = requests_of(v, e->words, o);
    net_ticks wanted = NET_TICKS_NEVER;
    uint32_t i;
    for (uint32_t word = 0; word < e->words; word++)
        FOR_EACH_BIT(requests[word], i)
        {
            net_ticks ready = v->queue[64 * word + i].ready;
            if (ready < wanted) wanted = ready;
        }
    wanted = later_of(wanted, v->output[o].free);
    return wanted < when ? when - wanted : 0;
}

void net_packet_note_stall(const net_packet_engine *e, uint32_t node, uint32_t o)
{
    const struct view v = net_packet_view(e, node);
    v.stalled[o] += stalled_by(e, &v, o, v.output[o].nx);
}

/* Of what an output has been given, the part that is not before `now`. */
static net_ticks busy_after(const struct output *out, net_ticks now)
{
    return out->free > now ? out->free - now : 0;
}

static void restart_node(const net_packet_engine *e, const struct view *v, net_ticks now)
{
    for (uint32_t o = 0; o < v->node->outputs; o++) {
        v->output[o].busy = busy_after(&v->output[o], now);
        if (e->router.is_watched && o < v->node->links)
            v->stalled[o] = 0 - stalled_by(e, v, o, now);
    }
    for (uint32_t q = 0; e->router.is_watched && q < v->node->rings; q++) {
        v->waited[q] = 0 - waiting_at(e, v->queue[q].head, now).time;
        v->most[q] = 0;
    }
}

void net_packet_restart_links(net_packet_engine *e, net_ticks now)
{
    for (uint32_t i = 0; i < e->owns; i++) {
        struct view v = net_packet_view(e, e->own[i]);
        restart_node(e, &v, now);
    }
}

net_ticks net_packet_busy(const net_packet_engine *e, topo_link_id link, net_ticks now)
{
    topo_node_id from = topo_link_from(e->topology, link);
    if (!net_packet_is_here(e, from) || !e->is_made[from]) return 0;
    struct view v = net_packet_view(e, from);
    const struct output *out = &v.output[e->output_of_link[link]];
    return out->busy - busy_after(out, now);
}

net_ticks net_packet_ejection_busy(const net_packet_engine *e, topo_chip_id chip, net_ticks now)
{
    if (!net_packet_is_here(e, chip) || !e->is_made[chip]) return 0;
    struct view v = net_packet_view(e, chip);
    assert(v.node->ejection != NONE16);
    const struct output *out = &v.output[v.node->ejection];
    return out->busy - busy_after(out, now);
}

/* Where slots are flits, each is its part of a full packet. */
static void add_queues(const net_packet_engine *e, const struct view *v, net_ticks now,
                       struct net_packet_watch *watch)
{
    uint32_t slots = e->is_by_flit ? e->router.packet_bytes / e->router.flit_bytes : 1;
    for (uint32_t q = 0; q < v->node->rings; q++) {
        topo_link_id link = e->ring_link[(v->node->first_ring + q) / e->vcs];
        if (link == TOPO_NONE) continue;
        struct waiting still = waiting_at(e, v->queue[q].head, now);
        uint32_t most = still.count > v->most[q] ? still.count : v->most[q];
        most = (most + slots - 1) / slots;
        watch[link].waited += (int64_t)(v->waited[q] + still.time) / slots;
        if (most > watch[link].most) watch[link].most = most;
    }
}

void net_packet_watch(const net_packet_engine *e, net_ticks now, struct net_packet_watch *watch)
{
    const topo *t = e->topology;
    topo_link_id *link = SIM_NEW(topo_link_id, topo_max_degree(t) + topo_ports(t) + 2);
    for (uint32_t i = 0; i < e->owns; i++) {
        struct view v = net_packet_view(e, e->own[i]);
        add_queues(e, &v, now, watch);
        net_packet_links_of(e, e->own[i], link);
        for (uint32_t o = 0; o < v.node->links; o++)
            if (link[o] != TOPO_NONE)
                watch[link[o]].stalled += (int64_t)(v.stalled[o] + stalled_by(e, &v, o, now));
    }
    sim_free(link);
}
