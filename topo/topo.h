/**
 * A topology: chips and switches, one-way links, coordinates where there are any, and a routing.
 * Switches are nodes that links may end at; they never take part in work. Immutable once
 * created.
 *
 * Chips have ids 0 .. chips-1, x fastest. On a torus or mesh chip c has two ports per axis, `+` and
 * `-`:
 *
 *        port 1 (-x) <--- c ---> port 0 (+x)         ports: +x 0, -x 1, +y 2, -y 3, ...
 *
 * and a link is the outgoing side of one port. An axis of 1 has no link; a wrapped axis of 2 has
 * both ports cabled, so two links lead to the same neighbour. A mesh's edge ports have no link.
 */
#ifndef PODSIM_TOPO_TOPO_H
#define PODSIM_TOPO_TOPO_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/time.h"
#include "topo/chip.h"
#include "topo/lattice.h"

#define TOPO_NONE UINT32_MAX

typedef uint32_t topo_chip_id;
typedef uint32_t topo_node_id; /* chips first, then switches */
typedef uint32_t topo_link_id;
typedef struct topo topo;

enum topo_link_kind { TOPO_COPPER, TOPO_OPTICAL, TOPO_SWITCH, TOPO_DCN };
extern const char *const topo_link_kind_names[];

/** Which of two equally short directions a message takes around an axis. */
enum topo_tie {
    TOPO_TIE_SPLIT,
    TOPO_TIE_POSITIVE,
    TOPO_TIE_NEGATIVE,
    TOPO_TIE_SIMGRID /* as its torus zones: +, but - from the middle of an axis to its first chip */
};

/** What may be said beside the spec; a zero (or negative latency) leaves the spec's or the preset's
 * value. */
struct topo_options {
    double link_bytes_per_s;
    sim_ps latency_ps; /* per hop; -1 = not given */
    enum topo_tie tie;
    char fail[1024];         /* faults, see topo/fault.h; "": none */
    const char *fail_random; /* NULL: none */
    bool is_repaired;        /* spare cubes take the place of broken ones (topo/slice.h) */
    const char *routing;     /* a name or a file (topo/routing.h); NULL: the default */
};
/* Nothing said: struct topo_options o = TOPO_OPTIONS_DEFAULT; */
#define TOPO_OPTIONS_DEFAULT                                                                       \
    {                                                                                              \
        .latency_ps = -1                                                                           \
    }

/**
 * Build from a spec string: "v5p:8x8x16", "torus:8x8x8,link=45GB/s,latency=1us", "mesh:4x4",
 * "ring:8", "full:8".
 *
 * Errors: SIM_EDATA (says what was found and wanted), SIM_ERESOURCE (larger than this machine's
 * memory).
 */
SIM_MUST_CHECK enum sim_status topo_create(const char *spec, const struct topo_options *options,
                                           struct sim_error *err, topo **out);
void topo_destroy(topo *t);

/** The spec it was built from; with faults "SPEC without link:0,0:+x; links=2,seed=3", and repaired
 * "SPEC without chip:0,0,0, repaired". */
const char *topo_spec(const topo *t);
/** NULL unless the spec named a preset. */
const struct topo_chip *topo_chip_of(const topo *t);
uint32_t topo_chips(const topo *t);
/** Of several slices one of them (they are alike); NULL when there is one only. */
const topo *topo_slice(const topo *t);
/** Chips and switches. */
uint32_t topo_nodes(const topo *t);
uint32_t topo_links(const topo *t);
double topo_default_link_rate(const topo *t);
sim_ps topo_default_latency_ps(const topo *t);

/** Coordinate axes, named "xyzw"; 1 .. TOPO_AXES_MAX (topologies without coordinates have one, of
 * size chips). */
uint32_t topo_axes(const topo *t);
uint32_t topo_axis_size(const topo *t, uint32_t axis);
/** Do the axis's ends meet, so that walking along it comes back to the start? */
bool topo_axis_is_wrapped(const topo *t, uint32_t axis);
/** Are there links at the axis's ends: it wraps, or closes with a twist onto another line? */
bool topo_axis_is_closed(const topo *t, uint32_t axis);
/** Does another axis, where it closes with a twist, move along this one? */
bool topo_axis_is_moved(const topo *t, uint32_t axis);
/** Does some axis close with a twist? */
bool topo_is_twisted(const topo *t);
/** Do all links have one rate and one latency? */
bool topo_is_uniform(const topo *t);
/** Do the axes have links along them (tori and meshes)? If not, neighbours in rank are no
 * neighbours in hardware. */
bool topo_has_ports(const topo *t);

uint32_t topo_coord(const topo *t, topo_chip_id chip, uint32_t axis);
topo_chip_id topo_chip_at(const topo *t, const uint32_t coord[TOPO_AXES_MAX]);

/** Does moving every chip by `step` (0 < step) along an axis map links to links of equal rate and
 * latency, and routes to routes? Only where routes depend on offsets alone: healthy tori with their
 * own routing, along axes that close. */
bool topo_is_translation(const topo *t, uint32_t axis, uint32_t step);

/** Has the chip failed? Failed chips keep their ids and have no links. */
bool topo_chip_is_failed(const topo *t, topo_chip_id chip);
uint32_t topo_failed_chips(const topo *t);
/** Has anything failed? */
bool topo_is_faulty(const topo *t);
/** The chip a port is for, its cable working or not; TOPO_NONE at a mesh's edge. Needs ports. */
topo_chip_id topo_neighbour(const topo *t, topo_chip_id chip, uint32_t port);
/** The outgoing link of a port (2*axis for +, 2*axis+1 for -), or TOPO_NONE. Needs ports. */
topo_link_id topo_port_link(const topo *t, topo_chip_id chip, uint32_t port);
/** Ports per chip: twice the axes; 0 without ports. */
uint32_t topo_ports(const topo *t);
/** Outgoing links of a node. */
uint32_t topo_out_links(const topo *t, topo_node_id node, topo_link_id *link);
/** The most outgoing links any node has: the room topo_out_links() wants. */
uint32_t topo_max_degree(const topo *t);

topo_node_id topo_link_from(const topo *t, topo_link_id link);
topo_node_id topo_link_to(const topo *t, topo_link_id link);
double topo_link_rate(const topo *t, topo_link_id link); /* bytes/s */
sim_ps topo_link_latency_ps(const topo *t, topo_link_id link);
enum topo_link_kind topo_link_kind(const topo *t, topo_link_id link);

/** A chip's coordinates as "3,0,1"; a switch as "switch 7". Returns `buffer` (48 bytes or more). */
const char *topo_node_format(const topo *t, topo_node_id node, char *buffer);

#endif
