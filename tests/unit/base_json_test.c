/* JSON out: exact text, numbers that read back, text that is always UTF-8. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/rng.h"
#include "tests/unit/check_main.h"

static char *text; /* of the document written last */
static size_t text_bytes;
static FILE *stream;

static sim_json *begin(void)
{
    stream = open_memstream(&text, &text_bytes);
    ck_assert_ptr_nonnull(stream);
    return sim_json_create(stream);
}

static void end(sim_json *json)
{
    sim_json_destroy(json);
    fclose(stream);
}

START_TEST(document_is_indented_by_two)
{
    sim_json *json = begin();

    sim_json_object_begin(json);
    sim_json_key(json, "meta");
    sim_json_object_begin(json);
    sim_json_key(json, "seed");
    sim_json_uint(json, UINT64_MAX); /* all digits, not 1.8e19 */
    sim_json_object_end(json);
    sim_json_key(json, "rows");
    sim_json_array_begin(json);
    sim_json_object_begin(json);
    sim_json_key(json, "time_ps");
    sim_json_int(json, INT64_MIN);
    sim_json_key(json, "time_us");
    sim_json_double(json, 0.1);
    sim_json_key(json, "op");
    sim_json_text(json, "all-reduce");
    sim_json_key(json, "is_exact");
    sim_json_bool(json, true);
    sim_json_key(json, "limited_by");
    sim_json_null(json);
    sim_json_object_end(json);
    sim_json_array_end(json);
    sim_json_object_end(json);
    end(json);
    ck_assert_str_eq(text, "{\n"
                           "  \"meta\": {\n"
                           "    \"seed\": 18446744073709551615\n"
                           "  },\n"
                           "  \"rows\": [\n"
                           "    {\n"
                           "      \"time_ps\": -9223372036854775808,\n"
                           "      \"time_us\": 0.1,\n"
                           "      \"op\": \"all-reduce\",\n"
                           "      \"is_exact\": true,\n"
                           "      \"limited_by\": null\n"
                           "    }\n"
                           "  ]\n"
                           "}\n");
    free(text);
}
END_TEST

static const struct {
    const char *value, *written;
} text_case[] = {
    {"", "\"\"\n"},
    {"v5p:8x8x8", "\"v5p:8x8x8\"\n"},
    {"a\"b\\c/d", "\"a\\\"b\\\\c/d\"\n"},
    {"a\nb\tc\x01", "\"a\\nb\\tc\\u0001\"\n"},
    {"\xC3\xA9\xF0\x9F\x98\x80", "\"\xC3\xA9\xF0\x9F\x98\x80\"\n"},
    /* each byte that is not UTF-8 becomes U+FFFD: Latin-1, a cut character, an overlong "/", a
       surrogate */
    {"t\xE9!", "\"t\xEF\xBF\xBD!\"\n"},
    {"\xC3", "\"\xEF\xBF\xBD\"\n"},
    {"\xC0\xAF", "\"\xEF\xBF\xBD\xEF\xBF\xBD\"\n"},
    {"\xED\xA0\x80", "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"\n"},
};

START_TEST(text_is_escaped_and_utf8)
{
    sim_json *json = begin();

    sim_json_text(json, text_case[_i].value);
    end(json);
    ck_assert_str_eq(text, text_case[_i].written);
    free(text);
}
END_TEST

START_TEST(keys_are_escaped_too)
{
    sim_json *json = begin();

    sim_json_object_begin(json);
    sim_json_key(json, "a\xFF\"");
    sim_json_bool(json, false);
    sim_json_object_end(json);
    end(json);
    ck_assert_str_eq(text, "{\n  \"a\xEF\xBF\xBD\\\"\": false\n}\n");
    free(text);
}
END_TEST

START_TEST(doubles_read_back)
{
    struct sim_rng rng;

    sim_rng_init(&rng, 1, 0);
    for (int n = 0; n < 2000; n++) {
        uint64_t bits = sim_rng_next(&rng), bits_back;
        sim_json *json;
        double value, back;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        json = begin();
        sim_json_double(json, value);
        end(json);
        back = strtod(text, NULL);
        memcpy(&bits_back, &back, sizeof bits_back);
        ck_assert_uint_eq(bits_back, bits);
        free(text);
    }
}
END_TEST

START_TEST(empty_containers)
{
    sim_json *json = begin();
    char squeezed[64];
    size_t length = 0;

    sim_json_object_begin(json);
    sim_json_key(json, "rows");
    sim_json_array_begin(json);
    sim_json_array_end(json);
    sim_json_object_end(json);
    end(json);
    for (const char *p = text; *p != '\0'; p++) { /* the white space inside them is YAJL's affair */
        if (*p != ' ' && *p != '\n') squeezed[length++] = *p;
    }
    squeezed[length] = '\0';
    ck_assert_str_eq(squeezed, "{\"rows\":[]}");
    free(text);
}
END_TEST

START_TEST(unfinished_document_can_be_dropped)
{
    sim_json *json = begin();

    sim_json_object_begin(json);
    sim_json_key(json, "a");
    end(json);
    free(text);
    sim_json_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/json");
    TCase *tc = tcase_create("json");

    tcase_add_test(tc, document_is_indented_by_two);
    tcase_add_loop_test(tc, text_is_escaped_and_utf8, 0, sizeof text_case / sizeof text_case[0]);
    tcase_add_test(tc, keys_are_escaped_too);
    tcase_add_test(tc, doubles_read_back);
    tcase_add_test(tc, empty_containers);
    tcase_add_test(tc, unfinished_document_can_be_dropped);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
