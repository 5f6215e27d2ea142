/* Fuzz target: study files. What is accepted satisfies the sums that the simulator relies on. */
#include "workloads/study.h"
#include "tests/fuzz/fuzz.h"

static void check_study(const struct wl_study *s)
{
    uint64_t product = 1;
    for (int a = 0; a < WL_AXES; a++) {
        FUZZ_CHECK(s->axis[a].size == s->axis[a].group.size);
        product *= s->axis[a].size;
    }
    FUZZ_CHECK(product == topo_chips(s->topology));
    FUZZ_CHECK(s->batch % (s->axis[WL_DATA].size * s->axis[WL_FSDP].size) == 0);
    FUZZ_CHECK(s->model.heads % s->axis[WL_TENSOR].size == 0);
    FUZZ_CHECK(s->chip.flops[s->precision] > 0 && s->chip.hbm_bytes_per_s > 0 &&
               s->chip.hbm_efficiency > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char *text = fuzz_text(data, bytes);
    if (!fuzz_is_large(text)) {
        struct sim_error err = {0};
        struct wl_study study = {0};
        enum sim_status status = wl_study_parse(text, "fuzz", &err, &study);
        fuzz_check_error(status, &err);
        if (status == SIM_OK) {
            check_study(&study);
            wl_study_release(&study);
        }
    }
    sim_free(text);
    return 0;
}
