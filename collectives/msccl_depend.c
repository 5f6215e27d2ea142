/*
 * Edges become dependences. A step has room for one; further ones go to steps of type nop before
 * it, which the thread block passes first.
 *
 *     nop  waits for a     nop  waits for b     s  waits for c
 */
#include <stdlib.h>

#include "base/arena.h"
#include "collectives/msccl_internal.h"

static int compare_edges(const void *left, const void *right)
{
    const struct msccl_edge *a = left, *b = right;
    if (a->later != b->later) return a->later < b->later ? -1 : 1;
    return a->earlier < b->earlier ? -1 : a->earlier > b->earlier;
}

struct inserter {
    const coll_msccl *draft;
    const struct msccl_edge *edge; /* by later step */
    uint32_t edges;
    int32_t *index; /* [draft steps] each one's place in its thread block, with nops before it */
    bool *has_dependent;
};

/* How many edges from `e` on go to the draft's step i. */
static uint32_t edges_to(const struct inserter *in, uint32_t e, uint32_t i)
{
    uint32_t count = 0;
    while (e + count < in->edges && in->edge[e + count].later == i)
        count++;
    return count;
}

static void number_steps(struct inserter *in)
{
    int32_t next = 0;
    for (uint32_t i = 0, e = 0; i < in->draft->step_count; i++) {
        uint32_t count = edges_to(in, e, i);
        if (i == in->draft->block[in->draft->step[i].block].step_begin) next = 0;
        if (count > 1) next += (int32_t)count - 1;
        in->index[i] = next++;
        for (uint32_t k = 0; k < count; k++)
            in->has_dependent[in->edge[e + k].earlier] = true;
        e += count;
    }
}

static void depend(const struct inserter *in, struct msccl_step *step, uint32_t earlier)
{
    step->dep_block = in->draft->block[in->draft->step[earlier].block].id;
    step->dep_index = in->index[earlier];
}

/* Draft step i and the nops it needs, at the end of `out`; returns how many edges that took. */
static uint32_t copy_step(const struct inserter *in, uint32_t i, uint32_t e, coll_msccl *out)
{
    const struct msccl_step *from = &in->draft->step[i];
    uint32_t count = edges_to(in, e, i);
    for (uint32_t k = 0; k + 1 < count; k++) {
        struct msccl_step *nop = msccl_add_step(out);
        nop->type = MSCCL_NOP;
        nop->src_offset = nop->dst_offset = -1;
        nop->index = in->index[i] - (int32_t)(count - 1 - k);
        depend(in, nop, in->edge[e + k].earlier);
    }
    struct msccl_step *step = msccl_add_step(out);
    step->type = from->type;
    step->src_buffer = from->src_buffer;
    step->dst_buffer = from->dst_buffer;
    step->src_offset = from->src_offset;
    step->dst_offset = from->dst_offset;
    step->count = from->count;
    step->index = in->index[i];
    step->has_dependent = in->has_dependent[i];
    if (count > 0) depend(in, step, in->edge[e + count - 1].earlier);
    return count;
}

static void copy_block(const struct inserter *in, uint32_t b, uint32_t *e, coll_msccl *out)
{
    const struct msccl_block *from = &in->draft->block[b];
    struct msccl_block *block = msccl_add_block(out);
    block->id = from->id;
    block->send = from->send;
    block->receive = from->receive;
    block->channel = from->channel;
    for (uint32_t i = from->step_begin; i < from->step_end; i++)
        *e += copy_step(in, i, *e, out);
}

static coll_msccl *insert(const struct inserter *in)
{
    coll_msccl *out = msccl_create_like(in->draft);
    uint32_t e = 0;
    for (uint32_t g = 0; g < in->draft->gpu_count; g++) {
        const struct msccl_gpu *from = &in->draft->gpu[g];
        struct msccl_gpu *gpu = msccl_add_gpu(out, g);
        for (int i = 0; i < MSCCL_BUFFERS; i++)
            gpu->chunks[i] = from->chunks[i];
        gpu->line = from->line;
        for (uint32_t b = from->block_begin; b < from->block_end; b++)
            copy_block(in, b, &e, out);
    }
    return out;
}

static enum sim_status check(coll_msccl *a, uint32_t root, struct sim_error *err)
{
    for (uint32_t i = 0; i < a->step_count; i++)
        if (a->step[i].index >= MSCCL_STEPS_MAX)
            return sim_error_set(err, SIM_EDATA,
                                 "algorithm \"%s\" cannot be written as MSCCL XML: a thread block "
                                 "needs more than %d steps",
                                 a->name, MSCCL_STEPS_MAX);
    SIM_TRY(msccl_finish(a, err));
    return coll_msccl_check(a, root, err);
}

enum sim_status msccl_with_edges(const coll_msccl *draft, struct msccl_edge *edge, uint32_t edges,
                                 uint32_t root, struct sim_error *err, coll_msccl **out)
{
    struct inserter in = {.draft = draft, .edge = edge, .edges = edges};
    if (edges > 0) qsort(edge, edges, sizeof *edge, compare_edges);
    in.index = SIM_NEW(int32_t, draft->step_count);
    in.has_dependent = SIM_NEW(bool, draft->step_count);
    number_steps(&in);
    coll_msccl *a = insert(&in);
    sim_free(in.index);
    sim_free(in.has_dependent);
    enum sim_status status = check(a, root, err);
    if (status == SIM_OK)
        *out = a;
    else
        coll_msccl_destroy(a);
    return status;
}
