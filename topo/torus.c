/*
 * Tori and meshes of 1 to 4 axes: links, dimension-order routes.
 *
 * A route goes axis by axis, x first, each axis the shorter way round. Around an axis of even
 * length k two chips k/2 apart have two shortest ways; a message is then split evenly over both, so
 * that uniform traffic loads both directions alike and a route depends on the offset only, never on
 * the position.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "topo/topo_internal.h"

/* The neighbour through a port, or TOPO_NONE. */
static topo_chip_id neighbour(const topo *t, const uint32_t coord[TOPO_AXES_MAX], topo_chip_id chip,
                              uint32_t port, const uint32_t stride[TOPO_AXES_MAX])
{
    uint32_t axis = port / 2, k = t->size[axis], at = coord[axis];
    if (k == 1) return TOPO_NONE;
    bool is_positive = port % 2 == 0;
    if (is_positive && at + 1 < k) return chip + stride[axis];
    if (!is_positive && at > 0) return chip - stride[axis];
    if (!t->is_wrapped[axis]) return TOPO_NONE;
    return is_positive ? chip - (k - 1) * stride[axis] : chip + (k - 1) * stride[axis];
}

static uint64_t count_links(const topo *t, uint64_t chips)
{
    uint64_t links = 0;
    for (uint32_t a = 0; a < t->axes; a++) {
        uint64_t lines = chips / t->size[a];
        if (t->size[a] > 1) links += 2 * lines * (t->is_wrapped[a] ? t->size[a] : t->size[a] - 1);
    }
    return links;
}

static void fill(topo *t)
{
    uint32_t stride[TOPO_AXES_MAX], coord[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0, s = 1; a < t->axes; s *= t->size[a], a++)
        stride[a] = s;
    topo_link_id link = 0;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        t->out_begin[c] = link;
        for (uint32_t p = 0; p < t->ports; p++) {
            topo_chip_id to = neighbour(t, coord, c, p, stride);
            t->port_link[(size_t)c * t->ports + p] = to == TOPO_NONE ? TOPO_NONE : link;
            if (to == TOPO_NONE) continue;
            t->link_from[link] = c;
            t->link_to[link] = to;
            t->link_rate[link] = t->link_bytes_per_s;
            t->link_latency_ps[link] = t->latency_ps;
            t->link_kind[link] = TOPO_COPPER;
            link++;
        }
        for (uint32_t a = 0; a < t->axes && ++coord[a] == t->size[a]; a++)
            coord[a] = 0;
    }
    t->out_begin[t->chips] = link;
    assert(link == t->links);
}

/* The one or two signed hop counts along an axis from `from` to `to`. */
static uint32_t axis_hops(const topo *t, uint32_t axis, uint32_t from, uint32_t to, int32_t hops[2])
{
    int32_t k = (int32_t)t->size[axis], direct = (int32_t)to - (int32_t)from;
    if (!t->is_wrapped[axis] || direct == 0) {
        hops[0] = direct;
        return 1;
    }
    int32_t positive = (direct + k) % k, negative = positive - k;
    if (2 * positive == k && t->tie == TOPO_TIE_SPLIT) {
        hops[0] = positive;
        hops[1] = negative;
        return 2;
    }
    bool take_positive = 2 * positive < k || (2 * positive == k && t->tie == TOPO_TIE_POSITIVE);
    hops[0] = take_positive ? positive : negative;
    return 1;
}

static topo_chip_id push_hops(const topo *t, topo_chip_id chip, uint32_t axis, int32_t hops,
                              struct topo_paths *paths)
{
    uint32_t port = 2 * axis + (hops < 0);
    for (int32_t left = abs(hops); left > 0; left--) {
        topo_link_id link = topo_port_link(t, chip, port);
        assert(link != TOPO_NONE);
        topo_paths_push(paths, link);
        chip = t->link_to[link];
    }
    return chip;
}

void topo_walk(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX],
               struct topo_paths *paths)
{
    assert(topo_has_ports(t));
    topo_paths_reset(paths);
    for (uint32_t a = 0; a < t->axes; a++)
        src = push_hops(t, src, a, hops[a], paths);
    topo_paths_close(paths);
}

topo_chip_id topo_translate(const topo *t, topo_chip_id src, const int32_t hops[TOPO_AXES_MAX])
{
    topo_chip_id chip = 0, rest = src;
    uint32_t stride = 1;
    for (uint32_t a = 0; a < t->axes; a++) {
        int64_t k = t->size[a], at = (int64_t)(rest % t->size[a]) + hops[a];
        assert(t->is_wrapped[a] || (at >= 0 && at < k));
        at %= k;
        if (at < 0) at += k;
        chip += (uint32_t)at * stride;
        stride *= t->size[a];
        rest /= t->size[a];
    }
    return chip;
}

static void torus_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    int32_t hops[TOPO_AXES_MAX][2];
    uint32_t ways[TOPO_AXES_MAX], count = 1;
    for (uint32_t a = 0; a < t->axes; a++) {
        ways[a] = axis_hops(t, a, topo_coord(t, src, a), topo_coord(t, dst, a), hops[a]);
        count *= ways[a];
    }
    topo_paths_reset(paths);
    for (uint32_t i = 0; i < count; i++) { /* i picks one way per axis, as mixed-radix digits */
        topo_chip_id at = src;
        for (uint32_t a = 0, digit = i; a < t->axes; digit /= ways[a], a++)
            at = push_hops(t, at, a, hops[a][digit % ways[a]], paths);
        assert(at == dst);
        topo_paths_close(paths);
    }
}

static uint32_t torus_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    uint32_t distance = 0;
    for (uint32_t a = 0; a < t->axes; a++) {
        int32_t hops[2];
        axis_hops(t, a, topo_coord(t, src, a), topo_coord(t, dst, a), hops);
        distance += (uint32_t)abs(hops[0]);
    }
    return distance;
}

static const struct topo_family torus_family = {"torus", torus_route, torus_distance};

enum sim_status topo_torus_build(topo *t, struct sim_error *err)
{
    uint64_t chips = 1;
    for (uint32_t a = 0; a < t->axes; a++) {
        chips *= t->size[a];
        if (chips >= TOPO_NONE)
            return sim_error_set(err, SIM_EDATA, "topology %s has more than 4,294,967,294 chips",
                                 t->spec);
    }
    t->family = &torus_family;
    t->ports = 2 * t->axes;
    SIM_TRY(topo_reserve(t, chips, count_links(t, chips), err));
    fill(t);
    return SIM_OK;
}
