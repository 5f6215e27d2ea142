/* Spec strings, slice rules, link counts. */
#include <string.h>

#include "tests/support.h"

static const struct topo_options none = TOPO_OPTIONS_DEFAULT;

START_TEST(one_way_links_of_slices)
{
    /* Whole cubes wrap on every axis: 2 * 3 links a chip. Meshes: 2 * sum over axes of N/k (k-1).
     * 8x16 on v6e wraps the 16 only: 2 * (16 * 7 + 8 * 16) = 480. A torus axis of 2 has both ports
     * cabled, an axis of 1 no link. */
    static const struct {
        const char *spec;
        uint32_t links;
    } cases[] = {
        {"v5p:2x2x1", 8},       {"v5p:2x2x2", 24},      {"v5p:2x2x4", 56},  {"v5p:2x4x4", 128},
        {"v5p:4x4x4", 384},     {"v4:4x4x8", 768},      {"v6e:8x8", 224},   {"v6e:8x16", 480},
        {"v6e:16x16", 1024},    {"v5e:1x1", 0},         {"torus:4", 8},     {"torus:2", 4},
        {"torus:1", 0},         {"torus:1x4", 8},       {"mesh:2", 2},      {"ring:5", 10},
        {"full:4", 12},         {"full:1", 0},          {"v3:32x32", 4096}, {"v3:8x8", 224},
        {"torus:2x2x2x2", 128}, {"v7:16x24x24", 55296}, {"v8t:4x4x4", 384}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        topo *t = topo_or_fail(cases[i].spec);
        ck_assert_msg(topo_links(t) == cases[i].links, "%s: %u links", cases[i].spec,
                      topo_links(t));
        ck_assert_str_eq(topo_spec(t), cases[i].spec);
        topo_destroy(t);
    }
}
END_TEST

START_TEST(links_are_paired_and_lead_to_neighbours)
{
    static const char *const specs[] = {"torus:4x3x2", "mesh:3x4", "torus:2",
                                        "v6e:8x16",    "full:5",   "torus:1x5x1x2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        topo *t = topo_or_fail(specs[i]);
        for (topo_link_id l = 0; l < topo_links(t); l++) {
            uint32_t there = 0, back = 0;
            for (topo_link_id m = 0; m < topo_links(t); m++) {
                there += topo_link_from(t, m) == topo_link_from(t, l) &&
                         topo_link_to(t, m) == topo_link_to(t, l);
                back += topo_link_from(t, m) == topo_link_to(t, l) &&
                        topo_link_to(t, m) == topo_link_from(t, l);
            }
            ck_assert_uint_eq(there, back); /* every cable carries both ways */
            ck_assert_uint_ne(topo_link_from(t, l), topo_link_to(t, l));
        }
        topo_destroy(t);
    }
}
END_TEST

START_TEST(rates_and_latencies_come_from_preset_spec_or_options)
{
    struct sim_error err = {0};
    topo *t = topo_or_fail("torus:4");
    ck_assert_double_eq(topo_link_rate(t, 0), 45e9); /* of a bare torus */
    ck_assert_int_eq(topo_link_latency_ps(t, 0), 1000000);
    topo_destroy(t);
    t = topo_or_fail("v5p:4x4x4");
    ck_assert_double_eq(topo_link_rate(t, 0), 90e9);
    topo_destroy(t);
    t = topo_or_fail("mesh:4,link=100Gbps,latency=0");
    ck_assert_double_eq(topo_link_rate(t, 0), 12.5e9);
    ck_assert_int_eq(topo_link_latency_ps(t, 0), 0);
    topo_destroy(t);
    struct topo_options o = {.link_bytes_per_s = 1e9, .latency_ps = 7};
    ck_assert_int_eq(topo_create("v5p:4x4x4,link=2GB/s", &o, &err, &t), SIM_OK);
    ck_assert_double_eq(topo_link_rate(t, 0), 1e9);
    ck_assert_int_eq(topo_link_latency_ps(t, 0), 7);
    topo_destroy(t);
}
END_TEST

START_TEST(bad_specs_name_what_is_wrong)
{
    static const struct {
        const char *spec, *says;
    } cases[] = {{"torus:0x4", "dimension x is 0"},
                 {"torus:4x4x4x4x4", "more than 4 axes"},
                 {"torus:4xx4", "side \"\" is no whole number"},
                 {"torus:-4", "side \"-4\""},
                 {"torus", "no shape"},
                 {"tours:4", "did you mean \"torus\""},
                 {"v5p:4x4", "want 3: v5p slices are 3D"},
                 {"v5p:4x4x5", "nearest legal shape 4x4x4"},
                 {"v6e:32x32", "a v6e pod has 256"},
                 {"v6e:8x32", "nearest legal shape 8x16"},
                 {"v5e:3x4", "nearest legal shape 4x4"},
                 {"v5p:64x64x64", "262144 chips"},
                 {"torus:4,rate=45GB/s", "unknown part \"rate=45GB/s\""},
                 {"torus:4,link=45", "45"},
                 {"ring:4x4", "a ring has one size"},
                 {"torus:65536x65536", "more than 4,294,967,294 chips"},
                 {"full:100000", "links"},
                 {"torus:99999999999999999999", "side"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct sim_error err = {0};
        topo *t = NULL;
        ck_assert_int_eq(topo_create(cases[i].spec, &none, &err, &t), SIM_EDATA);
        ck_assert_ptr_null(t);
        ck_assert_msg(strstr(err.text, cases[i].says) != NULL, "%s: %s", cases[i].spec, err.text);
    }
}
END_TEST

START_TEST(unknown_numbers_are_refused_when_needed)
{
    struct sim_error err = {0};
    const struct topo_chip *chip = topo_chip_find("v8t");
    ck_assert_int_eq(
        topo_chip_require(chip, chip->flops[TOPO_BF16], "bf16 rate", "system.chip.bf16", &err),
        SIM_EDATA);
    ck_assert_str_eq(err.text,
                     "chip v8t has no published bf16 rate; set system.chip.bf16 to assume one");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {one_way_links_of_slices, links_are_paired_and_lead_to_neighbours,
                                  rates_and_latencies_come_from_preset_spec_or_options,
                                  bad_specs_name_what_is_wrong,
                                  unknown_numbers_are_refused_when_needed};
    return run_suite(SUITE_OF("topo_spec", tests));
}
