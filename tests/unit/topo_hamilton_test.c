/* Edge-disjoint Hamiltonian cycles: how many there are, that they are what they say, and the same
 * every time. */
#include "tests/support.h"
#include "topo/hamilton.h"

struct expected {
    const char *spec, *fail;
    uint32_t cycles;
};

static void assert_cycles(const struct expected *e)
{
    topo *t = topo_with_or_fail(e->spec, e->fail, NULL);
    const struct topo_cycles *found = topo_hamilton_cycles(t);
    ck_assert_msg(found->count == e->cycles, "%s %s: %u cycles, want %u", e->spec, e->fail,
                  found->count, e->cycles);
    ck_assert_uint_eq(found->length, topo_chips(t) - topo_failed_chips(t));
    ck_assert(topo_cycles_valid(t, found));
    topo_destroy(t);
}

/* Every cable is used: as many cycles as axes. */
START_TEST(healthy_tori_fall_apart_into_cycles)
{
    static const struct expected cases[] = {
        {"v4:4x4x8,twisted", "", 3},    {"torus:4x8,twisted", "", 2},
        {"torus:3x6,twisted", "", 2},   {"torus:5x10,twisted", "", 2},
        {"torus:3x6x6,twisted", "", 3}, {"torus:3x3x6,twisted", "", 3},
        {"torus:2x2x4,twisted", "", 3}, {"v4:4x8x8,twisted", "", 3},
        {"v4:8x8x16,twisted", "", 3},   {"torus:4x4", "", 2},
        {"torus:8x8", "", 2},           {"torus:16x16", "", 2},
        {"torus:3x3", "", 2},           {"torus:5x7", "", 2},
        {"torus:3x4", "", 2},           {"torus:4x4x4", "", 3},
        {"torus:3x4x5", "", 3},         {"v5p:4x4x8", "", 3},
        {"v5p:8x8x16", "", 3},          {"torus:3x3x3x3", "", 4},
        {"torus:2x3x2x3", "", 4},       {"torus:2", "", 1},
        {"torus:2x2", "", 2},           {"torus:2x8", "", 2},
        {"torus:2x2x4", "", 3},         {"torus:1x7", "", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_cycles(&cases[i]);
}
END_TEST

/* A corner has a cable per axis: one cycle in 2 or 3 axes, and none in 1. On an odd grid chips of
 * one colour are one more than those of the other, and every step changes the colour. */
START_TEST(open_axes_leave_one_cycle_or_none)
{
    static const struct expected cases[] = {
        {"mesh:8x8", "", 1}, {"mesh:3x4", "", 1},   {"mesh:2x5", "", 1},   {"mesh:4x4x4", "", 1},
        {"v6e:4x8", "", 1},  {"v5e:8x16", "", 1},   {"v5p:4x4x2", "", 1},  {"mesh:3x3x4", "", 1},
        {"mesh:3x3", "", 0}, {"mesh:3x3x3", "", 0}, {"mesh:5x7", "", 0},   {"mesh:8", "", 0},
        {"mesh:2", "", 0},   {"mesh:1x8", "", 0},   {"mesh:1x2x2", "", 1}, {"mesh:1", "", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_cycles(&cases[i]);
}
END_TEST

#define BLOCK "chip:2,2;chip:3,2;chip:2,3;chip:3,3"

START_TEST(cycles_go_around_what_has_failed)
{
    static const struct expected cases[] = {
        /* chips beside the hole have 3 cables, or 2 */
        {"torus:6x6", BLOCK, 1},
        {"torus:4x4", BLOCK, 1},
        {"torus:8x8", BLOCK, 1},
        {"mesh:8x8", BLOCK, 1},
        {"torus:7x8", BLOCK, 1},
        /* in three axes they have 5 */
        {"v4:4x4x8,twisted", "chip:1,1,1;chip:2,1,1", 2},
        {"v5p:8x8x8", "host:5", 2},
        {"v4:8x8x8", "cube:0,0,0", 2},
        /* so have the ends of a broken cable; on a torus of two axes, 3 */
        {"v4:4x4x8", "ocs:z0", 2},
        {"v4:4x4x8,twisted", "ocs:x3", 2},
        {"torus:8x8", "link:0,0:+x", 1},
        {"torus:5x5", "link:0,0:+x", 1},
        /* an odd torus has chips of either colour, wherever one begins to count */
        {"torus:5x5", "chip:1,1", 1},
        /* 8 chips of one colour and 7 of the other; a corner with one cable */
        {"torus:4x4", "chip:1,2", 0},
        {"mesh:4x4", "link:0,0:+x", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_cycles(&cases[i]);
}
END_TEST

/* FNV-1a over the chips, so that compilers and machines are held to the same cycles. */
static uint64_t digest(const struct topo_cycles *c)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < (size_t)c->count * c->length; i++)
        hash = (hash ^ c->chip[i]) * UINT64_C(0x100000001b3);
    return hash;
}

START_TEST(the_same_cycles_every_time)
{
    static const struct {
        const char *spec;
        uint64_t digest;
    } cases[] = {{"v4:4x4x8,twisted", UINT64_C(0x99f16137676ef515)},
                 {"torus:3x4x5", UINT64_C(0x717f466259ce9b07)}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec), *again = topo_or_fail(cases[i].spec);
        const struct topo_cycles *cycles = topo_hamilton_cycles(t);
        ck_assert_ptr_eq(topo_hamilton_cycles(t), cycles); /* kept */
        ck_assert_uint_eq(digest(topo_hamilton_cycles(again)), digest(cycles));
        ck_assert_msg(digest(cycles) == cases[i].digest, "%s: digest %#llx", cases[i].spec,
                      (unsigned long long)digest(cycles));
        topo_destroy(t);
        topo_destroy(again);
    }
}
END_TEST

/* A cycle of 4x4 that leaves a chip out or takes a cable twice is none. */
START_TEST(the_check_finds_what_is_wrong)
{
    topo *t = topo_or_fail("torus:4x4");
    const struct topo_cycles *found = topo_hamilton_cycles(t);
    topo_chip_id chip[32];
    for (int i = 0; i < 32; i++)
        chip[i] = found->chip[i];
    struct topo_cycles c = {2, 16, chip};
    ck_assert(topo_cycles_valid(t, &c));
    for (int i = 0; i < 16; i++)
        chip[16 + i] = chip[15 - i]; /* the first one backwards */
    ck_assert(!topo_cycles_valid(t, &c));
    c.count = 1;
    ck_assert(topo_cycles_valid(t, &c));
    c.length = 15;
    ck_assert(!topo_cycles_valid(t, &c));
    c.length = 16;
    chip[3] = chip[5];
    ck_assert(!topo_cycles_valid(t, &c));
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {healthy_tori_fall_apart_into_cycles,
                                  open_axes_leave_one_cycle_or_none,
                                  cycles_go_around_what_has_failed, the_same_cycles_every_time,
                                  the_check_finds_what_is_wrong};
    return run_suite(SUITE_OF("topo_hamilton", tests));
}
