/**
 * Quantities with units, both ways: "45 GB/s", "100Gbps", "1MiB", "1.5us"; lists "1MiB,1GiB";
 * ranges "1KiB:1GiB:x4".
 *
 * A number, an optional space, a unit. A bare number is bytes where bytes are wanted; 0 needs no
 * unit for a duration; everything else needs its unit. Decimal prefixes are powers of 1000 (GB),
 * binary ones of 1024 (GiB). "Gbps" and "Gbit/s" count bits: 100Gbps and 12.5GB/s give the same
 * double.
 */
#ifndef PODSIM_BASE_QUANTITY_H
#define PODSIM_BASE_QUANTITY_H

#include "base/arena.h"
#include "base/error.h"
#include "base/time.h"

/* Longest text any formatter below writes, with the closing zero. */
#define SIM_QUANTITY_TEXT 48

/** 0 .. 2^63-1 bytes; fractions such as 1.5KiB must come to whole bytes. Errors: SIM_EDATA, text
 * says what was found. */
SIM_MUST_CHECK enum sim_status sim_bytes_parse(const char *text, struct sim_error *err,
                                               uint64_t *out);
/** A positive, finite rate in bytes/s. Units: B/s kB/s KB/s MB/s GB/s TB/s KiB/s .. TiB/s, bps kbps
 * Mbps Gbps Tbps, and bit/s, Gbit/s and so on. */
SIM_MUST_CHECK enum sim_status sim_rate_parse(const char *text, struct sim_error *err, double *out);
/** A duration >= 0, rounded to the nearest picosecond. Units: ps ns us ms s min h. */
SIM_MUST_CHECK enum sim_status sim_time_parse(const char *text, struct sim_error *err, sim_ps *out);
/** A positive, finite rate of operations per second: FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s (also FLOPS,
 * TFLOPS, TOP/s). */
SIM_MUST_CHECK enum sim_status sim_flops_parse(const char *text, struct sim_error *err,
                                               double *out);
/** A share in (0, 1], as "0.6" or "60%". */
SIM_MUST_CHECK enum sim_status sim_share_parse(const char *text, struct sim_error *err,
                                               double *out);
/** A whole number in [min, max]; "12x" and "1.5" are refused. */
SIM_MUST_CHECK enum sim_status sim_count_parse(const char *text, uint64_t min, uint64_t max,
                                               struct sim_error *err, uint64_t *out);

/** A comma-separated list of byte counts and ranges FROM:TO:xFACTOR (both ends included, TO only if
 * reached); at most 10,000 values. On success `*out` is owned by the caller (sim_free). */
SIM_MUST_CHECK enum sim_status sim_bytes_list_parse(const char *text, struct sim_error *err,
                                                    uint64_t **out, uint32_t *out_count);

/* Formatters: shortest text that reads well, at most 4 significant digits unless the value is exact
 * in its unit (1048576 -> "1MiB", 4000000000 -> "4GB", 1500 -> "1500B"). Each returns `buffer`
 * (SIM_QUANTITY_TEXT bytes). */
const char *sim_bytes_format(uint64_t bytes, char *buffer);
const char *sim_rate_format(double bytes_per_s, char *buffer);
const char *sim_time_format(sim_ps ps, char *buffer);
const char *sim_flops_format(double flops_per_s, char *buffer);
/** A count with thousands separators: 9216 -> "9,216". */
const char *sim_count_format(uint64_t count, char *buffer);
/** The shortest decimal text that strtod reads back as the same double ("0.1", "1e+300"); `value`
 * must be finite. */
const char *sim_double_format(double value, char *buffer);

#endif
