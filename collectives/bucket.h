/**
 * The colours of a bucket: in which order each share of the buffer visits the axes, how large it
 * is, and how long they take together.
 */
#ifndef PODSIM_COLLECTIVES_BUCKET_H
#define PODSIM_COLLECTIVES_BUCKET_H

#include "collectives/coll.h"

/** Shares are multiples of 1/COLL_BUCKET_PARTS where they are searched. */
#define COLL_BUCKET_PARTS   128
#define COLL_BUCKET_COLOURS TOPO_FACTORS_MAX /* cyclic orders, or all orders of three axes */

struct coll_colour {
    uint8_t factor[TOPO_FACTORS_MAX]; /* of an all-gather, first to last */
    uint32_t parts;
};

/** Colours of one direction; the other has the same. */
struct coll_colours {
    uint32_t axes, count, parts; /* parts: of all of them */
    struct coll_colour colour[COLL_BUCKET_COLOURS];
};

/** An axis as one direction of its links sees it. */
struct coll_bucket_axis {
    uint32_t extent, steps; /* steps of a pass; each carries one block a link */
    double last_step;       /* share of a block that the last one carries */
    double bytes_per_s;     /* of a link, for the colours of one direction and this group */
    double hop_s;
};

/**
 * Seconds of `op` over `bytes` in one direction: every colour goes through its axes backwards
 * (reduce-scatter), forwards (all-gather) or both, step by step; colours on one axis share its
 * links evenly.
 */
double coll_bucket_seconds(const struct coll_colours *colours, const struct coll_bucket_axis *axis,
                           enum coll_op op, double bytes);

/** All orders of the axes, with the shares that make that time shortest: a search, the same for the
 * same sides and bytes. `order` [axes]: the axes in an order that does not depend on their names.
 */
void coll_bucket_search(uint32_t axes, const uint32_t *order, const struct coll_bucket_axis *axis,
                        enum coll_op op, double bytes, struct coll_colours *out);

#endif
