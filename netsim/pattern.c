#include "netsim/pattern.h"

#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"

enum kind { UNIFORM, PERMUTATION, HOTSPOT, MATRIX };

struct net_pattern {
    enum kind kind;
    uint32_t chips, working_count;
    topo_chip_id *working;     /* [working_count] UNIFORM, HOTSPOT: those that have not failed */
    topo_chip_id *destination; /* [chips] PERMUTATION */
    topo_chip_id hot;
    uint64_t hot_share; /* of 2^63 */
    /* MATRIX: entries of a source are [begin[source], begin[source + 1]) */
    uint32_t *begin; /* [chips + 1] */
    topo_chip_id *to;
    uint64_t *until; /* weights added up within a source */
    uint64_t most;   /* of any source's sums */
};

typedef topo_chip_id (*permute_fn)(const topo *t, topo_chip_id from);

/* ---- permutations ---- */

static topo_chip_id shift(const topo *t, topo_chip_id from, bool is_tornado)
{
    uint32_t coord[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        uint32_t k = topo_axis_size(t, a), by = is_tornado ? (k + 1) / 2 - 1 : 1;
        coord[a] = (topo_coord(t, from, a) + by) % k;
    }
    return topo_chip_at(t, coord);
}

static topo_chip_id tornado(const topo *t, topo_chip_id from)
{
    return shift(t, from, true);
}

static topo_chip_id neighbour(const topo *t, topo_chip_id from)
{
    return shift(t, from, false);
}

static topo_chip_id complement(const topo *t, topo_chip_id from)
{
    uint32_t coord[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++)
        coord[a] = topo_axis_size(t, a) - 1 - topo_coord(t, from, a);
    return topo_chip_at(t, coord);
}

static uint32_t id_bits(const topo *t)
{
    return (uint32_t)__builtin_ctz(topo_chips(t));
}

static bool is_power_of_two(const topo *t)
{
    return (topo_chips(t) & (topo_chips(t) - 1)) == 0;
}

static bool is_square(const topo *t)
{
    return topo_axes(t) == 2 && topo_axis_size(t, 0) == topo_axis_size(t, 1);
}

static topo_chip_id transpose(const topo *t, topo_chip_id from)
{
    if (is_square(t)) {
        uint32_t coord[TOPO_AXES_MAX] = {topo_coord(t, from, 1), topo_coord(t, from, 0)};
        return topo_chip_at(t, coord);
    }
    uint32_t half = id_bits(t) / 2;
    return from >> half | (from & ((UINT32_C(1) << half) - 1)) << half;
}

static topo_chip_id reverse(const topo *t, topo_chip_id from)
{
    topo_chip_id to = 0;
    for (uint32_t i = 0, bits = id_bits(t); i < bits; i++)
        to |= (from >> i & 1) << (bits - 1 - i);
    return to;
}

static enum sim_status check_failed(const topo *t, const char *name, struct sim_error *err)
{
    if (topo_failed_chips(t) == 0) return SIM_OK;
    return sim_error_set(
        err, SIM_EDATA, "pattern %s: some chips have failed; use uniform, hotspot or a file", name);
}

static enum sim_status make_permutation(const topo *t, const char *name, permute_fn permute,
                                        struct sim_error *err, net_pattern *p)
{
    char chips[SIM_QUANTITY_TEXT];
    bool wants_halves = permute == transpose && !is_square(t);
    SIM_TRY(check_failed(t, name, err));
    if (permute == reverse && !is_power_of_two(t))
        return sim_error_set(err, SIM_EDATA, "pattern bitrev needs 2, 4, 8, 16 ... chips, not %s",
                             sim_count_format(topo_chips(t), chips));
    if (wants_halves && (!is_power_of_two(t) || id_bits(t) % 2 != 0))
        return sim_error_set(err, SIM_EDATA,
                             "pattern transpose needs a square, or 4, 16, 64 ... chips, not %s",
                             topo_spec(t));
    p->kind = PERMUTATION;
    p->destination = SIM_NEW(topo_chip_id, p->chips);
    for (topo_chip_id c = 0; c < p->chips; c++)
        p->destination[c] = permute(t, c);
    return SIM_OK;
}

/* ---- random ---- */

static void find_working(const topo *t, net_pattern *p)
{
    p->working = SIM_NEW(topo_chip_id, p->chips);
    for (topo_chip_id c = 0; c < p->chips; c++)
        if (!topo_chip_is_failed(t, c)) p->working[p->working_count++] = c;
}

static enum sim_status make_uniform(const topo *t, net_pattern *p)
{
    p->kind = UNIFORM;
    find_working(t, p);
    return SIM_OK;
}

/* `rest` is what follows the name: "", ":CHIP" or ":CHIP:SHARE". */
static enum sim_status make_hotspot(const topo *t, const char *rest, struct sim_error *err,
                                    net_pattern *p)
{
    char chip[32] = "0";
    const char *colon = rest[0] == ':' ? strchr(rest + 1, ':') : NULL;
    size_t length = colon != NULL ? (size_t)(colon - rest) - 1 : strlen(rest + (rest[0] == ':'));
    struct sim_error why = {0};
    uint64_t hot;
    double share = 0.2;
    if (length >= sizeof chip) length = sizeof chip - 1;
    if (rest[0] == ':') {
        memcpy(chip, rest + 1, length);
        chip[length] = 0;
    }
    if (sim_count_parse(chip, 0, p->chips - 1, &why, &hot) != SIM_OK ||
        (colon != NULL && sim_share_parse(colon + 1, &why, &share) != SIM_OK))
        return sim_error_set(err, SIM_EDATA,
                             "pattern hotspot%s: want hotspot:CHIP:SHARE, a chip id from 0 to %u "
                             "and a share of its traffic up to 1",
                             rest, p->chips - 1);
    p->hot = (topo_chip_id)hot;
    if (topo_chip_is_failed(t, p->hot))
        return sim_error_set(err, SIM_EDATA, "pattern hotspot: chip %u has failed", p->hot);
    p->hot_share = (uint64_t)(share * 9223372036854775808.0);
    p->kind = HOTSPOT;
    find_working(t, p);
    return SIM_OK;
}

/* ---- by name ---- */

static const char *const names[] = {"uniform", "neighbour", "neighbor", "tornado", "transpose",
                                    "bitcomp", "bitrev",    "hotspot",  NULL};
static const permute_fn permutations[] = {NULL,      neighbour,  neighbour, tornado,
                                          transpose, complement, reverse,   NULL};

static int find_name(const char *text)
{
    size_t length = strcspn(text, ":");
    for (int i = 0; names[i] != NULL; i++)
        if (strlen(names[i]) == length && strncmp(names[i], text, length) == 0) return i;
    return -1;
}

bool net_pattern_is_name(const char *text)
{
    return find_name(text) >= 0;
}

enum sim_status net_pattern_parse(const topo *t, const char *text, struct sim_error *err,
                                  net_pattern **out)
{
    int name = find_name(text);
    const char *rest = text + strcspn(text, ":");
    if (name < 0)
        return sim_error_set(err, SIM_EDATA,
                             "unknown pattern \"%s\", want uniform, neighbour, tornado, "
                             "transpose, bitcomp, bitrev or hotspot",
                             text);
    bool is_hotspot = strcmp(names[name], "hotspot") == 0;
    if (rest[0] != 0 && !is_hotspot)
        return sim_error_set(err, SIM_EDATA, "pattern %s takes nothing after the name", text);
    net_pattern *p = SIM_NEW(net_pattern, 1);
    p->chips = topo_chips(t);
    enum sim_status status = is_hotspot ? make_hotspot(t, rest, err, p)
                             : permutations[name] != NULL
                                 ? make_permutation(t, text, permutations[name], err, p)
                                 : make_uniform(t, p);
    if (status == SIM_OK)
        *out = p;
    else
        net_pattern_destroy(p);
    return status;
}

void net_pattern_destroy(net_pattern *p)
{
    if (p == NULL) return;
    sim_free(p->working);
    sim_free(p->destination);
    sim_free(p->begin);
    sim_free(p->to);
    sim_free(p->until);
    sim_free(p);
}

/* ---- matrices ---- */

static enum sim_status add_up(net_pattern *p, const topo_chip_id *src, const topo_chip_id *dst,
                              const uint64_t *weight, uint32_t count, struct sim_error *err)
{
    uint32_t *next = SIM_NEW(uint32_t, p->chips);
    enum sim_status status = SIM_OK;
    for (topo_chip_id c = 0; c < p->chips; c++)
        next[c] = p->begin[c];
    for (uint32_t i = 0; i < count && status == SIM_OK; i++) {
        uint32_t at = next[src[i]]++;
        uint64_t before = at > p->begin[src[i]] ? p->until[at - 1] : 0;
        if (weight[i] >= (UINT64_C(1) << 63) - before)
            status =
                sim_error_set(err, SIM_EDATA,
                              "the weights of what chip %u sends add up to more than 2^63", src[i]);
        p->to[at] = dst[i];
        p->until[at] = before + weight[i];
        if (p->until[at] > p->most) p->most = p->until[at];
    }
    sim_free(next);
    if (status == SIM_OK && p->most == 0)
        return sim_error_set(err, SIM_EDATA, "all weights of the traffic matrix are 0");
    return status;
}

enum sim_status net_pattern_matrix(const topo *t, uint32_t count, const topo_chip_id *src,
                                   const topo_chip_id *dst, const uint64_t *weight,
                                   struct sim_error *err, net_pattern **out)
{
    for (uint32_t i = 0; i < count; i++) {
        bool is_source = topo_chip_is_failed(t, src[i]);
        if (is_source || topo_chip_is_failed(t, dst[i]))
            return sim_error_set(err, SIM_EDATA,
                                 "traffic from chip %u to chip %u: chip %u has "
                                 "failed",
                                 src[i], dst[i], is_source ? src[i] : dst[i]);
    }
    net_pattern *p = SIM_NEW(net_pattern, 1);
    p->kind = MATRIX;
    p->chips = topo_chips(t);
    p->begin = SIM_NEW(uint32_t, p->chips + 1);
    p->to = SIM_NEW(topo_chip_id, count);
    p->until = SIM_NEW(uint64_t, count);
    for (uint32_t i = 0; i < count; i++)
        p->begin[src[i] + 1]++;
    for (topo_chip_id c = 0; c < p->chips; c++)
        p->begin[c + 1] += p->begin[c];
    enum sim_status status = add_up(p, src, dst, weight, count, err);
    if (status == SIM_OK)
        *out = p;
    else
        net_pattern_destroy(p);
    return status;
}

static uint64_t sum_of(const net_pattern *p, topo_chip_id from)
{
    return p->begin[from] == p->begin[from + 1] ? 0 : p->until[p->begin[from + 1] - 1];
}

/* The first entry whose sum is above. */
static topo_chip_id draw_entry(const net_pattern *p, topo_chip_id from, uint64_t value)
{
    uint32_t low = p->begin[from], high = p->begin[from + 1] - 1;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (p->until[middle] > value)
            high = middle;
        else
            low = middle + 1;
    }
    return p->to[low];
}

/* ---- use ---- */

double net_pattern_share(const net_pattern *p, topo_chip_id from)
{
    return p->kind == MATRIX ? (double)sum_of(p, from) / (double)p->most : 1;
}

topo_chip_id net_pattern_draw(const net_pattern *p, topo_chip_id from, struct sim_rng *rng)
{
    if (p->kind == PERMUTATION) return p->destination[from];
    if (p->kind == MATRIX) return draw_entry(p, from, sim_rng_below(rng, sum_of(p, from)));
    if (p->kind == HOTSPOT && sim_rng_next(rng) >> 1 < p->hot_share) return p->hot;
    return p->working[sim_rng_below(rng, p->working_count)];
}
