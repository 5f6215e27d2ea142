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

#define NONE16 UINT16_MAX
#define NONE32 UINT32_MAX

/* Top bit of a slot's time: there is a packet. As a number it is later than any time. */
#define OCCUPIED NET_TICKS_NEVER

struct slot {
    net_ticks time; /* OCCUPIED | arrival of the head, or free from */
    uint32_t route;
    uint32_t tag; /* message in the low 26 bits, size above */
};

/*
 * Route words. Packed, for up to three axes taken in order:
 *     bits 0-6 hops left, bit 7 direction (1: -); axis 1 from bit 8, axis 2 from bit 16;
 *     bits 24-26 class of each axis
 * or, with bit 30 set, an index into the table of steps. Bit 31: last packet of its message.
 */
#define ROUTE_LAST      (UINT32_C(1) << 31)
#define ROUTE_TABLE     (UINT32_C(1) << 30)
#define ROUTE_HOPS      0x7f7f7fu
#define ROUTE_CLASS_BIT 24
#define TAG_SIZE_BIT    26
#define SIZES_MAX       63 /* in the table; more are looked up */

/* A step of a table route: output in the low 12 bits, class above; all ones: here. */
#define STEP_HERE      UINT16_MAX
#define STEP_CLASS_BIT 12

/* A head waits for `output` from `ready` on; where none is known, the earliest time of the next. */
struct queue {
    net_ticks ready;
    uint32_t head;  /* slot; of an injection queue 1 with a packet, else 0 */
    uint32_t route; /* of the head, behind the link it waits for */
    uint16_t input; /* the link it belongs to, or the port behind all links */
    uint16_t output;
    uint8_t class; /* with ENTERS: leaves a bubble */
    uint8_t vc;    /* bound early; VC_NONE: not yet */
};
#define VC_NONE   UINT8_MAX
#define ENTERS    0x80u
#define AXIS_NONE UINT8_MAX

struct output {
    net_ticks free;   /* the link is idle from then on */
    net_ticks nx;     /* the next grant, as far as is known */
    net_ticks busy;   /* in all */
    net_ticks hop;    /* until the head arrives behind it */
    uint32_t ring;    /* first of the rings behind it; NONE32: ejection */
    uint32_t node;    /* whose they are */
    uint16_t last;    /* queue granted last, for round robin */
    uint8_t rate;     /* index into rates */
    uint8_t vc;       /* picked last, for round robin */
    bool is_ejection; /* no rings behind it */
    bool is_wrap;     /* closes an axis */
    bool is_blocked;  /* `nx` does not know of a credit still to come */
};

/* Packets of an injection head that leave one after the other, and of which nothing is written
 * down before somebody has to know; see packet_train.c. */
struct train {
    net_ticks start; /* the first packet's grant */
    net_ticks each;  /* between two */
    uint64_t more;   /* packets after the first; 0: there is no train */
    net_ticks retry; /* none starts before */
};

struct node {
    net_ticks due;              /* of the client */
    net_ticks train_end;        /* the first last packet's grant of its trains; NEVER: no trains */
    uint32_t first_ring;        /* of queue 0; later queues' follow */
    uint16_t queues, rings;     /* queues [rings, queues) are injection heads */
    uint16_t links;             /* outputs [0, links) */
    uint16_t outputs, ejection; /* output; NONE16: every link ejects by itself */
    uint16_t injection;         /* output behind the source of a buffered injection; else NONE16 */
    uint16_t ports;             /* injection heads; port i is queue rings + i */
};

/* An injection head, or what the client has given for it. */
typedef struct slot head;

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
    uint32_t vcs, depth, bubble, slack; /* depth: slots of a ring; slack: flits of a buffer that
                                           make no whole packet */
    uint32_t stride, shift;             /* of rings in `slot`: a power of two */
    net_ticks ejection;
    bool is_early, is_packed, can_train, are_trains;
    uint32_t classes;
    struct class_range range[NET_ROUTER_VCS_MAX + 1]; /* [classes], then any */

    uint32_t rates, latencies;
    double *ticks_per_byte; /* [rates] */
    net_ticks *flit;        /* [rates] */
    struct latency *latency;
    double size_bytes[SIZES_MAX];
    uint32_t sizes;
    struct span *span; /* [SIZES_MAX + 1 x rates] */

    char *block;            /* of all nodes */
    size_t *block_begin;    /* [nodes] */
    net_ticks *wake;        /* [nodes] nothing to do before */
    uint32_t *upstream;     /* [rings] node that writes */
    uint8_t *ring_rate;     /* [rings] of the link; NULL: all alike */
    net_ticks *ring_credit; /* [rings]; NULL: all `credit` */
    net_ticks credit;
    struct slot *slot; /* [rings x stride], the first `depth` of each in use */
    uint32_t rings;
    uint32_t *output_of_link; /* [links] of its from node */

    uint16_t *step; /* routes by table */
    uint32_t steps, step_capacity;

    struct net_packet_counts counts;
    uint32_t trains; /* that run */
};

/* ---- parts of a node's block ---- */

struct view {
    struct node *node;
    struct queue *queue;
    struct output *output;
    uint64_t *requests;   /* [outputs x words] queues that want the output */
    uint64_t *candidates; /* [outputs x words] those that can go at its nx */
    uint64_t *idle;       /* [words] queues without a known head */
    uint64_t *dirty;      /* [words] outputs whose nx is to be found anew */
    uint32_t *tail;       /* [outputs x vcs] slot where the next packet goes */
    head *injection;      /* [ports] */
    struct train *train;  /* [ports]; NULL: no trains here */
    uint8_t *axis;        /* [inputs] along which it comes; AXIS_NONE: a port, or no torus */
    uint8_t *last_vc;     /* [outputs x links in] granted last, for round robin */
    /* early binding only */
    uint16_t *owner;         /* [outputs x vcs] queue, or NONE16 */
    uint16_t *grant_pointer; /* [outputs x vcs] */
    uint8_t *accept_pointer; /* [queues x outputs] */
    uint64_t *fresh;         /* [words] scratch */
    net_ticks *available;    /* [outputs x vcs] */
    net_ticks *alloc;        /* [outputs] no allocation before */
};

static inline size_t align8(size_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

/* The one place that knows the layout; gives the block's size when `block` is only a base. */
static inline size_t net_packet_layout(const net_packet_engine *e, char *block,
                                       const struct node *n, uint32_t words, struct view *v)
{
    size_t at = sizeof(struct node), channels = (size_t)n->outputs * e->vcs;
    v->node = (struct node *)(void *)block;
    v->idle = (uint64_t *)(void *)(block + at);
    at += words * sizeof(uint64_t);
    v->dirty = (uint64_t *)(void *)(block + at);
    at += words * sizeof(uint64_t);
    v->output = (struct output *)(void *)(block + at);
    at += n->outputs * sizeof(struct output);
    v->requests = (uint64_t *)(void *)(block + at);
    at += (size_t)n->outputs * words * sizeof(uint64_t);
    v->candidates = (uint64_t *)(void *)(block + at);
    at += (size_t)n->outputs * words * sizeof(uint64_t);
    v->queue = (struct queue *)(void *)(block + at);
    at += n->queues * sizeof(struct queue);
    v->injection = (head *)(void *)(block + at);
    at += n->ports * sizeof(head);
    v->train = e->can_train ? (struct train *)(void *)(block + at) : NULL;
    at += e->can_train ? n->ports * sizeof(struct train) : 0;
    v->tail = (uint32_t *)(void *)(block + at);
    at += align8(channels * sizeof(uint32_t));
    v->axis = (uint8_t *)(block + at);
    at += align8((size_t)(n->rings / e->vcs + n->ports));
    v->last_vc = (uint8_t *)(block + at);
    at += align8((size_t)n->outputs * (n->rings / e->vcs));
    v->owner = v->grant_pointer = NULL;
    v->accept_pointer = NULL;
    v->available = v->alloc = v->fresh = NULL;
    if (!e->is_early) return at;
    v->available = (net_ticks *)(void *)(block + at);
    at += channels * sizeof(net_ticks);
    v->alloc = (net_ticks *)(void *)(block + at);
    at += n->outputs * sizeof(net_ticks);
    v->owner = (uint16_t *)(void *)(block + at);
    at += align8(channels * sizeof(uint16_t));
    v->grant_pointer = (uint16_t *)(void *)(block + at);
    at += align8(channels * sizeof(uint16_t));
    v->accept_pointer = (uint8_t *)(void *)(block + at);
    at += align8((size_t)n->queues * n->outputs);
    v->fresh = (uint64_t *)(void *)(block + at);
    at += words * sizeof(uint64_t);
    return at;
}

static inline struct node *net_packet_node(const net_packet_engine *e, uint32_t node)
{
    return (struct node *)(void *)(e->block + e->block_begin[node]);
}

static inline struct view net_packet_view(const net_packet_engine *e, uint32_t node)
{
    struct node *n = net_packet_node(e, node);
    struct view v;
    net_packet_layout(e, (char *)n, n, e->words, &v);
    return v;
}

/* Does the link behind this port close its axis? */
bool net_packet_closes_axis(const topo *t, topo_node_id from, uint32_t port);
/* One node for one window: everything it does before `end`. */
void net_packet_visit_late(net_packet_engine *e, uint32_t node, net_ticks end);
void net_packet_visit_early(net_packet_engine *e, uint32_t node, net_ticks end);

/* Fewer packets behind a head are not worth a train. */
#define TRAIN_LEAST 6
/* The head of an injection port, and what follows it, becomes a train if it can. */
void net_packet_train_start(net_packet_engine *e, uint32_t node, uint32_t port, uint64_t more);
/* The trains that end first are at their end: the last packet of each waits to leave. */
void net_packet_train_finish(net_packet_engine *e, uint32_t node);
/* If somebody else wants the output, its train is one no more. */
void net_packet_train_yield(net_packet_engine *e, uint32_t node, uint32_t output);
/* All trains are what they are packet by packet when all before `now` has happened. */
void net_packet_trains_settle(net_packet_engine *e, net_ticks now);

/* What a packet of this tag takes on a link of the rate. */
static inline struct span net_packet_span(const net_packet_engine *e, uint32_t tag, uint32_t rate)
{
    return e->span[(tag >> TAG_SIZE_BIT) * e->rates + rate];
}

/* Where a packet goes next, and the route behind that step. */
struct step {
    uint32_t output; /* NONE32: it is there */
    uint32_t class;
    uint32_t route;
};

static inline struct step net_packet_step(const net_packet_engine *e, const struct view *v,
                                          uint32_t route)
{
    if (route & ROUTE_TABLE) {
        uint16_t step = e->step[route & (ROUTE_TABLE - 1)];
        if (step == STEP_HERE) return (struct step){NONE32, 0, route};
        return (struct step){step & ((1u << STEP_CLASS_BIT) - 1), step >> STEP_CLASS_BIT,
                             route + 1};
    }
    uint32_t hops = route & ROUTE_HOPS;
    if (hops == 0) return (struct step){NONE32, 0, route};
    uint32_t axis = (uint32_t)__builtin_ctz(hops) >> 3;
    uint32_t output = 2 * axis + (route >> (8 * axis + 7) & 1);
    uint32_t class_bit = UINT32_C(1) << (ROUTE_CLASS_BIT + axis), before = route;
    route -= UINT32_C(1) << (8 * axis);
    if (v->output[output].is_wrap && e->router.class_rule != NET_CLASS_WRAP) {
        route |= class_bit;
        if (e->router.class_rule == NET_CLASS_DATELINE) before = route;
    }
    return (struct step){output, (before & class_bit) != 0, route};
}

#endif
