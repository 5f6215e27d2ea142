/*
 * An algorithm in memory: names, arrays, buffers, and the check from its parts.
 *
 * Places. All chunks of a gpu are numbered, input first, then output, then scratch. In place, two
 * names are one chunk:
 *
 *     all-gather        input j of rank r is output r * share + j
 *     reduce-scatter    output j of rank r is input r * share + j
 *     others            output j is input j
 */
#include "collectives/msccl.h"

#include <string.h>

#include "base/arena.h"
#include "collectives/msccl_internal.h"

const char *const msccl_buffer_names[MSCCL_BUFFERS + 1] = {"i", "o", "s", NULL};
const char *const msccl_proto_names[] = {"Simple", "LL", "LL128", NULL};
const char *const msccl_type_names[MSCCL_TYPES + 1] = {"s",    "r",   "rcs", "rrc", "rrs",
                                                       "rrcs", "cpy", "re",  "nop", NULL};
const struct msccl_traits msccl_traits[MSCCL_TYPES] = {
    [MSCCL_SEND] = {.sends = true, .reads_src = true},
    [MSCCL_RECEIVE] = {.receives = true, .writes_dst = true},
    [MSCCL_RECEIVE_COPY_SEND] = {.receives = true, .sends = true, .writes_dst = true},
    [MSCCL_RECEIVE_REDUCE_COPY] = {.receives = true,
                                   .reads_src = true,
                                   .writes_dst = true,
                                   .adds = true},
    [MSCCL_RECEIVE_REDUCE_SEND] = {.receives = true,
                                   .sends = true,
                                   .reads_src = true,
                                   .adds = true},
    [MSCCL_RECEIVE_REDUCE_COPY_SEND] =
        {.receives = true, .sends = true, .reads_src = true, .writes_dst = true, .adds = true},
    [MSCCL_COPY] = {.reads_src = true, .writes_dst = true},
    [MSCCL_REDUCE] = {.reads_src = true, .reads_dst = true, .writes_dst = true, .adds = true},
};

static const char *const coll_names[COLL_OPS + 1] = {
    [COLL_ALL_REDUCE] = "allreduce", [COLL_ALL_GATHER] = "allgather",
    [COLL_REDUCE] = "reduce",        [COLL_BROADCAST] = "broadcast",
    [COLL_ALL_TO_ALL] = "alltoall",  [COLL_REDUCE_SCATTER] = "reduce_scatter",
    [COLL_OPS] = "custom",
};

const char *msccl_coll_name(enum coll_op op)
{
    return coll_names[op];
}

bool msccl_coll_parse(const char *name, enum coll_op *out)
{
    for (int op = 0; op <= COLL_OPS; op++)
        if (coll_names[op] != NULL && strcmp(coll_names[op], name) == 0) {
            *out = (enum coll_op)op;
            return true;
        }
    return false;
}

coll_msccl *msccl_create(const char *file)
{
    coll_msccl *a = SIM_NEW(coll_msccl, 1);
    a->file = sim_strdup(file);
    return a;
}

coll_msccl *msccl_create_like(const coll_msccl *a)
{
    coll_msccl *like = msccl_create(a->file);
    memcpy(like->name, a->name, sizeof like->name);
    like->proto = a->proto;
    like->op = a->op;
    like->gpus = a->gpus;
    like->channels = a->channels;
    like->chunks = a->chunks;
    like->in_place = a->in_place;
    like->out_of_place = a->out_of_place;
    like->least_bytes = a->least_bytes;
    like->most_bytes = a->most_bytes;
    return like;
}

void coll_msccl_destroy(coll_msccl *a)
{
    if (a == NULL) return;
    sim_free(a->file);
    sim_free(a->gpu);
    sim_free(a->block);
    sim_free(a->step);
    sim_free(a);
}

struct msccl_gpu *msccl_add_gpu(coll_msccl *a, uint32_t id)
{
    SIM_GROW(a->gpu, a->gpu_capacity, a->gpu_count + 1);
    struct msccl_gpu *gpu = &a->gpu[a->gpu_count++];
    *gpu = (struct msccl_gpu){.id = id, .block_begin = a->block_count, .block_end = a->block_count};
    return gpu;
}

struct msccl_block *msccl_add_block(coll_msccl *a)
{
    SIM_GROW(a->block, a->block_capacity, a->block_count + 1);
    struct msccl_block *block = &a->block[a->block_count++];
    struct msccl_gpu *gpu = &a->gpu[a->gpu_count - 1];
    *block = (struct msccl_block){
        .gpu = gpu->id, .step_begin = a->step_count, .step_end = a->step_count};
    gpu->block_end = a->block_count;
    return block;
}

struct msccl_step *msccl_add_step(coll_msccl *a)
{
    SIM_GROW(a->step, a->step_capacity, a->step_count + 1);
    struct msccl_step *step = &a->step[a->step_count++];
    *step = (struct msccl_step){.block = a->block_count - 1,
                                .dep_block = -1,
                                .dep_index = -1,
                                .dep = NET_NONE,
                                .sender = NET_NONE,
                                .receiver = NET_NONE};
    a->block[a->block_count - 1].step_end = a->step_count;
    return step;
}

const char *coll_msccl_name(const coll_msccl *a)
{
    return a->name;
}

uint32_t coll_msccl_gpus(const coll_msccl *a)
{
    return a->gpus;
}

enum coll_op coll_msccl_op(const coll_msccl *a)
{
    return a->op;
}

void coll_msccl_range(const coll_msccl *a, uint64_t *least_bytes, uint64_t *most_bytes)
{
    *least_bytes = a->least_bytes;
    *most_bytes = a->most_bytes > 0 ? a->most_bytes : UINT64_MAX;
}

/* ---- messages ---- */

const char *msccl_step_text(const coll_msccl *a, const struct msccl_step *step, char *buffer)
{
    const struct msccl_block *block = &a->block[step->block];
    snprintf(buffer, MSCCL_STEP_TEXT, "gpu %u, thread block %d, step %d", block->gpu, block->id,
             step->index);
    return buffer;
}

enum sim_status msccl_step_error(const coll_msccl *a, const struct msccl_step *step,
                                 struct sim_error *err, const char *format, ...)
{
    char what[384], where[MSCCL_STEP_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sim_error_at(err, SIM_EDATA, a->file, step->line, step->column, "%s: %s",
                        msccl_step_text(a, step, where), what);
}

/* ---- buffers ---- */

uint32_t msccl_buffer_chunks(const coll_msccl *a, enum msccl_buffer buffer)
{
    bool is_share = (buffer == MSCCL_INPUT && a->op == COLL_ALL_GATHER) ||
                    (buffer == MSCCL_OUTPUT && a->op == COLL_REDUCE_SCATTER);
    if (a->op == COLL_OPS || buffer == MSCCL_SCRATCH) return MSCCL_CHUNKS_MAX;
    return is_share ? a->chunks / a->gpus : a->chunks;
}

uint32_t msccl_place(const coll_msccl *a, bool is_in_place, uint32_t gpu, enum msccl_buffer buffer,
                     uint32_t offset)
{
    /* What a custom algorithm has in its buffers nobody knows: leave room for the most. */
    uint32_t room = a->op == COLL_OPS ? MSCCL_CHUNKS_MAX : a->chunks;
    uint32_t first = gpu * (a->chunks / a->gpus);
    if (buffer == MSCCL_SCRATCH) return 2 * room + offset;
    if (!is_in_place) return (buffer == MSCCL_OUTPUT) * room + offset;
    if (a->op == COLL_ALL_GATHER) return room + (buffer == MSCCL_INPUT) * first + offset;
    if (a->op == COLL_REDUCE_SCATTER) return (buffer == MSCCL_OUTPUT) * first + offset;
    return offset;
}

uint32_t msccl_places(const coll_msccl *a, uint32_t gpu)
{
    return msccl_place(a, false, gpu, MSCCL_SCRATCH, a->gpu[gpu].chunks[MSCCL_SCRATCH]);
}

/* ---- the checks ---- */

enum sim_status msccl_finish(coll_msccl *a, struct sim_error *err)
{
    SIM_TRY(msccl_check_structure(a, err));
    SIM_TRY(msccl_match(a, err));
    struct msccl_order order = msccl_order_make(a, NULL, 0);
    enum sim_status status = msccl_order_check(a, &order, err);
    msccl_order_release(&order);
    return status;
}

/* One missing dependence can make races all over: the earliest is next to it. */
struct first_race {
    const struct msccl_order *order;
    uint32_t earlier, later; /* NET_NONE: none */
};

static bool take_race(void *context, uint32_t earlier, uint32_t later)
{
    struct first_race *first = context;
    const uint32_t *position = first->order->position;
    if (first->later == NET_NONE || position[later] < position[first->later]) {
        first->earlier = earlier;
        first->later = later;
    }
    return false;
}

static enum sim_status check_form(const coll_msccl *a, const struct msccl_order *order,
                                  bool is_in_place, uint32_t root, struct sim_error *err)
{
    struct first_race first = {.order = order, .later = NET_NONE};
    char other[MSCCL_STEP_TEXT];
    msccl_find_races(a, order, is_in_place, take_race, &first);
    if (first.later != NET_NONE)
        return msccl_step_error(a, &a->step[first.later], err,
                                "races with %s (line %d): both touch a chunk, one writes it, and "
                                "no dependence orders them",
                                msccl_step_text(a, &a->step[first.earlier], other),
                                a->step[first.earlier].line);
    return a->op != COLL_OPS ? msccl_check_data(a, order, is_in_place, root, err) : SIM_OK;
}

enum sim_status coll_msccl_check(const coll_msccl *a, uint32_t root, struct sim_error *err)
{
    assert(root < a->gpus);
    struct msccl_order order = msccl_order_make(a, NULL, 0);
    assert(order.count == a->step_count);
    enum sim_status status = SIM_OK;
    if (a->in_place) status = check_form(a, &order, true, root, err);
    if (status == SIM_OK && a->out_of_place) status = check_form(a, &order, false, root, err);
    msccl_order_release(&order);
    return status;
}
