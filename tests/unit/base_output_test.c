/* Output files: whole or absent, permissions, devices, and every failure by its status and message.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/output.h"
#include "tests/unit/check_main.h"

static char directory[] = "/tmp/podsim_output_XXXXXX";

/* Each test runs in an empty directory of its own. */
static void enter_directory(void)
{
    ck_assert_ptr_nonnull(mkdtemp(directory));
    ck_assert_int_eq(chdir(directory), 0);
    umask(022);
}

static void leave_directory(void)
{
    DIR *dir = opendir(".");
    struct dirent *entry;

    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] != '.' && unlink(entry->d_name) != 0) rmdir(entry->d_name);
    }
    closedir(dir);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_int_eq(rmdir(directory), 0);
}

static int count_files(void)
{
    DIR *dir = opendir(".");
    struct dirent *entry;
    int count = 0;

    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void check_content(const char *path, const char *expected)
{
    FILE *file = fopen(path, "r");
    char content[64];

    ck_assert_ptr_nonnull(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    ck_assert_str_eq(content, expected);
}

static void write_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    fputs(content, file);
    fclose(file);
}

static unsigned mode_of(const char *path)
{
    struct stat status;

    ck_assert_int_eq(stat(path, &status), 0);
    return status.st_mode & 0777;
}

static sim_output *open_or_fail(const char *path)
{
    struct sim_error err = {0};
    sim_output *output = NULL;

    ck_assert_msg(sim_output_open(path, &err, &output) == SIM_OK, "%s", err.text);
    return output;
}

static void commit_or_fail(sim_output *output)
{
    struct sim_error err = {0};

    ck_assert_msg(sim_output_commit(output, &err) == SIM_OK, "%s", err.text);
}

START_TEST(new_file_appears_at_commit)
{
    sim_output *output = open_or_fail("out.json");

    fputs("new", sim_output_file(output));
    ck_assert_int_ne(access("out.json", F_OK), 0); /* not there yet */
    commit_or_fail(output);
    check_content("out.json", "new");
    ck_assert_int_eq(count_files(), 1); /* and no temporary name is left */
}
END_TEST

START_TEST(old_file_stays_until_commit)
{
    sim_output *output;

    write_file("out.json", "old");
    output = open_or_fail("out.json");
    fputs("new", sim_output_file(output));
    check_content("out.json", "old");
    commit_or_fail(output);
    check_content("out.json", "new");
}
END_TEST

START_TEST(discard_leaves_nothing)
{
    sim_output *output = open_or_fail("out.json");

    fputs("new", sim_output_file(output));
    sim_output_discard(output);
    ck_assert_int_eq(count_files(), 0);
    write_file("out.json", "old");
    sim_output_discard(open_or_fail("out.json"));
    check_content("out.json", "old");
    sim_output_discard(NULL);
}
END_TEST

START_TEST(permissions_follow_the_umask)
{
    umask(027);
    commit_or_fail(open_or_fail("out.json"));
    ck_assert_uint_eq(mode_of("out.json"), 0640); /* 0666 & ~027 */
    chmod("out.json", 0604);
    commit_or_fail(open_or_fail("out.json"));
    ck_assert_uint_eq(mode_of("out.json"), 0604); /* those of the file it replaces */
}
END_TEST

START_TEST(left_over_temporary_is_stepped_over)
{
    char left_over[64];

    snprintf(left_over, sizeof left_over, "out.json.tmp.%ld", (long)getpid());
    write_file(left_over, "someone else's");
    commit_or_fail(open_or_fail("out.json"));
    check_content(left_over, "someone else's");
    ck_assert_int_eq(count_files(), 2);
}
END_TEST

START_TEST(two_outputs_at_once)
{
    sim_output *a = open_or_fail("out.json"), *b = open_or_fail("out.json");

    fputs("a", sim_output_file(a));
    fputs("b", sim_output_file(b));
    commit_or_fail(a);
    check_content("out.json", "a");
    commit_or_fail(b); /* the last one wins, whole */
    check_content("out.json", "b");
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(link_stays_a_link)
{
    struct stat status;
    sim_output *output;

    ck_assert_int_eq(mkdir("results", 0777), 0);
    ck_assert_int_eq(symlink("results/real.json", "latest"), 0); /* dangling for now */
    ck_assert_int_eq(symlink("latest", "newest"), 0);
    output = open_or_fail("newest");
    fputs("1", sim_output_file(output));
    commit_or_fail(output);
    check_content("results/real.json", "1");
    commit_or_fail(open_or_fail("latest"));
    check_content("results/real.json", "");
    ck_assert_int_eq(lstat("newest", &status), 0);
    ck_assert(S_ISLNK(status.st_mode));
    ck_assert_int_eq(unlink("results/real.json"), 0);
}
END_TEST

static const struct {
    const char *path, *message;
} refused_case[] = {
    {"none/out.json", "cannot create \"none/out.json\": No such file or directory"},
    {"plain/out.json", "cannot create \"plain/out.json\": Not a directory"},
    {"", "cannot create \"\": No such file or directory"},
    {".", "cannot create \".\": Is a directory"},
    {"circle", "cannot create \"circle\": Too many levels of symbolic links"},
    {"none/", "cannot create \"none/\": No such file or directory"},
    {"/dev/podsim/none", "cannot create \"/dev/podsim/none\": No such file or directory"},
};

START_TEST(what_cannot_be_created)
{
    struct sim_error err = {0};
    sim_output *output = NULL;

    write_file("plain", "");
    ck_assert_int_eq(symlink("circle", "circle"), 0);
    ck_assert_int_eq(sim_output_open(refused_case[_i].path, &err, &output), SIM_ECREATE);
    ck_assert_ptr_null(output);
    ck_assert_str_eq(err.text, refused_case[_i].message);
    ck_assert_int_eq(sim_output_open(refused_case[_i].path, NULL, &output), SIM_ECREATE);
    ck_assert_int_eq(count_files(), 2); /* only those two */
}
END_TEST

START_TEST(protected_file_is_not_replaced)
{
    struct sim_error err = {0};
    sim_output *output = NULL;

    if (geteuid() == 0) return; /* root may write anything */
    write_file("out.json", "old");
    chmod("out.json", 0444);
    ck_assert_int_eq(sim_output_open("out.json", &err, &output), SIM_ECREATE);
    ck_assert_str_eq(err.text, "cannot create \"out.json\": Permission denied");
    check_content("out.json", "old");
}
END_TEST

START_TEST(commit_that_fails_leaves_nothing)
{
    struct sim_error err = {0};
    sim_output *output = open_or_fail("out.json");

    fputs("new", sim_output_file(output));
    ck_assert_int_eq(mkdir("out.json", 0777), 0); /* rename() over a directory fails */
    ck_assert_int_eq(sim_output_commit(output, &err), SIM_EIO);
    ck_assert_str_eq(err.text, "cannot write \"out.json\": Is a directory");
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

/* Small: fails when flushed at the commit. Large: some fwrite() before it has failed already, and
 * its reason is gone. */
START_TEST(full_disk_is_an_io_error)
{
    static char block[1 << 16];
    struct sim_error err = {0};
    sim_output *output = open_or_fail("/dev/full");

    fwrite(block, 1, _i == 0 ? 10 : sizeof block, sim_output_file(output));
    ck_assert_int_eq(sim_output_commit(output, &err), SIM_EIO);
    ck_assert_int_eq(strncmp(err.text, "cannot write \"/dev/full\": ", 26), 0);
    if (_i == 0) ck_assert_str_eq(err.text + 26, "No space left on device");
    ck_assert_int_eq(count_files(), 0);
}
END_TEST

START_TEST(device_is_written_directly)
{
    struct stat status;
    sim_output *output = open_or_fail("/dev/null");

    fputs("gone", sim_output_file(output));
    commit_or_fail(output);
    sim_output_discard(open_or_fail("/dev/null"));
    ck_assert_int_eq(stat("/dev/null", &status), 0);
    ck_assert(S_ISCHR(status.st_mode)); /* still a device */
}
END_TEST

START_TEST(pipe_is_written_directly)
{
    char received[8] = "";
    sim_output *output;
    FILE *reader;

    ck_assert_int_eq(mkfifo("pipe", 0666), 0);
    reader = fopen("pipe", "r+"); /* read and write: does not wait for a writer */
    ck_assert_ptr_nonnull(reader);
    output = open_or_fail("pipe");
    fputs("hello\n", sim_output_file(output));
    commit_or_fail(output);
    ck_assert_ptr_nonnull(fgets(received, sizeof received, reader));
    ck_assert_str_eq(received, "hello\n");
    fclose(reader);
    ck_assert_int_eq(count_files(), 1);
}
END_TEST

START_TEST(dash_is_stdout)
{
    struct sim_error err = {0};
    sim_output *output;

    ck_assert_ptr_nonnull(freopen("stdout.txt", "w", stdout));
    output = open_or_fail("-");
    ck_assert_ptr_eq(sim_output_file(output), stdout);
    fputs("a", sim_output_file(output));
    commit_or_fail(output);
    check_content("stdout.txt", "a"); /* flushed */
    sim_output_discard(open_or_fail("/dev/stdout"));
    fputs("b", stdout); /* and still open */
    ck_assert_int_eq(sim_stdout_check(&err), SIM_OK);
    check_content("stdout.txt", "ab");
}
END_TEST

START_TEST(stdout_that_is_full)
{
    struct sim_error err = {0};
    sim_output *output;

    ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
    output = open_or_fail("-");
    fputs("a", sim_output_file(output));
    ck_assert_int_eq(sim_output_commit(output, &err), SIM_EIO);
    ck_assert_str_eq(err.text, "cannot write \"stdout\": No space left on device");
    ck_assert_int_eq(sim_stdout_check(NULL), SIM_EIO); /* not forgotten */
    ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout));
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/output");
    TCase *tc = tcase_create("output");

    tcase_add_checked_fixture(tc, enter_directory, leave_directory);
    tcase_add_test(tc, new_file_appears_at_commit);
    tcase_add_test(tc, old_file_stays_until_commit);
    tcase_add_test(tc, discard_leaves_nothing);
    tcase_add_test(tc, permissions_follow_the_umask);
    tcase_add_test(tc, left_over_temporary_is_stepped_over);
    tcase_add_test(tc, two_outputs_at_once);
    tcase_add_test(tc, link_stays_a_link);
    tcase_add_loop_test(tc, what_cannot_be_created, 0,
                        sizeof refused_case / sizeof refused_case[0]);
    tcase_add_test(tc, protected_file_is_not_replaced);
    tcase_add_test(tc, commit_that_fails_leaves_nothing);
    tcase_add_loop_test(tc, full_disk_is_an_io_error, 0, 2);
    tcase_add_test(tc, device_is_written_directly);
    tcase_add_test(tc, pipe_is_written_directly);
    tcase_add_test(tc, dash_is_stdout);
    tcase_add_test(tc, stdout_that_is_full);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
