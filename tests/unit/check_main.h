/**
 * What the main() of every unit test does.
 */
#ifndef PODSIM_TESTS_UNIT_CHECK_MAIN_H
#define PODSIM_TESTS_UNIT_CHECK_MAIN_H

#include <check.h>
#include <stdlib.h>

/** Run all of `s`; the exit code for main(). */
static inline int run_suite(Suite *s)
{
    SRunner *runner = srunner_create(s);
    int failed;

    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

#endif
