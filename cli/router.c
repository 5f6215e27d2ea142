#include "cli/router.h"

#include <string.h>

#include "cli/options.h"
#include "netsim/packet.h"

bool cli_router_option(struct cli_router *asked, const char *name, const char *value)
{
    bool is_preset = strcmp(name, "router") == 0, is_unchecked = strcmp(name, "unchecked") == 0;
    bool is_audited = strcmp(name, "audit") == 0;
    int parameter = 0;
    while (net_router_parameters[parameter] != NULL &&
           strcmp(net_router_parameters[parameter], name) != 0)
        parameter++;
    if (!is_preset && !is_unchecked && !is_audited && net_router_parameters[parameter] == NULL)
        return false;
    asked->is_any = true;
    if (is_preset)
        asked->preset = value;
    else if (is_unchecked)
        asked->is_unchecked = true;
    else if (is_audited)
        asked->is_audited = true;
    else
        asked->value[parameter] = value;
    return true;
}

static enum sim_status find_preset(const char *name, struct sim_error *err, struct net_router *out)
{
    const struct net_router *list = net_router_list();
    const char *names[16];
    uint32_t count = 0;
    int choice;
    while (list[count].name != NULL && count + 1 < sizeof names / sizeof names[0]) {
        names[count] = list[count].name;
        count++;
    }
    names[count] = NULL;
    SIM_TRY(cli_choice("--router", name, names, err, &choice));
    *out = list[choice];
    return SIM_OK;
}

enum sim_status cli_router_make(const struct cli_router *asked, const topo *t,
                                struct sim_error *err, struct net_router *out)
{
    SIM_TRY(find_preset(asked->preset != NULL ? asked->preset : "tpu", err, out));
    out->is_unchecked = asked->is_unchecked;
    out->is_audited = asked->is_audited;
    for (int i = 0; i < CLI_ROUTER_PARAMETERS; i++) {
        const char *parameter = net_router_parameters[i];
        if (asked->value[i] == NULL) continue;
        enum sim_status status = net_router_set(out, parameter, asked->value[i], err);
        if (status != SIM_OK) return cli_option_error(parameter, status, err);
    }
    return net_packet_check(t, out, err, out);
}
