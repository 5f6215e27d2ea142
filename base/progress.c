#include "base/progress.h"

#include <assert.h>
#include <stdio.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "base/time.h"

#define ERASE_REST        "\033[K"
#define ERASE             "\r" ERASE_REST
#define UPDATE_INTERVAL_S 0.25
#define ESTIMATE_AFTER_S  2.0  /* of looks */
#define LONG_S            60.0 /* worth a line */

struct sim_progress {
    char *what;
    uint64_t parts, done;
    double share;           /* of the part at hand */
    double first_share;     /* what it was at the first look: what came before is start-up */
    double first_look_at_s; /* wall clock; 0: none yet */
    double created_at_s, began_at_s; /* wall clock; began: that part */
    double shown_at_s;               /* the last look */
    double told_s;                   /* the estimate last told; 0: none */
    bool is_terminal;
};

sim_progress *sim_progress_create(const char *what, uint64_t parts, bool is_quiet)
{
    sim_progress *progress;

    assert(what != NULL && parts > 0);
    if (is_quiet) return NULL;
    progress = SIM_NEW(sim_progress, 1);
    progress->what = sim_strdup(what);
    progress->parts = parts;
    progress->is_terminal = isatty(STDERR_FILENO) == 1;
    progress->created_at_s = progress->began_at_s = progress->shown_at_s = sim_wall_s();
    return progress;
}

/* "40 s", "7 min", "2.5 h" */
static const char *duration_format(double s, char *text)
{
    if (s < 100)
        snprintf(text, SIM_QUANTITY_TEXT, "%.0f s", s);
    else if (s < 6000)
        snprintf(text, SIM_QUANTITY_TEXT, "%.0f min", s / 60);
    else
        snprintf(text, SIM_QUANTITY_TEXT, "%.3g h", s / 3600);
    return text;
}

/* Seconds to go at the pace since the first look; less than 0: not known yet. */
static double left_s(const sim_progress *progress)
{
    double gained = progress->share - progress->first_share;

    if (gained <= 0) return -1;
    return (1 - progress->share) / gained * (progress->shown_at_s - progress->first_look_at_s);
}

/* Once, and again where it was far too low. Later parts are taken to last as long as this one. */
static void tell_estimate(sim_progress *progress)
{
    char part[SIM_QUANTITY_TEXT], parts[SIM_QUANTITY_TEXT], text[SIM_QUANTITY_TEXT];
    double now_s = progress->shown_at_s, spent_s = now_s - progress->began_at_s;
    double part_s = spent_s + left_s(progress);
    double later_s = part_s * (double)(progress->parts - progress->done - 1);
    double all_s = now_s - progress->created_at_s + left_s(progress) + later_s;

    if (now_s - progress->first_look_at_s < ESTIMATE_AFTER_S || left_s(progress) < 0) return;
    if (all_s < LONG_S || all_s < 2 * progress->told_s) return;
    progress->told_s = all_s;
    sim_count_format(progress->parts, parts);
    fprintf(stderr, "%spodsim: %s %s of %s takes about %s", progress->is_terminal ? ERASE : "",
            progress->what, sim_count_format(progress->done + 1, part), parts,
            duration_format(part_s, text));
    if (progress->parts > 1)
        fprintf(stderr, ", all %s about %s", parts, duration_format(all_s, text));
    fprintf(stderr, " (%.2g %% of it is done after %s)\n", 100 * progress->share,
            duration_format(spent_s, text));
}

static void show_line(const sim_progress *progress)
{
    char done[SIM_QUANTITY_TEXT], parts[SIM_QUANTITY_TEXT], left[SIM_QUANTITY_TEXT];

    fprintf(stderr, "\r%s %s of %s", progress->what, sim_count_format(progress->done + 1, done),
            sim_count_format(progress->parts, parts));
    if (left_s(progress) >= 0)
        fprintf(stderr, ": %.0f %%, %s left", 100 * progress->share,
                duration_format(left_s(progress), left));
    fputs(ERASE_REST, stderr);
    fflush(stderr);
}

bool sim_progress_is_due(const sim_progress *progress)
{
    double since_s;

    if (progress == NULL) return false;
    since_s =
        progress->shown_at_s > progress->began_at_s ? progress->shown_at_s : progress->began_at_s;
    return sim_wall_s() - since_s >= UPDATE_INTERVAL_S;
}

void sim_progress_share(sim_progress *progress, double share)
{
    if (progress == NULL) return;
    progress->shown_at_s = sim_wall_s();
    progress->share = share < 0 ? 0 : share > 1 ? 1 : share;
    if (progress->first_look_at_s == 0) {
        progress->first_look_at_s = progress->shown_at_s;
        progress->first_share = progress->share;
    }
    tell_estimate(progress);
    if (progress->is_terminal) show_line(progress);
}

void sim_progress_update(sim_progress *progress, uint64_t done)
{
    if (progress == NULL) return;
    progress->done = done;
    progress->began_at_s = sim_wall_s();
    progress->first_look_at_s = progress->share = progress->first_share = 0;
    if (!progress->is_terminal || done == progress->parts) return;
    if (progress->began_at_s - progress->shown_at_s < UPDATE_INTERVAL_S) return;
    progress->shown_at_s = progress->began_at_s;
    show_line(progress);
}

void sim_progress_destroy(sim_progress *progress)
{
    if (progress == NULL) return;
    if (progress->is_terminal) {
        fputs(ERASE, stderr);
        fflush(stderr);
    }
    sim_free(progress->what);
    sim_free(progress);
}
