/*
 * The names of routings.
 */
#include "topo/routing.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "topo/topo_internal.h"

static enum sim_status wants_ports(const topo *t, const char *name, struct sim_error *err)
{
    if (t->ports > 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "routing %s is for tori and meshes, %s is none", name,
                         t->spec);
}

static enum sim_status choose_dimension_order(topo *t, const char *rest, struct sim_error *err)
{
    SIM_TRY(wants_ports(t, "dimension-order", err));
    if (topo_is_faulty(t))
        return sim_error_set(
            err, SIM_EDATA,
            "routing dimension-order cannot go around faults, want fault-tolerant or "
            "up-down");
    if (*rest == 0) return SIM_OK;
    static const char *const ties[] = {",tie=split", ",tie=positive", ",tie=negative",
                                       ",tie=simgrid"};
    for (int i = 0; i < 4; i++)
        if (strcmp(rest, ties[i]) == 0) {
            t->tie = (enum topo_tie)i;
            return SIM_OK;
        }
    return sim_error_set(
        err, SIM_EDATA,
        "routing dimension-order%s: want tie=split, tie=positive, tie=negative or tie=simgrid",
        rest);
}

/* The default routings split evenly over all minimal routes; faults need their own. */
static enum sim_status choose_balanced(topo *t, const char *rest, struct sim_error *err)
{
    (void)rest;
    if (!topo_is_faulty(t) || t->ports == 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA,
                         "routing balanced cannot go around faults, want fault-tolerant");
}

/* Chosen already where there are faults; elsewhere dimension order has nothing to go around. */
static enum sim_status choose_fault_tolerant(topo *t, const char *rest, struct sim_error *err)
{
    (void)rest;
    return wants_ports(t, "fault-tolerant", err);
}

/* A minimal way past faults may not exist, and a twist ties axes together. */
static enum sim_status choose_adaptive(topo *t, const char *rest, struct sim_error *err)
{
    (void)rest;
    SIM_TRY(wants_ports(t, "adaptive", err));
    if (topo_is_faulty(t))
        return sim_error_set(err, SIM_EDATA,
                             "routing adaptive cannot go around faults, want fault-tolerant");
    if (topo_is_twisted(t))
        return sim_error_set(err, SIM_EDATA, "routing adaptive is not for twisted tori as %s",
                             t->spec);
    t->routing = &topo_adaptive_routing;
    return SIM_OK;
}

static enum sim_status choose_ecmp(topo *t, const char *rest, struct sim_error *err)
{
    (void)rest;
    return topo_graph_route(t, err);
}

static enum sim_status choose_up_down(topo *t, const char *rest, struct sim_error *err)
{
    (void)rest, (void)err;
    t->routing = &topo_up_down_routing;
    return SIM_OK;
}

static enum sim_status choose_valiant(topo *t, const char *rest, struct sim_error *err)
{
    struct sim_error why = {0};
    uint64_t seed = 1;
    if (*rest != 0 && (strncmp(rest, ",seed=", 6) != 0 ||
                       sim_count_parse(rest + 6, 0, UINT64_MAX, &why, &seed) != SIM_OK))
        return sim_error_set(err, SIM_EDATA, "routing valiant%s: want seed=N", rest);
    topo_valiant_routing(t, seed);
    return SIM_OK;
}

static const struct {
    const char *name;
    enum sim_status (*choose)(topo *, const char *rest, struct sim_error *);
    bool takes_more;
} routings[] = {{"dimension-order", choose_dimension_order, true},
                {"balanced", choose_balanced, false},
                {"fault-tolerant", choose_fault_tolerant, false},
                {"adaptive", choose_adaptive, false},
                {"ecmp", choose_ecmp, false},
                {"up-down", choose_up_down, false},
                {"valiant", choose_valiant, true}};

static enum sim_status choose(topo *t, const char *text, struct sim_error *err)
{
    size_t bytes = strcspn(text, ",");
    for (size_t i = 0; i < sizeof routings / sizeof routings[0]; i++) {
        if (strlen(routings[i].name) != bytes || strncmp(text, routings[i].name, bytes) != 0)
            continue;
        if (text[bytes] != 0 && !routings[i].takes_more)
            return sim_error_set(err, SIM_EDATA, "routing %s takes no \"%s\"", routings[i].name,
                                 text + bytes + 1);
        return routings[i].choose(t, text + bytes, err);
    }
    return topo_table_routing(t, text, err);
}

enum sim_status topo_routing_choose(topo *t, const char *text, struct sim_error *err)
{
    const struct topo_routing *built = t->routing; /* what valiant and files fall back on */
    SIM_TRY(choose(t, text, err));
    if (t->routing != built) t->base_routing = built;
    return SIM_OK;
}

const char *topo_routing_name(const topo *t)
{
    return t->routing->name;
}

/* ECMP uses a channel per hop. */
static uint32_t longest_route(const topo *t)
{
    uint32_t longest = 1;
    for (topo_chip_id a = 0; a < t->chips; a++)
        for (topo_chip_id b = 0; b < t->chips; b++) {
            uint32_t hops =
                topo_chip_is_failed(t, a) || topo_chip_is_failed(t, b) ? 0 : topo_distance(t, a, b);
            if (hops > longest) longest = hops;
        }
    return longest;
}

bool topo_routing_is_own(const topo *t)
{
    bool is_default = t->base_routing == NULL || t->routing == t->base_routing;
    return topo_has_ports(t) && !topo_is_faulty(t) && is_default;
}

bool topo_routing_is_adaptive(const topo *t)
{
    return t->routing == &topo_adaptive_routing;
}

/* One for all minimal ways beside dimension order, which needs a second only around closed axes. */
static uint32_t adaptive_channels(const topo *t)
{
    bool has_wraps = false;
    for (uint32_t a = 0; a < t->grid.axes; a++)
        has_wraps |= t->grid.is_wrapped[a];
    return has_wraps ? 3 : 2;
}

uint32_t topo_routing_channels(const topo *t)
{
    if (topo_routing_is_adaptive(t)) return adaptive_channels(t);
    if (t->base_routing != NULL && t->routing == &topo_valiant_routing_table)
        return 2 * (t->base_routing->channels > 0 ? t->base_routing->channels : longest_route(t));
    return t->routing->channels > 0 ? t->routing->channels : longest_route(t);
}
