/**
 * Exact symmetry: which chips see the same network and do the same at all times.
 *
 * Such chips are a class; so are the links that they pass at the same place of what they do. A
 * class of links carries, per link, exactly the flows of one of them, so the classes are just a
 * smaller network, on which the same engine runs: one chip for each class, its messages to the
 * class of their receiver over the classes of their links. A route may pass a class several times;
 * then it counts as often.
 *
 *      ring of 4, everybody sends to the next        one class: a chip that sends to itself over
 *      0 > 1 > 2 > 3 > 0                             the one link class "+"
 *
 * Classes are found in two ways, and nothing is guessed in either:
 *
 *   translations  of a healthy torus, axis by axis, the smallest step first, each verified chip by
 *                 chip against the topology and against every program, guard and peer. Quick on a
 *                 million chips.
 *   colours       of chips on any topology, over the links in use (refine.h): where translations
 *                 leave more than one class and the search costs little beside the run. Something
 *                 odd takes the symmetry of the part it is tied to by links in use, no more.
 */
#ifndef PODSIM_NETSIM_SYMMETRY_H
#define PODSIM_NETSIM_SYMMETRY_H

#include "netsim/schedule.h"

struct net_symmetry {
    uint32_t chips, links;          /* classes of each */
    bool is_reduced;                /* the arrays are there; else every chip is its own class */
    bool is_translated;             /* the classes are what translations by `period` join */
    uint32_t period[TOPO_AXES_MAX]; /* by axis; its size: none */
    uint32_t *class_of_chip;        /* [chips of the topology] */
    topo_chip_id *chip_of_class;    /* [chips] the lowest */
    uint32_t *class_of_link;        /* [links of the topology] */
    topo_link_id *link_of_class;    /* [links] the lowest */
    uint32_t *member_begin;         /* [chips + 1] into member */
    topo_chip_id *member;           /* chips by class, rising */
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
