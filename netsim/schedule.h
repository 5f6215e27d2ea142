/**
 * Schedules: what every chip does, written once per role and relative to the chip.
 *
 * A schedule has programs. A program is a list of operations with dependencies on earlier
 * operations of the same program; a chip runs the program of its role. Peers are named relative to
 * the chip (hops along axes, digits of its group rank) or by lists over ranks; an operation can be
 * guarded by a digit, so that the chips of an unwrapped line share one program though the ends do
 * less. Nothing is stored per chip: a healthy torus has one program, whatever its size. The same
 * form holds a collective, a permutation of messages and a whole training step.
 *
 *     program 0:   s0 = send(+x, tag 0)      r0 = receive(-x, tag 0)
 *                  s1 = send(+x, tag 1) after s0, r0      r1 = receive(-x, tag 1) after r0 ...
 *
 * A send meets the receive with its tag in the peer's program. It starts when its dependencies are
 * met (no rendezvous) and is done when its last byte has left; a receive is done when its
 * dependencies are met and the message is there.
 */
#ifndef PODSIM_NETSIM_SCHEDULE_H
#define PODSIM_NETSIM_SCHEDULE_H

#include "base/time.h"
#include "topo/group.h"
#include "topo/route.h"
#include "topo/topo.h"

#define NET_NONE UINT32_MAX

typedef struct net_schedule net_schedule;
typedef uint32_t net_op_id; /* index within its program; earlier operations have smaller ids */

enum net_op_kind {
    NET_OP_SEND,
    NET_OP_RECEIVE, /* the message replaces what the chip had of these chunks */
    NET_OP_REDUCE,  /* receive and add */
    NET_OP_COMPUTE, /* takes a fixed time */
    NET_OP_CALL,    /* run a whole schedule, expanded when it starts */
    NET_OP_JOIN     /* takes no time; collects dependencies */
};

enum net_peer_kind {
    NET_PEER_HOPS,   /* walk these signed hops along the axes; the message takes exactly that way */
    NET_PEER_OFFSET, /* where these signed hops lead; routed */
    NET_PEER_DIGITS, /* add these to the digits of the own group rank, modulo each extent; routed */
    NET_PEER_RANKS,  /* a list: peer rank by own rank; routed */
    NET_PEER_ROLE,   /* a list: peer rank by place among the ranks of the role; routed */
    NET_PEER_CHIP    /* an absolute chip; routed */
};

struct net_peer {
    enum net_peer_kind kind;
    int32_t step[TOPO_FACTORS_MAX]; /* HOPS, OFFSET: [axes]; DIGITS: [factors] */
    const uint32_t *rank;           /* RANKS: [group size], ROLE: [its ranks]; owned */
    topo_chip_id chip;              /* CHIP */
    uint32_t port; /* HOPS of one step: the port it leaves through; else NET_NONE */
};

/** The operation exists on chips whose digit of the space's axis is in [low, high]; elsewhere it is
 * done at once. */
struct net_guard {
    uint32_t axis; /* of the schedule's space */
    uint32_t low, high;
};

#define NET_DIGITS_MAX (2 * TOPO_FACTORS_MAX)
#define NET_DIGIT_ALL  INT32_MIN
#define NET_DIGIT_PEER (INT32_MIN + 1)

/**
 * Which pieces of the buffer a message carries; read by the correctness checker only.
 *
 * A buffer is cut into `parts` parts (colours), and each part into one shard per position in the
 * schedule's space (for all-to-all: per pair of source and destination position). A chunk is a box
 * of them: a range of parts, and per space axis one digit relative to the chip's own (modulo the
 * extent), the peer's, or all. Where there is no such rule it is a list for each rank of the role:
 * cell part * shards + shard, as net_schedule_set_cells() numbers them.
 */
struct net_chunk {
    uint32_t part_begin, part_count;
    int32_t digit[NET_DIGITS_MAX]; /* [space axes], all-to-all: [2 * space axes], source first */
    const uint32_t *begin, *cell;  /* cell[begin[place] .. begin[place + 1]]; NULL: the box */
};

struct net_op {
    enum net_op_kind kind;
    uint32_t peer, tag;         /* SEND, RECEIVE, REDUCE */
    uint32_t guard;             /* NET_NONE: on every chip */
    uint32_t chunk;             /* NET_NONE: not said */
    double bytes;               /* SEND; fractions are kept, so that divisibility does not matter */
    sim_ps duration_ps;         /* COMPUTE */
    const net_schedule *callee; /* CALL; borrowed */
    uint32_t call_id; /* CALL: calls of the same id on different chips are one collective */
    uint32_t label;   /* the maker's own number; reported to observers */
};

/* ---- making one ---- */

/**
 * An empty schedule over every group of `group` at once (each chip is in exactly one).
 * The space starts with the group's factors as its axes.
 */
net_schedule *net_schedule_create(const topo *t, const struct topo_group *group);
void net_schedule_destroy(net_schedule *s);

/** Use a line over all ranks as the one axis of the space: position p holds rank rank_at[p]
 * (copied). */
void net_schedule_set_line(net_schedule *s, const uint32_t *rank_at);

/** Chunks are lists over `parts` x `shards` cells. */
void net_schedule_set_cells(net_schedule *s, uint32_t parts, uint32_t shards);
/** Only the group of a chip takes part; the chips of the others do nothing. */
void net_schedule_set_one_group(net_schedule *s, topo_chip_id of);

/** Programs are numbered from 0 in the order they are made. */
uint32_t net_schedule_add_program(net_schedule *s);
/** Give ranks their programs ([group size], copied). Without it every chip runs program 0. */
void net_schedule_set_roles(net_schedule *s, const uint32_t *program_of_rank);

uint32_t net_peer_hops(net_schedule *s, const int32_t hops[TOPO_AXES_MAX]);
uint32_t net_peer_offset(net_schedule *s, const int32_t hops[TOPO_AXES_MAX]);
uint32_t net_peer_digits(net_schedule *s, const int32_t *digits); /* [factors] */
uint32_t net_peer_ranks(net_schedule *s, const uint32_t *rank);   /* [group size], copied */
/** `rank` is by place among the `ranks` ranks of one role, rising; copied. Roles must be set. */
uint32_t net_peer_role(net_schedule *s, const uint32_t *rank, uint32_t ranks);
uint32_t net_peer_chip(net_schedule *s, topo_chip_id chip);
uint32_t net_guard_add(net_schedule *s, uint32_t axis, uint32_t low, uint32_t high);
uint32_t net_chunk_add(net_schedule *s, struct net_chunk chunk);
/** Cells of each of a role's ranks: cell[begin[place] .. begin[place + 1]], places rising; copied.
 */
uint32_t net_chunk_list(net_schedule *s, uint32_t ranks, const uint32_t *begin,
                        const uint32_t *cell);

/** Append an operation (copied) and give its id. */
net_op_id net_op_add(net_schedule *s, uint32_t program, struct net_op op);
/** `op` waits for `earlier` (same program, smaller id). NET_NONE is allowed and means nothing. At
 * most 200 per op. */
void net_op_after(net_schedule *s, uint32_t program, net_op_id op, net_op_id earlier);

/** Finish: no more changes. Asserts that tags are unique per program and that ids are in range. */
void net_schedule_seal(net_schedule *s);

/* ---- reading one (sealed) ---- */

struct net_program {
    uint32_t op_count;
    const struct net_op *op;         /* [op_count] */
    const uint32_t *successor_begin; /* [op_count + 1] */
    const net_op_id *successor;      /* [successor_begin[op_count]] */
    const uint8_t *wait_count; /* [op_count] dependencies; at least 1: operations without any wait
                                  for the chip's entry, receives also wait for their message */
    uint32_t root_count;
    const net_op_id *root; /* [root_count] operations without dependencies */
    uint32_t guarded_receive_count;
    const net_op_id *guarded_receive; /* receives that some chips do not have */
    uint32_t tag_count;
    const net_op_id *receive_of_tag; /* [tag_count], NET_NONE where the program has none */
    const net_op_id *op_of_call; /* [net_schedule_calls()], NET_NONE where the program has none */
};

const topo *net_schedule_topo(const net_schedule *s);
const struct topo_group *net_schedule_group(const net_schedule *s);
uint32_t net_schedule_programs(const net_schedule *s);
const struct net_program *net_schedule_program(const net_schedule *s, uint32_t program);
const struct net_peer *net_schedule_peer(const net_schedule *s, uint32_t peer);
const struct net_chunk *net_schedule_chunk(const net_schedule *s, uint32_t chunk);
uint32_t net_schedule_peers(const net_schedule *s);
uint32_t net_schedule_guards(const net_schedule *s);
const struct net_guard *net_schedule_guard(const net_schedule *s, uint32_t guard);
uint32_t net_schedule_space_axes(const net_schedule *s);
uint32_t net_schedule_space_extent(const net_schedule *s, uint32_t axis);
/** Calls in any of its programs: ids 0 .. count-1. */
uint32_t net_schedule_calls(const net_schedule *s);

/** Cells as set, or 0 and 0 where chunks are boxes. */
uint32_t net_schedule_parts(const net_schedule *s);
uint32_t net_schedule_shards(const net_schedule *s);
/** Does the chip's group take part? */
bool net_schedule_is_active(const net_schedule *s, topo_chip_id chip);
uint32_t net_role(const net_schedule *s, topo_chip_id chip);
/** The chip's place among the ranks of its role. */
uint32_t net_place(const net_schedule *s, topo_chip_id chip);
uint32_t net_space_digit(const net_schedule *s, topo_chip_id chip, uint32_t axis);
bool net_op_exists(const net_schedule *s, topo_chip_id chip, const struct net_op *op);
topo_chip_id net_peer_of(const net_schedule *s, topo_chip_id chip, uint32_t peer);
/** The peer, and the paths of a message to it: the walk along its hops, around a failed cable the
 * routing's. */
topo_chip_id net_paths_to_peer(const net_schedule *s, topo_chip_id chip, uint32_t peer,
                               struct topo_paths *paths);

#endif
