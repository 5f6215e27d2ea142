/*
 * The executor: expands a schedule chip by chip and drives the flow engine with it.
 *
 * A frame is one live instance of a schedule: the root, or a collective being called. It holds one
 * wait count (a byte) per chip and operation, set from the program's template; whoever finishes an
 * operation counts its successors down, and an operation at zero runs. A receive also waits for its
 * message, which may come before the chip has entered the frame. A called frame appears when the
 * first chip enters the call, each chip enters when it gets there, and the frame goes when the last
 * chip is through.
 *
 * Everything that takes time is an activity: a compute, a message, a delayed entry. Timers carry
 * the activity's index. One instant is drained completely (an operation of no time may start
 * others) before the links are shared anew.
 *
 * Each activity carries what the chain of operations that led to it was made of (latency, overhead,
 * compute). At a join the last to arrive wins, so at the end the chain is a critical path.
 */
#include "netsim/run.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "netsim/calendar.h"
#include "netsim/flow.h"
#include "netsim/symmetry.h"
#include "topo/route.h"

enum timer_kind { TIMER_FLOW, TIMER_ARRIVAL, TIMER_COMPUTE, TIMER_ENTRY, TIMER_SEND };

/* The critical path so far, by kind. */
struct chain {
    sim_ps latency_ps, overhead_ps, compute_ps;
};

struct frame {
    const net_schedule *schedule;
    uint32_t parent, call_id; /* NET_NONE for the root */
    uint32_t chips_left;
    uint32_t *ops_left;    /* [chips] */
    uint64_t *state_begin; /* [chips] into wait; NULL: chip * op_count of the one program */
    uint8_t *wait;         /* [chips x operations] */
    uint32_t *call_frame;  /* [calls] live frames of its calls, NET_NONE */
    sim_ps *entered_ps;    /* [chips]; only of frames the root calls */
    uint32_t free_next;
    bool is_free;
};

struct activity {
    uint32_t frame, chip;
    net_op_id op;
    uint32_t peer; /* SEND: receiving chip */
    double bytes;
    sim_ps start_ps, arrive_ps;
    uint32_t paths_left; /* SEND; next free otherwise */
    struct chain chain;
};

/* A timer of the current instant, and whose it is. */
struct due {
    uint32_t kind, payload;
    uint32_t frame, op;
};

struct ready {
    uint32_t frame, chip;
    net_op_id op;
    struct chain chain;
};

struct run {
    const topo *topology;
    struct net_symmetry symmetry; /* "chips" and links below are its classes */
    struct net_options options;
    const struct net_observer *observer;
    net_calendar *calendar;
    net_flow_engine *engine;
    sim_ps now;
    bool is_past_end;
    struct frame *frame;
    uint32_t frame_count, frame_capacity, frame_free;
    struct activity *activity;
    uint32_t activity_count, activity_capacity, activity_free;
    struct ready *ready;
    uint32_t ready_count, ready_capacity;
    struct topo_paths paths;
    struct due *due, *due_scratch; /* timers of the instant being drained */
    uint32_t due_capacity, due_scratch_capacity;
    topo_link_id *route; /* scratch: classes of a path's links */
    uint32_t route_capacity;
    struct chain last; /* of the chip that finished last */
    sim_ps last_ps;
    uint64_t messages, events, instants;
};

/* ---- frames ---- */

/* The chip that stands for a class: it is asked what the schedule and the topology say. */
static topo_chip_id stands_for(const struct run *r, uint32_t chip)
{
    return net_chip_of_class(&r->symmetry, chip);
}

static const struct net_program *program_of(const struct run *r, const struct frame *f,
                                            uint32_t chip)
{
    return net_schedule_program(f->schedule, net_role(f->schedule, stands_for(r, chip)));
}

static uint8_t *wait_of(const struct frame *f, const struct net_program *program, uint32_t chip)
{
    return f->wait +
           (f->state_begin != NULL ? f->state_begin[chip] : (uint64_t)chip * program->op_count);
}

/* Where each chip's wait counts begin; how many there are in all. */
static uint64_t frame_place_states(const struct run *r, struct frame *f)
{
    uint32_t chips = r->symmetry.chips;
    if (net_schedule_programs(f->schedule) == 1)
        return chips * (uint64_t)net_schedule_program(f->schedule, 0)->op_count;
    f->state_begin = SIM_NEW(uint64_t, chips);
    uint64_t at = 0;
    for (uint32_t c = 0; c < chips; c++) {
        f->state_begin[c] = at;
        at += program_of(r, f, c)->op_count;
    }
    return at;
}

/* Wait counts of a chip: the program's, less the messages that guards say will not come. */
static void frame_reset_chip(const struct run *r, struct frame *f, uint32_t chip)
{
    const struct net_program *program = program_of(r, f, chip);
    uint8_t *wait = wait_of(f, program, chip);
    memcpy(wait, program->wait_count, program->op_count);
    for (uint32_t i = 0; i < program->guarded_receive_count; i++) {
        net_op_id op = program->guarded_receive[i];
        if (!net_op_exists(f->schedule, stands_for(r, chip), &program->op[op])) wait[op]--;
    }
    f->ops_left[chip] = program->op_count;
}

static uint32_t frame_create(struct run *r, const net_schedule *schedule, uint32_t parent,
                             uint32_t call_id)
{
    uint32_t chips = r->symmetry.chips, calls = net_schedule_calls(schedule), id = r->frame_free;
    if (id != NET_NONE) {
        r->frame_free = r->frame[id].free_next;
    } else {
        SIM_GROW(r->frame, r->frame_capacity, r->frame_count + 1);
        id = r->frame_count++;
    }
    struct frame *f = &r->frame[id];
    *f = (struct frame){
        .schedule = schedule, .parent = parent, .call_id = call_id, .chips_left = chips};
    f->ops_left = SIM_NEW(uint32_t, chips);
    f->wait = SIM_NEW(uint8_t, frame_place_states(r, f));
    f->call_frame = SIM_NEW(uint32_t, calls);
    for (uint32_t i = 0; i < calls; i++)
        f->call_frame[i] = NET_NONE;
    if (parent != NET_NONE && r->frame[parent].parent == NET_NONE)
        f->entered_ps = SIM_NEW(sim_ps, chips);
    for (uint32_t c = 0; c < chips; c++)
        frame_reset_chip(r, f, c);
    return id;
}

static void frame_release(struct frame *f)
{
    sim_free(f->ops_left);
    sim_free(f->state_begin);
    sim_free(f->wait);
    sim_free(f->call_frame);
    sim_free(f->entered_ps);
}

static void frame_destroy(struct run *r, uint32_t id)
{
    struct frame *f = &r->frame[id];
    frame_release(f);
    *f = (struct frame){.free_next = r->frame_free, .is_free = true};
    r->frame_free = id;
}

/* ---- activities ---- */

static uint32_t activity_create(struct run *r, struct activity a)
{
    uint32_t id = r->activity_free;
    if (id != NET_NONE) {
        r->activity_free = r->activity[id].paths_left;
    } else {
        SIM_GROW(r->activity, r->activity_capacity, r->activity_count + 1);
        id = r->activity_count++;
    }
    r->activity[id] = a;
    return id;
}

static void activity_destroy(struct run *r, uint32_t id)
{
    r->activity[id].paths_left = r->activity_free;
    r->activity_free = id;
}

static void schedule_timer(struct run *r, sim_ps delay, enum timer_kind kind, uint32_t activity)
{
    if (delay > SIM_PS_MAX - r->now) {
        r->is_past_end = true;
        return;
    }
    net_calendar_add(r->calendar, r->now + delay, kind, activity);
}

/* ---- operations ---- */

static void push_ready(struct run *r, uint32_t frame, uint32_t chip, net_op_id op,
                       struct chain chain)
{
    SIM_GROW(r->ready, r->ready_capacity, r->ready_count + 1);
    r->ready[r->ready_count++] = (struct ready){frame, chip, op, chain};
}

/* One of the things `op` waited for has happened. */
static void count_down(struct run *r, uint32_t frame, const struct net_program *program,
                       uint32_t chip, net_op_id op, struct chain chain)
{
    uint8_t *wait = wait_of(&r->frame[frame], program, chip);
    assert(wait[op] > 0);
    if (--wait[op] == 0) push_ready(r, frame, chip, op, chain);
}

/* Told for every chip of the class, or for the one that stands for it. */
static void observe(struct run *r, uint32_t frame, uint32_t chip, const struct net_op *op,
                    sim_ps start)
{
    const struct net_observer *o = r->observer;
    const struct net_symmetry *s = &r->symmetry;
    if (o == NULL || o->on_op == NULL || r->frame[frame].parent != NET_NONE) return;
    if (!s->is_reduced || o->wants_classes) {
        o->on_op(o->context, stands_for(r, chip), op, start, r->now);
        return;
    }
    for (uint32_t i = s->member_begin[chip]; i < s->member_begin[chip + 1]; i++)
        o->on_op(o->context, s->member[i], op, start, r->now);
}

/* The chip has done all of a frame; the call that made it is complete there. */
static void leave(struct run *r, uint32_t frame, uint32_t chip, struct chain chain);

static void complete(struct run *r, uint32_t frame, uint32_t chip, net_op_id op, struct chain chain)
{
    const struct net_program *program = program_of(r, &r->frame[frame], chip);
    for (uint32_t i = program->successor_begin[op]; i < program->successor_begin[op + 1]; i++)
        count_down(r, frame, program, chip, program->successor[i], chain);
    if (--r->frame[frame].ops_left[chip] == 0) leave(r, frame, chip, chain);
}

/* Of chips that finish together the one with most latency, then overhead, then compute counts: not
 * the one that happens to be looked at last. */
static void note_last(struct run *r, struct chain chain)
{
    const struct chain *last = &r->last;
    bool is_more = chain.latency_ps != last->latency_ps     ? chain.latency_ps > last->latency_ps
                   : chain.overhead_ps != last->overhead_ps ? chain.overhead_ps > last->overhead_ps
                                                            : chain.compute_ps > last->compute_ps;
    if (r->now == r->last_ps && !is_more) return;
    r->last = chain;
    r->last_ps = r->now;
}

static void leave(struct run *r, uint32_t frame, uint32_t chip, struct chain chain)
{
    struct frame *f = &r->frame[frame];
    uint32_t parent = f->parent, call_id = f->call_id;
    if (parent == NET_NONE) note_last(r, chain);
    sim_ps entered = f->entered_ps != NULL ? f->entered_ps[chip] : 0;
    if (--f->chips_left == 0 && parent != NET_NONE) {
        r->frame[parent].call_frame[call_id] = NET_NONE;
        frame_destroy(r, frame);
    }
    if (parent == NET_NONE) return;
    const struct net_program *program = program_of(r, &r->frame[parent], chip);
    net_op_id op = program->op_of_call[call_id];
    observe(r, parent, chip, &program->op[op], entered);
    complete(r, parent, chip, op, chain);
}

static void enter(struct run *r, uint32_t frame, uint32_t chip, struct chain chain)
{
    const struct net_program *program = program_of(r, &r->frame[frame], chip);
    if (program->op_count == 0) {
        leave(r, frame, chip, chain);
        return;
    }
    for (uint32_t i = 0; i < program->root_count; i++)
        count_down(r, frame, program, chip, program->root[i], chain);
}

static void enter_after(struct run *r, uint32_t frame, uint32_t chip, sim_ps delay,
                        struct chain chain)
{
    if (delay == 0) {
        enter(r, frame, chip, chain);
        return;
    }
    chain.overhead_ps += delay;
    uint32_t a =
        activity_create(r, (struct activity){.frame = frame, .chip = chip, .chain = chain});
    schedule_timer(r, delay, TIMER_ENTRY, a);
}

static void run_call(struct run *r, const struct ready *at, const struct net_op *op)
{
    uint32_t child = r->frame[at->frame].call_frame[op->call_id];
    if (child == NET_NONE) {
        child = frame_create(r, op->callee, at->frame, op->call_id);
        r->frame[at->frame].call_frame[op->call_id] = child;
    }
    if (r->frame[child].entered_ps != NULL) r->frame[child].entered_ps[at->chip] = r->now;
    enter_after(r, child, at->chip, r->options.launch_overhead_ps, at->chain);
}

static void run_compute(struct run *r, const struct ready *at, const struct net_op *op)
{
    struct activity a = {
        .frame = at->frame, .chip = at->chip, .op = at->op, .start_ps = r->now, .chain = at->chain};
    if (op->duration_ps > SIM_PS_MAX - r->now) {
        r->is_past_end = true;
        return;
    }
    a.chain.compute_ps += op->duration_ps;
    schedule_timer(r, op->duration_ps, TIMER_COMPUTE, activity_create(r, a));
}

/* ---- messages ---- */

/* A path's links as classes; borrowed until the next call. */
static const topo_link_id *classes_of_path(struct run *r, uint32_t path, uint32_t *hops)
{
    const struct topo_paths *p = &r->paths;
    *hops = p->begin[path + 1] - p->begin[path];
    if (!r->symmetry.is_reduced) return p->link + p->begin[path];
    SIM_GROW(r->route, r->route_capacity, *hops);
    for (uint32_t i = 0; i < *hops; i++)
        r->route[i] = net_class_of_link(&r->symmetry, p->link[p->begin[path] + i]);
    return r->route;
}

/* A message with nothing to carry, or to the chip itself: its hops are all it takes. */
static void arrive_without_flow(struct run *r, uint32_t id, sim_ps latency)
{
    r->activity[id].chain.latency_ps += latency;
    r->activity[id].paths_left = 0;
    schedule_timer(r, latency, TIMER_ARRIVAL, id);
}

static void send(struct run *r, uint32_t id)
{
    struct activity *a = &r->activity[id];
    const net_schedule *s = r->frame[a->frame].schedule;
    const struct net_op *op = &program_of(r, &r->frame[a->frame], a->chip)->op[a->op];
    const struct net_peer *peer = net_schedule_peer(s, op->peer);
    topo_chip_id from = stands_for(r, a->chip);
    r->messages++;
    topo_link_id link = TOPO_NONE;
    if (peer->port != NET_NONE) link = topo_port_link(r->topology, from, peer->port);
    if (link != TOPO_NONE && a->bytes > 0) { /* the common case: one link */
        link = net_class_of_link(&r->symmetry, link);
        a->paths_left = 1;
        net_flow_start(r->engine, r->now, a->bytes, &link, 1, id);
        return;
    }
    net_paths_to_peer(s, from, op->peer, &r->paths);
    const struct topo_paths *p = &r->paths;
    bool is_local = p->begin[0] == p->begin[1];
    if (a->bytes == 0 || is_local) {
        uint32_t frame = a->frame, chip = a->chip, op_id = a->op;
        struct chain chain = a->chain;
        arrive_without_flow(r, id, is_local ? 0 : topo_path_latency_ps(r->topology, p, 0));
        complete(r, frame, chip, op_id, chain);
        return;
    }
    a->paths_left = p->count;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t hops;
        const topo_link_id *route = classes_of_path(r, i, &hops);
        net_flow_start(r->engine, r->now, a->bytes * p->share[i], route, hops, id);
    }
}

static void run_send(struct run *r, const struct ready *at, const struct net_op *op)
{
    const net_schedule *s = r->frame[at->frame].schedule;
    struct activity a = {.frame = at->frame,
                         .chip = at->chip,
                         .op = at->op,
                         .bytes = op->bytes,
                         .start_ps = r->now,
                         .chain = at->chain};
    a.peer = net_class_of_chip(&r->symmetry, net_peer_of(s, stands_for(r, at->chip), op->peer));
    a.chain.overhead_ps += r->options.send_overhead_ps;
    uint32_t id = activity_create(r, a);
    if (r->options.send_overhead_ps > 0)
        schedule_timer(r, r->options.send_overhead_ps, TIMER_SEND, id);
    else
        send(r, id);
}

/* A flow of a message has left the network; the message has when all of its flows have. */
static void flow_ended(struct run *r, net_flow_id flow)
{
    sim_ps latency;
    uint32_t id = net_flow_end(r->engine, r->now, flow, &latency);
    struct activity *a = &r->activity[id];
    if (latency > SIM_PS_MAX - r->now) {
        r->is_past_end = true;
        return;
    }
    if (r->now + latency > a->arrive_ps) a->arrive_ps = r->now + latency;
    if (--a->paths_left > 0) return;
    uint32_t frame = a->frame, chip = a->chip, op = a->op;
    struct chain chain = a->chain;
    a->chain.latency_ps += a->arrive_ps - r->now;
    schedule_timer(r, a->arrive_ps - r->now, TIMER_ARRIVAL, id);
    complete(r, frame, chip, op, chain);
}

/* The message of every chip of the sender's class. */
static void tell_message(struct run *r, const struct frame *f, const struct activity *a,
                         const struct net_op *op)
{
    const struct net_observer *o = r->observer;
    const struct net_symmetry *s = &r->symmetry;
    if (o == NULL || o->on_message == NULL) return;
    if (!s->is_reduced) {
        o->on_message(o->context, a->chip, a->peer, a->bytes, a->start_ps, r->now);
        return;
    }
    for (uint32_t i = s->member_begin[a->chip]; i < s->member_begin[a->chip + 1]; i++)
        o->on_message(o->context, s->member[i], net_peer_of(f->schedule, s->member[i], op->peer),
                      a->bytes, a->start_ps, r->now);
}

static void message_arrived(struct run *r, uint32_t id)
{
    struct activity a = r->activity[id];
    activity_destroy(r, id);
    const struct frame *f = &r->frame[a.frame];
    const struct net_op *send_op = &program_of(r, f, a.chip)->op[a.op];
    tell_message(r, f, &a, send_op);
    const struct net_program *program = program_of(r, f, a.peer);
    assert(send_op->tag < program->tag_count);
    net_op_id receive = program->receive_of_tag[send_op->tag];
    assert(receive != NET_NONE);
    count_down(r, a.frame, program, a.peer, receive, a.chain);
}

/* ---- the loop ---- */

static void run_op(struct run *r, const struct ready *at)
{
    const struct frame *f = &r->frame[at->frame];
    const struct net_op *op = &program_of(r, f, at->chip)->op[at->op];
    if (!net_op_exists(f->schedule, stands_for(r, at->chip), op)) {
        complete(r, at->frame, at->chip, at->op, at->chain);
        return;
    }
    switch (op->kind) {
    case NET_OP_SEND:
        run_send(r, at, op);
        break;
    case NET_OP_COMPUTE:
        run_compute(r, at, op);
        break;
    case NET_OP_CALL:
        run_call(r, at, op);
        break;
    case NET_OP_RECEIVE:
    case NET_OP_REDUCE:
    case NET_OP_JOIN:
        complete(r, at->frame, at->chip, at->op, at->chain);
        break;
    }
}

static void run_ready(struct run *r)
{
    while (r->ready_count > 0) {
        struct ready at = r->ready[--r->ready_count];
        run_op(r, &at);
    }
}

static void compute_ended(struct run *r, uint32_t id)
{
    struct activity a = r->activity[id];
    activity_destroy(r, id);
    observe(r, a.frame, a.chip, &program_of(r, &r->frame[a.frame], a.chip)->op[a.op], a.start_ps);
    complete(r, a.frame, a.chip, a.op, a.chain);
}

static void entry_due(struct run *r, uint32_t id)
{
    struct activity a = r->activity[id];
    activity_destroy(r, id);
    enter(r, a.frame, a.chip, a.chain);
}

static void handle(struct run *r, enum timer_kind kind, uint32_t payload)
{
    r->events++;
    switch (kind) {
    case TIMER_FLOW:
        flow_ended(r, payload);
        break;
    case TIMER_ARRIVAL:
        message_arrived(r, payload);
        break;
    case TIMER_COMPUTE:
        compute_ended(r, payload);
        break;
    case TIMER_ENTRY:
        entry_due(r, payload);
        break;
    case TIMER_SEND:
        send(r, payload);
        break;
    }
    run_ready(r);
}

/* Which operation a timer belongs to. */
static struct due due_of(const struct run *r, uint32_t kind, uint32_t payload)
{
    uint32_t id = kind == TIMER_FLOW ? net_flow_owner(r->engine, payload) : payload;
    const struct activity *a = &r->activity[id];
    return (struct due){kind, payload, a->frame, a->op};
}

static int compare_due(const struct due *a, const struct due *b)
{
    if (a->frame != b->frame) return a->frame < b->frame ? -1 : 1;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Runs in order are merged, pair by pair, until one is left. */
static void sort_due_by_merging(struct run *r, uint32_t count)
{
    SIM_GROW(r->due_scratch, r->due_scratch_capacity, count);
    struct due *from = r->due, *to = r->due_scratch;
    for (bool is_sorted = false; !is_sorted;) {
        is_sorted = true;
        for (uint32_t begin = 0, at = 0; begin < count;) {
            uint32_t middle = begin + 1, end;
            while (middle < count && compare_due(&from[middle - 1], &from[middle]) <= 0)
                middle++;
            for (end = middle + 1; end < count && compare_due(&from[end - 1], &from[end]) <= 0;)
                end++;
            if (end > count) end = count;
            is_sorted = is_sorted && begin == 0 && end == count;
            for (uint32_t i = begin, j = middle; i < middle || j < end;)
                to[at++] = j == end || (i < middle && compare_due(&from[i], &from[j]) <= 0)
                               ? from[i++]
                               : from[j++];
            begin = end;
        }
        struct due *swap = from;
        from = to;
        to = swap;
    }
    if (from != r->due) memcpy(r->due, from, count * sizeof *from);
}

/* Stable: chips stay in the order they came; few operations are due at one instant, so runs are
 * long and merging them is quick. */
static void sort_due(struct run *r, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_due(&r->due[i - 1], &r->due[i]) <= 0) continue;
        sort_due_by_merging(r, count);
        return;
    }
}

/* Everything due now, in an order that is the same on every chip whatever the others do: by frame,
 * operation and kind. What that makes due at once is the next batch. */
static void drain_instant(struct run *r)
{
    uint32_t kind, payload;
    r->instants++;
    for (;;) {
        uint32_t count = 0;
        while (net_calendar_take(r->calendar, r->now, &kind, &payload)) {
            if (kind == TIMER_FLOW) net_flow_due(r->engine, payload, r->now);
            SIM_GROW(r->due, r->due_capacity, count + 1);
            r->due[count++] = due_of(r, kind, payload);
        }
        if (count == 0) break;
        sort_due(r, count);
        for (uint32_t i = 0; i < count; i++)
            handle(r, (enum timer_kind)r->due[i].kind, r->due[i].payload);
    }
    if (!net_flow_settle(r->engine, r->now)) r->is_past_end = true;
}

/* ---- what can go wrong ---- */

/* First receive of an unfinished chip whose message never came. */
static enum sim_status report_stall(const struct run *r, struct sim_error *err)
{
    const struct frame *f = &r->frame[0];
    for (uint32_t i = 0; i < r->frame_count; i++) /* the innermost frame has the cause */
        if (!r->frame[i].is_free && r->frame[i].chips_left > 0) f = &r->frame[i];
    for (uint32_t c = 0; c < r->symmetry.chips; c++) {
        if (f->ops_left[c] == 0) continue;
        const struct net_program *program = program_of(r, f, c);
        const uint8_t *wait = wait_of(f, program, c);
        for (net_op_id op = 0; op < program->op_count; op++) {
            const struct net_op *o = &program->op[op];
            if (wait[op] == 0 || (o->kind != NET_OP_RECEIVE && o->kind != NET_OP_REDUCE)) continue;
            char chip[48], peer[48];
            return sim_error_set(
                err, SIM_EDATA,
                "the schedule stalls: chip %s waits for message %u from chip %s, "
                "which never sends it",
                topo_node_format(r->topology, stands_for(r, c), chip), o->tag,
                topo_node_format(r->topology, net_peer_of(f->schedule, stands_for(r, c), o->peer),
                                 peer));
        }
    }
    return sim_error_set(err, SIM_EDATA, "the schedule stalls: %u chips never finish",
                         f->chips_left);
}

/* Messages in flight at the start: operations that wait for nothing, and what each takes with its
 * hops and timers. */
#define FLOW_BYTES 256

/* Bytes of the root's wait counts, and of the messages its chips begin with. */
static uint64_t bytes_wanted(const struct run *r, const net_schedule *s)
{
    uint64_t states = 0, sends = 0;
    for (uint32_t c = 0; c < r->symmetry.chips; c++) {
        const struct net_program *p = net_schedule_program(s, net_role(s, stands_for(r, c)));
        states += p->op_count;
        for (uint32_t j = 0; j < p->root_count; j++)
            sends += p->op[p->root[j]].kind == NET_OP_SEND;
    }
    return states + sends * FLOW_BYTES;
}

static enum sim_status check_memory(const struct run *r, const net_schedule *root,
                                    struct sim_error *err)
{
    char chips[SIM_QUANTITY_TEXT], need[SIM_QUANTITY_TEXT], have[SIM_QUANTITY_TEXT];
    uint64_t wanted = bytes_wanted(r, root), available = sim_memory_available_bytes();
    if (available == 0 || wanted < available / 10 * 9) return SIM_OK;
    return sim_error_set(
        err, SIM_ERESOURCE,
        "running this on %s chips needs about %s of memory, this machine has %s free",
        sim_count_format(r->symmetry.chips, chips), sim_bytes_format(wanted >> 20 << 20, need),
        sim_bytes_format(available >> 20 << 20, have));
}

/* ---- the whole run ---- */

static net_flow_engine *create_engine(const struct run *r)
{
    uint32_t links = r->symmetry.links;
    struct net_flow_link *link = SIM_NEW(struct net_flow_link, links);
    for (uint32_t l = 0; l < links; l++) {
        topo_link_id real = net_link_of_class(&r->symmetry, l);
        link[l] = (struct net_flow_link){topo_link_rate(r->topology, real),
                                         topo_link_latency_ps(r->topology, real)};
    }
    net_flow_engine *e = net_flow_engine_create(links, link, r->calendar, TIMER_FLOW);
    net_flow_engine_coalesce(e, r->options.coalesce);
    sim_free(link);
    return e;
}

static void release(struct run *r)
{
    for (uint32_t i = 0; i < r->frame_count; i++)
        frame_release(&r->frame[i]);
    sim_free(r->frame);
    sim_free(r->activity);
    sim_free(r->ready);
    sim_free(r->due);
    sim_free(r->due_scratch);
    sim_free(r->route);
    topo_paths_release(&r->paths);
    net_symmetry_release(&r->symmetry);
    net_flow_engine_destroy(r->engine);
    net_calendar_destroy(r->calendar);
}

static void collect_stats(const struct run *r, struct net_run_stats *out)
{
    *out = (struct net_run_stats){.events = r->events,
                                  .messages = r->messages,
                                  .instants = r->instants,
                                  .classes = r->symmetry.chips};
    net_flow_counts(r->engine, &out->flows, &out->solves, &out->levels);
}

static void collect_links(const struct run *r, struct net_link_stats *out)
{
    assert(out->count == topo_links(r->topology));
    for (topo_link_id l = 0; l < out->count; l++)
        net_flow_link_stats(r->engine, net_class_of_link(&r->symmetry, l), &out->bytes[l],
                            &out->busy_ps[l]);
}

static enum sim_status run_to_end(struct run *r, const net_schedule *root, struct sim_error *err)
{
    SIM_TRY(check_memory(r, root, err));
    r->calendar = net_calendar_create();
    r->engine = create_engine(r);
    uint32_t root_frame = frame_create(r, root, NET_NONE, NET_NONE);
    for (uint32_t c = 0; c < r->symmetry.chips; c++) {
        enter_after(r, root_frame, c, r->options.entry_overhead_ps, (struct chain){0});
        run_ready(r);
    }
    if (!net_flow_settle(r->engine, 0)) r->is_past_end = true;
    while (!r->is_past_end && net_calendar_next(r->calendar, &r->now))
        drain_instant(r);
    if (r->is_past_end)
        return sim_error_set(err, SIM_EDATA,
                             "the run lasts longer than simulated time can hold (106 days)");
    return r->frame[root_frame].chips_left > 0 ? report_stall(r, err) : SIM_OK;
}

enum sim_status net_run(const net_schedule *root, const struct net_options *options,
                        const struct net_observer *observer, struct sim_error *err,
                        struct net_result *result, struct net_link_stats *stats,
                        struct net_run_stats *run_stats)
{
    struct run r = {.topology = net_schedule_topo(root),
                    .symmetry = net_symmetry_find(root, !options->is_unreduced),
                    .options = *options,
                    .observer = observer,
                    .frame_free = NET_NONE,
                    .activity_free = NET_NONE};
    enum sim_status status = run_to_end(&r, root, err);
    if (status == SIM_OK) {
        *result =
            (struct net_result){r.now, r.last.latency_ps, r.last.overhead_ps, r.last.compute_ps};
        if (stats != NULL) collect_links(&r, stats);
        if (run_stats != NULL) collect_stats(&r, run_stats);
    }
    release(&r);
    return status;
}
