/*
 * Up* down* routing: free of deadlock on any connected graph, with one channel.
 *
 * A breadth-first tree from the first working node gives every node a depth; a link goes up when it
 * leads to a smaller (depth, id). A route goes up any number of times, then down, never up again:
 * no cycle of links can wait for each other. The shortest such route is found by breadth-first
 * search over states (node, has gone down). Cost: two searches per route.
 *
 * Source: Schroeder et al., "Autonet: a high-speed, self-configuring local area network using
 * point-to-point links", IEEE JSAC 9(8), 1991.
 */
#include "base/arena.h"
#include "topo/topo_internal.h"

struct search {
    const topo *t;
    uint32_t *depth;    /* [nodes] */
    topo_link_id *link; /* [2 * nodes] how a state was reached; TOPO_NONE: not yet */
    uint32_t *before;   /* [2 * nodes] the state it was reached from */
    uint32_t *queue;    /* [2 * nodes] */
};

static void find_depths(struct search *s)
{
    const topo *t = s->t;
    uint32_t head = 0, tail = 0;
    topo_node_id root = 0;
    while (root < t->chips && topo_chip_is_failed(t, root))
        root++;
    for (topo_node_id n = 0; n < t->nodes; n++)
        s->depth[n] = UINT32_MAX;
    s->depth[root] = 0;
    s->queue[tail++] = root;
    while (head < tail) {
        topo_node_id n = s->queue[head++];
        for (topo_link_id l = t->out_begin[n]; l < t->out_begin[n + 1]; l++) {
            if (s->depth[t->link_to[l]] != UINT32_MAX) continue;
            s->depth[t->link_to[l]] = s->depth[n] + 1;
            s->queue[tail++] = t->link_to[l];
        }
    }
}

static bool goes_up(const struct search *s, topo_link_id link)
{
    topo_node_id a = s->t->link_from[link], b = s->t->link_to[link];
    return s->depth[b] < s->depth[a] || (s->depth[b] == s->depth[a] && b < a);
}

/* The first state at `dst` that the search comes to, or TOPO_NONE. */
static uint32_t find(struct search *s, topo_node_id src, topo_node_id dst)
{
    const topo *t = s->t;
    uint32_t head = 0, tail = 0;
    s->queue[tail++] = 2 * src;
    while (head < tail) {
        uint32_t state = s->queue[head++], node = state / 2;
        if (node == dst) return state;
        for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++) {
            bool is_up = goes_up(s, l), has_gone_down = state % 2 == 1;
            uint32_t next = 2 * t->link_to[l] + !is_up;
            if ((is_up && has_gone_down) || next == 2 * src || s->link[next] != TOPO_NONE) continue;
            s->link[next] = l;
            s->before[next] = state;
            s->queue[tail++] = next;
        }
    }
    return TOPO_NONE;
}

bool topo_up_down_path(const topo *t, topo_node_id src, topo_node_id dst, uint8_t channel,
                       struct topo_paths *paths)
{
    size_t states = 2 * (size_t)t->nodes;
    struct search s = {t, SIM_NEW(uint32_t, t->nodes), SIM_NEW(topo_link_id, states),
                       SIM_NEW(uint32_t, states), SIM_NEW(uint32_t, states)};
    topo_link_id *way = SIM_NEW(topo_link_id, states);
    uint32_t length = 0;
    for (size_t i = 0; i < states; i++)
        s.link[i] = TOPO_NONE;
    find_depths(&s);
    uint32_t state = find(&s, src, dst);
    bool is_found = state != TOPO_NONE;
    for (; is_found && state != 2 * src; state = s.before[state])
        way[length++] = s.link[state];
    while (length > 0)
        topo_paths_push(paths, way[--length], channel);
    if (is_found) topo_paths_close(paths, 1);
    sim_free(s.depth);
    sim_free(s.link);
    sim_free(s.before);
    sim_free(s.queue);
    sim_free(way);
    return is_found;
}

/* ---- as a routing of its own ---- */

static void up_down_route(const topo *t, topo_chip_id src, topo_chip_id dst,
                          struct topo_paths *paths)
{
    topo_paths_reset(paths);
    if (src == dst)
        topo_paths_close(paths, 1);
    else
        topo_up_down_path(t, src, dst, 0, paths);
}

static uint32_t up_down_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    struct topo_paths paths = {0};
    up_down_route(t, src, dst, &paths);
    uint32_t distance = paths.begin[1];
    topo_paths_release(&paths);
    return distance;
}

const struct topo_routing topo_up_down_routing = {
    .name = "up-down", .route = up_down_route, .distance = up_down_distance, .channels = 1};
