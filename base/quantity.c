/*
 * Quantities without a floating-point step that could round twice.
 *
 * A text is split into a decimal number, kept as digits * 10^exponent, and a unit, which is a
 * factor 10^a * 2^b * c. Byte counts and times are then computed in 128-bit integers: exact, or
 * known not to be whole. Rates stay decimal until one strtod() of "<digits>e<exponent + a>", which
 * rounds once; the power of two after it is exact. So 100Gbps (1e11 * 2^-3) and 12.5GB/s (125e8)
 * are the same double, and no digit ever meets a decimal point, the one thing that depends on the
 * locale. Hex floats, "inf", "nan" and signs never get as far as strtod().
 */
#include "base/quantity.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS_MAX   30 /* significant digits kept; a time of 2^63 ps has 19, a double needs 17 */
#define EXPONENT_MAX 100000
#define LIST_MAX     10000

struct number {
    sim_u128 digits;
    int exponent;
    bool is_cut; /* digits other than 0 were left off the end */
};

struct unit {
    const char *name;
    int exponent10, exponent2;
    uint32_t factor;
};

/* One kind of quantity: what its messages say, and its units (prefix + name). */
struct kind {
    const char *not_one; /* after the text found */
    const char *want;
    const char *offered; /* the units, for a number that has none */
    const struct unit *prefix, *unit;
};

static const struct unit no_prefix[] = {{"", 0, 0, 1}, {NULL}};

static const struct unit decimal_prefix[] = {{"", 0, 0, 1},   {"k", 3, 0, 1},  {"K", 3, 0, 1},
                                             {"M", 6, 0, 1},  {"G", 9, 0, 1},  {"T", 12, 0, 1},
                                             {"P", 15, 0, 1}, {"E", 18, 0, 1}, {NULL}};

static const struct unit any_prefix[] = {
    {"", 0, 0, 1},    {"k", 3, 0, 1},   {"K", 3, 0, 1},   {"M", 6, 0, 1},   {"G", 9, 0, 1},
    {"T", 12, 0, 1},  {"P", 15, 0, 1},  {"E", 18, 0, 1},  {"Ki", 0, 10, 1}, {"Mi", 0, 20, 1},
    {"Gi", 0, 30, 1}, {"Ti", 0, 40, 1}, {"Pi", 0, 50, 1}, {"Ei", 0, 60, 1}, {NULL}};

static const struct unit byte_unit[] = {{"B", 0, 0, 1}, {NULL}};
static const struct unit rate_unit[] = {
    {"B/s", 0, 0, 1}, {"bps", 0, -3, 1}, {"bit/s", 0, -3, 1}, {"b/s", 0, -3, 1}, {NULL}};
static const struct unit flops_unit[] = {
    {"FLOP/s", 0, 0, 1}, {"FLOPS", 0, 0, 1}, {"OP/s", 0, 0, 1}, {"OPS", 0, 0, 1}, {NULL}};
static const struct unit time_unit[] = {{"ps", 0, 0, 1},    {"ns", 3, 0, 1}, {"us", 6, 0, 1},
                                        {"ms", 9, 0, 1},    {"s", 12, 0, 1}, {"min", 12, 0, 60},
                                        {"h", 12, 0, 3600}, {NULL}};

static const struct kind bytes_kind = {"is not a byte count",
                                       "whole bytes such as \"1MiB\", \"4GB\" or \"512\"", "",
                                       any_prefix, byte_unit};
static const struct kind rate_kind = {
    "is not a rate", "a number with a unit such as \"45GB/s\" or \"100Gbps\"",
    " (B/s, kB/s, MB/s, GB/s, TB/s; KiB/s to TiB/s; bps, kbps, Mbps, Gbps, Tbps)", any_prefix,
    rate_unit};
static const struct kind time_kind = {"is not a duration",
                                      "a number with a unit such as \"1.5us\" or \"2ms\"",
                                      " (ps, ns, us, ms, s, min, h)", no_prefix, time_unit};
static const struct kind flops_kind = {
    "is not a compute rate", "a number with a unit such as \"197TFLOP/s\" or \"400TOP/s\"",
    " (FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s; OP/s likewise)", decimal_prefix, flops_unit};

static const char share_want[] = "a share above 0 and up to 1 such as \"0.6\" or \"60%\"";
static const char list_want[] = "byte counts and ranges such as \"1MiB,4MiB\" or \"1KiB:1GiB:x4\"";

static enum sim_status refuse(struct sim_error *err, const char *text, const char *why,
                              const char *want)
{
    char quoted[SIM_QUOTE_TEXT];

    return sim_error_set(err, SIM_EDATA, "%s %s, want %s", sim_error_quote(text, quoted), why,
                         want);
}

static enum sim_status refuse_without_unit(struct sim_error *err, const char *text,
                                           const struct kind *kind)
{
    char quoted[SIM_QUOTE_TEXT];

    return sim_error_set(err, SIM_EDATA, "%s has no unit, want %s%s", sim_error_quote(text, quoted),
                         kind->want, kind->offered);
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* "e-12": add it to `*exponent`, held within +-EXPONENT_MAX, where every quantity is 0 or too large
 * anyway. */
static const char *exponent_parse(const char *p, long *exponent)
{
    bool has_sign = p[0] != '\0' && (p[1] == '-' || p[1] == '+');
    bool is_negative = has_sign && p[1] == '-';
    long value = 0;

    if ((p[0] != 'e' && p[0] != 'E') || !is_digit(p[has_sign ? 2 : 1])) return p;
    for (p += has_sign ? 2 : 1; is_digit(*p); p++) {
        if (value < EXPONENT_MAX) value = value * 10 + (*p - '0');
    }
    *exponent += is_negative ? -value : value;
    return p;
}

/* Digits with an optional point and exponent at `p`. Returns what follows, or NULL when there is no
 * number. */
static const char *number_parse(const char *p, struct number *out)
{
    struct number n = {0};
    long exponent = 0;
    int kept = 0;
    bool has_digit = false, is_fraction = false;

    for (;; p++) {
        if (*p == '.' && !is_fraction && is_digit(p[1])) {
            is_fraction = true;
            continue;
        }
        if (!is_digit(*p)) break;
        has_digit = true;
        if (kept < DIGITS_MAX) {
            n.digits = n.digits * 10 + (unsigned)(*p - '0');
            kept += n.digits != 0;
            exponent -= is_fraction;
        } else {
            n.is_cut |= *p != '0';
            exponent += !is_fraction;
        }
    }
    if (!has_digit) return NULL;
    p = exponent_parse(p, &exponent);
    if (exponent > EXPONENT_MAX) exponent = EXPONENT_MAX;
    if (exponent < -EXPONENT_MAX) exponent = -EXPONENT_MAX;
    n.exponent = (int)exponent;
    *out = n;
    return p;
}

/* A number, at most one space before a unit, and the unit, which may be empty. */
static bool split(const char *text, struct number *number, const char **unit)
{
    const char *rest = number_parse(text, number);

    if (rest == NULL) return false;
    if (rest[0] == ' ') {
        rest++;
        if (rest[0] == '\0') return false;
    }
    *unit = rest;
    return true;
}

/* Find prefix + name = `text`. */
static bool unit_find(const struct kind *kind, const char *text, struct unit *out)
{
    size_t length = strlen(text);

    for (const struct unit *u = kind->unit; u->name != NULL; u++) {
        size_t name_length = strlen(u->name);

        if (name_length > length || strcmp(text + length - name_length, u->name) != 0) continue;
        for (const struct unit *p = kind->prefix; p->name != NULL; p++) {
            if (strlen(p->name) != length - name_length ||
                strncmp(text, p->name, length - name_length) != 0) {
                continue;
            }
            *out = (struct unit){u->name, u->exponent10 + p->exponent10,
                                 u->exponent2 + p->exponent2, u->factor};
            return true;
        }
    }
    return false;
}

/* The nearest double to n * 10^exponent10 * 2^exponent2. Digits that were cut stand in as one more
 * digit 1: it decides between the two sides of a halfway point, which has at most 30 digits for any
 * number people write. */
static double number_to_double(const struct number *n, int exponent10, int exponent2)
{
    const uint64_t split_at = UINT64_C(1000000000000000000);
    char text[64];

    snprintf(text, sizeof text, "%" PRIu64 "%018" PRIu64 "%se%d", (uint64_t)(n->digits / split_at),
             (uint64_t)(n->digits % split_at), n->is_cut ? "1" : "",
             n->exponent + exponent10 - (n->is_cut ? 1 : 0));
    return ldexp(strtod(text, NULL), exponent2);
}

/* n * 10^exponent10 * 2^exponent2 when that is whole and at most `max`. */
static bool number_to_whole(const struct number *n, int exponent10, int exponent2, uint64_t max,
                            bool *is_too_large, uint64_t *out)
{
    sim_u128 value = n->digits;
    int exponent = n->exponent + exponent10;

    assert(exponent2 >= 0);
    *is_too_large = false;
    if (n->is_cut) return false;
    /* Divide by 5, then by 2 or by one of the unit's twos. */
    for (; value != 0 && exponent < 0; exponent++) {
        if (value % 5 != 0) return false;
        value /= 5;
        if (value % 2 == 0) {
            value /= 2;
        } else if (exponent2 > 0) {
            exponent2--;
        } else {
            return false;
        }
    }
    for (; value != 0 && value <= max && exponent > 0; exponent--)
        value *= 10;
    for (; value != 0 && value <= max && exponent2 > 0; exponent2--)
        value *= 2;
    *is_too_large = value > max;
    if (*is_too_large) return false;
    *out = (uint64_t)value;
    return true;
}

enum sim_status sim_bytes_parse(const char *text, struct sim_error *err, uint64_t *out)
{
    struct number number;
    struct unit unit = {"", 0, 0, 1};
    const char *unit_text;
    bool is_too_large;

    assert(text != NULL && out != NULL);
    if (!split(text, &number, &unit_text) ||
        (unit_text[0] != '\0' && !unit_find(&bytes_kind, unit_text, &unit))) {
        return refuse(err, text, bytes_kind.not_one, bytes_kind.want);
    }
    if (!number_to_whole(&number, unit.exponent10, unit.exponent2, INT64_MAX, &is_too_large, out)) {
        return refuse(err, text,
                      is_too_large ? "is more than 2^63-1 bytes" : "is not a whole number of bytes",
                      bytes_kind.want);
    }
    return SIM_OK;
}

/* A positive, finite double with a unit of `kind`. */
static enum sim_status positive_parse(const char *text, const struct kind *kind,
                                      struct sim_error *err, double *out)
{
    struct number number;
    struct unit unit;
    const char *unit_text;
    double value;

    assert(text != NULL && out != NULL);
    if (!split(text, &number, &unit_text)) return refuse(err, text, kind->not_one, kind->want);
    if (unit_text[0] == '\0') return refuse_without_unit(err, text, kind);
    if (!unit_find(kind, unit_text, &unit)) return refuse(err, text, kind->not_one, kind->want);
    value = number_to_double(&number, unit.exponent10, unit.exponent2);
    if (value <= 0.0) return refuse(err, text, "is not above 0", kind->want);
    if (!isfinite(value)) return refuse(err, text, "is too large", kind->want);
    *out = value;
    return SIM_OK;
}

enum sim_status sim_rate_parse(const char *text, struct sim_error *err, double *out)
{
    return positive_parse(text, &rate_kind, err, out);
}

enum sim_status sim_flops_parse(const char *text, struct sim_error *err, double *out)
{
    return positive_parse(text, &flops_kind, err, out);
}

/* digits * 10^exponent * factor to the nearest whole, halves up (so digits that were cut never
 * matter); UINT64_MAX when that passes INT64_MAX. */
static uint64_t number_to_nearest(const struct number *n, int exponent10, uint32_t factor)
{
    sim_u128 value = n->digits * factor; /* < 10^30 * 3600 < 2^127 */
    int exponent = n->exponent + exponent10;
    sim_u128 divisor = 1;

    for (; value != 0 && value <= INT64_MAX && exponent > 0; exponent--)
        value *= 10;
    for (; exponent < 0; exponent++) {
        if (divisor > value) return 0; /* and so is any larger divisor's quotient, or below 1/10 */
        divisor *= 10;
    }
    value = value / divisor + (value % divisor >= divisor - value % divisor ? 1 : 0);
    return value <= INT64_MAX ? (uint64_t)value : UINT64_MAX;
}

enum sim_status sim_time_parse(const char *text, struct sim_error *err, sim_ps *out)
{
    struct number number;
    struct unit unit;
    const char *unit_text;
    uint64_t ps;

    assert(text != NULL && out != NULL);
    if (!split(text, &number, &unit_text)) {
        return refuse(err, text, time_kind.not_one, time_kind.want);
    }
    if (unit_text[0] == '\0') {
        if (number.digits != 0) return refuse_without_unit(err, text, &time_kind);
        *out = 0;
        return SIM_OK;
    }
    if (!unit_find(&time_kind, unit_text, &unit)) {
        return refuse(err, text, time_kind.not_one, time_kind.want);
    }
    ps = number_to_nearest(&number, unit.exponent10, unit.factor);
    if (ps > INT64_MAX) {
        return refuse(err, text, "is longer than 2^63-1 ps (106 days)", time_kind.want);
    }
    *out = (sim_ps)ps;
    return SIM_OK;
}

enum sim_status sim_share_parse(const char *text, struct sim_error *err, double *out)
{
    struct number number;
    const char *unit;
    double value;

    assert(text != NULL && out != NULL);
    if (!split(text, &number, &unit) || (unit[0] != '\0' && strcmp(unit, "%") != 0)) {
        return refuse(err, text, "is not a share", share_want);
    }
    value = number_to_double(&number, unit[0] == '%' ? -2 : 0, 0);
    if (value <= 0.0) return refuse(err, text, "is not above 0", share_want);
    if (value > 1.0) return refuse(err, text, "is above 1", share_want);
    *out = value;
    return SIM_OK;
}

enum sim_status sim_count_parse(const char *text, uint64_t min, uint64_t max, struct sim_error *err,
                                uint64_t *out)
{
    char want[64];
    const char *p = text;
    uint64_t value = 0;
    bool is_too_large = false;

    assert(text != NULL && out != NULL && min <= max);
    if (max == UINT64_MAX) {
        snprintf(want, sizeof want, "a whole number >= %" PRIu64, min);
    } else {
        snprintf(want, sizeof want, "a whole number from %" PRIu64 " to %" PRIu64, min, max);
    }
    for (; is_digit(*p); p++) {
        unsigned digit = (unsigned)(*p - '0');

        is_too_large |= value > (UINT64_MAX - digit) / 10;
        if (!is_too_large) value = value * 10 + digit;
    }
    if (p == text || *p != '\0') return refuse(err, text, "is not a whole number", want);
    if (is_too_large || value > max) return refuse(err, text, "is too large", want);
    if (value < min) return refuse(err, text, "is too small", want);
    *out = value;
    return SIM_OK;
}

struct list {
    uint64_t *value;
    uint32_t count, cap;
};

static enum sim_status list_push(struct list *list, uint64_t value, const char *item,
                                 struct sim_error *err)
{
    if (list->count == LIST_MAX) {
        return refuse(err, item, "goes beyond 10,000 values", "a shorter list");
    }
    SIM_GROW(list->value, list->cap, list->count + 1);
    list->value[list->count++] = value;
    return SIM_OK;
}

/* "FROM:TO:xFACTOR", whose first ':' is at `colon`. */
static enum sim_status range_parse(const char *item, const char *colon, struct sim_error *err,
                                   struct list *list)
{
    static const char want[] = "FROM:TO:xFACTOR such as \"1KiB:1GiB:x4\", factor >= 2";
    const char *second = strchr(colon + 1, ':');
    uint64_t from = 0, to = 0, factor;
    enum sim_status from_status, to_status;
    char *from_text, *to_text;

    if (second == NULL || second[1] != 'x' ||
        sim_count_parse(second + 2, 2, INT64_MAX, NULL, &factor) != SIM_OK) {
        return refuse(err, item, "is not a range", want);
    }
    from_text = sim_strdup(item);
    from_text[colon - item] = '\0';
    to_text = sim_strdup(colon + 1);
    to_text[second - (colon + 1)] = '\0';
    from_status = sim_bytes_parse(from_text, NULL, &from);
    to_status = sim_bytes_parse(to_text, NULL, &to);
    sim_free(from_text);
    sim_free(to_text);
    if (from_status != SIM_OK || to_status != SIM_OK) {
        return refuse(err, item, "is not a range", want);
    }
    if (from == 0) return refuse(err, item, "starts at 0", want);
    if (from > to) return refuse(err, item, "ends before it starts", want);
    for (uint64_t value = from;; value *= factor) {
        SIM_TRY(list_push(list, value, item, err));
        if (value > to / factor) return SIM_OK;
    }
}

static enum sim_status item_parse(const char *item, const char *whole, struct sim_error *err,
                                  struct list *list)
{
    const char *colon = strchr(item, ':');
    uint64_t value = 0;

    if (item[0] == '\0') return refuse(err, whole, "has an empty item", list_want);
    if (colon != NULL) return range_parse(item, colon, err, list);
    SIM_TRY(sim_bytes_parse(item, err, &value));
    return list_push(list, value, whole, err);
}

enum sim_status sim_bytes_list_parse(const char *text, struct sim_error *err, uint64_t **out,
                                     uint32_t *out_count)
{
    struct list list = {0};
    enum sim_status status;
    char *copy, *item;

    assert(text != NULL && out != NULL && out_count != NULL);
    copy = item = sim_strdup(text);
    for (;;) {
        char *comma = strchr(item, ',');
        char *end = comma == NULL ? item + strlen(item) : comma;

        while (item < end && *item == ' ')
            item++;
        while (end > item && end[-1] == ' ')
            end--;
        *end = '\0';
        status = item_parse(item, text, err, &list);
        if (status != SIM_OK || comma == NULL) break;
        item = comma + 1;
    }
    sim_free(copy);
    if (status != SIM_OK) {
        sim_free(list.value);
        return status;
    }
    *out = list.value;
    *out_count = list.count;
    return SIM_OK;
}

/* `value` with 4 significant digits in the unit (1, 1000, 1000^2, ... times the first of `units`)
 * that gives 1 to 999. */
static const char *decimal_format(double value, const char *const *units, char *buffer)
{
    char digits[32];
    double scale = 1.0;
    size_t i = 0;

    for (;; i++, scale *= 1000.0) {
        snprintf(digits, sizeof digits, "%.4g", value / scale);
        /* as printed: 999.96 reads 1000 and belongs to the next unit */
        if (units[i + 1] == NULL || strtod(digits, NULL) < 1000.0) break;
    }
    snprintf(buffer, SIM_QUANTITY_TEXT, "%s%s", digits, units[i]);
    return buffer;
}

const char *sim_bytes_format(uint64_t bytes, char *buffer)
{
    static const char *const decimal[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB", NULL};
    static const char *const binary[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", NULL};
    int best = SIM_QUANTITY_TEXT;

    /* The shortest whole number of up to 4 digits in any unit; binary when both are as short. */
    for (int is_binary = 1; is_binary >= 0; is_binary--) {
        uint64_t unit = 1;

        for (int i = 0; i < 7; i++, unit *= is_binary ? 1024 : 1000) {
            char text[SIM_QUANTITY_TEXT];
            int length;

            if (bytes % unit != 0 || bytes / unit > 9999 || (bytes == 0 && i > 0)) continue;
            length = snprintf(text, sizeof text, "%" PRIu64 "%s", bytes / unit,
                              is_binary ? binary[i] : decimal[i]);
            if (length >= best) continue;
            best = length;
            memcpy(buffer, text, (size_t)length + 1);
        }
    }
    return best < SIM_QUANTITY_TEXT ? buffer : decimal_format((double)bytes, decimal, buffer);
}

const char *sim_rate_format(double bytes_per_s, char *buffer)
{
    static const char *const decimal[] = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", NULL};
    static const char *const binary[] = {"KiB/s", "MiB/s", "GiB/s", "TiB/s", NULL};
    double back = 0.0, scaled = bytes_per_s;

    assert(isfinite(bytes_per_s) && bytes_per_s >= 0.0);
    decimal_format(bytes_per_s, decimal, buffer);
    if (sim_rate_parse(buffer, NULL, &back) == SIM_OK && back == bytes_per_s) return buffer;
    /* A binary unit, where it is exact and the decimal one is not. */
    for (int i = 0; binary[i] != NULL; i++) {
        char digits[32];

        scaled /= 1024.0;
        snprintf(digits, sizeof digits, "%.4g", scaled);
        if (scaled >= 1.0 && scaled < 1024.0 && strtod(digits, NULL) == scaled) {
            snprintf(buffer, SIM_QUANTITY_TEXT, "%s%s", digits, binary[i]);
        }
    }
    return buffer;
}

const char *sim_flops_format(double flops_per_s, char *buffer)
{
    static const char *const units[] = {"FLOP/s",  "kFLOP/s", "MFLOP/s", "GFLOP/s",
                                        "TFLOP/s", "PFLOP/s", "EFLOP/s", NULL};

    assert(isfinite(flops_per_s) && flops_per_s >= 0.0);
    return decimal_format(flops_per_s, units, buffer);
}

const char *sim_time_format(sim_ps ps, char *buffer)
{
    static const char *const units[] = {"ps", "ns", "us", "ms", "s", NULL};

    assert(ps >= 0);
    if (ps >= 3600 * SIM_PS_PER_S) {
        snprintf(buffer, SIM_QUANTITY_TEXT, "%.4gh", (double)ps / 3600e12);
        return buffer;
    }
    return decimal_format((double)ps, units, buffer);
}

const char *sim_count_format(uint64_t count, char *buffer)
{
    char digits[32];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, count);
    char *p = buffer;

    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) *p++ = ',';
        *p++ = digits[i];
    }
    *p = '\0';
    return buffer;
}

/* A decimal of 15 digits always survives a double, and a double always survives one of 17;
 * subnormals hold fewer. */
const char *sim_double_format(double value, char *buffer)
{
    int precision = fpclassify(value) == FP_SUBNORMAL ? 1 : 15;

    assert(isfinite(value));
    for (;; precision++) {
        snprintf(buffer, SIM_QUANTITY_TEXT, "%.*g", precision, value);
        if (precision >= 17 || strtod(buffer, NULL) == value) return buffer;
    }
}
