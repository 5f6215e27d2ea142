/*
 * Late binding: a packet picks the virtual channel of its next link when it is granted the link.
 *
 * One round-robin pointer per output goes over all queues of the node. A queue takes part from the
 * moment its head is there, the link is idle and a channel of the head's class has room.
 */
#include "netsim/packet_visit.h"

/* From when on a channel of the class has a free slot, behind the bubble for who enters. */
ALWAYS_INLINE net_ticks room_from(const struct visit *w, uint32_t o, uint32_t class,
                                  bool *is_blocked)
{
    const net_packet_engine *e = w->e;
    struct class_range range = e->range[class & ~ENTERS];
    uint32_t bubble = class & ENTERS ? e->bubble : 0;
    net_ticks room = NET_TICKS_NEVER;
    if (w->v.output[o].is_ejection) return 0;
    for (uint32_t vc = range.first; vc < (uint32_t)range.first + range.count; vc++) {
        net_ticks free = tail_of(w, o, vc, bubble)->time;
        if (free >= OCCUPIED)
            *is_blocked = true;
        else if (free < room)
            room = free;
    }
    return room;
}

/* When queue q could take the output. */
ALWAYS_INLINE net_ticks go_from(const struct visit *w, uint32_t o, const struct queue *q,
                                bool *is_blocked)
{
    net_ticks room = room_from(w, o, q->class, is_blocked);
    return later_of(later_of(q->ready, w->v.output[o].free), room);
}

/* Most outputs are wanted by one queue or none. */
ALWAYS_INLINE void plan_one_word(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint64_t requests = w->v.requests[o], candidates = requests;
    net_ticks best = NET_TICKS_NEVER;
    bool is_blocked = false;
    uint32_t i;
    if (requests != 0 && (requests & (requests - 1)) == 0) {
        best = go_from(w, o, &w->v.queue[__builtin_ctzll(requests)], &is_blocked);
    } else {
        FOR_EACH_BIT(requests, i)
        {
            net_ticks from = go_from(w, o, &w->v.queue[i], &is_blocked);
            candidates = from < best ? 0 : candidates;
            best = from < best ? from : best;
            candidates |= (uint64_t)(from == best) << i;
        }
    }
    w->v.candidates[o] = candidates;
    out->nx = best;
    out->is_blocked = is_blocked;
}

ALWAYS_INLINE void plan_words(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    const uint64_t *requests = w->v.requests + (size_t)o * w->words;
    uint64_t *candidates = w->v.candidates + (size_t)o * w->words;
    uint32_t i;
    net_ticks best = NET_TICKS_NEVER;
    bool is_blocked = false;
    for (uint32_t word = 0; word < w->words; word++) {
        uint64_t now = 0;
        FOR_EACH_BIT(requests[word], i)
        {
            net_ticks from = go_from(w, o, &w->v.queue[64 * word + i], &is_blocked);
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
    out->nx = best;
    out->is_blocked = is_blocked;
}

ALWAYS_INLINE uint32_t pick_channel(const struct visit *w, uint32_t o, uint32_t class)
{
    struct output *out = &w->v.output[o];
    struct class_range range = w->e->range[class & ~ENTERS];
    uint32_t bubble = class & ENTERS ? w->e->bubble : 0;
    if (range.count == 1 || out->is_ejection) return range.first;
    uint64_t free = 0;
    for (uint32_t vc = range.first; vc < (uint32_t)range.first + range.count; vc++)
        if (tail_of(w, o, vc, bubble)->time <= out->nx) free |= UINT64_C(1) << vc;
    out->vc = (uint8_t)next_round(&free, 1, out->vc);
    return out->vc;
}

/* The next input after the last one's, and of its channels the next after its last here: at each
 * output its own, since in a round outputs go in any order. */
ALWAYS_INLINE uint32_t pick_by_input(const struct visit *w, uint32_t o)
{
    const uint64_t *candidates = w->v.candidates + (size_t)o * w->words;
    uint32_t vcs = w->e->vcs, rings = w->v.node->rings, last = w->v.output[o].last;
    uint8_t *last_vc = w->v.last_vc + (size_t)o * (rings / vcs);
    if (w->words == 1 && (candidates[0] & (candidates[0] - 1)) == 0) { /* mostly */
        uint32_t only = (uint32_t)__builtin_ctzll(candidates[0]), in = w->v.queue[only].input;
        if (only < rings) last_vc[in] = (uint8_t)(only - in * vcs);
        return only;
    }
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

ALWAYS_INLINE void grant_late(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    uint32_t q = w->e->router.arbitration == NET_BY_INPUT
                     ? pick_by_input(w, o)
                     : next_round(w->v.candidates + (size_t)o * w->words, w->words, out->last);
    move(w, o, q, pick_channel(w, o, w->v.queue[q].class));
}

void net_packet_visit_late(net_packet_engine *e, uint32_t node, net_ticks end)
{
    if (e->words == 1)
        visit_node(e, node, end, 1, plan_one_word, grant_late);
    else
        visit_node(e, node, end, e->words, plan_words, grant_late);
}
