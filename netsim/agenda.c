/* A binary heap per chip. */
#include "netsim/agenda.h"

#include "base/arena.h"

struct heap {
    uint32_t count, capacity;
    struct net_due *due;
};

struct net_agenda {
    uint32_t chips;
    struct heap *heap;
    net_compare_frames compare;
    const void *context;
};

net_agenda *net_agenda_create(uint32_t chips, net_compare_frames compare, const void *context)
{
    net_agenda *a = SIM_NEW(net_agenda, 1);
    *a = (net_agenda){chips, SIM_NEW(struct heap, chips), compare, context};
    return a;
}

void net_agenda_destroy(net_agenda *a)
{
    if (a == NULL) return;
    for (uint32_t c = 0; c < a->chips; c++)
        sim_free(a->heap[c].due);
    sim_free(a->heap);
    sim_free(a);
}

static bool comes_before(const net_agenda *a, const struct net_due *x, const struct net_due *y)
{
    if (x->when != y->when) return x->when < y->when;
    if (x->frame != y->frame) return a->compare(a->context, x->frame, y->frame) < 0;
    return x->op != y->op ? x->op < y->op : x->timer < y->timer;
}

void net_agenda_add(net_agenda *a, uint32_t chip, struct net_due due)
{
    struct heap *h = &a->heap[chip];
    SIM_GROW(h->due, h->capacity, h->count + 1);
    uint32_t at = h->count++;
    for (uint32_t up; at > 0 && comes_before(a, &due, &h->due[up = (at - 1) / 2]); at = up)
        h->due[at] = h->due[up];
    h->due[at] = due;
}

net_ticks net_agenda_next(const net_agenda *a, uint32_t chip)
{
    return a->heap[chip].count > 0 ? a->heap[chip].due[0].when : NET_TICKS_NEVER;
}

bool net_agenda_take(net_agenda *a, uint32_t chip, net_ticks now, struct net_due *due)
{
    struct heap *h = &a->heap[chip];
    if (h->count == 0 || h->due[0].when > now) return false;
    *due = h->due[0];
    struct net_due moved = h->due[--h->count];
    uint32_t at = 0;
    for (uint32_t down; (down = 2 * at + 1) < h->count; at = down) {
        if (down + 1 < h->count && comes_before(a, &h->due[down + 1], &h->due[down])) down++;
        if (!comes_before(a, &h->due[down], &moved)) break;
        h->due[at] = h->due[down];
    }
    h->due[at] = moved;
    return true;
}
