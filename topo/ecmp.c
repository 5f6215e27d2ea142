/*
 * Graphs in general: links sorted by their start, hop counts between all nodes, and equal-cost
 * multipath routing.
 *
 * A message goes over all shortest paths: at every node it splits evenly over the links that lead
 * one hop nearer. At most PATHS_MAX paths are taken. Where there are more, a node that may use up
 * only b of its w links takes every (w/b)-th, from link src mod w on: the sources below one switch
 * begin at different links and so fill all of them evenly (source-mod-k, as in Zahavi, "Fat-tree
 * routing and node ordering providing contention free traffic", JPDC 72(11), 2012).
 *
 * A path's n-th link uses virtual channel n, so that channels rise along every path and no cycle of
 * waiting can close.
 *
 * Hop counts take nodes^2 x 2 bytes, found by one breadth-first search per node.
 */
#include <stdio.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "topo/topo_internal.h"

#define PATHS_MAX   64
#define UNREACHABLE UINT16_MAX
#define HOPS_MAX    256 /* a virtual channel each, so they fit uint8_t */

void topo_edges_add(struct topo_edges *edges, topo_node_id a, topo_node_id b, double bytes_per_s,
                    sim_ps latency_ps, enum topo_link_kind kind)
{
    SIM_GROW(edges->edge, edges->capacity, edges->count + 2);
    edges->edge[edges->count++] = (struct topo_edge){a, b, bytes_per_s, latency_ps, kind};
    edges->edge[edges->count++] = (struct topo_edge){b, a, bytes_per_s, latency_ps, kind};
}

/* Counting sort by the link's start; links of one node keep the order they were added in. */
static void fill_links(topo *t, const struct topo_edges *edges)
{
    uint32_t *next = SIM_NEW(uint32_t, (size_t)t->nodes + 1);
    for (uint32_t i = 0; i < edges->count; i++)
        t->out_begin[edges->edge[i].from + 1]++;
    for (topo_node_id n = 0; n < t->nodes; n++)
        t->out_begin[n + 1] += t->out_begin[n];
    for (topo_node_id n = 0; n < t->nodes; n++)
        next[n] = t->out_begin[n];
    for (uint32_t i = 0; i < edges->count; i++) {
        const struct topo_edge *e = &edges->edge[i];
        topo_link_id link = next[e->from]++;
        topo_link_set(t, link, e->from, e->to, e->kind);
        t->link_rate[link] = e->bytes_per_s;
        t->link_latency_ps[link] = e->latency_ps;
    }
    sim_free(next);
}

enum sim_status topo_edges_build(topo *t, struct topo_edges *edges, uint32_t chips,
                                 uint32_t switches, struct sim_error *err)
{
    enum sim_status status = topo_reserve(t, chips, (uint64_t)chips + switches, edges->count, err);
    if (status == SIM_OK) fill_links(t, edges);
    sim_free(edges->edge);
    *edges = (struct topo_edges){0};
    return status;
}

/* ---- hop counts ---- */

static uint16_t *hops_from(const topo *t, topo_node_id from)
{
    return t->hops_to + (size_t)from * t->nodes;
}

/* Breadth first from `from`; every link has a twin the other way, so the way back is as long. */
static void search(topo *t, topo_node_id from, topo_node_id *queue)
{
    uint16_t *hops = hops_from(t, from);
    uint32_t head = 0, tail = 0;
    for (topo_node_id n = 0; n < t->nodes; n++)
        hops[n] = UNREACHABLE;
    hops[from] = 0;
    queue[tail++] = from;
    while (head < tail) {
        topo_node_id node = queue[head++];
        for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++) {
            if (hops[t->link_to[l]] != UNREACHABLE) continue;
            hops[t->link_to[l]] = (uint16_t)(hops[node] + 1);
            queue[tail++] = t->link_to[l];
        }
    }
}

static enum sim_status check_connected(const topo *t, struct sim_error *err)
{
    char text[200] = "", chip[48];
    size_t at = 0;
    uint32_t cut_off = 0;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        if (hops_from(t, 0)[c] != UNREACHABLE) continue;
        if (cut_off++ < 8)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", at > 0 ? "; " : "",
                                   topo_node_format(t, c, chip));
    }
    if (cut_off == 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "topology %s: %u chips are cut off from chip 0: %s%s",
                         t->spec, cut_off, text, cut_off > 8 ? "; ..." : "");
}

/* ---- routing ---- */

struct walk {
    const topo *t;
    topo_chip_id src, dst;
    struct topo_paths *paths;
    topo_link_id link[HOPS_MAX]; /* so far */
    uint32_t length;
};

static bool is_nearer(const struct walk *w, topo_node_id node, topo_link_id link)
{
    const uint16_t *hops = hops_from(w->t, w->dst);
    return hops[w->t->link_to[link]] < hops[node];
}

static void close_walk(struct walk *w, double share)
{
    for (uint32_t i = 0; i < w->length; i++)
        topo_paths_push(w->paths, w->link[i], (uint8_t)i);
    topo_paths_close(w->paths, share);
}

/* Is link `i` of `ways` one of the `taken` that lie evenly apart from `first` on? */
static bool is_taken(uint32_t i, uint32_t ways, uint32_t taken, uint32_t first)
{
    uint64_t place = (i + ways - first) % ways;
    return place * taken % ways < taken; /* a multiple of ways/taken lies in (place - 1, place] */
}

static void walk_on(struct walk *w, topo_node_id node, uint32_t paths, double share)
{
    const topo *t = w->t;
    if (node == w->dst) {
        close_walk(w, share);
        return;
    }
    uint32_t ways = 0, way = 0;
    for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++)
        ways += is_nearer(w, node, l);
    uint32_t taken = ways < paths ? ways : paths;
    for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++) {
        if (!is_nearer(w, node, l) || !is_taken(way++, ways, taken, w->src % ways)) continue;
        w->link[w->length++] = l;
        walk_on(w, t->link_to[l], paths / taken, share / taken);
        w->length--;
    }
}

void topo_ecmp_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    struct walk w = {.t = t, .src = src, .dst = dst, .paths = paths};
    topo_paths_reset(paths);
    walk_on(&w, src, PATHS_MAX, 1);
}

uint32_t topo_ecmp_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return hops_from(t, src)[dst];
}

/* One channel per hop of the longest path. */
static const struct topo_routing ecmp = {"ecmp", topo_ecmp_route, topo_ecmp_distance, 0, NULL};

static enum sim_status too_large(const topo *t, uint64_t nodes, struct sim_error *err)
{
    char count[SIM_QUANTITY_TEXT];
    return sim_error_set(err, SIM_ERESOURCE,
                         "topology %s has %s chips and switches, graphs may have %d", t->spec,
                         sim_count_format(nodes, count), TOPO_GRAPH_NODES_MAX);
}

static enum sim_status check_hops(const topo *t, struct sim_error *err)
{
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            uint32_t hops = hops_from(t, src)[dst];
            if (hops > HOPS_MAX && hops != UNREACHABLE)
                return sim_error_set(err, SIM_ERESOURCE,
                                     "topology %s: from chip %u to %u it is %u hops, ECMP takes "
                                     "up to %d",
                                     t->spec, src, dst, hops, HOPS_MAX);
        }
    return SIM_OK;
}

enum sim_status topo_graph_route(topo *t, struct sim_error *err)
{
    if (t->nodes > TOPO_GRAPH_NODES_MAX) return too_large(t, t->nodes, err);
    t->routing = &ecmp;
    if (t->hops_to == NULL) t->hops_to = SIM_NEW(uint16_t, (size_t)t->nodes * t->nodes);
    topo_node_id *queue = SIM_NEW(topo_node_id, t->nodes);
    for (topo_node_id n = 0; n < t->nodes; n++)
        search(t, n, queue);
    sim_free(queue);
    return check_hops(t, err);
}

enum sim_status topo_graph_build(topo *t, struct topo_edges *edges, uint32_t chips,
                                 uint32_t switches, struct sim_error *err)
{
    uint64_t all = (uint64_t)chips + switches;
    if (all > TOPO_GRAPH_NODES_MAX) {
        sim_free(edges->edge);
        *edges = (struct topo_edges){0};
        return too_large(t, all, err);
    }
    SIM_TRY(topo_edges_build(t, edges, chips, switches, err));
    SIM_TRY(topo_graph_route(t, err));
    return check_connected(t, err);
}
