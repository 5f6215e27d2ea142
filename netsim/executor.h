/**
 * The executor: what every chip's program does next; shared by the engines, which say when.
 *
 * An engine sets the time, tells what ended (a compute, a message), and runs the operations that
 * became ready; the executor asks it for delays and sends. Chips below are classes of chips where
 * the run is reduced by symmetry (symmetry.h), else chips.
 */
#ifndef PODSIM_NETSIM_EXECUTOR_H
#define PODSIM_NETSIM_EXECUTOR_H

#include "netsim/run.h"
#include "netsim/symmetry.h"
#include "topo/route.h"

/* What a delay is for. */
enum net_timer {
    NET_TIMER_FLOW, /* the flow engine's own */
    NET_TIMER_ARRIVAL,
    NET_TIMER_COMPUTE,
    NET_TIMER_ENTRY,
    NET_TIMER_SEND,
    NET_TIMER_SENT /* the packet engine's: a message's last byte has left */
};

/* The critical path so far, by kind. */
struct net_chain {
    sim_ps latency_ps, overhead_ps, compute_ps;
};

/* A frame that is free keeps its arrays for the next one. */
struct net_frame {
    const net_schedule *schedule;
    uint32_t parent, call_id; /* NET_NONE for the root */
    uint32_t depth;
    uint32_t chips_left;
    uint32_t *ops_left;    /* [chips] */
    uint64_t *state_begin; /* [chips] into wait, if there are several programs; else chip * op_count
                            * of the one program */
    uint8_t *wait;         /* [chips x operations] */
    uint32_t *call_frame;  /* [calls] live frames of its calls, NET_NONE */
    sim_ps *entered_ps;    /* [chips]; only of frames the root calls */
    uint64_t wait_room;
    uint32_t call_room;
    uint32_t free_next;
    bool has_programs; /* several */
    bool is_called_by_root;
    bool is_free;
};

/* Everything that takes time: a compute, a message, a delayed entry. */
struct net_activity {
    uint32_t frame, chip;
    net_op_id op;
    uint32_t peer; /* SEND: receiving chip */
    double bytes;
    sim_ps start_ps, arrive_ps;
    uint32_t paths_left; /* SEND; next free otherwise */
    struct net_chain chain;
};

struct net_ready {
    uint32_t frame, chip;
    net_op_id op;
    struct net_chain chain;
};

typedef struct net_executor net_executor;

struct net_executor {
    /* An activity's time has come `delay` after now. */
    void (*delay)(net_executor *x, sim_ps delay, enum net_timer timer, uint32_t activity);
    /* A message's first byte may leave now. */
    void (*send)(net_executor *x, uint32_t activity);

    const topo *topology;
    struct net_symmetry symmetry;
    uint32_t chips;  /* that run here; of a pod that is cut over MPI ranks, this rank's */
    uint32_t *chip;  /* [chips]; NULL: all of them */
    uint32_t *place; /* [all chips] their index in `chip`; NULL with it */
    struct net_options options;
    struct net_observer observer; /* zeros: nobody */
    sim_ps now;
    bool is_past_end;
    struct net_frame *frame;
    uint32_t frame_count, frame_capacity, frame_free;
    struct net_activity *activity;
    uint32_t activity_count, activity_capacity, activity_free;
    struct net_ready *ready;
    uint32_t ready_count, ready_capacity;
    struct topo_paths paths;
    struct net_chain last; /* of the chip that finished last */
    sim_ps last_ps;
    uint64_t messages, arrived, events; /* messages: that have started */
};

/** @param part [nodes] the rank that each chip runs on; NULL: all run here. Errors: SIM_ERESOURCE
 * (too little memory). */
SIM_MUST_CHECK enum sim_status net_executor_init(net_executor *x, const net_schedule *root,
                                                 const struct net_options *options,
                                                 const struct net_observer *observer,
                                                 const uint32_t *part, struct sim_error *err);
void net_executor_release(net_executor *x);

/** All chips enter the root schedule. */
void net_executor_start(net_executor *x, const net_schedule *root);
/** Have all chips here left it? */
bool net_executor_is_done(const net_executor *x);
/** Run operations until none is ready. */
void net_executor_run_ready(net_executor *x);
/** An activity's delay is over; of a compute or an arrival the activity is gone afterwards. */
void net_executor_timer(net_executor *x, enum net_timer timer, uint32_t activity);
/** Names who waits for whom (stall.c). With `is_shared` over all ranks, which must all call it.
 * Returns SIM_EDATA. */
enum sim_status net_executor_stall(const net_executor *x, bool is_shared, struct sim_error *err);

/** An operation is done on a chip. */
void net_executor_complete(net_executor *x, uint32_t frame, uint32_t chip, net_op_id op,
                           struct net_chain chain);
/** Find the paths of a message into `x->paths`. */
void net_executor_route(net_executor *x, uint32_t activity);
/** A message with nothing to carry, or to the chip itself: its hops are all it takes. */
void net_executor_arrive_without_bytes(net_executor *x, uint32_t activity, sim_ps latency);

/** The chip that stands for a class: it is asked what the schedule and the topology say. */
topo_chip_id net_executor_chip(const net_executor *x, uint32_t chip);
const struct net_program *net_executor_program(const net_executor *x, const struct net_frame *f,
                                               uint32_t chip);
/** A chip finished then; of all that did the last is kept, in x->last. */
void net_executor_note_last(net_executor *x, sim_ps when, struct net_chain chain);

/* Have the processor fetch what is needed soon: an activity; what its operation, once it has been
 * sent, or its receive counts down. */
void net_executor_fetch(const net_executor *x, uint32_t activity);
void net_executor_fetch_sender(const net_executor *x, uint32_t activity);
void net_executor_fetch_receiver(const net_executor *x, uint32_t activity);

/* Messages from or to a chip on another rank. */

/** Calls that lead from the root to a frame, innermost first: at most NET_FRAME_DEPTH. Returns how
 * many. */
uint32_t net_executor_calls_of(const net_executor *x, uint32_t frame, uint32_t *call);
#define NET_FRAME_DEPTH 16
/** The frame they lead to, which `chip` will enter; made if no chip has entered it yet. */
uint32_t net_executor_frame_at(net_executor *x, const uint32_t *call, uint32_t calls,
                               uint32_t chip);
/** An activity begun elsewhere; returns its number. */
uint32_t net_executor_adopt(net_executor *x, struct net_activity a);
/** An activity ends elsewhere. */
void net_executor_forget(net_executor *x, uint32_t activity);

/** Where frames keep what a chip that runs here has. */
static inline uint32_t net_executor_place(const net_executor *x, uint32_t chip)
{
    return x->place == NULL ? chip : x->place[chip];
}
static inline uint32_t net_executor_chip_at(const net_executor *x, uint32_t place)
{
    return x->chip == NULL ? place : x->chip[place];
}
/** [operations] what each still waits for on the chip. */
uint8_t *net_executor_waits(const net_executor *x, const struct net_frame *f,
                            const struct net_program *program, uint32_t chip);
/** The receive a message meets. */
net_op_id net_executor_receive_of(const net_executor *x, const struct net_activity *a);

#endif
