/*
 * Running the graph and keeping the books.
 *
 * The books are kept on line, per chip: where the compute stream stands, how long each class ran
 * and how much of the stream's idle time it caused. When a compute operation starts later than its
 * predecessor ended, the gap is cut where the collectives and transfers it waits for (and those
 * they followed) ended, and each stretch is put down to the one that ended it. So compute, exposed
 * collectives and exposed transfers add up to the step on every chip, and nothing is exposed for
 * longer than it ran.
 *
 * State: one end time per chip and asynchronous operation, two sums per chip and class.
 */
#include "workloads/step.h"

#include <assert.h>

#include "base/arena.h"
#include "base/quantity.h"

struct books {
    const struct wl_graph *graph;
    const struct wl_step_observer *observer; /* may be NULL */
    const struct net_op *first_op;
    uint32_t chips;
    sim_ps *stream_end_ps; /* [chips] */
    sim_ps *end_ps;        /* [chips * async_count] */
    sim_ps *total_ps;      /* [chips * class_count] */
    sim_ps *exposed_ps;    /* [chips * class_count] */
};

static void books_init(struct books *b, const struct wl_graph *graph,
                       const struct wl_step_observer *observer)
{
    uint32_t chips = topo_chips(graph->study->topology);
    size_t classes = graph->class_count;
    *b = (struct books){
        .graph = graph,
        .observer = observer,
        .first_op = net_schedule_program(graph->schedule, 0)->op,
        .chips = chips,
        .stream_end_ps = SIM_NEW(sim_ps, chips),
        .end_ps = SIM_NEW(sim_ps, (size_t)chips * graph->async_count),
        .total_ps = SIM_NEW(sim_ps, chips * classes),
        .exposed_ps = SIM_NEW(sim_ps, chips * classes),
    };
}

static void books_release(struct books *b)
{
    sim_free(b->stream_end_ps);
    sim_free(b->end_ps);
    sim_free(b->total_ps);
    sim_free(b->exposed_ps);
}

/* The first end after `ps` among `op` and what it follows; keeps the earliest of both in `best`. */
static void earliest_end(const struct books *b, const sim_ps *end_ps, net_op_id op, sim_ps ps,
                         net_op_id *best)
{
    const struct wl_graph *g = b->graph;
    for (; op != NET_NONE; op = g->op[op].follows) {
        sim_ps end = end_ps[g->op[op].async_id];
        if (end > ps && (*best == NET_NONE || end < end_ps[g->op[*best].async_id])) *best = op;
    }
}

/* The stream of `chip` stood still from `ps` to `end_ps`, before operation `op`: each stretch goes
 * to what ended next. */
static void account(struct books *b, topo_chip_id chip, size_t op, sim_ps ps, sim_ps end_ps)
{
    const struct wl_graph *g = b->graph;
    const sim_ps *async_end_ps = &b->end_ps[(size_t)chip * g->async_count];
    while (ps < end_ps) {
        net_op_id next = NET_NONE;
        for (uint32_t i = g->op[op].wait_begin; i < g->op[op + 1].wait_begin; i++)
            earliest_end(b, async_end_ps, g->wait[i], ps, &next);
        assert(next != NET_NONE);
        sim_ps until_ps = async_end_ps[g->op[next].async_id];
        b->exposed_ps[chip * g->class_count + g->op[next].class_id] += until_ps - ps;
        ps = until_ps;
    }
}

static void on_op(void *context, topo_chip_id chip, const struct net_op *net_op, sim_ps start_ps,
                  sim_ps end_ps)
{
    struct books *b = context;
    const struct wl_graph *g = b->graph;
    size_t op = (size_t)(net_op - b->first_op), classes = chip * g->class_count;
    const struct wl_graph_op *what = &g->op[op];
    b->total_ps[classes + what->class_id] += end_ps - start_ps;
    if (b->observer != NULL && b->observer->chip == chip)
        b->observer->on_op(b->observer->context, &g->class[what->class_id], start_ps, end_ps);
    if (what->async_id != NET_NONE) {
        b->end_ps[(size_t)chip * g->async_count + what->async_id] = end_ps;
        return;
    }
    account(b, chip, op, b->stream_end_ps[chip], start_ps);
    b->stream_end_ps[chip] = end_ps;
}

static topo_chip_id slowest_chip(const struct books *b)
{
    topo_chip_id slowest = 0;
    for (topo_chip_id c = 1; c < b->chips; c++)
        if (b->stream_end_ps[c] > b->stream_end_ps[slowest]) slowest = c;
    return slowest;
}

/* ---- results ---- */

/* No chip computes faster than its stream, none moves its host tensors faster than PCIe, and the
 * bytes that all chips together must send each take at least one link. */
static struct wl_bound bound_of(const struct wl_graph *g)
{
    const topo *t = g->study->topology;
    double links_bytes_per_s = 0;
    for (topo_link_id l = 0; l < topo_links(t); l++)
        links_bytes_per_s += topo_link_rate(t, l);
    struct wl_bound bound = {.compute_s = sim_ps_to_s(g->compute_ps),
                             .save_s = sim_ps_to_s(g->save_ps),
                             .fetch_s = sim_ps_to_s(g->fetch_ps)};
    if (g->sent_bytes > 0) bound.network_s = g->sent_bytes * topo_chips(t) / links_bytes_per_s;
    bound.time_s = bound.compute_s;
    bound.limited_by = "compute";
    if (bound.network_s > bound.time_s) {
        bound.time_s = bound.network_s;
        bound.limited_by = "network";
    }
    double host_s = bound.save_s > bound.fetch_s ? bound.save_s : bound.fetch_s;
    if (host_s > bound.time_s) {
        bound.time_s = host_s;
        bound.limited_by = "PCIe";
    }
    return bound;
}

static void fill_parts(const struct wl_graph *g, const struct books *b, struct wl_step *step)
{
    step->part_count = (uint32_t)g->class_count;
    step->part = SIM_NEW(struct wl_part, g->class_count);
    for (uint32_t i = 0; i < step->part_count; i++) {
        struct wl_part *part = &step->part[i];
        part->class = g->class[i];
        part->total_s = sim_ps_to_s(part->class.compute_ps);
        if (b == NULL) continue;
        part->total_s = sim_ps_to_s(b->total_ps[step->chip * g->class_count + i]);
        part->exposed_s = sim_ps_to_s(b->exposed_ps[step->chip * g->class_count + i]);
        if (part->class.is_compute) continue;
        if (part->class.axis == WL_AXIS_HOST)
            step->exposed_host_s += part->exposed_s;
        else
            step->exposed_comm_s += part->exposed_s;
    }
}

static void fill_rates(const struct wl_graph *g, struct wl_step *step)
{
    const struct wl_study *study = g->study;
    double chips = topo_chips(study->topology);
    double batch = (double)study->batch, sequence = (double)study->sequence;
    step->tokens_per_s = batch * sequence / step->step_s;
    step->model_flops = wl_flops_step(&study->model, batch, sequence, study->attention_count);
    step->executed_flops = g->executed_flops * chips;
    step->peak_flops_per_s = study->chip.flops[study->precision];
    step->flops_per_chip_per_s = step->model_flops / chips / step->step_s;
    step->mfu = step->flops_per_chip_per_s / step->peak_flops_per_s;
    step->hfu = step->executed_flops / chips / step->step_s / step->peak_flops_per_s;
}

static enum sim_status check_memory(const struct wl_graph *g, struct sim_error *err)
{
    char need[SIM_QUANTITY_TEXT], have[SIM_QUANTITY_TEXT];
    uint64_t chips = topo_chips(g->study->topology), available = sim_memory_available_bytes();
    uint64_t bytes = chips * (g->async_count + 2 * g->class_count + 1) * sizeof(sim_ps);
    if (available == 0 || bytes <= available) return SIM_OK;
    return sim_error_set(
        err, SIM_ERESOURCE,
        "a step of %zu operations on %llu chips needs %s of memory, this machine has %s",
        g->op_count, (unsigned long long)chips, sim_bytes_format(bytes, need),
        sim_bytes_format(available, have));
}

static enum sim_status simulate(const struct wl_graph *g, const struct wl_step_observer *watcher,
                                sim_progress *progress, struct sim_error *err, struct wl_step *step)
{
    SIM_TRY(check_memory(g, err));
    struct books books;
    books_init(&books, g, watcher);
    bool is_packets = g->study->engine == WL_PACKET;
    if (is_packets)
        net_link_stats_init_packets(&step->links, g->study->topology);
    else
        net_link_stats_init(&step->links, g->study->topology);
    const struct net_options options = {.launch_overhead_ps = g->study->launch_overhead_ps,
                                        .is_unreduced = g->study->is_unreduced,
                                        .is_one_by_one = g->study->is_one_by_one,
                                        .router = is_packets ? &g->study->router : NULL,
                                        .is_partitioned = is_packets,
                                        .progress = progress};
    /* one chip of a class is enough, the lowest, unless another is watched */
    bool is_any = watcher == NULL || watcher->chip == 0;
    const struct net_observer observer = {
        .context = &books, .wants_classes = is_any, .on_op = on_op};
    struct net_result result;
    enum sim_status status =
        net_run(g->schedule, &options, &observer, err, &result, &step->links, &step->stats);
    if (status == SIM_OK) {
        step->chip = slowest_chip(&books);
        step->step_s = sim_ps_to_s(result.time_ps);
        step->is_simulated = true;
        fill_parts(g, &books, step);
    }
    books_release(&books);
    return status;
}

enum sim_status wl_step_run(const struct wl_study *study, const struct wl_step_observer *observer,
                            sim_progress *progress, struct sim_error *err, struct wl_step *out)
{
    struct wl_graph graph;
    SIM_TRY(wl_graph_create(study, err, &graph));
    struct wl_step step = {.bound = bound_of(&graph), .memory = wl_memory_of(study)};
    enum sim_status status = SIM_OK;
    step.compute_s = step.bound.compute_s;
    if (study->engine != WL_BOUND) {
        status = simulate(&graph, observer, progress, err, &step);
    } else {
        step.step_s = step.bound.time_s;
        fill_parts(&graph, NULL, &step);
    }
    if (status == SIM_OK) {
        fill_rates(&graph, &step);
        *out = step;
    } else {
        wl_step_release(&step);
    }
    wl_graph_release(&graph);
    return status;
}

void wl_step_release(struct wl_step *step)
{
    sim_free(step->part);
    net_link_stats_release(&step->links);
    step->part = NULL;
}
