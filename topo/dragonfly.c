/*
 * Dragonfly: groups of `a` routers that are all cabled to each other; each router has p chips and h
 * global links; all pairs of groups are cabled alike.
 *
 * With G groups a group has a h global ports, dealt to the G-1 other groups in rising order, again
 * and again (m = a h / (G-1) times; the largest network has G = a h + 1 and m = 1); port q belongs
 * to router q / h.
 *
 * Routing is minimal as its authors mean it: at most one global link, so local - global - local. Of
 * the m links between two groups those with the fewest local hops are taken, evenly. (The shortest
 * way by hops may pass a third group over two global links; no routing of this network does that.)
 * A path's n-th link uses channel n.
 *
 * Source: Kim, Dally, Scott & Abts, "Technology-driven, highly-scalable dragonfly topology", ISCA
 * 2008.
 */
#include "topo/fabric_internal.h"

#include <stddef.h>

/* ---- routing ---- */

static topo_node_id router_of(const topo *t, topo_chip_id chip)
{
    return t->chips + chip / t->grid.size[0];
}

static uint32_t group_of(const topo *t, topo_node_id router)
{
    return (router - t->chips) / t->grid.size[1];
}

static topo_link_id link_between(const topo *t, topo_node_id from, topo_node_id to)
{
    topo_link_id l = t->out_begin[from];
    while (t->link_to[l] != to)
        l++;
    assert(l < t->out_begin[from + 1]);
    return l;
}

/* Adds local-global-local over `global` (TOPO_NONE: both routers are in one group) to the path. */
static void push_routers(const topo *t, topo_node_id from, topo_node_id to, topo_link_id global,
                         struct topo_paths *paths)
{
    uint8_t channel = 1;
    if (global != TOPO_NONE) {
        topo_node_id exit = t->link_from[global];
        if (from != exit) topo_paths_push(paths, link_between(t, from, exit), channel++);
        topo_paths_push(paths, global, channel++);
        from = t->link_to[global];
    }
    if (from != to) topo_paths_push(paths, link_between(t, from, to), channel);
}

/* Walks the global links between two routers' groups; returns the fewest router hops. With `best`
 * given, pushes the paths of that many. */
static uint32_t over_globals(const topo *t, topo_chip_id src, topo_chip_id dst, uint32_t best,
                             struct topo_paths *paths)
{
    topo_node_id from = router_of(t, src), to = router_of(t, dst);
    topo_node_id first = t->chips + group_of(t, from) * t->grid.size[1];
    uint32_t fewest = UINT32_MAX;
    for (topo_link_id l = t->out_begin[first]; l < t->out_begin[first + t->grid.size[1]]; l++) {
        if (t->link_to[l] < t->chips || group_of(t, t->link_to[l]) != group_of(t, to)) continue;
        uint32_t hops = 1 + (t->link_from[l] != from) + (t->link_to[l] != to);
        if (hops < fewest) fewest = hops;
        if (hops != best) continue;
        topo_paths_push(paths, t->out_begin[src], 0);
        push_routers(t, from, to, l, paths);
        topo_paths_push(paths, link_between(t, to, dst), (uint8_t)(hops + 1));
        topo_paths_close(paths, 1);
    }
    return fewest;
}

static uint32_t dragonfly_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    topo_node_id from = router_of(t, src), to = router_of(t, dst);
    if (src == dst) return 0;
    if (group_of(t, from) == group_of(t, to)) return 2 + (from != to);
    return 2 + over_globals(t, src, dst, 0, NULL);
}

static void dragonfly_route(const topo *t, topo_chip_id src, topo_chip_id dst,
                            struct topo_paths *paths)
{
    topo_node_id from = router_of(t, src), to = router_of(t, dst);
    topo_paths_reset(paths);
    if (group_of(t, from) != group_of(t, to)) {
        over_globals(t, src, dst, over_globals(t, src, dst, 0, NULL), paths);
        topo_paths_share_evenly(paths);
        return;
    }
    if (src != dst) {
        topo_paths_push(paths, t->out_begin[src], 0);
        push_routers(t, from, to, TOPO_NONE, paths);
        topo_paths_push(paths, link_between(t, to, dst), 2);
    }
    topo_paths_close(paths, 1);
}

static const struct topo_routing minimal = {"minimal", dragonfly_route, dragonfly_distance, 5,
                                            NULL};

/* ---- building ---- */

static void add(const topo *t, struct topo_edges *edges, topo_node_id a, topo_node_id b)
{
    topo_edges_add(edges, a, b, t->link_bytes_per_s, t->latency_ps, TOPO_SWITCH);
}

/* The router whose port leads from group `here` to `there` in round m of the deal. */
static topo_node_id router_to(const topo *t, uint32_t here, uint32_t there, uint32_t m,
                              uint32_t global)
{
    uint32_t routers = t->grid.size[1], groups = t->grid.size[2];
    uint32_t port = m * (groups - 1) + (there < here ? there : there - 1);
    return t->grid.size[0] * routers * groups + here * routers + port / global;
}

static void add_globals(const topo *t, struct topo_edges *edges, uint32_t global)
{
    uint32_t groups = t->grid.size[2], rounds = t->grid.size[1] * global / (groups - 1);
    for (uint32_t i = 0; i < groups; i++)
        for (uint32_t j = i + 1; j < groups; j++)
            for (uint32_t m = 0; m < rounds; m++)
                add(t, edges, router_to(t, i, j, m, global), router_to(t, j, i, m, global));
}

static enum sim_status check_groups(const topo *t, uint64_t ports, uint64_t groups,
                                    struct sim_error *err)
{
    if (groups >= 2 && groups <= ports + 1 && ports % (groups - 1) == 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "topology %s: %u groups, want 2 to %u with a group's %u global links "
                         "divided evenly by the other groups",
                         t->spec, (unsigned)groups, (unsigned)(ports + 1), (unsigned)ports);
}

enum sim_status topo_dragonfly_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    struct topo_edges edges = {0};
    uint64_t routers = t->grid.size[0], per_router = f->chips > 0 ? f->chips : 1;
    uint64_t global = f->global > 0 ? f->global : 1, ports = routers * global;
    if (ports >= TOPO_GRAPH_NODES_MAX || per_router >= TOPO_GRAPH_NODES_MAX)
        return topo_graph_check(t, ports + per_router, 0, err);
    uint64_t groups = f->groups > 0 ? f->groups : ports + 1, all = groups * routers;
    SIM_TRY(check_groups(t, ports, groups, err));
    SIM_TRY(topo_graph_check(t, all * (per_router + 1),
                             all * (2 * per_router + routers - 1 + global), err));
    t->grid = (struct topo_lattice){
        .axes = 3, .size = {(uint32_t)per_router, (uint32_t)routers, (uint32_t)groups}};
    uint32_t chips = (uint32_t)(all * per_router);
    for (topo_chip_id c = 0; c < chips; c++)
        add(t, &edges, c, chips + c / (uint32_t)per_router);
    for (uint32_t r = 0; r < all; r++)
        for (uint32_t s = r + 1; s / routers == r / routers; s++)
            add(t, &edges, chips + r, chips + s);
    add_globals(t, &edges, (uint32_t)global);
    SIM_TRY(topo_graph_build(t, &edges, chips, (uint32_t)all, err));
    t->routing = &minimal;
    return SIM_OK;
}
