/**
 * What each algorithm is, in a line each: for listings.
 */
#ifndef PODSIM_COLLECTIVES_ABOUT_H
#define PODSIM_COLLECTIVES_ABOUT_H

#include "collectives/coll.h"

struct coll_about {
    const char *idea;
    const char *form;   /* time on an idle network, see docs/manual.md for the letters */
    const char *limits; /* what it asks of the group; "" nothing */
    const char *source;
};
const struct coll_about *coll_about(enum coll_algorithm algorithm);

#endif
