#include "base/progress.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/time.h"

#define UPDATE_INTERVAL_S 0.25

struct sim_progress {
    char *what;
    uint64_t total;    /* 0 = unknown */
    double shown_at_s; /* wall clock of the last line */
};

sim_progress *sim_progress_create(const char *what, uint64_t total, int is_quiet)
{
    sim_progress *progress;

    assert(what != NULL);
    if (is_quiet || !isatty(STDERR_FILENO)) return NULL;
    progress = SIM_NEW(sim_progress, 1);
    progress->what = sim_strdup(what);
    progress->total = total;
    progress->shown_at_s = sim_wall_s();
    return progress;
}

void sim_progress_update(sim_progress *progress, uint64_t done)
{
    char done_text[SIM_QUANTITY_TEXT], total_text[SIM_QUANTITY_TEXT];
    double now_s;

    if (progress == NULL) return;
    now_s = sim_wall_s();
    if (now_s - progress->shown_at_s < UPDATE_INTERVAL_S) return;
    progress->shown_at_s = now_s;
    sim_count_format(done, done_text);
    if (progress->total > 0) {
        fprintf(stderr, "\r%s: %s of %s (%.0f %%)\033[K", progress->what, done_text,
                sim_count_format(progress->total, total_text),
                100.0 * (double)done / (double)progress->total);
    } else {
        fprintf(stderr, "\r%s: %s\033[K", progress->what, done_text);
    }
    fflush(stderr);
}

void sim_progress_destroy(sim_progress *progress)
{
    if (progress == NULL) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    sim_free(progress->what);
    sim_free(progress);
}
