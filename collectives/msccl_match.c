/*
 * Which receive does each send meet? The k-th send of a thread block meets the k-th receive of the
 * peer's block that receives from there on the same channel; a step that receives and sends counts
 * on both sides. Cost: steps and pairs of blocks of two gpus.
 */
#include "collectives/msccl_internal.h"

/* The block of gpu `peer` that talks with `block` the other way; NULL when there is none. */
static const struct msccl_block *partner(const coll_msccl *a, const struct msccl_block *block,
                                         int32_t peer, bool is_sender)
{
    const struct msccl_gpu *gpu = &a->gpu[peer];
    for (uint32_t i = gpu->block_begin; i < gpu->block_end; i++) {
        const struct msccl_block *other = &a->block[i];
        int32_t back = is_sender ? other->receive : other->send;
        if (back == (int32_t)block->gpu && other->channel == block->channel) return other;
    }
    return NULL;
}

/* The next step of the block from `i` on that sends, or that receives; its end if none. */
static uint32_t next(const coll_msccl *a, const struct msccl_block *block, uint32_t i,
                     bool is_sender)
{
    while (i < block->step_end && !(is_sender ? msccl_traits[a->step[i].type].sends
                                              : msccl_traits[a->step[i].type].receives))
        i++;
    return i;
}

static enum sim_status lonely(const coll_msccl *a, uint32_t step, const struct msccl_block *block,
                              bool is_sender, struct sim_error *err)
{
    if (is_sender)
        return msccl_step_error(a, &a->step[step], err,
                                "sends to gpu %d on channel %d, which has no receive left for it",
                                block->send, block->channel);
    return msccl_step_error(a, &a->step[step], err,
                            "receives from gpu %d on channel %d, which has no send left for it",
                            block->receive, block->channel);
}

static enum sim_status join(coll_msccl *a, uint32_t send, uint32_t receive, struct sim_error *err)
{
    char other[MSCCL_STEP_TEXT];
    struct msccl_step *from = &a->step[send], *to = &a->step[receive];
    from->receiver = receive;
    to->sender = send;
    if (from->count == to->count) return SIM_OK;
    return msccl_step_error(a, from, err, "sends %d chunks, but %s (line %d) receives %d",
                            from->count, msccl_step_text(a, to, other), to->line, to->count);
}

/* All that `block` sends. */
static enum sim_status match_block(coll_msccl *a, const struct msccl_block *block,
                                   struct sim_error *err)
{
    const struct msccl_block *other = partner(a, block, block->send, true);
    uint32_t send = next(a, block, block->step_begin, true);
    uint32_t receive = other != NULL ? next(a, other, other->step_begin, false) : 0;
    while (send < block->step_end) {
        if (other == NULL || receive == other->step_end) return lonely(a, send, block, true, err);
        SIM_TRY(join(a, send, receive, err));
        send = next(a, block, send + 1, true);
        receive = next(a, other, receive + 1, false);
    }
    return SIM_OK;
}

enum sim_status msccl_match(coll_msccl *a, struct sim_error *err)
{
    for (uint32_t i = 0; i < a->block_count; i++)
        if (a->block[i].send >= 0) SIM_TRY(match_block(a, &a->block[i], err));
    for (uint32_t i = 0; i < a->step_count; i++)
        if (msccl_traits[a->step[i].type].receives && a->step[i].sender == NET_NONE)
            return lonely(a, i, &a->block[a->step[i].block], false, err);
    return SIM_OK;
}
