/*
 * Factors of bipartite graphs: every chip gets `degree` of its cables, by augmenting paths.
 *
 *   0a ~~ 1a -- 0b ~~ 1b      ~~ not chosen, -- chosen: 0a and 1b lack a cable; along the path
 *                             every cable changes sides, and both have one more
 *
 * A breadth-first search from each chip of colour 0 that lacks one. Cost: chips * degree searches
 * of all cables at worst; most end after a step or two.
 */
#include <string.h>

#include "base/arena.h"
#include "topo/hamilton_internal.h"

struct chooser {
    const struct topo_cables *c;
    const uint8_t *colour;
    const bool *from;
    bool *chosen;
    uint32_t *degree; /* [chips] so far */
    uint32_t *cable;  /* [chips] that the search came by */
    uint32_t *seen;   /* [chips] search it was last seen in */
    topo_chip_id *queue;
    uint32_t search;
};

/* Turn the path that leads to `end` over: cables to colour 1 are chosen, those back are not. */
static void turn_over(struct chooser *k, topo_chip_id start, topo_chip_id end)
{
    for (topo_chip_id v = end; v != start;) {
        uint32_t cable = k->cable[v];
        k->chosen[cable] = !k->chosen[cable];
        v = topo_cable_other(k->c, cable, v);
    }
    k->degree[start]++;
    k->degree[end]++;
}

static bool augment(struct chooser *k, topo_chip_id start, uint32_t wanted)
{
    uint32_t head = 0, tail = 0;
    k->search++;
    k->seen[start] = k->search;
    k->queue[tail++] = start;
    while (head < tail) {
        topo_chip_id v = k->queue[head++];
        for (uint32_t p = 0; p < k->c->ports; p++) {
            uint32_t cable = k->c->at[(size_t)v * k->c->ports + p];
            if (cable == TOPO_NONE || !k->from[cable]) continue;
            topo_chip_id to = topo_cable_other(k->c, cable, v);
            bool is_usable = k->colour[v] + k->colour[to] == 1; /* one of each */
            if (!is_usable || k->chosen[cable] != (k->colour[v] == 1)) continue;
            if (k->seen[to] == k->search) continue;
            k->seen[to] = k->search;
            k->cable[to] = cable;
            if (k->colour[to] == 1 && k->degree[to] < wanted) {
                turn_over(k, start, to);
                return true;
            }
            k->queue[tail++] = to;
        }
    }
    return false;
}

bool topo_factor_choose(const struct topo_cables *c, const uint8_t *colour, const bool *from,
                        uint32_t degree, bool *chosen)
{
    struct chooser k = {.c = c, .colour = colour, .from = from, .chosen = chosen};
    k.degree = SIM_NEW(uint32_t, c->chips);
    k.cable = SIM_NEW(uint32_t, c->chips);
    k.seen = SIM_NEW(uint32_t, c->chips);
    k.queue = SIM_NEW(topo_chip_id, c->chips);
    memset(chosen, 0, c->count * sizeof *chosen);
    uint32_t count[3] = {0};
    for (topo_chip_id v = 0; v < c->chips; v++)
        count[colour[v]]++;
    bool is_done = count[0] == count[1];
    for (topo_chip_id v = 0; v < c->chips && is_done; v++)
        while (colour[v] == 0 && k.degree[v] < degree && is_done)
            is_done = augment(&k, v, degree);
    sim_free(k.degree);
    sim_free(k.cable);
    sim_free(k.seen);
    sim_free(k.queue);
    return is_done;
}
