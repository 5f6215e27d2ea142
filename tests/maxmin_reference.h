/*
 * Max-min rates the plain way: all links looked at for each level, nothing kept. What the solver
 * must give to the last bit.
 */
#ifndef PODSIM_TESTS_MAXMIN_REFERENCE_H
#define PODSIM_TESTS_MAXMIN_REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "netsim/maxmin.h"

struct reference_link {
    double residual, key;
    uint32_t unfixed, taken;
    bool is_full;
};

/* Fix the flows over full links at `rate`, and take what they get from all their links. */
static void reference_take(const struct net_maxmin *w, const bool *is_in, double *rate,
                           double level, struct reference_link *link)
{
    for (uint32_t f = 0; f < w->flows; f++) {
        const struct net_maxmin_path *p = &w->path[f];
        bool is_stopped = false;
        if (!is_in[f] || rate[f] >= 0) continue;
        for (uint32_t h = p->begin; h < p->begin + p->length; h++)
            is_stopped = is_stopped || link[w->hop_link[h]].is_full;
        if (!is_stopped) continue;
        rate[f] = level;
        for (uint32_t h = p->begin; h < p->begin + p->length; h++)
            link[w->hop_link[h]].taken++;
    }
    for (uint32_t l = 0; l < w->links; l++) {
        if (link[l].taken == 0) continue;
        link[l].residual -= level * link[l].taken;
        link[l].unfixed -= link[l].taken;
        link[l].taken = 0;
        double share = link[l].residual / link[l].unfixed;
        link[l].key = share > level ? share : level;
    }
}

/* @param is_in [flows] @param rate [flows] out @param link [links] scratch */
static void reference_solve(const struct net_maxmin *w, const bool *is_in, double *rate,
                            struct reference_link *link)
{
    for (uint32_t l = 0; l < w->links; l++)
        link[l] = (struct reference_link){.residual = w->link[l].capacity};
    for (uint32_t f = 0; f < w->flows; f++) {
        rate[f] = -1;
        for (uint32_t h = 0; is_in[f] && h < w->path[f].length; h++)
            link[w->hop_link[w->path[f].begin + h]].unfixed++;
    }
    for (uint32_t l = 0; l < w->links; l++)
        link[l].key = link[l].residual / link[l].unfixed;
    for (;;) {
        double level = INFINITY;
        for (uint32_t l = 0; l < w->links; l++)
            if (link[l].unfixed > 0 && link[l].key < level) level = link[l].key;
        if (level == INFINITY) return;
        for (uint32_t l = 0; l < w->links; l++)
            link[l].is_full = link[l].unfixed > 0 && link[l].key == level;
        reference_take(w, is_in, rate, level, link);
    }
}

#endif
