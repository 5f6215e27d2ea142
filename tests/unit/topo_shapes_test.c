/* The slices of one size: lists by hand, and every shape of every preset against the rules. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "tests/support.h"

/* "4x4x32 4x8x16 8x8x8", or the error's text. Returns `buffer`. */
static const char *list_text(const char *name, uint32_t chips, char *buffer, size_t bytes)
{
    struct sim_error err = {0};
    struct topo_shape *shape;
    uint32_t count;
    size_t at = 0;
    if (topo_chip_list_shapes(topo_chip_find(name), chips, &err, &shape, &count) != SIM_OK) {
        snprintf(buffer, bytes, "%s", err.text);
        return buffer;
    }
    for (uint32_t i = 0; i < count; i++)
        at += (size_t)snprintf(buffer + at, bytes - at, "%s%ux%ux%u", i > 0 ? " " : "",
                               shape[i].side[0], shape[i].side[1], shape[i].side[2]);
    sim_free(shape);
    return buffer;
}

START_TEST(shapes_by_hand)
{
    static const struct {
        const char *chip, *list;
        uint32_t chips;
    } cases[] = {{"v5p", "4x4x32 4x8x16 8x8x8", 512}, /* 8 cubes: 1x1x8, 1x2x4, 2x2x2 */
                 {"v4", "4x4x12", 192},
                 {"v4", "2x4x4", 32},
                 {"v7", "2x2x1", 4}, /* a host is 2x2x1: 1x2x2 would cut it */
                 {"v8t", "2x2x2", 8},
                 {"v5p", "2x2x4", 16},
                 {"v6e", "8x16x1", 128},
                 {"v5e", "1x1x1", 1},
                 {"v2", "4x16x1 8x8x1", 64}, /* a pod of 16x16 has no 2x32 */
                 {"v3", "2x32x1 4x16x1 8x8x1", 64},
                 {"v3", "1x4x1 2x2x1", 4},
                 {"v5p", "v5p has no slice of 500 chips, the nearest have 448 and 512", 500},
                 {"v5p", "v5p has no slice of 1 chips, the smallest has 4", 1},
                 {"v5e", "v5e has no slice of 512 chips, a pod has 256", 512},
                 {"v6e", "v6e has no slice of 100 chips, the nearest have 64 and 128", 100}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[512];
        ck_assert_str_eq(list_text(cases[i].chip, cases[i].chips, text, sizeof text),
                         cases[i].list);
    }
}
END_TEST

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static struct topo_shape rising(struct topo_shape s)
{
    qsort(s.side, 3, sizeof s.side[0], by_value);
    return s;
}

START_TEST(listed_shapes_are_legal_different_and_in_order)
{
    uint32_t presets, lists = 0;
    const struct topo_chip *chip = topo_chip_presets(&presets);
    for (uint32_t c = 0; c < presets; c++)
        for (uint32_t chips = 1; chips <= chip[c].pod_chips; chips++) {
            struct topo_shape *shape;
            uint32_t count;
            if (chips > 64 && chips % 64 != 0) continue; /* the error looks for neighbours */
            if (topo_chip_list_shapes(&chip[c], chips, NULL, &shape, &count) != SIM_OK) continue;
            lists++;
            for (uint32_t i = 0; i < count; i++) {
                bool is_wrapped[3];
                const uint32_t *side = shape[i].side;
                ck_assert_int_eq(topo_chip_check_slice(&chip[c], side, NULL, is_wrapped), SIM_OK);
                ck_assert_uint_eq(side[0] * side[1] * side[2], chips);
                struct topo_shape a = rising(shape[i]);
                struct topo_shape b = rising(shape[i > 0 ? i - 1 : 0]);
                ck_assert(i == 0 || a.side[0] > b.side[0] ||
                          (a.side[0] == b.side[0] && a.side[1] > b.side[1]));
            }
            sim_free(shape);
        }
    /* v4 has 4 parts of a cube and 64 counts of cubes; v5p 4 + 140, v7 4 + 144, v8t 4 + 150; v5e
     * and v6e 1, 4, 8 .. 256; v2 1, 2 .. 256; v3 1, 2 .. 1024 */
    ck_assert_uint_eq(lists, (4 + 64) + (4 + 140) + (4 + 144) + (4 + 150) + 2 * 8 + 9 + 11);
}
END_TEST

START_TEST(no_shape_is_left_out)
{
    /* of every whole number of v4 cubes: the sets of three sides that multiply to it */
    for (uint32_t cubes = 1; cubes <= 64; cubes++) {
        uint32_t count, sets = 0;
        struct topo_shape *shape;
        for (uint32_t x = 1; x <= cubes; x++)
            for (uint32_t y = x; x * y <= cubes; y++)
                sets += cubes % (x * y) == 0 && cubes / (x * y) >= y;
        ck_assert_int_eq(
            topo_chip_list_shapes(topo_chip_find("v4"), 64 * cubes, NULL, &shape, &count), SIM_OK);
        ck_assert_uint_eq(count, sets);
        sim_free(shape);
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {shapes_by_hand, listed_shapes_are_legal_different_and_in_order,
                            no_shape_is_left_out};
    return run_suite(SUITE_OF("topo_shapes", tests));
}
