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
#include "netsim/ties.h"
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

static int compare_targets(const void *left, const void *right)
{
    const struct net_target *a = left, *b = right;
    if (a->peer != b->peer) return a->peer < b->peer ? -1 : 1;
    return (a->guard > b->guard) - (a->guard < b->guard);
}

/* Sorts what was added from `begin` on, each once. */
static void sort_targets(struct net_targets *t, uint32_t begin)
{
    uint32_t kept = begin;
    if (t->count == begin) return;
    qsort(t->target + begin, t->count - begin, sizeof *t->target, compare_targets);
    for (uint32_t i = begin; i < t->count; i++)
        if (kept == begin || compare_targets(&t->target[kept - 1], &t->target[i]) != 0)
            t->target[kept++] = t->target[i];
    t->count = kept;
}

struct net_targets net_targets_of(const net_schedule *s)
{
    uint32_t programs = net_schedule_programs(s);
    struct net_targets t = {.begin = SIM_NEW(uint32_t, (size_t)programs + 1)};
    for (uint32_t i = 0; i < programs; i++) {
        const struct net_program *p = net_schedule_program(s, i);
        t.begin[i] = t.count;
        for (net_op_id op = 0; op < p->op_count; op++) {
            if (p->op[op].kind != NET_OP_SEND) continue;
            SIM_GROW(t.target, t.capacity, t.count + 1);
            t.target[t.count++] = (struct net_target){p->op[op].peer, p->op[op].guard};
        }
        sort_targets(&t, t.begin[i]);
    }
    t.begin[programs] = t.count;
    return t;
}

void net_targets_release(struct net_targets *t)
{
    sim_free(t->begin);
    sim_free(t->target);
}

bool net_is_under_guard(const net_schedule *s, topo_chip_id chip, uint32_t guard)
{
    return net_op_exists(s, chip, &(struct net_op){.guard = guard});
}

uint32_t net_targets_next(const struct net_targets *t, const net_schedule *s, topo_chip_id chip,
                          uint32_t *at)
{
    uint32_t role = net_role(s, chip), end = t->begin[role + 1];
    for (uint32_t i = t->begin[role] + *at; i < end; i++) {
        const struct net_target *target = &t->target[i];
        if (!net_is_under_guard(s, chip, target->guard)) continue;
        while (i < end && t->target[i].peer == target->peer)
            i++;
        *at = i - t->begin[role];
        return target->peer;
    }
    return NET_NONE;
}

/* ---- words ---- */

struct writer {
    struct net_usage *u;
    const topo *t;
    size_t count, most;
    struct topo_paths paths;
    struct net_ties ties;
};

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
    net_tie(&w->ties, chip, to);
    for (uint32_t i = 0; i < p->count; i++) {
        put(w, NET_WORD_FORM, number_of_share(w->u, p->share[i]));
        for (uint32_t j = p->begin[i]; j < p->begin[i + 1]; j++) {
            put(w, NET_WORD_LINK, p->link[j]);
            net_tie_link(&w->ties, chip, p->link[j]);
        }
    }
}

/* The peers of a chip in one schedule; labels start at `label`. */
static void write_schedule(struct writer *w, const net_schedule *s, const struct net_targets *t,
                           topo_chip_id chip, uint32_t label)
{
    uint32_t at = 0, peer;
    while ((peer = net_targets_next(t, s, chip, &at)) != NET_NONE)
        write_peer(w, s, chip, peer, label + peer);
}

static bool write_chips(struct writer *w, const struct net_schedules *all,
                        const struct net_targets *targets)
{
    for (topo_chip_id c = 0; c < w->u->chips; c++) {
        uint32_t label = 0;
        w->u->begin[c] = w->count;
        for (uint32_t i = 0; i < all->count; i++) {
            write_schedule(w, all->schedule[i], &targets[i], c, label);
            label += net_schedule_peers(all->schedule[i]);
        }
        if (w->count > w->most || (w->ties.sets == 1 && topo_is_faulty(w->t))) return false;
    }
    w->u->begin[w->u->chips] = w->count;
    w->u->is_one_part = w->ties.sets == 1;
    return true;
}

bool net_usage_write(const struct net_schedules *all, size_t most, struct net_usage *out)
{
    const topo *t = net_schedule_topo(all->schedule[0]);
    *out = (struct net_usage){.chips = topo_chips(t), .links = topo_links(t)};
    if ((out->links | out->chips) >> 30 != 0) return false;
    struct writer w = {.u = out, .t = t, .most = most};
    struct net_targets *targets = SIM_NEW(struct net_targets, all->count);
    for (uint32_t i = 0; i < all->count; i++)
        targets[i] = net_targets_of(all->schedule[i]);
    out->begin = SIM_NEW(size_t, (size_t)out->chips + 1);
    w.ties = net_ties_none(t);
    net_ties_watch_links(&w.ties, t);
    bool is_written = write_chips(&w, all, targets);
    for (uint32_t i = 0; i < all->count; i++)
        net_targets_release(&targets[i]);
    sim_free(targets);
    net_ties_release(&w.ties);
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
