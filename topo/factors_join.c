/*
 * Joining the cycles of 2-factors by switches.
 *
 * A square whose opposite sides are of one class can be switched: its sides change classes, every
 * chip keeps two cables of each, and what was two cycles may be one, or the other way round.
 *
 *      a === b          a     b
 *      :     :    >     "     "      === and " of one class, : and ... of another (or of none)
 *      d === c          d ... c
 *
 * What it does to a class is told from where the four chips stand on its cycles: two sides of
 * different cycles join them; two sides of one cycle cut it when it passes them the same way round,
 * else they turn a piece of it over. Switches are tried in random order (a fixed seed). Taken is
 * every one that leaves fewer cycles, some that leave as many, and now and then one that leaves one
 * more, so that no dead end is for good.
 *
 * Data: of every class the two cables of a chip, and its cycle and place on it, walked anew after
 * each switch taken. Cost: tries are O(1), switches O(chips).
 *
 * Sources: switches are those of Bermond, Favaron & Maheo, "Hamiltonian decomposition of Cayley
 * graphs of degree 4", J. Combin. Theory B 46(2), 1989, done there in a fixed order by cases.
 */
#include "base/arena.h"
#include "base/rng.h"
#include "topo/hamilton_internal.h"

/* Corner i and side i, which leads to corner i + 1. */
struct square {
    topo_chip_id corner[4];
    uint32_t side[4];
};

struct joiner {
    const struct topo_cables *c;
    uint32_t classes, cycles; /* cycles in all classes */
    uint8_t *class_of;        /* [cables] */
    uint32_t *cable;          /* [classes * chips * 2] of each chip; TOPO_NONE: of a failed chip */
    uint32_t *cycle, *place;  /* [classes * chips] */
    uint32_t *cycles_of;      /* [classes] */
    uint32_t *length;         /* [classes * chips] of each cycle */
    struct square *square;
    uint32_t squares, capacity;
    struct sim_rng rng;
};

/* ---- squares ---- */

static void add_square(struct joiner *j, const struct square *q)
{
    SIM_GROW(j->square, j->capacity, j->squares + 1);
    j->square[j->squares++] = *q;
}

/* Complete a-b and a-d to squares a-b-c-d. */
static void add_squares_of(struct joiner *j, topo_chip_id a, uint32_t first, uint32_t last)
{
    const struct topo_cables *c = j->c;
    struct square q = {.corner = {a}, .side = {[0] = first, [3] = last}};
    topo_chip_id b = q.corner[1] = topo_cable_other(c, first, a);
    topo_chip_id d = q.corner[3] = topo_cable_other(c, last, a);
    if (b == d || b < a || d < a) return; /* written down from its lowest corner alone */
    for (uint32_t p = 0; p < c->ports; p++) {
        q.side[1] = c->at[(size_t)b * c->ports + p];
        if (q.side[1] == TOPO_NONE) continue;
        q.corner[2] = topo_cable_other(c, q.side[1], b);
        if (q.corner[2] <= a || q.corner[2] == d) continue;
        for (uint32_t r = 0; r < c->ports; r++) {
            q.side[2] = c->at[(size_t)d * c->ports + r];
            if (q.side[2] != TOPO_NONE && topo_cable_other(c, q.side[2], d) == q.corner[2])
                add_square(j, &q);
        }
    }
}

static void find_squares(struct joiner *j)
{
    const struct topo_cables *c = j->c;
    for (topo_chip_id a = 0; a < c->chips; a++)
        for (uint32_t p = 0; p < c->ports; p++)
            for (uint32_t r = p + 1; r < c->ports; r++) {
                uint32_t first = c->at[(size_t)a * c->ports + p],
                         last = c->at[(size_t)a * c->ports + r];
                if (first != TOPO_NONE && last != TOPO_NONE) add_squares_of(j, a, first, last);
            }
}

/* ---- cycles ---- */

static void walk(struct joiner *j, uint32_t which, topo_chip_id start, uint32_t cycle)
{
    size_t base = (size_t)which * j->c->chips;
    uint32_t steps = 0, by = j->cable[2 * (base + start) + 1];
    topo_chip_id v = start;
    do {
        j->cycle[base + v] = cycle;
        j->place[base + v] = steps++;
        const uint32_t *both = &j->cable[2 * (base + v)];
        by = both[0] == by ? both[1] : both[0];
        v = topo_cable_other(j->c, by, v);
    } while (v != start);
    j->length[base + cycle] = steps;
}

static void walk_class(struct joiner *j, uint32_t which)
{
    size_t base = (size_t)which * j->c->chips;
    uint32_t cycles = 0;
    for (topo_chip_id v = 0; v < j->c->chips; v++)
        j->cycle[base + v] = TOPO_NONE;
    for (topo_chip_id v = 0; v < j->c->chips; v++)
        if (j->cycle[base + v] == TOPO_NONE && j->cable[2 * (base + v)] != TOPO_NONE)
            walk(j, which, v, cycles++);
    j->cycles -= j->cycles_of[which];
    j->cycles += cycles;
    j->cycles_of[which] = cycles;
}

static void fill_cables(struct joiner *j)
{
    size_t slots = 2 * (size_t)j->classes * j->c->chips;
    for (size_t i = 0; i < slots; i++)
        j->cable[i] = TOPO_NONE;
    for (uint32_t cable = 0; cable < j->c->count; cable++)
        for (int end = 0; end < 2 && j->class_of[cable] < j->classes; end++) {
            size_t place = (size_t)j->class_of[cable] * j->c->chips + j->c->end[2 * cable + end];
            uint32_t *both = &j->cable[2 * place];
            assert(both[0] == TOPO_NONE || both[1] == TOPO_NONE);
            both[both[0] != TOPO_NONE] = cable;
        }
}

/* ---- switches ---- */

/* Cycles gained by a class that gives up sides `side` and `side + 2` for the other two. */
static int gain(const struct joiner *j, uint32_t which, const struct square *q, uint32_t side)
{
    if (which == j->classes) return 0;
    size_t base = (size_t)which * j->c->chips;
    const uint32_t *place = j->place + base, *cycle = j->cycle + base;
    topo_chip_id a = q->corner[side], b = q->corner[side + 1], c = q->corner[side + 2],
                 d = q->corner[(side + 3) % 4];
    if (cycle[a] != cycle[c]) return -1;
    uint32_t length = j->length[base + cycle[a]];
    bool is_forward = place[b] == (place[a] + 1) % length,
         is_forward_too = place[d] == (place[c] + 1) % length;
    return is_forward == is_forward_too ? 1 : 0;
}

static void replace(struct joiner *j, uint32_t which, topo_chip_id v, uint32_t lost,
                    uint32_t gained)
{
    if (which == j->classes) return;
    uint32_t *both = &j->cable[2 * ((size_t)which * j->c->chips + v)];
    both[both[0] != lost] = gained;
}

static void switch_square(struct joiner *j, const struct square *q)
{
    uint32_t even = j->class_of[q->side[0]], odd = j->class_of[q->side[1]];
    for (uint32_t i = 0; i < 4; i++) { /* corner i is between sides i - 1 and i */
        uint32_t before = q->side[(i + 3) % 4], after = q->side[i];
        replace(j, even, q->corner[i], i % 2 == 0 ? after : before, i % 2 == 0 ? before : after);
        replace(j, odd, q->corner[i], i % 2 == 0 ? before : after, i % 2 == 0 ? after : before);
    }
    for (uint32_t i = 0; i < 4; i++)
        j->class_of[q->side[i]] = (uint8_t)(i % 2 == 0 ? odd : even);
    if (even < j->classes) walk_class(j, even);
    if (odd < j->classes) walk_class(j, odd);
}

/* Try one square; true when it was switched. */
static bool try_square(struct joiner *j, const struct square *q)
{
    enum { ONE_IN_LEVEL = 8, ONE_IN_WORSE = 512 };
    uint32_t even = j->class_of[q->side[0]], odd = j->class_of[q->side[1]];
    if (even == odd || even != j->class_of[q->side[2]] || odd != j->class_of[q->side[3]])
        return false;
    int change = gain(j, even, q, 0) + gain(j, odd, q, 1);
    if (change > 1 || (change == 1 && sim_rng_below(&j->rng, ONE_IN_WORSE) > 0)) return false;
    if (change == 0 && sim_rng_below(&j->rng, ONE_IN_LEVEL) > 0) return false;
    switch_square(j, q);
    return true;
}

/* Takes the classes as they are and finds their cycles. */
static void init(struct joiner *j, const struct topo_cables *c, uint32_t classes, uint8_t *class_of)
{
    *j = (struct joiner){.c = c, .classes = classes, .class_of = class_of};
    size_t chips = (size_t)classes * c->chips;
    j->cable = SIM_NEW(uint32_t, 2 * chips);
    j->cycle = SIM_NEW(uint32_t, chips);
    j->place = SIM_NEW(uint32_t, chips);
    j->length = SIM_NEW(uint32_t, chips);
    j->cycles_of = SIM_NEW(uint32_t, classes);
    sim_rng_init(&j->rng, 1, classes);
    fill_cables(j);
    for (uint32_t k = 0; k < classes; k++)
        walk_class(j, k);
    find_squares(j);
}

static void release(struct joiner *j)
{
    sim_free(j->cable);
    sim_free(j->cycle);
    sim_free(j->place);
    sim_free(j->length);
    sim_free(j->cycles_of);
    sim_free(j->square);
}

/* The limits are for what cannot be joined; what can be takes a few tries a chip. */
uint32_t topo_factors_join(const struct topo_cables *c, uint32_t classes, uint8_t *class_of)
{
    enum { TRIES = 4000000, SWITCHES = 20000 };
    struct joiner j;
    init(&j, c, classes, class_of);
    for (uint32_t tries = 0, switches = 0; tries < TRIES && switches < SWITCHES; tries++) {
        if (j.cycles == classes || j.squares == 0) break;
        switches += try_square(&j, &j.square[sim_rng_below(&j.rng, j.squares)]);
    }
    release(&j);
    return j.cycles;
}
