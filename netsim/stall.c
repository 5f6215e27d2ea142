/*
 * Who waits for whom, when no timer is left and chips are not done: from the first chip that waits
 * for a message to who should send it, what that one waits for, and so on.
 */
#include <stdio.h>

#include "base/arena.h"
#include "netsim/bytes.h"
#include "netsim/executor.h"
#include "netsim/mpi.h"

#define MOST 3 /* messages named: as many as the error's text has room for */

/* Has the chip come to the call that made the frame? */
static bool has_entered(const net_executor *x, const struct net_frame *f, uint32_t chip)
{
    if (f->parent == NET_NONE) return true;
    const struct net_frame *parent = &x->frame[f->parent];
    const struct net_program *program = net_executor_program(x, parent, chip);
    return net_executor_waits(x, parent, program, chip)[program->op_of_call[f->call_id]] == 0;
}

/* Nothing is under way any more, so what has nothing to wait for is over, but for calls. */
static bool is_over(const net_executor *x, const struct net_frame *f,
                    const struct net_program *program, uint32_t chip, net_op_id op)
{
    if (net_executor_waits(x, f, program, chip)[op] > 0) return false;
    if (program->op[op].kind != NET_OP_CALL) return true;
    uint32_t child = f->call_frame[program->op[op].call_id];
    return child == NET_NONE || x->frame[child].ops_left[net_executor_place(x, chip)] == 0;
}

/* The first receive of a chip in a frame that waits for nothing but its message; NET_NONE: none. */
static net_op_id waits_at(const net_executor *x, const struct net_frame *f, uint32_t chip)
{
    if (f->is_free || f->ops_left[net_executor_place(x, chip)] == 0 || !has_entered(x, f, chip))
        return NET_NONE;
    const struct net_program *program = net_executor_program(x, f, chip);
    bool *is_held = SIM_NEW(bool, program->op_count);
    net_op_id found = NET_NONE;
    for (net_op_id op = 0; op < program->op_count && found == NET_NONE; op++) {
        enum net_op_kind kind = program->op[op].kind;
        if (is_over(x, f, program, chip, op)) continue;
        if (!is_held[op] && (kind == NET_OP_RECEIVE || kind == NET_OP_REDUCE)) found = op;
        for (uint32_t i = program->successor_begin[op]; i < program->successor_begin[op + 1]; i++)
            is_held[program->successor[i]] = true;
    }
    sim_free(is_held);
    return found;
}

/* A chip waits for a message. */
struct wait {
    uint32_t chip, from, tag;
};

static bool wait_of(const net_executor *x, topo_chip_id chip, struct wait *wait)
{
    uint32_t class_id = net_class_of_chip(&x->symmetry, chip);
    for (uint32_t i = x->frame_count; i-- > 0;) {
        net_op_id op = waits_at(x, &x->frame[i], class_id);
        if (op == NET_NONE) continue;
        const struct net_op *found = &net_executor_program(x, &x->frame[i], class_id)->op[op];
        *wait =
            (struct wait){chip, net_peer_of(x->frame[i].schedule, chip, found->peer), found->tag};
        return true;
    }
    return false;
}

static bool runs_here(const net_executor *x, topo_chip_id chip)
{
    return net_executor_place(x, net_class_of_chip(&x->symmetry, chip)) != NET_NONE;
}

/* The first wait here, which leads to those of other chips; or those of all ranks' chips. */
static struct net_bytes list_waits(const net_executor *x, bool is_shared)
{
    struct net_bytes mine = {0}, all = {0};
    struct wait wait;
    for (uint32_t i = 0; i < x->chips && (is_shared || mine.count == 0); i++)
        if (wait_of(x, net_executor_chip(x, net_executor_chip_at(x, i)), &wait))
            net_bytes_put(&mine, &wait, sizeof wait);
    if (!is_shared) return mine;
    net_mpi_gather(&mine, &all);
    net_bytes_release(&mine);
    return all;
}

/* The chip's own, or that of the lowest chip (NET_NONE); false: none. */
static bool find_wait(struct net_bytes *waits, topo_chip_id chip, struct wait *wait)
{
    struct wait found = {.chip = NET_NONE}, one;
    for (waits->at = 0; waits->at < waits->count;) {
        net_bytes_take(waits, &one, sizeof one);
        if (chip == NET_NONE ? one.chip < found.chip : one.chip == chip) found = one;
    }
    if (found.chip != NET_NONE) *wait = found;
    return found.chip != NET_NONE;
}

/* "chip 0 waits for message 3 from chip 1, which waits for ..." */
static void follow(const net_executor *x, struct net_bytes *waits, struct wait wait, char *text,
                   size_t bytes)
{
    char name[48];
    topo_chip_id first = wait.chip;
    bool is_waiting = true;
    size_t length =
        (size_t)snprintf(text, bytes, "chip %s", topo_node_format(x->topology, first, name));
    for (uint32_t i = 0; i < MOST && is_waiting && length < bytes; i++) {
        length += (size_t)snprintf(text + length, bytes - length,
                                   "%s waits for message %u from chip %s", i == 0 ? "" : ", which",
                                   wait.tag, topo_node_format(x->topology, wait.from, name));
        if (wait.from == first) return; /* a circle */
        is_waiting = runs_here(x, wait.from) ? wait_of(x, wait.from, &wait)
                                             : find_wait(waits, wait.from, &wait);
    }
    if (!is_waiting && length < bytes)
        snprintf(text + length, bytes - length, ", which never sends it");
}

enum sim_status net_executor_stall(const net_executor *x, bool is_shared, struct sim_error *err)
{
    char text[224] = "";
    struct wait wait;
    struct net_bytes waits = list_waits(x, is_shared);
    int64_t left = x->frame[0].chips_left;
    bool is_found = find_wait(&waits, NET_NONE, &wait);
    if (is_found) follow(x, &waits, wait, text, sizeof text);
    net_bytes_release(&waits);
    if (is_found) return sim_error_set(err, SIM_EDATA, "the schedule stalls: %s", text);
    if (is_shared) net_mpi_sum(&left, 1);
    return sim_error_set(err, SIM_EDATA, "the schedule stalls: %lld chips never finish",
                         (long long)left);
}
