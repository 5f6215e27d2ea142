/*
 * The verdict of `podsim validate`, on rows made up for it.
 */
#include "cli/validate.h"

#include <stdio.h>
#include <string.h>

#include "tests/support.h"

/* 1,000 B to the neighbour: 1 us of hop and 1 us of bytes. */
static struct validate_row two_us(const char *name, double low, double high)
{
    return (struct validate_row){.name = name,
                                 .what = "send",
                                 .source = "by hand",
                                 .published = 2.5,
                                 .low = low,
                                 .high = high,
                                 .unit = "us",
                                 .measure = validate_time_us,
                                 .run = {.spec = "mesh:2,link=1GB/s,latency=1us",
                                         .op = COLL_SEND,
                                         .is_named = true,
                                         .algorithm = COLL_DIRECT,
                                         .bytes = 1000,
                                         .receiver = 1}};
}

/* The status, and what is printed as text. */
static enum sim_status print(const struct validate_row *const *rows, uint32_t count,
                             struct sim_error *err, char *text, size_t bytes)
{
    FILE *out = tmpfile();
    ck_assert_ptr_nonnull(out);
    enum sim_status status = validate_print(rows, count, CLI_TEXT, out, err);
    rewind(out);
    text[fread(text, 1, bytes - 1, out)] = 0;
    fclose(out);
    return status;
}

START_TEST(a_row_within_its_range_is_a_yes)
{
    struct sim_error err = {0};
    char text[2048];
    struct validate_row row = two_us("A", 2, 2); /* both ends count */
    const struct validate_row *rows[] = {&row};
    ck_assert_int_eq(print(rows, 1, &err, text, sizeof text), SIM_OK);
    ck_assert_ptr_nonnull(strstr(text, "within"));
    ck_assert_ptr_nonnull(strstr(text, "-20.0")); /* 2 instead of 2.5 */
}
END_TEST

START_TEST(a_row_outside_of_its_range_is_a_no)
{
    struct sim_error err = {0};
    char text[2048];
    struct validate_row in = two_us("A", 1.9, 2.1), above = two_us("B", 1, 1.999),
                        below = two_us("C", 2.001, 3);
    const struct validate_row *rows[] = {&in, &above, &below};
    ck_assert_int_eq(print(rows, 3, &err, text, sizeof text), SIM_ENO);
    ck_assert_int_eq(sim_status_exit_code(SIM_ENO), 1);
    ck_assert_str_eq(err.text, "2 of 3 rows lie outside the accepted range");
    ck_assert_ptr_nonnull(strstr(text, "outside"));
}
END_TEST

START_TEST(a_rate_and_a_speed_are_of_times)
{
    struct sim_error err = {0};
    struct validate_result result;
    struct validate_row row = two_us("A", 1, 2);
    row.factor = 3;
    ck_assert_int_eq(validate_rate(&row, &err, &result), SIM_OK);
    ck_assert_double_eq_tol(result.value, 1.5, 1e-9); /* 3 x 1,000 B / 2 us, in GB/s */
    row.base = row.run;
    row.base.bytes = 5000; /* 6 us */
    ck_assert_int_eq(validate_speed(&row, &err, &result), SIM_OK);
    ck_assert_double_eq_tol(result.value, 3, 1e-9);
    row.run.spec = "mesh:0";
    ck_assert_int_eq(validate_speed(&row, &err, &result), SIM_EDATA);
}
END_TEST

START_TEST(rows_built_in_are_complete)
{
    uint32_t count;
    const struct validate_row *rows = validate_rows(&count);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_msg(rows[i].low > 0 && rows[i].low <= rows[i].published &&
                          rows[i].published <= rows[i].high,
                      "%s: published lies outside its own range", rows[i].name);
        ck_assert(rows[i].measure != NULL);
        for (uint32_t j = 0; j < i; j++)
            ck_assert_str_ne(rows[i].name, rows[j].name);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_row_within_its_range_is_a_yes,
                                  a_row_outside_of_its_range_is_a_no,
                                  a_rate_and_a_speed_are_of_times, rows_built_in_are_complete};
    return run_suite(SUITE_OF("cli_validate", tests));
}
