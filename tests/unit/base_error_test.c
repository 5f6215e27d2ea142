/* The error record: first message wins, one printable line, places, exit codes; and the log level
 * beside it. */
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/log.h"
#include "tests/unit/check_main.h"

START_TEST(first_message_wins)
{
    struct sim_error err = {0};

    ck_assert_int_eq(sim_error_set(&err, SIM_EDATA, "dimension %d is 0", 2), SIM_EDATA);
    ck_assert_int_eq(sim_error_set(&err, SIM_EIO, "later"), SIM_EIO);
    ck_assert_int_eq(sim_error_at(&err, SIM_EIO, "f", 1, 1, "later"), SIM_EIO);
    ck_assert_str_eq(err.text, "dimension 2 is 0");
    ck_assert_str_eq(err.file, "");
}
END_TEST

START_TEST(place_is_given_once)
{
    struct sim_error err = {0};

    sim_error_locate(&err, SIM_EDATA, "none.yaml", 1, 1); /* no message yet: nothing to locate */
    ck_assert_str_eq(err.file, "");
    sim_error_set(&err, SIM_EDATA, "x");
    ck_assert_int_eq(sim_error_locate(&err, SIM_EDATA, "a.yaml", 3, 5), SIM_EDATA);
    sim_error_locate(&err, SIM_EDATA, "b.yaml", 7, 9);
    ck_assert_str_eq(err.file, "a.yaml");
    ck_assert_int_eq(err.line, 3);
    ck_assert_int_eq(err.column, 5);
}
END_TEST

START_TEST(null_record_is_allowed)
{
    ck_assert_int_eq(sim_error_set(NULL, SIM_EDATA, "x"), SIM_EDATA);
    ck_assert_int_eq(sim_error_at(NULL, SIM_EIO, "f", 1, 1, "x"), SIM_EIO);
    ck_assert_int_eq(sim_error_locate(NULL, SIM_EIO, "f", 1, 1), SIM_EIO);
}
END_TEST

static const struct {
    const char *file;
    int line, column;
    const char *shown;
} format_case[] = {
    {"study.yaml", 14, 8, "study.yaml:14:8: bad"},
    {"study.yaml", 14, 0, "study.yaml:14: bad"},
    {"study.yaml", 0, 0, "study.yaml: bad"},
    {"--set", 0, 0, "--set: bad"},
    {NULL, 0, 0, "bad"},
    {"a\nb.yaml", 1, 2, "a?b.yaml:1:2: bad"}, /* a file name cannot break the line */
};

START_TEST(format_shows_the_place)
{
    struct sim_error err = {0};
    char buffer[128];

    sim_error_at(&err, SIM_EDATA, format_case[_i].file, format_case[_i].line,
                 format_case[_i].column, "bad");
    ck_assert_str_eq(sim_error_format(&err, buffer, sizeof buffer), format_case[_i].shown);
}
END_TEST

START_TEST(long_texts_are_cut_visibly)
{
    struct sim_error err = {0};
    char path[1000], text[2000];

    memset(path, 'p', sizeof path);
    memcpy(path + sizeof path - 5, ".yml", 5);
    /* 1 + 2 * 999 bytes: a cut 4 before the end of the record falls inside a two-byte character */
    for (size_t i = 1; i < sizeof text - 1; i += 2)
        memcpy(text + i, "\xC3\xA9", 2);
    text[0] = '!';
    text[sizeof text - 1] = '\0';
    sim_error_at(&err, SIM_EDATA, path, 1, 1, "%s", text);
    ck_assert_uint_eq(strlen(err.file), sizeof err.file - 1);
    ck_assert_int_eq(strncmp(err.file, "...p", 4), 0);
    ck_assert_str_eq(err.file + strlen(err.file) - 4, ".yml");
    ck_assert_uint_eq(strlen(err.text) % 2, 0); /* 1 + 2 k + 3: whole characters only */
    ck_assert_str_eq(err.text + strlen(err.text) - 5, "\xC3\xA9...");
}
END_TEST

START_TEST(message_is_one_line)
{
    struct sim_error err = {0};

    sim_error_set(&err, SIM_EDATA, "a\nb\tc\x1b[31m");
    ck_assert_str_eq(err.text, "a?b?c?[31m");
}
END_TEST

static const struct {
    const char *text, *quoted;
} quote_case[] = {
    {"12x", "\"12x\""},
    {"", "\"\""},
    {"a\nb\t\r", "\"a\\nb\\t\\r\""},
    {"say \"hi\" \\", "\"say \\\"hi\\\" \\\\\""},
    {"\x1b[2J\x7f", "\"\\x1b[2J\\x7f\""},
    {"\xC3\xA9", "\"\xC3\xA9\""},                              /* e with acute, kept */
    {"\xE9t\xE9", "\"\\xe9t\\xe9\""},                          /* the same in Latin-1, not UTF-8 */
    {"\xC2\x9BJ", "\"\\xc2\\x9bJ\""},                          /* U+009B steers terminals */
    {"\xC0\xAF\xED\xA0\x80", "\"\\xc0\\xaf\\xed\\xa0\\x80\""}, /* overlong "/", surrogate */
    {"\xF0\x9F\x98\x80\xF4\x90\x80\x80",
     "\"\xF0\x9F\x98\x80\\xf4\\x90\\x80\\x80\""}, /* > U+10FFFF */
};

START_TEST(quote_is_printable)
{
    char buffer[SIM_QUOTE_TEXT];

    ck_assert_str_eq(sim_error_quote(quote_case[_i].text, buffer), quote_case[_i].quoted);
}
END_TEST

START_TEST(quote_of_any_length_fits)
{
    char text[400], buffer[SIM_QUOTE_TEXT];

    memset(text, _i % 2 == 0 ? 'x' : '\1', sizeof text);
    text[_i] = '\0';
    sim_error_quote(text, buffer);
    ck_assert_uint_lt(strlen(buffer), SIM_QUOTE_TEXT);
    if (_i >= SIM_QUOTE_TEXT) ck_assert_str_eq(buffer + strlen(buffer) - 4, "...\"");
}
END_TEST

START_TEST(exit_codes_are_sysexits)
{
    ck_assert_int_eq(sim_status_exit_code(SIM_OK), 0);
    ck_assert_int_eq(sim_status_exit_code(SIM_ENO), 1);
    ck_assert_int_eq(sim_status_exit_code(SIM_EUSAGE), 64);    /* EX_USAGE */
    ck_assert_int_eq(sim_status_exit_code(SIM_EDATA), 65);     /* EX_DATAERR */
    ck_assert_int_eq(sim_status_exit_code(SIM_ENOINPUT), 66);  /* EX_NOINPUT */
    ck_assert_int_eq(sim_status_exit_code(SIM_ERESOURCE), 69); /* EX_UNAVAILABLE */
    ck_assert_int_eq(sim_status_exit_code(SIM_EINTERNAL), 70); /* EX_SOFTWARE */
    ck_assert_int_eq(sim_status_exit_code(SIM_ECREATE), 73);   /* EX_CANTCREAT */
    ck_assert_int_eq(sim_status_exit_code(SIM_EIO), 74);       /* EX_IOERR */
}
END_TEST

START_TEST(log_levels_by_name)
{
    struct sim_error err = {0};
    enum sim_log_level level = SIM_LOG_WARN;

    ck_assert_int_eq(sim_log_level_get(), SIM_LOG_WARN);
    ck_assert_int_eq(sim_log_level_parse("trace", &err, &level), SIM_OK);
    ck_assert_int_eq(level, SIM_LOG_TRACE);
    ck_assert_int_eq(sim_log_level_parse("loud", &err, &level), SIM_EUSAGE);
    ck_assert_int_eq(level, SIM_LOG_TRACE); /* untouched */
    ck_assert_str_eq(err.text,
                     "\"loud\" is not a log level, want error, warn, info, debug or trace");
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/error");
    TCase *tc = tcase_create("error");

    tcase_add_test(tc, first_message_wins);
    tcase_add_test(tc, place_is_given_once);
    tcase_add_test(tc, null_record_is_allowed);
    tcase_add_loop_test(tc, format_shows_the_place, 0, sizeof format_case / sizeof format_case[0]);
    tcase_add_test(tc, long_texts_are_cut_visibly);
    tcase_add_test(tc, message_is_one_line);
    tcase_add_loop_test(tc, quote_is_printable, 0, sizeof quote_case / sizeof quote_case[0]);
    tcase_add_loop_test(tc, quote_of_any_length_fits, 100, 300);
    tcase_add_test(tc, exit_codes_are_sysexits);
    tcase_add_test(tc, log_levels_by_name);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
