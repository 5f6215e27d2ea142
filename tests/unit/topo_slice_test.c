/* Slices of named cubes, and spare cubes that take the place of broken ones. */
#include <string.h>

#include "base/rng.h"
#include "tests/support.h"
#include "topo/graph.h"
#include "topo/slice.h"

static enum sim_status repaired(const char *spec, const char *fail, const char *random,
                                struct sim_error *err, topo **t)
{
    struct topo_options options = TOPO_OPTIONS_DEFAULT;
    options.fail_random = random;
    options.is_repaired = true;
    enum sim_status status = topo_options_fail(&options, fail, err);
    return status == SIM_OK ? topo_create(spec, &options, err, t) : status;
}

static topo *repaired_or_fail(const char *spec, const char *fail, const char *random)
{
    struct sim_error err = {0};
    topo *t = NULL;
    ck_assert_msg(repaired(spec, fail, random, &err, &t) == SIM_OK, "%s: %s", spec, err.text);
    return t;
}

/* Link for link: ends, kinds, rates, latencies, and the ports they hang on. */
static void assert_same(const topo *a, const topo *b)
{
    ck_assert_uint_eq(topo_links(a), topo_links(b));
    for (topo_link_id l = 0; l < topo_links(a); l++) {
        ck_assert_uint_eq(topo_link_from(a, l), topo_link_from(b, l));
        ck_assert_uint_eq(topo_link_to(a, l), topo_link_to(b, l));
        ck_assert_uint_eq(topo_link_kind(a, l), topo_link_kind(b, l));
        ck_assert_int_eq(topo_link_latency_ps(a, l), topo_link_latency_ps(b, l));
    }
    for (topo_chip_id c = 0; c < topo_chips(a); c++)
        for (uint32_t p = 0; p < topo_ports(a); p++)
            ck_assert_uint_eq(topo_port_link(a, c, p), topo_port_link(b, c, p));
}

START_TEST(any_cubes_make_the_same_torus)
{
    static const char *const cases[][2] = {
        {"v4:8x8x8", "v4:8x8x8,cubes=63+5-7+60+1+2+33"},
        {"v4:4x4x8,twisted", "v4:4x4x8,twisted,cubes=40+3"},
        {"v4:4x8x8,twisted,optical=2us", "v4:4x8x8,twisted,optical=2us,cubes=9+8+7+6"},
        {"v5p:4x4x4", "v5p:4x4x4,cubes=139"},
        {"v7:4x8x12", "v7:4x8x12,cubes=100-105"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *first = topo_or_fail(cases[i][0]), *named = topo_or_fail(cases[i][1]);
        assert_same(first, named);
        topo_destroy(first);
        topo_destroy(named);
    }
}
END_TEST

START_TEST(the_list_prints_back)
{
    char text[64], short_text[16];
    topo *t = topo_or_fail("v4:8x8x8,cubes=63+5+6+7+60+1+2+33,spares=10+20-22");
    const struct topo_cubes *cubes = topo_cubes_of(t);
    ck_assert_str_eq(topo_cubes_format(cubes, text, sizeof text), "63+5-7+60+1-2+33");
    ck_assert_str_eq(topo_cubes_format(cubes, short_text, sizeof short_text), "63+5-7+60+...");
    ck_assert_uint_eq(topo_cubes_spares(cubes), 4);
    topo_destroy(t);
    t = topo_or_fail("v4:8x8x8");
    ck_assert_uint_eq(topo_cubes_spares(topo_cubes_of(t)), 64 - 8);
    topo_destroy(t);
    t = topo_or_fail("v4:2x2x4"); /* less than a cube */
    ck_assert_ptr_null(topo_cubes_of(t));
    topo_destroy(t);
}
END_TEST

START_TEST(a_spare_takes_the_place)
{
    /* Circuits by hand, of 16 switches a dimension. In a grid of 2 along the axis, A>B and B>A
     * become A>D and D>A: two cut, two set. In a grid of 1 the cube's circuit to itself: one of
     * each. */
    static const struct {
        const char *spec, *fail;
        uint32_t count, place, broken, spare, circuits;
    } cases[] = {
        {"v4:8x8x8", "chip:4,0,0", 1, 1, 1, 8, 3 * 16 * 2},
        {"v4:8x8x8", "host:0", 1, 0, 0, 8, 3 * 16 * 2},
        {"v4:8x8x8", "cube:1,1,1", 1, 7, 7, 8, 3 * 16 * 2},
        {"v4:8x8x8", "link:7,7,3:+z", 1, 3, 3, 8, 3 * 16 * 2},         /* the named chip's cube */
        {"v4:8x8x8", "chip:0,0,0;chip:3,3,3", 1, 0, 0, 8, 3 * 16 * 2}, /* both in one cube */
        {"v4:4x4x8,cubes=9+0", "chip:0,0,7", 1, 1, 0, 1, 16 * (1 + 1 + 2)},
        {"v4:4x4x8,spares=50", "chip:0,0,0", 1, 0, 0, 50, 16 * (1 + 1 + 2)},
        {"v4:4x4x4", "chip:0,0,0", 1, 0, 0, 1, 3 * 16},
        /* In z all of A>B, B>A become C>D, D>C. */
        {"v4:4x4x8", "cube:0,0,0;cube:0,0,1", 2, 0, 0, 2, 3 * 16 * 2},
        /* A ring of three: A>B, B>C become A>D, D>C. */
        {"v4:4x4x12", "cube:0,0,1", 1, 1, 1, 3, 16 * (1 + 1 + 2)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = repaired_or_fail(cases[i].spec, cases[i].fail, NULL);
        topo *whole = topo_or_fail(cases[i].spec);
        const struct topo_cubes *cubes = topo_cubes_of(t);
        const struct topo_repair *r = &cubes->repair;
        assert_same(t, whole);
        ck_assert(!topo_is_faulty(t));
        ck_assert_uint_eq(r->count, cases[i].count);
        ck_assert_uint_eq(r->swap[0].broken, cases[i].broken);
        ck_assert_uint_eq(r->swap[0].spare, cases[i].spare);
        ck_assert_uint_eq(cubes->cube[cases[i].place], cases[i].spare);
        ck_assert_uint_eq(r->switches, 48);
        ck_assert_msg(r->circuits_cut == cases[i].circuits, "%s %s cuts %u", cases[i].spec,
                      cases[i].fail, r->circuits_cut);
        ck_assert_uint_eq(r->circuits_set, cases[i].circuits);
        ck_assert(topo_ocs_is_valid(cubes->ocs));
        ck_assert(topo_ocs_is_free(cubes->ocs, cases[i].broken));
        ck_assert(!cubes->is_spare[cases[i].broken]); /* free, but no help */
        topo_destroy(t);
        topo_destroy(whole);
    }
}
END_TEST

START_TEST(dark_switches_stay_dark)
{
    topo *t = repaired_or_fail("v4:8x8x8", "ocs:x0;chip:0,0,0", NULL);
    topo *dark = topo_with_or_fail("v4:8x8x8", "ocs:x0", NULL);
    assert_same(t, dark);
    ck_assert_uint_eq(topo_failed_chips(t), 0);
    ck_assert_str_eq(topo_spec(t), "v4:8x8x8 without ocs:x0;chip:0,0,0, repaired");
    topo_destroy(t);
    topo_destroy(dark);
    t = repaired_or_fail("v4:8x8x8", "ocs:x0", NULL); /* nothing that a spare would mend */
    ck_assert_uint_eq(topo_cubes_of(t)->repair.count, 0);
    ck_assert_uint_eq(topo_cubes_of(t)->repair.switches, 0);
    topo_destroy(t);
}
END_TEST

/* Whatever breaks, spares make the pod whole again, and a spare is used once. */
START_TEST(random_repairs_make_whole)
{
    char random[64];
    snprintf(random, sizeof random, "links=%d,chips=%d,seed=%d", _i % 4, 1 + _i % 3, _i);
    topo *t = repaired_or_fail("v4:4x8x8,twisted,cubes=3+1+40+7", "", random);
    topo *whole = topo_or_fail("v4:4x8x8,twisted");
    const struct topo_cubes *cubes = topo_cubes_of(t);
    assert_same(t, whole);
    ck_assert_uint_ge(cubes->repair.count, 1);
    ck_assert_uint_eq(topo_cubes_spares(cubes) + cubes->repair.count, 60);
    for (uint32_t i = 0; i < 4; i++) {
        ck_assert(!topo_ocs_is_free(cubes->ocs, cubes->cube[i]));
        for (uint32_t j = 0; j < i; j++)
            ck_assert_uint_ne(cubes->cube[i], cubes->cube[j]);
    }
    topo_destroy(t);
    topo_destroy(whole);
}
END_TEST

START_TEST(what_cannot_be_had_is_refused)
{
    static const struct {
        const char *spec, *fail, *says;
    } cases[] = {
        {"v4:16x16x16", "chip:0,0,0", "found 0 spare cubes in its pod of 64, want 1"},
        {"v4:8x8x8,spares=9", "cube:0,0,0;cube:1,0,0",
         "found 1 spare cubes in its pod of 64, want 2"},
        {"v4:2x2x4", "chip:0,0,0", "only one slice of whole 4x4x4 cubes"},
        {"torus:8x8x8", "chip:0,0,0", "only one slice of whole 4x4x4 cubes"},
        {"v4:4x4x4*2", "chip:0,0,0,0", "only one slice of whole 4x4x4 cubes"},
        {"v4:8x8x8", "", "no fault is given"},
        {"v4:8x8x8,cubes=0-8", "chip:0,0,0", "found 9 cubes, want 8 of them (2x2x2)"},
        {"v4:8x8x8,cubes=0-6+6", "chip:0,0,0", "cube 6 is in use already"},
        {"v4:8x8x8,cubes=57-64", "chip:0,0,0", "want numbers from 0 to 63"},
        {"v4:8x8x8,cubes=0-63+0", "chip:0,0,0", "found more cubes than the pod's 64"},
        {"v4:8x8x8,cubes=0-18446744073709551615", "chip:0,0,0", "want numbers from 0 to 63"},
        {"v4:8x8x8,cubes=3-1+0-4", "chip:0,0,0", "want numbers from 0 to 63"},
        {"v4:8x8x8,cubes=", "chip:0,0,0", "want numbers from 0 to 63"},
        {"v4:8x8x8,spares=7", "chip:0,0,0", "spare cube 7 is in the slice"},
        {"v4:8x8x8,spares=8+8", "chip:0,0,0", "spare cube 8 is named twice"},
        {"v4:4x4x4*2,cubes=1", "chip:0,0,0,0", "are of one slice"},
        {"v4:2x2x4,cubes=1", "chip:0,0,0", "are of slices of whole 4x4x4 cubes"},
        {"torus:8,cubes=1", "chip:0", "unknown part"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        ck_assert_int_eq(repaired(cases[i].spec, cases[i].fail, NULL, &err, &t), SIM_EDATA);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].spec, err.text);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {any_cubes_make_the_same_torus, the_list_prints_back,
                                  a_spare_takes_the_place, dark_switches_stay_dark,
                                  what_cannot_be_had_is_refused};
    Suite *suite = SUITE_OF("topo_slice", tests);
    TCase *drawn = tcase_create("random");
    tcase_add_loop_test(drawn, random_repairs_make_whole, 0, 40);
    suite_add_tcase(suite, drawn);
    return run_suite(suite);
}
