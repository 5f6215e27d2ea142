/*
 * Spec strings:
 *
 *     NAME:SHAPE[*SLICES][,KEY=VALUE...]     NAME is a chip preset or a family
 *     SPEC*SPEC...                           a product; options belong to the factor they follow
 *     graph:FILE, astra:FILE                 see graph_file.c, astra.c
 *
 * The spec is kept as it was read, so that it prints back unchanged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/yaml.h"
#include "topo/fault.h"
#include "topo/routing.h"
#include "topo/fabric_internal.h"
#include "topo/graph_internal.h"
#include "topo/topo_internal.h"

/* Of a bare "torus:4": the one-way payload rate of a v4 link and about one hop of the TPU
 * interconnect. */
#define DEFAULT_LINK_BYTES_PER_S 45e9
#define DEFAULT_LATENCY_PS       SIM_PS_PER_US
/* Paths of millions of hops must stay within 64 bits of picoseconds. */
#define LATENCY_MAX_PS SIM_PS_PER_S

/* ---- families ---- */

enum key {
    LINK,
    LATENCY,
    OPTICAL,
    TWISTED,
    DCN,
    DCN_LATENCY,
    SPINES,
    OVERSUBSCRIPTION,
    CHIPS,
    GLOBAL,
    GROUPS,
    DOMAIN,
    RAIL,
    CUBES,
    SPARES,
    KEYS
};

static const struct {
    const char *name, *form; /* how errors show it */
} keys[KEYS] = {
    [LINK] = {"link", "link=RATE"},
    [LATENCY] = {"latency", "latency=TIME"},
    [OPTICAL] = {"optical", "optical=TIME"},
    [TWISTED] = {"twisted", "twisted"},
    [DCN] = {"dcn", "dcn=RATE"},
    [DCN_LATENCY] = {"dcn-latency", "dcn-latency=TIME"},
    [SPINES] = {"spines", "spines=COUNT"},
    [OVERSUBSCRIPTION] = {"oversubscription", "oversubscription=RATIO"},
    [CHIPS] = {"chips", "chips=COUNT"},
    [GLOBAL] = {"global", "global=COUNT"},
    [GROUPS] = {"groups", "groups=COUNT"},
    [DOMAIN] = {"domain", "domain=RATE"},
    [RAIL] = {"rail", "rail=RATE"},
    [CUBES] = {"cubes", "cubes=LIST"},
    [SPARES] = {"spares", "spares=LIST"},
};

#define KEY(key)   (UINT32_C(1) << (key))
#define PLAIN_KEYS (KEY(LINK) | KEY(LATENCY))
#define TORUS_KEYS (PLAIN_KEYS | KEY(OPTICAL) | KEY(TWISTED))
#define CHIP_KEYS  (TORUS_KEYS | KEY(CUBES) | KEY(SPARES))
#define SLICE_KEYS (KEY(DCN) | KEY(DCN_LATENCY)) /* of several slices */

/* What stands before the colon, chips aside; what follows it, and what may follow that. */
struct family {
    const char *name;
    uint32_t least_axes, most_axes;
    const char *example;
    uint32_t keys;
    bool has_slices; /* may be one of several slices */
    enum sim_status (*build)(topo *t, const struct topo_fabric *f, struct sim_error *err);
};

static enum sim_status torus_build(topo *t, const struct topo_fabric *f, struct sim_error *err);
static enum sim_status mesh_build(topo *t, const struct topo_fabric *f, struct sim_error *err);
static enum sim_status full_build(topo *t, const struct topo_fabric *f, struct sim_error *err);
static enum sim_status preset_build(topo *t, const struct topo_fabric *f, struct sim_error *err);

static const struct family families[] = {
    {"torus", 1, 4, "torus:4x4x8", TORUS_KEYS, true, torus_build},
    {"mesh", 1, 4, "mesh:4x4", TORUS_KEYS, true, mesh_build},
    {"ring", 1, 1, "ring:8", TORUS_KEYS, true, torus_build},
    {"full", 1, 1, "full:8", TORUS_KEYS, false, full_build},
    {"hypercube", 1, 1, "hypercube:4", PLAIN_KEYS, false, topo_hypercube_build},
    {"switch", 1, 1, "switch:8", PLAIN_KEYS, false, topo_switch_build},
    {"clos", 2, 2, "clos:4x8,spines=4,oversubscription=2",
     PLAIN_KEYS | KEY(SPINES) | KEY(OVERSUBSCRIPTION), false, topo_clos_build},
    {"fat-tree", 1, 1, "fat-tree:4", PLAIN_KEYS, false, topo_fat_tree_build},
    {"dragonfly", 1, 1, "dragonfly:4,chips=2,global=2",
     PLAIN_KEYS | KEY(CHIPS) | KEY(GLOBAL) | KEY(GROUPS), false, topo_dragonfly_build},
    {"hyperx", 1, 3, "hyperx:4x4,chips=4", PLAIN_KEYS | KEY(CHIPS), false, topo_hyperx_build},
    {"rail", 2, 2, "rail:4x8,domain=450GB/s,rail=400Gbit/s", KEY(LATENCY) | KEY(DOMAIN) | KEY(RAIL),
     false, topo_rail_build},
    {"dgx-a100", 1, 1, "dgx-a100:4", KEY(LATENCY) | KEY(DOMAIN) | KEY(RAIL), false,
     topo_dgx_a100_build},
    {"dgx-h100", 1, 1, "dgx-h100:4", KEY(LATENCY) | KEY(DOMAIN) | KEY(RAIL), false,
     topo_dgx_h100_build},
};
#define FAMILIES (sizeof families / sizeof families[0])

/* Axes are the generation's to check. */
static const struct family chip_family = {"chip", 1, 4, "v5p:8x8x8", CHIP_KEYS, true, preset_build};

static const struct family *family_find(const char *name)
{
    for (size_t i = 0; i < FAMILIES; i++)
        if (strcmp(name, families[i].name) == 0) return &families[i];
    return topo_chip_find(name) != NULL ? &chip_family : NULL;
}

/* Nothing of this name: the nearest one, or all there are. */
static enum sim_status unknown_name(const topo *t, const char *name, struct sim_error *err)
{
    uint32_t chips;
    const struct topo_chip *chip = topo_chip_presets(&chips);
    const char **all = SIM_NEW(const char *, FAMILIES + chips + 3), *near;
    char text[256] = "";
    size_t at = 0;
    for (size_t i = 0; i < FAMILIES + chips; i++) {
        all[i] = i < FAMILIES ? families[i].name : chip[i - FAMILIES].name;
        at += (size_t)snprintf(text + at, sizeof text - at, " %s", all[i]);
    }
    all[FAMILIES + chips] = "graph";
    all[FAMILIES + chips + 1] = "astra";
    near = sim_nearest_name(name, all);
    sim_free(all);
    if (near != NULL)
        return sim_error_set(err, SIM_EDATA,
                             "unknown topology \"%s\" in \"%s\", did you mean \"%s\"?", name,
                             t->spec, near);
    return sim_error_set(err, SIM_EDATA,
                         "unknown topology \"%s\", want graph:FILE, astra:FILE or one of%s", name,
                         text);
}

/* ---- parts of a spec ---- */

/* A spec being read. */
struct reading {
    topo *t;
    const struct topo_options *options;
    const struct family *family;
    struct topo_fabric fabric;
    uint32_t seen;   /* keys */
    uint32_t slices; /* 0: no "*" */
};

static enum sim_status parse_shape(topo *t, char *text, struct sim_error *err)
{
    t->grid.axes = 0;
    for (char *side = text; side != NULL;) {
        char *next = strchr(side, 'x');
        if (next != NULL) *next++ = 0;
        if (t->grid.axes == TOPO_AXES_MAX)
            return sim_error_set(err, SIM_EDATA, "topology %s has more than %d axes", t->spec,
                                 TOPO_AXES_MAX);
        uint64_t size = 0;
        struct sim_error why = {0};
        if (sim_count_parse(side, 0, TOPO_NONE - 1, &why, &size) != SIM_OK)
            return sim_error_set(err, SIM_EDATA,
                                 "topology %s: side \"%s\" is no whole number from 1 to %u",
                                 t->spec, side, TOPO_NONE - 1);
        if (size == 0)
            return sim_error_set(err, SIM_EDATA, "topology %s: dimension %c is 0, want >= 1",
                                 t->spec, "xyzw"[t->grid.axes]);
        t->grid.size[t->grid.axes++] = (uint32_t)size;
        side = next;
    }
    return SIM_OK;
}

/* "twisted": where a short axis closes, every axis twice as long moves by half of its length. */
static enum sim_status twist(topo *t, struct sim_error *err)
{
    uint32_t shortest = UINT32_MAX, long_axes = 0, axes = t->grid.axes;
    bool is_odd = axes < 2 || axes > 3;
    for (uint32_t a = 0; a < axes; a++)
        if (t->grid.size[a] < shortest) shortest = t->grid.size[a];
    for (uint32_t a = 0; a < axes; a++) {
        is_odd = is_odd || (t->grid.size[a] != shortest && t->grid.size[a] != 2 * shortest);
        long_axes += t->grid.size[a] == 2 * shortest;
    }
    if (is_odd || long_axes == 0)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s cannot be twisted, want sides of k and 2k: k x 2k, "
                             "k x k x 2k or k x 2k x 2k",
                             t->spec);
    for (uint32_t a = 0; a < axes; a++)
        for (uint32_t b = 0; b < axes; b++)
            if (t->grid.size[a] == shortest && t->grid.size[b] != shortest)
                t->grid.twist[a][b] = shortest;
    return SIM_OK;
}

/* "link=RATE, latency=TIME or twisted": the keys this spec may have. */
static void list_keys(uint32_t allowed, char *text, size_t bytes)
{
    size_t at = 0;
    for (uint32_t key = 0; key < KEYS; key++) {
        if (!(allowed & KEY(key))) continue;
        bool is_last = allowed >> key == 1;
        at += (size_t)snprintf(text + at, bytes - at, "%s%s",
                               at == 0   ? ""
                               : is_last ? " or "
                                         : ", ",
                               keys[key].form);
    }
}

static enum sim_status find_key(const struct reading *r, const char *text, enum key *out,
                                struct sim_error *err)
{
    char wanted[160];
    const topo *t = r->t;
    uint32_t allowed = r->family->keys | (r->slices > 0 ? SLICE_KEYS : 0), key = 0;
    const char *value = strchr(text, '=');
    size_t bytes = value == NULL ? strlen(text) : (size_t)(value - text);
    while (key < KEYS &&
           (strlen(keys[key].name) != bytes || strncmp(text, keys[key].name, bytes) != 0))
        key++;
    if (key < KEYS && KEY(key) & SLICE_KEYS & ~allowed)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: %s is of several slices, as in v5p:4x4x4*2", t->spec,
                             keys[key].name);
    if (key == KEYS || !(allowed & KEY(key)) || (key == TWISTED) != (value == NULL)) {
        list_keys(allowed, wanted, sizeof wanted);
        return sim_error_set(err, SIM_EDATA, "topology %s: unknown part \"%s\", want %s", t->spec,
                             text, wanted);
    }
    if (r->seen & KEY(key))
        return sim_error_set(err, SIM_EDATA, "topology %s: %s is given twice", t->spec,
                             keys[key].name);
    *out = (enum key)key;
    return SIM_OK;
}

static enum sim_status parse_count(const char *text, struct sim_error *err, uint32_t *out)
{
    uint64_t count = 0;
    SIM_TRY(sim_count_parse(text, 1, TOPO_NONE - 1, err, &count));
    *out = (uint32_t)count;
    return SIM_OK;
}

/* "2", "1.5" or "2:1". */
static enum sim_status parse_ratio(const char *text, struct sim_error *err, double *out)
{
    char *end;
    double ratio = strtod(text, &end);
    bool is_number = *text >= '0' && *text <= '9' && text[1] != 'x' && text[1] != 'X';
    if (!is_number || (*end != 0 && strcmp(end, ":1") != 0) || !(ratio >= 1 && ratio <= 1000))
        return sim_error_set(err, SIM_EDATA,
                             "oversubscription \"%s\" is no ratio from 1 to 1000, as in 2 or 2:1",
                             text);
    *out = ratio;
    return SIM_OK;
}

static enum sim_status parse_value(struct reading *r, enum key key, const char *text,
                                   struct sim_error *err)
{
    switch (key) {
    case LINK:
        return sim_rate_parse(text, err, &r->t->link_bytes_per_s);
    case LATENCY:
        return sim_time_parse(text, err, &r->t->latency_ps);
    case OPTICAL:
        return sim_time_parse(text, err, &r->t->optical_latency_ps);
    case DCN:
        return sim_rate_parse(text, err, &r->fabric.dcn_bytes_per_s);
    case DCN_LATENCY:
        return sim_time_parse(text, err, &r->fabric.dcn_latency_ps);
    case SPINES:
        return parse_count(text, err, &r->fabric.spines);
    case OVERSUBSCRIPTION:
        return parse_ratio(text, err, &r->fabric.oversubscription);
    case CHIPS:
        return parse_count(text, err, &r->fabric.chips);
    case GLOBAL:
        return parse_count(text, err, &r->fabric.global);
    case GROUPS:
        return parse_count(text, err, &r->fabric.groups);
    case DOMAIN:
        return sim_rate_parse(text, err, &r->fabric.domain_bytes_per_s);
    case CUBES:
        r->fabric.cubes = text;
        return SIM_OK;
    case SPARES:
        r->fabric.spares = text;
        return SIM_OK;
    default:
        assert(key == RAIL);
        return sim_rate_parse(text, err, &r->fabric.rail_bytes_per_s);
    }
}

/* One KEY=VALUE or "twisted". */
static enum sim_status parse_option(struct reading *r, const char *text, struct sim_error *err)
{
    enum key key = KEYS;
    struct sim_error why = {0};
    SIM_TRY(find_key(r, text, &key, err));
    r->seen |= KEY(key);
    if (key == TWISTED) return twist(r->t, err);
    if (parse_value(r, key, strchr(text, '=') + 1, &why) == SIM_OK) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "topology %s: %s", r->t->spec, why.text);
}

/* What follows the shape, cut up, and what the caller's options say instead. */
static enum sim_status parse_options(struct reading *r, char *option, struct sim_error *err)
{
    topo *t = r->t;
    const struct topo_options *o = r->options;
    while (option != NULL) {
        char *next = strchr(option, ',');
        if (next != NULL) *next++ = 0;
        SIM_TRY(parse_option(r, option, err));
        option = next;
    }
    if (o->link_bytes_per_s > 0)
        t->link_bytes_per_s = r->fabric.domain_bytes_per_s = r->fabric.rail_bytes_per_s =
            o->link_bytes_per_s;
    if (o->latency_ps >= 0) t->latency_ps = t->optical_latency_ps = o->latency_ps;
    if (t->optical_latency_ps < 0) t->optical_latency_ps = t->latency_ps;
    if (t->latency_ps > LATENCY_MAX_PS || t->optical_latency_ps > LATENCY_MAX_PS ||
        r->fabric.dcn_latency_ps > LATENCY_MAX_PS)
        return sim_error_set(err, SIM_EDATA, "topology %s: a hop's latency is over 1 s", t->spec);
    t->tie = o->tie;
    return SIM_OK;
}

/* ---- building ---- */

static enum sim_status preset_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    if (t->grid.axes != t->chip->axes)
        return sim_error_set(err, SIM_EDATA,
                             "%s has a shape of %u axes, want %u: %s slices are %uD", t->spec,
                             t->grid.axes, t->chip->axes, t->chip->name, t->chip->axes);
    uint32_t shape[3] = {1, 1, 1};
    bool is_wrapped[3] = {false, false, false};
    for (uint32_t a = 0; a < t->grid.axes; a++)
        shape[a] = t->grid.size[a];
    SIM_TRY(topo_chip_check_slice(t->chip, shape, err, is_wrapped));
    for (uint32_t a = 0; a < t->grid.axes; a++)
        t->grid.is_wrapped[a] = is_wrapped[a];
    bool has_cubes = t->chip->wrap_rule == TOPO_WRAP_CUBES && is_wrapped[0];
    if (topo_is_twisted(t) && !has_cubes)
        return sim_error_set(err, SIM_EDATA,
                             "%s cannot be twisted: only slices of whole 4x4x4 cubes have the "
                             "optical switches for it",
                             t->spec);
    if ((f->cubes != NULL || f->spares != NULL) && !has_cubes)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: cubes= and spares= are of slices of whole 4x4x4 cubes",
                             t->spec);
    return has_cubes ? topo_slice_build(t, f, err) : topo_torus_build(t, err);
}

static enum sim_status torus_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    for (uint32_t a = 0; a < t->grid.axes; a++)
        t->grid.is_wrapped[a] = t->grid.size[a] > 1;
    return topo_torus_build(t, err);
}

static enum sim_status mesh_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    if (topo_is_twisted(t))
        return sim_error_set(err, SIM_EDATA, "topology %s: only a torus can be twisted", t->spec);
    return topo_torus_build(t, err);
}

static enum sim_status full_build(topo *t, const struct topo_fabric *f, struct sim_error *err)
{
    (void)f;
    return topo_full_build(t, err);
}

static enum sim_status build(struct reading *r, struct sim_error *err)
{
    topo *t = r->t;
    if (r->slices <= 1) return r->family->build(t, &r->fabric, err);
    if (r->fabric.cubes != NULL || r->fabric.spares != NULL)
        return sim_error_set(err, SIM_EDATA, "topology %s: cubes= and spares= are of one slice",
                             t->spec);
    t->factor = SIM_NEW(topo *, 1);
    topo *slice = t->factor[0] = SIM_NEW(topo, 1);
    t->factors = 1;
    *slice = *t;
    slice->spec = sim_strdup(t->spec);
    slice->factor = NULL;
    slice->factors = 0;
    SIM_TRY(r->family->build(slice, &r->fabric, err));
    return topo_multislice_build(t, r->slices, &r->fabric, err);
}

static enum sim_status check_axes(const topo *t, const struct family *f, struct sim_error *err)
{
    if (t->grid.axes >= f->least_axes && t->grid.axes <= f->most_axes) return SIM_OK;
    if (f->most_axes == 1)
        return sim_error_set(err, SIM_EDATA, "topology %s: a %s has one size, as in %s", t->spec,
                             strcmp(f->name, "full") == 0 ? "full mesh" : f->name, f->example);
    char most[16] = "";
    if (f->most_axes > f->least_axes) snprintf(most, sizeof most, " to %u", f->most_axes);
    return sim_error_set(err, SIM_EDATA,
                         "topology %s has a shape of %u numbers, want %u%s, as in %s", t->spec,
                         t->grid.axes, f->least_axes, most, f->example);
}

/* ---- several slices, and products ---- */

/* Cuts "*2" off a shape. */
static enum sim_status parse_slices(struct reading *r, char *shape, struct sim_error *err)
{
    struct sim_error why = {0};
    uint64_t slices = 0;
    char *star = strchr(shape, '*');
    if (star == NULL) return SIM_OK;
    *star++ = 0;
    if (!r->family->has_slices)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: several slices are of tori, meshes, rings and chips; a "
                             "product's factor is such as *ring:8",
                             r->t->spec);
    if (sim_count_parse(star, 1, TOPO_NONE - 1, &why, &slices) != SIM_OK)
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: found \"*%s\", want a number of slices, 1 or more, or "
                             "a factor such as *ring:8",
                             r->t->spec, star);
    r->slices = (uint32_t)slices;
    return SIM_OK;
}

static bool is_product(const char *text)
{
    const char *star = strchr(text, '*');
    return star != NULL && strchr(star, ':') != NULL;
}

static bool is_file(const char *spec)
{
    return strncmp(spec, "graph:", 6) == 0 || strncmp(spec, "astra:", 6) == 0;
}

static enum sim_status no_factor(const topo *t, const char *factor, struct sim_error *err)
{
    return sim_error_set(err, SIM_EDATA,
                         "topology %s: %s is no factor of a product, want plain tori, meshes and "
                         "fabrics",
                         t->spec, factor);
}

/* Every factor is a spec with options of its own. */
static enum sim_status parse_product(struct reading *r, char *text, struct sim_error *err)
{
    topo *t = r->t;
    const struct topo_options own = {.link_bytes_per_s = r->options->link_bytes_per_s,
                                     .latency_ps = r->options->latency_ps,
                                     .tie = r->options->tie};
    t->factor = SIM_NEW(topo *, TOPO_AXES_MAX);
    for (char *factor = text; factor != NULL;) {
        char *next = strchr(factor, '*');
        if (next != NULL) *next++ = 0;
        if (t->factors == TOPO_AXES_MAX)
            return sim_error_set(err, SIM_EDATA, "topology %s has more than %d factors", t->spec,
                                 TOPO_AXES_MAX);
        if (is_file(factor)) return no_factor(t, factor, err);
        SIM_TRY(topo_create(factor, &own, err, &t->factor[t->factors]));
        const topo *made = t->factor[t->factors++];
        if (made->chip != NULL || topo_is_twisted(made)) return no_factor(t, factor, err);
        factor = next;
    }
    return topo_product_build(t, err);
}

/* `text` is a copy that may be cut up. */
static enum sim_status check_optical(const topo *t, struct sim_error *err)
{
    for (topo_link_id l = 0; l < t->links; l++)
        if (t->link_kind[l] == TOPO_OPTICAL) return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "topology %s has no optical links: slices of whole 4x4x4 cubes do",
                         t->spec);
}

static enum sim_status parse(struct reading *r, char *text, struct sim_error *err)
{
    topo *t = r->t;
    if (is_product(text)) return parse_product(r, text, err);
    char *shape = strchr(text, ':');
    if (shape == NULL)
        return sim_error_set(
            err, SIM_EDATA, "topology \"%s\" has no shape, want one such as v5p:8x8x8 or torus:4x4",
            t->spec);
    *shape++ = 0;
    t->chip = topo_chip_find(text);
    r->family = family_find(text);
    if (r->family == NULL) return unknown_name(t, text, err);
    t->link_bytes_per_s = t->chip != NULL ? t->chip->link_bytes_per_s : DEFAULT_LINK_BYTES_PER_S;
    t->latency_ps = t->chip != NULL ? t->chip->hop_latency_ps : DEFAULT_LATENCY_PS;
    t->optical_latency_ps = r->fabric.dcn_latency_ps = -1; /* unless said */
    char *option = strchr(shape, ',');
    if (option != NULL) *option++ = 0;
    SIM_TRY(parse_slices(r, shape, err));
    SIM_TRY(parse_shape(t, shape, err));
    SIM_TRY(check_axes(t, r->family, err));
    SIM_TRY(parse_options(r, option, err));
    SIM_TRY(build(r, err));
    return r->seen & KEY(OPTICAL) ? check_optical(t, err) : SIM_OK;
}

/* Files are named by the rest of the caller's own text, which outlives an error that points to
 * it. */
static enum sim_status read_spec(topo *t, const char *spec, const struct topo_options *options,
                                 struct sim_error *err)
{
    if (strncmp(spec, "graph:", 6) == 0) return topo_graph_file_build(t, spec + 6, options, err);
    if (strncmp(spec, "astra:", 6) == 0) return topo_astra_build(t, spec + 6, options, err);
    if (strlen(spec) > 200)
        return sim_error_set(err, SIM_EDATA, "topology spec is longer than 200 characters");
    struct reading reading = {.t = t, .options = options};
    char *text = sim_strdup(spec);
    enum sim_status status = parse(&reading, text, err);
    sim_free(text);
    return status;
}

enum sim_status topo_create(const char *spec, const struct topo_options *options,
                            struct sim_error *err, topo **out)
{
    static const struct topo_options none = TOPO_OPTIONS_DEFAULT;
    topo *t = SIM_NEW(topo, 1);
    t->spec = sim_strdup(spec);
    enum sim_status status = read_spec(t, spec, options != NULL ? options : &none, err);
    bool has_faults = options != NULL && (options->fail[0] != 0 || options->fail_random != NULL);
    if (status == SIM_OK && has_faults)
        status = topo_faults_apply(t, options, err);
    else if (status == SIM_OK && options != NULL && options->is_repaired)
        status = sim_error_set(err, SIM_EDATA, "repair of %s: no fault is given", spec);
    if (status == SIM_OK && options != NULL && options->routing != NULL)
        status = topo_routing_choose(t, options->routing, err);
    if (status != SIM_OK) {
        topo_destroy(t);
        return status;
    }
    *out = t;
    return SIM_OK;
}
