/*
 * The topology object: storage and accessors. Families (torus.c, full.c) fill it; spec.c decides
 * which.
 */
#include "topo/topo.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "topo/route.h"
#include "topo/topo_internal.h"

const char *const topo_link_kind_names[] = {"copper", "optical", "switch", "dcn"};

/* Chips and links of a topology, and a third more for what runs on it. */
static uint64_t bytes_wanted(uint64_t nodes, uint64_t links, uint32_t ports)
{
    uint64_t per_link = 2 * sizeof(topo_chip_id) + sizeof(double) + sizeof(sim_ps) + 1;
    uint64_t topology = nodes * (ports + 1) * sizeof(topo_link_id) + links * per_link;
    return topology + topology / 3;
}

enum sim_status topo_reserve(topo *t, uint64_t chips, uint64_t nodes, uint64_t links,
                             struct sim_error *err)
{
    char a[SIM_QUANTITY_TEXT], b[SIM_QUANTITY_TEXT];
    if (nodes >= TOPO_NONE || links >= TOPO_NONE)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s has %s chips and %s links, want fewer than 4,294,967,295",
                             t->spec, sim_count_format(chips, a), sim_count_format(links, b));
    uint64_t wanted = bytes_wanted(nodes, links, t->ports),
             available = sim_memory_available_bytes();
    if (available > 0 && wanted > available)
        return sim_error_set(err, SIM_ERESOURCE,
                             "topology %s needs about %s of memory, this machine has %s free",
                             t->spec, sim_bytes_format(wanted >> 20 << 20, a),
                             sim_bytes_format(available >> 20 << 20, b));
    t->chips = (uint32_t)chips;
    t->nodes = (uint32_t)nodes;
    t->links = (uint32_t)links;
    t->port_link = t->ports > 0 ? SIM_NEW(topo_link_id, chips * t->ports) : NULL;
    t->out_begin = SIM_NEW(topo_link_id, nodes + 1);
    t->link_from = SIM_NEW(topo_node_id, links);
    t->link_to = SIM_NEW(topo_node_id, links);
    t->link_rate = SIM_NEW(double, links);
    t->link_latency_ps = SIM_NEW(sim_ps, links);
    t->link_kind = SIM_NEW(uint8_t, links);
    return SIM_OK;
}

void topo_links_release(topo *t)
{
    sim_free(t->port_link);
    sim_free(t->out_begin);
    sim_free(t->link_from);
    sim_free(t->link_to);
    sim_free(t->link_rate);
    sim_free(t->link_latency_ps);
    sim_free(t->link_kind);
    t->port_link = t->out_begin = NULL;
    t->link_from = t->link_to = NULL;
    t->link_rate = NULL;
    t->link_latency_ps = NULL;
    t->link_kind = NULL;
}

void topo_link_set(topo *t, topo_link_id link, topo_node_id from, topo_node_id to,
                   enum topo_link_kind kind)
{
    assert(link < t->links);
    t->link_from[link] = from;
    t->link_to[link] = to;
    t->link_rate[link] = t->link_bytes_per_s;
    t->link_latency_ps[link] = kind == TOPO_OPTICAL ? t->optical_latency_ps : t->latency_ps;
    t->link_kind[link] = (uint8_t)kind;
}

void topo_destroy(topo *t)
{
    if (t == NULL) return;
    sim_free(t->spec);
    topo_links_release(t);
    topo_cubes_destroy(t->cubes);
    sim_free(t->hops_to);
    sim_free(t->port_chip);
    sim_free(t->is_failed);
    topo_fault_table_destroy(t->fault_table);
    topo_cycles_destroy(t->cycles);
    topo_route_table_destroy(t->route_table);
    for (uint32_t i = 0; i < t->factors; i++)
        topo_destroy(t->factor[i]);
    sim_free(t->factor);
    sim_free(t);
}

const char *topo_spec(const topo *t)
{
    return t->spec;
}

const struct topo_chip *topo_chip_of(const topo *t)
{
    return t->chip;
}

uint32_t topo_chips(const topo *t)
{
    return t->chips;
}

const topo *topo_slice(const topo *t)
{
    return t->factors == 1 ? t->factor[0] : NULL; /* products have more */
}

uint32_t topo_nodes(const topo *t)
{
    return t->nodes;
}

uint32_t topo_links(const topo *t)
{
    return t->links;
}

double topo_default_link_rate(const topo *t)
{
    return t->link_bytes_per_s;
}

sim_ps topo_default_latency_ps(const topo *t)
{
    return t->latency_ps;
}

uint32_t topo_axes(const topo *t)
{
    return t->grid.axes;
}

uint32_t topo_axis_size(const topo *t, uint32_t axis)
{
    assert(axis < t->grid.axes);
    return t->grid.size[axis];
}

bool topo_axis_is_closed(const topo *t, uint32_t axis)
{
    assert(axis < t->grid.axes);
    return t->grid.is_wrapped[axis];
}

bool topo_axis_is_wrapped(const topo *t, uint32_t axis)
{
    assert(axis < t->grid.axes);
    for (uint32_t b = 0; b < t->grid.axes; b++)
        if (t->grid.twist[axis][b] != 0) return false;
    return t->grid.is_wrapped[axis];
}

bool topo_axis_is_moved(const topo *t, uint32_t axis)
{
    assert(axis < t->grid.axes);
    for (uint32_t a = 0; a < t->grid.axes; a++)
        if (t->grid.twist[a][axis] != 0) return true;
    return false;
}

bool topo_is_twisted(const topo *t)
{
    return topo_lattice_is_twisted(&t->grid);
}

bool topo_is_uniform(const topo *t)
{
    for (topo_link_id l = 1; l < t->links; l++)
        if (t->link_rate[l] != t->link_rate[0] || t->link_latency_ps[l] != t->link_latency_ps[0])
            return false;
    return true;
}

bool topo_has_ports(const topo *t)
{
    return t->ports > 0;
}

uint32_t topo_ports(const topo *t)
{
    return t->ports;
}

uint32_t topo_coord(const topo *t, topo_chip_id chip, uint32_t axis)
{
    assert(chip < t->chips && axis < t->grid.axes);
    for (uint32_t a = 0; a < axis; a++)
        chip /= t->grid.size[a];
    return chip % t->grid.size[axis];
}

topo_chip_id topo_chip_at(const topo *t, const uint32_t coord[TOPO_AXES_MAX])
{
    topo_chip_id chip = 0;
    for (uint32_t a = t->grid.axes; a-- > 0;) {
        assert(coord[a] < t->grid.size[a]);
        chip = chip * t->grid.size[a] + coord[a];
    }
    return chip;
}

static bool is_same_link(const topo *t, topo_link_id a, topo_link_id b)
{
    if (a == TOPO_NONE || b == TOPO_NONE) return a == b;
    return t->link_rate[a] == t->link_rate[b] && t->link_latency_ps[a] == t->link_latency_ps[b];
}

bool topo_is_translation(const topo *t, uint32_t axis, uint32_t step)
{
    assert(axis < t->grid.axes && step > 0);
    if (t->ports == 0 || t->is_failed != NULL || t->base_routing != NULL) return false;
    if (!topo_axis_is_closed(t, axis) || t->tie == TOPO_TIE_SIMGRID) return false;
    if (topo_is_uniform(t)) return true;
    int32_t hops[TOPO_AXES_MAX] = {0};
    hops[axis] = (int32_t)step;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        topo_chip_id to = topo_translate(t, c, hops);
        for (uint32_t p = 0; p < t->ports; p++)
            if (!is_same_link(t, topo_port_link(t, c, p), topo_port_link(t, to, p))) return false;
    }
    return true;
}

bool topo_chip_is_failed(const topo *t, topo_chip_id chip)
{
    assert(chip < t->chips);
    return t->is_failed != NULL && t->is_failed[chip];
}

bool topo_is_faulty(const topo *t)
{
    return t->is_failed != NULL;
}

uint32_t topo_failed_chips(const topo *t)
{
    return t->failed_chips;
}

topo_chip_id topo_neighbour(const topo *t, topo_chip_id chip, uint32_t port)
{
    if (t->port_chip != NULL) return t->port_chip[(size_t)chip * t->ports + port];
    topo_link_id link = topo_port_link(t, chip, port);
    return link != TOPO_NONE ? t->link_to[link] : TOPO_NONE;
}

topo_link_id topo_port_link(const topo *t, topo_chip_id chip, uint32_t port)
{
    assert(chip < t->chips && port < t->ports);
    return t->port_link[(size_t)chip * t->ports + port];
}

uint32_t topo_out_links(const topo *t, topo_node_id node, topo_link_id *link)
{
    assert(node < t->nodes);
    uint32_t count = 0;
    for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++)
        link[count++] = l;
    return count;
}

uint32_t topo_max_degree(const topo *t)
{
    uint32_t most = 0;
    for (topo_node_id c = 0; c < t->nodes; c++) {
        uint32_t degree = t->out_begin[c + 1] - t->out_begin[c];
        if (degree > most) most = degree;
    }
    return most;
}

topo_node_id topo_link_from(const topo *t, topo_link_id link)
{
    assert(link < t->links);
    return t->link_from[link];
}

topo_node_id topo_link_to(const topo *t, topo_link_id link)
{
    assert(link < t->links);
    return t->link_to[link];
}

double topo_link_rate(const topo *t, topo_link_id link)
{
    assert(link < t->links);
    return t->link_rate[link];
}

sim_ps topo_link_latency_ps(const topo *t, topo_link_id link)
{
    assert(link < t->links);
    return t->link_latency_ps[link];
}

enum topo_link_kind topo_link_kind(const topo *t, topo_link_id link)
{
    assert(link < t->links);
    return t->link_kind[link];
}

const char *topo_node_format(const topo *t, topo_node_id node, char *buffer)
{
    int at = 0;
    if (node >= t->chips) {
        snprintf(buffer, 48, "switch %u", node - t->chips);
        return buffer;
    }
    for (uint32_t a = 0; a < t->grid.axes; a++)
        at += snprintf(buffer + at, 12, a > 0 ? ",%u" : "%u", topo_coord(t, node, a));
    return buffer;
}
