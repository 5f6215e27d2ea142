/**
 * Result tables in three forms: aligned text, CSV, and one JSON object {"meta": {...}, "rows":
 * [{...}]}.
 *
 * A report has columns, each with a key (CSV, JSON) and a heading (text; NULL leaves the column out
 * of the text). Rows are filled cell by cell, in column order. Strings are copied.
 */
#ifndef PODSIM_CLI_REPORT_H
#define PODSIM_CLI_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options.h"

struct cli_column {
    const char *key;     /* NULL ends the list */
    const char *heading; /* NULL: not in text */
    bool is_left;        /* text alignment */
};

typedef struct cli_report cli_report;

cli_report *cli_report_create(const struct cli_column *columns);
void cli_report_destroy(cli_report *r);
/** Leave a column out of the text, where it says the same of every row. */
void cli_report_hide(cli_report *r, const char *key);

/* What made the result: shown as lines above a text table, and as "meta". */
void cli_meta_text(cli_report *r, const char *key, const char *value);
void cli_meta_double(cli_report *r, const char *key, double value);
/** A remark below the table; "notes" in meta of JSON; on stderr beside CSV. */
void cli_note(cli_report *r, const char *format, ...) SIM_PRINTF(2, 3);

/* The next cell of the current row; a row ends when its last column is filled. `shown` is the text
 * form (NULL: as CSV). */
void cli_cell_text(cli_report *r, const char *value);
void cli_cell_uint(cli_report *r, uint64_t value, const char *shown);
void cli_cell_double(cli_report *r, double value, const char *shown);
void cli_cell_array(cli_report *r, const double *value, uint32_t count, const char *shown);
void cli_cell_bool(cli_report *r, bool value);
/** Nothing to say: "-", an empty field, null. */
void cli_cell_none(cli_report *r);

void cli_report_print(const cli_report *r, enum cli_format format, FILE *out);

#endif
