/*
 * Matrices become lists of messages: one for each pair of a group that has bytes to send.
 */
#include "cli/matrix.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/pairs.h"

/* Bytes by rank of one group: [ranks x ranks], row by row. */
struct matrix {
    uint32_t ranks;
    uint64_t *bytes;
};

static bool takes_part(const topo *t, const struct topo_group *group, bool is_one_group,
                       topo_chip_id chip)
{
    return !is_one_group || topo_group_chip(t, group, chip, 0) == topo_group_chip(t, group, 0, 0);
}

/* The messages of every group, in the order of their senders. */
static void list_messages(const struct matrix *m, const topo *t, const struct topo_group *group,
                          bool is_one_group, struct coll_pairs *out)
{
    uint64_t most = (uint64_t)topo_chips(t) * m->ranks;
    *out = (struct coll_pairs){.src = SIM_NEW(topo_chip_id, most),
                               .dst = SIM_NEW(topo_chip_id, most),
                               .bytes = SIM_NEW(uint64_t, most)};
    for (topo_chip_id chip = 0; chip < topo_chips(t); chip++) {
        if (!takes_part(t, group, is_one_group, chip)) continue;
        uint32_t rank = topo_group_rank(t, group, chip);
        for (uint32_t to = 0; to < m->ranks; to++) {
            uint64_t bytes = m->bytes[(size_t)rank * m->ranks + to];
            if (bytes == 0 || to == rank) continue;
            out->src[out->count] = chip;
            out->dst[out->count] = topo_group_chip(t, group, chip, to);
            out->bytes[out->count++] = bytes;
        }
    }
}

/* ---- files ---- */

static enum sim_status read_row(struct matrix *m, uint32_t row, char *text, const char *path,
                                int line, struct sim_error *err)
{
    char *rest = NULL;
    uint32_t column = 0;
    uint64_t sum = 0;
    for (char *word = strtok_r(text, " \t\r\n,", &rest); word != NULL;
         word = strtok_r(NULL, " \t\r\n,", &rest)) {
        if (column == m->ranks)
            return sim_error_at(err, SIM_EDATA, path, line, 0,
                                "found more than %u numbers, want one for each rank of the group",
                                m->ranks);
        uint64_t *bytes = &m->bytes[(size_t)row * m->ranks + column++];
        enum sim_status status = sim_bytes_parse(word, err, bytes);
        if (status != SIM_OK) return sim_error_locate(err, status, path, line, 0);
        if (*bytes > (uint64_t)INT64_MAX - sum)
            return sim_error_at(err, SIM_EDATA, path, line, 0,
                                "the row comes to more bytes than 63 bits count");
        sum += *bytes;
    }
    if (column == m->ranks) return SIM_OK;
    return sim_error_at(err, SIM_EDATA, path, line, 0,
                        "found %u numbers, want %u, one for each rank of the group", column,
                        m->ranks);
}

static bool is_blank(const char *text)
{
    text += strspn(text, " \t\r\n,");
    return *text == 0 || *text == '#';
}

static enum sim_status read_rows(struct matrix *m, FILE *in, const char *path,
                                 struct sim_error *err)
{
    char *text = NULL;
    size_t capacity = 0;
    uint32_t rows = 0;
    enum sim_status status = SIM_OK;
    for (int line = 1; status == SIM_OK && getline(&text, &capacity, in) >= 0; line++) {
        if (is_blank(text)) continue;
        status = rows < m->ranks
                     ? read_row(m, rows++, text, path, line, err)
                     : sim_error_at(err, SIM_EDATA, path, line, 0,
                                    "found more than %u rows, want one for each rank of the group",
                                    m->ranks);
    }
    free(text);
    if (status == SIM_OK && ferror(in))
        return sim_error_set(err, SIM_ENOINPUT, "cannot read %s: %s", path, strerror(errno));
    if (status != SIM_OK || rows == m->ranks) return status;
    return sim_error_set(err, SIM_EDATA, "%s has %u rows, want %u, one for each rank of the group",
                         path, rows, m->ranks);
}

static uint64_t largest_row(const struct matrix *m)
{
    uint64_t most = 0;
    for (uint32_t row = 0; row < m->ranks; row++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < m->ranks; i++)
            sum += m->bytes[(size_t)row * m->ranks + i];
        if (sum > most) most = sum;
    }
    return most;
}

enum sim_status cli_matrix_read(const char *path, const topo *t, const struct topo_group *group,
                                bool is_one_group, struct sim_error *err, struct coll_pairs *out,
                                uint64_t *row_bytes)
{
    FILE *in = strcmp(path, "-") == 0 ? stdin : fopen(path, "r");
    if (in == NULL)
        return sim_error_set(err, SIM_ENOINPUT, "cannot open %s: %s", path, strerror(errno));
    struct matrix m = {.ranks = group->size};
    m.bytes = SIM_NEW(uint64_t, (uint64_t)m.ranks * m.ranks);
    enum sim_status status = read_rows(&m, in, path, err);
    if (in != stdin) fclose(in);
    if (status == SIM_OK) {
        *row_bytes = largest_row(&m);
        list_messages(&m, t, group, is_one_group, out);
    }
    sim_free(m.bytes);
    return status;
}

/* ---- skew ---- */

/* Rank 0's share over the mean, of shares that fall as (j + 1)^-s. */
static double skew_of(uint32_t ranks, double s)
{
    double sum = 0;
    for (uint32_t j = 0; j < ranks; j++)
        sum += pow(j + 1.0, -s);
    return ranks / sum;
}

/* It rises with s, from 1 at 0 to the number of ranks. */
static double exponent_for(uint32_t ranks, double skew)
{
    double low = 0, high = 1;
    while (high < 64 && skew_of(ranks, high) < skew)
        high *= 2;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        *(skew_of(ranks, middle) < skew ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

void cli_matrix_skew(const topo *t, const struct topo_group *group, bool is_one_group,
                     uint64_t bytes, double skew, struct coll_pairs *out)
{
    struct matrix m = {.ranks = group->size};
    m.bytes = SIM_NEW(uint64_t, (uint64_t)m.ranks * m.ranks);
    double s = exponent_for(m.ranks, skew), mean = (double)bytes / m.ranks;
    for (uint32_t row = 0; row < m.ranks; row++)
        for (uint32_t j = 0; j < m.ranks; j++)
            m.bytes[(size_t)row * m.ranks + j] =
                (uint64_t)rint(mean * skew_of(m.ranks, s) * pow(j + 1.0, -s));
    list_messages(&m, t, group, is_one_group, out);
    sim_free(m.bytes);
}
