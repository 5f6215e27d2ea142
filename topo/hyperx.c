/*
 * HyperX: switches on a grid of 1 to 3 dimensions, each with T chips and a cable to every other
 * switch that differs from it in one coordinate only.
 *
 * A way corrects each differing coordinate in one hop; a message goes evenly over the orders in
 * which that can be done (ecmp.c). With two chips or more a switch the diameter is the dimensions
 * and two chip cables.
 *
 * Source: Ahn, Binkert, Davis, McLaren & Schreiber, "HyperX: topology, routing, and packaging of
 * efficient large-scale networks", SC 2009 (regular HyperX).
 */
#include "topo/fabric_internal.h"

/* Cables from switch s to those ahead of it on a line of `size`, `stride` apart. */
static void add_line(const topo *t, struct topo_edges *edges, topo_node_id first, uint32_t s,
                     uint32_t size, uint32_t stride)
{
    for (uint32_t ahead = 1; s / stride % size + ahead < size; ahead++)
        topo_edges_add(edges, first + s, first + s + ahead * stride, t->link_bytes_per_s,
                       t->latency_ps, TOPO_SWITCH);
}

enum sim_status topo_hyperx_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    struct topo_edges edges = {0};
    uint64_t per_switch = f->chips > 0 ? f->chips : 1, switches = 1, degree = 0;
    for (uint32_t d = 0; d < t->grid.axes; d++) {
        switches *= t->grid.size[d];
        degree += t->grid.size[d] - 1;
        if (switches > TOPO_NONE) switches = TOPO_NONE; /* refused below */
    }
    uint64_t nodes = switches * (per_switch + 1);
    SIM_TRY(topo_graph_check(t, nodes, switches * (2 * per_switch + degree), err));
    struct topo_lattice grid = {.axes = t->grid.axes + 1, .size = {(uint32_t)per_switch}};
    uint32_t chips = (uint32_t)(switches * per_switch);
    for (uint32_t d = 0; d < t->grid.axes; d++)
        grid.size[d + 1] = t->grid.size[d];
    t->grid = grid;
    for (topo_chip_id c = 0; c < chips; c++)
        topo_edges_add(&edges, c, chips + c / (uint32_t)per_switch, t->link_bytes_per_s,
                       t->latency_ps, TOPO_SWITCH);
    for (uint32_t s = 0; s < switches; s++)
        for (uint32_t d = 1, stride = 1; d < grid.axes; stride *= grid.size[d++])
            add_line(t, &edges, chips, s, grid.size[d], stride);
    return topo_graph_build(t, &edges, chips, (uint32_t)switches, err);
}
