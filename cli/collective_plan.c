/*
 * Planning rows: groups, then sizes, then algorithms.
 */
#include "cli/collective_plan.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/matrix.h"
#include "cli/options.h"
#include "cli/pairs.h"
#include "collectives/choice.h"

/* A plan being made. */
struct planner {
    struct collective_plan *plan;
    const topo *t;
    const struct collective_question *q;
    uint32_t contests;
};

/* The next comma-separated word, copied; false at the end of the list. An empty word is a word. */
static bool next_word(const char **list, char *word, size_t bytes)
{
    if (*list == NULL) return false;
    size_t length = strcspn(*list, ",");
    snprintf(word, bytes, "%.*s", (int)(length < bytes ? length : bytes - 1), *list);
    *list = (*list)[length] == ',' ? *list + length + 1 : NULL;
    return true;
}

static struct collective_row *add_row(struct planner *p, const struct coll_spec *spec)
{
    struct collective_plan *plan = p->plan;
    SIM_GROW(plan->row, plan->row_capacity, plan->row_count + 1);
    plan->row[plan->row_count] = (struct collective_row){
        .spec = *spec, .bytes = (uint64_t)spec->bytes, .engine = p->q->engine};
    return &plan->row[plan->row_count++];
}

static struct coll_pairs *add_pairs(struct planner *p)
{
    struct collective_plan *plan = p->plan;
    SIM_GROW(plan->pairs, plan->pairs_capacity, plan->pairs_count + 1);
    return plan->pairs[plan->pairs_count++] = SIM_NEW(struct coll_pairs, 1);
}

/* ---- algorithms ---- */

/* Every candidate whose closed form is within a factor of the best one's. */
static void add_contest(struct planner *p, const struct coll_spec *spec)
{
    enum { FACTOR = 4 };
    struct coll_spec candidate = *spec;
    candidate.algorithm = coll_choose(p->t, spec);
    enum coll_algorithm by_form = candidate.algorithm;
    sim_ps best = coll_closed_form(p->t, &candidate).time_ps;
    p->contests++;
    for (int i = 0; i < COLL_ALGORITHMS; i++) {
        candidate.algorithm = (enum coll_algorithm)i;
        if (!coll_is_candidate(p->t, &candidate)) continue;
        if (coll_closed_form(p->t, &candidate).time_ps / FACTOR > best) continue;
        struct collective_row *row = add_row(p, &candidate);
        row->contest = p->contests;
        row->is_form_choice = candidate.algorithm == by_form;
    }
}

/* Is it simulated by seconds rather than minutes? */
static bool is_light(const struct planner *p, const struct coll_spec *spec)
{
    const double flows_max = 2e7;
    bool is_run = p->q->engine != COLLECTIVE_BOUND;
    return !is_run || coll_flows(p->t, spec) <= flows_max;
}

/* All that can, but for those out of reach, and those that would take minutes, of which auto's
 * choice stays. */
static void add_all(struct planner *p, struct coll_spec *spec)
{
    enum coll_algorithm best = coll_choose(p->t, spec);
    for (int i = 0; i < COLL_ALGORITHMS; i++) {
        spec->algorithm = (enum coll_algorithm)i;
        if (!coll_can(p->t, spec)) continue;
        if (collective_is_in_reach(p->t, p->q->coalesce, p->q->engine, spec) &&
            (spec->algorithm == best || is_light(p, spec)))
            add_row(p, spec);
        else
            p->plan->is_left_out[i] = true;
    }
}

/* One algorithm word: a name, "auto" (the closed form's choice) or "all" (that can). */
static enum sim_status add_algorithm(struct planner *p, struct coll_spec *spec, const char *word,
                                     struct sim_error *err)
{
    static const char *names[COLL_ALGORITHMS + 3];
    for (int i = 0; i < COLL_ALGORITHMS; i++)
        names[i] = coll_algorithm_names[i];
    names[COLL_ALGORITHMS] = "auto";
    names[COLL_ALGORITHMS + 1] = "all";
    int choice = 0;
    SIM_TRY(cli_choice("--algorithm", word, names, err, &choice));
    if (choice == COLL_ALGORITHMS) {
        spec->algorithm = coll_choose(p->t, spec);
        add_row(p, spec);
        return SIM_OK;
    }
    if (choice == COLL_ALGORITHMS + 1) {
        add_all(p, spec);
        return SIM_OK;
    }
    spec->algorithm = (enum coll_algorithm)choice;
    if (!coll_algorithm_fits(spec->op, spec->algorithm))
        return sim_error_set(err, SIM_EUSAGE, "--algorithm: %s does not do %s", word,
                             coll_op_names[spec->op]);
    const char *obstacle = coll_obstacle(p->t, spec);
    if (obstacle != NULL)
        return sim_error_set(err, SIM_EUSAGE, "--algorithm: %s on %s: %s", word, topo_spec(p->t),
                             obstacle);
    add_row(p, spec);
    return SIM_OK;
}

/* ---- sizes and groups ---- */

static enum sim_status plan_size(struct planner *p, struct coll_spec *spec, uint64_t bytes,
                                 struct sim_error *err)
{
    const struct collective_question *q = p->q;
    spec->bytes = (double)bytes;
    spec->pairs = NULL;
    if (q->skew > 0) {
        struct coll_pairs *pairs = add_pairs(p);
        cli_matrix_skew(p->t, &spec->group, q->is_one_group, bytes, q->skew, pairs);
        spec->pairs = pairs;
        spec->algorithm = COLL_DIRECT;
        add_row(p, spec);
        return SIM_OK;
    }
    if (q->is_tuned) {
        add_contest(p, spec);
        return SIM_OK;
    }
    if (q->file != NULL) {
        spec->algorithm = COLL_ALGORITHMS;
        add_row(p, spec)->file = q->file;
        return SIM_OK;
    }
    const char *list = q->algorithms != NULL ? q->algorithms : "auto";
    char word[64];
    while (next_word(&list, word, sizeof word))
        SIM_TRY(add_algorithm(p, spec, word, err));
    return SIM_OK;
}

/* "3" is a rank; "1,0,2" the coordinates of a chip of the group of chip 0. */
static enum sim_status read_rank(const topo *t, const struct topo_group *group, const char *option,
                                 const char *text, struct sim_error *err, uint32_t *out)
{
    uint64_t value = 0;
    struct sim_error why = {0};
    if (text == NULL) return SIM_OK;
    if (strchr(text, ',') == NULL) {
        if (sim_count_parse(text, 0, group->size - 1, &why, &value) != SIM_OK)
            return sim_error_set(err, SIM_EDATA,
                                 "--%s: found \"%s\", want a rank from 0 to %u, or a chip's "
                                 "coordinates",
                                 option, text, group->size - 1);
        *out = (uint32_t)value;
        return SIM_OK;
    }
    const char *list = text;
    char word[64];
    uint32_t at[TOPO_AXES_MAX] = {0}, count = 0;
    while (next_word(&list, word, sizeof word)) {
        bool is_fine =
            count < topo_axes(t) &&
            sim_count_parse(word, 0, topo_axis_size(t, count) - 1, &why, &value) == SIM_OK;
        if (!is_fine)
            return sim_error_set(err, SIM_EDATA, "--%s: \"%s\" is no chip of %s", option, text,
                                 topo_spec(t));
        at[count++] = (uint32_t)value;
    }
    topo_chip_id chip = topo_chip_at(t, at);
    *out = topo_group_rank(t, group, chip);
    if (count == topo_axes(t) && topo_group_chip(t, group, 0, *out) == chip) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "--%s: \"%s\" is no chip of the group of chip 0", option,
                         text);
}

static enum sim_status plan_group(struct planner *p, const struct topo_group *group,
                                  struct sim_error *err)
{
    const struct collective_question *q = p->q;
    struct coll_spec spec = {
        .op = q->op, .group = *group, .chunks = q->chunks, .is_one_group = q->is_one_group};
    SIM_TRY(read_rank(p->t, group, "root", q->root, err, &spec.root));
    SIM_TRY(read_rank(p->t, group, "from", q->from, err, &spec.root));
    SIM_TRY(read_rank(p->t, group, "to", q->to, err, &spec.receiver));
    if (q->skew > group->size)
        return sim_error_set(err, SIM_EDATA, "--skew: found %g, want 1 to %u, the group's size",
                             q->skew, group->size);
    if (q->matrix_path != NULL) {
        uint64_t bytes = 0;
        struct coll_pairs *pairs = add_pairs(p);
        SIM_TRY(cli_matrix_read(q->matrix_path, p->t, group, q->is_one_group, err, pairs, &bytes));
        spec.pairs = pairs;
        spec.algorithm = COLL_DIRECT;
        spec.bytes = (double)bytes;
        add_row(p, &spec);
        return SIM_OK;
    }
    for (uint32_t i = 0; i < q->bytes_count; i++)
        SIM_TRY(plan_size(p, &spec, q->bytes[i], err));
    return SIM_OK;
}

static enum sim_status plan_pairs(struct planner *p, struct sim_error *err)
{
    struct coll_pairs *pairs = add_pairs(p);
    SIM_TRY(cli_pairs_read(p->q->pairs_path, p->t, err, pairs));
    uint64_t total = 0;
    for (uint32_t i = 0; i < pairs->count; i++) {
        if (total > (uint64_t)INT64_MAX - pairs->bytes[i])
            return sim_error_set(err, SIM_EDATA,
                                 "the messages of %s come to more bytes than 64 bits count",
                                 p->q->pairs_path);
        total += pairs->bytes[i];
    }
    struct coll_spec spec = {.op = p->q->op,
                             .algorithm = COLL_DIRECT,
                             .group = topo_group_all(p->t),
                             .bytes = (double)total,
                             .pairs = pairs};
    add_row(p, &spec)->bytes = total;
    return SIM_OK;
}

enum sim_status collective_plan_make(const topo *t, const struct collective_question *q,
                                     struct sim_error *err, struct collective_plan *out)
{
    struct planner p = {.plan = out, .t = t, .q = q};
    *out = (struct collective_plan){.topology = t};
    if (q->pairs_path != NULL) return plan_pairs(&p, err);
    const char *list = q->axes;
    char word[64];
    if (list == NULL) {
        struct topo_group all = topo_group_all(t);
        return plan_group(&p, &all, err);
    }
    while (next_word(&list, word, sizeof word)) {
        struct topo_group group;
        SIM_TRY(cli_option_error("axes", topo_group_parse(t, word, err, &group), err));
        SIM_TRY(plan_group(&p, &group, err));
    }
    return SIM_OK;
}

/* ---- after the runs ---- */

/* Rows of one contest stand together; equal times go to the closed form's choice. */
void collective_plan_settle(struct collective_plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0, end; i < plan->row_count; i = end) {
        size_t best = i, by_form = i;
        for (end = i + 1; plan->row[i].contest > 0 && end < plan->row_count &&
                          plan->row[end].contest == plan->row[i].contest;
             end++) {
        }
        for (size_t j = i; j < end; j++)
            if (plan->row[j].is_form_choice) by_form = best = j;
        for (size_t j = i; j < end; j++)
            if (plan->row[j].time_ps < plan->row[best].time_ps) best = j;
        struct collective_row row = plan->row[best];
        row.form_choice = plan->row[by_form].spec.algorithm;
        row.form_choice_ps = plan->row[by_form].time_ps;
        plan->row[kept++] = row;
    }
    plan->row_count = kept;
}

void collective_plan_release(struct collective_plan *plan)
{
    for (size_t i = 0; i < plan->pairs_count; i++) {
        cli_pairs_release(plan->pairs[i]);
        sim_free(plan->pairs[i]);
    }
    sim_free(plan->pairs);
    sim_free(plan->row);
    *plan = (struct collective_plan){0};
}

const char *collective_switch_points(const topo *t, const struct collective_row *row,
                                     uint32_t among, char *buffer, size_t bytes)
{
    struct coll_switch at[COLL_SWITCHES_MAX];
    uint32_t count = coll_switch_points(t, &row->spec, among, at);
    size_t used = 0;
    char text[SIM_QUANTITY_TEXT];
    buffer[0] = 0;
    for (uint32_t i = 0; i < count && used < bytes; i++) {
        const char *name = coll_algorithm_names[at[i].algorithm];
        double from =
            at[i].from_bytes < 1024 ? at[i].from_bytes : 1024 * (uint64_t)(at[i].from_bytes / 1024);
        used += (size_t)(i == 0 ? snprintf(buffer, bytes, "%s", name)
                                : snprintf(buffer + used, bytes - used, ", from %s %s",
                                           sim_bytes_format((uint64_t)from, text), name));
    }
    return buffer;
}
