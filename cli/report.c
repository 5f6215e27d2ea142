/*
 * Rows are kept as typed cells until printing, since text columns need every width. Memory: a cell
 * is 40 bytes.
 */
#include "cli/report.h"

#include <stdarg.h>
#include <string.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/quantity.h"
#include "netsim/mpi.h"

enum cell_kind { CELL_TEXT, CELL_UINT, CELL_DOUBLE, CELL_ARRAY, CELL_BOOL, CELL_NONE };

struct cell {
    enum cell_kind kind;
    const char *text, *shown;
    uint64_t number;
    double value;
    double *array; /* [number] */
};

struct meta {
    const char *key, *text; /* text NULL: a number */
    double value;
};

struct cli_report {
    const struct cli_column *columns;
    uint32_t column_count;
    bool *is_hidden; /* [column_count] in text */
    sim_arena *arena;
    struct cell *cell;
    size_t cell_count, cell_capacity;
    struct meta *meta;
    size_t meta_count, meta_capacity;
    const char **note;
    size_t note_count, note_capacity;
};

cli_report *cli_report_create(const struct cli_column *columns)
{
    cli_report *r = SIM_NEW(cli_report, 1);
    r->columns = columns;
    while (columns[r->column_count].key != NULL)
        r->column_count++;
    r->arena = sim_arena_create();
    r->is_hidden = SIM_ARENA_NEW(r->arena, bool, r->column_count);
    for (uint32_t i = 0; i < r->column_count; i++)
        r->is_hidden[i] = columns[i].heading == NULL;
    return r;
}

void cli_report_hide(cli_report *r, const char *key)
{
    for (uint32_t i = 0; i < r->column_count; i++)
        if (strcmp(r->columns[i].key, key) == 0) r->is_hidden[i] = true;
}

void cli_report_destroy(cli_report *r)
{
    if (r == NULL) return;
    sim_arena_destroy(r->arena);
    sim_free(r->cell);
    sim_free(r->meta);
    sim_free(r->note);
    sim_free(r);
}

/* ---- filling ---- */

/* A key stands once, with what was said of it last: JSON has no room for two. */
static void add_meta(cli_report *r, struct meta meta)
{
    size_t at = 0;
    while (at < r->meta_count && strcmp(r->meta[at].key, meta.key) != 0)
        at++;
    if (at == r->meta_count) {
        SIM_GROW(r->meta, r->meta_capacity, r->meta_count + 1);
        meta.key = sim_arena_strdup(r->arena, meta.key);
        r->meta_count++;
    } else {
        meta.key = r->meta[at].key;
    }
    r->meta[at] = meta;
}

void cli_meta_text(cli_report *r, const char *key, const char *value)
{
    add_meta(r, (struct meta){.key = key, .text = sim_arena_strdup(r->arena, value)});
}

void cli_meta_double(cli_report *r, const char *key, double value)
{
    add_meta(r, (struct meta){.key = key, .value = value});
}

void cli_note(cli_report *r, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (size_t i = 0; i < r->note_count; i++)
        if (strcmp(r->note[i], text) == 0) return;
    SIM_GROW(r->note, r->note_capacity, r->note_count + 1);
    r->note[r->note_count++] = sim_arena_strdup(r->arena, text);
}

static void add_cell(cli_report *r, struct cell cell, const char *shown)
{
    cell.shown = shown != NULL ? sim_arena_strdup(r->arena, shown) : NULL;
    SIM_GROW(r->cell, r->cell_capacity, r->cell_count + 1);
    r->cell[r->cell_count++] = cell;
}

void cli_cell_text(cli_report *r, const char *value)
{
    add_cell(r, (struct cell){.kind = CELL_TEXT, .text = sim_arena_strdup(r->arena, value)}, NULL);
}

void cli_cell_uint(cli_report *r, uint64_t value, const char *shown)
{
    add_cell(r, (struct cell){.kind = CELL_UINT, .number = value}, shown);
}

void cli_cell_double(cli_report *r, double value, const char *shown)
{
    add_cell(r, (struct cell){.kind = CELL_DOUBLE, .value = value}, shown);
}

void cli_cell_bool(cli_report *r, bool value)
{
    add_cell(r, (struct cell){.kind = CELL_BOOL, .number = value}, NULL);
}

void cli_cell_none(cli_report *r)
{
    add_cell(r, (struct cell){.kind = CELL_NONE}, "-");
}

void cli_cell_array(cli_report *r, const double *value, uint32_t count, const char *shown)
{
    double *copy = SIM_ARENA_NEW(r->arena, double, count);
    memcpy(copy, value, count * sizeof *copy);
    add_cell(r, (struct cell){.kind = CELL_ARRAY, .number = count, .array = copy}, shown);
}

/* ---- printing ---- */

/* The machine-readable text of a cell; arrays are joined by spaces. */
static const char *plain_text(const struct cell *c, char *buffer, size_t bytes)
{
    char number[SIM_QUANTITY_TEXT];
    size_t at = 0;
    switch (c->kind) {
    case CELL_TEXT:
        return c->text;
    case CELL_BOOL:
        return c->number != 0 ? "true" : "false";
    case CELL_NONE:
        return "";
    case CELL_UINT:
        snprintf(buffer, bytes, "%llu", (unsigned long long)c->number);
        break;
    case CELL_DOUBLE:
        snprintf(buffer, bytes, "%s", sim_double_format(c->value, number));
        break;
    case CELL_ARRAY:
        buffer[0] = 0;
        for (uint64_t i = 0; i < c->number && at < bytes; i++)
            at += (size_t)snprintf(buffer + at, bytes - at, "%s%s", i > 0 ? " " : "",
                                   sim_double_format(c->array[i], number));
        break;
    }
    return buffer;
}

static void print_csv_field(const char *text, FILE *out)
{
    if (strpbrk(text, ",\"\n") == NULL) {
        fputs(text, out);
        return;
    }
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"') fputc('"', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void print_csv(const cli_report *r, FILE *out)
{
    char buffer[256];
    for (uint32_t i = 0; i < r->column_count; i++)
        fprintf(out, "%s%s", i > 0 ? "," : "", r->columns[i].key);
    fputc('\n', out);
    for (size_t i = 0; i < r->cell_count; i++) {
        print_csv_field(plain_text(&r->cell[i], buffer, sizeof buffer), out);
        fputc((i + 1) % r->column_count == 0 ? '\n' : ',', out);
    }
}

static void print_json_cell(sim_json *json, const struct cell *c)
{
    switch (c->kind) {
    case CELL_TEXT:
        sim_json_text(json, c->text);
        break;
    case CELL_BOOL:
        sim_json_bool(json, c->number != 0);
        break;
    case CELL_UINT:
        sim_json_uint(json, c->number);
        break;
    case CELL_DOUBLE:
        sim_json_double(json, c->value);
        break;
    case CELL_ARRAY:
        sim_json_array_begin(json);
        for (uint64_t i = 0; i < c->number; i++)
            sim_json_double(json, c->array[i]);
        sim_json_array_end(json);
        break;
    case CELL_NONE:
        sim_json_null(json);
        break;
    }
}

static void print_json_meta(const cli_report *r, sim_json *json)
{
    sim_json_object_begin(json);
    for (size_t i = 0; i < r->meta_count; i++) {
        sim_json_key(json, r->meta[i].key);
        if (r->meta[i].text != NULL)
            sim_json_text(json, r->meta[i].text);
        else
            sim_json_double(json, r->meta[i].value);
    }
    sim_json_key(json, "notes");
    sim_json_array_begin(json);
    for (size_t i = 0; i < r->note_count; i++)
        sim_json_text(json, r->note[i]);
    sim_json_array_end(json);
    sim_json_object_end(json);
}

static void print_json(const cli_report *r, FILE *out)
{
    sim_json *json = sim_json_create(out);
    sim_json_object_begin(json);
    sim_json_key(json, "meta");
    print_json_meta(r, json);
    sim_json_key(json, "rows");
    sim_json_array_begin(json);
    for (size_t i = 0; i < r->cell_count; i++) {
        uint32_t column = (uint32_t)(i % r->column_count);
        if (column == 0) sim_json_object_begin(json);
        sim_json_key(json, r->columns[column].key);
        print_json_cell(json, &r->cell[i]);
        if (column + 1 == r->column_count) sim_json_object_end(json);
    }
    sim_json_array_end(json);
    sim_json_object_end(json);
    sim_json_destroy(json);
}

struct cell_text {
    char text[256];
};

static const char *shown_text(const struct cell *c, char *buffer, size_t bytes)
{
    return c->shown != NULL ? c->shown : plain_text(c, buffer, bytes);
}

static void print_padded(const char *text, int width, bool is_left, bool is_last, FILE *out)
{
    if (is_left && is_last)
        fputs(text, out);
    else
        fprintf(out, is_left ? "%-*s" : "%*s", width, text);
}

static void print_text_row(const cli_report *r, const int *width, const char *const *text,
                           FILE *out)
{
    uint32_t last = 0;
    for (uint32_t i = 0; i < r->column_count; i++)
        if (!r->is_hidden[i]) last = i;
    for (uint32_t i = 0, shown = 0; i < r->column_count; i++) {
        if (r->is_hidden[i]) continue;
        if (shown++ > 0) fputs("  ", out);
        print_padded(text[i], width[i], r->columns[i].is_left, i == last, out);
    }
    fputc('\n', out);
}

static void print_text_table(const cli_report *r, FILE *out)
{
    struct cell_text *buffer = SIM_NEW(struct cell_text, r->column_count);
    int *width = SIM_NEW(int, r->column_count);
    const char **text = SIM_NEW(const char *, r->column_count);
    for (uint32_t i = 0; i < r->column_count; i++) {
        text[i] = r->columns[i].heading;
        width[i] = text[i] != NULL ? (int)strlen(text[i]) : 0;
    }
    for (size_t i = 0; i < r->cell_count; i++) {
        uint32_t column = (uint32_t)(i % r->column_count);
        int length = (int)strlen(shown_text(&r->cell[i], buffer[0].text, sizeof buffer[0].text));
        if (length > width[column]) width[column] = length;
    }
    if (r->cell_count > 0) print_text_row(r, width, text, out);
    for (size_t row = 0; row < r->cell_count; row += r->column_count) {
        for (uint32_t i = 0; i < r->column_count; i++)
            text[i] = shown_text(&r->cell[row + i], buffer[i].text, sizeof buffer[i].text);
        print_text_row(r, width, text, out);
    }
    sim_free(buffer);
    sim_free(width);
    sim_free(text);
}

static void print_notes(const cli_report *r, FILE *out)
{
    for (size_t i = 0; i < r->note_count; i++)
        fprintf(out, "note: %s\n", r->note[i]);
}

static void print_text(const cli_report *r, FILE *out)
{
    char number[SIM_QUANTITY_TEXT];
    for (size_t i = 0; i < r->meta_count; i++)
        fprintf(out, "# %s: %s\n", r->meta[i].key,
                r->meta[i].text != NULL ? r->meta[i].text
                                        : sim_double_format(r->meta[i].value, number));
    print_text_table(r, out);
    print_notes(r, out);
}

void cli_report_print(const cli_report *r, enum cli_format format, FILE *out)
{
    assert(r->cell_count % r->column_count == 0);
    switch (format) {
    case CLI_TEXT:
        print_text(r, out);
        break;
    case CLI_CSV:
        print_csv(r, out);
        /* what reads a table reads nothing else; once, not from every rank */
        if (net_mpi_rank() == 0) print_notes(r, stderr);
        break;
    case CLI_JSON:
        print_json(r, out);
        break;
    }
}
