/**
 * Closed forms and bounds: what a collective takes on an idle network, and what no algorithm can
 * beat.
 */
#ifndef PODSIM_COLLECTIVES_COST_H
#define PODSIM_COLLECTIVES_COST_H

#include "collectives/coll.h"
#include "netsim/router.h"

struct coll_cost {
    sim_ps time_ps;
    sim_ps latency_ps; /* the part of time_ps that is hops */
    bool is_exact; /* the form holds on an idle healthy network to rounding; else an estimate for
                      choosing */
    bool is_guess; /* a formula for a regular network, on one that is not, whose messages are too
                      many to route (see forms.c) */
};

/** Without launch or send overhead. */
struct coll_cost coll_closed_form(const topo *t, const struct coll_spec *spec);

/** Forms of one operation on one group, with what they have in common over sizes worked out once.
 */
typedef struct coll_forms coll_forms;
/** `t` is borrowed; of `spec` algorithm and bytes are not read. */
coll_forms *coll_forms_create(const topo *t, const struct coll_spec *spec);
void coll_forms_destroy(coll_forms *f);
/** Only these are to be chosen among, a bit each of enum coll_algorithm; 0, as at first: all that
 * are candidates. */
void coll_forms_restrict(coll_forms *f, uint32_t among);
uint32_t coll_forms_among(const coll_forms *f);
/** What coll_closed_form() says. */
struct coll_cost coll_forms_cost(coll_forms *f, enum coll_algorithm algorithm, double bytes);
const struct coll_spec *coll_forms_spec(const coll_forms *f);
const topo *coll_forms_topo(const coll_forms *f);

/** Of a hierarchical one, without overlap of chunks: once inside a slice, and all between slices.
 */
struct coll_phases {
    double inside_hops_ps, inside_bytes_ps;
    double between_hops_ps, between_bytes_ps;
};
struct coll_phases coll_hierarchy_phases(const topo *t, const struct coll_spec *spec);

struct coll_bound {
    sim_ps time_ps;               /* the larger of the two */
    sim_ps latency_ps;            /* the farthest pair's hops */
    sim_ps bytes_ps;              /* the tightest of: ports of one chip, all links together, cuts */
    const char *limited_by;       /* "latency", "ports", "links", "cut x" ... */
    const char *bytes_limited_by; /* the same of bytes_ps */
};

/** No engine and no algorithm is faster. Sources: see bound.c. */
struct coll_bound coll_lower_bound(const topo *t, const struct coll_spec *spec);
/** The same for runs through such routers (NULL: flows): where they count in cycles a hop takes a
 * time of their own instead of the link's latency, which then does not bound. */
struct coll_bound coll_bound_through(const struct net_router *router, struct coll_bound bound);

#endif
