/*
 * Hypercube of D dimensions: chip c's link d leads to c with bit d flipped.
 *
 * Routing is e-cube: differing bits are corrected from the lowest up, over one path. Links are
 * taken in rising dimension, so no cycle of waiting can close on one channel. It is translation
 * invariant: uniform traffic of r bytes/s per chip puts r/2 on every link. Split axes name the
 * dimensions: x2 pairs neighbours of the lowest, x2@4 those of the third.
 *
 * Source: Dally & Seitz, "Deadlock-free message routing in multiprocessor interconnection
 * networks", IEEE Trans. Computers C-36(5), 1987; bisection N/2: Leighton, Introduction to
 * Parallel Algorithms and Architectures, 1992, section 3.1.
 */
#include "topo/fabric_internal.h"

static uint32_t dimensions(const topo *t)
{
    return t->links / t->chips;
}

static void ecube_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    topo_paths_reset(paths);
    for (uint32_t d = 0; d < dimensions(t); d++) {
        if (((src ^ dst) >> d & 1) == 0) continue;
        topo_paths_push(paths, src * dimensions(t) + d, 0);
        src ^= 1u << d;
    }
    topo_paths_close(paths, 1);
}

static uint32_t hypercube_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    (void)t;
    return (uint32_t)__builtin_popcount(src ^ dst);
}

static void hypercube_metrics(const topo *t, struct topo_metrics *m)
{
    m->diameter = dimensions(t);
    m->mean_hops = dimensions(t) / 2.0;
    m->bisection_bytes_per_s = t->chips / 2 * t->link_bytes_per_s;
    m->is_bisection_exact = true;
    m->all_to_all_bytes_per_s = 2 * t->link_bytes_per_s;
}

static const struct topo_routing ecube = {"dimension-order", ecube_route, hypercube_distance, 1,
                                          hypercube_metrics};

enum sim_status topo_hypercube_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    uint32_t d = t->grid.size[0];
    if (d > 31)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: %u dimensions, want at most 31 (2^D chips)", t->spec, d);
    uint64_t chips = UINT64_C(1) << d;
    t->routing = &ecube;
    SIM_TRY(topo_reserve(t, chips, chips, chips * d, err));
    t->grid = (struct topo_lattice){.axes = 1, .size = {t->chips}};
    for (topo_chip_id c = 0; c < t->chips; c++) {
        t->out_begin[c] = c * d;
        for (uint32_t i = 0; i < d; i++)
            topo_link_set(t, c * d + i, c, c ^ 1u << i, TOPO_COPPER);
    }
    t->out_begin[t->chips] = t->links;
    return SIM_OK;
}
