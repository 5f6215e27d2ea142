/* Allocation: zeroed, checked, aligned; marks and rewinds across chunks. */
#include <stdalign.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "tests/unit/check_main.h"

START_TEST(alloc_is_zeroed_and_never_null)
{
    unsigned char *memory = sim_alloc(1000, 3, "test");
    void *a = sim_alloc(0, 8, "nothing"), *b = sim_alloc(8, 0, "nothing");

    for (int i = 0; i < 3000; i++)
        ck_assert_uint_eq(memory[i], 0);
    ck_assert_ptr_nonnull(a);
    ck_assert_ptr_nonnull(b);
    ck_assert_ptr_ne(a, b); /* count 0 gives a unique pointer */
    sim_free(memory);
    sim_free(a);
    sim_free(b);
    sim_free(NULL);
}
END_TEST

/* 2^61 * 8 bytes wraps to 0 in 64 bits: must end the program with ERESOURCE's code, not return a
 * tiny block. */
START_TEST(overflow_ends_with_69)
{
    sim_alloc(SIZE_MAX / 8 + 1, 8, "chips");
}
END_TEST

START_TEST(realloc_overflow_ends_with_69)
{
    void *memory = sim_realloc(NULL, SIZE_MAX, 2, "links");

    sim_free(memory);
}
END_TEST

START_TEST(arena_overflow_ends_with_69)
{
    sim_arena_alloc(sim_arena_create(), SIZE_MAX - 3,
                    1); /* rounding up to the alignment would wrap */
}
END_TEST

START_TEST(grow_doubles_from_16)
{
    uint32_t *array = NULL;
    uint32_t capacity = 0;

    SIM_GROW(array, capacity, 1u);
    ck_assert_uint_eq(capacity, 16);
    SIM_GROW(array, capacity, 17u);
    ck_assert_uint_eq(capacity, 32);
    SIM_GROW(array, capacity, 1000u);
    ck_assert_uint_eq(capacity, 1024); /* 32 * 2^5 */
    SIM_GROW(array, capacity, 1024u);
    ck_assert_uint_eq(capacity, 1024);
    sim_free(array);
}
END_TEST

START_TEST(arena_memory_is_zeroed_and_aligned)
{
    sim_arena *arena = sim_arena_create();

    for (size_t bytes = 0; bytes < 300; bytes++) {
        size_t mark = sim_arena_mark(arena);
        unsigned char *memory = sim_arena_alloc(arena, bytes, 1);

        ck_assert_uint_eq((uintptr_t)memory % alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++)
            ck_assert_uint_eq(memory[i], 0);
        memset(memory, 0xFF, bytes);
        if (bytes % 3 == 0)
            sim_arena_rewind(arena, mark); /* so that dirty bytes are handed out again */
    }
    sim_arena_destroy(arena);
    sim_arena_destroy(NULL);
}
END_TEST

START_TEST(rewind_gives_the_same_memory_back)
{
    sim_arena *arena = sim_arena_create();
    size_t empty = sim_arena_mark(arena), mark;
    char *kept, *scratch;

    ck_assert_uint_eq(empty, 0);
    sim_arena_rewind(arena, empty); /* nothing allocated yet */
    kept = sim_arena_strdup(arena, "kept");
    mark = sim_arena_mark(arena);
    scratch = SIM_ARENA_NEW(arena, char, 100);
    SIM_ARENA_NEW(arena, double, 1 << 20); /* 8 MiB: a chunk of its own */
    sim_arena_rewind(arena, mark);
    ck_assert_uint_eq(sim_arena_mark(arena), mark);
    ck_assert_ptr_eq(SIM_ARENA_NEW(arena, char, 100), scratch);
    ck_assert_str_eq(kept, "kept");
    sim_arena_rewind(arena, empty);
    ck_assert_ptr_eq(sim_arena_strdup(arena, "again"), kept);
    sim_arena_destroy(arena);
}
END_TEST

#define BLOCKS_MAX 64

/* A stack of random blocks, each filled with its number: pops rewind, pushes allocate, and no block
 * ever changes. */
START_TEST(random_marks_keep_older_blocks)
{
    sim_arena *arena = sim_arena_create();
    struct {
        size_t mark, bytes;
        unsigned char *memory;
    } block[BLOCKS_MAX];
    struct sim_rng rng;
    size_t count = 0;

    sim_rng_init(&rng, (uint64_t)_i, 0);
    for (int step = 0; step < 2000; step++) {
        if (count == BLOCKS_MAX || (count > 0 && sim_rng_below(&rng, 3) == 0)) {
            count -= 1 + sim_rng_below(&rng, count);
            sim_arena_rewind(arena, block[count].mark);
        } else {
            uint64_t bits =
                1 + sim_rng_below(&rng, 17); /* up to 128 KiB: larger than the first chunk */

            block[count].mark = sim_arena_mark(arena);
            block[count].bytes = sim_rng_below(&rng, UINT64_C(1) << bits);
            block[count].memory = sim_arena_alloc(arena, block[count].bytes, 1);
            memset(block[count].memory, (int)count, block[count].bytes);
            count++;
        }
        for (size_t i = 0; i < count; i++) {
            if (block[i].bytes == 0) continue;
            ck_assert_uint_eq(block[i].memory[0], i);
            ck_assert_uint_eq(block[i].memory[block[i].bytes - 1], i);
        }
    }
    sim_arena_destroy(arena);
}
END_TEST

/* Check runs each test in a process of its own, so the limit ends with the test. */
START_TEST(an_address_space_limit_counts)
{
    FILE *file = fopen("/proc/self/statm", "r");
    unsigned long long pages = 0;
    const rlim_t room = (rlim_t)64 << 20;
    struct rlimit limit;

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(fscanf(file, "%llu", &pages), 1);
    fclose(file);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + room;
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_uint_gt(sim_memory_available_bytes(), 0);
    ck_assert_uint_le(sim_memory_available_bytes(), room);
}
END_TEST

START_TEST(memory_of_this_machine)
{
    uint64_t before = sim_memory_peak_bytes(), available = sim_memory_available_bytes();
    char *memory = sim_alloc(32 << 20, 1, "test");

    memset(memory, 1, 32 << 20);
    ck_assert_uint_gt(available, UINT64_C(1) << 20); /* more than 1 MiB, less than 1 EiB */
    ck_assert_uint_lt(available, UINT64_C(1) << 60);
    ck_assert_uint_gt(before, 100 << 10);
    ck_assert_uint_ge(sim_memory_peak_bytes(), 32 << 20); /* at least what was just touched */
    sim_free(memory);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/arena");
    TCase *tc = tcase_create("arena");

    tcase_add_test(tc, alloc_is_zeroed_and_never_null);
    tcase_add_exit_test(tc, overflow_ends_with_69, 69);
    tcase_add_exit_test(tc, realloc_overflow_ends_with_69, 69);
    tcase_add_exit_test(tc, arena_overflow_ends_with_69, 69);
    tcase_add_test(tc, grow_doubles_from_16);
    tcase_add_test(tc, arena_memory_is_zeroed_and_aligned);
    tcase_add_test(tc, rewind_gives_the_same_memory_back);
    tcase_add_loop_test(tc, random_marks_keep_older_blocks, 0, 5);
    tcase_add_test(tc, an_address_space_limit_counts);
    tcase_add_test(tc, memory_of_this_machine);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
