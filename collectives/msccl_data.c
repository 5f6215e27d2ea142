/*
 * Does an algorithm do what its collective promises? Run in order, with what each chunk holds in
 * place of bytes: which chunk of the input buffers it is of, and whose contributions are in it.
 * Without races any order gives the same, so one is enough.
 *
 *     add    of two chunks of the same number, with no gpu in both; else the sum is spoilt, and
 *            remembers where
 *
 * A value is an array of words: number and place of the fault, then a bit per gpu.
 */
#include <string.h>

#include "base/arena.h"
#include "collectives/msccl_internal.h"

/* Numbers that are none. */
#define MIXED   (UINT32_MAX - 2)
#define DOUBLED (UINT32_MAX - 1)
#define EMPTY   UINT32_MAX

struct data {
    const coll_msccl *a;
    bool is_in_place;
    uint32_t words;     /* of a value */
    size_t *first;      /* [gpus + 1] places of the gpus before */
    uint64_t *value;    /* [first[gpus] x words] */
    uint32_t *writer;   /* [first[gpus]] the step that wrote it last, or NET_NONE */
    uint64_t **message; /* [step_count] values on their way, of the step that sent them */
    uint64_t *result;   /* scratch: one value */
};

static uint32_t number_of(const uint64_t *value)
{
    return (uint32_t)value[0];
}

static uint32_t fault_of(const uint64_t *value)
{
    return (uint32_t)(value[0] >> 32);
}

static bool has_gpu(const uint64_t *value, uint32_t gpu)
{
    return value[1 + gpu / 64] >> gpu % 64 & 1;
}

static size_t place_of(const struct data *d, uint32_t gpu, enum msccl_buffer buffer,
                       uint32_t offset)
{
    return d->first[gpu] + msccl_place(d->a, d->is_in_place, gpu, buffer, offset);
}

/* ---- set up and take down ---- */

static void init_gpu(struct data *d, uint32_t gpu, uint32_t root)
{
    for (size_t p = d->first[gpu]; p < d->first[gpu + 1]; p++) {
        d->value[p * d->words] = EMPTY;
        d->writer[p] = NET_NONE;
    }
    uint32_t chunks = msccl_buffer_chunks(d->a, MSCCL_INPUT);
    if (d->a->op == COLL_BROADCAST && gpu != root) return;
    for (uint32_t c = 0; c < chunks; c++) {
        uint64_t *value = d->value + place_of(d, gpu, MSCCL_INPUT, c) * d->words;
        value[0] = c;
        value[1 + gpu / 64] = UINT64_C(1) << gpu % 64;
    }
}

static void init(struct data *d, const coll_msccl *a, bool is_in_place, uint32_t root)
{
    *d = (struct data){.a = a, .is_in_place = is_in_place, .words = 1 + (a->gpus + 63) / 64};
    d->first = SIM_NEW(size_t, a->gpus + 1);
    for (uint32_t g = 0; g < a->gpus; g++)
        d->first[g + 1] = d->first[g] + msccl_places(a, g);
    d->value = SIM_NEW(uint64_t, d->first[a->gpus] * d->words);
    d->writer = SIM_NEW(uint32_t, d->first[a->gpus]);
    d->message = SIM_NEW(uint64_t *, a->step_count);
    d->result = SIM_NEW(uint64_t, d->words);
    for (uint32_t g = 0; g < a->gpus; g++)
        init_gpu(d, g, root);
}

static void release(struct data *d)
{
    for (uint32_t i = 0; i < d->a->step_count; i++)
        sim_free(d->message[i]);
    sim_free(d->message);
    sim_free(d->first);
    sim_free(d->value);
    sim_free(d->writer);
    sim_free(d->result);
}

/* ---- steps ---- */

static enum sim_status read_chunk(const struct data *d, const struct msccl_step *step,
                                  const char *end, enum msccl_buffer buffer, int32_t offset,
                                  struct sim_error *err, const uint64_t **out)
{
    size_t place = place_of(d, d->a->block[step->block].gpu, buffer, (uint32_t)offset);
    *out = d->value + place * d->words;
    if (number_of(*out) != EMPTY) return SIM_OK;
    return msccl_step_error(d->a, step, err, "%s chunk %d of buffer %s holds nothing yet", end,
                            offset, msccl_buffer_names[buffer]);
}

/* result += value */
static void add(struct data *d, const uint64_t *value, uint32_t step)
{
    uint64_t *sum = d->result;
    uint32_t number = number_of(sum), other = number_of(value), fault = fault_of(sum);
    bool is_double = false;
    for (uint32_t w = 1; w < d->words; w++) {
        is_double = is_double || (sum[w] & value[w]) != 0;
        sum[w] |= value[w];
    }
    if (number >= MIXED) return;
    if (other >= MIXED) {
        number = other;
        fault = fault_of(value);
    } else if (number != other || is_double) {
        number = number != other ? MIXED : DOUBLED;
        fault = step;
    }
    sum[0] = number | (uint64_t)fault << 32;
}

/* Chunk c of a step. */
static enum sim_status run_chunk(struct data *d, uint32_t i, int32_t c, struct sim_error *err)
{
    const struct msccl_step *step = &d->a->step[i];
    const struct msccl_traits *traits = &msccl_traits[step->type];
    size_t bytes = d->words * sizeof *d->result;
    const uint64_t *src = NULL, *first = NULL;
    if (traits->reads_src)
        SIM_TRY(read_chunk(d, step, "src", step->src_buffer, step->src_offset + c, err, &src));
    if (traits->reads_dst)
        SIM_TRY(read_chunk(d, step, "dst", step->dst_buffer, step->dst_offset + c, err, &first));
    if (traits->receives) first = d->message[step->sender] + (size_t)c * d->words;
    memcpy(d->result, first != NULL ? first : src, bytes);
    if (traits->adds) add(d, src, i);
    if (traits->writes_dst) {
        size_t place = place_of(d, d->a->block[step->block].gpu, step->dst_buffer,
                                (uint32_t)(step->dst_offset + c));
        memcpy(d->value + place * d->words, d->result, bytes);
        d->writer[place] = i;
    }
    if (traits->sends) memcpy(d->message[i] + (size_t)c * d->words, d->result, bytes);
    return SIM_OK;
}

static enum sim_status run_step(struct data *d, uint32_t i, struct sim_error *err)
{
    const struct msccl_step *step = &d->a->step[i];
    if (step->type == MSCCL_NOP) return SIM_OK;
    if (msccl_traits[step->type].sends)
        d->message[i] = SIM_NEW(uint64_t, (size_t)step->count * d->words);
    for (int32_t c = 0; c < step->count; c++)
        SIM_TRY(run_chunk(d, i, c, err));
    if (msccl_traits[step->type].receives) {
        sim_free(d->message[step->sender]);
        d->message[step->sender] = NULL;
    }
    return SIM_OK;
}

/* ---- the verdict ---- */

/* What output chunk c of a gpu is to be: chunk `number` of `giver`, or the sum over all (NET_NONE).
 */
static void wanted(const struct data *d, uint32_t gpu, uint32_t c, uint32_t root, uint32_t *number,
                   uint32_t *giver)
{
    uint32_t share = d->a->chunks / d->a->gpus;
    *number = c;
    *giver = NET_NONE;
    if (d->a->op == COLL_BROADCAST) *giver = root;
    if (d->a->op == COLL_REDUCE_SCATTER) *number = gpu * share + c;
    if (d->a->op == COLL_ALL_GATHER || d->a->op == COLL_ALL_TO_ALL) {
        *giver = c / share;
        *number = (d->a->op == COLL_ALL_TO_ALL ? gpu * share : 0) + c % share;
    }
}

/* A wrong chunk: `what` of it, and the step that made it so. */
static enum sim_status SIM_PRINTF(6, 7)
    wrong(const struct data *d, uint32_t gpu, uint32_t c, uint32_t step, struct sim_error *err,
          const char *format, ...)
{
    char what[128], by[MSCCL_STEP_TEXT + 16] = "no step wrote it", text[MSCCL_STEP_TEXT];
    const coll_msccl *a = d->a;
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    int line = a->gpu[gpu].line, column = a->gpu[gpu].column;
    if (step != NET_NONE) {
        snprintf(by, sizeof by, "by %s", msccl_step_text(a, &a->step[step], text));
        line = a->step[step].line;
        column = a->step[step].column;
    }
    return sim_error_at(err, SIM_EDATA, a->file, line, column,
                        "%s, %s: at the end output chunk %u of gpu %u %s (%s)",
                        msccl_coll_name(a->op), d->is_in_place ? "in place" : "out of place", c,
                        gpu, what, by);
}

static enum sim_status judge_chunk(const struct data *d, uint32_t gpu, uint32_t c, uint32_t root,
                                   struct sim_error *err)
{
    size_t place = place_of(d, gpu, MSCCL_OUTPUT, c);
    const uint64_t *value = d->value + place * d->words;
    uint32_t number, giver, writer = d->writer[place];
    wanted(d, gpu, c, root, &number, &giver);
    if (number_of(value) == EMPTY) return wrong(d, gpu, c, writer, err, "holds nothing");
    if (number_of(value) == DOUBLED)
        return wrong(d, gpu, c, fault_of(value), err, "has a contribution twice");
    if (number_of(value) == MIXED)
        return wrong(d, gpu, c, fault_of(value), err, "is a sum of different chunks");
    if (number_of(value) != number)
        return wrong(d, gpu, c, writer, err, "is of input chunk %u, want %u", number_of(value),
                     number);
    for (uint32_t g = 0; g < d->a->gpus; g++) {
        bool is_wanted = giver == NET_NONE || giver == g;
        if (has_gpu(value, g) != is_wanted)
            return wrong(d, gpu, c, writer, err, "%s the contribution of gpu %u",
                         is_wanted ? "lacks" : "has in excess", g);
    }
    return SIM_OK;
}

static enum sim_status judge(const struct data *d, uint32_t root, struct sim_error *err)
{
    uint32_t chunks = msccl_buffer_chunks(d->a, MSCCL_OUTPUT);
    for (uint32_t g = 0; g < d->a->gpus; g++) {
        if (d->a->op == COLL_REDUCE && g != root) continue;
        for (uint32_t c = 0; c < chunks; c++)
            SIM_TRY(judge_chunk(d, g, c, root, err));
    }
    return SIM_OK;
}

/* A short file may ask for many chunks on many gpus. */
static enum sim_status check_memory(const coll_msccl *a, struct sim_error *err)
{
    uint64_t available = sim_memory_available_bytes(), places = 0;
    for (uint32_t g = 0; g < a->gpus; g++)
        places += msccl_places(a, g);
    uint64_t bytes = places * (12 + ((uint64_t)a->gpus + 63) / 64 * 8);
    if (available == 0 || bytes <= available / 2) return SIM_OK;
    return sim_error_at(err, SIM_ERESOURCE, a->file, a->line, 0,
                        "checking %llu chunks on %u gpus takes %llu MiB, more than half of what is "
                        "available",
                        (unsigned long long)places, a->gpus, (unsigned long long)(bytes >> 20));
}

enum sim_status msccl_check_data(const coll_msccl *a, const struct msccl_order *order,
                                 bool is_in_place, uint32_t root, struct sim_error *err)
{
    struct data d;
    enum sim_status status = SIM_OK;
    SIM_TRY(check_memory(a, err));
    init(&d, a, is_in_place, root);
    for (uint32_t k = 0; k < order->count && status == SIM_OK; k++)
        status = run_step(&d, order->sequence[k], err);
    if (status == SIM_OK) status = judge(&d, root, err);
    release(&d);
    return status;
}
