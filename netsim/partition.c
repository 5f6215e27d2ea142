#include "netsim/partition.h"

#include <stdlib.h>

#include "base/arena.h"
#include "netsim/graph_cut.h"
#include "netsim/mpi.h"

/* ---- by coordinates ---- */

struct point {
    uint32_t node;
    uint32_t coord[TOPO_AXES_MAX]; /* the axis to be cut first */
};

static int compare_points(const void *left, const void *right)
{
    const struct point *a = left, *b = right;
    for (uint32_t i = 0; i < TOPO_AXES_MAX; i++)
        if (a->coord[i] != b->coord[i]) return a->coord[i] < b->coord[i] ? -1 : 1;
    return 0;
}

static uint32_t longest_side(const struct point *point, uint32_t count)
{
    uint32_t longest = 0, most = 0;
    for (uint32_t axis = 0; axis < TOPO_AXES_MAX; axis++) {
        uint32_t low = UINT32_MAX, high = 0;
        for (uint32_t i = 0; i < count; i++) {
            if (point[i].coord[axis] < low) low = point[i].coord[axis];
            if (point[i].coord[axis] > high) high = point[i].coord[axis];
        }
        if (high - low < most || (high - low == most && most > 0)) continue;
        most = high - low;
        longest = axis;
    }
    return longest;
}

static void swap_axes(struct point *point, uint32_t count, uint32_t axis)
{
    for (uint32_t i = 0; i < count; i++) {
        uint32_t first = point[i].coord[0];
        point[i].coord[0] = point[i].coord[axis];
        point[i].coord[axis] = first;
    }
}

/* A plane that the cut falls into is cut itself, so that sizes come out even. */
static void bisect(struct point *point, uint32_t count, uint32_t first_part, uint32_t parts,
                   uint32_t *part)
{
    if (parts == 1) {
        for (uint32_t i = 0; i < count; i++)
            part[point[i].node] = first_part;
        return;
    }
    uint32_t low_parts = parts / 2, low = (uint32_t)((uint64_t)count * low_parts / parts);
    swap_axes(point, count, count > 0 ? longest_side(point, count) : 0);
    if (count > 0) qsort(point, count, sizeof *point, compare_points);
    bisect(point, low, first_part, low_parts, part);
    bisect(point + low, count - low, first_part + low_parts, parts - low_parts, part);
}

static void cut_by_coordinates(const topo *t, uint32_t parts, uint32_t *part)
{
    uint32_t chips = topo_chips(t);
    struct point *point = SIM_NEW(struct point, chips);
    for (topo_chip_id c = 0; c < chips; c++) {
        point[c].node = c;
        for (uint32_t a = 0; a < topo_axes(t); a++)
            point[c].coord[a] = topo_coord(t, c, a);
    }
    bisect(point, chips, 0, parts, part);
    sim_free(point);
}

/* ---- */

static void measure(const topo *t, struct net_partition *p)
{
    uint32_t *nodes = SIM_NEW(uint32_t, p->parts);
    for (topo_link_id l = 0; l < topo_links(t); l++)
        p->cut_links += p->part[topo_link_from(t, l)] != p->part[topo_link_to(t, l)];
    for (topo_node_id n = 0; n < topo_nodes(t); n++)
        nodes[p->part[n]]++;
    p->fewest_nodes = UINT32_MAX;
    for (uint32_t i = 0; i < p->parts; i++) {
        if (nodes[i] > p->most_nodes) p->most_nodes = nodes[i];
        if (nodes[i] < p->fewest_nodes) p->fewest_nodes = nodes[i];
    }
    sim_free(nodes);
}

/* Libraries may differ from host to host: rank 0 decides. */
void net_partition_make_ranks(const topo *t, struct net_partition *out)
{
    net_partition_make(t, net_mpi_ranks(), out);
    net_mpi_broadcast(out->part, topo_nodes(t));
    out->cut_links = out->most_nodes = 0;
    measure(t, out);
}

void net_partition_make(const topo *t, uint32_t parts, struct net_partition *out)
{
    uint32_t nodes = topo_nodes(t);
    *out = (struct net_partition){.parts = parts, .part = SIM_NEW(uint32_t, nodes)};
    if (topo_has_ports(t))
        cut_by_coordinates(t, parts, out->part);
    else if (parts >= nodes)
        for (topo_node_id n = 0; n < nodes; n++)
            out->part[n] = n;
    else if (parts > 1)
        net_graph_cut(t, parts, out->part);
    measure(t, out);
}

void net_partition_release(struct net_partition *p)
{
    sim_free(p->part);
    *p = (struct net_partition){0};
}
