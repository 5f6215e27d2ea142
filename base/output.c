/*
 * Whole or absent, also when the program is interrupted: bytes go to TARGET.tmp.PID in the target's directory (rename() works within a
 * file system only) and take the target's name at the commit. Not synced to the disk: this guards
 * against a failed run, not a power cut.
 *
 * Links are followed first, so that a link named as the target stays one. What is no regular file
 * (a device, a pipe, a terminal) cannot be replaced and is written directly; so is anything below
 * /dev, where /dev/stdout may well be a link to a regular file that the shell has open.
 */
#include "base/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"

#define LINKS_MAX     40  /* as many as Linux follows */
#define TEMPORARY_MAX 100 /* left-over names of other runs to step over */

struct sim_output {
    FILE *file;
    char *target;            /* as shown in messages and renamed to */
    char *temporary;         /* NULL when written directly */
    struct sim_output *next; /* of those with a temporary file */
};

/* Temporary files to remove when the program is ended from outside, or ends itself for want of
 * memory. A signal may come at any time: pointers change in one store each, links first. */
static struct sim_output *unfinished;

static void remove_unfinished(void)
{
    for (const struct sim_output *o = unfinished; o != NULL; o = o->next)
        unlink(o->temporary);
}

/* The default action is back by then (SA_RESETHAND), and ends the program. */
static void on_end(int signal_number)
{
    remove_unfinished();
    raise(signal_number);
}

static void watch_for_end(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    static bool is_watching;

    if (is_watching) return;
    is_watching = true;
    atexit(remove_unfinished);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        struct sigaction action = {.sa_handler = on_end, .sa_flags = SA_RESETHAND | SA_NODEFER},
                         old;

        if (sigaction(signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(signals[i], &action, NULL);
    }
}

static void note_unfinished(sim_output *output)
{
    watch_for_end();
    output->next = unfinished;
    __atomic_store_n(&unfinished, output, __ATOMIC_RELEASE);
}

static void forget_unfinished(const sim_output *output)
{
    struct sim_output **at = &unfinished;

    while (*at != NULL && *at != output)
        at = &(*at)->next;
    if (*at != NULL) __atomic_store_n(at, output->next, __ATOMIC_RELEASE);
}

static enum sim_status refuse(struct sim_error *err, const char *path, int error_number)
{
    char quoted[SIM_QUOTE_TEXT];

    return sim_error_set(err, SIM_ECREATE, "cannot create %s: %s", sim_error_quote(path, quoted),
                         strerror(error_number));
}

static enum sim_status write_failed(struct sim_error *err, const char *path, int error_number)
{
    char quoted[SIM_QUOTE_TEXT];

    return sim_error_set(err, SIM_EIO, "cannot write %s: %s", sim_error_quote(path, quoted),
                         error_number != 0 ? strerror(error_number) : "not all of it arrived");
}

/* Where `path` leads when it is a link, with what it points to read relative to its directory.
 * Owned by the caller. */
static char *follow_links(const char *path)
{
    char *now = sim_strdup(path);
    char link[PATH_MAX];

    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t length = readlink(now, link, sizeof link - 1);
        const char *slash = strrchr(now, '/');
        size_t directory = slash == NULL ? 0 : (size_t)(slash - now) + 1;
        char *next;

        if (length < 0) break; /* no link */
        link[length] = '\0';
        if (link[0] == '/') directory = 0;
        next = sim_alloc(directory + (size_t)length + 1, 1, "a path");
        memcpy(next, now, directory);
        memcpy(next + directory, link, (size_t)length);
        sim_free(now);
        now = next;
    }
    return now;
}

/* A new file beside output->target, with the permissions a plain creation there would give (umask,
 * default ACLs). -1: see errno. */
static int create_temporary(sim_output *output)
{
    size_t bytes = strlen(output->target) + 64;

    output->temporary = sim_alloc(bytes, 1, "a path");
    for (int i = 0; i < TEMPORARY_MAX; i++) {
        int fd;

        snprintf(output->temporary, bytes, "%s.tmp.%ld", output->target, (long)getpid() + i);
        fd = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

static void release(sim_output *output)
{
    forget_unfinished(output);
    sim_free(output->target);
    sim_free(output->temporary);
    sim_free(output);
}

/* Open a file that replaces output->target, whose state is `old` when it exists. */
static enum sim_status open_replacement(sim_output *output, const struct stat *old,
                                        struct sim_error *err)
{
    int fd;

    if (old != NULL && access(output->target, W_OK) != 0) {
        return refuse(err, output->target, errno);
    }
    fd = create_temporary(output);
    if (fd < 0) return refuse(err, output->target, errno);
    output->file = fdopen(fd, "w");
    if (output->file == NULL || (old != NULL && fchmod(fd, old->st_mode & 0777) != 0)) {
        int error_number = errno;

        if (output->file != NULL) {
            fclose(output->file);
        } else {
            close(fd);
        }
        unlink(output->temporary);
        return refuse(err, output->target, error_number);
    }
    note_unfinished(output);
    return SIM_OK;
}

enum sim_status sim_output_open(const char *path, struct sim_error *err, sim_output **out)
{
    sim_output *output;
    struct stat old;
    bool exists;

    assert(path != NULL && out != NULL);
    output = SIM_NEW(sim_output, 1);
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) {
        output->file = stdout;
        output->target = sim_strdup("stdout");
        *out = output;
        return SIM_OK;
    }
    output->target = sim_strdup(path);
    exists = stat(path, &old) == 0;
    if (path[0] == '\0' || (!exists && errno == ELOOP)) {
        /* Else "" would put a temporary file here, and a circle of links would be replaced. */
        refuse(err, path, path[0] == '\0' ? ENOENT : ELOOP);
    } else if (strncmp(path, "/dev/", 5) == 0 || (exists && !S_ISREG(old.st_mode))) {
        output->file = fopen(path, "w");
        if (output->file == NULL) refuse(err, path, errno);
    } else {
        sim_free(output->target);
        output->target = follow_links(path);
        if (open_replacement(output, exists ? &old : NULL, err) != SIM_OK) output->file = NULL;
    }
    if (output->file == NULL) {
        release(output);
        return SIM_ECREATE;
    }
    *out = output;
    return SIM_OK;
}

FILE *sim_output_file(sim_output *output)
{
    return output->file;
}

/* Flush `file`: did everything written to it arrive? `*error_number` is 0 when the reason is an
 * earlier, unknown one. */
static bool flush(FILE *file, int *error_number)
{
    *error_number = 0;
    if (fflush(file) != 0) *error_number = errno;
    return *error_number == 0 && !ferror(file);
}

enum sim_status sim_output_commit(sim_output *output, struct sim_error *err)
{
    bool is_stdout = output->file == stdout;
    int error_number;
    bool is_whole = flush(output->file, &error_number);

    if (!is_stdout && fclose(output->file) != 0 && is_whole) {
        is_whole = false;
        error_number = errno;
    }
    if (is_whole && output->temporary != NULL && rename(output->temporary, output->target) != 0) {
        is_whole = false;
        error_number = errno;
    }
    if (!is_whole) {
        write_failed(err, output->target, error_number);
        if (output->temporary != NULL) unlink(output->temporary);
    }
    release(output);
    return is_whole ? SIM_OK : SIM_EIO;
}

void sim_output_discard(sim_output *output)
{
    if (output == NULL) return;
    if (output->file != stdout) fclose(output->file);
    if (output->temporary != NULL) unlink(output->temporary);
    release(output);
}

enum sim_status sim_stdout_check(struct sim_error *err)
{
    int error_number;

    if (flush(stdout, &error_number)) return SIM_OK;
    return write_failed(err, "stdout", error_number);
}
