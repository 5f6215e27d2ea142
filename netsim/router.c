#include "netsim/router.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"

/* Cycles of the BookSim routers: netsim/router.h; measured with BookSim2 commit 28f4329, whose
 * iq_router takes 3 cycles from grant to grant, 2 into and 3 out of the network. */
#define BOOKSIM                                                                                    \
    .is_in_cycles = true, .hop = 3, .credit = 2, .injection = 2, .ejection = 3,                    \
    .is_one_port = true, .is_injection_buffered = true, .binding = NET_VC_EARLY, .flit_bytes = 32, \
    .arbitration = NET_BY_CHANNEL, .switching = NET_BY_FLIT, .vcs = 4

static const struct net_router routers[] = {
    {.name = "tpu", .packet_bytes = 4096, .flit_bytes = 4096, .bubble = 2},
    {.name = "booksim-a",
     BOOKSIM,
     .packet_bytes = 32,
     .buffer_flits = 8,
     .class_rule = NET_CLASS_WRAP},
    {.name = "booksim-ad",
     BOOKSIM,
     .packet_bytes = 32,
     .buffer_flits = 8,
     .class_rule = NET_CLASS_DATELINE},
    {.name = "booksim-p",
     BOOKSIM,
     .packet_bytes = 256,
     .buffer_flits = 16,
     .class_rule = NET_CLASS_WRAP,
     .is_credit_first = true},
    {.name = "booksim-pd",
     BOOKSIM,
     .packet_bytes = 256,
     .buffer_flits = 16,
     .class_rule = NET_CLASS_DATELINE,
     .is_credit_first = true},
    {.name = NULL},
};

const struct net_router *net_router_list(void)
{
    return routers;
}

const struct net_router *net_router_find(const char *name)
{
    for (const struct net_router *r = routers; r->name != NULL; r++)
        if (strcmp(r->name, name) == 0) return r;
    return NULL;
}

enum sim_status net_router_check(const struct net_router *r, struct sim_error *err)
{
    if (r->packet_bytes == 0 || r->flit_bytes == 0 || r->packet_bytes % r->flit_bytes != 0)
        return sim_error_set(err, SIM_EUSAGE,
                             "a packet of %u bytes is not a whole number of flits of %u bytes",
                             r->packet_bytes, r->flit_bytes);
    uint32_t flits = r->packet_bytes / r->flit_bytes;
    if (r->buffer_flits != 0 && r->buffer_flits < flits)
        return sim_error_set(err, SIM_EUSAGE,
                             "a buffer of %u flits has no room for a packet of %u flits",
                             r->buffer_flits, flits);
    if (r->buffer_flits / flits > NET_ROUTER_BUFFER_MAX)
        return sim_error_set(err, SIM_EUSAGE, "a buffer holds %u packets, at most %u are possible",
                             r->buffer_flits / flits, NET_ROUTER_BUFFER_MAX);
    if (r->bubble > 0 && r->binding == NET_VC_EARLY)
        return sim_error_set(err, SIM_EUSAGE,
                             "a bubble of %u packets goes with late binding of virtual channels",
                             r->bubble);
    if (r->switching == NET_BY_FLIT && r->binding != NET_VC_EARLY)
        return sim_error_set(err, SIM_EUSAGE,
                             "switching by flit goes with early binding of virtual channels");
    if (r->injection > 0 && !r->is_injection_buffered)
        return sim_error_set(
            err, SIM_EUSAGE,
            "an injection latency goes with the booksim routers, which buffer what "
            "enters; router %s does not",
            r->name);
    if (r->vcs > NET_ROUTER_VCS_MAX)
        return sim_error_set(err, SIM_EUSAGE, "%u virtual channels, at most %u are possible",
                             r->vcs, NET_ROUTER_VCS_MAX);
    const char *zero = r->hop == 0         ? "hop"
                       : r->credit == 0    ? "credit"
                       : r->injection == 0 ? "injection"
                       : r->ejection == 0  ? "ejection"
                                           : NULL;
    if (r->is_in_cycles && zero != NULL)
        return sim_error_set(err, SIM_EUSAGE, "a %s latency of 0 cycles: it is at least 1", zero);
    return SIM_OK;
}

/* ---- parameters by name ---- */

enum {
    PACKET,
    FLIT,
    VCS,
    BUFFER,
    HOP_LATENCY,
    CREDIT_LATENCY,
    INJECTION_LATENCY,
    EJECTION_LATENCY,
    CLASS_RULE,
    VC_BINDING,
    ARBITRATION,
    SWITCHING,
    BUBBLE
};

const char *const net_router_parameters[] = {"packet",
                                             "flit",
                                             "vcs",
                                             "buffer",
                                             "hop-latency",
                                             "credit-latency",
                                             "injection-latency",
                                             "ejection-latency",
                                             "class-rule",
                                             "vc-binding",
                                             "arbitration",
                                             "switching",
                                             "bubble",
                                             NULL};
static const char *const class_rules[] = {"routing", "dateline", "wrap", NULL};
static const char *const bindings[] = {"late", "early", NULL};
static const char *const arbitrations[] = {"input", "channel", NULL};
static const char *const switchings[] = {"packet", "flit", NULL};

static int find(const char *const *names, const char *name)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], name) == 0) return i;
    return -1;
}

static enum sim_status set_bytes(const char *value, uint32_t *out, struct sim_error *err)
{
    uint64_t bytes;
    SIM_TRY(sim_bytes_parse(value, err, &bytes));
    if (bytes == 0 || bytes > UINT32_C(1) << 30)
        return sim_error_set(err, SIM_EDATA, "\"%s\": want 1 byte to 1 GiB", value);
    *out = (uint32_t)bytes;
    return SIM_OK;
}

static enum sim_status set_count(const char *value, uint32_t least, uint32_t most, uint32_t *out,
                                 struct sim_error *err)
{
    uint64_t count;
    SIM_TRY(sim_count_parse(value, least, most, err, &count));
    *out = (uint32_t)count;
    return SIM_OK;
}

static enum sim_status set_latency(const struct net_router *r, const char *value, uint64_t *out,
                                   struct sim_error *err)
{
    enum { CYCLES_MAX = 1000000 };
    sim_ps ps;
    if (r->is_in_cycles) {
        struct sim_error why = {0};
        if (sim_count_parse(value, 1, CYCLES_MAX, &why, out) == SIM_OK) return SIM_OK;
        return sim_error_set(err, SIM_EDATA,
                             "\"%s\": the router %s counts in cycles, want a number from 1 to "
                             "1,000,000",
                             value, r->name);
    }
    SIM_TRY(sim_time_parse(value, err, &ps));
    *out = (uint64_t)ps;
    return SIM_OK;
}

static enum sim_status set_choice(const char *const *names, const char *value, int *out,
                                  struct sim_error *err)
{
    *out = find(names, value);
    if (*out >= 0) return SIM_OK;
    return sim_error_set(err, SIM_EDATA, "\"%s\": want %s, %s%s%s", value, names[0], names[1],
                         names[2] != NULL ? " or " : "", names[2] != NULL ? names[2] : "");
}

enum sim_status net_router_set(struct net_router *r, const char *parameter, const char *value,
                               struct sim_error *err)
{
    int choice = 0;
    switch (find(net_router_parameters, parameter)) {
    case PACKET:
        SIM_TRY(set_bytes(value, &r->packet_bytes, err));
        if (!r->is_in_cycles) r->flit_bytes = r->packet_bytes; /* credits by the packet */
        return SIM_OK;
    case FLIT:
        return set_bytes(value, &r->flit_bytes, err);
    case VCS:
        return set_count(value, 1, NET_ROUTER_VCS_MAX, &r->vcs, err);
    case BUFFER:
        return set_count(value, 1, UINT32_MAX, &r->buffer_flits, err);
    case HOP_LATENCY:
        return set_latency(r, value, &r->hop, err);
    case CREDIT_LATENCY:
        return set_latency(r, value, &r->credit, err);
    case INJECTION_LATENCY:
        return set_latency(r, value, &r->injection, err);
    case EJECTION_LATENCY:
        return set_latency(r, value, &r->ejection, err);
    case CLASS_RULE:
        SIM_TRY(set_choice(class_rules, value, &choice, err));
        r->class_rule = (enum net_class_rule)choice;
        return SIM_OK;
    case VC_BINDING:
        SIM_TRY(set_choice(bindings, value, &choice, err));
        r->binding = (enum net_vc_binding)choice;
        if (r->binding == NET_VC_LATE) r->switching = NET_BY_PACKET;
        return SIM_OK;
    case ARBITRATION:
        SIM_TRY(set_choice(arbitrations, value, &choice, err));
        r->arbitration = (enum net_arbitration)choice;
        return SIM_OK;
    case SWITCHING:
        SIM_TRY(set_choice(switchings, value, &choice, err));
        r->switching = (enum net_switching)choice;
        return SIM_OK;
    case BUBBLE:
        return set_count(value, 0, NET_ROUTER_BUFFER_MAX, &r->bubble, err);
    default:
        return sim_error_set(err, SIM_EDATA, "routers have no parameter \"%s\"", parameter);
    }
}

static const char *latency_text(const struct net_router *r, uint64_t latency, char *buffer)
{
    if (!r->is_in_cycles) return sim_time_format((sim_ps)latency, buffer);
    snprintf(buffer, SIM_QUANTITY_TEXT, "%llu", (unsigned long long)latency);
    return buffer;
}

const char *net_router_format(const struct net_router *r, char *buffer, size_t bytes)
{
    char packet[SIM_QUANTITY_TEXT], flit[SIM_QUANTITY_TEXT], latency[4][SIM_QUANTITY_TEXT];
    snprintf(
        buffer, bytes,
        "%s: packets of %s in flits of %s, %u virtual channels of %u flits; latency in %s: "
        "hop %s, credit %s, injection %s, ejection %s; classes by %s, %s binding, turns by %s, "
        "switched by %s, bubble of %u packets",
        r->name, sim_bytes_format(r->packet_bytes, packet), sim_bytes_format(r->flit_bytes, flit),
        r->vcs, r->buffer_flits, r->is_in_cycles ? "cycles" : "addition to the link's",
        latency_text(r, r->hop, latency[0]), latency_text(r, r->credit, latency[1]),
        latency_text(r, r->injection, latency[2]), latency_text(r, r->ejection, latency[3]),
        class_rules[r->class_rule], bindings[r->binding], arbitrations[r->arbitration],
        switchings[r->switching], r->bubble);
    return buffer;
}
