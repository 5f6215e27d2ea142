/**
 * Topologies as graphs: files out, and what igraph says about any topology.
 *
 * Graph files come in by the specs "graph:FILE" and "astra:FILE" of topo_create(); an exported file
 * read back is the same topology: the same chips, switches and links in the same order, with rates,
 * latencies and kinds to the last bit. Routing is not in the file (graphs have ECMP).
 */
#ifndef PODSIM_TOPO_GRAPH_H
#define PODSIM_TOPO_GRAPH_H

#include <stdbool.h>
#include <stdio.h>

#include "topo/topo.h"

/* Names are also file endings. */
enum topo_graph_format { TOPO_GRAPH_GRAPHML, TOPO_GRAPH_GML, TOPO_GRAPH_EDGES, TOPO_GRAPH_DOT };
extern const char *const topo_graph_format_names[]; /* ends with NULL */

/** By the ending: .graphml .xml; .gml; .edges .edgelist .txt; .dot .gv. False when it is none of
 * these. */
bool topo_graph_format_of(const char *path, enum topo_graph_format *out);

/**
 * Write nodes (kind chip or switch, coordinates x y z w of chips) and one-way links (rate in
 * bytes/s, latency in seconds, kind). The same topology gives the same bytes. `path` "-" is stdout.
 *
 * Errors: SIM_EUSAGE (GML is not written), SIM_ECREATE, SIM_EIO.
 */
SIM_MUST_CHECK enum sim_status topo_graph_export(const topo *t, const char *path,
                                                 enum topo_graph_format format,
                                                 struct sim_error *err);
/** The same to a stream; GML is a bug here. */
void topo_graph_write(const topo *t, enum topo_graph_format format, FILE *file);

/**
 * Edge betweenness: for the link with the most, how many ordered pairs of chips have their shortest
 * path over it, a pair with n shortest paths counting 1/n for each. Of equal ones the lowest link.
 * A topology without links has `*most` 0 and `*link` TOPO_NONE. Takes chips x links steps.
 *
 * Errors: SIM_ERESOURCE (more than 4e9 steps).
 * Source: Brandes, "A faster algorithm for betweenness centrality", J. Math. Sociology 25(2), 2001.
 */
SIM_MUST_CHECK enum sim_status topo_graph_betweenness(const topo *t, struct sim_error *err,
                                                      double *most, topo_link_id *link);

/**
 * Can the nodes of `a` be renamed so that it has the links of `b`, chips staying chips? With
 * `has_kinds` links of one kind must fall on links of that kind; parallel links count either way,
 * rates and latencies never.
 *
 * Errors: SIM_ERESOURCE (more than 2,000,000 links in one of them).
 * Source: Junttila & Kaski, "Engineering an efficient canonical labeling tool for large and sparse
 * graphs" (bliss), ALENEX 2007.
 */
SIM_MUST_CHECK enum sim_status topo_graph_is_isomorphic(const topo *a, const topo *b,
                                                        bool has_kinds, struct sim_error *err,
                                                        bool *out);

#endif
