/*
 * Allocation that never returns NULL, and arenas on top of it.
 *
 * An arena is a row of chunks; chunk i covers the positions [begin, begin + bytes) of one long
 * imaginary tape, so that a mark is a single number and rewinding is a walk back along the row.
 * Chunks past the current one are kept for reuse: a loop of mark, allocate, rewind calls malloc
 * only until the row is long enough. A kept chunk too small for a request is dropped, with those
 * after it, for one that is large enough; no live mark can point there.
 */
#include "base/arena.h"

#include <assert.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"

#define CHUNK_BYTES_MIN ((size_t)64 << 10)
#define CHUNK_BYTES_MAX ((size_t)64 << 20) /* a larger request still gets a chunk of its size */

struct chunk {
    char *memory;
    size_t begin, bytes;
};

struct sim_arena {
    struct chunk *chunk;
    size_t chunk_count, chunk_cap;
    size_t current, used; /* the chunk being filled, and how far */
};

static _Noreturn void exit_out_of_memory(size_t count, size_t element_bytes, const char *what)
{
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes) {
        fprintf(stderr, "podsim: out of memory: %zu x %zu bytes for %s\n", count, element_bytes,
                what);
    } else {
        fprintf(stderr, "podsim: out of memory: %zu bytes for %s\n", count * element_bytes, what);
    }
    exit(sim_status_exit_code(SIM_ERESOURCE));
}

/* count * element_bytes, at least 1. */
static size_t checked_bytes(size_t count, size_t element_bytes, const char *what)
{
    assert(what != NULL);
    if (element_bytes != 0 && count > SIZE_MAX / element_bytes) {
        exit_out_of_memory(count, element_bytes, what);
    }
    return count * element_bytes == 0 ? 1 : count * element_bytes;
}

void *sim_alloc(size_t count, size_t element_bytes, const char *what)
{
    void *memory = calloc(checked_bytes(count, element_bytes, what), 1);

    if (memory == NULL) exit_out_of_memory(count, element_bytes, what);
    return memory;
}

void *sim_realloc(void *old, size_t count, size_t element_bytes, const char *what)
{
    void *memory = realloc(old, checked_bytes(count, element_bytes, what));

    if (memory == NULL) exit_out_of_memory(count, element_bytes, what);
    return memory;
}

void sim_free(void *memory)
{
    free(memory);
}

char *sim_strdup(const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(sim_alloc(bytes, 1, "a text"), text, bytes);
}

sim_arena *sim_arena_create(void)
{
    return SIM_NEW(sim_arena, 1);
}

void sim_arena_destroy(sim_arena *arena)
{
    if (arena == NULL) return;
    for (size_t i = 0; i < arena->chunk_count; i++)
        sim_free(arena->chunk[i].memory);
    sim_free(arena->chunk);
    sim_free(arena);
}

/* Make the chunk after the current one, of at least `bytes`, the current one. */
static void next_chunk(sim_arena *arena, size_t bytes)
{
    size_t next = arena->chunk_count == 0 ? 0 : arena->current + 1;

    if (next < arena->chunk_count && arena->chunk[next].bytes < bytes) {
        for (size_t i = next; i < arena->chunk_count; i++)
            sim_free(arena->chunk[i].memory);
        arena->chunk_count = next;
    }
    if (next == arena->chunk_count) {
        const struct chunk *last = next == 0 ? NULL : &arena->chunk[next - 1];
        size_t begin = last == NULL ? 0 : last->begin + last->bytes;
        size_t wanted = last == NULL ? CHUNK_BYTES_MIN : last->bytes * 2;

        if (wanted > CHUNK_BYTES_MAX) wanted = CHUNK_BYTES_MAX;
        if (wanted < bytes) wanted = bytes;
        SIM_GROW(arena->chunk, arena->chunk_cap, next + 1);
        arena->chunk[next] =
            (struct chunk){sim_realloc(NULL, wanted, 1, "an arena"), begin, wanted};
        arena->chunk_count++;
    }
    arena->current = next;
    arena->used = 0;
}

void *sim_arena_alloc(sim_arena *arena, size_t count, size_t element_bytes)
{
    const size_t align = alignof(max_align_t);
    size_t bytes = checked_bytes(count, element_bytes, "an arena");
    char *memory;

    assert(arena != NULL);
    if (bytes > SIZE_MAX - align) exit_out_of_memory(count, element_bytes, "an arena");
    bytes = (bytes + align - 1) / align * align;
    if (arena->chunk_count == 0 || bytes > arena->chunk[arena->current].bytes - arena->used) {
        next_chunk(arena, bytes);
    }
    memory = arena->chunk[arena->current].memory + arena->used;
    arena->used += bytes;
    return memset(memory, 0, bytes);
}

char *sim_arena_strdup(sim_arena *arena, const char *text)
{
    size_t bytes = strlen(text) + 1;

    return memcpy(sim_arena_alloc(arena, bytes, 1), text, bytes);
}

size_t sim_arena_mark(const sim_arena *arena)
{
    return arena->chunk_count == 0 ? 0 : arena->chunk[arena->current].begin + arena->used;
}

void sim_arena_rewind(sim_arena *arena, size_t mark)
{
    assert(mark <= sim_arena_mark(arena));
    if (arena->chunk_count == 0) return;
    while (arena->current > 0 && mark <= arena->chunk[arena->current].begin)
        arena->current--;
    arena->used = mark - arena->chunk[arena->current].begin;
    assert(arena->used <= arena->chunk[arena->current].bytes);
}

/* The number after `label` in a line of /proc/meminfo, in bytes; 0 when the line is another one. */
static uint64_t meminfo_bytes(const char *line, const char *label)
{
    size_t length = strlen(label);

    return strncmp(line, label, length) == 0 ? strtoull(line + length, NULL, 10) * 1024 : 0;
}

static uint64_t machine_bytes(void)
{
    FILE *file = fopen("/proc/meminfo", "r");
    uint64_t total = 0, available = 0;
    char line[256];

    if (file == NULL) return 0;
    while (fgets(line, sizeof line, file) != NULL) {
        total += meminfo_bytes(line, "MemTotal:");
        available += meminfo_bytes(line, "MemAvailable:");
    }
    fclose(file);
    return available != 0 ? available : total;
}

/* The number in a control group's file; UINT64_MAX when there is none or it says "max". */
static uint64_t limit_bytes(const char *path)
{
    FILE *file = fopen(path, "r");
    char line[64] = "";
    uint64_t limit = 0;

    if (file == NULL) return UINT64_MAX;
    if (fgets(line, sizeof line, file) != NULL && line[0] >= '0' && line[0] <= '9') {
        limit = strtoull(line, NULL, 10);
    }
    fclose(file);
    return limit == 0 ? UINT64_MAX : limit;
}

/* The smallest limit of `group` and the groups above it, up to the root (which is all that a
 * container may see). */
static uint64_t group_bytes(const char *mount, char *group, const char *limit_file)
{
    uint64_t smallest = UINT64_MAX;
    char path[4096];

    for (;;) {
        char *slash = strrchr(group, '/');
        uint64_t limit;

        snprintf(path, sizeof path, "%s%s/%s", mount, group, limit_file);
        limit = limit_bytes(path);
        if (limit < smallest) smallest = limit;
        if (slash == NULL) return smallest;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup are "id:controllers:/path"; version 2 has no controllers there. */
static uint64_t control_group_bytes(void)
{
    FILE *file = fopen("/proc/self/cgroup", "r");
    uint64_t smallest = UINT64_MAX;
    char line[4096];

    if (file == NULL) return UINT64_MAX;
    while (fgets(line, sizeof line, file) != NULL) {
        char *controllers = strchr(line, ':');
        char *group = controllers == NULL ? NULL : strchr(controllers + 1, ':');
        uint64_t limit = UINT64_MAX;

        if (group == NULL) continue;
        group[strcspn(group, "\n")] = '\0';
        *group++ = '\0';
        if (controllers[1] == '\0') {
            limit = group_bytes("/sys/fs/cgroup", group, "memory.max");
        } else if (strstr(controllers, "memory") != NULL) {
            limit = group_bytes("/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
        }
        if (limit < smallest) smallest = limit;
    }
    fclose(file);
    return smallest;
}

/* What `ulimit -v` leaves of the address space; UINT64_MAX when unlimited. */
static uint64_t address_space_bytes(void)
{
    struct rlimit limit;
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    uint64_t used = 0;

    if (file != NULL) {
        if (fscanf(file, "%llu", &pages) == 1) used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
        fclose(file);
    }
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 1;
}

uint64_t sim_memory_available_bytes(void)
{
    uint64_t smallest = address_space_bytes(), machine = machine_bytes(),
             group = control_group_bytes();

    if (group < smallest) smallest = group;
    if (machine != 0 && machine < smallest) smallest = machine;
    return smallest == UINT64_MAX ? 0 : smallest;
}

uint64_t sim_memory_peak_bytes(void)
{
    struct rusage usage;

    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
    return (uint64_t)usage.ru_maxrss * 1024; /* Linux counts in KiB */
}
