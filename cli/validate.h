/**
 * Published numbers beside podsim's: what a row of `podsim validate` is, how it is run, the table.
 *
 * A row is data and one function, so whatever podsim can compute can be a row. Every run takes the
 * chip's link rate, hop latency and launch overhead from the preset; no row has its own.
 */
#ifndef PODSIM_CLI_VALIDATE_H
#define PODSIM_CLI_VALIDATE_H

#include "cli/options.h"
#include "collectives/coll.h"

/** One collective, as `podsim collective` would run it. */
struct validate_run {
    const char *spec;
    const char *fail, *routing; /* NULL: nothing fails, the default routing */
    const char *axes;           /* NULL: all, one group */
    enum coll_op op;
    bool is_named; /* the source names `algorithm`; else the closed forms choose */
    enum coll_algorithm algorithm;
    uint64_t bytes;    /* as struct coll_spec counts them */
    uint32_t receiver; /* rank; of a send, from rank 0 */
};

struct validate_result {
    double value;          /* in the row's unit */
    const char *algorithm; /* of the last run; "" when no collective ran */
};

struct validate_row {
    const char *name, *what, *source;
    double published, low, high; /* in `unit`; low and high are accepted */
    const char *unit;
    enum sim_status (*measure)(const struct validate_row *row, struct sim_error *err,
                               struct validate_result *out);
    double factor; /* a measure's own, see below */
    struct validate_run run, base;
};

/* Measures. Errors: those of building a topology and of running on it. */

/** Time of `run`, in us. */
SIM_MUST_CHECK enum sim_status validate_time_us(const struct validate_row *row,
                                                struct sim_error *err, struct validate_result *out);
/** `factor` times the bytes of `run` over its time, in GB/s. */
SIM_MUST_CHECK enum sim_status validate_rate(const struct validate_row *row, struct sim_error *err,
                                             struct validate_result *out);
/** Time of `base` over time of `run`: how many times as fast. */
SIM_MUST_CHECK enum sim_status validate_speed(const struct validate_row *row, struct sim_error *err,
                                              struct validate_result *out);
/** All-to-all rate of `run` over that of `base`, from the loads of their links; nothing is run. */
SIM_MUST_CHECK enum sim_status validate_all_to_all(const struct validate_row *row,
                                                   struct sim_error *err,
                                                   struct validate_result *out);
/** Goodput of slices of `factor` chips in the pod of `run`, hosts up 99 % of the time, in %. */
SIM_MUST_CHECK enum sim_status validate_goodput(const struct validate_row *row,
                                                struct sim_error *err, struct validate_result *out);

bool validate_is_within(const struct validate_row *row, double value);

/** The rows built in, in the order of their names. */
const struct validate_row *validate_rows(uint32_t *count);

/**
 * Measure the rows and print the table. Errors: SIM_ENO when a row lies outside its range (the
 * table is printed all the same); those of the measures.
 */
SIM_MUST_CHECK enum sim_status validate_print(const struct validate_row *const *rows,
                                              uint32_t count, enum cli_format format, FILE *out,
                                              struct sim_error *err);

#endif
