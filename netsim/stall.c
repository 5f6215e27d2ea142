/*
 * Who waits for whom, when no timer is left and chips are not done: from the first chip that waits
 * for a message to who should send it, what that one waits for, and so on.
 */
#include <stdio.h>

#include "base/arena.h"
#include "netsim/executor.h"

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

/* What the chip waits for: a message, and from whom. NULL: none. */
static const struct net_op *wait_of(const net_executor *x, topo_chip_id chip, topo_chip_id *from)
{
    uint32_t class_id = net_class_of_chip(&x->symmetry, chip);
    for (uint32_t i = x->frame_count; i-- > 0;) {
        net_op_id op = waits_at(x, &x->frame[i], class_id);
        if (op == NET_NONE) continue;
        const struct net_op *found = &net_executor_program(x, &x->frame[i], class_id)->op[op];
        *from = net_peer_of(x->frame[i].schedule, chip, found->peer);
        return found;
    }
    return NULL;
}

static bool runs_here(const net_executor *x, topo_chip_id chip)
{
    return net_executor_place(x, net_class_of_chip(&x->symmetry, chip)) != NET_NONE;
}

enum sim_status net_executor_stall(const net_executor *x, struct sim_error *err)
{
    char text[192] = "", name[48];
    topo_chip_id first = 0, from = 0;
    const struct net_op *op = NULL;
    for (uint32_t i = 0; i < x->chips && op == NULL; i++)
        op = wait_of(x, first = net_executor_chip(x, net_executor_chip_at(x, i)), &from);
    if (op == NULL)
        return sim_error_set(err, SIM_EDATA, "the schedule stalls: %u chips never finish",
                             x->frame[0].chips_left);
    size_t length =
        (size_t)snprintf(text, sizeof text, "chip %s", topo_node_format(x->topology, first, name));
    for (uint32_t i = 0; i < MOST && op != NULL && length < sizeof text; i++) {
        length += (size_t)snprintf(text + length, sizeof text - length,
                                   "%s waits for message %u from chip %s", i == 0 ? "" : ", which",
                                   op->tag, topo_node_format(x->topology, from, name));
        if (from == first || !runs_here(x, from)) break; /* a circle; another rank knows */
        op = wait_of(x, from, &from);
    }
    return sim_error_set(err, SIM_EDATA, "the schedule stalls: %s%s", text,
                         op == NULL ? ", which never sends it" : "");
}
