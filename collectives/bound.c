/*
 * Lower bounds: what no algorithm and no engine can beat, with every group of the slice active at
 * once.
 *
 * Latency. Some chip needs something of the farthest other chip of its group: that many hops.
 *
 * Bytes, each divided by the link rate W; V is the buffer, n the group, and "axes" are those the
 * group has factors on.
 *
 *   ports  A chip sends (reduce-scatter) or receives (all-gather, all-to-all) at least V (n-1)/n,
 *          and receives at least V in an all-reduce, through the ports it has; the chip with the
 *          fewest decides.
 *   links  Only a step along one of the group's axes changes a chip's rank. A shard that reaches
 *          n-1 other ranks crosses n-1 such links at least (a tree over n points has n-1 edges), so
 *          an all-gather needs N (n-1) V/n byte-hops of the links along those axes; reduce-scatter
 *          is its mirror image; an all-reduce is a reduction and a broadcast of each byte: twice
 *          that; all-to-all needs V/n times the distance of each pair.
 *   cuts   A plane across a whole axis of k (two planes when it wraps) parts each group into j and
 *          k-j of its k positions. All-gather and reduce-scatter move the larger side's shards
 *          across, all-reduce all of V, all-to-all V/n for each pair that is parted. Without ports
 *          the two sides are chips by their place on an axis, and switches where they make the cut
 *          small (a host's NIC with its slice, a leaf with its chips).
 *
 * Engines round each message to whole picoseconds, so a chain of 2n messages can end n ps early:
 * the bound gives way by as much.
 *
 * Sources: Patarasuk & Yuan, J. Parallel Distrib. Comput. 69(2), 2009 (2(n-1)/n); Dally & Towles,
 * Principles and Practices of Interconnection Networks, 2004, chapter 3 (cuts and channel load).
 */
#include <math.h>

#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "topo/metrics.h"
#include "topo/route.h"

struct terms {
    double seconds;
    const char *name;
};

static void raise_to(struct terms *worst, double seconds, const char *name)
{
    if (seconds <= worst->seconds) return;
    worst->seconds = seconds;
    worst->name = name;
}

/* ---- distances along one factor ---- */

static uint32_t hops_between(const topo *t, const struct topo_factor *f, uint32_t i, uint32_t j)
{
    uint32_t size = topo_axis_size(t, f->axis), apart = (i > j ? i - j : j - i) * f->stride;
    return topo_axis_is_wrapped(t, f->axis) && size - apart < apart ? size - apart : apart;
}

/* Farthest pair, and the sum over ordered pairs, of a factor's positions. */
static void factor_distances(const topo *t, const struct topo_factor *f, uint32_t *farthest,
                             double *sum)
{
    *farthest = 0;
    *sum = 0;
    for (uint32_t apart = 1; apart < f->extent; apart++) {
        uint32_t hops = hops_between(t, f, 0, apart);
        if (hops > *farthest) *farthest = hops;
        *sum += 2.0 * (f->extent - apart) * hops;
    }
}

/* Two factors of one axis could bring chips nearer than the sum says: then only the farther counts.
 */
static double farthest_hops(const topo *t, const struct topo_group *group)
{
    uint32_t axis_hops[TOPO_AXES_MAX] = {0};
    for (uint32_t i = 0; i < group->factor_count; i++) {
        uint32_t hops;
        double sum;
        factor_distances(t, &group->factor[i], &hops, &sum);
        if (hops > axis_hops[group->factor[i].axis]) axis_hops[group->factor[i].axis] = hops;
    }
    double total = 0;
    for (uint32_t a = 0; a < TOPO_AXES_MAX; a++)
        total += axis_hops[a];
    return total;
}

/* Sum of distances over a group's ordered pairs, counted per axis like farthest_hops(). */
static double pair_hops(const topo *t, const struct topo_group *group)
{
    double axis_sum[TOPO_AXES_MAX] = {0}, total = 0;
    for (uint32_t i = 0; i < group->factor_count; i++) {
        uint32_t hops;
        double sum, others = (double)group->size / group->factor[i].extent;
        factor_distances(t, &group->factor[i], &hops, &sum);
        sum *= others * others;
        if (sum > axis_sum[group->factor[i].axis]) axis_sum[group->factor[i].axis] = sum;
    }
    for (uint32_t a = 0; a < TOPO_AXES_MAX; a++)
        total += axis_sum[a];
    return total;
}

/* Failed chips need nothing. */
static double distance(const topo *t, topo_chip_id a, topo_chip_id b)
{
    return topo_chip_is_failed(t, a) || topo_chip_is_failed(t, b) ? 0 : topo_distance(t, a, b);
}

/* The groups that take part, one after the other: by the chip that has rank 0. False at the end;
 * begin with TOPO_NONE. */
static bool next_group(const topo *t, const struct coll_spec *spec, topo_chip_id *first)
{
    for (topo_chip_id c = *first == TOPO_NONE ? 0 : *first + 1; c < topo_chips(t); c++) {
        if (topo_group_rank(t, &spec->group, c) != 0 || !coll_is_active(t, spec, c)) continue;
        *first = c;
        return true;
    }
    return false;
}

static double active_groups(const topo *t, const struct coll_spec *spec)
{
    return spec->is_one_group ? 1 : (double)topo_chips(t) / spec->group.size;
}

/* Where distances do not come axis by axis: pair by pair, in all groups, which need not be alike.
 * Translation makes rank 0 stand for all on a whole twisted torus. */
static void measured_distances(const topo *t, const struct coll_spec *spec, double *farthest,
                               double *sum)
{
    const struct topo_group *group = &spec->group;
    bool is_same_for_all = topo_has_ports(t) && group->size == topo_chips(t) && !topo_is_faulty(t);
    uint32_t sources = is_same_for_all ? 1 : group->size;
    topo_chip_id of = TOPO_NONE;
    *farthest = *sum = 0;
    while (next_group(t, spec, &of))
        for (uint32_t i = 0; i < sources; i++)
            for (uint32_t j = 0; j < group->size; j++) {
                double hops =
                    distance(t, topo_group_chip(t, group, of, i), topo_group_chip(t, group, of, j));
                if (hops > *farthest) *farthest = hops;
                *sum += hops;
            }
    if (is_same_for_all) *sum *= group->size;
}

static bool is_axis_by_axis(const topo *t)
{
    return topo_has_ports(t) && !topo_is_twisted(t) && !topo_is_faulty(t);
}

/* Faults only lengthen ways: of a large group the ways from one chip, and for the sum what it is on
 * the healthy torus less all that failed chips could have had in it. */
static double least_distances(const topo *t, const struct coll_spec *spec, bool is_sum)
{
    const struct topo_group *group = &spec->group;
    topo_chip_id of = coll_an_active_chip(spec);
    double farthest = 0, failed = topo_failed_chips(t), n = group->size;
    for (uint32_t i = 0; i < group->size && !topo_chip_is_failed(t, of); i++) {
        double hops = distance(t, of, topo_group_chip(t, group, of, i));
        if (hops > farthest) farthest = hops;
    }
    if (!is_sum) return farthest;
    if (!topo_has_ports(t) || topo_is_twisted(t)) return 0;
    double sum = pair_hops(t, group) - 2 * failed * n * farthest_hops(t, group);
    return sum > 0 ? sum * active_groups(t, spec) : 0;
}

#define MEASURED_RANKS_MAX 1024

/* The farthest pair of any group; or the sum over the ordered pairs of all of them. */
static double distances(const topo *t, const struct coll_spec *spec, bool is_sum)
{
    if (is_axis_by_axis(t))
        return is_sum ? pair_hops(t, &spec->group) * active_groups(t, spec)
                      : farthest_hops(t, &spec->group);
    if (topo_is_faulty(t) && spec->group.size > MEASURED_RANKS_MAX)
        return least_distances(t, spec, is_sum);
    double farthest, sum;
    measured_distances(t, spec, &farthest, &sum);
    return is_sum ? sum : farthest;
}

/* ---- links and ports ---- */

struct links {
    double fastest;    /* bytes/s of one link */
    sim_ps latency_ps; /* of the quickest */
    double ports;      /* bytes/s in all of the chip of those that take part that has least */
};

/* Bytes/s out of and into every chip: [chips] each, sim_free. Broken one-way links make them
 * differ. */
struct port_rates {
    double *out, *in;
};

static struct port_rates port_rates_of(const topo *t)
{
    struct port_rates r = {SIM_NEW(double, topo_chips(t)), SIM_NEW(double, topo_chips(t))};
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        topo_node_id from = topo_link_from(t, l), to = topo_link_to(t, l);
        if (from < topo_chips(t)) r.out[from] += topo_link_rate(t, l);
        if (to < topo_chips(t)) r.in[to] += topo_link_rate(t, l);
    }
    return r;
}

static void port_rates_release(struct port_rates *r)
{
    sim_free(r->out);
    sim_free(r->in);
}

/* `spec` NULL: all chips take part. */
static struct links links_of(const topo *t, const struct coll_spec *spec)
{
    struct links l = {.latency_ps = SIM_PS_MAX};
    for (topo_link_id i = 0; i < topo_links(t); i++) {
        if (topo_link_rate(t, i) > l.fastest) l.fastest = topo_link_rate(t, i);
        if (topo_link_latency_ps(t, i) < l.latency_ps) l.latency_ps = topo_link_latency_ps(t, i);
    }
    struct port_rates ports = port_rates_of(t);
    for (topo_chip_id c = 0; c < topo_chips(t); c++) {
        if (topo_chip_is_failed(t, c) || (spec != NULL && !coll_is_active(t, spec, c))) continue;
        double rate = ports.out[c] > ports.in[c] ? ports.out[c] : ports.in[c];
        if (l.ports == 0 || rate < l.ports) l.ports = rate;
    }
    port_rates_release(&ports);
    return l;
}

/* Links along the group's axes, by which alone its ranks are reached; all of them without ports,
 * and where twists make other axes' ends lead along these. */
static double links_along(const topo *t, const struct topo_group *group)
{
    if (!is_axis_by_axis(t)) return topo_links(t);
    bool is_counted[TOPO_AXES_MAX] = {false};
    double links = 0;
    for (uint32_t i = 0; i < group->factor_count; i++) {
        uint32_t axis = group->factor[i].axis, k = topo_axis_size(t, axis);
        if (is_counted[axis]) continue;
        is_counted[axis] = true;
        links += 2.0 * topo_chips(t) / k * (topo_axis_is_closed(t, axis) ? k : k - 1);
    }
    return links;
}

/* ---- the three byte bounds ---- */

static double port_bytes(enum coll_op op, double bytes, double n)
{
    bool is_sharded = op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL ||
                      op == COLL_GATHER || op == COLL_SCATTER;
    return is_sharded ? bytes * (n - 1) / n : bytes;
}

/* Hops between the root and all other ranks of its group, over all groups. */
static double root_hops(const topo *t, const struct coll_spec *spec)
{
    topo_chip_id of = TOPO_NONE;
    double sum = 0;
    while (next_group(t, spec, &of)) {
        topo_chip_id root = topo_group_chip(t, &spec->group, of, spec->root);
        for (uint32_t r = 0; r < spec->group.size; r++) {
            topo_chip_id chip = topo_group_chip(t, &spec->group, of, r);
            if (!topo_chip_is_failed(t, chip)) sum += topo_distance(t, root, chip);
        }
    }
    return sum;
}

/* Of all groups. */
static double link_byte_hops(const topo *t, const struct coll_spec *spec, double n)
{
    double groups = active_groups(t, spec);
    switch (spec->op) {
    case COLL_ALL_REDUCE:
        return groups * 2 * (n - 1) * spec->bytes;
    case COLL_ALL_TO_ALL:
        return spec->bytes / n * distances(t, spec, true);
    case COLL_GATHER:
    case COLL_SCATTER:
        return spec->bytes / n * root_hops(t, spec);
    case COLL_PERMUTE:
        return groups * n * spec->bytes;
    default:
        return groups * (n - 1) * spec->bytes;
    }
}

/* Bytes of one group that must cross, one way, a cut that leaves j of k positions on one side. */
static double cut_bytes(enum coll_op op, double bytes, double n, double k, double j)
{
    switch (op) {
    case COLL_ALL_REDUCE:
    case COLL_BROADCAST:
    case COLL_REDUCE:
        return bytes;
    case COLL_ALL_GATHER:
    case COLL_REDUCE_SCATTER:
        return bytes * (k - j > j ? k - j : j) / k;
    case COLL_ALL_TO_ALL:
        return bytes * n * j * (k - j) / (k * k);
    default:
        return 0;
    }
}

static const char *const cut_names[TOPO_AXES_MAX] = {"cut x", "cut y", "cut z", "cut w"};

static void raise_to_cuts(const topo *t, const struct coll_spec *spec, double n, double rate,
                          struct terms *worst)
{
    const struct topo_group *group = &spec->group;
    for (uint32_t i = 0; i < group->factor_count && topo_has_ports(t); i++) {
        const struct topo_factor *f = &group->factor[i];
        /* a split axis has ways round its own cut, and so has one that another's twist moves
         * along */
        if (f->extent != topo_axis_size(t, f->axis) || topo_axis_is_moved(t, f->axis)) continue;
        /* a group alone may use the cables of the others */
        double k = f->extent, across = spec->is_one_group ? topo_chips(t) : group->size;
        double links = across / k * (topo_axis_is_closed(t, f->axis) ? 2 : 1);
        double uneven = cut_bytes(spec->op, spec->bytes, n, k, 1),
               even = cut_bytes(spec->op, spec->bytes, n, k, floor(k / 2));
        raise_to(worst, (uneven > even ? uneven : even) / (links * rate), cut_names[f->axis]);
    }
}

/* The same without ports: all groups' bytes over what joins the two sides in the graph. Links run
 * both ways alike, and the faster way counts where they do not. */
static void raise_to_graph_cuts(const topo *t, const struct coll_spec *spec, struct terms *worst)
{
    const struct topo_group *group = &spec->group;
    for (uint32_t i = 0; i < group->factor_count && !topo_has_ports(t); i++) {
        const struct topo_factor *f = &group->factor[i];
        if (f->extent != topo_axis_size(t, f->axis)) continue;
        double n = group->size, k = f->extent, groups = active_groups(t, spec);
        for (uint32_t j = 1; j <= f->extent / 2; j = j < f->extent / 2 ? f->extent / 2 : j + 1)
            raise_to(worst,
                     groups * cut_bytes(spec->op, spec->bytes, n, k, j) /
                         topo_cut_bytes_per_s(t, f->axis, j),
                     cut_names[f->axis]);
    }
}

static sim_ps whole_ps(double ps)
{
    if (ps >= (double)SIM_PS_MAX) return SIM_PS_MAX;
    return ps > 0 ? (sim_ps)ps : 0;
}

static struct coll_bound make_bound(double latency_ps, struct terms bytes, double n)
{
    double allowed = floor(bytes.seconds * 1e12 - n);
    struct coll_bound b = {.latency_ps = whole_ps(latency_ps), .bytes_ps = whole_ps(allowed)};
    bool is_latency = b.latency_ps >= b.bytes_ps;
    b.time_ps = is_latency ? b.latency_ps : b.bytes_ps;
    b.bytes_limited_by = b.bytes_ps == 0 ? "nothing" : bytes.name;
    b.limited_by = b.time_ps == 0 ? "nothing" : is_latency ? "latency" : bytes.name;
    return b;
}

struct coll_bound coll_bound_through(const struct net_router *router, struct coll_bound bound)
{
    if (router == NULL || !router->is_in_cycles) return bound;
    return (struct coll_bound){.time_ps = bound.bytes_ps,
                               .bytes_ps = bound.bytes_ps,
                               .limited_by = bound.bytes_limited_by,
                               .bytes_limited_by = bound.bytes_limited_by};
}

/* A list of messages: each needs its hops; each chip sends and receives through its ports; all
 * share the links. */
static struct coll_bound pairs_bound(const topo *t, const struct coll_pairs *pairs)
{
    double *sent = SIM_NEW(double, topo_chips(t)), *received = SIM_NEW(double, topo_chips(t));
    double byte_hops = 0, farthest = 0;
    struct links links = links_of(t, NULL);
    struct terms worst = {0, "nothing"};
    for (uint32_t i = 0; i < pairs->count; i++) {
        uint32_t hops = topo_distance(t, pairs->src[i], pairs->dst[i]);
        if (hops == 0) continue;
        if (hops > farthest) farthest = hops;
        byte_hops += hops * (double)pairs->bytes[i];
        sent[pairs->src[i]] += (double)pairs->bytes[i];
        received[pairs->dst[i]] += (double)pairs->bytes[i];
    }
    struct port_rates ports = port_rates_of(t);
    for (topo_chip_id c = 0; c < topo_chips(t); c++) {
        if (ports.out[c] > 0) raise_to(&worst, sent[c] / ports.out[c], "ports");
        if (ports.in[c] > 0) raise_to(&worst, received[c] / ports.in[c], "ports");
    }
    port_rates_release(&ports);
    if (topo_links(t) > 0) raise_to(&worst, byte_hops / (topo_links(t) * links.fastest), "links");
    sim_free(sent);
    sim_free(received);
    return make_bound(farthest * (double)links.latency_ps, worst, 1);
}

/* Hops to the member farthest from the root, or back: every member must hear of it, or be heard.
 * Where each distance is a search, only of small groups; of large ones just the next chip. */
static double reach(const topo *t, const struct topo_group *group, topo_chip_id root,
                    bool is_inward)
{
    double farthest = 1;
    if (!is_axis_by_axis(t) && group->size > MEASURED_RANKS_MAX) return farthest;
    for (uint32_t rank = 0; rank < group->size; rank++) {
        topo_chip_id chip = topo_group_chip(t, group, root, rank);
        if (topo_chip_is_failed(t, chip)) continue;
        farthest =
            fmax(farthest, is_inward ? topo_distance(t, chip, root) : topo_distance(t, root, chip));
    }
    return farthest;
}

/* One chip sends or receives all of the buffer; its own ports count. */
static struct coll_bound rooted_bound(const topo *t, const struct coll_spec *spec, double n)
{
    topo_chip_id root = topo_group_chip(t, &spec->group, coll_an_active_chip(spec), spec->root);
    struct links links = links_of(t, spec);
    struct terms worst = {0, "nothing"};
    double hops = 0;
    if (spec->op == COLL_SEND && spec->root == spec->receiver)
        return (struct coll_bound){.limited_by = "nothing", .bytes_limited_by = "nothing"};
    struct port_rates ports = port_rates_of(t);
    if (spec->op == COLL_SEND) {
        topo_chip_id to =
            topo_group_chip(t, &spec->group, coll_an_active_chip(spec), spec->receiver);
        hops = topo_distance(t, root, to);
        raise_to(&worst, spec->bytes / ports.in[to], "ports");
    } else {
        raise_to(&worst, link_byte_hops(t, spec, n) / (topo_links(t) * links.fastest), "links");
        if (topo_failed_chips(t) == 0) {
            raise_to_cuts(t, spec, n, links.fastest, &worst);
            raise_to_graph_cuts(t, spec, &worst);
        }
    }
    bool is_inward = spec->op == COLL_REDUCE || spec->op == COLL_GATHER;
    if (spec->op != COLL_SEND) hops = reach(t, &spec->group, root, is_inward);
    double root_rate = is_inward ? ports.in[root] : ports.out[root];
    port_rates_release(&ports);
    raise_to(&worst, port_bytes(spec->op, spec->bytes, n) / root_rate, "ports");
    return make_bound(hops * (double)links.latency_ps, worst, n);
}

static bool is_rooted(enum coll_op op)
{
    return op == COLL_BROADCAST || op == COLL_REDUCE || op == COLL_GATHER || op == COLL_SCATTER ||
           op == COLL_SEND;
}

struct coll_bound coll_lower_bound(const topo *t, const struct coll_spec *asked)
{
    struct coll_spec spec = *asked;
    spec.group = coll_group_trimmed(&asked->group);
    if (spec.pairs != NULL) return pairs_bound(t, spec.pairs);
    double n = spec.group.size - topo_failed_chips(t);
    if (n <= 1) return (struct coll_bound){.limited_by = "nothing", .bytes_limited_by = "nothing"};
    if (is_rooted(spec.op)) return rooted_bound(t, &spec, n);
    struct links links = links_of(t, &spec);
    double hops = spec.op == COLL_PERMUTE ? 1 : distances(t, &spec, false);
    double count = spec.is_one_group ? topo_links(t) : links_along(t, &spec.group);
    struct terms worst = {0, "nothing"};
    raise_to(&worst, link_byte_hops(t, &spec, n) / (count * links.fastest), "links");
    raise_to(&worst, port_bytes(spec.op, spec.bytes, n) / links.ports, "ports");
    if (topo_failed_chips(t) == 0) { /* cuts count positions, all of them working */
        raise_to_cuts(t, &spec, n, links.fastest, &worst);
        raise_to_graph_cuts(t, &spec, &worst);
    }
    return make_bound(hops * (double)links.latency_ps, worst, n);
}
