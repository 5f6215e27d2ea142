/** What the files of topo/ share. */
#ifndef PODSIM_TOPO_TOPO_INTERNAL_H
#define PODSIM_TOPO_TOPO_INTERNAL_H

#include "topo/lattice.h"
#include "topo/metrics.h"
#include "topo/route.h"
#include "topo/topo.h"

/** How messages find their way: a routing's functions and what they look up. */
struct topo_routing {
    const char *name;
    void (*route)(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths);
    uint32_t (*distance)(const topo *t, topo_chip_id src, topo_chip_id dst);
    uint32_t channels; /* virtual channels it needs to be free of deadlock */
    void (*metrics)(const topo *t, struct topo_metrics *m); /* closed forms; NULL: by counting */
};

/* Links are rows of parallel arrays; outgoing links of a node are contiguous: out_begin[node] ..
 * out_begin[node + 1]. Nodes are chips, then switches. */
struct topo {
    char *spec;
    const struct topo_chip *chip; /* NULL without a preset */
    const struct topo_routing *routing;
    uint32_t chips, nodes, links;
    struct topo_lattice grid; /* coordinates; without ports one axis of size chips */
    enum topo_tie tie;
    struct topo_cubes *cubes; /* of one slice of whole cubes; else NULL */
    double link_bytes_per_s;  /* of a link the spec says nothing special about */
    sim_ps latency_ps;
    sim_ps optical_latency_ps; /* of a hop through an optical switch */

    uint32_t ports;                    /* 2 * axes on tori and meshes, else 0 */
    topo_link_id *port_link;           /* [chips * ports] */
    topo_link_id *out_begin;           /* [nodes + 1] */
    topo_node_id *link_from, *link_to; /* [links] */
    double *link_rate;                 /* [links] */
    sim_ps *link_latency_ps;           /* [links] */
    uint8_t *link_kind;                /* [links] */
    topo **factor; /* [factors] owned: what a product is made of; of several slices, one slice */
    uint32_t factors;
    topo_chip_id *port_chip; /* [chips * ports] with faults: who the port led to; else NULL */
    bool *is_failed;         /* [chips] with faults; else NULL */
    uint32_t failed_chips;
    const struct topo_routing *base_routing; /* the default, when another was chosen; else NULL */
    struct topo_route_table *route_table;    /* routes from a file; else NULL */
    uint64_t seed;                           /* of valiant's intermediates */
    struct topo_fault_table
        *fault_table;           /* of the fault-tolerant routing; filled when first needed */
    struct topo_cycles *cycles; /* Hamiltonian ones, filled when first needed; NULL without ports */
    uint16_t *hops_to; /* [nodes * nodes] graph families: links of the shortest path from a to b */
};

/** Allocate the arrays above, after asking whether this machine has the memory. */
SIM_MUST_CHECK enum sim_status topo_reserve(topo *t, uint64_t chips, uint64_t nodes, uint64_t links,
                                            struct sim_error *err);
/** Give the arrays back, to build again. */
void topo_links_release(topo *t);
/** Give a link its ends and kind, and the rate and latency of its kind. */
void topo_link_set(topo *t, topo_link_id link, topo_node_id from, topo_node_id to,
                   enum topo_link_kind kind);

/** Where a chip's port is cabled to (TOPO_NONE: nowhere), and by what. */
typedef topo_chip_id (*topo_port_target)(const void *context, topo_chip_id chip, uint32_t port,
                                         enum topo_link_kind *kind);
/** Chips on the coordinates of t->grid with cables between their ports. */
SIM_MUST_CHECK enum sim_status topo_ports_build(topo *t, topo_port_target target,
                                                const void *context, struct sim_error *err);

SIM_MUST_CHECK enum sim_status topo_torus_build(topo *t, struct sim_error *err);
SIM_MUST_CHECK enum sim_status topo_full_build(topo *t, struct sim_error *err);

/* ---- slices of cubes ---- */

void topo_cubes_destroy(struct topo_cubes *cubes);
/** Put spare cubes at the places [places] that are broken, and cable anew. Errors: SIM_EDATA (too
 * few spares). */
SIM_MUST_CHECK enum sim_status topo_slice_repair(topo *t, const bool *is_broken,
                                                 struct sim_error *err);

/* ---- graphs in general ---- */

/** Links of a graph being made, in any order. Zero-initialise; topo_graph_build() releases it. */
struct topo_edges {
    uint32_t count, capacity;
    struct topo_edge {
        topo_node_id from, to;
        double bytes_per_s;
        sim_ps latency_ps;
        enum topo_link_kind kind;
    } * edge;
};

/** One link each way. */
void topo_edges_add(struct topo_edges *edges, topo_node_id a, topo_node_id b, double bytes_per_s,
                    sim_ps latency_ps, enum topo_link_kind kind);
/** Graphs keep a hop count for every pair of nodes: 800 MB for this many. */
#define TOPO_GRAPH_NODES_MAX 20000

/** Links sorted by their start, and nothing else: for families with a routing of their own. Takes
 * the edges. */
SIM_MUST_CHECK enum sim_status topo_edges_build(topo *t, struct topo_edges *edges, uint32_t chips,
                                                uint32_t switches, struct sim_error *err);
/**
 * Finish a graph topology: links sorted by their start, hop counts, ECMP routing. t->grid says the
 * coordinates (their sizes multiply to `chips`). Errors: SIM_EDATA names chips that are cut off.
 */
SIM_MUST_CHECK enum sim_status topo_graph_build(topo *t, struct topo_edges *edges, uint32_t chips,
                                                uint32_t switches, struct sim_error *err);

/** Hop counts and ECMP routing of a graph whose links are in place (again, after faults). */
SIM_MUST_CHECK enum sim_status topo_graph_route(topo *t, struct sim_error *err);

/* ---- faults ---- */

/** The routing that goes around missing links. */
SIM_MUST_CHECK enum sim_status topo_fault_routing(topo *t, struct sim_error *err);
void topo_fault_table_destroy(struct topo_fault_table *table);
/** Append the shortest up*-down* path; false when there is none. */
bool topo_up_down_path(const topo *t, topo_node_id src, topo_node_id dst, uint8_t channel,
                       struct topo_paths *paths);

/** What topo_graph_build() sets: evenly over all shortest paths. */
void topo_ecmp_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths);
uint32_t topo_ecmp_distance(const topo *t, topo_chip_id src, topo_chip_id dst);

/**
 * Some cycle of a directed graph of `edges` pairs of nodes (igraph), as nodes in order into `cycle`
 * ([nodes]); *length 0 when there is none.
 */
SIM_MUST_CHECK enum sim_status topo_digraph_cycle(uint32_t nodes, uint64_t edges,
                                                  const uint32_t *ends, struct sim_error *err,
                                                  uint32_t *cycle, uint32_t *length);

/* ---- Hamiltonian cycles ---- */

void topo_cycles_destroy(struct topo_cycles *cycles);

/* ---- other routings ---- */

extern const struct topo_routing topo_adaptive_routing, topo_up_down_routing,
    topo_valiant_routing_table;
void topo_valiant_routing(topo *t, uint64_t seed);
SIM_MUST_CHECK enum sim_status topo_table_routing(topo *t, const char *path, struct sim_error *err);
void topo_route_table_destroy(struct topo_route_table *table);

/* Path building: begin a set, push links with their virtual channel, close each path with its share
 * of the bytes; shares add up to 1. */
void topo_paths_reset(struct topo_paths *paths);
void topo_paths_push(struct topo_paths *paths, topo_link_id link, uint8_t channel);
void topo_paths_close(struct topo_paths *paths, double share);
/** Give every path of the set the same share. */
void topo_paths_share_evenly(struct topo_paths *paths);

#endif
