/*
 * The packet engine at work: messages cut into packets, chip by chip.
 *
 * A message is cut into equal packets. What it sends along one path is a *stream*; streams that
 * leave a chip through one port take turns, a packet each. Every chip has its own agenda, in order
 * of time and, within an instant, of what is due (call, operation, kind): never of the order in
 * which chips were looked at.
 *
 * Observers want time order, which chips alone do not give: what they are told is kept and sorted.
 */
#include <math.h>

#include "base/arena.h"
#include "netsim/agenda.h"
#include "netsim/executor.h"
#include "netsim/packet.h"
#include "netsim/run_engines.h"
#include "netsim/told.h"

/* What a message sends along one path. */
struct stream {
    uint32_t activity, route;
    uint32_t next; /* of its port; next free otherwise */
    uint32_t size, larger_size;
    uint64_t packets_left, larger_left; /* those of larger_size go first */
};

/* Streams that wait for their turn, first to last, and the one whose packet is next to leave. */
struct port {
    uint32_t first, last, current;
};

/* Of an activity that is a message, in ticks; start_ps and arrive_ps are rounded. */
struct message {
    net_ticks sent, arrive;
    uint32_t streams_left;
    uint64_t packets_left; /* not arrived yet; where packets may overtake each other */
    sim_ps latency_ps;     /* of its slowest path's hops */
};

struct packet_run {
    net_executor x; /* first: hooks are given it */
    net_packet_engine *engine;
    net_agenda *agenda;
    net_told *told;
    net_ticks now, ticks_per_ps;
    uint32_t *port_begin; /* [chips + 1] */
    struct port *port;
    struct stream *stream;
    uint32_t stream_count, stream_capacity, stream_free;
    struct message *message; /* by activity */
    uint32_t message_capacity;
    bool is_ordered, is_rounding; /* rounding: sizes, see cut() */
    bool has_too_many_sizes;
};

/* Sizes are rounded up to this share of a packet when there are too many for the engine. */
#define SIZE_STEPS 32

static struct packet_run *run_of(net_executor *x)
{
    return (struct packet_run *)x;
}

static void set_now(struct packet_run *r, net_ticks now)
{
    r->now = now;
    r->x.now = net_packet_ps(r->engine, now);
}

/* ---- the agenda ---- */

static void note_due(struct packet_run *r, uint32_t chip, net_ticks when, enum net_timer timer,
                     uint32_t activity)
{
    const struct net_activity *a = &r->x.activity[activity];
    net_op_id op = timer == NET_TIMER_ARRIVAL ? net_executor_receive_of(&r->x, a) : a->op;
    net_agenda_add(r->agenda, chip, (struct net_due){when, timer, activity, a->frame, op});
    net_packet_set_due(r->engine, chip, net_agenda_next(r->agenda, chip));
}

static void start_delay(net_executor *x, sim_ps delay, enum net_timer timer, uint32_t activity)
{
    struct packet_run *r = run_of(x);
    const struct net_activity *a = &x->activity[activity];
    uint32_t chip = timer == NET_TIMER_ARRIVAL ? a->peer : a->chip;
    note_due(r, chip, r->now + (net_ticks)delay * r->ticks_per_ps, timer, activity);
}

/* ---- streams ---- */

static uint32_t stream_create(struct packet_run *r, struct stream s)
{
    uint32_t id = r->stream_free;
    if (id != NET_NONE) {
        r->stream_free = r->stream[id].next;
    } else {
        SIM_GROW(r->stream, r->stream_capacity, r->stream_count + 1);
        id = r->stream_count++;
    }
    r->stream[id] = s;
    return id;
}

static void stream_destroy(struct packet_run *r, uint32_t id)
{
    r->stream[id].next = r->stream_free;
    r->stream_free = id;
}

static void push_last(struct packet_run *r, struct port *p, uint32_t id)
{
    r->stream[id].next = NET_NONE;
    if (p->first == NET_NONE)
        p->first = id;
    else
        r->stream[p->last].next = id;
    p->last = id;
}

/* The next packet of the first stream in line. */
static bool take_turn(struct packet_run *r, struct port *p, struct net_packet *packet)
{
    p->current = p->first;
    if (p->current == NET_NONE) return false;
    struct stream *s = &r->stream[p->current];
    p->first = s->next;
    bool is_larger = s->larger_left > 0, is_last = --s->packets_left == 0;
    s->larger_left -= is_larger;
    *packet = (struct net_packet){.route = s->route,
                                  .message = s->activity,
                                  .size = is_larger ? s->larger_size : s->size,
                                  .is_last = is_last};
    if (p->first == NET_NONE && !is_last)
        packet->more = is_larger ? s->larger_left : s->packets_left - 1;
    return true;
}

/* Packets that nobody asked for one by one. */
static void packets_passed(void *context, uint32_t chip, uint32_t port, uint64_t packets,
                           net_ticks when)
{
    struct packet_run *r = context;
    struct stream *s = &r->stream[r->port[r->port_begin[chip] + port].current];
    struct message *m = &r->message[s->activity];
    s->packets_left -= packets;
    s->larger_left -= s->larger_left > 0 ? packets : 0;
    if (!r->is_ordered) m->packets_left -= packets;
    if (when > m->arrive) m->arrive = when;
}

/* The last byte of a message's last stream leaves at `sent`. */
static void stream_ended(struct packet_run *r, uint32_t chip, uint32_t activity, net_ticks free)
{
    struct message *m = &r->message[activity];
    if (free > m->sent) m->sent = free;
    if (--m->streams_left == 0) note_due(r, chip, m->sent, NET_TIMER_SENT, activity);
}

static bool next_packet(void *context, uint32_t chip, uint32_t port, net_ticks free,
                        struct net_packet *packet, net_ticks *ready)
{
    struct packet_run *r = context;
    struct port *p = &r->port[r->port_begin[chip] + port];
    uint32_t id = p->current;
    if (r->stream[id].packets_left > 0) {
        push_last(r, p, id);
    } else {
        uint32_t activity = r->stream[id].activity;
        stream_destroy(r, id);
        stream_ended(r, chip, activity, free);
    }
    *ready = free;
    return take_turn(r, p, packet);
}

/* ---- messages ---- */

/* The number of a size in ticks of the default rate. */
static uint32_t size_of(struct packet_run *r, double ticks)
{
    double most = net_packet_router(r->engine)->packet_bytes;
    double bytes = ticks / net_packet_ticks_per_byte(r->engine);
    if (r->is_rounding) bytes = ceil(bytes / most * SIZE_STEPS) / SIZE_STEPS * most;
    uint32_t size = net_packet_size(r->engine, bytes < most ? bytes : most);
    if (size == NET_PACKET_NO_SIZE) r->has_too_many_sizes = true;
    return size;
}

/* Into packets that together take the link's time for `bytes` exactly: all of one size but the
 * last, which is less by up to a tick a packet. Where it would be less than half, those of two sizes
 * a tick apart. */
static bool cut(struct packet_run *r, double bytes, struct stream *s)
{
    double packets = ceil(bytes / net_packet_router(r->engine)->packet_bytes);
    double ticks = fmax(rint(bytes * net_packet_ticks_per_byte(r->engine)), packets);
    if (ticks >= 9e15) return false; /* what a double counts by ones */
    double larger = ceil(ticks / packets), missing = larger * packets - ticks;
    bool is_last_less = missing <= larger / 2;
    s->packets_left = (uint64_t)packets;
    s->larger_left = (uint64_t)(missing == 0 ? 0 : is_last_less ? packets - 1 : packets - missing);
    s->size = size_of(r, larger - (is_last_less ? missing : 1));
    s->larger_size = s->larger_left > 0 ? size_of(r, larger) : s->size;
    return !r->has_too_many_sizes;
}

static void start_stream(struct packet_run *r, uint32_t activity, uint32_t path, double bytes)
{
    uint32_t chip = r->x.activity[activity].chip;
    struct stream s = {.activity = activity,
                       .route = net_packet_route(r->engine, &r->x.paths, path)};
    if (!cut(r, bytes, &s)) {
        r->x.is_past_end = true;
        return;
    }
    uint32_t port = net_packet_port_of(r->engine, chip, s.route);
    struct port *p = &r->port[r->port_begin[chip] + port];
    r->message[activity].packets_left += s.packets_left;
    push_last(r, p, stream_create(r, s));
    struct net_packet packet;
    if (p->current != NET_NONE)
        net_packet_interrupt(r->engine, chip, port, r->now);
    else if (take_turn(r, p, &packet))
        net_packet_offer(r->engine, chip, port, &packet, r->now);
}

/* Hops of the slowest path, routers included. */
static sim_ps latency_of(const struct packet_run *r)
{
    const struct topo_paths *p = &r->x.paths;
    const struct net_router *router = net_packet_router(r->engine);
    sim_ps most = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        uint64_t hops = p->begin[i + 1] - p->begin[i];
        sim_ps latency = router->is_in_cycles ? 0 : topo_path_latency_ps(r->x.topology, p, i);
        uint64_t own = hops * router->hop + router->injection + router->ejection;
        if (router->is_in_cycles) own = net_packet_ps(r->engine, own * net_packet_cycle(r->engine));
        if (latency + (sim_ps)own > most) most = latency + (sim_ps)own;
    }
    return most;
}

static void start_message(net_executor *x, uint32_t id)
{
    struct packet_run *r = run_of(x);
    x->messages++;
    net_executor_route(x, id);
    const struct topo_paths *p = &x->paths;
    bool is_local = p->begin[0] == p->begin[1];
    sim_ps latency = is_local ? 0 : latency_of(r);
    if (id >= NET_PACKET_MESSAGES) {
        x->is_past_end = true;
        return;
    }
    SIM_GROW(r->message, r->message_capacity, x->activity_capacity);
    r->message[id] = (struct message){.streams_left = p->count, .latency_ps = latency};
    struct net_activity *a = &x->activity[id];
    if (a->bytes == 0 || is_local) {
        net_executor_arrive_without_bytes(x, id, latency);
        return;
    }
    a->paths_left = p->count;
    double bytes = a->bytes;
    for (uint32_t i = 0; i < p->count; i++)
        start_stream(r, id, i, bytes * p->share[i]);
}

/* In order, only the last packet of a stream tells something. */
static void take_packet(void *context, uint32_t chip, uint32_t id, bool is_last, net_ticks when)
{
    struct packet_run *r = context;
    if (r->is_ordered && !is_last) return;
    struct message *m = &r->message[id];
    struct net_activity *a = &r->x.activity[id];
    if (when > m->arrive) m->arrive = when;
    if (r->is_ordered ? --a->paths_left > 0 : --m->packets_left > 0) return;
    note_due(r, chip, m->arrive, NET_TIMER_ARRIVAL, id);
}

/* The sender goes on; `a` stays until the message is there. */
static void message_sent(struct packet_run *r, uint32_t id)
{
    net_executor *x = &r->x;
    struct net_activity *a = &x->activity[id];
    struct net_chain chain = a->chain;
    a->chain.latency_ps += r->message[id].latency_ps;
    net_executor_complete(x, a->frame, a->chip, a->op, chain);
}

/* ---- a chip's turn ---- */

/* Calls by number, and what calls before what is called. */
static int compare_frames(const void *context, uint32_t left, uint32_t right)
{
    const net_executor *x = context;
    const struct net_frame *a = &x->frame[left], *b = &x->frame[right];
    uint32_t depth_a = a->depth, depth_b = b->depth;
    while (a->depth > depth_b)
        a = &x->frame[a->parent];
    while (b->depth > depth_a)
        b = &x->frame[b->parent];
    if (a == b) return depth_a < depth_b ? -1 : 1;
    while (a->parent != b->parent) {
        a = &x->frame[a->parent];
        b = &x->frame[b->parent];
    }
    return a->call_id < b->call_id ? -1 : 1;
}

static void step(void *context, uint32_t chip, net_ticks now)
{
    struct packet_run *r = context;
    struct net_due due;
    set_now(r, now);
    while (!r->x.is_past_end && net_agenda_take(r->agenda, chip, now, &due)) {
        if (due.timer == NET_TIMER_SENT)
            message_sent(r, due.activity);
        else
            net_executor_timer(&r->x, (enum net_timer)due.timer, due.activity);
        net_executor_run_ready(&r->x);
    }
    /* a run that is given up does nothing more, what is left of this instant included */
    net_packet_set_due(r->engine, chip,
                       r->x.is_past_end ? NET_TICKS_NEVER : net_agenda_next(r->agenda, chip));
}

/* ---- the whole run ---- */

static void create_ports(struct packet_run *r)
{
    uint32_t chips = topo_chips(r->x.topology), ports = 0;
    r->port_begin = SIM_NEW(uint32_t, chips + 1);
    for (uint32_t c = 0; c < chips; c++) {
        r->port_begin[c] = ports;
        ports += net_packet_ports(r->engine, c);
    }
    r->port_begin[chips] = ports;
    r->port = SIM_NEW(struct port, ports);
    for (uint32_t i = 0; i < ports; i++)
        r->port[i] = (struct port){NET_NONE, NET_NONE, NET_NONE};
}

static enum sim_status run_to_end(struct packet_run *r, const net_schedule *root,
                                  struct sim_error *err)
{
    net_executor *x = &r->x;
    const struct net_packet_client client = {r, step, next_packet, take_packet, packets_passed};
    SIM_TRY(net_packet_create(x->topology, x->options.router, &client, err, &r->engine));
    r->ticks_per_ps = net_packet_ticks_per_ps(r->engine);
    r->is_ordered = net_packet_is_ordered(r->engine);
    if (x->options.window_ps > 0)
        net_packet_set_window(r->engine, (net_ticks)x->options.window_ps * r->ticks_per_ps);
    net_packet_set_trains(r->engine, !x->options.is_one_by_one);
    r->agenda = net_agenda_create(topo_chips(x->topology), compare_frames, x);
    create_ports(r);
    net_executor_start(x, root);
    const net_ticks end = NET_TICKS_NEVER - 1;
    while (!x->is_past_end && net_packet_run(r->engine, end))
        ;
    if (r->has_too_many_sizes) return SIM_OK; /* runs again, with rounded sizes */
    if (x->is_past_end)
        return sim_error_set(err, SIM_EDATA,
                             "the run lasts longer than the packet engine's time can hold");
    if (net_executor_is_done(x)) return SIM_OK;
    if (net_packet_in_flight(r->engine) > 0) return net_packet_deadlock(r->engine, err);
    return net_executor_stall(x, err);
}

static void collect_links(const struct packet_run *r, struct net_link_stats *out)
{
    for (topo_link_id l = 0; l < out->count; l++) {
        net_ticks busy = net_packet_busy(r->engine, l);
        out->busy_ps[l] = net_packet_ps(r->engine, busy);
        out->bytes[l] =
            (double)busy / (double)r->ticks_per_ps * 1e-12 * topo_link_rate(r->x.topology, l);
    }
}

static void collect_stats(const struct packet_run *r, struct net_run_stats *out)
{
    struct net_packet_counts counts;
    net_packet_counts(r->engine, &counts);
    *out = (struct net_run_stats){.events = r->x.events + counts.hops + counts.delivered,
                                  .messages = r->x.messages,
                                  .packet_hops = counts.hops,
                                  .windows = counts.windows,
                                  .trains = counts.trains,
                                  .cuts = counts.cuts,
                                  .classes = r->x.symmetry.chips};
}

static void release(struct packet_run *r)
{
    net_packet_destroy(r->engine);
    net_agenda_destroy(r->agenda);
    net_told_destroy(r->told);
    sim_free(r->port_begin);
    sim_free(r->port);
    sim_free(r->stream);
    sim_free(r->message);
    net_executor_release(&r->x);
}

static enum sim_status run_once(struct packet_run *r, const net_schedule *root,
                                const struct net_options *options,
                                const struct net_observer *observer, struct sim_error *err)
{
    struct net_options unreduced = *options;
    struct net_observer keeper = {0};
    unreduced.is_unreduced = true;
    if (observer != NULL) {
        r->told = net_told_create(observer);
        keeper = net_told_observer(r->told);
    }
    SIM_TRY(net_executor_init(&r->x, root, &unreduced, &keeper, err));
    r->x.delay = start_delay;
    r->x.send = start_message;
    r->stream_free = NET_NONE;
    return run_to_end(r, root, err);
}

enum sim_status net_run_packets(const net_schedule *root, const struct net_options *options,
                                const struct net_observer *observer, struct sim_error *err,
                                struct net_result *result, struct net_link_stats *stats,
                                struct net_run_stats *run_stats)
{
    struct packet_run r = {0};
    enum sim_status status = run_once(&r, root, options, observer, err);
    if (status == SIM_OK && r.has_too_many_sizes) {
        release(&r);
        r = (struct packet_run){.is_rounding = true};
        status = run_once(&r, root, options, observer, err);
    }
    if (status == SIM_OK) {
        const struct net_chain *last = &r.x.last;
        *result =
            (struct net_result){r.x.last_ps, last->latency_ps, last->overhead_ps, last->compute_ps};
        if (r.told != NULL) net_told_pass_on(r.told);
        if (stats != NULL) collect_links(&r, stats);
        if (run_stats != NULL) collect_stats(&r, run_stats);
    }
    release(&r);
    return status;
}
