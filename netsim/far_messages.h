/**
 * Messages between chips of different MPI ranks, in the packet engine.
 *
 * Their packets carry a number that names the sender's rank and one of its slots, which any rank
 * passes on as it is. A letter tells the receiver's rank beforehand what the number stands for; a
 * second one, back, that the message is there and the slot free for another.
 */
#ifndef PODSIM_NETSIM_FAR_MESSAGES_H
#define PODSIM_NETSIM_FAR_MESSAGES_H

#include "netsim/executor.h"
#include "netsim/packet.h"

typedef struct net_far_messages net_far_messages;

enum net_letter_kind {
    NET_LETTER_MESSAGE, /* packets under this number are this message's */
    NET_LETTER_ARRIVAL, /* a message without bytes is there at `when` */
    NET_LETTER_DONE     /* the number is free again */
};

/* What the receiver's rank has to know of a message. Its frame is named by calls, as ranks number
 * frames for themselves. */
struct net_letter {
    uint32_t kind, number;
    uint32_t from;                /* rank that writes */
    struct net_activity activity; /* its frame is the writer's */
    uint32_t paths, calls;
    uint64_t packets;
    net_ticks when;
    uint32_t call[NET_FRAME_DEPTH];
};

net_far_messages *net_far_create(void);
void net_far_destroy(net_far_messages *f);

/** A number for a message to a chip of `rank`; NET_NONE: all are in use. */
uint32_t net_far_number(net_far_messages *f, uint32_t rank);
/** Is it such a number, and not an activity of this rank? */
bool net_far_is_number(uint32_t number);
/** On the sender's rank: `rank` has said that the number is done. */
void net_far_release(net_far_messages *f, uint32_t rank, uint32_t number);

/** On the receiver's rank: the activity that stands for the message. */
void net_far_set(net_far_messages *f, uint32_t number, uint32_t activity);
uint32_t net_far_activity(const net_far_messages *f, uint32_t number);
/** The rank that sent it. */
uint32_t net_far_sender(const net_far_messages *f, uint32_t number);

/** Send a letter through the engine. */
void net_far_write(net_packet_engine *e, uint32_t rank, const struct net_letter *letter);
/** What came by net_packet_mail(). */
struct net_letter net_far_read(const char *bytes, size_t count);

#endif
