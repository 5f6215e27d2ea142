/*
 * Finding edge-disjoint Hamiltonian cycles: cables are shared out to 2-factors (sets of cables, two
 * at every chip), and the cycles of each 2-factor are joined into one (factors_join.c).
 *
 *   whole tori    an axis is a 2-factor: walking along it, twist and all, comes back to the start.
 *                 As many as there are axes, and every cable is used. A broken cable costs the
 *                 cycle that has it. Where axes of 2 keep them from joining, stairs are tried:
 *
 *                     _|        from chips of one colour up axis i, from the others up axis i-1
 *                   _|
 *
 *   other shapes  c 2-factors of a grid coloured like a chess board: 2c cables a chip by augmenting
 *                 paths (factor_choose.c), which always fall apart into c times 2 (Petersen); c is
 *                 what the chip with fewest cables allows, or less. Cables left over help in
 *                 joining. Holes may have any form that takes as many chips of one colour as of
 *                 the other: a 2x2 block, a host, a cube.
 *   odd axes      closing cables that join chips of one colour are left out; where the colouring
 *                 begins on such an axis is tried through.
 *   the rest      the comb of topo_group_cycle(), when all of its steps are cables.
 *
 * Sources: Bermond, Favaron & Maheo, "Hamiltonian decomposition of Cayley graphs of degree 4", J.
 * Combin. Theory B 46(2), 1989; Petersen, "Die Theorie der regulaeren graphs", Acta Mathematica 15,
 * 1891; Kumar & Jouppi, arXiv:2011.03605, 2020 (rings around holes of a mesh).
 */
#include "topo/hamilton.h"

#include <string.h>

#include "base/arena.h"
#include "topo/group.h"
#include "topo/hamilton_internal.h"
#include "topo/topo_internal.h"

#define SHIFTS_MAX 64 /* colourings tried where axes are odd */

/* ---- cables ---- */

static void add_cable(const topo *t, struct topo_cables *c, topo_chip_id from, uint32_t axis)
{
    topo_chip_id to = topo_neighbour(t, from, 2 * axis);
    uint32_t cable = c->count++;
    c->at[(size_t)from * c->ports + 2 * axis] = c->at[(size_t)to * c->ports + 2 * axis + 1] = cable;
    c->end[2 * cable] = from;
    c->end[2 * cable + 1] = to;
    c->axis[cable] = (uint8_t)axis;
    c->is_dead[cable] = topo_port_link(t, from, 2 * axis) == TOPO_NONE ||
                        topo_port_link(t, to, 2 * axis + 1) == TOPO_NONE;
    c->dead_count += c->is_dead[cable];
}

/* All cables there were, those of failed chips and failed cables marked dead. */
static struct topo_cables cables_of(const topo *t)
{
    struct topo_cables c = {.chips = topo_chips(t), .ports = topo_ports(t)};
    size_t slots = (size_t)c.chips * c.ports;
    c.at = SIM_NEW(uint32_t, slots);
    c.end = SIM_NEW(topo_chip_id, slots);
    c.axis = SIM_NEW(uint8_t, slots / 2);
    c.is_dead = SIM_NEW(bool, slots / 2);
    for (size_t i = 0; i < slots; i++)
        c.at[i] = TOPO_NONE;
    for (topo_chip_id v = 0; v < c.chips; v++)
        for (uint32_t axis = 0; axis < topo_axes(t); axis++)
            if (topo_neighbour(t, v, 2 * axis) != TOPO_NONE) add_cable(t, &c, v, axis);
    return c;
}

static void cables_release(struct topo_cables *c)
{
    sim_free(c->at);
    sim_free(c->end);
    sim_free(c->axis);
    sim_free(c->is_dead);
}

static bool is_live(const struct topo_cables *c, topo_chip_id v, uint32_t port)
{
    uint32_t cable = c->at[(size_t)v * c->ports + port];
    return cable != TOPO_NONE && !c->is_dead[cable];
}

/* Two working cables of every chip are what a cycle takes. */
static uint32_t cycles_at_most(const topo *t, const struct topo_cables *c)
{
    uint32_t least = c->ports;
    for (topo_chip_id v = 0; v < c->chips; v++) {
        uint32_t live = 0;
        for (uint32_t p = 0; p < c->ports; p++)
            live += is_live(c, v, p);
        if (!topo_chip_is_failed(t, v) && live < least) least = live;
    }
    return least / 2;
}

/* ---- from classes of cables to cycles ---- */

static struct topo_cycles *cycles_new(const topo *t)
{
    struct topo_cycles *cycles = SIM_NEW(struct topo_cycles, 1);
    cycles->length = topo_chips(t) - topo_failed_chips(t);
    cycles->chip = SIM_NEW(topo_chip_id, (size_t)topo_axes(t) * cycles->length);
    return cycles;
}

void topo_cycles_destroy(struct topo_cycles *cycles)
{
    if (cycles == NULL) return;
    sim_free(cycles->chip);
    sim_free(cycles);
}

static uint32_t next_cable(const struct topo_cables *c, const uint8_t *class_of, uint32_t which,
                           topo_chip_id v, uint32_t by)
{
    for (uint32_t p = 0; p < c->ports; p++) {
        uint32_t cable = c->at[(size_t)v * c->ports + p];
        if (cable != TOPO_NONE && cable != by && class_of[cable] == which) return cable;
    }
    return TOPO_NONE;
}

/* Walk a class from the first working chip; keep it when it is one cycle without a dead cable. */
static void keep_if_cycle(const topo *t, const struct topo_cables *c, const uint8_t *class_of,
                          uint32_t which, struct topo_cycles *cycles)
{
    uint32_t steps = 0, by = TOPO_NONE;
    topo_chip_id *chip = cycles->chip + (size_t)cycles->count * cycles->length, start = 0;
    while (topo_chip_is_failed(t, start))
        start++;
    topo_chip_id v = start;
    do {
        chip[steps++] = v;
        by = next_cable(c, class_of, which, v, by);
        assert(by != TOPO_NONE);
        if (c->is_dead[by]) return;
        v = topo_cable_other(c, by, v);
    } while (v != start);
    cycles->count += steps == cycles->length;
}

/* The cycles of `classes` 2-factors after joining. */
static struct topo_cycles *join(const topo *t, const struct topo_cables *c, uint32_t classes,
                                uint8_t *class_of)
{
    struct topo_cycles *cycles = cycles_new(t);
    topo_factors_join(c, classes, class_of);
    for (uint32_t which = 0; which < classes; which++)
        keep_if_cycle(t, c, class_of, which, cycles);
    return cycles;
}

/* ---- whole tori ---- */

/* Of a chess board: the sum of the coordinates. */
static bool is_odd(const topo *t, topo_chip_id v)
{
    uint32_t sum = 0;
    for (uint32_t a = 0; a < topo_axes(t); a++)
        sum += topo_coord(t, v, a);
    return sum % 2 == 1;
}

/* Axes whose closing cables join chips of one colour, as a bit mask. */
static uint32_t odd_axes(const topo *t, const struct topo_cables *c)
{
    uint32_t odd = 0;
    for (uint32_t cable = 0; cable < c->count; cable++)
        if (is_odd(t, c->end[2 * cable]) == is_odd(t, c->end[2 * cable + 1]))
            odd |= UINT32_C(1) << c->axis[cable];
    return odd;
}

/* Every chip works and has both cables of every axis longer than 1. */
static bool is_whole_torus(const topo *t, const struct topo_cables *c)
{
    uint32_t axes = 0;
    for (uint32_t a = 0; a < topo_axes(t); a++)
        axes += topo_axis_size(t, a) > 1;
    return topo_failed_chips(t) == 0 && c->count == axes * c->chips;
}

/* Classes are axes, or stairs: the cables that lead up an axis from chips of one colour, and up the
 * axis before it from chips of the other. */
static struct topo_cycles *find_by_axes(const topo *t, const struct topo_cables *c, bool is_stairs)
{
    uint32_t class_of_axis[TOPO_AXES_MAX] = {0}, classes = 0;
    uint8_t *class_of = SIM_NEW(uint8_t, c->count);
    for (uint32_t a = 0; a < topo_axes(t); a++)
        if (topo_axis_size(t, a) > 1) class_of_axis[a] = classes++;
    for (uint32_t cable = 0; cable < c->count; cable++)
        class_of[cable] = (uint8_t)((class_of_axis[c->axis[cable]] +
                                     (is_stairs && is_odd(t, c->end[2 * cable]))) %
                                    classes);
    struct topo_cycles *cycles = join(t, c, classes, class_of);
    sim_free(class_of);
    return cycles;
}

/* ---- grids like chess boards ---- */

/* Colour with the odd axes begun elsewhere, the `shift`th way; are both colours as many? */
static bool colour_chips(const topo *t, uint32_t odd, uint32_t shift, uint8_t *colour)
{
    uint32_t count[2] = {0}, begin[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        if (!(odd >> a & 1)) continue;
        begin[a] = shift % topo_axis_size(t, a);
        shift /= topo_axis_size(t, a);
    }
    for (topo_chip_id v = 0; v < topo_chips(t); v++) {
        uint32_t sum = 0;
        for (uint32_t a = 0; a < topo_axes(t); a++) {
            uint32_t size = topo_axis_size(t, a);
            sum += (topo_coord(t, v, a) + size - begin[a]) % size;
        }
        colour[v] = topo_chip_is_failed(t, v) ? 2 : sum % 2;
        if (colour[v] < 2) count[colour[v]]++;
    }
    return count[0] == count[1];
}

/* Share a factor of 2c cables a chip out to c classes. */
static bool choose_classes(const struct topo_cables *c, const uint8_t *colour, uint32_t classes,
                           uint8_t *class_of)
{
    bool *from = SIM_NEW(bool, c->count), *chosen = SIM_NEW(bool, c->count);
    for (uint32_t cable = 0; cable < c->count; cable++) {
        from[cable] = !c->is_dead[cable];
        class_of[cable] = (uint8_t)classes;
    }
    bool is_able = topo_factor_choose(c, colour, from, 2 * classes, chosen);
    if (is_able) memcpy(from, chosen, c->count * sizeof *from);
    for (uint32_t which = 0; which < classes && is_able; which++) {
        is_able = topo_factor_choose(c, colour, from, 2, chosen);
        assert(is_able);
        for (uint32_t cable = 0; cable < c->count; cable++) {
            if (!chosen[cable]) continue;
            class_of[cable] = (uint8_t)which;
            from[cable] = false;
        }
    }
    sim_free(from);
    sim_free(chosen);
    return is_able;
}

/* The same cables without the dead ones at any port. The ports are the caller's to free. */
static struct topo_cables living(const struct topo_cables *c)
{
    struct topo_cables live = *c;
    size_t slots = (size_t)c->chips * c->ports;
    live.at = SIM_NEW(uint32_t, slots);
    for (size_t i = 0; i < slots; i++)
        live.at[i] = c->at[i] != TOPO_NONE && !c->is_dead[c->at[i]] ? c->at[i] : TOPO_NONE;
    return live;
}

static struct topo_cycles *find_by_colours(const topo *t, const struct topo_cables *c,
                                           uint32_t classes)
{
    uint32_t odd = odd_axes(t, c), shifts = 1;
    uint8_t *colour = SIM_NEW(uint8_t, c->chips), *class_of = SIM_NEW(uint8_t, c->count);
    for (uint32_t a = 0; a < topo_axes(t); a++)
        if (odd >> a & 1) shifts *= topo_axis_size(t, a);
    struct topo_cables live = living(c);
    bool is_able = false;
    for (uint32_t shift = 0; shift < shifts && shift < SHIFTS_MAX && !is_able; shift++)
        is_able =
            colour_chips(t, odd, shift, colour) && choose_classes(&live, colour, classes, class_of);
    struct topo_cycles *cycles = is_able ? join(t, &live, classes, class_of) : cycles_new(t);
    sim_free(live.at);
    sim_free(colour);
    sim_free(class_of);
    return cycles;
}

/* ---- the rest ---- */

static struct topo_cycles *find_comb(const topo *t)
{
    struct topo_group group = topo_group_all(t);
    struct topo_cycles *cycles = cycles_new(t);
    if (topo_failed_chips(t) > 0 || !topo_group_cycle(t, &group, cycles->chip)) return cycles;
    for (uint32_t i = 0; i < group.size; i++)
        cycles->chip[i] = topo_group_chip(t, &group, 0, cycles->chip[i]);
    cycles->count = 1;
    if (!topo_cycles_valid(t, cycles)) cycles->count = 0;
    return cycles;
}

/* The better of two; the other is given back. */
static struct topo_cycles *more_of(struct topo_cycles *a, struct topo_cycles *b)
{
    struct topo_cycles *more = b->count > a->count ? b : a;
    topo_cycles_destroy(more == a ? b : a);
    return more;
}

static struct topo_cycles *find_cycles(const topo *t)
{
    struct topo_cables c = cables_of(t);
    uint32_t most = cycles_at_most(t, &c);
    struct topo_cycles *best = cycles_new(t);
    for (int stairs = 0; stairs < 2 && is_whole_torus(t, &c) && best->count < most; stairs++)
        if (stairs == 0 || odd_axes(t, &c) == 0)
            best = more_of(best, find_by_axes(t, &c, stairs == 1));
    for (uint32_t classes = most; classes > best->count; classes--)
        best = more_of(best, find_by_colours(t, &c, classes));
    if (most > 0 && best->count == 0) best = more_of(best, find_comb(t));
    cables_release(&c);
    assert(topo_cycles_valid(t, best));
    return best;
}

const struct topo_cycles *topo_hamilton_cycles(const topo *t)
{
    assert(topo_has_ports(t));
    if (t->cycles->chip == NULL) {
        struct topo_cycles *cycles = find_cycles(t);
        *t->cycles = *cycles;
        sim_free(cycles);
    }
    return t->cycles;
}

/* ---- checking ---- */

/* Mark both ends of an unused working cable between two chips; false when there is none. */
static bool take_cable(const topo *t, topo_chip_id from, topo_chip_id to, bool *is_taken)
{
    size_t ports = topo_ports(t);
    for (uint32_t p = 0; p < ports; p++) {
        if (topo_neighbour(t, from, p) != to || is_taken[from * ports + p]) continue;
        uint32_t back = p ^ 1; /* a + port is cabled to a - port */
        if (topo_port_link(t, from, p) == TOPO_NONE || topo_port_link(t, to, back) == TOPO_NONE)
            continue;
        is_taken[from * ports + p] = is_taken[to * ports + back] = true;
        return true;
    }
    return false;
}

static bool is_cycle(const topo *t, const topo_chip_id *chip, uint32_t length, bool *is_taken)
{
    bool *is_passed = SIM_NEW(bool, topo_chips(t)), is_good = true;
    for (uint32_t i = 0; i < length && is_good; i++) {
        is_good = chip[i] < topo_chips(t) && !topo_chip_is_failed(t, chip[i]) &&
                  !is_passed[chip[i]] && take_cable(t, chip[i], chip[(i + 1) % length], is_taken);
        if (is_good) is_passed[chip[i]] = true;
    }
    sim_free(is_passed);
    return is_good;
}

bool topo_cycles_valid(const topo *t, const struct topo_cycles *cycles)
{
    bool *is_taken = SIM_NEW(bool, (size_t)topo_chips(t) * topo_ports(t)), is_valid = true;
    is_valid = cycles->length == topo_chips(t) - topo_failed_chips(t);
    for (uint32_t i = 0; i < cycles->count && is_valid; i++)
        is_valid = is_cycle(t, cycles->chip + (size_t)i * cycles->length, cycles->length, is_taken);
    sim_free(is_taken);
    return is_valid;
}
