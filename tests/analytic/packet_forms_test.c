/*
 * The packet engine where the right time is a formula: one packet over every number of hops, one
 * long message, messages that share a link, collectives whose messages never meet.
 */
#include <string.h>

#include "collectives/coll.h"
#include "netsim/run.h"
#include "tests/support.h"
#include "topo/route.h"

#define MESSAGES_MAX 64

struct times {
    uint32_t count;
    sim_ps end[MESSAGES_MAX]; /* by source, then destination */
    topo_chip_id src[MESSAGES_MAX];
};

static void note_message(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                         sim_ps start_ps, sim_ps end_ps)
{
    struct times *times = context;
    (void)dst;
    (void)bytes;
    (void)start_ps;
    ck_assert_uint_lt(times->count, MESSAGES_MAX);
    times->src[times->count] = src;
    times->end[times->count++] = end_ps;
}

static struct net_router router_or_fail(const char *name)
{
    const struct net_router *r = net_router_find(name);
    ck_assert_ptr_nonnull(r);
    return *r;
}

static enum sim_status run(const topo *t, const struct coll_spec *spec,
                           const struct net_router *router, struct times *times,
                           struct net_result *result, struct sim_error *err)
{
    const struct net_options options = {.router = router};
    const struct net_observer observer = {.context = times, .on_message = note_message};
    net_schedule *s;
    SIM_TRY(coll_build(t, spec, err, &s));
    enum sim_status status =
        net_run(s, &options, times != NULL ? &observer : NULL, err, result, NULL, NULL);
    net_schedule_destroy(s);
    return status;
}

/* All messages at once. */
static struct times send_all(const topo *t, const struct net_router *router, uint32_t count,
                             const topo_chip_id *src, const topo_chip_id *dst,
                             const uint64_t *bytes)
{
    struct times times = {0};
    struct sim_error err = {0};
    struct net_result result;
    const struct coll_pairs pairs = {count, (topo_chip_id *)src, (topo_chip_id *)dst,
                                     (uint64_t *)bytes};
    const struct coll_spec spec = {
        .op = COLL_PERMUTE, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .pairs = &pairs};
    ck_assert_msg(run(t, &spec, router, &times, &result, &err) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(times.count, count);
    return times;
}

static sim_ps send_one(const char *spec, const struct net_router *router, topo_chip_id to,
                       uint64_t bytes)
{
    const topo_chip_id from = 0;
    topo *t = topo_or_fail(spec);
    sim_ps end = send_all(t, router, 1, &from, &to, &bytes).end[0];
    topo_destroy(t);
    return end;
}

/* 90 GB/s is 100 ticks of 1/9 ps a byte. */
static sim_ps at_90_gb_per_s(uint64_t bytes)
{
    return (sim_ps)((bytes * 100 + 4) / 9);
}

START_TEST(one_message_takes_its_hops_and_its_bytes)
{
    static const uint64_t sizes[] = {1, 9, 100, 4095, 4096, 4097, 12345, 1048576, 1000000007};
    const struct net_router tpu = router_or_fail("tpu");
    for (topo_chip_id to = 1; to <= 8; to++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
            if (sizes[i] > 1048576 && to > 1) continue;
            sim_ps end = send_one("ring:17,link=90GB/s,latency=700ns", &tpu, to, sizes[i]);
            ck_assert_int_eq(end, to * 700000 + at_90_gb_per_s(sizes[i]));
        }
}
END_TEST

START_TEST(latencies_of_the_router_count_as_the_manual_says)
{
    struct net_router r = router_or_fail("tpu");
    r.hop = 30000;
    r.ejection = 5000;
    ck_assert_int_eq(send_one("ring:17,link=90GB/s,latency=700ns", &r, 3, 4096),
                     3 * 730000 + 5000 + at_90_gb_per_s(4096));
    /* BookSim's: injection 2, hop 3, ejection 3 cycles with the flit's own; a flit of 32 bytes
     * takes 32 ns at 1 GB/s */
    r = router_or_fail("booksim-a");
    ck_assert_int_eq(send_one("ring:17,link=1GB/s", &r, 5, 32), (2 + 3 * 5 + 3) * 32000);
    r = router_or_fail("booksim-p");
    ck_assert_int_eq(send_one("ring:17,link=1GB/s", &r, 5, 256), (2 + 3 * 5 + 3 + 7) * 32000);
    /* four flits, the last not full; a packet as a whole ends with its last byte */
    ck_assert_int_eq(send_one("ring:17,link=1GB/s", &r, 5, 100), (2 + 3 * 5 + 3 + 3) * 32000);
    r.switching = NET_BY_PACKET;
    ck_assert_int_eq(send_one("ring:17,link=1GB/s", &r, 5, 100), (2 + 3 * 5 + 2) * 32000 + 100000);
}
END_TEST

/* Chips 0 and 1 each send a packet of 8 flits to chip 3, at once. What starts at chip 1 is granted
 * the link to chip 2 in cycles 2, 3, 4 as its flits arrive. In cycle 5 the other packet's first
 * flit is there, it is its turn, and it gets in between. Then the first packet has a flit waiting,
 * keeps the link and is gone in cycle 10, one later than alone; the other one's last flit leaves in
 * cycle 17. All this happens again two and three chips on, one hop of 3 cycles later each; the last
 * flits leave chip 3 in 16 and 23, and ejection takes 3. Whole packets wait for each other. */
START_TEST(flits_of_another_packet_get_in_between)
{
    static const topo_chip_id from[] = {0, 1}, to[] = {3, 3};
    static const uint64_t bytes[] = {256, 256};
    static const int cycles[2][2] = {[NET_BY_PACKET] = {26, 18}, [NET_BY_FLIT] = {26, 19}};
    struct net_router r = router_or_fail("booksim-p");
    topo *t = topo_or_fail("ring:17,link=1GB/s");
    for (int by = NET_BY_PACKET; by <= NET_BY_FLIT; by++) {
        r.switching = (enum net_switching)by;
        struct times times = send_all(t, &r, 2, from, to, bytes);
        for (uint32_t i = 0; i < 2; i++)
            ck_assert_int_eq(times.end[i], cycles[by][times.src[i]] * 32000);
    }
    topo_destroy(t);
}
END_TEST

START_TEST(a_faster_link_waits_for_the_bytes_of_a_slower_one)
{
    const struct net_router tpu = router_or_fail("tpu");
    /* two slices: 45 GB/s inside, 5 GB/s between */
    topo *t = topo_or_fail("ring:4*2,link=45GB/s,dcn=5GB/s");
    struct topo_paths paths = {0};
    const topo_chip_id from = 0, to = 6;
    const uint64_t bytes = 90000;
    topo_route(t, from, to, &paths);
    sim_ps hops = topo_path_latency_ps(t, &paths, 0), end;
    end = send_all(t, &tpu, 1, &from, &to, &bytes).end[0];
    ck_assert_int_ge(end, hops + 90000 / 5 * 1000 - 1);
    ck_assert_int_le(end, hops + 90000 / 5 * 1000 + 4096 / 5 * 1000);
    topo_paths_release(&paths);
    topo_destroy(t);
}
END_TEST

/* Two messages of 100 packets share the link into chip 2: each gets half, within a packet. */
static void share_a_link(const char *spec, topo_chip_id first, topo_chip_id second, topo_chip_id to,
                         sim_ps hops_first, sim_ps hops_second)
{
    enum { BYTES = 100 * 4096 };
    const struct net_router tpu = router_or_fail("tpu");
    topo *t = topo_or_fail(spec);
    const topo_chip_id src[] = {first, second}, dst[] = {to, to};
    const uint64_t bytes[] = {BYTES, BYTES};
    struct times times = send_all(t, &tpu, 2, src, dst, bytes);
    sim_ps packet = at_90_gb_per_s(4096), both = at_90_gb_per_s(2 * BYTES);
    for (uint32_t i = 0; i < 2; i++) {
        sim_ps hops = times.src[i] == first ? hops_first : hops_second;
        sim_ps late = hops_first > hops_second ? hops_first - hops_second : 0;
        ck_assert_int_ge(times.end[i], both + hops - 2 * packet - late);
        ck_assert_int_le(times.end[i], both + hops_first + 2 * packet);
    }
    topo_destroy(t);
}

START_TEST(two_messages_over_one_link_get_half_each)
{
    const sim_ps us = SIM_PS_PER_US;
    share_a_link("mesh:4,link=90GB/s", 1, 1, 2, us, us);     /* from one chip */
    share_a_link("mesh:4,link=90GB/s", 0, 1, 2, 2 * us, us); /* one passing through */
    share_a_link("switch:4,link=90GB/s", 1, 2, 0, 2 * us, 2 * us);
    share_a_link("switch:4,link=90GB/s", 3, 2, 0, 2 * us, 2 * us);
}
END_TEST

START_TEST(eight_senders_into_one_port_end_within_a_packet_of_each_other)
{
    const struct net_router tpu = router_or_fail("tpu");
    topo *t = topo_or_fail("switch:9,link=45GB/s");
    topo_chip_id src[8], dst[8];
    uint64_t bytes[8];
    for (uint32_t i = 0; i < 8; i++) {
        src[i] = i;
        dst[i] = 8;
        bytes[i] = 1048576;
    }
    struct times times = send_all(t, &tpu, 8, src, dst, bytes);
    ck_assert_int_eq(times.end[7], 188413511); /* 8 MiB / 45 GB/s + two hops: 188.414 us */
    ck_assert_int_ge(times.end[0], times.end[7] - 8 * 91023);
    topo_destroy(t);
}
END_TEST

static double collective_us(const char *spec, enum coll_op op, enum coll_algorithm algorithm,
                            double bytes, const struct net_router *router)
{
    topo *t = topo_or_fail(spec);
    struct sim_error err = {0};
    struct net_result result;
    const struct coll_spec c = {
        .op = op, .algorithm = algorithm, .group = topo_group_all(t), .bytes = bytes};
    ck_assert_msg(run(t, &c, router, NULL, &result, &err) == SIM_OK, "%s", err.text);
    topo_destroy(t);
    return sim_ps_to_us(result.time_ps);
}

/* Messages of rings and buckets never meet: packets take the time fluids do. */
START_TEST(ring_and_bucket_equal_flows)
{
    static const enum coll_algorithm algorithms[] = {COLL_RING, COLL_BUCKET};
    static const char *const specs[] = {
        "torus:4x4,link=90GB/s", "v5p:4x4x4", "ring:5", "mesh:6", "v5e:4x4", "mesh:3x4"};
    const struct net_router tpu = router_or_fail("tpu");
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        for (size_t a = 0; a < 2; a++) {
            double flow = collective_us(specs[i], COLL_ALL_REDUCE, algorithms[a], 64 << 20, NULL);
            double packet = collective_us(specs[i], COLL_ALL_REDUCE, algorithms[a], 64 << 20, &tpu);
            ck_assert_msg(packet > 0.98 * flow && packet < 1.02 * flow, "%s: %.3f, flow %.3f us",
                          specs[i], packet, flow);
        }
}
END_TEST

START_TEST(all_to_all_phase_by_phase_is_near_flows_and_directly_is_not)
{
    const struct net_router tpu = router_or_fail("tpu");
    const char *spec = "torus:8x8,link=90GB/s";
    double flow = collective_us(spec, COLL_ALL_TO_ALL, COLL_PHASED, 8 << 20, NULL);
    double phased = collective_us(spec, COLL_ALL_TO_ALL, COLL_PHASED, 8 << 20, &tpu);
    double direct = collective_us(spec, COLL_ALL_TO_ALL, COLL_DIRECT, 8 << 20, &tpu);
    ck_assert_msg(phased < 1.1 * flow, "%.3f, flow %.3f us", phased, flow);
    ck_assert_double_gt(direct, phased);
    ck_assert_double_lt(direct, 2 * flow);
}
END_TEST

/* Half way round a ring from every chip at once, with one channel: every buffer is full of packets
 * that want the next one. */
static enum sim_status half_way_round(const struct net_router *router, struct sim_error *err)
{
    enum { CHIPS = 8 };
    topo *t = topo_or_fail("ring:8");
    topo_chip_id src[CHIPS], dst[CHIPS];
    uint64_t bytes[CHIPS];
    for (uint32_t i = 0; i < CHIPS; i++) {
        src[i] = i;
        dst[i] = (i + 3) % CHIPS;
        bytes[i] = 1 << 20;
    }
    const struct coll_pairs pairs = {CHIPS, src, dst, bytes};
    const struct coll_spec spec = {
        .op = COLL_PERMUTE, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .pairs = &pairs};
    struct net_result result;
    enum sim_status status = run(t, &spec, router, NULL, &result, err);
    topo_destroy(t);
    return status;
}

START_TEST(too_few_channels_are_refused_and_deadlock_is_named)
{
    struct net_router r = router_or_fail("tpu");
    struct sim_error err = {0};
    r.vcs = 1;
    ck_assert_int_eq(half_way_round(&r, &err), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "needs 2"));
    err = (struct sim_error){0};
    r.is_unchecked = true;
    r.bubble = 0;
    ck_assert_int_eq(half_way_round(&r, &err), SIM_EDATA);
    ck_assert_msg(strstr(err.text, "deadlock: 8 full buffers wait for each other") != NULL, "%s",
                  err.text);
    ck_assert_ptr_nonnull(strstr(err.text, " -> "));
    err = (struct sim_error){0};
    r.vcs = 2;
    ck_assert_msg(half_way_round(&r, &err) == SIM_OK, "%s", err.text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("packet_forms");
    TCase *forms = tcase_create("forms");
    tcase_set_timeout(forms, 120);
    tcase_add_test(forms, one_message_takes_its_hops_and_its_bytes);
    tcase_add_test(forms, latencies_of_the_router_count_as_the_manual_says);
    tcase_add_test(forms, flits_of_another_packet_get_in_between);
    tcase_add_test(forms, a_faster_link_waits_for_the_bytes_of_a_slower_one);
    tcase_add_test(forms, two_messages_over_one_link_get_half_each);
    tcase_add_test(forms, eight_senders_into_one_port_end_within_a_packet_of_each_other);
    tcase_add_test(forms, ring_and_bucket_equal_flows);
    tcase_add_test(forms, all_to_all_phase_by_phase_is_near_flows_and_directly_is_not);
    tcase_add_test(forms, too_few_channels_are_refused_and_deadlock_is_named);
    suite_add_tcase(suite, forms);
    return run_suite(suite);
}
