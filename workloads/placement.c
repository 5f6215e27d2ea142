/*
 * A physical axis is cut into segments (axis, stride, extent) that are still free; a mesh axis
 * takes a divisor of each segment's extent from the inside, so that its chips are neighbours:
 *
 *     x of 16, tensor takes 4:   (x,1,4) tensor    free: (x,4,4)
 *
 * The product of what is free is always the product of what is still to be placed, so every choice
 * can be completed. The search walks all choices of the three mesh axes in order, with the
 * whole-axes choices alone where there are any, and scores a complete placement by the closed-form
 * times of one all-gather per mesh axis of the bytes it moves in a step. The first of equal scores
 * wins, so the result does not depend on anything else.
 */
#include "workloads/placement.h"

#include <assert.h>
#include <stdio.h>

#include "base/arena.h"
#include "collectives/choice.h"
#include "collectives/cost.h"
#include "workloads/shard.h"

#define SEGMENTS_MAX (TOPO_AXES_MAX * (TOPO_FACTORS_MAX + 1))

struct segments {
    uint32_t count;
    struct topo_factor segment[SEGMENTS_MAX];
};

struct search {
    const struct wl_study *study;
    double bytes[WL_AXES]; /* moved per chip and step */
    struct topo_group group[WL_AXES], best_group[WL_AXES];
    double best_s;
};

/* ---- what is free ---- */

static const struct topo_factor *taken_at(const struct wl_study *study, uint32_t axis,
                                          uint32_t stride)
{
    for (int a = 0; a < WL_AXES; a++) {
        const struct topo_group *group = &study->axis[a].group;
        for (uint32_t i = 0; i < group->factor_count; i++)
            if (group->factor[i].axis == axis && group->factor[i].stride == stride)
                return &group->factor[i];
    }
    return NULL;
}

/* The next stride above `stride` at which something is taken, or the axis's size. */
static uint32_t next_taken(const struct wl_study *study, uint32_t axis, uint32_t stride)
{
    uint32_t next = topo_axis_size(study->topology, axis);
    for (int a = 0; a < WL_AXES; a++) {
        const struct topo_group *group = &study->axis[a].group;
        for (uint32_t i = 0; i < group->factor_count; i++)
            if (group->factor[i].axis == axis && group->factor[i].stride > stride &&
                group->factor[i].stride < next)
                next = group->factor[i].stride;
    }
    return next;
}

static void free_segments(const struct wl_study *study, struct segments *out)
{
    out->count = 0;
    for (uint32_t axis = 0; axis < topo_axes(study->topology); axis++) {
        uint32_t size = topo_axis_size(study->topology, axis), stride = 1;
        while (stride < size) {
            const struct topo_factor *taken = taken_at(study, axis, stride);
            if (taken != NULL) {
                stride *= taken->extent;
                continue;
            }
            uint32_t next = next_taken(study, axis, stride);
            assert(out->count < SEGMENTS_MAX);
            out->segment[out->count++] = (struct topo_factor){(uint8_t)axis, stride, next / stride};
            stride = next;
        }
    }
}

/* ---- the search ---- */

static void place_from(struct search *s, int axis, const struct segments *segments);

static double score_s(const struct search *s)
{
    double total = 0;
    for (int a = 0; a < WL_AXES; a++) {
        if (s->group[a].size <= 1) continue;
        struct coll_spec spec = {.op = COLL_ALL_GATHER, .group = s->group[a], .bytes = s->bytes[a]};
        spec.algorithm = coll_choose(s->study->topology, &spec);
        total += sim_ps_to_s(coll_closed_form(s->study->topology, &spec).time_ps);
    }
    return total;
}

static void take(struct search *s, int axis, const struct segments *segments, uint32_t index,
                 uint64_t left, bool whole_only, const struct segments *rest,
                 const struct topo_group *so_far)
{
    if (left == 1) {
        struct segments after = *rest;
        for (uint32_t i = index; i < segments->count; i++)
            after.segment[after.count++] = segments->segment[i];
        s->group[axis] = *so_far;
        place_from(s, axis - 1, &after);
        return;
    }
    if (index == segments->count) return;
    struct topo_factor segment = segments->segment[index];
    for (uint32_t extent = segment.extent; extent >= 1; extent--) {
        if (segment.extent % extent != 0 || left % extent != 0) continue;
        if (whole_only && extent != 1 && extent != segment.extent) continue;
        struct segments kept = *rest;
        struct topo_group group = *so_far;
        if (extent > 1) {
            if (group.factor_count == TOPO_FACTORS_MAX) continue;
            group.factor[group.factor_count++] =
                (struct topo_factor){segment.axis, segment.stride, extent};
            group.size *= extent;
        }
        if (extent < segment.extent)
            kept.segment[kept.count++] = (struct topo_factor){segment.axis, segment.stride * extent,
                                                              segment.extent / extent};
        take(s, axis, segments, index + 1, left / extent, whole_only, &kept, &group);
    }
}

static bool has_whole_choice(const struct segments *segments, uint32_t index, uint64_t left)
{
    if (left == 1) return true;
    if (index == segments->count) return false;
    uint32_t extent = segments->segment[index].extent;
    return (left % extent == 0 && has_whole_choice(segments, index + 1, left / extent)) ||
           has_whole_choice(segments, index + 1, left);
}

/* Place mesh axes `axis` (innermost first: tensor, fsdp, data) down to 0. */
static void place_from(struct search *s, int axis, const struct segments *segments)
{
    while (axis >= 0 &&
           (s->study->axis[axis].is_placed_by_user || s->study->axis[axis].size == 1)) {
        s->group[axis] = s->study->axis[axis].group;
        axis--;
    }
    if (axis < 0) {
        double score = score_s(s);
        if (s->best_s >= 0 && score >= s->best_s) return;
        s->best_s = score;
        for (int a = 0; a < WL_AXES; a++)
            s->best_group[a] = s->group[a];
        return;
    }
    const struct segments none = {0};
    const struct topo_group empty = {.size = 1};
    uint64_t size = s->study->axis[axis].size;
    take(s, axis, segments, 0, size, has_whole_choice(segments, 0, size), &none, &empty);
}

/* What each axis moves in a step: per layer some ten activation buffers, two weights and a
 * gradient. */
static void traffic(const struct wl_study *study, double bytes[WL_AXES])
{
    struct wl_shard shard = wl_shard_of(study);
    double buffer = WL_ACTIVATION_BYTES * shard.tokens * shard.width;
    bytes[WL_TENSOR] = 10 * (double)study->model.layers * buffer;
    bytes[WL_FSDP] = (2 * WL_ACTIVATION_BYTES + study->gradient_bytes) * shard.params;
    bytes[WL_DATA] = 2 * study->gradient_bytes * shard.params / shard.fsdp;
}

/* ---- what the user placed ---- */

static enum sim_status check_overlap(const struct wl_study *study, struct sim_error *err)
{
    struct topo_group all = {.size = 1};
    for (int a = 0; a < WL_AXES; a++) {
        const struct topo_group *group = &study->axis[a].group;
        for (uint32_t i = 0; i < group->factor_count; i++) {
            struct sim_error why = {0};
            if (topo_group_add(study->topology, &all, group->factor[i], &why) == SIM_OK) continue;
            return sim_error_set(err, SIM_EDATA, "placement of %s overlaps another axis's: %s",
                                 wl_axis_names[a], why.text);
        }
    }
    return SIM_OK;
}

enum sim_status wl_placement_choose(struct wl_study *study, struct sim_error *err)
{
    SIM_TRY(check_overlap(study, err));
    struct segments segments;
    free_segments(study, &segments);
    struct search search = {.study = study, .best_s = -1};
    traffic(study, search.bytes);
    place_from(&search, WL_AXES - 1, &segments);
    if (search.best_s < 0)
        return sim_error_set(err, SIM_EDATA,
                             "what is placed leaves no axes for the others: place them too");
    for (int a = 0; a < WL_AXES; a++)
        study->axis[a].group = search.best_group[a];
    return SIM_OK;
}

const char *wl_placement_format(const topo *t, const struct topo_group *group, char *buffer,
                                int bytes)
{
    char text[64];
    if (group->size <= 1) {
        snprintf(buffer, (size_t)bytes, "-");
        return buffer;
    }
    uint32_t rings = 0;
    for (uint32_t i = 0; i < group->factor_count; i++)
        rings += topo_factor_is_ring(t, &group->factor[i]);
    const char *how = rings == group->factor_count ? "wrapped"
                      : rings == 0                 ? "not wrapped"
                                                   : "partly wrapped";
    snprintf(buffer, (size_t)bytes, "%s (%s)", topo_group_format(t, group, text, sizeof text), how);
    return buffer;
}
