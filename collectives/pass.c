/*
 * Writing passes into program 0 of a schedule. See pass.h for the pictures.
 *
 * One way of a pass (a direction, steps 0 .. steps-1) is written by write_way() from a small
 * description: which digit the block sent at step s has relative to the sender, which chips take
 * part in step s, and which parts are carried.
 *
 * Digits, with p the sender's position and d = +1 or -1 the direction:
 *
 *     gather, ring and line   block p - d s                    (what arrived at step s-1)
 *     gather, short           the same
 *     reduce, ring            block p - d (s+1)                travels on until it is at p
 *     reduce, line            block p + d (k-1-s)              the farthest first
 *     reduce, short           block p + d (D-s), D = ceil((k-1)/2)
 */
#include "collectives/pass.h"

#include "base/arena.h"

struct way {
    const struct coll_pass *pass;
    int32_t direction; /* +1 or -1 */
    bool is_reduce;
    uint32_t extent, steps;
    uint32_t half_step; /* the step that carries only one half; NET_NONE */
};

void coll_lane_init(struct coll_lane *lane, net_schedule *s, uint32_t part_begin,
                    uint32_t part_count, double bytes, uint32_t *next_tag, bool is_whole)
{
    *lane = (struct coll_lane){.s = s,
                               .part_begin = part_begin,
                               .part_count = part_count,
                               .bytes = bytes,
                               .next_tag = next_tag,
                               .wait = {NET_NONE, NET_NONE, NET_NONE, NET_NONE}};
    for (uint32_t i = 0; i < net_schedule_space_axes(s); i++)
        lane->is_whole[i] = is_whole;
}

/* Bytes of one block: the lane's share, cut along every axis it does not span. */
static double block_bytes(const struct coll_lane *lane, const struct way *w)
{
    double bytes = lane->bytes;
    if (w->pass->cycle != NULL) return bytes / w->extent;
    for (uint32_t i = 0; i < net_schedule_space_axes(lane->s); i++)
        if (!lane->is_whole[i]) bytes /= net_schedule_space_extent(lane->s, i);
    return bytes;
}

/* Digit of the block a chip sends at step s, relative to its own. */
static int32_t sent_digit(const struct way *w, uint32_t step)
{
    int32_t s = (int32_t)step, k = (int32_t)w->extent, d = w->direction;
    if (!w->is_reduce) return -d * s;
    switch (w->pass->kind) {
    case COLL_PASS_RING:
        return -d * (s + 1);
    case COLL_PASS_LINE:
        return d * (k - 1 - s);
    case COLL_PASS_SHORT:
        return d * ((int32_t)w->steps - s);
    }
    assert(false);
    return 0;
}

/* Positions on a line that send (or receive) at a step, counted from the end the way starts at. */
static uint32_t line_guard(const struct coll_lane *lane, const struct way *w, uint32_t step,
                           bool is_receive)
{
    uint32_t k = w->extent, low = w->is_reduce ? 0 : step, high = w->is_reduce ? step : k - 2;
    if (is_receive) {
        low++;
        high++;
    }
    if (w->direction > 0) return net_guard_add(lane->s, w->pass->axis, low, high);
    return net_guard_add(lane->s, w->pass->axis, k - 1 - high, k - 1 - low);
}

/* Of every member the shard `digit` places on along the cycle, in each of the parts. */
static uint32_t add_cycle_chunk(net_schedule *s, const struct coll_cycle *cycle,
                                const struct net_chunk *box, int32_t digit)
{
    if (!cycle->has_cells) return NET_NONE;
    uint32_t n = cycle->length, parts = box->part_count;
    uint32_t *begin = SIM_NEW(uint32_t, n + 1), *cell = SIM_NEW(uint32_t, (size_t)n * parts);
    for (uint32_t place = 0; place < n; place++) {
        int64_t at = ((int64_t)place + digit) % n;
        uint32_t member = cycle->member_at[place], shard = cycle->member_at[at < 0 ? at + n : at];
        begin[place + 1] = (place + 1) * parts;
        for (uint32_t i = 0; i < parts; i++)
            cell[member * parts + i] = (box->part_begin + i) * n + shard;
    }
    uint32_t chunk = net_chunk_list(s, n, begin, cell);
    sim_free(begin);
    sim_free(cell);
    return chunk;
}

static uint32_t chunk_of(const struct coll_lane *lane, const struct way *w, uint32_t step,
                         int32_t digit)
{
    struct net_chunk chunk = {.part_begin = lane->part_begin, .part_count = lane->part_count};
    if (step == w->half_step) {
        chunk.part_count = 1;
        chunk.part_begin += w->direction < 0;
    }
    if (w->pass->cycle != NULL) return add_cycle_chunk(lane->s, w->pass->cycle, &chunk, digit);
    for (uint32_t i = 0; i < net_schedule_space_axes(lane->s); i++)
        chunk.digit[i] = lane->is_whole[i] ? NET_DIGIT_ALL : 0;
    chunk.digit[w->pass->axis] = digit;
    return net_chunk_add(lane->s, chunk);
}

/* Append all steps of a way; its last receive and send go to out[0], out[1]. */
static void write_way(const struct coll_lane *lane, const struct way *w, net_op_id out[2])
{
    bool is_line = w->pass->kind == COLL_PASS_LINE;
    uint32_t to = w->pass->peer[w->direction < 0], from = w->pass->peer[w->direction > 0];
    double bytes = block_bytes(lane, w);
    net_op_id sent = NET_NONE, received = NET_NONE;
    for (uint32_t s = 0; s < w->steps; s++) {
        int32_t digit = sent_digit(w, s);
        struct net_op send = {
            .kind = NET_OP_SEND, .peer = to, .tag = *lane->next_tag, .guard = NET_NONE};
        send.bytes = s == w->half_step ? bytes / 2 : bytes;
        send.chunk = chunk_of(lane, w, s, digit);
        if (is_line) send.guard = line_guard(lane, w, s, false);
        struct net_op receive = send;
        receive.kind = w->is_reduce ? NET_OP_REDUCE : NET_OP_RECEIVE;
        receive.peer = from;
        receive.chunk = chunk_of(lane, w, s, digit - w->direction); /* seen from the receiver */
        if (is_line) receive.guard = line_guard(lane, w, s, true);
        (*lane->next_tag)++;

        net_op_id send_id = net_op_add(lane->s, 0, send),
                  receive_id = net_op_add(lane->s, 0, receive);
        if (s == 0) {
            for (int i = 0; i < 4; i++)
                net_op_after(lane->s, 0, send_id, lane->wait[i]);
            for (int i = 0; i < 4; i++)
                net_op_after(lane->s, 0, receive_id, lane->wait[i]);
        }
        net_op_after(lane->s, 0, send_id, received);
        net_op_after(lane->s, 0, send_id, sent);
        net_op_after(lane->s, 0, receive_id, received);
        sent = send_id;
        received = receive_id;
    }
    out[0] = received;
    out[1] = sent;
}

static void write_pass(struct coll_lane *lane, const struct coll_pass *pass, bool is_reduce)
{
    uint32_t k =
        pass->cycle != NULL ? pass->cycle->length : net_schedule_space_extent(lane->s, pass->axis);
    if (k == 1) {
        lane->is_whole[pass->axis] = !is_reduce;
        return;
    }
    struct way w = {
        .pass = pass, .is_reduce = is_reduce, .extent = k, .steps = k - 1, .half_step = NET_NONE};
    if (pass->kind == COLL_PASS_SHORT) {
        assert(lane->part_count == 2);
        w.steps = k / 2;
        if (k % 2 == 0) w.half_step = is_reduce ? 0 : w.steps - 1;
    }
    net_op_id end[4] = {NET_NONE, NET_NONE, NET_NONE, NET_NONE};
    if (is_reduce)
        lane->is_whole[pass->axis] = false; /* messages carry single blocks of this axis */
    w.direction = pass->kind == COLL_PASS_RING ? pass->direction : 1;
    write_way(lane, &w, end);
    if (pass->kind != COLL_PASS_RING) {
        w.direction = -1;
        write_way(lane, &w, end + 2);
    }
    if (!is_reduce) lane->is_whole[pass->axis] = true;
    for (int i = 0; i < 4; i++)
        lane->wait[i] = end[i];
}

void coll_pass_gather(struct coll_lane *lane, const struct coll_pass *pass)
{
    write_pass(lane, pass, false);
}

void coll_pass_reduce_scatter(struct coll_lane *lane, const struct coll_pass *pass)
{
    write_pass(lane, pass, true);
}
