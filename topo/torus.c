/*
 * Tori and meshes of 1 to 4 axes, plain or twisted: links along ports, and routes of minimal hops.
 *
 * A route is a walk of minimal hops, axis by axis, x first. Where several vectors of hops are
 * equally short (around an axis of even length; around a twist) a message is split evenly over
 * them, so that uniform traffic loads all directions alike and a route depends on the offset only,
 * never on the position.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "topo/hamilton.h"
#include "topo/topo_internal.h"

static uint64_t count_links(const topo *t, uint64_t chips)
{
    uint64_t links = 0;
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        uint64_t k = t->grid.size[a], lines = chips / k;
        if (k > 1) links += 2 * lines * (t->grid.is_wrapped[a] ? k : k - 1);
    }
    return links;
}

static void wire(topo *t, topo_port_target target, const void *context)
{
    topo_link_id link = 0;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        t->out_begin[c] = link;
        for (uint32_t p = 0; p < t->ports; p++) {
            enum topo_link_kind kind = TOPO_COPPER;
            topo_chip_id to = target(context, c, p, &kind);
            t->port_link[(size_t)c * t->ports + p] = to == TOPO_NONE ? TOPO_NONE : link;
            if (to != TOPO_NONE) topo_link_set(t, link++, c, to, kind);
        }
    }
    t->out_begin[t->chips] = link;
    assert(link == t->links);
}

/* Does this step pass the edge where the axis closes? */
static bool passes_dateline(const topo *t, topo_chip_id chip, uint32_t port)
{
    uint32_t at = topo_coord(t, chip, port / 2);
    return at == (port % 2 == 0 ? t->grid.size[port / 2] - 1 : 0);
}

static topo_chip_id push_hops(const topo *t, topo_chip_id chip, uint32_t axis, int32_t hops,
                              struct topo_paths *paths)
{
    uint32_t port = 2 * axis + (hops < 0);
    uint8_t channel = 0;
    for (int32_t left = abs(hops); left > 0; left--) {
        topo_link_id link = topo_port_link(t, chip, port);
        assert(link != TOPO_NONE);
        topo_paths_push(paths, link, channel);
        if (passes_dateline(t, chip, port)) channel = 1;
        chip = t->link_to[link];
    }
    return chip;
}

bool topo_walk(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX],
               struct topo_paths *paths)
{
    assert(topo_has_ports(t));
    topo_chip_id at = src;
    for (uint32_t a = 0; a < t->grid.axes; a++)
        for (int32_t left = abs(hops[a]); left > 0; left--) {
            uint32_t port = 2 * a + (hops[a] < 0);
            if (topo_port_link(t, at, port) == TOPO_NONE) return false;
            at = topo_neighbour(t, at, port);
        }
    topo_paths_reset(paths);
    for (uint32_t a = 0; a < t->grid.axes; a++)
        src = push_hops(t, src, a, hops[a], paths);
    topo_paths_close(paths, 1);
    return true;
}

topo_chip_id topo_translate(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX])
{
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        uint32_t port = 2 * a + (hops[a] < 0);
        for (int32_t left = abs(hops[a]); left > 0; left--)
            src = topo_neighbour(t, src, port);
    }
    return src;
}

static uint32_t minimal_hops(const topo *t, topo_chip_id src, topo_chip_id dst,
                             int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX])
{
    int32_t difference[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        difference[a] = (int32_t)(dst % t->grid.size[a]) - (int32_t)(src % t->grid.size[a]);
        src /= t->grid.size[a];
        dst /= t->grid.size[a];
    }
    return topo_lattice_minimal(&t->grid, difference, hops);
}

/* Is it the vector SimGrid takes, whose choice depends on where an axis's way ends? Source:
 * TorusZone.cpp, version 3.32. */
static bool is_simgrid_way(const topo *t, topo_chip_id dst, const int32_t hops[TOPO_AXES_MAX])
{
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        bool is_tie = 2 * (uint32_t)abs(hops[a]) == t->grid.size[a];
        if (is_tie && (hops[a] < 0) != (topo_coord(t, dst, a) == 0)) return false;
    }
    return true;
}

static void torus_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX];
    uint32_t count = minimal_hops(t, src, dst, hops), first = 0;
    if (t->tie == TOPO_TIE_NEGATIVE) first = count - 1;
    while (t->tie == TOPO_TIE_SIMGRID && first + 1 < count && !is_simgrid_way(t, dst, hops[first]))
        first++;
    if (t->tie != TOPO_TIE_SPLIT) count = first + 1;
    topo_paths_reset(paths);
    for (uint32_t i = first; i < count; i++) {
        topo_chip_id at = src;
        for (uint32_t a = 0; a < t->grid.axes; a++)
            at = push_hops(t, at, a, hops[i][a], paths);
        assert(at == dst);
        topo_paths_close(paths, 1);
    }
    topo_paths_share_evenly(paths);
}

static uint32_t torus_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return topo_lattice_distance(&t->grid, src, dst);
}

/* Two channels per axis and direction break the cycle around it: a message changes to the second
 * where it passes the edge between the last coordinate and the first (dateline). */
static const struct topo_routing dimension_order = {"dimension-order", torus_route, torus_distance,
                                                    2};

/* Its routes are those of the escape channels, to which one for any minimal way is added where they
 * are counted: routing.c. */
const struct topo_routing topo_adaptive_routing = {"adaptive", torus_route, torus_distance, 2};

enum sim_status topo_ports_build(topo *t, topo_port_target target, const void *context,
                                 struct sim_error *err)
{
    uint64_t chips = 1;
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        chips *= t->grid.size[a];
        if (chips >= TOPO_NONE)
            return sim_error_set(err, SIM_EDATA, "topology %s has more than 4,294,967,294 chips",
                                 t->spec);
    }
    t->routing = &dimension_order;
    t->ports = 2 * t->grid.axes;
    SIM_TRY(topo_reserve(t, chips, chips, count_links(t, chips), err));
    wire(t, target, context);
    if (t->cycles == NULL) t->cycles = SIM_NEW(struct topo_cycles, 1);
    return SIM_OK;
}

/* The neighbour by arithmetic: what a torus cabled in one piece has. */
static topo_chip_id cabled_target(const void *context, topo_chip_id chip, uint32_t port,
                                  enum topo_link_kind *kind)
{
    const topo *t = context;
    uint32_t coord[TOPO_AXES_MAX];
    *kind = TOPO_COPPER;
    if (t->grid.size[port / 2] == 1) return TOPO_NONE;
    for (uint32_t a = 0; a < t->grid.axes; a++)
        coord[a] = topo_coord(t, chip, a);
    return topo_lattice_step(&t->grid, coord, port) ? topo_chip_at(t, coord) : TOPO_NONE;
}

enum sim_status topo_torus_build(topo *t, struct sim_error *err)
{
    return topo_ports_build(t, cabled_target, t, err);
}
