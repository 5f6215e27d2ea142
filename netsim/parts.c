/*
 * Where symmetry is made of translations, ties are looked for from one chip of each class only, and
 * each tie found is moved to wherever the translations lead. So at all times the chips tied so far
 * are the same seen from every chip: where a pair is tied already, its images are too. A pod of a
 * million chips takes a pass for each axis, not one for each peer.
 *
 * Messages go first: they tie a whole pod soon, as a rule, and then no link is looked at.
 */
#include "netsim/parts.h"

#include "base/arena.h"
#include "netsim/ties.h"
#include "netsim/usage.h"

/* What is moved to all its images: a pair to tie, or a chip and a link it uses. */
struct tie {
    topo_chip_id chip, other;
    uint32_t port; /* of `other`: the link, in place of the pair; else NET_NONE */
};

struct tying {
    const topo *t;
    const struct net_symmetry *s;
    struct net_ties ties;
    struct topo_paths paths;
    bool *sends; /* [classes] */
};

/* ---- ties, and their images ---- */

static void put_images(struct tying *y, uint32_t axis, struct tie tie)
{
    if (axis == topo_axes(y->t)) {
        if (tie.port == NET_NONE)
            net_tie(&y->ties, tie.chip, tie.other);
        else
            y->ties.user[topo_port_link(y->t, tie.other, tie.port)] = tie.chip;
        return;
    }
    int32_t hops[TOPO_AXES_MAX] = {0};
    hops[axis] = (int32_t)y->s->period[axis];
    for (uint32_t left = topo_axis_size(y->t, axis) / y->s->period[axis];;) {
        put_images(y, axis + 1, tie);
        if (--left == 0) return;
        tie.chip = topo_translate(y->t, tie.chip, hops);
        tie.other = topo_translate(y->t, tie.other, hops);
    }
}

static void tie_chips(struct tying *y, topo_chip_id chip, topo_chip_id other)
{
    if (net_ties_root(&y->ties, chip) == net_ties_root(&y->ties, other)) return;
    if (y->s->is_translated)
        put_images(y, 0, (struct tie){chip, other, NET_NONE});
    else
        net_tie(&y->ties, chip, other);
}

static void tie_link(struct tying *y, topo_chip_id chip, topo_link_id link)
{
    topo_chip_id user = y->ties.user[link], from = topo_link_from(y->t, link);
    uint32_t port = 0;
    if (user != TOPO_NONE) {
        tie_chips(y, chip, user);
    } else if (y->s->is_translated) {
        while (topo_port_link(y->t, from, port) != link)
            port++;
        put_images(y, 0, (struct tie){chip, from, port});
    } else {
        y->ties.user[link] = chip;
    }
}

/* ---- who sends what ---- */

static void look_at_peer(struct tying *y, const net_schedule *s, topo_chip_id chip, uint32_t peer,
                         bool at_links)
{
    y->sends[net_class_of_chip(y->s, chip)] = true;
    if (!at_links) {
        tie_chips(y, chip, net_peer_of(s, chip, peer));
        return;
    }
    net_paths_to_peer(s, chip, peer, &y->paths);
    for (uint32_t i = 0; i < y->paths.begin[y->paths.count]; i++)
        tie_link(y, chip, y->paths.link[i]);
}

static void look_at_schedule(struct tying *y, const net_schedule *s, bool at_links)
{
    struct net_targets targets = net_targets_of(s);
    for (topo_chip_id c = 0; c < topo_chips(y->t) && y->ties.sets > 1; c++) {
        uint32_t at = 0, peer;
        if (y->s->is_translated && net_chip_of_class(y->s, net_class_of_chip(y->s, c)) != c)
            continue;
        while (y->ties.sets > 1 && (peer = net_targets_next(&targets, s, c, &at)) != NET_NONE)
            look_at_peer(y, s, c, peer, at_links);
    }
    net_targets_release(&targets);
}

/* ---- counting ---- */

/* Sets of tied chips in which somebody sends. */
static uint64_t count_sets(const struct tying *y)
{
    uint32_t chips = topo_chips(y->t);
    bool *is_counted = SIM_NEW(bool, chips);
    uint64_t count = 0;
    for (topo_chip_id c = 0; c < chips; c++) {
        topo_chip_id root = net_ties_root(&y->ties, c);
        if (!y->sends[net_class_of_chip(y->s, c)] || is_counted[root]) continue;
        is_counted[root] = true;
        count++;
    }
    sim_free(is_counted);
    return count;
}

struct net_parts net_parts_count(const net_schedule *root, const struct net_symmetry *s)
{
    struct net_schedules all = net_schedules_of(root);
    struct tying y = {.t = net_schedule_topo(root), .s = s, .sends = SIM_NEW(bool, s->chips)};
    y.ties = net_ties_none(y.t);
    for (uint32_t i = 0; i < all.count; i++)
        look_at_schedule(&y, all.schedule[i], false);
    if (y.ties.sets > 1) net_ties_watch_links(&y.ties, y.t);
    for (uint32_t i = 0; i < all.count; i++)
        look_at_schedule(&y, all.schedule[i], true);
    struct net_parts parts = {.count = count_sets(&y)};
    for (topo_chip_id c = 0; c < topo_chips(y.t) && s->is_reduced; c++)
        net_tie(&y.ties, c, s->chip_of_class[s->class_of_chip[c]]);
    parts.run = count_sets(&y);
    topo_paths_release(&y.paths);
    net_ties_release(&y.ties);
    sim_free(y.sends);
    sim_free(all.schedule);
    return parts;
}
