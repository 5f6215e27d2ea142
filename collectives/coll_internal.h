/** What the files of collectives/ share: one builder and one closed form per algorithm, and lane
 * helpers. */
#ifndef PODSIM_COLLECTIVES_COLL_INTERNAL_H
#define PODSIM_COLLECTIVES_COLL_INTERNAL_H

#include "collectives/coll.h"
#include "collectives/cost.h"
#include "collectives/pass.h"

/** What is known of a group's links when closed forms are asked: tori and meshes have one rate and
 * latency. */
struct coll_network {
    double bytes_per_s;
    double hop_ps;
};
struct coll_network coll_network_of(const topo *t);

/** Factors of the group longer than 1. */
struct topo_group coll_group_trimmed(const struct topo_group *group);

/** Peers of an axis of the space that is factor `factor`: one step each way. */
struct coll_pass coll_pass_along(net_schedule *s, uint32_t factor, enum coll_pass_kind kind,
                                 int32_t direction);

/** Peers along a line over the `count` ranks that take part; a line's ends and the other ranks
 * point at themselves and are never asked. */
void coll_line_peers(net_schedule *s, const uint32_t *rank_at, uint32_t count, bool is_cycle,
                     uint32_t peer[2]);

/** All of an operation for one lane: reduce-scatter backwards over `pass`, gather forwards. */
void coll_lane_write(net_schedule *s, enum coll_op op, uint32_t part_begin, uint32_t part_count,
                     double bytes, uint32_t *next_tag, const struct coll_pass *pass,
                     uint32_t pass_count);

/** From the two terms of a form; rounded to the picosecond, at most SIM_PS_MAX. */
struct coll_cost coll_cost_make(double latency_ps, double bytes_ps, bool is_exact);

/** Is every step of the group's cycle or line one link that nobody else uses? */
bool coll_steps_are_single_links(const topo *t, const struct topo_group *group);

/* Builders get the group without factors of 1, and never a group of one. */
net_schedule *coll_ring_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_ring_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_bucket_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_bucket_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_direct_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_direct_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_permute_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_permute_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_doubling_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_doubling_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_bruck_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_bruck_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_binomial_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_binomial_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_bine_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_bine_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_chain_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_chain_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_double_tree_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_double_tree_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_swing_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_swing_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_hierarchy_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_hierarchy_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_hamiltonian_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_hamiltonian_cost(const topo *t, const struct coll_spec *spec);
net_schedule *coll_channels_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_channels_cost(const topo *t, const struct coll_spec *spec);
const char *coll_channels_obstacle(const topo *t, const struct coll_spec *spec);
net_schedule *coll_phased_build(const topo *t, const struct coll_spec *spec);
struct coll_cost coll_phased_cost(const topo *t, const struct coll_spec *spec);

/** An algorithm's own form: exact where it says so, else for regular networks. */
struct coll_cost coll_own_form(const topo *t, const struct coll_spec *spec);
uint32_t coll_chain_chunks(const topo *t, const struct coll_spec *spec);
uint32_t coll_double_tree_chunks(const topo *t, const struct coll_spec *spec);
uint32_t coll_hierarchy_chunks(const topo *t, const struct coll_spec *spec);
/** A healthy torus, mesh or full mesh of equal links. */
bool coll_is_plain(const topo *t);

/** Does the group lie over several slices? */
bool coll_is_over_slices(const topo *t, const struct topo_group *group);
struct coll_cost coll_direct_over_slices_cost(const topo *t, const struct coll_spec *spec);

/* Why an algorithm cannot; NULL when it can. */
const char *coll_bucket_obstacle(const topo *t, const struct coll_spec *spec);
const char *coll_bine_obstacle(const topo *t, const struct coll_spec *spec);
const char *coll_swing_obstacle(const topo *t, const struct coll_spec *spec);
const char *coll_hierarchy_obstacle(const topo *t, const struct coll_spec *spec);
const char *coll_hamiltonian_obstacle(const topo *t, const struct coll_spec *spec);

#endif
