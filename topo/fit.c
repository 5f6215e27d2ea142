/*
 * Counting good blocks: every orientation of a shape is laid over the pod, or over each cube.
 */
#include "topo/fit.h"

#include <assert.h>

#include "topo/ocs.h"

/* The chips from `corner` to corner + side. */
struct block {
    uint32_t corner[3], side[3];
};

/* Are both ways of the cable to the next chip along `axis` there? */
static bool has_cable(const topo *pod, topo_chip_id chip, uint32_t axis)
{
    topo_chip_id next = topo_neighbour(pod, chip, 2 * axis);
    return topo_port_link(pod, chip, 2 * axis) != TOPO_NONE &&
           topo_port_link(pod, next, 2 * axis + 1) != TOPO_NONE;
}

static bool is_chip_good(const topo *pod, const struct block *b, const uint32_t at[3])
{
    topo_chip_id chip = topo_chip_at(pod, (const uint32_t[TOPO_AXES_MAX]){at[0], at[1], at[2]});
    if (topo_chip_is_failed(pod, chip)) return false;
    for (uint32_t a = 0; a < 3; a++)
        if (at[a] + 1 < b->corner[a] + b->side[a] && !has_cable(pod, chip, a)) return false;
    return true;
}

static bool is_good(const topo *pod, const struct block *b)
{
    uint32_t at[3];
    for (at[2] = b->corner[2]; at[2] < b->corner[2] + b->side[2]; at[2]++)
        for (at[1] = b->corner[1]; at[1] < b->corner[1] + b->side[1]; at[1]++)
            for (at[0] = b->corner[0]; at[0] < b->corner[0] + b->side[0]; at[0]++)
                if (!is_chip_good(pod, b, at)) return false;
    return true;
}

/* Good blocks of `side` in `room`, side by side from its corner. */
static uint32_t count_blocks(const topo *pod, const struct block *room, const uint32_t side[3])
{
    uint32_t good = 0, blocks[3];
    for (uint32_t a = 0; a < 3; a++)
        blocks[a] = room->side[a] / side[a];
    for (uint32_t i = 0; i < blocks[0] * blocks[1] * blocks[2]; i++) {
        const uint32_t at[3] = {i % blocks[0], i / blocks[0] % blocks[1],
                                i / blocks[0] / blocks[1]};
        struct block b;
        for (uint32_t a = 0; a < 3; a++) {
            b.corner[a] = room->corner[a] + at[a] * side[a];
            b.side[a] = side[a];
        }
        good += is_good(pod, &b);
    }
    return good;
}

/* The same in the legal orientation that gives the most. */
static uint32_t best_blocks(const topo *pod, const struct block *room, const uint32_t side[3])
{
    static const uint8_t order[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
                                        {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint32_t best = 0;
    for (uint32_t i = 0; i < 6; i++) {
        const uint32_t turned[3] = {side[order[i][0]], side[order[i][1]], side[order[i][2]]};
        struct sim_error ignored = {0};
        bool is_wrapped[3];
        if (topo_chip_check_slice(topo_chip_of(pod), turned, &ignored, is_wrapped) != SIM_OK)
            continue;
        uint32_t good = count_blocks(pod, room, turned);
        if (good > best) best = good;
    }
    return best;
}

struct topo_fit topo_fit_of(const topo *pod, const struct topo_shape *shape)
{
    static const uint32_t cube_side[3] = {TOPO_CUBE_SIDE, TOPO_CUBE_SIDE, TOPO_CUBE_SIDE};
    const uint32_t *side = shape->side;
    struct block whole = {
        .side = {topo_axis_size(pod, 0), topo_axis_size(pod, 1), topo_axis_size(pod, 2)}};
    uint64_t chips = (uint64_t)side[0] * side[1] * side[2];
    struct topo_fit fit = {.good_cubes = count_blocks(pod, &whole, cube_side)};
    if (chips >= TOPO_CUBE_CHIPS) {
        fit.with_ocs = (uint32_t)(fit.good_cubes / (chips / TOPO_CUBE_CHIPS));
        fit.without_ocs = best_blocks(pod, &whole, side);
        return fit;
    }
    struct block cube = {.side = {TOPO_CUBE_SIDE, TOPO_CUBE_SIDE, TOPO_CUBE_SIDE}};
    for (cube.corner[2] = 0; cube.corner[2] < whole.side[2]; cube.corner[2] += TOPO_CUBE_SIDE)
        for (cube.corner[1] = 0; cube.corner[1] < whole.side[1]; cube.corner[1] += TOPO_CUBE_SIDE)
            for (cube.corner[0] = 0; cube.corner[0] < whole.side[0];
                 cube.corner[0] += TOPO_CUBE_SIDE)
                fit.without_ocs += best_blocks(pod, &cube, side);
    fit.with_ocs = fit.without_ocs;
    return fit;
}
