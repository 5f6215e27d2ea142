/*
 * Is what a file says possible at all? Ids, peers, chunks within buffers, dependences; each fault
 * with the gpu, thread block and step. Finds the steps that dependences mean.
 *
 * Cost: steps, each times the thread blocks of its gpu at worst.
 */
#include "base/arena.h"
#include "collectives/msccl_internal.h"

/* ---- gpus ---- */

static enum sim_status gpu_error(const coll_msccl *a, const struct msccl_gpu *gpu,
                                 struct sim_error *err, const char *what)
{
    return sim_error_at(err, SIM_EDATA, a->file, gpu->line, gpu->column, "gpu %u %s", gpu->id,
                        what);
}

/* Every id from 0 once; then the gpus lie by id. */
static enum sim_status sort_gpus(coll_msccl *a, struct sim_error *err)
{
    struct msccl_gpu *sorted = SIM_NEW(struct msccl_gpu, a->gpus);
    enum sim_status status = SIM_OK;
    for (uint32_t i = 0; i < a->gpu_count && status == SIM_OK; i++) {
        const struct msccl_gpu *gpu = &a->gpu[i];
        if (gpu->id >= a->gpus)
            status = gpu_error(a, gpu, err, "is not below ngpus");
        else if (sorted[gpu->id].line > 0)
            status = gpu_error(a, gpu, err, "is there twice");
        else
            sorted[gpu->id] = *gpu;
    }
    for (uint32_t id = 0; id < a->gpus && status == SIM_OK; id++)
        if (sorted[id].line == 0)
            status = sim_error_at(err, SIM_EDATA, a->file, a->line, 0,
                                  "gpu %u is missing, want %u gpus as ngpus says", id, a->gpus);
    sim_free(a->gpu);
    a->gpu = sorted;
    a->gpu_count = a->gpu_capacity = a->gpus;
    return status;
}

static enum sim_status check_shares(const coll_msccl *a, struct sim_error *err)
{
    bool is_shared =
        a->op == COLL_ALL_GATHER || a->op == COLL_REDUCE_SCATTER || a->op == COLL_ALL_TO_ALL;
    if (!is_shared || a->chunks % a->gpus == 0) return SIM_OK;
    return sim_error_at(err, SIM_EDATA, a->file, a->line, 0,
                        "nchunksperloop is %u, want a multiple of ngpus (%u) for %s", a->chunks,
                        a->gpus, msccl_coll_name(a->op));
}

/* ---- thread blocks ---- */

static enum sim_status SIM_PRINTF(4, 5)
    block_error(const coll_msccl *a, const struct msccl_block *block, struct sim_error *err,
                const char *format, ...)
{
    char what[256];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    return sim_error_at(err, SIM_EDATA, a->file, block->line, block->column,
                        "gpu %u, thread block %d: %s", block->gpu, block->id, what);
}

static enum sim_status check_peer(const coll_msccl *a, const struct msccl_block *block,
                                  const char *name, int32_t peer, struct sim_error *err)
{
    if (peer < 0) return SIM_OK;
    if ((uint32_t)peer == block->gpu)
        return block_error(a, block, err, "%s is %d, its own gpu", name, peer);
    if ((uint32_t)peer >= a->gpus)
        return block_error(a, block, err, "%s is %d, want a gpu below ngpus (%u)", name, peer,
                           a->gpus);
    if (block->channel < 0)
        return block_error(a, block, err, "%s is %d, but chan is -1 (local only)", name, peer);
    return SIM_OK;
}

/* Messages between two gpus on one channel are told apart by their order in one thread block. */
static enum sim_status check_pair(const coll_msccl *a, const struct msccl_block *first,
                                  const struct msccl_block *second, struct sim_error *err)
{
    if (first->id == second->id) return block_error(a, second, err, "is there twice");
    bool is_channel = first->channel == second->channel;
    if (is_channel && first->send >= 0 && first->send == second->send)
        return block_error(a, second, err, "sends to gpu %d on channel %d, as thread block %d does",
                           second->send, second->channel, first->id);
    if (is_channel && first->receive >= 0 && first->receive == second->receive)
        return block_error(a, second, err,
                           "receives from gpu %d on channel %d, as thread block %d does",
                           second->receive, second->channel, first->id);
    return SIM_OK;
}

static enum sim_status check_blocks(const coll_msccl *a, const struct msccl_gpu *gpu,
                                    struct sim_error *err)
{
    for (uint32_t i = gpu->block_begin; i < gpu->block_end; i++) {
        const struct msccl_block *block = &a->block[i];
        SIM_TRY(check_peer(a, block, "send", block->send, err));
        SIM_TRY(check_peer(a, block, "recv", block->receive, err));
        if (block->channel >= (int32_t)a->channels)
            return block_error(a, block, err, "chan is %d, want one below nchannels (%u)",
                               block->channel, a->channels);
        for (uint32_t j = gpu->block_begin; j < i; j++)
            SIM_TRY(check_pair(a, &a->block[j], block, err));
    }
    return SIM_OK;
}

/* ---- steps ---- */

static enum sim_status check_range(const coll_msccl *a, const struct msccl_step *step,
                                   const char *end, enum msccl_buffer buffer, int32_t offset,
                                   struct sim_error *err)
{
    static const char *const names[] = {"input", "output", "scratch"};
    const struct msccl_gpu *gpu = &a->gpu[a->block[step->block].gpu];
    int64_t chunks = gpu->chunks[buffer], meant = msccl_buffer_chunks(a, buffer);
    if (offset < 0)
        return msccl_step_error(a, step, err, "%soff is -1, but a step of type %s needs it", end,
                                msccl_type_names[step->type]);
    if ((int64_t)offset + step->count > chunks)
        return msccl_step_error(
            a, step, err, "%s chunks %d to %lld lie beyond the %s buffer, which has %lld", end,
            offset, (long long)offset + step->count - 1, names[buffer], (long long)chunks);
    if ((int64_t)offset + step->count > meant)
        return msccl_step_error(
            a, step, err, "%s chunks %d to %lld lie beyond the %s buffer of %s, which has %lld",
            end, offset, (long long)offset + step->count - 1, names[buffer], msccl_coll_name(a->op),
            (long long)meant);
    return SIM_OK;
}

static enum sim_status check_step(const coll_msccl *a, const struct msccl_step *step,
                                  struct sim_error *err)
{
    const struct msccl_block *block = &a->block[step->block];
    const struct msccl_traits *traits = &msccl_traits[step->type];
    if (traits->sends && block->send < 0)
        return msccl_step_error(a, step, err, "is of type %s, but send of its thread block is -1",
                                msccl_type_names[step->type]);
    if (traits->receives && block->receive < 0)
        return msccl_step_error(a, step, err, "is of type %s, but recv of its thread block is -1",
                                msccl_type_names[step->type]);
    if (step->type == MSCCL_NOP) return SIM_OK;
    if (step->count == 0) return msccl_step_error(a, step, err, "cnt is 0, want at least 1");
    if (traits->reads_src)
        SIM_TRY(check_range(a, step, "src", step->src_buffer, step->src_offset, err));
    if (traits->writes_dst)
        SIM_TRY(check_range(a, step, "dst", step->dst_buffer, step->dst_offset, err));
    return SIM_OK;
}

static const struct msccl_block *find_block(const coll_msccl *a, const struct msccl_gpu *gpu,
                                            int32_t id)
{
    for (uint32_t i = gpu->block_begin; i < gpu->block_end; i++)
        if (a->block[i].id == id) return &a->block[i];
    return NULL;
}

/* Indexes rise, so the step of an index is at most that far into its block. */
static uint32_t find_step(const coll_msccl *a, const struct msccl_block *block, int32_t index)
{
    for (uint32_t i = block->step_begin; i < block->step_end; i++)
        if (a->step[i].index == index) return i;
    return NET_NONE;
}

static enum sim_status find_dependence(coll_msccl *a, struct msccl_step *step,
                                       struct sim_error *err)
{
    if (step->dep_block < 0 && step->dep_index < 0) return SIM_OK;
    if (step->dep_block < 0 || step->dep_index < 0)
        return msccl_step_error(a, step, err, "depid is %d and deps %d, want both or neither",
                                step->dep_block, step->dep_index);
    const struct msccl_gpu *gpu = &a->gpu[a->block[step->block].gpu];
    const struct msccl_block *block = find_block(a, gpu, step->dep_block);
    if (block == NULL)
        return msccl_step_error(a, step, err, "depends on thread block %d, which gpu %u lacks",
                                step->dep_block, gpu->id);
    step->dep = find_step(a, block, step->dep_index);
    if (step->dep == NET_NONE)
        return msccl_step_error(a, step, err,
                                "depends on step %d of thread block %d, which lacks "
                                "it",
                                step->dep_index, step->dep_block);
    if (&a->step[step->dep] == step) return msccl_step_error(a, step, err, "depends on itself");
    return SIM_OK;
}

static enum sim_status check_order(const coll_msccl *a, uint32_t i, struct sim_error *err)
{
    const struct msccl_step *step = &a->step[i];
    if (i == a->block[step->block].step_begin || step[-1].index < step->index) return SIM_OK;
    return msccl_step_error(a, step, err, "comes after step %d, want rising s", step[-1].index);
}

enum sim_status msccl_check_structure(coll_msccl *a, struct sim_error *err)
{
    SIM_TRY(sort_gpus(a, err));
    SIM_TRY(check_shares(a, err));
    for (uint32_t id = 0; id < a->gpus; id++)
        SIM_TRY(check_blocks(a, &a->gpu[id], err));
    for (uint32_t i = 0; i < a->step_count; i++) {
        SIM_TRY(check_order(a, i, err));
        SIM_TRY(check_step(a, &a->step[i], err));
    }
    for (uint32_t i = 0; i < a->step_count; i++)
        SIM_TRY(find_dependence(a, &a->step[i], err));
    return SIM_OK;
}
