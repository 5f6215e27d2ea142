/*
 * Full mesh: a link from every chip to every other. Chip c's links lead to 0, 1, .. without c, in
 * that order.
 */
#include "topo/topo_internal.h"

static topo_link_id link_between(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return src * (t->chips - 1) + dst - (dst > src);
}

static void full_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    topo_paths_reset(paths);
    if (src != dst) topo_paths_push(paths, link_between(t, src, dst), 0);
    topo_paths_close(paths, 1);
}

static uint32_t full_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    (void)t;
    return src != dst;
}

static const struct topo_routing full_routing = {"direct", full_route, full_distance, 1};

enum sim_status topo_full_build(topo *t, struct sim_error *err)
{
    uint64_t chips = t->grid.size[0];
    t->routing = &full_routing;
    t->ports = 0;
    SIM_TRY(topo_reserve(t, chips, chips, chips * (chips - 1), err));
    for (topo_chip_id src = 0; src < t->chips; src++) {
        t->out_begin[src] = src * (t->chips - 1);
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            if (src == dst) continue;
            topo_link_set(t, link_between(t, src, dst), src, dst, TOPO_COPPER);
        }
    }
    t->out_begin[t->chips] = t->links;
    return SIM_OK;
}
