/*
 * JSON through YAJL's generator, which keeps the commas and the indentation. Numbers go in as text:
 * YAJL would print doubles with 20 digits. A refusal by YAJL (a key where a value belongs, more
 * than 127 levels) is our own bug.
 */
#include "base/json.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include <yajl_gen.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/utf8_internal.h"

struct sim_json {
    yajl_gen gen;
    FILE *out;
};

static void *yajl_alloc(void *context, size_t bytes)
{
    (void)context;
    return sim_alloc(bytes, 1, "JSON output");
}

static void *yajl_resize(void *context, void *old, size_t bytes)
{
    (void)context;
    return sim_realloc(old, bytes, 1, "JSON output");
}

static void yajl_release(void *context, void *memory)
{
    (void)context;
    sim_free(memory);
}

/* Failures stay in the stream's error flag, for whoever closes it. */
static void print(void *context, const char *text, size_t bytes)
{
    sim_json *json = context;

    fwrite(text, 1, bytes, json->out);
}

static void check(yajl_gen_status status)
{
    assert(status == yajl_gen_status_ok);
    (void)status;
}

sim_json *sim_json_create(FILE *out)
{
    static const yajl_alloc_funcs functions = {yajl_alloc, yajl_resize, yajl_release, NULL};
    sim_json *json = SIM_NEW(sim_json, 1);

    assert(out != NULL);
    json->out = out;
    json->gen = yajl_gen_alloc(&functions);
    yajl_gen_config(json->gen, yajl_gen_beautify, 1);
    yajl_gen_config(json->gen, yajl_gen_indent_string, "  ");
    yajl_gen_config(json->gen, yajl_gen_print_callback, print, json);
    return json;
}

void sim_json_destroy(sim_json *json)
{
    if (json == NULL) return;
    yajl_gen_free(json->gen);
    sim_free(json);
}

void sim_json_object_begin(sim_json *json)
{
    check(yajl_gen_map_open(json->gen));
}

void sim_json_object_end(sim_json *json)
{
    check(yajl_gen_map_close(json->gen));
}

void sim_json_array_begin(sim_json *json)
{
    check(yajl_gen_array_open(json->gen));
}

void sim_json_array_end(sim_json *json)
{
    check(yajl_gen_array_close(json->gen));
}

void sim_json_key(sim_json *json, const char *key)
{
    sim_json_text(json, key);
}

/* `value` with every byte that is not UTF-8 replaced by U+FFFD; owned by the caller. */
static char *repair_utf8(const char *value, size_t bytes)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    char *repaired = sim_alloc(bytes + 1, 3, "JSON output"), *end = repaired;

    while (bytes > 0) {
        size_t length = sim_utf8_length(value, bytes);
        size_t taken = length == 0 ? 1 : length, put = length == 0 ? 3 : length;

        memcpy(end, length == 0 ? replacement : value, put);
        end += put;
        value += taken;
        bytes -= taken;
    }
    *end = '\0';
    return repaired;
}

void sim_json_text(sim_json *json, const char *value)
{
    size_t bytes = strlen(value), valid = 0, length;

    while (valid < bytes && (length = sim_utf8_length(value + valid, bytes - valid)) > 0) {
        valid += length;
    }
    if (valid == bytes) {
        check(yajl_gen_string(json->gen, (const unsigned char *)value, bytes));
    } else {
        char *repaired = repair_utf8(value, bytes);

        check(yajl_gen_string(json->gen, (const unsigned char *)repaired, strlen(repaired)));
        sim_free(repaired);
    }
}

static void print_number(sim_json *json, const char *text)
{
    check(yajl_gen_number(json->gen, text, strlen(text)));
}

void sim_json_double(sim_json *json, double value)
{
    char text[SIM_QUANTITY_TEXT];

    assert(isfinite(value));
    print_number(json, sim_double_format(value, text));
}

void sim_json_int(sim_json *json, int64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRId64, value);
    print_number(json, text);
}

void sim_json_uint(sim_json *json, uint64_t value)
{
    char text[32];

    snprintf(text, sizeof text, "%" PRIu64, value);
    print_number(json, text);
}

void sim_json_bool(sim_json *json, bool value)
{
    check(yajl_gen_bool(json->gen, value));
}

void sim_json_null(sim_json *json)
{
    check(yajl_gen_null(json->gen));
}

void sim_json_put_text(sim_json *json, const char *key, const char *value)
{
    sim_json_key(json, key);
    sim_json_text(json, value);
}

void sim_json_put_double(sim_json *json, const char *key, double value)
{
    sim_json_key(json, key);
    sim_json_double(json, value);
}

void sim_json_put_uint(sim_json *json, const char *key, uint64_t value)
{
    sim_json_key(json, key);
    sim_json_uint(json, value);
}
