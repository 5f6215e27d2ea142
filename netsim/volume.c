#include "netsim/volume.h"

#include <math.h>

#include "base/arena.h"
#include "netsim/usage.h"

#define LOOKS 300000 /* operations that are looked at, about */

/* While chips are asked. */
struct survey {
    struct net_schedules all;
    struct net_volume *own;  /* [all.count] what the chip at hand does in each */
    topo_chip_id *own_of;    /* [all.count] the chip that `own` is of; TOPO_NONE */
    struct topo_paths paths; /* room */
    double packet_bytes;
};

/* Links that a message's packets pass, on the paths that were found last. */
static double packet_hops(const struct survey *v, double bytes)
{
    const struct topo_paths *p = &v->paths;
    double hops = 0;
    for (uint32_t i = 0; i < p->count; i++)
        hops += ceil(bytes * p->share[i] / v->packet_bytes) * (p->begin[i + 1] - p->begin[i]);
    return hops;
}

static void add(struct net_volume *sum, struct net_volume v)
{
    sum->messages += v.messages;
    sum->packet_hops += v.packet_hops;
}

static struct net_volume of_chip(struct survey *v, const net_schedule *s, topo_chip_id chip)
{
    const struct net_program *p = net_schedule_program(s, net_role(s, chip));
    struct net_volume sum = {0};
    uint32_t index = 0, peer = NET_NONE;
    while (v->all.schedule[index] != s)
        index++;
    if (v->own_of[index] == chip) return v->own[index];
    for (net_op_id id = 0; id < p->op_count; id++) {
        const struct net_op *op = &p->op[id];
        bool is_send = op->kind == NET_OP_SEND;
        if ((!is_send && op->kind != NET_OP_CALL) || !net_op_exists(s, chip, op)) continue;
        if (!is_send) {
            add(&sum, of_chip(v, op->callee, chip)); /* and the paths are others */
            peer = NET_NONE;
            continue;
        }
        if (op->peer != peer) net_paths_to_peer(s, chip, op->peer, &v->paths);
        peer = op->peer;
        add(&sum, (struct net_volume){1, packet_hops(v, op->bytes)});
    }
    v->own_of[index] = chip;
    return v->own[index] = sum;
}

static uint64_t ops_of_a_chip(const struct net_schedules *all)
{
    uint64_t ops = 0;
    for (uint32_t i = 0; i < all->count; i++) {
        uint32_t most = 0;
        for (uint32_t p = 0; p < net_schedule_programs(all->schedule[i]); p++) {
            uint32_t count = net_schedule_program(all->schedule[i], p)->op_count;
            if (count > most) most = count;
        }
        ops += most;
    }
    return ops;
}

struct net_volume net_volume_of(const net_schedule *root, double packet_bytes)
{
    const topo *t = net_schedule_topo(root);
    struct survey v = {.all = net_schedules_of(root), .packet_bytes = packet_bytes};
    struct net_volume sum = {0};
    uint32_t chips = topo_chips(t), asked = 0;
    uint64_t step = chips * ops_of_a_chip(&v.all) / LOOKS | 1; /* odd: no digit is left out */
    v.own = SIM_NEW(struct net_volume, v.all.count);
    v.own_of = SIM_NEW(topo_chip_id, v.all.count);
    for (uint32_t i = 0; i < v.all.count; i++)
        v.own_of[i] = TOPO_NONE;
    for (uint64_t c = 0; c < chips; c += step, asked++)
        if (!topo_chip_is_failed(t, (topo_chip_id)c)) add(&sum, of_chip(&v, root, (uint32_t)c));
    topo_paths_release(&v.paths);
    sim_free(v.own);
    sim_free(v.own_of);
    sim_free(v.all.schedule);
    double scale = (double)chips / asked;
    return (struct net_volume){sum.messages * scale, sum.packet_hops * scale};
}
