/** What the files of topo/ share. */
#ifndef PODSIM_TOPO_TOPO_INTERNAL_H
#define PODSIM_TOPO_TOPO_INTERNAL_H

#include "topo/route.h"
#include "topo/topo.h"

/** How a family of topologies finds its way. */
struct topo_family {
    const char *name;
    void (*route)(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths);
    uint32_t (*distance)(const topo *t, topo_chip_id src, topo_chip_id dst);
};

/* Links are rows of four parallel arrays; outgoing links of a chip are contiguous: out_begin[chip]
 * .. out_begin[chip+1]. */
struct topo {
    char *spec;
    const struct topo_chip *chip; /* NULL without a preset */
    const struct topo_family *family;
    uint32_t chips, links;
    uint32_t axes, size[TOPO_AXES_MAX];
    bool is_wrapped[TOPO_AXES_MAX];
    enum topo_tie tie;
    double link_bytes_per_s; /* of a link the spec says nothing special about */
    sim_ps latency_ps;

    uint32_t ports;                    /* 2 * axes on tori and meshes, else 0 */
    topo_link_id *port_link;           /* [chips * ports] */
    topo_link_id *out_begin;           /* [chips + 1] */
    topo_chip_id *link_from, *link_to; /* [links] */
    double *link_rate;                 /* [links] */
    sim_ps *link_latency_ps;           /* [links] */
    uint8_t *link_kind;                /* [links] */
};

/** Sum of the arrays above for a topology of this size; checked against the machine before anything
 * is built. */
SIM_MUST_CHECK enum sim_status topo_reserve(topo *t, uint64_t chips, uint64_t links,
                                            struct sim_error *err);

SIM_MUST_CHECK enum sim_status topo_torus_build(topo *t, struct sim_error *err);
SIM_MUST_CHECK enum sim_status topo_full_build(topo *t, struct sim_error *err);

/* Path building: begin a set, push links, close each path. */
void topo_paths_reset(struct topo_paths *paths);
void topo_paths_push(struct topo_paths *paths, topo_link_id link);
void topo_paths_close(struct topo_paths *paths);

#endif
