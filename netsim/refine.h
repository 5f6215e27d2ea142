/**
 * Classes of chips by colour refinement over the links in use.
 *
 * Chips start with the colour of what they do: roles, guards. Then, again and again, a chip's
 * colour takes in the colours of the links its messages pass, of the chips it sends to and of those
 * that send to it, each by its place in the chip's words (usage.h); a link's colour is its rate and
 * latency and who passes it at which place. When the number of colours stands, chips of one colour
 * see the same network and do the same, be it at two places of one part or in two parts that have
 * no link in common:
 *
 *     16 rings of 16, one cable slow:     16 classes of one chip for the odd ring,
 *                                         1 class of 240 for the other 15
 *
 * Where several chips of one colour pass the same link at the same place (the chips behind one
 * NIC), a class of links would be smaller than the class of its senders; such chips are told apart
 * by their order on the link, and refinement goes on. So each place of a class of chips leads
 * one to one onto a class of links or chips, and a link carries, of each class, what the one
 * link of its class does.
 *
 * Colours are hashes and only propose. What is used is compared word by word.
 */
#ifndef PODSIM_NETSIM_REFINE_H
#define PODSIM_NETSIM_REFINE_H

#include "netsim/usage.h"

/** Chips' classes are numbered by their lowest chips; links that nobody uses are the last class.
 * The arrays are the caller's to free. */
struct net_classes {
    uint32_t chips, links;
    uint32_t *class_of_chip; /* [chips of the topology] */
    uint32_t *class_of_link; /* [links of the topology] */
};

/** False, and nothing to free, when every chip is on its own, or finding out would take more than
 * `most` words or too many rounds. */
bool net_refine(const struct net_schedules *all, size_t most, struct net_classes *out);

#endif
