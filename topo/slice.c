/*
 * Slices of cubes: a pod's optical switches are configured, and the cables follow from them.
 *
 * Inside a cube chips are cabled in copper. A port on a cube's face leads through the switch of its
 * dimension and face position to the cube that the switch says, to the chip at the same position of
 * the opposite face. Neither wrapping nor twisting is known here: both are in the permutations.
 */
#include "topo/ocs.h"
#include "topo/topo_internal.h"

#include "base/arena.h"

/* Context of a slice being cabled. */
struct wiring {
    const topo *t;
    const topo_ocs *ocs;
    const uint32_t *cube; /* [places] cube at each place of the grid */
    uint32_t *place;      /* [cubes] the inverse; TOPO_NO_CUBE where a cube is not in the slice */
};

/* p = u + 4 v: the chip's place on a face, from its other two coordinates in rising order. */
static uint32_t face_position(const uint32_t local[3], uint32_t dimension)
{
    uint32_t u = local[dimension == 0 ? 1 : 0], v = local[dimension == 2 ? 1 : 2];
    return u + TOPO_CUBE_SIDE * v;
}

static topo_chip_id switched_target(const void *context, topo_chip_id chip, uint32_t port,
                                    enum topo_link_kind *kind)
{
    const struct wiring *w = context;
    uint32_t d = port / 2, place = 0, stride = 1, local[3], coord[TOPO_AXES_MAX] = {0};
    bool is_positive = port % 2 == 0;
    for (uint32_t a = 0; a < 3; a++) {
        coord[a] = topo_coord(w->t, chip, a);
        local[a] = coord[a] % TOPO_CUBE_SIDE;
        place += coord[a] / TOPO_CUBE_SIDE * stride;
        stride *= w->t->grid.size[a] / TOPO_CUBE_SIDE;
    }
    *kind = TOPO_COPPER;
    if (local[d] != (is_positive ? TOPO_CUBE_SIDE - 1 : 0)) {
        coord[d] += is_positive ? 1 : UINT32_MAX; /* modular: adds or subtracts 1 */
        return topo_chip_at(w->t, coord);
    }
    *kind = TOPO_OPTICAL;
    uint32_t position = face_position(local, d), here = w->cube[place];
    uint32_t there = is_positive ? topo_ocs_target(w->ocs, d, position, here)
                                 : topo_ocs_source(w->ocs, d, position, here);
    if (there == TOPO_NO_CUBE) return TOPO_NONE;
    local[d] = is_positive ? 0 : TOPO_CUBE_SIDE - 1;
    uint32_t to = w->place[there];
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t grid = w->t->grid.size[a] / TOPO_CUBE_SIDE;
        coord[a] = to % grid * TOPO_CUBE_SIDE + local[a];
        to /= grid;
    }
    return topo_chip_at(w->t, coord);
}

/* The slice in cubes, its places taken by cubes 0, 1, ... of the pod. */
static struct topo_slice slice_of(const topo *t, uint32_t *cube)
{
    struct topo_slice slice = {.cube = cube};
    uint32_t places = 1;
    for (uint32_t a = 0; a < 3; a++) {
        slice.grid[a] = t->grid.size[a] / TOPO_CUBE_SIDE;
        places *= slice.grid[a];
        for (uint32_t b = 0; b < 3; b++)
            slice.twist[a][b] = t->grid.twist[a][b] / TOPO_CUBE_SIDE;
    }
    for (uint32_t i = 0; i < places; i++)
        cube[i] = i;
    return slice;
}

enum sim_status topo_slice_build(topo *t, struct sim_error *err)
{
    uint32_t cubes = t->chip->pod_chips / (TOPO_CUBE_SIDE * TOPO_CUBE_SIDE * TOPO_CUBE_SIDE);
    topo_ocs *ocs = topo_ocs_create(cubes);
    struct wiring w = {.t = t, .ocs = ocs, .place = SIM_NEW(uint32_t, cubes)};
    uint32_t *cube = SIM_NEW(uint32_t, cubes);
    struct topo_slice slice = slice_of(t, cube);
    for (uint32_t i = 0; i < cubes; i++)
        w.place[i] = TOPO_NO_CUBE;
    for (uint32_t i = 0; i < slice.grid[0] * slice.grid[1] * slice.grid[2]; i++)
        w.place[cube[i]] = i;
    w.cube = cube;
    enum sim_status status = topo_ocs_configure(ocs, &slice, err);
    if (status == SIM_OK) status = topo_ports_build(t, switched_target, &w, err);
    sim_free(w.place);
    sim_free(cube);
    topo_ocs_destroy(ocs);
    return status;
}
