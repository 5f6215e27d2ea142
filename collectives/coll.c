/*
 * Names, dispatch, and what the algorithms share.
 */
#include "collectives/coll.h"

#include <math.h>
#include <stddef.h>

#include "collectives/coll_internal.h"

const char *const coll_op_names[COLL_OPS + 1] = {
    "all-reduce", "all-gather", "reduce-scatter", "all-to-all", "broadcast", "reduce",
    "gather",     "scatter",    "permute",        "send",       NULL};
const char *const coll_algorithm_names[COLL_ALGORITHMS + 1] = {"ring",
                                                               "bidirectional-ring",
                                                               "short-ring",
                                                               "bucket",
                                                               "bucket-1",
                                                               "bucket-2",
                                                               "bucket-short",
                                                               "bucket-all",
                                                               "direct",
                                                               "recursive-doubling",
                                                               "halving-doubling",
                                                               "bruck",
                                                               "binomial",
                                                               "bine",
                                                               "chain",
                                                               "binary-tree",
                                                               "double-tree",
                                                               "swing",
                                                               "swing-latency",
                                                               "hierarchical",
                                                               "ring-channels",
                                                               "hamiltonian",
                                                               "phased",
                                                               NULL};

typedef net_schedule *(*build_fn)(const topo *, const struct coll_spec *);
typedef struct coll_cost (*cost_fn)(const topo *, const struct coll_spec *);
typedef const char *(*obstacle_fn)(const topo *, const struct coll_spec *);
typedef uint32_t (*chunks_fn)(const topo *, const struct coll_spec *);

#define OP(op)  (UINT32_C(1) << COLL_##op)
#define SHARDED (OP(ALL_REDUCE) | OP(ALL_GATHER) | OP(REDUCE_SCATTER))
#define ROOTED  (OP(BROADCAST) | OP(REDUCE))
#define TREES   (OP(ALL_REDUCE) | ROOTED | OP(GATHER) | OP(SCATTER))

static const struct {
    uint32_t ops;
    build_fn build;
    cost_fn cost;
    obstacle_fn obstacle; /* NULL: none but failed chips, where `takes_holes` is not set */
    bool takes_holes;
    bool takes_twists; /* an exact form stays so where axes close with a twist */
    chunks_fn chunks;  /* NULL: always one */
    bool is_own_judge; /* says of any network whether its form is exact */
} algorithms[COLL_ALGORITHMS] = {
    [COLL_RING] = {SHARDED, coll_ring_build, coll_ring_cost},
    [COLL_BIDIRECTIONAL_RING] = {SHARDED, coll_ring_build, coll_ring_cost},
    [COLL_SHORT_RING] = {SHARDED, coll_ring_build, coll_ring_cost},
    [COLL_BUCKET] = {SHARDED, coll_bucket_build, coll_bucket_cost},
    [COLL_BUCKET_1] = {SHARDED, coll_bucket_build, coll_bucket_cost},
    [COLL_BUCKET_2] = {SHARDED, coll_bucket_build, coll_bucket_cost},
    [COLL_BUCKET_SHORT] = {SHARDED, coll_bucket_build, coll_bucket_cost},
    [COLL_BUCKET_ALL] = {SHARDED, coll_bucket_build, coll_bucket_cost, coll_bucket_obstacle},
    [COLL_RECURSIVE_DOUBLING] = {SHARDED, coll_doubling_build, coll_doubling_cost, NULL, true},
    [COLL_HALVING_DOUBLING] = {OP(ALL_REDUCE), coll_doubling_build, coll_doubling_cost, NULL, true},
    [COLL_BRUCK] = {SHARDED | OP(ALL_TO_ALL), coll_bruck_build, coll_bruck_cost, NULL, true},
    [COLL_BINOMIAL] = {TREES, coll_binomial_build, coll_binomial_cost, NULL, true},
    [COLL_BINE] = {TREES, coll_bine_build, coll_bine_cost, coll_bine_obstacle, true},
    [COLL_CHAIN] = {OP(ALL_REDUCE) | ROOTED, coll_chain_build, coll_chain_cost, NULL, true, false,
                    coll_chain_chunks},
    [COLL_BINARY_TREE] = {OP(ALL_REDUCE), coll_double_tree_build, coll_double_tree_cost, NULL, true,
                          false, coll_double_tree_chunks},
    [COLL_DOUBLE_TREE] = {OP(ALL_REDUCE), coll_double_tree_build, coll_double_tree_cost, NULL, true,
                          false, coll_double_tree_chunks},
    [COLL_SWING] = {SHARDED, coll_swing_build, coll_swing_cost, coll_swing_obstacle},
    [COLL_SWING_LATENCY] = {OP(ALL_REDUCE), coll_swing_build, coll_swing_cost, coll_swing_obstacle},
    [COLL_HIERARCHICAL] = {SHARDED, coll_hierarchy_build, coll_hierarchy_cost,
                           coll_hierarchy_obstacle, false, false, coll_hierarchy_chunks},
    [COLL_CHANNELS] = {SHARDED, coll_channels_build, coll_channels_cost, coll_channels_obstacle,
                       false, false, NULL, true},
    [COLL_HAMILTONIAN] = {SHARDED, coll_hamiltonian_build, coll_hamiltonian_cost,
                          coll_hamiltonian_obstacle, true, true},
    [COLL_DIRECT] = {SHARDED | OP(ALL_TO_ALL) | OP(PERMUTE) | OP(SEND), coll_direct_build,
                     coll_direct_cost},
    [COLL_PHASED] = {OP(ALL_TO_ALL), coll_phased_build, coll_phased_cost},
};

uint32_t coll_members(const topo *t, const struct coll_spec *spec)
{
    bool is_whole = spec->group.size == topo_chips(t) && spec->pairs == NULL;
    return is_whole ? spec->group.size - topo_failed_chips(t) : spec->group.size;
}

topo_chip_id coll_an_active_chip(const struct coll_spec *spec)
{
    return spec->is_one_group ? spec->one_group_of : 0;
}

bool coll_is_active(const topo *t, const struct coll_spec *spec, topo_chip_id chip)
{
    return !spec->is_one_group || topo_group_chip(t, &spec->group, chip, 0) ==
                                      topo_group_chip(t, &spec->group, spec->one_group_of, 0);
}

bool coll_algorithm_fits(enum coll_op op, enum coll_algorithm algorithm)
{
    return algorithms[algorithm].ops >> op & 1;
}

static bool is_messages(enum coll_op op)
{
    return op == COLL_PERMUTE || op == COLL_SEND;
}

const char *coll_obstacle(const topo *t, const struct coll_spec *spec)
{
    struct coll_spec trimmed = *spec;
    trimmed.group = coll_group_trimmed(&spec->group);
    if (spec->pairs != NULL || is_messages(spec->op) || coll_members(t, &trimmed) == 1) return NULL;
    if (topo_failed_chips(t) > 0 && !algorithms[spec->algorithm].takes_holes)
        return "want a slice without failed chips";
    obstacle_fn obstacle = algorithms[spec->algorithm].obstacle;
    return obstacle != NULL ? obstacle(t, &trimmed) : NULL;
}

bool coll_can(const topo *t, const struct coll_spec *spec)
{
    return coll_algorithm_fits(spec->op, spec->algorithm) && coll_obstacle(t, spec) == NULL;
}

/* A failed chip can be left out of a group when there is one group only; a list of messages names
 * those that take part. */
static enum sim_status check_chips(const topo *t, const struct coll_spec *spec,
                                   struct sim_error *err)
{
    char name[48];
    if (topo_failed_chips(t) == 0) return SIM_OK;
    for (uint32_t i = 0; spec->pairs != NULL && i < spec->pairs->count; i++)
        for (int end = 0; end < 2; end++) {
            topo_chip_id c = end == 0 ? spec->pairs->src[i] : spec->pairs->dst[i];
            if (topo_chip_is_failed(t, c))
                return sim_error_set(err, SIM_EDATA,
                                     "chip %s has failed and can neither send nor receive",
                                     topo_node_format(t, c, name));
        }
    if (spec->pairs != NULL) return SIM_OK;
    bool is_whole = spec->group.size == topo_chips(t), is_rooted = spec->op >= COLL_BROADCAST;
    for (topo_chip_id c = 0; c < topo_chips(t) && !is_whole; c++)
        if (topo_chip_is_failed(t, c))
            return sim_error_set(err, SIM_EDATA,
                                 "chip %s has failed: only one group of the whole slice can go on "
                                 "without it",
                                 topo_node_format(t, c, name));
    uint32_t ends[] = {spec->root, spec->receiver};
    for (int i = 0; i < 2 && is_rooted; i++) {
        topo_chip_id c = topo_group_chip(t, &spec->group, 0, ends[i]);
        if (topo_chip_is_failed(t, c) && (i == 0 || spec->op == COLL_SEND))
            return sim_error_set(err, SIM_EDATA, "chip %s has failed, and %s is to %s it",
                                 topo_node_format(t, c, name), coll_op_names[spec->op],
                                 i == 0 ? "begin or end at" : "reach");
    }
    return SIM_OK;
}

static net_schedule *build(const topo *t, const struct coll_spec *spec)
{
    if (spec->pairs == NULL && coll_members(t, spec) == 1) { /* nobody to send to */
        net_schedule *s = net_schedule_create(t, &spec->group);
        net_schedule_add_program(s);
        return s;
    }
    if (is_messages(spec->op) || spec->pairs != NULL) return coll_permute_build(t, spec);
    return algorithms[spec->algorithm].build(t, spec);
}

enum sim_status coll_accept(const topo *t, const struct coll_spec *spec, struct sim_error *err)
{
    if (!coll_algorithm_fits(spec->op, spec->algorithm))
        return sim_error_set(err, SIM_EUSAGE, "algorithm %s does not do %s",
                             coll_algorithm_names[spec->algorithm], coll_op_names[spec->op]);
    const char *obstacle = coll_obstacle(t, spec);
    if (obstacle != NULL)
        return sim_error_set(err, SIM_EUSAGE, "algorithm %s on %s: %s",
                             coll_algorithm_names[spec->algorithm], topo_spec(t), obstacle);
    return check_chips(t, spec, err);
}

enum sim_status coll_build(const topo *t, const struct coll_spec *spec, struct sim_error *err,
                           net_schedule **out)
{
    struct coll_spec trimmed = *spec;
    trimmed.group = coll_group_trimmed(&spec->group);
    SIM_TRY(coll_accept(t, spec, err));
    net_schedule *s = build(t, &trimmed);
    if (spec->is_one_group) net_schedule_set_one_group(s, spec->one_group_of);
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

bool coll_is_plain(const topo *t)
{
    return (topo_has_ports(t) || is_full(t)) && topo_is_uniform(t) && !topo_is_faulty(t);
}

/* Of several slices the one a group lies in, if it lies in one; else the topology itself. */
static const topo *network_of(const topo *t, const struct coll_spec *spec)
{
    const topo *slice = topo_slice(t);
    if (slice == NULL || spec->pairs != NULL || is_messages(spec->op)) return t;
    for (uint32_t i = 0; i < spec->group.factor_count; i++)
        if (spec->group.factor[i].axis >= topo_axes(slice)) return t;
    return slice;
}

uint32_t coll_chunks(const topo *t, const struct coll_spec *spec)
{
    chunks_fn chunks = algorithms[spec->algorithm].chunks;
    return chunks != NULL ? chunks(network_of(t, spec), spec) : 1;
}

struct coll_cost coll_own_form(const topo *t, const struct coll_spec *spec)
{
    assert(coll_can(t, spec));
    struct coll_spec trimmed = *spec;
    trimmed.group = coll_group_trimmed(&spec->group);
    if (spec->pairs == NULL && coll_members(t, &trimmed) == 1) return coll_cost_make(0, 0, true);
    if (is_messages(spec->op) || spec->pairs != NULL) return coll_permute_cost(t, &trimmed);
    struct coll_cost cost = algorithms[spec->algorithm].cost(network_of(t, &trimmed), &trimmed);
    bool takes_twists = algorithms[spec->algorithm].takes_twists;
    bool is_regular = coll_is_plain(t) && (takes_twists || !topo_is_twisted(t));
    cost.is_exact = cost.is_exact && (is_regular || algorithms[spec->algorithm].is_own_judge);
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
