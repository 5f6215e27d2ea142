/*
 * Heap of instants, hash from time to instant (chained, power of two buckets), doubly linked
 * timers. Adding to an instant that exists and taking are O(1); a new or emptied instant costs
 * O(log instants).
 */
#include "netsim/calendar.h"

#include "base/arena.h"

#define NONE UINT32_MAX

struct timer {
    uint32_t next, prev; /* on the instant's list, or the free list (next) */
    uint32_t instant;
    uint32_t kind, payload;
};

struct instant {
    sim_ps at;
    uint32_t head, tail;
    uint32_t heap_at;
    uint32_t hash_next; /* in its bucket, or the free list */
};

struct node {
    sim_ps at;
    uint32_t instant;
};

struct net_calendar {
    struct timer *timer;
    uint32_t timer_count, timer_capacity, timer_free;
    struct instant *instant;
    uint32_t instant_count, instant_capacity, instant_free;
    struct node *heap; /* earliest first */
    uint32_t heap_count, heap_capacity;
    uint32_t *bucket;
    uint32_t bucket_mask;
};

static void clear_buckets(net_calendar *cal, uint32_t buckets)
{
    sim_free(cal->bucket);
    cal->bucket = SIM_NEW(uint32_t, buckets);
    cal->bucket_mask = buckets - 1;
    for (uint32_t i = 0; i < buckets; i++)
        cal->bucket[i] = NONE;
}

net_calendar *net_calendar_create(void)
{
    net_calendar *cal = SIM_NEW(net_calendar, 1);
    cal->timer_free = cal->instant_free = NONE;
    clear_buckets(cal, 1024);
    return cal;
}

void net_calendar_destroy(net_calendar *cal)
{
    if (cal == NULL) return;
    sim_free(cal->timer);
    sim_free(cal->instant);
    sim_free(cal->heap);
    sim_free(cal->bucket);
    sim_free(cal);
}

/* ---- hash ---- */

static uint32_t bucket_of(const net_calendar *cal, sim_ps at)
{
    return (uint32_t)(((uint64_t)at * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & cal->bucket_mask;
}

static void hash_insert(net_calendar *cal, uint32_t id)
{
    uint32_t *bucket = &cal->bucket[bucket_of(cal, cal->instant[id].at)];
    cal->instant[id].hash_next = *bucket;
    *bucket = id;
}

static void hash_remove(net_calendar *cal, uint32_t id)
{
    uint32_t *link = &cal->bucket[bucket_of(cal, cal->instant[id].at)];
    while (*link != id)
        link = &cal->instant[*link].hash_next;
    *link = cal->instant[id].hash_next;
}

static uint32_t hash_find(const net_calendar *cal, sim_ps at)
{
    uint32_t id = cal->bucket[bucket_of(cal, at)];
    while (id != NONE && cal->instant[id].at != at)
        id = cal->instant[id].hash_next;
    return id;
}

static void hash_grow(net_calendar *cal)
{
    clear_buckets(cal, 2 * (cal->bucket_mask + 1));
    for (uint32_t i = 0; i < cal->heap_count; i++)
        hash_insert(cal, cal->heap[i].instant);
}

/* ---- heap ---- */

static void heap_put(net_calendar *cal, uint32_t at, struct node node)
{
    cal->heap[at] = node;
    cal->instant[node.instant].heap_at = at;
}

static void heap_up(net_calendar *cal, uint32_t at)
{
    struct node node = cal->heap[at];
    for (; at > 0 && cal->heap[(at - 1) / 2].at > node.at; at = (at - 1) / 2)
        heap_put(cal, at, cal->heap[(at - 1) / 2]);
    heap_put(cal, at, node);
}

static void heap_down(net_calendar *cal, uint32_t at)
{
    struct node node = cal->heap[at];
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= cal->heap_count) break;
        if (child + 1 < cal->heap_count && cal->heap[child + 1].at < cal->heap[child].at) child++;
        if (node.at <= cal->heap[child].at) break;
        heap_put(cal, at, cal->heap[child]);
        at = child;
    }
    heap_put(cal, at, node);
}

static void heap_remove(net_calendar *cal, uint32_t at)
{
    struct node last = cal->heap[--cal->heap_count];
    if (at == cal->heap_count) return;
    heap_put(cal, at, last);
    heap_up(cal, at);
    heap_down(cal, cal->instant[last.instant].heap_at);
}

/* ---- instants ---- */

static uint32_t instant_create(net_calendar *cal, sim_ps at)
{
    uint32_t id = cal->instant_free;
    if (id != NONE) {
        cal->instant_free = cal->instant[id].hash_next;
    } else {
        SIM_GROW(cal->instant, cal->instant_capacity, cal->instant_count + 1);
        id = cal->instant_count++;
    }
    cal->instant[id] = (struct instant){.at = at, .head = NONE, .tail = NONE};
    if (cal->heap_count > cal->bucket_mask) hash_grow(cal);
    hash_insert(cal, id);
    SIM_GROW(cal->heap, cal->heap_capacity, cal->heap_count + 1);
    heap_put(cal, cal->heap_count++, (struct node){at, id});
    heap_up(cal, cal->heap_count - 1);
    return id;
}

static void instant_destroy(net_calendar *cal, uint32_t id)
{
    hash_remove(cal, id);
    heap_remove(cal, cal->instant[id].heap_at);
    cal->instant[id].hash_next = cal->instant_free;
    cal->instant_free = id;
}

/* ---- timers ---- */

net_timer_id net_calendar_add(net_calendar *cal, sim_ps at, uint32_t kind, uint32_t payload)
{
    uint32_t instant = hash_find(cal, at);
    if (instant == NONE) instant = instant_create(cal, at);
    uint32_t id = cal->timer_free;
    if (id != NONE) {
        cal->timer_free = cal->timer[id].next;
    } else {
        SIM_GROW(cal->timer, cal->timer_capacity, cal->timer_count + 1);
        id = cal->timer_count++;
    }
    struct instant *i = &cal->instant[instant];
    cal->timer[id] = (struct timer){
        .next = NONE, .prev = i->tail, .instant = instant, .kind = kind, .payload = payload};
    if (i->tail == NONE)
        i->head = id;
    else
        cal->timer[i->tail].next = id;
    i->tail = id;
    return id;
}

void net_calendar_cancel(net_calendar *cal, net_timer_id id)
{
    struct timer *timer = &cal->timer[id];
    struct instant *i = &cal->instant[timer->instant];
    if (timer->prev == NONE)
        i->head = timer->next;
    else
        cal->timer[timer->prev].next = timer->next;
    if (timer->next == NONE)
        i->tail = timer->prev;
    else
        cal->timer[timer->next].prev = timer->prev;
    if (i->head == NONE) instant_destroy(cal, timer->instant);
    timer->next = cal->timer_free;
    cal->timer_free = id;
}

bool net_calendar_next(const net_calendar *cal, sim_ps *at)
{
    if (cal->heap_count == 0) return false;
    *at = cal->heap[0].at;
    return true;
}

bool net_calendar_take(net_calendar *cal, sim_ps at, uint32_t *kind, uint32_t *payload)
{
    if (cal->heap_count == 0 || cal->heap[0].at != at) return false;
    uint32_t id = cal->instant[cal->heap[0].instant].head;
    *kind = cal->timer[id].kind;
    *payload = cal->timer[id].payload;
    net_calendar_cancel(cal, id);
    return true;
}
