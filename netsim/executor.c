/*
 * A frame is one live instance of a schedule: the root, or a collective being called. It holds one
 * wait count (a byte) per chip and operation, set from the program's template; whoever finishes an
 * operation counts its successors down, and an operation at zero runs. A receive also waits for its
 * message, which may come before the chip has entered the frame. A called frame appears when the
 * first chip enters the call, each chip enters when it gets there, and the frame goes when the last
 * chip is through.
 *
 * Each activity carries what the chain of operations that led to it was made of (latency, overhead,
 * compute). At a join the last to arrive wins, so at the end the chain is a critical path.
 */
#include "netsim/executor.h"

#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "netsim/mpi.h"

/* ---- frames ---- */

topo_chip_id net_executor_chip(const net_executor *x, uint32_t chip)
{
    return net_chip_of_class(&x->symmetry, chip);
}

const struct net_program *net_executor_program(const net_executor *x, const struct net_frame *f,
                                               uint32_t chip)
{
    return net_schedule_program(f->schedule, net_role(f->schedule, net_executor_chip(x, chip)));
}

uint8_t *net_executor_waits(const net_executor *x, const struct net_frame *f,
                            const struct net_program *program, uint32_t chip)
{
    uint32_t place = net_executor_place(x, chip);
    return f->wait +
           (f->has_programs ? f->state_begin[place] : (uint64_t)place * program->op_count);
}

/* Where each chip's wait counts begin; how many there are in all. */
static uint64_t frame_place_states(const net_executor *x, struct net_frame *f)
{
    if (!f->has_programs)
        return x->chips * (uint64_t)net_schedule_program(f->schedule, 0)->op_count;
    if (f->state_begin == NULL) f->state_begin = SIM_NEW(uint64_t, x->chips);
    uint64_t at = 0;
    for (uint32_t i = 0; i < x->chips; i++) {
        f->state_begin[i] = at;
        at += net_executor_program(x, f, net_executor_chip_at(x, i))->op_count;
    }
    return at;
}

/* Wait counts of a chip: the program's, less the messages that guards say will not come. */
static void frame_reset_chip(const net_executor *x, struct net_frame *f, uint32_t chip)
{
    const struct net_program *program = net_executor_program(x, f, chip);
    uint8_t *wait = net_executor_waits(x, f, program, chip);
    memcpy(wait, program->wait_count, program->op_count);
    for (uint32_t i = 0; i < program->guarded_receive_count; i++) {
        net_op_id op = program->guarded_receive[i];
        if (!net_op_exists(f->schedule, net_executor_chip(x, chip), &program->op[op])) wait[op]--;
    }
    f->ops_left[net_executor_place(x, chip)] = program->op_count;
}

/* A free frame with what arrays it has, or a new one. */
static uint32_t frame_take(net_executor *x)
{
    uint32_t id = x->frame_free;
    if (id != NET_NONE) {
        x->frame_free = x->frame[id].free_next;
        return id;
    }
    SIM_GROW(x->frame, x->frame_capacity, x->frame_count + 1);
    x->frame[x->frame_count] = (struct net_frame){0};
    return x->frame_count++;
}

/* The same collectives come again and again: after the first few, all frames have room. */
static void frame_make_room(const net_executor *x, struct net_frame *f)
{
    uint32_t chips = x->chips, calls = net_schedule_calls(f->schedule);
    uint64_t states = frame_place_states(x, f);
    if (f->ops_left == NULL) f->ops_left = SIM_NEW(uint32_t, chips);
    if (f->is_called_by_root && f->entered_ps == NULL) f->entered_ps = SIM_NEW(sim_ps, chips);
    if (f->wait == NULL || states > f->wait_room) {
        sim_free(f->wait);
        f->wait = SIM_NEW(uint8_t, states);
        f->wait_room = states;
    }
    if (f->call_frame == NULL || calls > f->call_room) {
        sim_free(f->call_frame);
        f->call_frame = SIM_NEW(uint32_t, calls);
        f->call_room = calls;
    }
}

static uint32_t frame_create(net_executor *x, const net_schedule *schedule, uint32_t parent,
                             uint32_t call_id)
{
    uint32_t id = frame_take(x), chips = x->chips;
    struct net_frame *f = &x->frame[id];
    f->schedule = schedule;
    f->parent = parent;
    f->call_id = call_id;
    f->depth = parent != NET_NONE ? x->frame[parent].depth + 1 : 0;
    f->has_programs = net_schedule_programs(schedule) > 1;
    f->is_called_by_root = parent != NET_NONE && x->frame[parent].parent == NET_NONE;
    f->is_free = false;
    frame_make_room(x, f);
    for (uint32_t i = 0; i < net_schedule_calls(schedule); i++)
        f->call_frame[i] = NET_NONE;
    f->chips_left = 0;
    for (uint32_t i = 0; i < chips; i++) {
        frame_reset_chip(x, f, net_executor_chip_at(x, i));
        f->chips_left += parent == NET_NONE || f->ops_left[i] > 0; /* who will enter */
    }
    return id;
}

static void frame_release(struct net_frame *f)
{
    sim_free(f->ops_left);
    sim_free(f->state_begin);
    sim_free(f->wait);
    sim_free(f->call_frame);
    sim_free(f->entered_ps);
}

static void frame_destroy(net_executor *x, uint32_t id)
{
    x->frame[id].is_free = true;
    x->frame[id].free_next = x->frame_free;
    x->frame_free = id;
}

/* ---- activities ---- */

static uint32_t activity_create(net_executor *x, struct net_activity a)
{
    uint32_t id = x->activity_free;
    if (id != NET_NONE) {
        x->activity_free = x->activity[id].paths_left;
    } else {
        SIM_GROW(x->activity, x->activity_capacity, x->activity_count + 1);
        id = x->activity_count++;
    }
    x->activity[id] = a;
    return id;
}

static void activity_destroy(net_executor *x, uint32_t id)
{
    x->activity[id].paths_left = x->activity_free;
    x->activity_free = id;
}

static void start_delay(net_executor *x, sim_ps delay, enum net_timer timer, uint32_t activity)
{
    if (delay > SIM_PS_MAX - x->now)
        x->is_past_end = true;
    else
        x->delay(x, delay, timer, activity);
}

/* ---- operations ---- */

static void push_ready(net_executor *x, uint32_t frame, uint32_t chip, net_op_id op,
                       struct net_chain chain)
{
    SIM_GROW(x->ready, x->ready_capacity, x->ready_count + 1);
    x->ready[x->ready_count++] = (struct net_ready){frame, chip, op, chain};
}

/* One of the things `op` waited for has happened. */
static void count_down(net_executor *x, uint32_t frame, const struct net_program *program,
                       uint32_t chip, net_op_id op, struct net_chain chain)
{
    uint8_t *wait = net_executor_waits(x, &x->frame[frame], program, chip);
    assert(wait[op] > 0);
    if (--wait[op] == 0) push_ready(x, frame, chip, op, chain);
}

/* Told for every chip of the class, or for the one that stands for it. */
static void observe(net_executor *x, uint32_t frame, uint32_t chip, const struct net_op *op,
                    sim_ps start)
{
    const struct net_observer *o = &x->observer;
    const struct net_symmetry *s = &x->symmetry;
    if (o->on_op == NULL || x->frame[frame].parent != NET_NONE) return;
    if (!s->is_reduced || o->wants_classes) {
        o->on_op(o->context, net_executor_chip(x, chip), op, start, x->now);
        return;
    }
    for (uint32_t i = s->member_begin[chip]; i < s->member_begin[chip + 1]; i++)
        o->on_op(o->context, s->member[i], op, start, x->now);
}

/* The chip has done all of a frame; the call that made it is complete there. */
static void leave(net_executor *x, uint32_t frame, uint32_t chip, struct net_chain chain);

void net_executor_complete(net_executor *x, uint32_t frame, uint32_t chip, net_op_id op,
                           struct net_chain chain)
{
    const struct net_program *program = net_executor_program(x, &x->frame[frame], chip);
    for (uint32_t i = program->successor_begin[op]; i < program->successor_begin[op + 1]; i++)
        count_down(x, frame, program, chip, program->successor[i], chain);
    if (--x->frame[frame].ops_left[net_executor_place(x, chip)] == 0) leave(x, frame, chip, chain);
}

/* Of chips that finish together the one with most latency, then overhead, then compute counts: not
 * the one that happens to be looked at last. */
void net_executor_note_last(net_executor *x, sim_ps when, struct net_chain chain)
{
    const struct net_chain *last = &x->last;
    bool is_more = chain.latency_ps != last->latency_ps     ? chain.latency_ps > last->latency_ps
                   : chain.overhead_ps != last->overhead_ps ? chain.overhead_ps > last->overhead_ps
                                                            : chain.compute_ps > last->compute_ps;
    if (when < x->last_ps || (when == x->last_ps && !is_more)) return;
    x->last = chain;
    x->last_ps = when;
}

static void leave(net_executor *x, uint32_t frame, uint32_t chip, struct net_chain chain)
{
    struct net_frame *f = &x->frame[frame];
    uint32_t parent = f->parent, call_id = f->call_id;
    if (parent == NET_NONE) net_executor_note_last(x, x->now, chain);
    sim_ps entered = f->is_called_by_root ? f->entered_ps[net_executor_place(x, chip)] : 0;
    if (--f->chips_left == 0 && parent != NET_NONE) {
        x->frame[parent].call_frame[call_id] = NET_NONE;
        frame_destroy(x, frame);
    }
    if (parent == NET_NONE) return;
    const struct net_program *program = net_executor_program(x, &x->frame[parent], chip);
    net_op_id op = program->op_of_call[call_id];
    observe(x, parent, chip, &program->op[op], entered);
    net_executor_complete(x, parent, chip, op, chain);
}

static void enter(net_executor *x, uint32_t frame, uint32_t chip, struct net_chain chain)
{
    const struct net_program *program = net_executor_program(x, &x->frame[frame], chip);
    if (program->op_count == 0) {
        leave(x, frame, chip, chain);
        return;
    }
    for (uint32_t i = 0; i < program->root_count; i++)
        count_down(x, frame, program, chip, program->root[i], chain);
}

static void enter_after(net_executor *x, uint32_t frame, uint32_t chip, sim_ps delay,
                        struct net_chain chain)
{
    if (delay == 0) {
        enter(x, frame, chip, chain);
        return;
    }
    chain.overhead_ps += delay;
    uint32_t a =
        activity_create(x, (struct net_activity){.frame = frame, .chip = chip, .chain = chain});
    start_delay(x, delay, NET_TIMER_ENTRY, a);
}

/* The frame of a call, which appears when it is first needed. */
static uint32_t called_frame(net_executor *x, uint32_t frame, const struct net_op *op)
{
    uint32_t child = x->frame[frame].call_frame[op->call_id];
    if (child != NET_NONE) return child;
    child = frame_create(x, op->callee, frame, op->call_id);
    x->frame[frame].call_frame[op->call_id] = child;
    return child;
}

/* A chip with nothing to do in a call is through when the call's overhead is over. It does not
 * enter a frame, or a failed chip would run ahead through all calls and have their frames live at
 * once. */
static void pass_call(net_executor *x, const struct net_ready *at, const struct net_op *op)
{
    sim_ps delay = x->options.launch_overhead_ps;
    if (delay == 0) {
        observe(x, at->frame, at->chip, op, x->now);
        net_executor_complete(x, at->frame, at->chip, at->op, at->chain);
        return;
    }
    struct net_activity a = {
        .frame = at->frame, .chip = at->chip, .op = at->op, .start_ps = x->now, .chain = at->chain};
    a.chain.overhead_ps += delay;
    start_delay(x, delay, NET_TIMER_COMPUTE, activity_create(x, a));
}

static void run_call(net_executor *x, const struct net_ready *at, const struct net_op *op)
{
    uint32_t role = net_role(op->callee, net_executor_chip(x, at->chip));
    if (net_schedule_program(op->callee, role)->op_count == 0) {
        pass_call(x, at, op);
        return;
    }
    uint32_t child = called_frame(x, at->frame, op);
    if (x->frame[child].is_called_by_root)
        x->frame[child].entered_ps[net_executor_place(x, at->chip)] = x->now;
    enter_after(x, child, at->chip, x->options.launch_overhead_ps, at->chain);
}

static void run_compute(net_executor *x, const struct net_ready *at, const struct net_op *op)
{
    struct net_activity a = {
        .frame = at->frame, .chip = at->chip, .op = at->op, .start_ps = x->now, .chain = at->chain};
    if (op->duration_ps > SIM_PS_MAX - x->now) {
        x->is_past_end = true;
        return;
    }
    a.chain.compute_ps += op->duration_ps;
    start_delay(x, op->duration_ps, NET_TIMER_COMPUTE, activity_create(x, a));
}

/* ---- messages ---- */

void net_executor_route(net_executor *x, uint32_t activity)
{
    const struct net_activity *a = &x->activity[activity];
    const struct net_frame *f = &x->frame[a->frame];
    const struct net_op *op = &net_executor_program(x, f, a->chip)->op[a->op];
    net_paths_to_peer(f->schedule, net_executor_chip(x, a->chip), op->peer, &x->paths);
}

void net_executor_arrive_without_bytes(net_executor *x, uint32_t activity, sim_ps latency)
{
    struct net_activity *a = &x->activity[activity];
    uint32_t frame = a->frame, chip = a->chip, op = a->op;
    struct net_chain chain = a->chain;
    a->chain.latency_ps += latency;
    a->paths_left = 0;
    start_delay(x, latency, NET_TIMER_ARRIVAL, activity);
    net_executor_complete(x, frame, chip, op, chain);
}

static void run_send(net_executor *x, const struct net_ready *at, const struct net_op *op)
{
    const net_schedule *s = x->frame[at->frame].schedule;
    struct net_activity a = {.frame = at->frame,
                             .chip = at->chip,
                             .op = at->op,
                             .bytes = op->bytes,
                             .start_ps = x->now,
                             .chain = at->chain};
    a.peer =
        net_class_of_chip(&x->symmetry, net_peer_of(s, net_executor_chip(x, at->chip), op->peer));
    a.chain.overhead_ps += x->options.send_overhead_ps;
    uint32_t id = activity_create(x, a);
    if (x->options.send_overhead_ps > 0)
        start_delay(x, x->options.send_overhead_ps, NET_TIMER_SEND, id);
    else
        x->send(x, id);
}

/* The message of every chip of the sender's class. */
static void tell_message(net_executor *x, const struct net_frame *f, const struct net_activity *a,
                         const struct net_op *op)
{
    const struct net_observer *o = &x->observer;
    const struct net_symmetry *s = &x->symmetry;
    if (o->on_message == NULL) return;
    if (!s->is_reduced) {
        o->on_message(o->context, a->chip, a->peer, a->bytes, a->start_ps, x->now);
        return;
    }
    for (uint32_t i = s->member_begin[a->chip]; i < s->member_begin[a->chip + 1]; i++)
        o->on_message(o->context, s->member[i], net_peer_of(f->schedule, s->member[i], op->peer),
                      a->bytes, a->start_ps, x->now);
}

net_op_id net_executor_receive_of(const net_executor *x, const struct net_activity *a)
{
    const struct net_frame *f = &x->frame[a->frame];
    const struct net_program *program = net_executor_program(x, f, a->peer);
    uint32_t tag = net_executor_program(x, f, a->chip)->op[a->op].tag;
    assert(tag < program->tag_count && program->receive_of_tag[tag] != NET_NONE);
    return program->receive_of_tag[tag];
}

static void message_arrived(net_executor *x, uint32_t id)
{
    struct net_activity a = x->activity[id];
    x->arrived++;
    activity_destroy(x, id);
    const struct net_frame *f = &x->frame[a.frame];
    tell_message(x, f, &a, &net_executor_program(x, f, a.chip)->op[a.op]);
    net_op_id receive = net_executor_receive_of(x, &a);
    count_down(x, a.frame, net_executor_program(x, f, a.peer), a.peer, receive, a.chain);
}

/* ---- operations, one after the other ---- */

static void run_op(net_executor *x, const struct net_ready *at)
{
    const struct net_frame *f = &x->frame[at->frame];
    const struct net_op *op = &net_executor_program(x, f, at->chip)->op[at->op];
    if (!net_op_exists(f->schedule, net_executor_chip(x, at->chip), op)) {
        net_executor_complete(x, at->frame, at->chip, at->op, at->chain);
        return;
    }
    switch (op->kind) {
    case NET_OP_SEND:
        run_send(x, at, op);
        break;
    case NET_OP_COMPUTE:
        run_compute(x, at, op);
        break;
    case NET_OP_CALL:
        run_call(x, at, op);
        break;
    case NET_OP_RECEIVE:
    case NET_OP_REDUCE:
    case NET_OP_JOIN:
        net_executor_complete(x, at->frame, at->chip, at->op, at->chain);
        break;
    }
}

void net_executor_run_ready(net_executor *x)
{
    while (x->ready_count > 0) {
        struct net_ready at = x->ready[--x->ready_count];
        run_op(x, &at);
    }
}

static void compute_ended(net_executor *x, uint32_t id)
{
    struct net_activity a = x->activity[id];
    activity_destroy(x, id);
    observe(x, a.frame, a.chip, &net_executor_program(x, &x->frame[a.frame], a.chip)->op[a.op],
            a.start_ps);
    net_executor_complete(x, a.frame, a.chip, a.op, a.chain);
}

static void entry_due(net_executor *x, uint32_t id)
{
    struct net_activity a = x->activity[id];
    activity_destroy(x, id);
    enter(x, a.frame, a.chip, a.chain);
}

void net_executor_timer(net_executor *x, enum net_timer timer, uint32_t activity)
{
    x->events++;
    switch (timer) {
    case NET_TIMER_ARRIVAL:
        message_arrived(x, activity);
        break;
    case NET_TIMER_COMPUTE:
        compute_ended(x, activity);
        break;
    case NET_TIMER_ENTRY:
        entry_due(x, activity);
        break;
    case NET_TIMER_SEND:
        x->send(x, activity);
        break;
    case NET_TIMER_FLOW:
    case NET_TIMER_SENT:
        assert(false); /* the engines' own */
    }
}

/* ---- fetching ahead ---- */

void net_executor_fetch(const net_executor *x, uint32_t activity)
{
    __builtin_prefetch(&x->activity[activity]);
    __builtin_prefetch(&x->activity[activity].chain);
}

void net_executor_fetch_sender(const net_executor *x, uint32_t activity)
{
    const struct net_activity *a = &x->activity[activity];
    const struct net_frame *f = &x->frame[a->frame];
    const struct net_program *program = net_executor_program(x, f, a->chip);
    __builtin_prefetch(net_executor_waits(x, f, program, a->chip) + a->op);
}

void net_executor_fetch_receiver(const net_executor *x, uint32_t activity)
{
    const struct net_activity *a = &x->activity[activity];
    const struct net_frame *f = &x->frame[a->frame];
    const struct net_program *program = net_executor_program(x, f, a->peer);
    __builtin_prefetch(net_executor_waits(x, f, program, a->peer) + net_executor_receive_of(x, a));
}

/* ---- chips on other ranks ---- */

uint32_t net_executor_calls_of(const net_executor *x, uint32_t frame, uint32_t *call)
{
    uint32_t calls = 0;
    for (; x->frame[frame].parent != NET_NONE; frame = x->frame[frame].parent) {
        assert(calls < NET_FRAME_DEPTH);
        call[calls++] = x->frame[frame].call_id;
    }
    return calls;
}

uint32_t net_executor_frame_at(net_executor *x, const uint32_t *call, uint32_t calls, uint32_t chip)
{
    uint32_t frame = 0;
    for (uint32_t i = calls; i-- > 0;) {
        const struct net_program *program = net_executor_program(x, &x->frame[frame], chip);
        frame = called_frame(x, frame, &program->op[program->op_of_call[call[i]]]);
    }
    return frame;
}

uint32_t net_executor_adopt(net_executor *x, struct net_activity a)
{
    return activity_create(x, a);
}

void net_executor_forget(net_executor *x, uint32_t activity)
{
    activity_destroy(x, activity);
}

/* ---- what can go wrong ---- */

/* Messages in flight at the start: operations that wait for nothing, and what each takes with its
 * hops and timers. */
#define FLOW_BYTES 256

/* Bytes of the root's wait counts, and of the messages its chips begin with. */
static uint64_t bytes_wanted(const net_executor *x, const net_schedule *s)
{
    uint64_t states = 0, sends = 0;
    for (uint32_t i = 0; i < x->chips; i++) {
        topo_chip_id chip = net_executor_chip(x, net_executor_chip_at(x, i));
        const struct net_program *p = net_schedule_program(s, net_role(s, chip));
        states += p->op_count;
        for (uint32_t j = 0; j < p->root_count; j++)
            sends += p->op[p->root[j]].kind == NET_OP_SEND;
    }
    return states + sends * FLOW_BYTES;
}

static enum sim_status check_memory(const net_executor *x, const net_schedule *root,
                                    struct sim_error *err)
{
    char chips[SIM_QUANTITY_TEXT], need[SIM_QUANTITY_TEXT], have[SIM_QUANTITY_TEXT];
    uint64_t wanted = bytes_wanted(x, root), available = sim_memory_available_bytes();
    if (available == 0 || wanted < available / 10 * 9) return SIM_OK;
    return sim_error_set(
        err, SIM_ERESOURCE,
        "running this on %s chips needs about %s of memory, this machine has %s free",
        sim_count_format(x->chips, chips), sim_bytes_format(wanted >> 20 << 20, need),
        sim_bytes_format(available >> 20 << 20, have));
}

/* ---- the whole run ---- */

/* The chips that run here, in order. */
static void list_chips(net_executor *x, const uint32_t *part)
{
    uint32_t all = x->symmetry.chips;
    x->chips = all;
    if (part == NULL) return;
    x->chip = SIM_NEW(uint32_t, all);
    x->place = SIM_NEW(uint32_t, all);
    x->chips = 0;
    for (uint32_t c = 0; c < all; c++) {
        x->place[c] = NET_NONE;
        if (part[c] != net_mpi_rank()) continue;
        x->place[c] = x->chips;
        x->chip[x->chips++] = c;
    }
}

enum sim_status net_executor_init(net_executor *x, const net_schedule *root,
                                  const struct net_options *options,
                                  const struct net_observer *observer, const uint32_t *part,
                                  struct sim_error *err)
{
    *x = (net_executor){.topology = net_schedule_topo(root),
                        .symmetry = net_symmetry_find(root, !options->is_unreduced &&
                                                                options->entry_spread_ps == 0),
                        .options = *options,
                        .frame_free = NET_NONE,
                        .activity_free = NET_NONE};
    if (observer != NULL) x->observer = *observer;
    list_chips(x, part);
    return check_memory(x, root, err);
}

void net_executor_release(net_executor *x)
{
    for (uint32_t i = 0; i < x->frame_count; i++)
        frame_release(&x->frame[i]);
    sim_free(x->frame);
    sim_free(x->activity);
    sim_free(x->ready);
    sim_free(x->chip);
    sim_free(x->place);
    topo_paths_release(&x->paths);
    net_symmetry_release(&x->symmetry);
}

/* The chip's own, whatever runs and in whichever engine. */
static sim_ps spread_of(const net_executor *x, uint32_t chip)
{
    struct sim_rng rng;
    if (x->options.entry_spread_ps == 0) return 0;
    sim_rng_init(&rng, 0, chip);
    return (sim_ps)sim_rng_below(&rng, (uint64_t)x->options.entry_spread_ps + 1);
}

void net_executor_start(net_executor *x, const net_schedule *root)
{
    uint32_t frame = frame_create(x, root, NET_NONE, NET_NONE);
    for (uint32_t i = 0; i < x->chips; i++) {
        uint32_t c = net_executor_chip_at(x, i);
        enter_after(x, frame, c, x->options.entry_overhead_ps + spread_of(x, c),
                    (struct net_chain){0});
        net_executor_run_ready(x);
    }
}

bool net_executor_is_done(const net_executor *x)
{
    return x->frame[0].chips_left == 0;
}
