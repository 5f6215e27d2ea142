/*
 * Least and most of a measure over all links and over those of a kind.
 */
#include "cli/links.h"

#include <stdio.h>

#include "base/quantity.h"

enum { KINDS = TOPO_DCN + 1 };

struct measure {
    double (*of)(const topo *t, topo_link_id link);
    const char *(*format)(double value, char *buffer);
    double by_default;
};

struct range {
    double least, most;
    uint32_t count;
};

static double latency_of(const topo *t, topo_link_id link)
{
    return (double)topo_link_latency_ps(t, link);
}

static const char *format_latency(double ps, char *buffer)
{
    return sim_time_format((sim_ps)ps, buffer);
}

static void widen(struct range *r, double value)
{
    if (r->count == 0 || value < r->least) r->least = value;
    if (r->count == 0 || value > r->most) r->most = value;
    r->count++;
}

/* "16GB/s to 25GB/s"; one number where both ends are the same. */
static const char *range_text(const struct measure *m, const struct range *r,
                              char buffer[2 * SIM_QUANTITY_TEXT + 8])
{
    char least[SIM_QUANTITY_TEXT], most[SIM_QUANTITY_TEXT];
    bool is_one = r->least == r->most;
    snprintf(buffer, 2 * SIM_QUANTITY_TEXT + 8, "%s%s%s", m->format(r->least, least),
             is_one ? "" : " to ", is_one ? "" : m->format(r->most, most));
    return buffer;
}

/* "copper and optical": the kinds from `first` on with its range, which are then done with. */
static const char *join_kinds(struct range kind[KINDS], int first, char *buffer, size_t bytes)
{
    size_t used = (size_t)snprintf(buffer, bytes, "%s", topo_link_kind_names[first]);
    for (int k = first + 1; k < KINDS && used < bytes; k++) {
        bool is_same = kind[k].least == kind[first].least && kind[k].most == kind[first].most;
        if (kind[k].count == 0 || !is_same) continue;
        used += (size_t)snprintf(buffer + used, bytes - used, " and %s", topo_link_kind_names[k]);
        kind[k].count = 0;
    }
    return buffer;
}

static const char *links_text(const topo *t, const struct measure *m, char *buffer, size_t bytes)
{
    char text[2 * SIM_QUANTITY_TEXT + 8], names[64];
    struct range all = {m->by_default, m->by_default, 0}, kind[KINDS] = {{0}};
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        widen(&all, m->of(t, l));
        widen(&kind[topo_link_kind(t, l)], m->of(t, l));
    }
    if (all.least == all.most) {
        snprintf(buffer, bytes, "%s", range_text(m, &all, text));
        return buffer;
    }
    size_t used = 0;
    for (int k = 0; k < KINDS && used < bytes; k++) {
        if (kind[k].count == 0) continue;
        used += (size_t)snprintf(buffer + used, bytes - used, "%s%s %s", used > 0 ? ", " : "",
                                 join_kinds(kind, k, names, sizeof names),
                                 range_text(m, &kind[k], text));
    }
    return buffer;
}

const char *cli_link_rates(const topo *t, char *buffer, size_t bytes)
{
    const struct measure rate = {topo_link_rate, sim_rate_format, topo_default_link_rate(t)};
    return links_text(t, &rate, buffer, bytes);
}

const char *cli_link_latencies(const topo *t, char *buffer, size_t bytes)
{
    const struct measure latency = {latency_of, format_latency, (double)topo_default_latency_ps(t)};
    return links_text(t, &latency, buffer, bytes);
}
