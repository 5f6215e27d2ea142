/**
 * Running one collective on an idle network; fails the test when it cannot, or beats its bound.
 */
#ifndef PODSIM_TESTS_ANALYTIC_RUN_H
#define PODSIM_TESTS_ANALYTIC_RUN_H

#include "collectives/check.h"
#include "collectives/cost.h"
#include "netsim/run.h"
#include "tests/support.h"

static inline double run_us(const topo *t, const struct coll_spec *spec)
{
    static const struct net_options idle = {0};
    struct sim_error err = {0};
    struct net_result result;
    net_schedule *s;
    ck_assert_msg(coll_build(t, spec, &err, &s) == SIM_OK, "%s", err.text);
    ck_assert_msg(net_run(s, &idle, NULL, &err, &result, NULL, NULL) == SIM_OK, "%s", err.text);
    net_schedule_destroy(s);
    double bound_us = sim_ps_to_us(coll_lower_bound(t, spec).time_ps),
           us = sim_ps_to_us(result.time_ps);
    ck_assert_msg(bound_us <= us, "%s %s %s %g B: bound %.6f us, run %.6f", topo_spec(t),
                  coll_op_names[spec->op], coll_algorithm_names[spec->algorithm], spec->bytes,
                  bound_us, us);
    return us;
}

/** The same, of a schedule that delivers what it should. */
static inline double checked_us(const topo *t, const struct coll_spec *spec)
{
    struct sim_error err = {0};
    net_schedule *s;
    ck_assert_msg(coll_build(t, spec, &err, &s) == SIM_OK, "%s", err.text);
    if (spec->op != COLL_PERMUTE && spec->op != COLL_SEND)
        ck_assert_msg(coll_check(s, spec, &err) == SIM_OK, "%s", err.text);
    net_schedule_destroy(s);
    return run_us(t, spec);
}

/** run_us() from texts. */
static inline double time_us(const char *spec, const char *axes, enum coll_op op,
                             enum coll_algorithm algorithm, double bytes)
{
    topo *t = topo_or_fail(spec);
    struct coll_spec c = {
        .op = op, .algorithm = algorithm, .group = group_or_fail(t, axes), .bytes = bytes};
    double us = run_us(t, &c);
    topo_destroy(t);
    return us;
}

#endif
