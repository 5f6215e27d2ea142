/*
 * Nothing blocks: many collectives of mixed operations, groups and sizes at once, on twisted tori
 * and around faults, all come to their end on every chip, in the flow engine and in the packet
 * engine, and not before their bounds. The loop index is the seed.
 */
#include <stdio.h>

#include "collectives/cost.h"
#include "netsim/router.h"
#include "netsim/run.h"
#include "tests/random_collective.h"
#include "tests/support.h"

#define FLOW_CASES   150
#define PACKET_CASES 50
#define MOST         16 /* collectives at once */

static const char *const specs[] = {
    "torus:4x8,twisted", "torus:2x2x4,twisted", "torus:4x4x8,twisted",
    "torus:3x6,twisted", "torus:4x4",           "torus:3x5",
    "torus:4x2x3",       "torus:6x6",           "mesh:4x3",
    "v6e:4x8",           "torus:5x2",           "torus:2x2x2"};
static const char *const faults[] = {NULL, "links=1", "links=2", "links=3", "chips=1"};

/* A fifth of the cases without faults, the rest with what fails drawn by the seed. */
static topo *random_topology(struct sim_rng *rng, int seed, uint32_t chips_most)
{
    for (;;) {
        char random[40] = "";
        const char *fault = faults[pick(rng, sizeof faults / sizeof faults[0])];
        const char *spec = specs[pick(rng, sizeof specs / sizeof specs[0])];
        struct sim_error err = {0};
        topo *t = NULL;
        if (fault != NULL) snprintf(random, sizeof random, "%s,seed=%d", fault, seed + 1);
        if (topo_with(spec, "", fault != NULL ? random : NULL, NULL, &err, &t) != SIM_OK) continue;
        if (topo_chips(t) <= chips_most) return t;
        topo_destroy(t);
    }
}

/* Collectives that go on beside each other in `lanes` queues. */
struct mix {
    topo *t;
    uint32_t count, lanes;
    struct coll_spec spec[MOST];
    net_schedule *callee[MOST], *root;
    uint32_t ended[MOST];  /* chips */
    sim_ps first_ps[MOST]; /* the first chip's start, and the last one's end */
    sim_ps last_ps[MOST];
};

static net_schedule *make_root(const struct mix *m)
{
    struct topo_group all = topo_group_all(m->t);
    net_schedule *s = net_schedule_create(m->t, &all);
    net_op_id id[MOST];
    net_schedule_add_program(s);
    for (uint32_t i = 0; i < m->count; i++) {
        struct net_op call = {.kind = NET_OP_CALL,
                              .guard = NET_NONE,
                              .chunk = NET_NONE,
                              .callee = m->callee[i],
                              .call_id = i,
                              .label = i};
        id[i] = net_op_add(s, 0, call);
        if (i >= m->lanes) net_op_after(s, 0, id[i], id[i - m->lanes]);
    }
    net_schedule_seal(s);
    return s;
}

static struct mix make_mix(int seed, uint32_t chips_most, double bytes_most)
{
    struct sim_rng rng;
    sim_rng_init(&rng, 77, (uint64_t)seed);
    struct mix m = {.t = random_topology(&rng, seed, chips_most)};
    m.count = 4 + pick(&rng, MOST - 3);
    m.lanes = 1 + pick(&rng, m.count);
    for (uint32_t i = 0; i < m.count; i++) {
        m.spec[i] = random_spec(&rng, m.t, bytes_most);
        m.callee[i] = random_collective(m.t, &m.spec[i]);
        m.first_ps[i] = SIM_PS_MAX;
    }
    m.root = make_root(&m);
    return m;
}

static void release_mix(struct mix *m)
{
    net_schedule_destroy(m->root);
    for (uint32_t i = 0; i < m->count; i++)
        net_schedule_destroy(m->callee[i]);
    topo_destroy(m->t);
}

static void note_end(void *context, topo_chip_id chip, const struct net_op *op, sim_ps start_ps,
                     sim_ps end_ps)
{
    struct mix *m = context;
    (void)chip;
    m->ended[op->label]++;
    if (start_ps < m->first_ps[op->label]) m->first_ps[op->label] = start_ps;
    if (end_ps > m->last_ps[op->label]) m->last_ps[op->label] = end_ps;
}

static void all_end(struct mix *m, int seed, const struct net_router *router)
{
    const struct net_options options = {.router = router};
    const struct net_observer observer = {.context = m, .on_op = note_end};
    struct net_result result;
    struct sim_error err = {0};
    ck_assert_msg(net_run(m->root, &options, &observer, &err, &result, NULL, NULL) == SIM_OK,
                  "case %d, %s: %s", seed, topo_spec(m->t), err.text);
    for (uint32_t i = 0; i < m->count; i++) {
        struct coll_spec *c = &m->spec[i];
        ck_assert_msg(m->ended[i] == topo_chips(m->t), "case %d, %s: %u: %u chips", seed,
                      topo_spec(m->t), i, m->ended[i]);
        ck_assert_msg(m->last_ps[i] - m->first_ps[i] >= coll_lower_bound(m->t, c).time_ps,
                      "case %d, %s: %s %s beats its bound", seed, topo_spec(m->t),
                      coll_op_names[c->op], coll_algorithm_names[c->algorithm]);
    }
}

START_TEST(many_at_once_end_as_flows)
{
    struct mix m = make_mix(_i, 128, 1e9);
    all_end(&m, _i, NULL);
    release_mix(&m);
}
END_TEST

START_TEST(many_at_once_end_as_packets)
{
    struct mix m = make_mix(_i, 40, 65536);
    all_end(&m, _i, net_router_find("tpu"));
    release_mix(&m);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_progress");
    TCase *flows = tcase_create("flows"), *packets = tcase_create("packets");
    tcase_set_timeout(flows, 120);
    tcase_set_timeout(packets, 120);
    tcase_add_loop_test(flows, many_at_once_end_as_flows, 0, FLOW_CASES);
    tcase_add_loop_test(packets, many_at_once_end_as_packets, 0, PACKET_CASES);
    suite_add_tcase(suite, flows);
    suite_add_tcase(suite, packets);
    return run_suite(suite);
}
