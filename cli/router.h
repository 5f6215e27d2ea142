/**
 * Options that choose the packet engine's router.
 */
#ifndef PODSIM_CLI_ROUTER_H
#define PODSIM_CLI_ROUTER_H

#include "netsim/router.h"
#include "topo/topo.h"

/* Rows for an option table; keep them in one block. */
#define CLI_ROUTER_OPTIONS                                                                         \
    {"router", "NAME", "of the packet engine: tpu (default), booksim-a, -ad, -p or -pd"},          \
        {"packet", "BYTES", "a packet carries at most (default: the router's)"},                   \
        {"flit", "BYTES", "buffers and cycles are counted in flits"},                              \
        {"vcs", "N", "virtual channels a link (default: twice what the routing asks for)"},        \
        {"buffer", "FLITS", "a virtual channel (default: enough to keep the link busy)"},          \
        {"hop-latency", "LATENCY", "grant to grant; of tpu: added to the link's"},                 \
        {"credit-latency", "LATENCY", "until a credit is usable; of tpu: added to the link's"},    \
        {"injection-latency", "LATENCY", "into the first router (booksim)"},                       \
        {"ejection-latency", "LATENCY", "out of the last router"},                                 \
        {"class-rule", "RULE",                                                                     \
         "routing (dateline behind the closing link), dateline\n(in front of it) or wrap "         \
         "(fixed)"},                                                                               \
        {"vc-binding", "WHEN", "late (with the link) or early (before it)"},                       \
        {"arbitration", "BY", "round robin by input (two get half each) or by channel"},           \
        {"switching", "BY", "packet (has a link to its end) or flit (others get in between)"},     \
        {"bubble", "PACKETS", "room that packets leave where they enter an axis"},                 \
        {"unchecked", NULL, "take fewer virtual channels than freedom of deadlock needs"},         \
    {                                                                                              \
        "audit", NULL, "see after every window that no packet or credit is lost"                   \
    }

#define CLI_ROUTER_PARAMETERS 13

/** What was asked for; start with zeros. */
struct cli_router {
    const char *preset;
    const char *value[CLI_ROUTER_PARAMETERS]; /* by net_router_parameters[] */
    bool is_unchecked, is_audited, is_any;
};

/** Take one of CLI_ROUTER_OPTIONS; false: `name` is none of them. */
bool cli_router_option(struct cli_router *asked, const char *name, const char *value);
/** The router asked for, fitted to the topology. Errors: SIM_EUSAGE, SIM_EDATA. */
SIM_MUST_CHECK enum sim_status cli_router_make(const struct cli_router *asked, const topo *t,
                                               struct sim_error *err, struct net_router *out);

#endif
