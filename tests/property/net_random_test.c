/*
 * Random cases, seeded by the loop index (printed on failure): a resumed solve is one from nothing,
 * the max-min conditions, conservation of bytes, physics, symmetry under translation, and the same
 * result twice.
 */
#include <math.h>
#include <stdlib.h>

#include "base/rng.h"
#include "netsim/maxmin.h"
#include "netsim/run.h"
#include "tests/maxmin_reference.h"
#include "tests/support.h"
#include "topo/route.h"

#define CASES        300
#define SOLVER_CASES 1000

/* ---- the solver on random hypergraphs ---- */

/* Ids are reused by length only. */
enum { LINKS = 30, FLOWS = 60, HOPS = 8, STEPS = 40, IDS = FLOWS * HOPS };

struct churn {
    struct sim_rng rng;
    uint32_t links;
    struct net_maxmin w;
    struct net_levels s;
    bool is_in[IDS];
    uint32_t in_count;
};

/* Even cases: equal links, so that ties abound; in odd ones few shares are equal. */
static void churn_init(struct churn *c, int number)
{
    *c = (struct churn){0};
    sim_rng_init(&c->rng, 11, (uint64_t)number);
    c->links = 1 + (uint32_t)sim_rng_below(&c->rng, LINKS);
    net_maxmin_init(&c->w, c->links);
    for (uint32_t l = 0; l < c->links; l++) {
        c->w.link[l].capacity =
            number % 2 == 0 ? 1e9 : 1e9 * (1 + (double)sim_rng_below(&c->rng, 50));
        net_maxmin_reset_link(&c->w, l);
    }
}

static void churn_start(struct churn *c)
{
    uint32_t link[HOPS], hops = 1 + (uint32_t)sim_rng_below(&c->rng, HOPS);
    for (uint32_t h = 0; h < hops; h++)
        link[h] = (uint32_t)sim_rng_below(&c->rng, c->links); /* may come back to a link */
    uint32_t flow = net_maxmin_add(&c->w, link, hops);
    net_levels_enter(&c->w, &c->s, flow);
    c->is_in[flow] = true;
    c->in_count++;
}

static void churn_end(struct churn *c)
{
    uint32_t flow = (uint32_t)sim_rng_below(&c->rng, c->w.flows);
    while (!c->is_in[flow] || net_level_of(&c->w, &c->s, flow) == NET_MAXMIN_NONE)
        flow = (flow + 1) % c->w.flows;
    net_levels_leave(&c->w, &c->s, flow);
    net_maxmin_drop(&c->w, flow);
    c->is_in[flow] = false;
    c->in_count--;
}

/* Several ends, then several starts, often only one of them: then a solve. */
static void churn_step(struct churn *c)
{
    uint32_t ends = (uint32_t)sim_rng_below(&c->rng, 3),
             starts = (uint32_t)sim_rng_below(&c->rng, 3);
    if (c->in_count == 0) starts = 1 + (uint32_t)sim_rng_below(&c->rng, FLOWS);
    for (uint32_t i = 0; i < ends && c->in_count > 0; i++)
        churn_end(c);
    for (uint32_t i = 0; i < starts && c->in_count < FLOWS; i++)
        churn_start(c);
    net_levels_solve(&c->w, &c->s);
}

static double churn_rate(const struct churn *c, uint32_t flow)
{
    return c->s.level[net_level_of(&c->w, &c->s, flow)].rate;
}

static void churn_release(struct churn *c)
{
    net_levels_release(&c->s);
    net_maxmin_release(&c->w);
}

START_TEST(resumed_solve_is_a_solve_from_nothing)
{
    struct churn c;
    churn_init(&c, _i);
    for (uint32_t step = 0; step < STEPS; step++) {
        churn_step(&c);
        double rate[IDS];
        struct reference_link link[LINKS];
        reference_solve(&c.w, c.is_in, rate, link);
        for (uint32_t f = 0; f < c.w.flows; f++)
            ck_assert_msg(!c.is_in[f] || churn_rate(&c, f) == rate[f],
                          "seed %d, step %u: flow %u has %.17g, want %.17g", _i, step, f,
                          churn_rate(&c, f), rate[f]);
    }
    churn_release(&c);
}
END_TEST

/* A full link on which nobody has more. */
static bool has_bottleneck(const struct churn *c, const double *used, uint32_t flow)
{
    const struct net_maxmin_path *p = &c->w.path[flow];
    for (uint32_t h = p->begin; h < p->begin + p->length; h++) {
        const struct net_maxmin_link *l = &c->w.link[c->w.hop_link[h]];
        bool is_top = used[c->w.hop_link[h]] >= l->capacity * (1 - 1e-12);
        for (uint32_t i = 0; i < l->ref_count; i++) {
            uint32_t other = c->w.ref_flow[l->ref_begin + i];
            is_top = is_top && churn_rate(c, other) <= churn_rate(c, flow) * (1 + 1e-12);
        }
        if (is_top) return true;
    }
    return false;
}

START_TEST(maxmin_conditions)
{
    struct churn c;
    churn_init(&c, _i);
    for (uint32_t step = 0; step < STEPS; step++) {
        churn_step(&c);
        double used[LINKS] = {0};
        for (uint32_t f = 0; f < c.w.flows; f++)
            for (uint32_t h = 0; c.is_in[f] && h < c.w.path[f].length; h++)
                used[c.w.hop_link[c.w.path[f].begin + h]] += churn_rate(&c, f);
        for (uint32_t l = 0; l < c.links; l++) /* none above capacity */
            ck_assert_double_le(used[l], c.w.link[l].capacity * (1 + 1e-12));
        for (uint32_t f = 0; f < c.w.flows; f++)
            ck_assert_msg(!c.is_in[f] || has_bottleneck(&c, used, f),
                          "seed %d, step %u: flow %u has no bottleneck", _i, step, f);
    }
    churn_release(&c);
}
END_TEST

/* ---- runs of random message sets on random tori ---- */

static const char *const specs[] = {"torus:4x4",   "torus:5x3",        "mesh:4x3",
                                    "torus:2x3x2", "ring:7",           "torus:4x2x3,latency=333ns",
                                    "v6e:4x4",     "torus:6,latency=0"};

struct traffic {
    uint32_t count;
    topo_chip_id src[64], dst[64];
    double bytes[64];
    sim_ps start[64];
};

struct seen {
    const topo *t;
    double coalesce; /* set before the run */
    uint32_t count;
    double byte_hops;
    sim_ps end[64];
};

/* No message is faster than its hops and the rate of one link (times the ways it may split). */
static void watch(void *context, topo_chip_id src, topo_chip_id dst, double bytes, sim_ps start,
                  sim_ps end)
{
    struct seen *seen = context;
    struct topo_paths paths = {0};
    topo_route(seen->t, src, dst, &paths);
    double hops = topo_distance(seen->t, src, dst), ways = paths.count;
    double least = hops * (double)topo_default_latency_ps(seen->t) +
                   bytes / ways / topo_default_link_rate(seen->t) * 1e12;
    if (src != dst) ck_assert_double_ge((double)(end - start), least * (1 - seen->coalesce) - 1);
    seen->byte_hops += src == dst ? 0 : hops * bytes;
    seen->end[seen->count++] = end;
    topo_paths_release(&paths);
}

static net_schedule *schedule_of(const topo *t, const struct traffic *m)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t role[256], tag[256] = {0};
    for (uint32_t c = 0; c < topo_chips(t); c++)
        role[c] = net_schedule_add_program(s);
    for (uint32_t i = 0; i < m->count; i++) {
        struct net_op compute = {.kind = NET_OP_COMPUTE,
                                 .guard = NET_NONE,
                                 .chunk = NET_NONE,
                                 .duration_ps = m->start[i]};
        struct net_op send = {
            .kind = NET_OP_SEND, .guard = NET_NONE, .chunk = NET_NONE, .bytes = m->bytes[i]};
        send.tag = tag[m->dst[i]]++;
        send.peer = net_peer_chip(s, m->dst[i]);
        struct net_op receive = send;
        receive.kind = NET_OP_RECEIVE;
        receive.peer = net_peer_chip(s, m->src[i]);
        net_op_id wait = net_op_add(s, role[m->src[i]], compute);
        net_op_after(s, role[m->src[i]], net_op_add(s, role[m->src[i]], send), wait);
        net_op_add(s, role[m->dst[i]], receive);
    }
    net_schedule_set_roles(s, role);
    net_schedule_seal(s);
    return s;
}

static struct traffic random_traffic(const topo *t, struct sim_rng *rng)
{
    struct traffic m = {.count = 1 + (uint32_t)sim_rng_below(rng, 64)};
    for (uint32_t i = 0; i < m.count; i++) {
        m.src[i] = (topo_chip_id)sim_rng_below(rng, topo_chips(t));
        m.dst[i] = (topo_chip_id)sim_rng_below(rng, topo_chips(t));
        m.bytes[i] = (double)sim_rng_below(rng, 3) * (double)sim_rng_below(rng, 1u << 20);
        m.start[i] = (sim_ps)sim_rng_below(rng, 4) * 5000000;
    }
    return m;
}

static int by_time(const void *a, const void *b)
{
    const sim_ps *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static struct net_result run_watched(const topo *t, const struct traffic *m, struct seen *seen,
                                     struct net_link_stats *stats)
{
    struct sim_error err = {0};
    struct net_result result;
    *seen = (struct seen){.t = t, .coalesce = seen->coalesce};
    struct net_observer observer = {.context = seen, .on_message = watch};
    struct net_options options = {.coalesce = seen->coalesce};
    net_schedule *s = schedule_of(t, m);
    ck_assert_msg(net_run(s, &options, &observer, &err, &result, stats, NULL) == SIM_OK, "%s",
                  err.text);
    net_schedule_destroy(s);
    ck_assert_uint_eq(seen->count, m->count);
    qsort(seen->end, seen->count, sizeof seen->end[0], by_time);
    return result;
}

START_TEST(random_messages)
{
    struct sim_rng rng;
    sim_rng_init(&rng, 13, (uint64_t)_i);
    topo *t = topo_or_fail(specs[_i % (int)(sizeof specs / sizeof specs[0])]);
    struct traffic m = random_traffic(t, &rng);
    struct seen seen = {0}, again = {0};
    struct net_link_stats stats;
    net_link_stats_init(&stats, t);
    struct net_result result = run_watched(t, &m, &seen, &stats);

    double carried =
        0; /* bytes conserved: links carry bytes x hops (to the 1/256 byte they are counted in) */
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        carried += stats.bytes[l];
        /* never above its rate: ends are rounded to the nearest picosecond, so each message may
         * gain half a one */
        ck_assert_double_le(stats.bytes[l] / topo_link_rate(t, l) * 1e12,
                            (double)result.time_ps + m.count);
        ck_assert_int_le(stats.busy_ps[l], result.time_ps);
    }
    ck_assert_double_eq_tol(carried, seen.byte_hops, 8.0 * m.count);
    net_link_stats_release(&stats);

    struct net_result twice = run_watched(t, &m, &again, NULL);
    ck_assert_int_eq(twice.time_ps, result.time_ps);
    ck_assert_mem_eq(again.end, seen.end, seen.count * sizeof seen.end[0]);
    topo_destroy(t);
}
END_TEST

/* Ends taken together come early by no more than their share (watch()), and every byte is still
 * carried. */
START_TEST(coalescing_conserves_bytes)
{
    struct sim_rng rng;
    sim_rng_init(&rng, 19, (uint64_t)_i);
    topo *t = topo_or_fail(specs[_i % (int)(sizeof specs / sizeof specs[0])]);
    struct traffic m = random_traffic(t, &rng);
    struct seen exact = {0}, coalesced = {.coalesce = 0.01};
    struct net_link_stats wanted, stats;
    net_link_stats_init(&wanted, t);
    net_link_stats_init(&stats, t);
    run_watched(t, &m, &exact, &wanted);
    run_watched(t, &m, &coalesced, &stats);
    ck_assert_mem_eq(stats.bytes, wanted.bytes, topo_links(t) * sizeof *stats.bytes);
    net_link_stats_release(&wanted);
    net_link_stats_release(&stats);
    topo_destroy(t);
}
END_TEST

START_TEST(translating_a_torus_changes_nothing)
{
    static const char *const tori[] = {"torus:4x4", "torus:5x3", "torus:2x3x2", "torus:4x4x2"};
    struct sim_rng rng;
    sim_rng_init(&rng, 17, (uint64_t)_i);
    topo *t = topo_or_fail(tori[_i % 4]);
    struct traffic m = random_traffic(t, &rng), moved = m;
    int32_t by[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++)
        by[a] = (int32_t)sim_rng_below(&rng, topo_axis_size(t, a));
    for (uint32_t i = 0; i < m.count; i++) {
        moved.src[i] = topo_translate(t, m.src[i], by);
        moved.dst[i] = topo_translate(t, m.dst[i], by);
    }
    struct seen here = {0}, there = {0};
    ck_assert_int_eq(run_watched(t, &m, &here, NULL).time_ps,
                     run_watched(t, &moved, &there, NULL).time_ps);
    ck_assert_mem_eq(here.end, there.end,
                     here.count * sizeof here.end[0]); /* to the bit, message by message */
    topo_destroy(t);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_random");
    TCase *tcase = tcase_create("random");
    tcase_set_timeout(tcase, 60);
    tcase_add_loop_test(tcase, resumed_solve_is_a_solve_from_nothing, 0, SOLVER_CASES);
    tcase_add_loop_test(tcase, maxmin_conditions, 0, SOLVER_CASES);
    tcase_add_loop_test(tcase, random_messages, 0, CASES);
    tcase_add_loop_test(tcase, coalescing_conserves_bytes, 0, CASES);
    tcase_add_loop_test(tcase, translating_a_torus_changes_nothing, 0, CASES);
    suite_add_tcase(suite, tcase);
    return run_suite(suite);
}
