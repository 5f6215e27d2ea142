/**
 * Where a packet picks the virtual channel of its next link with the link: when it can go, through
 * which channel, and whose turn it is. Shared by late binding and adaptive routing.
 */
#ifndef PODSIM_NETSIM_PACKET_PICK_H
#define PODSIM_NETSIM_PACKET_PICK_H

#include "netsim/packet_visit.h"

/* When a queue could take the output: the earliest that one of its channels has room. Adds to
 * `rooms` the top bit if it is not known of one. */
ALWAYS_INLINE net_ticks go_from(const struct visit *w, const struct output *out,
                                const struct queue *q, net_ticks *rooms)
{
    net_ticks room = NET_TICKS_NEVER;
    uint32_t gate = q->gate, end = gate + 2 * q->channels;
    do {
        net_ticks from = room_at(w, gate);
        *rooms |= from;
        room = from < room ? from : room;
    } while ((gate += 2) < end);
    return later_of(later_of(q->ready, out->free), room);
}

/* A channel of those that the head may take, where at least one has room. */
ALWAYS_INLINE uint32_t pick_channel(const struct visit *w, uint32_t o, const struct queue *q)
{
    struct output *out = &w->v.output[o];
    uint32_t channel = q->gate / 2, first = o * w->e->vcs;
    if (q->channels == 1) return channel;
    uint64_t free = 0;
    for (uint32_t i = 0; i < q->channels; i++)
        free |= (uint64_t)(room_at(w, q->gate + 2 * i) <= out->nx) << (channel - first + i);
    out->vc = (uint8_t)next_round(&free, 1, out->vc);
    return first + out->vc;
}

/* The next input after the last one's, and of its channels the next after its last. */
ALWAYS_INLINE uint32_t pick_by_input(const struct visit *w, uint32_t o)
{
    const uint64_t *candidates = candidates_of(&w->v, w->words, o);
    uint32_t vcs = w->e->vcs, rings = w->v.node->rings, last = w->v.output[o].last;
    uint8_t *last_vc = w->v.last_vc + (size_t)o * w->kind->inputs;
    if (last < rings) last = (w->v.queue[last].input + 1u) * vcs - 1;
    uint32_t q = next_round(candidates, w->words, last);
    if (q >= rings || vcs == 1) return q;
    uint32_t input = w->v.queue[q].input, vc = last_vc[input];
    do {
        vc = vc + 1 == vcs ? 0 : vc + 1;
        q = input * vcs + vc;
    } while ((candidates[q / 64] >> q % 64 & 1) == 0);
    last_vc[input] = (uint8_t)vc;
    return q;
}

/* Whose turn it is of an output's candidates. */
ALWAYS_INLINE uint32_t pick_words(const struct visit *w, uint32_t o)
{
    if (w->e->router.arbitration == NET_BY_INPUT) return pick_by_input(w, o);
    return next_round(candidates_of(&w->v, w->words, o), w->words, w->v.output[o].last);
}

#endif
