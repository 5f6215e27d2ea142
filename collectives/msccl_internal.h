/**
 * What the files of msccl_*.c share: an algorithm in memory, its order, its buffers.
 *
 *     msccl_read.c       XML to arrays             msccl_export.c    schedules to arrays
 *     msccl_structure.c  ids, peers, bounds        msccl_write.c     arrays to XML
 *     msccl_match.c      sends meet receives       msccl_depend.c    their dependences
 *     msccl_order.c      what runs before what     msccl_schedule.c  arrays to a schedule
 *     msccl_race.c, msccl_data.c                   the two halves of coll_msccl_check()
 */
#ifndef PODSIM_COLLECTIVES_MSCCL_INTERNAL_H
#define PODSIM_COLLECTIVES_MSCCL_INTERNAL_H

#include "collectives/msccl.h"

/* Those of the runtime that reads these files are 256 steps a block and 71 chunks a step; the rest
 * keeps hostile files from asking for absurd amounts of memory. */
#define MSCCL_GPUS_MAX     1024
#define MSCCL_BLOCKS_MAX   256 /* of a gpu */
#define MSCCL_STEPS_MAX    256 /* of a block */
#define MSCCL_ALL_STEPS    (UINT32_C(1) << 20)
#define MSCCL_CHUNKS_MAX   65535 /* of a buffer */
#define MSCCL_COUNT_MAX    71
#define MSCCL_CHANNELS_MAX 64
#define MSCCL_NAME_MAX     63

enum msccl_buffer { MSCCL_INPUT, MSCCL_OUTPUT, MSCCL_SCRATCH, MSCCL_BUFFERS };
extern const char *const msccl_buffer_names[MSCCL_BUFFERS + 1]; /* "i", "o", "s" */
extern const char *const msccl_proto_names[];

enum msccl_type {
    MSCCL_SEND,
    MSCCL_RECEIVE,
    MSCCL_RECEIVE_COPY_SEND,
    MSCCL_RECEIVE_REDUCE_COPY,
    MSCCL_RECEIVE_REDUCE_SEND,
    MSCCL_RECEIVE_REDUCE_COPY_SEND,
    MSCCL_COPY,
    MSCCL_REDUCE,
    MSCCL_NOP,
    MSCCL_TYPES
};
extern const char *const msccl_type_names[MSCCL_TYPES + 1];

/** What a type of step does: `adds` what it receives, or of a reduce its source, to local data. */
struct msccl_traits {
    bool receives, sends, reads_src, reads_dst, writes_dst, adds;
};
extern const struct msccl_traits msccl_traits[MSCCL_TYPES];

struct msccl_step {
    enum msccl_type type;
    enum msccl_buffer src_buffer, dst_buffer;
    int32_t src_offset, dst_offset, count;
    int32_t index;                  /* the file's s */
    int32_t dep_block, dep_index;   /* the file's depid and deps; -1: none */
    bool has_dependent;             /* the file's hasdep */
    uint32_t block;                 /* index of its thread block */
    uint32_t dep, sender, receiver; /* steps it waits for, gets from and sends to, or NET_NONE */
    int line, column;
};

struct msccl_block {
    int32_t id, send, receive, channel;
    uint32_t gpu; /* id */
    uint32_t step_begin, step_end;
    int line, column;
};

struct msccl_gpu {
    uint32_t id;
    uint32_t chunks[MSCCL_BUFFERS];
    uint32_t block_begin, block_end;
    int line, column;
};

struct coll_msccl {
    char *file, name[MSCCL_NAME_MAX + 1];
    int proto;
    enum coll_op op; /* COLL_OPS: custom */
    uint32_t gpus, channels;
    uint32_t chunks; /* nchunksperloop */
    bool in_place, out_of_place;
    uint64_t least_bytes, most_bytes; /* most 0: not limited */
    int line;
    struct msccl_gpu *gpu; /* after coll_msccl_read(): by id */
    uint32_t gpu_count, gpu_capacity;
    struct msccl_block *block; /* those of a gpu, and the steps of a block, lie together */
    uint32_t block_count, block_capacity;
    struct msccl_step *step;
    uint32_t step_count, step_capacity;
};

/** Name of the file's coll attribute for an operation; NULL when it has none. */
const char *msccl_coll_name(enum coll_op op);
/** The operation of a coll attribute; false when there is none (COLL_OPS: custom). */
bool msccl_coll_parse(const char *name, enum coll_op *out);

coll_msccl *msccl_create(const char *file);
/** The same but for gpus, thread blocks and steps, of which it has none. */
coll_msccl *msccl_create_like(const coll_msccl *a);
/** Append, with what is not known yet 0; steps and blocks belong to the last block and gpu. */
struct msccl_gpu *msccl_add_gpu(coll_msccl *a, uint32_t id);
struct msccl_block *msccl_add_block(coll_msccl *a);
struct msccl_step *msccl_add_step(coll_msccl *a);

/** "gpu 0, thread block 1, step 2: " before the message, and the step's place in the file. */
enum sim_status msccl_step_error(const coll_msccl *a, const struct msccl_step *step,
                                 struct sim_error *err, const char *format, ...) SIM_PRINTF(4, 5);

#define MSCCL_STEP_TEXT 64
/** "gpu 0, thread block 1, step 2". Returns `buffer`. */
const char *msccl_step_text(const coll_msccl *a, const struct msccl_step *step, char *buffer);

/* ---- checks of coll_msccl_read() and coll_msccl_export() ---- */

SIM_MUST_CHECK enum sim_status msccl_check_structure(coll_msccl *a, struct sim_error *err);
/** Sets sender and receiver of all steps. */
SIM_MUST_CHECK enum sim_status msccl_match(coll_msccl *a, struct sim_error *err);

/** All of these and the order: can it run? */
SIM_MUST_CHECK enum sim_status msccl_finish(coll_msccl *a, struct sim_error *err);

/* ---- order ---- */

struct msccl_edge {
    uint32_t earlier, later; /* steps */
};

/** Every step after those it waits for: in its block, by dependence, by message. */
struct msccl_order {
    uint32_t count, *sequence;       /* [step_count], the first `count` are set */
    uint32_t *position;              /* [step_count] in the sequence */
    uint32_t *before_begin, *before; /* [step_count + 1] what each waits for */
};
/** With further edges. Not complete (count < step_count) where steps wait in a circle. */
struct msccl_order msccl_order_make(const coll_msccl *a, const struct msccl_edge *extra,
                                    uint32_t extra_count);
void msccl_order_release(struct msccl_order *order);
/** Errors: SIM_EDATA with a circle of steps. */
SIM_MUST_CHECK enum sim_status
msccl_order_check(const coll_msccl *a, const struct msccl_order *order, struct sim_error *err);

/** An algorithm whose dependences are edges (sorted here), with dependences in the steps instead;
 * finished and checked. */
SIM_MUST_CHECK enum sim_status msccl_with_edges(const coll_msccl *draft, struct msccl_edge *edge,
                                                uint32_t edges, uint32_t root,
                                                struct sim_error *err, coll_msccl **out);

/* ---- buffers ---- */

/** Chunks that input or output have by the collective's meaning. */
uint32_t msccl_buffer_chunks(const coll_msccl *a, enum msccl_buffer buffer);
/** Number of a chunk among all of a gpu's, the same for two names of one place. */
uint32_t msccl_place(const coll_msccl *a, bool is_in_place, uint32_t gpu, enum msccl_buffer buffer,
                     uint32_t offset);
/** One more than the largest. */
uint32_t msccl_places(const coll_msccl *a, uint32_t gpu);

/** Two steps of a gpu touch a chunk, one writes it, and neither is before the other. Return true
 * to go on as if the earlier were before the later. */
typedef bool (*msccl_race_fn)(void *context, uint32_t earlier, uint32_t later);
/** Of each gpu in order, until `on_race` returns false for it. */
void msccl_find_races(const coll_msccl *a, const struct msccl_order *order, bool is_in_place,
                      msccl_race_fn on_race, void *context);
SIM_MUST_CHECK enum sim_status msccl_check_data(const coll_msccl *a,
                                                const struct msccl_order *order, bool is_in_place,
                                                uint32_t root, struct sim_error *err);

#endif
