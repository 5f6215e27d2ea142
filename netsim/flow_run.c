/*
 * The flow engine at work: messages are fluids on a calendar.
 *
 * Timers carry an activity's index, or a flow's. One instant is drained completely (an operation of
 * no time may start others) before the links are shared anew.
 */
#include <math.h>
#include <string.h>

#include "base/arena.h"
#include "netsim/calendar.h"
#include "netsim/flow.h"
#include "netsim/executor.h"
#include "netsim/parts.h"
#include "netsim/run_engines.h"
#include "netsim/volume.h"

/* A timer of the current instant, and whose it is. */
struct due {
    uint32_t kind, payload;
    uint32_t frame, op;
};

struct flow_run {
    net_executor x; /* first: hooks are given it */
    net_calendar *calendar;
    net_flow_engine *engine;
    struct due *due, *due_scratch; /* timers of the instant being drained */
    uint32_t due_capacity, due_scratch_capacity;
    topo_link_id *route; /* scratch: classes of a path's links */
    uint32_t route_capacity;
    uint64_t instants;
    const net_schedule *root;
    double messages; /* that the run will have; 0: nobody has asked yet */
};

/* ---- messages ---- */

/* A path's links as classes; borrowed until the next call. */
static const topo_link_id *classes_of_path(struct flow_run *r, uint32_t path, uint32_t *hops)
{
    const struct topo_paths *p = &r->x.paths;
    *hops = p->begin[path + 1] - p->begin[path];
    if (!r->x.symmetry.is_reduced) return p->link + p->begin[path];
    SIM_GROW(r->route, r->route_capacity, *hops);
    for (uint32_t i = 0; i < *hops; i++)
        r->route[i] = net_class_of_link(&r->x.symmetry, p->link[p->begin[path] + i]);
    return r->route;
}

static void start_message(net_executor *x, uint32_t id)
{
    struct flow_run *r = (struct flow_run *)x;
    struct net_activity *a = &x->activity[id];
    const net_schedule *s = x->frame[a->frame].schedule;
    const struct net_op *op = &net_executor_program(x, &x->frame[a->frame], a->chip)->op[a->op];
    const struct net_peer *peer = net_schedule_peer(s, op->peer);
    topo_chip_id from = net_executor_chip(x, a->chip);
    x->messages++;
    topo_link_id link = TOPO_NONE;
    if (peer->port != NET_NONE) link = topo_port_link(x->topology, from, peer->port);
    if (link != TOPO_NONE && a->bytes > 0) { /* the common case: one link */
        link = net_class_of_link(&x->symmetry, link);
        a->paths_left = 1;
        net_flow_start(r->engine, x->now, a->bytes, &link, 1, id);
        return;
    }
    net_executor_route(x, id);
    const struct topo_paths *p = &x->paths;
    bool is_local = p->begin[0] == p->begin[1];
    if (a->bytes == 0 || is_local) {
        net_executor_arrive_without_bytes(x, id,
                                          is_local ? 0 : topo_path_latency_ps(x->topology, p, 0));
        return;
    }
    a->paths_left = p->count;
    for (uint32_t i = 0; i < p->count; i++) {
        uint32_t hops;
        const topo_link_id *route = classes_of_path(r, i, &hops);
        net_flow_start(r->engine, x->now, a->bytes * p->share[i], route, hops, id);
    }
}

/* A flow of a message has left the network; the message has when all of its flows have. */
static void flow_ended(struct flow_run *r, net_flow_id flow)
{
    sim_ps latency;
    uint32_t id = net_flow_end(r->engine, r->x.now, flow, &latency);
    struct net_activity *a = &r->x.activity[id];
    if (latency > SIM_PS_MAX - r->x.now) {
        r->x.is_past_end = true;
        return;
    }
    if (r->x.now + latency > a->arrive_ps) a->arrive_ps = r->x.now + latency;
    if (--a->paths_left > 0) return;
    uint32_t frame = a->frame, chip = a->chip, op = a->op;
    struct net_chain chain = a->chain;
    a->chain.latency_ps += a->arrive_ps - r->x.now;
    net_calendar_add(r->calendar, a->arrive_ps, NET_TIMER_ARRIVAL, id);
    net_executor_complete(&r->x, frame, chip, op, chain);
}

/* ---- the loop ---- */

static void handle(struct flow_run *r, enum net_timer timer, uint32_t payload)
{
    if (timer == NET_TIMER_FLOW) {
        r->x.events++;
        flow_ended(r, payload);
    } else {
        net_executor_timer(&r->x, timer, payload);
    }
    net_executor_run_ready(&r->x);
}

/* Which operation a timer belongs to. */
static struct due due_of(const struct flow_run *r, uint32_t kind, uint32_t payload)
{
    uint32_t id = kind == NET_TIMER_FLOW ? net_flow_owner(r->engine, payload) : payload;
    const struct net_activity *a = &r->x.activity[id];
    return (struct due){kind, payload, a->frame, a->op};
}

static int compare_due(const struct due *a, const struct due *b)
{
    if (a->frame != b->frame) return a->frame < b->frame ? -1 : 1;
    if (a->op != b->op) return a->op < b->op ? -1 : 1;
    return (a->kind > b->kind) - (a->kind < b->kind);
}

/* Runs in order are merged, pair by pair, until one is left. */
static void sort_due_by_merging(struct flow_run *r, uint32_t count)
{
    SIM_GROW(r->due_scratch, r->due_scratch_capacity, count);
    struct due *from = r->due, *to = r->due_scratch;
    for (bool is_sorted = false; !is_sorted;) {
        is_sorted = true;
        for (uint32_t begin = 0, at = 0; begin < count;) {
            uint32_t middle = begin + 1, end;
            while (middle < count && compare_due(&from[middle - 1], &from[middle]) <= 0)
                middle++;
            for (end = middle + 1; end < count && compare_due(&from[end - 1], &from[end]) <= 0;)
                end++;
            if (end > count) end = count;
            is_sorted = is_sorted && begin == 0 && end == count;
            for (uint32_t i = begin, j = middle; i < middle || j < end;)
                to[at++] = j == end || (i < middle && compare_due(&from[i], &from[j]) <= 0)
                               ? from[i++]
                               : from[j++];
            begin = end;
        }
        struct due *swap = from;
        from = to;
        to = swap;
    }
    if (from != r->due) memcpy(r->due, from, count * sizeof *from);
}

/* Stable: chips stay in the order they came; few operations are due at one instant, so runs are
 * long and merging them is quick. */
static void sort_due(struct flow_run *r, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        if (compare_due(&r->due[i - 1], &r->due[i]) <= 0) continue;
        sort_due_by_merging(r, count);
        return;
    }
}

/* State lies anywhere in memory, and of thousands of timers of an instant each needs some: it is
 * fetched in steps, AHEAD timers apart, as each address lies in what the step before has
 * fetched. */
#define AHEAD 8
/* Activities of a run whose state the near caches hold anyway. */
#define FEW 4096

/* Does entry `at` of `count` exist? */
static bool is_in(int64_t at, uint32_t count)
{
    return at >= 0 && at < count;
}

/* Of `count` timers, how many to fetch for. */
static uint32_t to_fetch(const struct flow_run *r, uint32_t count)
{
    return r->x.activity_count > FEW ? count : 0;
}

static int64_t step_of(uint32_t count)
{
    return count < AHEAD ? count : AHEAD;
}

static void fetch_owner(const struct flow_run *r, const struct due *due)
{
    if (due->kind == NET_TIMER_FLOW)
        net_flow_fetch(r->engine, due->payload);
    else
        net_executor_fetch(&r->x, due->payload);
}

static void fetch_activity(const struct flow_run *r, const struct due *due)
{
    if (due->kind != NET_TIMER_FLOW) return;
    net_flow_fetch_links(r->engine, due->payload);
    net_executor_fetch(&r->x, net_flow_owner(r->engine, due->payload));
}

static void fetch_waits(const struct flow_run *r, const struct due *due)
{
    if (due->kind == NET_TIMER_FLOW)
        net_executor_fetch_sender(&r->x, net_flow_owner(r->engine, due->payload));
    else if (due->kind == NET_TIMER_ARRIVAL)
        net_executor_fetch_receiver(&r->x, due->payload);
}

/* Whose they are; ends that come at the same time because of them go on the calendar. */
static void look_up_due(struct flow_run *r, struct due *due, uint32_t count)
{
    uint32_t fetched = to_fetch(r, count);
    int64_t step = step_of(fetched);
    for (int64_t i = -2 * step; i < count; i++) {
        if (is_in(i + 2 * step, fetched)) fetch_owner(r, &due[i + 2 * step]);
        if (is_in(i + step, fetched) && due[i + step].kind == NET_TIMER_FLOW)
            net_executor_fetch(&r->x, net_flow_owner(r->engine, due[i + step].payload));
        if (i < 0) continue;
        if (due[i].kind == NET_TIMER_FLOW) net_flow_due(r->engine, due[i].payload, r->x.now);
        due[i] = due_of(r, due[i].kind, due[i].payload);
    }
}

/* All timers of now. */
static uint32_t take_due(struct flow_run *r)
{
    uint32_t count = 0, known = 0, kind, payload;
    do {
        known = count;
        while (net_calendar_take(r->calendar, r->x.now, &kind, &payload)) {
            SIM_GROW(r->due, r->due_capacity, count + 1);
            r->due[count++] = (struct due){.kind = kind, .payload = payload};
        }
        look_up_due(r, r->due + known, count - known);
    } while (count > known);
    return count;
}

static void handle_due(struct flow_run *r, uint32_t count)
{
    uint32_t fetched = to_fetch(r, count);
    int64_t step = step_of(fetched);
    for (int64_t i = -3 * step; i < count; i++) {
        if (is_in(i + 3 * step, fetched)) fetch_owner(r, &r->due[i + 3 * step]);
        if (is_in(i + 2 * step, fetched)) fetch_activity(r, &r->due[i + 2 * step]);
        if (is_in(i + step, fetched)) fetch_waits(r, &r->due[i + step]);
        if (i >= 0) handle(r, (enum net_timer)r->due[i].kind, r->due[i].payload);
    }
}

/* Everything due now, in an order that is the same on every chip whatever the others do: by frame,
 * operation and kind. What that makes due at once is the next batch. */
static void drain_instant(struct flow_run *r)
{
    uint32_t count;
    r->instants++;
    while ((count = take_due(r)) > 0) {
        sort_due(r, count);
        handle_due(r, count);
    }
    if (!net_flow_settle(r->engine, r->x.now)) r->x.is_past_end = true;
}

/* ---- the whole run ---- */

static net_flow_engine *create_engine(const struct flow_run *r)
{
    uint32_t links = r->x.symmetry.links;
    struct net_flow_link *link = SIM_NEW(struct net_flow_link, links);
    for (uint32_t l = 0; l < links; l++) {
        topo_link_id real = net_link_of_class(&r->x.symmetry, l);
        link[l] = (struct net_flow_link){topo_link_rate(r->x.topology, real),
                                         topo_link_latency_ps(r->x.topology, real)};
    }
    net_flow_engine *e = net_flow_engine_create(links, link, r->calendar, NET_TIMER_FLOW);
    net_flow_engine_coalesce(e, r->x.options.coalesce);
    sim_free(link);
    return e;
}

static void collect_stats(const struct flow_run *r, const net_schedule *root,
                          struct net_run_stats *out)
{
    struct net_parts parts = net_parts_count(root, &r->x.symmetry);
    *out = (struct net_run_stats){.events = r->x.events,
                                  .messages = r->x.messages,
                                  .instants = r->instants,
                                  .classes = r->x.symmetry.chips,
                                  .parts = parts.count,
                                  .parts_reused = parts.count - parts.run};
    net_flow_counts(r->engine, &out->flows, &out->solves, &out->levels);
}

static void collect_links(const struct flow_run *r, struct net_link_stats *out)
{
    assert(out->count == topo_links(r->x.topology));
    for (topo_link_id l = 0; l < out->count; l++)
        net_flow_link_stats(r->engine, net_class_of_link(&r->x.symmetry, l), &out->bytes[l],
                            &out->busy_ps[l]);
}

static void start_delay(net_executor *x, sim_ps delay, enum net_timer timer, uint32_t activity)
{
    struct flow_run *r = (struct flow_run *)x;
    net_calendar_add(r->calendar, x->now + delay, timer, activity);
}

/* Messages are those of the classes of chips that run; a short run does not count them. */
static void tell_progress(struct flow_run *r)
{
    enum { LOOK_EVERY = 64 }; /* instants: the clock costs as much as a small one */
    sim_progress *progress = r->x.options.progress;
    if (r->instants % LOOK_EVERY != 0 || !sim_progress_is_due(progress)) return;
    double share = (double)r->x.chips / topo_chips(r->x.topology);
    if (r->messages == 0) r->messages = fmax(share * net_volume_of(r->root, 1).messages, 1);
    sim_progress_share(progress, (double)r->x.arrived / r->messages);
}

static enum sim_status run_to_end(struct flow_run *r, const net_schedule *root,
                                  struct sim_error *err)
{
    net_executor *x = &r->x;
    r->calendar = net_calendar_create();
    r->engine = create_engine(r);
    net_executor_start(x, root);
    if (!net_flow_settle(r->engine, 0)) x->is_past_end = true;
    r->root = root;
    while (!x->is_past_end && net_calendar_next(r->calendar, &x->now)) {
        drain_instant(r);
        tell_progress(r);
    }
    if (x->is_past_end)
        return sim_error_set(err, SIM_EDATA,
                             "the run lasts longer than simulated time can hold (106 days)");
    return net_executor_is_done(x) ? SIM_OK : net_executor_stall(x, false, err);
}

static void release(struct flow_run *r)
{
    sim_free(r->due);
    sim_free(r->due_scratch);
    sim_free(r->route);
    net_flow_engine_destroy(r->engine);
    net_calendar_destroy(r->calendar);
    net_executor_release(&r->x);
}

enum sim_status net_run_flows(const net_schedule *root, const struct net_options *options,
                              const struct net_observer *observer, struct sim_error *err,
                              struct net_result *result, struct net_link_stats *stats,
                              struct net_run_stats *run_stats)
{
    struct flow_run r = {0};
    enum sim_status status = net_executor_init(&r.x, root, options, observer, NULL, err);
    r.x.delay = start_delay;
    r.x.send = start_message;
    if (status == SIM_OK) status = run_to_end(&r, root, err);
    if (status == SIM_OK) {
        const struct net_chain *last = &r.x.last;
        *result =
            (struct net_result){r.x.now, last->latency_ps, last->overhead_ps, last->compute_ps};
        if (stats != NULL) collect_links(&r, stats);
        if (run_stats != NULL) collect_stats(&r, root, run_stats);
    }
    release(&r);
    return status;
}
