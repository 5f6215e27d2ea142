/*
 * What runs before what: a step waits for the one before it in its thread block, for the one it
 * depends on, and, when it receives, for the one that sends. Steps whose waits are all in the
 * sequence join it (Kahn, first in first out); what never does waits in a circle.
 *
 * Source: A. B. Kahn, Communications of the ACM 5(11), 1962.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "collectives/msccl_internal.h"

/* What step i waits for; returns how many of at most 3. */
static uint32_t waits_of(const coll_msccl *a, uint32_t i, uint32_t wait[3])
{
    const struct msccl_step *step = &a->step[i];
    uint32_t count = 0;
    if (i > a->block[step->block].step_begin) wait[count++] = i - 1;
    if (step->dep != NET_NONE) wait[count++] = step->dep;
    if (step->sender != NET_NONE) wait[count++] = step->sender;
    return count;
}

static void find_before(const coll_msccl *a, const struct msccl_edge *extra, uint32_t extra_count,
                        struct msccl_order *out)
{
    uint32_t n = a->step_count, wait[3];
    out->before_begin = SIM_NEW(uint32_t, n + 1);
    for (uint32_t i = 0; i < n; i++)
        out->before_begin[i + 1] = waits_of(a, i, wait);
    for (uint32_t e = 0; e < extra_count; e++)
        out->before_begin[extra[e].later + 1]++;
    for (uint32_t i = 0; i < n; i++)
        out->before_begin[i + 1] += out->before_begin[i];
    out->before = SIM_NEW(uint32_t, out->before_begin[n]);
    uint32_t *fill = SIM_NEW(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t count = waits_of(a, i, wait);
        for (uint32_t w = 0; w < count; w++)
            out->before[out->before_begin[i] + fill[i]++] = wait[w];
    }
    for (uint32_t e = 0; e < extra_count; e++) {
        uint32_t i = extra[e].later;
        out->before[out->before_begin[i] + fill[i]++] = extra[e].earlier;
    }
    sim_free(fill);
}

/* Turn the lists round: who waits for each. begin is [n + 1], the result [begin[n]]. */
static uint32_t *find_after(const struct msccl_order *order, uint32_t n, uint32_t *begin)
{
    uint32_t edges = order->before_begin[n], *after = SIM_NEW(uint32_t, edges);
    for (uint32_t e = 0; e < edges; e++)
        begin[order->before[e] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        begin[i + 1] += begin[i];
    uint32_t *fill = SIM_NEW(uint32_t, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t e = order->before_begin[i]; e < order->before_begin[i + 1]; e++) {
            uint32_t earlier = order->before[e];
            after[begin[earlier] + fill[earlier]++] = i;
        }
    sim_free(fill);
    return after;
}

struct msccl_order msccl_order_make(const coll_msccl *a, const struct msccl_edge *extra,
                                    uint32_t extra_count)
{
    uint32_t n = a->step_count;
    struct msccl_order order = {.sequence = SIM_NEW(uint32_t, n), .position = SIM_NEW(uint32_t, n)};
    find_before(a, extra, extra_count, &order);
    uint32_t *begin = SIM_NEW(uint32_t, n + 1), *after = find_after(&order, n, begin);
    uint32_t *waits = SIM_NEW(uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        waits[i] = order.before_begin[i + 1] - order.before_begin[i];
        order.position[i] = NET_NONE;
        if (waits[i] == 0) order.sequence[order.count++] = i;
    }
    for (uint32_t k = 0; k < order.count; k++) {
        uint32_t i = order.sequence[k];
        order.position[i] = k;
        for (uint32_t e = begin[i]; e < begin[i + 1]; e++)
            if (--waits[after[e]] == 0) order.sequence[order.count++] = after[e];
    }
    sim_free(begin);
    sim_free(after);
    sim_free(waits);
    return order;
}

void msccl_order_release(struct msccl_order *order)
{
    sim_free(order->sequence);
    sim_free(order->position);
    sim_free(order->before_begin);
    sim_free(order->before);
}

/* ---- circles ---- */

/* A step that `i`, which never runs, waits for and that never runs either. */
static uint32_t stuck_before(const struct msccl_order *order, uint32_t i)
{
    for (uint32_t e = order->before_begin[i]; e < order->before_begin[i + 1]; e++)
        if (order->position[order->before[e]] == NET_NONE) return order->before[e];
    assert(false);
    return i;
}

/* One step on a circle: from any stuck one, as many waits back as there are steps end on it. */
static uint32_t on_circle(const coll_msccl *a, const struct msccl_order *order)
{
    uint32_t i = 0;
    while (order->position[i] != NET_NONE)
        i++;
    for (uint32_t k = 0; k < a->step_count; k++)
        i = stuck_before(order, i);
    return i;
}

enum sim_status msccl_order_check(const coll_msccl *a, const struct msccl_order *order,
                                  struct sim_error *err)
{
    enum { SHOWN = 6 }; /* steps of the circle */
    char text[SHOWN * 48] = "", name[48];
    if (order->count == a->step_count) return SIM_OK;
    uint32_t first = on_circle(a, order), i = first;
    for (int shown = 0; shown < SHOWN; shown++) {
        i = stuck_before(order, i);
        const struct msccl_block *block = &a->block[a->step[i].block];
        bool is_cut = shown == SHOWN - 1 && i != first;
        if (is_cut)
            snprintf(name, sizeof name, " and so on");
        else
            snprintf(name, sizeof name, "%s %u/%d/%d", shown > 0 ? ", that for" : "", block->gpu,
                     block->id, a->step[i].index);
        strncat(text, name, sizeof text - strlen(text) - 1);
        if (i == first || is_cut) break;
    }
    return msccl_step_error(a, &a->step[first], err,
                            "waits for ever in a circle, for%s (gpu/thread block/step)", text);
}
