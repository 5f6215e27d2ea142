/*
 * Products: ring:8*switch:16 has a chip for every pair of coordinates; each of the 16 columns is a
 * ring of 8, each of the 8 rows hangs on a switch of its own. Links and switches of a factor are
 * there once for every choice of the other factors' chips:
 *
 *      factor 0 ->   0 -- 1 -- 2 -- ..      copy for digit 0 of factor 1
 *                    |    |    |
 *                    0 -- 1 -- 2 -- ..      copy for digit 1
 *
 * Chip ids are mixed-radix numbers, first factor fastest; then come the switches, factor by factor
 * and copy by copy.
 *
 * Routing is dimension by dimension, first factor first, each by the factor's own routing. ECMP
 * over the whole graph would give the same hops, but a torus its freedom back that dimension order
 * takes away to stay free of deadlock, and a rail cluster ways that no library uses. Since a copy's
 * links are its own and factors come in order, factors that are free of deadlock stay so together.
 * Where several factors have several paths each, paths are paired in order by their shares instead
 * of multiplied out: every link carries the same bytes, with m + n - 1 paths at most for m x n.
 *
 * Uniform traffic over the product is uniform traffic in every copy, so distances add up and the
 * slowest factor sets the all-to-all rate.
 *
 * rail:DxG is the product of a domain's switch and a rail's switch, in this order: a message to
 * another rank of another domain first moves inside its domain to the chip on the right rail, as
 * NCCL's PXN does ("Doubling all2all performance with NCCL 2.12", NVIDIA technical blog, 2022).
 */
#include <stdio.h>

#include "base/arena.h"
#include "topo/fabric_internal.h"

#define SHARE_ROUNDING 1e-12

/* Where one factor lies in its product, seen from the copy that holds a given chip. */
struct copy {
    const topo *factor;
    uint32_t stride, digit;    /* of the chip */
    uint32_t number;           /* of the copy */
    topo_node_id first_switch; /* of all copies */
    uint32_t earlier_links;    /* of the chip: those of the factors before */
    topo_chip_id chip;
};

static struct copy copy_of(const topo *t, uint32_t index, topo_chip_id chip)
{
    struct copy c = {.stride = 1, .first_switch = t->chips, .chip = chip};
    for (uint32_t i = 0;; i++) {
        const topo *f = t->factor[i];
        c.digit = chip / c.stride % f->chips;
        if (i == index) {
            c.factor = f;
            c.number = chip / (c.stride * f->chips) * c.stride + chip % c.stride;
            return c;
        }
        c.earlier_links += f->out_begin[c.digit + 1] - f->out_begin[c.digit];
        c.first_switch += (f->nodes - f->chips) * (t->chips / f->chips);
        c.stride *= f->chips;
    }
}

static topo_node_id node_in(const struct copy *c, topo_node_id node)
{
    const topo *f = c->factor;
    if (node < f->chips) return c->chip + node * c->stride - c->digit * c->stride;
    return c->first_switch + c->number * (f->nodes - f->chips) + node - f->chips;
}

/* A chip's links stand in the order of the factors. Links of earlier factors depend on the other
 * digits only, which are the same all over the copy. */
static topo_link_id link_in(const topo *t, const struct copy *c, topo_link_id link)
{
    topo_node_id from = c->factor->link_from[link];
    uint32_t earlier = from < c->factor->chips ? c->earlier_links : 0;
    return t->out_begin[node_in(c, from)] + earlier + link - c->factor->out_begin[from];
}

/* ---- routing ---- */

struct legs {
    struct topo_paths paths[TOPO_AXES_MAX];
    struct copy copy[TOPO_AXES_MAX];
    uint32_t at[TOPO_AXES_MAX]; /* path */
    double left[TOPO_AXES_MAX]; /* of its share */
};

static void push_leg(const topo *t, const struct topo_paths *from, uint32_t path,
                     const struct copy *copy, struct topo_paths *paths)
{
    for (uint32_t i = from->begin[path]; i < from->begin[path + 1]; i++)
        topo_paths_push(paths, link_in(t, copy, from->link[i]), from->channel[i]);
}

/* One path of all factors' current ones, with the least of their shares; false when it was
 * the last. */
static bool next_path(const topo *t, struct legs *legs, struct topo_paths *paths)
{
    double share = 1;
    for (uint32_t i = 0; i < t->factors; i++)
        if (legs->left[i] < share) share = legs->left[i];
    bool is_more = true;
    for (uint32_t i = 0; i < t->factors; i++) {
        push_leg(t, &legs->paths[i], legs->at[i], &legs->copy[i], paths);
        legs->left[i] -= share;
        if (legs->left[i] > SHARE_ROUNDING) continue;
        if (++legs->at[i] == legs->paths[i].count)
            is_more = false;
        else
            legs->left[i] = legs->paths[i].share[legs->at[i]];
    }
    topo_paths_close(paths, share);
    return is_more;
}

static void product_route(const topo *t, topo_chip_id src, topo_chip_id dst,
                          struct topo_paths *paths)
{
    struct legs legs = {0};
    topo_chip_id at = src;
    for (uint32_t i = 0; i < t->factors; i++) {
        legs.copy[i] = copy_of(t, i, at);
        const struct copy *c = &legs.copy[i];
        uint32_t to = dst / c->stride % c->factor->chips;
        topo_route(c->factor, c->digit, to, &legs.paths[i]);
        legs.left[i] = legs.paths[i].share[0];
        at = node_in(c, to);
    }
    assert(at == dst);
    topo_paths_reset(paths);
    while (next_path(t, &legs, paths)) {
    }
    for (uint32_t i = 0; i < t->factors; i++)
        topo_paths_release(&legs.paths[i]);
}

static uint32_t product_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    uint32_t distance = 0;
    for (uint32_t i = 0; i < t->factors; i++) {
        const topo *f = t->factor[i];
        distance += topo_distance(f, src % f->chips, dst % f->chips);
        src /= f->chips;
        dst /= f->chips;
    }
    return distance;
}

/* ---- metrics ---- */

static void product_metrics(const topo *t, struct topo_metrics *m)
{
    m->bisection_bytes_per_s = topo_half_of_chips_cut(t);
    for (uint32_t i = 0; i < t->factors; i++) {
        const topo *f = t->factor[i];
        struct topo_metrics part = topo_metrics_of(f);
        double cut = part.bisection_bytes_per_s * (t->chips / f->chips);
        m->diameter += part.diameter;
        m->mean_hops += part.mean_hops;
        if (f->chips == 1) continue;
        if (m->all_to_all_bytes_per_s == 0 ||
            part.all_to_all_bytes_per_s < m->all_to_all_bytes_per_s)
            m->all_to_all_bytes_per_s = part.all_to_all_bytes_per_s;
        if (f->chips % 2 == 0 && cut < m->bisection_bytes_per_s) m->bisection_bytes_per_s = cut;
    }
}

static const struct topo_routing by_factor = {"dimension-order", product_route, product_distance, 0,
                                              product_metrics};

/* ---- building ---- */

static enum sim_status join_grids(topo *t, struct sim_error *err)
{
    uint32_t axes = 0;
    struct topo_lattice grid = {0};
    for (uint32_t i = 0; i < t->factors; i++)
        for (uint32_t a = 0; a < t->factor[i]->grid.axes; a++) {
            if (axes < TOPO_AXES_MAX) grid.size[axes] = t->factor[i]->grid.size[a];
            axes++;
        }
    if (axes > TOPO_AXES_MAX)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: the factors have %u axes together, want at most %d",
                             t->spec, axes, TOPO_AXES_MAX);
    grid.axes = axes;
    t->grid = grid;
    return SIM_OK;
}

/* Estimates of closed forms go by the slowest factor. */
static void slowest_link(topo *t)
{
    t->link_bytes_per_s = t->factor[0]->link_bytes_per_s;
    t->latency_ps = t->factor[0]->latency_ps;
    for (uint32_t i = 1; i < t->factors; i++) {
        const topo *f = t->factor[i];
        if (f->link_bytes_per_s < t->link_bytes_per_s) t->link_bytes_per_s = f->link_bytes_per_s;
        if (f->latency_ps > t->latency_ps) t->latency_ps = f->latency_ps;
    }
}

static void push_copy(const struct copy *c, struct topo_edges *edges)
{
    const topo *f = c->factor;
    for (topo_link_id l = 0; l < f->links; l++)
        topo_edges_push(edges, (struct topo_edge){.from = node_in(c, f->link_from[l]),
                                                  .to = node_in(c, f->link_to[l]),
                                                  .bytes_per_s = f->link_rate[l],
                                                  .latency_ps = f->link_latency_ps[l],
                                                  .kind = (enum topo_link_kind)f->link_kind[l]});
}

enum sim_status topo_product_build(topo *t, struct sim_error *err)
{
    struct topo_edges edges = {0};
    uint64_t chips = 1, switches = 0, links = 0;
    SIM_TRY(join_grids(t, err));
    for (uint32_t i = 0; i < t->factors; i++)
        if ((chips *= t->factor[i]->chips) >= TOPO_NONE) return topo_edges_check(t, chips, 0, err);
    for (uint32_t i = 0; i < t->factors; i++) {
        const topo *f = t->factor[i];
        switches += chips / f->chips * (f->nodes - f->chips);
        links += chips / f->chips * f->links;
    }
    SIM_TRY(topo_edges_check(t, chips + switches, links, err));
    slowest_link(t);
    t->chips = (uint32_t)chips;
    t->routing = &by_factor;
    for (uint32_t i = 0; i < t->factors; i++)
        for (topo_chip_id chip = 0; chip < chips; chip++) {
            struct copy c = copy_of(t, i, chip);
            if (c.digit == 0) push_copy(&c, &edges);
        }
    return topo_edges_build(t, &edges, (uint32_t)chips, (uint32_t)switches, err);
}

/* ---- rails ---- */

static enum sim_status add_switch(topo *t, uint32_t chips, double bytes_per_s,
                                  struct sim_error *err)
{
    char spec[32];
    struct topo_options o = {.link_bytes_per_s = bytes_per_s, .latency_ps = t->latency_ps};
    snprintf(spec, sizeof spec, "switch:%u", chips);
    SIM_TRY(topo_create(spec, &o, err, &t->factor[t->factors]));
    t->factors++;
    return SIM_OK;
}

enum sim_status topo_rail_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    uint32_t domains = t->grid.size[0], gpus = t->grid.size[1];
    if (f->domain_bytes_per_s == 0 || f->rail_bytes_per_s == 0)
        return sim_error_set(err, SIM_EDATA, "topology %s does not say %s, as in %s", t->spec,
                             f->domain_bytes_per_s == 0 ? "domain=RATE" : "rail=RATE",
                             "rail:4x8,domain=450GB/s,rail=400Gbit/s");
    t->factor = SIM_NEW(topo *, 2);
    SIM_TRY(add_switch(t, gpus, f->domain_bytes_per_s, err));
    SIM_TRY(add_switch(t, domains, f->rail_bytes_per_s, err));
    return topo_product_build(t, err);
}

/* N boxes of 8 GPUs; rates are the vendor's, one direction, nothing taken off for protocol. */
static enum sim_status box_build(topo *t, const struct topo_fabric *f, double domain, double rail,
                                 struct sim_error *err)
{
    struct topo_fabric box = *f;
    if (box.domain_bytes_per_s == 0) box.domain_bytes_per_s = domain;
    if (box.rail_bytes_per_s == 0) box.rail_bytes_per_s = rail;
    t->grid = (struct topo_lattice){.axes = 2, .size = {t->grid.size[0], 8}};
    return topo_rail_build(t, &box, err);
}

/* NVIDIA DGX A100 datasheet, 2021: 8 GPUs, 6 NVSwitches, 600 GB/s a GPU both ways together, 8
 * single-port ConnectX of 200 Gbit/s for the cluster. */
enum sim_status topo_dgx_a100_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    return box_build(t, f, 300e9, 25e9, err);
}

/* NVIDIA DGX H100 datasheet, 2023: 8 GPUs, 4 NVSwitches, 900 GB/s a GPU both ways together, 8
 * single-port ConnectX-7 of 400 Gbit/s. */
enum sim_status topo_dgx_h100_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    return box_build(t, f, 450e9, 50e9, err);
}
