/*
 * Forms from routed messages, against what a pencil says.
 *
 * Links of 10 GB/s one way and hops of 1 us: V bytes take 100 ps each.
 */
#include <math.h>

#include "collectives/choice.h"
#include "collectives/routed.h"
#include "tests/support.h"

#define BYTES 1e9
#define HOP   1e6 /* ps */
#define WIRE  100 /* ps a byte */

static struct coll_routed routed(const char *spec, const char *fail, const char *axes,
                                 enum coll_op op, enum coll_algorithm algorithm)
{
    struct sim_error err = {0};
    net_schedule *s;
    topo *t = topo_with_or_fail(spec, fail, NULL);
    struct coll_spec c = {.op = op, .algorithm = algorithm, .group = topo_group_all(t)};
    if (axes != NULL) c.group = group_or_fail(t, axes);
    c.bytes = BYTES;
    c.chunks = 1;
    ck_assert_msg(coll_build(t, &c, &err, &s) == SIM_OK, "%s", err.text);
    struct coll_routed r = coll_routed_make(s, BYTES);
    net_schedule_destroy(s);
    topo_destroy(t);
    return r;
}

static void is_line(struct coll_line line, double hops, double wires)
{
    ck_assert_msg(
        fabs(line.hops_ps - hops * HOP) < 1 && fabs(line.ps_per_byte - wires * WIRE) < 1e-6,
        "%g hops, %g wires; want %g, %g", line.hops_ps / HOP, line.ps_per_byte / WIRE, hops, wires);
}

START_TEST(one_chain)
{
    static const struct {
        const char *spec, *fail, *axes;
        enum coll_op op;
        enum coll_algorithm algorithm;
        double hops, wires;
    } cases[] = {
        /* three steps of a quarter each */
        {"torus:4,link=10GB/s,latency=1us", "", NULL, COLL_ALL_GATHER, COLL_RING, 3, 3 / 4.0},
        /* 0 > 1 goes by 3 and 2, where nobody else goes that way: it is in any three steps of the
           longest chain once, with three hops */
        {"torus:4,link=10GB/s,latency=1us", "link:0:+x", NULL, COLL_ALL_GATHER, COLL_RING, 5,
         3 / 4.0},
        /* 0 > 1 > 2: the middle of two ways, thirds of two messages over each link */
        {"mesh:3,link=10GB/s,latency=1us", "", NULL, COLL_ALL_TO_ALL, COLL_DIRECT, 2, 2 / 3.0},
        /* every second chip: halves, two hops a message, and the other group's on the same link */
        {"mesh:4,link=10GB/s,latency=1us", "", "x2@2", COLL_ALL_GATHER, COLL_RING, 2, 2 / 2.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct coll_routed r =
            routed(cases[i].spec, cases[i].fail, cases[i].axes, cases[i].op, cases[i].algorithm);
        is_line(coll_routed_at(&r, BYTES), cases[i].hops, cases[i].wires);
    }
}
END_TEST

/* Each level waits for its slowest: three times the three hops around the broken cable. */
START_TEST(levels_in_turn)
{
    struct coll_routed r =
        routed("torus:4,link=10GB/s,latency=1us", "link:0:+x", NULL, COLL_ALL_GATHER, COLL_RING);
    is_line(r.levels, 9, 3 / 4.0);
}
END_TEST

/* A pipeline over a line: one chunk more takes as long as one link takes for it. */
START_TEST(one_more_chunk)
{
    struct coll_routed r =
        routed("mesh:4,link=10GB/s,latency=1us", "", NULL, COLL_BROADCAST, COLL_CHAIN);
    is_line(coll_routed_at(&r, BYTES), 3, 3);
    ck_assert_double_eq_tol(r.chunk_ps_per_byte, WIRE, 1e-6);
}
END_TEST

/* On mesh:6, 0 sends 1 byte to 4, and 4 sends 100 to 5: small buffers wait for hops, large ones for
 * the wire. */
START_TEST(two_lines)
{
    struct net_op send = {.kind = NET_OP_SEND, .chunk = NET_NONE, .guard = NET_NONE, .bytes = 1},
                  receive = send;
    topo *t = topo_or_fail("mesh:6,link=10GB/s,latency=1us");
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t idle = net_schedule_add_program(s), first = net_schedule_add_program(s),
             middle = net_schedule_add_program(s), last = net_schedule_add_program(s);
    receive.kind = NET_OP_RECEIVE;
    send.peer = net_peer_chip(s, 4);
    receive.peer = net_peer_chip(s, 0);
    net_op_add(s, first, send);
    net_op_add(s, middle, receive);
    send.tag = receive.tag = 1;
    send.bytes = receive.bytes = 100;
    send.peer = net_peer_chip(s, 5);
    receive.peer = net_peer_chip(s, 4);
    net_op_add(s, middle, send);
    net_op_add(s, last, receive);
    net_schedule_set_roles(s, (uint32_t[]){first, idle, idle, idle, middle, last});
    net_schedule_seal(s);
    struct coll_routed r = coll_routed_make(s, 100); /* bytes by those of a buffer of 100 */
    is_line(coll_routed_at(&r, 1), 4, 1 / 100.0);
    is_line(coll_routed_at(&r, 1e9), 1, 1);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* Of two messages over one link at once the smaller, 1 byte of 100, is there after 2, when the
 * larger of 30 has as much; then 1 sends 60 on to 2. The chain over the larger is 31 and ends. */
START_TEST(a_small_message_does_not_wait_for_a_large_one)
{
    struct net_op send = {.kind = NET_OP_SEND, .chunk = NET_NONE, .guard = NET_NONE}, receive;
    topo *t = topo_or_fail("mesh:3,link=10GB/s,latency=1us");
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t first = net_schedule_add_program(s), middle = net_schedule_add_program(s),
             last = net_schedule_add_program(s);
    static const double bytes[] = {30, 1, 60};
    net_op_id small = NET_NONE;
    for (uint32_t i = 0; i < 3; i++) {
        send.tag = i;
        send.bytes = bytes[i];
        receive = send;
        receive.kind = NET_OP_RECEIVE;
        send.peer = net_peer_chip(s, i < 2 ? 1 : 2);
        receive.peer = net_peer_chip(s, i < 2 ? 0 : 1);
        net_op_id sent = net_op_add(s, i < 2 ? first : middle, send);
        net_op_id received = net_op_add(s, i < 2 ? middle : last, receive);
        if (i == 1) small = received;
        if (i == 2) net_op_after(s, middle, sent, small);
    }
    net_schedule_set_roles(s, (uint32_t[]){first, middle, last});
    net_schedule_seal(s);
    struct coll_routed r = coll_routed_make(s, 100);
    is_line(coll_routed_at(&r, 1e9), 2, (2 + 60) / 100.0);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* What is asked for once and what is asked for over sizes is the same. */
START_TEST(forms_over_sizes)
{
    topo *t = topo_with_or_fail("torus:4x4", "chip:1,1", NULL);
    struct coll_spec c = {.op = COLL_ALL_REDUCE, .group = topo_group_all(t)};
    coll_forms *forms = coll_forms_create(t, &c);
    for (c.bytes = 1024; c.bytes < 1e9; c.bytes *= 32)
        for (int a = 0; a < COLL_ALGORITHMS; a++) {
            c.algorithm = (enum coll_algorithm)a;
            if (!coll_can(t, &c)) continue;
            ck_assert_int_eq(coll_forms_cost(forms, c.algorithm, c.bytes).time_ps,
                             coll_closed_form(t, &c).time_ps);
        }
    coll_forms_destroy(forms);
    topo_destroy(t);
}
END_TEST

/* Messages times the four spines between two leaves: all pairs of 16; 30 steps of 16. */
START_TEST(flows_of_a_fabric)
{
    topo *t = topo_or_fail("clos:4x4");
    struct coll_spec c = {.op = COLL_ALL_TO_ALL,
                          .algorithm = COLL_DIRECT,
                          .group = topo_group_all(t),
                          .bytes = BYTES};
    ck_assert_double_eq(coll_flows(t, &c), 16 * 15 * 4);
    c.op = COLL_ALL_REDUCE;
    c.algorithm = COLL_RING;
    ck_assert_double_eq(coll_flows(t, &c), 30 * 16 * 4);
    topo_destroy(t);
    t = topo_or_fail("torus:4x4");
    c.group = topo_group_all(t);
    ck_assert_double_eq(coll_flows(t, &c), 0); /* not counted */
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {one_chain,
                                  levels_in_turn,
                                  one_more_chunk,
                                  two_lines,
                                  forms_over_sizes,
                                  flows_of_a_fabric,
                                  a_small_message_does_not_wait_for_a_large_one};
    return run_suite(SUITE_OF("coll_routed", tests));
}
