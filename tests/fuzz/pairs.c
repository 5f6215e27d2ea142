/* Fuzz target: lists of pairs, read from stdin, which glibc lets us replace. */
#include "cli/pairs.h"
#include "tests/fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static topo *t;
    struct sim_error err = {0};
    struct coll_pairs pairs = {0};
    char *text = fuzz_text(data, bytes);
    FILE *old = stdin;
    if (t == NULL) FUZZ_CHECK(topo_create("torus:4x4", NULL, &err, &t) == SIM_OK);
    stdin = fmemopen(text, bytes, "r");
    FUZZ_CHECK(stdin != NULL);
    enum sim_status status = cli_pairs_read("-", t, &err, &pairs);
    fclose(stdin);
    stdin = old;
    fuzz_check_error(status, &err);
    if (status == SIM_OK) FUZZ_CHECK(pairs.count > 0);
    for (uint32_t i = 0; i < pairs.count; i++)
        FUZZ_CHECK(pairs.src[i] < 16 && pairs.dst[i] < 16 && pairs.bytes[i] <= INT64_MAX);
    cli_pairs_release(&pairs);
    sim_free(text);
    return 0;
}
