/*
 * Valiant routing: every pair over intermediate chips drawn at random, which turns any pattern into
 * two uniform ones at the price of twice the distance.
 *
 * WAYS intermediates per pair, the same for the same seed and pair; each carries an equal share and
 * takes the first path of the default routing on both legs. The second leg uses channels above
 * those of the first.
 *
 * Source: Valiant & Brebner, "Universal schemes for parallel communication", STOC 1981.
 */
#include "base/arena.h"
#include "base/rng.h"
#include "topo/topo_internal.h"

#define WAYS 8

static void push_leg(const topo *t, topo_chip_id from, topo_chip_id to, uint8_t channel,
                     struct topo_paths *leg, struct topo_paths *paths)
{
    t->base_routing->route(t, from, to, leg);
    for (uint32_t h = leg->begin[0]; h < leg->begin[1]; h++)
        topo_paths_push(paths, leg->link[h], (uint8_t)(channel + leg->channel[h]));
}

static uint8_t second_leg_channel(const topo *t, const struct topo_paths *paths)
{
    if (t->base_routing->channels > 0) return (uint8_t)t->base_routing->channels;
    uint32_t end = paths->begin[paths->count + 1]; /* a channel per hop: go on counting */
    return end > paths->begin[paths->count] ? (uint8_t)(paths->channel[end - 1] + 1) : 0;
}

static void valiant_route(const topo *t, topo_chip_id src, topo_chip_id dst,
                          struct topo_paths *paths)
{
    struct sim_rng rng;
    if (paths->leg == NULL) paths->leg = SIM_NEW(struct topo_paths, 1);
    topo_paths_reset(paths);
    sim_rng_init(&rng, t->seed, (uint64_t)src * t->chips + dst);
    for (uint32_t i = 0; i < WAYS; i++) {
        topo_chip_id middle = src;
        do
            middle = (topo_chip_id)sim_rng_below(&rng, t->chips);
        while (topo_chip_is_failed(t, middle));
        if (src == dst) middle = src;
        push_leg(t, src, middle, 0, paths->leg, paths);
        push_leg(t, middle, dst, second_leg_channel(t, paths), paths->leg, paths);
        topo_paths_close(paths, 1);
        if (src == dst) break;
    }
    topo_paths_share_evenly(paths);
}

static uint32_t valiant_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return t->base_routing->distance(t, src, dst);
}

const struct topo_routing topo_valiant_routing_table = {
    .name = "valiant", .route = valiant_route, .distance = valiant_distance};

void topo_valiant_routing(topo *t, uint64_t seed)
{
    t->routing = &topo_valiant_routing_table;
    t->seed = seed;
}
