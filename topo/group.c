/*
 * Groups: digits, ranks, and their texts.
 */
#include "topo/group.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char axis_names[] = "xyzw";

/* Two factors of one axis are digits of one mixed-radix number when one starts where the other is
 * through; else a chip's two digits would depend on each other. */
static bool are_separate_digits(const struct topo_factor *a, const struct topo_factor *b)
{
    return b->stride % (a->stride * a->extent) == 0 || a->stride % (b->stride * b->extent) == 0;
}

enum sim_status topo_group_add(const topo *t, struct topo_group *group, struct topo_factor f,
                               struct sim_error *err)
{
    assert(f.axis < topo_axes(t));
    uint32_t size = topo_axis_size(t, f.axis);
    char name = axis_names[f.axis];
    if (group->factor_count == TOPO_FACTORS_MAX)
        return sim_error_set(err, SIM_EDATA, "a group has at most %d factors", TOPO_FACTORS_MAX);
    if (f.extent == 0 || f.stride == 0 || f.extent > size || f.stride > size ||
        size % (f.stride * f.extent) != 0)
        return sim_error_set(err, SIM_EDATA,
                             "%u chips of axis %c, %u apart, do not divide its %u chips", f.extent,
                             name, f.stride, size);
    for (uint32_t i = 0; i < group->factor_count; i++) {
        const struct topo_factor *g = &group->factor[i];
        if (g->axis == f.axis && !are_separate_digits(g, &f))
            return sim_error_set(err, SIM_EDATA, "two factors of axis %c in a group overlap", name);
    }
    group->factor[group->factor_count++] = f;
    group->size *= f.extent;
    return SIM_OK;
}

struct topo_group topo_group_all(const topo *t)
{
    struct topo_group group = {.size = 1};
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        group.factor[group.factor_count++] =
            (struct topo_factor){.axis = (uint8_t)a, .stride = 1, .extent = topo_axis_size(t, a)};
        group.size *= topo_axis_size(t, a);
    }
    return group;
}

/* Digits at `*at`; advances. False when there are none or the number is too large. */
static bool read_number(const char **at, uint32_t *out)
{
    uint64_t value = 0;
    const char *start = *at;
    for (; **at >= '0' && **at <= '9'; (*at)++)
        if (value < TOPO_NONE) value = value * 10 + (uint64_t)(**at - '0');
    *out = (uint32_t)value;
    return *at != start && value < TOPO_NONE;
}

enum sim_status topo_group_parse(const topo *t, const char *text, struct sim_error *err,
                                 struct topo_group *out)
{
    struct topo_group group = {.size = 1};
    if (*text == 0)
        return sim_error_set(err, SIM_EDATA, "no axes given, want some of %.*s", (int)topo_axes(t),
                             axis_names);
    for (const char *at = text; *at != 0;) {
        const char *found = strchr(axis_names, *at);
        if (found == NULL || found - axis_names >= (int)topo_axes(t))
            return sim_error_set(err, SIM_EDATA,
                                 "axes \"%s\": no axis \"%c\" in %s, want some of \"%.*s\"", text,
                                 *at, topo_spec(t), (int)topo_axes(t), axis_names);
        struct topo_factor f = {.axis = (uint8_t)(found - axis_names), .stride = 1};
        f.extent = topo_axis_size(t, f.axis);
        at++;
        const char *number = at;
        bool is_number = true;
        if (*at >= '0' && *at <= '9') is_number = read_number(&at, &f.extent);
        if (is_number && *at == '@') {
            number = ++at;
            is_number = read_number(&at, &f.stride);
        }
        if (!is_number)
            return sim_error_set(err, SIM_EDATA,
                                 "axes \"%s\": found \"%s\", want a number as in x4 or x4@2", text,
                                 number);
        SIM_TRY(topo_group_add(t, &group, f, err));
    }
    *out = group;
    return SIM_OK;
}

const char *topo_group_format(const topo *t, const struct topo_group *group, char *buffer,
                              int bytes)
{
    int at = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < group->factor_count && at < bytes; i++) {
        const struct topo_factor *f = &group->factor[i];
        at += snprintf(buffer + at, (size_t)(bytes - at), "%c", axis_names[f->axis]);
        if (f->extent != topo_axis_size(t, f->axis) && at < bytes)
            at += snprintf(buffer + at, (size_t)(bytes - at), "%u", f->extent);
        if (f->stride != 1 && at < bytes)
            at += snprintf(buffer + at, (size_t)(bytes - at), "@%u", f->stride);
    }
    return buffer;
}

uint32_t topo_group_digit(const topo *t, const struct topo_group *group, topo_chip_id chip,
                          uint32_t factor)
{
    assert(factor < group->factor_count);
    const struct topo_factor *f = &group->factor[factor];
    return topo_coord(t, chip, f->axis) / f->stride % f->extent;
}

uint32_t topo_group_rank(const topo *t, const struct topo_group *group, topo_chip_id chip)
{
    uint32_t rank = 0;
    for (uint32_t i = group->factor_count; i-- > 0;)
        rank = rank * group->factor[i].extent + topo_group_digit(t, group, chip, i);
    return rank;
}

topo_chip_id topo_group_chip(const topo *t, const struct topo_group *group, topo_chip_id chip,
                             uint32_t rank)
{
    assert(rank < group->size);
    uint32_t coord[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < topo_axes(t); a++)
        coord[a] = topo_coord(t, chip, a);
    for (uint32_t i = 0; i < group->factor_count; i++) {
        const struct topo_factor *f = &group->factor[i];
        uint32_t digit = rank % f->extent, own = coord[f->axis] / f->stride % f->extent;
        coord[f->axis] = coord[f->axis] + digit * f->stride - own * f->stride;
        rank /= f->extent;
    }
    return topo_chip_at(t, coord);
}

bool topo_factor_is_ring(const topo *t, const struct topo_factor *factor)
{
    const topo *slice = topo_slice(t);
    if (slice != NULL && factor->axis < topo_axes(slice)) return topo_factor_is_ring(slice, factor);
    if (factor->extent == 1 || !topo_has_ports(t)) return true;
    return topo_axis_is_wrapped(t, factor->axis) &&
           factor->stride * factor->extent == topo_axis_size(t, factor->axis);
}
