/*
 * Every algorithm of every operation on every shape of 1 to 33, 48, 64 and 100 chips: tori and
 * meshes of one, two and three sides, each factorisation in each order, sides of 1 among them;
 * whole, with a cable failed and with a chip failed, where that leaves the rest connected.
 *
 * Run as `coll_check_shapes_test PART`: sizes are dealt to the PARTS parts. Shapes of over 33 chips
 * and several sides are taken with rising sides and whole only, of 100 chips with two sides at most:
 * the checker's work grows as the cube of the chips.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/check_all.h"

#define PARTS 6

static const uint32_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,
                                 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
                                 25, 26, 27, 28, 29, 30, 31, 32, 33, 48, 64, 100};
#define SIZES (int)(sizeof sizes / sizeof sizes[0])
#define ALL   33 /* up to here in every order of the sides */

static int part;

struct shape {
    uint32_t sides, side[3], chips;
};

/* Does nothing where the fault cuts chips off. */
static void check_with(const struct shape *s, const char *kind, const char *fail)
{
    char spec[64];
    int length = snprintf(spec, sizeof spec, "%s:", kind);
    for (uint32_t i = 0; i < s->sides; i++)
        length += snprintf(spec + length, sizeof spec - (size_t)length, "%s%u", i > 0 ? "x" : "",
                           s->side[i]);
    struct sim_error err = {0};
    topo *t = NULL;
    if (topo_with(spec, fail, NULL, NULL, &err, &t) != SIM_OK) {
        ck_assert_msg(fail[0] != 0, "%s: %s", spec, err.text);
        return;
    }
    check_all(t, "");
    topo_destroy(t);
}

/* Chip 1, and its cable along the first axis of more than one chip. */
static void name_faults(const struct shape *s, char link[48], char chip[40])
{
    uint32_t axis = 0;
    while (axis + 1 < s->sides && s->side[axis] == 1)
        axis++;
    const char *at[] = {axis == 0 ? "1" : "0", axis == 1 ? ",1" : ",0", axis == 2 ? ",1" : ",0"};
    snprintf(chip, 40, "chip:%s%s%s", at[0], s->sides > 1 ? at[1] : "", s->sides > 2 ? at[2] : "");
    snprintf(link, 48, "link:%s:+%c", chip + 5, "xyz"[axis]);
}

static void check_shape(const struct shape *s)
{
    char link[48], chip[40];
    name_faults(s, link, chip);
    for (int is_mesh = 0; is_mesh < 2; is_mesh++) {
        const char *kind = is_mesh ? "mesh" : "torus";
        check_with(s, kind, "");
        if (s->chips < 3 || (s->chips > ALL && s->sides > 1)) continue;
        check_with(s, kind, link);
        check_with(s, kind, chip);
    }
}

START_TEST(every_shape_of_a_size)
{
    uint32_t n = sizes[_i];
    if (_i % PARTS != part) return;
    check_shape(&(struct shape){1, {n}, n});
    for (uint32_t a = 1; a <= n; a++) {
        if (n % a != 0) continue;
        if (n <= ALL || a <= n / a) check_shape(&(struct shape){2, {a, n / a}, n});
        for (uint32_t b = 1; b <= n / a && n < 100; b++) {
            if (n / a % b != 0) continue;
            if (n > ALL && (a > b || b > n / a / b)) continue;
            check_shape(&(struct shape){3, {a, b, n / a / b}, n});
        }
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("coll_check_shapes");
    TCase *sweep = tcase_create("sizes");
    part = argc > 1 ? atoi(argv[1]) : 0;
    tcase_set_timeout(sweep, 600);
    tcase_add_loop_test(sweep, every_shape_of_a_size, 0, SIZES);
    suite_add_tcase(suite, sweep);
    return run_suite(suite);
}
