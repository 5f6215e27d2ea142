/*
 * CHIP:*:COUNT[,OPTIONS] stands for CHIP:SHAPE[,OPTIONS] of every legal shape; other specs stand
 * for themselves and are checked when the topology is built.
 */
#include "cli/topo_specs.h"

#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "topo/chip.h"

#define SHAPED_TEXT 256

static void push(struct cli_topo_specs *specs, const char *text)
{
    SIM_GROW(specs->spec, specs->capacity, specs->count + 1);
    specs->spec[specs->count++] = sim_strdup(text);
}

static enum sim_status unknown_chip(const char *text, const char *name, struct sim_error *err)
{
    char list[128] = "";
    uint32_t count;
    const struct topo_chip *chip = topo_chip_presets(&count);
    for (uint32_t i = 0, at = 0; i < count && at < sizeof list; i++)
        at += (uint32_t)snprintf(list + at, sizeof list - at, " %s", chip[i].name);
    return sim_error_set(err, SIM_EDATA,
                         "topology %.100s: \"%.50s\" is no chip whose shapes are known, want one "
                         "of%s",
                         text, name, list);
}

/* "512,link=1GB/s": the number of chips, and where the rest begins. */
static enum sim_status parse_chips(const char *text, const char *after, struct sim_error *err,
                                   uint32_t *chips, const char **rest)
{
    char digits[32] = "";
    uint64_t value = 0;
    struct sim_error why = {0};
    size_t bytes = after[0] == ':' ? strcspn(after + 1, ",") : 0;
    if (bytes < sizeof digits) memcpy(digits, after + 1, bytes);
    if (bytes == 0 || sim_count_parse(digits, 1, UINT32_MAX, &why, &value) != SIM_OK)
        return sim_error_set(err, SIM_EDATA,
                             "topology %.100s: want a number of chips after the *, as in v5p:*:512",
                             text);
    *chips = (uint32_t)value;
    *rest = after + 1 + bytes;
    return SIM_OK;
}

static void push_shape(struct cli_topo_specs *specs, const struct topo_chip *chip,
                       const uint32_t side[3], const char *rest)
{
    char text[SHAPED_TEXT], z[16] = "";
    if (chip->axes == 3) snprintf(z, sizeof z, "x%u", side[2]);
    snprintf(text, sizeof text, "%s:%ux%u%s%s", chip->name, side[0], side[1], z, rest);
    push(specs, text);
}

enum sim_status cli_topo_specs_add(struct cli_topo_specs *specs, const char *text,
                                   struct sim_error *err)
{
    const char *colon = strchr(text, ':'), *rest = "";
    if (colon == NULL || colon[1] != '*' || strlen(text) >= SHAPED_TEXT - 48) {
        push(specs, text);
        return SIM_OK;
    }
    char name[SHAPED_TEXT] = "";
    memcpy(name, text, (size_t)(colon - text));
    const struct topo_chip *chip = topo_chip_find(name);
    if (chip == NULL) return unknown_chip(text, name, err);
    uint32_t chips = 0, count = 0;
    struct topo_shape *shape = NULL;
    SIM_TRY(parse_chips(text, colon + 2, err, &chips, &rest));
    SIM_TRY(topo_chip_list_shapes(chip, chips, err, &shape, &count));
    for (uint32_t i = 0; i < count; i++)
        push_shape(specs, chip, shape[i].side, rest);
    sim_free(shape);
    specs->has_shapes = true;
    return SIM_OK;
}

enum sim_status cli_topo_specs_each(const struct cli_topo_specs *specs,
                                    const struct topo_options *options, cli_topo_visit visit,
                                    void *context, struct sim_error *err)
{
    for (uint32_t i = 0; i < specs->count; i++) {
        topo *t = NULL;
        SIM_TRY(topo_create(specs->spec[i], options, err, &t));
        enum sim_status status = visit(t, context, err);
        topo_destroy(t);
        if (status != SIM_OK) return status;
    }
    return SIM_OK;
}

void cli_topo_specs_release(struct cli_topo_specs *specs)
{
    for (uint32_t i = 0; i < specs->count; i++)
        sim_free(specs->spec[i]);
    sim_free(specs->spec);
    *specs = (struct cli_topo_specs){0};
}
