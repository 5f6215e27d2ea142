/*
 * From libyaml's events to nodes.
 *
 * Events rather than libyaml's own documents, since only here can a hostile file be stopped in
 * time: an alias is refused before it is followed, and nesting is counted as it opens, so 200,000
 * brackets end at the 65th instead of taking libyaml minutes. Open collections sit on a stack of
 * fixed depth. The children of all of them share one array of pending pointers: a collection owns
 * those from its `first` on, and moves them to the arena when it closes.
 *
 * Double keys are found when a mapping closes, by sorting its children by key: n log n for any
 * file.
 */
#include "base/yaml_internal.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "base/utf8_internal.h"

#define FILE_BYTES_MAX  ((size_t)16 << 20)
#define NODE_COUNT_MAX  1000000
#define READ_BYTES_STEP ((size_t)64 << 10)

struct frame {
    struct sim_yaml_node *node;
    size_t first; /* in builder.pending */
};

struct builder {
    sim_arena *arena;
    const char *file;
    bool has_places;
    struct sim_error *err;
    struct frame stack[SIM_YAML_DEPTH_MAX];
    uint32_t depth, depth_max;
    struct sim_yaml_node **pending;
    size_t pending_count, pending_cap;
    uint32_t node_count, document_count;
    const char *key; /* read, and waiting for its value; NULL otherwise */
    int key_line, key_column;
    struct sim_yaml_node *root;
};

static SIM_PRINTF(3, 4) enum sim_status
    refuse_at(const struct builder *b, yaml_mark_t mark, const char *format, ...)
{
    char text[sizeof b->err->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sim_error_at(b->err, SIM_EDATA, b->file, b->has_places ? (int)mark.line + 1 : 0,
                        b->has_places ? (int)mark.column + 1 : 0, "%s", text);
}

/* The place of a byte: what libyaml's reader does not give for text it cannot decode. Every byte
 * before it is UTF-8. */
static yaml_mark_t mark_of_offset(const char *text, size_t bytes, size_t offset)
{
    yaml_mark_t mark = {0};
    size_t i = bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;

    while (i < offset) {
        size_t length = sim_utf8_length(text + i, bytes - i);
        bool is_crlf = text[i] == '\r' && i + 1 < bytes && text[i + 1] == '\n';

        if (text[i] == '\n' || (text[i] == '\r' && !is_crlf)) {
            mark.line++;
            mark.column = 0;
        } else {
            mark.column++;
        }
        i += length == 0 ? 1 : length;
    }
    return mark;
}

static enum sim_status check_utf8(const struct builder *b, const char *text, size_t bytes)
{
    size_t i = 0, length = 1;

    while (i < bytes && (length = sim_utf8_length(text + i, bytes - i)) > 0)
        i += length;
    if (i == bytes) return SIM_OK;
    return refuse_at(b, mark_of_offset(text, bytes, i), "byte 0x%02x is not UTF-8, want UTF-8 text",
                     (unsigned char)text[i]);
}

/* libyaml's own complaint. Its reader knows only an offset; its scanner and parser know better. */
static enum sim_status refuse_syntax(const struct builder *b, const yaml_parser_t *parser,
                                     const char *text, size_t bytes)
{
    if (parser->error == YAML_MEMORY_ERROR) {
        return sim_error_at(b->err, SIM_ERESOURCE, b->file, 0, 0, "out of memory in libyaml");
    }
    if (parser->error == YAML_READER_ERROR) {
        return refuse_at(b, mark_of_offset(text, bytes, parser->problem_offset), "%s",
                         parser->problem);
    }
    if (parser->context == NULL) return refuse_at(b, parser->problem_mark, "%s", parser->problem);
    if (b->has_places && parser->context_mark.line != parser->problem_mark.line) {
        return refuse_at(b, parser->problem_mark, "%s %s from line %d", parser->problem,
                         parser->context, (int)parser->context_mark.line + 1);
    }
    return refuse_at(b, parser->problem_mark, "%s %s", parser->problem, parser->context);
}

/* Anchors, tags and zero bytes: what a value may not carry. */
static enum sim_status check_value(const struct builder *b, const yaml_event_t *event)
{
    const yaml_char_t *anchor = NULL, *tag = NULL;
    char quoted[SIM_QUOTE_TEXT];

    if (event->type == YAML_SCALAR_EVENT) {
        anchor = event->data.scalar.anchor;
        tag = event->data.scalar.tag;
        if (strlen((const char *)event->data.scalar.value) != event->data.scalar.length) {
            return refuse_at(b, event->start_mark, "a value holds a zero byte, want text");
        }
    } else if (event->type == YAML_MAPPING_START_EVENT) {
        anchor = event->data.mapping_start.anchor;
        tag = event->data.mapping_start.tag;
    } else {
        anchor = event->data.sequence_start.anchor;
        tag = event->data.sequence_start.tag;
    }
    if (anchor != NULL) {
        return refuse_at(b, event->start_mark,
                         "anchor %s: anchors and aliases are not supported, want the value itself",
                         sim_error_quote((const char *)anchor, quoted));
    }
    if (tag != NULL) {
        return refuse_at(b, event->start_mark,
                         "tag %s: tags are not supported, want the value alone",
                         sim_error_quote((const char *)tag, quoted));
    }
    return SIM_OK;
}

static enum sim_status take_key(struct builder *b, const yaml_event_t *event)
{
    if (event->type != YAML_SCALAR_EVENT) {
        return refuse_at(b, event->start_mark, "a key is a %s, want a name",
                         event->type == YAML_MAPPING_START_EVENT ? "mapping" : "list");
    }
    if (event->data.scalar.length == 0) {
        return refuse_at(b, event->start_mark, "a key is empty, want a name");
    }
    b->key = sim_arena_strdup(b->arena, (const char *)event->data.scalar.value);
    b->key_line = b->has_places ? (int)event->start_mark.line + 1 : 0;
    b->key_column = b->has_places ? (int)event->start_mark.column + 1 : 0;
    return SIM_OK;
}

static enum sim_status open_collection(struct builder *b, const yaml_event_t *event,
                                       struct sim_yaml_node *node)
{
    if (b->depth == b->depth_max) {
        return refuse_at(b, event->start_mark, "nested deeper than %d levels", SIM_YAML_DEPTH_MAX);
    }
    b->stack[b->depth++] = (struct frame){node, b->pending_count};
    return SIM_OK;
}

static enum sim_status take_value(struct builder *b, const yaml_event_t *event)
{
    struct sim_yaml_node *node;

    if (b->node_count == NODE_COUNT_MAX) {
        return refuse_at(b, event->start_mark, "more than %d values", NODE_COUNT_MAX);
    }
    b->node_count++;
    node = SIM_ARENA_NEW(b->arena, struct sim_yaml_node, 1);
    node->file = b->file;
    node->line = b->has_places ? (int)event->start_mark.line + 1 : 0;
    node->column = b->has_places ? (int)event->start_mark.column + 1 : 0;
    node->key = b->key;
    node->key_line = b->key != NULL ? b->key_line : 0;
    node->key_column = b->key != NULL ? b->key_column : 0;
    b->key = NULL;
    if (b->depth == 0) {
        b->root = node;
    } else {
        SIM_GROW(b->pending, b->pending_cap, b->pending_count + 1);
        b->pending[b->pending_count++] = node;
    }
    if (event->type == YAML_SCALAR_EVENT) {
        node->kind = SIM_YAML_SCALAR;
        node->text = sim_arena_strdup(b->arena, (const char *)event->data.scalar.value);
        node->is_quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
        return SIM_OK;
    }
    node->kind = event->type == YAML_MAPPING_START_EVENT ? SIM_YAML_MAPPING : SIM_YAML_SEQUENCE;
    return open_collection(b, event, node);
}

/* By key; children of one key in the order of the file, which is that of their slots in `child`. */
static int compare_keys(const void *a, const void *b)
{
    struct sim_yaml_node *const *const *x = a, *const *const *y = b;
    int order = strcmp((**x)->key, (**y)->key);

    return order != 0 ? order : (*x > *y) - (*x < *y);
}

/* Refuse the first child whose key an earlier one has. */
static enum sim_status check_double_keys(const struct builder *b, const struct sim_yaml_node *map)
{
    struct sim_yaml_node ***sorted = SIM_NEW(struct sim_yaml_node **, map->child_count);
    struct sim_yaml_node **second = NULL, **first = NULL;
    char quoted[SIM_QUOTE_TEXT];

    for (uint32_t i = 0; i < map->child_count; i++)
        sorted[i] = &map->child[i];
    qsort(sorted, map->child_count, sizeof(struct sim_yaml_node **), compare_keys);
    for (uint32_t i = 1; i < map->child_count; i++) {
        if (strcmp((*sorted[i - 1])->key, (*sorted[i])->key) != 0) continue;
        if (second != NULL && second < sorted[i]) continue;
        first = sorted[i - 1];
        second = sorted[i];
    }
    sim_free(sorted);
    if (second == NULL) return SIM_OK;
    sim_error_quote((*second)->key, quoted);
    if (!b->has_places) {
        return sim_error_at(b->err, SIM_EDATA, b->file, 0, 0, "key %s is there twice", quoted);
    }
    return sim_error_at(b->err, SIM_EDATA, b->file, (*second)->key_line, (*second)->key_column,
                        "key %s is there twice, first at line %d, column %d", quoted,
                        (*first)->key_line, (*first)->key_column);
}

static enum sim_status close_collection(struct builder *b)
{
    struct frame *frame = &b->stack[--b->depth];
    struct sim_yaml_node *node = frame->node;

    node->child_count = (uint32_t)(b->pending_count - frame->first);
    node->child = SIM_ARENA_NEW(b->arena, struct sim_yaml_node *, node->child_count);
    if (node->child_count > 0) {
        memcpy(node->child, b->pending + frame->first, node->child_count * sizeof *node->child);
    }
    b->pending_count = frame->first;
    return node->kind == SIM_YAML_MAPPING ? check_double_keys(b, node) : SIM_OK;
}

static bool wants_key(const struct builder *b)
{
    return b->depth > 0 && b->stack[b->depth - 1].node->kind == SIM_YAML_MAPPING && b->key == NULL;
}

static enum sim_status take_event(struct builder *b, const yaml_event_t *event)
{
    char quoted[SIM_QUOTE_TEXT];

    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT:
        if (b->document_count++ == 0) return SIM_OK;
        return refuse_at(b, event->start_mark, "a second document starts here, want only one");
    case YAML_ALIAS_EVENT:
        return refuse_at(b, event->start_mark,
                         "alias %s: anchors and aliases are not supported, want the value itself",
                         sim_error_quote((const char *)event->data.alias.anchor, quoted));
    case YAML_SCALAR_EVENT:
    case YAML_MAPPING_START_EVENT:
    case YAML_SEQUENCE_START_EVENT:
        SIM_TRY(check_value(b, event));
        return wants_key(b) ? take_key(b, event) : take_value(b, event);
    case YAML_MAPPING_END_EVENT:
    case YAML_SEQUENCE_END_EVENT:
        return close_collection(b);
    default:
        return SIM_OK;
    }
}

static enum sim_status take_events(struct builder *b, yaml_parser_t *parser, const char *text,
                                   size_t bytes)
{
    bool is_done = false;

    while (!is_done) {
        enum sim_status status;
        yaml_event_t event;

        if (!yaml_parser_parse(parser, &event)) return refuse_syntax(b, parser, text, bytes);
        status = take_event(b, &event);
        is_done = event.type == YAML_STREAM_END_EVENT;
        yaml_event_delete(&event);
        if (status != SIM_OK) return status;
    }
    if (b->root == NULL ||
        (b->root->kind == SIM_YAML_SCALAR && b->root->text[0] == '\0' && !b->root->is_quoted)) {
        return sim_error_at(b->err, SIM_EDATA, b->file, 0, 0, "no content, want a YAML document");
    }
    return SIM_OK;
}

enum sim_status sim_yaml_build(sim_arena *arena, const char *text, size_t bytes, const char *file,
                               bool has_places, uint32_t depth, struct sim_error *err,
                               struct sim_yaml_node **out)
{
    struct builder b = {.arena = arena, .file = file, .has_places = has_places, .err = err};
    yaml_parser_t parser;
    enum sim_status status;

    assert(depth <= SIM_YAML_DEPTH_MAX);
    b.depth_max = SIM_YAML_DEPTH_MAX - depth;
    if (bytes > FILE_BYTES_MAX) {
        return sim_error_at(err, SIM_EDATA, file, 0, 0, "larger than 16 MiB");
    }
    SIM_TRY(check_utf8(&b, text, bytes));
    if (!yaml_parser_initialize(&parser)) {
        return sim_error_at(err, SIM_ERESOURCE, file, 0, 0, "out of memory in libyaml");
    }
    yaml_parser_set_input_string(&parser, (const unsigned char *)text, bytes);
    status = take_events(&b, &parser, text, bytes);
    yaml_parser_delete(&parser);
    sim_free(b.pending);
    if (status == SIM_OK) *out = b.root;
    return status;
}

enum sim_status sim_yaml_parse(const char *text, size_t bytes, const char *name,
                               struct sim_error *err, sim_yaml **out)
{
    sim_yaml *doc = SIM_NEW(sim_yaml, 1);
    enum sim_status status;

    assert((text != NULL || bytes == 0) && name != NULL && out != NULL);
    doc->arena = sim_arena_create();
    status = sim_yaml_build(doc->arena, text == NULL ? "" : text, bytes,
                            sim_arena_strdup(doc->arena, name), true, 0, err, &doc->root);
    if (status != SIM_OK) {
        sim_yaml_destroy(doc);
        return status;
    }
    *out = doc;
    return SIM_OK;
}

/* All of `file`, or a little more than a document may have; `*out` is owned by the caller. False:
 * see errno. */
static bool read_all(FILE *file, char **out, size_t *out_bytes)
{
    char *text = NULL;
    size_t bytes = 0, cap = 0, got;

    do {
        SIM_GROW(text, cap, bytes + READ_BYTES_STEP);
        got = fread(text + bytes, 1, READ_BYTES_STEP, file);
        bytes += got;
    } while (got > 0 && bytes <= FILE_BYTES_MAX);
    if (ferror(file)) {
        sim_free(text);
        return false;
    }
    *out = text;
    *out_bytes = bytes;
    return true;
}

enum sim_status sim_yaml_load(const char *path, struct sim_error *err, sim_yaml **out)
{
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    char *text = NULL;
    size_t bytes = 0;
    enum sim_status status = SIM_OK;

    if (file == NULL) {
        return sim_error_at(err, SIM_ENOINPUT, path, 0, 0, "cannot open: %s", strerror(errno));
    }
    if (!read_all(file, &text, &bytes)) {
        status = sim_error_at(err, SIM_ENOINPUT, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    if (!is_stdin) fclose(file);
    if (status != SIM_OK) return status;
    status = sim_yaml_parse(text, bytes, is_stdin ? "<stdin>" : path, err, out);
    sim_free(text);
    return status;
}

void sim_yaml_destroy(sim_yaml *doc)
{
    if (doc == NULL) return;
    sim_arena_destroy(doc->arena);
    sim_free(doc);
}

const struct sim_yaml_node *sim_yaml_root(const sim_yaml *doc)
{
    return doc->root;
}

const struct sim_yaml_node *sim_yaml_find(const struct sim_yaml_node *mapping, const char *key)
{
    assert(mapping->kind == SIM_YAML_MAPPING);
    for (uint32_t i = 0; i < mapping->child_count; i++) {
        if (strcmp(mapping->child[i]->key, key) == 0) return mapping->child[i];
    }
    return NULL;
}
