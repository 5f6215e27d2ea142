/*
 * Fault-tolerant routing on tori and meshes: dimension order with one free hop.
 *
 * A candidate route of a pair is a walk of minimal hops axis by axis (channels 1 and 2, changing
 * where an axis closes), with at most one free hop through any port, before it (channel 0) or after
 * it (channel 3). It is usable when none of its links is missing. Channels only rise along a route,
 * so the dimension order in the middle stays free of deadlock. (Zu et al., "Resiliency at Scale",
 * NSDI 2024, use the free hop first, "wild-first"; a switch of the last dimension that is dark
 * needs it last: the last dimension is walked in the destination's own column.)
 *
 * Neighbours whose cable is missing take one detour, the first of the shortest usable candidates,
 * as routing tables of real pods do: a ring over a broken cable keeps half of its throughput,
 * sharing the next line's links. For other pairs, on up to TABLE_CHIPS_MAX chips, each pair has
 * UNITS equal parts, each on one candidate: first spread over the shortest usable ones, then, again
 * and again, parts on the busiest links move to the candidate whose busiest link under uniform
 * traffic is least busy, until nothing gets better. Larger topologies take the shortest usable
 * candidates.
 *
 * Where no candidate is usable the pair goes up* down* (channel 4).
 */
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "topo/topo_internal.h"

#define UNITS           4
#define VECTORS         TOPO_VECTORS_MAX
#define TABLE_CHIPS_MAX 512
#define SWEEPS_MAX      40

/* Virtual channels, in the order a route may use them. */
enum { CHANNEL_FIRST, CHANNEL_ORDER, CHANNEL_BEHIND, CHANNEL_LAST, CHANNEL_UP_DOWN, CHANNELS };

#define NO_CANDIDATE UINT16_MAX

/* Codes are detour * VECTORS + which minimal vector; detour 0 is none, then the ports to take
 * first, then the ports to come from last. */
struct trail {
    uint32_t length;
    topo_link_id link[512];
    uint8_t channel[512];
};

/* Minimal vectors of a coordinate difference, once they have been asked for. */
struct known_vectors {
    uint8_t count; /* 0: not asked for yet */
    int16_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX];
};

struct topo_fault_table {
    struct known_vectors *known; /* [product of 2 size - 1] */
    uint16_t *unit;              /* [chips][chips][UNITS] candidate codes */
    double *load;                /* [links] while it is being made */
};

/* ---- candidates ---- */

static struct known_vectors *known_of(const topo *t, const int32_t difference[TOPO_AXES_MAX])
{
    size_t place = 0;
    for (uint32_t a = 0; a < t->grid.axes; a++)
        place = place * (2 * t->grid.size[a] - 1) +
                (size_t)(difference[a] + (int32_t)t->grid.size[a] - 1);
    return &t->fault_table->known[place];
}

static void learn_vectors(const topo *t, const int32_t difference[TOPO_AXES_MAX],
                          struct known_vectors *known)
{
    int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX];
    known->count = (uint8_t)topo_lattice_minimal(&t->grid, difference, hops);
    for (uint32_t v = 0; v < known->count; v++)
        for (uint32_t a = 0; a < TOPO_AXES_MAX; a++)
            known->hops[v][a] = (int16_t)hops[v][a];
}

static uint32_t minimal_vectors(const topo *t, topo_chip_id src, topo_chip_id dst,
                                int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX])
{
    int32_t difference[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < t->grid.axes; a++)
        difference[a] = (int32_t)topo_coord(t, dst, a) - (int32_t)topo_coord(t, src, a);
    if (t->fault_table->known == NULL) return topo_lattice_minimal(&t->grid, difference, hops);
    struct known_vectors *known = known_of(t, difference);
    if (known->count == 0) learn_vectors(t, difference, known);
    for (uint32_t v = 0; v < known->count; v++)
        for (uint32_t a = 0; a < TOPO_AXES_MAX; a++)
            hops[v][a] = known->hops[v][a];
    return known->count;
}

static bool push_step(const topo *t, topo_chip_id *at, uint32_t port, uint8_t channel,
                      struct trail *trail)
{
    topo_link_id link = topo_port_link(t, *at, port);
    if (link == TOPO_NONE || trail->length == 512) return false;
    trail->link[trail->length] = link;
    trail->channel[trail->length++] = channel;
    *at = t->link_to[link];
    return true;
}

/* Walk `hops` from `at`; false when a link is missing. */
static bool push_vector(const topo *t, topo_chip_id at, const int32_t hops[TOPO_AXES_MAX],
                        struct trail *trail)
{
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        uint32_t port = 2 * a + (hops[a] < 0), edge = port % 2 == 0 ? t->grid.size[a] - 1 : 0;
        uint8_t channel = CHANNEL_ORDER;
        for (int32_t left = abs(hops[a]); left > 0; left--) {
            bool is_edge = topo_coord(t, at, a) == edge;
            if (!push_step(t, &at, port, channel, trail)) return false;
            if (is_edge) channel = CHANNEL_BEHIND;
        }
    }
    return true;
}

/* Where the walk in the middle starts and ends; false when the detour has no cable. */
static bool middle(const topo *t, uint32_t detour, topo_chip_id *src, topo_chip_id *dst)
{
    if (detour == 0) return true;
    bool is_first = detour <= t->ports;
    /* the last hop arrives at dst through the port opposite to the one it is named by */
    topo_chip_id *end = is_first ? src : dst;
    uint32_t port = is_first ? detour - 1 : detour - 1 - t->ports;
    topo_link_id link = topo_port_link(t, *end, port);
    if (link == TOPO_NONE) return false;
    *end = t->link_to[link];
    return is_first || topo_port_link(t, *end, port ^ 1u) != TOPO_NONE;
}

/* The links of a candidate; `hops` are those between the ends of its middle. */
static bool walk_candidate(const topo *t, topo_chip_id src, topo_chip_id dst, uint32_t detour,
                           const int32_t hops[TOPO_AXES_MAX], struct trail *trail)
{
    topo_chip_id from = src, to = dst, at = src;
    trail->length = 0;
    if (!middle(t, detour, &from, &to)) return false;
    if (detour > 0 && detour <= t->ports && !push_step(t, &at, detour - 1, CHANNEL_FIRST, trail))
        return false;
    if (!push_vector(t, from, hops, trail)) return false;
    at = to;
    return detour <= t->ports ||
           push_step(t, &at, (detour - 1 - t->ports) ^ 1u, CHANNEL_LAST, trail);
}

static bool candidate_trail(const topo *t, topo_chip_id src, topo_chip_id dst, uint16_t code,
                            struct trail *trail)
{
    int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX];
    uint32_t detour = code / VECTORS, vector = code % VECTORS;
    topo_chip_id from = src, to = dst;
    return middle(t, detour, &from, &to) && vector < minimal_vectors(t, from, to, hops) &&
           walk_candidate(t, src, dst, detour, hops[vector], trail);
}

/* Usable candidates of a pair, in turn by code. */
struct candidates {
    topo_chip_id src, dst;
    uint32_t detour, vector, vectors;
    int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX];
    struct trail trail; /* of the one at hand */
    uint16_t code;
};

static void candidates_begin(struct candidates *c, topo_chip_id src, topo_chip_id dst)
{
    c->src = src;
    c->dst = dst;
    c->detour = UINT32_MAX; /* next is 0 */
    c->vector = c->vectors = 0;
}

static bool candidates_next(const topo *t, struct candidates *c)
{
    for (;;) {
        while (c->vector == c->vectors) {
            if (++c->detour > 2 * t->ports) return false;
            topo_chip_id from = c->src, to = c->dst;
            c->vector = 0;
            c->vectors =
                middle(t, c->detour, &from, &to) ? minimal_vectors(t, from, to, c->hops) : 0;
        }
        uint32_t vector = c->vector++;
        c->code = (uint16_t)(c->detour * VECTORS + vector);
        if (walk_candidate(t, c->src, c->dst, c->detour, c->hops[vector], &c->trail)) return true;
    }
}

/* The shortest usable candidates of a pair, by code; how many. Minimal ones are enough. */
static uint32_t shortest(const topo *t, topo_chip_id src, topo_chip_id dst, uint16_t *code)
{
    struct candidates c;
    uint32_t count = 0, length = UINT32_MAX;
    for (candidates_begin(&c, src, dst); candidates_next(t, &c);) {
        if (count > 0 && code[0] < VECTORS && c.code >= VECTORS) break;
        if (c.trail.length > length) continue;
        if (c.trail.length < length) count = 0;
        length = c.trail.length;
        code[count++] = c.code;
    }
    return count;
}

#define CODES_MAX ((4 * TOPO_AXES_MAX + 1) * VECTORS)

/* ---- without a table ---- */

static void push_trail(const struct trail *trail, struct topo_paths *paths)
{
    for (uint32_t i = 0; i < trail->length; i++)
        topo_paths_push(paths, trail->link[i], trail->channel[i]);
    topo_paths_close(paths, 1);
}

static void route_shortest(const topo *t, topo_chip_id src, topo_chip_id dst,
                           struct topo_paths *paths)
{
    uint16_t code[CODES_MAX];
    uint32_t count = shortest(t, src, dst, code);
    bool is_neighbour = topo_lattice_distance(&t->grid, src, dst) == 1;
    struct trail trail;
    if (is_neighbour && count > 0 && code[0] >= VECTORS) count = 1;
    for (uint32_t i = 0; i < count; i++)
        if (candidate_trail(t, src, dst, code[i], &trail)) push_trail(&trail, paths);
    if (count == 0) topo_up_down_path(t, src, dst, CHANNEL_UP_DOWN, paths);
    topo_paths_share_evenly(paths);
}

/* ---- the table ---- */

static uint16_t *units_of(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return t->fault_table->unit + ((size_t)src * t->chips + dst) * UNITS;
}

static bool is_routed(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return src != dst && !topo_chip_is_failed(t, src) && !topo_chip_is_failed(t, dst);
}

static void add_load(const topo *t, const struct trail *trail, double amount)
{
    for (uint32_t i = 0; i < trail->length; i++)
        t->fault_table->load[trail->link[i]] += amount;
}

static double busiest_of(const topo *t, const struct trail *trail)
{
    double busiest = 0;
    for (uint32_t i = 0; i < trail->length; i++)
        if (t->fault_table->load[trail->link[i]] > busiest)
            busiest = t->fault_table->load[trail->link[i]];
    return busiest;
}

/* Parts of every pair on its shortest usable candidates, in turn. */
static void spread_parts(const topo *t)
{
    uint16_t code[CODES_MAX];
    struct trail trail;
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            uint32_t count = is_routed(t, src, dst) ? shortest(t, src, dst, code) : 0;
            for (uint32_t u = 0; u < UNITS; u++) {
                units_of(t, src, dst)[u] = count > 0 ? code[u % count] : NO_CANDIDATE;
                if (count > 0 && candidate_trail(t, src, dst, code[u % count], &trail))
                    add_load(t, &trail, 1);
            }
        }
}

/* Move one part to the candidate whose busiest link is least busy; its load is already taken
 * off. */
static bool move_part(const topo *t, topo_chip_id src, topo_chip_id dst, uint16_t *unit,
                      double busiest)
{
    uint16_t best = *unit;
    struct candidates c;
    double least = busiest - 1.5; /* better by more than the part itself, or it only swaps places */
    for (candidates_begin(&c, src, dst); candidates_next(t, &c);) {
        double b = busiest_of(t, &c.trail);
        if (b >= least) continue;
        least = b;
        best = c.code;
    }
    bool is_moved = best != *unit;
    *unit = best;
    return is_moved;
}

/* One pass over all parts that lie on links nearly as busy as the busiest. How many moved. */
static uint32_t sweep(const topo *t, double threshold)
{
    uint32_t moved = 0;
    struct trail trail;
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++)
            for (uint32_t u = 0; u < UNITS && is_routed(t, src, dst); u++) {
                uint16_t *unit = &units_of(t, src, dst)[u];
                if (*unit == NO_CANDIDATE) break;
                candidate_trail(t, src, dst, *unit, &trail);
                double busiest = busiest_of(t, &trail);
                if (busiest < threshold) continue;
                add_load(t, &trail, -1);
                moved += move_part(t, src, dst, unit, busiest);
                candidate_trail(t, src, dst, *unit, &trail);
                add_load(t, &trail, 1);
            }
    return moved;
}

static double busiest_link(const topo *t)
{
    double busiest = 0;
    for (topo_link_id l = 0; l < t->links; l++)
        if (t->fault_table->load[l] > busiest) busiest = t->fault_table->load[l];
    return busiest;
}

static void make_table(const topo *t)
{
    struct topo_fault_table *table = t->fault_table;
    table->unit = SIM_NEW(uint16_t, (size_t)t->chips * t->chips * UNITS);
    table->load = SIM_NEW(double, t->links);
    spread_parts(t);
    for (uint32_t i = 0; i < SWEEPS_MAX; i++) {
        double before = busiest_link(t);
        if (sweep(t, 0.995 * before) == 0 || busiest_link(t) >= before) break;
    }
    sim_free(table->load);
    table->load = NULL;
}

static void route_by_table(const topo *t, topo_chip_id src, topo_chip_id dst,
                           struct topo_paths *paths)
{
    const uint16_t *unit = units_of(t, src, dst);
    struct trail trail;
    if (unit[0] == NO_CANDIDATE) {
        topo_up_down_path(t, src, dst, CHANNEL_UP_DOWN, paths);
        return;
    }
    for (uint32_t u = 0; u < UNITS; u++) {
        uint32_t same = 0, earlier = 0;
        for (uint32_t v = 0; v < UNITS; v++) {
            same += unit[v] == unit[u];
            earlier += v < u && unit[v] == unit[u];
        }
        if (earlier > 0 || !candidate_trail(t, src, dst, unit[u], &trail)) continue;
        push_trail(&trail, paths);
        paths->share[paths->count - 1] = (double)same / UNITS;
    }
}

/* ---- the routing ---- */

static void fault_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    topo_paths_reset(paths);
    if (src == dst) {
        topo_paths_close(paths, 1);
        return;
    }
    bool has_table = t->chips <= TABLE_CHIPS_MAX && topo_lattice_distance(&t->grid, src, dst) > 1;
    if (has_table && t->fault_table->unit == NULL) make_table(t);
    if (has_table)
        route_by_table(t, src, dst, paths);
    else
        route_shortest(t, src, dst, paths);
}

/* As it is with the faults: the links of the shortest path that is taken. */
static uint32_t fault_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    struct topo_paths paths = {0};
    topo_paths_reset(&paths);
    if (src != dst) route_shortest(t, src, dst, &paths);
    uint32_t distance = src == dst ? 0 : paths.begin[1];
    topo_paths_release(&paths);
    return distance;
}

static const struct topo_routing fault_tolerant = {"fault-tolerant", fault_route, fault_distance,
                                                   CHANNELS};

enum sim_status topo_fault_routing(topo *t, struct sim_error *err)
{
    if (t->ports == 0) return topo_graph_route(t, err);
    t->fault_table = SIM_NEW(struct topo_fault_table, 1);
    if (t->chips <= TABLE_CHIPS_MAX) {
        size_t differences = 1;
        for (uint32_t a = 0; a < t->grid.axes; a++)
            differences *= 2 * t->grid.size[a] - 1;
        t->fault_table->known = SIM_NEW(struct known_vectors, differences);
    }
    t->routing = &fault_tolerant;
    return SIM_OK;
}

void topo_fault_table_destroy(struct topo_fault_table *table)
{
    if (table == NULL) return;
    sim_free(table->known);
    sim_free(table->unit);
    sim_free(table->load);
    sim_free(table);
}
