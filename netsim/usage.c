/*
 * Writing out who uses what.
 *
 * Programs name the same few peers again and again (a ring's hundred steps have one), so each
 * program is first reduced to its different peers, with the guards under which it sends to them.
 */
#include "netsim/usage.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "topo/route.h"

/* ---- schedules ---- */

static void add_schedule(struct net_schedules *all, const net_schedule *s)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->schedule[i] == s) return;
    SIM_GROW(all->schedule, all->capacity, all->count + 1);
    all->schedule[all->count++] = s;
}

/* The list is the queue. */
struct net_schedules net_schedules_of(const net_schedule *root)
{
    struct net_schedules all = {0};
    add_schedule(&all, root);
    for (uint32_t i = 0; i < all.count; i++)
        for (uint32_t p = 0; p < net_schedule_programs(all.schedule[i]); p++) {
            const struct net_program *program = net_schedule_program(all.schedule[i], p);
            for (net_op_id op = 0;
                 op < program->op_count && net_schedule_calls(all.schedule[i]) > 0; op++)
                if (program->op[op].kind == NET_OP_CALL) add_schedule(&all, program->op[op].callee);
        }
    return all;
}

/* ---- peers of programs ---- */

struct target {
    uint32_t peer, guard;
};

/* By program of a schedule: whom its sends go to. */
struct targets {
    uint32_t *begin; /* [programs + 1] */
    struct target *target;
    uint32_t count, capacity;
};

static int compare_targets(const void *left, const void *right)
{
    const struct target *a = left, *b = right;
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    return (a->guard > b->guard) - (a->guard < b->guard);
}

/* Sorts what was added from `begin` on, each once. */
static void sort_targets(struct targets *t, uint32_t begin)
{
    uint32_t kept = begin;
    if (t->count == begin) return;
    qsort(t->target + begin, t->count - begin, sizeof *t->target, compare_targets);
    for (uint32_t i = begin; i < t->count; i++)
        if (kept == begin || compare_targets(&t->target[kept - 1], &t->target[i]) != 0)
            t->target[kept++] = t->target[i];
    t->count = kept;
}

static struct targets targets_of(const net_schedule *s)
{
    uint32_t programs = net_schedule_programs(s);
    struct targets t = {.begin = SIM_NEW(uint32_t, (size_t)programs + 1)};
    for (uint32_t i = 0; i < programs; i++) {
        const struct net_program *p = net_schedule_program(s, i);
        t.begin[i] = t.count;
        for (net_op_id op = 0; op < p->op_count; op++) {
            if (p->op[op].kind != NET_OP_SEND) continue;
            SIM_GROW(t.target, t.capacity, t.count + 1);
            t.target[t.count++] = (struct target){p->op[op].peer, p->op[op].guard};
        }
        sort_targets(&t, t.begin[i]);
    }
    t.begin[programs] = t.count;
    return t;
}

static void targets_release(struct targets *t)
{
    sim_free(t->begin);
    sim_free(t->target);
}

/* ---- words ---- */

struct writer {
    struct net_usage *u;
    const topo *t;
    size_t count, most;
    struct topo_paths paths;
    uint32_t *above;   /* [chips + links] union-find: who is tied to whom */
    uint32_t sets;     /* of chips that work */
    uint32_t chip_top; /* links follow chips in `above` */
};

static uint32_t root_of(uint32_t *above, uint32_t i)
{
    while (above[i] != i) {
        above[i] = above[above[i]];
        i = above[i];
    }
    return i;
}

/* A link joins a set without making one: it counts when it ties two chips together. */
static void tie(struct writer *w, topo_chip_id chip, topo_chip_id other)
{
    uint32_t a = root_of(w->above, chip), b = root_of(w->above, other);
    if (a == b) return;
    w->above[b] = a;
    w->sets--;
}

static void tie_link(struct writer *w, topo_chip_id chip, topo_link_id link)
{
    uint32_t *owner = &w->above[w->chip_top + link];
    if (*owner == NET_NONE)
        *owner = chip;
    else
        tie(w, chip, *owner);
}

static void put(struct writer *w, enum net_word_kind kind, uint32_t value)
{
    SIM_GROW(w->u->word, w->u->capacity, w->count + 1);
    w->u->word[w->count++] = (uint32_t)kind << 30 | value;
}

static uint32_t number_of_share(struct net_usage *u, double share)
{
    for (uint32_t i = 0; i < u->shares; i++)
        if (u->share[i] == share) return i;
    SIM_GROW(u->share, u->share_capacity, u->shares + 1);
    u->share[u->shares] = share;
    return u->shares++;
}

static void write_peer(struct writer *w, const net_schedule *s, topo_chip_id chip, uint32_t peer,
                       uint32_t label)
{
    topo_chip_id to = net_paths_to_peer(s, chip, peer, &w->paths);
    const struct topo_paths *p = &w->paths;
    put(w, NET_WORD_FORM, label);
    put(w, NET_WORD_CHIP, to);
    tie(w, chip, to);
    for (uint32_t i = 0; i < p->count; i++) {
        put(w, NET_WORD_FORM, number_of_share(w->u, p->share[i]));
        for (uint32_t j = p->begin[i]; j < p->begin[i + 1]; j++) {
            put(w, NET_WORD_LINK, p->link[j]);
            tie_link(w, chip, p->link[j]);
        }
    }
}

bool net_is_under_guard(const net_schedule *s, topo_chip_id chip, uint32_t guard)
{
    return net_op_exists(s, chip, &(struct net_op){.guard = guard});
}

/* The peers of a chip in one schedule; labels start at `label`. */
static void write_schedule(struct writer *w, const net_schedule *s, const struct targets *t,
                           topo_chip_id chip, uint32_t label)
{
    uint32_t role = net_role(s, chip), last = NET_NONE;
    for (uint32_t i = t->begin[role]; i < t->begin[role + 1]; i++) {
        const struct target *target = &t->target[i];
        if (target->peer == last || !net_is_under_guard(s, chip, target->guard)) continue;
        last = target->peer;
        write_peer(w, s, chip, last, label + last);
    }
}

static bool write_chips(struct writer *w, const struct net_schedules *all,
                        const struct targets *targets)
{
    for (topo_chip_id c = 0; c < w->u->chips; c++) {
        uint32_t label = 0;
        w->u->begin[c] = w->count;
        for (uint32_t i = 0; i < all->count; i++) {
            write_schedule(w, all->schedule[i], &targets[i], c, label);
            label += net_schedule_peers(all->schedule[i]);
        }
        if (w->count > w->most || (w->sets == 1 && topo_is_faulty(w->t))) return false;
    }
    w->u->begin[w->u->chips] = w->count;
    w->u->is_one_part = w->sets == 1;
    return true;
}

static void start_sets(struct writer *w)
{
    uint32_t chips = w->u->chips, links = w->u->links;
    w->above = SIM_NEW(uint32_t, (size_t)chips + links);
    w->chip_top = chips;
    for (topo_chip_id c = 0; c < chips; c++)
        w->above[c] = c;
    for (topo_link_id l = 0; l < links; l++)
        w->above[chips + l] = NET_NONE;
    w->sets = chips - topo_failed_chips(w->t);
}

bool net_usage_write(const struct net_schedules *all, size_t most, struct net_usage *out)
{
    const topo *t = net_schedule_topo(all->schedule[0]);
    *out = (struct net_usage){.chips = topo_chips(t), .links = topo_links(t)};
    if ((out->links | out->chips) >> 30 != 0) return false;
    struct writer w = {.u = out, .t = t, .most = most};
    struct targets *targets = SIM_NEW(struct targets, all->count);
    for (uint32_t i = 0; i < all->count; i++)
        targets[i] = targets_of(all->schedule[i]);
    out->begin = SIM_NEW(size_t, (size_t)out->chips + 1);
    start_sets(&w);
    bool is_written = write_chips(&w, all, targets);
    for (uint32_t i = 0; i < all->count; i++)
        targets_release(&targets[i]);
    sim_free(targets);
    sim_free(w.above);
    topo_paths_release(&w.paths);
    if (!is_written) net_usage_release(out);
    return is_written;
}

void net_usage_release(struct net_usage *u)
{
    sim_free(u->begin);
    sim_free(u->word);
    sim_free(u->share);
    *u = (struct net_usage){0};
}
