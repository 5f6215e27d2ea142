/*
 * Several slices over a data-centre network: v5p:4x4x4*2.
 *
 *     chip --PCIe--> host NIC --> DCN switch --> host NIC --PCIe--> chip
 *
 * Every slice keeps its links and its routing. A chip has one more link, to its host's NIC, at the
 * preset's PCIe rate (where none is published, and without a preset: as fast as the NIC). A host's
 * NIC carries the DCN rate of one chip times the chips of the slice on that host, which share it.
 * NICs meet in one switch that never blocks. NICs and switch are nodes of the kind switch; none
 * is a chip. Without a preset every chip is a host of its own.
 *
 * The DCN latency is that from chip to chip, a quarter of it on each of the four links. Nobody has
 * published one: 10 us is an assumption, the low end of 10 to 50 us seen between hosts.
 *
 * The slice index is one more axis. Since that axis has no cables, no axis has ports here: groups
 * of neighbours are reached by routing, which along a torus axis is the same single link.
 *
 * Inside a slice all ways stay on the torus, even between chips of one host, as TPU collectives do;
 * a chip's hop counts are those of its routing. Distances inside a slice are the torus's although a
 * detour over the DCN may count fewer hops.
 *
 * Source: the scaling book ("How to think about TPUs": chip, PCIe, host, NIC, DCN), and Google's
 * Multislice documentation, for the path and the rates per chip.
 */
#include "base/arena.h"
#include "topo/fabric_internal.h"

#define DEFAULT_DCN_LATENCY_PS (10 * SIM_PS_PER_US)
#define DCN_HOPS               4

static const topo *slice_of(const topo *t)
{
    return t->factor[0];
}

/* ---- hosts: blocks of chips, x fastest, slice by slice ---- */

static uint32_t host_side(const topo *slice, uint32_t axis)
{
    return slice->chip != NULL && axis < 3 ? slice->chip->host[axis] : 1;
}

static uint32_t hosts_of(const topo *slice)
{
    uint32_t hosts = 1;
    for (uint32_t a = 0; a < slice->grid.axes; a++)
        hosts *= (slice->grid.size[a] + host_side(slice, a) - 1) / host_side(slice, a);
    return hosts;
}

static uint32_t host_of(const topo *slice, topo_chip_id chip)
{
    uint32_t host = 0;
    for (uint32_t a = slice->grid.axes; a-- > 0;) {
        uint32_t side = host_side(slice, a), grid = (slice->grid.size[a] + side - 1) / side;
        host = host * grid + topo_coord(slice, chip, a) / side;
    }
    return host;
}

/* ---- routing ---- */

/* A chip's and a NIC's last link is the one up. */
static topo_link_id link_up(const topo *t, topo_node_id node)
{
    return t->out_begin[node + 1] - 1;
}

static topo_link_id link_to(const topo *t, topo_node_id from, topo_node_id to)
{
    topo_link_id l = t->out_begin[from];
    while (t->link_to[l] != to)
        l++;
    return l;
}

static void route_inside(const topo *t, topo_chip_id src, topo_chip_id dst,
                         struct topo_paths *paths)
{
    const topo *slice = slice_of(t);
    topo_chip_id first = src / slice->chips * slice->chips;
    topo_route(slice, src - first, dst - first, paths);
    for (uint32_t i = 0; i < paths->begin[paths->count]; i++) {
        topo_node_id from = slice->link_from[paths->link[i]];
        paths->link[i] += t->out_begin[first + from] - slice->out_begin[from];
    }
}

static void slices_route(const topo *t, topo_chip_id src, topo_chip_id dst,
                         struct topo_paths *paths)
{
    if (src / slice_of(t)->chips == dst / slice_of(t)->chips) {
        route_inside(t, src, dst, paths);
        return;
    }
    topo_node_id near = t->link_to[link_up(t, src)], far = t->link_to[link_up(t, dst)];
    topo_node_id center = t->nodes - 1; /* its links lead to the NICs in order */
    topo_paths_reset(paths);
    topo_paths_push(paths, link_up(t, src), 0);
    topo_paths_push(paths, link_up(t, near), 0);
    topo_paths_push(paths, t->out_begin[center] + far - t->chips, 0);
    topo_paths_push(paths, link_to(t, far, dst), 0);
    topo_paths_close(paths, 1);
}

static uint32_t slices_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    uint32_t chips = slice_of(t)->chips;
    return src / chips == dst / chips ? topo_distance(slice_of(t), src % chips, dst % chips)
                                      : DCN_HOPS;
}

/* ---- metrics ---- */

/* Of r bytes/s that each of S slices' chips sends evenly, r/S stays inside and loads the slice as
 * r/S would alone; r (S-1)/S of each chip leaves through its host. */
static double all_to_all(const topo *t, double of_slice, double slices)
{
    double least = slices * of_slice; /* 0: a slice of one chip has no links to fill */
    for (topo_node_id host = t->chips; host + 1 < t->nodes; host++) {
        uint32_t chips = t->out_begin[host + 1] - t->out_begin[host] - 1;
        double pcie = t->link_rate[t->out_begin[host]],
               nic = t->link_rate[link_up(t, host)] / chips;
        double rate = (pcie < nic ? pcie : nic) * slices / (slices - 1);
        if (least == 0 || rate < least) least = rate;
    }
    return least;
}

static void slices_metrics(const topo *t, struct topo_metrics *m)
{
    const topo *slice = slice_of(t);
    struct topo_metrics inside = topo_metrics_of(slice);
    uint32_t slices = t->chips / slice->chips;
    double nics = 0;
    for (topo_node_id host = t->chips; host + 1 < t->nodes; host++)
        nics += t->link_rate[link_up(t, host)];
    m->diameter = inside.diameter > DCN_HOPS ? inside.diameter : DCN_HOPS;
    m->mean_hops = (inside.mean_hops + DCN_HOPS * (slices - 1.0)) / slices;
    m->all_to_all_bytes_per_s = all_to_all(t, inside.all_to_all_bytes_per_s, slices);
    m->bisection_bytes_per_s = topo_half_of_chips_cut(t);
    if (slices % 2 == 0 && nics / 2 < m->bisection_bytes_per_s) m->bisection_bytes_per_s = nics / 2;
}

static const struct topo_routing over_dcn = {"dimension-order", slices_route, slices_distance, 2,
                                             slices_metrics};

/* ---- building ---- */

static void add_slice(const topo *t, uint32_t index, struct topo_edges *edges)
{
    const topo *slice = slice_of(t);
    topo_chip_id first = index * slice->chips;
    for (topo_link_id l = 0; l < slice->links; l++)
        topo_edges_push(edges,
                        (struct topo_edge){.from = first + slice->link_from[l],
                                           .to = first + slice->link_to[l],
                                           .bytes_per_s = slice->link_rate[l],
                                           .latency_ps = slice->link_latency_ps[l],
                                           .kind = (enum topo_link_kind)slice->link_kind[l]});
}

/* After all links inside slices, so that the links up stand last; and NIC by NIC to the switch. */
static void add_network(const topo *t, uint32_t slices, const struct topo_fabric *f, sim_ps hop_ps,
                        struct topo_edges *edges)
{
    const topo *slice = slice_of(t);
    uint32_t hosts = hosts_of(slice), chips = slices * slice->chips;
    uint32_t *chips_on = SIM_NEW(uint32_t, hosts);
    for (topo_chip_id c = 0; c < slice->chips; c++)
        chips_on[host_of(slice, c)]++;
    double pcie = slice->chip != NULL ? slice->chip->pcie_bytes_per_s : 0;
    for (topo_chip_id c = 0; c < chips; c++) {
        uint32_t host = host_of(slice, c % slice->chips);
        topo_edges_add(edges, c, chips + c / slice->chips * hosts + host,
                       pcie > 0 ? pcie : f->dcn_bytes_per_s * chips_on[host], hop_ps, TOPO_DCN);
    }
    for (uint32_t h = 0; h < slices * hosts; h++)
        topo_edges_add(edges, chips + h, chips + slices * hosts,
                       f->dcn_bytes_per_s * chips_on[h % hosts], hop_ps, TOPO_DCN);
    sim_free(chips_on);
}

static enum sim_status check(const topo *t, uint32_t slices, const struct topo_fabric *f,
                             struct sim_error *err)
{
    const topo *slice = slice_of(t);
    uint64_t chips = (uint64_t)slices * slice->chips, hosts = (uint64_t)slices * hosts_of(slice);
    if (slice->grid.axes == TOPO_AXES_MAX)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: slices of %d axes leave none for the slice index",
                             t->spec, TOPO_AXES_MAX);
    if (f->dcn_bytes_per_s == 0)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: no published data-centre rate of a chip, want "
                             "dcn=RATE, as in dcn=6.25GB/s",
                             t->spec);
    return topo_edges_check(t, chips + hosts + 1,
                            (uint64_t)slices * slice->links + 2 * (chips + hosts), err);
}

enum sim_status topo_multislice_build(topo *t, uint32_t slices, const struct topo_fabric *f,
                                      struct sim_error *err)
{
    const topo *slice = slice_of(t);
    struct topo_fabric network = *f;
    struct topo_edges edges = {0};
    if (network.dcn_bytes_per_s == 0 && slice->chip != NULL)
        network.dcn_bytes_per_s = slice->chip->dcn_bytes_per_s;
    SIM_TRY(check(t, slices, &network, err));
    sim_ps latency_ps = f->dcn_latency_ps < 0 ? DEFAULT_DCN_LATENCY_PS : f->dcn_latency_ps;
    uint32_t axes = slice->grid.axes + 1;
    struct topo_lattice grid = {.axes = axes};
    for (uint32_t a = 0; a + 1 < axes; a++)
        grid.size[a] = slice->grid.size[a];
    grid.size[axes - 1] = slices;
    t->grid = grid;
    t->ports = 0;
    t->routing = &over_dcn;
    for (uint32_t s = 0; s < slices; s++)
        add_slice(t, s, &edges);
    add_network(t, slices, &network, (latency_ps + DCN_HOPS - 1) / DCN_HOPS, &edges);
    return topo_edges_build(t, &edges, slices * slice->chips, slices * hosts_of(slice) + 1, err);
}
