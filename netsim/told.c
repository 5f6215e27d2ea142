#include "netsim/told.h"

#include <stdlib.h>

#include "base/arena.h"
#include "netsim/bytes.h"
#include "netsim/mpi.h"

struct message {
    sim_ps end, start;
    topo_chip_id src, dst;
    double bytes;
};

struct done {
    sim_ps end, start;
    topo_chip_id chip;
    uint32_t place; /* in the order told, which is each chip's own */
    net_op_id op;
};

struct net_told {
    const net_schedule *root;
    struct net_observer observer;
    struct message *message;
    uint32_t messages, message_capacity;
    struct done *done;
    uint32_t dones, done_capacity;
};

net_told *net_told_create(const struct net_observer *observer, const net_schedule *root)
{
    net_told *t = SIM_NEW(net_told, 1);
    t->root = root;
    t->observer = *observer;
    return t;
}

void net_told_destroy(net_told *t)
{
    if (t == NULL) return;
    sim_free(t->message);
    sim_free(t->done);
    sim_free(t);
}

static const struct net_program *program_of(const net_told *t, topo_chip_id chip)
{
    return net_schedule_program(t->root, net_role(t->root, chip));
}

static void keep_message(void *context, topo_chip_id src, topo_chip_id dst, double bytes,
                         sim_ps start_ps, sim_ps end_ps)
{
    net_told *t = context;
    SIM_GROW(t->message, t->message_capacity, t->messages + 1);
    t->message[t->messages++] = (struct message){end_ps, start_ps, src, dst, bytes};
}

static void keep_op(void *context, topo_chip_id chip, const struct net_op *op, sim_ps start_ps,
                    sim_ps end_ps)
{
    net_told *t = context;
    SIM_GROW(t->done, t->done_capacity, t->dones + 1);
    net_op_id id = (net_op_id)(op - program_of(t, chip)->op);
    t->done[t->dones] = (struct done){end_ps, start_ps, chip, t->dones, id};
    t->dones++;
}

struct net_observer net_told_observer(net_told *t)
{
    return (struct net_observer){.context = t,
                                 .wants_classes = t->observer.wants_classes,
                                 .on_message = t->observer.on_message ? keep_message : NULL,
                                 .on_op = t->observer.on_op ? keep_op : NULL};
}

/* All ranks' elements of `bytes` each, in the order of ranks, in place of this rank's. */
static void *gather(void *array, uint32_t *count, uint32_t *capacity, size_t bytes)
{
    struct net_bytes mine = {0}, all = {0};
    net_bytes_put(&mine, array, *count * bytes);
    net_mpi_gather(&mine, &all);
    net_bytes_release(&mine);
    sim_free(array);
    *count = *capacity = (uint32_t)(all.count / bytes);
    return all.data;
}

void net_told_share(net_told *t)
{
    t->message = gather(t->message, &t->messages, &t->message_capacity, sizeof *t->message);
    t->done = gather(t->done, &t->dones, &t->done_capacity, sizeof *t->done);
}

static int by_end(const void *left, const void *right)
{
    const struct message *a = left, *b = right;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst) return a->dst < b->dst ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

static int by_end_and_chip(const void *left, const void *right)
{
    const struct done *a = left, *b = right;
    if (a->end != b->end) return a->end < b->end ? -1 : 1;
    if (a->chip != b->chip) return a->chip < b->chip ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

void net_told_pass_on(net_told *t)
{
    const struct net_observer *o = &t->observer;
    if (t->messages > 0) qsort(t->message, t->messages, sizeof *t->message, by_end);
    if (t->dones > 0) qsort(t->done, t->dones, sizeof *t->done, by_end_and_chip);
    for (uint32_t i = 0; i < t->messages; i++) {
        const struct message *m = &t->message[i];
        o->on_message(o->context, m->src, m->dst, m->bytes, m->start, m->end);
    }
    for (uint32_t i = 0; i < t->dones; i++) {
        const struct done *d = &t->done[i];
        o->on_op(o->context, d->chip, &program_of(t, d->chip)->op[d->op], d->start, d->end);
    }
}
