/* Estimates, with a clock that is set. In Check's own process for each test, stderr is a file. */
#include "base/progress.h"

#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/unit/check_main.h"

double __wrap_sim_wall_s(void);

static double now_s = 1000;

double __wrap_sim_wall_s(void)
{
    return now_s;
}

static FILE *ear;
static char said[1000];

static void listen(void)
{
    ear = tmpfile();
    ck_assert_ptr_nonnull(ear);
    ck_assert_int_eq(dup2(fileno(ear), STDERR_FILENO), STDERR_FILENO);
}

static const char *heard(void)
{
    fflush(stderr);
    rewind(ear);
    said[fread(said, 1, sizeof said - 1, ear)] = '\0';
    return said;
}

/* The first look is after 21 s of start-up at 3 %; from there on 1 % in 1 s. */
static void run_for(sim_progress *p, int seconds)
{
    now_s += 21;
    for (int i = 0; i <= seconds; i++, now_s++)
        sim_progress_share(p, 0.03 + 0.01 * i);
}

START_TEST(a_long_part_is_told_once)
{
    listen();
    sim_progress *p = sim_progress_create("run", 3, false);
    sim_progress_update(p, 1);
    run_for(p, 50);
    sim_progress_destroy(p);
    ck_assert_str_eq(heard(),
                     "podsim: run 2 of 3 takes about 2 min, all 3 about 4 min (5 % of it is "
                     "done after 23 s)\n");
}
END_TEST

START_TEST(short_parts_are_not)
{
    listen();
    sim_progress *p = sim_progress_create("run", 3, false);
    for (int i = 0; i < 3; i++) {
        for (int k = 0; k < 10; k++, now_s += 1.9)
            sim_progress_share(p, 0.1 * k);
        sim_progress_update(p, (uint64_t)i + 1);
    }
    sim_progress_destroy(p);
    ck_assert_str_eq(heard(), "");
}
END_TEST

START_TEST(slower_than_told_is_told_again)
{
    listen();
    sim_progress *p = sim_progress_create("load", 1, false);
    run_for(p, 4);
    now_s += 500;
    sim_progress_share(p, 0.08);
    sim_progress_destroy(p);
    ck_assert_str_eq(heard(),
                     "podsim: load 1 of 1 takes about 2 min (5 % of it is done after 23 s)\n"
                     "podsim: load 1 of 1 takes about 2.73 h (8 % of it is done after 9 min)\n");
}
END_TEST

START_TEST(nobody_is_told_by_the_quiet)
{
    listen();
    sim_progress *p = sim_progress_create("run", 1, true);
    ck_assert_ptr_null(p);
    run_for(p, 50);
    sim_progress_update(p, 1);
    sim_progress_destroy(p);
    ck_assert_str_eq(heard(), "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("base_progress");
    TCase *tests = tcase_create("estimates");
    tcase_add_test(tests, a_long_part_is_told_once);
    tcase_add_test(tests, short_parts_are_not);
    tcase_add_test(tests, slower_than_told_is_told_again);
    tcase_add_test(tests, nobody_is_told_by_the_quiet);
    suite_add_tcase(suite, tests);
    return run_suite(suite);
}
