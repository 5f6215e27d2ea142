/*
 * What the families of fabrics share.
 */
#include "topo/fabric_internal.h"

#include "base/arena.h"
#include "base/quantity.h"

enum sim_status topo_edges_check(const topo *t, uint64_t nodes, uint64_t links,
                                 struct sim_error *err)
{
    char a[SIM_QUANTITY_TEXT], b[SIM_QUANTITY_TEXT];
    if (nodes >= TOPO_NONE || links >= TOPO_NONE)
        return sim_error_set(
            err, SIM_EDATA, "topology %s has over 4,294,967,294 chips, switches or links", t->spec);
    /* the list of links (up to twice as long as it is full) and the topology's own arrays */
    uint64_t wanted = links * (2 * sizeof(struct topo_edge) + 48) + nodes * 48;
    uint64_t available = sim_memory_available_bytes();
    if (available > 0 && wanted > available)
        return sim_error_set(err, SIM_ERESOURCE,
                             "topology %s needs about %s of memory, this machine has %s free",
                             t->spec, sim_bytes_format(wanted >> 20 << 20, a),
                             sim_bytes_format(available >> 20 << 20, b));
    return SIM_OK;
}

enum sim_status topo_graph_check(const topo *t, uint64_t nodes, uint64_t links,
                                 struct sim_error *err)
{
    char count[SIM_QUANTITY_TEXT];
    if (nodes > TOPO_GRAPH_NODES_MAX)
        return sim_error_set(err, SIM_ERESOURCE,
                             "topology %s has %s chips and switches, graphs may have %d", t->spec,
                             sim_count_format(nodes, count), TOPO_GRAPH_NODES_MAX);
    return topo_edges_check(t, nodes, links, err);
}

void topo_edges_push(struct topo_edges *edges, struct topo_edge edge)
{
    SIM_GROW(edges->edge, edges->capacity, edges->count + 1);
    edges->edge[edges->count++] = edge;
}

double topo_half_of_chips_cut(const topo *t)
{
    double rate = 0;
    for (topo_link_id l = 0; l < t->out_begin[t->chips / 2]; l++)
        if (t->link_to[l] >= t->chips / 2) rate += t->link_rate[l];
    return rate;
}
