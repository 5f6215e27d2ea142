/*
 * Routes as the packet engine wants them: a word of hops where that says it all, else a table.
 */
#include "base/arena.h"
#include "netsim/packet_internal.h"

/* Hops along at most three axes in order, with the classes that packed words give: 0, and 1 once
 * the axis has closed. */
static bool pack(const net_packet_engine *e, const struct topo_paths *p, uint32_t path,
                 uint32_t *route)
{
    const topo *t = e->topology;
    uint32_t last_axis = 0, direction[3] = {0}, hops[3] = {0};
    bool is_wrapped[3] = {false};
    for (uint32_t h = p->begin[path]; h < p->begin[path + 1]; h++) {
        topo_node_id from = topo_link_from(t, p->link[h]);
        uint32_t port = e->output_of_link[p->link[h]], axis = port / 2;
        if (axis < last_axis || hops[axis] == 127) return false;
        if (hops[axis] > 0 && direction[axis] != port % 2) return false;
        if (e->router.class_rule == NET_CLASS_ROUTING && p->channel[h] != is_wrapped[axis])
            return false;
        if (net_packet_closes_axis(t, from, port)) is_wrapped[axis] = true;
        direction[axis] = port % 2;
        hops[axis]++;
        last_axis = axis;
    }
    *route = 0;
    for (uint32_t a = 0; a < 3; a++) {
        *route |= hops[a] << (8 * a) | direction[a] << (8 * a + 7);
        /* fixed on entering: + and wrapping, or - and not */
        bool is_high = hops[a] > 0 && is_wrapped[a] == (direction[a] == 0);
        if (e->router.class_rule == NET_CLASS_WRAP && is_high)
            *route |= UINT32_C(1) << (ROUTE_CLASS_BIT + a);
    }
    return true;
}

static uint32_t put_in_table(net_packet_engine *e, const struct topo_paths *p, uint32_t path)
{
    uint32_t length = p->begin[path + 1] - p->begin[path], first = e->steps;
    assert(first + length + 1 < ROUTE_TABLE);
    SIM_GROW(e->step, e->step_capacity, first + length + 1);
    for (uint32_t h = p->begin[path]; h < p->begin[path + 1]; h++) {
        uint32_t output = e->output_of_link[p->link[h]], class = p->channel[h];
        assert(output < UINT32_C(1) << STEP_CLASS_BIT && class < 15);
        e->step[e->steps++] = (uint16_t)(output | class << STEP_CLASS_BIT);
    }
    e->step[e->steps++] = STEP_HERE;
    return first | ROUTE_TABLE;
}

uint32_t net_packet_route(net_packet_engine *e, const struct topo_paths *paths, uint32_t path)
{
    uint32_t route;
    if (e->is_packed && pack(e, paths, path, &route)) return route;
    return put_in_table(e, paths, path);
}
