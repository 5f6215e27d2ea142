/**
 * Short ways to make things in tests; each fails the test with the message when it cannot.
 */
#ifndef PODSIM_TESTS_SUPPORT_H
#define PODSIM_TESTS_SUPPORT_H

#include <check.h>

#include "tests/unit/check_main.h"
#include "topo/fault.h"
#include "topo/group.h"
#include "topo/topo.h"

/** One of each kind without ports, for lists of specs. */
#define SMALL_FABRICS                                                                              \
    "hypercube:3", "switch:5", "fat-tree:4", "clos:3x4,spines=2", "dragonfly:2",                   \
        "hyperx:2x3,chips=2", "rail:3x2,domain=450GB/s,rail=50GB/s", "ring:3*switch:4",            \
        "torus:2x2*2,dcn=6GB/s"

static inline topo *topo_or_fail(const char *spec)
{
    static const struct topo_options none = TOPO_OPTIONS_DEFAULT;
    struct sim_error err = {0};
    topo *t = NULL;
    ck_assert_msg(topo_create(spec, &none, &err, &t) == SIM_OK, "%s: %s", spec, err.text);
    return t;
}

/** With faults (`fail` "": none, `random` NULL: none) and routing (NULL: the default). */
static inline enum sim_status topo_with(const char *spec, const char *fail, const char *random,
                                        const char *routing, struct sim_error *err, topo **t)
{
    struct topo_options options = TOPO_OPTIONS_DEFAULT;
    options.fail_random = random;
    options.routing = routing;
    enum sim_status status = topo_options_fail(&options, fail, err);
    return status == SIM_OK ? topo_create(spec, &options, err, t) : status;
}

static inline topo *topo_with_or_fail(const char *spec, const char *fail, const char *routing)
{
    struct sim_error err = {0};
    topo *t = NULL;
    ck_assert_msg(topo_with(spec, fail, NULL, routing, &err, &t) == SIM_OK, "%s %s: %s", spec, fail,
                  err.text);
    return t;
}

static inline struct topo_group group_or_fail(const topo *t, const char *axes)
{
    struct sim_error err = {0};
    struct topo_group group = {0};
    ck_assert_msg(topo_group_parse(t, axes, &err, &group) == SIM_OK, "%s: %s", axes, err.text);
    return group;
}

/** One test case with the given functions, as a suite. */
static inline Suite *suite_of(const char *name, const TTest *const *tests, int count)
{
    Suite *suite = suite_create(name);
    TCase *tcase = tcase_create(name);
    tcase_set_timeout(tcase, 120);
    for (int i = 0; i < count; i++)
        tcase_add_test(tcase, tests[i]);
    suite_add_tcase(suite, tcase);
    return suite;
}
#define SUITE_OF(name, tests) suite_of((name), (tests), (int)(sizeof(tests) / sizeof(tests)[0]))

#endif
