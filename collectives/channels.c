/*
 * Rings in channels: as many rings as a domain has chips, each on a rail of its own.
 *
 *     channel 0    a0 a1 a2 a3 | b0 b1 b2 b3 | a0     past the chips of a domain, then to the next
 *     channel 1    a1 a2 a3 a0 | b1 b2 b3 b0 | a1     one; the channel's number is the place where
 *     ...                                             it enters, so each enters by another rail
 *
 * Each carries V/k, k chips in a domain. One ring leaves a domain by a single rail; k rings by all,
 * and what leaves from another place first goes inside the domain to the chip on the rail. With
 * hops a, rate W inside and a', W' between domains, n chips in m domains, s = n-1 steps, twice that
 * for all-reduce, about:
 *
 *     T = (s-x) a + x a' + s V/n max(1/(k W'), 1/W)      x crossings: m a round, all-reduce 2m
 *
 * Two ends of that are exact. Without bytes a chain of s steps crosses x times (2m - 1 where k is
 * 2, since of two steps left out one crosses). With many, when a rail takes so long for a message,
 * r = V/(k n W'), that the next one to cross has always come, no rail is ever idle and
 *
 *     T = s r + a'     for r >= a + d and (k-1) (r - a - d) >= a',  d a message's time inside
 *
 * Source: the channels of NCCL's rings; Hu et al., "Demystifying NCCL", arXiv:2507.04786, 2025.
 */
#include <math.h>
#include <stddef.h>

#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/plan.h"
#include "topo/route.h"

/* The ranks in the order of a channel. */
static void channel_order(const struct topo_group *group, uint32_t channel, uint32_t *rank_at)
{
    uint32_t k = group->factor[0].extent;
    for (uint32_t i = 0; i < group->size; i++)
        rank_at[i] = i / k * k + (channel + i) % k;
}

net_schedule *coll_channels_build(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    uint32_t n = group->size, channels = group->factor[0].extent, tag = 0;
    net_schedule *s = net_schedule_create(t, group);
    uint32_t *rank_at = SIM_NEW(uint32_t, n);
    struct coll_cycle cycle = {n, rank_at, n <= COLL_CELLS_RANKS_MAX && !spec->is_unchecked};
    net_schedule_add_program(s);
    if (cycle.has_cells) net_schedule_set_cells(s, channels, n);
    for (uint32_t c = 0; c < channels; c++) {
        struct coll_pass pass = {.kind = COLL_PASS_RING, .cycle = &cycle, .direction = 1};
        channel_order(group, c, rank_at);
        coll_line_peers(s, rank_at, n, true, pass.peer);
        coll_lane_write(s, spec->op, c, 1, spec->bytes / channels, &tag, &pass, 1);
    }
    sim_free(rank_at);
    return s;
}

/* A step of all rings at once: in each channel every rank sends one message to the next. */
struct step {
    double inside_hop_ps, inside_rate;   /* of the first way inside a domain */
    double between_hop_ps, between_rate; /* of the first one to the next domain */
    double inside_ps_per_byte; /* the longest that one inside can take, whoever is ahead */
    bool is_even; /* one way each, all alike, and who crosses has his slowest links to himself */
};

/* The ways of a step, walked twice: to count, then to judge. */
struct walk {
    const topo *t;
    const struct topo_group *group;
    uint32_t *users; /* [links] messages over each in a step */
    struct step *step;
    struct topo_paths paths;
    int round;
};

static double slowest_rate(const struct walk *w)
{
    double slowest = HUGE_VAL;
    for (uint32_t h = w->paths.begin[0]; h < w->paths.begin[1]; h++)
        slowest = fmin(slowest, topo_link_rate(w->t, w->paths.link[h]));
    return slowest;
}

/* A message that crosses goes at the rail's rate, whatever the others do. */
static bool is_unhindered(const struct walk *w, double rail_rate)
{
    for (uint32_t h = w->paths.begin[0]; h < w->paths.begin[1]; h++) {
        topo_link_id l = w->paths.link[h];
        double share = topo_link_rate(w->t, l) / w->users[l];
        if (share < rail_rate * (1 - 1e-9)) return false;
    }
    return true;
}

/* The way from rank to rank that `messages` channels take. */
static void walk_way(struct walk *w, uint32_t from, uint32_t to, uint32_t messages)
{
    uint32_t k = w->group->factor[0].extent;
    bool is_crossing = from / k != to / k;
    topo_route(w->t, topo_group_chip(w->t, w->group, 0, from),
               topo_group_chip(w->t, w->group, 0, to), &w->paths);
    struct step *s = w->step;
    double hop_ps = (double)topo_path_latency_ps(w->t, &w->paths, 0), rate = slowest_rate(w);
    double *first_hop_ps = is_crossing ? &s->between_hop_ps : &s->inside_hop_ps;
    double *first_rate = is_crossing ? &s->between_rate : &s->inside_rate;
    if (*first_rate == 0) {
        *first_hop_ps = hop_ps;
        *first_rate = rate;
    }
    if (w->paths.count > 1 || hop_ps != *first_hop_ps || rate != *first_rate) s->is_even = false;
    for (uint32_t h = w->paths.begin[0]; h < w->paths.begin[1]; h++) {
        topo_link_id l = w->paths.link[h];
        if (w->round == 0) w->users[l] += messages;
        if (w->round == 1 && !is_crossing)
            s->inside_ps_per_byte =
                fmax(s->inside_ps_per_byte, w->users[l] / topo_link_rate(w->t, l) * 1e12);
    }
    if (w->round == 1 && is_crossing && !is_unhindered(w, rate)) s->is_even = false;
}

static struct step step_of(const topo *t, const struct topo_group *group)
{
    enum { RANKS_MAX = 1024 }; /* beyond, nothing is claimed */
    uint32_t k = group->factor[0].extent, n = group->size;
    struct step step = {.is_even = n <= RANKS_MAX && !topo_is_faulty(t)};
    struct walk w = {.t = t, .group = group, .step = &step};
    w.users = SIM_NEW(uint32_t, topo_links(t));
    for (w.round = 0; w.round < 2; w.round++)
        for (uint32_t r = 0; r < n; r++) {
            if (!step.is_even && step.between_rate > 0) break; /* nothing more is asked */
            uint32_t domain = r / k * k, place = r % k, next = (place + 1) % k;
            walk_way(&w, r, domain + next, k - 1);
            walk_way(&w, r, (domain + k) % n + next, 1);
        }
    topo_paths_release(&w.paths);
    sim_free(w.users);
    return step;
}

struct coll_cost coll_channels_cost(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    struct step step = step_of(t, group);
    double k = group->factor[0].extent, n = group->size, m = n / k;
    double rounds = spec->op == COLL_ALL_REDUCE ? 2 : 1, steps = rounds * (n - 1);
    double crossings = rounds * m - (rounds == 2 && k == 2);
    double message = spec->bytes / (k * n), rail_ps = message / step.between_rate * 1e12;
    double inside_ps = step.inside_hop_ps + message * step.inside_ps_per_byte;
    double hops_ps = (steps - crossings) * step.inside_hop_ps + crossings * step.between_hop_ps;
    bool is_rail_busy = rail_ps > 0 && rail_ps >= inside_ps &&
                        (k - 1) * (rail_ps - inside_ps) >= step.between_hop_ps;
    if (step.is_even && is_rail_busy)
        return coll_cost_make(step.between_hop_ps, steps * rail_ps, true);
    double domain_ps = k * message / step.inside_rate * 1e12;
    return coll_cost_make(hops_ps, steps * fmax(rail_ps, domain_ps),
                          step.is_even && spec->bytes == 0);
}

const char *coll_channels_obstacle(const topo *t, const struct coll_spec *spec)
{
    const struct topo_group *group = &spec->group;
    bool is_all = group->size == topo_chips(t) && group->factor_count == 2;
    if (topo_has_ports(t) || !is_all || group->factor[0].extent < 2 || group->factor[1].extent < 2)
        return "want all chips of a fabric with several domains of several chips";
    return NULL;
}
