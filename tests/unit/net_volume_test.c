/*
 * What there is to do, of pods so large that only some chips are asked. What small pods do is
 * compared with the engine in tests/property/packet_train_test.c.
 */
#include "collectives/coll.h"
#include "netsim/volume.h"
#include "tests/support.h"

/* Every chip sends one packet to every other. */
static struct net_volume all_to_all(const char *shape)
{
    topo *t = topo_or_fail(shape);
    struct sim_error err = {0};
    const struct coll_spec spec = {.op = COLL_ALL_TO_ALL,
                                   .algorithm = COLL_DIRECT,
                                   .group = topo_group_all(t),
                                   .bytes = 4096.0 * topo_chips(t)};
    net_schedule *s;
    ck_assert_msg(coll_build(t, &spec, &err, &s) == SIM_OK, "%s", err.text);
    struct net_volume v = net_volume_of(s, 4096);
    net_schedule_destroy(s);
    topo_destroy(t);
    return v;
}

/* On a ring of 15 the others are 1 to 7 hops away on either side: 56 in all. Chips are alike, so
 * that some of them tell it exactly. */
START_TEST(chips_that_are_alike_are_known_by_some)
{
    struct net_volume v = all_to_all("torus:15x15x15");
    ck_assert_double_eq(v.messages, 3375.0 * 3374);
    ck_assert_double_eq(v.packet_hops, 3375.0 * 3 * 56 * 225);
}
END_TEST

/* Two places on a line of 16 are (16^2 - 1) / (3 * 16) hops apart in the mean. */
START_TEST(chips_that_differ_are_known_roughly)
{
    struct net_volume v = all_to_all("mesh:16x16x16");
    ck_assert_double_eq(v.messages, 4096.0 * 4095);
    ck_assert_double_eq_tol(v.packet_hops / (4096.0 * 4096 * 3 * 255 / 48), 1, 0.03);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {chips_that_are_alike_are_known_by_some,
                                  chips_that_differ_are_known_roughly};
    return run_suite(SUITE_OF("net_volume", tests));
}
