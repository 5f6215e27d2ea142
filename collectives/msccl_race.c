/*
 * Steps of one gpu that touch one chunk in no order, by vector clocks.
 *
 * For each gpu in turn all steps are passed in order, each with a row of counters, one per thread
 * block of that gpu: how many of its steps are surely done before. A row is the largest of those
 * of the steps it waits for. At a step of that gpu the last write and the last read of each chunk
 * by each other thread block must be among them: earlier ones are, if the last is.
 *
 *     gpu 0:  block 0  r -> chunk 3            row of the send: block 0: 0 done
 *             block 1  s chunk 3 (no deps)     the write is step 0, not among them: a race
 *
 * Rows of one gpu's blocks only keep this small: steps * blocks of a gpu * 2 bytes, in a time of
 * gpus * steps * blocks of a gpu.
 */
#include <string.h>

#include "base/arena.h"
#include "collectives/msccl_internal.h"

#define ROW_PAD 8 /* counters; a fixed inner loop that compilers make one instruction of */

/* What one thread block last did to a chunk: counters as in rows, 0: nothing. */
struct touch {
    uint16_t block, wrote, read;
    uint32_t next; /* of the same chunk, or NET_NONE */
};

struct walk {
    const coll_msccl *a;
    const struct msccl_order *order;
    bool is_in_place, is_over; /* no more of this gpu */
    msccl_race_fn on_race;
    void *context;
    uint32_t gpu, first_block, width; /* of rows, padded */
    uint16_t *row;                    /* [step_count x width] */
    uint32_t *head;                   /* [places] first touch of each chunk */
    struct touch *touch;
    uint32_t touches, capacity;
};

static uint16_t *row_of(const struct walk *w, uint32_t step)
{
    return w->row + (size_t)step * w->width;
}

static void merge(const struct walk *w, uint16_t *row, const uint16_t *earlier)
{
    for (uint32_t i = 0; i < w->width; i += ROW_PAD)
        for (uint32_t j = 0; j < ROW_PAD; j++)
            row[i + j] = row[i + j] > earlier[i + j] ? row[i + j] : earlier[i + j];
}

static uint16_t count_of(const struct walk *w, uint32_t step)
{
    return (uint16_t)(step - w->a->block[w->a->step[step].block].step_begin + 1);
}

/* All that is done once `earlier` is done is done before `row`'s step. */
static void put_after(const struct walk *w, uint16_t *row, uint32_t earlier)
{
    uint32_t block = w->a->step[earlier].block;
    merge(w, row, row_of(w, earlier));
    if (w->a->block[block].gpu != w->gpu) return;
    uint16_t *done = &row[block - w->first_block], count = count_of(w, earlier);
    if (*done < count) *done = count;
}

static uint32_t step_of(const struct walk *w, uint32_t block, uint32_t count)
{
    return w->a->block[w->first_block + block].step_begin + count - 1;
}

/* The latest step that touched the place and is not before `step`; NET_NONE when all are. */
static uint32_t find_race(const struct walk *w, uint32_t step, uint32_t place, bool is_write)
{
    const uint16_t *row = row_of(w, step);
    uint32_t own = w->a->step[step].block - w->first_block, found = NET_NONE;
    for (uint32_t t = w->head[place]; t != NET_NONE; t = w->touch[t].next) {
        const struct touch *touch = &w->touch[t];
        uint16_t last = touch->wrote;
        if (is_write && touch->read > last) last = touch->read;
        if (touch->block == own || last <= row[touch->block]) continue;
        uint32_t other = step_of(w, touch->block, last);
        if (found == NET_NONE || w->order->position[other] > w->order->position[found])
            found = other;
    }
    return found;
}

static void record(struct walk *w, uint32_t step, uint32_t place, bool is_write)
{
    uint32_t own = w->a->step[step].block - w->first_block, t = w->head[place];
    while (t != NET_NONE && w->touch[t].block != own)
        t = w->touch[t].next;
    if (t == NET_NONE) {
        SIM_GROW(w->touch, w->capacity, w->touches + 1);
        t = w->touches++;
        w->touch[t] = (struct touch){.block = (uint16_t)own, .next = w->head[place]};
        w->head[place] = t;
    }
    if (is_write)
        w->touch[t].wrote = count_of(w, step);
    else
        w->touch[t].read = count_of(w, step);
}

static void visit_range(struct walk *w, uint32_t step, enum msccl_buffer buffer, int32_t offset,
                        bool is_write)
{
    uint32_t other;
    for (int32_t c = 0; c < w->a->step[step].count; c++) {
        uint32_t place = msccl_place(w->a, w->is_in_place, w->gpu, buffer, (uint32_t)(offset + c));
        while (!w->is_over && (other = find_race(w, step, place, is_write)) != NET_NONE) {
            w->is_over = !w->on_race(w->context, other, step);
            put_after(w, row_of(w, step), other);
        }
        record(w, step, place, is_write);
    }
}

static void visit(struct walk *w, uint32_t i)
{
    const struct msccl_step *step = &w->a->step[i];
    const struct msccl_traits *traits = &msccl_traits[step->type];
    if (traits->reads_src) visit_range(w, i, step->src_buffer, step->src_offset, false);
    if (traits->reads_dst) visit_range(w, i, step->dst_buffer, step->dst_offset, false);
    if (traits->writes_dst) visit_range(w, i, step->dst_buffer, step->dst_offset, true);
}

static void walk_gpu(struct walk *w, uint32_t gpu)
{
    const struct msccl_order *order = w->order;
    uint32_t places = msccl_places(w->a, gpu);
    w->gpu = gpu;
    w->is_over = false;
    w->first_block = w->a->gpu[gpu].block_begin;
    w->width = w->a->gpu[gpu].block_end - w->first_block;
    w->width = (w->width + ROW_PAD - 1) / ROW_PAD * ROW_PAD;
    w->head = SIM_NEW(uint32_t, places);
    w->touches = 0;
    for (uint32_t i = 0; i < places; i++)
        w->head[i] = NET_NONE;
    for (uint32_t k = 0; k < order->count && !w->is_over; k++) {
        uint32_t i = order->sequence[k];
        uint16_t *row = row_of(w, i);
        memset(row, 0, w->width * sizeof *row);
        for (uint32_t e = order->before_begin[i]; e < order->before_begin[i + 1]; e++)
            put_after(w, row, order->before[e]);
        if (w->a->block[w->a->step[i].block].gpu == gpu) visit(w, i);
    }
    sim_free(w->head);
}

void msccl_find_races(const coll_msccl *a, const struct msccl_order *order, bool is_in_place,
                      msccl_race_fn on_race, void *context)
{
    struct walk w = {
        .a = a, .order = order, .is_in_place = is_in_place, .on_race = on_race, .context = context};
    uint32_t widest = 0;
    for (uint32_t g = 0; g < a->gpus; g++) {
        uint32_t blocks = a->gpu[g].block_end - a->gpu[g].block_begin;
        if (blocks > widest) widest = blocks;
    }
    w.row = SIM_NEW(uint16_t, (size_t)a->step_count * (widest + ROW_PAD));
    for (uint32_t g = 0; g < a->gpus; g++)
        if (a->gpu[g].block_end > a->gpu[g].block_begin + 1) walk_gpu(&w, g);
    sim_free(w.row);
    sim_free(w.touch);
}
