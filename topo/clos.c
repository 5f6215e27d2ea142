/*
 * Switches in levels: one switch, leaf and spine, k-ary fat tree.
 *
 *   switch:N           every chip has one cable to one switch, which never blocks: only the cables
 *                      limit. Several senders to one chip share the cable to it.
 *
 *   clos:LxD           L leaf switches with D chips each, and S spines, each cabled once to every
 *                      leaf. Oversubscription R is a leaf's rate down over its rate up, so an
 *                      uplink carries D W / (R S) for chips of W.
 *
 *   fat-tree:K         K pods of K/2 edge and K/2 aggregation switches, (K/2)^2 core switches, all
 *                      with K ports: K^3/4 chips, 5 K^2/4 switches, every link W.
 *
 *          core a,j    j = 0 .. K/2-1      aggregation switch a of every pod
 *             |
 *          aggregation a                   every edge switch of its pod
 *             |
 *          edge e                          chips 0 .. K/2-1
 *
 * Messages go up and down, evenly over all shortest ways (ecmp.c). Uniform traffic loads a chip's
 * cable with r (N-1)/N and, from D chips below u uplinks, an uplink with r D (N-D)/(N u): never
 * more than the cable when the uplinks are as fast in sum.
 *
 * Source: Al-Fares, Loukissas & Vahdat, "A scalable, commodity data center network architecture",
 * SIGCOMM 2008 (k-ary fat tree: counts and wiring); Leiserson, IEEE Trans. Computers C-34(10),
 * 1985.
 */
#include "topo/fabric_internal.h"

static void add(const topo *t, struct topo_edges *edges, topo_node_id a, topo_node_id b,
                double bytes_per_s)
{
    topo_edges_add(edges, a, b, bytes_per_s, t->latency_ps, TOPO_SWITCH);
}

/* The rate at which all chips may send evenly to all until their own cables are full. */
static double all_to_all_of_cables(const topo *t)
{
    return t->chips > 1 ? t->link_bytes_per_s * t->chips / (t->chips - 1.0) : 0;
}

/* ---- one switch: chip c's link is c, the switch's link to it chips + c ---- */

static void star_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    topo_paths_reset(paths);
    if (src != dst) {
        topo_paths_push(paths, src, 0);
        topo_paths_push(paths, t->chips + dst, 0);
    }
    topo_paths_close(paths, 1);
}

static uint32_t star_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    (void)t;
    return src == dst ? 0 : 2;
}

static void star_metrics(const topo *t, struct topo_metrics *m)
{
    m->diameter = t->chips > 1 ? 2 : 0;
    m->mean_hops = 2 * (t->chips - 1.0) / t->chips;
    m->bisection_bytes_per_s = t->chips / 2 * t->link_bytes_per_s;
    m->is_bisection_exact = true; /* the half without the switch has a cable for each chip */
    m->all_to_all_bytes_per_s = all_to_all_of_cables(t);
}

static const struct topo_routing star = {"direct", star_route, star_distance, 1, star_metrics};

enum sim_status topo_switch_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    struct topo_edges edges = {0};
    uint32_t chips = t->grid.size[0];
    t->routing = &star;
    SIM_TRY(topo_edges_check(t, chips + UINT64_C(1), 2 * (uint64_t)chips, err));
    for (topo_chip_id c = 0; c < chips; c++)
        add(t, &edges, c, chips, t->link_bytes_per_s);
    return topo_edges_build(t, &edges, chips, 1, err);
}

/* ---- levels: ECMP with closed metrics ---- */

/* Hops from the other chips: 2 below one switch, 4 below `near` chips' common switches, else
 * `far`. */
static double mean_hops(double chips, double below, double near, double far)
{
    return (2 * (below - 1) + 4 * (near - below) + far * (chips - near)) / chips;
}

static void clos_metrics(const topo *t, struct topo_metrics *m)
{
    double below = t->grid.size[0], leaves = t->grid.size[1], n = t->chips, up = 0;
    topo_node_id leaf = t->chips;
    for (topo_link_id l = t->out_begin[leaf]; l < t->out_begin[leaf + 1]; l++)
        if (t->link_to[l] >= t->chips) up += t->link_rate[l];
    m->diameter = leaves > 1 ? 4 : below > 1 ? 2 : 0;
    m->mean_hops = mean_hops(n, below, n, 4);
    m->all_to_all_bytes_per_s = all_to_all_of_cables(t);
    double of_uplinks = leaves > 1 ? up * n / (below * (n - below)) : 0;
    if (leaves > 1 && of_uplinks < m->all_to_all_bytes_per_s)
        m->all_to_all_bytes_per_s = of_uplinks;
    double cables = t->chips / 2 * t->link_bytes_per_s;
    double uplinks = t->grid.size[1] % 2 == 0 ? leaves / 2 * up : cables;
    m->bisection_bytes_per_s = uplinks < cables ? uplinks : cables;
}

static void fat_tree_metrics(const topo *t, struct topo_metrics *m)
{
    double half = t->grid.size[0];
    m->diameter = 6;
    m->mean_hops = mean_hops(t->chips, half, half * half, 6);
    m->all_to_all_bytes_per_s = all_to_all_of_cables(t);
    m->bisection_bytes_per_s = t->chips / 2 * t->link_bytes_per_s;
    m->is_bisection_exact = true; /* rearrangeably non-blocking: the cables are the least cut */
}

static const struct topo_routing clos = {"ecmp", topo_ecmp_route, topo_ecmp_distance, 0,
                                         clos_metrics};
static const struct topo_routing fat_tree = {"ecmp", topo_ecmp_route, topo_ecmp_distance, 0,
                                             fat_tree_metrics};

enum sim_status topo_clos_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    struct topo_edges edges = {0};
    uint64_t leaves = t->grid.size[0], down = t->grid.size[1], chips = leaves * down;
    uint64_t spines = f->spines > 0 ? f->spines : down;
    double ratio = f->oversubscription > 0 ? f->oversubscription : 1;
    double up = (double)down * t->link_bytes_per_s / (ratio * (double)spines);
    SIM_TRY(topo_graph_check(t, chips + leaves + spines, 2 * (chips + leaves * spines), err));
    t->grid = (struct topo_lattice){.axes = 2, .size = {(uint32_t)down, (uint32_t)leaves}};
    topo_node_id leaf = (uint32_t)chips, spine = leaf + (uint32_t)leaves;
    for (topo_chip_id c = 0; c < chips; c++)
        add(t, &edges, c, leaf + c / (uint32_t)down, t->link_bytes_per_s);
    for (uint32_t l = 0; l < leaves; l++)
        for (uint32_t s = 0; s < spines; s++)
            add(t, &edges, leaf + l, spine + s, up);
    SIM_TRY(topo_graph_build(t, &edges, leaf, (uint32_t)(leaves + spines), err));
    t->routing = &clos;
    return SIM_OK;
}

enum sim_status topo_fat_tree_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    struct topo_edges edges = {0};
    uint64_t k = t->grid.size[0], h = k / 2;
    if (k % 2 != 0)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: %u ports, want an even number: half of each switch's "
                             "ports lead up",
                             t->spec, t->grid.size[0]);
    if (k > TOPO_GRAPH_NODES_MAX) k = TOPO_GRAPH_NODES_MAX, h = k / 2; /* refused all the same */
    SIM_TRY(topo_graph_check(t, k * h * h + 5 * h * h, 6 * k * h * h, err));
    uint32_t half = (uint32_t)h, pods = (uint32_t)k, chips = pods * half * half;
    t->grid = (struct topo_lattice){.axes = 3, .size = {half, half, pods}};
    topo_node_id edge = chips, aggregation = edge + pods * half, core = aggregation + pods * half;
    for (topo_chip_id c = 0; c < chips; c++)
        add(t, &edges, c, edge + c / half, t->link_bytes_per_s);
    for (uint32_t e = 0; e < pods * half; e++)
        for (uint32_t a = 0; a < half; a++)
            add(t, &edges, edge + e, aggregation + e / half * half + a, t->link_bytes_per_s);
    for (uint32_t a = 0; a < pods * half; a++)
        for (uint32_t j = 0; j < half; j++)
            add(t, &edges, aggregation + a, core + a % half * half + j, t->link_bytes_per_s);
    SIM_TRY(topo_graph_build(t, &edges, chips, 2 * pods * half + half * half, err));
    t->routing = &fat_tree;
    return SIM_OK;
}
