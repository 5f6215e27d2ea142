/*
 * Steps whose time is known: free networks, free compute, exposed collectives by closed form; and
 * what holds for every step.
 */
#include <math.h>
#include <stdio.h>

#include "../unit/wl_study_fixture.h"
#include "base/rng.h"
#include "collectives/choice.h"
#include "collectives/cost.h"
#include "workloads/step.h"

static struct wl_step run_or_fail(const struct wl_study *study)
{
    struct sim_error err = {0};
    struct wl_step step;
    ck_assert_msg(wl_step_run(study, NULL, NULL, &err, &step) == SIM_OK, "%s", err.text);
    return step;
}

static struct wl_study parse_or_fail(const char *text)
{
    char message[1024];
    struct sim_error err = {0};
    struct wl_study study;
    if (wl_study_parse(text, "s.yaml", &err, &study) != SIM_OK)
        ck_abort_msg("%s\n%s", sim_error_format(&err, message, sizeof message), text);
    return study;
}

static struct wl_step run_text(const char *text)
{
    struct wl_study study = parse_or_fail(text);
    struct wl_step step = run_or_fail(&study);
    wl_study_release(&study);
    return step;
}

static double exposed(const struct wl_step *step, uint32_t axis, enum coll_op op,
                      enum wl_traffic traffic)
{
    for (uint32_t i = 0; i < step->part_count; i++) {
        const struct wl_class *c = &step->part[i].class;
        if (!c->is_compute && c->axis == axis && c->op == op && c->traffic == traffic)
            return step->part[i].exposed_s;
    }
    return 0;
}

/* A chip whose memory and matrix units take next to no time. */
#define FREE_COMPUTE                                                                               \
    "chip: {bf16: 1e9TFLOP/s, hbm_bandwidth: 1e6TB/s, hbm: 1TiB, matmul_efficiency: 1, "           \
    "attention_efficiency: 1, hbm_efficiency: 1}"
/* All arithmetic at one rate, memory free. */
#define PLAIN_COMPUTE                                                                              \
    "chip: {bf16: 100TFLOP/s, hbm_bandwidth: 1e6TB/s, hbm: 1TiB, matmul_efficiency: 1, "           \
    "attention_efficiency: 1, hbm_efficiency: 1}"
#define MODEL "model: {layers: 6, width: 1024, mlp_width: 4096, heads: 8, vocab: 8192}\n"

/* tensor 4 on one ring, nothing else on it, compute free: each of the 6 L + 2 gathers and 4 L + 2
 * scatters is exposed for its closed form (V/(2W) (t-1)/t + hops). Three scalar all-reduces and the
 * norms' are counted apart. */
START_TEST(tensor_collectives_are_exposed_for_their_closed_form)
{
    struct wl_study s = parse_or_fail(
        "system: {topology: \"torus:4,link=90GB/s,latency=1us\", " FREE_COMPUTE "}\n" MODEL
        "training: {batch: 4, sequence: 2048, remat: minimal}\nsharding: {tensor: 4}\n");
    struct wl_step step = run_or_fail(&s);
    struct coll_spec spec = {
        .op = COLL_ALL_GATHER, .group = s.axis[WL_TENSOR].group, .bytes = 2.0 * 4 * 2048 * 1024};
    spec.algorithm = coll_choose(s.topology, &spec);
    double gather_s = sim_ps_to_s(coll_closed_form(s.topology, &spec).time_ps);
    spec.op = COLL_REDUCE_SCATTER;
    spec.algorithm = coll_choose(s.topology, &spec);
    double scatter_s = sim_ps_to_s(coll_closed_form(s.topology, &spec).time_ps);
    ck_assert_double_eq_tol(exposed(&step, WL_TENSOR, COLL_ALL_GATHER, WL_TRAFFIC_ACTIVATIONS) /
                                (38 * gather_s),
                            1, 1e-3);
    ck_assert_double_eq_tol(exposed(&step, WL_TENSOR, COLL_REDUCE_SCATTER, WL_TRAFFIC_ACTIVATIONS) /
                                (26 * scatter_s),
                            1, 1e-3);
    wl_step_release(&step);
    wl_study_release(&s);
}
END_TEST

/* Compute free: gathers and scatters of a ring of 8 keep both directions of all links busy, so the
 * step is within 2 % of bytes / (2 W). */
START_TEST(network_limited_step_meets_the_bound)
{
    struct wl_step step =
        run_text("system: {topology: \"torus:8,link=1GB/s,latency=1us\", " FREE_COMPUTE "}\n" MODEL
                 "training: {batch: 8, sequence: 2048}\nsharding: {fsdp: 8}\n");
    ck_assert_str_eq(step.bound.limited_by, "network");
    ck_assert_double_ge(step.step_s, step.bound.time_s);
    ck_assert_double_eq_tol(step.step_s / step.bound.time_s, 1, 0.02);
    ck_assert_double_eq_tol(step.exposed_comm_s / step.step_s, 1, 1e-3);
    wl_step_release(&step);
}
END_TEST

/* A fast network: the step is its compute, and compute is executed FLOPs over the rate. Full
 * recomputation against none: FLOPs in the ratio of the policies (dead recomputation is left out,
 * so below 4/3), MFU in the inverse ratio. */
START_TEST(compute_limited_step_is_flops_over_rate)
{
    static const char text[] =
        "system: {topology: \"torus:8,link=1e6GB/s,latency=0\", " PLAIN_COMPUTE
        ", network: {launch_overhead: 0}}\n" MODEL
        "training: {batch: 8, sequence: 2048, remat: %s}\nsharding: {fsdp: 8}\n";
    char none[1024], full[1024];
    snprintf(none, sizeof none, text, "none");
    snprintf(full, sizeof full, text, "full");
    struct wl_step a = run_text(none), b = run_text(full);
    ck_assert_double_eq_tol(a.step_s / (a.executed_flops / 8 / 100e12), 1, 1e-3);
    ck_assert_double_eq_tol(b.step_s / a.step_s, b.executed_flops / a.executed_flops, 1e-3);
    ck_assert_double_eq_tol(a.mfu / b.mfu, b.step_s / a.step_s, 1e-12);
    ck_assert_double_gt(b.step_s / a.step_s, 1.15);
    ck_assert_double_lt(b.step_s / a.step_s, 4.0 / 3);
    ck_assert_double_le(b.mfu, b.hfu);
    wl_step_release(&a);
    wl_step_release(&b);
}
END_TEST

/* Host transfers: fetches of 6 layers at 1 GB/s each way dominate; 2 w T D + ... = 8192 tokens x 2
 * x (1024 + 3072) bytes a layer, saved and fetched: the bound is one way, the step both since
 * fetches come after saves. */
START_TEST(offload_is_limited_by_pcie)
{
    struct wl_step step =
        run_text("system: {topology: \"torus:4\", chip: {bf16: 1e9TFLOP/s, hbm_bandwidth: 1e6TB/s, "
                 "hbm: 1TiB, pcie: 1GB/s, "
                 "matmul_efficiency: 1, attention_efficiency: 1, hbm_efficiency: 1}}\n" MODEL
                 "training: {batch: 4, sequence: 8192, remat: offload}\nsharding: {fsdp: 4}\n");
    double way_s = 6 * 8192 * 2.0 * 4096 / 1e9;
    ck_assert_str_eq(step.bound.limited_by, "PCIe");
    ck_assert_double_eq_tol(step.bound.time_s, way_s, 1e-9);
    ck_assert_double_eq_tol(step.step_s / (2 * way_s), 1, 0.02);
    ck_assert_double_gt(step.exposed_host_s / step.step_s, 0.9);
    wl_step_release(&step);
}
END_TEST

/* Batch per chip fixed: compute per chip stays as chips are added. Batch of the job fixed: it
 * halves. */
START_TEST(batch_per_chip_and_per_job)
{
    static const char text[] = "system: {topology: \"torus:%d\", " PLAIN_COMPUTE "}\n" MODEL
                               "training: {batch: %d, sequence: 2048}\nsharding: {fsdp: %d}\n";
    char base[1024], per_chip[1024], per_job[1024];
    snprintf(base, sizeof base, text, 4, 16, 4);
    snprintf(per_chip, sizeof per_chip, text, 8, 32, 8);
    snprintf(per_job, sizeof per_job, text, 8, 16, 8);
    struct wl_step a = run_text(base), b = run_text(per_chip), c = run_text(per_job);
    ck_assert_double_eq_tol(b.compute_s / a.compute_s, 1, 1e-3);
    ck_assert_double_eq_tol(c.compute_s / a.compute_s, 0.5, 1e-3);
    wl_step_release(&a);
    wl_step_release(&b);
    wl_step_release(&c);
}
END_TEST

/* The chunks of a decomposed product hide its exchanges when compute is long enough: less is
 * exposed, never more bytes. */
START_TEST(overlap_hides_tensor_collectives)
{
    static const char text[] =
        "system: {topology: \"torus:4,link=90GB/s\", " PLAIN_COMPUTE
        ", network: {launch_overhead: 0}}\n"
        "model: {layers: 4, width: 4096, mlp_width: 16384, heads: 32, vocab: 8192}\n"
        "training: {batch: 4, sequence: 2048, tensor_overlap: %s}\nsharding: {tensor: 4}\n";
    char off[1024], on[1024];
    snprintf(off, sizeof off, text, "false");
    snprintf(on, sizeof on, text, "true");
    struct wl_step a = run_text(off), b = run_text(on);
    ck_assert_double_lt(b.exposed_comm_s, 0.2 * a.exposed_comm_s);
    ck_assert_double_lt(b.step_s, a.step_s);
    wl_step_release(&a);
    wl_step_release(&b);
}
END_TEST

START_TEST(order_of_a_placement_does_not_matter)
{
    struct wl_study a = wl_study_or_fail(
        "v5p:4x4x4", "{layers: 4, width: 1024, mlp_width: 4096, heads: 8, vocab: 8192}",
        "batch: 64, sequence: 2048", "fsdp: 16, tensor: 4, placement: {tensor: x, fsdp: yz}");
    struct wl_study b = wl_study_or_fail(
        "v5p:4x4x4", "{layers: 4, width: 1024, mlp_width: 4096, heads: 8, vocab: 8192}",
        "batch: 64, sequence: 2048", "fsdp: 16, tensor: 4, placement: {tensor: x, fsdp: zy}");
    struct wl_step step_a = run_or_fail(&a), step_b = run_or_fail(&b);
    ck_assert_double_eq(step_a.step_s, step_b.step_s);
    wl_step_release(&step_a);
    wl_step_release(&step_b);
    wl_study_release(&a);
    wl_study_release(&b);
}
END_TEST

/* ---- every step ---- */

static const char *pick(struct sim_rng *rng, const char *const *from, uint64_t count)
{
    return from[sim_rng_below(rng, count)];
}

static void random_study(struct sim_rng *rng, const char *link, char *text, size_t bytes)
{
    static const char *const topologies[] = {"v5p:4x4x4", "v6e:4x4", "v6e:8x8", "v5p:2x4x4",
                                             "torus:4x2"};
    static const uint32_t chips[] = {64, 16, 64, 32, 8};
    static const char *const remat[] = {"none", "minimal", "full", "offload",
                                        "{input: keep, out_proj: offload}"};
    static const char *const yes_no[] = {"true", "false"}, *const gradient[] = {"fp32", "bf16"};
    static const char *const mlp[] = {"plain", "gated"}, *const rate[] = {"1", "20", "400"};
    uint64_t which = sim_rng_below(rng, 5);
    uint32_t t = 1u << sim_rng_below(rng, 4), left = chips[which] / t,
             d = 1u << sim_rng_below(rng, 3);
    if (left % d != 0) d = 1;
    snprintf(text, bytes,
             "system: {topology: \"%s\", network: {link: %s}, chip: {bf16: %sTFLOP/s, "
             "hbm_bandwidth: 1TB/s, "
             "hbm: 1GiB, pcie: 10GB/s, matmul_efficiency: 0.7, attention_efficiency: 0.3, "
             "hbm_efficiency: 0.8}}\n"
             "model: {layers: %d, width: 512, mlp_width: 2048, heads: 8, kv_heads: %d, vocab: "
             "4096, mlp: %s}\n"
             "training: {batch: %u, sequence: 512, remat: %s, tensor_overlap: %s, gradient: %s}\n"
             "sharding: {data: %u, fsdp: %u, tensor: %u}\n",
             topologies[which], link, pick(rng, rate, 3), 1 + (int)sim_rng_below(rng, 4),
             1 << sim_rng_below(rng, 4), pick(rng, mlp, 2), chips[which], pick(rng, remat, 5),
             pick(rng, yes_no, 2), pick(rng, gradient, 2), d, left / d, t);
}

static void check_invariants(const struct wl_study *s, const struct wl_step *step)
{
    double sum = step->compute_s + step->exposed_comm_s + step->exposed_host_s;
    ck_assert_double_eq_tol(sum, step->step_s, 1e-9 * step->step_s + 1e-12);
    ck_assert_double_ge(step->step_s, step->bound.time_s * (1 - 1e-12));
    ck_assert_double_eq_tol(step->tokens_per_s * step->step_s, (double)(s->batch * s->sequence),
                            1e-6);
    for (uint32_t i = 0; i < step->part_count; i++) {
        ck_assert_double_ge(step->part[i].exposed_s, 0);
        ck_assert_double_le(step->part[i].exposed_s, step->part[i].total_s + 1e-12);
    }
    for (topo_link_id l = 0; l < topo_links(s->topology); l++) {
        ck_assert_double_le(sim_ps_to_s(step->links.busy_ps[l]), step->step_s + 1e-12);
        ck_assert_double_le(step->links.bytes[l],
                            topo_link_rate(s->topology, l) * step->step_s * (1 + 1e-9));
    }
    ck_assert_double_le(step->hfu, 1);
    ck_assert_double_le(step->mfu, step->hfu); /* causal: what is counted is executed */
}

START_TEST(invariants)
{
    struct sim_rng rng, again;
    char text[2048], slow_text[2048];
    sim_rng_init(&rng, 1, (uint64_t)_i);
    again = rng;
    random_study(&rng, "40GB/s", text, sizeof text);
    struct wl_study s = parse_or_fail(text);
    struct wl_step step = run_or_fail(&s), twice = run_or_fail(&s);
    check_invariants(&s, &step);
    ck_assert(step.step_s == twice.step_s); /* the same bits */
    random_study(&again, "20GB/s", slow_text, sizeof slow_text);
    struct wl_step slow = run_text(slow_text);
    ck_assert_msg(slow.step_s >= step.step_s, "half the link rate is faster: %.9g < %.9g\n%s",
                  slow.step_s, step.step_s, text);
    wl_step_release(&step);
    wl_step_release(&twice);
    wl_step_release(&slow);
    wl_study_release(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("step forms");
    TCase *c = tcase_create("known");
    tcase_set_timeout(c, 60);
    tcase_add_test(c, tensor_collectives_are_exposed_for_their_closed_form);
    tcase_add_test(c, network_limited_step_meets_the_bound);
    tcase_add_test(c, compute_limited_step_is_flops_over_rate);
    tcase_add_test(c, offload_is_limited_by_pcie);
    tcase_add_test(c, batch_per_chip_and_per_job);
    tcase_add_test(c, overlap_hides_tensor_collectives);
    tcase_add_test(c, order_of_a_placement_does_not_matter);
    suite_add_tcase(s, c);
    c = tcase_create("every step");
    tcase_set_timeout(c, 60);
    tcase_add_loop_test(c, invariants, 0, 200);
    suite_add_tcase(s, c);
    return run_suite(s);
}
