/* Fuzz target: every quantity parser on the same text; what it accepts is in range and prints back.
 */
#include <float.h>

#include "base/quantity.h"
#include "tests/fuzz/fuzz.h"

static void check_double(const char *text,
                         enum sim_status (*parse)(const char *, struct sim_error *, double *),
                         double most)
{
    struct sim_error err = {0};
    double value = 0;
    enum sim_status status = parse(text, &err, &value);
    fuzz_check_error(status, &err);
    if (status != SIM_OK) return;
    char buffer[SIM_QUANTITY_TEXT];
    FUZZ_CHECK(value > 0 && value <= most);
    FUZZ_CHECK(strtod(sim_double_format(value, buffer), NULL) == value);
    FUZZ_CHECK(strlen(sim_rate_format(value, buffer)) < SIM_QUANTITY_TEXT);
    FUZZ_CHECK(strlen(sim_flops_format(value, buffer)) < SIM_QUANTITY_TEXT);
}

static void check_bytes(const char *text)
{
    struct sim_error err = {0};
    uint64_t bytes = 0;
    enum sim_status status = sim_bytes_parse(text, &err, &bytes);
    fuzz_check_error(status, &err);
    if (status != SIM_OK) return;
    char buffer[SIM_QUANTITY_TEXT];
    FUZZ_CHECK(bytes <= INT64_MAX);
    FUZZ_CHECK(strlen(sim_bytes_format(bytes, buffer)) < SIM_QUANTITY_TEXT);
    FUZZ_CHECK(strlen(sim_count_format(bytes, buffer)) < SIM_QUANTITY_TEXT);
}

static void check_time(const char *text)
{
    struct sim_error err = {0};
    sim_ps ps = 0;
    enum sim_status status = sim_time_parse(text, &err, &ps);
    fuzz_check_error(status, &err);
    if (status != SIM_OK) return;
    char buffer[SIM_QUANTITY_TEXT];
    FUZZ_CHECK(ps >= 0);
    FUZZ_CHECK(strlen(sim_time_format(ps, buffer)) < SIM_QUANTITY_TEXT);
}

static void check_count(const char *text)
{
    struct sim_error err = {0};
    uint64_t count = 0;
    enum sim_status status = sim_count_parse(text, 3, 1000, &err, &count);
    fuzz_check_error(status, &err);
    if (status == SIM_OK) FUZZ_CHECK(count >= 3 && count <= 1000);
}

static void check_list(const char *text)
{
    struct sim_error err = {0};
    uint64_t *bytes = NULL;
    uint32_t count = 0;
    enum sim_status status = sim_bytes_list_parse(text, &err, &bytes, &count);
    fuzz_check_error(status, &err);
    if (status != SIM_OK) return;
    FUZZ_CHECK(count >= 1 && count <= 10000);
    for (uint32_t i = 0; i < count; i++)
        FUZZ_CHECK(bytes[i] <= INT64_MAX);
    sim_free(bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);
    check_double(text, sim_rate_parse, DBL_MAX);
    check_double(text, sim_flops_parse, DBL_MAX);
    check_double(text, sim_share_parse, 1);
    check_bytes(text);
    check_time(text);
    check_count(text);
    check_list(text);
    sim_free(text);
    return 0;
}
