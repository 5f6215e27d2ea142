#include "netsim/ties.h"

#include "base/arena.h"

struct net_ties net_ties_none(const topo *t)
{
    struct net_ties ties = {.above = SIM_NEW(uint32_t, topo_chips(t)),
                            .sets = topo_chips(t) - topo_failed_chips(t)};
    for (topo_chip_id c = 0; c < topo_chips(t); c++)
        ties.above[c] = c;
    return ties;
}

void net_ties_watch_links(struct net_ties *ties, const topo *t)
{
    ties->user = SIM_NEW(topo_chip_id, topo_links(t));
    for (topo_link_id l = 0; l < topo_links(t); l++)
        ties->user[l] = TOPO_NONE;
}

void net_ties_release(struct net_ties *t)
{
    sim_free(t->above);
    sim_free(t->user);
    *t = (struct net_ties){0};
}

topo_chip_id net_ties_root(const struct net_ties *t, topo_chip_id chip)
{
    while (t->above[chip] != chip) {
        t->above[chip] = t->above[t->above[chip]];
        chip = t->above[chip];
    }
    return chip;
}

void net_tie(struct net_ties *t, topo_chip_id chip, topo_chip_id other)
{
    topo_chip_id a = net_ties_root(t, chip), b = net_ties_root(t, other);
    if (a == b) return;
    t->above[b] = a;
    t->sets--;
}

void net_tie_link(struct net_ties *t, topo_chip_id chip, topo_link_id link)
{
    if (t->user[link] == TOPO_NONE)
        t->user[link] = chip;
    else
        net_tie(t, chip, t->user[link]);
}
