#include "netsim/router.h"

#include <string.h>

/* Cycles of the BookSim routers: netsim/router.h; measured with BookSim2 commit 28f4329, whose
 * iq_router takes 3 cycles from grant to grant, 2 into and 3 out of the network. */
#define BOOKSIM                                                                                    \
    .is_in_cycles = true, .hop = 3, .credit = 2, .injection = 2, .ejection = 3,                    \
    .is_one_port = true, .is_injection_buffered = true, .binding = NET_VC_EARLY, .flit_bytes = 32, \
    .vcs = 4

static const struct net_router routers[] = {
    {.name = "tpu", .packet_bytes = 4096, .flit_bytes = 4096},
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
