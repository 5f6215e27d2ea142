/* Optical switches: permutations, slices of any free cubes, and the tori that follow. */
#include <stdlib.h>
#include <string.h>

#include "tests/support.h"
#include "topo/ocs.h"

START_TEST(a_cube_alone_leads_to_itself)
{
    struct sim_error err = {0};
    topo_ocs *ocs = topo_ocs_create(4);
    uint32_t cube = 2;
    struct topo_slice slice = {.grid = {1, 1, 1}, .cube = &cube};
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_OK);
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t p = 0; p < TOPO_FACE_POSITIONS; p++) {
            ck_assert_uint_eq(topo_ocs_target(ocs, d, p, 2), 2); /* the torus of 4x4x4 */
            ck_assert_uint_eq(topo_ocs_target(ocs, d, p, 1), TOPO_NO_CUBE);
        }
    ck_assert(!topo_ocs_is_free(ocs, 2));
    ck_assert(topo_ocs_is_free(ocs, 3));
    topo_ocs_destroy(ocs);
}
END_TEST

START_TEST(cubes_need_not_be_neighbours)
{
    /* 2x1x2 cubes of a twisted pair of axes: places (0,0) 5, (1,0) 0, (0,1) 7, (1,1) 2; x closes
     * one further in z */
    struct sim_error err = {0};
    topo_ocs *ocs = topo_ocs_create(8);
    const uint32_t cube[] = {5, 0, 7, 2};
    struct topo_slice slice = {.grid = {2, 1, 2}, .cube = cube, .twist = {{0, 0, 1}}};
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_OK);
    ck_assert(topo_ocs_is_valid(ocs));
    ck_assert_uint_eq(topo_ocs_target(ocs, 0, 3, 5), 0);
    ck_assert_uint_eq(topo_ocs_target(ocs, 0, 3, 0), 7); /* twisted: not back to 5 */
    ck_assert_uint_eq(topo_ocs_target(ocs, 0, 3, 7), 2);
    ck_assert_uint_eq(topo_ocs_target(ocs, 0, 3, 2), 5);
    ck_assert_uint_eq(topo_ocs_target(ocs, 2, 9, 5), 7);
    ck_assert_uint_eq(topo_ocs_target(ocs, 2, 9, 7), 5);
    ck_assert_uint_eq(topo_ocs_source(ocs, 0, 3, 7), 0);
    topo_ocs_destroy(ocs);
}
END_TEST

START_TEST(slices_share_a_pod_but_no_cube)
{
    struct sim_error err = {0};
    topo_ocs *ocs = topo_ocs_create(4);
    const uint32_t first[] = {0, 3}, second[] = {1, 2}, third[] = {2, 9};
    struct topo_slice slice = {.grid = {1, 1, 2}, .cube = first};
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_OK);
    slice.cube = third;
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_EDATA); /* 9 lies beyond the pod */
    ck_assert(topo_ocs_is_free(ocs, 2));                                /* nothing was taken */
    slice.cube = second;
    memset(&err, 0, sizeof err);
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_OK);
    ck_assert_int_eq(topo_ocs_configure(ocs, &slice, &err), SIM_EDATA); /* in use */
    ck_assert(topo_ocs_is_valid(ocs));
    topo_ocs_destroy(ocs);
}
END_TEST

/* Links of the slice and of the torus cabled directly, chip by chip and port by port. */
static void assert_same_cables(const char *slice_spec, const char *torus_spec)
{
    topo *slice = topo_or_fail(slice_spec), *torus = topo_or_fail(torus_spec);
    ck_assert_uint_eq(topo_links(slice), topo_links(torus));
    for (topo_chip_id c = 0; c < topo_chips(torus); c++)
        for (uint32_t p = 0; p < topo_ports(torus); p++) {
            topo_link_id a = topo_port_link(slice, c, p), b = topo_port_link(torus, c, p);
            ck_assert_uint_eq(topo_link_to(slice, a), topo_link_to(torus, b));
            uint32_t at = topo_coord(slice, c, p / 2) % 4;
            bool is_face = at == (p % 2 == 0 ? 3 : 0);
            ck_assert_int_eq(topo_link_kind(slice, a), is_face ? TOPO_OPTICAL : TOPO_COPPER);
        }
    topo_destroy(slice);
    topo_destroy(torus);
}

START_TEST(the_torus_follows_from_the_permutations)
{
    assert_same_cables("v4:4x4x4", "torus:4x4x4");
    assert_same_cables("v4:4x4x8", "torus:4x4x8");
    assert_same_cables("v5p:8x12x4", "torus:8x12x4");
    assert_same_cables("v4:4x4x8,twisted", "torus:4x4x8,twisted");
    assert_same_cables("v4:8x4x8,twisted", "torus:8x4x8,twisted");
    assert_same_cables("v7:8x16x16,twisted", "torus:8x16x16,twisted");
}
END_TEST

START_TEST(optical_hops_have_their_own_latency)
{
    topo *t = topo_or_fail("v4:4x4x8,optical=3us");
    for (topo_link_id l = 0; l < topo_links(t); l++)
        ck_assert_int_eq(topo_link_latency_ps(t, l),
                         topo_link_kind(t, l) == TOPO_OPTICAL ? 3000000 : 1000000);
    ck_assert(!topo_is_uniform(t));
    topo_destroy(t);
}
END_TEST

START_TEST(what_cannot_be_twisted_says_so)
{
    static const char *const specs[] = {
        "v4:4x4x4,twisted", "v4:4x8x16,twisted", "v5e:8x16,twisted",   "mesh:4x8,twisted",
        "torus:4,twisted",  "v4:2x2x4,twisted",  "torus:4x8,twisted=1"};
    static const struct topo_options none = TOPO_OPTIONS_DEFAULT;
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        ck_assert_msg(topo_create(specs[i], &none, &err, &t) == SIM_EDATA, "%s was taken",
                      specs[i]);
        ck_assert_ptr_null(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        a_cube_alone_leads_to_itself,        cubes_need_not_be_neighbours,
        slices_share_a_pod_but_no_cube,      the_torus_follows_from_the_permutations,
        optical_hops_have_their_own_latency, what_cannot_be_twisted_says_so};
    return run_suite(SUITE_OF("topo_ocs", tests));
}
