/*
 * Random collectives in the packet engine, cut over the ranks and whole: the same times, critical
 * path, messages, operations and busy time of every link. Run under mpirun; every rank makes the
 * same cases and compares what it got. The loop index is the seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/mpi.h"
#include "netsim/partition.h"
#include "netsim/run.h"
#include "tests/property/packet_cases.h"

#define CASES          120
#define ADAPTIVE_CASES 60
#define STALLS         30

/* Everything a run tells, but how the simulator did. */
struct outcome {
    enum sim_status status;
    struct sim_error err;
    struct net_result result;
    struct net_link_stats links;
    struct net_run_stats stats;
    uint64_t told, digest;
};

static void mix(struct outcome *o, uint64_t value)
{
    o->digest = (o->digest ^ value) * UINT64_C(0x100000001b3);
    o->digest ^= o->digest >> 29;
}

static void told_message(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                         sim_ps start_ps, sim_ps end_ps)
{
    struct outcome *o = context;
    uint64_t bits;
    memcpy(&bits, &bytes, sizeof bits);
    o->told++;
    mix(o, (uint64_t)src << 32 | dst);
    mix(o, bits);
    mix(o, (uint64_t)start_ps);
    mix(o, (uint64_t)end_ps);
}

static void told_op(void *context, topo_chip_id chip, const struct net_op *op, sim_ps start_ps,
                    sim_ps end_ps)
{
    struct outcome *o = context;
    o->told++;
    mix(o, (uint64_t)chip << 32 | op->kind);
    mix(o, (uint64_t)start_ps);
    mix(o, (uint64_t)end_ps);
}

static void run(const net_schedule *s, const struct net_options *options, struct outcome *o)
{
    const struct net_observer observer = {
        .context = o, .on_message = told_message, .on_op = told_op};
    *o = (struct outcome){.digest = 1};
    net_link_stats_init_packets(&o->links, net_schedule_topo(s));
    o->status = net_run(s, options, &observer, &o->err, &o->result, &o->links, &o->stats);
}

static void compare(const topo *t, const struct outcome *whole, const struct outcome *cut)
{
    ck_assert_int_eq(whole->status, cut->status);
    ck_assert_str_eq(whole->err.text, cut->err.text);
    if (whole->status != SIM_OK) return;
    ck_assert_mem_eq(&whole->result, &cut->result, sizeof whole->result);
    ck_assert_uint_gt(whole->told, 0);
    ck_assert_uint_eq(whole->told, cut->told);
    ck_assert_uint_eq(whole->digest, cut->digest);
    ck_assert_uint_eq(whole->stats.packet_hops, cut->stats.packet_hops);
    ck_assert_uint_eq(whole->stats.messages, cut->stats.messages);
    ck_assert_uint_eq(whole->stats.events, cut->stats.events);
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        ck_assert_int_eq(whole->links.busy_ps[l], cut->links.busy_ps[l]);
        ck_assert_double_eq(whole->links.bytes[l], cut->links.bytes[l]);
        ck_assert_int_eq(whole->links.waited_ps[l], cut->links.waited_ps[l]);
        ck_assert_int_eq(whole->links.stalled_ps[l], cut->links.stalled_ps[l]);
        ck_assert_uint_eq(whole->links.most[l], cut->links.most[l]);
    }
}

static void whole_and_cut_of(const net_schedule *s, struct net_options *options, sim_ps window_ps)
{
    struct outcome whole, cut;
    run(s, options, &whole);
    options->is_partitioned = true;
    options->window_ps = window_ps;
    run(s, options, &cut);
    compare(net_schedule_topo(s), &whole, &cut);
    net_link_stats_release(&whole.links);
    net_link_stats_release(&cut.links);
}

static void whole_and_cut(uint64_t seed, bool is_adaptive)
{
    struct sim_rng rng;
    sim_rng_init(&rng, seed, 78);
    topo *t = is_adaptive ? random_adaptive_topology(&rng) : random_topology(&rng);
    const struct net_router router =
        is_adaptive ? random_late_router(&rng, t) : random_router(&rng, t);
    struct net_options options = {.router = &router,
                                  .entry_overhead_ps = pick(&rng, 2) * 1234,
                                  .send_overhead_ps = pick(&rng, 3) * 777};
    struct coll_spec spec;
    struct sim_error err = {0};
    net_schedule *s;
    bool runs = random_spec(&rng, t, &spec);
    if (router.is_in_cycles) spec.bytes = 1 + spec.bytes / 20; /* short windows, each an exchange */
    if (!runs || coll_build(t, &spec, &err, &s) != SIM_OK) {
        topo_destroy(t);
        return;
    }
    whole_and_cut_of(s, &options, pick(&rng, 8) == 0 ? 1 + pick(&rng, 400000) : 0);
    net_schedule_destroy(s);
    topo_destroy(t);
}

START_TEST(ranks_do_not_matter)
{
    whole_and_cut((uint64_t)_i, false);
}
END_TEST

START_TEST(ranks_do_not_matter_to_adaptive_routing)
{
    whole_and_cut((uint64_t)_i, true);
}
END_TEST

/* Chips wait for messages that nobody sends, in chains and circles that go from rank to rank: the
 * first of them is named on any number of ranks, in the same words. */
START_TEST(a_stall_is_named_alike)
{
    struct sim_rng rng;
    sim_rng_init(&rng, (uint64_t)_i, 80);
    topo *t = topo_or_fail("torus:4x4");
    const struct topo_group all = topo_group_all(t);
    const struct net_router router = *net_router_find("tpu");
    struct net_options options = {.router = &router};
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t role[16];
    for (uint32_t chip = 0; chip < 16; chip++) {
        struct net_op receive = {
            .kind = NET_OP_RECEIVE, .guard = NET_NONE, .chunk = NET_NONE, .tag = chip};
        role[chip] = net_schedule_add_program(s);
        receive.peer = net_peer_chip(s, (chip + 1 + pick(&rng, 15)) % 16);
        if (chip == 0 || pick(&rng, 4) > 0) net_op_add(s, role[chip], receive);
    }
    net_schedule_set_roles(s, role);
    net_schedule_seal(s);
    whole_and_cut_of(s, &options, 0);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* Every node is somewhere; tori come out even to a node, and a box is cut across its long side. */
START_TEST(partitions_are_even)
{
    topo *t = topo_or_fail("torus:8x4x4");
    for (uint32_t parts = 1; parts <= 9; parts++) {
        struct net_partition p;
        uint32_t nodes[9] = {0};
        net_partition_make(t, parts, &p);
        for (topo_node_id n = 0; n < topo_nodes(t); n++)
            nodes[p.part[n]]++;
        for (uint32_t i = 0; i < parts; i++)
            ck_assert(nodes[i] >= p.fewest_nodes && nodes[i] <= p.most_nodes);
        if (parts == 2) ck_assert_uint_eq(p.cut_links, 2 * 2 * 4 * 4);
        ck_assert_uint_le(p.most_nodes - p.fewest_nodes, 2);
        net_partition_release(&p);
    }
    topo_destroy(t);
}
END_TEST

START_TEST(graphs_are_cut_between_their_dense_parts)
{
    topo *t = topo_or_fail("torus:4x4*2,dcn=3GB/s");
    struct net_partition p;
    net_partition_make(t, 2, &p);
    for (topo_chip_id c = 0; c < topo_chips(t); c++)
        ck_assert_uint_eq(p.part[c], p.part[c < 16 ? 0 : 16]);
    ck_assert_uint_ne(p.part[0], p.part[16]);
    net_partition_release(&p);
    topo_destroy(t);
}
END_TEST

/* Does the launcher give the ranks asked for? Else every case would compare a rank with itself. */
static int check_ranks(const char *wanted)
{
    if (net_mpi_ranks() == strtoul(wanted, NULL, 10)) return 0;
    fprintf(stderr, "the launcher gives %u ranks, wanted %s\n", net_mpi_ranks(), wanted);
    return 1;
}

int main(int argc, char **argv)
{
    net_mpi_init(&argc, &argv);
    if (argc != 2 || check_ranks(argv[1]) != 0) return EXIT_FAILURE;
    Suite *suite = suite_create("packet_ranks");
    TCase *cases = tcase_create("cases");
    tcase_add_loop_test(cases, ranks_do_not_matter, 0, CASES);
    tcase_add_loop_test(cases, ranks_do_not_matter_to_adaptive_routing, 0, ADAPTIVE_CASES);
    tcase_add_loop_test(cases, a_stall_is_named_alike, 0, STALLS);
    tcase_add_test(cases, partitions_are_even);
    tcase_add_test(cases, graphs_are_cut_between_their_dense_parts);
    suite_add_tcase(suite, cases);
    SRunner *runner = srunner_create(suite);
    srunner_set_fork_status(runner, CK_NOFORK); /* MPI does not survive a fork */
    srunner_run_all(runner, net_mpi_rank() == 0 ? CK_ENV : CK_SILENT);
    int64_t failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    net_mpi_max(&failed, 1);
    net_mpi_finalize();
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
