/**
 * A buffer of bytes that grows: written at its end, read from its beginning. Values are copied, so
 * nothing need be aligned.
 */
#ifndef PODSIM_NETSIM_BYTES_H
#define PODSIM_NETSIM_BYTES_H

#include <assert.h>
#include <string.h>

#include "base/arena.h"

/* Zeros: empty. Owns `data`. */
struct net_bytes {
    char *data;
    size_t count, capacity;
    size_t at; /* read so far */
};

static inline void net_bytes_put(struct net_bytes *b, const void *data, size_t count)
{
    SIM_GROW(b->data, b->capacity, b->count + count);
    if (count > 0) memcpy(b->data + b->count, data, count);
    b->count += count;
}

static inline void net_bytes_take(struct net_bytes *b, void *data, size_t count)
{
    assert(b->at + count <= b->count);
    if (count > 0) memcpy(data, b->data + b->at, count);
    b->at += count;
}

static inline void net_bytes_put_u32(struct net_bytes *b, uint32_t value)
{
    net_bytes_put(b, &value, sizeof value);
}

static inline uint32_t net_bytes_take_u32(struct net_bytes *b)
{
    uint32_t value;
    net_bytes_take(b, &value, sizeof value);
    return value;
}

static inline void net_bytes_clear(struct net_bytes *b)
{
    b->count = b->at = 0;
}

static inline void net_bytes_release(struct net_bytes *b)
{
    sim_free(b->data);
    *b = (struct net_bytes){0};
}

#endif
