/* Fuzz target: topology specs. What is accepted prints back, is sound, and has finite metrics. */
#include <math.h>

#include "tests/fuzz/fuzz.h"
#include "topo/metrics.h"
#include "topo/topo.h"

static void check_links(const topo *t)
{
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        FUZZ_CHECK(topo_link_from(t, l) < topo_nodes(t) && topo_link_to(t, l) < topo_nodes(t));
        FUZZ_CHECK(topo_link_from(t, l) != topo_link_to(t, l));
        FUZZ_CHECK(topo_link_rate(t, l) > 0 && topo_link_latency_ps(t, l) >= 0);
    }
}

static void check_topology(const topo *t, const char *text)
{
    struct topo_metrics m = topo_metrics_of(t);
    uint64_t chips = 1;
    FUZZ_CHECK(strcmp(topo_spec(t), text) == 0);
    for (uint32_t a = 0; a < topo_axes(t); a++)
        chips *= topo_axis_size(t, a);
    FUZZ_CHECK(chips == topo_chips(t));
    check_links(t);
    FUZZ_CHECK(isfinite(m.mean_hops) && isfinite(m.bisection_bytes_per_s) &&
               isfinite(m.all_to_all_bytes_per_s));
    FUZZ_CHECK(m.mean_hops <= m.diameter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);
    if (!fuzz_is_large(text)) {
        struct sim_error err = {0};
        topo *t = NULL;
        enum sim_status status = topo_create(text, NULL, &err, &t);
        fuzz_check_error(status, &err);
        if (status == SIM_OK) check_topology(t, text);
        topo_destroy(t);
    }
    sim_free(text);
    return 0;
}
