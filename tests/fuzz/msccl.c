/* Fuzz target: MSCCL XML from stdin, which glibc lets us replace. What is read can be written and
 * is read the same; it can be run, and the check has an answer. */
#include "base/log.h"
#include "collectives/msccl.h"
#include "netsim/run.h"
#include "tests/fuzz/fuzz.h"

static enum sim_status read_text(const char *text, size_t bytes, struct sim_error *err,
                                 coll_msccl **out)
{
    FILE *old = stdin;
    stdin = fmemopen((void *)text, bytes, "r");
    FUZZ_CHECK(stdin != NULL);
    enum sim_status status = coll_msccl_read("-", err, out);
    fclose(stdin);
    stdin = old;
    fuzz_check_error(status, err);
    return status;
}

static char *write_text(const coll_msccl *a, size_t *bytes)
{
    char *text = NULL;
    FILE *out = open_memstream(&text, bytes);
    coll_msccl_write(a, out);
    FUZZ_CHECK(fclose(out) == 0);
    return text;
}

static void check_round_trip(const coll_msccl *a)
{
    struct sim_error err = {0};
    coll_msccl *again = NULL;
    size_t first_bytes, second_bytes;
    char *first = write_text(a, &first_bytes);
    FUZZ_CHECK(read_text(first, first_bytes, &err, &again) == SIM_OK);
    char *second = write_text(again, &second_bytes);
    FUZZ_CHECK(strcmp(first, second) == 0);
    coll_msccl_destroy(again);
    free(first);
    free(second);
}

/* Any algorithm that can run does, also one that computes the wrong thing. */
static void check_run(const coll_msccl *a)
{
    static const struct topo_options none = TOPO_OPTIONS_DEFAULT;
    struct sim_error err = {0};
    struct net_result result;
    net_schedule *s = NULL;
    topo *t = NULL;
    char spec[32];
    if (coll_msccl_gpus(a) > 8) return;
    snprintf(spec, sizeof spec, "full:%u", coll_msccl_gpus(a));
    FUZZ_CHECK(topo_create(spec, &none, &err, &t) == SIM_OK);
    struct coll_spec c = {.op = coll_msccl_op(a), .group = topo_group_all(t), .bytes = 1000};
    FUZZ_CHECK(coll_msccl_schedule(a, t, &c, &err, &s) == SIM_OK);
    FUZZ_CHECK(net_run(s, &(struct net_options){0}, NULL, &err, &result, NULL, NULL) == SIM_OK);
    net_schedule_destroy(s);
    topo_destroy(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sim_error err = {0};
    coll_msccl *a = NULL;
    if (bytes == 0) return 0; /* fmemopen() refuses it */
    sim_log_set_level(SIM_LOG_ERROR);
    if (read_text((const char *)data, bytes, &err, &a) != SIM_OK) return 0;
    check_round_trip(a);
    fuzz_check_error(coll_msccl_check(a, 0, &err), &err);
    check_run(a);
    coll_msccl_destroy(a);
    return 0;
}
