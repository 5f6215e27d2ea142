/* MSCCL XML: what a file may say, what it does, and podsim's own schedules through it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/log.h"
#include "collectives/msccl.h"
#include "netsim/run.h"
#include "tests/support.h"

/* coll_msccl_read() of a text, through standard input. */
static enum sim_status read_text(const char *text, struct sim_error *err, coll_msccl **out)
{
    FILE *old = stdin;
    stdin = fmemopen((void *)text, strlen(text), "r");
    ck_assert_ptr_nonnull(stdin);
    enum sim_status status = coll_msccl_read("-", err, out);
    fclose(stdin);
    stdin = old;
    return status;
}

/* Read, and check with root 0. */
static enum sim_status judge(const char *text, struct sim_error *err)
{
    coll_msccl *a = NULL;
    enum sim_status status = read_text(text, err, &a);
    if (status == SIM_OK) status = coll_msccl_check(a, 0, err);
    coll_msccl_destroy(a);
    return status;
}

static sim_ps run_ps(net_schedule *s)
{
    struct sim_error err = {0};
    struct net_result result;
    ck_assert_msg(net_run(s, &(struct net_options){0}, NULL, &err, &result, NULL, NULL) == SIM_OK,
                  "%s", err.text);
    net_schedule_destroy(s);
    return result.time_ps;
}

static sim_ps file_ps(const coll_msccl *a, const topo *t, const struct coll_spec *spec)
{
    struct sim_error err = {0};
    net_schedule *s = NULL;
    ck_assert_msg(coll_msccl_schedule(a, t, spec, &err, &s) == SIM_OK, "%s", err.text);
    return run_ps(s);
}

static sim_ps native_ps(const topo *t, const struct coll_spec *spec)
{
    struct sim_error err = {0};
    net_schedule *s = NULL;
    ck_assert_msg(coll_build(t, spec, &err, &s) == SIM_OK, "%s", err.text);
    return run_ps(s);
}

/* ---- two ranks, a line each; one line changed ---- */

#define ALGO(changed) "<algo name=\"pair\" proto=\"Simple\" nchannels=\"1\" " changed ">"
#define GPU(id)       "<gpu id=\"" #id "\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">"
#define BLOCK(id, to, from, chan)                                                                  \
    "<tb id=\"" #id "\" send=\"" #to "\" recv=\"" #from "\" chan=\"" #chan "\">"
#define STEP(s, type, so, do, cnt, block, dep)                                                     \
    "<step s=\"" #s "\" type=\"" #type "\" srcbuf=\"i\" srcoff=\"" #so                             \
    "\" dstbuf=\"i\" dstoff=\"" #do "\" cnt=\"" #cnt "\" depid=\"" #block "\" deps=\"" #dep        \
                                    "\" hasdep=\"1\"/>"

static const char *const pair[] = {
    /* 1 */ ALGO("nchunksperloop=\"1\" ngpus=\"2\" coll=\"allreduce\" inplace=\"1\""),
    /* 2 */ GPU(0),
    /* 3 */ BLOCK(0, 1, -1, 0),
    /* 4 */ STEP(0, s, 0, -1, 1, -1, -1),
    /* 5 */ "</tb>",
    /* 6 */ BLOCK(1, -1, 1, 0),
    /* 7 */ STEP(0, rrc, 0, 0, 1, 0, 0),
    /* 8 */ "</tb></gpu>",
    /* 9 */ GPU(1),
    /* 10 */ BLOCK(0, 0, -1, 0),
    /* 11 */ STEP(0, s, 0, -1, 1, -1, -1),
    /* 12 */ "</tb>",
    /* 13 */ BLOCK(1, -1, 0, 0),
    /* 14 */ STEP(0, rrc, 0, 0, 1, 0, 0),
    /* 15 */ "</tb></gpu>",
    /* 16 */ "</algo>",
};
#define PAIR_LINES 16

/* The pair with line `line` (1-based; 0: none) replaced. Free it. */
static char *pair_with(int line, const char *text)
{
    char *all = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&all, &bytes);
    for (int i = 0; i < PAIR_LINES; i++)
        fprintf(out, "%s\n", i + 1 == line ? text : pair[i]);
    fclose(out);
    return all;
}

START_TEST(two_ranks_exchange_and_add)
{
    struct sim_error err = {0};
    char *text = pair_with(0, NULL);
    topo *t = topo_or_fail("mesh:2,link=1GB/s,latency=1us");
    struct coll_spec spec = {.op = COLL_ALL_REDUCE, .group = topo_group_all(t), .bytes = 1000};
    coll_msccl *a = NULL;
    ck_assert_int_eq(read_text(text, &err, &a), SIM_OK);
    ck_assert_int_eq(coll_msccl_check(a, 0, &err), SIM_OK);
    ck_assert_str_eq(coll_msccl_name(a), "pair");
    ck_assert_int_eq(coll_msccl_op(a), COLL_ALL_REDUCE);
    ck_assert_int_eq(file_ps(a, t, &spec), 2000000); /* 1 us for 1000 bytes, and 1 us of latency */
    coll_msccl_destroy(a);
    topo_destroy(t);
    free(text);
}
END_TEST

static const struct {
    int line;
    const char *text;
    int where; /* line of the message; 0: any */
    const char *message;
} sabotage[] = {
    /* not what the form asks for */
    {1, "", 2, "found element \"gpu\", want <algo>"},
    {2, "<tb>", 2, "found element \"tb\", want <gpu>"},
    {4, "<step s=\"0\"><x/></step>", 4, "<step> has no attribute type"},
    {4, "<step s=\"0\" type=\"ra\"/>", 4, "step type \"ra\" is an extension of one runtime"},
    {4, "<step s=\"0\" type=\"sr\"/>", 4, "type of <step> is \"sr\", want s, r, rcs"},
    {4, "<step s=\"0\" type=\"s\" srcbuf=\"x\"/>", 4, "srcbuf of <step> is \"x\", want i, o or s"},
    {4, STEP(x, s, 0, -1, 1, -1, -1), 4, "s of <step> is \"x\", want a whole number from 0 to 255"},
    {4, STEP(0, s, 0, -1, 72, -1, -1), 4, "cnt of <step> is \"72\", want a whole number from 0 to"},
    {4, STEP(0, s, 0, -1, 99999999999999999999, -1, -1), 4, "cnt of <step> is \"9999"},
    {2, "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\">", 2, "<gpu> has no attribute s_chunks"},
    {1, ALGO("nchunksperloop=\"1\" ngpus=\"2\" coll=\"scan\" inplace=\"1\""), 1,
     "coll of <algo> is \"scan\", want allreduce"},
    {1, ALGO("nchunksperloop=\"1\" ngpus=\"2\" coll=\"reduce\" inplace=\"0\" outofplace=\"0\""), 1,
     "inplace and outofplace of <algo> are both 0"},
    {1, ALGO("nchunksperloop=\"1\" coll=\"reduce\" inplace=\"1\""), 1,
     "<algo> has no attribute ngpus"},
    {1, ALGO("nchunksperloop=\"1\" ngpus=\"1\" coll=\"allreduce\" inplace=\"1\""), 9,
     "one more <gpu> than ngpus says (1)"},
    {1, ALGO("nchunksperloop=\"3\" ngpus=\"2\" coll=\"allgather\" inplace=\"1\""), 1,
     "nchunksperloop is 3, want a multiple of ngpus (2) for allgather"},
    {16, "", 0, "ends before </algo>"},
    {16, "</algo", 0, "ends before </algo>"},
    {16, "</gpu>", 16, "is not well-formed XML: mismatched tag"},
    {16, "</algo><algo/>", 16, "is not well-formed XML: junk"},
    {1, "<!DOCTYPE algo [<!ENTITY a \"b\">]><algo>", 1, "has a document type, which is not read"},

    /* not possible */
    {9, GPU(0), 9, "gpu 0 is there twice"},
    {9, GPU(2), 9, "gpu 2 is not below ngpus"},
    {1, ALGO("nchunksperloop=\"1\" ngpus=\"3\" coll=\"allreduce\" inplace=\"1\""), 1,
     "gpu 2 is missing, want 3 gpus as ngpus says"},
    {6, BLOCK(0, -1, 1, 0), 6, "gpu 0, thread block 0: is there twice"},
    {3, BLOCK(0, 0, -1, 0), 3, "gpu 0, thread block 0: send is 0, its own gpu"},
    {13, BLOCK(1, -1, 2, 0), 13, "gpu 1, thread block 1: recv is 2, want a gpu below ngpus (2)"},
    {3, BLOCK(0, 1, -1, 1), 3, "gpu 0, thread block 0: chan is 1, want one below nchannels (1)"},
    {3, BLOCK(0, 1, -1, -1), 3, "gpu 0, thread block 0: send is 1, but chan is -1 (local only)"},
    {6, BLOCK(1, 1, 1, 0), 6,
     "gpu 0, thread block 1: sends to gpu 1 on channel 0, as thread block 0"},
    {13, BLOCK(1, -1, 0, 0) "</tb>" BLOCK(2, -1, 0, 0), 13,
     "gpu 1, thread block 2: receives from gpu 0 on channel 0, as thread block 1"},
    {3, BLOCK(0, -1, -1, 0), 4,
     "gpu 0, thread block 0, step 0: is of type s, but send of its thread block is -1"},
    {13, BLOCK(1, -1, -1, 0), 14,
     "gpu 1, thread block 1, step 0: is of type rrc, but recv of its thread block is -1"},
    {4, STEP(0, s, 1, -1, 1, -1, -1), 4,
     "gpu 0, thread block 0, step 0: src chunks 1 to 1 lie beyond the input buffer, which has 1"},
    {14, STEP(0, rrc, 0, 0, 2, 0, 0), 14,
     "gpu 1, thread block 1, step 0: src chunks 0 to 1 lie beyond the input buffer, which has 1"},
    {4, STEP(0, s, -1, -1, 1, -1, -1), 4,
     "gpu 0, thread block 0, step 0: srcoff is -1, but a step"},
    {4, STEP(0, s, 0, -1, 0, -1, -1), 4,
     "gpu 0, thread block 0, step 0: cnt is 0, want at least 1"},
    {14, STEP(0, rrc, 0, 0, 1, 7, 0), 14,
     "gpu 1, thread block 1, step 0: depends on thread block 7, which gpu 1 lacks"},
    {14, STEP(0, rrc, 0, 0, 1, 0, 5), 14,
     "gpu 1, thread block 1, step 0: depends on step 5 of thread block 0, which lacks it"},
    {14, STEP(0, rrc, 0, 0, 1, 1, 0), 14, "gpu 1, thread block 1, step 0: depends on itself"},
    {14, STEP(0, rrc, 0, 0, 1, 1, -1), 14, "gpu 1, thread block 1, step 0: depid is 1 and deps -1"},
    {4, STEP(1, s, 0, -1, 1, -1, -1) STEP(1, nop, -1, -1, 0, -1, -1), 4,
     "gpu 0, thread block 0, step 1: comes after step 1, want rising s"},

    /* would wait for ever */
    {4, STEP(0, nop, -1, -1, 0, -1, -1), 14,
     "gpu 1, thread block 1, step 0: receives from gpu 0 on channel 0, which has no send left"},
    {11, STEP(0, s, 0, -1, 1, -1, -1) STEP(1, s, 0, -1, 1, -1, -1), 11,
     "gpu 1, thread block 0, step 1: sends to gpu 0 on channel 0, which has no receive left"},
    {4, STEP(0, s, 0, -1, 1, 1, 0), 0,
     "waits for ever in a circle, for 0/1/0, that for 0/0/0 (gpu/thread block/step)"},

    /* runs, and is wrong */
    {7, STEP(0, rrc, 0, 0, 1, -1, -1), 0, "races with gpu 0, thread block"},
    {7, STEP(0, r, -1, 0, 1, 0, 0), 7,
     "allreduce, in place: at the end output chunk 0 of gpu 0 lacks the contribution of gpu 0 (by "
     "gpu 0, thread block 1, step 0)"},
    {8, "</tb>" BLOCK(2, -1, -1, -1) STEP(0, re, 0, 0, 1, 1, 0) "</tb></gpu>", 8,
     "at the end output chunk 0 of gpu 0 has a contribution twice (by gpu 0, thread block 2, step "
     "0)"},
    {1, ALGO("nchunksperloop=\"1\" ngpus=\"2\" coll=\"allreduce\" inplace=\"1\" outofplace=\"1\""),
     2, "allreduce, out of place: at the end output chunk 0 of gpu 0 holds nothing (no step wrote"},
};

START_TEST(what_is_wrong_with_a_pair_is_said)
{
    struct sim_error err = {0};
    char *text = pair_with(sabotage[_i].line, sabotage[_i].text);
    ck_assert_int_eq(judge(text, &err), SIM_EDATA);
    ck_assert_msg(strstr(err.text, sabotage[_i].message) != NULL, "case %d: %s\nwanted: %s", _i,
                  err.text, sabotage[_i].message);
    if (sabotage[_i].where > 0) ck_assert_int_eq(err.line, sabotage[_i].where);
    free(text);
}
END_TEST
#define SABOTAGES ((int)(sizeof sabotage / sizeof sabotage[0]))

START_TEST(comments_and_unknown_attributes_pass)
{
    struct sim_error err = {0};
    char *text = pair_with(2, "<!-- two --><gpu id=\"0\" i_chunks=\"1\" o_chunks=\"1\" "
                              "s_chunks=\"0\" colour=\"red\">");
    ck_assert_int_eq(judge(text, &err), SIM_OK);
    free(text);
}
END_TEST

/* Parsers that start over at every piece would take minutes. */
START_TEST(a_tag_without_end_is_refused)
{
    struct sim_error err = {0};
    size_t bytes = 64 << 20;
    char *text = sim_alloc(bytes + 1, 1, "text");
    memset(text, 'a', bytes);
    memcpy(text, "<algo name=\"", 12);
    ck_assert_int_eq(judge(text, &err), SIM_EDATA);
    ck_assert_str_eq(err.text, "has a tag or comment of more than 1 MiB");
    memcpy(text, "<!-- algo    ", 12);
    err = (struct sim_error){0};
    ck_assert_int_eq(judge(text, &err), SIM_EDATA);
    ck_assert_str_eq(err.text, "has a tag or comment of more than 1 MiB");
    sim_free(text);
}
END_TEST

START_TEST(a_long_name_is_cut_at_a_character)
{
    struct sim_error err = {0};
    char name[128] = "", line[512];
    coll_msccl *a = NULL;
    while (strlen(name) < 100)
        strcat(name, "\xE2\x82\xAC"); /* three bytes: 63 is the end of one */
    snprintf(line, sizeof line,
             "<algo name=\"x%s\" proto=\"LL\" nchannels=\"1\" nchunksperloop=\"1\" ngpus=\"2\" "
             "coll=\"allreduce\" inplace=\"1\">",
             name);
    char *text = pair_with(1, line);
    ck_assert_msg(read_text(text, &err, &a) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(strlen(coll_msccl_name(a)), 61);
    coll_msccl_destroy(a);
    free(text);
}
END_TEST

START_TEST(a_missing_file_is_no_input)
{
    struct sim_error err = {0};
    coll_msccl *a = NULL;
    ck_assert_int_eq(coll_msccl_read("/nowhere/at/all.xml", &err, &a), SIM_ENOINPUT);
    ck_assert_ptr_null(a);
}
END_TEST

/* ---- rings over n ranks: a thread block that sends, one that receives ---- */

enum change { NOTHING, NO_DEPENDENCE, STORE, ADD, OTHER_CHUNK, OUT_OF_PLACE, CUSTOM };

struct ring {
    int n;
    bool is_reduce; /* all-reduce, else all-gather */
    enum change change;
    int gpu, step; /* where */
    int channels;  /* 0: one; each has an equal part of the buffer and its own thread blocks */
};

static void write_ring_step(FILE *out, const struct ring *r, int channel, int gpu, int s,
                            bool is_send)
{
    int steps = r->n - 1, k = s % steps, n = r->n, channels = r->channels > 0 ? r->channels : 1;
    bool is_first = r->is_reduce && s < steps, is_here = gpu == r->gpu && s == r->step;
    int chunk = gpu - k + (r->is_reduce && !is_first);
    if (!is_send) chunk--;
    if (is_here && r->change == OTHER_CHUNK) chunk++;
    chunk = (chunk % n + n) % n;
    const char *buffer = r->is_reduce ? "i" : "o", *type = is_first ? "rrc" : "r";
    if (is_here && r->change == STORE) type = "r";
    if (is_here && r->change == ADD) type = "rrc";
    bool waits = is_send && s > 0 && !(is_here && r->change == NO_DEPENDENCE);
    fprintf(out,
            "<step s=\"%d\" type=\"%s\" srcbuf=\"%s\" srcoff=\"%d\" dstbuf=\"%s\" dstoff=\"%d\" "
            "cnt=\"1\" depid=\"%d\" deps=\"%d\" hasdep=\"1\"/>\n",
            s, is_send ? "s" : type, buffer, chunk * channels + channel, buffer,
            is_send ? -1 : chunk * channels + channel, waits ? 2 * channel + 1 : -1,
            waits ? s - 1 : -1);
}

/* Free it. */
static char *ring_text(const struct ring *r)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    int n = r->n, steps = r->is_reduce ? 2 * (n - 1) : n - 1;
    int channels = r->channels > 0 ? r->channels : 1;
    fprintf(out,
            "<algo name=\"ring\" proto=\"LL\" nchannels=\"%d\" nchunksperloop=\"%d\" "
            "ngpus=\"%d\" coll=\"%s\" inplace=\"%d\">\n",
            channels, channels * n, n,
            r->change == CUSTOM ? "custom"
            : r->is_reduce      ? "allreduce"
                                : "allgather",
            r->change != OUT_OF_PLACE);
    for (int g = n - 1; g >= 0; g--) { /* ids in any order */
        fprintf(out, "<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"0\">\n", g,
                r->is_reduce ? channels * n : 0, channels * n);
        for (int tb = 0; tb < 2 * channels; tb++) {
            bool is_send = tb % 2 == 0;
            fprintf(out, "<tb id=\"%d\" send=\"%d\" recv=\"%d\" chan=\"%d\">\n", tb,
                    is_send ? (g + 1) % n : -1, is_send ? -1 : (g + n - 1) % n, tb / 2);
            for (int s = 0; s < steps; s++)
                write_ring_step(out, r, tb / 2, g, s, is_send);
            fputs("</tb>\n", out);
        }
        fputs("</gpu>\n", out);
    }
    fputs("</algo>\n", out);
    fclose(out);
    return text;
}

static enum sim_status judge_ring(struct ring r, struct sim_error *err)
{
    char *text = ring_text(&r);
    *err = (struct sim_error){0};
    enum sim_status status = judge(text, err);
    free(text);
    return status;
}

static void expect(struct ring r, const char *a, const char *b)
{
    struct sim_error err;
    ck_assert_int_eq(judge_ring(r, &err), SIM_EDATA);
    ck_assert_msg(strstr(err.text, a) != NULL && strstr(err.text, b) != NULL, "%s\nwanted: %s, %s",
                  err.text, a, b);
}

START_TEST(rings_are_right_and_as_fast_as_podsims)
{
    topo *t = topo_or_fail("torus:4x4");
    struct coll_spec spec = {.algorithm = COLL_RING, .group = group_or_fail(t, "x"), .bytes = 4e6};
    for (int is_reduce = 0; is_reduce < 2; is_reduce++) {
        struct sim_error err = {0};
        coll_msccl *a = NULL;
        char *text = ring_text(&(struct ring){.n = 4, .is_reduce = is_reduce});
        ck_assert_msg(read_text(text, &err, &a) == SIM_OK, "%s", err.text);
        ck_assert_msg(coll_msccl_check(a, 0, &err) == SIM_OK, "%s", err.text);
        spec.op = is_reduce ? COLL_ALL_REDUCE : COLL_ALL_GATHER;
        ck_assert_int_eq(file_ps(a, t, &spec), native_ps(t, &spec)); /* four groups at once */
        spec.is_one_group = true;
        ck_assert_int_eq(file_ps(a, t, &spec), native_ps(t, &spec));
        spec.is_one_group = false;
        coll_msccl_destroy(a);
        free(text);
    }
    topo_destroy(t);
}
END_TEST

/* As many channels as may be: the data is right, in place, and the bytes take the same time over
 * the same links, to a picosecond a message. */
START_TEST(channels_change_nothing)
{
    static const int channels[] = {1, 2, 3, 4, 8, 16, 64};
    topo *t = topo_or_fail("ring:4");
    struct coll_spec spec = {
        .algorithm = COLL_RING, .group = topo_group_all(t), .bytes = 4 * 64 * 3 * 1000};
    for (int is_reduce = 0; is_reduce < 2; is_reduce++)
        for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++) {
            struct sim_error err = {0};
            coll_msccl *a = NULL;
            char *text =
                ring_text(&(struct ring){.n = 4, .is_reduce = is_reduce, .channels = channels[i]});
            ck_assert_msg(read_text(text, &err, &a) == SIM_OK, "%s", err.text);
            ck_assert_msg(coll_msccl_check(a, 0, &err) == SIM_OK, "%d channels: %s", channels[i],
                          err.text);
            spec.op = is_reduce ? COLL_ALL_REDUCE : COLL_ALL_GATHER;
            sim_ps gap = file_ps(a, t, &spec) - native_ps(t, &spec);
            ck_assert_msg(gap <= 6 && gap >= -6, "%d channels: %lld ps", channels[i],
                          (long long)gap);
            coll_msccl_destroy(a);
            free(text);
        }
    topo_destroy(t);
}
END_TEST

/* Fused steps, in one thread block: the chunk of rank g is summed on its way round, whole at g - 1,
 * and passed on from there. From input to output, so that it works in place and out of place. */
static char *fused_ring_text(int n)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    fprintf(out,
            "<algo name=\"fused\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"%d\" "
            "ngpus=\"%d\" coll=\"allreduce\" inplace=\"1\" outofplace=\"1\">\n",
            n, n);
    for (int g = 0; g < n; g++) {
        fprintf(out,
                "<gpu id=\"%d\" i_chunks=\"%d\" o_chunks=\"%d\" s_chunks=\"0\">\n"
                "<tb id=\"5\" send=\"%d\" recv=\"%d\" chan=\"0\">\n",
                g, n, n, (g + 1) % n, (g + n - 1) % n);
        for (int s = 0; s < 2 * n - 1; s++) {
            const char *type = s == 0           ? "s"
                               : s < n - 1      ? "rrs"
                               : s == n - 1     ? "rrcs"
                               : s == 2 * n - 2 ? "r"
                                                : "rcs";
            int chunk = ((g - s) % n + n) % n;
            fprintf(out,
                    "<step s=\"%d\" type=\"%s\" srcbuf=\"i\" srcoff=\"%d\" dstbuf=\"o\" "
                    "dstoff=\"%d\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
                    s, type, chunk, chunk);
        }
        fputs("</tb></gpu>\n", out);
    }
    fputs("</algo>\n", out);
    fclose(out);
    return text;
}

START_TEST(fused_steps_reduce_store_and_forward)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("ring:5");
    struct coll_spec spec = {
        .op = COLL_ALL_REDUCE, .algorithm = COLL_RING, .group = topo_group_all(t), .bytes = 5e6};
    char *text = fused_ring_text(5);
    coll_msccl *a = NULL;
    ck_assert_msg(read_text(text, &err, &a) == SIM_OK, "%s", err.text);
    ck_assert_msg(coll_msccl_check(a, 0, &err) == SIM_OK, "%s", err.text);
    ck_assert_int_eq(file_ps(a, t, &spec), native_ps(t, &spec));
    coll_msccl_destroy(a);
    topo_destroy(t);
    free(text);
}
END_TEST

START_TEST(a_missing_dependence_is_a_race)
{
    struct ring r = {.n = 4, .change = NO_DEPENDENCE, .gpu = 2};
    for (r.step = 1; r.step < 3; r.step++) {
        char send[64], receive[64];
        snprintf(send, sizeof send, "gpu 2, thread block 0, step %d", r.step);
        snprintf(receive, sizeof receive, "gpu 2, thread block 1, step %d", r.step - 1);
        r.is_reduce = false;
        expect(r, send, receive);
        r.is_reduce = true;
        expect(r, send, receive);
        r.change = CUSTOM; /* with its dependence; what it means nobody knows */
        struct sim_error err;
        ck_assert_int_eq(judge_ring(r, &err), SIM_OK);
        r.change = NO_DEPENDENCE;
    }
}
END_TEST

START_TEST(wrong_data_in_a_ring_is_found)
{
    expect((struct ring){.n = 4, .is_reduce = true, .change = STORE, .gpu = 1, .step = 1},
           "lacks the contribution of gpu", "output chunk");
    expect((struct ring){.n = 4, .is_reduce = true, .change = ADD, .gpu = 3, .step = 4},
           "has a contribution twice", "gpu 3, thread block 1, step 4");
    expect((struct ring){.n = 4, .change = OTHER_CHUNK, .gpu = 1, .step = 2}, "output chunk 2 of",
           "gpu 1 holds nothing");
    expect((struct ring){.n = 4, .change = OUT_OF_PLACE}, "src chunk", "holds nothing yet");
}
END_TEST

START_TEST(another_group_or_operation_is_refused)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:5");
    struct coll_spec spec = {.op = COLL_ALL_GATHER, .group = topo_group_all(t), .bytes = 1};
    char *text = ring_text(&(struct ring){.n = 4});
    coll_msccl *a = NULL;
    net_schedule *s = NULL;
    ck_assert_int_eq(read_text(text, &err, &a), SIM_OK);
    ck_assert_int_eq(coll_msccl_schedule(a, t, &spec, &err, &s), SIM_EDATA);
    ck_assert_str_eq(err.text, "algorithm \"ring\" is for 4 gpus, a group has 5 chips");
    err = (struct sim_error){0};
    spec.op = COLL_REDUCE;
    ck_assert_int_eq(coll_msccl_schedule(a, t, &spec, &err, &s), SIM_EDATA);
    ck_assert_str_eq(err.text, "algorithm \"ring\" does all-gather, want reduce");
    coll_msccl_destroy(a);
    topo_destroy(t);
    free(text);
}
END_TEST

/* ---- podsim's own, out and in again ---- */

/* NULL where parts are of different sizes, as the colours of buckets over unequal sides are. */
static coll_msccl *round_trip(const topo *t, const struct coll_spec *spec, long *messages)
{
    struct sim_error err = {0};
    net_schedule *s = NULL;
    coll_msccl *out = NULL, *in = NULL;
    char *text = NULL;
    size_t bytes = 0;
    const char *name = coll_algorithm_names[spec->algorithm];
    ck_assert_int_eq(coll_build(t, spec, &err, &s), SIM_OK);
    if (coll_msccl_export(s, spec, name, &err, &out) != SIM_OK) {
        ck_assert_msg(strstr(err.text, "its parts are not of one size") != NULL, "%s %s %s: %s",
                      topo_spec(t), coll_op_names[spec->op], name, err.text);
        ck_assert_ptr_nonnull(strstr(name, "bucket"));
        net_schedule_destroy(s);
        return NULL;
    }
    FILE *file = open_memstream(&text, &bytes);
    coll_msccl_write(out, file);
    fclose(file);
    ck_assert_msg(read_text(text, &err, &in) == SIM_OK, "%s", err.text);
    ck_assert_msg(coll_msccl_check(in, spec->root, &err) == SIM_OK, "%s", err.text);
    ck_assert_str_eq(coll_msccl_name(in), name);
    *messages = 0;
    for (const char *at = text; (at = strstr(at, "type=\"s\"")) != NULL; at++)
        (*messages)++;
    coll_msccl_destroy(out);
    net_schedule_destroy(s);
    free(text);
    return in;
}

/* Every message is rounded to the picosecond, and one may go in pieces. */
static void check_round_trips(const char *spec, const char *axes)
{
    topo *t = topo_or_fail(spec);
    struct coll_spec c = {.group = group_or_fail(t, axes), .bytes = 1 << 20};
    for (int op = 0; op < COLL_GATHER; op++)
        for (int algorithm = 0; algorithm < COLL_ALGORITHMS; algorithm++) {
            long messages;
            c.op = (enum coll_op)op;
            c.algorithm = (enum coll_algorithm)algorithm;
            c.root = c.op >= COLL_BROADCAST ? 2 : 0;
            if (!coll_can(t, &c)) continue;
            coll_msccl *a = round_trip(t, &c, &messages);
            if (a == NULL) continue;
            int64_t off = file_ps(a, t, &c) - native_ps(t, &c);
            ck_assert_msg(llabs(off) <= messages / c.group.size + 1, "%s %s %s: %lld ps off", spec,
                          coll_op_names[op], coll_algorithm_names[algorithm], (long long)off);
            coll_msccl_destroy(a);
        }
    topo_destroy(t);
}

START_TEST(podsims_algorithms_take_the_same_time_from_a_file)
{
    static const char *const cases[][2] = {
        {"torus:4", "x"},     {"torus:4x4", "xy"},    {"torus:4x4", "y"}, {"full:6", "x"},
        {"mesh:3x3", "xy"},   {"torus:4x3", "xy"},    {"switch:5", "x"},  {"torus:16", "x4@4"},
        {"dgx-h100:2", "xy"}, {"v5p:2x2x1*2", "xyzw"}};
    check_round_trips(cases[_i][0], cases[_i][1]);
}
END_TEST
#define ROUND_TRIPS 10

START_TEST(what_xml_cannot_say_is_refused)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:4");
    struct coll_spec c = {
        .op = COLL_GATHER, .algorithm = COLL_BINOMIAL, .group = topo_group_all(t), .bytes = 1000};
    net_schedule *s = NULL;
    coll_msccl *a = NULL;
    ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_OK);
    ck_assert_int_eq(coll_msccl_export(s, &c, "x", &err, &a), SIM_EDATA);
    ck_assert_str_eq(err.text, "gather cannot be written as MSCCL XML: it has no name there");
    net_schedule_destroy(s);
    topo_destroy(t);
    t = topo_or_fail("torus:5x13");
    err = (struct sim_error){0};
    c = (struct coll_spec){.group = topo_group_all(t), .bytes = 1000};
    ck_assert_int_eq(coll_build(t, &c, &err, &s), SIM_OK);
    ck_assert_int_eq(coll_msccl_export(s, &c, "x", &err, &a), SIM_EDATA);
    ck_assert_str_eq(err.text, "all-reduce cannot be written as MSCCL XML: a group has 65 chips, "
                               "at most 64");
    net_schedule_destroy(s);
    topo_destroy(t);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {two_ranks_exchange_and_add,
                                  comments_and_unknown_attributes_pass,
                                  a_tag_without_end_is_refused,
                                  a_long_name_is_cut_at_a_character,
                                  a_missing_file_is_no_input,
                                  rings_are_right_and_as_fast_as_podsims,
                                  channels_change_nothing,
                                  fused_steps_reduce_store_and_forward,
                                  a_missing_dependence_is_a_race,
                                  wrong_data_in_a_ring_is_found,
                                  another_group_or_operation_is_refused,
                                  what_xml_cannot_say_is_refused};
    sim_log_set_level(SIM_LOG_ERROR);
    Suite *suite = SUITE_OF("coll_msccl", tests);
    TCase *sweep = tcase_create("sweep");
    tcase_set_timeout(sweep, 120);
    tcase_add_loop_test(sweep, what_is_wrong_with_a_pair_is_said, 0, SABOTAGES);
    tcase_add_loop_test(sweep, podsims_algorithms_take_the_same_time_from_a_file, 0, ROUND_TRIPS);
    suite_add_tcase(suite, sweep);
    return run_suite(suite);
}
