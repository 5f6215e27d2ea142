/*
 * Late binding: a packet picks the virtual channel of its next link when it is granted the link.
 *
 * One round-robin pointer per output goes over all queues of the node. A queue takes part from the
 * moment its head is there, the link is idle and a channel of the head's class has room.
 */
#include "netsim/packet_visit.h"

/* When a queue could take output `o`: the earliest that one of its channels has room. */
ALWAYS_INLINE net_ticks go_from(struct visit *w, uint32_t o, const struct queue *q)
{
    net_ticks room = NET_TICKS_NEVER;
    bool is_blocked = false;
    uint32_t channel = q->channel, end = channel + q->channels;
    do {
        net_ticks from = room_at(w, channel, q->bubble);
        is_blocked |= from >= OCCUPIED;
        room = from < room ? from : room;
    } while (++channel < end);
    w->v.blocked[o / 64] |= (uint64_t)is_blocked << o % 64;
    return later_of(later_of(q->ready, w->v.output[o].free), room);
}

/* Most outputs are wanted by one queue; only those that are wanted are dirty. */
ALWAYS_INLINE void plan_one_word(struct visit *w, uint32_t o)
{
    uint64_t requests = w->v.requests[o], candidates = 0;
    net_ticks best = NET_TICKS_NEVER;
    clear_bit(w->v.blocked, o);
    for (; requests != 0; requests &= requests - 1) {
        uint32_t q = (uint32_t)__builtin_ctzll(requests);
        net_ticks from = go_from(w, o, &w->v.queue[q]);
        candidates = from < best ? 0 : candidates;
        best = from < best ? from : best;
        candidates |= (uint64_t)(from == best) << q;
    }
    w->v.candidates[o] = candidates;
    w->v.nx[o] = best;
}

ALWAYS_INLINE void plan_words(struct visit *w, uint32_t o)
{
    const uint64_t *requests = w->v.requests + (size_t)o * w->words;
    uint64_t *candidates = w->v.candidates + (size_t)o * w->words;
    uint32_t i;
    net_ticks best = NET_TICKS_NEVER;
    clear_bit(w->v.blocked, o);
    for (uint32_t word = 0; word < w->words; word++) {
        uint64_t now = 0;
        FOR_EACH_BIT(requests[word], i)
        {
            net_ticks from = go_from(w, o, &w->v.queue[64 * word + i]);
            if (from < best) {
                best = from;
                now = 0;
                for (uint32_t before = 0; before < word; before++)
                    candidates[before] = 0;
            }
            now |= (uint64_t)(from == best) << i;
        }
        candidates[word] = now;
    }
    w->v.nx[o] = best;
}

ALWAYS_INLINE uint32_t pick_channel(const struct visit *w, uint32_t o, const struct queue *q)
{
    struct output *out = &w->v.output[o];
    if (q->channels == 1) return q->channel;
    uint32_t first = o * w->e->vcs;
    uint64_t free = 0;
    for (uint32_t c = q->channel; c < q->channel + q->channels; c++)
        free |= (uint64_t)(room_at(w, c, q->bubble) <= w->v.nx[o]) << (c - first);
    out->vc = (uint8_t)next_round(&free, 1, out->vc);
    return first + out->vc;
}

ALWAYS_INLINE uint32_t first_after(uint64_t bits, uint64_t after)
{
    uint64_t above = bits & after;
    return (uint32_t)__builtin_ctzll(above != 0 ? above : bits);
}

/* The next input after the last one's, and of its channels the next after its last; or the next
 * channel after the last: `kind` says which. */
ALWAYS_INLINE uint32_t pick_one_word(const struct visit *w, uint32_t o)
{
    const struct kind *k = w->kind;
    uint64_t candidates = w->v.candidates[o];
    uint32_t q = first_after(candidates, k->after[w->v.output[o].last]);
    uint32_t first = (uint32_t)__builtin_ctzll(k->together[q]);
    uint8_t *last = &w->v.last_vc[o * k->inputs + w->v.queue[q].input];
    q = first_after(candidates & k->together[q], ~UINT64_C(1) << (first + *last));
    *last = (uint8_t)(q - first);
    return q;
}

/* The same where a mask is several words. */
ALWAYS_INLINE uint32_t pick_by_input(const struct visit *w, uint32_t o)
{
    const uint64_t *candidates = w->v.candidates + (size_t)o * w->words;
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

ALWAYS_INLINE uint32_t pick_words(const struct visit *w, uint32_t o)
{
    if (w->e->router.arbitration == NET_BY_INPUT) return pick_by_input(w, o);
    return next_round(w->v.candidates + (size_t)o * w->words, w->words, w->v.output[o].last);
}

ALWAYS_INLINE void grant_one_word(struct visit *w, uint32_t o)
{
    uint32_t q = pick_one_word(w, o);
    move(w, o, q, pick_channel(w, o, &w->v.queue[q]));
}

ALWAYS_INLINE void grant_words(struct visit *w, uint32_t o)
{
    uint32_t q = pick_words(w, o);
    move(w, o, q, pick_channel(w, o, &w->v.queue[q]));
}

void net_packet_visit_late(net_packet_engine *e, uint32_t node, net_ticks end)
{
    if (e->words == 1)
        visit_node(e, node, end, 1, plan_one_word, grant_one_word);
    else
        visit_node(e, node, end, e->words, plan_words, grant_words);
}
