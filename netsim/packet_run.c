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
#include "netsim/far_messages.h"
#include "netsim/mpi.h"
#include "netsim/packet.h"
#include "netsim/packet_links.h"
#include "netsim/partition.h"
#include "netsim/run_engines.h"
#include "netsim/told.h"
#include "netsim/volume.h"

/* What a message sends along one path. */
struct stream {
    uint32_t activity, route;
    uint32_t number; /* of the activity, or of a message to another rank */
    uint32_t next;   /* of its port; next free otherwise */
    uint32_t size, larger_size;
    uint64_t packets_left, larger_left; /* those of larger_size go first */
};

/* Streams that wait for their turn, first to last, and the one whose packet is next to leave. */
struct port {
    uint32_t first, last, current;
    uint32_t streams; /* `current`'s and those in line */
};

/* Of an activity that is a message, in ticks; start_ps and arrive_ps are rounded. */
struct message {
    net_ticks sent, arrive;
    uint32_t streams_left;
    uint64_t packets_left; /* not arrived yet; where packets may overtake each other */
    sim_ps latency_ps;     /* of its slowest path's hops */
    uint32_t number;       /* what its packets carry */
};

struct packet_run {
    net_executor x; /* first: hooks are given it */
    net_packet_engine *engine;
    struct net_router router; /* as asked for, and watched or not */
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
    struct net_partition partition; /* zeros: all chips are here */
    net_far_messages *far;          /* NULL with it */
    const net_schedule *root;
    double hops; /* of packets, that this rank will have; 0: nobody has asked yet */
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

/* The run cannot come to anything. */
static void give_up(struct packet_run *r)
{
    r->x.is_past_end = true;
    net_packet_stop(r->engine);
}

/* ---- other ranks ---- */

/* Of a message to a chip elsewhere, to that chip's rank; `letter` has what the activity has not. */
static void write_letter(struct packet_run *r, enum net_letter_kind kind, uint32_t activity,
                         struct net_letter letter)
{
    const struct net_activity *a = &r->x.activity[activity];
    letter.kind = kind;
    letter.activity = *a;
    letter.calls = net_executor_calls_of(&r->x, a->frame, letter.call);
    net_far_write(r->engine, r->partition.part[a->peer], &letter);
}

/* The message is there: its number is free. */
static void write_done(struct packet_run *r, uint32_t number)
{
    struct net_letter done = {NET_LETTER_DONE, number, net_mpi_rank()};
    net_far_write(r->engine, net_far_sender(r->far, number), &done);
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

static void read_letter(void *context, const char *bytes, size_t count)
{
    struct packet_run *r = context;
    struct net_letter letter = net_far_read(bytes, count);
    struct net_activity *a = &letter.activity;
    if (letter.kind == NET_LETTER_DONE) {
        net_far_release(r->far, letter.from, letter.number);
        return;
    }
    a->frame = net_executor_frame_at(&r->x, letter.call, letter.calls, a->peer);
    a->paths_left = letter.paths;
    uint32_t id = net_executor_adopt(&r->x, *a);
    SIM_GROW(r->message, r->message_capacity, r->x.activity_capacity);
    r->message[id] = (struct message){.packets_left = letter.packets, .number = letter.number};
    if (letter.kind == NET_LETTER_ARRIVAL)
        note_due(r, a->peer, letter.when, NET_TIMER_ARRIVAL, id);
    else
        net_far_set(r->far, letter.number, id);
}

static void start_delay(net_executor *x, sim_ps delay, enum net_timer timer, uint32_t activity)
{
    struct packet_run *r = run_of(x);
    const struct net_activity *a = &x->activity[activity];
    uint32_t chip = timer == NET_TIMER_ARRIVAL ? a->peer : a->chip;
    net_ticks when = r->now + (net_ticks)delay * r->ticks_per_ps;
    if (!net_packet_has(r->engine, chip)) {
        write_letter(r, NET_LETTER_ARRIVAL, activity, (struct net_letter){.when = when});
        net_executor_forget(x, activity);
        return;
    }
    note_due(r, chip, when, timer, activity);
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

/* Packets of the size of the next one that follow before something changes. */
static uint64_t alike(const struct stream *s)
{
    return s->larger_left > 0 ? s->larger_left : s->packets_left - 1;
}

/* The streams of a port take turns until one of them has its last packet, or one of another size:
 * how many packets that are after the one that `is_larger`. */
static void foretell(const struct packet_run *r, const struct port *p, bool is_larger,
                     struct net_packet *packet)
{
    const struct stream *s = &r->stream[p->current];
    if (packet->is_last || p->streams > NET_PACKET_TURNS) return;
    uint64_t own = is_larger ? s->larger_left : s->packets_left - 1, more = own * p->streams;
    more += p->streams - 1;
    packet->turns = 0;
    packet->turn_size[packet->turns++] = (uint8_t)packet->size;
    for (uint32_t id = p->first; id != NET_NONE; id = s->next) {
        s = &r->stream[id];
        if (s->route != packet->route) return;
        uint64_t before = packet->turns + alike(s) * p->streams - 1;
        if (before < more) more = before;
        packet->turn_size[packet->turns++] =
            (uint8_t)(s->larger_left > 0 ? s->larger_size : s->size);
    }
    packet->more = more;
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
                                  .message = s->number,
                                  .size = is_larger ? s->larger_size : s->size,
                                  .is_last = is_last};
    foretell(r, p, is_larger, packet);
    return true;
}

/* Packets of a stream that nobody asked for one by one. */
static void leave_out(struct packet_run *r, uint32_t id, uint64_t packets)
{
    struct stream *s = &r->stream[id];
    s->packets_left -= packets;
    s->larger_left -= s->larger_left > 0 ? packets : 0;
    if (!r->is_ordered) r->message[s->activity].packets_left -= packets;
}

/* Whole rounds of all streams at once, then what is left of a round. */
static uint32_t packets_passed(void *context, uint32_t chip, uint32_t port, uint64_t packets)
{
    struct packet_run *r = context;
    struct port *p = &r->port[r->port_begin[chip] + port];
    leave_out(r, p->current, packets / p->streams);
    for (uint32_t id = p->first; id != NET_NONE; id = r->stream[id].next)
        leave_out(r, id, packets / p->streams);
    for (uint64_t i = 0; i < packets % p->streams; i++) {
        struct net_packet packet;
        if (!r->is_ordered) r->message[r->stream[p->current].activity].packets_left--;
        push_last(r, p, p->current);
        take_turn(r, p, &packet);
    }
    return r->stream[p->current].number;
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
        p->streams--;
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
 * last, which is less by up to a tick a packet. Where it would be less than half, packets of two
 * sizes a tick apart. */
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

/* Of the ports that the route may leave through, the one where the fewest streams wait. */
static uint32_t port_for(const struct packet_run *r, uint32_t chip, uint32_t route)
{
    uint32_t port[NET_PACKET_WAYS], best = 0;
    uint32_t count = net_packet_ports_of(r->engine, chip, route, port);
    const struct port *ports = &r->port[r->port_begin[chip]];
    for (uint32_t i = 1; i < count; i++)
        if (ports[port[i]].streams < ports[port[best]].streams) best = i;
    return port[best];
}

static void start_stream(struct packet_run *r, uint32_t activity, uint32_t path, double bytes)
{
    uint32_t chip = r->x.activity[activity].chip;
    struct stream s = {.activity = activity,
                       .route = net_packet_route(r->engine, &r->x.paths, path),
                       .number = r->message[activity].number};
    if (!cut(r, bytes, &s)) {
        give_up(r);
        return;
    }
    uint32_t port = port_for(r, chip, s.route);
    struct port *p = &r->port[r->port_begin[chip] + port];
    r->message[activity].packets_left += s.packets_left;
    bool is_idle = p->current == NET_NONE;
    if (!is_idle) net_packet_interrupt(r->engine, chip, port, r->now);
    push_last(r, p, stream_create(r, s));
    p->streams++;
    struct net_packet packet;
    if (is_idle && take_turn(r, p, &packet))
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

/* What the message's packets carry; NET_NONE: no number is left. */
static uint32_t number_of(struct packet_run *r, uint32_t id)
{
    uint32_t peer = r->x.activity[id].peer;
    if (!net_packet_has(r->engine, peer)) return net_far_number(r->far, r->partition.part[peer]);
    return net_far_is_number(id) || id >= NET_PACKET_MESSAGES ? NET_NONE : id;
}

static void start_streams(struct packet_run *r, uint32_t id)
{
    const struct topo_paths *p = &r->x.paths;
    struct net_activity *a = &r->x.activity[id];
    struct message *m = &r->message[id];
    a->paths_left = m->streams_left = p->count;
    m->number = number_of(r, id);
    if (m->number == NET_NONE) {
        give_up(r);
        return;
    }
    for (uint32_t i = 0; i < p->count; i++)
        start_stream(r, id, i, a->bytes * p->share[i]);
    if (m->number == id) return;
    struct net_letter letter = {.number = m->number, .paths = p->count, .packets = m->packets_left};
    a->chain.latency_ps += m->latency_ps;
    write_letter(r, NET_LETTER_MESSAGE, id, letter);
    a->chain.latency_ps -= m->latency_ps;
}

static void start_message(net_executor *x, uint32_t id)
{
    struct packet_run *r = run_of(x);
    const struct topo_paths *p = &x->paths;
    x->messages++;
    net_executor_route(x, id);
    bool is_local = p->begin[0] == p->begin[1];
    sim_ps latency = is_local ? 0 : latency_of(r);
    SIM_GROW(r->message, r->message_capacity, x->activity_capacity);
    r->message[id] = (struct message){.latency_ps = latency};
    if (x->activity[id].bytes == 0 || is_local)
        net_executor_arrive_without_bytes(x, id, latency);
    else
        start_streams(r, id);
}

/* In order, only the last packet of a stream tells something. */
static void take_packet(void *context, uint32_t chip, uint32_t number, bool is_last, net_ticks when)
{
    struct packet_run *r = context;
    if (r->is_ordered && !is_last) return;
    bool is_far = net_far_is_number(number);
    uint32_t id = is_far ? net_far_activity(r->far, number) : number;
    struct message *m = &r->message[id];
    struct net_activity *a = &r->x.activity[id];
    if (when > m->arrive) m->arrive = when;
    if (r->is_ordered ? --a->paths_left > 0 : --m->packets_left > 0) return;
    if (is_far) write_done(r, number);
    note_due(r, chip, m->arrive, NET_TIMER_ARRIVAL, id);
}

/* The sender goes on; `a` stays until the message is there, if that is on this rank. */
static void message_sent(struct packet_run *r, uint32_t id)
{
    net_executor *x = &r->x;
    struct net_activity *a = &x->activity[id];
    const struct net_activity sent = *a;
    a->chain.latency_ps += r->message[id].latency_ps;
    if (!net_packet_has(r->engine, sent.peer)) net_executor_forget(x, id);
    net_executor_complete(x, sent.frame, sent.chip, sent.op, sent.chain);
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
    if (r->x.is_past_end) net_packet_stop(r->engine);
    /* a run that is given up does nothing more, what is left of this instant included */
    net_packet_set_due(r->engine, chip,
                       r->x.is_past_end ? NET_TICKS_NEVER : net_agenda_next(r->agenda, chip));
}

/* ---- the whole run ---- */

/* Of the hops of all a rank has its part's share; a short run does not count them. */
static void tell_progress(void *context, net_ticks now)
{
    struct packet_run *r = context;
    struct net_packet_counts counts;
    (void)now;
    if (!sim_progress_is_due(r->x.options.progress)) return;
    double share = (double)r->x.chips / topo_chips(r->x.topology);
    double bytes = net_packet_router(r->engine)->packet_bytes;
    if (r->hops == 0) r->hops = fmax(share * net_volume_of(r->root, bytes).packet_hops, 1);
    net_packet_counts(r->engine, &counts);
    sim_progress_share(r->x.options.progress, (double)counts.hops / r->hops);
}

static void create_ports(struct packet_run *r)
{
    uint32_t chips = topo_chips(r->x.topology), ports = 0;
    r->port_begin = SIM_NEW(uint32_t, chips + 1);
    for (uint32_t c = 0; c < chips; c++) {
        r->port_begin[c] = ports;
        if (net_packet_has(r->engine, c)) ports += net_packet_ports(r->engine, c);
    }
    r->port_begin[chips] = ports;
    r->port = SIM_NEW(struct port, ports);
    for (uint32_t i = 0; i < ports; i++)
        r->port[i] = (struct port){NET_NONE, NET_NONE, NET_NONE, 0};
}

/* How it ended, on any rank. */
struct ending {
    int64_t past_end, too_many_sizes, unfinished, in_flight;
};

/* Every rank must come to the same end: one rank alone would have known all sizes. */
static bool has_too_many_sizes(const struct packet_run *r)
{
    const double *bytes;
    uint32_t sizes = net_packet_sizes(r->engine, &bytes), distinct = 0;
    struct net_bytes mine = {0}, all = {0};
    net_bytes_put(&mine, bytes, sizes * sizeof *bytes);
    net_mpi_gather(&mine, &all);
    double *found = SIM_NEW(double, all.count / sizeof *found + 1);
    while (all.at < all.count) {
        double size;
        uint32_t i = 0;
        net_bytes_take(&all, &size, sizeof size);
        while (i < distinct && found[i] != size)
            i++;
        if (i == distinct) found[distinct++] = size;
    }
    sim_free(found);
    net_bytes_release(&mine);
    net_bytes_release(&all);
    return distinct > NET_PACKET_SIZES;
}

static struct ending how_it_ended(struct packet_run *r)
{
    struct ending e = {r->x.is_past_end, r->has_too_many_sizes, !net_executor_is_done(&r->x),
                       (int64_t)net_packet_in_flight(r->engine)};
    if (r->far == NULL) return e;
    e.too_many_sizes |= has_too_many_sizes(r);
    net_mpi_sum(&e.past_end, sizeof e / sizeof(int64_t));
    r->has_too_many_sizes = e.too_many_sizes > 0;
    return e;
}

static enum sim_status run_to_end(struct packet_run *r, const net_schedule *root,
                                  struct sim_error *err)
{
    net_executor *x = &r->x;
    const struct net_packet_client client = {.context = r,
                                             .step = step,
                                             .next = next_packet,
                                             .deliver = take_packet,
                                             .mail = read_letter,
                                             .passed = packets_passed,
                                             .look = x->options.progress != NULL ? tell_progress
                                                                                 : NULL};
    SIM_TRY(net_packet_create(x->topology, x->options.router, &client, r->partition.part, err,
                              &r->engine));
    r->ticks_per_ps = net_packet_ticks_per_ps(r->engine);
    r->is_ordered = net_packet_is_ordered(r->engine);
    if (x->options.window_ps > 0)
        net_packet_set_window(r->engine, (net_ticks)x->options.window_ps * r->ticks_per_ps);
    net_packet_set_trains(r->engine, !x->options.is_one_by_one);
    r->agenda = net_agenda_create(topo_chips(x->topology), compare_frames, x);
    create_ports(r);
    r->root = root;
    net_executor_start(x, root);
    if (x->is_past_end) net_packet_stop(r->engine);
    while (net_packet_run(r->engine, NET_TICKS_NEVER - 1))
        ;
    enum sim_status fault = net_packet_fault(r->engine, err);
    if (r->far != NULL) fault = net_mpi_agree(fault, err);
    if (fault != SIM_OK) return fault;
    const struct ending end = how_it_ended(r);
    if (r->has_too_many_sizes) return SIM_OK; /* runs again, with rounded sizes */
    if (end.past_end > 0)
        return sim_error_set(err, SIM_EDATA,
                             "the run lasts longer than the packet engine's time can hold");
    if (end.unfinished == 0) return SIM_OK;
    if (end.in_flight > 0) return net_packet_deadlock(r->engine, err);
    return net_executor_stall(x, r->far != NULL, err);
}

static void collect_stats(const struct packet_run *r, struct net_run_stats *out)
{
    struct net_packet_counts counts;
    net_packet_counts(r->engine, &counts);
    *out = (struct net_run_stats){.events = r->x.events + counts.hops + counts.delivered,
                                  .messages = r->x.messages,
                                  .packet_hops = counts.hops,
                                  .trains = counts.trains,
                                  .cuts = counts.cuts,
                                  .shared_trains = counts.shared_trains,
                                  .shared_cuts = counts.shared_cuts,
                                  .classes = r->x.chips};
    if (r->far != NULL) net_mpi_sum((int64_t *)out, sizeof *out / sizeof(int64_t));
    out->windows = counts.windows; /* all ranks run the same */
    out->cut_links = r->partition.cut_links;
    out->most_nodes = r->partition.most_nodes;
    out->fewest_nodes = r->partition.fewest_nodes;
}

/* Of all ranks' chips the one that finished last. */
static void find_last(struct packet_run *r)
{
    struct last {
        sim_ps when;
        struct net_chain chain;
    } last = {r->x.last_ps, r->x.last};
    struct net_bytes mine = {0}, all = {0};
    net_bytes_put(&mine, &last, sizeof last);
    net_mpi_gather(&mine, &all);
    while (all.at < all.count) {
        net_bytes_take(&all, &last, sizeof last);
        net_executor_note_last(&r->x, last.when, last.chain);
    }
    net_bytes_release(&mine);
    net_bytes_release(&all);
}

/* Every rank gets what all have found. */
static void share_findings(struct packet_run *r)
{
    if (r->far == NULL) return;
    find_last(r);
    if (r->told != NULL) net_told_share(r->told);
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
    net_far_destroy(r->far);
    net_partition_release(&r->partition);
    net_executor_release(&r->x);
}

static enum sim_status run_once(struct packet_run *r, const net_schedule *root,
                                const struct net_options *options,
                                const struct net_observer *observer,
                                const struct net_link_stats *stats, struct sim_error *err)
{
    struct net_options unreduced = *options;
    r->router = *options->router;
    r->router.is_watched = stats != NULL && stats->waited_ps != NULL;
    unreduced.router = &r->router;
    struct net_observer keeper = {0};
    unreduced.is_unreduced = true;
    if (observer != NULL) {
        r->told = net_told_create(observer, root);
        keeper = net_told_observer(r->told);
    }
    if (options->is_partitioned && net_mpi_ranks() > 1) {
        net_partition_make_ranks(net_schedule_topo(root), &r->partition);
        r->far = net_far_create();
    }
    SIM_TRY(net_executor_init(&r->x, root, &unreduced, &keeper, r->partition.part, err));
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
    enum sim_status status = run_once(&r, root, options, observer, stats, err);
    if (status == SIM_OK && r.has_too_many_sizes) {
        release(&r);
        r = (struct packet_run){.is_rounding = true};
        status = run_once(&r, root, options, observer, stats, err);
    }
    if (status == SIM_OK) {
        share_findings(&r);
        const struct net_chain *last = &r.x.last;
        *result =
            (struct net_result){r.x.last_ps, last->latency_ps, last->overhead_ps, last->compute_ps};
        if (r.told != NULL) net_told_pass_on(r.told);
        if (stats != NULL) net_packet_links(r.engine, NET_TICKS_NEVER, r.far != NULL, stats);
        if (run_stats != NULL) collect_stats(&r, run_stats);
    }
    release(&r);
    return status;
}
