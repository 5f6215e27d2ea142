/*
 * Building the channel dependency graph: a bit per (channel, next channel), so that the routes of
 * all pairs set few bits many times. The next link is one of those that leave the node where this
 * one ends, so a row has max degree x channels bits.
 */
#include "topo/deadlock.h"

#include "base/arena.h"
#include "topo/topo_internal.h"

struct dependencies {
    const topo *t;
    uint32_t channels, row_words; /* 64-bit words of a row */
    uint64_t *bit;                /* [links * channels][row_words] */
};

static uint32_t highest_channel(const topo *t)
{
    struct topo_paths paths = {0};
    uint32_t highest = 0;
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            if (topo_chip_is_failed(t, src) || topo_chip_is_failed(t, dst)) continue;
            topo_route(t, src, dst, &paths);
            for (uint32_t h = 0; h < paths.begin[paths.count]; h++)
                if (paths.channel[h] > highest) highest = paths.channel[h];
        }
    topo_paths_release(&paths);
    return highest;
}

static void add_path(struct dependencies *d, const struct topo_paths *paths, uint32_t path)
{
    const topo *t = d->t;
    for (uint32_t h = paths->begin[path] + 1; h < paths->begin[path + 1]; h++) {
        topo_link_id from = paths->link[h - 1], to = paths->link[h];
        uint32_t column = (to - t->out_begin[t->link_to[from]]) * d->channels + paths->channel[h];
        size_t row = (size_t)from * d->channels + paths->channel[h - 1];
        d->bit[row * d->row_words + column / 64] |= UINT64_C(1) << column % 64;
    }
}

static void add_all_paths(struct dependencies *d)
{
    const topo *t = d->t;
    struct topo_paths paths = {0};
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            if (topo_chip_is_failed(t, src) || topo_chip_is_failed(t, dst)) continue;
            topo_route(t, src, dst, &paths);
            for (uint32_t i = 0; i < paths.count; i++)
                add_path(d, &paths, i);
        }
    topo_paths_release(&paths);
}

/* Pairs of nodes, one after another; how many edges. With `ends` NULL only counts. */
static uint64_t list_edges(const struct dependencies *d, uint32_t *ends)
{
    const topo *t = d->t;
    uint64_t edges = 0;
    for (uint32_t row = 0; row < t->links * d->channels; row++)
        for (uint32_t column = 0; column < d->row_words * 64; column++) {
            if (!(d->bit[(size_t)row * d->row_words + column / 64] >> column % 64 & 1)) continue;
            topo_link_id next = t->out_begin[t->link_to[row / d->channels]] + column / d->channels;
            if (ends != NULL) {
                ends[2 * edges] = row;
                ends[2 * edges + 1] = next * d->channels + column % d->channels;
            }
            edges++;
        }
    return edges;
}

static enum sim_status look_for_cycle(const struct dependencies *d, struct sim_error *err,
                                      struct topo_deadlock *out)
{
    uint32_t nodes = d->t->links * d->channels, length = 0;
    uint64_t edges = list_edges(d, NULL);
    uint32_t *ends = SIM_NEW(uint32_t, 2 * edges), *cycle = SIM_NEW(uint32_t, nodes);
    list_edges(d, ends);
    enum sim_status status = topo_digraph_cycle(nodes, edges, ends, err, cycle, &length);
    if (status == SIM_OK) {
        *out = (struct topo_deadlock){.is_free = length == 0,
                                      .channels = d->channels,
                                      .dependencies = edges,
                                      .cycle_length = length,
                                      .link = SIM_NEW(topo_link_id, length),
                                      .channel = SIM_NEW(uint8_t, length)};
        for (uint32_t i = 0; i < length; i++) {
            out->link[i] = cycle[i] / d->channels;
            out->channel[i] = (uint8_t)(cycle[i] % d->channels);
        }
    }
    sim_free(ends);
    sim_free(cycle);
    return status;
}

enum sim_status topo_deadlock_check(const topo *t, struct sim_error *err, struct topo_deadlock *out)
{
    struct dependencies d = {.t = t, .channels = highest_channel(t) + 1};
    d.row_words = (topo_max_degree(t) * d.channels + 63) / 64;
    d.bit = SIM_NEW(uint64_t, (size_t)t->links * d.channels * d.row_words);
    add_all_paths(&d);
    enum sim_status status = look_for_cycle(&d, err, out);
    sim_free(d.bit);
    return status;
}

void topo_deadlock_release(struct topo_deadlock *d)
{
    sim_free(d->link);
    sim_free(d->channel);
    *d = (struct topo_deadlock){0};
}
