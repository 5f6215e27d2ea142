/**
 * Random groups and collectives, for property tests.
 */
#ifndef PODSIM_TESTS_RANDOM_COLLECTIVE_H
#define PODSIM_TESTS_RANDOM_COLLECTIVE_H

#include "base/rng.h"
#include "collectives/choice.h"
#include "tests/support.h"

static inline uint32_t pick(struct sim_rng *rng, uint32_t count)
{
    return (uint32_t)sim_rng_below(rng, count);
}

/* All axes, or one or two of them, whole or split. */
static inline struct topo_group random_group(struct sim_rng *rng, const topo *t)
{
    struct topo_group group = {.size = 1};
    struct sim_error err = {0};
    if (topo_failed_chips(t) > 0 || pick(rng, 3) == 0) return topo_group_all(t);
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t axis = pick(rng, topo_axes(t)), size = topo_axis_size(t, axis);
        struct topo_factor f = {.axis = (uint8_t)axis, .stride = 1, .extent = size};
        if (size % 2 == 0 && pick(rng, 2) == 0) f.extent = size / 2;
        if (size % 2 == 0 && f.extent < size && pick(rng, 2) == 0) f.stride = 2;
        if (topo_group_add(t, &group, f, &err) != SIM_OK) break;
    }
    return group;
}

/* Of up to `most` bytes. */
static inline struct coll_spec random_spec(struct sim_rng *rng, const topo *t, double most)
{
    static const double sizes[] = {0, 1, 1000, 65536, 1e6, 3e7};
    struct coll_spec c;
    struct sim_error err = {0};
    do {
        c = (struct coll_spec){.op = (enum coll_op)pick(rng, COLL_PERMUTE + 1),
                               .algorithm = (enum coll_algorithm)pick(rng, COLL_ALGORITHMS),
                               .group = random_group(rng, t),
                               .bytes = sizes[pick(rng, 6)],
                               .is_one_group = pick(rng, 8) == 0};
        if (c.is_one_group) c.one_group_of = pick(rng, topo_chips(t));
    } while (coll_accept(t, &c, &err) != SIM_OK || c.bytes > most ||
             (c.algorithm == COLL_PHASED && c.group.size > 32));
    return c;
}

static inline net_schedule *random_collective(const topo *t, const struct coll_spec *spec)
{
    struct sim_error err = {0};
    net_schedule *s = NULL;
    ck_assert_msg(coll_build(t, spec, &err, &s) == SIM_OK, "%s", err.text);
    return s;
}

#endif
