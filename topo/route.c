/*
 * Sets of paths, and routing by family.
 */
#include "topo/route.h"

#include "base/arena.h"
#include "topo/topo_internal.h"

void topo_paths_release(struct topo_paths *paths)
{
    sim_free(paths->begin);
    sim_free(paths->share);
    sim_free(paths->link);
    sim_free(paths->channel);
    if (paths->leg != NULL) topo_paths_release(paths->leg);
    sim_free(paths->leg);
    *paths = (struct topo_paths){0};
}

void topo_paths_reset(struct topo_paths *paths)
{
    SIM_GROW(paths->begin, paths->begin_capacity, 2);
    paths->count = 0;
    paths->begin[0] = paths->begin[1] = 0;
}

void topo_paths_push(struct topo_paths *paths, topo_link_id link, uint8_t channel)
{
    uint32_t end = paths->begin[paths->count + 1];
    SIM_GROW(paths->link, paths->link_capacity, end + 1);
    SIM_GROW(paths->channel, paths->channel_capacity, end + 1);
    paths->link[end] = link;
    paths->channel[end] = channel;
    paths->begin[paths->count + 1] = end + 1;
}

void topo_paths_close(struct topo_paths *paths, double share)
{
    SIM_GROW(paths->share, paths->share_capacity, paths->count + 1);
    paths->share[paths->count++] = share;
    SIM_GROW(paths->begin, paths->begin_capacity, paths->count + 2);
    paths->begin[paths->count + 1] = paths->begin[paths->count];
}

void topo_paths_share_evenly(struct topo_paths *paths)
{
    for (uint32_t i = 0; i < paths->count; i++)
        paths->share[i] = 1.0 / paths->count;
}

sim_ps topo_path_latency_ps(const topo *t, const struct topo_paths *paths, uint32_t i)
{
    sim_ps latency = 0;
    for (uint32_t j = paths->begin[i]; j < paths->begin[i + 1]; j++)
        latency += t->link_latency_ps[paths->link[j]];
    return latency;
}

void topo_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    assert(src < t->chips && dst < t->chips);
    t->routing->route(t, src, dst, paths);
}

uint32_t topo_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return t->routing->distance(t, src, dst);
}
