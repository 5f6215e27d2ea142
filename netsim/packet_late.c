/*
 * Late binding: a packet picks the virtual channel of its next link when it is granted the link.
 *
 * One round-robin pointer per output goes over all queues of the node. A queue takes part from the
 * moment its head is there, the link is idle and a channel of the head's class has room. What an
 * output knows is kept up: a new head joins the candidates or replaces them, and only after a grant
 * the others that want the output are looked at again.
 */
#include "netsim/packet_pick.h"

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

/* The next input after the last one's, and of its channels the next after its last; or the next
 * channel after the last: `kind` says which. Mostly one queue is all there is. */
ALWAYS_INLINE uint32_t pick_one_word(const struct visit *w, uint32_t o)
{
    const struct output *out = &w->v.output[o];
    const struct kind *k = w->kind;
    uint64_t candidates = out->candidates;
    bool is_one = (candidates & (candidates - 1)) == 0;
    uint32_t q = is_one ? (uint32_t)__builtin_ctzll(candidates)
                        : first_after(candidates, k->after[out->last]);
    uint32_t first = (uint32_t)__builtin_ctzll(k->together[q]);
    uint8_t *last = &w->v.last_vc[o * k->inputs + w->v.queue[q].input];
    if (!is_one) q = first_after(candidates & k->together[q], ~UINT64_C(1) << (first + *last));
    *last = (uint8_t)(q - first);
    return q;
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
