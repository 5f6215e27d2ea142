/**
 * What a router of the packet engine is like: packets, virtual channels, buffers, latencies.
 *
 * A router is input-buffered: a link ends in one buffer per virtual channel, and a packet moves on
 * when its output is free and the buffer behind it has room for all of it (virtual cut-through).
 *
 *     injection --> [vc 0][vc 1] --+            +--> link +x --> [vc 0][vc 1] ...
 *     link -x   --> [vc 0][vc 1] --+-- outputs -+--> link -x
 *     link +x   --> [vc 0][vc 1] --+            +--> ejection
 *
 * A *cycle* is the time of one flit on a link. A packet that is alone takes
 * injection + H * hop + ejection + bytes / rate over H equal links; the hop is counted from grant
 * to grant, and an unbuffered injection counts none.
 */
#ifndef PODSIM_NETSIM_ROUTER_H
#define PODSIM_NETSIM_ROUTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time.h"

/** Which half of the virtual channels a packet uses around a wrapped axis. */
enum net_class_rule {
    NET_CLASS_ROUTING,  /* what the routing says: a dateline, and the wrap link is before it */
    NET_CLASS_DATELINE, /* the wrap link is behind it */
    NET_CLASS_WRAP      /* fixed on entering the axis, by whether the packet will wrap */
};

/** When a packet picks the virtual channel of its next link. */
enum net_vc_binding {
    NET_VC_LATE, /* when it is granted the link */
    NET_VC_EARLY /* before, and it waits for the link with it; `is_credit_first`: with room in it */
};

/** Whose turn it is at an output. */
enum net_arbitration {
    NET_BY_INPUT,  /* round robin over the inputs, then over an input's virtual channels: two
                      messages that meet get half each */
    NET_BY_CHANNEL /* round robin over all virtual channels */
};

/** What moves as a whole; there is always room for a whole packet behind the link. */
enum net_switching {
    NET_BY_PACKET, /* a packet has the link from its first flit to its last */
    NET_BY_FLIT    /* a packet keeps the link while its next flit waits; where flits go on as they
                      arrive, others get in between. With early binding. */
};

#define NET_ROUTER_BUFFER_MAX 16384u /* packets per virtual channel */
#define NET_ROUTER_VCS_MAX    64u

struct net_router {
    const char *name;
    uint32_t packet_bytes; /* the most a packet carries */
    uint32_t flit_bytes;   /* credits come back when a packet's last flit leaves */
    uint32_t vcs;          /* per link; 0: twice as many as the routing asks for */
    uint32_t buffer_flits; /* per virtual channel; 0: what keeps a link busy over its credit loop */
    bool is_in_cycles;     /* the latencies below are cycles; else ps */
    uint64_t hop;          /* grant to grant; ps: added to the link's latency */
    uint64_t credit;       /* from the grant to the credit's use upstream; ps: as hop */
    uint64_t injection, ejection;
    bool is_one_port; /* one injection and one ejection port of a link's rate; else one per link */
    bool is_injection_buffered; /* injection has virtual channels and buffers like a link */
    enum net_class_rule class_rule;
    enum net_vc_binding binding;
    bool is_credit_first;
    enum net_arbitration arbitration;
    enum net_switching switching;
    /* Packets for which a packet that enters an axis, from a chip or another axis, leaves room:
     * what goes round a full ring stays moving. Source: C. Carrion, R. Beivide, J. A. Gregorio & F.
     * Vallejo, "A flow control mechanism to avoid message deadlock in k-ary n-cube networks", HiPC
     * 1997 (there instead of virtual channels, here beside them). */
    uint32_t bubble;
    bool is_watched;   /* keeps net_packet_watch() */
    bool is_audited;   /* after every window see that no packet and no credit was lost */
    bool is_unchecked; /* fewer virtual channels than the routing asks for are taken, too */
};

/** "tpu" (default), "booksim-a", "booksim-ad", "booksim-p", "booksim-pd"; NULL: no such. */
const struct net_router *net_router_find(const char *name);
/** All of them, ended by a NULL name. */
const struct net_router *net_router_list(void);

/** The parameters that can be set by name: "packet", "flit", "vcs", "buffer" (flits a virtual
 * channel), "hop-latency", "credit-latency", "injection-latency", "ejection-latency" (cycles where
 * the router counts in them, else times), "class-rule", "vc-binding", "arbitration",
 * "switching", "bubble" (packets); ended by NULL. Late binding also means switching by packet,
 * unless "switching" is set after it. */
extern const char *const net_router_parameters[];
/** Errors: SIM_EDATA says what was found and wanted. */
SIM_MUST_CHECK enum sim_status net_router_set(struct net_router *router, const char *parameter,
                                              const char *value, struct sim_error *err);
/** "tpu, packets of 4KiB, 2 virtual channels of 64 flits, ...". Returns `buffer`. */
const char *net_router_format(const struct net_router *router, char *buffer, size_t bytes);

/** Errors: SIM_EUSAGE names the parameter, what was found and what was wanted. */
SIM_MUST_CHECK enum sim_status net_router_check(const struct net_router *router,
                                                struct sim_error *err);

#endif
