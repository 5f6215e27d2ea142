#include "cli/loads.h"

#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"

#define LOADS_MAX 10000

struct list {
    double *value;
    uint32_t count, capacity;
};

static enum sim_status add(struct list *l, double load, struct sim_error *err)
{
    if (l->count == LOADS_MAX) return sim_error_set(err, SIM_EDATA, "more than 10,000 loads");
    SIM_GROW(l->value, l->capacity, l->count + 1);
    double rounded = rint(load * 1e9) / 1e9;
    if (rounded <= 0)
        return sim_error_set(err, SIM_EDATA, "a load of %g: want 1e-9 of the link rate or more",
                             load);
    l->value[l->count++] = rounded;
    return SIM_OK;
}

static enum sim_status add_range(struct list *l, char *from_text, char *to_text, char *step_text,
                                 struct sim_error *err)
{
    double from, to, step;
    SIM_TRY(sim_share_parse(from_text, err, &from));
    SIM_TRY(sim_share_parse(to_text, err, &to));
    SIM_TRY(sim_share_parse(step_text, err, &step));
    if (to < from)
        return sim_error_set(err, SIM_EDATA, "the range %s:%s:%s goes down, want FROM:TO:STEP",
                             from_text, to_text, step_text);
    for (double i = 0; from + i * step <= to + 1e-9; i++)
        SIM_TRY(add(l, from + i * step, err));
    return SIM_OK;
}

static enum sim_status add_word(struct list *l, char *word, struct sim_error *err)
{
    char *to = strchr(word, ':'), *step = to != NULL ? strchr(to + 1, ':') : NULL;
    double load;
    if (to == NULL) {
        SIM_TRY(sim_share_parse(word, err, &load));
        return add(l, load, err);
    }
    if (step == NULL || strchr(step + 1, ':') != NULL)
        return sim_error_set(err, SIM_EDATA, "\"%s\": want a load, or a range FROM:TO:STEP", word);
    *to = *step = 0;
    return add_range(l, word, to + 1, step + 1, err);
}

enum sim_status cli_loads_parse(const char *text, struct sim_error *err, double **out,
                                uint32_t *count)
{
    struct list l = {0};
    char *copy = sim_strdup(text);
    enum sim_status status = SIM_OK;
    for (char *word = copy, *comma; status == SIM_OK && word != NULL; word = comma) {
        comma = strchr(word, ',');
        if (comma != NULL) *comma++ = 0;
        status = add_word(&l, word, err);
    }
    sim_free(copy);
    if (status == SIM_OK) {
        *out = l.value;
        *count = l.count;
    } else {
        sim_free(l.value);
    }
    return status;
}
