/*
 * Slices of cubes: a pod's optical switches are configured, and the cables follow from them, the
 * first time and after a repair.
 *
 * Inside a cube chips are cabled in copper. A port on a cube's face leads through the switch of its
 * dimension and face position to the cube that the switch says, to the chip at the same position of
 * the opposite face. Neither wrapping nor twisting is known here: both are in the permutations.
 */
#include "topo/slice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "topo/fabric_internal.h"

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

/* The slice's places and twist in cubes. */
static struct topo_slice slice_of(const topo *t)
{
    struct topo_slice slice = {.cube = t->cubes->cube};
    for (uint32_t a = 0; a < 3; a++) {
        slice.grid[a] = t->cubes->grid[a];
        for (uint32_t b = 0; b < 3; b++)
            slice.twist[a][b] = t->grid.twist[a][b] / TOPO_CUBE_SIDE;
    }
    return slice;
}

/* Chips and cables as the permutations of t->cubes->ocs have them. */
static enum sim_status cable(topo *t, struct sim_error *err)
{
    uint32_t pod = topo_ocs_cubes(t->cubes->ocs);
    struct wiring w = {.t = t, .ocs = t->cubes->ocs, .cube = t->cubes->cube};
    w.place = SIM_NEW(uint32_t, pod);
    for (uint32_t i = 0; i < pod; i++)
        w.place[i] = TOPO_NO_CUBE;
    for (uint32_t i = 0; i < topo_cubes_places(t->cubes); i++)
        w.place[w.cube[i]] = i;
    enum sim_status status = topo_ports_build(t, switched_target, &w, err);
    sim_free(w.place);
    return status;
}

/* ---- which cubes ---- */

/* "0+3-5+9" into `cube`, which has room for each of the pod's cubes once. */
static enum sim_status parse_list(const topo *t, const char *text, struct sim_error *err,
                                  uint32_t *cube, uint32_t *count)
{
    uint32_t pod = topo_ocs_cubes(t->cubes->ocs);
    *count = 0;
    for (const char *c = text;;) {
        char *end = NULL;
        unsigned long first = strtoul(c, &end, 10), last = first;
        bool is_fine = *c >= '0' && *c <= '9';
        if (is_fine && *end == '-') {
            c = end + 1;
            last = strtoul(c, &end, 10);
            is_fine = *c >= '0' && *c <= '9' && last >= first;
        }
        if (!is_fine || (*end != 0 && *end != '+') || last >= pod)
            return sim_error_set(
                err, SIM_EDATA, "topology %s: cubes \"%s\", want numbers from 0 to %u, as in 0+3-5",
                t->spec, text, pod - 1);
        if (*count + (last - first) >= pod)
            return sim_error_set(err, SIM_EDATA, "topology %s: found more cubes than the pod's %u",
                                 t->spec, pod);
        for (unsigned long i = first; i <= last; i++)
            cube[(*count)++] = (uint32_t)i;
        if (*end == 0) return SIM_OK;
        c = end + 1;
    }
}

/* cubes=LIST, or the first ones of the pod. */
static enum sim_status choose_cubes(const topo *t, const char *list, struct sim_error *err)
{
    uint32_t places = topo_cubes_places(t->cubes), count;
    for (uint32_t i = 0; i < places; i++)
        t->cubes->cube[i] = i;
    if (list == NULL) return SIM_OK;
    SIM_TRY(parse_list(t, list, err, t->cubes->cube, &count));
    if (count == places) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "topology %s: found %u cubes, want %u of them (%ux%ux%u)",
                         t->spec, count, places, t->cubes->grid[0], t->cubes->grid[1],
                         t->cubes->grid[2]);
}

/* spares=LIST, or all cubes that the slice leaves; the slice's own are no longer free. */
static enum sim_status choose_spares(const topo *t, const char *list, struct sim_error *err)
{
    const topo_ocs *ocs = t->cubes->ocs;
    uint32_t count = 0, *spare = SIM_NEW(uint32_t, topo_ocs_cubes(ocs));
    bool *is_spare = t->cubes->is_spare;
    enum sim_status status = SIM_OK;
    for (uint32_t i = 0; i < topo_ocs_cubes(ocs); i++)
        is_spare[i] = list == NULL && topo_ocs_is_free(ocs, i);
    if (list != NULL) status = parse_list(t, list, err, spare, &count);
    for (uint32_t i = 0; i < count && status == SIM_OK; i++) {
        if (is_spare[spare[i]] || !topo_ocs_is_free(ocs, spare[i]))
            status = sim_error_set(err, SIM_EDATA, "topology %s: spare cube %u is %s", t->spec,
                                   spare[i], is_spare[spare[i]] ? "named twice" : "in the slice");
        is_spare[spare[i]] = true;
    }
    sim_free(spare);
    return status;
}

enum sim_status topo_slice_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    uint32_t pod = t->chip->pod_chips / TOPO_CUBE_CHIPS;
    struct topo_cubes *cubes = t->cubes = SIM_NEW(struct topo_cubes, 1);
    for (uint32_t a = 0; a < 3; a++)
        cubes->grid[a] = t->grid.size[a] / TOPO_CUBE_SIDE;
    cubes->cube = SIM_NEW(uint32_t, pod);
    cubes->is_spare = SIM_NEW(bool, pod);
    cubes->ocs = topo_ocs_create(pod);
    SIM_TRY(choose_cubes(t, f->cubes, err));
    struct topo_slice slice = slice_of(t);
    struct sim_error why = {0};
    if (topo_ocs_configure(cubes->ocs, &slice, &why) != SIM_OK)
        return sim_error_set(err, SIM_EDATA, "topology %s: %s", t->spec, why.text);
    SIM_TRY(choose_spares(t, f->spares, err));
    return cable(t, err);
}

void topo_cubes_destroy(struct topo_cubes *cubes)
{
    if (cubes == NULL) return;
    sim_free(cubes->cube);
    sim_free(cubes->is_spare);
    topo_ocs_destroy(cubes->ocs);
    sim_free(cubes->repair.swap);
    sim_free(cubes);
}

/* ---- repair ---- */

/* Give the broken places to the lowest-numbered spare cubes. */
static enum sim_status swap_cubes(const topo *t, const bool *is_broken, struct sim_error *err)
{
    struct topo_cubes *cubes = t->cubes;
    uint32_t places = topo_cubes_places(cubes), spare = 0, wanted = 0, capacity = 0;
    for (uint32_t i = 0; i < places; i++)
        wanted += is_broken[i];
    if (wanted > topo_cubes_spares(cubes))
        return sim_error_set(err, SIM_EDATA,
                             "cannot repair %s: found %u spare cubes in its pod of %u, want %u",
                             t->spec, topo_cubes_spares(cubes), topo_ocs_cubes(cubes->ocs), wanted);
    for (uint32_t i = 0; i < places; i++) {
        if (!is_broken[i]) continue;
        while (!cubes->is_spare[spare])
            spare++;
        struct topo_repair *r = &cubes->repair;
        SIM_GROW(r->swap, capacity, r->count + 1);
        r->swap[r->count++] =
            (struct topo_swap){.at = {i % cubes->grid[0], i / cubes->grid[0] % cubes->grid[1],
                                      i / (cubes->grid[0] * cubes->grid[1])},
                               .broken = cubes->cube[i],
                               .spare = spare};
        cubes->cube[i] = spare;
        cubes->is_spare[spare] = false;
    }
    return SIM_OK;
}

/* What it takes to bring the switches from `before` to `after`. */
static void count_changes(const topo_ocs *before, const topo_ocs *after, struct topo_repair *r)
{
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t p = 0; p < TOPO_FACE_POSITIONS; p++) {
            bool is_turned = false;
            for (uint32_t c = 0; c < topo_ocs_cubes(before); c++) {
                uint32_t was = topo_ocs_target(before, d, p, c);
                uint32_t is = topo_ocs_target(after, d, p, c);
                if (was == is) continue;
                is_turned = true;
                r->circuits_cut += was != TOPO_NO_CUBE;
                r->circuits_set += is != TOPO_NO_CUBE;
            }
            r->switches += is_turned;
        }
}

enum sim_status topo_slice_repair(topo *t, const bool *is_broken, struct sim_error *err)
{
    struct topo_cubes *cubes = t->cubes;
    SIM_TRY(swap_cubes(t, is_broken, err));
    topo_ocs *after = topo_ocs_create(topo_ocs_cubes(cubes->ocs));
    struct topo_slice slice = slice_of(t);
    enum sim_status status = topo_ocs_configure(after, &slice, err);
    if (status == SIM_OK) {
        count_changes(cubes->ocs, after, &cubes->repair);
        topo_ocs_destroy(cubes->ocs);
        cubes->ocs = after;
        topo_links_release(t);
        status = cable(t, err);
    }
    return status;
}

/* ---- reading ---- */

const struct topo_cubes *topo_cubes_of(const topo *t)
{
    return t->cubes;
}

uint32_t topo_cubes_places(const struct topo_cubes *cubes)
{
    return cubes->grid[0] * cubes->grid[1] * cubes->grid[2];
}

uint32_t topo_cubes_spares(const struct topo_cubes *cubes)
{
    uint32_t spares = 0;
    for (uint32_t i = 0; i < topo_ocs_cubes(cubes->ocs); i++)
        spares += cubes->is_spare[i];
    return spares;
}

const char *topo_cubes_format(const struct topo_cubes *cubes, char *buffer, size_t bytes)
{
    size_t at = 0;
    buffer[0] = 0;
    for (uint32_t i = 0, last; i < topo_cubes_places(cubes); i = last + 1) {
        char part[32];
        last = i;
        while (last + 1 < topo_cubes_places(cubes) &&
               cubes->cube[last + 1] == cubes->cube[last] + 1)
            last++;
        snprintf(part, sizeof part, last > i ? "%s%u-%u" : "%s%u", i > 0 ? "+" : "", cubes->cube[i],
                 cubes->cube[last]);
        if (at + strlen(part) + sizeof "+..." > bytes) {
            strcpy(buffer + at, "+...");
            break;
        }
        strcpy(buffer + at, part);
        at += strlen(part);
    }
    return buffer;
}
