/**
 * Memory that never fails: the one allocation wrapper, and arenas for scratch that goes back by a
 * mark.
 *
 * Out of memory aborts here, naming the bytes asked for and what they were for (status ERESOURCE's
 * exit code).
 */
#ifndef PODSIM_BASE_ARENA_H
#define PODSIM_BASE_ARENA_H

#include <stddef.h>
#include <stdint.h>

/** Zeroed memory for `count` elements; never NULL (count 0 gives a unique pointer). Free with
 * sim_free(). */
void *sim_alloc(size_t count, size_t element_bytes, const char *what);
/** Grow to `count` elements; new bytes are not zeroed. */
void *sim_realloc(void *old, size_t count, size_t element_bytes, const char *what);
void sim_free(void *memory);
char *sim_strdup(const char *text);

#define SIM_NEW(type, count) ((type *)sim_alloc((count), sizeof(type), #type))

/** Double `capacity` (from at least 16) until it holds `wanted` elements. Amortised growth for push
 * loops; for unsigned capacities, where the last doubling that would wrap gives `wanted` instead.
 * Arguments are evaluated repeatedly. */
#define SIM_GROW(array, capacity, wanted)                                                          \
    do {                                                                                           \
        if ((wanted) > (capacity)) {                                                               \
            (capacity) = (capacity) < 16 ? 16 : (capacity);                                        \
            while ((capacity) < (wanted)) {                                                        \
                (capacity) = 2 * (capacity) > (capacity) ? 2 * (capacity) : (wanted);              \
            }                                                                                      \
            (array) = sim_realloc((array), (capacity), sizeof *(array), #array);                   \
        }                                                                                          \
    } while (0)

typedef struct sim_arena sim_arena;
sim_arena *sim_arena_create(void);
void sim_arena_destroy(sim_arena *arena);
/** Zeroed, aligned for any type; never NULL; valid until a rewind to an earlier mark or destroy. */
void *sim_arena_alloc(sim_arena *arena, size_t count, size_t element_bytes);
char *sim_arena_strdup(sim_arena *arena, const char *text);
size_t sim_arena_mark(const sim_arena *arena);
void sim_arena_rewind(sim_arena *arena, size_t mark);

#define SIM_ARENA_NEW(arena, type, count) ((type *)sim_arena_alloc((arena), (count), sizeof(type)))

/** Bytes this process may hope for: the smallest of what the machine has available now, what its
 * control group allows, and what its address space limit leaves; 0 when unknown. */
uint64_t sim_memory_available_bytes(void);
/** Largest resident size of this process so far. */
uint64_t sim_memory_peak_bytes(void);

#endif
