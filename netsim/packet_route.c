/*
 * Routes as the packet engine wants them: a word of hops where that says it all, else a table.
 */
#include <string.h>

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
        /* a walk that was told its way has one path only */
        bool is_half = a < topo_axes(t) && 2 * hops[a] == topo_axis_size(t, a) && hops[a] > 0;
        if (e->is_adaptive && p->count > 1 && is_half && topo_axis_is_wrapped(t, a))
            *route |= UINT32_C(1) << (ROUTE_FREE_BIT + a);
    }
    return true;
}

static uint64_t hash_steps(const uint16_t *step, uint32_t steps)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325); /* FNV-1a */
    for (uint32_t i = 0; i < steps; i++)
        hash = (hash ^ step[i]) * UINT64_C(0x100000001b3);
    return hash ^ hash >> 32;
}

/* Stops at the end of either, where they differ. */
static bool is_same(const uint16_t *a, const uint16_t *b, uint32_t steps)
{
    uint32_t i = 0;
    while (i < steps && a[i] == b[i])
        i++;
    return i == steps;
}

static uint32_t steps_from(const net_packet_engine *e, uint32_t first)
{
    uint32_t steps = 1;
    while (e->step[first + steps - 1] != STEP_HERE)
        steps++;
    return steps;
}

/* Where a route is in the hash table, or would be. */
static uint32_t *find_place(const net_packet_engine *e, const uint16_t *step, uint32_t steps)
{
    uint32_t at = (uint32_t)hash_steps(step, steps) & (e->table_size - 1);
    while (e->table_route[at] != NONE32 && !is_same(e->step + e->table_route[at], step, steps))
        at = (at + 1) & (e->table_size - 1);
    return &e->table_route[at];
}

static void grow_table(net_packet_engine *e)
{
    uint32_t *old = e->table_route, size = e->table_size;
    e->table_size = size == 0 ? 256 : 2 * size;
    e->table_route = SIM_NEW(uint32_t, e->table_size);
    for (uint32_t i = 0; i < e->table_size; i++)
        e->table_route[i] = NONE32;
    for (uint32_t i = 0; i < size; i++)
        if (old[i] != NONE32) *find_place(e, e->step + old[i], steps_from(e, old[i])) = old[i];
    sim_free(old);
}

uint32_t net_packet_table_route(net_packet_engine *e, const uint16_t *step, uint32_t steps)
{
    if (2 * e->table_routes >= e->table_size) grow_table(e);
    uint32_t *place = find_place(e, step, steps), first = e->steps;
    if (*place != NONE32) return *place | ROUTE_TABLE;
    assert(first + steps <= ROUTE_INDEX);
    SIM_GROW(e->step, e->step_capacity, first + steps);
    memcpy(e->step + first, step, steps * sizeof *step);
    e->steps += steps;
    e->table_routes++;
    *place = first;
    return first | ROUTE_TABLE;
}

static uint32_t put_in_table(net_packet_engine *e, const struct topo_paths *p, uint32_t path)
{
    uint32_t first = p->begin[path], hops = p->begin[path + 1] - first;
    uint16_t *step = SIM_NEW(uint16_t, hops + 1);
    for (uint32_t h = 0; h < hops; h++) {
        uint32_t output = e->output_of_link[p->link[first + h]], class = p->channel[first + h];
        assert(output < UINT32_C(1) << STEP_CLASS_BIT && class < 15);
        step[h] = (uint16_t)(output | class << STEP_CLASS_BIT);
    }
    step[hops] = STEP_HERE;
    uint32_t route = net_packet_table_route(e, step, hops + 1);
    sim_free(step);
    return route;
}

uint32_t net_packet_route(net_packet_engine *e, const struct topo_paths *paths, uint32_t path)
{
    uint32_t route;
    if (e->is_packed && pack(e, paths, path, &route)) return route;
    return put_in_table(e, paths, path);
}
