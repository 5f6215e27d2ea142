/**
 * Max-min fair rates: nobody's rate can grow without taking from somebody who has no more.
 *
 * Progressive filling, level by level. Raise all rates together until some links are full; flows
 * over them are fixed at that level; go on with the rest. A link that is the reason for a flow's
 * rate is its bottleneck: full, and nobody on it has more. (Bertsekas & Gallager, Data Networks,
 * 2nd ed., section 6.5.2.)
 *
 * All links whose share is the lowest to the last bit are taken in one level, counts are integers,
 * and what a level takes from a link is subtracted once (level * count), never flow by flow: links
 * that see the same flows compute the same bits, whatever order they are visited in.
 *
 * The levels of the last solve are kept, with a record of what each took from which link. A flow
 * that comes or goes leaves the levels below the first one it touches as they are; only the rest is
 * taken back and filled anew. The rates are those of a solve from nothing, to the last bit.
 */
#ifndef PODSIM_NETSIM_MAXMIN_H
#define PODSIM_NETSIM_MAXMIN_H

#include <stdbool.h>
#include <stdint.h>

#define NET_MAXMIN_NONE UINT32_MAX

struct net_maxmin_link {
    double capacity, residual; /* bytes/s; residual: not yet given to a level */
    uint32_t unfixed;          /* hops on it that no level has; below 0 (mod 2^32) between a
                                   leave and the solve that takes back the leaver's level */
    uint32_t newest;           /* its last record of undo[], or NONE */
    bool is_listed;            /* among those that a solve may have to fill */
    uint32_t ref_begin, ref_count, ref_room; /* its hops, in ref_flow[] and ref_hop[] */
};

struct net_maxmin_path {
    uint32_t begin, length; /* into hop_link[], hop_at[] */
    uint32_t place;         /* fixed: index into its levels' fixed[]; unused: next unused */
};

struct net_maxmin_node {
    double share; /* what each unfixed hop of the link would get; in the heap: at least that */
    uint32_t link;
};

/** Links and the flows on them, and room to solve in. Ids of flows are dense and reused. */
struct net_maxmin {
    uint32_t links, flows;
    struct net_maxmin_link *link; /* [links] */
    struct net_maxmin_path *path; /* [flows] */
    uint64_t *is_fixed;           /* [flows / 64] a bit each: some level has it. Apart, so that the
                                      flows of a link are looked over within the near caches */
    uint32_t *hop_link, *hop_at;  /* [hops] link; index among the link's refs */
    uint32_t *ref_flow, *ref_hop; /* who passes a link: rooms of 2^i, one per link in use */
    uint32_t *unused_path;        /* [unused_capacity] by length: first unused flow */
    uint32_t unused_room[32];     /* by log2 of the size: first unused room */
    struct net_maxmin_node *heap; /* [links] by (share, link) */
    struct net_maxmin_node *low;  /* [links] scratch: those that may fill up next */
    uint32_t *taken;              /* [links] hops that the level being made fixes */
    uint32_t *listed;             /* [links] scratch */
    uint32_t heap_count, listed_count;
    uint32_t hops, refs;
    uint32_t flow_capacity, fixed_capacity, hop_capacity, hop_at_capacity, ref_flow_capacity,
        ref_hop_capacity, unused_capacity;
    uint64_t levels; /* made so far */
};

struct net_level {
    double rate;
    uint32_t fixed_begin, undo_begin;
};

/** What a level took from a link. */
struct net_level_undo {
    double residual; /* before */
    uint32_t link, taken;
    uint32_t level;
    uint32_t older; /* the link's record before this one, or NONE */
};

/** The levels of one part of the network: flows that share no link with another part's. Rates are
 * the same however the network is divided into parts. Zero-initialise, reuse, release. */
struct net_levels {
    struct net_level *level; /* [level_count], rates never fall */
    uint32_t *fixed;         /* [fixed_count] flows level by level; NONE: has left */
    struct net_level_undo *undo;
    uint32_t *entered; /* [entered_count] flows that wait for the next solve */
    uint32_t level_count, fixed_count, undo_count, entered_count;
    uint32_t flow_count;
    uint32_t stale; /* how many levels, from the end, flows that left have touched */
    uint32_t level_capacity, fixed_capacity, undo_capacity, entered_capacity;
};

/** All links without flows and without capacity: set link[].capacity before use. */
void net_maxmin_init(struct net_maxmin *w, uint32_t links);
void net_maxmin_release(struct net_maxmin *w);

/** A flow over `hops` >= 1 links; a link that it passes twice counts twice. */
uint32_t net_maxmin_add(struct net_maxmin *w, const uint32_t *link, uint32_t hops);
/** The flow is gone; it must have left its levels. */
void net_maxmin_drop(struct net_maxmin *w, uint32_t flow);

/** The link belongs to other levels from now on, which know nothing of it yet. */
void net_maxmin_reset_link(struct net_maxmin *w, uint32_t link);

/** The flow takes part from the next solve on; its links must be these levels'. */
void net_levels_enter(struct net_maxmin *w, struct net_levels *s, uint32_t flow);
/** A flow that a level has fixed goes; the next solve shares out what it had. */
void net_levels_leave(struct net_maxmin *w, struct net_levels *s, uint32_t flow);
/**
 * Make the levels those of the flows that are in now.
 *
 * @return the first level made anew; flows of earlier levels keep their rates
 * Cost: O(hops of the flows taken back + links they touch x log links).
 */
uint32_t net_levels_solve(struct net_maxmin *w, struct net_levels *s);
/** The level that fixed a flow, or NET_MAXMIN_NONE. */
uint32_t net_level_of(const struct net_maxmin *w, const struct net_levels *s, uint32_t flow);
/** Forget everything; memory stays for the next use. */
void net_levels_clear(struct net_levels *s);
void net_levels_release(struct net_levels *s);

#endif
