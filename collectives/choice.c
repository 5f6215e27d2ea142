/*
 * Choosing by closed form.
 */
#include "collectives/choice.h"

#include <math.h>

#include "collectives/cost.h"

/* Direct sends n(n-1) messages: the chips of a large group could not inject that many at once in
 * the time the form says, nor is it worth simulating. */
bool coll_is_candidate(const topo *t, const struct coll_spec *spec)
{
    struct coll_spec levels = *spec;
    levels.algorithm = COLL_HIERARCHICAL;
    /* the forms of most others know one rate: between slices they would be far off */
    bool knows_slices = spec->algorithm == COLL_HIERARCHICAL || spec->algorithm == COLL_DIRECT;
    if (!knows_slices && coll_can(t, &levels)) return false;
    bool is_only = spec->op == COLL_ALL_TO_ALL || spec->op == COLL_PERMUTE || spec->op == COLL_SEND;
    bool is_small = spec->group.size <= COLL_DIRECT_CHOICE_MAX;
    if (spec->algorithm == COLL_HAMILTONIAN && spec->group.size > COLL_HAMILTONIAN_CHOICE_MAX)
        return false; /* before its cycles are looked for */
    return coll_can(t, spec) && (spec->algorithm != COLL_DIRECT || is_only || is_small);
}

/* Searching shares takes milliseconds: worth it where bytes are most of the time and the bucket is
 * near the best without. */
static bool is_worth_searching(const topo *t, const struct coll_spec *spec, sim_ps best_ps)
{
    struct coll_spec plain = *spec;
    plain.algorithm = COLL_BUCKET;
    struct coll_cost cost = coll_closed_form(t, &plain);
    return cost.time_ps < 2 * cost.latency_ps ? false : cost.time_ps / 2 < best_ps;
}

enum coll_algorithm coll_choose(const topo *t, const struct coll_spec *spec)
{
    struct coll_spec candidate = *spec;
    enum coll_algorithm best = COLL_ALGORITHMS;
    bool is_sharded = coll_algorithm_fits(spec->op, COLL_RING);
    if (is_sharded && coll_members(t, spec) == 1) return COLL_RING; /* nobody to send to */
    sim_ps best_ps = 0;
    for (int i = 0; i < COLL_ALGORITHMS + 1; i++) {
        /* the search comes last, when it is known what it has to beat */
        enum coll_algorithm a = i < COLL_ALGORITHMS ? (enum coll_algorithm)i : COLL_BUCKET_ALL;
        if (i < COLL_ALGORITHMS && a == COLL_BUCKET_ALL) continue;
        candidate.algorithm = a;
        if (!coll_is_candidate(t, &candidate)) continue;
        if (a == COLL_BUCKET_ALL && !is_worth_searching(t, spec, best_ps)) continue;
        sim_ps ps = coll_closed_form(t, &candidate).time_ps;
        if (best == COLL_ALGORITHMS || ps < best_ps) {
            best = a;
            best_ps = ps;
        }
    }
    assert(best != COLL_ALGORITHMS);
    return best;
}

/* The size at which the choice changes, between one that has `before` and one that does not. */
static double bisect(const topo *t, struct coll_spec *spec, double low, double high,
                     enum coll_algorithm before)
{
    while (high / low > 1.01) {
        spec->bytes = rint(sqrt(low * high));
        if (spec->bytes <= low || spec->bytes >= high) break;
        *(coll_choose(t, spec) == before ? &low : &high) = spec->bytes;
    }
    return high;
}

uint32_t coll_switch_points(const topo *t, const struct coll_spec *spec,
                            struct coll_switch out[COLL_SWITCHES_MAX])
{
    enum { DOUBLINGS = 34 }; /* 16 GiB */
    struct coll_spec probe = *spec;
    probe.algorithm = COLL_HAMILTONIAN;
    bool is_rival = coll_is_candidate(t, &probe);
    uint32_t count = 0;
    for (int i = 0; i <= DOUBLINGS && count < COLL_SWITCHES_MAX; i++) {
        double low = probe.bytes = (double)(UINT64_C(1) << i) / 2;
        probe.bytes *= 2;
        enum coll_algorithm choice = coll_choose(t, &probe);
        if (count > 0 && choice == out[count - 1].algorithm) continue;
        double from = probe.bytes;
        if (count > 0) from = bisect(t, &probe, low, from, out[count - 1].algorithm);
        out[count++] = (struct coll_switch){from, choice};
        /* nothing does better with larger ones */
        if (choice == COLL_HAMILTONIAN || (choice == COLL_BUCKET_ALL && !is_rival)) break;
    }
    return count;
}
