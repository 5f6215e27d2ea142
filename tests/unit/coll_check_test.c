/* The checker passes every algorithm on shapes of all kinds, and catches what was done to a correct ring. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/check.h"
#include "tests/check_all.h"
#include "tests/support.h"

START_TEST(more_dimensions)
{
    static const char *const cases[][3] = {{"torus:4x4", "xy", ""},
                                           {"torus:4x4", "yx", ""},
                                           {"full:33", "", ""},
                                           {"full:64", "", ""},
                                           {"full:7", "", ""},
                                           {"torus:3x5", "xy", ""},
                                           {"mesh:3x3", "xy", ""},
                                           {"rail:3x4,domain=450GB/s,rail=50GB/s", "", ""},
                                           {"dgx-h100:2", "yx", ""},
                                           {"clos:5x3", "", ""},
                                           {"mesh:2x5", "xy", ""},
                                           {"torus:4x4x4", "xyz", ""},
                                           {"torus:2x3x4", "xyz", ""},
                                           {"mesh:3x3x3", "xyz", ""},
                                           {"v6e:4x8", "xy", ""},
                                           {"torus:8x2", "xy", ""},
                                           {"torus:2x2x2", "xyz", ""},
                                           {"torus:4x6x2", "y", ""},
                                           {"torus:4x6x2", "xz", ""},
                                           {"v6e:8x16", "y", ""},
                                           {"torus:16", "x4", ""},
                                           {"torus:16", "x4@4", ""},
                                           {"torus:16x4", "x2y2", ""},
                                           {"torus:8x8", "x4y2@4", ""},
                                           {"torus:8", "x2x2@4", ""},
                                           {"torus:1x7", "xy", ""},
                                           {"torus:1x1x1", "xyz", ""},
                                           {"mesh:1x4x3", "zy", ""},
                                           {"torus:2x3x2x3", "xyzw", ""},
                                           {"v5p:2x2x4", "xyz", ""},
                                           {"torus:5x7", "", ""},
                                           {"mesh:7x5", "", ""},
                                           {"torus:3x4x5", "", ""},
                                           {"torus:4x4", "", "chip:1,2"},
                                           {"mesh:4x4", "", "chip:0,0"},
                                           {"torus:3x5", "", "link:1,1:+y"},
                                           {"mesh:4x5", "", "link:1,1:+y"},
                                           {"torus:2x3x4", "", "chip:1,1,1"},
                                           {"torus:4x4x2", "", "link:0,0,0:+z"},
                                           {"v5p:4x4x4*2", "xw", ""},
                                           {"v6e:2x2*3,dcn=1GB/s", "", ""},
                                           {"torus:4x3*2,dcn=1GB/s", "", ""},
                                           {"mesh:3x2*2,dcn=1GB/s", "xyz", ""},
                                           {"fat-tree:4", "", ""},
                                           {"hypercube:4", "", ""},
                                           {"dragonfly:3", "", ""}};
    topo *t = topo_with_or_fail(cases[_i][0], cases[_i][2], NULL);
    check_all(t, cases[_i][1]);
    topo_destroy(t);
}
END_TEST
#define MORE_CASES 46

/* ---- sabotage: a ring all-gather or reduce-scatter over 4 chips with one thing changed ---- */

enum sabotage { NOTHING, DROP, DOUBLE, MISROUTE, WRONG_CHUNK, MISLABEL, SHORT, EMPTY, UNORDERED };

static net_schedule *ring_of_four(const topo *t, enum coll_op op, enum sabotage what)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    net_schedule_add_program(s);
    bool is_reduce = op == COLL_REDUCE_SCATTER;
    uint32_t next = net_peer_hops(s, (int32_t[TOPO_AXES_MAX]){1}),
             previous = net_peer_hops(s, (int32_t[TOPO_AXES_MAX]){-1});
    uint32_t across = net_peer_hops(s, (int32_t[TOPO_AXES_MAX]){2});
    net_op_id received = NET_NONE;
    int steps = what == DROP ? 2 : 3;
    for (int i = 0; i < steps; i++) {
        int shard = what == DOUBLE && i == 2        ? 1
                    : what == WRONG_CHUNK && i == 1 ? 2
                                                    : i; /* steps back */
        struct net_chunk chunk = {.part_count = 1, .digit = {-shard - is_reduce}};
        struct net_op send = {.kind = NET_OP_SEND,
                              .peer = what == MISROUTE && i == 1 ? across : next,
                              .tag = (uint32_t)i,
                              .guard = NET_NONE,
                              .bytes = 1,
                              .chunk = net_chunk_add(s, chunk)};
        struct net_op receive = send;
        if (what == MISLABEL && i == 1) { /* the sender ships what the receiver does not expect */
            struct net_chunk other = {.part_count = 1, .digit = {chunk.digit[0] + 1}};
            send.chunk = net_chunk_add(s, other);
        }
        if (what == SHORT && i == 1) send.bytes /= 2;
        if (what == EMPTY) send.bytes = 0;
        receive.kind = is_reduce ? NET_OP_REDUCE : NET_OP_RECEIVE;
        receive.peer = previous;
        chunk.digit[0] -= 1;
        receive.chunk = net_chunk_add(s, chunk);
        net_op_id id = net_op_add(s, 0, send);
        if (what != UNORDERED) net_op_after(s, 0, id, received);
        received = net_op_add(s, 0, receive);
    }
    net_schedule_seal(s);
    return s;
}

static enum sim_status verdict(enum coll_op op, enum sabotage what)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:4");
    net_schedule *s = ring_of_four(t, op, what);
    enum sim_status status = coll_check(s, &(struct coll_spec){.op = op, .bytes = 4}, &err);
    if (status != SIM_OK) ck_assert_uint_gt(strlen(err.text), 0);
    net_schedule_destroy(s);
    topo_destroy(t);
    return status;
}

START_TEST(sabotage_is_caught)
{
    static const enum coll_op ops[] = {COLL_ALL_GATHER, COLL_REDUCE_SCATTER};
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(verdict(ops[i], NOTHING), SIM_OK);
        ck_assert_int_eq(verdict(ops[i], DROP), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], DOUBLE), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], MISROUTE), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], WRONG_CHUNK), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], MISLABEL), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], SHORT), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], EMPTY), SIM_EDATA);
        ck_assert_int_eq(verdict(ops[i], UNORDERED),
                         SIM_EDATA); /* a send that does not wait for what it passes on */
    }
}
END_TEST

START_TEST(a_correct_schedule_of_another_operation_is_refused)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:4");
    net_schedule *s = ring_of_four(t, COLL_REDUCE_SCATTER, NOTHING);
    ck_assert_int_eq(coll_check(s, &(struct coll_spec){.op = COLL_ALL_REDUCE, .bytes = 4}, &err),
                     SIM_EDATA);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {sabotage_is_caught,
                                  a_correct_schedule_of_another_operation_is_refused};
    Suite *suite = SUITE_OF("coll_check", tests);
    TCase *sweep = tcase_create("sweep");
    tcase_set_timeout(sweep, 120);
    tcase_add_loop_test(sweep, more_dimensions, 0, MORE_CASES);
    suite_add_tcase(suite, sweep);
    return run_suite(suite);
}
