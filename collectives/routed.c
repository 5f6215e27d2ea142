/*
 * Levels by program, loads by level, chains by chip.
 *
 * Levels are the same on all chips of a role, and a receive has that of the send with its tag: they
 * are found on programs alone, sweeping until nothing moves. Levels whose sends have the same
 * peers, guards and bytes, as the steps of a ring have, are routed once.
 *
 * A chain is followed level by level over (chip, operation): sends start when what they wait for is
 * done, are done when their last byte has left, and arrive their hops later.
 */
#include "collectives/routed.h"

#include <math.h>
#include <stdlib.h>

#include "base/arena.h"
#include "topo/route.h"

/* An operation of a program, for sorting by level: sends first, then rising ids. */
struct placed_op {
    uint32_t level, is_receive, program, op;
};

struct levels {
    const net_schedule *s;
    uint32_t programs, *op_begin; /* [programs + 1] numbers of all programs' operations */
    uint32_t *level;              /* [ops] */
    struct placed_op *order;      /* [ops] */
    uint32_t ops;
};

/* What a message takes: [hops in ps, ps per byte of the buffer]. */
struct leg {
    double hops_ps, ps_per_byte;
};

/* The sends of a level: order[begin .. end) of struct levels; leg[first_leg ..] in that order, chip
 * after chip of the program's. */
struct level {
    uint32_t begin, sends_end, end, same_as, times;
    size_t first_leg;
};

/* Sizes of one level that are told apart; larger ones are taken for the last. */
#define SIZES_MAX 4

struct routing {
    const net_schedule *s;
    const topo *t;
    struct levels levels;
    struct level *level;
    uint32_t level_count;
    uint32_t *chip_begin; /* [programs + 1] chips by role */
    topo_chip_id *chip;
    struct leg *leg;
    size_t legs, leg_capacity;
    double *load[SIZES_MAX],
        *total;             /* [links] of one level by size, of all; by byte of the buffer */
    double size[SIZES_MAX]; /* of the level's messages, rising */
    uint32_t sizes;
    struct topo_paths paths;
    uint64_t visits;
    double bytes;
};

static bool is_send(const struct net_op *op)
{
    return op->kind == NET_OP_SEND;
}

static bool is_receive(const struct net_op *op)
{
    return op->kind == NET_OP_RECEIVE || op->kind == NET_OP_REDUCE;
}

/* ---- levels ---- */

static uint32_t at_least(uint32_t *value, uint32_t least)
{
    if (*value >= least) return 0;
    *value = least;
    return 1;
}

/* One sweep over a program; of_tag are the levels of sends. */
static uint32_t sweep(struct levels *l, uint32_t program, uint32_t *of_tag)
{
    const struct net_program *p = net_schedule_program(l->s, program);
    uint32_t *level = l->level + l->op_begin[program], changes = 0;
    for (net_op_id i = 0; i < p->op_count; i++) {
        if (is_receive(&p->op[i])) changes += at_least(&level[i], of_tag[p->op[i].tag]);
        if (is_send(&p->op[i])) changes += at_least(&of_tag[p->op[i].tag], level[i]);
        for (uint32_t j = p->successor_begin[i]; j < p->successor_begin[i + 1]; j++) {
            net_op_id next = p->successor[j];
            changes += at_least(&level[next], level[i] + is_send(&p->op[next]));
        }
    }
    return changes;
}

static int by_level(const void *left, const void *right)
{
    const struct placed_op *a = left, *b = right;
    if (a->level != b->level) return a->level < b->level ? -1 : 1;
    if (a->is_receive != b->is_receive) return a->is_receive ? 1 : -1;
    if (a->program != b->program) return a->program < b->program ? -1 : 1;
    return a->op < b->op ? -1 : a->op > b->op;
}

static uint32_t tags_of(const net_schedule *s, uint32_t programs)
{
    uint32_t tags = 0;
    for (uint32_t p = 0; p < programs; p++) {
        const struct net_program *program = net_schedule_program(s, p);
        for (net_op_id i = 0; i < program->op_count; i++)
            if (program->op[i].tag >= tags) tags = program->op[i].tag + 1;
    }
    return tags;
}

static struct levels levels_of(const net_schedule *s)
{
    struct levels l = {.s = s, .programs = net_schedule_programs(s)};
    l.op_begin = SIM_NEW(uint32_t, l.programs + 1);
    for (uint32_t p = 0; p < l.programs; p++)
        l.op_begin[p + 1] = l.ops += net_schedule_program(s, p)->op_count;
    l.level = SIM_NEW(uint32_t, l.ops);
    l.order = SIM_NEW(struct placed_op, l.ops);
    uint32_t *of_tag = SIM_NEW(uint32_t, tags_of(s, l.programs) + 1);
    for (uint32_t changes = 1; changes > 0;) {
        changes = 0;
        for (uint32_t p = 0; p < l.programs; p++)
            changes += sweep(&l, p, of_tag);
    }
    for (uint32_t p = 0; p < l.programs; p++)
        for (uint32_t i = l.op_begin[p]; i < l.op_begin[p + 1]; i++) {
            net_op_id op = i - l.op_begin[p];
            l.order[i] = (struct placed_op){l.level[i],
                                            !is_send(&net_schedule_program(s, p)->op[op]), p, op};
        }
    if (l.ops > 0) qsort(l.order, l.ops, sizeof *l.order, by_level);
    sim_free(of_tag);
    return l;
}

static void levels_release(struct levels *l)
{
    sim_free(l->op_begin);
    sim_free(l->level);
    sim_free(l->order);
}

static const struct net_op *op_at(const struct levels *l, uint32_t place)
{
    const struct placed_op *p = &l->order[place];
    return &net_schedule_program(l->s, p->program)->op[p->op];
}

/* Do the sends of two levels take the same ways? */
static bool is_same_level(const struct levels *l, const struct level *a, const struct level *b)
{
    if (a->sends_end - a->begin != b->sends_end - b->begin) return false;
    for (uint32_t i = 0; i < a->sends_end - a->begin; i++) {
        const struct net_op *x = op_at(l, a->begin + i), *y = op_at(l, b->begin + i);
        if (l->order[a->begin + i].program != l->order[b->begin + i].program ||
            x->peer != y->peer || x->guard != y->guard || x->bytes != y->bytes)
            return false;
    }
    return true;
}

static void cut_levels(struct routing *r)
{
    enum { LOOK_BACK = 8 }; /* the axes of a bucket, each with two directions */
    const struct levels *l = &r->levels;
    uint32_t capacity = 0;
    for (uint32_t begin = 0, end; begin < l->ops; begin = end) {
        struct level level = {.begin = begin, .same_as = r->level_count, .times = 1};
        for (end = begin; end < l->ops && l->order[end].level == l->order[begin].level; end++)
            if (!l->order[end].is_receive) level.sends_end = end + 1;
        if (level.sends_end == 0) level.sends_end = begin;
        level.end = end;
        uint32_t back = r->level_count > LOOK_BACK ? r->level_count - LOOK_BACK : 0;
        for (uint32_t i = r->level_count; i-- > back && level.times == 1;) {
            uint32_t first = r->level[i].same_as;
            if (!is_same_level(l, &level, &r->level[first])) continue;
            level.same_as = first;
            level.times = 0;
            r->level[first].times++;
        }
        SIM_GROW(r->level, capacity, r->level_count + 1);
        r->level[r->level_count++] = level;
    }
}

/* ---- loads ---- */

static void find_chips(struct routing *r)
{
    uint32_t programs = r->levels.programs, chips = topo_chips(r->t);
    r->chip_begin = SIM_NEW(uint32_t, programs + 1);
    r->chip = SIM_NEW(topo_chip_id, chips);
    uint32_t *fill = SIM_NEW(uint32_t, programs);
    for (topo_chip_id c = 0; c < chips; c++)
        if (net_schedule_is_active(r->s, c)) r->chip_begin[net_role(r->s, c) + 1]++;
    for (uint32_t p = 0; p < programs; p++) {
        r->chip_begin[p + 1] += r->chip_begin[p];
        fill[p] = r->chip_begin[p];
    }
    for (topo_chip_id c = 0; c < chips; c++)
        if (net_schedule_is_active(r->s, c)) r->chip[fill[net_role(r->s, c)]++] = c;
    sim_free(fill);
}

/* The way of the engine. */
static void find_way(struct routing *r, topo_chip_id chip, const struct net_op *op)
{
    net_paths_to_peer(r->s, chip, op->peer, &r->paths);
    r->visits += r->paths.begin[r->paths.count] + 1;
}

static void add_size(struct routing *r, double bytes)
{
    uint32_t at = 0;
    while (at < r->sizes && r->size[at] < bytes)
        at++;
    if (at < r->sizes && r->size[at] == bytes) return;
    if (r->sizes < SIZES_MAX) {
        for (uint32_t i = r->sizes++; i > at; i--)
            r->size[i] = r->size[i - 1];
        r->size[at] = bytes;
    } else if (at == r->sizes) {
        r->size[at - 1] = bytes;
    }
}

static void find_sizes(struct routing *r, const struct level *level)
{
    r->sizes = 0;
    for (uint32_t i = level->begin; i < level->sends_end; i++)
        add_size(r, op_at(&r->levels, i)->bytes);
}

static uint32_t size_of(const struct routing *r, const struct net_op *op)
{
    uint32_t i = 0;
    while (i + 1 < r->sizes && r->size[i] < op->bytes)
        i++;
    return i;
}

/* What a message of a size waits for at a link that all messages of the level share evenly: those
 * that are no larger, and of the larger ones as much as it has itself. */
static double load_met(const struct routing *r, topo_link_id link, uint32_t size)
{
    double load = 0;
    for (uint32_t i = 0; i < r->sizes; i++)
        load += r->load[i][link] * (i > size ? r->size[size] / r->size[i] : 1);
    return load;
}

static void add_load(struct routing *r, const struct net_op *op, uint32_t times)
{
    const struct topo_paths *p = &r->paths;
    double *load = r->load[size_of(r, op)];
    for (uint32_t i = 0; i < p->count; i++)
        for (uint32_t h = p->begin[i]; h < p->begin[i + 1]; h++) {
            double ps =
                p->share[i] * op->bytes / r->bytes / topo_link_rate(r->t, p->link[h]) * 1e12;
            load[p->link[h]] += ps;
            r->total[p->link[h]] += ps * times;
        }
}

static struct leg leg_of(const struct routing *r, const struct net_op *op)
{
    const struct topo_paths *p = &r->paths;
    struct leg leg = {0};
    uint32_t size = size_of(r, op);
    for (uint32_t i = 0; i < p->count; i++) {
        double hops_ps = (double)topo_path_latency_ps(r->t, p, i);
        if (hops_ps > leg.hops_ps) leg.hops_ps = hops_ps;
        for (uint32_t h = p->begin[i]; h < p->begin[i + 1]; h++)
            leg.ps_per_byte = fmax(leg.ps_per_byte, load_met(r, p->link[h], size));
    }
    return leg;
}

static void clear_load(struct routing *r)
{
    const struct topo_paths *p = &r->paths;
    for (uint32_t h = 0; h < p->begin[p->count]; h++)
        for (uint32_t i = 0; i < r->sizes; i++)
            r->load[i][p->link[h]] = 0;
}

/* Every message of a level, in order: what they put on links, what each takes, and links clean
 * again. */
static void walk_level(struct routing *r, const struct level *level, int round)
{
    for (uint32_t i = level->begin; i < level->sends_end; i++) {
        const struct net_op *op = op_at(&r->levels, i);
        uint32_t program = r->levels.order[i].program;
        for (uint32_t c = r->chip_begin[program]; c < r->chip_begin[program + 1]; c++) {
            struct leg leg = {0};
            if (r->visits > 3 * (uint64_t)COLL_ROUTED_VISITS_MAX) return;
            if (net_op_exists(r->s, r->chip[c], op)) {
                find_way(r, r->chip[c], op);
                if (round == 0) add_load(r, op, level->times);
                if (round == 1) leg = leg_of(r, op);
                if (round == 2) clear_load(r);
            }
            if (round != 1) continue;
            SIM_GROW(r->leg, r->leg_capacity, r->legs + 1);
            r->leg[r->legs++] = leg;
        }
    }
}

static bool route_levels(struct routing *r)
{
    for (uint32_t i = 0; i < r->level_count; i++) {
        struct level *level = &r->level[i];
        find_sizes(r, level);
        level->first_leg = level->same_as == i ? r->legs : r->level[level->same_as].first_leg;
        for (int round = 0; round < 3 && level->same_as == i; round++)
            walk_level(r, level, round);
        if (r->visits > 3 * (uint64_t)COLL_ROUTED_VISITS_MAX) return false;
    }
    return true;
}

/* ---- chains ---- */

/* Where a chip's operations stand among all. */
struct chains {
    const struct routing *r;
    size_t *begin;               /* [chips] */
    struct leg *ready, *arrival; /* [ops of all chips] as sums along the longest chain so far */
    size_t count;
    double bytes;
    struct leg last;
};

static struct leg later(const struct chains *c, struct leg a, struct leg b)
{
    double a_ps = a.hops_ps + c->bytes * a.ps_per_byte, b_ps = b.hops_ps + c->bytes * b.ps_per_byte;
    return b_ps > a_ps ? b : a;
}

static void finish(struct chains *c, const struct net_program *p, size_t first, net_op_id op,
                   struct leg done)
{
    for (uint32_t j = p->successor_begin[op]; j < p->successor_begin[op + 1]; j++) {
        struct leg *ready = &c->ready[first + p->successor[j]];
        *ready = later(c, *ready, done);
    }
}

static void follow_send(struct chains *c, topo_chip_id chip, const struct net_op *op,
                        const struct leg *leg, struct leg *done)
{
    const net_schedule *s = c->r->s;
    topo_chip_id to = net_peer_of(s, chip, op->peer);
    const struct net_program *peer = net_schedule_program(s, net_role(s, to));
    net_op_id receive = peer->receive_of_tag[op->tag];
    done->ps_per_byte += leg->ps_per_byte;
    struct leg there = {done->hops_ps + leg->hops_ps, done->ps_per_byte};
    c->last = later(c, c->last, there);
    if (receive == NET_NONE) return;
    struct leg *arrival = &c->arrival[c->begin[to] + receive];
    *arrival = later(c, *arrival, there);
}

static void follow_level(struct chains *c, const struct level *level)
{
    const struct routing *r = c->r;
    const struct leg *leg = r->leg + level->first_leg;
    for (uint32_t i = level->begin; i < level->end; i++) {
        const struct placed_op *at = &r->levels.order[i];
        const struct net_program *p = net_schedule_program(r->s, at->program);
        const struct net_op *op = &p->op[at->op];
        for (uint32_t k = r->chip_begin[at->program]; k < r->chip_begin[at->program + 1]; k++) {
            topo_chip_id chip = r->chip[k];
            struct leg done = c->ready[c->begin[chip] + at->op];
            bool exists = net_op_exists(r->s, chip, op);
            if (is_send(op) && exists) follow_send(c, chip, op, leg, &done);
            if (is_send(op)) leg++;
            if (is_receive(op) && exists)
                done = later(c, done, c->arrival[c->begin[chip] + at->op]);
            finish(c, p, c->begin[chip], at->op, done);
        }
    }
}

static struct leg longest_chain(struct chains *c, double bytes)
{
    c->bytes = bytes;
    c->last = (struct leg){0};
    for (size_t i = 0; i < c->count; i++)
        c->ready[i] = c->arrival[i] = (struct leg){0};
    for (uint32_t i = 0; i < c->r->level_count; i++)
        follow_level(c, &c->r->level[i]);
    return c->last;
}

static void chains_init(struct chains *c, const struct routing *r)
{
    *c = (struct chains){.r = r, .begin = SIM_NEW(size_t, topo_chips(r->t))};
    for (uint32_t p = 0; p < r->levels.programs; p++)
        for (uint32_t k = r->chip_begin[p]; k < r->chip_begin[p + 1]; k++) {
            c->begin[r->chip[k]] = c->count;
            c->count += net_schedule_program(r->s, p)->op_count;
        }
}

/* ---- lines ---- */

static void add_line(struct coll_routed *out, struct leg leg)
{
    for (uint32_t i = 0; i < out->count; i++)
        if (out->line[i].hops_ps == leg.hops_ps && out->line[i].ps_per_byte == leg.ps_per_byte)
            return;
    if (out->count < COLL_ROUTED_LINES_MAX)
        out->line[out->count++] = (struct coll_line){leg.hops_ps, leg.ps_per_byte};
}

/* Lines of chains between two sizes that have these; where both say the same time, a longer chain
 * may count. */
static void find_lines(struct chains *c, struct coll_routed *out, struct leg small,
                       struct leg large)
{
    double slope = large.ps_per_byte - small.ps_per_byte;
    if (slope <= 0 || out->count >= COLL_ROUTED_LINES_MAX) return;
    double bytes = (small.hops_ps - large.hops_ps) / slope;
    if (bytes <= 0) return;
    struct leg between = longest_chain(c, bytes);
    double meeting = small.hops_ps + bytes * small.ps_per_byte;
    if (between.hops_ps + bytes * between.ps_per_byte <= 1.005 * meeting) return;
    add_line(out, between);
    find_lines(c, out, small, between);
    find_lines(c, out, between, large);
}

static void follow_chains(const struct routing *r, struct coll_routed *out)
{
    struct chains c;
    chains_init(&c, r);
    c.ready = SIM_NEW(struct leg, c.count);
    c.arrival = SIM_NEW(struct leg, c.count);
    struct leg small = longest_chain(&c, 1e-3), large = longest_chain(&c, 1e18);
    add_line(out, small);
    add_line(out, large);
    find_lines(&c, out, small, large);
    sim_free(c.begin);
    sim_free(c.ready);
    sim_free(c.arrival);
}

static void take_levels_in_turn(const struct routing *r, struct coll_routed *out)
{
    struct coll_line sum = {0};
    double mean = 0;
    for (uint32_t i = 0; i < r->level_count; i++) {
        const struct level *level = &r->level[i];
        struct leg most = {0};
        size_t legs = 0, messages = 0;
        double in_all = 0;
        for (uint32_t j = level->begin; j < level->sends_end; j++) {
            uint32_t program = r->levels.order[j].program;
            legs += r->chip_begin[program + 1] - r->chip_begin[program];
        }
        for (const struct leg *l = r->leg + level->first_leg; legs-- > 0; l++) {
            if (l->hops_ps > most.hops_ps) most.hops_ps = l->hops_ps;
            if (l->ps_per_byte > most.ps_per_byte) most.ps_per_byte = l->ps_per_byte;
            in_all += l->ps_per_byte;
            messages += l->ps_per_byte > 0;
        }
        if (messages > 0) mean += in_all / (double)messages;
        sum.hops_ps += most.hops_ps;
        sum.ps_per_byte += most.ps_per_byte;
    }
    out->levels = sum;
    if (sum.ps_per_byte > 0) out->unevenness = 1 - mean / sum.ps_per_byte;
}

static uint64_t ops_of_all(const struct routing *r)
{
    uint64_t ops = 0;
    for (uint32_t p = 0; p < r->levels.programs; p++)
        ops += (uint64_t)net_schedule_program(r->s, p)->op_count *
               (r->chip_begin[p + 1] - r->chip_begin[p]);
    return ops;
}

static void make_lines(struct routing *r, struct coll_routed *out)
{
    take_levels_in_turn(r, out);
    if (ops_of_all(r) <= COLL_ROUTED_OPS_MAX)
        follow_chains(r, out);
    else
        out->line[out->count++] = out->levels;
    for (topo_link_id l = 0; l < topo_links(r->t); l++)
        if (r->total[l] > out->chunk_ps_per_byte) out->chunk_ps_per_byte = r->total[l];
    /* whatever the order, the busiest link passes all it has to, after one hop */
    struct leg busiest = {(double)topo_default_latency_ps(r->t), out->chunk_ps_per_byte};
    if (out->line[0].ps_per_byte > 0) add_line(out, busiest);
}

struct coll_routed coll_routed_make(const net_schedule *s, double bytes)
{
    struct coll_routed out = {0};
    struct routing r = {.s = s, .t = net_schedule_topo(s), .bytes = bytes};
    assert(bytes > 0);
    r.levels = levels_of(s);
    for (int i = 0; i < SIZES_MAX; i++)
        r.load[i] = SIM_NEW(double, topo_links(r.t));
    r.total = SIM_NEW(double, topo_links(r.t));
    cut_levels(&r);
    find_chips(&r);
    if (route_levels(&r)) make_lines(&r, &out);
    levels_release(&r.levels);
    topo_paths_release(&r.paths);
    sim_free(r.level);
    sim_free(r.chip_begin);
    sim_free(r.chip);
    sim_free(r.leg);
    for (int i = 0; i < SIZES_MAX; i++)
        sim_free(r.load[i]);
    sim_free(r.total);
    return out;
}

struct coll_line coll_routed_at(const struct coll_routed *r, double bytes)
{
    assert(r->count > 0);
    struct coll_line most = r->line[0];
    for (uint32_t i = 1; i < r->count; i++)
        if (r->line[i].hops_ps + bytes * r->line[i].ps_per_byte >
            most.hops_ps + bytes * most.ps_per_byte)
            most = r->line[i];
    return most;
}
