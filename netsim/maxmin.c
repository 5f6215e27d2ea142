/*
 * Level-synchronous progressive filling with an indexed heap of links by share. See maxmin.h for
 * the idea.
 */
#include "netsim/maxmin.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#include "base/arena.h"

#define NOT_IN_HEAP UINT32_MAX

void net_maxmin_release(struct net_maxmin *w)
{
    sim_free(w->residual);
    sim_free(w->key);
    sim_free(w->count);
    sim_free(w->taken);
    sim_free(w->heap);
    sim_free(w->heap_at);
    sim_free(w->saturated);
    sim_free(w->touched);
    sim_free(w->flow_begin);
    sim_free(w->flow);
    *w = (struct net_maxmin){0};
}

static void reserve(struct net_maxmin *w, uint32_t links, uint32_t hops)
{
    if (links > w->link_capacity) {
        uint32_t cap = links + links / 2;
        w->residual = sim_realloc(w->residual, cap, sizeof *w->residual, "max-min links");
        w->key = sim_realloc(w->key, cap, sizeof *w->key, "max-min links");
        w->count = sim_realloc(w->count, cap, sizeof *w->count, "max-min links");
        w->taken = sim_realloc(w->taken, cap, sizeof *w->taken, "max-min links");
        w->heap = sim_realloc(w->heap, cap, sizeof *w->heap, "max-min links");
        w->heap_at = sim_realloc(w->heap_at, cap, sizeof *w->heap_at, "max-min links");
        w->saturated = sim_realloc(w->saturated, cap, sizeof *w->saturated, "max-min links");
        w->touched = sim_realloc(w->touched, cap, sizeof *w->touched, "max-min links");
        w->flow_begin =
            sim_realloc(w->flow_begin, (size_t)cap + 2, sizeof *w->flow_begin, "max-min links");
        w->link_capacity = cap;
    }
    SIM_GROW(w->flow, w->hop_capacity, hops);
}

/* ---- heap of links by (key, id) ---- */

static bool before(const struct net_maxmin *w, uint32_t a, uint32_t b)
{
    return w->key[a] < w->key[b] || (w->key[a] == w->key[b] && a < b);
}

static void put(struct net_maxmin *w, uint32_t at, uint32_t link)
{
    w->heap[at] = link;
    w->heap_at[link] = at;
}

static void sift_up(struct net_maxmin *w, uint32_t at)
{
    uint32_t link = w->heap[at];
    for (; at > 0 && before(w, link, w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        put(w, at, w->heap[(at - 1) / 2]);
    put(w, at, link);
}

static void sift_down(struct net_maxmin *w, uint32_t heap_count, uint32_t at)
{
    uint32_t link = w->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= heap_count) break;
        if (child + 1 < heap_count && before(w, w->heap[child + 1], w->heap[child])) child++;
        if (!before(w, w->heap[child], link)) break;
        put(w, at, w->heap[child]);
        at = child;
    }
    put(w, at, link);
}

static void heap_remove(struct net_maxmin *w, uint32_t *heap_count, uint32_t link)
{
    uint32_t at = w->heap_at[link], last = w->heap[--*heap_count];
    w->heap_at[link] = NOT_IN_HEAP;
    if (at == *heap_count) return;
    put(w, at, last);
    sift_up(w, at);
    sift_down(w, *heap_count, w->heap_at[last]);
}

/* ---- filling ---- */

static void index_flows(struct net_maxmin *w, uint32_t links, uint32_t flows,
                        const uint32_t *path_begin, const uint32_t *path_link)
{
    memset(w->flow_begin, 0, ((size_t)links + 2) * sizeof *w->flow_begin);
    uint32_t *fill = w->flow_begin + 1;
    for (uint32_t h = 0; h < path_begin[flows]; h++)
        fill[path_link[h] + 1]++;
    for (uint32_t l = 0; l < links; l++) {
        w->count[l] = fill[l + 1];
        fill[l + 1] += fill[l];
    }
    for (uint32_t f = 0; f < flows; f++)
        for (uint32_t h = path_begin[f]; h < path_begin[f + 1]; h++)
            w->flow[fill[path_link[h]]++] = f;
}

/* Fix the flows of every saturated link at `level`; say which links lose how many hops. */
static uint32_t fix_flows(struct net_maxmin *w, uint32_t saturated_count, double level,
                          const uint32_t *path_begin, const uint32_t *path_link, double *rate)
{
    uint32_t touched_count = 0;
    for (uint32_t i = 0; i < saturated_count; i++) {
        uint32_t link = w->saturated[i];
        for (uint32_t j = w->flow_begin[link]; j < w->flow_begin[link + 1]; j++) {
            uint32_t f = w->flow[j];
            if (rate[f] >= 0) continue; /* fixed already */
            rate[f] = level;
            for (uint32_t h = path_begin[f]; h < path_begin[f + 1]; h++)
                if (w->taken[path_link[h]]++ == 0) w->touched[touched_count++] = path_link[h];
        }
    }
    return touched_count;
}

static void take_from_links(struct net_maxmin *w, uint32_t touched_count, double level,
                            uint32_t *heap_count)
{
    for (uint32_t i = 0; i < touched_count; i++) {
        uint32_t link = w->touched[i];
        assert(w->count[link] >= w->taken[link]);
        w->residual[link] -= level * w->taken[link];
        w->count[link] -= w->taken[link];
        w->taken[link] = 0;
        if (w->heap_at[link] == NOT_IN_HEAP) continue;
        if (w->count[link] == 0) {
            heap_remove(w, heap_count, link);
            continue;
        }
        double share = w->residual[link] / w->count[link];
        w->key[link] =
            share > level ? share : level; /* an ulp of rounding must not take it below */
        sift_up(w, w->heap_at[link]);
        sift_down(w, *heap_count, w->heap_at[link]);
    }
}

void net_maxmin_solve(struct net_maxmin *w, uint32_t links, const double *capacity, uint32_t flows,
                      const uint32_t *path_begin, const uint32_t *path_link, double *rate)
{
    reserve(w, links, path_begin[flows]);
    index_flows(w, links, flows, path_begin, path_link);
    uint32_t heap_count = 0;
    for (uint32_t l = 0; l < links; l++) {
        w->taken[l] = 0;
        w->residual[l] = capacity[l];
        w->heap_at[l] = NOT_IN_HEAP;
        if (w->count[l] == 0) continue;
        w->key[l] = capacity[l] / w->count[l];
        put(w, heap_count++, l);
        sift_up(w, heap_count - 1);
    }
    for (uint32_t f = 0; f < flows; f++)
        rate[f] = -1;
    while (heap_count > 0) {
        double level = w->key[w->heap[0]];
        uint32_t saturated_count = 0;
        while (heap_count > 0 && w->key[w->heap[0]] == level) {
            w->saturated[saturated_count++] = w->heap[0];
            heap_remove(w, &heap_count, w->heap[0]);
        }
        uint32_t touched_count = fix_flows(w, saturated_count, level, path_begin, path_link, rate);
        take_from_links(w, touched_count, level, &heap_count);
        w->levels++;
    }
}
