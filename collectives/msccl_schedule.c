/*
 * From thread blocks to programs: one per rank. A step is an operation, or two when it receives and
 * sends; what runs on the chip alone takes no time.
 *
 *     s                send            rcs             receive, then send
 *     r                receive         rrs, rrcs       reduce, then send
 *     rrc              reduce          cpy, re, nop    join
 *
 * Operations are written in the algorithm's order, so that what they wait for has smaller ids.
 */
#include "base/arena.h"
#include "collectives/coll_internal.h"
#include "collectives/msccl_internal.h"

struct compiler {
    const coll_msccl *a;
    net_schedule *s;
    double chunk_bytes;
    net_op_id *last; /* [step_count] operation that ends each step */
    uint32_t *tag;   /* [step_count] of a step that receives */
    uint32_t *peer;  /* [block_count x 2] it sends to and receives from, or NET_NONE */
};

enum sim_status coll_msccl_fits(const coll_msccl *a, const topo *t, const struct coll_spec *spec,
                                struct sim_error *err)
{
    if (a->op != COLL_OPS && a->op != spec->op)
        return sim_error_at(err, SIM_EDATA, a->file, a->line, 0,
                            "algorithm \"%s\" does %s, want %s", a->name, coll_op_names[a->op],
                            coll_op_names[spec->op]);
    if (a->gpus != spec->group.size)
        return sim_error_at(err, SIM_EDATA, a->file, a->line, 0,
                            "algorithm \"%s\" is for %u gpus, a group has %u chips", a->name,
                            a->gpus, spec->group.size);
    if (topo_failed_chips(t) > 0)
        return sim_error_at(err, SIM_EDATA, a->file, a->line, 0,
                            "algorithm \"%s\" needs a slice without failed chips", a->name);
    return SIM_OK;
}

static void add_programs(struct compiler *c)
{
    uint32_t *role = SIM_NEW(uint32_t, c->a->gpus);
    for (uint32_t g = 0; g < c->a->gpus; g++)
        role[g] = net_schedule_add_program(c->s);
    net_schedule_set_roles(c->s, role);
    sim_free(role);
    for (uint32_t b = 0; b < c->a->block_count; b++) {
        const struct msccl_block *block = &c->a->block[b];
        for (int end = 0; end < 2; end++) {
            int32_t peer = end == 0 ? block->send : block->receive;
            uint32_t rank = (uint32_t)peer;
            c->peer[2 * b + end] = peer >= 0 ? net_peer_role(c->s, &rank, 1) : NET_NONE;
        }
    }
}

/* Every receive of a gpu has a tag of its own. */
static void number_receives(struct compiler *c)
{
    uint32_t *next = SIM_NEW(uint32_t, c->a->gpus);
    for (uint32_t i = 0; i < c->a->step_count; i++)
        if (msccl_traits[c->a->step[i].type].receives)
            c->tag[i] = next[c->a->block[c->a->step[i].block].gpu]++;
    sim_free(next);
}

/* An operation of step i after what the step waits for. */
static net_op_id add_op(struct compiler *c, uint32_t i, struct net_op op)
{
    const struct msccl_step *step = &c->a->step[i];
    const struct msccl_block *block = &c->a->block[step->block];
    op.guard = NET_NONE;
    op.chunk = NET_NONE;
    op.bytes = step->count * c->chunk_bytes;
    op.label = i;
    net_op_id id = net_op_add(c->s, block->gpu, op);
    if (i > block->step_begin) net_op_after(c->s, block->gpu, id, c->last[i - 1]);
    if (step->dep != NET_NONE) net_op_after(c->s, block->gpu, id, c->last[step->dep]);
    return id;
}

static void compile_step(struct compiler *c, uint32_t i)
{
    const struct msccl_step *step = &c->a->step[i];
    const struct msccl_traits *traits = &msccl_traits[step->type];
    net_op_id received = NET_NONE;
    if (traits->receives) {
        received = add_op(c, i,
                          (struct net_op){.kind = traits->adds ? NET_OP_REDUCE : NET_OP_RECEIVE,
                                          .peer = c->peer[2 * step->block + 1],
                                          .tag = c->tag[i]});
        c->last[i] = received;
    }
    if (traits->sends) {
        c->last[i] = add_op(c, i,
                            (struct net_op){.kind = NET_OP_SEND,
                                            .peer = c->peer[2 * step->block],
                                            .tag = c->tag[step->receiver]});
        net_op_after(c->s, c->a->block[step->block].gpu, c->last[i], received);
    }
    if (!traits->receives && !traits->sends)
        c->last[i] = add_op(c, i, (struct net_op){.kind = NET_OP_JOIN});
}

enum sim_status coll_msccl_schedule(const coll_msccl *a, const topo *t,
                                    const struct coll_spec *spec, struct sim_error *err,
                                    net_schedule **out)
{
    SIM_TRY(coll_msccl_fits(a, t, spec, err));
    struct topo_group group = coll_group_trimmed(&spec->group);
    struct compiler c = {.a = a, .chunk_bytes = spec->bytes / a->chunks};
    struct msccl_order order = msccl_order_make(a, NULL, 0);
    c.s = net_schedule_create(t, &group);
    c.last = SIM_NEW(net_op_id, a->step_count);
    c.tag = SIM_NEW(uint32_t, a->step_count);
    c.peer = SIM_NEW(uint32_t, 2 * (size_t)a->block_count);
    add_programs(&c);
    number_receives(&c);
    for (uint32_t k = 0; k < order.count; k++)
        compile_step(&c, order.sequence[k]);
    if (spec->is_one_group) net_schedule_set_one_group(c.s, spec->one_group_of);
    net_schedule_seal(c.s);
    msccl_order_release(&order);
    sim_free(c.last);
    sim_free(c.tag);
    sim_free(c.peer);
    *out = c.s;
    return SIM_OK;
}
