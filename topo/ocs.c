/*
 * The switches' permutations, both ways, and the configuration of slices.
 */
#include "topo/ocs.h"

#include <assert.h>

#include "base/arena.h"

#define SWITCHES (3 * TOPO_FACE_POSITIONS)

struct topo_ocs {
    uint32_t cubes;
    bool *is_used;    /* [cubes] */
    uint32_t *target; /* [SWITCHES][cubes] */
    uint32_t *source; /* [SWITCHES][cubes] the inverse */
};

topo_ocs *topo_ocs_create(uint32_t cubes)
{
    topo_ocs *ocs = SIM_NEW(topo_ocs, 1);
    ocs->cubes = cubes;
    ocs->is_used = SIM_NEW(bool, cubes);
    ocs->target = SIM_NEW(uint32_t, (size_t)SWITCHES * cubes);
    ocs->source = SIM_NEW(uint32_t, (size_t)SWITCHES * cubes);
    for (size_t i = 0; i < (size_t)SWITCHES * cubes; i++)
        ocs->target[i] = ocs->source[i] = TOPO_NO_CUBE;
    return ocs;
}

void topo_ocs_destroy(topo_ocs *ocs)
{
    if (ocs == NULL) return;
    sim_free(ocs->is_used);
    sim_free(ocs->target);
    sim_free(ocs->source);
    sim_free(ocs);
}

uint32_t topo_ocs_cubes(const topo_ocs *ocs)
{
    return ocs->cubes;
}

bool topo_ocs_is_free(const topo_ocs *ocs, uint32_t cube)
{
    assert(cube < ocs->cubes);
    return !ocs->is_used[cube];
}

static size_t entry(const topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t cube)
{
    assert(dimension < 3 && position < TOPO_FACE_POSITIONS && cube < ocs->cubes);
    return ((size_t)dimension * TOPO_FACE_POSITIONS + position) * ocs->cubes + cube;
}

uint32_t topo_ocs_target(const topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t cube)
{
    return ocs->target[entry(ocs, dimension, position, cube)];
}

uint32_t topo_ocs_source(const topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t cube)
{
    return ocs->source[entry(ocs, dimension, position, cube)];
}

static void connect(topo_ocs *ocs, uint32_t dimension, uint32_t position, uint32_t from,
                    uint32_t to)
{
    uint32_t *target = &ocs->target[entry(ocs, dimension, position, from)];
    uint32_t *source = &ocs->source[entry(ocs, dimension, position, to)];
    assert(*target == TOPO_NO_CUBE && *source == TOPO_NO_CUBE);
    *target = to;
    *source = from;
}

/* The place after (x, y, z) along `dimension`, around the grid, moved by the twist at its end. */
static uint32_t next_place(const struct topo_slice *slice, const uint32_t at[3], uint32_t dimension)
{
    uint32_t next[3] = {at[0], at[1], at[2]};
    if (++next[dimension] == slice->grid[dimension]) {
        next[dimension] = 0;
        for (uint32_t b = 0; b < 3; b++)
            next[b] = (next[b] + slice->twist[dimension][b]) % slice->grid[b];
    }
    return next[0] + slice->grid[0] * (next[1] + slice->grid[1] * next[2]);
}

static enum sim_status take_cubes(topo_ocs *ocs, const struct topo_slice *slice, uint32_t places,
                                  struct sim_error *err)
{
    for (uint32_t i = 0; i < places; i++) {
        uint32_t cube = slice->cube[i];
        const char *why = cube >= ocs->cubes   ? "lies beyond the pod"
                          : ocs->is_used[cube] ? "is in use already"
                                               : NULL;
        if (why != NULL) {
            for (uint32_t j = 0; j < i; j++)
                ocs->is_used[slice->cube[j]] = false;
            return sim_error_set(err, SIM_EDATA, "cube %u %s (the pod has %u)", cube, why,
                                 ocs->cubes);
        }
        ocs->is_used[cube] = true;
    }
    return SIM_OK;
}

enum sim_status topo_ocs_configure(topo_ocs *ocs, const struct topo_slice *slice,
                                   struct sim_error *err)
{
    uint32_t places = slice->grid[0] * slice->grid[1] * slice->grid[2], at[3];
    SIM_TRY(take_cubes(ocs, slice, places, err));
    for (at[2] = 0; at[2] < slice->grid[2]; at[2]++)
        for (at[1] = 0; at[1] < slice->grid[1]; at[1]++)
            for (at[0] = 0; at[0] < slice->grid[0]; at[0]++) {
                uint32_t here = at[0] + slice->grid[0] * (at[1] + slice->grid[1] * at[2]);
                for (uint32_t d = 0; d < 3; d++)
                    for (uint32_t p = 0; p < TOPO_FACE_POSITIONS; p++)
                        connect(ocs, d, p, slice->cube[here],
                                slice->cube[next_place(slice, at, d)]);
            }
    assert(topo_ocs_is_valid(ocs));
    return SIM_OK;
}

bool topo_ocs_is_valid(const topo_ocs *ocs)
{
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t p = 0; p < TOPO_FACE_POSITIONS; p++)
            for (uint32_t c = 0; c < ocs->cubes; c++) {
                uint32_t to = topo_ocs_target(ocs, d, p, c), from = topo_ocs_source(ocs, d, p, c);
                if (to != TOPO_NO_CUBE && topo_ocs_source(ocs, d, p, to) != c) return false;
                if (from != TOPO_NO_CUBE && topo_ocs_target(ocs, d, p, from) != c) return false;
            }
    return true;
}
