/*
 * Metrics by closed form: tori, meshes and full meshes; twisted tori from one chip; graphs by
 * counting.
 *
 * Along an axis of k chips the mean hop count over ordered pairs (a chip to itself included) is
 *
 *     wrapped, k even   k/4                 wrapped, k odd   (k^2 - 1)/(4k)
 *     line              (k^2 - 1)/(3k)
 *
 * Uniform traffic of r bytes/s per chip loads each link of a wrapped axis with r times half the
 * mean hops (both directions alike); a line's middle link carries, in one direction, r floor(k/2)
 * ceil(k/2) / k.
 *
 * Bisection: a plane across an axis of even k cuts N/k lines, twice each when it wraps. On a torus
 * whose longest such axis is even this is the least of all equal halvings (Leiserson's bound for
 * meshes and tori of even side; Dally & Towles, Principles and Practices of Interconnection
 * Networks, section 3.2.1). Where the cheapest plane crosses an odd axis it leaves unequal sides;
 * then the best of a few true halvings is reported, as an upper bound.
 */
#include "topo/metrics.h"

#include "base/arena.h"
#include "topo/routing.h"
#include "topo/topo_internal.h"

static double axis_mean(uint32_t size, bool is_wrapped)
{
    double k = size;
    if (!is_wrapped) return (k * k - 1) / (3 * k);
    return size % 2 == 0 ? k / 4 : (k * k - 1) / (4 * k);
}

/* Bytes/s of the busiest link of an axis when every chip sends 1 byte/s, spread over all chips. */
static double axis_load(uint32_t size, bool is_wrapped, enum topo_tie tie)
{
    double k = size;
    if (!is_wrapped) return (double)(size / 2) * (double)((size + 1) / 2) / k;
    if (size % 2 == 0 && tie != TOPO_TIE_SPLIT) /* the tie's k/2 hops all go one way */
        return (k / 2) * (k / 2 + 1) / 2 / k;
    return axis_mean(size, true) / 2;
}

/* One-way links between the first and the second half of the chips, counted with `slow` as the
 * slowest axis. */
static double halving_cut(const topo *t, uint32_t slow)
{
    double cut = 0;
    for (topo_link_id l = 0; l < t->links; l++) {
        bool is_first[2];
        for (int end = 0; end < 2; end++) {
            topo_chip_id chip = end == 0 ? t->link_from[l] : t->link_to[l];
            uint64_t place = topo_coord(t, chip, slow);
            for (uint32_t a = t->grid.axes; a-- > 0;)
                if (a != slow) place = place * t->grid.size[a] + topo_coord(t, chip, a);
            is_first[end] = place < t->chips / 2;
        }
        cut += is_first[0] && !is_first[1];
    }
    return cut;
}

static uint32_t axis_of_link(const topo *t, topo_link_id link)
{
    const topo_link_id *port = t->port_link + (size_t)t->link_from[link] * t->ports;
    uint32_t p = 0;
    while (port[p] != link)
        p++;
    return p / 2;
}

static double best_halving_cut(const topo *t)
{
    double best = halving_cut(t, 0);
    for (uint32_t a = 1; a < t->grid.axes; a++) {
        double cut = halving_cut(t, a);
        if (cut < best) best = cut;
    }
    return best;
}

static void torus_metrics(const topo *t, struct topo_metrics *m)
{
    double chips = t->chips, worst = 0, cut = 0;
    uint32_t cut_size = 0;
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        uint32_t k = t->grid.size[a];
        m->diameter += t->grid.is_wrapped[a] ? k / 2 : k - 1;
        m->axis_mean_hops[a] = axis_mean(k, t->grid.is_wrapped[a]);
        m->mean_hops += m->axis_mean_hops[a];
        if (k == 1) continue;
        double load = axis_load(k, t->grid.is_wrapped[a], t->tie);
        if (load > worst) worst = load;
        double links = chips / k * (t->grid.is_wrapped[a] ? 2 : 1);
        if (cut_size == 0 || links < cut) {
            cut = links;
            cut_size = k;
        }
    }
    m->is_bisection_exact = cut_size % 2 == 0;
    m->bisection_bytes_per_s =
        (m->is_bisection_exact ? cut : best_halving_cut(t)) * t->link_bytes_per_s;
    m->all_to_all_bytes_per_s = worst > 0 ? t->link_bytes_per_s / worst : 0;
}

static void full_metrics(const topo *t, struct topo_metrics *m)
{
    double n = t->chips;
    m->diameter = t->chips > 1;
    m->mean_hops = (n - 1) / n;
    m->bisection_bytes_per_s =
        (double)(t->chips / 2) * (double)((t->chips + 1) / 2) * t->link_bytes_per_s;
    m->is_bisection_exact = true;
    m->all_to_all_bytes_per_s = t->chips > 1 ? n * t->link_bytes_per_s : 0;
}

/* ---- twisted tori: every chip sees the same, so chip 0's routes are all there is to count ---- */

static void twisted_metrics(const topo *t, struct topo_metrics *m)
{
    struct topo_paths paths = {0};
    double worst = 0;
    for (topo_chip_id dst = 0; dst < t->chips; dst++) {
        topo_route(t, 0, dst, &paths);
        uint32_t hops = paths.begin[1];
        if (hops > m->diameter) m->diameter = hops;
        m->mean_hops += (double)hops / t->chips;
        for (uint32_t i = 0; i < paths.count; i++)
            for (uint32_t h = paths.begin[i]; h < paths.begin[i + 1]; h++)
                m->axis_mean_hops[axis_of_link(t, paths.link[h])] += paths.share[i] / t->chips;
    }
    topo_paths_release(&paths);
    for (uint32_t a = 0; a < t->grid.axes; a++)
        if (m->axis_mean_hops[a] > worst) worst = m->axis_mean_hops[a];
    m->bisection_bytes_per_s = best_halving_cut(t) * t->link_bytes_per_s;
    m->all_to_all_bytes_per_s = 2 * t->link_bytes_per_s / worst; /* both directions alike */
}

/* ---- graphs: by search, and by counting what uniform traffic puts on each link ---- */

static void add_path_loads(const struct topo_paths *paths, double amount, double *load)
{
    for (uint32_t i = 0; i < paths->count; i++)
        for (uint32_t h = paths->begin[i]; h < paths->begin[i + 1]; h++)
            load[paths->link[h]] += paths->share[i] * amount;
}

/* The factor of all loads that fills the busiest of the first `links`; 0 without loads. */
static double filling_rate(const topo *t, topo_link_id links, const double *load)
{
    double least = 0;
    for (topo_link_id l = 0; l < links; l++)
        if (load[l] > 0 && (least == 0 || t->link_rate[l] < least * load[l]))
            least = t->link_rate[l] / load[l];
    return least;
}

/* All pairs of working chips, by the routes they take. */
static void graph_loads(const topo *t, struct topo_metrics *m)
{
    struct topo_paths paths = {0};
    double *load = SIM_NEW(double, t->links), chips = t->chips - t->failed_chips;
    m->diameter = 0;
    m->mean_hops = 0;
    for (topo_chip_id src = 0; src < t->chips; src++)
        for (topo_chip_id dst = 0; dst < t->chips; dst++) {
            if (topo_chip_is_failed(t, src) || topo_chip_is_failed(t, dst)) continue;
            uint32_t hops = topo_distance(t, src, dst);
            if (hops > m->diameter) m->diameter = hops;
            m->mean_hops += (double)hops / chips / chips;
            topo_route(t, src, dst, &paths);
            add_path_loads(&paths, 1 / chips, load);
        }
    m->all_to_all_bytes_per_s = filling_rate(t, t->links, load);
    topo_paths_release(&paths);
    sim_free(load);
}

/* The least of the cuts through the middle of an axis, and of the links of half of the chips. */
static double halves_cut(const topo *t)
{
    double least = 0;
    for (topo_link_id l = 0; l < t->out_begin[t->chips / 2]; l++)
        if (t->link_to[l] >= t->chips / 2) least += t->link_rate[l];
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        if (t->grid.size[a] % 2 != 0) continue;
        double cut = topo_cut_bytes_per_s(t, a, t->grid.size[a] / 2);
        if (cut < least) least = cut;
    }
    return least;
}

/* ---- neighbours ---- */

#define NEIGHBOURS_MAX (2 * TOPO_AXES_MAX)

static uint32_t neighbours_of(const topo *t, topo_chip_id chip, topo_chip_id list[NEIGHBOURS_MAX])
{
    topo_chip_id next[NEIGHBOURS_MAX];
    uint32_t found = 0, candidates = t->ports;
    for (uint32_t p = 0; p < t->ports; p++)
        next[p] = topo_neighbour(t, chip, p);
    if (t->ports == 0 && t->chips > 1) {
        next[0] = chip + 1 < t->chips ? chip + 1 : 0;
        next[1] = chip > 0 ? chip - 1 : t->chips - 1;
        candidates = 2;
    }
    for (uint32_t i = 0; i < candidates; i++)
        if (next[i] != TOPO_NONE && !topo_chip_is_failed(t, next[i])) list[found++] = next[i];
    return found;
}

/* A healthy grid under its own routing goes to a neighbour in one hop, so a link carries nothing
 * but what its own chip sends. Chip 0, in a corner, has the fewest neighbours to divide it by: its
 * links are the busiest. */
static double neighbour_rate(const topo *t)
{
    topo_chip_id neighbour[NEIGHBOURS_MAX], senders = topo_routing_is_own(t) ? 1 : t->chips;
    topo_link_id links = senders == t->chips ? t->links : t->out_begin[senders];
    struct topo_paths paths = {0};
    double *load = SIM_NEW(double, links);
    for (topo_chip_id src = 0; src < senders; src++) {
        uint32_t count = topo_chip_is_failed(t, src) ? 0 : neighbours_of(t, src, neighbour);
        for (uint32_t i = 0; i < count; i++) {
            topo_route(t, src, neighbour[i], &paths);
            add_path_loads(&paths, 1.0 / count, load);
        }
    }
    double rate = filling_rate(t, links, load);
    topo_paths_release(&paths);
    sim_free(load);
    return rate;
}

/* ---- cuts ---- */

/* Rates of a node's links to the nodes inside the cut and outside. */
static void rates_of(const topo *t, topo_node_id node, const bool *is_inside, double rate[2])
{
    rate[0] = rate[1] = 0;
    for (topo_link_id l = t->out_begin[node]; l < t->out_begin[node + 1]; l++)
        rate[is_inside[t->link_to[l]]] += t->link_rate[l];
}

/* Moves every switch to the side it has the faster links to, a few times over. */
static double settle_switches(const topo *t, bool *is_inside)
{
    enum { ROUNDS = 4 };
    double crossing[2] = {0, 0}; /* in, out */
    for (int round = 0; round < ROUNDS; round++)
        for (topo_node_id n = t->chips; n < t->nodes; n++) {
            double rate[2];
            rates_of(t, n, is_inside, rate);
            if (rate[0] != rate[1]) is_inside[n] = rate[1] > rate[0];
        }
    for (topo_link_id l = 0; l < t->links; l++)
        if (is_inside[t->link_from[l]] != is_inside[t->link_to[l]])
            crossing[is_inside[t->link_from[l]]] += t->link_rate[l];
    return crossing[0] > crossing[1] ? crossing[0] : crossing[1];
}

/* Tried twice: all switches start outside, or those inside that have more chips inside. */
double topo_cut_bytes_per_s(const topo *t, uint32_t axis, uint32_t positions)
{
    bool *is_inside = SIM_NEW(bool, t->nodes);
    for (topo_chip_id c = 0; c < t->chips; c++)
        is_inside[c] = topo_coord(t, c, axis) < positions;
    double least = settle_switches(t, is_inside);
    for (topo_node_id n = t->chips; n < t->nodes; n++) {
        uint32_t inside = 0, outside = 0;
        for (topo_link_id l = t->out_begin[n]; l < t->out_begin[n + 1]; l++) {
            inside += t->link_to[l] < t->chips && is_inside[t->link_to[l]];
            outside += t->link_to[l] < t->chips && !is_inside[t->link_to[l]];
        }
        is_inside[n] = inside > outside;
    }
    double second = settle_switches(t, is_inside);
    sim_free(is_inside);
    return second < least ? second : least;
}

/* By the routing that the topology was built with; false when there is no closed form. */
static bool closed_metrics(const topo *t, struct topo_metrics *m)
{
    const struct topo_routing *built = t->base_routing != NULL ? t->base_routing : t->routing;
    if (topo_has_ports(t) && topo_is_faulty(t)) return false;
    if (built->metrics != NULL)
        built->metrics(t, m);
    else if (topo_is_twisted(t))
        twisted_metrics(t, m);
    else if (topo_has_ports(t))
        torus_metrics(t, m);
    else if (t->hops_to == NULL)
        full_metrics(t, m);
    else
        return false;
    return true;
}

/* Cuts and distances per axis are the topology's own; loads and ways are the routing's. */
struct topo_metrics topo_metrics_of(const topo *t)
{
    struct topo_metrics m = {0};
    bool is_closed = closed_metrics(t, &m);
    bool is_default = t->base_routing == NULL && t->tie == TOPO_TIE_SPLIT;
    if (!is_closed)
        m.bisection_bytes_per_s =
            topo_has_ports(t) ? best_halving_cut(t) * t->link_bytes_per_s : halves_cut(t);
    if (!is_closed || !is_default) graph_loads(t, &m);
    m.neighbour_bytes_per_s = neighbour_rate(t);
    return m;
}
