/* Every routing on every kind of topology, healthy or not, is free of deadlock with the channels
 * it states; a table that goes round a ring on one channel is caught. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support.h"
#include "topo/deadlock.h"
#include "topo/routing.h"

static void assert_free(const topo *t, const char *what)
{
    struct sim_error err = {0};
    struct topo_deadlock d;
    ck_assert_msg(topo_deadlock_check(t, &err, &d) == SIM_OK, "%s", err.text);
    ck_assert_msg(d.is_free, "%s: %s has a cycle of %u", topo_spec(t), what, d.cycle_length);
    ck_assert_uint_le(d.channels, topo_routing_channels(t));
    topo_deadlock_release(&d);
}

static const char *const specs[] = {
    "torus:4x4", "torus:5x3", "mesh:4x3",         "torus:2x3x2",       "ring:6",
    "full:5",    "v4:4x4x4",  "v4:4x4x8,twisted", "torus:4x8,twisted", "torus:3x2x2x2",
    "v6e:4x4",   "ring:2",    SMALL_FABRICS};
static const char *const routings[] = {NULL,   "up-down",  "valiant,seed=2",
                                       "ecmp", "balanced", "fault-tolerant"};
#define SPECS ((int)(sizeof specs / sizeof specs[0]))

START_TEST(healthy_ones_are_free)
{
    for (int i = 0; i < SPECS; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status = topo_with(specs[i], "", NULL, routings[_i], &err, &t);
        if (status == SIM_EDATA) continue; /* a routing of tori on a full mesh */
        ck_assert_msg(status == SIM_OK, "%s", err.text);
        assert_free(t, routings[_i] != NULL ? routings[_i] : "default");
        topo_destroy(t);
    }
}
END_TEST

/* 0 to 5 faults, 200 seeds over specs and routings; a slice that falls apart is no case. */
START_TEST(faulty_ones_are_free)
{
    static const char *const routed[] = {NULL, "up-down", "valiant,seed=2", "fault-tolerant"};
    struct sim_error err = {0};
    char random[64];
    topo *t = NULL;
    snprintf(random, sizeof random, "links=%d,chips=%d,seed=%d", _i % 4, _i % 3, _i);
    if (topo_with(specs[_i % SPECS], "", random, routed[_i / SPECS % 4], &err, &t) != SIM_OK)
        return;
    assert_free(t, random);
    topo_destroy(t);
}
END_TEST

START_TEST(a_broken_routing_is_caught)
{
    /* on a ring of 4 every chip sends two hops the same way round, all on one channel */
    char path[] = "/tmp/podsim-routes-XXXXXX";
    int fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    FILE *out = fdopen(fd, "w");
    for (int c = 0; c < 4; c++)
        fprintf(out, "%d %d: %d %d %d\n", c, (c + 2) % 4, c, (c + 1) % 4, (c + 2) % 4);
    fclose(out);
    struct sim_error err = {0};
    struct topo_deadlock d;
    topo *t = NULL;
    ck_assert_msg(topo_with("ring:4", "", NULL, path, &err, &t) == SIM_OK, "%s", err.text);
    ck_assert_int_eq(topo_deadlock_check(t, &err, &d), SIM_OK);
    ck_assert(!d.is_free);
    ck_assert_uint_eq(d.cycle_length, 4);
    for (uint32_t i = 0; i < 4; i++) /* each link ends where the next begins */
        ck_assert_uint_eq(topo_link_to(t, d.link[i]), topo_link_from(t, d.link[(i + 1) % 4]));
    topo_deadlock_release(&d);
    topo_destroy(t);
    unlink(path);
}
END_TEST

START_TEST(bad_route_files_name_the_line)
{
    static const struct {
        const char *text, *says;
    } cases[] = {{"0 2: 0 3\n0 1: 0 9\n", "found \"9\""},
                 {"0\n", "want \"src dst"},
                 {"0 x: 1\n", "found \"x\""},
                 {"0 2: 2\n", "no link from 0 to 2"},
                 {"0 2: 0 1 3\n", "no link from 1 to 3"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char path[] = "/tmp/podsim-routes-XXXXXX";
        int fd = mkstemp(path);
        ck_assert_int_eq(write(fd, cases[i].text, strlen(cases[i].text)),
                         (ssize_t)strlen(cases[i].text));
        close(fd);
        struct sim_error err = {0};
        topo *t = NULL;
        ck_assert_int_eq(topo_with("ring:4", "", NULL, path, &err, &t), SIM_EDATA);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s", err.text);
        ck_assert_int_gt(err.line, 0);
        unlink(path);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_broken_routing_is_caught, bad_route_files_name_the_line};
    Suite *suite = SUITE_OF("topo_deadlock", tests);
    TCase *loops = tcase_create("routings");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, healthy_ones_are_free, 0, 6);
    tcase_add_loop_test(loops, faulty_ones_are_free, 0, 200);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
