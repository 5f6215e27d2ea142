/**
 * Every algorithm of every operation through the symbolic checker.
 */
#ifndef PODSIM_TESTS_CHECK_ALL_H
#define PODSIM_TESTS_CHECK_ALL_H

#include "collectives/check.h"
#include "tests/support.h"

/** Over `axes` ("": all chips). Each operation must have an algorithm. */
static inline void check_all(const topo *t, const char *axes)
{
    struct coll_spec c = {.group = topo_group_all(t), .bytes = 1000};
    if (axes[0] != 0) c.group = group_or_fail(t, axes);
    c.root = c.group.size * 2 / 3; /* seldom special */
    for (int op = 0; op < COLL_PERMUTE; op++) {
        int able = 0;
        for (int algorithm = 0; algorithm < COLL_ALGORITHMS; algorithm++) {
            struct sim_error err = {0};
            net_schedule *s;
            c.op = (enum coll_op)op;
            c.algorithm = (enum coll_algorithm)algorithm;
            if (!coll_can(t, &c)) continue;
            able++;
            ck_assert_msg(coll_build(t, &c, &err, &s) == SIM_OK, "%s %s: %s", topo_spec(t), axes,
                          err.text);
            ck_assert_msg(coll_check(s, &c, &err) == SIM_OK, "%s %s %s %s: %s", topo_spec(t), axes,
                          coll_op_names[op], coll_algorithm_names[algorithm], err.text);
            net_schedule_destroy(s);
        }
        ck_assert_msg(able > 0, "%s %s: nothing does %s", topo_spec(t), axes, coll_op_names[op]);
    }
}

#endif
