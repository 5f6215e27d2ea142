/*
 * The event loop does not allocate: once its arrays are as large as they will be, a run of twice the
 * events asks for memory no more often. The linker sends the calls of base's allocators here
 * (--wrap), which count them and go on.
 */
#include <stdlib.h>

#include "base/arena.h"
#include "collectives/coll.h"
#include "netsim/run.h"
#include "tests/support.h"

static uint64_t allocations;

void *__real_sim_alloc(size_t count, size_t element_bytes, const char *what);
void *__real_sim_realloc(void *old, size_t count, size_t element_bytes, const char *what);
void *__wrap_sim_alloc(size_t count, size_t element_bytes, const char *what);
void *__wrap_sim_realloc(void *old, size_t count, size_t element_bytes, const char *what);

void *__wrap_sim_alloc(size_t count, size_t element_bytes, const char *what)
{
    allocations++;
    return __real_sim_alloc(count, element_bytes, what);
}

void *__wrap_sim_realloc(void *old, size_t count, size_t element_bytes, const char *what)
{
    allocations++;
    return __real_sim_realloc(old, count, element_bytes, what);
}

static const struct {
    const char *spec, *fail, *routing;
    enum coll_op op;
    enum coll_algorithm algorithm;
} cases[] = {
    {"torus:4x4", "", NULL, COLL_ALL_REDUCE, COLL_BUCKET},
    {"torus:4x4", "", NULL, COLL_ALL_TO_ALL, COLL_DIRECT},
    {"torus:4x4", "link:0,0:+x", NULL, COLL_ALL_REDUCE, COLL_BUCKET},
    {"torus:4x4", "chip:1,2", NULL, COLL_ALL_REDUCE, COLL_DOUBLE_TREE},
    {"torus:4x8,twisted", "", NULL, COLL_ALL_TO_ALL, COLL_DIRECT},
    {"torus:4x4", "", "valiant", COLL_ALL_TO_ALL, COLL_DIRECT},
    {"mesh:3x4", "", NULL, COLL_ALL_GATHER, COLL_BUCKET},
    {"switch:8", "", NULL, COLL_ALL_REDUCE, COLL_DOUBLE_TREE},
    {"fat-tree:4", "", NULL, COLL_ALL_TO_ALL, COLL_DIRECT},
    {"dragonfly:2", "", NULL, COLL_ALL_REDUCE, COLL_HALVING_DOUBLING},
    {"v5p:4x4x4*2", "", NULL, COLL_ALL_REDUCE, COLL_HIERARCHICAL},
};

/* A collective `times` times, half of them two at a time. */
static net_schedule *repeat(const topo *t, const net_schedule *callee, uint32_t times)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    net_op_id last[2] = {NET_NONE, NET_NONE};
    net_schedule_add_program(s);
    for (uint32_t i = 0; i < times; i++) {
        struct net_op call = {.kind = NET_OP_CALL,
                              .guard = NET_NONE,
                              .chunk = NET_NONE,
                              .callee = callee,
                              .call_id = i};
        net_op_id id = net_op_add(s, 0, call);
        net_op_after(s, 0, id, last[i % 2]);
        if (i % 4 == 0) net_op_after(s, 0, id, last[1 - i % 2]);
        last[i % 2] = id;
    }
    net_schedule_seal(s);
    return s;
}

struct count {
    uint64_t allocations, events;
};

static struct count run(const topo *t, const net_schedule *callee, uint32_t times,
                        bool is_unreduced)
{
    net_schedule *s = repeat(t, callee, times);
    const struct net_options options = {.launch_overhead_ps = 5000, .is_unreduced = is_unreduced};
    struct net_result result;
    struct net_run_stats stats;
    struct sim_error err = {0};
    uint64_t before = allocations;
    ck_assert_msg(net_run(s, &options, NULL, &err, &result, NULL, &stats) == SIM_OK, "%s",
                  err.text);
    struct count count = {allocations - before, stats.events};
    net_schedule_destroy(s);
    return count;
}

static void hold_case(int i, bool is_unreduced)
{
    topo *t = topo_with_or_fail(cases[i].spec, cases[i].fail, cases[i].routing);
    struct coll_spec c = {.op = cases[i].op,
                          .algorithm = cases[i].algorithm,
                          .group = topo_group_all(t),
                          .bytes = 1e6};
    struct sim_error err = {0};
    net_schedule *s;
    ck_assert_msg(coll_build(t, &c, &err, &s) == SIM_OK, "%s: %s", cases[i].spec, err.text);
    struct count few = run(t, s, 32, is_unreduced), many = run(t, s, 64, is_unreduced);
    ck_assert_uint_ge(many.events, 19 * few.events / 10);
    ck_assert_msg(many.allocations <= few.allocations,
                  "%s %s %s: %llu allocations in %llu events, %llu in %llu", cases[i].spec,
                  cases[i].fail, coll_algorithm_names[c.algorithm],
                  (unsigned long long)few.allocations, (unsigned long long)few.events,
                  (unsigned long long)many.allocations, (unsigned long long)many.events);
    net_schedule_destroy(s);
    topo_destroy(t);
}

START_TEST(twice_the_events_take_no_more_allocations)
{
    hold_case(_i, false);
    hold_case(_i, true);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_allocations");
    TCase *loops = tcase_create("cases");
    tcase_add_loop_test(loops, twice_the_events_take_no_more_allocations, 0,
                        (int)(sizeof cases / sizeof cases[0]));
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
