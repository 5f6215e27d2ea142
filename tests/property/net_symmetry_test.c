/*
 * Symmetry on and off give the same bits: time, what the critical path is made of, bytes and busy
 * time of every link. Random collectives, one to three at a time with computing between, on random
 * tori, meshes, twisted and faulty ones. The loop index is the seed.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "netsim/run.h"
#include "netsim/symmetry.h"
#include "tests/random_collective.h"
#include "tests/support.h"

#define CASES 1200
#define MOST  3 /* collectives at once */

static const char *const specs[] = {"torus:4x4",
                                    "torus:6",
                                    "torus:3x5",
                                    "torus:4x4x2",
                                    "torus:2x3x4",
                                    "mesh:4x3",
                                    "v6e:4x4",
                                    "v6e:4x8",
                                    "torus:4x8,twisted",
                                    "v4:4x4x8,twisted",
                                    "torus:2x2x4,twisted",
                                    "v4:4x4x8,optical=1.7us",
                                    "v5p:8x4x4,optical=2us",
                                    "torus:8x2",
                                    "torus:5x5",
                                    "torus:4x4x4",
                                    "ring:7",
                                    "full:5",
                                    "switch:6",
                                    "torus:3x3*2,dcn=3GB/s",
                                    "torus:6x6",
                                    "v5p:4x4x2*2",
                                    "torus:4*3,dcn=1GB/s",
                                    "mesh:3x6",
                                    "fat-tree:4",
                                    "v4:4x4x8"};
static const char *const latencies[] = {"0", "1us", "333ns", "7ps", NULL, NULL};
static const char *const faults[] = {
    "links=1,seed=3", "chips=1,seed=5", "links=2,seed=9", NULL, NULL, NULL, NULL, NULL};

static topo *random_topology(struct sim_rng *rng)
{
    char spec[80];
    const char *base = specs[pick(rng, sizeof specs / sizeof specs[0])];
    const char *latency = latencies[pick(rng, sizeof latencies / sizeof latencies[0])];
    const char *random = faults[pick(rng, sizeof faults / sizeof faults[0])];
    bool has_options = strchr(base, ',') != NULL;
    snprintf(spec, sizeof spec, "%s%s%s", base, latency != NULL && !has_options ? ",latency=" : "",
             latency != NULL && !has_options ? latency : "");
    struct sim_error err = {0};
    topo *t = NULL;
    if (topo_with(spec, "", random, NULL, &err, &t) != SIM_OK) t = topo_or_fail(spec);
    return t;
}

/* A root that computes and calls: everybody the same, or only some chips at a time. */
static net_schedule *random_root(struct sim_rng *rng, const topo *t, net_schedule *const *callee,
                                 uint32_t count)
{
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t programs = pick(rng, 4) == 0 ? 2 : 1;
    uint32_t *role = calloc(all.size, sizeof *role);
    ck_assert_ptr_nonnull(role);
    sim_ps work[MOST];
    for (uint32_t i = 0; i < count; i++)
        work[i] = (sim_ps)pick(rng, 3) * 500000;
    for (uint32_t p = 0; p < programs; p++) {
        net_schedule_add_program(s);
        net_op_id last = NET_NONE;
        bool is_serial = pick(rng, 2) == 0;
        for (uint32_t i = 0; i < count; i++) {
            struct net_op compute = {.kind = NET_OP_COMPUTE, .guard = NET_NONE, .chunk = NET_NONE};
            compute.duration_ps = work[i] + (sim_ps)p * 1000;
            net_op_id id = net_op_add(s, p, compute);
            net_op_after(s, p, id, is_serial ? last : NET_NONE);
            struct net_op call = {.kind = NET_OP_CALL,
                                  .guard = NET_NONE,
                                  .chunk = NET_NONE,
                                  .callee = callee[i],
                                  .call_id = i};
            last = net_op_add(s, p, call);
            net_op_after(s, p, last, id);
        }
    }
    for (uint32_t r = 0; r < all.size; r++)
        role[r] = programs == 1 ? 0 : r % 2;
    net_schedule_set_roles(s, role);
    free(role);
    net_schedule_seal(s);
    return s;
}

struct outcome {
    struct net_result result;
    struct net_run_stats stats;
    struct net_link_stats links;
};

static struct outcome run(const net_schedule *s, bool is_unreduced)
{
    struct outcome o;
    struct sim_error err = {0};
    const struct net_options options = {
        .launch_overhead_ps = 1300, .send_overhead_ps = 70, .is_unreduced = is_unreduced};
    net_link_stats_init(&o.links, net_schedule_topo(s));
    ck_assert_msg(net_run(s, &options, NULL, &err, &o.result, &o.links, &o.stats) == SIM_OK, "%s",
                  err.text);
    return o;
}

/* One random case, owned. */
struct random_case {
    topo *t;
    uint32_t count;
    net_schedule *callee[MOST], *root;
};

static struct random_case make_case(int seed)
{
    struct sim_rng rng;
    sim_rng_init(&rng, 2026, (uint64_t)seed);
    struct random_case c = {.t = random_topology(&rng)};
    c.count = topo_chips(c.t) > 64 ? 1 : 1 + pick(&rng, MOST);
    for (uint32_t i = 0; i < c.count; i++) {
        struct coll_spec spec = random_spec(&rng, c.t, 1e9);
        c.callee[i] = random_collective(c.t, &spec);
    }
    c.root = random_root(&rng, c.t, c.callee, c.count);
    return c;
}

static void release_case(struct random_case *c)
{
    net_schedule_destroy(c->root);
    for (uint32_t i = 0; i < c->count; i++)
        net_schedule_destroy(c->callee[i]);
    topo_destroy(c->t);
}

START_TEST(on_and_off_are_the_same_bits)
{
    struct random_case c = make_case(_i);
    struct outcome on = run(c.root, false), off = run(c.root, true);
    const char *spec = topo_spec(c.t);
    ck_assert_msg(on.result.time_ps == off.result.time_ps, "case %d, %s: %lld on, %lld off", _i,
                  spec, (long long)on.result.time_ps, (long long)off.result.time_ps);
    ck_assert_msg(memcmp(&on.result, &off.result, sizeof on.result) == 0, "case %d, %s: path", _i,
                  spec);
    ck_assert_uint_eq(off.stats.classes, topo_chips(c.t));
    ck_assert_msg(on.stats.parts == off.stats.parts, "case %d, %s: parts", _i, spec);
    ck_assert_uint_eq(off.stats.parts_reused, 0);
    for (topo_link_id l = 0; l < topo_links(c.t); l++) {
        ck_assert_msg(on.links.bytes[l] == off.links.bytes[l], "case %d, %s: link %u: %g, %g", _i,
                      spec, l, on.links.bytes[l], off.links.bytes[l]);
        ck_assert_msg(on.links.busy_ps[l] == off.links.busy_ps[l], "case %d, %s: link %u", _i, spec,
                      l);
    }
    net_link_stats_release(&on.links);
    net_link_stats_release(&off.links);
    release_case(&c);
}
END_TEST

START_TEST(many_of_the_cases_are_reduced)
{
    int reduced = 0;
    for (int i = 0; i < 300; i++) {
        struct random_case c = make_case(i);
        struct net_symmetry s = net_symmetry_find(c.root, true);
        reduced += s.is_reduced;
        net_symmetry_release(&s);
        release_case(&c);
    }
    ck_assert_int_ge(reduced, 60);
}
END_TEST

/* Classes and parts by hand: what is tied by messages or links is a part; of parts with the same
 * classes one is run. */
START_TEST(classes_are_as_few_as_they_can_be)
{
    static const struct {
        const char *spec, *axes, *fail;
        enum coll_op op;
        enum coll_algorithm algorithm;
        uint64_t classes, parts, parts_run;
    } cases[] = {
        {"torus:8x8", "xy", "", COLL_ALL_REDUCE, COLL_BUCKET, 1, 1, 1},
        {"torus:8x8", "x", "", COLL_ALL_REDUCE, COLL_RING, 1, 8, 1},
        {"torus:8x8", "x4", "", COLL_ALL_TO_ALL, COLL_DIRECT, 4, 16, 1}, /* places */
        {"torus:8x8", "xy", "", COLL_ALL_TO_ALL, COLL_DIRECT, 1, 1, 1},
        {"torus:8x8", "xy", "", COLL_ALL_REDUCE, COLL_SWING, 1, 1,
         1}, /* even chips mirror odd ones */
        {"mesh:4x8", "xy", "", COLL_ALL_REDUCE, COLL_BUCKET, 32, 1, 1},
        {"v6e:8x16", "xy", "", COLL_ALL_REDUCE, COLL_BUCKET, 8, 1, 1}, /* x is a line */
        {"torus:8x8", "xy", "link:0,0:+x", COLL_ALL_REDUCE, COLL_BUCKET, 64, 1, 1},
        {"v4:8x8x8,optical=2us", "xyz", "", COLL_ALL_REDUCE, COLL_BUCKET, 64, 1, 1}, /* a cube */
        /* the cable's detour ties two rows of 8 together; the other six are one class */
        {"torus:8x8", "x", "link:0,0:+x", COLL_ALL_REDUCE, COLL_BUCKET, 16 + 1, 1 + 6, 1 + 1},
        {"torus:8x8", "y", "link:0,0:+x", COLL_ALL_REDUCE, COLL_BUCKET, 1, 8, 1}, /* not in use */
        {"mesh:4x8", "y", "", COLL_ALL_REDUCE, COLL_BUCKET, 8, 4, 1}, /* places of a line */
        {"v4:8x8x8,optical=2us", "z", "", COLL_ALL_REDUCE, COLL_BUCKET, 4, 64, 1}, /* of a cube */
        {"torus:3x3*4,dcn=3GB/s", "xyz", "", COLL_ALL_REDUCE, COLL_HIERARCHICAL, 1, 1, 1},
        {"v5p:4x4x4*2", "xyzw", "", COLL_ALL_REDUCE, COLL_HIERARCHICAL, 4, 1,
         1}, /* of a host's NIC */
        {"v5p:4x4x4*2", "xyz", "", COLL_ALL_TO_ALL, COLL_DIRECT, 1, 2, 1},
        {"switch:6", "x", "", COLL_ALL_TO_ALL, COLL_DIRECT, 1, 1, 1},
        {"v4:4x4x8,twisted", "xyz", "", COLL_ALL_TO_ALL, COLL_DIRECT, 1, 1, 1}, /* by offsets */
        {"v4:4x8x8,twisted", "zxy", "", COLL_ALL_REDUCE, COLL_DIRECT, 1, 1, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_with_or_fail(cases[i].spec, cases[i].fail, NULL);
        struct sim_error err = {0};
        net_schedule *s;
        struct coll_spec c = {.op = cases[i].op,
                              .algorithm = cases[i].algorithm,
                              .group = group_or_fail(t, cases[i].axes),
                              .bytes = 1e6};
        ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_OK);
        struct outcome o = run(s, false);
        ck_assert_msg(o.stats.classes == cases[i].classes, "%s %s %s: %llu classes", cases[i].spec,
                      cases[i].axes, coll_algorithm_names[c.algorithm],
                      (unsigned long long)o.stats.classes);
        ck_assert_msg(o.stats.parts == cases[i].parts &&
                          o.stats.parts - o.stats.parts_reused == cases[i].parts_run,
                      "%s %s %s: %llu parts, %llu reused", cases[i].spec, cases[i].axes,
                      coll_algorithm_names[c.algorithm], (unsigned long long)o.stats.parts,
                      (unsigned long long)o.stats.parts_reused);
        net_link_stats_release(&o.links);
        net_schedule_destroy(s);
        topo_destroy(t);
    }
}
END_TEST

/* Run both ways: the same bits, and as many classes, parts and parts run. */
static void hold(const net_schedule *s, uint64_t classes, uint64_t parts, uint64_t parts_run)
{
    struct outcome on = run(s, false), off = run(s, true);
    ck_assert_int_eq(memcmp(&on.result, &off.result, sizeof on.result), 0);
    for (topo_link_id l = 0; l < topo_links(net_schedule_topo(s)); l++) {
        ck_assert(on.links.bytes[l] == off.links.bytes[l]);
        ck_assert_int_eq(on.links.busy_ps[l], off.links.busy_ps[l]);
    }
    ck_assert_uint_eq(on.stats.classes, classes);
    ck_assert_uint_eq(on.stats.parts, parts);
    ck_assert_uint_eq(on.stats.parts - on.stats.parts_reused, parts_run);
    net_link_stats_release(&on.links);
    net_link_stats_release(&off.links);
}

static struct net_op plain_op(enum net_op_kind kind)
{
    return (struct net_op){.kind = kind, .guard = NET_NONE, .chunk = NET_NONE};
}

/* Stages along z, a role each: they take in, compute for as long as their place says, and pass
 * on. */
START_TEST(stages_of_a_pipeline_are_a_class_each)
{
    topo *t = topo_or_fail("torus:4x4x4");
    struct topo_group all = topo_group_all(t);
    net_schedule *s = net_schedule_create(t, &all);
    uint32_t role[64], next = net_peer_hops(s, (const int32_t[TOPO_AXES_MAX]){0, 0, 1}),
                       previous = net_peer_hops(s, (const int32_t[TOPO_AXES_MAX]){0, 0, -1});
    for (uint32_t stage = 0; stage < 4; stage++) {
        net_schedule_add_program(s);
        net_op_id last = NET_NONE;
        struct net_op receive = plain_op(NET_OP_RECEIVE), compute = plain_op(NET_OP_COMPUTE),
                      send = plain_op(NET_OP_SEND);
        receive.peer = previous;
        compute.duration_ps = (sim_ps)(stage + 1) * SIM_PS_PER_US;
        send.peer = next;
        send.bytes = 1e6;
        if (stage > 0) last = net_op_add(s, stage, receive);
        net_op_id work = net_op_add(s, stage, compute);
        net_op_after(s, stage, work, last);
        if (stage < 3) net_op_after(s, stage, net_op_add(s, stage, send), work);
    }
    for (uint32_t i = 0; i < 64; i++)
        role[i] = i / 16;
    net_schedule_set_roles(s, role);
    net_schedule_seal(s);
    hold(s, 4, 16, 1);
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

/* Everybody sends to (x+1, y+1), by a file of routes along y first; chip 0 along x first, if it is
 * odd. Messages go in four circles of four chips. The odd way takes the links of (0,3) and (1,0),
 * of another circle: these two are one part of eight classes, the other two circles are alike. */
START_TEST(routes_of_a_file_are_taken_into_account)
{
    for (int is_odd = 0; is_odd < 2; is_odd++) {
        char path[] = "/tmp/podsim_routes_XXXXXX";
        int fd = mkstemp(path);
        ck_assert_int_ge(fd, 0);
        FILE *file = fdopen(fd, "w");
        for (uint32_t c = 0; c < 16; c++) {
            uint32_t x = c % 4, y = c / 4, to = (x + 1) % 4 + 4 * ((y + 1) % 4);
            uint32_t way = is_odd && c == 0 ? 1 : x + 4 * ((y + 1) % 4);
            fprintf(file, "%u %u: %u\n", c, to, way);
        }
        fclose(file);
        topo *t = topo_with_or_fail("torus:4x4", "", path);
        remove(path);
        struct topo_group all = topo_group_all(t);
        net_schedule *s = net_schedule_create(t, &all);
        net_schedule_add_program(s);
        struct net_op send = plain_op(NET_OP_SEND), receive = plain_op(NET_OP_RECEIVE);
        send.peer = net_peer_digits(s, (const int32_t[]){1, 1});
        send.bytes = 1e6;
        receive.peer = net_peer_digits(s, (const int32_t[]){-1, -1});
        net_op_add(s, 0, send);
        net_op_add(s, 0, receive);
        net_schedule_seal(s);
        hold(s, is_odd ? 8 + 1 : 1, is_odd ? 1 + 2 : 4, is_odd ? 1 + 1 : 1);
        net_schedule_destroy(s);
        topo_destroy(t);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        classes_are_as_few_as_they_can_be, stages_of_a_pipeline_are_a_class_each,
        routes_of_a_file_are_taken_into_account, many_of_the_cases_are_reduced};
    Suite *suite = SUITE_OF("net_symmetry", tests);
    TCase *loops = tcase_create("random");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, on_and_off_are_the_same_bits, 0, CASES);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
