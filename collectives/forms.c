/*
 * Which form: an algorithm's own where it is exact, else one from routed messages.
 *
 * On healthy tori, meshes and full meshes most algorithms have an exact form. Everywhere else -
 * fabrics, faults, twists, strided groups, several slices, the axes of a mesh together - the
 * schedule is built once, its messages are routed (routed.h), and what is known then holds for all
 * sizes: pipelined ones are routed as one chunk, and q chunks of V/q bytes take
 *
 *     T(q) = T(one chunk of V/q) + (q-1)/q V times the load of the busiest link
 *
 * Not routed: groups whose messages are too many, by the caps below. Their own form then stands; on
 * an irregular network it is a guess, which choosing avoids where it can.
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/routed.h"

/* Chips of a healthy torus or mesh, and of other networks, up to which schedules are built. */
#define LATTICE_CHIPS_MAX   1024
#define IRREGULAR_CHIPS_MAX 4096
#define REFERENCE_BYTES     1073741824.0

struct routed_form {
    bool is_known;
    uint32_t chunks; /* that the schedule was built for */
    struct coll_routed routed;
};

struct coll_forms {
    const topo *topology;
    struct coll_spec spec;
    bool is_list, is_regular;
    uint32_t among;
    struct routed_form form[COLL_ALGORITHMS];
};

coll_forms *coll_forms_create(const topo *t, const struct coll_spec *spec)
{
    coll_forms *f = SIM_NEW(coll_forms, 1);
    f->topology = t;
    f->spec = *spec;
    f->spec.group = coll_group_trimmed(&spec->group);
    f->spec.is_unchecked = true;
    f->is_list = spec->pairs != NULL || spec->op == COLL_PERMUTE || spec->op == COLL_SEND;
    f->is_regular = coll_is_plain(t) && !topo_is_twisted(t);
    return f;
}

void coll_forms_destroy(coll_forms *f)
{
    sim_free(f);
}

void coll_forms_restrict(coll_forms *f, uint32_t among)
{
    static_assert(COLL_ALGORITHMS <= 32, "a bit each");
    f->among = among;
}

uint32_t coll_forms_among(const coll_forms *f)
{
    return f->among;
}

const struct coll_spec *coll_forms_spec(const coll_forms *f)
{
    return &f->spec;
}

const topo *coll_forms_topo(const coll_forms *f)
{
    return f->topology;
}

/* Are there few enough messages to try? */
static bool is_small(const coll_forms *f, enum coll_algorithm algorithm)
{
    uint64_t chips = f->spec.is_one_group ? f->spec.group.size : topo_chips(f->topology);
    if (chips > (f->is_regular ? LATTICE_CHIPS_MAX : IRREGULAR_CHIPS_MAX)) return false;
    return algorithm != COLL_DIRECT ||
           chips * (f->spec.group.size - 1) < COLL_ROUTED_VISITS_MAX / 2;
}

static void make_routed(coll_forms *f, const struct coll_spec *spec, struct routed_form *form)
{
    struct coll_spec reference = *spec;
    struct sim_error err = {0};
    net_schedule *s;
    *form = (struct routed_form){.is_known = true, .chunks = spec->chunks};
    reference.bytes = REFERENCE_BYTES;
    if (!is_small(f, spec->algorithm) || coll_build(f->topology, &reference, &err, &s) != SIM_OK)
        return;
    form->routed = coll_routed_make(s, reference.bytes);
    net_schedule_destroy(s);
}

static bool is_bucket(enum coll_algorithm a)
{
    return a >= COLL_BUCKET && a <= COLL_BUCKET_ALL;
}

/* Colours that work on other axes at other steps get out of step where these differ in length, and
 * then meet messages of other levels. Buckets overlap as often as they meet, but around a failed
 * cable they meet. */
static bool gets_out_of_step(const coll_forms *f, enum coll_algorithm a)
{
    if (is_bucket(a)) return topo_has_ports(f->topology) && topo_is_faulty(f->topology);
    if (a == COLL_PHASED) return topo_has_ports(f->topology);
    return a == COLL_SWING || a == COLL_SWING_LATENCY;
}

/* Half of the way from the longest chain to levels in turn, or half of what idles in the levels. */
static double delay(const struct coll_routed *r, const struct coll_line *line)
{
    double levels = r->levels.ps_per_byte / line->ps_per_byte - 1;
    return 1 + (levels > r->unevenness ? levels : r->unevenness) / 2;
}

/* Chunks of several levels overlap in ways of their own: they are all built. */
static struct coll_cost routed_cost(coll_forms *f, struct coll_spec *spec, struct coll_cost own)
{
    struct routed_form *form = &f->form[spec->algorithm];
    double chunks = coll_chunks(f->topology, spec);
    spec->chunks = spec->algorithm == COLL_HIERARCHICAL ? (uint32_t)chunks : 1;
    if (!form->is_known || form->chunks != spec->chunks) make_routed(f, spec, form);
    if (form->routed.count == 0) {
        own.is_guess = !f->is_regular && spec->algorithm != COLL_HIERARCHICAL &&
                       spec->algorithm != COLL_HAMILTONIAN;
        return own;
    }
    if (spec->chunks > 1) chunks = 1;
    struct coll_line line = coll_routed_at(&form->routed, spec->bytes / chunks);
    if (gets_out_of_step(f, spec->algorithm) && line.ps_per_byte > 0)
        line.ps_per_byte *= delay(&form->routed, &line);
    double more = (chunks - 1) * form->routed.chunk_ps_per_byte;
    struct coll_cost cost =
        coll_cost_make(line.hops_ps, (line.ps_per_byte + more) * spec->bytes / chunks, false);
    /* the bucket's own model knows its colours' phases, and has each wait for all of a phase */
    bool has_model = f->is_regular && topo_has_ports(f->topology) && is_bucket(spec->algorithm);
    return has_model && own.time_ps < cost.time_ps ? own : cost;
}

/* Each group on links of its own, every axis one factor of neighbours: the forms of direct and
 * phased then have the loads that routing their n(n-1) messages would find. */
static bool has_own_links(const coll_forms *f)
{
    const struct topo_group *group = &f->spec.group;
    for (uint32_t i = 0; i < group->factor_count; i++) {
        if (group->factor[i].stride != 1) return false;
        for (uint32_t j = 0; j < i; j++)
            if (group->factor[j].axis == group->factor[i].axis) return false;
    }
    return f->is_regular;
}

struct coll_cost coll_forms_cost(coll_forms *f, enum coll_algorithm algorithm, double bytes)
{
    struct coll_spec spec = f->spec;
    spec.algorithm = algorithm;
    spec.bytes = bytes;
    struct coll_cost own = coll_own_form(f->topology, &spec);
    if (own.is_exact || f->is_list || coll_members(f->topology, &spec) == 1) return own;
    bool is_counted = algorithm == COLL_DIRECT || algorithm == COLL_PHASED;
    if (is_counted && has_own_links(f)) return own;
    return routed_cost(f, &spec, own);
}

struct coll_cost coll_closed_form(const topo *t, const struct coll_spec *spec)
{
    coll_forms *f = coll_forms_create(t, spec);
    struct coll_cost cost = coll_forms_cost(f, spec->algorithm, spec->bytes);
    coll_forms_destroy(f);
    return cost;
}
