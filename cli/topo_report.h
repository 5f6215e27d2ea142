/**
 * What a topology looks like: a description, a row of a table, or a column beside others.
 */
#ifndef PODSIM_CLI_TOPO_REPORT_H
#define PODSIM_CLI_TOPO_REPORT_H

#include "cli/report.h"
#include "topo/metrics.h"

/** A paragraph of text to stdout. */
void cli_topo_describe(const topo *t, const struct topo_metrics *m, const struct topo_options *o);

extern const struct cli_column cli_topo_columns[];
/** One row of cli_topo_columns; for text without what only CSV and JSON show and takes a while. */
void cli_topo_row(cli_report *report, const topo *t, const struct topo_metrics *m, bool is_text);

/**
 * Topologies side by side, with the ratio of each number to the first topology's. As text a number
 * is a line; as CSV and JSON a topology is a row and "chips" is followed by "chips_ratio". A ratio
 * to 0 is left empty.
 */
typedef struct cli_topo_comparison cli_topo_comparison;
cli_topo_comparison *cli_topo_comparison_create(void);
void cli_topo_comparison_destroy(cli_topo_comparison *c);
void cli_topo_comparison_add(cli_topo_comparison *c, const topo *t, const struct topo_metrics *m);
/** At least one topology was added; `routing` is said in meta. */
void cli_topo_comparison_print(const cli_topo_comparison *c, const char *routing,
                               enum cli_format format);

#endif
