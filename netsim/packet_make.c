/*
 * Making a node: what its block holds before anything has happened. It is done when the first thing
 * does: a packet arrives, its client offers one or wants a time. Until then nobody writes to the
 * block, so the system gives it no memory, and a pod that is idle but for a few chips is as small
 * as these.
 */
#include "netsim/packet_visit.h"

static uint32_t free_slot(const net_packet_engine *e)
{
    return e->all_rings << e->shift;
}

static void init_queue(const net_packet_engine *e, const struct node *n, struct queue *queue,
                       uint32_t q)
{
    bool is_ring = q < n->rings;
    uint32_t input = is_ring ? q / e->vcs : n->rings / e->vcs + q - n->rings;
    *queue = (struct queue){.axis = AXIS_NONE, .input = (uint16_t)input};
    if (!is_ring) return;
    topo_link_id link = e->ring_link[(n->first_ring + q) / e->vcs];
    queue->head = (n->first_ring + q) << e->shift;
    if (topo_has_ports(e->topology) && link != TOPO_NONE)
        queue->axis = (uint8_t)(e->output_of_link[link] / 2);
}

/* An output's gates to the first slots of the rings behind it. */
static void point_gates(const net_packet_engine *e, struct view *v, uint32_t output, uint32_t ring)
{
    struct output *o = &v->output[output];
    uint32_t first = o->node < e->nodes ? e->first_ring[o->node] : ring;
    o->behind = (uint16_t)(ring - first - output * e->vcs);
    o->is_ejection = false;
    for (uint32_t vc = 0; vc < e->vcs; vc++) {
        uint32_t *gate = v->gate + 2 * (output * e->vcs + vc);
        gate[0] = (ring + vc) << e->shift;
        gate[1] = gate[0] + e->bubble;
    }
}

bool net_packet_closes_axis(const topo *t, topo_node_id from, uint32_t port)
{
    uint32_t at = topo_coord(t, from, port / 2);
    return at == (port % 2 == 0 ? topo_axis_size(t, port / 2) - 1 : 0);
}

/* The writer's side of a link. */
static void attach(net_packet_engine *e, struct view *v, topo_link_id link)
{
    topo_node_id from = topo_link_from(e->topology, link), to = topo_link_to(e->topology, link);
    uint32_t output = e->output_of_link[link];
    struct output *o = &v->output[output];
    o->node = net_packet_is_here(e, to) ? to : e->nodes;
    o->rate = net_packet_rate_of(e, link);
    o->hop = net_packet_latency_of(e, link).hop;
    if (e->is_packed && e->router.class_rule != NET_CLASS_WRAP)
        v->node->raises[output] = net_packet_closes_axis(e->topology, from, output);
    point_gates(e, v, output, e->ring_of_link[link]);
}

/* Of a buffered injection, into the node's own last rings. */
static void attach_injection(const net_packet_engine *e, struct view *v)
{
    const struct node *n = v->node;
    v->output[n->injection].hop = net_packet_router_ticks(e, e->router.injection);
    point_gates(e, v, n->injection, n->first_ring + n->rings - e->vcs);
}

void net_packet_make(net_packet_engine *e, uint32_t node)
{
    if (e->is_made[node]) return;
    e->is_made[node] = 1;
    struct view v = net_packet_view(e, node);
    struct node *n = v.node;
    *n = net_packet_kind(e, node)->like;
    n->first_ring = e->first_ring[node];
    for (uint32_t q = 0; q < n->queues; q++) {
        init_queue(e, n, &v.queue[q], q);
        if (q < n->rings) set_bit(v.idle, q);
    }
    for (uint32_t o = 0; o < OUTPUTS(n->outputs); o++)
        v.output[o] = (struct output){
            .nx = NET_TICKS_NEVER, .node = node, .is_ejection = true, .hold = NONE16};
    for (uint32_t gate = 0; gate < 2 * n->outputs * e->vcs; gate++)
        v.gate[gate] = free_slot(e);
    net_packet_links_of(e, node, e->links_of_one);
    for (uint32_t o = 0; o < n->outputs; o++)
        if (e->links_of_one[o] != TOPO_NONE) attach(e, &v, e->links_of_one[o]);
    if (n->injection != NONE16) attach_injection(e, &v);
}
