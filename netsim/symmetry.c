/*
 * Finding the translations that change nothing; colours are in refine.c.
 *
 * For each axis the steps that divide its size are tried, the smallest first. What has to hold for
 * the step s, with c' the image of chip c:
 *
 *   topology    topo_is_translation()
 *   taking part c and c' run the same program, or neither does
 *   guards      c and c' have the same digits on the axes that guards look at
 *   peers       the image of c's peer is the peer of c'. Hops are walks along ports, so this
 *               follows from the topology, and so do offsets; digits are steps along the group's
 *               factors, so it is enough that one step along each factor commutes; lists are
 *               compared entry by entry; a peer that is a fixed chip never commutes.
 *
 * Cost: axes x steps tried x (chips x (ports + factors) + lists); a wrong step fails on the first
 * few chips as a rule. Schedules that are called are looked at once each.
 */
#include "netsim/symmetry.h"

#include <string.h>

#include "base/arena.h"
#include "netsim/refine.h"
#include "topo/route.h"

/* Words that looking at colours may take: where there is nothing else, and where translations have
 * reduced the run already. */
#define WORDS_MOST (UINT32_C(1) << 24) /* 64 MiB */
#define WORDS_MORE (UINT32_C(1) << 20)

/* One translation being tried. */
struct trial {
    const topo *t;
    uint32_t axis, step;
};

static topo_chip_id image(const struct trial *trial, topo_chip_id chip)
{
    int32_t hops[TOPO_AXES_MAX] = {0};
    hops[trial->axis] = (int32_t)trial->step;
    return topo_translate(trial->t, chip, hops);
}

/* ---- one schedule ---- */

static bool keeps_programs(const struct trial *trial, const net_schedule *s)
{
    if (net_schedule_programs(s) == 1) return true;
    for (topo_chip_id c = 0; c < topo_chips(trial->t); c++)
        if (net_role(s, c) != net_role(s, image(trial, c))) return false;
    return true;
}

/* Axes of the space that some guard looks at. */
static uint32_t guarded_axes(const net_schedule *s)
{
    uint32_t axes = 0;
    for (uint32_t i = 0; i < net_schedule_guards(s); i++)
        axes |= UINT32_C(1) << net_schedule_guard(s, i)->axis;
    return axes;
}

static bool keeps_guards(const struct trial *trial, const net_schedule *s)
{
    uint32_t axes = guarded_axes(s);
    for (uint32_t a = 0; a < net_schedule_space_axes(s); a++)
        for (topo_chip_id c = 0; c < topo_chips(trial->t) && (axes >> a & 1); c++)
            if (net_space_digit(s, c, a) != net_space_digit(s, image(trial, c), a)) return false;
    return true;
}

/* The chip one step further along a factor of the group, around. */
static topo_chip_id next_along(const struct trial *trial, const struct topo_group *group,
                               topo_chip_id chip, uint32_t factor)
{
    uint32_t rank = topo_group_rank(trial->t, group, chip), stride = 1;
    for (uint32_t i = 0; i < factor; i++)
        stride *= group->factor[i].extent;
    uint32_t k = group->factor[factor].extent, digit = rank / stride % k;
    uint32_t next = rank - digit * stride + (digit + 1) % k * stride;
    return topo_group_chip(trial->t, group, chip, next);
}

static bool keeps_digits(const struct trial *trial, const net_schedule *s)
{
    const struct topo_group *group = net_schedule_group(s);
    for (uint32_t f = 0; f < group->factor_count; f++)
        for (topo_chip_id c = 0; c < topo_chips(trial->t); c++)
            if (next_along(trial, group, image(trial, c), f) !=
                image(trial, next_along(trial, group, c, f)))
                return false;
    return true;
}

static bool has_digits(const net_schedule *s)
{
    for (uint32_t p = 0; p < net_schedule_peers(s); p++)
        if (net_schedule_peer(s, p)->kind == NET_PEER_DIGITS) return true;
    return false;
}

static bool is_list(const net_schedule *s, uint32_t peer)
{
    enum net_peer_kind kind = net_schedule_peer(s, peer)->kind;
    return kind != NET_PEER_HOPS && kind != NET_PEER_OFFSET && kind != NET_PEER_DIGITS;
}

static bool is_message(const struct net_op *op)
{
    return op->kind == NET_OP_SEND || op->kind == NET_OP_RECEIVE || op->kind == NET_OP_REDUCE;
}

/* Peers by list, of the operations that the chips have. */
static bool keeps_lists(const struct trial *trial, const net_schedule *s)
{
    for (topo_chip_id c = 0; c < topo_chips(trial->t); c++) {
        const struct net_program *p = net_schedule_program(s, net_role(s, c));
        topo_chip_id moved = image(trial, c);
        for (net_op_id i = 0; i < p->op_count; i++) {
            if (!is_message(&p->op[i]) || !is_list(s, p->op[i].peer)) continue;
            if (net_peer_of(s, moved, p->op[i].peer) !=
                image(trial, net_peer_of(s, c, p->op[i].peer)))
                return false;
        }
    }
    return true;
}

static bool has_lists(const net_schedule *s)
{
    for (uint32_t p = 0; p < net_schedule_peers(s); p++)
        if (is_list(s, p)) return true;
    return false;
}

static bool keeps_schedule(const struct trial *trial, const net_schedule *s)
{
    return keeps_programs(trial, s) && keeps_guards(trial, s) &&
           (!has_digits(s) || keeps_digits(trial, s)) && (!has_lists(s) || keeps_lists(trial, s));
}

/* ---- periods ---- */

/* The smallest step along the axis that changes nothing; the axis's size when there is none. */
static uint32_t period_of(const struct net_schedules *all, const topo *t, uint32_t axis)
{
    uint32_t size = topo_axis_size(t, axis);
    for (uint32_t step = 1; step < size; step++) {
        struct trial trial = {t, axis, step};
        if (size % step != 0 || !topo_is_translation(t, axis, step)) continue;
        bool is_kept = true;
        for (uint32_t i = 0; i < all->count && is_kept; i++)
            is_kept = keeps_schedule(&trial, all->schedule[i]);
        if (is_kept) return step;
    }
    return size;
}

/* ---- classes ---- */

/* Chips that are reached from each other by the periods; numbered by their lowest chip. */
static void number_chips(struct net_symmetry *s, const topo *t, const uint32_t *period)
{
    uint32_t chips = topo_chips(t), *queue = SIM_NEW(uint32_t, chips);
    s->class_of_chip = SIM_NEW(uint32_t, chips);
    s->chip_of_class = SIM_NEW(topo_chip_id, chips);
    for (topo_chip_id c = 0; c < chips; c++)
        s->class_of_chip[c] = NET_NONE;
    for (topo_chip_id c = 0; c < chips; c++) {
        if (s->class_of_chip[c] != NET_NONE) continue;
        uint32_t count = 0;
        s->chip_of_class[s->chips] = queue[count++] = c;
        s->class_of_chip[c] = s->chips;
        for (uint32_t i = 0; i < count; i++)
            for (uint32_t a = 0; a < topo_axes(t); a++) {
                struct trial trial = {t, a, period[a]};
                if (period[a] == topo_axis_size(t, a)) continue;
                topo_chip_id to = image(&trial, queue[i]);
                if (s->class_of_chip[to] != NET_NONE) continue;
                s->class_of_chip[to] = s->chips;
                queue[count++] = to;
            }
        s->chips++;
    }
    sim_free(queue);
}

/* A link is its chip's port. */
static void number_links(struct net_symmetry *s, const topo *t)
{
    uint32_t ports = topo_ports(t);
    uint32_t *class_of_port = SIM_NEW(uint32_t, (size_t)s->chips * ports);
    s->class_of_link = SIM_NEW(uint32_t, topo_links(t));
    s->link_of_class = SIM_NEW(topo_link_id, (size_t)s->chips * ports);
    for (uint32_t i = 0; i < s->chips * ports; i++) {
        topo_link_id link = topo_port_link(t, s->chip_of_class[i / ports], i % ports);
        class_of_port[i] = link != TOPO_NONE ? s->links : NET_NONE;
        if (link != TOPO_NONE) s->link_of_class[s->links++] = link;
    }
    for (topo_chip_id c = 0; c < topo_chips(t); c++)
        for (uint32_t p = 0; p < ports; p++) {
            topo_link_id link = topo_port_link(t, c, p);
            if (link == TOPO_NONE) continue;
            s->class_of_link[link] = class_of_port[s->class_of_chip[c] * ports + p];
        }
    sim_free(class_of_port);
}

static void list_members(struct net_symmetry *s, uint32_t chips)
{
    s->member_begin = SIM_NEW(uint32_t, s->chips + 2);
    s->member = SIM_NEW(topo_chip_id, chips);
    uint32_t *fill = s->member_begin + 1; /* shifted by one while filling */
    for (topo_chip_id c = 0; c < chips; c++)
        fill[s->class_of_chip[c] + 1]++;
    for (uint32_t k = 0; k < s->chips; k++)
        fill[k + 1] += fill[k];
    for (topo_chip_id c = 0; c < chips; c++)
        s->member[fill[s->class_of_chip[c]]++] = c;
}

/* By translations, where there are any. */
static void translate(const struct net_schedules *all, const topo *t, struct net_symmetry *s)
{
    if (!topo_has_ports(t)) return;
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        s->period[a] = period_of(all, t, a);
        s->is_translated = s->is_translated || s->period[a] < topo_axis_size(t, a);
    }
    s->is_reduced = s->is_translated;
    if (!s->is_reduced) return;
    s->chips = s->links = 0;
    number_chips(s, t, s->period);
    number_links(s, t);
}

static void release_classes(struct net_symmetry *s)
{
    sim_free(s->class_of_chip);
    sim_free(s->chip_of_class);
    sim_free(s->class_of_link);
    sim_free(s->link_of_class);
}

/* By colours of chips; kept where that gives fewer classes. */
static void colour(const struct net_schedules *all, const topo *t, struct net_symmetry *s)
{
    struct net_classes found;
    if (!net_refine(all, s->is_reduced ? WORDS_MORE : WORDS_MOST, &found)) return;
    if (found.chips >= s->chips) {
        sim_free(found.class_of_chip);
        sim_free(found.class_of_link);
        return;
    }
    release_classes(s);
    *s = (struct net_symmetry){.is_reduced = true,
                               .chips = found.chips,
                               .links = found.links,
                               .class_of_chip = found.class_of_chip,
                               .class_of_link = found.class_of_link,
                               .chip_of_class = SIM_NEW(topo_chip_id, found.chips),
                               .link_of_class = SIM_NEW(topo_link_id, found.links)};
    for (topo_chip_id c = topo_chips(t); c-- > 0;)
        s->chip_of_class[s->class_of_chip[c]] = c;
    for (topo_link_id l = topo_links(t); l-- > 0;)
        s->link_of_class[s->class_of_link[l]] = l;
}

struct net_symmetry net_symmetry_find(const net_schedule *root, bool is_on)
{
    const topo *t = net_schedule_topo(root);
    struct net_symmetry s = {.chips = topo_chips(t), .links = topo_links(t)};
    if (!is_on) return s;
    struct net_schedules all = net_schedules_of(root);
    translate(&all, t, &s);
    if (s.chips > 1) colour(&all, t, &s);
    if (s.is_reduced) list_members(&s, topo_chips(t));
    sim_free(all.schedule);
    return s;
}

void net_symmetry_release(struct net_symmetry *s)
{
    release_classes(s);
    sim_free(s->member_begin);
    sim_free(s->member);
    *s = (struct net_symmetry){0};
}
