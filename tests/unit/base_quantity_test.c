/* Quantities: exact values, every refusal with what was found and what is wanted, formats and round
 * trips. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/rng.h"
#include "tests/unit/check_main.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))
#define RANDOM_CASES    5000

static uint64_t bits_of(double value)
{
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static const struct {
    const char *text;
    uint64_t bytes;
} bytes_case[] = {
    {"0", 0},
    {"0B", 0},
    {"512", 512},
    {"007", 7},
    {"1kB", 1000},
    {"1KB", 1000},
    {"1KiB", 1024},
    {"1 MiB", 1048576},
    {"1.5KiB", 1536},     /* 1.5 * 1024 */
    {"0.5MiB", 524288},   /* 2^19 */
    {"4GB", 4000000000},  /* past 2^31 and 2^32 */
    {"4GiB", 4294967296}, /* 2^32 */
    {"3e9", 3000000000},
    {"1.5e3B", 1500},
    {"25e-1kB", 2500}, /* 2.5 * 1000 */
    {"0.001kB", 1},
    {"0.0009765625KiB", 1}, /* 1024^-1 in full */
    {".5KiB", 512},
    {"2.000", 2},
    {"1TiB", 1099511627776},       /* 2^40 */
    {"8PiB", 9007199254740992},    /* 2^53 */
    {"7EiB", 8070450532247928832}, /* 7 * 2^60 */
    {"9223372036854775807", 9223372036854775807},
    {"9223372036854775807B", 9223372036854775807},
    {"9.223372036854775807EB", 9223372036854775807},
    {"0.000000000000000000000000000000000000000000000e99999999999", 0},
    {"00000000000000000000000000000000000000000000000000012", 12},
};

START_TEST(bytes_are_exact)
{
    struct sim_error err = {0};
    uint64_t bytes = 77;

    ck_assert_msg(sim_bytes_parse(bytes_case[_i].text, &err, &bytes) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(bytes, bytes_case[_i].bytes);
}
END_TEST

/* Rates as multiples that are whole numbers in double. */
static const struct {
    const char *text;
    double bytes_per_s;
} rate_case[] = {
    {"1B/s", 1.0},
    {"1kB/s", 1e3},
    {"1KB/s", 1e3},
    {"45GB/s", 45e9},
    {"45 GB/s", 45e9},
    {"12.5GB/s", 125e8},
    {"100Gbps", 125e8}, /* 1e11 / 8 */
    {"100Gbit/s", 125e8},
    {"100Gb/s", 125e8},
    {"800000kbps", 1e8},
    {"800000Kbps", 1e8},
    {"0.1GB/s", 1e8}, /* not 0.1 * 1e9 rounded twice */
    {"1.1Gbps", 1375e5},
    {"1bps", 0.125},
    {"6.25GB/s", 625e7},
    {"1GiB/s", 1073741824.0},
    {"1.5TiB/s", 1649267441664.0}, /* 1.5 * 2^40 */
    {"2TB/s", 2e12},
    {"1e-3MB/s", 1e3},
    {"1.6e1Tbps", 2e12},
};

START_TEST(rates_are_exact)
{
    struct sim_error err = {0};
    double rate = -1.0;

    ck_assert_msg(sim_rate_parse(rate_case[_i].text, &err, &rate) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(bits_of(rate), bits_of(rate_case[_i].bytes_per_s));
}
END_TEST

/* N Gbps and N/8 GB/s (three more digits at most) are the same double, whatever N. */
START_TEST(bits_and_bytes_agree)
{
    for (int n = 1; n <= 5000; n++) {
        char in_bits[64], in_bytes[64];
        double a, b;

        snprintf(in_bits, sizeof in_bits, "%d.%03dGbps", n / 7, n % 1000);
        /* (n/7 + (n%1000)/1000) / 8, in units of 1/8000 GB/s = 125 kB/s */
        snprintf(in_bytes, sizeof in_bytes, "%dkB/s", (n / 7 * 1000 + n % 1000) * 125);
        if (strcmp(in_bytes, "0kB/s") == 0) continue;
        ck_assert_int_eq(sim_rate_parse(in_bits, NULL, &a), SIM_OK);
        ck_assert_int_eq(sim_rate_parse(in_bytes, NULL, &b), SIM_OK);
        ck_assert_uint_eq(bits_of(a), bits_of(b));
    }
}
END_TEST

static const struct {
    const char *text;
    sim_ps ps;
} time_case[] = {
    {"0", 0},
    {"0.0", 0},
    {"0s", 0},
    {"1ps", 1},
    {"1.5us", 1500000},
    {"1.5 us", 1500000},
    {"2ms", 2000000000},
    {"1s", 1000000000000},
    {"0.1s", 100000000000},
    {"1min", 60000000000000},
    {"1h", 3600000000000000},
    {"1e-6s", 1000000},
    {"1.0000005us", 1000001},                                /* half a picosecond rounds up */
    {"1.00000049999999999999999999999999999999us", 1000000}, /* and just below it down */
    {"0.4ps", 0},
    {"0.5ps", 1},
    {"0.0000000000001s", 0}, /* 0.1 ps */
    {"0.000000000001s", 1},
    {"1e-99999999999s", 0},
    {"9223372036854775807ps", INT64_MAX},
    {"9223372.036854775807s", INT64_MAX},
    {"9223372.0368547758074s", INT64_MAX}, /* .4 ps above */
    {"2562h", 9223200000000000000},        /* 2562 * 3600e12 */
};

START_TEST(times_are_exact)
{
    struct sim_error err = {0};
    sim_ps ps = -1;

    ck_assert_msg(sim_time_parse(time_case[_i].text, &err, &ps) == SIM_OK, "%s", err.text);
    ck_assert_int_eq(ps, time_case[_i].ps);
}
END_TEST

static const struct {
    const char *text;
    double flops;
} flops_case[] = {
    {"197TFLOP/s", 197e12}, {"459 TFLOPS", 459e12}, {"1PFLOP/s", 1e15},   {"394TOP/s", 394e12},
    {"394TOPS", 394e12},    {"1.5GFLOP/s", 15e8},   {"100FLOP/s", 100.0}, {"4.614PFLOP/s", 4614e12},
};

START_TEST(compute_rates_are_exact)
{
    struct sim_error err = {0};
    double flops = -1.0;

    ck_assert_msg(sim_flops_parse(flops_case[_i].text, &err, &flops) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(bits_of(flops), bits_of(flops_case[_i].flops));
}
END_TEST

static const struct {
    const char *text;
    double share;
} share_case[] = {{"0.6", 0.6},  {"60%", 0.6},    {"60 %", 0.6}, {"1", 1.0},
                  {"100%", 1.0}, {"1e-3", 0.001}, {".25", 0.25}, {"12.5%", 0.125}};

START_TEST(shares_are_exact)
{
    struct sim_error err = {0};
    double share = -1.0;

    ck_assert_msg(sim_share_parse(share_case[_i].text, &err, &share) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(bits_of(share), bits_of(share_case[_i].share));
}
END_TEST

START_TEST(counts_are_whole)
{
    uint64_t count = 0;

    ck_assert_int_eq(sim_count_parse("0", 0, UINT64_MAX, NULL, &count), SIM_OK);
    ck_assert_uint_eq(count, 0);
    ck_assert_int_eq(sim_count_parse("18446744073709551615", 0, UINT64_MAX, NULL, &count), SIM_OK);
    ck_assert_uint_eq(count, UINT64_MAX);
    ck_assert_int_eq(sim_count_parse("64", 1, 64, NULL, &count), SIM_OK);
    ck_assert_uint_eq(count, 64);
}
END_TEST

enum parser { BYTES, RATE, TIME, FLOPS, SHARE, COUNT_1_64, COUNT_1, LIST };

static enum sim_status parse(enum parser parser, const char *text, struct sim_error *err)
{
    union {
        uint64_t u;
        double d;
        sim_ps ps;
        uint64_t *list;
    } out, before;
    uint32_t list_count = 77;
    enum sim_status status = SIM_EINTERNAL;

    memset(&out, 0x5A, sizeof out);
    before = out;
    switch (parser) {
    case BYTES:
        status = sim_bytes_parse(text, err, &out.u);
        break;
    case RATE:
        status = sim_rate_parse(text, err, &out.d);
        break;
    case TIME:
        status = sim_time_parse(text, err, &out.ps);
        break;
    case FLOPS:
        status = sim_flops_parse(text, err, &out.d);
        break;
    case SHARE:
        status = sim_share_parse(text, err, &out.d);
        break;
    case COUNT_1_64:
        status = sim_count_parse(text, 1, 64, err, &out.u);
        break;
    case COUNT_1:
        status = sim_count_parse(text, 1, UINT64_MAX, err, &out.u);
        break;
    case LIST:
        status = sim_bytes_list_parse(text, err, &out.list, &list_count);
        break;
    }
    if (status != SIM_OK) { /* outputs are written only on success */
        ck_assert_int_eq(memcmp(&out, &before, sizeof out), 0);
        ck_assert_uint_eq(list_count, 77);
    }
    return status;
}

#define WANT_BYTES "want whole bytes such as \"1MiB\", \"4GB\" or \"512\""
#define WANT_RATE  "want a number with a unit such as \"45GB/s\" or \"100Gbps\""
#define WANT_TIME  "want a number with a unit such as \"1.5us\" or \"2ms\""
#define WANT_FLOPS "want a number with a unit such as \"197TFLOP/s\" or \"400TOP/s\""
#define WANT_SHARE "want a share above 0 and up to 1 such as \"0.6\" or \"60%\""
#define WANT_LIST  "want byte counts and ranges such as \"1MiB,4MiB\" or \"1KiB:1GiB:x4\""
#define WANT_RANGE "want FROM:TO:xFACTOR such as \"1KiB:1GiB:x4\", factor >= 2"

static const struct {
    enum parser parser;
    const char *text, *message;
} refused_case[] = {
    {RATE, "100Gps", "\"100Gps\" is not a rate, " WANT_RATE},
    {RATE, "-1GB/s", "\"-1GB/s\" is not a rate, " WANT_RATE},
    {RATE, "+1GB/s", "\"+1GB/s\" is not a rate, " WANT_RATE},
    {RATE, "nan", "\"nan\" is not a rate, " WANT_RATE},
    {RATE, "nanGB/s", "\"nanGB/s\" is not a rate, " WANT_RATE},
    {RATE, "inf", "\"inf\" is not a rate, " WANT_RATE},
    {RATE, "infinity GB/s", "\"infinity GB/s\" is not a rate, " WANT_RATE},
    {RATE, "0GB/s", "\"0GB/s\" is not above 0, " WANT_RATE},
    {RATE, "1e-400GB/s", "\"1e-400GB/s\" is not above 0, " WANT_RATE},
    {RATE, "1e400GB/s", "\"1e400GB/s\" is too large, " WANT_RATE},
    {RATE, "1e300TB/s", "\"1e300TB/s\" is too large, " WANT_RATE}, /* 1e312 > 1.8e308 */
    {RATE, "12x", "\"12x\" is not a rate, " WANT_RATE},
    {RATE, "1.5.2us", "\"1.5.2us\" is not a rate, " WANT_RATE},
    {RATE, "", "\"\" is not a rate, " WANT_RATE},
    {RATE, " ", "\" \" is not a rate, " WANT_RATE},
    {RATE, "GB/s", "\"GB/s\" is not a rate, " WANT_RATE},
    {RATE, "45",
     "\"45\" has no unit, " WANT_RATE
     " (B/s, kB/s, MB/s, GB/s, TB/s; KiB/s to TiB/s; bps, kbps, Mbps, Gbps, Tbps)"},
    {RATE, "45e9",
     "\"45e9\" has no unit, " WANT_RATE
     " (B/s, kB/s, MB/s, GB/s, TB/s; KiB/s to TiB/s; bps, kbps, Mbps, Gbps, Tbps)"},
    {RATE, "45gb/s", "\"45gb/s\" is not a rate, " WANT_RATE},
    {RATE, "45Gb", "\"45Gb\" is not a rate, " WANT_RATE},
    {RATE, "45GB", "\"45GB\" is not a rate, " WANT_RATE},
    {RATE, "45gbps", "\"45gbps\" is not a rate, " WANT_RATE},
    {RATE, "45GB/S", "\"45GB/S\" is not a rate, " WANT_RATE},
    {RATE, "45mB/s", "\"45mB/s\" is not a rate, " WANT_RATE},
    {RATE, "45GB/s ", "\"45GB/s \" is not a rate, " WANT_RATE},
    {RATE, " 45GB/s", "\" 45GB/s\" is not a rate, " WANT_RATE},
    {RATE, "45  GB/s", "\"45  GB/s\" is not a rate, " WANT_RATE},
    {RATE, "45 ", "\"45 \" is not a rate, " WANT_RATE},
    {RATE, "45\tGB/s", "\"45\\tGB/s\" is not a rate, " WANT_RATE},
    {RATE, "45GB/s\n", "\"45GB/s\\n\" is not a rate, " WANT_RATE},
    {RATE, "45GB/s,", "\"45GB/s,\" is not a rate, " WANT_RATE},
    {RATE, "0x10GB/s", "\"0x10GB/s\" is not a rate, " WANT_RATE},
    {RATE, "1,5GB/s", "\"1,5GB/s\" is not a rate, " WANT_RATE},
    {RATE, "1.GB/s", "\"1.GB/s\" is not a rate, " WANT_RATE},
    {RATE, "1eGB/s", "\"1eGB/s\" is not a rate, " WANT_RATE},
    {RATE, "1e+GB/s", "\"1e+GB/s\" is not a rate, " WANT_RATE},
    {RATE, "45GKB/s", "\"45GKB/s\" is not a rate, " WANT_RATE},
    {RATE, "--1GB/s", "\"--1GB/s\" is not a rate, " WANT_RATE},
    {RATE, "1\xC3\xA9", "\"1\xC3\xA9\" is not a rate, " WANT_RATE},
    {BYTES, "0.3B", "\"0.3B\" is not a whole number of bytes, " WANT_BYTES},
    {BYTES, "1.5", "\"1.5\" is not a whole number of bytes, " WANT_BYTES},
    {BYTES, "0.1KiB", "\"0.1KiB\" is not a whole number of bytes, " WANT_BYTES}, /* 102.4 */
    {BYTES, "1e-1", "\"1e-1\" is not a whole number of bytes, " WANT_BYTES},
    {BYTES, "1.00000000000000000000000000000000000000001GB",
     "\"1.00000000000000000000000000000000000000001GB\" is not a whole number of "
     "bytes, " WANT_BYTES},
    {BYTES, "9223372036854775808",
     "\"9223372036854775808\" is more than 2^63-1 bytes, " WANT_BYTES},
    {BYTES, "8EiB", "\"8EiB\" is more than 2^63-1 bytes, " WANT_BYTES},
    {BYTES, "1e400", "\"1e400\" is more than 2^63-1 bytes, " WANT_BYTES},
    {BYTES, "-1", "\"-1\" is not a byte count, " WANT_BYTES},
    {BYTES, "-0", "\"-0\" is not a byte count, " WANT_BYTES},
    {BYTES, "+1", "\"+1\" is not a byte count, " WANT_BYTES},
    {BYTES, "nan", "\"nan\" is not a byte count, " WANT_BYTES},
    {BYTES, "", "\"\" is not a byte count, " WANT_BYTES},
    {BYTES, " ", "\" \" is not a byte count, " WANT_BYTES},
    {BYTES, "MiB", "\"MiB\" is not a byte count, " WANT_BYTES},
    {BYTES, "1M", "\"1M\" is not a byte count, " WANT_BYTES}, /* MB or MiB? */
    {BYTES, "1mb", "\"1mb\" is not a byte count, " WANT_BYTES},
    {BYTES, "1Mb", "\"1Mb\" is not a byte count, " WANT_BYTES},
    {BYTES, "1kiB", "\"1kiB\" is not a byte count, " WANT_BYTES},
    {BYTES, "0x400", "\"0x400\" is not a byte count, " WANT_BYTES},
    {BYTES, "12x", "\"12x\" is not a byte count, " WANT_BYTES},
    {BYTES, "1GB/s", "\"1GB/s\" is not a byte count, " WANT_BYTES},
    {TIME, "1.5.2us", "\"1.5.2us\" is not a duration, " WANT_TIME},
    {TIME, "1", "\"1\" has no unit, " WANT_TIME " (ps, ns, us, ms, s, min, h)"},
    {TIME, "-1us", "\"-1us\" is not a duration, " WANT_TIME},
    {TIME, "1US", "\"1US\" is not a duration, " WANT_TIME},
    {TIME, "1 fs", "\"1 fs\" is not a duration, " WANT_TIME},
    {TIME, "nan", "\"nan\" is not a duration, " WANT_TIME},
    {TIME, "", "\"\" is not a duration, " WANT_TIME},
    {TIME, "9223372036854775808ps",
     "\"9223372036854775808ps\" is longer than 2^63-1 ps (106 days), " WANT_TIME},
    {TIME, "9223372.0368547758075s",
     "\"9223372.0368547758075s\" is longer than 2^63-1 ps (106 days), " WANT_TIME}, /* rounds up */
    {TIME, "2563h", "\"2563h\" is longer than 2^63-1 ps (106 days), " WANT_TIME},
    {TIME, "1e400s", "\"1e400s\" is longer than 2^63-1 ps (106 days), " WANT_TIME},
    {FLOPS, "197",
     "\"197\" has no unit, " WANT_FLOPS " (FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s; OP/s likewise)"},
    {FLOPS, "197TFLOP", "\"197TFLOP\" is not a compute rate, " WANT_FLOPS},
    {FLOPS, "197TiFLOP/s", "\"197TiFLOP/s\" is not a compute rate, " WANT_FLOPS},
    {FLOPS, "0TFLOP/s", "\"0TFLOP/s\" is not above 0, " WANT_FLOPS},
    {SHARE, "0", "\"0\" is not above 0, " WANT_SHARE},
    {SHARE, "1.1", "\"1.1\" is above 1, " WANT_SHARE},
    {SHARE, "101%", "\"101%\" is above 1, " WANT_SHARE},
    {SHARE, "60%%", "\"60%%\" is not a share, " WANT_SHARE},
    {SHARE, "-0.5", "\"-0.5\" is not a share, " WANT_SHARE},
    {SHARE, "nan", "\"nan\" is not a share, " WANT_SHARE},
    {COUNT_1, "12x", "\"12x\" is not a whole number, want a whole number >= 1"},
    {COUNT_1, "1.5", "\"1.5\" is not a whole number, want a whole number >= 1"},
    {COUNT_1, "1e3", "\"1e3\" is not a whole number, want a whole number >= 1"},
    {COUNT_1, "", "\"\" is not a whole number, want a whole number >= 1"},
    {COUNT_1, "+1", "\"+1\" is not a whole number, want a whole number >= 1"},
    {COUNT_1, "0", "\"0\" is too small, want a whole number >= 1"},
    {COUNT_1, "18446744073709551616",
     "\"18446744073709551616\" is too large, want a whole number >= 1"},
    {COUNT_1, "99999999999999999999999999",
     "\"99999999999999999999999999\" is too large, want a whole number >= 1"},
    {COUNT_1_64, "65", "\"65\" is too large, want a whole number from 1 to 64"},
    {COUNT_1_64, "-1", "\"-1\" is not a whole number, want a whole number from 1 to 64"},
    {LIST, "", "\"\" has an empty item, " WANT_LIST},
    {LIST, " ", "\" \" has an empty item, " WANT_LIST},
    {LIST, "1MiB,,2MiB", "\"1MiB,,2MiB\" has an empty item, " WANT_LIST},
    {LIST, "1MiB,", "\"1MiB,\" has an empty item, " WANT_LIST},
    {LIST, ",1MiB", "\",1MiB\" has an empty item, " WANT_LIST},
    {LIST, "1MiB,2x", "\"2x\" is not a byte count, " WANT_BYTES},
    {LIST, "1MiB;2MiB", "\"1MiB;2MiB\" is not a byte count, " WANT_BYTES},
    {LIST, "1KiB:1B:x4", "\"1KiB:1B:x4\" ends before it starts, " WANT_RANGE},
    {LIST, "0:1KiB:x4", "\"0:1KiB:x4\" starts at 0, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x1", "\"1KiB:1GiB:x1\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x0", "\"1KiB:1GiB:x0\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x-2", "\"1KiB:1GiB:x-2\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x1.5", "\"1KiB:1GiB:x1.5\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:4", "\"1KiB:1GiB:4\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x", "\"1KiB:1GiB:x\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB", "\"1KiB:1GiB\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:", "\"1KiB:1GiB:\" is not a range, " WANT_RANGE},
    {LIST, "1KiB::x4", "\"1KiB::x4\" is not a range, " WANT_RANGE},
    {LIST, ":1GiB:x4", "\":1GiB:x4\" is not a range, " WANT_RANGE},
    {LIST, "::", "\"::\" is not a range, " WANT_RANGE},
    {LIST, "1KiB:1GiB:x4:x4", "\"1KiB:1GiB:x4:x4\" is not a range, " WANT_RANGE},
    {LIST, "1MiB, 1KiB:zzz:x4", "\"1KiB:zzz:x4\" is not a range, " WANT_RANGE},
};

START_TEST(refused_with_what_was_found)
{
    struct sim_error err = {0};

    ck_assert_int_eq(parse(refused_case[_i].parser, refused_case[_i].text, &err), SIM_EDATA);
    ck_assert_str_eq(err.text, refused_case[_i].message);
    ck_assert_str_eq(err.file, "");
    /* and the status is the same for a caller who wants no message */
    ck_assert_int_eq(parse(refused_case[_i].parser, refused_case[_i].text, NULL), SIM_EDATA);
}
END_TEST

START_TEST(long_texts_are_refused_shortly)
{
    static char text[1000001];
    struct sim_error err = {0};

    memset(text, '9', sizeof text - 1);
    for (int parser = BYTES; parser <= LIST; parser++) {
        err = (struct sim_error){0};
        ck_assert_int_eq(parse((enum parser)parser, text, &err), SIM_EDATA);
        ck_assert_ptr_nonnull(strstr(err.text, "999...\""));
        ck_assert_ptr_nonnull(strstr(err.text, ", want "));
    }
}
END_TEST

/* Random bytes near the grammar: any status, but never a crash, and a message exactly when refused.
 */
START_TEST(random_texts_do_no_harm)
{
    static const char letters[] = "0123456789..eE+-  kKMGTPiBbps/itx:,uhmn%\xC3\xA9\x01";
    struct sim_rng rng;

    sim_rng_init(&rng, (uint64_t)_i, 0);
    for (int n = 0; n < RANDOM_CASES; n++) {
        char text[24];
        size_t length = sim_rng_below(&rng, sizeof text);

        for (size_t i = 0; i < length; i++) {
            text[i] = letters[sim_rng_below(&rng, sizeof letters - 1)];
        }
        text[length] = '\0';
        for (int parser = BYTES; parser < LIST; parser++) {
            struct sim_error err = {0};
            enum sim_status status = parse((enum parser)parser, text, &err);

            ck_assert(status == SIM_OK || status == SIM_EDATA);
            ck_assert_int_eq(status == SIM_OK, err.text[0] == '\0');
        }
    }
}
END_TEST

static void check_list(const char *text, const uint64_t *expected, uint32_t expected_count)
{
    struct sim_error err = {0};
    uint64_t *value = NULL;
    uint32_t count = 0;

    ck_assert_msg(sim_bytes_list_parse(text, &err, &value, &count) == SIM_OK, "%s", err.text);
    ck_assert_uint_eq(count, expected_count);
    for (uint32_t i = 0; i < count; i++)
        ck_assert_uint_eq(value[i], expected[i]);
    sim_free(value);
}

START_TEST(lists_and_ranges)
{
    static const uint64_t powers[] = {1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20,
                                      1 << 22, 1 << 24, 1 << 26, 1 << 28, 1 << 30};
    static const uint64_t pair[] = {1 << 20, 1 << 30};
    static const uint64_t short_of_end[] = {1, 3, 9}; /* 27 > 26 */
    static const uint64_t mixed[] = {0, 8, 16, 32, 7};
    static const uint64_t last[] = {INT64_MAX};

    check_list("1KiB:1GiB:x4", powers, 11); /* 4^0 .. 4^10 */
    check_list("1MiB,1GiB", pair, 2);
    check_list(" 1MiB , 1 GiB ", pair, 2);
    check_list("1:26:x3", short_of_end, 3);
    check_list("1:27B:x3", (const uint64_t[]){1, 3, 9, 27},
               4); /* the end is included when reached */
    check_list("0,8:32:x2,7", mixed, 5);
    check_list("5:5:x2", (const uint64_t[]){5}, 1);
    check_list("9223372036854775807:9223372036854775807:x9223372036854775807", last, 1);
}
END_TEST

START_TEST(lists_have_a_limit)
{
    /* 10,000 items "1," and one more */
    char *text = sim_alloc(20003, 1, "test");
    struct sim_error err = {0};
    uint64_t *value = NULL;
    uint32_t count = 0;

    for (int i = 0; i < 10000; i++)
        memcpy(text + 2 * i, "1,", 2);
    text[19999] = '\0';
    ck_assert_int_eq(sim_bytes_list_parse(text, &err, &value, &count), SIM_OK);
    ck_assert_uint_eq(count, 10000);
    sim_free(value);
    memcpy(text + 19999, ",1", 3);
    ck_assert_int_eq(sim_bytes_list_parse(text, &err, &value, &count), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "goes beyond 10,000 values, want a shorter list"));
    sim_free(text);
}
END_TEST

static const struct {
    uint64_t bytes;
    const char *text;
} bytes_format_case[] = {
    {0, "0B"},
    {1, "1B"},
    {1000, "1kB"},
    {1024, "1KiB"},
    {1500, "1500B"},
    {1536, "1536B"},
    {10240, "10KiB"},
    {1048576, "1MiB"},
    {1572864, "1536KiB"}, /* whole numbers are exact and at most 4 digits */
    {4000000000, "4GB"},
    {4294967296, "4GiB"},
    {123456789, "123.5MB"},
    {999999999, "1GB"}, /* 999.999999 rounds up to the next unit, not to "1000MB" */
    {9007199254740992, "8PiB"},
    {INT64_MAX, "9.223EB"},
    {UINT64_MAX, "18.45EB"},
};

START_TEST(bytes_read_well)
{
    char buffer[SIM_QUANTITY_TEXT];

    ck_assert_str_eq(sim_bytes_format(bytes_format_case[_i].bytes, buffer),
                     bytes_format_case[_i].text);
}
END_TEST

START_TEST(rates_read_well)
{
    char buffer[SIM_QUANTITY_TEXT];

    ck_assert_str_eq(sim_rate_format(45e9, buffer), "45GB/s");
    ck_assert_str_eq(sim_rate_format(12.5e9, buffer), "12.5GB/s");
    ck_assert_str_eq(sim_rate_format(6.25e9, buffer), "6.25GB/s");
    ck_assert_str_eq(sim_rate_format(33.4995e9, buffer), "33.5GB/s");
    ck_assert_str_eq(sim_rate_format(1.2e12, buffer), "1.2TB/s");
    ck_assert_str_eq(sim_rate_format(0x1p30, buffer), "1GiB/s"); /* 1.074GB/s would not be exact */
    ck_assert_str_eq(sim_rate_format(1.5 * 0x1p40, buffer), "1.5TiB/s");
    ck_assert_str_eq(sim_rate_format(0.125, buffer), "0.125B/s");
    ck_assert_str_eq(sim_rate_format(0.0, buffer), "0B/s");
    ck_assert_str_eq(sim_rate_format(999.96e9, buffer), "1TB/s");
    ck_assert_str_eq(sim_rate_format(1e300, buffer), "1e+285PB/s");
}
END_TEST

START_TEST(times_read_well)
{
    char buffer[SIM_QUANTITY_TEXT];

    ck_assert_str_eq(sim_time_format(0, buffer), "0ps");
    ck_assert_str_eq(sim_time_format(999, buffer), "999ps");
    ck_assert_str_eq(sim_time_format(1500, buffer), "1.5ns");
    ck_assert_str_eq(sim_time_format(1500000, buffer), "1.5us");
    ck_assert_str_eq(sim_time_format(54778123, buffer), "54.78us");
    ck_assert_str_eq(sim_time_format(999999999, buffer), "1ms");
    ck_assert_str_eq(sim_time_format(10737418240, buffer), "10.74ms");
    ck_assert_str_eq(sim_time_format(60 * SIM_PS_PER_S, buffer), "60s");
    ck_assert_str_eq(sim_time_format(1234 * SIM_PS_PER_S, buffer), "1234s");
    ck_assert_str_eq(sim_time_format(5400 * SIM_PS_PER_S, buffer), "1.5h");
    ck_assert_str_eq(sim_time_format(INT64_MAX, buffer), "2562h"); /* 9223372 / 3600 */
}
END_TEST

START_TEST(other_numbers_read_well)
{
    char buffer[SIM_QUANTITY_TEXT];

    ck_assert_str_eq(sim_flops_format(197e12, buffer), "197TFLOP/s");
    ck_assert_str_eq(sim_flops_format(4.614e15, buffer), "4.614PFLOP/s");
    ck_assert_str_eq(sim_flops_format(42.5e18, buffer), "42.5EFLOP/s");
    ck_assert_str_eq(sim_count_format(0, buffer), "0");
    ck_assert_str_eq(sim_count_format(999, buffer), "999");
    ck_assert_str_eq(sim_count_format(9216, buffer), "9,216");
    ck_assert_str_eq(sim_count_format(1048576, buffer), "1,048,576");
    ck_assert_str_eq(sim_count_format(UINT64_MAX, buffer), "18,446,744,073,709,551,615");
}
END_TEST

START_TEST(doubles_are_shortest)
{
    char buffer[SIM_QUANTITY_TEXT];

    ck_assert_str_eq(sim_double_format(0.0, buffer), "0");
    ck_assert_str_eq(sim_double_format(-0.0, buffer), "-0");
    ck_assert_str_eq(sim_double_format(0.1, buffer), "0.1");
    ck_assert_str_eq(sim_double_format(100.0, buffer), "100");
    ck_assert_str_eq(sim_double_format(45e9, buffer), "45000000000");
    ck_assert_str_eq(sim_double_format(1e300, buffer), "1e+300");
    ck_assert_str_eq(sim_double_format(0.1 + 0.2, buffer), "0.30000000000000004"); /* 17 digits */
    ck_assert_str_eq(sim_double_format(1.0 / 3.0, buffer), "0.3333333333333333");  /* 16 */
    ck_assert_str_eq(sim_double_format(0x1p-1074, buffer), "5e-324"); /* the smallest of all */
    ck_assert_str_eq(sim_double_format(-1.7976931348623157e308, buffer),
                     "-1.7976931348623157e+308");
}
END_TEST

/* Any finite double, by its bits, comes back with the same bits. */
START_TEST(doubles_round_trip)
{
    struct sim_rng rng;

    sim_rng_init(&rng, (uint64_t)_i, 1);
    for (int n = 0; n < RANDOM_CASES; n++) {
        char buffer[SIM_QUANTITY_TEXT];
        uint64_t bits = sim_rng_next(&rng);
        double value;

        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) continue;
        ck_assert_uint_eq(bits_of(strtod(sim_double_format(value, buffer), NULL)), bits);
    }
}
END_TEST

/* A value written with all its digits is read exactly: as a rate in B/s the double itself, in bit/s
 * an eighth of it. */
START_TEST(rates_with_all_digits_round_trip)
{
    struct sim_rng rng;

    sim_rng_init(&rng, (uint64_t)_i, 2);
    for (int n = 0; n < RANDOM_CASES; n++) {
        char buffer[SIM_QUANTITY_TEXT + 8];
        double value = ldexp(1.0 + sim_rng_unit(&rng), (int)sim_rng_below(&rng, 120) - 20), back;

        sim_double_format(value, buffer);
        strcat(buffer, "B/s");
        ck_assert_int_eq(sim_rate_parse(buffer, NULL, &back), SIM_OK);
        ck_assert_uint_eq(bits_of(back), bits_of(value));
        sim_double_format(value, buffer);
        strcat(buffer, " bit/s");
        ck_assert_int_eq(sim_rate_parse(buffer, NULL, &back), SIM_OK);
        ck_assert_uint_eq(bits_of(back), bits_of(value / 8.0));
    }
}
END_TEST

/* 4 significant digits: half a unit of the fourth is at most 0.05 % of the value (1.0005 of 1.000).
 */
#define FORMAT_TOLERANCE 0.0005

START_TEST(formats_read_back)
{
    struct sim_rng rng;

    sim_rng_init(&rng, (uint64_t)_i, 3);
    for (int n = 0; n < RANDOM_CASES; n++) {
        char buffer[SIM_QUANTITY_TEXT];
        uint64_t whole = sim_rng_next(&rng) >> (1 + sim_rng_below(&rng, 63)), bytes;
        double value = (double)whole, rate;
        sim_ps ps;

        ck_assert_int_eq(sim_bytes_parse(sim_bytes_format(whole, buffer), NULL, &bytes), SIM_OK);
        ck_assert_double_le(fabs((double)bytes - value), FORMAT_TOLERANCE * value);
        if (whole <= 9999) ck_assert_uint_eq(bytes, whole);
        ck_assert_int_eq(sim_time_parse(sim_time_format((sim_ps)whole, buffer), NULL, &ps), SIM_OK);
        ck_assert_double_le(fabs((double)ps - value), FORMAT_TOLERANCE * value);
        if (whole == 0) continue;
        ck_assert_int_eq(sim_rate_parse(sim_rate_format(value, buffer), NULL, &rate), SIM_OK);
        ck_assert_double_le(fabs(rate - value), FORMAT_TOLERANCE * value);
        ck_assert_int_eq(sim_flops_parse(sim_flops_format(value, buffer), NULL, &rate), SIM_OK);
        ck_assert_double_le(fabs(rate - value), FORMAT_TOLERANCE * value);
    }
}
END_TEST

/* Up to 4 digits times a unit: what people write comes back exactly. */
START_TEST(short_values_read_back_exactly)
{
    static const uint64_t decimal[] = {1, 1000, 1000000, 1000000000, 1000000000000};

    for (uint64_t n = 1; n <= 9999; n++) {
        for (int i = 0; i < 5; i++) {
            char buffer[SIM_QUANTITY_TEXT];
            uint64_t whole = n * decimal[i], shifted = n << (10 * i), bytes;
            double rate;
            sim_ps ps;

            ck_assert_int_eq(sim_bytes_parse(sim_bytes_format(whole, buffer), NULL, &bytes),
                             SIM_OK);
            ck_assert_uint_eq(bytes, whole);
            ck_assert_int_eq(sim_bytes_parse(sim_bytes_format(shifted, buffer), NULL, &bytes),
                             SIM_OK);
            ck_assert_uint_eq(bytes, shifted);
            ck_assert_int_eq(sim_rate_parse(sim_rate_format((double)whole, buffer), NULL, &rate),
                             SIM_OK);
            ck_assert_uint_eq(bits_of(rate), bits_of((double)whole));
            if (whole >= 3600 * UINT64_C(1000000000000)) continue; /* in hours: 4 digits only */
            ck_assert_int_eq(sim_time_parse(sim_time_format((sim_ps)whole, buffer), NULL, &ps),
                             SIM_OK);
            ck_assert_int_eq(ps, (sim_ps)whole);
        }
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/quantity");
    TCase *tc = tcase_create("quantity");

    tcase_set_timeout(tc, 60); /* random loops under sanitizers */
    tcase_add_loop_test(tc, bytes_are_exact, 0, COUNT_OF(bytes_case));
    tcase_add_loop_test(tc, rates_are_exact, 0, COUNT_OF(rate_case));
    tcase_add_test(tc, bits_and_bytes_agree);
    tcase_add_loop_test(tc, times_are_exact, 0, COUNT_OF(time_case));
    tcase_add_loop_test(tc, compute_rates_are_exact, 0, COUNT_OF(flops_case));
    tcase_add_loop_test(tc, shares_are_exact, 0, COUNT_OF(share_case));
    tcase_add_test(tc, counts_are_whole);
    tcase_add_loop_test(tc, refused_with_what_was_found, 0, COUNT_OF(refused_case));
    tcase_add_test(tc, long_texts_are_refused_shortly);
    tcase_add_loop_test(tc, random_texts_do_no_harm, 0, 3);
    tcase_add_test(tc, lists_and_ranges);
    tcase_add_test(tc, lists_have_a_limit);
    tcase_add_loop_test(tc, bytes_read_well, 0, COUNT_OF(bytes_format_case));
    tcase_add_test(tc, rates_read_well);
    tcase_add_test(tc, times_read_well);
    tcase_add_test(tc, other_numbers_read_well);
    tcase_add_test(tc, doubles_are_shortest);
    tcase_add_loop_test(tc, doubles_round_trip, 0, 3);
    tcase_add_loop_test(tc, rates_with_all_digits_round_trip, 0, 3);
    tcase_add_loop_test(tc, formats_read_back, 0, 3);
    tcase_add_test(tc, short_values_read_back_exactly);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
