/*
 * Choosing by closed form.
 */
#include "collectives/choice.h"

#include <math.h>

#include "collectives/coll_internal.h"
#include "topo/route.h"

/* Direct sends n(n-1) messages: the chips of a large group could not inject that many at once in
 * the time the form says, nor is it worth simulating. */
bool coll_is_candidate(const topo *t, const struct coll_spec *spec)
{
    bool is_only = spec->op == COLL_ALL_TO_ALL || spec->op == COLL_PERMUTE || spec->op == COLL_SEND;
    bool is_small = spec->group.size <= COLL_DIRECT_CHOICE_MAX;
    if (spec->algorithm == COLL_HAMILTONIAN && spec->group.size > COLL_HAMILTONIAN_CHOICE_MAX)
        return false; /* before its cycles are looked for */
    return coll_can(t, spec) && (spec->algorithm != COLL_DIRECT || is_only || is_small);
}

double coll_flows(const topo *t, const struct coll_spec *spec)
{
    struct coll_spec unchecked = *spec;
    struct sim_error err = {0};
    struct topo_paths ways = {0};
    net_schedule *s;
    double messages = 0;
    unchecked.is_unchecked = true;
    if (topo_has_ports(t) || coll_build(t, &unchecked, &err, &s) != SIM_OK) return 0;
    topo_route(t, 0, topo_chips(t) - 1, &ways);
    for (topo_chip_id c = 0; c < topo_chips(t); c++) {
        if (!net_schedule_is_active(s, c)) continue;
        const struct net_program *p = net_schedule_program(s, net_role(s, c));
        for (net_op_id i = 0; i < p->op_count; i++)
            messages += p->op[i].kind == NET_OP_SEND && net_op_exists(s, c, &p->op[i]);
    }
    messages *= ways.count;
    topo_paths_release(&ways);
    net_schedule_destroy(s);
    return messages;
}

/* Searching shares takes milliseconds: worth it where bytes are most of the time and the bucket is
 * near the best without. */
static bool is_worth_searching(coll_forms *forms, double bytes, sim_ps best_ps)
{
    if (coll_forms_among(forms) != 0) return true;
    struct coll_cost cost = coll_forms_cost(forms, COLL_BUCKET, bytes);
    return cost.time_ps < 2 * cost.latency_ps ? false : cost.time_ps / 2 < best_ps;
}

/* Guesses are for where there is nothing else. */
static bool is_better(const struct coll_cost *a, const struct coll_cost *b)
{
    if (a->is_guess != b->is_guess) return b->is_guess;
    return a->time_ps < b->time_ps;
}

/* May it be chosen, as one of those named or, if none are, as a candidate? */
static bool is_eligible(const coll_forms *forms, const struct coll_spec *spec)
{
    uint32_t among = coll_forms_among(forms);
    const topo *t = coll_forms_topo(forms);
    if (among == 0) return coll_is_candidate(t, spec);
    return (among >> spec->algorithm & 1) != 0 && coll_can(t, spec);
}

enum coll_algorithm coll_choose_from(coll_forms *forms, double bytes)
{
    const topo *t = coll_forms_topo(forms);
    struct coll_spec candidate = *coll_forms_spec(forms);
    struct coll_cost best_cost = {0};
    enum coll_algorithm best = COLL_ALGORITHMS;
    bool is_sharded = coll_algorithm_fits(candidate.op, COLL_RING);
    if (is_sharded && coll_members(t, &candidate) == 1) return COLL_RING; /* nobody to send to */
    for (int i = 0; i < COLL_ALGORITHMS + 1; i++) {
        /* the search comes last, when it is known what it has to beat */
        enum coll_algorithm a = i < COLL_ALGORITHMS ? (enum coll_algorithm)i : COLL_BUCKET_ALL;
        if (i < COLL_ALGORITHMS && a == COLL_BUCKET_ALL) continue;
        candidate.algorithm = a;
        if (!is_eligible(forms, &candidate)) continue;
        if (a == COLL_BUCKET_ALL && !is_worth_searching(forms, bytes, best_cost.time_ps)) continue;
        struct coll_cost cost = coll_forms_cost(forms, a, bytes);
        if (best == COLL_ALGORITHMS || is_better(&cost, &best_cost)) {
            best = a;
            best_cost = cost;
        }
    }
    assert(best != COLL_ALGORITHMS);
    return best;
}

enum coll_algorithm coll_choose(const topo *t, const struct coll_spec *spec)
{
    coll_forms *forms = coll_forms_create(t, spec);
    enum coll_algorithm best = coll_choose_from(forms, spec->bytes);
    coll_forms_destroy(forms);
    return best;
}

/* The size at which the choice changes, between one that has `before` and one that does not. */
static double bisect(coll_forms *forms, double low, double high, enum coll_algorithm before)
{
    while (high / low > 1.01) {
        double bytes = rint(sqrt(low * high));
        if (bytes <= low || bytes >= high) break;
        *(coll_choose_from(forms, bytes) == before ? &low : &high) = bytes;
    }
    return high;
}

uint32_t coll_switch_points(const topo *t, const struct coll_spec *spec, uint32_t among,
                            struct coll_switch out[COLL_SWITCHES_MAX])
{
    enum { DOUBLINGS = 34 }; /* 16 GiB */
    struct coll_spec rival = *spec;
    rival.algorithm = COLL_HAMILTONIAN;
    uint32_t count = 0;
    coll_forms *forms = coll_forms_create(t, spec);
    coll_forms_restrict(forms, among);
    bool is_rival = is_eligible(forms, &rival);
    for (int i = 0; i <= DOUBLINGS && count < COLL_SWITCHES_MAX; i++) {
        double from = (double)(UINT64_C(1) << i);
        enum coll_algorithm choice = coll_choose_from(forms, from);
        if (count > 0 && choice == out[count - 1].algorithm) continue;
        if (count > 0) from = bisect(forms, from / 2, from, out[count - 1].algorithm);
        out[count++] = (struct coll_switch){from, choice};
        /* nothing does better with larger ones */
        bool is_last = choice == COLL_BUCKET_ALL && !is_rival;
        if ((choice == COLL_HAMILTONIAN || is_last) && coll_is_plain(t)) break;
    }
    coll_forms_destroy(forms);
    return count;
}
