/**
 * The packet engine: virtual cut-through routers, packet by packet, with exact times.
 *
 * Time is counted in ticks, chosen so that a byte at each of the topology's link rates takes a
 * whole number of them (or, where there is no such number, 1/1024 ps): a long message gets exactly
 * its link's rate.
 *
 * What a node does shows at another node one hop or credit latency later at the earliest. So the
 * engine runs *windows* of the smallest such latency, and inside a window node after node; neither
 * the windows' size nor the order of nodes can change a result.
 */
#ifndef PODSIM_NETSIM_PACKET_H
#define PODSIM_NETSIM_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time.h"
#include "netsim/router.h"
#include "topo/route.h"
#include "topo/topo.h"

typedef uint64_t net_ticks;
typedef struct net_packet_engine net_packet_engine;

#define NET_TICKS_NEVER (UINT64_C(1) << 63)

/** Messages that may take turns on an injection port and still be foretold. */
#define NET_PACKET_TURNS 4

/** A packet at its source. */
struct net_packet {
    uint32_t route;   /* net_packet_route() */
    uint32_t message; /* the client's number, below NET_PACKET_MESSAGES; given back on delivery */
    uint32_t size;    /* net_packet_size() */
    bool is_last;     /* told on delivery */
    /** Packets on its route that follow, each as soon as the one before it has left, unless
     * net_packet_interrupt() says otherwise; none of them is its message's last. Where `more` > 0
     * it and they are of `turns` messages in turn, with packets of these sizes: its own first. */
    uint64_t more;
    uint8_t turns, turn_size[NET_PACKET_TURNS];
};

#define NET_PACKET_MESSAGES (UINT32_C(1) << 26)

/** Who sends and receives. */
struct net_packet_client {
    void *context;
    /** A node's own time has come (net_packet_set_due()). */
    void (*step)(void *context, uint32_t node, net_ticks now);
    /** The packet at the head of an injection port has left; its last byte is gone at `free`. The
     * next one, and when it could leave (>= free); false: none for now. */
    bool (*next)(void *context, uint32_t node, uint32_t port, net_ticks free,
                 struct net_packet *packet, net_ticks *ready);
    /** A packet's last byte will be out of the network at `when`: later than the node's own time,
     * and not in order of `when`. */
    void (*deliver)(void *context, uint32_t node, uint32_t message, bool is_last, net_ticks when);
    /** From net_packet_mail() on another rank; `bytes` need not be aligned. */
    void (*mail)(void *context, const char *bytes, size_t count);
    /** The packet at the head of an injection port and those after it, `packets` (at most its
     * `more`) in all, have left and are delivered, before any that follow. The next one is at the
     * head now; returns its message. NULL where `more` is always 0. */
    uint32_t (*passed)(void *context, uint32_t node, uint32_t port, uint64_t packets);
    /** All before `now` is done: after every few windows, in rising order. May be NULL. */
    void (*look)(void *context, net_ticks now);
};

/** How the engine itself did; of a pod that is cut, on this rank. */
struct net_packet_counts {
    uint64_t injected, delivered;
    uint64_t hops;            /* packets granted a link */
    uint64_t windows, visits; /* visits: of one node in one window */
    uint64_t trains, cuts;    /* packets that moved as one event; those that others ended early */
    uint64_t shared_trains, shared_cuts; /* of them those of several messages */
};

/**
 * A pod may be cut over the MPI ranks: every rank creates the engine and makes the same calls of
 * net_packet_run(); clients deal with their own part's nodes.
 *
 * @param t borrowed
 * @param client copied; its context is borrowed
 * @param part [nodes] rank of every node, borrowed; NULL: all of it is here
 * Errors: SIM_EDATA (router and topology do not go together: fewer virtual channels than the
 * routing asks for, a latency of 0), SIM_ERESOURCE.
 */
SIM_MUST_CHECK enum sim_status net_packet_create(const topo *t, const struct net_router *router,
                                                 const struct net_packet_client *client,
                                                 const uint32_t *part, struct sim_error *err,
                                                 net_packet_engine **out);
/** `resolved` (may be `router`) is the router with what it leaves open chosen. Errors: as there,
 * but for SIM_ERESOURCE. */
SIM_MUST_CHECK enum sim_status net_packet_check(const topo *t, const struct net_router *router,
                                                struct sim_error *err, struct net_router *resolved);
void net_packet_destroy(net_packet_engine *e);

/** Shorter windows than one lookahead, for tests: results are the same. 0: one lookahead. */
void net_packet_set_window(net_packet_engine *e, net_ticks ticks);
/** Whether packets that meet nobody move as trains, one event for many: results are the same, only
 * sooner. They do, by default; before the run. */
void net_packet_set_trains(net_packet_engine *e, bool are_trains);
net_ticks net_packet_window(const net_packet_engine *e);

net_ticks net_packet_ticks_per_ps(const net_packet_engine *e);
/** At the default link rate; a whole number where there is one. */
double net_packet_ticks_per_byte(const net_packet_engine *e);
/** Ticks of a flit at the default link rate. */
net_ticks net_packet_cycle(const net_packet_engine *e);
/** Rounded to the nearest picosecond. */
sim_ps net_packet_ps(const net_packet_engine *e, net_ticks ticks);

/** The router as used: virtual channels and buffers chosen. */
const struct net_router *net_packet_router(const net_packet_engine *e);
/** Do all packets between two nodes that take one route arrive in the order they left? */
bool net_packet_is_ordered(const net_packet_engine *e);

/* Sizes an engine can tell apart. */
#define NET_PACKET_SIZES   63
#define NET_PACKET_NO_SIZE UINT32_MAX
/** Number of a packet of so many bytes (0 < bytes <= the router's packet); NET_PACKET_NO_SIZE: it
 * would be the 64th. */
uint32_t net_packet_size(net_packet_engine *e, double bytes);
/** [returned] bytes of the sizes that have numbers; owned by the engine. */
uint32_t net_packet_sizes(const net_packet_engine *e, const double **bytes);
/** Of one link at the topology's default rate. */
net_ticks net_packet_size_ticks(const net_packet_engine *e, uint32_t size);

/** Number of a route; kept for the engine's life. */
uint32_t net_packet_route(net_packet_engine *e, const struct topo_paths *paths, uint32_t path);

/** Injection ports of a node: 1, or one per outgoing link. */
uint32_t net_packet_ports(const net_packet_engine *e, uint32_t node);
#define NET_PACKET_WAYS 6
/** The injection ports a route may leave through: its first link's; with adaptive routing those of
 * all links that lead nearer. Returns how many. */
uint32_t net_packet_ports_of(const net_packet_engine *e, uint32_t node, uint32_t route,
                             uint32_t *port);

/** Offer a packet to an injection port that has none at its head. It leaves no earlier than the
 * last one's last byte. From step(), or before the run. */
void net_packet_offer(net_packet_engine *e, uint32_t node, uint32_t port,
                      const struct net_packet *packet, net_ticks ready);
/** What was said to follow the packet at a port's head does not from `now` on: next() is asked
 * after the first packet that leaves then. From step(). */
void net_packet_interrupt(net_packet_engine *e, uint32_t node, uint32_t port, net_ticks now);
/** When the node's step() is wanted next; NET_TICKS_NEVER: not. From step(), deliver() and next()
 * of that node, or before the run. */
void net_packet_set_due(net_packet_engine *e, uint32_t node, net_ticks due);

/** Run until nothing happens before `until` any more, on any rank. False: nothing will ever happen
 * again, or the run was stopped. */
bool net_packet_run(net_packet_engine *e, net_ticks until);
/** Let net_packet_run() end soon on all ranks: it cannot come to anything. */
void net_packet_stop(net_packet_engine *e);

/** Is the node on this rank? */
bool net_packet_has(const net_packet_engine *e, uint32_t node);
/** To the client of another rank: there before any packet that starts at the same time. From
 * step(), deliver(), next() and mail(), or before the run. */
void net_packet_mail(net_packet_engine *e, uint32_t rank, const void *bytes, size_t count);

void net_packet_counts(const net_packet_engine *e, struct net_packet_counts *out);
/** Did an audit (struct net_router) find something lost? Then SIM_EINTERNAL, and the run was
 * stopped.
 */
SIM_MUST_CHECK enum sim_status net_packet_fault(const net_packet_engine *e, struct sim_error *err);
/** Packets in this rank's buffers and on links to them now. */
uint64_t net_packet_in_flight(const net_packet_engine *e);
/** Names the buffers that wait for each other, when net_packet_run() has nothing left to do and
 * packets are in flight. Every rank must call it. Returns SIM_EDATA. */
enum sim_status net_packet_deadlock(const net_packet_engine *e, struct sim_error *err);
/** Of a link, on a router that is watched; what another rank has is 0 here. */
struct net_packet_watch {
    int64_t waited;  /* ticks, of all packets in the buffers behind it */
    int64_t stalled; /* ticks it was idle though wanted, for want of room behind it */
    int64_t most;    /* packets that waited at once in one channel */
};
/* Up to `now`, the time to which the engine has run; NET_TICKS_NEVER: nothing is left to do. What
 * is under way then counts as far as it has come. */

/** @param watch [links], zeros; written */
void net_packet_watch(const net_packet_engine *e, net_ticks now, struct net_packet_watch *watch);
/** Ticks a link was busy; 0 where its sender is on another rank. */
net_ticks net_packet_busy(const net_packet_engine *e, topo_link_id link, net_ticks now);
/** Ticks the one ejection port of a chip was busy; 0 where the chip is on another rank. */
net_ticks net_packet_ejection_busy(const net_packet_engine *e, topo_chip_id chip, net_ticks now);
/** All of them count from `now` on. */
void net_packet_restart_links(net_packet_engine *e, net_ticks now);

#endif
