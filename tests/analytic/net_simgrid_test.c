/*
 * The flow engine against SimGrid 3.32: finish times of single messages, with its routes.
 *
 * tests/data/simgrid-3.32.csv holds what SimGrid's flow model CM02 without TCP corrections gives on
 * torus zones of 45 GB/s, latency 0, all messages starting at once: plain max-min sharing. Its
 * times are doubles, podsim's whole picoseconds: 2 ps or 1e-8 apart at most.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/coll.h"
#include "netsim/run.h"
#include "tests/support.h"

static const struct scenario {
    const char *name, *shape;
    uint32_t side[3];
    double bytes; /* a message */
    const char *kind;
    uint32_t a, b; /* of kind perm */
} scenarios[] = {{"ring", "4x4x4", {4, 4, 4}, 67108864, "ring", 0, 0},
                 {"ring", "8x8", {8, 8, 1}, 67108864, "ring", 0, 0},
                 {"ring", "8x8x8", {8, 8, 8}, 67108864, "ring", 0, 0},
                 {"shift213", "4x4x4", {4, 4, 4}, 67108864, "shift", 0, 0},
                 {"shift213", "8x8", {8, 8, 1}, 67108864, "shift", 0, 0},
                 {"shift213", "8x8x8", {8, 8, 8}, 67108864, "shift", 0, 0},
                 {"perm_29_7", "4x4x4", {4, 4, 4}, 67108864, "perm", 29, 7},
                 {"perm_29_7", "8x8", {8, 8, 1}, 67108864, "perm", 29, 7},
                 {"perm_173_41", "8x8x8", {8, 8, 8}, 67108864, "perm", 173, 41},
                 {"shuffle1", "4x4x4", {4, 4, 4}, 67108864, "shuffle", 0, 0},
                 {"shuffle1", "8x8", {8, 8, 1}, 67108864, "shuffle", 0, 0},
                 {"shuffle1", "8x8x8", {8, 8, 8}, 67108864, "shuffle", 0, 0},
                 {"hotspot0", "4x4x4", {4, 4, 4}, 1048576, "hotspot", 0, 0},
                 {"hotspot0", "8x8", {8, 8, 1}, 1048576, "hotspot", 0, 0},
                 {"hotspot0", "8x8x8", {8, 8, 8}, 1048576, "hotspot", 0, 0},
                 {"a2a", "4x4x4", {4, 4, 4}, 1048576, "all", 0, 0},
                 {"a2a", "8x8", {8, 8, 1}, 1048576, "all", 0, 0},
                 {"a2a", "6x6x6", {6, 6, 6}, 1048576, "all", 0, 0}};
#define SCENARIOS ((int)(sizeof scenarios / sizeof scenarios[0]))

/* ---- who sends to whom ---- */

static uint32_t shifted(const struct scenario *s, uint32_t chip)
{
    static const uint32_t shift[] = {2, 1, 3};
    uint32_t to = 0, stride = 1;
    for (int a = 0; a < 3; a++) {
        uint32_t k = s->side[a];
        to += (chip % k + (k > 1 ? shift[a] : 0)) % k * stride;
        chip /= k;
        stride *= k;
    }
    return to;
}

/* A scrambled permutation by a linear congruential generator, as its maker wrote it. */
static void shuffle(uint32_t chips, uint32_t *to)
{
    uint64_t state = 1;
    for (uint32_t i = 0; i < chips; i++)
        to[i] = i;
    for (uint32_t i = chips - 1; i > 0; i--) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        uint32_t j = (uint32_t)((state >> 33) % (i + 1)), swap = to[i];
        to[i] = to[j];
        to[j] = swap;
    }
}

static void add(struct coll_pairs *pairs, uint32_t src, uint32_t dst, double bytes)
{
    if (src == dst) return;
    pairs->src[pairs->count] = src;
    pairs->dst[pairs->count] = dst;
    pairs->bytes[pairs->count++] = (uint64_t)bytes;
}

static struct coll_pairs pairs_of(const struct scenario *s, uint32_t chips)
{
    struct coll_pairs pairs = {.src = calloc((size_t)chips * chips, sizeof *pairs.src),
                               .dst = calloc((size_t)chips * chips, sizeof *pairs.dst),
                               .bytes = calloc((size_t)chips * chips, sizeof *pairs.bytes)};
    uint32_t *scrambled = calloc(chips, sizeof *scrambled);
    shuffle(chips, scrambled);
    for (uint32_t c = 0; c < chips; c++) {
        if (strcmp(s->kind, "ring") == 0)
            add(&pairs, c, c - c % s->side[0] + (c + 1) % s->side[0], s->bytes);
        if (strcmp(s->kind, "shift") == 0) add(&pairs, c, shifted(s, c), s->bytes);
        if (strcmp(s->kind, "perm") == 0) add(&pairs, c, (s->a * c + s->b) % chips, s->bytes);
        if (strcmp(s->kind, "shuffle") == 0) add(&pairs, c, scrambled[c], s->bytes);
        if (strcmp(s->kind, "hotspot") == 0) add(&pairs, c, 0, s->bytes);
        for (uint32_t d = 0; d < chips && strcmp(s->kind, "all") == 0; d++)
            add(&pairs, c, d, s->bytes);
    }
    free(scrambled);
    return pairs;
}

/* ---- the run ---- */

struct finishes {
    uint32_t chips;
    sim_ps *end; /* [chips x chips] by source, destination; 0 where no message was */
};

static void note(void *context, topo_chip_id src, topo_chip_id dst, double bytes, sim_ps start,
                 sim_ps end)
{
    struct finishes *f = context;
    (void)bytes, (void)start;
    f->end[(size_t)src * f->chips + dst] = end;
}

static struct finishes run_scenario(const struct scenario *s)
{
    char spec[64];
    struct sim_error err = {0};
    snprintf(spec, sizeof spec, "torus:%s,link=45GB/s,latency=0", s->shape);
    topo *t = topo_with_or_fail(spec, "", "dimension-order,tie=simgrid");
    uint32_t chips = topo_chips(t);
    struct coll_pairs pairs = pairs_of(s, chips);
    struct finishes f = {chips, calloc((size_t)chips * chips, sizeof *f.end)};
    struct coll_spec c = {
        .op = COLL_PERMUTE, .algorithm = COLL_DIRECT, .group = topo_group_all(t), .pairs = &pairs};
    net_schedule *schedule;
    struct net_result result;
    const struct net_options options = {0};
    const struct net_observer observer = {.context = &f, .on_message = note};
    ck_assert_int_eq(coll_build(t, &c, &err, &schedule), SIM_OK);
    ck_assert_msg(net_run(schedule, &options, &observer, &err, &result, NULL, NULL) == SIM_OK, "%s",
                  err.text);
    net_schedule_destroy(schedule);
    free(pairs.src);
    free(pairs.dst);
    free(pairs.bytes);
    topo_destroy(t);
    return f;
}

/* ---- the comparison ---- */

/* What a row calls its flow: one message, or the last, the first or the mean of all. */
static double finish_of(const struct finishes *f, const char *flow)
{
    unsigned src, dst;
    if (sscanf(flow, "%u-%u", &src, &dst) == 2) return (double)f->end[(size_t)src * f->chips + dst];
    double last = 0, first = INFINITY, sum = 0, count = 0;
    for (size_t i = 0; i < (size_t)f->chips * f->chips; i++) {
        double end = (double)f->end[i];
        if (end == 0) continue;
        last = end > last ? end : last;
        first = end < first ? end : first;
        sum += end;
        count++;
    }
    return strcmp(flow, "makespan") == 0 ? last : strcmp(flow, "first") == 0 ? first : sum / count;
}

static void compare_row(const struct scenario *s, const struct finishes *f, char *row, int *rows)
{
    char *field[10] = {NULL}, *rest = NULL;
    int count = 0;
    for (char *at = strtok_r(row, ",", &rest); at != NULL && count < 10;
         at = strtok_r(NULL, ",", &rest))
        field[count++] = at;
    ck_assert_int_eq(count, 10);
    if (strcmp(field[0], s->name) != 0 || strcmp(field[1], s->shape) != 0) return;
    ck_assert_double_eq(strtod(field[3], NULL), s->bytes);
    double wanted_ps = strtod(field[7], NULL) * 1e12, got_ps = finish_of(f, field[6]);
    double allowed = 1e-8 * wanted_ps > 2 ? 1e-8 * wanted_ps : 2;
    ck_assert_msg(fabs(got_ps - wanted_ps) <= allowed, "%s %s %s: %.3f ps, SimGrid %.3f", s->name,
                  s->shape, field[6], got_ps, wanted_ps);
    ++*rows;
}

START_TEST(every_listed_message_ends_when_simgrid_says)
{
    const struct scenario *s = &scenarios[_i];
    struct finishes f = run_scenario(s);
    FILE *in = fopen(PODSIM_SOURCE_DIR "/tests/data/simgrid-3.32.csv", "r");
    ck_assert_ptr_nonnull(in);
    char row[256];
    int rows = 0;
    ck_assert_ptr_nonnull(fgets(row, sizeof row, in)); /* the heading */
    while (fgets(row, sizeof row, in) != NULL)
        compare_row(s, &f, row, &rows);
    fclose(in);
    free(f.end);
    ck_assert_int_ge(rows, 4);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net_simgrid");
    TCase *loops = tcase_create("scenarios");
    tcase_set_timeout(loops, 120);
    tcase_add_loop_test(loops, every_listed_message_ends_when_simgrid_says, 0, SCENARIOS);
    suite_add_tcase(suite, loops);
    return run_suite(suite);
}
