/**
 * State of the packet engine; shared by its files only.
 *
 * Every virtual channel of a link is a *ring* of slots, read by the node at the link's end. A slot
 * is packet and credit at once: the sender writes a packet with the time its head arrives; the
 * reader, moving it on, writes the time from which the slot may be filled again. In flight and
 * queued are the same slot, and no credit is ever counted.
 *
 *     sender's tail --> [ free from 70 ][ packet, at 120 ][ packet, at 110 ] <-- reader's head
 *
 * A node is one block of memory: a header, then its queues (readers of rings), its outputs, masks
 * of which queue wants which output, and where it writes next in the rings behind its outputs.
 *
 *     queues:  link 0: vc 0, 1, ..  link 1: ..  injection
 *     outputs: link 0, link 1, ..   ejection, injection (where these are ports of their own)
 */
#ifndef PODSIM_NETSIM_PACKET_INTERNAL_H
#define PODSIM_NETSIM_PACKET_INTERNAL_H

#include <assert.h>
#include <stddef.h>

#include "netsim/packet.h"

#define LINE   64 /* bytes of a cache line */
#define NONE16 UINT16_MAX
#define NONE32 UINT32_MAX

/* Top bit of a slot's time: there is a packet. As a number it is later than any time. */
#define OCCUPIED NET_TICKS_NEVER

struct slot {
    net_ticks time;  /* OCCUPIED | arrival of the head, or free from */
    uint64_t packet; /* moved as one word: route in the low half, tag above */
};

#define SLOTS_AHEAD 6 /* prefetched */

/*
 * Route words. Packed, for up to three axes taken in order:
 *     bits 0-6 hops left, bit 7 direction (1: -); axis 1 from bit 8, axis 2 from bit 16;
 *     bits 24-26 class of each axis
 *     bits 27-29 either direction is as good, and none is taken yet: adaptive routing only
 * or, with bit 30 set, an index below 2^27 into the table of steps. Bit 31: last packet of its
 * message. Where slots are flits, bit 27 marks the last of a packet, on either kind of route.
 */
#define ROUTE_LAST      (UINT32_C(1) << 31)
#define ROUTE_TABLE     (UINT32_C(1) << 30)
#define ROUTE_INDEX     ((UINT32_C(1) << 27) - 1)
#define ROUTE_HOPS      0x7f7f7fu
#define ROUTE_CLASS_BIT 24
#define ROUTE_DIRECTION 0x808080u
#define ROUTE_FREE_BIT  27
#define ROUTE_TAIL      (UINT32_C(1) << 27) /* of flits: the last of its packet */
#define TAG_SIZE_BIT    26                  /* of a tag: message in the low bits, size above */
#define SIZES_MAX       NET_PACKET_SIZES

/* A step of a table route: output in the low 12 bits, class above; all ones: here. */
#define STEP_HERE      UINT16_MAX
#define STEP_CLASS_BIT 12

/* A head waits for an output from `ready` on; where none is known, the next comes no earlier. */
struct queue {
    net_ticks ready;
    uint64_t packet;  /* the head, its route that behind the link it waits for; with adaptive
                         routing as it has come */
    uint32_t head;    /* slot; of an injection queue: flits left of its packet, or 1; 0: none */
    uint32_t gate;    /* of the first channel it may take */
    uint8_t channels; /* it may take */
    bool is_bound;    /* early, to the channel of `gate` */
    bool is_open;     /* flits of its packet have gone, others follow */
    uint8_t axis;     /* along which it comes; AXIS_NONE: a port, or no torus */
    uint16_t input;   /* the link it belongs to, or the port behind all links */
};
#define AXIS_NONE UINT8_MAX

/* Most is needed at every grant: one cache line. */
struct output {
    net_ticks nx;        /* the next grant, as far as is known */
    net_ticks free;      /* the link is idle from then on */
    uint64_t requests;   /* queues that want it, where a mask is one word */
    uint64_t candidates; /* those that can go at nx */
    net_ticks busy;      /* in all */
    net_ticks hop;       /* until the head arrives behind it */
    uint32_t node;       /* whose the rings behind it are */
    uint16_t last;       /* queue granted last, for round robin */
    uint8_t rate;        /* index into rates */
    uint8_t vc;          /* picked last, for round robin */
    bool is_ejection;    /* no rings behind it */
    bool is_blocked;     /* `nx` does not know of a credit still to come */
    uint16_t behind;     /* a channel plus this is the queue behind it, modulo 2^16 */
    uint16_t hold;       /* queue whose next flit it is kept for; NONE16 */
};
static_assert(sizeof(struct queue) == 32 && sizeof(struct output) <= 64, "half a line and a line");

/* Packets of an injection head that leave one after the other, and of which nothing is written
 * down before somebody has to know; see packet_train.c. */
struct train {
    net_ticks start;                            /* the first packet's grant */
    net_ticks end;                              /* the last one's, which is `more` packets later */
    uint64_t more;                              /* 0: there is no train */
    net_ticks retry;                            /* none starts before */
    uint8_t turns, turn_size[NET_PACKET_TURNS]; /* as of the first packet */
};

struct node {
    net_ticks train_end;        /* the first last packet's grant of its trains; NEVER: no trains */
    uint32_t first_ring;        /* of queue 0; later queues' follow */
    uint16_t queues, rings;     /* queues [rings, queues) are injection heads */
    uint16_t links;             /* outputs [0, links) */
    uint16_t outputs, ejection; /* `links`; NONE16: every link ejects by itself */
    uint16_t injection;         /* output behind the source of a buffered injection; else NONE16 */
    uint16_t ports;             /* injection heads; port i is queue rings + i */
    bool raises[8];             /* of packed routes, by output: raises the class */
};

/*
 * The parts of a node's block behind its header: type, name, how many. Here as everywhere, `words`
 * are of 64 queues or outputs in a mask; a channel is a virtual channel of an output.
 *
 *     idle        queues without a known head
 *     dirty       outputs whose nx is to be found anew
 *     output
 *     queue
 *     gate        [channels x 2] slot that must be free: where the next packet goes, and for one
 *                 that enters an axis a bubble further; of an ejection always free
 *     train       of an injection port
 *     last_vc     [outputs x inputs] channel granted last, for round robin: at each output its own,
 *                 since in a round outputs go in any order
 *     requests, candidates   [outputs x words] where a mask is several words
 *
 * With statistics only (packet_watch.c): packets of a queue have waited in all, an output had
 * nowhere to send to, packets that waited at most.
 *
 * Early binding only: when a channel can be given to a head, NEVER while it belongs to one; no
 * allocation of an output before; round-robin pointers; scratch.
 */
#define NODE_PARTS(X)                                                                              \
    X(uint64_t, idle, words)                                                                       \
    X(uint64_t, dirty, words)                                                                      \
    X(struct output, output, OUTPUTS(outputs))                                                     \
    X(struct queue, queue, queues)                                                                 \
    X(uint32_t, gate, 2 * channels)                                                                \
    X(struct train, train, trains)                                                                 \
    X(uint8_t, last_vc, outputs *inputs)                                                           \
    X(uint64_t, requests, words > 1 ? outputs * words : 0)                                         \
    X(uint64_t, candidates, words > 1 ? outputs * words : 0)                                       \
    X(net_ticks, waited, watched *queues)                                                          \
    X(net_ticks, stalled, watched *outputs)                                                        \
    X(uint32_t, most, watched *queues)                                                             \
    X(net_ticks, available, early *channels)                                                       \
    X(net_ticks, alloc, early *outputs)                                                            \
    X(uint16_t, grant_pointer, early *channels)                                                    \
    X(uint16_t, accept_pointer, early *queues)                                                     \
    X(uint64_t, able, early *words)                                                                \
    X(uint64_t, picking, early *words)

/* Outputs are scanned four at a time; those that are none never grant. */
#define OUTPUTS(count) (((count) + 3u) / 4 * 4)

/* Nodes with as many rings, ports and outputs share one. */
struct kind {
    struct node like; /* as such a node begins, but for its rings' numbers */
    uint16_t inputs;
    struct {
#define X(type, name, count) uint32_t name;
        NODE_PARTS(X)
#undef X
    } at; /* bytes from the header on */
    uint32_t bytes;
    /* For round robin where a mask is one word, by queue: those that come after it, from the next
     * input on; those whose turn it is together. */
    uint64_t after[64], together[64];
};

/* A node's block. */
struct view {
    struct node *node;
#define X(type, name, count) type *name;
    NODE_PARTS(X)
#undef X
};

struct latency {
    net_ticks hop, credit;
};

/* Of a packet on a link: until the link is idle, and until its last flits leave, whose room is not
 * needed for another packet to start. */
struct span {
    net_ticks whole, room;
};

/* Rings of class c: virtual channels [first, first + count). */
struct class_range {
    uint16_t first, count;
};

struct net_packet_engine {
    const topo *topology;
    struct net_router router;
    struct net_packet_client client;
    net_ticks ticks_per_ps, cycle, lookahead, window;
    net_ticks begin, now;  /* of the window that runs: its start, its end */
    net_ticks round;       /* no grant of a packet now in the network takes less than this */
    uint32_t nodes, words; /* words: of 64 queues in a mask */
    uint32_t *own;         /* [owns] nodes that are here, those at the border first */
    uint32_t owns, border_owns;
    uint32_t vcs, depth, bubble, slack; /* depth: slots of a ring; slack: flits of a buffer that
                                           make no whole packet */
    uint32_t stride, shift;             /* of rings in `slot`: a power of two */
    net_ticks ejection;
    bool is_early, is_by_flit, is_adaptive, is_packed, can_train, are_trains;
    void (*visit)(net_packet_engine *e, uint32_t node, net_ticks end);
    bool is_uniform;     /* links are alike in rate and credit latency, rings a power of two */
    uint32_t route_end;  /* of packed routes: a hop behind the last axis */
    bool raises_at_once; /* a packet is in the higher class on the closing link already */
    uint32_t classes;
    struct class_range range[NET_ROUTER_VCS_MAX + 1]; /* [classes], then any */
    struct class_range adaptive;                      /* for every minimal way */

    uint32_t rates, latencies;
    double *ticks_per_byte; /* [rates] */
    net_ticks *flit;        /* [rates] */
    struct latency *latency;
    double size_bytes[SIZES_MAX];
    uint32_t sizes;
    struct span *span;         /* [SIZES_MAX + 1 x rates] */
    uint32_t flits[SIZES_MAX]; /* that are moved one by one; 1 where packets are */

    struct kind *kind; /* [kinds] */
    uint32_t kinds;
    uint32_t *kind_of;       /* [nodes] index */
    uint8_t *is_made;        /* [nodes] its block is written, which waits until it is needed: what
                                stays idle takes no memory */
    char *memory;            /* of all nodes; zeros where they are not made */
    char *block;             /* the same, at a cache line */
    size_t *block_begin;     /* [nodes + 1] */
    uint32_t *first_ring;    /* [nodes] of queue 0 */
    net_ticks *wake;         /* [nodes + 1] nothing to do before; the last: nodes elsewhere */
    net_ticks *due;          /* [nodes + 1] of the client; NEVER: nothing is */
    uint64_t *arriving;      /* [(nodes + 1) x words] queues that may have packets without a known
                               head: who writes into a ring sets its bit, who finds it empty clears
                               it */
    uint64_t *awaited;       /* as `arriving`: queues whose writers wait for room: who pops a packet
                                there wakes the writer */
    uint32_t *upstream;      /* [rings] node that writes */
    topo_link_id *ring_link; /* [rings / vcs]; TOPO_NONE: an injection's */
    uint8_t *ring_rate;      /* [rings] of the link; NULL: uniform */
    net_ticks *ring_credit;  /* [rings]; NULL: all `credit` */
    net_ticks credit;
    /* [all rings x stride], the first `depth` of each in use; then one that is always free, and
     * some that are only prefetched */
    struct slot *slot;
    uint32_t rings, all_rings;  /* those read here; those written here, read elsewhere, too */
    uint32_t *output_of_link;   /* [links] of its from node */
    uint32_t *ring_of_link;     /* [links] the first it is written into; of one elsewhere unused */
    topo_link_id *links_of_one; /* of a node that is made: room */

    uint16_t *step; /* routes by table */
    uint32_t steps, step_capacity;
    uint32_t *table_route; /* open hash table of routes' first steps; NONE32: free */
    uint32_t table_routes, table_size;

    /* Of a pod that is cut: this rank's part. */
    const uint32_t *part; /* [nodes] rank; borrowed; NULL: everything is here */
    uint32_t rank;
    uint32_t far_rings; /* written here, read elsewhere */
    struct net_border *border;
    struct sim_error fault;      /* what an audit has found */
    bool wants_stop, is_stopped; /* here; on any rank, as agreed */

    struct net_packet_counts counts;
    uint32_t trains; /* that run */
};

static inline struct node *net_packet_node(const net_packet_engine *e, uint32_t node)
{
    return (struct node *)(void *)(e->block + e->block_begin[node]);
}

static inline const struct kind *net_packet_kind(const net_packet_engine *e, uint32_t node)
{
    return &e->kind[e->kind_of[node]];
}

static inline struct view net_packet_view(const net_packet_engine *e, uint32_t node)
{
    struct node *n = net_packet_node(e, node);
    const struct kind *k = net_packet_kind(e, node);
    char *block = (char *)n;
    return (struct view){n,
#define X(type, name, count) (type *)(void *)(block + k->at.name),
                         NODE_PARTS(X)
#undef X
    };
}

static inline bool net_packet_is_here(const net_packet_engine *e, uint32_t node)
{
    return e->part == NULL || e->part[node] == e->rank;
}

uint8_t net_packet_rate_of(net_packet_engine *e, topo_link_id link);
struct latency net_packet_latency_of(const net_packet_engine *e, topo_link_id link);
/* A router's latency in its own unit. */
net_ticks net_packet_router_ticks(const net_packet_engine *e, uint64_t latency);
/* Before anything is done to a node that is here; its view is empty until then. */
void net_packet_make(net_packet_engine *e, uint32_t node);
/* A route of the table by its steps, the last of them STEP_HERE; the same one for the same
 * steps. */
uint32_t net_packet_table_route(net_packet_engine *e, const uint16_t *step, uint32_t steps);
/* Does the link behind this port close its axis? */
bool net_packet_closes_axis(const topo *t, topo_node_id from, uint32_t port);
/* [outputs] the node's links; TOPO_NONE: no link's output. `link` has room for them, or for the
 * topology's most ports. */
void net_packet_links_of(const net_packet_engine *e, uint32_t node, topo_link_id *link);
/* Stops the run where packets or credits are lost. */
void net_packet_audit(net_packet_engine *e);
/* One node for one window: everything it does before `end`. */
void net_packet_visit_late(net_packet_engine *e, uint32_t node, net_ticks end);
void net_packet_visit_early(net_packet_engine *e, uint32_t node, net_ticks end);
void net_packet_visit_flits(net_packet_engine *e, uint32_t node, net_ticks end);
void net_packet_visit_adaptive(net_packet_engine *e, uint32_t node, net_ticks end);

/* Adaptive routing, once channels are chosen. Errors: SIM_EDATA. */
SIM_MUST_CHECK enum sim_status net_packet_adaptive_set_up(net_packet_engine *e,
                                                          struct sim_error *err);
/* The head of queue q wants `output` and, with adaptive routing, all others that lead nearer. */
void net_packet_want_all(const net_packet_engine *e, struct view *v, uint32_t q, uint32_t output);
/* The outputs that lead nearer, as bits; none: the packet is there. */
uint32_t net_packet_ways(uint32_t route);

/* Fewer packets behind a head are not worth a train. */
#define TRAIN_LEAST 6
/* The head of an injection port, and what is said to follow it, becomes a train if it can. */
void net_packet_train_start(net_packet_engine *e, uint32_t node, uint32_t port,
                            const struct net_packet *head);
/* The trains that end first are at their end: the last packet of each waits to leave. */
void net_packet_train_finish(net_packet_engine *e, uint32_t node);
/* Where somebody else wants the output of a train, it is a train no more. */
void net_packet_trains_yield(net_packet_engine *e, uint32_t node);
/* All trains are what they are packet by packet when all before `now` has happened. */
void net_packet_trains_settle(net_packet_engine *e, net_ticks now);

static inline uint32_t route_of(uint64_t packet)
{
    return (uint32_t)packet;
}

static inline uint64_t packet_of(uint32_t route, uint32_t tag)
{
    return route | (uint64_t)tag << 32;
}

static inline uint32_t make_tag(uint32_t message, uint32_t size)
{
    return message | size << TAG_SIZE_BIT;
}

static inline uint32_t tag_of(uint64_t packet)
{
    return (uint32_t)(packet >> 32);
}

/* Where a packet goes next, and its route behind that step. */
struct step {
    uint32_t output; /* the node's `links`: it is there */
    uint32_t class;
    uint32_t route;
};

/* Of a packed route, without branches: which axis is next is as good as random. Behind the last
 * axis stands one that leads here. */
static inline struct step net_packet_packed_step(const net_packet_engine *e, const struct node *n,
                                                 uint32_t route)
{
    static const uint32_t class_of[] = {UINT32_C(1) << 24, UINT32_C(1) << 25, UINT32_C(1) << 26, 0};
    uint32_t shift = (uint32_t)__builtin_ctz((route & ROUTE_HOPS) | e->route_end) & 0x18;
    uint32_t direction = (route & ROUTE_DIRECTION) >> shift >> 7;
    uint32_t output = shift / 4 + (direction & 1), bit = class_of[shift / 8];
    uint32_t hop = (UINT32_C(1) << shift) & ~e->route_end; /* none behind the last axis */
    uint32_t raised = route | (bit & (0 - (uint32_t)n->raises[output]));
    uint32_t class = ((e->raises_at_once ? raised : route) & bit) != 0;
    return (struct step){output, class, raised - hop};
}

static inline struct step net_packet_step(const net_packet_engine *e, const struct node *n,
                                          uint32_t route)
{
    if ((route & ROUTE_TABLE) == 0) return net_packet_packed_step(e, n, route);
    uint16_t step = e->step[route & ROUTE_INDEX];
    if (step == STEP_HERE) return (struct step){n->links, 0, route};
    return (struct step){step & ((1u << STEP_CLASS_BIT) - 1), step >> STEP_CLASS_BIT, route + 1};
}

#endif
