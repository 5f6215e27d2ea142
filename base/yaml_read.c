/*
 * Mappings checked against a table of fields.
 *
 * Children are taken in the order of the file, so that the first complaint is about the first
 * mistake; keys that are missing are looked for last, when a misspelt one has already been named.
 * Every message says which key, what was found and what is wanted.
 */
#include "base/yaml.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/yaml_internal.h"

#define NAME_LENGTH_MAX 63  /* of names worth comparing */
#define NAMES_TEXT      320 /* room for a list of names in a message */

enum sim_status sim_yaml_error(const struct sim_yaml_node *node, struct sim_error *err,
                               enum sim_status status, const char *format, ...)
{
    char text[sizeof err->text];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return sim_error_at(err, status, node->file, node->line, node->column, "%s", text);
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static int min_int(int a, int b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b` (optimal
 * string alignment), letter case ignored; both at most NAME_LENGTH_MAX long. Three rows of the
 * usual table are enough. */
static int edit_distance(const char *a, const char *b)
{
    int row[3][NAME_LENGTH_MAX + 1];
    int *before = row[0], *last = row[1], *now = row[2];
    int a_length = (int)strlen(a), b_length = (int)strlen(b);

    for (int j = 0; j <= b_length; j++)
        last[j] = j;
    for (int i = 1; i <= a_length; i++) {
        int *oldest = before;

        now[0] = i;
        for (int j = 1; j <= b_length; j++) {
            int change = lower(a[i - 1]) != lower(b[j - 1]);

            now[j] = min_int(min_int(now[j - 1], last[j]) + 1, last[j - 1] + change);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1])) {
                now[j] = min_int(now[j], before[j - 2] + 1);
            }
        }
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_length];
}

/* Near: at most a third of the longer name is wrong. The first of equals wins. */
const char *sim_nearest_name(const char *text, const char *const *names)
{
    const char *nearest = NULL;
    int smallest = NAME_LENGTH_MAX;
    size_t length = strlen(text);

    if (length > NAME_LENGTH_MAX) return NULL;
    for (; *names != NULL; names++) {
        size_t name_length = strlen(*names);
        size_t longer = name_length > length ? name_length : length;
        int distance;

        if (name_length > NAME_LENGTH_MAX) continue;
        distance = edit_distance(text, *names);
        if (distance * 3 > (int)longer || distance >= smallest) continue;
        smallest = distance;
        nearest = *names;
    }
    return nearest;
}

/* `names` as `"a", "b"`, the rest as "..." where room ends. Returns `buffer` (NAMES_TEXT bytes). */
static const char *join_names(const char *const *names, char *buffer)
{
    size_t length = 0;

    buffer[0] = '\0';
    for (size_t i = 0; names[i] != NULL; i++) {
        const char *comma = i > 0 ? ", " : "";

        if (length + strlen(comma) + strlen(names[i]) + sizeof "\"\", ..." > NAMES_TEXT) {
            snprintf(buffer + length, NAMES_TEXT - length, "%s...", comma);
            break;
        }
        length += (size_t)sprintf(buffer + length, "%s\"%s\"", comma, names[i]);
    }
    return buffer;
}

static const char *node_name(const struct sim_yaml_node *node)
{
    return node->key != NULL ? node->key : "the document";
}

/* A value of the wrong kind: one line with what it is and what it should be. */
static enum sim_status refuse(const struct sim_yaml_node *node, struct sim_error *err,
                              const char *want)
{
    char quoted[SIM_QUOTE_TEXT];

    if (sim_yaml_is_missing(node)) {
        return sim_yaml_error(node, err, SIM_EDATA, "%s: value is missing, want %s",
                              node_name(node), want);
    }
    return sim_yaml_error(node, err, SIM_EDATA, "%s is %s, want %s", node_name(node),
                          node->kind == SIM_YAML_SCALAR    ? sim_error_quote(node->text, quoted)
                          : node->kind == SIM_YAML_MAPPING ? "a mapping"
                                                           : "a list",
                          want);
}

static enum sim_status read_count(const struct sim_yaml_node *node, const struct sim_field *field,
                                  struct sim_error *err, uint64_t *out)
{
    uint64_t max = field->max == 0 ? UINT64_MAX : field->max;
    char want[64];

    if (node->kind == SIM_YAML_SCALAR &&
        sim_count_parse(node->text, field->min, max, NULL, out) == SIM_OK) {
        return SIM_OK;
    }
    if (max == UINT64_MAX) {
        snprintf(want, sizeof want, "a whole number >= %" PRIu64, field->min);
    } else {
        snprintf(want, sizeof want, "a whole number from %" PRIu64 " to %" PRIu64, field->min, max);
    }
    return refuse(node, err, want);
}

static enum sim_status read_bool(const struct sim_yaml_node *node, struct sim_error *err, bool *out)
{
    bool is_true = node->kind == SIM_YAML_SCALAR && strcmp(node->text, "true") == 0;

    if (!is_true && (node->kind != SIM_YAML_SCALAR || strcmp(node->text, "false") != 0)) {
        return refuse(node, err, "true or false");
    }
    *out = is_true;
    return SIM_OK;
}

static enum sim_status read_choice(const struct sim_yaml_node *node, const struct sim_field *field,
                                   struct sim_error *err, int *out)
{
    char names[NAMES_TEXT], want[sizeof names + 128];
    const char *nearest = NULL;

    for (int i = 0; node->kind == SIM_YAML_SCALAR && field->choices[i] != NULL; i++) {
        if (strcmp(node->text, field->choices[i]) != 0) continue;
        *out = i;
        return SIM_OK;
    }
    if (node->kind == SIM_YAML_SCALAR) nearest = sim_nearest_name(node->text, field->choices);
    join_names(field->choices, names);
    if (nearest != NULL) {
        snprintf(want, sizeof want, "one of %s (did you mean \"%s\"?)", names, nearest);
    } else {
        snprintf(want, sizeof want, "one of %s", names);
    }
    return refuse(node, err, want);
}

/* What base/quantity.h reads; its message gets the key and the place. */
static enum sim_status read_quantity(const struct sim_yaml_node *node, enum sim_field_kind kind,
                                     struct sim_error *err, void *out)
{
    struct sim_error local = {0};
    enum sim_status status;

    switch (kind) {
    case SIM_FIELD_SHARE:
        status = sim_share_parse(node->text, &local, out);
        break;
    case SIM_FIELD_BYTES:
        status = sim_bytes_parse(node->text, &local, out);
        break;
    case SIM_FIELD_RATE:
        status = sim_rate_parse(node->text, &local, out);
        break;
    case SIM_FIELD_FLOPS:
        status = sim_flops_parse(node->text, &local, out);
        break;
    default:
        assert(kind == SIM_FIELD_TIME);
        status = sim_time_parse(node->text, &local, out);
        break;
    }
    if (status == SIM_OK) return SIM_OK;
    return sim_yaml_error(node, err, status, "%s: %s", node_name(node), local.text);
}

/* What a field of each kind wants, for a value that is missing or of another kind. */
static const char *const kind_want[] = {
    [SIM_FIELD_TEXT] = "a text",
    [SIM_FIELD_SHARE] = "a share such as \"0.6\" or \"60%\"",
    [SIM_FIELD_BYTES] = "whole bytes such as \"1MiB\" or \"4GB\"",
    [SIM_FIELD_RATE] = "a rate such as \"45GB/s\" or \"100Gbps\"",
    [SIM_FIELD_FLOPS] = "a compute rate such as \"197TFLOP/s\"",
    [SIM_FIELD_TIME] = "a duration such as \"1.5us\"",
    [SIM_FIELD_MAPPING] = "a mapping",
    [SIM_FIELD_NODE] = "a value",
};

static enum sim_status read_field(const struct sim_yaml_node *node, const struct sim_field *field,
                                  struct sim_error *err, void *out)
{
    switch (field->kind) {
    case SIM_FIELD_COUNT:
        return read_count(node, field, err, out);
    case SIM_FIELD_BOOL:
        return read_bool(node, err, out);
    case SIM_FIELD_CHOICE:
        return read_choice(node, field, err, out);
    case SIM_FIELD_MAPPING:
        return sim_yaml_read(node, field->fields, err, out);
    case SIM_FIELD_NODE:
        if (sim_yaml_is_missing(node)) return refuse(node, err, kind_want[field->kind]);
        *(const struct sim_yaml_node **)out = node;
        return SIM_OK;
    default:
        break;
    }
    if (node->kind != SIM_YAML_SCALAR || sim_yaml_is_missing(node)) {
        return refuse(node, err, kind_want[field->kind]);
    }
    if (field->kind == SIM_FIELD_TEXT) {
        *(const char **)out = node->text;
        return SIM_OK;
    }
    return read_quantity(node, field->kind, err, out);
}

static enum sim_status refuse_unknown_key(const struct sim_yaml_node *node,
                                          const struct sim_field *fields, struct sim_error *err)
{
    size_t count = 0;
    const char **names, *nearest;
    char quoted[SIM_QUOTE_TEXT], known[NAMES_TEXT];
    enum sim_status status;

    while (fields[count].key != NULL)
        count++;
    names = SIM_NEW(const char *, count + 1);
    for (size_t i = 0; i < count; i++)
        names[i] = fields[i].key;
    nearest = sim_nearest_name(node->key, names);
    sim_error_quote(node->key, quoted);
    if (nearest != NULL) {
        status = sim_error_at(err, SIM_EDATA, node->file, node->key_line, node->key_column,
                              "unknown key %s, did you mean \"%s\"?", quoted, nearest);
    } else {
        status = sim_error_at(err, SIM_EDATA, node->file, node->key_line, node->key_column,
                              "unknown key %s, want one of %s", quoted, join_names(names, known));
    }
    sim_free(names);
    return status;
}

static enum sim_status refuse_missing_key(const struct sim_yaml_node *mapping, const char *key,
                                          struct sim_error *err)
{
    if (mapping->key == NULL) {
        return sim_yaml_error(mapping, err, SIM_EDATA, "missing key \"%s\"", key);
    }
    return sim_error_at(err, SIM_EDATA, mapping->file, mapping->key_line, mapping->key_column,
                        "missing key \"%s\" in %s", key, mapping->key);
}

enum sim_status sim_yaml_read(const struct sim_yaml_node *mapping, const struct sim_field *fields,
                              struct sim_error *err, void *out)
{
    assert(mapping != NULL && fields != NULL && out != NULL);
    if (mapping->kind != SIM_YAML_MAPPING) return refuse(mapping, err, "a mapping");
    for (uint32_t i = 0; i < mapping->child_count; i++) {
        const struct sim_yaml_node *node = mapping->child[i];
        const struct sim_field *field = fields;

        while (field->key != NULL && strcmp(field->key, node->key) != 0)
            field++;
        if (field->key == NULL) return refuse_unknown_key(node, fields, err);
        SIM_TRY(read_field(node, field, err, (char *)out + field->offset));
    }
    for (const struct sim_field *field = fields; field->key != NULL; field++) {
        if (field->is_required && sim_yaml_find(mapping, field->key) == NULL) {
            return refuse_missing_key(mapping, field->key, err);
        }
    }
    return SIM_OK;
}
