/*
 * Names, dispatch, and what the algorithms share.
 */
#include "collectives/coll.h"

#include <math.h>
#include <stddef.h>

#include "collectives/coll_internal.h"

const char *const coll_op_names[COLL_OPS + 1] = {"all-reduce", "all-gather", "reduce-scatter",
                                                 "all-to-all", "permute",    NULL};
const char *const coll_algorithm_names[COLL_ALGORITHMS + 1] = {
    "ring", "bidirectional-ring", "short-ring", "bucket", "direct", NULL};

typedef net_schedule *(*build_fn)(const topo *, const struct coll_spec *);
typedef struct coll_cost (*cost_fn)(const topo *, const struct coll_spec *);

static const struct {
    build_fn build;
    cost_fn cost;
} algorithms[COLL_ALGORITHMS] = {
    [COLL_RING] = {coll_ring_build, coll_ring_cost},
    [COLL_BIDIRECTIONAL_RING] = {coll_ring_build, coll_ring_cost},
    [COLL_SHORT_RING] = {coll_ring_build, coll_ring_cost},
    [COLL_BUCKET] = {coll_bucket_build, coll_bucket_cost},
    [COLL_DIRECT] = {coll_direct_build, coll_direct_cost},
};

bool coll_algorithm_fits(enum coll_op op, enum coll_algorithm algorithm)
{
    if (op == COLL_ALL_TO_ALL || op == COLL_PERMUTE) return algorithm == COLL_DIRECT;
    return true;
}

/* Groups cover the slice, so every chip takes part; a list of messages names those that do. */
static enum sim_status check_chips(const topo *t, const struct coll_spec *spec,
                                   struct sim_error *err)
{
    char name[48];
    if (topo_failed_chips(t) == 0) return SIM_OK;
    for (topo_chip_id c = 0; c < topo_chips(t) && spec->pairs == NULL; c++)
        if (topo_chip_is_failed(t, c))
            return sim_error_set(err, SIM_EDATA,
                                 "chip %s has failed, and %s needs every chip of the slice",
                                 topo_node_format(t, c, name), coll_op_names[spec->op]);
    for (uint32_t i = 0; spec->pairs != NULL && i < spec->pairs->count; i++)
        for (int end = 0; end < 2; end++) {
            topo_chip_id c = end == 0 ? spec->pairs->src[i] : spec->pairs->dst[i];
            if (topo_chip_is_failed(t, c))
                return sim_error_set(err, SIM_EDATA,
                                     "chip %s has failed and can neither send nor receive",
                                     topo_node_format(t, c, name));
        }
    return SIM_OK;
}

enum sim_status coll_build(const topo *t, const struct coll_spec *spec, struct sim_error *err,
                           net_schedule **out)
{
    if (!coll_algorithm_fits(spec->op, spec->algorithm))
        return sim_error_set(err, SIM_EUSAGE, "algorithm %s does not do %s, want direct",
                             coll_algorithm_names[spec->algorithm], coll_op_names[spec->op]);
    SIM_TRY(check_chips(t, spec, err));
    net_schedule *s = spec->op == COLL_PERMUTE ? coll_permute_build(t, spec)
                                               : algorithms[spec->algorithm].build(t, spec);
    net_schedule_seal(s);
    *out = s;
    return SIM_OK;
}

/* One link between every two chips? The count alone would take doubled cables for missing ones. */
static bool is_full(const topo *t)
{
    uint64_t chips = topo_chips(t);
    if (topo_nodes(t) != chips || topo_links(t) != chips * (chips - 1)) return false;
    for (topo_link_id l = 1; l < topo_links(t); l++) {
        topo_node_id from = topo_link_from(t, l), to = topo_link_to(t, l);
        if (from == topo_link_from(t, l - 1) && to <= topo_link_to(t, l - 1)) return false;
    }
    return true;
}

/* A torus, mesh or full mesh of equal links, where axes close onto themselves if at all. */
static bool is_plain(const topo *t)
{
    return (topo_has_ports(t) || is_full(t)) && !topo_is_twisted(t) && topo_is_uniform(t) &&
           !topo_is_faulty(t);
}

struct coll_cost coll_closed_form(const topo *t, const struct coll_spec *spec)
{
    struct coll_cost cost = spec->op == COLL_PERMUTE ? coll_permute_cost(t, spec)
                                                     : algorithms[spec->algorithm].cost(t, spec);
    cost.is_exact = cost.is_exact && is_plain(t);
    return cost;
}

double coll_bus_factor(enum coll_op op, uint32_t ranks)
{
    double n = ranks;
    switch (op) {
    case COLL_ALL_REDUCE:
        return 2 * (n - 1) / n;
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
    case COLL_ALL_TO_ALL:
        return (n - 1) / n;
    default:
        return 1;
    }
}

/* Direct sends n(n-1) messages: the chips of a large group could not inject that many at once in
 * the time the form says, nor is it worth simulating. */
static bool is_candidate(const struct coll_spec *spec, enum coll_algorithm algorithm)
{
    if (!coll_algorithm_fits(spec->op, algorithm)) return false;
    bool is_only = spec->op == COLL_ALL_TO_ALL || spec->op == COLL_PERMUTE;
    return algorithm != COLL_DIRECT || is_only || spec->group.size <= COLL_DIRECT_CHOICE_MAX;
}

enum coll_algorithm coll_choose(const topo *t, const struct coll_spec *spec)
{
    struct coll_spec candidate = *spec;
    enum coll_algorithm best = COLL_ALGORITHMS;
    sim_ps best_ps = 0;
    for (int a = 0; a < COLL_ALGORITHMS; a++) {
        if (!is_candidate(spec, (enum coll_algorithm)a)) continue;
        candidate.algorithm = (enum coll_algorithm)a;
        sim_ps ps = coll_closed_form(t, &candidate).time_ps;
        if (best == COLL_ALGORITHMS || ps < best_ps) {
            best = (enum coll_algorithm)a;
            best_ps = ps;
        }
    }
    assert(best != COLL_ALGORITHMS);
    return best;
}

/* ---- shared by the algorithms ---- */

struct coll_network coll_network_of(const topo *t)
{
    return (struct coll_network){topo_default_link_rate(t), (double)topo_default_latency_ps(t)};
}

struct topo_group coll_group_trimmed(const struct topo_group *group)
{
    struct topo_group trimmed = {.size = group->size};
    for (uint32_t i = 0; i < group->factor_count; i++)
        if (group->factor[i].extent > 1) trimmed.factor[trimmed.factor_count++] = group->factor[i];
    return trimmed;
}

struct coll_pass coll_pass_along(net_schedule *s, uint32_t factor, enum coll_pass_kind kind,
                                 int32_t direction)
{
    struct coll_pass pass = {.kind = kind, .axis = factor, .direction = direction};
    const struct topo_factor *f = &net_schedule_group(s)->factor[factor];
    for (int side = 0; side < 2; side++) {
        int32_t sign = side == 0 ? 1 : -1, step[TOPO_FACTORS_MAX] = {0};
        if (topo_has_ports(net_schedule_topo(s))) {
            step[f->axis] = sign * (int32_t)f->stride;
            pass.peer[side] = net_peer_hops(s, step);
        } else {
            step[factor] = sign;
            pass.peer[side] = net_peer_digits(s, step);
        }
    }
    return pass;
}

void coll_lane_write(net_schedule *s, enum coll_op op, uint32_t part_begin, uint32_t part_count,
                     double bytes, uint32_t *next_tag, const struct coll_pass *pass,
                     uint32_t pass_count)
{
    struct coll_lane lane;
    coll_lane_init(&lane, s, part_begin, part_count, bytes, next_tag, op != COLL_ALL_GATHER);
    if (op != COLL_ALL_GATHER)
        for (uint32_t i = pass_count; i-- > 0;)
            coll_pass_reduce_scatter(&lane, &pass[i]);
    if (op != COLL_REDUCE_SCATTER)
        for (uint32_t i = 0; i < pass_count; i++)
            coll_pass_gather(&lane, &pass[i]);
}

static sim_ps whole_ps(double ps)
{
    return ps < (double)SIM_PS_MAX ? llrint(ps) : SIM_PS_MAX;
}

struct coll_cost coll_cost_make(double latency_ps, double bytes_ps, bool is_exact)
{
    return (struct coll_cost){whole_ps(latency_ps + bytes_ps), whole_ps(latency_ps), is_exact};
}
