/**
 * Who uses what: the peers of every chip's sends, and the links on the way to them, written out.
 *
 * The words of a chip, schedule by schedule, peer by peer:
 *
 *     FORM label   CHIP peer   FORM share  LINK link  LINK link ...      (a path each)
 *                              FORM share  LINK link ...
 *
 * Chips that do the same have the same words up to the names of peers and links.
 */
#ifndef PODSIM_NETSIM_USAGE_H
#define PODSIM_NETSIM_USAGE_H

#include <stddef.h>

#include "netsim/schedule.h"

/** Schedules of a run, the root first. */
struct net_schedules {
    const net_schedule **schedule;
    uint32_t count, capacity;
};

/** The root and whatever is called, each once. */
struct net_schedules net_schedules_of(const net_schedule *root);

/** Whom the programs of a schedule send to. */
struct net_targets {
    uint32_t *begin;           /* [programs + 1] into target */
    struct net_target *target; /* of a program each peer and guard once, by peer */
    uint32_t count, capacity;
};

struct net_target {
    uint32_t peer, guard;
};

struct net_targets net_targets_of(const net_schedule *s);
void net_targets_release(struct net_targets *t);
/** The peers a chip sends to, each once: `*at` is 0 at first; NET_NONE after the last. */
uint32_t net_targets_next(const struct net_targets *t, const net_schedule *s, topo_chip_id chip,
                          uint32_t *at);
/** Is a chip within the guard (NET_NONE: every chip is)? */
bool net_is_under_guard(const net_schedule *s, topo_chip_id chip, uint32_t guard);

enum net_word_kind { NET_WORD_FORM, NET_WORD_CHIP, NET_WORD_LINK };

struct net_usage {
    uint32_t chips, links;
    size_t *begin;  /* [chips + 1] into word */
    uint32_t *word; /* [begin[chips]] kind in the top two bits, value below */
    size_t capacity;
    double *share; /* [shares] the different ones */
    uint32_t shares, share_capacity;
    bool is_one_part; /* links and messages tie all working chips together */
};

static inline enum net_word_kind net_word_kind(uint32_t word)
{
    return (enum net_word_kind)(word >> 30);
}

static inline uint32_t net_word_value(uint32_t word)
{
    return word & ((UINT32_C(1) << 30) - 1);
}

/**
 * Of all schedules together. False, and nothing to release, when it would take more than `most`
 * words, or when all chips turn out to be tied together on a topology with faults: a part with
 * something odd in it has no symmetry.
 */
bool net_usage_write(const struct net_schedules *all, size_t most, struct net_usage *out);
void net_usage_release(struct net_usage *u);

#endif
