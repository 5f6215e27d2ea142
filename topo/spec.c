/*
 * Spec strings: NAME:SHAPE[,KEY=VALUE...].
 *
 * NAME is a chip preset or a family. The spec is kept as it was read, so that it prints back
 * unchanged.
 */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/yaml.h"
#include "topo/topo_internal.h"

/* Of a bare "torus:4": the one-way payload rate of a v4 link and about one hop of the TPU
 * interconnect. */
#define DEFAULT_LINK_BYTES_PER_S 45e9
#define DEFAULT_LATENCY_PS       SIM_PS_PER_US
/* Paths of millions of hops must stay within 64 bits of picoseconds. */
#define LATENCY_MAX_PS SIM_PS_PER_S

static const char *const names[] = {"torus", "mesh", "ring", "full", "v2",  "v3", "v4",
                                    "v5e",   "v5p",  "v6e",  "v7",   "v8t", NULL};

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

/* One KEY=VALUE or "twisted"; `seen` has a bit per key met before. */
static enum sim_status parse_option(topo *t, const char *text, uint32_t *seen,
                                    struct sim_error *err)
{
    static const char *const keys[] = {"link", "latency", "optical", "twisted"};
    enum { LINK, LATENCY, OPTICAL, TWISTED, KEYS };
    const char *value = strchr(text, '=');
    size_t key_bytes = value == NULL ? strlen(text) : (size_t)(value - text);
    uint32_t key = 0;
    while (key < KEYS &&
           (strlen(keys[key]) != key_bytes || strncmp(text, keys[key], key_bytes) != 0))
        key++;
    if (key == KEYS || (key == TWISTED) != (value == NULL))
        return sim_error_set(err, SIM_EDATA,
                             "topology %s: unknown part \"%s\", want link=RATE, latency=TIME, "
                             "optical=TIME or twisted",
                             t->spec, text);
    if (*seen & 1u << key)
        return sim_error_set(err, SIM_EDATA, "topology %s: %s is given twice", t->spec, keys[key]);
    *seen |= 1u << key;
    if (key == TWISTED) return twist(t, err);
    struct sim_error why = {0};
    enum sim_status status = SIM_OK;
    if (key == LINK) status = sim_rate_parse(value + 1, &why, &t->link_bytes_per_s);
    if (key == LATENCY) status = sim_time_parse(value + 1, &why, &t->latency_ps);
    if (key == OPTICAL) status = sim_time_parse(value + 1, &why, &t->optical_latency_ps);
    if (status == SIM_OK) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "topology %s: %s", t->spec, why.text);
}

static enum sim_status preset_build(topo *t, struct sim_error *err)
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
    return has_cubes ? topo_slice_build(t, err) : topo_torus_build(t, err);
}

static enum sim_status family_build(topo *t, const char *name, struct sim_error *err)
{
    if (t->chip != NULL) return preset_build(t, err);
    bool is_torus = strcmp(name, "torus") == 0, is_ring = strcmp(name, "ring") == 0;
    if (topo_is_twisted(t) && !is_torus)
        return sim_error_set(err, SIM_EDATA, "topology %s: only a torus can be twisted", t->spec);
    if (is_torus || is_ring || strcmp(name, "mesh") == 0) {
        if (is_ring && t->grid.axes != 1)
            return sim_error_set(err, SIM_EDATA, "topology %s: a ring has one size, as in ring:8",
                                 t->spec);
        for (uint32_t a = 0; a < t->grid.axes; a++)
            t->grid.is_wrapped[a] = (is_torus || is_ring) && t->grid.size[a] > 1;
        return topo_torus_build(t, err);
    }
    if (strcmp(name, "full") == 0) {
        if (t->grid.axes != 1)
            return sim_error_set(err, SIM_EDATA,
                                 "topology %s: a full mesh has one size, as in full:8", t->spec);
        return topo_full_build(t, err);
    }
    assert(false); /* check_name() knows the rest */
    return SIM_EINTERNAL;
}

static enum sim_status check_name(const topo *t, const char *name, struct sim_error *err)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(name, names[i]) == 0) return SIM_OK;
    const char *near = sim_nearest_name(name, names);
    if (near != NULL)
        return sim_error_set(err, SIM_EDATA,
                             "unknown topology \"%s\" in \"%s\", did you mean \"%s\"?", name,
                             t->spec, near);
    return sim_error_set(
        err, SIM_EDATA,
        "unknown topology \"%s\" in \"%s\", want torus, mesh, ring, full or a chip "
        "(v2 v3 v4 v5e v5p v6e v7 v8t)",
        name, t->spec);
}

/* `text` is a copy that may be cut up. */
static enum sim_status parse(topo *t, char *text, const struct topo_options *options,
                             struct sim_error *err)
{
    char *shape = strchr(text, ':');
    if (shape == NULL)
        return sim_error_set(
            err, SIM_EDATA, "topology \"%s\" has no shape, want one such as v5p:8x8x8 or torus:4x4",
            t->spec);
    *shape++ = 0;
    t->chip = topo_chip_find(text);
    SIM_TRY(check_name(t, text, err));
    if (strchr(shape, '*') != NULL)
        return sim_error_set(err, SIM_EDATA, "topology %s: several slices (*) are not there yet",
                             t->spec);
    t->link_bytes_per_s = t->chip != NULL ? t->chip->link_bytes_per_s : DEFAULT_LINK_BYTES_PER_S;
    t->latency_ps = t->chip != NULL ? t->chip->hop_latency_ps : DEFAULT_LATENCY_PS;
    char *option = strchr(shape, ',');
    if (option != NULL) *option++ = 0;
    SIM_TRY(parse_shape(t, shape, err));
    uint32_t seen = 0;
    t->optical_latency_ps = -1; /* as the others, unless said */
    while (option != NULL) {
        char *next = strchr(option, ',');
        if (next != NULL) *next++ = 0;
        SIM_TRY(parse_option(t, option, &seen, err));
        option = next;
    }
    if (options->link_bytes_per_s > 0) t->link_bytes_per_s = options->link_bytes_per_s;
    if (options->latency_ps >= 0) t->latency_ps = t->optical_latency_ps = options->latency_ps;
    if (t->optical_latency_ps < 0) t->optical_latency_ps = t->latency_ps;
    if (t->latency_ps > LATENCY_MAX_PS || t->optical_latency_ps > LATENCY_MAX_PS)
        return sim_error_set(err, SIM_EDATA, "topology %s: a hop's latency is over 1 s", t->spec);
    t->tie = options->tie;
    return family_build(t, text, err);
}

enum sim_status topo_create(const char *spec, const struct topo_options *options,
                            struct sim_error *err, topo **out)
{
    static const struct topo_options none = TOPO_OPTIONS_DEFAULT;
    if (strlen(spec) > 200)
        return sim_error_set(err, SIM_EDATA, "topology spec is longer than 200 characters");
    topo *t = SIM_NEW(topo, 1);
    t->spec = sim_strdup(spec);
    char *text = sim_strdup(spec);
    enum sim_status status = parse(t, text, options != NULL ? options : &none, err);
    sim_free(text);
    if (status != SIM_OK) {
        topo_destroy(t);
        return status;
    }
    *out = t;
    return SIM_OK;
}
