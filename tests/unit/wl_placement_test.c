/*
 * Where mesh axes land, and what is refused.
 */
#include "workloads/placement.h"

#include <string.h>

#include "wl_study_fixture.h"

#define TINY "{layers: 2, width: 2048, mlp_width: 8192, heads: 16, vocab: 1024}"
#define LONG "batch: 512, sequence: 2048"

static const struct {
    const char *topology, *sharding, *placement[WL_AXES]; /* data, fsdp, tensor */
} rows[] = {
    /* pure fsdp takes all axes */
    {"v5p:8x8x8", "fsdp: 512", {"", "xyz", ""}},
    {"v6e:16x16", "fsdp: 256", {"", "xy", ""}},
    /* whole axes: the tensor axis has the first choice */
    {"v5p:8x8x8", "fsdp: 64, tensor: 8", {"", "yz", "x"}},
    {"v5p:4x4x8", "fsdp: 16, tensor: 8", {"", "xy", "z"}},
    {"v5p:8x8x8", "data: 8, fsdp: 8, tensor: 8", {"z", "y", "x"}},
    /* 16 on 4x4x4: two whole rings rather than four chips of each of three */
    {"v5p:4x4x4", "fsdp: 4, tensor: 16", {"", "z", "xy"}},
    /* what the user says stays; the rest is found around it */
    {"v5p:8x8x8", "fsdp: 64, tensor: 8, placement: {tensor: z}", {"", "xy", "z"}},
    {"v5p:4x4x8", "fsdp: 32, tensor: 4, placement: {tensor: z4}", {"", "xyz2@4", "z4"}},
};

START_TEST(lands_on)
{
    char text[64];
    struct wl_study s = wl_study_or_fail(rows[_i].topology, TINY, LONG, rows[_i].sharding);
    uint64_t product = 1;
    for (int a = 0; a < WL_AXES; a++) {
        const struct topo_group *group = &s.axis[a].group;
        ck_assert_uint_eq(group->size, s.axis[a].size);
        product *= group->size;
        if (group->size > 1)
            ck_assert_str_eq(topo_group_format(s.topology, group, text, sizeof text),
                             rows[_i].placement[a]);
    }
    ck_assert_uint_eq(product, topo_chips(s.topology));
    wl_study_release(&s);
}
END_TEST

/* Any sizes that multiply to the chips can be placed, split axes included, and no chip has two
 * places. */
START_TEST(every_mesh_has_a_placement)
{
    uint32_t chips = 64;
    for (uint32_t t = 1; t <= 16; t *= 2)
        for (uint32_t d = 1; d * t <= chips; d *= 2) {
            char sharding[96];
            snprintf(sharding, sizeof sharding, "data: %u, fsdp: %u, tensor: %u", d, chips / d / t,
                     t);
            struct wl_study s = wl_study_or_fail("v6e:8x8", TINY, LONG, sharding);
            bool seen[64] = {false};
            for (topo_chip_id c = 0; c < chips; c++) {
                uint32_t place = 0;
                for (int a = 0; a < WL_AXES; a++) {
                    const struct topo_group *group = &s.axis[a].group;
                    if (group->size > 1)
                        place = place * group->size + topo_group_rank(s.topology, group, c);
                }
                ck_assert(!seen[place]);
                seen[place] = true;
            }
            wl_study_release(&s);
        }
}
END_TEST

START_TEST(says_stride_and_wrap)
{
    char text[128];
    struct wl_study s = wl_study_or_fail(
        "v5p:8x8x8", TINY, LONG, "fsdp: 128, tensor: 4, placement: {tensor: x4, fsdp: x2@4yz}");
    ck_assert_str_eq(wl_placement_format(s.topology, &s.axis[WL_TENSOR].group, text, sizeof text),
                     "x4 (not wrapped)");
    ck_assert_ptr_nonnull(strstr(
        wl_placement_format(s.topology, &s.axis[WL_FSDP].group, text, sizeof text), "x2@4yz ("));
    ck_assert_str_eq(wl_placement_format(s.topology, &s.axis[WL_DATA].group, text, sizeof text),
                     "-");
    wl_study_release(&s);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("placement");
    TCase *c = tcase_create("placement");
    tcase_add_loop_test(c, lands_on, 0, (int)(sizeof rows / sizeof rows[0]));
    tcase_add_test(c, every_mesh_has_a_placement);
    tcase_add_test(c, says_stride_and_wrap);
    suite_add_tcase(s, c);
    return run_suite(s);
}
