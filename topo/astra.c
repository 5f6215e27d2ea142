/*
 * "astra:FILE": the network description of ASTRA-sim's analytical backend.
 *
 *     topology: [ Ring, FullyConnected, Switch ]
 *     npus_count: [ 2, 8, 4 ]           chips per dimension; ids run the first dimension fastest
 *     bandwidth: [ 200.0, 100.0, 50.0 ] GB/s of a one-way link, where 1 GB is 2^30 bytes
 *     latency: [ 50.0, 500.0, 2000.0 ]  ns of a one-way link
 *
 * Dimensions multiply: the chips that differ in one coordinate only are a ring, a full mesh, or a
 * star around a switch of their own. A ring of 2 has one link each way, as theirs (a torus of 2 has
 * two). Through a switch a message crosses two links, each with the latency.
 *
 * Source: astra-sim/astra-network-analytical, docs input-format/bandwidth ("The simulator deems
 * 1 GB as 2^30 B") and latency, congestion_aware Ring, FullyConnected and Switch, read 2026-12.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "base/yaml.h"
#include "topo/graph_internal.h"

#define DIMENSIONS_MAX 16
#define BYTES_PER_GB   1073741824.0
#define NS_MAX         1e9

enum shape { RING, FULLY_CONNECTED, SWITCH };
static const char *const shape_names[] = {"Ring", "FullyConnected", "Switch", NULL};

struct lists {
    const struct sim_yaml_node *topology, *npus_count, *bandwidth, *latency;
};

static const struct sim_field fields[] = {{.key = "topology",
                                           .kind = SIM_FIELD_NODE,
                                           .offset = offsetof(struct lists, topology),
                                           .is_required = true},
                                          {.key = "npus_count",
                                           .kind = SIM_FIELD_NODE,
                                           .offset = offsetof(struct lists, npus_count),
                                           .is_required = true},
                                          {.key = "bandwidth",
                                           .kind = SIM_FIELD_NODE,
                                           .offset = offsetof(struct lists, bandwidth),
                                           .is_required = true},
                                          {.key = "latency",
                                           .kind = SIM_FIELD_NODE,
                                           .offset = offsetof(struct lists, latency),
                                           .is_required = true},
                                          {0}};

struct network {
    uint32_t dimensions;
    struct dimension {
        enum shape shape;
        uint32_t size;
        double bytes_per_s;
        sim_ps latency_ps;
    } dimension[DIMENSIONS_MAX];
    uint32_t chips, switches;
};

/* ---- reading ---- */

static enum sim_status check_list(const struct sim_yaml_node *list, uint32_t wanted,
                                  struct sim_error *err)
{
    if (list->kind != SIM_YAML_SEQUENCE)
        return sim_yaml_error(list, err, SIM_EDATA,
                              "%s is no list, want one such as [ Ring, Switch ]", list->key);
    if (list->child_count == 0 || list->child_count > DIMENSIONS_MAX)
        return sim_yaml_error(list, err, SIM_EDATA, "%s has %u dimensions, want 1 to %d", list->key,
                              list->child_count, DIMENSIONS_MAX);
    if (list->child_count != wanted)
        return sim_yaml_error(list, err, SIM_EDATA, "%s has %u values, topology has %u", list->key,
                              list->child_count, wanted);
    for (uint32_t i = 0; i < wanted; i++)
        if (list->child[i]->kind != SIM_YAML_SCALAR)
            return sim_yaml_error(list->child[i], err, SIM_EDATA, "%s holds no simple value",
                                  list->key);
    return SIM_OK;
}

static enum sim_status read_shape(const struct sim_yaml_node *node, struct sim_error *err,
                                  enum shape *out)
{
    char quote[SIM_QUOTE_TEXT];
    for (int i = 0; shape_names[i] != NULL; i++) {
        if (strcmp(node->text, shape_names[i]) != 0) continue;
        *out = (enum shape)i;
        return SIM_OK;
    }
    return sim_yaml_error(node, err, SIM_EDATA,
                          "topology is %s, want Ring, FullyConnected or Switch",
                          sim_error_quote(node->text, quote));
}

/* A decimal number within [least, most]; `wanted` names it. */
static enum sim_status read_number(const struct sim_yaml_node *node, double least, double most,
                                   const char *wanted, struct sim_error *err, double *out)
{
    char quote[SIM_QUOTE_TEXT], *end;
    double value = strtod(node->text, &end);
    bool is_number =
        node->text[0] != 0 && *end == 0 && node->text[strspn(node->text, "0123456789+-.eE")] == 0;
    if (!is_number || !(value >= least && value <= most))
        return sim_yaml_error(node, err, SIM_EDATA, "found %s, want %s",
                              sim_error_quote(node->text, quote), wanted);
    *out = value;
    return SIM_OK;
}

static enum sim_status read_dimension(const struct lists *lists, uint32_t i, struct sim_error *err,
                                      struct dimension *out)
{
    struct sim_error why = {0};
    char quote[SIM_QUOTE_TEXT];
    uint64_t size = 0;
    double gb_per_s = 0, ns = 0;
    const struct sim_yaml_node *count = lists->npus_count->child[i];
    SIM_TRY(read_shape(lists->topology->child[i], err, &out->shape));
    if (sim_count_parse(count->text, 1, TOPO_NONE - 1, &why, &size) != SIM_OK)
        return sim_yaml_error(count, err, SIM_EDATA, "npus_count is %s, want a whole number from 1",
                              sim_error_quote(count->text, quote));
    SIM_TRY(read_number(lists->bandwidth->child[i], DBL_MIN, DBL_MAX / BYTES_PER_GB,
                        "a bandwidth above 0 in GB/s (of 2^30 bytes), without a unit", err,
                        &gb_per_s));
    SIM_TRY(read_number(lists->latency->child[i], 0, NS_MAX,
                        "a latency in ns from 0 to 1e9, without a unit", err, &ns));
    out->size = (uint32_t)size;
    out->bytes_per_s = gb_per_s * BYTES_PER_GB;
    out->latency_ps = (sim_ps)llround(ns * (double)SIM_PS_PER_NS);
    return SIM_OK;
}

/* One-way links that a chip has in a dimension. */
static uint64_t links_per_chip(const struct dimension *d)
{
    if (d->size == 1) return 0;
    if (d->shape == RING) return d->size == 2 ? 1 : 2;
    return d->shape == SWITCH ? 2 : d->size - 1;
}

/* Chips and switches, if they and the links are not too many. */
static enum sim_status count_nodes(struct network *n, const struct sim_yaml_node *place,
                                   struct sim_error *err)
{
    uint64_t chips = 1, links = 0, switches = 0;
    for (uint32_t i = 0; i < n->dimensions && chips < TOPO_NONE; i++) {
        chips *= n->dimension[i].size;
        links += links_per_chip(&n->dimension[i]);
    }
    if (chips >= TOPO_NONE || chips * links > GRAPH_LINKS_MAX)
        return sim_yaml_error(place, err, SIM_ERESOURCE,
                              "the network has too many chips or more than 16,000,000 links");
    for (uint32_t i = 0; i < n->dimensions; i++)
        if (n->dimension[i].shape == SWITCH && n->dimension[i].size > 1)
            switches += chips / n->dimension[i].size;
    n->chips = (uint32_t)chips;
    n->switches = (uint32_t)switches;
    return SIM_OK;
}

static enum sim_status read_network(const struct sim_yaml_node *root, struct sim_error *err,
                                    struct network *out)
{
    struct lists lists = {0};
    SIM_TRY(sim_yaml_read(root, fields, err, &lists));
    uint32_t wanted = lists.topology->child_count;
    SIM_TRY(check_list(lists.topology, wanted, err));
    SIM_TRY(check_list(lists.npus_count, wanted, err));
    SIM_TRY(check_list(lists.bandwidth, wanted, err));
    SIM_TRY(check_list(lists.latency, wanted, err));
    out->dimensions = wanted;
    for (uint32_t i = 0; i < wanted; i++)
        SIM_TRY(read_dimension(&lists, i, err, &out->dimension[i]));
    return count_nodes(out, lists.npus_count, err);
}

/* ---- building ---- */

/* The links of the line of chips along a dimension that starts at `first`, `stride` apart. */
static void add_line(struct topo_edges *edges, const struct dimension *d, topo_chip_id first,
                     uint32_t stride, topo_node_id hub)
{
    for (uint32_t i = 0; i < d->size; i++) {
        topo_chip_id chip = first + i * stride;
        if (d->shape == SWITCH)
            topo_edges_add(edges, chip, hub, d->bytes_per_s, d->latency_ps, TOPO_SWITCH);
        if (d->shape == RING && (d->size > 2 || i == 0))
            topo_edges_add(edges, chip, first + (i + 1) % d->size * stride, d->bytes_per_s,
                           d->latency_ps, TOPO_COPPER);
        for (uint32_t j = i + 1; d->shape == FULLY_CONNECTED && j < d->size; j++)
            topo_edges_add(edges, chip, first + j * stride, d->bytes_per_s, d->latency_ps,
                           TOPO_COPPER);
    }
}

static void add_links(const struct network *n, struct topo_edges *edges)
{
    topo_node_id hub = n->chips;
    for (uint32_t i = 0, stride = 1; i < n->dimensions; stride *= n->dimension[i++].size) {
        const struct dimension *d = &n->dimension[i];
        for (topo_chip_id c = 0; c < n->chips && d->size > 1; c++) {
            if (c / stride % d->size != 0) continue;
            add_line(edges, d, c, stride, hub);
            hub += d->shape == SWITCH;
        }
    }
}

static enum sim_status build(topo *t, const struct network *n, const struct topo_options *options,
                             struct sim_error *err)
{
    struct topo_edges edges = {0};
    t->grid = (struct topo_lattice){.axes = 1, .size = {n->chips}};
    for (uint32_t i = 0; i < n->dimensions && n->dimensions <= TOPO_AXES_MAX; i++)
        t->grid.size[i] = n->dimension[i].size;
    if (n->dimensions <= TOPO_AXES_MAX) t->grid.axes = n->dimensions;
    t->link_bytes_per_s = n->dimension[0].bytes_per_s;
    t->latency_ps = t->optical_latency_ps = n->dimension[0].latency_ps;
    t->tie = options->tie;
    add_links(n, &edges);
    SIM_TRY(topo_graph_build(t, &edges, n->chips, n->switches, err));
    topo_graph_set_defaults(t);
    return SIM_OK;
}

enum sim_status topo_astra_build(topo *t, const char *path, const struct topo_options *options,
                                 struct sim_error *err)
{
    struct network network = {0};
    sim_yaml *doc = NULL;
    if (path[0] == 0)
        return sim_error_set(err, SIM_EDATA, "topology %s names no file, as in astra:network.yml",
                             t->spec);
    if (options->link_bytes_per_s > 0 || options->latency_ps >= 0)
        return sim_error_at(err, SIM_EDATA, path, 0, 0,
                            "gives rates and latencies, so that no others can be set");
    SIM_TRY(sim_yaml_load(path, err, &doc));
    enum sim_status status = read_network(sim_yaml_root(doc), err, &network);
    if (status == SIM_OK) status = build(t, &network, options, err);
    sim_yaml_destroy(doc);
    return status;
}
