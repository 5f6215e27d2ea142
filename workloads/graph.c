#include "workloads/graph.h"

#include <assert.h>
#include <string.h>

#include "base/arena.h"
#include "collectives/choice.h"
#include "workloads/step_parts.h"

const char *const wl_kind_names[] = {"attention projections",
                                     "attention kernel",
                                     "mlp matmuls",
                                     "head matmul",
                                     "embedding",
                                     "norms",
                                     "rotation",
                                     "activation",
                                     "residuals",
                                     "loss",
                                     "reduction additions",
                                     "optimizer",
                                     NULL};
const char *const wl_pass_names[] = {"forward", "recompute", "backward", "update", NULL};
const char *const wl_traffic_names[] = {"weights", "activations", "gradients",
                                        "scalars", "saved",       NULL};

const char *wl_graph_axis_name(uint32_t axis)
{
    if (axis < WL_AXES) return wl_axis_names[axis];
    return axis == WL_AXIS_ALL ? "all" : axis == WL_AXIS_HOST ? "host" : "kv copies";
}

/* ---- classes ---- */

static bool same_class(const struct wl_class *a, const struct wl_class *b)
{
    if (a->is_compute != b->is_compute) return false;
    if (a->is_compute) return a->kind == b->kind && a->pass == b->pass;
    return a->axis == b->axis && a->op == b->op && a->traffic == b->traffic;
}

static uint32_t class_of(struct wl_graph *g, const struct wl_class *wanted)
{
    for (size_t i = 0; i < g->class_count; i++)
        if (same_class(&g->class[i], wanted)) return (uint32_t)i;
    SIM_GROW(g->class, g->class_capacity, g->class_count + 1);
    g->class[g->class_count] = *wanted;
    return (uint32_t)g->class_count++;
}

/* ---- operations ---- */

static net_op_id append(struct wl_graph *g, struct net_op op, uint32_t class_id, uint32_t async_id)
{
    op.guard = op.chunk = NET_NONE;
    op.label = class_id;
    net_op_id id = net_op_add(g->schedule, 0, op);
    assert(id == g->op_count);
    SIM_GROW(g->op, g->op_capacity, g->op_count + 2);
    g->op[g->op_count++] = (struct wl_graph_op){
        .class_id = class_id,
        .async_id = async_id,
        .follows = NET_NONE,
        .wait_begin = (uint32_t)g->wait_count,
    };
    return id;
}

void wl_graph_wait(struct wl_graph *g, net_op_id op)
{
    if (op == NET_NONE) return;
    SIM_GROW(g->pending, g->pending_capacity, g->pending_count + 1);
    g->pending[g->pending_count++] = op;
}

net_op_id wl_graph_compute(struct wl_graph *g, enum wl_kind kind, struct wl_work work)
{
    uint32_t class_id =
        class_of(g, &(struct wl_class){.is_compute = true, .kind = kind, .pass = g->pass});
    sim_ps duration_ps = wl_work_ps(&g->rates, &work);
    net_op_id op = append(g, (struct net_op){.kind = NET_OP_COMPUTE, .duration_ps = duration_ps},
                          class_id, NET_NONE);
    net_op_after(g->schedule, 0, op, g->last_compute);
    for (size_t i = 0; i < g->pending_count; i++) {
        net_op_after(g->schedule, 0, op, g->pending[i]);
        SIM_GROW(g->wait, g->wait_capacity, g->wait_count + 1);
        g->wait[g->wait_count++] = g->pending[i];
    }
    g->pending_count = 0;
    g->last_compute = op;
    struct wl_class *class = &g->class[class_id];
    class->count++;
    class->flops += work.flops;
    class->bytes += work.bytes;
    class->compute_ps += duration_ps;
    g->executed_flops += work.flops;
    g->compute_ps += duration_ps;
    return op;
}

net_op_id wl_graph_elementwise(struct wl_graph *g, enum wl_kind kind, double bytes)
{
    return wl_graph_compute(g, kind, (struct wl_work){.unit = WL_UNIT_NONE, .bytes = bytes});
}

/* ---- collectives ---- */

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* The first t / K ranks of each t: the innermost digits of the tensor group. The whole group where
 * that cannot be written as digits. */
static struct topo_group copies_group(const struct wl_study *study)
{
    const struct topo_group *tensor = &study->axis[WL_TENSOR].group;
    uint64_t heads = study->model.kv_heads;
    struct topo_group copies = {.size = 1};
    if (tensor->size <= heads) return copies;
    uint32_t left = (uint32_t)(tensor->size / heads);
    for (uint32_t i = 0; i < tensor->factor_count && left > 1; i++) {
        struct topo_factor factor = tensor->factor[i];
        factor.extent = common_divisor(factor.extent, left);
        left /= factor.extent;
        copies.size *= factor.extent;
        if (factor.extent > 1) copies.factor[copies.factor_count++] = factor;
    }
    return left == 1 ? copies : *tensor;
}

static struct topo_group group_of(const struct wl_graph *g, uint32_t axis)
{
    if (axis == WL_AXIS_ALL) return topo_group_all(g->study->topology);
    if (axis == WL_AXIS_COPIES) return copies_group(g->study);
    return g->study->axis[axis].group;
}

/* One step of a ring both ways: half of the bytes to the next rank and half to the one before,
 * along a cycle where the group has one. A line's ends reach each other over the line. */
static net_schedule *build_exchange(const topo *t, const struct topo_group *group, double bytes)
{
    uint32_t n = group->size;
    uint32_t *at = SIM_NEW(uint32_t, n), *next = SIM_NEW(uint32_t, n), *last = SIM_NEW(uint32_t, n);
    (void)topo_group_cycle(t, group, at);
    for (uint32_t i = 0; i < n; i++) {
        next[at[i]] = at[(i + 1) % n];
        last[at[(i + 1) % n]] = at[i];
    }
    net_schedule *s = net_schedule_create(t, group);
    net_schedule_add_program(s);
    uint32_t to_next = net_peer_ranks(s, next), to_last = net_peer_ranks(s, last);
    const struct net_op base = {.guard = NET_NONE, .chunk = NET_NONE};
    for (uint32_t side = 0; side < 2; side++) {
        struct net_op send = base, receive = base;
        send.kind = NET_OP_SEND;
        send.peer = side == 0 ? to_next : to_last;
        receive.kind = NET_OP_RECEIVE;
        receive.peer = side == 0 ? to_last : to_next;
        send.tag = receive.tag = side;
        send.bytes = bytes / 2;
        net_op_add(s, 0, send);
        net_op_add(s, 0, receive);
    }
    net_schedule_seal(s);
    sim_free(at);
    sim_free(next);
    sim_free(last);
    return s;
}

/* Calls of equal shape share one schedule. */
static const net_schedule *callee_of(struct wl_graph *g, const struct wl_callee *wanted,
                                     const struct topo_group *group)
{
    for (size_t i = 0; i < g->callee_count; i++) {
        const struct wl_callee *c = &g->callee[i];
        if (c->op == wanted->op && c->axis == wanted->axis &&
            c->is_exchange == wanted->is_exchange && c->bytes == wanted->bytes)
            return c->schedule;
    }
    struct wl_callee made = *wanted;
    const topo *t = g->study->topology;
    if (made.is_exchange) {
        made.schedule = build_exchange(t, group, made.bytes);
    } else {
        struct coll_spec spec = {.op = made.op, .group = *group, .bytes = made.bytes};
        spec.algorithm = coll_choose(t, &spec);
        enum sim_status status = coll_build(t, &spec, g->err, &made.schedule);
        if (status != SIM_OK) {
            if (g->status == SIM_OK) g->status = status;
            return NULL;
        }
    }
    SIM_GROW(g->callee, g->callee_capacity, g->callee_count + 1);
    g->callee[g->callee_count++] = made;
    return made.schedule;
}

static bool is_async(const struct wl_graph *g, net_op_id op)
{
    return op != NET_NONE && g->op[op].async_id != NET_NONE;
}

static net_op_id call(struct wl_graph *g, const struct wl_callee *wanted,
                      const struct topo_group *group, enum wl_traffic traffic, net_op_id after,
                      net_op_id after_too)
{
    if (group->size <= 1) return NET_NONE;
    const net_schedule *callee = callee_of(g, wanted, group);
    if (callee == NULL) return NET_NONE;
    uint32_t class_id =
        class_of(g, &(struct wl_class){.axis = wanted->axis, .op = wanted->op, .traffic = traffic});
    net_op_id op = append(
        g, (struct net_op){.kind = NET_OP_CALL, .callee = callee, .call_id = g->call_count++},
        class_id, g->async_count++);
    net_op_after(g->schedule, 0, op, after);
    net_op_after(g->schedule, 0, op, after_too);
    g->op[op].follows = is_async(g, after_too) ? after_too : is_async(g, after) ? after : NET_NONE;
    g->class[class_id].count++;
    g->class[class_id].bytes += wanted->bytes;
    g->sent_bytes += wanted->bytes * coll_bus_factor(wanted->op, group->size);
    return op;
}

net_op_id wl_graph_collective(struct wl_graph *g, uint32_t axis, enum coll_op op,
                              enum wl_traffic traffic, double bytes, net_op_id after,
                              net_op_id after_too)
{
    struct topo_group group = group_of(g, axis);
    return call(g, &(struct wl_callee){.op = op, .axis = axis, .bytes = bytes}, &group, traffic,
                after, after_too);
}

net_op_id wl_graph_exchange(struct wl_graph *g, double bytes, net_op_id after, net_op_id after_too)
{
    struct topo_group group = group_of(g, WL_TENSOR);
    return call(g,
                &(struct wl_callee){
                    .op = COLL_PERMUTE, .axis = WL_TENSOR, .is_exchange = true, .bytes = bytes},
                &group, WL_TRAFFIC_ACTIVATIONS, after, after_too);
}

/* ---- PCIe ---- */

static net_op_id transfer(struct wl_graph *g, enum coll_op way, double bytes, net_op_id *last,
                          sim_ps *total_ps, net_op_id after, net_op_id after_too)
{
    if (bytes <= 0) return NET_NONE;
    sim_ps duration_ps = wl_transfer_ps(&g->rates, bytes);
    uint32_t class_id = class_of(
        g, &(struct wl_class){.axis = WL_AXIS_HOST, .op = way, .traffic = WL_TRAFFIC_SAVED});
    net_op_id op = append(g, (struct net_op){.kind = NET_OP_COMPUTE, .duration_ps = duration_ps},
                          class_id, g->async_count++);
    g->op[op].follows = is_async(g, after_too) ? after_too : *last;
    net_op_after(g->schedule, 0, op, *last);
    net_op_after(g->schedule, 0, op, after);
    net_op_after(g->schedule, 0, op, after_too);
    *last = op;
    *total_ps += duration_ps;
    g->class[class_id].count++;
    g->class[class_id].bytes += bytes;
    return op;
}

net_op_id wl_graph_save(struct wl_graph *g, double bytes, net_op_id after)
{
    return transfer(g, COLL_REDUCE_SCATTER, bytes, &g->last_save, &g->save_ps, after, NET_NONE);
}

net_op_id wl_graph_fetch(struct wl_graph *g, double bytes, net_op_id after, net_op_id after_too)
{
    return transfer(g, COLL_ALL_GATHER, bytes, &g->last_fetch, &g->fetch_ps, after, after_too);
}

/* ---- the whole ---- */

enum sim_status wl_graph_create(const struct wl_study *study, struct sim_error *err,
                                struct wl_graph *out)
{
    struct wl_graph g = {.study = study,
                         .rates = wl_rates_of(study),
                         .last_compute = NET_NONE,
                         .last_save = NET_NONE,
                         .last_fetch = NET_NONE,
                         .status = SIM_OK,
                         .err = err};
    struct topo_group all = topo_group_all(study->topology);
    g.schedule = net_schedule_create(study->topology, &all);
    net_schedule_add_program(g.schedule);
    wl_step_parts(&g);
    if (g.status != SIM_OK) {
        enum sim_status status = g.status;
        wl_graph_release(&g);
        return status;
    }
    g.op[g.op_count].wait_begin = (uint32_t)g.wait_count;
    net_schedule_seal(g.schedule);
    *out = g;
    return SIM_OK;
}

void wl_graph_release(struct wl_graph *g)
{
    net_schedule_destroy(g->schedule);
    for (size_t i = 0; i < g->callee_count; i++)
        net_schedule_destroy(g->callee[i].schedule);
    sim_free(g->callee);
    sim_free(g->op);
    sim_free(g->wait);
    sim_free(g->class);
    sim_free(g->pending);
    *g = (struct wl_graph){0};
}
