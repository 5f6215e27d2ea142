/**
 * Random topologies with faults, routers and collectives, for tests of the packet engine.
 */
#ifndef PODSIM_TESTS_PROPERTY_PACKET_CASES_H
#define PODSIM_TESTS_PROPERTY_PACKET_CASES_H

#include "base/rng.h"
#include "collectives/choice.h"
#include "netsim/router.h"
#include "tests/property/at_once.h"
#include "tests/support.h"

static const char *const packet_case_specs[] = {
    "torus:4x4", "torus:6",   "torus:3x5",     "torus:4x4x2",           "torus:2x3x4",
    "mesh:4x3",  "v6e:4x4",   "torus:8x2",     "torus:4x8,twisted",     "v4:4x4x4,optical=1.7us",
    "ring:7",    "torus:5x5", "torus:2x2x2x3", "torus:3x3*2,dcn=3GB/s", SMALL_FABRICS};
static const char *const packet_case_faults[] = {
    "links=1,seed=3", "chips=1,seed=5", "links=2,seed=9", NULL, NULL, NULL};

static inline topo *random_topology(struct sim_rng *rng)
{
    const char *spec = packet_case_specs[pick(rng, sizeof packet_case_specs / sizeof(char *))];
    const char *random = packet_case_faults[pick(rng, sizeof packet_case_faults / sizeof(char *))];
    struct sim_error err = {0};
    topo *t = NULL;
    if (random != NULL && topo_with(spec, "", random, NULL, &err, &t) == SIM_OK) return t;
    return topo_or_fail(spec);
}

/* BookSim's rules of classes are for healthy untwisted tori. */
static inline struct net_router random_router(struct sim_rng *rng, const topo *t)
{
    static const char *const names[] = {"tpu", "tpu", "tpu", "booksim-a", "booksim-p"};
    static const uint32_t packets[] = {4096, 512, 1000, 65536};
    struct net_router r = *net_router_find(names[pick(rng, 5)]);
    r.is_audited = true;
    if (!r.is_in_cycles) {
        r.packet_bytes = r.flit_bytes = packets[pick(rng, 4)];
        r.buffer_flits = pick(rng, 2) == 0 ? 0 : 1 + pick(rng, 5);
        r.bubble = pick(rng, 4);
        r.arbitration = pick(rng, 2) == 0 ? NET_BY_INPUT : NET_BY_CHANNEL;
        r.ejection = pick(rng, 2) * 12345;
    } else {
        r.vcs = 8;
        if (pick(rng, 3) == 0) r.switching = NET_BY_PACKET;
        if (topo_is_faulty(t) || topo_is_twisted(t)) r.class_rule = NET_CLASS_ROUTING;
    }
    return r;
}

/* With adaptive routing, and routers that go with it: BookSim's bind late here. */
static inline topo *random_adaptive_topology(struct sim_rng *rng)
{
    static const char *const specs[] = {
        "torus:4x4", "torus:6",   "torus:3x5", "torus:4x4x2", "torus:2x3x4",           "mesh:4x3",
        "v6e:4x4",   "torus:8x2", "torus:5x1", "mesh:3x2x4",  "v4:4x4x4,optical=1.7us"};
    struct sim_error err = {0};
    topo *t = NULL;
    const char *spec = specs[pick(rng, sizeof specs / sizeof(char *))];
    ck_assert_msg(topo_with(spec, "", NULL, "adaptive", &err, &t) == SIM_OK, "%s", err.text);
    return t;
}

static inline struct net_router random_late_router(struct sim_rng *rng, const topo *t)
{
    struct net_router r = random_router(rng, t);
    r.binding = NET_VC_LATE;
    r.switching = NET_BY_PACKET;
    if (!r.is_in_cycles) r.vcs = 3 + pick(rng, 4);
    if (pick(rng, 3) == 0) r.class_rule = NET_CLASS_DATELINE;
    return r;
}

static inline bool random_spec(struct sim_rng *rng, const topo *t, struct coll_spec *spec)
{
    *spec = (struct coll_spec){.op = (enum coll_op)pick(rng, COLL_PERMUTE),
                               .group = topo_group_all(t),
                               .bytes = 1 + pick(rng, 300000)};
    for (int tries = 0; tries < 20; tries++) {
        spec->algorithm = (enum coll_algorithm)pick(rng, COLL_ALGORITHMS);
        if (coll_algorithm_fits(spec->op, spec->algorithm) && coll_can(t, spec)) return true;
    }
    return false;
}

#endif
