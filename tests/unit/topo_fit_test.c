/* Slices that fit into a pod with faults, counted by hand. */
#include <stdio.h>

#include "tests/support.h"
#include "topo/fit.h"

static void assert_fit(const char *spec, const char *fail, struct topo_shape shape,
                       struct topo_fit wanted)
{
    topo *t = topo_with_or_fail(spec, fail, NULL);
    struct topo_fit fit = topo_fit_of(t, &shape);
    const uint32_t *s = shape.side;
    ck_assert_msg(fit.good_cubes == wanted.good_cubes && fit.with_ocs == wanted.with_ocs &&
                      fit.without_ocs == wanted.without_ocs,
                  "%s without %s, %ux%ux%u: %u cubes, %u with switches, %u without", spec, fail,
                  s[0], s[1], s[2], fit.good_cubes, fit.with_ocs, fit.without_ocs);
    topo_destroy(t);
}

START_TEST(whole_pods_divide)
{
    assert_fit("v4:16x16x16", "", (struct topo_shape){{4, 4, 4}}, (struct topo_fit){64, 64, 64});
    assert_fit("v4:16x16x16", "", (struct topo_shape){{8, 8, 16}}, (struct topo_fit){64, 4, 4});
    /* 3 of 4 along one axis, and what is left of the others is no multiple */
    assert_fit("v4:16x16x16", "", (struct topo_shape){{12, 12, 12}}, (struct topo_fit){64, 2, 1});
    /* longer than the pod: only switches make it */
    assert_fit("v4:16x16x16", "", (struct topo_shape){{4, 4, 64}}, (struct topo_fit){64, 4, 0});
    assert_fit("v4:8x8x8", "", (struct topo_shape){{2, 2, 1}}, (struct topo_fit){8, 128, 128});
}
END_TEST

START_TEST(broken_parts_of_cubes_add_up_to_no_cube)
{
    /* Each of 8 cubes lost the 2x2x4 chips of a corner, 4 hosts of 2x2x1: 384 chips are free. */
    char fail[1024] = "";
    size_t at = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t x = i / 4 % 2 * 2, y = i / 8 % 2 * 2, z = i / 16 * 4 + i % 4; /* host grid 4x4x8 */
        at += (size_t)snprintf(fail + at, sizeof fail - at, "%shost:%u", i > 0 ? ";" : "",
                               x + 4 * y + 16 * z);
    }
    assert_fit("v4:8x8x8", fail, (struct topo_shape){{4, 4, 4}}, (struct topo_fit){0, 0, 0});
    assert_fit("v4:8x8x8", fail, (struct topo_shape){{2, 4, 4}}, (struct topo_fit){0, 8, 8});
    assert_fit("v4:8x8x8", fail, (struct topo_shape){{2, 2, 4}}, (struct topo_fit){0, 24, 24});
    assert_fit("v4:8x8x8", fail, (struct topo_shape){{2, 2, 2}}, (struct topo_fit){0, 48, 48});
    assert_fit("v4:8x8x8", fail, (struct topo_shape){{2, 2, 1}}, (struct topo_fit){0, 96, 96});
}
END_TEST

START_TEST(broken_cubes_and_cables)
{
    /* cubes 0,0,0 and 1,1,1 of 2x2x2: 6 are left. Rows of two cubes along z: (1,0) and (0,1) are
     * whole, and so along x and y. */
    assert_fit("v4:8x8x8", "chip:0,0,0;cube:1,1,1", (struct topo_shape){{4, 4, 8}},
               (struct topo_fit){6, 3, 2});
    /* planes of four: every one holds one of the two; switches make one */
    assert_fit("v4:8x8x8", "chip:0,0,0;cube:1,1,1", (struct topo_shape){{4, 8, 8}},
               (struct topo_fit){6, 1, 0});
    /* a cable inside a cube breaks it, whichever way it is cut; one between cubes breaks none, but
     * it does the block that spans it */
    assert_fit("v4:4x4x8", "link:1,1,1:+x:out", (struct topo_shape){{4, 4, 4}},
               (struct topo_fit){1, 1, 1});
    assert_fit("v4:4x4x8", "link:1,1,1:-x:out", (struct topo_shape){{4, 4, 4}},
               (struct topo_fit){1, 1, 1});
    assert_fit("v4:4x4x8", "link:1,1,3:+z", (struct topo_shape){{4, 4, 4}},
               (struct topo_fit){2, 2, 2});
    assert_fit("v4:4x4x8", "link:1,1,3:+z", (struct topo_shape){{4, 4, 8}},
               (struct topo_fit){2, 1, 0});
    /* between two blocks of 2x2x2 no block is hurt */
    assert_fit("v4:4x4x4", "link:1,1,1:+x", (struct topo_shape){{2, 2, 2}},
               (struct topo_fit){0, 8, 8});
    assert_fit("v4:4x4x4", "link:0,1,1:+x", (struct topo_shape){{2, 2, 2}},
               (struct topo_fit){0, 7, 7});
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {whole_pods_divide, broken_parts_of_cubes_add_up_to_no_cube,
                                  broken_cubes_and_cables};
    return run_suite(SUITE_OF("topo_fit", tests));
}
