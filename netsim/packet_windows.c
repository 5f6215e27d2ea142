/*
 * Running the packet engine, window by window, alone or with other ranks.
 */
#include "netsim/mpi.h"
#include "netsim/packet_border.h"
#include "netsim/packet_visit.h"

static net_ticks next_wake(const net_packet_engine *e)
{
    net_ticks next = NET_TICKS_NEVER;
    for (uint32_t i = 0; i < e->owns; i++)
        if (e->wake[e->own[i]] < next) next = e->wake[e->own[i]];
    return next;
}

/* Two nodes ahead its block is asked for, one ahead the slots it will look at: memory is most of
 * the time of a pod that no cache holds. Always inlined: a compiler may take a function that only
 * prefetches for one that does nothing. */
ALWAYS_INLINE void prefetch_block(const net_packet_engine *e, uint32_t node)
{
    const char *block = e->block + e->block_begin[node];
    size_t bytes = e->block_begin[node + 1] - e->block_begin[node];
    for (size_t at = 0; at < bytes; at += LINE)
        __builtin_prefetch(block + at, 1);
}

ALWAYS_INLINE void prefetch_head(const net_packet_engine *e, uint32_t head)
{
    __builtin_prefetch(e->slot + head, 1);
    __builtin_prefetch(e->slot + head + LINE / sizeof(struct slot), 1);
}

/* Where few heads arrive, few gates are looked at: asking for all of them costs more. Of a
 * channel's two gates the second is in the same line or the next. */
ALWAYS_INLINE void prefetch_slots(const net_packet_engine *e, uint32_t id)
{
    enum { FEW_HEADS = 3 };
    struct view v = net_packet_view(e, id);
    uint32_t gates = 2 * v.node->links * e->vcs, heads = 0, i;
    for (uint32_t word = 0; word < e->words; word++)
        FOR_EACH_BIT(arriving_at(e, e->words, id)[word], i)
        {
            prefetch_head(e, v.queue[64 * word + i].head);
            heads++;
        }
    for (uint32_t gate = 0; gate < gates && heads >= FEW_HEADS; gate += 2)
        __builtin_prefetch(e->slot + v.gate[gate], 1);
}

ALWAYS_INLINE void prefetch_ahead(const net_packet_engine *e, uint32_t i, net_ticks end)
{
    if (i + 2 < e->owns && e->wake[e->own[i + 2]] < end) prefetch_block(e, e->own[i + 2]);
    if (i + 1 < e->owns && e->wake[e->own[i + 1]] < end) prefetch_slots(e, e->own[i + 1]);
}

/* Of a node that is not made: nothing comes in this window but its client's time, and the client
 * sends nothing. Else the node is made for the rest of the window. */
static bool is_only_client(net_packet_engine *e, uint32_t node, net_ticks end)
{
    if (!is_expecting(e, node)) {
        e->wake[node] = NET_TICKS_NEVER;
        while (!e->is_made[node] && e->due[node] < end)
            take_due(e, node);
        wake(e, node, e->due[node]);
    }
    if (!e->is_made[node] && e->wake[node] >= end) return true;
    net_packet_make(e, node);
    return false;
}

/* Own nodes [first, last). */
static void visit(net_packet_engine *e, uint32_t first, uint32_t last, net_ticks end)
{
    for (uint32_t i = first; i < last; i++) {
        uint32_t node = e->own[i];
        prefetch_ahead(e, i, end);
        if (e->wake[node] >= end) continue;
        if (!e->is_made[node] && is_only_client(e, node, end)) continue;
        e->visit(e, node, end);
    }
}

/* The end of the window a time is in. */
static net_ticks window_end(const net_packet_engine *e, net_ticks time, net_ticks until)
{
    net_ticks end = (time / e->window + 1) * e->window;
    return end < until ? end : until;
}

/* The client looks at the clock, which costs as much as a small window. */
static void start_window(net_packet_engine *e, net_ticks end)
{
    enum { LOOK_EVERY = 16 };
    if (e->client.look != NULL && e->counts.windows % LOOK_EVERY == LOOK_EVERY - 1)
        e->client.look(e->client.context, e->now);
    e->counts.windows++;
    e->begin = (end - 1) / e->window * e->window;
    e->now = end;
}

static bool run_alone(net_packet_engine *e, net_ticks until)
{
    for (net_ticks next; !e->wants_stop && (next = next_wake(e)) < until;) {
        net_ticks end = window_end(e, next, until);
        start_window(e, end);
        visit(e, 0, e->owns, end);
        if (e->router.is_audited) net_packet_audit(e);
    }
    return !e->wants_stop && next_wake(e) != NET_TICKS_NEVER;
}

/* ---- with other ranks ---- */

static void run_shared_window(net_packet_engine *e, net_ticks end)
{
    start_window(e, end);
    visit(e, 0, e->border_owns, end);
    net_border_send(e);
    visit(e, e->border_owns, e->owns, end);
    net_border_receive(e);
    if (e->router.is_audited) net_packet_audit(e);
}

/* After what was told has been learnt. Letters still on their way may make something due. */
static void start_agreeing(const net_packet_engine *e)
{
    net_ticks next = net_border_has_mail(e->border) ? e->now : next_wake(e);
    net_mpi_start_least((int64_t[]){next < OCCUPIED ? (int64_t)next : INT64_MAX, !e->wants_stop});
}

static net_ticks finish_agreeing(net_packet_engine *e)
{
    int64_t least[NET_MPI_LEAST];
    net_mpi_finish_least(least);
    e->is_stopped = least[1] == 0;
    return least[0] == INT64_MAX ? NET_TICKS_NEVER : (net_ticks)least[0];
}

/* Windows follow each other without a common barrier; when the next thing happens anywhere is
 * agreed upon while the next window runs, and time in which nothing does is left out one window
 * late. */
static bool run_shared(net_packet_engine *e, net_ticks until)
{
    start_agreeing(e);
    net_ticks next = finish_agreeing(e);
    while (next < until && !e->is_stopped) {
        net_ticks end = window_end(e, next, until);
        bool is_quiet = false;
        run_shared_window(e, end);
        start_agreeing(e);
        while (end < until && !is_quiet) {
            end = window_end(e, end, until);
            run_shared_window(e, end);
            next = finish_agreeing(e);
            is_quiet = next >= end || e->is_stopped;
            if (!is_quiet) start_agreeing(e);
        }
        if (!is_quiet) next = finish_agreeing(e);
    }
    return next != NET_TICKS_NEVER && !e->is_stopped;
}

bool net_packet_run(net_packet_engine *e, net_ticks until)
{
    bool has_more = e->border == NULL ? run_alone(e, until) : run_shared(e, until);
    net_packet_trains_settle(e, until);
    return has_more;
}

void net_packet_stop(net_packet_engine *e)
{
    e->wants_stop = true;
}
