/*
 * Which share of the buffer each order of the axes should carry.
 *
 * Sides that differ make phases that differ: with cyclic orders some axis is idle while a colour
 * works through a long one, and no shares of those orders alone even that out, since a larger share
 * lengthens the colour's own chain. With all d! orders there are shares that keep every axis busy
 * most of the time.
 *
 * The model is the algorithm on one chip that stands for all: a colour sends a block, waits for the
 * hop, sends the next; who is on one axis shares it evenly. On wrapped axes that is what the flow
 * engine does, event for event, in microseconds.
 *
 * The search moves shares from one order to another as long as that helps, the largest moves first;
 * then tries again from a few places nearby. Nothing promises the optimum; the model says what the
 * result takes.
 */
#include "collectives/bucket.h"

#include <assert.h>

#include "base/rng.h"

/* ---- the model ---- */

struct progress {
    uint32_t phase, step, factor; /* of the axis it is on */
    double block;                 /* bytes a step */
    double left;                  /* bytes of this step to send; 0: in flight */
    double wait_s;
};

struct model {
    const struct coll_colours *colours;
    const struct coll_bucket_axis *axis;
    double bytes;
    uint32_t phases; /* ends before this one */
    struct progress at[COLL_BUCKET_COLOURS];
};

/* Where in the colour's list a phase is: backwards, then forwards. */
static uint32_t place_of(const struct model *m, uint32_t phase)
{
    uint32_t axes = m->colours->axes;
    return phase < axes ? axes - 1 - phase : phase - axes;
}

static bool is_done(const struct model *m, uint32_t colour)
{
    return m->at[colour].phase == m->phases;
}

static void begin_step(struct model *m, uint32_t colour)
{
    struct progress *p = &m->at[colour];
    const struct coll_bucket_axis *a = &m->axis[p->factor];
    /* the mirror image begins with what the other ends with */
    bool is_reduce = p->phase < m->colours->axes;
    bool is_last = is_reduce ? p->step == 0 : p->step + 1 == a->steps;
    p->left = p->block * (is_last ? a->last_step : 1);
    p->wait_s = a->hop_s;
}

static void begin_phase(struct model *m, uint32_t colour)
{
    struct progress *p = &m->at[colour];
    if (is_done(m, colour)) return;
    const struct coll_colour *c = &m->colours->colour[colour];
    p->block = m->bytes * c->parts / m->colours->parts;
    for (uint32_t i = place_of(m, p->phase); i < m->colours->axes; i++)
        p->block /= m->axis[c->factor[i]].extent;
    p->step = 0;
    p->factor = c->factor[place_of(m, p->phase)];
    begin_step(m, colour);
}

/* How many colours send on each axis, and the time until something changes; 0 when all is done. */
static double next_change(const struct model *m, uint32_t sending[TOPO_FACTORS_MAX])
{
    double soonest = 0;
    bool is_any = false;
    for (uint32_t i = 0; i < m->colours->axes; i++)
        sending[i] = 0;
    for (uint32_t c = 0; c < m->colours->count; c++)
        if (!is_done(m, c) && m->at[c].left > 0) sending[m->at[c].factor]++;
    for (uint32_t c = 0; c < m->colours->count; c++) {
        if (is_done(m, c)) continue;
        const struct progress *p = &m->at[c];
        double left_s =
            p->left > 0 ? p->left * sending[p->factor] / m->axis[p->factor].bytes_per_s : p->wait_s;
        if (!is_any || left_s < soonest) soonest = left_s;
        is_any = true;
    }
    return is_any ? soonest : -1;
}

static void advance(struct model *m, const uint32_t sending[TOPO_FACTORS_MAX], double seconds,
                    double now)
{
    for (uint32_t c = 0; c < m->colours->count; c++) {
        if (is_done(m, c)) continue;
        struct progress *p = &m->at[c];
        const struct coll_bucket_axis *a = &m->axis[p->factor];
        if (p->left > 0) {
            double rate = a->bytes_per_s / sending[p->factor];
            bool is_over = p->left <= rate * seconds * (1 + 1e-12);
            p->left = is_over ? 0 : p->left - rate * seconds;
            continue;
        }
        p->wait_s -= seconds;
        if (p->wait_s > 1e-12 * now) continue;
        if (++p->step < a->steps) {
            begin_step(m, c);
        } else {
            p->phase++;
            begin_phase(m, c);
        }
    }
}

double coll_bucket_seconds(const struct coll_colours *colours, const struct coll_bucket_axis *axis,
                           enum coll_op op, double bytes)
{
    struct model m = {.colours = colours, .axis = axis, .bytes = bytes};
    uint32_t first = op == COLL_ALL_GATHER ? colours->axes : 0;
    m.phases = colours->axes * (op == COLL_REDUCE_SCATTER ? 1 : 2);
    assert(colours->count <= COLL_BUCKET_COLOURS);
    for (uint32_t c = 0; c < colours->count; c++) {
        m.at[c].phase = colours->colour[c].parts == 0 ? m.phases : first;
        begin_phase(&m, c);
    }
    uint32_t sending[TOPO_FACTORS_MAX];
    double now = 0;
    for (double step = next_change(&m, sending); step >= 0; step = next_change(&m, sending)) {
        now += step;
        advance(&m, sending, step, now);
    }
    return now;
}

/* ---- the search ---- */

/* A search in progress. */
struct search {
    const struct coll_bucket_axis *axis;
    enum coll_op op;
    double bytes;
};

static double seconds(const struct search *s, const struct coll_colours *c)
{
    return coll_bucket_seconds(c, s->axis, s->op, s->bytes);
}

/* Appends every order that continues the first `fixed` entries. */
static void list_orders(uint32_t axes, const uint32_t *order, struct coll_colour *so_far,
                        uint32_t fixed, uint32_t used, struct coll_colours *out)
{
    if (fixed == axes) {
        out->colour[out->count++] = *so_far;
        return;
    }
    for (uint32_t i = 0; i < axes; i++) {
        if (used >> i & 1) continue;
        so_far->factor[fixed] = (uint8_t)order[i];
        list_orders(axes, order, so_far, fixed + 1, used | UINT32_C(1) << i, out);
    }
}

static bool move(struct coll_colours *c, uint32_t from, uint32_t to, uint32_t parts)
{
    if (from == to || c->colour[from].parts < parts) return false;
    c->colour[from].parts -= parts;
    c->colour[to].parts += parts;
    return true;
}

/* The best move of `parts`, if any makes it faster. */
static bool improve(const struct search *s, struct coll_colours *c, uint32_t parts, double *best)
{
    uint32_t from = 0, to = 0;
    double shortest = *best;
    for (uint32_t i = 0; i < c->count; i++)
        for (uint32_t j = 0; j < c->count; j++) {
            if (!move(c, i, j, parts)) continue;
            double time = seconds(s, c);
            move(c, j, i, parts);
            if (time >= shortest * (1 - 1e-9)) continue;
            shortest = time;
            from = i;
            to = j;
        }
    if (!move(c, from, to, parts)) return false;
    *best = shortest;
    return true;
}

static double descend(const struct search *s, struct coll_colours *c, uint32_t parts)
{
    double best = seconds(s, c);
    for (; parts > 0; parts /= 2)
        while (improve(s, c, parts, &best)) {
        }
    return best;
}

static void shake(struct sim_rng *rng, struct coll_colours *c)
{
    for (int i = 0; i < 3; i++) {
        uint32_t from = (uint32_t)sim_rng_below(rng, c->count);
        uint32_t to = (uint32_t)sim_rng_below(rng, c->count);
        move(c, from, to, 1 + (uint32_t)sim_rng_below(rng, COLL_BUCKET_PARTS / 8));
    }
}

/* The same with at most so many steps a pass, each as long as those it stands for: a third of the
 * events, and near enough to tell shares apart. */
static void coarsen(uint32_t axes, const struct coll_bucket_axis *axis,
                    struct coll_bucket_axis coarse[TOPO_FACTORS_MAX])
{
    enum { STEPS_MAX = 6 };
    for (uint32_t i = 0; i < axes; i++) {
        double steps = axis[i].steps, fewer = steps < STEPS_MAX ? steps : STEPS_MAX;
        coarse[i] = axis[i];
        coarse[i].steps = (uint32_t)fewer;
        coarse[i].bytes_per_s *= fewer / steps;
        coarse[i].hop_s *= steps / fewer;
    }
}

void coll_bucket_search(uint32_t axes, const uint32_t *order, const struct coll_bucket_axis *axis,
                        enum coll_op op, double bytes, struct coll_colours *out)
{
    enum { TRIES = 5 };
    struct coll_bucket_axis coarse[TOPO_FACTORS_MAX];
    const struct search s = {.axis = coarse, .op = op, .bytes = bytes};
    struct coll_colour so_far = {.parts = 0};
    struct sim_rng rng;
    coarsen(axes, axis, coarse);
    *out = (struct coll_colours){.axes = axes, .parts = COLL_BUCKET_PARTS};
    list_orders(axes, order, &so_far, 0, 0, out);
    for (uint32_t i = 0; i < out->count; i++)
        out->colour[i].parts = out->parts / out->count + (i < out->parts % out->count);
    if (bytes == 0) return;
    double best = descend(&s, out, COLL_BUCKET_PARTS / 4);
    sim_rng_init(&rng, 1, 0);
    for (int i = 0; i < TRIES; i++) {
        struct coll_colours other = *out;
        shake(&rng, &other);
        double time = descend(&s, &other, 4);
        if (time >= best) continue;
        best = time;
        *out = other;
    }
}
