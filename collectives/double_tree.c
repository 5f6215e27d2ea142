/*
 * Binary trees, pipelined: up for the reduction, down for the result.
 *
 *        3              0 1 2 3 4 5 6  in order: leaves on even places, inner members on odd ones
 *     1     5           the second tree is the mirror image (an odd number: moved by one place),
 *    0 2   4 6          so that who is inner in one is a leaf in the other
 *
 *   binary-tree   all of the buffer on one tree: an inner member receives 3 V, twice V from its
 *                 children on the way up and V from its parent on the way down, at the same time,
 *                 and sends as much; a leaf one V
 *   double-tree   half of the buffer on each: who is inner in one is a leaf in the other, so
 *                 everybody sends and receives 3/2 V + 1/2 V = 2 V, as in a ring, in
 *                 2 log2 n + q steps instead of 2 (n-1)
 *
 * So with many chunks the double tree is 3/2 as fast as the single one; it would be twice as fast
 * as one that has reduced all before it sends anything down. With h = floor(log2 n) levels and q
 * chunks on a switch about 2h a + (2h-1 + q)/q 2V/W for the double tree and 3V/W for the single
 * one. On other networks the forms are estimates.
 *
 * Source: Sanders, Speck & Traeff, "Two-tree algorithms for full bandwidth broadcast, reduction and
 * scan", Parallel Computing 35(12), 2009.
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/plan.h"

struct binary_tree {
    uint32_t members, root;
    uint32_t *parent, *child[2], *height, *depth; /* [members] NET_NONE where there is none */
};

/* The tree over places low .. high - 1: a perfect left half, what is left over on the right. */
static uint32_t grow(struct binary_tree *tree, uint32_t low, uint32_t high, uint32_t depth)
{
    if (low == high) return NET_NONE;
    uint32_t half = 1;
    while (2 * half <= high - low)
        half *= 2;
    uint32_t node = low + half - 1;
    tree->depth[node] = depth;
    tree->height[node] = 0;
    tree->child[0][node] = grow(tree, low, node, depth + 1);
    tree->child[1][node] = grow(tree, node + 1, high, depth + 1);
    for (int i = 0; i < 2; i++) {
        uint32_t child = tree->child[i][node];
        if (child == NET_NONE) continue;
        tree->parent[child] = node;
        if (tree->height[child] >= tree->height[node]) tree->height[node] = tree->height[child] + 1;
    }
    return node;
}

static void tree_init(struct binary_tree *tree, uint32_t members)
{
    *tree = (struct binary_tree){.members = members};
    tree->parent = SIM_NEW(uint32_t, members);
    tree->child[0] = SIM_NEW(uint32_t, members);
    tree->child[1] = SIM_NEW(uint32_t, members);
    tree->height = SIM_NEW(uint32_t, members);
    tree->depth = SIM_NEW(uint32_t, members);
    tree->root = grow(tree, 0, members, 0);
    tree->parent[tree->root] = NET_NONE;
}

static void tree_release(struct binary_tree *tree)
{
    sim_free(tree->parent);
    sim_free(tree->child[0]);
    sim_free(tree->child[1]);
    sim_free(tree->height);
    sim_free(tree->depth);
}

/* The member at a place of the first or of the second tree. */
static uint32_t member_at(const struct binary_tree *tree, uint32_t which, uint32_t place)
{
    if (which == 0) return place;
    return tree->members % 2 == 0 ? tree->members - 1 - place : (place + 1) % tree->members;
}

/* Lanes of a tree: what goes up by the side it comes from, what goes down by the side it goes
 * to. */
enum lane { UP_SEND, UP_RECEIVE, DOWN_SEND = 3, DOWN_RECEIVE = 5, TREE_LANES };

/* One tree's share of the buffer, chunk by chunk. `up`[node] is the message a node got from its
 * children, per side, of the chunk being written; `down` the one from its parent. */
struct pass {
    coll_plan *plan;
    const struct binary_tree *tree;
    uint32_t which, chunk, part;
    double bytes;
    uint32_t *up[2], *down; /* [members] */
};

static struct coll_transfer message(const struct pass *p, uint32_t step, uint32_t src, uint32_t dst,
                                    uint32_t src_lane, uint32_t dst_lane)
{
    struct coll_transfer t = coll_plan_part(p->plan, step, 0, member_at(p->tree, p->which, src),
                                            member_at(p->tree, p->which, dst), p->part, p->bytes);
    t.src_lane = p->which * TREE_LANES + src_lane;
    t.dst_lane = p->which * TREE_LANES + dst_lane;
    return t;
}

/* Level by level, so that children are there before their parent sends. */
static void write_up(struct pass *p)
{
    const struct binary_tree *tree = p->tree;
    for (uint32_t height = 0; height < tree->height[tree->root]; height++)
        for (uint32_t v = 0; v < tree->members; v++) {
            if (tree->height[v] != height) continue;
            uint32_t parent = tree->parent[v], side = tree->child[1][parent] == v;
            struct coll_transfer t =
                message(p, p->chunk + height, v, parent, UP_SEND, UP_RECEIVE + side);
            t.is_reduce = true;
            t.after[0] = p->up[0][v];
            t.after[1] = p->up[1][v];
            p->up[side][parent] = coll_plan_add(p->plan, &t);
        }
}

static void write_down(struct pass *p)
{
    const struct binary_tree *tree = p->tree;
    uint32_t levels = tree->height[tree->root];
    for (uint32_t depth = 0; depth < levels; depth++)
        for (uint32_t v = 0; v < tree->members; v++)
            for (uint32_t side = 0; side < 2 && tree->depth[v] == depth; side++) {
                uint32_t child = tree->child[side][v];
                if (child == NET_NONE) continue;
                struct coll_transfer t =
                    message(p, p->chunk + levels + depth, v, child, DOWN_SEND + side, DOWN_RECEIVE);
                t.after[0] = v == tree->root ? p->up[0][v] : p->down[v];
                if (v == tree->root) t.after[1] = p->up[1][v];
                p->down[child] = coll_plan_add(p->plan, &t);
            }
}

static uint32_t chunks_of(const struct coll_spec *spec, uint32_t levels)
{
    enum { CHUNKS_MAX = 64, CHUNK_BYTES_MIN = 4096 };
    if (spec->chunks > 0) return spec->chunks;
    uint32_t most = 8 * levels < CHUNKS_MAX ? 8 * levels : CHUNKS_MAX;
    double fit = spec->bytes / CHUNK_BYTES_MIN;
    return fit < 1 ? 1 : fit < most ? (uint32_t)fit : most;
}

net_schedule *coll_double_tree_build(const topo *t, const struct coll_spec *spec)
{
    uint32_t members = coll_members(t, spec);
    uint32_t trees = spec->algorithm == COLL_DOUBLE_TREE ? 2 : 1;
    struct binary_tree tree;
    tree_init(&tree, members);
    uint32_t chunks = chunks_of(spec, tree.height[tree.root]);
    coll_plan *plan = coll_plan_create(t, spec, trees * chunks, 1);
    struct pass pass = {.plan = plan, .tree = &tree, .bytes = spec->bytes / trees / chunks};
    for (int i = 0; i < 2; i++)
        pass.up[i] = SIM_NEW(uint32_t, members);
    pass.down = SIM_NEW(uint32_t, members);
    for (pass.which = 0; pass.which < trees; pass.which++)
        for (pass.chunk = 0; pass.chunk < chunks; pass.chunk++) {
            for (uint32_t m = 0; m < members; m++)
                pass.up[0][m] = pass.up[1][m] = pass.down[m] = NET_NONE;
            pass.part = pass.which * chunks + pass.chunk;
            write_up(&pass);
            write_down(&pass);
        }
    sim_free(pass.up[0]);
    sim_free(pass.up[1]);
    sim_free(pass.down);
    tree_release(&tree);
    return coll_plan_schedule(plan);
}

/* Levels below the root. */
static uint32_t levels_of(uint32_t members)
{
    uint32_t levels = 0;
    while (UINT32_C(2) << levels <= members)
        levels++;
    return levels;
}

uint32_t coll_double_tree_chunks(const topo *t, const struct coll_spec *spec)
{
    return chunks_of(spec, levels_of(coll_members(t, spec)));
}

struct coll_cost coll_double_tree_cost(const topo *t, const struct coll_spec *spec)
{
    struct coll_network net = coll_network_of(t);
    uint32_t n = spec->group.size, levels = levels_of(n);
    if (n == 1) return coll_cost_make(0, 0, true);
    double q = chunks_of(spec, levels), hops = 2.0 * levels;
    if (topo_has_ports(t)) hops = n; /* the sum of n/2, n/4, ... up and down */
    double share = spec->algorithm == COLL_DOUBLE_TREE ? 2 : 3; /* of V, through an inner port */
    double bytes_ps = share * spec->bytes / net.bytes_per_s * 1e12 * (2 * levels - 1 + q) / q;
    return coll_cost_make(hops * net.hop_ps, bytes_ps, false);
}
