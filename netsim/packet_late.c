/*
 * Late binding: a packet picks the virtual channel of its next link when it is granted the link.
 *
 * One round-robin pointer per output goes over all queues of the node. A queue takes part from the
 * moment its head is there, the link is idle and a channel of the head's class has room. What an
 * output knows is kept up: a new head joins the candidates or replaces them, and only after a grant
 * the others that want the output are looked at again.
 */
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

/* Of an output while queues are added to it. */
struct plan {
    net_ticks nx, rooms;
    uint64_t candidates;
};

/* Queue q joins the candidates, or replaces them: masks in place of branches. */
ALWAYS_INLINE void add(const struct visit *w, const struct output *out, struct plan *plan,
                       uint32_t q)
{
    net_ticks from = go_from(w, out, &w->v.queue[q], &plan->rooms);
    uint64_t stay = 0 - (uint64_t)(from >= plan->nx);
    plan->candidates = (plan->candidates & stay) | (uint64_t)(from <= plan->nx) << q;
    plan->nx = from < plan->nx ? from : plan->nx;
}

ALWAYS_INLINE void set_plan(struct output *out, const struct plan *plan)
{
    out->nx = plan->nx;
    out->candidates = plan->candidates;
    out->is_blocked = plan->rooms >= OCCUPIED;
}

ALWAYS_INLINE void join_one_word(struct visit *w, uint32_t o, uint32_t q)
{
    struct output *out = &w->v.output[o];
    struct plan plan = {out->nx, out->is_blocked ? OCCUPIED : 0, out->candidates};
    add(w, out, &plan, q);
    set_plan(out, &plan);
}

ALWAYS_INLINE void plan_one_word(struct visit *w, uint32_t o)
{
    struct output *out = &w->v.output[o];
    struct plan plan = {NET_TICKS_NEVER, 0, 0};
    for (uint64_t left = out->requests; left != 0; left &= left - 1)
        add(w, out, &plan, (uint32_t)__builtin_ctzll(left));
    set_plan(out, &plan);
}

ALWAYS_INLINE void join_words(struct visit *w, uint32_t o, uint32_t q)
{
    struct output *out = &w->v.output[o];
    uint64_t *candidates = candidates_of(&w->v, w->words, o);
    net_ticks rooms = 0, from = go_from(w, out, &w->v.queue[q], &rooms);
    out->is_blocked |= rooms >= OCCUPIED;
    for (uint32_t word = 0; from < out->nx && word < w->words; word++)
        candidates[word] = 0;
    if (from <= out->nx) set_bit(candidates, q);
    out->nx = from < out->nx ? from : out->nx;
}

ALWAYS_INLINE void plan_words(struct visit *w, uint32_t o)
{
    const uint64_t *requests = requests_of(&w->v, w->words, o);
    uint32_t i;
    w->v.output[o].nx = NET_TICKS_NEVER;
    w->v.output[o].is_blocked = false;
    for (uint32_t word = 0; word < w->words; word++)
        FOR_EACH_BIT(requests[word], i) join_words(w, o, 64 * word + i);
}

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

/* The next input after the last one's, and of its channels the next after its last; or the next
 * channel after the last: `kind` says which. */
ALWAYS_INLINE uint32_t pick_one_word(const struct visit *w, uint32_t o)
{
    const struct output *out = &w->v.output[o];
    const struct kind *k = w->kind;
    uint64_t candidates = out->candidates;
    uint32_t q = first_after(candidates, k->after[out->last]);
    uint32_t first = (uint32_t)__builtin_ctzll(k->together[q]);
    uint8_t *last = &w->v.last_vc[o * k->inputs + w->v.queue[q].input];
    q = first_after(candidates & k->together[q], ~UINT64_C(1) << (first + *last));
    *last = (uint8_t)(q - first);
    return q;
}

/* The same where a mask is several words. */
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

ALWAYS_INLINE uint32_t pick_words(const struct visit *w, uint32_t o)
{
    if (w->e->router.arbitration == NET_BY_INPUT) return pick_by_input(w, o);
    return next_round(candidates_of(&w->v, w->words, o), w->words, w->v.output[o].last);
}

ALWAYS_INLINE void grant_one_word(struct visit *w, uint32_t o)
{
    uint32_t q = pick_one_word(w, o);
    move(w, o, q, pick_channel(w, o, &w->v.queue[q]), plan_one_word, join_one_word);
}

ALWAYS_INLINE void grant_words(struct visit *w, uint32_t o)
{
    uint32_t q = pick_words(w, o);
    move(w, o, q, pick_channel(w, o, &w->v.queue[q]), plan_words, join_words);
}

/* One function for every kind of network that matters for speed: what does not change is known when
 * it is compiled. */
void net_packet_visit_late(net_packet_engine *e, uint32_t node, net_ticks end)
{
    struct visit w = {.e = e, .node = node, .end = end, .words = 1, .is_uniform = true};
    if (e->words == 1 && e->is_uniform) {
        visit_node(w, plan_one_word, join_one_word, grant_one_word);
        return;
    }
    w.is_uniform = false;
    if (e->words == 1) {
        visit_node(w, plan_one_word, join_one_word, grant_one_word);
        return;
    }
    w.words = e->words;
    w.is_uniform = e->is_uniform;
    visit_node(w, plan_words, join_words, grant_words);
}
