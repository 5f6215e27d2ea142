/*
 * Broadcast passes on everything; scatter passes on what the child's own branches need.
 */
#include "collectives/tree.h"

#include <string.h>

#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "topo/route.h"

uint32_t coll_member_of_rank(const topo *t, const struct coll_spec *spec, uint32_t rank)
{
    uint32_t member = 0;
    for (uint32_t r = 0; r < rank; r++)
        member += !topo_chip_is_failed(t, topo_group_chip(t, &spec->group, 0, r));
    return member;
}

/* A tree being written; member numbers are counted from the root, around. */
struct tree {
    coll_plan *plan;
    uint32_t members, root;
    struct coll_branch *branch; /* [members - 1] */
};

static uint32_t placed(const struct tree *tree, uint32_t relative)
{
    return (relative + tree->root) % tree->members;
}

static void write_broadcast(const struct tree *tree, double bytes)
{
    for (uint32_t i = 0; i + 1 < tree->members; i++) {
        const struct coll_branch *b = &tree->branch[i];
        coll_plan_send_part(tree->plan, b->step, 0, placed(tree, b->parent), placed(tree, b->child),
                            0, bytes, false);
    }
}

/* Whose blocks go through a member: [members x words] bits, itself included, and how many. */
static void find_subtrees(const struct tree *tree, uint32_t words, uint64_t *below, uint32_t *count)
{
    for (uint32_t m = 0; m < tree->members; m++) {
        count[m] = 1;
        if (below != NULL) below[(size_t)m * words + m / 64] |= UINT64_C(1) << m % 64;
    }
    for (uint32_t i = tree->members - 1; i-- > 0;) {
        const struct coll_branch *b = &tree->branch[i];
        count[b->parent] += count[b->child];
        for (uint32_t w = 0; below != NULL && w < words; w++)
            below[(size_t)b->parent * words + w] |= below[(size_t)b->child * words + w];
    }
}

static void write_scatter(const struct tree *tree, double block_bytes)
{
    uint32_t words = (tree->members + 63) / 64, *count = SIM_NEW(uint32_t, tree->members);
    uint64_t *below = NULL;
    if (coll_plan_has_cells(tree->plan)) below = SIM_NEW(uint64_t, (size_t)tree->members * words);
    find_subtrees(tree, words, below, count);
    for (uint32_t i = 0; i + 1 < tree->members; i++) {
        const struct coll_branch *b = &tree->branch[i];
        struct coll_transfer t = {.src = placed(tree, b->parent),
                                  .dst = placed(tree, b->child),
                                  .step = b->step,
                                  .bytes = count[b->child] * block_bytes,
                                  .after = {NET_NONE, NET_NONE},
                                  .cell_begin = coll_plan_cells_end(tree->plan)};
        for (uint32_t m = 0; below != NULL && m < tree->members; m++) {
            if (!(below[(size_t)b->child * words + m / 64] >> m % 64 & 1)) continue;
            coll_plan_cell(tree->plan, placed(tree, m));
            t.cell_count++;
        }
        coll_plan_add(tree->plan, &t);
    }
    sim_free(below);
    sim_free(count);
}

net_schedule *coll_tree_build(const topo *t, const struct coll_spec *spec,
                              coll_tree_branches branches)
{
    bool is_scatter = spec->op == COLL_SCATTER || spec->op == COLL_GATHER;
    struct tree tree = {.members = coll_members(t, spec)};
    if (spec->op != COLL_ALL_REDUCE) tree.root = coll_member_of_rank(t, spec, spec->root);
    tree.branch = SIM_NEW(struct coll_branch, tree.members);
    branches(tree.members, tree.branch);
    tree.plan = coll_plan_create(t, spec, 1, is_scatter ? tree.members : 1);
    if (is_scatter)
        write_scatter(&tree, spec->bytes / tree.members);
    else
        write_broadcast(&tree, spec->bytes);
    sim_free(tree.branch);
    coll_plan_serve(tree.plan, spec->op);
    return coll_plan_schedule(tree.plan);
}

/* ---- cost ---- */

/* When a member has what it waits for, split into hops and bytes along the way that took
 * longest. */
struct moment {
    double hops_ps, bytes_ps;
};

static double total(struct moment m)
{
    return m.hops_ps + m.bytes_ps;
}

static struct moment later(struct moment a, struct moment b)
{
    return total(b) > total(a) ? b : a;
}

/* Tree with what each branch takes: [members - 1]. */
struct timed_tree {
    uint32_t members;
    struct coll_branch *branch;
    struct moment *message;
};

/* Where the messages of a step go: how far, and how many share the busiest link of a way. */
struct step_ways {
    const topo *t;
    topo_chip_id *chip; /* [members] counted from the root */
    struct topo_paths paths;
    double *load; /* [links] of the step */
};

#define ROUTED_MEMBERS_MAX 512

/* Adds the branch's way to the loads, or gives the largest load on it. */
static double walk_branch(struct step_ways *w, const struct coll_branch *b, bool is_adding)
{
    double most = 0;
    topo_route(w->t, w->chip[b->parent], w->chip[b->child], &w->paths);
    for (uint32_t i = 0; i < w->paths.count; i++)
        for (uint32_t h = w->paths.begin[i]; h < w->paths.begin[i + 1]; h++) {
            double *load = &w->load[w->paths.link[h]];
            if (is_adding) *load += w->paths.share[i];
            if (*load > most) most = *load;
        }
    return most;
}

/* Branches begin .. end - 1 are those of one step. */
static void time_step(struct step_ways *w, struct timed_tree *tree, uint32_t begin, uint32_t end)
{
    for (topo_link_id l = 0; l < topo_links(w->t); l++)
        w->load[l] = 0;
    for (uint32_t i = begin; i < end; i++)
        walk_branch(w, &tree->branch[i], true);
    for (uint32_t i = begin; i < end; i++) {
        tree->message[i].bytes_ps *= walk_branch(w, &tree->branch[i], false);
        tree->message[i].hops_ps *=
            topo_distance(w->t, w->chip[tree->branch[i].parent], w->chip[tree->branch[i].child]);
    }
}

/* What a message of all takes over one idle hop, times its ways. Larger groups than that many
 * members are not routed: a ring of all of them, or one hop without ports. */
static void time_ways(const topo *t, const struct coll_spec *spec, struct timed_tree *tree)
{
    uint32_t n = tree->members;
    if (n > ROUTED_MEMBERS_MAX) {
        for (uint32_t i = 0; i + 1 < n && topo_has_ports(t); i++) {
            const struct coll_branch *b = &tree->branch[i];
            uint32_t apart = b->child > b->parent ? b->child - b->parent : b->parent - b->child;
            tree->message[i].hops_ps *= apart < n - apart ? apart : n - apart;
        }
        return;
    }
    struct step_ways w = {
        .t = t, .chip = SIM_NEW(topo_chip_id, n), .load = SIM_NEW(double, topo_links(t))};
    uint32_t root = spec->op == COLL_ALL_REDUCE ? 0 : coll_member_of_rank(t, spec, spec->root);
    for (uint32_t rank = 0, member = 0; rank < spec->group.size; rank++) {
        topo_chip_id chip = topo_group_chip(t, &spec->group, coll_an_active_chip(spec), rank);
        if (!topo_chip_is_failed(t, chip)) w.chip[(member++ + n - root) % n] = chip;
    }
    for (uint32_t i = 0, end; i + 1 < n; i = end) {
        for (end = i + 1; end + 1 < n && tree->branch[end].step == tree->branch[i].step;)
            end++;
        time_step(&w, tree, i, end);
    }
    topo_paths_release(&w.paths);
    sim_free(w.chip);
    sim_free(w.load);
}

static struct timed_tree timed_tree_of(const topo *t, const struct coll_spec *spec,
                                       coll_tree_branches branches)
{
    bool is_scatter = spec->op == COLL_SCATTER || spec->op == COLL_GATHER;
    struct coll_network net = coll_network_of(t);
    struct timed_tree tree = {.members = coll_members(t, spec)};
    tree.branch = SIM_NEW(struct coll_branch, tree.members);
    tree.message = SIM_NEW(struct moment, tree.members);
    uint32_t *count = SIM_NEW(uint32_t, tree.members);
    branches(tree.members, tree.branch);
    struct tree plain = {.members = tree.members, .branch = tree.branch};
    find_subtrees(&plain, 0, NULL, count);
    for (uint32_t i = 0; i + 1 < tree.members; i++) {
        double share = is_scatter ? (double)count[tree.branch[i].child] / tree.members : 1;
        tree.message[i] = (struct moment){net.hop_ps, share * spec->bytes / net.bytes_per_s * 1e12};
    }
    sim_free(count);
    time_ways(t, spec, &tree);
    return tree;
}

/* Down from the root, each member one message after the other. */
static struct moment time_down(const struct timed_tree *tree)
{
    struct moment last = {0}, *free_at = SIM_NEW(struct moment, tree->members);
    for (uint32_t i = 0; i + 1 < tree->members; i++) {
        const struct coll_branch *b = &tree->branch[i];
        free_at[b->parent].bytes_ps += tree->message[i].bytes_ps;
        free_at[b->child] = free_at[b->parent];
        free_at[b->child].hops_ps += tree->message[i].hops_ps;
        last = later(last, free_at[b->child]);
    }
    sim_free(free_at);
    return last;
}

/* Up to the root: a member sends when all of its children's messages are in. */
static struct moment time_up(const struct timed_tree *tree)
{
    struct moment *ready = SIM_NEW(struct moment, tree->members);
    for (uint32_t i = tree->members - 1; i-- > 0;) {
        const struct coll_branch *b = &tree->branch[i];
        struct moment arrival = {ready[b->child].hops_ps + tree->message[i].hops_ps,
                                 ready[b->child].bytes_ps + tree->message[i].bytes_ps};
        ready[b->parent] = later(ready[b->parent], arrival);
    }
    struct moment root = ready[0];
    sim_free(ready);
    return root;
}

struct coll_cost coll_tree_cost(const topo *t, const struct coll_spec *spec,
                                coll_tree_branches branches)
{
    struct timed_tree tree = timed_tree_of(t, spec, branches);
    struct moment down = {0}, up = {0};
    if (spec->op != COLL_REDUCE && spec->op != COLL_GATHER) down = time_down(&tree);
    if (spec->op != COLL_BROADCAST && spec->op != COLL_SCATTER) up = time_up(&tree);
    sim_free(tree.branch);
    sim_free(tree.message);
    return coll_cost_make(down.hops_ps + up.hops_ps, down.bytes_ps + up.bytes_ps,
                          !topo_has_ports(t));
}
