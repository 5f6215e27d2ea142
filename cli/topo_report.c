/*
 * A topology as text, rows, and columns side by side.
 */
#include "cli/topo_report.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "cli/common.h"
#include "cli/links.h"
#include "cli/version.h"
#include "topo/graph.h"
#include "topo/slice.h"

static const char *four_digits(double value, char *buffer)
{
    snprintf(buffer, SIM_QUANTITY_TEXT, "%.4g", value);
    return buffer;
}

/* ---- the most loaded link ---- */

/* 8x8x16 takes 0.04 s, 16x16x16 0.8 s. Full meshes have many more links for as many chips, hence
 * the second limit. */
#define BETWEENNESS_CHIPS_MAX 4096
#define BETWEENNESS_STEPS_MAX UINT64_C(200000000) /* chips times links */

struct betweenness {
    bool is_known;
    double pairs;
    char link[100]; /* "0,0,0>1,0,0"; empty when unknown or there is none */
};

static struct betweenness betweenness_of(const topo *t)
{
    struct betweenness b = {0};
    struct sim_error ignored = {0};
    char from[48], to[48];
    topo_link_id link;
    if (topo_chips(t) > BETWEENNESS_CHIPS_MAX ||
        (uint64_t)topo_chips(t) * topo_links(t) > BETWEENNESS_STEPS_MAX)
        return b;
    b.is_known = topo_graph_betweenness(t, &ignored, &b.pairs, &link) == SIM_OK;
    b.pairs = rint(b.pairs * 1e6) / 1e6; /* a sum of 1/n: its last digits are noise */
    if (b.is_known && link != TOPO_NONE)
        snprintf(b.link, sizeof b.link, "%s>%s", topo_node_format(t, topo_link_from(t, link), from),
                 topo_node_format(t, topo_link_to(t, link), to));
    return b;
}

static void describe_betweenness(const topo *t)
{
    char text[SIM_QUANTITY_TEXT];
    struct betweenness b = betweenness_of(t);
    if (b.link[0] != 0)
        printf("  betweenness    %s pairs on shortest paths over %s, the most of any link\n",
               b.pairs < 1000 ? four_digits(b.pairs, text)
                              : sim_count_format((uint64_t)(b.pairs + 0.5), text),
               b.link);
}

static void betweenness_cells(cli_report *report, const topo *t, bool is_text)
{
    struct betweenness b = {0};
    if (!is_text) b = betweenness_of(t); /* text does not show it */
    if (b.is_known)
        cli_cell_double(report, b.pairs, NULL);
    else
        cli_cell_text(report, "");
    cli_cell_text(report, b.link);
}

/* ---- a description, or a row ---- */

/* Text shows the columns with a heading, when shapes are listed. */
const struct cli_column cli_topo_columns[] = {{"topology", "topology", true},
                                              {"chips", "chips", false},
                                              {"links", "links", false},
                                              {"diameter", "diameter", false},
                                              {"mean_hops", "mean hops", false},
                                              {"axis_mean_hops", NULL, false},
                                              {"bisection_gb_per_s", "bisection", false},
                                              {"bisection_kind", NULL, true},
                                              {"all_to_all_gb_per_s", "all-to-all", false},
                                              {"neighbour_gb_per_s", "neighbours", false},
                                              {"betweenness", NULL, false},
                                              {"betweenness_link", NULL, true},
                                              {"axes", NULL, true},
                                              {"wrapped_axes", "wraps", true},
                                              {"hosts", "hosts", false},
                                              {"link_gb_per_s", NULL, false},
                                              {"latency_us", NULL, false},
                                              {"cubes", NULL, true},
                                              {"spare_cubes", NULL, false},
                                              {"circuits_set", NULL, false},
                                              {NULL, NULL, false}};

static void axis_texts(const topo *t, char *shape, char *wrapped, size_t bytes)
{
    size_t at = 0, wrap_at = 0;
    shape[0] = wrapped[0] = 0;
    for (uint32_t a = 0; a < topo_axes(t); a++) {
        at += (size_t)snprintf(shape + at, bytes - at, "%s%u", a > 0 ? "x" : "",
                               topo_axis_size(t, a));
        if (topo_has_ports(t) && topo_axis_is_wrapped(t, a))
            wrap_at += (size_t)snprintf(wrapped + wrap_at, bytes - wrap_at, "%c", "xyzw"[a]);
    }
}

/* Hosts of a slice: its shape in whole host blocks (a slice smaller than a host is one). */
static uint64_t host_count(const topo *t, uint32_t grid[3])
{
    const struct topo_chip *chip = topo_chip_of(t);
    uint64_t hosts = 1;
    if (chip == NULL) return 0;
    for (uint32_t a = 0; a < 3; a++) {
        uint32_t size = a < chip->axes ? topo_axis_size(t, a) : 1;
        grid[a] = (size + chip->host[a] - 1) / chip->host[a];
        hosts *= grid[a];
    }
    for (uint32_t a = chip->axes; a < topo_axes(t); a++)
        hosts *= topo_axis_size(t, a); /* slices */
    return hosts;
}

/* Hops belong to axes on healthy tori and meshes only: detours run along others. */
static uint32_t axes_with_hops(const topo *t)
{
    return topo_has_ports(t) && !topo_is_faulty(t) ? topo_axes(t) : 0;
}

/* The cubes of a slice, and what a repair changed: at most a few swaps by name. */
#define SWAPS_SHOWN 4

static void describe_cubes(const topo *t)
{
    const struct topo_cubes *cubes = topo_cubes_of(t);
    char list[48];
    if (cubes == NULL) return;
    printf("  cubes          %s (%ux%ux%u of 4x4x4 chips) of the pod's %u, %u spare\n",
           topo_cubes_format(cubes, list, sizeof list), cubes->grid[0], cubes->grid[1],
           cubes->grid[2], topo_ocs_cubes(cubes->ocs), topo_cubes_spares(cubes));
    const struct topo_repair *r = &cubes->repair;
    for (uint32_t i = 0; i < r->count && i < SWAPS_SHOWN; i++)
        printf("  repair         spare cube %u takes the place of cube %u, %u,%u,%u\n",
               r->swap[i].spare, r->swap[i].broken, r->swap[i].at[0], r->swap[i].at[1],
               r->swap[i].at[2]);
    if (r->count > SWAPS_SHOWN) printf("                 and %u more\n", r->count - SWAPS_SHOWN);
    if (r->count > 0)
        printf("                 %u optical switches turn: %u circuits cut, %u set\n", r->switches,
               r->circuits_cut, r->circuits_set);
}

static void describe_links(const topo *t, const struct topo_options *o)
{
    char count[SIM_QUANTITY_TEXT], rates[256], latencies[256];
    printf("  links          %s one-way, %s each, %s a hop, routing %s\n",
           sim_count_format(topo_links(t), count), cli_link_rates(t, rates, sizeof rates),
           cli_link_latencies(t, latencies, sizeof latencies), cli_routing_text(o, t));
}

void cli_topo_describe(const topo *t, const struct topo_metrics *m, const struct topo_options *o)
{
    char shape[64], wrapped[8], a[SIM_QUANTITY_TEXT];
    const struct topo_chip *chip = topo_chip_of(t);
    axis_texts(t, shape, wrapped, sizeof shape);
    printf("%s\n", topo_spec(t));
    printf("  chips          %s%s", sim_count_format(topo_chips(t), a),
           topo_has_ports(t) || topo_failed_chips(t) > 0 ? "" : "\n");
    if (topo_has_ports(t))
        printf(" (%s, %s%s)%s", shape, wrapped[0] != 0 ? "wrapped: " : "no axis wraps", wrapped,
               topo_failed_chips(t) > 0 ? "" : "\n");
    if (topo_failed_chips(t) > 0)
        printf(", %s failed\n", sim_count_format(topo_failed_chips(t), a));
    if (chip != NULL) {
        uint32_t grid[3];
        uint64_t hosts = host_count(t, grid);
        const char *each = topo_axes(t) > chip->axes ? " a slice" : "";
        printf("  chip           %s, hosts of %ux%ux%u chips: %s (%ux%ux%u%s)\n", chip->full_name,
               chip->host[0], chip->host[1], chip->host[2], sim_count_format(hosts, a), grid[0],
               grid[1], grid[2], each);
    }
    describe_cubes(t);
    describe_links(t, o);
    printf("  diameter       %u hops, mean %.4g", m->diameter, m->mean_hops);
    for (uint32_t i = 0; i < axes_with_hops(t); i++)
        printf("%s%c %.4g", i == 0 ? " (" : ", ", "xyzw"[i], m -> axis_mean_hops[i]);
    printf("%s\n", axes_with_hops(t) > 0 ? ")" : "");
    printf("  bisection      %s one way (%s)\n", sim_rate_format(m->bisection_bytes_per_s, a),
           m->is_bisection_exact ? "exact" : "upper bound");
    if (m->all_to_all_bytes_per_s > 0)
        printf("  all-to-all     %s a chip, evenly to all, fills the busiest link\n",
               sim_rate_format(m->all_to_all_bytes_per_s, a));
    if (m->neighbour_bytes_per_s > 0)
        printf("  neighbours     %s a chip, evenly to %s, fills the busiest link\n",
               sim_rate_format(m->neighbour_bytes_per_s, a),
               topo_has_ports(t) ? "its neighbours" : "ids +1 and -1");
    describe_betweenness(t);
    printf("  numbering      chip id = x + X (y + Y (z ...)), ids 0 to %s\n",
           sim_count_format(topo_chips(t) - 1, a));
}

static void cube_cells(cli_report *report, const struct topo_cubes *cubes)
{
    char list[1024] = "";
    uint32_t spares = 0, circuits = 0;
    if (cubes != NULL) {
        topo_cubes_format(cubes, list, sizeof list);
        spares = topo_cubes_spares(cubes);
        circuits = cubes->repair.circuits_set;
    }
    cli_cell_text(report, list);
    cli_cell_uint(report, spares, NULL);
    cli_cell_uint(report, circuits, NULL);
}

void cli_topo_row(cli_report *report, const topo *t, const struct topo_metrics *m, bool is_text)
{
    char shape[64], wrapped[8], text[SIM_QUANTITY_TEXT];
    uint32_t grid[3];
    axis_texts(t, shape, wrapped, sizeof shape);
    cli_cell_text(report, topo_spec(t));
    cli_cell_uint(report, topo_chips(t), sim_count_format(topo_chips(t), text));
    cli_cell_uint(report, topo_links(t), sim_count_format(topo_links(t), text));
    cli_cell_uint(report, m->diameter, NULL);
    cli_cell_double(report, m->mean_hops, four_digits(m->mean_hops, text));
    cli_cell_array(report, m->axis_mean_hops, axes_with_hops(t), NULL);
    cli_cell_double(report, m->bisection_bytes_per_s / 1e9,
                    sim_rate_format(m->bisection_bytes_per_s, text));
    cli_cell_text(report, m->is_bisection_exact ? "exact" : "upper bound");
    cli_cell_double(report, m->all_to_all_bytes_per_s / 1e9,
                    sim_rate_format(m->all_to_all_bytes_per_s, text));
    cli_cell_double(report, m->neighbour_bytes_per_s / 1e9,
                    sim_rate_format(m->neighbour_bytes_per_s, text));
    betweenness_cells(report, t, is_text);
    cli_cell_text(report, shape);
    cli_cell_text(report, wrapped);
    uint64_t hosts = topo_chip_of(t) != NULL ? host_count(t, grid) : 0;
    cli_cell_uint(report, hosts, sim_count_format(hosts, text));
    cli_cell_double(report, topo_default_link_rate(t) / 1e9, NULL);
    cli_cell_double(report, sim_ps_to_us(topo_default_latency_ps(t)), NULL);
    cube_cells(report, topo_cubes_of(t));
}

/* ---- side by side ---- */

enum measure_kind { COUNT, NUMBER, RATE, TIME };

/* In the order of measure_values(); the keys are those of cli_topo_columns where both have them. */
static const struct measure {
    const char *key, *ratio_key, *label;
    enum measure_kind kind; /* RATE in GB/s, TIME in us */
} measures[] = {
    {"chips", "chips_ratio", "chips", COUNT},
    {"links", "links_ratio", "links, one-way", COUNT},
    {"link_gb_per_s", "link_ratio", "each link", RATE},
    {"latency_us", "latency_ratio", "a hop", TIME},
    {"diameter", "diameter_ratio", "diameter, hops", COUNT},
    {"mean_hops", "mean_hops_ratio", "mean hops", NUMBER},
    {"bisection_gb_per_s", "bisection_ratio", "bisection", RATE},
    {"bisection_per_chip_gb_per_s", "bisection_per_chip_ratio", "bisection per chip", RATE},
    {"all_to_all_gb_per_s", "all_to_all_ratio", "all-to-all per chip", RATE},
    {"neighbour_gb_per_s", "neighbour_ratio", "neighbours per chip", RATE},
};
#define MEASURES (sizeof measures / sizeof measures[0])

struct side {
    char *spec;
    bool is_bisection_exact;
    double value[MEASURES];
};

struct cli_topo_comparison {
    struct side *side;
    uint32_t count, capacity;
};

cli_topo_comparison *cli_topo_comparison_create(void)
{
    return SIM_NEW(cli_topo_comparison, 1);
}

void cli_topo_comparison_destroy(cli_topo_comparison *c)
{
    if (c == NULL) return;
    for (uint32_t i = 0; i < c->count; i++)
        sim_free(c->side[i].spec);
    sim_free(c->side);
    sim_free(c);
}

void cli_topo_comparison_add(cli_topo_comparison *c, const topo *t, const struct topo_metrics *m)
{
    struct side s = {.spec = sim_strdup(topo_spec(t)),
                     .is_bisection_exact = m->is_bisection_exact,
                     .value = {topo_chips(t), topo_links(t), topo_default_link_rate(t) / 1e9,
                               sim_ps_to_us(topo_default_latency_ps(t)), m->diameter, m->mean_hops,
                               m->bisection_bytes_per_s / 1e9,
                               m->bisection_bytes_per_s / 1e9 / topo_chips(t),
                               m->all_to_all_bytes_per_s / 1e9, m->neighbour_bytes_per_s / 1e9}};
    SIM_GROW(c->side, c->capacity, c->count + 1);
    c->side[c->count++] = s;
}

static void value_cell(cli_report *report, const struct measure *measure, double value)
{
    char text[SIM_QUANTITY_TEXT];
    switch (measure->kind) {
    case COUNT:
        cli_cell_uint(report, (uint64_t)value, sim_count_format((uint64_t)value, text));
        break;
    case NUMBER:
        cli_cell_double(report, value, four_digits(value, text));
        break;
    case RATE:
        cli_cell_double(report, value, value > 0 ? sim_rate_format(value * 1e9, text) : "0");
        break;
    case TIME:
        cli_cell_double(report, value, sim_time_format((sim_ps)(value * 1e6 + 0.5), text));
        break;
    }
}

static void ratio_cell(cli_report *report, double value, double first)
{
    char text[SIM_QUANTITY_TEXT];
    if (first > 0)
        cli_cell_double(report, value / first, four_digits(value / first, text));
    else
        cli_cell_text(report, "");
}

static void print_report(cli_report *report, const char *routing, enum cli_format format)
{
    cli_meta_text(report, "version", PODSIM_VERSION);
    cli_meta_text(report, "routing", routing);
    cli_report_print(report, format, stdout);
    cli_report_destroy(report);
}

/* A line per measure: the first topology, then each other one with its ratio. */
static void print_lines(const cli_topo_comparison *c, const char *routing)
{
    struct cli_column *columns = SIM_NEW(struct cli_column, 2 * c->count + 1);
    columns[0] = (struct cli_column){"measure", "", true};
    for (uint32_t i = 0; i < c->count; i++) {
        columns[i == 0 ? 1 : 2 * i] = (struct cli_column){"value", c->side[i].spec, false};
        if (i > 0) columns[2 * i + 1] = (struct cli_column){"ratio", "ratio", false};
    }
    cli_report *report = cli_report_create(columns);
    for (size_t k = 0; k < MEASURES; k++) {
        cli_cell_text(report, measures[k].label);
        for (uint32_t i = 0; i < c->count; i++) {
            value_cell(report, &measures[k], c->side[i].value[k]);
            if (i > 0) ratio_cell(report, c->side[i].value[k], c->side[0].value[k]);
        }
    }
    for (uint32_t i = 0; i < c->count; i++)
        if (!c->side[i].is_bisection_exact)
            cli_note(report, "the bisection of %s is an upper bound", c->side[i].spec);
    print_report(report, routing, CLI_TEXT);
    sim_free(columns);
}

/* A row per topology. */
static void print_rows(const cli_topo_comparison *c, const char *routing, enum cli_format format)
{
    struct cli_column columns[2 * MEASURES + 3] = {{"topology", NULL, true}};
    for (size_t k = 0; k < MEASURES; k++) {
        columns[2 * k + 1].key = measures[k].key;
        columns[2 * k + 2].key = measures[k].ratio_key;
    }
    columns[2 * MEASURES + 1].key = "bisection_kind";
    cli_report *report = cli_report_create(columns);
    for (uint32_t i = 0; i < c->count; i++) {
        cli_cell_text(report, c->side[i].spec);
        for (size_t k = 0; k < MEASURES; k++) {
            value_cell(report, &measures[k], c->side[i].value[k]);
            ratio_cell(report, c->side[i].value[k], c->side[0].value[k]);
        }
        cli_cell_text(report, c->side[i].is_bisection_exact ? "exact" : "upper bound");
    }
    print_report(report, routing, format);
}

void cli_topo_comparison_print(const cli_topo_comparison *c, const char *routing,
                               enum cli_format format)
{
    assert(c->count > 0);
    if (format == CLI_TEXT)
        print_lines(c, routing);
    else
        print_rows(c, routing, format);
}
