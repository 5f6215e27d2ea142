/*
 * Reading message lists.
 */
#include "cli/pairs.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"

static enum sim_status read_chip(const char *word, const topo *t, const char *path, int line,
                                 const char *what, struct sim_error *err, topo_chip_id *out)
{
    uint64_t chip;
    struct sim_error why = {0};
    if (sim_count_parse(word, 0, topo_chips(t) - 1, &why, &chip) != SIM_OK)
        return sim_error_at(err, SIM_EDATA, path, line, 0,
                            "%s is \"%s\", want a chip id from 0 to %u", what, word,
                            topo_chips(t) - 1);
    *out = (topo_chip_id)chip;
    return SIM_OK;
}

static enum sim_status read_row(char *text, const topo *t, const char *path, int line,
                                uint32_t *capacity, struct sim_error *err, struct coll_pairs *out)
{
    char *rest = NULL, *src = strtok_r(text, " \t\r\n,", &rest);
    if (src == NULL || src[0] == '#') return SIM_OK;
    char *dst = strtok_r(NULL, " \t\r\n,", &rest), *bytes = strtok_r(NULL, " \t\r\n,", &rest);
    if (bytes == NULL || strtok_r(NULL, " \t\r\n,", &rest) != NULL)
        return sim_error_at(err, SIM_EDATA, path, line, 0,
                            "want three words: source chip, destination chip, bytes");
    uint32_t i = out->count;
    if (i == *capacity) {
        *capacity = i < 64 ? 64 : 2 * i;
        out->src = sim_realloc(out->src, *capacity, sizeof *out->src, "pairs");
        out->dst = sim_realloc(out->dst, *capacity, sizeof *out->dst, "pairs");
        out->bytes = sim_realloc(out->bytes, *capacity, sizeof *out->bytes, "pairs");
    }
    SIM_TRY(read_chip(src, t, path, line, "source", err, &out->src[i]));
    SIM_TRY(read_chip(dst, t, path, line, "destination", err, &out->dst[i]));
    enum sim_status status = sim_bytes_parse(bytes, err, &out->bytes[i]);
    if (status != SIM_OK) return sim_error_locate(err, status, path, line, 0);
    out->count++;
    return SIM_OK;
}

enum sim_status cli_pairs_read(const char *path, const topo *t, struct sim_error *err,
                               struct coll_pairs *out)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (in == NULL)
        return sim_error_set(err, SIM_ENOINPUT, "cannot open %s: %s", path, strerror(errno));
    *out = (struct coll_pairs){0};
    enum sim_status status = SIM_OK;
    uint32_t capacity = 0;
    char text[256];
    for (int line = 1; status == SIM_OK && fgets(text, sizeof text, in) != NULL; line++) {
        if (text[0] == 0)
            status = sim_error_at(err, SIM_EDATA, path, line, 0, "found a zero byte, want text");
        else if (strlen(text) == sizeof text - 1)
            status = sim_error_at(err, SIM_EDATA, path, line, 0,
                                  "line is longer than %zu characters", sizeof text - 2);
        else
            status = read_row(text, t, path, line, &capacity, err, out);
    }
    if (status == SIM_OK && ferror(in))
        status = sim_error_set(err, SIM_ENOINPUT, "cannot read %s: %s", path, strerror(errno));
    if (in != stdin) fclose(in);
    if (status == SIM_OK && out->count == 0)
        status = sim_error_set(err, SIM_EDATA, "%s has no messages", path);
    if (status != SIM_OK) cli_pairs_release(out);
    return status;
}

void cli_pairs_release(struct coll_pairs *pairs)
{
    sim_free(pairs->src);
    sim_free(pairs->dst);
    sim_free(pairs->bytes);
    *pairs = (struct coll_pairs){0};
}
