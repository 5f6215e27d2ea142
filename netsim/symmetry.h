/**
 * Exact symmetry: which chips see the same network and do the same at all times.
 *
 * A translation is a symmetry of a run when it maps links to links of equal rate and latency,
 * routes to routes, and what a chip does to what its image does. The chips that such translations
 * map to each other are a class; so are links. On a torus a translation but the identity moves
 * every chip and every link, so all classes of chips have one size, and so have the classes of
 * links they send on: a class of links carries, per link, exactly the flows of one of them. The
 * quotient is therefore just a smaller network, on which the same engine runs: one chip for each
 * class, its messages to the class of their receiver over the classes of their links. A route may
 * pass a class several times; then it counts as often.
 *
 *      ring of 4, everybody sends to the next        one class: a chip that sends to itself over
 *      0 > 1 > 2 > 3 > 0                             the one link class "+"
 *
 * Nothing is guessed: translations are tried axis by axis, the smallest step first, and each is
 * verified chip by chip against the topology and against every program, guard and peer of the
 * schedule and of all that it calls. Faults, meshes along their own axis, and roles that differ
 * from chip to chip leave the identity, and the engine runs on all chips.
 */
#ifndef PODSIM_NETSIM_SYMMETRY_H
#define PODSIM_NETSIM_SYMMETRY_H

#include "netsim/schedule.h"

struct net_symmetry {
    uint32_t chips, links;       /* classes of each */
    bool is_reduced;             /* the arrays are there; else every chip is its own class */
    uint32_t *class_of_chip;     /* [chips of the topology] */
    topo_chip_id *chip_of_class; /* [chips] the lowest */
    uint32_t *class_of_link;     /* [links of the topology] */
    topo_link_id *link_of_class; /* [links] the lowest */
    uint32_t *member_begin;      /* [chips + 1] into member */
    topo_chip_id *member;        /* chips by class, rising */
};

/** Of a sealed schedule with its topology; without `is_on` every chip is its own class. */
struct net_symmetry net_symmetry_find(const net_schedule *root, bool is_on);
void net_symmetry_release(struct net_symmetry *s);

static inline uint32_t net_class_of_chip(const struct net_symmetry *s, topo_chip_id chip)
{
    return s->is_reduced ? s->class_of_chip[chip] : chip;
}

static inline topo_chip_id net_chip_of_class(const struct net_symmetry *s, uint32_t class_id)
{
    return s->is_reduced ? s->chip_of_class[class_id] : class_id;
}

static inline uint32_t net_class_of_link(const struct net_symmetry *s, topo_link_id link)
{
    return s->is_reduced ? s->class_of_link[link] : link;
}

static inline topo_link_id net_link_of_class(const struct net_symmetry *s, uint32_t class_id)
{
    return s->is_reduced ? s->link_of_class[class_id] : class_id;
}

#endif
