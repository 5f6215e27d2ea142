/* Fuzz target: group texts on three topologies. What is accepted prints back, and ranks and chips
 * are one to one. */
#include "tests/fuzz/fuzz.h"
#include "topo/group.h"

static topo *create(const char *spec)
{
    struct sim_error err = {0};
    topo *t = NULL;
    FUZZ_CHECK(topo_create(spec, NULL, &err, &t) == SIM_OK);
    return t;
}

static void check_same(const topo *t, const struct topo_group *group)
{
    struct sim_error err = {0};
    struct topo_group again;
    char buffer[128];
    FUZZ_CHECK(topo_group_parse(t, topo_group_format(t, group, buffer, sizeof buffer), &err,
                                &again) == SIM_OK);
    FUZZ_CHECK(again.factor_count == group->factor_count && again.size == group->size);
    for (uint32_t i = 0; i < group->factor_count; i++) {
        FUZZ_CHECK(again.factor[i].axis == group->factor[i].axis);
        FUZZ_CHECK(again.factor[i].stride == group->factor[i].stride);
        FUZZ_CHECK(again.factor[i].extent == group->factor[i].extent);
    }
}

static void check_ranks(const topo *t, const struct topo_group *group)
{
    uint32_t *rank_at = SIM_NEW(uint32_t, group->size), *seen = SIM_NEW(uint32_t, group->size);
    FUZZ_CHECK(group->size >= 1 && topo_chips(t) % group->size == 0);
    topo_group_cycle(t, group, rank_at);
    for (uint32_t rank = 0; rank < group->size; rank++) {
        topo_chip_id chip = topo_group_chip(t, group, topo_chips(t) - 1, rank);
        FUZZ_CHECK(chip < topo_chips(t) && topo_group_rank(t, group, chip) == rank);
        FUZZ_CHECK(rank_at[rank] < group->size && seen[rank_at[rank]]++ == 0);
    }
    sim_free(rank_at);
    sim_free(seen);
}

static void check(const topo *t, const char *text)
{
    struct sim_error err = {0};
    struct topo_group group;
    enum sim_status status = topo_group_parse(t, text, &err, &group);
    fuzz_check_error(status, &err);
    if (status != SIM_OK) return;
    check_same(t, &group);
    check_ranks(t, &group);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static topo *torus, *mesh, *full;
    if (torus == NULL) torus = create("torus:8x4x6");
    if (mesh == NULL) mesh = create("mesh:3x2x2x4");
    if (full == NULL) full = create("full:12");
    char *text = fuzz_text(data, bytes);
    check(torus, text);
    check(mesh, text);
    check(full, text);
    sim_free(text);
    return 0;
}
