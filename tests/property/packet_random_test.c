/*
 * Random collectives in the packet engine on random topologies, routers and faults. Whatever the
 * windows: the same time and the same busy time of every link. Nothing is lost: links are busy for
 * exactly the bytes that passed them. Nothing is faster than what no schedule can beat. The loop
 * index is the seed.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "collectives/cost.h"
#include "netsim/run.h"
#include "tests/property/at_once.h"
#include "tests/property/packet_cases.h"

#define CASES         240
#define AT_ONCE_CASES 100

static const struct net_options flows = {0};

struct outcome {
    struct net_result result;
    struct net_link_stats links;
    struct net_run_stats stats;
};

static bool run(const net_schedule *s, const struct net_options *options, struct outcome *o)
{
    struct sim_error err = {0};
    net_link_stats_init(&o->links, net_schedule_topo(s));
    enum sim_status status = net_run(s, options, NULL, &err, &o->result, &o->links, &o->stats);
    if (status == SIM_OK) return true;
    /* more channels than any router has: a routing with a channel for every hop, two slices */
    ck_assert_msg(strstr(err.text, "virtual channel") != NULL, "%s", err.text);
    net_link_stats_release(&o->links);
    return false;
}

static void compare(const topo *t, const struct outcome *a, const struct outcome *b)
{
    ck_assert_int_eq(a->result.time_ps, b->result.time_ps);
    ck_assert_int_eq(a->result.latency_ps, b->result.latency_ps);
    ck_assert_uint_eq(a->stats.packet_hops, b->stats.packet_hops);
    for (topo_link_id l = 0; l < topo_links(t); l++)
        ck_assert_int_eq(a->links.busy_ps[l], b->links.busy_ps[l]);
}

/* A packet's time is rounded to a tick, the flow's bytes are not. */
static void compare_bytes(const topo *t, const struct outcome *packets, const struct outcome *flow)
{
    double hops = (double)packets->stats.packet_hops + 1;
    for (topo_link_id l = 0; l < topo_links(t); l++)
        ck_assert_double_le(fabs(packets->links.bytes[l] - flow->links.bytes[l]),
                            1e-6 * flow->links.bytes[l] + hops);
}

START_TEST(windows_do_not_matter_and_nothing_is_lost)
{
    struct sim_rng rng;
    sim_rng_init(&rng, (uint64_t)_i, 77);
    topo *t = random_topology(&rng);
    const struct net_router router = random_router(&rng, t);
    struct net_options options = {.router = &router, .entry_overhead_ps = pick(&rng, 2) * 1234};
    struct coll_spec spec;
    struct sim_error err = {0};
    net_schedule *s;
    struct outcome whole, part, flow;
    if (!random_spec(&rng, t, &spec) || coll_build(t, &spec, &err, &s) != SIM_OK) {
        topo_destroy(t);
        return;
    }
    if (run(s, &options, &whole)) {
        options.window_ps = 1 + pick(&rng, 400000);
        ck_assert(run(s, &options, &part));
        compare(t, &whole, &part);
        ck_assert(run(s, &flows, &flow));
        compare_bytes(t, &whole, &flow);
        struct coll_bound bound = coll_bound_through(&router, coll_lower_bound(t, &spec));
        ck_assert_int_ge(whole.result.time_ps + 1, bound.time_ps);
        net_link_stats_release(&whole.links);
        net_link_stats_release(&part.links);
        net_link_stats_release(&flow.links);
    }
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* Queues of one input that are wanted at several outputs, and outputs wanted by several queues. */
START_TEST(windows_do_not_matter_to_several_at_once)
{
    struct sim_rng rng;
    sim_rng_init(&rng, (uint64_t)_i, 78);
    topo *t = random_topology(&rng);
    const struct net_router router = random_router(&rng, t);
    struct net_options options = {.router = &router};
    struct at_once at_once;
    struct outcome whole, part;
    at_once_init(&at_once, &rng, t, 3, router.is_in_cycles ? 100000 : 2000000);
    if (run(at_once.root, &options, &whole)) {
        options.window_ps = 1 + pick(&rng, 400000);
        ck_assert(run(at_once.root, &options, &part));
        compare(t, &whole, &part);
        net_link_stats_release(&whole.links);
        net_link_stats_release(&part.links);
    }
    at_once_release(&at_once);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packet_random");
    TCase *cases = tcase_create("cases");
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, windows_do_not_matter_and_nothing_is_lost, 0, CASES);
    tcase_add_loop_test(cases, windows_do_not_matter_to_several_at_once, 0, AT_ONCE_CASES);
    suite_add_tcase(suite, cases);
    return run_suite(suite);
}
