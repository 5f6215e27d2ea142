/* Small schedules whose times are sums of a few terms. Links are 45 GB/s and 1 us unless the spec
 * says otherwise. */
#include <math.h>
#include <string.h>

#include "netsim/run.h"
#include "tests/support.h"

static const struct net_options free_of_charge = {0};

static struct net_result run_or_fail(net_schedule *s, const struct net_options *options)
{
    struct sim_error err = {0};
    struct net_result result;
    ck_assert_msg(net_run(s, options, NULL, &err, &result, NULL, NULL) == SIM_OK, "%s", err.text);
    return result;
}

static struct net_op op(enum net_op_kind kind)
{
    return (struct net_op){.kind = kind, .guard = NET_NONE, .chunk = NET_NONE};
}

/* Every chip sends `bytes` to its + neighbour along x and gets as much. */
static net_schedule *shift(const topo *t, double bytes)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t p = net_schedule_add_program(s);
    struct net_op send = op(NET_OP_SEND), receive = op(NET_OP_RECEIVE);
    send.bytes = bytes;
    send.peer = net_peer_hops(s, (int32_t[TOPO_AXES_MAX]){1});
    receive.peer = net_peer_hops(s, (int32_t[TOPO_AXES_MAX]){-1});
    net_op_add(s, p, send);
    net_op_add(s, p, receive);
    net_schedule_seal(s);
    return s;
}

START_TEST(a_message_takes_bytes_over_rate_plus_latency)
{
    topo *t = topo_or_fail("ring:4,link=1GB/s");
    net_schedule *s = shift(t, 1e9);
    struct net_result r = run_or_fail(s, &free_of_charge);
    ck_assert_int_eq(r.time_ps, SIM_PS_PER_S + SIM_PS_PER_US); /* alone on 1 GB/s, 1 GB takes 1 s */
    ck_assert_int_eq(r.latency_ps, SIM_PS_PER_US);
    struct net_options costs = {.entry_overhead_ps = 7, .send_overhead_ps = 11};
    r = run_or_fail(s, &costs);
    ck_assert_int_eq(r.time_ps, SIM_PS_PER_S + SIM_PS_PER_US + 18);
    ck_assert_int_eq(r.overhead_ps, 18);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

START_TEST(nothing_takes_the_latency_alone)
{
    topo *t = topo_or_fail("ring:4");
    net_schedule *s = shift(t, 0);
    ck_assert_int_eq(run_or_fail(s, &free_of_charge).time_ps, SIM_PS_PER_US);
    net_schedule_destroy(s);
    s = shift(t, 1e-3); /* less than a picosecond still takes one */
    ck_assert_int_eq(run_or_fail(s, &free_of_charge).time_ps, SIM_PS_PER_US + 1);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* `count` chips send `bytes` each to chip 0; the result is when the last arrives. */
static sim_ps incast(const char *spec, uint32_t count, double bytes)
{
    topo *t = topo_or_fail(spec);
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t role[64] = {0};
    for (uint32_t c = 0; c < topo_chips(t); c++)
        role[c] = net_schedule_add_program(s);
    for (uint32_t c = 1; c <= count; c++) {
        struct net_op send = op(NET_OP_SEND), receive = op(NET_OP_RECEIVE);
        send.bytes = bytes;
        send.tag = receive.tag = c - 1;
        send.peer = net_peer_chip(s, 0);
        receive.peer = net_peer_chip(s, c);
        net_op_add(s, role[c], send);
        net_op_add(s, role[0], receive);
    }
    net_schedule_set_roles(s, role);
    net_schedule_seal(s);
    sim_ps time = run_or_fail(s, &free_of_charge).time_ps;
    net_schedule_destroy(s);
    topo_destroy(t);
    return time;
}

START_TEST(fan_in_is_not_free)
{
    /* Eight senders, a link each: 1 MiB / 45 GB/s + 1 us = 24.302 us. */
    ck_assert_int_eq(incast("full:9", 8, 1048576), 24301689);
    /* On a line of 4 all three cross the link 1 -> 0: 3 MiB / 45 GB/s, and the last to arrive came
     * 3 hops. */
    ck_assert_int_eq(incast("mesh:4", 3, 1048576),
                     llrint(3 * 1048576 / 45e9 * 1e12) + 3 * SIM_PS_PER_US);
}
END_TEST

START_TEST(rates_change_when_flows_come_and_go)
{
    /* On one 1 GB/s link: A of 3 GB starts at 0, B of 1 GB after 1 s of compute. A has 2 GB left
     * when B comes; they share until B is done at 3 s (A has 1 GB left), A ends at 4 s. */
    topo *t = topo_or_fail("mesh:2,link=1GB/s,latency=0");
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t sender = net_schedule_add_program(s), receiver = net_schedule_add_program(s);
    struct net_op compute = op(NET_OP_COMPUTE), send = op(NET_OP_SEND),
                  receive = op(NET_OP_RECEIVE);
    compute.duration_ps = SIM_PS_PER_S;
    net_op_id wait = net_op_add(s, sender, compute);
    send.peer = net_peer_chip(s, 1);
    receive.peer = net_peer_chip(s, 0);
    send.bytes = 3e9;
    net_op_add(s, sender, send);
    net_op_add(s, receiver, receive);
    send.bytes = 1e9;
    send.tag = receive.tag = 1;
    net_op_after(s, sender, net_op_add(s, sender, send), wait);
    net_op_add(s, receiver, receive);
    net_schedule_set_roles(s, (uint32_t[]){sender, receiver});
    net_schedule_seal(s);
    struct net_link_stats stats;
    struct sim_error err = {0};
    struct net_result r;
    net_link_stats_init(&stats, t);
    ck_assert_int_eq(net_run(s, &free_of_charge, NULL, &err, &r, &stats, NULL), SIM_OK);
    ck_assert_int_eq(r.time_ps, 4 * SIM_PS_PER_S);
    topo_link_id link = topo_port_link(t, 0, 0);
    ck_assert_double_eq(stats.bytes[link], 4e9);
    ck_assert_int_eq(stats.busy_ps[link], 4 * SIM_PS_PER_S);
    ck_assert_double_eq(net_link_utilisation(&stats, t, link, r.time_ps), 1);
    net_link_stats_release(&stats);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

START_TEST(calls_run_whole_schedules)
{
    /* Compute 10 us, call a shift (1 us + 45 kB / 45 GB/s = 2 us) twice with a 3 us launch: 10 + 2
     * (3 + 2) us. */
    topo *t = topo_or_fail("ring:4");
    net_schedule *callee = shift(t, 45e3);
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t p = net_schedule_add_program(s);
    struct net_op compute = op(NET_OP_COMPUTE), call = op(NET_OP_CALL);
    compute.duration_ps = 10 * SIM_PS_PER_US;
    call.callee = callee;
    net_op_id first = net_op_add(s, p, compute), second = net_op_add(s, p, call);
    call.call_id = 1;
    net_op_id third = net_op_add(s, p, call);
    net_op_after(s, p, second, first);
    net_op_after(s, p, third, second);
    net_schedule_seal(s);
    struct net_options costs = {.launch_overhead_ps = 3 * SIM_PS_PER_US};
    struct net_result r = run_or_fail(s, &costs);
    ck_assert_int_eq(r.time_ps, 20 * SIM_PS_PER_US);
    ck_assert_int_eq(r.compute_ps, 10 * SIM_PS_PER_US);
    ck_assert_int_eq(r.latency_ps, 2 * SIM_PS_PER_US);
    ck_assert_int_eq(r.overhead_ps, 6 * SIM_PS_PER_US);
    net_schedule_destroy(s);
    net_schedule_destroy(callee);
    topo_destroy(t);
}
END_TEST

static void stalls(net_schedule *s, const char *wanted)
{
    struct sim_error err = {0};
    struct net_result r;
    ck_assert_int_eq(net_run(s, &free_of_charge, NULL, &err, &r, NULL, NULL), SIM_EDATA);
    ck_assert_str_eq(err.text, wanted);
}

START_TEST(a_schedule_that_cannot_finish_says_who_waits_for_whom)
{
    topo *t = topo_or_fail("mesh:2");
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t idle = net_schedule_add_program(s), waits = net_schedule_add_program(s);
    struct net_op receive = op(NET_OP_RECEIVE);
    receive.peer = net_peer_chip(s, 0);
    net_op_add(s, waits, receive);
    net_schedule_set_roles(s, (uint32_t[]){idle, waits});
    net_schedule_seal(s);
    stalls(s, "the schedule stalls: chip 1 waits for message 0 from chip 0, which never sends it");
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* Everybody sends backwards what came from the next, so nobody begins. */
static net_schedule *pass_back(const topo *t)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t p = net_schedule_add_program(s);
    struct net_op receive = op(NET_OP_RECEIVE), send = op(NET_OP_SEND);
    receive.peer = net_peer_hops(s, (const int32_t[TOPO_AXES_MAX]){1});
    send.peer = net_peer_hops(s, (const int32_t[TOPO_AXES_MAX]){-1});
    send.bytes = 1e3;
    net_op_id first = net_op_add(s, p, receive);
    net_op_after(s, p, net_op_add(s, p, send), first);
    net_schedule_seal(s);
    return s;
}

START_TEST(a_circle_of_waits_is_named)
{
    topo *t = topo_or_fail("ring:3"), *larger = topo_or_fail("ring:6");
    net_schedule *s = pass_back(t);
    stalls(s, "the schedule stalls: chip 0 waits for message 0 from chip 1, which waits for "
              "message 0 from chip 2, which waits for message 0 from chip 0");
    net_schedule_destroy(s);
    s = pass_back(larger);
    stalls(s, "the schedule stalls: chip 0 waits for message 0 from chip 1, which waits for "
              "message 0 from chip 2, which waits for message 0 from chip 3");
    net_schedule_destroy(s);
    topo_destroy(larger);
    topo_destroy(t);
}
END_TEST

START_TEST(calls_in_different_orders_stall)
{
    /* Two exchanges; chip 0 enters the second when it is through the first, chip 1 the other way
     * round. */
    topo *t = topo_or_fail("ring:2");
    net_schedule *callee = shift(t, 1e3);
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t p = net_schedule_add_program(s);
        struct net_op call = op(NET_OP_CALL);
        call.callee = callee;
        call.call_id = i;
        net_op_id first = net_op_add(s, p, call);
        call.call_id = 1 - i;
        net_op_after(s, p, net_op_add(s, p, call), first);
    }
    net_schedule_set_roles(s, (uint32_t[]){0, 1});
    net_schedule_seal(s);
    stalls(s, "the schedule stalls: chip 0 waits for message 0 from chip 1, which waits for "
              "message 0 from chip 0");
    net_schedule_destroy(s);
    net_schedule_destroy(callee);
    topo_destroy(t);
}
END_TEST

START_TEST(time_past_the_end_is_refused)
{
    topo *t = topo_or_fail("ring:4,link=1B/s");
    net_schedule *s = shift(t, 1e10); /* 317 years */
    struct sim_error err = {0};
    struct net_result r;
    ck_assert_int_eq(net_run(s, &free_of_charge, NULL, &err, &r, NULL, NULL), SIM_EDATA);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_message_takes_bytes_over_rate_plus_latency,
                                  nothing_takes_the_latency_alone,
                                  fan_in_is_not_free,
                                  rates_change_when_flows_come_and_go,
                                  calls_run_whole_schedules,
                                  a_schedule_that_cannot_finish_says_who_waits_for_whom,
                                  a_circle_of_waits_is_named,
                                  calls_in_different_orders_stall,
                                  time_past_the_end_is_refused};
    return run_suite(SUITE_OF("net_run", tests));
}
