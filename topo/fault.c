/*
 * Reading faults, marking what they take, and taking it out.
 *
 * Marks are kept per chip and per link; links are then closed up in place, so that a faulty
 * topology looks like any other, with fewer links. Neighbours through a dead port are remembered:
 * an algorithm may still name them, and its message goes another way.
 */
#include "topo/fault.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "topo/slice.h"
#include "topo/topo_internal.h"

struct marks {
    topo *t;
    bool *chip, *link; /* [chips], [links] failed */
    bool *is_dark;     /* [links] because a switch failed */
    bool *is_broken;   /* [chips] whose cube a repair replaces */
};

/* ---- marking ---- */

static void mark_chip(struct marks *m, topo_chip_id chip)
{
    m->chip[chip] = m->is_broken[chip] = true;
    for (topo_link_id l = 0; l < m->t->links; l++)
        if (m->t->link_from[l] == chip || m->t->link_to[l] == chip) m->link[l] = true;
}

/* The link of the same cable the other way: through the opposite port, or the first unmarked
 * one. */
static topo_link_id twin(const struct marks *m, topo_link_id link)
{
    const topo *t = m->t;
    topo_node_id from = t->link_from[link], to = t->link_to[link];
    for (uint32_t p = 0; p < t->ports; p++)
        if (topo_port_link(t, from, p) == link) return topo_port_link(t, to, p ^ 1u);
    for (topo_link_id l = t->out_begin[to]; l < t->out_begin[to + 1]; l++)
        if (t->link_to[l] == from && !m->link[l]) return l;
    return TOPO_NONE;
}

static void mark_cable(struct marks *m, topo_link_id link, bool is_one_way)
{
    topo_link_id back = twin(m, link);
    m->link[link] = true;
    if (m->t->link_from[link] < m->t->chips) m->is_broken[m->t->link_from[link]] = true;
    if (!is_one_way && back != TOPO_NONE) m->link[back] = true;
}

/* Chips whose coordinates divided by `block` are `at`: a host or a cube. */
static void mark_block(struct marks *m, const uint32_t block[3], const uint32_t at[TOPO_AXES_MAX])
{
    const topo *t = m->t;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        bool is_in = true;
        for (uint32_t a = 0; a < t->grid.axes; a++)
            is_in = is_in && topo_coord(t, c, a) / (a < 3 ? block[a] : 1) == at[a];
        if (is_in) mark_chip(m, c);
    }
}

static bool has_cubes(const topo *t)
{
    return t->chip != NULL && t->chip->wrap_rule == TOPO_WRAP_CUBES && t->grid.is_wrapped[0];
}

/* ---- reading ---- */

/* Coordinates "3,4,5" of a grid of t's axes divided by `block`; `end` is the character they stop
 * at. */
static enum sim_status read_place(const topo *t, const char *text, const uint32_t block[3],
                                  char stop, const char **end, struct sim_error *err,
                                  uint32_t at[TOPO_AXES_MAX])
{
    const char *c = text;
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        char *next;
        uint32_t size = t->grid.size[a] / (a < 3 ? block[a] : 1);
        unsigned long value = strtoul(c, &next, 10);
        bool is_last = a + 1 == t->grid.axes,
             has_stop = is_last ? *next == stop || *next == 0 : *next == ',';
        if (*c < '0' || *c > '9' || !has_stop)
            return sim_error_set(err, SIM_EDATA,
                                 "fault place \"%s\": want %u coordinates, as in 0,0,0", text,
                                 t->grid.axes);
        if (value >= size)
            return sim_error_set(err, SIM_EDATA, "fault place \"%s\": %c is %lu, want less than %u",
                                 text, "xyzw"[a], value, size);
        at[a] = (uint32_t)value;
        c = is_last ? next : next + 1;
    }
    *end = c;
    return SIM_OK;
}

static const uint32_t single[3] = {1, 1, 1};
static const uint32_t cube_block[3] = {TOPO_CUBE_SIDE, TOPO_CUBE_SIDE, TOPO_CUBE_SIDE};

static enum sim_status read_chip(struct marks *m, const char *text, struct sim_error *err)
{
    uint32_t at[TOPO_AXES_MAX] = {0};
    const char *end;
    SIM_TRY(read_place(m->t, text, single, 0, &end, err, at));
    mark_chip(m, topo_chip_at(m->t, at));
    return SIM_OK;
}

static enum sim_status read_cube(struct marks *m, const char *text, struct sim_error *err)
{
    uint32_t at[TOPO_AXES_MAX] = {0};
    const char *end;
    if (!has_cubes(m->t))
        return sim_error_set(err, SIM_EDATA, "fault cube:%s: %s is no slice of whole cubes", text,
                             m->t->spec);
    SIM_TRY(read_place(m->t, text, cube_block, 0, &end, err, at));
    mark_block(m, cube_block, at);
    return SIM_OK;
}

static enum sim_status read_host(struct marks *m, const char *text, struct sim_error *err)
{
    const topo *t = m->t;
    uint64_t host, hosts = 1;
    uint32_t at[TOPO_AXES_MAX], grid[TOPO_AXES_MAX];
    if (t->chip == NULL)
        return sim_error_set(err, SIM_EDATA,
                             "fault host:%s: %s names no chip, so its hosts are not known", text,
                             t->spec);
    for (uint32_t a = 0; a < t->grid.axes; a++) { /* the last may count slices */
        uint32_t side = a < 3 ? t->chip->host[a] : 1;
        grid[a] = (t->grid.size[a] + side - 1) / side;
        hosts *= grid[a];
    }
    struct sim_error why = {0};
    if (sim_count_parse(text, 0, hosts - 1, &why, &host) != SIM_OK)
        return sim_error_set(err, SIM_EDATA, "fault host:%s: want a number from 0 to %llu", text,
                             (unsigned long long)(hosts - 1));
    for (uint32_t a = 0; a < t->grid.axes; a++) {
        at[a] = (uint32_t)(host % grid[a]);
        host /= grid[a];
    }
    mark_block(m, t->chip->host, at);
    return SIM_OK;
}

/* "+x" or "-z" as a port. */
static bool read_port(const topo *t, const char *text, uint32_t *port)
{
    const char *axis = text[0] != 0 && text[1] != 0 ? strchr("xyzw", text[1]) : NULL;
    if ((text[0] != '+' && text[0] != '-') || axis == NULL) return false;
    *port = 2 * (uint32_t)(axis - strchr("xyzw", text[1])) + (text[0] == '-');
    for (uint32_t a = 0; a < t->grid.axes; a++)
        if ("xyzw"[a] == text[1]) *port = 2 * a + (text[0] == '-');
    return text[1] <= 'z' && *port < t->ports && "xyzw"[*port / 2] == text[1];
}

static enum sim_status read_link(struct marks *m, const char *text, struct sim_error *err)
{
    uint32_t at[TOPO_AXES_MAX] = {0}, port = 0;
    const char *end;
    if (m->t->ports == 0)
        return sim_error_set(err, SIM_EDATA, "fault link:%s: %s has no ports to name a link by",
                             text, m->t->spec);
    SIM_TRY(read_place(m->t, text, single, ':', &end, err, at));
    bool is_out = *end == ':' && strcmp(end + 1 + strcspn(end + 1, ":"), ":out") == 0;
    bool is_port = *end == ':' && read_port(m->t, end + 1, &port) && (end[3] == 0 || is_out);
    if (!is_port)
        return sim_error_set(
            err, SIM_EDATA, "fault link:%s: want a chip and a port, as in 0,0,0:+x or 0,0,0:-y:out",
            text);
    topo_link_id link = topo_port_link(m->t, topo_chip_at(m->t, at), port);
    if (link == TOPO_NONE)
        return sim_error_set(err, SIM_EDATA, "fault link:%s: no cable there", text);
    mark_cable(m, link, is_out);
    return SIM_OK;
}

/* Is this an optical link through switch (dimension, position)? */
static bool is_through(const topo *t, topo_link_id link, uint32_t dimension, uint32_t position)
{
    topo_chip_id c = t->link_from[link];
    uint32_t u = topo_coord(t, c, dimension == 0 ? 1 : 0) % TOPO_CUBE_SIDE;
    uint32_t v = topo_coord(t, c, dimension == 2 ? 1 : 2) % TOPO_CUBE_SIDE;
    bool is_along = topo_port_link(t, c, 2 * dimension) == link ||
                    topo_port_link(t, c, 2 * dimension + 1) == link;
    return t->link_kind[link] == TOPO_OPTICAL && is_along && u + TOPO_CUBE_SIDE * v == position;
}

static enum sim_status read_ocs(struct marks *m, const char *text, struct sim_error *err)
{
    const char *axis = text[0] != 0 ? strchr("xyz", text[0]) : NULL;
    uint64_t position = 0;
    struct sim_error why = {0};
    bool is_fine = axis != NULL &&
                   sim_count_parse(text + 1, 0, TOPO_FACE_POSITIONS - 1, &why, &position) == SIM_OK;
    if (!is_fine)
        return sim_error_set(err, SIM_EDATA,
                             "fault ocs:%s: want a dimension and a face position, x0 to z15", text);
    if (!has_cubes(m->t))
        return sim_error_set(err, SIM_EDATA, "fault ocs:%s: %s has no optical switches", text,
                             m->t->spec);
    for (topo_link_id l = 0; l < m->t->links; l++)
        if (is_through(m->t, l, (uint32_t)(text[0] - 'x'), (uint32_t)position))
            m->link[l] = m->is_dark[l] = true;
    return SIM_OK;
}

static enum sim_status read_fault(struct marks *m, const char *text, struct sim_error *err)
{
    static const struct {
        const char *kind;
        enum sim_status (*read)(struct marks *, const char *, struct sim_error *);
    } kinds[] = {{"chip:", read_chip},
                 {"link:", read_link},
                 {"host:", read_host},
                 {"cube:", read_cube},
                 {"ocs:", read_ocs}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strncmp(text, kinds[i].kind, strlen(kinds[i].kind)) == 0)
            return kinds[i].read(m, text + strlen(kinds[i].kind), err);
    return sim_error_set(err, SIM_EDATA,
                         "fault \"%s\": want chip:, link:, host:, cube: or ocs:", text);
}

static enum sim_status read_named(struct marks *m, const char *named, struct sim_error *err)
{
    char *copy = sim_strdup(named);
    enum sim_status status = SIM_OK;
    for (char *fault = copy; fault != NULL && status == SIM_OK;) {
        char *next = strchr(fault, ';');
        if (next != NULL) *next++ = 0;
        status = read_fault(m, fault, err);
        fault = next;
    }
    sim_free(copy);
    return status;
}

/* ---- random ones ---- */

struct random_faults {
    uint64_t links, chips, seed;
};

static enum sim_status read_random(const char *text, struct sim_error *err,
                                   struct random_faults *out)
{
    char *copy = sim_strdup(text);
    enum sim_status status = SIM_OK;
    for (char *part = copy; part != NULL && status == SIM_OK;) {
        char *next = strchr(part, ','), *value = strchr(part, '=');
        if (next != NULL) *next++ = 0;
        uint64_t *field = strncmp(part, "links=", 6) == 0   ? &out->links
                          : strncmp(part, "chips=", 6) == 0 ? &out->chips
                          : strncmp(part, "seed=", 5) == 0  ? &out->seed
                                                            : NULL;
        struct sim_error why = {0};
        if (field == NULL || sim_count_parse(value + 1, 0, UINT64_MAX, &why, field) != SIM_OK)
            status = sim_error_set(err, SIM_EDATA,
                                   "random faults \"%s\": want links=N, chips=N or seed=N", part);
        part = next;
    }
    sim_free(copy);
    return status;
}

static uint32_t count_marks(const bool *mark, uint32_t count)
{
    uint32_t marked = 0;
    for (uint32_t i = 0; i < count; i++)
        marked += mark[i];
    return marked;
}

static enum sim_status mark_random(struct marks *m, const char *text, struct sim_error *err)
{
    struct random_faults r = {.seed = 1};
    struct sim_rng rng;
    SIM_TRY(read_random(text, err, &r));
    uint64_t chips_left = m->t->chips - count_marks(m->chip, m->t->chips);
    if (r.chips >= chips_left || r.links > m->t->links / 2)
        return sim_error_set(err, SIM_EDATA,
                             "random faults \"%s\": %s has only %llu chips and %u cables", text,
                             m->t->spec, (unsigned long long)chips_left, m->t->links / 2);
    sim_rng_init(&rng, r.seed, 0);
    while (r.chips > 0) {
        topo_chip_id chip = (topo_chip_id)sim_rng_below(&rng, m->t->chips);
        if (m->chip[chip]) continue;
        mark_chip(m, chip);
        r.chips--;
    }
    uint64_t links_left = m->t->links - count_marks(m->link, m->t->links);
    for (; r.links > 0 && links_left > 0;
         links_left = m->t->links - count_marks(m->link, m->t->links)) {
        topo_link_id link = (topo_link_id)sim_rng_below(&rng, m->t->links);
        if (m->link[link]) continue;
        mark_cable(m, link, false);
        r.links--;
    }
    return SIM_OK;
}

/* ---- repair ---- */

/* Broken cubes give way to spare ones, and what is left of the marks are the dark switches. */
static enum sim_status repair(struct marks *m, struct sim_error *err)
{
    topo *t = m->t;
    topo_link_id links = t->links;
    if (t->cubes == NULL)
        return sim_error_set(err, SIM_EDATA,
                             "repair of %s: only one slice of whole 4x4x4 cubes takes spare cubes",
                             t->spec);
    const uint32_t *grid = t->cubes->grid;
    bool *is_broken = SIM_NEW(bool, topo_cubes_places(t->cubes));
    for (topo_chip_id c = 0; c < t->chips; c++) {
        uint32_t place = topo_coord(t, c, 0) / TOPO_CUBE_SIDE +
                         grid[0] * (topo_coord(t, c, 1) / TOPO_CUBE_SIDE +
                                    grid[1] * (topo_coord(t, c, 2) / TOPO_CUBE_SIDE));
        is_broken[place] = is_broken[place] || m->is_broken[c];
        m->chip[c] = false;
    }
    enum sim_status status = topo_slice_repair(t, is_broken, err);
    sim_free(is_broken);
    if (status != SIM_OK) return status;
    assert(t->links == links); /* the same torus, so links have the ids they had */
    memcpy(m->link, m->is_dark, links * sizeof *m->link);
    return SIM_OK;
}

/* ---- taking out ---- */

static void remember_neighbours(topo *t)
{
    size_t ports = (size_t)t->chips * t->ports;
    if (t->ports == 0) return;
    t->port_chip = SIM_NEW(topo_chip_id, ports);
    for (size_t p = 0; p < ports; p++)
        t->port_chip[p] = t->port_link[p] == TOPO_NONE ? TOPO_NONE : t->link_to[t->port_link[p]];
}

static void close_up(topo *t, const bool *is_dead)
{
    topo_link_id kept = 0, *renumbered = SIM_NEW(topo_link_id, t->links);
    for (topo_link_id l = 0; l < t->links; l++) {
        renumbered[l] = is_dead[l] ? TOPO_NONE : kept;
        if (is_dead[l]) continue;
        t->link_from[kept] = t->link_from[l];
        t->link_to[kept] = t->link_to[l];
        t->link_rate[kept] = t->link_rate[l];
        t->link_latency_ps[kept] = t->link_latency_ps[l];
        t->link_kind[kept++] = t->link_kind[l];
    }
    for (size_t p = 0; p < (size_t)t->chips * t->ports; p++)
        if (t->port_link[p] != TOPO_NONE) t->port_link[p] = renumbered[t->port_link[p]];
    sim_free(renumbered);
    t->links = kept;
    memset(t->out_begin, 0, ((size_t)t->nodes + 1) * sizeof *t->out_begin);
    for (topo_link_id l = 0; l < kept; l++)
        t->out_begin[t->link_from[l] + 1]++;
    for (topo_node_id n = 0; n < t->nodes; n++)
        t->out_begin[n + 1] += t->out_begin[n];
}

/* Working chips that a search from the first working one does not reach, along links one way. */
static enum sim_status check_reach(const topo *t, bool is_backward, struct sim_error *err)
{
    bool *is_seen = SIM_NEW(bool, t->nodes);
    topo_node_id first = 0;
    while (t->is_failed[first])
        first++;
    is_seen[first] = true;
    for (bool is_growing = true; is_growing;) { /* few rounds: links are sorted by their start */
        is_growing = false;
        for (topo_link_id l = 0; l < t->links; l++) {
            topo_node_id a = is_backward ? t->link_to[l] : t->link_from[l];
            topo_node_id b = is_backward ? t->link_from[l] : t->link_to[l];
            if (!is_seen[a] || is_seen[b]) continue;
            is_seen[b] = is_growing = true;
        }
    }
    char names[160] = "", chip[48];
    size_t at = 0;
    uint32_t lost = 0;
    for (topo_chip_id c = 0; c < t->chips; c++) {
        if (is_seen[c] || t->is_failed[c] || lost++ >= 5) continue;
        at += (size_t)snprintf(names + at, sizeof names - at, "%s%s", at > 0 ? "; " : "",
                               topo_node_format(t, c, chip));
    }
    sim_free(is_seen);
    if (lost == 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "the faults cut %u chips of %s off: %s%s", lost, t->spec,
                         names, lost > 5 ? "; ..." : "");
}

static enum sim_status mark_all(struct marks *m, const char *named, const char *random,
                                struct sim_error *err)
{
    if (named[0] != 0) SIM_TRY(read_named(m, named, err));
    if (random != NULL) SIM_TRY(mark_random(m, random, err));
    return SIM_OK;
}

enum sim_status topo_options_fail(struct topo_options *options, const char *faults,
                                  struct sim_error *err)
{
    size_t at = strlen(options->fail), room = sizeof options->fail - at;
    int wrote = snprintf(options->fail + at, room, "%s%s", at > 0 ? ";" : "", faults);
    if (wrote >= 0 && (size_t)wrote < room) return SIM_OK;
    return sim_error_set(err, SIM_EUSAGE, "more than %zu characters of faults",
                         sizeof options->fail - 1);
}

/* "v4:8x8x8 without ocs:x0": so every output says it. */
static void rename_faulty(topo *t, const struct topo_options *o)
{
    bool has_both = o->fail[0] != 0 && o->fail_random != NULL;
    const char *parts[] = {t->spec,
                           " without ",
                           o->fail,
                           has_both ? "; " : "",
                           o->fail_random != NULL ? o->fail_random : "",
                           o->is_repaired ? ", repaired" : ""};
    size_t bytes = 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        bytes += strlen(parts[i]);
    char *name = SIM_NEW(char, bytes);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        strcat(name, parts[i]);
    sim_free(t->spec);
    t->spec = name;
}

/* Chips keep their ids, links close up, and routes go around. Takes m->chip. */
static enum sim_status take_out(struct marks *m, struct sim_error *err)
{
    topo *t = m->t;
    t->failed_chips = count_marks(m->chip, t->chips);
    if (t->failed_chips == t->chips)
        return sim_error_set(err, SIM_EDATA, "the faults leave no chip of %s", t->spec);
    t->is_failed = m->chip;
    m->chip = NULL;
    remember_neighbours(t);
    close_up(t, m->link);
    SIM_TRY(check_reach(t, false, err));
    SIM_TRY(check_reach(t, true, err));
    return topo_fault_routing(t, err);
}

enum sim_status topo_faults_apply(topo *t, const struct topo_options *options,
                                  struct sim_error *err)
{
    struct marks m = {.t = t,
                      .chip = SIM_NEW(bool, t->chips),
                      .link = SIM_NEW(bool, t->links),
                      .is_dark = SIM_NEW(bool, t->links),
                      .is_broken = SIM_NEW(bool, t->chips)};
    enum sim_status status = mark_all(&m, options->fail, options->fail_random, err);
    if (status == SIM_OK && options->is_repaired) status = repair(&m, err);
    bool is_whole = options->is_repaired && status == SIM_OK && count_marks(m.link, t->links) == 0;
    if (status == SIM_OK && !is_whole) status = take_out(&m, err);
    if (status == SIM_OK) rename_faulty(t, options);
    sim_free(m.chip);
    sim_free(m.link);
    sim_free(m.is_dark);
    sim_free(m.is_broken);
    return status;
}
