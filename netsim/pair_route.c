#include "netsim/pair_route.h"

#include <string.h>

#include "base/arena.h"
#include "netsim/packet_internal.h"
#include "topo/routing.h"

enum { AXES = 3 };
enum side { SIDE_SPLIT, SIDE_POSITIVE, SIDE_NEGATIVE };

/* Paths of a pair: routes [first, first + count), their shares added up in `until`. */
struct pair {
    uint64_t key; /* 1 + from * chips + to; 0: free */
    uint32_t first, count;
};

/* Hops along one axis as the bits of a packed route, by the positive way and by the negative one;
 * both alike where the topology does not leave the choice to chance. */
struct way {
    uint32_t up, down;
};

struct net_pair_routes {
    net_packet_engine *engine;
    const topo *topology;
    bool is_direct;
    uint32_t axes, size[AXES];
    bool is_wrapped[AXES];
    enum side tie[AXES];
    uint32_t *coord;       /* [chips] a byte an axis; packed routes have at most 127 hops of one */
    struct way *way[AXES]; /* [size x size] by coordinates, from x size + to */
    struct topo_paths paths;
    struct pair *pair; /* [2^bits] */
    uint32_t bits, pairs;
    uint32_t *route;
    uint64_t *until; /* of 2^63 */
    uint32_t routes, route_capacity, until_capacity;
};

/* ---- by arithmetic ---- */

/* Which way round the topology goes half of an axis, from chip 0 and back. False: neither always
 * both, nor always the same. */
static bool find_tie(net_pair_routes *r, uint32_t axis, uint32_t stride)
{
    topo_chip_id half = r->size[axis] / 2 * stride;
    r->tie[axis] = SIDE_SPLIT;
    if (!r->is_wrapped[axis] || r->size[axis] % 2 != 0) return true;
    for (int way = 0; way < 2; way++) {
        topo_route(r->topology, way == 0 ? 0 : half, way == 0 ? half : 0, &r->paths);
        topo_link_id first = r->paths.link[0];
        bool is_positive =
            topo_port_link(r->topology, topo_link_from(r->topology, first), 2 * axis) == first;
        enum side side = r->paths.count > 1 ? SIDE_SPLIT
                         : is_positive      ? SIDE_POSITIVE
                                            : SIDE_NEGATIVE;
        if (way == 1 && side != r->tie[axis]) return false;
        r->tie[axis] = side;
    }
    return true;
}

static uint32_t bits_of_way(const net_pair_routes *r, uint32_t axis, int32_t ahead, bool is_down)
{
    bool wraps = is_down ? ahead > 0 : ahead < 0;
    uint32_t hops = (uint32_t)(is_down ? -ahead : ahead) + (wraps ? r->size[axis] : 0);
    bool is_high = r->engine->router.class_rule == NET_CLASS_WRAP && wraps != is_down;
    bool is_free = r->engine->is_adaptive && 2 * hops == r->size[axis] && r->is_wrapped[axis];
    return hops << (8 * axis) | (uint32_t)is_down << (8 * axis + 7) |
           (uint32_t)is_high << (ROUTE_CLASS_BIT + axis) |
           (uint32_t)is_free << (ROUTE_FREE_BIT + axis);
}

static struct way way_of(const net_pair_routes *r, uint32_t axis, int32_t ahead)
{
    int32_t size = (int32_t)r->size[axis], forward = ahead < 0 ? ahead + size : ahead;
    if (ahead == 0) return (struct way){0, 0};
    bool is_tie = r->is_wrapped[axis] && 2 * forward == size;
    if (is_tie && r->tie[axis] == SIDE_SPLIT)
        return (struct way){bits_of_way(r, axis, ahead, false), bits_of_way(r, axis, ahead, true)};
    bool is_down = !r->is_wrapped[axis] ? ahead < 0
                   : is_tie             ? r->tie[axis] == SIDE_NEGATIVE
                                        : 2 * forward > size;
    uint32_t bits = bits_of_way(r, axis, ahead, is_down);
    return (struct way){bits, bits};
}

static void fill_ways(net_pair_routes *r, uint32_t axis)
{
    uint32_t size = r->size[axis];
    r->way[axis] = SIM_NEW(struct way, (size_t)size * size);
    for (uint32_t from = 0; from < size; from++)
        for (uint32_t to = 0; to < size; to++)
            r->way[axis][from * size + to] = way_of(r, axis, (int32_t)to - (int32_t)from);
}

static bool set_up_direct(net_pair_routes *r)
{
    const topo *t = r->topology;
    uint32_t stride = 1;
    bool is_in_order =
        topo_routing_is_adaptive(t) || strcmp(topo_routing_name(t), "dimension-order") == 0;
    if (!r->engine->is_packed || topo_is_twisted(t) || topo_is_faulty(t) || !is_in_order)
        return false;
    r->axes = topo_axes(t);
    for (uint32_t a = 0; a < r->axes; a++) {
        r->size[a] = topo_axis_size(t, a);
        r->is_wrapped[a] = topo_axis_is_wrapped(t, a);
        if (r->size[a] > 128 || !find_tie(r, a, stride)) return false;
        stride *= r->size[a];
    }
    r->coord = SIM_NEW(uint32_t, topo_chips(t));
    for (topo_chip_id c = 0; c < topo_chips(t); c++)
        for (uint32_t a = 0; a < r->axes; a++)
            r->coord[c] |= topo_coord(t, c, a) << (8 * a);
    for (uint32_t a = 0; a < r->axes; a++)
        fill_ways(r, a);
    return true;
}

/* One draw for every axis whose both ways are as short, in order. */
static uint32_t direct_route(const net_pair_routes *r, topo_chip_id from, topo_chip_id to,
                             struct sim_rng *rng)
{
    uint32_t route = 0, at = r->coord[from], end = r->coord[to];
    for (uint32_t a = 0; a < r->axes; a++) {
        uint32_t row = (at >> (8 * a) & 0xff) * r->size[a];
        struct way way = r->way[a][row + (end >> (8 * a) & 0xff)];
        route |= way.up == way.down || sim_rng_next(rng) >> 63 == 0 ? way.up : way.down;
    }
    return route;
}

/* ---- remembered ---- */

static struct pair *find_pair(struct pair *table, uint32_t bits, uint64_t key)
{
    uint64_t at = key * UINT64_C(0x9E3779B97F4A7C15) >> (64 - bits);
    while (table[at].key != 0 && table[at].key != key)
        at = (at + 1) & ((UINT64_C(1) << bits) - 1);
    return &table[at];
}

static void grow_pairs(net_pair_routes *r)
{
    uint32_t bits = r->bits + 1;
    struct pair *table = SIM_NEW(struct pair, (size_t)1 << bits);
    for (size_t i = 0; r->pair != NULL && i < (size_t)1 << r->bits; i++)
        if (r->pair[i].key != 0) *find_pair(table, bits, r->pair[i].key) = r->pair[i];
    sim_free(r->pair);
    r->pair = table;
    r->bits = bits;
}

static void remember(net_pair_routes *r, topo_chip_id from, topo_chip_id to, struct pair *pair)
{
    double sum = 0;
    topo_route(r->topology, from, to, &r->paths);
    pair->first = r->routes;
    pair->count = r->paths.count;
    SIM_GROW(r->route, r->route_capacity, r->routes + pair->count);
    SIM_GROW(r->until, r->until_capacity, r->routes + pair->count);
    for (uint32_t i = 0; i < pair->count; i++) {
        sum += r->paths.share[i];
        r->route[r->routes] = net_packet_route(r->engine, &r->paths, i);
        r->until[r->routes++] = (uint64_t)(sum * 9223372036854775808.0);
    }
    r->pairs++;
}

static uint32_t remembered_route(net_pair_routes *r, topo_chip_id from, topo_chip_id to,
                                 struct sim_rng *rng)
{
    uint64_t key = 1 + (uint64_t)from * topo_chips(r->topology) + to;
    if (2 * (uint64_t)r->pairs >= UINT64_C(1) << r->bits) grow_pairs(r);
    struct pair *pair = find_pair(r->pair, r->bits, key);
    if (pair->key == 0) {
        pair->key = key;
        remember(r, from, to, pair);
    }
    if (pair->count == 1) return r->route[pair->first];
    uint64_t draw = sim_rng_next(rng) >> 1;
    uint32_t i = 0;
    while (i + 1 < pair->count && r->until[pair->first + i] <= draw)
        i++;
    return r->route[pair->first + i];
}

/* ---- both ---- */

net_pair_routes *net_pair_routes_create(net_packet_engine *e, const topo *t)
{
    net_pair_routes *r = SIM_NEW(net_pair_routes, 1);
    r->engine = e;
    r->topology = t;
    r->bits = 9;
    r->is_direct = set_up_direct(r);
    if (!r->is_direct) grow_pairs(r);
    return r;
}

void net_pair_routes_destroy(net_pair_routes *r)
{
    if (r == NULL) return;
    topo_paths_release(&r->paths);
    sim_free(r->coord);
    for (uint32_t a = 0; a < AXES; a++)
        sim_free(r->way[a]);
    sim_free(r->pair);
    sim_free(r->route);
    sim_free(r->until);
    sim_free(r);
}

uint32_t net_pair_route(net_pair_routes *r, topo_chip_id from, topo_chip_id to, struct sim_rng *rng)
{
    return r->is_direct ? direct_route(r, from, to, rng) : remembered_route(r, from, to, rng);
}
