/*
 * MSCCL XML to arrays, with expat: a table of attributes per element, and the place of each element
 * for messages. Attributes without a row here are ignored, as the runtime does; elements are not.
 *
 * Document types are refused, so there are no entities that could expand. Memory is what the steps
 * take; the file is read piece by piece.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <expat.h>

#include "base/arena.h"
#include "base/log.h"
#include "collectives/msccl_internal.h"

#define FILE_BYTES_MAX (UINT64_C(256) << 20)
#define PIECE_BYTES    65536
/* One tag or comment. The parser starts over with an unfinished one at every piece, which takes
 * minutes when it goes on for ever. */
#define TOKEN_BYTES_MAX (1 << 20)

enum level { OUTSIDE, IN_ALGO, IN_GPU, IN_BLOCK, IN_STEP };
static const char *const element_names[] = {"algo", "gpu", "tb", "step"};

struct reader {
    XML_Parser parser;
    coll_msccl *a;
    struct sim_error *err;
    enum sim_status status;
    int level; /* elements open */
    uint32_t blocks_of_gpu;
};

/* ---- errors ---- */

static int line_of(const struct reader *r)
{
    XML_Size line = XML_GetCurrentLineNumber(r->parser);
    return line < INT32_MAX ? (int)line : INT32_MAX;
}

static int column_of(const struct reader *r)
{
    XML_Size column = XML_GetCurrentColumnNumber(r->parser);
    return column < INT32_MAX ? (int)column + 1 : INT32_MAX;
}

static void SIM_PRINTF(2, 3) fail(struct reader *r, const char *format, ...)
{
    char text[384];
    va_list args;
    if (r->status != SIM_OK) return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    r->status = sim_error_at(r->err, SIM_EDATA, r->a->file, line_of(r), column_of(r), "%s", text);
    XML_StopParser(r->parser, XML_FALSE);
}

/* ---- attributes ---- */

struct field {
    const char *name;
    int64_t low, high;
    bool is_optional; /* then `missing` is the value */
    int64_t missing;
};

enum { ALGO_CHANNELS, ALGO_CHUNKS, ALGO_GPUS, ALGO_IN, ALGO_OUT, ALGO_LEAST, ALGO_MOST };
static const struct field algo_fields[] = {
    {"nchannels", 1, MSCCL_CHANNELS_MAX}, {"nchunksperloop", 1, MSCCL_CHUNKS_MAX},
    {"ngpus", 1, MSCCL_GPUS_MAX},         {"inplace", 0, 1},
    {"outofplace", 0, 1, true, -1},       {"minBytes", 0, INT64_MAX, true, 0},
    {"maxBytes", 0, INT64_MAX, true, 0},  {NULL}};

enum { GPU_ID, GPU_INPUT, GPU_OUTPUT, GPU_SCRATCH };
static const struct field gpu_fields[] = {{"id", 0, INT32_MAX},
                                          {"i_chunks", 0, MSCCL_CHUNKS_MAX},
                                          {"o_chunks", 0, MSCCL_CHUNKS_MAX},
                                          {"s_chunks", 0, MSCCL_CHUNKS_MAX},
                                          {NULL}};

enum { BLOCK_ID, BLOCK_SEND, BLOCK_RECEIVE, BLOCK_CHANNEL };
static const struct field block_fields[] = {{"id", 0, INT32_MAX},
                                            {"send", -1, INT32_MAX},
                                            {"recv", -1, INT32_MAX},
                                            {"chan", -1, MSCCL_CHANNELS_MAX - 1},
                                            {NULL}};

enum { STEP_INDEX, STEP_SRC, STEP_DST, STEP_COUNT, STEP_DEP_BLOCK, STEP_DEP, STEP_HAS_DEP };
static const struct field step_fields[] = {{"s", 0, MSCCL_STEPS_MAX - 1},
                                           {"srcoff", -1, INT32_MAX},
                                           {"dstoff", -1, INT32_MAX},
                                           {"cnt", 0, MSCCL_COUNT_MAX},
                                           {"depid", -1, INT32_MAX},
                                           {"deps", -1, INT32_MAX},
                                           {"hasdep", 0, 1},
                                           {NULL}};
#define FIELDS_MAX 7

static const char *find(const XML_Char **attributes, const char *name)
{
    for (; attributes[0] != NULL; attributes += 2)
        if (strcmp(attributes[0], name) == 0) return attributes[1];
    return NULL;
}

/* Digits with a sign before them, and nothing else. */
static bool parse_whole(const char *text, int64_t *out)
{
    const char *digits = text + (text[0] == '-');
    if (digits[0] == 0 || digits[strspn(digits, "0123456789")] != 0) return false;
    errno = 0;
    *out = strtoll(text, NULL, 10);
    return errno == 0;
}

static const char *element(const struct reader *r)
{
    return element_names[r->level - 1];
}

/* Values of a table's attributes, in its order. */
static bool take_fields(struct reader *r, const XML_Char **attributes, const struct field *field,
                        int64_t *value)
{
    char quote[SIM_QUOTE_TEXT];
    for (; field->name != NULL; field++, value++) {
        const char *text = find(attributes, field->name);
        *value = field->missing;
        if (text == NULL && field->is_optional) continue;
        if (text == NULL) {
            fail(r, "<%s> has no attribute %s, want a whole number", element(r), field->name);
            return false;
        }
        if (parse_whole(text, value) && *value >= field->low && *value <= field->high) continue;
        if (field->high >= INT32_MAX)
            fail(r, "%s of <%s> is %s, want a whole number from %lld", field->name, element(r),
                 sim_error_quote(text, quote), (long long)field->low);
        else
            fail(r, "%s of <%s> is %s, want a whole number from %lld to %lld", field->name,
                 element(r), sim_error_quote(text, quote), (long long)field->low,
                 (long long)field->high);
        return false;
    }
    return true;
}

static const char *take_text(struct reader *r, const XML_Char **attributes, const char *name)
{
    const char *text = find(attributes, name);
    if (text == NULL) fail(r, "<%s> has no attribute %s", element(r), name);
    return text;
}

/* One of a list of words; false when it is missing or none of them. */
static bool take_word(struct reader *r, const XML_Char **attributes, const char *name,
                      const char *const *words, const char *wanted, int *out)
{
    char quote[SIM_QUOTE_TEXT];
    const char *text = take_text(r, attributes, name);
    if (text == NULL) return false;
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(words[i], text) == 0) {
            *out = i;
            return true;
        }
    fail(r, "%s of <%s> is %s, want %s", name, element(r), sim_error_quote(text, quote), wanted);
    return false;
}

/* ---- elements ---- */

/* Generators write names of any length, whatever runtimes keep of them: cut, at a character. */
static bool take_name(struct reader *r, const XML_Char **attributes)
{
    const char *text = take_text(r, attributes, "name");
    if (text == NULL) return false;
    size_t length = strlen(text);
    if (length > MSCCL_NAME_MAX) length = MSCCL_NAME_MAX;
    while (length > 0 && ((unsigned char)text[length] & 0xC0) == 0x80)
        length--;
    if (length == 0) {
        fail(r, "name of <algo> is empty");
        return false;
    }
    memcpy(r->a->name, text, length);
    for (char *c = r->a->name; *c != 0; c++)
        if ((unsigned char)*c < 0x20 || *c == 0x7F) *c = '?';
    return true;
}

static void take_algo(struct reader *r, const XML_Char **attributes)
{
    coll_msccl *a = r->a;
    int64_t v[FIELDS_MAX];
    char quote[SIM_QUOTE_TEXT];
    a->line = line_of(r);
    if (!take_name(r, attributes) || !take_fields(r, attributes, algo_fields, v)) return;
    if (!take_word(r, attributes, "proto", msccl_proto_names, "Simple, LL or LL128", &a->proto))
        return;
    const char *coll = take_text(r, attributes, "coll");
    if (coll != NULL && !msccl_coll_parse(coll, &a->op))
        fail(r,
             "coll of <algo> is %s, want allreduce, allgather, reduce, broadcast, alltoall, "
             "reduce_scatter or custom",
             sim_error_quote(coll, quote));
    a->channels = (uint32_t)v[ALGO_CHANNELS];
    a->chunks = (uint32_t)v[ALGO_CHUNKS];
    a->gpus = (uint32_t)v[ALGO_GPUS];
    a->in_place = v[ALGO_IN] == 1;
    a->out_of_place = v[ALGO_OUT] == -1 ? !a->in_place : v[ALGO_OUT] == 1;
    a->least_bytes = (uint64_t)v[ALGO_LEAST];
    a->most_bytes = (uint64_t)v[ALGO_MOST];
    if (!a->in_place && !a->out_of_place)
        fail(r, "inplace and outofplace of <algo> are both 0: it is for nothing");
}

static void take_gpu(struct reader *r, const XML_Char **attributes)
{
    int64_t v[FIELDS_MAX];
    if (!take_fields(r, attributes, gpu_fields, v)) return;
    if (r->a->gpu_count == r->a->gpus) {
        fail(r, "one more <gpu> than ngpus says (%u)", r->a->gpus);
        return;
    }
    struct msccl_gpu *gpu = msccl_add_gpu(r->a, (uint32_t)v[GPU_ID]);
    for (int i = 0; i < MSCCL_BUFFERS; i++)
        gpu->chunks[i] = (uint32_t)v[GPU_INPUT + i];
    gpu->line = line_of(r);
    gpu->column = column_of(r);
    r->blocks_of_gpu = 0;
}

static void take_block(struct reader *r, const XML_Char **attributes)
{
    int64_t v[FIELDS_MAX];
    if (!take_fields(r, attributes, block_fields, v)) return;
    if (r->blocks_of_gpu++ == MSCCL_BLOCKS_MAX) {
        fail(r, "gpu %u has more than %d thread blocks", r->a->gpu[r->a->gpu_count - 1].id,
             MSCCL_BLOCKS_MAX);
        return;
    }
    struct msccl_block *block = msccl_add_block(r->a);
    block->id = (int32_t)v[BLOCK_ID];
    block->send = (int32_t)v[BLOCK_SEND];
    block->receive = (int32_t)v[BLOCK_RECEIVE];
    block->channel = (int32_t)v[BLOCK_CHANNEL];
    block->line = line_of(r);
    block->column = column_of(r);
}

static void take_step(struct reader *r, const XML_Char **attributes)
{
    static const char *const type_text = "s, r, rcs, rrc, rrs, rrcs, cpy, re or nop";
    int64_t v[FIELDS_MAX];
    int type, src, dst;
    const char *text = take_text(r, attributes, "type");
    if (text != NULL && strcmp(text, "ra") == 0)
        fail(r, "step type \"ra\" is an extension of one runtime and not read, want %s", type_text);
    if (r->status != SIM_OK ||
        !take_word(r, attributes, "type", msccl_type_names, type_text, &type) ||
        !take_word(r, attributes, "srcbuf", msccl_buffer_names, "i, o or s", &src) ||
        !take_word(r, attributes, "dstbuf", msccl_buffer_names, "i, o or s", &dst) ||
        !take_fields(r, attributes, step_fields, v))
        return;
    if (r->a->step_count == MSCCL_ALL_STEPS) {
        fail(r, "the algorithm has more than %u steps", MSCCL_ALL_STEPS);
        return;
    }
    struct msccl_step *step = msccl_add_step(r->a);
    step->type = (enum msccl_type)type;
    step->src_buffer = (enum msccl_buffer)src;
    step->dst_buffer = (enum msccl_buffer)dst;
    step->src_offset = (int32_t)v[STEP_SRC];
    step->dst_offset = (int32_t)v[STEP_DST];
    step->count = (int32_t)v[STEP_COUNT];
    step->index = (int32_t)v[STEP_INDEX];
    step->dep_block = (int32_t)v[STEP_DEP_BLOCK];
    step->dep_index = (int32_t)v[STEP_DEP];
    step->has_dependent = v[STEP_HAS_DEP] == 1;
    step->line = line_of(r);
    step->column = column_of(r);
}

static void XMLCALL on_start(void *context, const XML_Char *name, const XML_Char **attributes)
{
    static void (*const takers[])(struct reader *, const XML_Char **) = {take_algo, take_gpu,
                                                                         take_block, take_step};
    struct reader *r = context;
    char quote[SIM_QUOTE_TEXT];
    if (r->status != SIM_OK) return;
    if (r->level == IN_STEP) {
        fail(r, "found element %s inside <step>, want none", sim_error_quote(name, quote));
    } else if (strcmp(name, element_names[r->level]) != 0) {
        fail(r, "found element %s, want <%s>", sim_error_quote(name, quote),
             element_names[r->level]);
    } else {
        r->level++;
        takers[r->level - 1](r, attributes);
    }
}

static void XMLCALL on_end(void *context, const XML_Char *name)
{
    struct reader *r = context;
    (void)name;
    if (r->status == SIM_OK) r->level--;
}

static void XMLCALL on_doctype(void *context, const XML_Char *name, const XML_Char *system,
                               const XML_Char *public, int has_subset)
{
    (void)name;
    (void)system;
    (void)public;
    (void)has_subset;
    fail(context, "has a document type, which is not read (nor are its entities)");
}

static void XMLCALL on_entity(void *context, const XML_Char *name, int is_parameter,
                              const XML_Char *value, int length, const XML_Char *base,
                              const XML_Char *system, const XML_Char *public,
                              const XML_Char *notation)
{
    (void)name;
    (void)is_parameter;
    (void)value;
    (void)length;
    (void)base;
    (void)system;
    (void)public;
    (void)notation;
    fail(context, "defines an XML entity, which is not read");
}

/* ---- the file ---- */

static void xml_error(struct reader *r)
{
    enum XML_Error code = XML_GetErrorCode(r->parser);
    if (code == XML_ERROR_NO_ELEMENTS && r->level == 0)
        fail(r, "is empty, want <algo>");
    else if (code == XML_ERROR_NO_ELEMENTS || code == XML_ERROR_UNCLOSED_TOKEN)
        fail(r, "ends before </algo>");
    else
        fail(r, "is not well-formed XML: %s", XML_ErrorString(code));
}

static void parse(struct reader *r, FILE *in)
{
    uint64_t total = 0;
    bool is_end = false;
    while (r->status == SIM_OK && !is_end) {
        void *piece = XML_GetBuffer(r->parser, PIECE_BYTES);
        if (piece == NULL) {
            fail(r, "is too much for the XML parser");
            return;
        }
        size_t got = fread(piece, 1, PIECE_BYTES, in);
        total += got;
        is_end = got == 0;
        if (ferror(in))
            r->status = sim_error_at(r->err, SIM_ENOINPUT, r->a->file, 0, 0, "cannot read: %s",
                                     strerror(errno));
        else if (total > FILE_BYTES_MAX)
            r->status = sim_error_at(r->err, SIM_EDATA, r->a->file, 0, 0, "is larger than %llu MiB",
                                     (unsigned long long)(FILE_BYTES_MAX >> 20));
        else if (XML_ParseBuffer(r->parser, (int)got, is_end) != XML_STATUS_OK)
            xml_error(r);
        else if ((int64_t)total - XML_GetCurrentByteIndex(r->parser) > TOKEN_BYTES_MAX)
            fail(r, "has a tag or comment of more than %d MiB", TOKEN_BYTES_MAX >> 20);
    }
}

static enum sim_status read_file(coll_msccl *a, FILE *in, struct sim_error *err)
{
    struct reader r = {.a = a, .err = err, .parser = XML_ParserCreate(NULL)};
    if (r.parser == NULL)
        return sim_error_at(err, SIM_ERESOURCE, a->file, 0, 0, "no memory for the XML parser");
    XML_SetUserData(r.parser, &r);
    XML_SetElementHandler(r.parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(r.parser, on_doctype);
    XML_SetEntityDeclHandler(r.parser, on_entity);
    parse(&r, in);
    XML_ParserFree(r.parser);
    return r.status;
}

/* The runtime never tells a step's dependents that it is done unless hasdep is 1. */
static void warn_of_silence(const coll_msccl *a)
{
    char text[MSCCL_STEP_TEXT];
    for (uint32_t i = 0; i < a->step_count; i++) {
        if (a->step[i].dep == NET_NONE || a->step[a->step[i].dep].has_dependent) continue;
        const struct msccl_step *silent = &a->step[a->step[i].dep];
        sim_log(SIM_LOG_WARN, "%s:%d: %s has hasdep 0, but a step depends on it; taken as 1",
                a->file, silent->line, msccl_step_text(a, silent, text));
        return;
    }
}

enum sim_status coll_msccl_read(const char *path, struct sim_error *err, coll_msccl **out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *in = is_stdin ? stdin : fopen(path, "rb");
    if (in == NULL)
        return sim_error_at(err, SIM_ENOINPUT, path, 0, 0, "cannot open: %s", strerror(errno));
    coll_msccl *a = msccl_create(path);
    enum sim_status status = read_file(a, in, err);
    if (!is_stdin) fclose(in);
    if (status == SIM_OK) status = msccl_finish(a, err);
    if (status != SIM_OK) {
        coll_msccl_destroy(a);
        return status;
    }
    warn_of_silence(a);
    *out = a;
    return SIM_OK;
}
