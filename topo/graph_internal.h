/** Graph files between reading and checking: tables of nodes and links with what the file says. */
#ifndef PODSIM_TOPO_GRAPH_INTERNAL_H
#define PODSIM_TOPO_GRAPH_INTERNAL_H

#include "base/arena.h"
#include "topo/graph.h"
#include "topo/topo_internal.h"

/* What a file that says nothing gets: as a bare torus. */
#define GRAPH_LINK_BYTES_PER_S 45e9
#define GRAPH_LATENCY_PS       SIM_PS_PER_US
/* Paths of many hops must stay within 64 bits of picoseconds. */
#define GRAPH_LATENCY_MAX_PS SIM_PS_PER_S
/* Links of a graph: 16 million take half a GiB while they are sorted. */
#define GRAPH_LINKS_MAX 16000000

/** One attribute of all nodes or of all edges: numbers (NaN: not given), or texts ("": not given),
 * or, with both NULL, absent. */
struct graph_column {
    double *number;
    const char **text;
};

/** Everything lives in `arena`. */
struct graph_table {
    const char *file;
    sim_arena *arena;
    bool is_directed;
    uint32_t nodes, edges;
    struct graph_column node_name, node_kind, node_axis[TOPO_AXES_MAX]; /* [nodes] */
    uint32_t *from, *to;                                                /* [edges] */
    int *line;                               /* [edges], or NULL when unknown */
    struct graph_column rate, latency, kind; /* [edges] */
};

/** GraphML or GML, by igraph. Errors: SIM_EDATA. `out` has file and arena. */
SIM_MUST_CHECK enum sim_status topo_graph_read_igraph(const char *text, size_t bytes,
                                                      enum topo_graph_format format,
                                                      struct sim_error *err,
                                                      struct graph_table *out);
/** An edge list; `text` ends with a zero and is cut up. */
SIM_MUST_CHECK enum sim_status topo_graph_read_edges(char *text, struct sim_error *err,
                                                     struct graph_table *out);
/** Turn a table into a topology. */
SIM_MUST_CHECK enum sim_status topo_graph_assemble(topo *t, const struct graph_table *table,
                                                   const struct topo_options *options,
                                                   struct sim_error *err);

/** What topo_create() does with "graph:FILE" and "astra:FILE". */
SIM_MUST_CHECK enum sim_status topo_graph_file_build(topo *t, const char *path,
                                                     const struct topo_options *options,
                                                     struct sim_error *err);
SIM_MUST_CHECK enum sim_status topo_astra_build(topo *t, const char *path,
                                                const struct topo_options *options,
                                                struct sim_error *err);
/** Rate and latency the topology as a whole is said to have: the slowest link's and the longest. */
void topo_graph_set_defaults(topo *t);

#endif
