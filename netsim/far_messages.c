#include "netsim/far_messages.h"

#include <stddef.h>
#include <string.h>

#include "base/arena.h"
#include "netsim/mpi.h"

/* A number: FAR, the sender's rank, and a slot of those it has for the receiver's rank. */
#define FAR (NET_PACKET_MESSAGES >> 1)

/* Slots for, and activities of, one other rank. */
struct peer {
    uint32_t slots, slot_free, slot_capacity; /* slot_free: first of a list */
    uint32_t *slot_next;                      /* [slots] of that list */
    uint32_t *activity;                       /* by the other's slot */
    uint32_t activity_capacity;
};

struct net_far_messages {
    uint32_t ranks, slot_bits;
    struct peer *peer; /* [ranks] */
};

net_far_messages *net_far_create(void)
{
    net_far_messages *f = SIM_NEW(net_far_messages, 1);
    f->ranks = net_mpi_ranks();
    f->slot_bits = (uint32_t)__builtin_ctz(FAR);
    while (f->ranks > FAR >> f->slot_bits)
        f->slot_bits--;
    f->peer = SIM_NEW(struct peer, f->ranks);
    for (uint32_t r = 0; r < f->ranks; r++)
        f->peer[r].slot_free = NET_NONE;
    return f;
}

void net_far_destroy(net_far_messages *f)
{
    if (f == NULL) return;
    for (uint32_t r = 0; r < f->ranks; r++) {
        sim_free(f->peer[r].slot_next);
        sim_free(f->peer[r].activity);
    }
    sim_free(f->peer);
    sim_free(f);
}

static uint32_t slot_of(const net_far_messages *f, uint32_t number)
{
    return number & ((UINT32_C(1) << f->slot_bits) - 1);
}

uint32_t net_far_number(net_far_messages *f, uint32_t rank)
{
    struct peer *p = &f->peer[rank];
    uint32_t slot = p->slot_free;
    if (slot != NET_NONE) {
        p->slot_free = p->slot_next[slot];
    } else {
        if (p->slots >> f->slot_bits != 0) return NET_NONE;
        SIM_GROW(p->slot_next, p->slot_capacity, p->slots + 1);
        slot = p->slots++;
    }
    return FAR | net_mpi_rank() << f->slot_bits | slot;
}

bool net_far_is_number(uint32_t number)
{
    return (number & FAR) != 0;
}

void net_far_release(net_far_messages *f, uint32_t rank, uint32_t number)
{
    struct peer *p = &f->peer[rank];
    uint32_t slot = slot_of(f, number);
    p->slot_next[slot] = p->slot_free;
    p->slot_free = slot;
}

uint32_t net_far_sender(const net_far_messages *f, uint32_t number)
{
    return (number & ~FAR) >> f->slot_bits;
}

void net_far_set(net_far_messages *f, uint32_t number, uint32_t activity)
{
    struct peer *p = &f->peer[net_far_sender(f, number)];
    uint32_t slot = slot_of(f, number);
    SIM_GROW(p->activity, p->activity_capacity, slot + 1);
    p->activity[slot] = activity;
}

uint32_t net_far_activity(const net_far_messages *f, uint32_t number)
{
    return f->peer[net_far_sender(f, number)].activity[slot_of(f, number)];
}

/* ---- letters ---- */

/* Calls last, as many as there are. */
void net_far_write(net_packet_engine *e, uint32_t rank, const struct net_letter *letter)
{
    size_t count = offsetof(struct net_letter, call) + letter->calls * sizeof letter->call[0];
    net_packet_mail(e, rank, letter, count);
}

struct net_letter net_far_read(const char *bytes, size_t count)
{
    struct net_letter letter;
    assert(count <= sizeof letter);
    memcpy(&letter, bytes, count);
    return letter;
}
