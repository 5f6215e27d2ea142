/**
 * Random collectives that run at once, and chips that start them at random times of their own.
 */
#ifndef PODSIM_TESTS_AT_ONCE_H
#define PODSIM_TESTS_AT_ONCE_H

#include "base/arena.h"
#include "base/rng.h"
#include "collectives/choice.h"
#include "netsim/schedule.h"
#include "tests/support.h"

#define AT_ONCE_MAX 3

struct at_once {
    net_schedule *root;
    net_schedule *callee[AT_ONCE_MAX];
    uint32_t calls;
};

static inline uint32_t pick(struct sim_rng *rng, uint32_t count)
{
    return (uint32_t)sim_rng_below(rng, count);
}

static inline net_schedule *at_once_collective(struct sim_rng *rng, const topo *t, uint32_t bytes)
{
    struct coll_spec spec = {.group = topo_group_all(t)};
    struct sim_error err = {0};
    net_schedule *s;
    for (int tries = 0; tries < 1000; tries++) {
        spec.op = (enum coll_op)pick(rng, COLL_PERMUTE);
        spec.algorithm = (enum coll_algorithm)pick(rng, COLL_ALGORITHMS);
        spec.bytes = 1 + pick(rng, pick(rng, 2) == 0 ? bytes : bytes / 10);
        if (spec.op == COLL_ALL_TO_ALL) spec.bytes /= 8;
        if (coll_algorithm_fits(spec.op, spec.algorithm) && coll_can(t, &spec) &&
            coll_build(t, &spec, &err, &s) == SIM_OK)
            return s;
    }
    ck_abort_msg("nothing runs on %s", topo_spec(t));
}

static inline net_op_id at_once_wait(net_schedule *s, uint32_t program, sim_ps wait)
{
    struct net_op op = {
        .kind = NET_OP_COMPUTE, .guard = NET_NONE, .chunk = NET_NONE, .duration_ps = wait};
    return net_op_add(s, program, op);
}

/* Every chip calls all, each after a wait of its own. */
static inline net_schedule *at_once_root(struct sim_rng *rng, const topo *t,
                                         net_schedule *const *callee, uint32_t calls)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t *role = SIM_NEW(uint32_t, all.size);
    static const sim_ps spreads[] = {0, 0, 2000000, 50000000, 500000000};
    sim_ps spread = spreads[pick(rng, sizeof spreads / sizeof spreads[0])];
    for (uint32_t i = 0; i < all.size; i++) {
        role[i] = net_schedule_add_program(s);
        for (uint32_t c = 0; c < calls; c++) {
            net_op_id wait = at_once_wait(s, i, (sim_ps)sim_rng_below(rng, (uint64_t)spread + 1));
            struct net_op op = {.kind = NET_OP_CALL,
                                .guard = NET_NONE,
                                .chunk = NET_NONE,
                                .callee = callee[c],
                                .call_id = c};
            net_op_after(s, i, net_op_add(s, i, op), wait);
        }
    }
    net_schedule_set_roles(s, role);
    net_schedule_seal(s);
    sim_free(role);
    return s;
}

/* Of up to `bytes` each. */
static inline void at_once_init(struct at_once *a, struct sim_rng *rng, const topo *t,
                                uint32_t calls, uint32_t bytes)
{
    a->calls = calls;
    for (uint32_t i = 0; i < calls; i++)
        a->callee[i] = at_once_collective(rng, t, bytes);
    a->root = at_once_root(rng, t, a->callee, calls);
}

static inline void at_once_release(struct at_once *a)
{
    net_schedule_destroy(a->root);
    for (uint32_t i = 0; i < a->calls; i++)
        net_schedule_destroy(a->callee[i]);
}

#endif
