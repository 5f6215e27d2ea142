#include "netsim/packet_border.h"

#include "base/arena.h"
#include "netsim/bytes.h"
#include "netsim/mpi.h"
#include "netsim/packet_visit.h"

/* A ring that is written here and read elsewhere. Slots from `freed` to `sent` are with the
 * reader. */
struct far_ring {
    uint32_t node; /* that writes */
    uint32_t sent, freed, with_reader;
};

/* A ring that is read here and written elsewhere. Slots from `told` to `filled` are not free yet,
 * as far as the writer knows. */
struct near_ring {
    uint32_t queue, node; /* of the node that reads */
    uint32_t filled, told, held;
};

struct neighbour {
    uint32_t rank;
    struct far_ring *far;
    uint32_t fars, far_capacity;
    struct near_ring *near;
    uint32_t nears, near_capacity;
    struct net_bytes out, in, mail; /* mail: letters to go with the next message */
    uint32_t mails;
    /* Packet sizes and table routes have each rank's own numbers. */
    uint32_t sizes_told, sizes_known;
    uint32_t size_of[SIZES_MAX]; /* ours of theirs */
    uint32_t *route_of;          /* ours of theirs, as far as told */
    uint32_t route_capacity;
    uint8_t *is_route_told; /* ours */
    uint32_t told_capacity;
};

struct net_border {
    struct neighbour *neighbour;
    uint32_t neighbours;
    uint32_t *way; /* [ranks] neighbour (index) on a shortest way there; NONE32: there is none */
    uint8_t *has_link; /* [nodes] */
};

/* ---- who is next to whom ---- */

/* [ranks x ranks] */
static uint8_t *rank_matrix(const net_packet_engine *e, uint32_t ranks)
{
    uint8_t *is_next = SIM_NEW(uint8_t, (size_t)ranks * ranks);
    for (topo_link_id l = 0; l < topo_links(e->topology); l++) {
        uint32_t from = e->part[topo_link_from(e->topology, l)];
        uint32_t to = e->part[topo_link_to(e->topology, l)];
        if (from != to) is_next[(size_t)from * ranks + to] = is_next[(size_t)to * ranks + from] = 1;
    }
    return is_next;
}

/* Breadth first from this rank; what is reached takes the way of the rank it was reached from. */
static void find_ways(struct net_border *b, const uint8_t *is_next, uint32_t ranks, uint32_t self)
{
    uint32_t *queue = SIM_NEW(uint32_t, ranks), count = 0;
    b->way = SIM_NEW(uint32_t, ranks);
    for (uint32_t r = 0; r < ranks; r++)
        b->way[r] = NONE32;
    for (uint32_t i = 0; i < b->neighbours; i++) {
        b->way[b->neighbour[i].rank] = i;
        queue[count++] = b->neighbour[i].rank;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t r = 0; r < ranks; r++) {
            if (!is_next[(size_t)queue[i] * ranks + r] || r == self || b->way[r] != NONE32)
                continue;
            b->way[r] = b->way[queue[i]];
            queue[count++] = r;
        }
    sim_free(queue);
}

struct net_border *net_border_create(const net_packet_engine *e)
{
    struct net_border *b = SIM_NEW(struct net_border, 1);
    uint32_t ranks = net_mpi_ranks();
    uint8_t *is_next = rank_matrix(e, ranks);
    b->neighbour = SIM_NEW(struct neighbour, ranks);
    b->has_link = SIM_NEW(uint8_t, topo_nodes(e->topology));
    for (uint32_t r = 0; r < ranks; r++)
        if (is_next[(size_t)e->rank * ranks + r]) b->neighbour[b->neighbours++].rank = r;
    find_ways(b, is_next, ranks, e->rank);
    sim_free(is_next);
    return b;
}

void net_border_destroy(struct net_border *b)
{
    if (b == NULL) return;
    for (uint32_t i = 0; i < b->neighbours; i++) {
        struct neighbour *n = &b->neighbour[i];
        sim_free(n->far);
        sim_free(n->near);
        sim_free(n->route_of);
        sim_free(n->is_route_told);
        net_bytes_release(&n->out);
        net_bytes_release(&n->in);
        net_bytes_release(&n->mail);
    }
    sim_free(b->neighbour);
    sim_free(b->way);
    sim_free(b->has_link);
    sim_free(b);
}

void net_border_add_link(net_packet_engine *e, topo_link_id link, uint32_t ring)
{
    uint32_t from = topo_link_from(e->topology, link), to = topo_link_to(e->topology, link);
    bool is_far = e->part[from] == e->rank;
    struct neighbour *n = &e->border->neighbour[e->border->way[e->part[is_far ? to : from]]];
    e->border->has_link[is_far ? from : to] = 1;
    for (uint32_t i = ring; i < ring + e->vcs; i++) {
        uint32_t slot = i << e->shift;
        if (is_far) {
            SIM_GROW(n->far, n->far_capacity, n->fars + 1);
            n->far[n->fars++] = (struct far_ring){from, slot, slot, 0};
        } else {
            SIM_GROW(n->near, n->near_capacity, n->nears + 1);
            uint32_t queue = i - e->first_ring[to];
            n->near[n->nears++] = (struct near_ring){queue, to, slot, slot, 0};
        }
    }
}

bool net_border_has_node(const struct net_border *b, uint32_t node)
{
    return b->has_link[node];
}

void net_border_mail(net_packet_engine *e, uint32_t rank, const void *bytes, size_t count)
{
    assert(e->border->way[rank] != NONE32);
    struct neighbour *n = &e->border->neighbour[e->border->way[rank]];
    net_bytes_put_u32(&n->mail, rank);
    net_bytes_put_u32(&n->mail, (uint32_t)count);
    net_bytes_put(&n->mail, bytes, count);
    n->mails++;
}

bool net_border_has_mail(const struct net_border *b)
{
    for (uint32_t i = 0; i < b->neighbours; i++)
        if (b->neighbour[i].mails > 0) return true;
    return false;
}

/* ---- telling ---- */

/* Sizes in the order of their numbers. */
static void tell_sizes(const net_packet_engine *e, struct neighbour *n)
{
    net_bytes_put_u32(&n->out, e->sizes - n->sizes_told);
    net_bytes_put(&n->out, e->size_bytes + n->sizes_told,
                  (e->sizes - n->sizes_told) * sizeof *e->size_bytes);
    n->sizes_told = e->sizes;
}

static void tell_route(const net_packet_engine *e, struct neighbour *n, uint32_t step)
{
    uint32_t steps = 1;
    while (e->step[step + steps - 1] != STEP_HERE)
        steps++;
    net_bytes_put_u32(&n->out, step);
    net_bytes_put_u32(&n->out, steps);
    net_bytes_put(&n->out, e->step + step, steps * sizeof *e->step);
}

static bool is_news(struct neighbour *n, uint32_t step)
{
    uint32_t before = n->told_capacity;
    SIM_GROW(n->is_route_told, n->told_capacity, step + 1);
    memset(n->is_route_told + before, 0, n->told_capacity - before);
    bool is_new = !n->is_route_told[step];
    n->is_route_told[step] = 1;
    return is_new;
}

/* Filled since the last window; all of them are occupied, and no more than the reader has not. */
static uint32_t count_filled(const net_packet_engine *e, const struct far_ring *r)
{
    uint32_t count = 0, at = r->sent;
    while (r->with_reader + count < e->depth && e->slot[at].time >= OCCUPIED) {
        at = ring_on(e, at, 1);
        count++;
    }
    return count;
}

/* A count that is known only later: its place. */
static size_t put_count(struct net_bytes *b)
{
    net_bytes_put_u32(b, 0);
    return b->count - sizeof(uint32_t);
}

static void set_count(struct net_bytes *b, size_t place, uint32_t count)
{
    memcpy(b->data + place, &count, sizeof count);
}

/* Before the slots that take them. */
static void tell_routes(const net_packet_engine *e, struct neighbour *n)
{
    size_t place = put_count(&n->out);
    uint32_t routes = 0;
    for (uint32_t i = 0; i < n->fars && e->steps > 0; i++) {
        const struct far_ring *r = &n->far[i];
        uint32_t at = r->sent;
        for (uint32_t left = count_filled(e, r); left > 0; left--, at = ring_on(e, at, 1)) {
            uint32_t route = route_of(e->slot[at].packet);
            if (!(route & ROUTE_TABLE) || !is_news(n, route & ROUTE_INDEX)) continue;
            tell_route(e, n, route & ROUTE_INDEX);
            routes++;
        }
    }
    set_count(&n->out, place, routes);
}

static void tell_filled(const net_packet_engine *e, struct neighbour *n)
{
    size_t place = put_count(&n->out);
    uint32_t rings = 0;
    for (uint32_t i = 0; i < n->fars; i++) {
        struct far_ring *r = &n->far[i];
        uint32_t count = count_filled(e, r);
        if (count == 0) continue;
        net_bytes_put_u32(&n->out, i);
        net_bytes_put_u32(&n->out, count);
        for (uint32_t left = count; left > 0; left--, r->sent = ring_on(e, r->sent, 1))
            net_bytes_put(&n->out, &e->slot[r->sent], sizeof(struct slot));
        r->with_reader += count;
        rings++;
    }
    set_count(&n->out, place, rings);
}

static void tell_freed(const net_packet_engine *e, struct neighbour *n)
{
    size_t place = put_count(&n->out);
    uint32_t rings = 0;
    for (uint32_t i = 0; i < n->nears; i++) {
        struct near_ring *r = &n->near[i];
        if (r->held == 0 || e->slot[r->told].time >= OCCUPIED) continue;
        net_bytes_put_u32(&n->out, i);
        size_t count_place = put_count(&n->out);
        uint32_t count = 0;
        for (; r->held > 0 && e->slot[r->told].time < OCCUPIED; r->held--, count++) {
            net_bytes_put(&n->out, &e->slot[r->told].time, sizeof(net_ticks));
            r->told = ring_on(e, r->told, 1);
        }
        set_count(&n->out, count_place, count);
        rings++;
    }
    set_count(&n->out, place, rings);
}

static void tell_mail(struct neighbour *n)
{
    net_bytes_put_u32(&n->out, n->mails);
    net_bytes_put(&n->out, n->mail.data, n->mail.count);
    net_bytes_clear(&n->mail);
    n->mails = 0;
}

void net_border_send(net_packet_engine *e)
{
    struct net_border *b = e->border;
    for (uint32_t i = 0; i < b->neighbours; i++) {
        struct neighbour *n = &b->neighbour[i];
        net_bytes_clear(&n->out);
        tell_sizes(e, n);
        tell_routes(e, n);
        tell_filled(e, n);
        tell_freed(e, n);
        tell_mail(n);
        net_mpi_send(n->rank, &n->out);
    }
}

/* ---- being told ---- */

static void learn_sizes(net_packet_engine *e, struct neighbour *n)
{
    for (uint32_t left = net_bytes_take_u32(&n->in); left > 0; left--) {
        double bytes;
        net_bytes_take(&n->in, &bytes, sizeof bytes);
        uint32_t size = net_packet_size(e, bytes);
        if (size == NET_PACKET_NO_SIZE) {
            net_packet_stop(e);
            size = 0;
        }
        n->size_of[n->sizes_known++] = size;
    }
}

static void learn_routes(net_packet_engine *e, struct neighbour *n)
{
    for (uint32_t left = net_bytes_take_u32(&n->in); left > 0; left--) {
        uint32_t theirs = net_bytes_take_u32(&n->in), steps = net_bytes_take_u32(&n->in);
        uint16_t *step = SIM_NEW(uint16_t, steps);
        net_bytes_take(&n->in, step, steps * sizeof *step);
        SIM_GROW(n->route_of, n->route_capacity, theirs + 1);
        n->route_of[theirs] = net_packet_table_route(e, step, steps);
        sim_free(step);
    }
}

/* Of theirs, with our numbers. */
static uint64_t translate(const struct neighbour *n, uint64_t packet)
{
    uint32_t route = route_of(packet), tag = tag_of(packet);
    const uint32_t message = (UINT32_C(1) << TAG_SIZE_BIT) - 1;
    tag = (tag & message) | n->size_of[tag >> TAG_SIZE_BIT] << TAG_SIZE_BIT;
    if (route & ROUTE_TABLE)
        route = n->route_of[route & ROUTE_INDEX] | (route & (ROUTE_LAST | ROUTE_TAIL));
    return packet_of(route, tag);
}

static void fill_slots(net_packet_engine *e, struct neighbour *n)
{
    for (uint32_t rings = net_bytes_take_u32(&n->in); rings > 0; rings--) {
        struct near_ring *r = &n->near[net_bytes_take_u32(&n->in)];
        for (uint32_t left = net_bytes_take_u32(&n->in); left > 0; left--) {
            struct slot *s = &e->slot[r->filled];
            net_bytes_take(&n->in, s, sizeof *s);
            s->packet = translate(n, s->packet);
            set_bit(arriving_at(e, e->words, r->node), r->queue);
            wake(e, r->node, s->time - OCCUPIED);
            r->filled = ring_on(e, r->filled, 1);
            r->held++;
        }
    }
}

static void free_slots(net_packet_engine *e, struct neighbour *n)
{
    for (uint32_t rings = net_bytes_take_u32(&n->in); rings > 0; rings--) {
        struct far_ring *r = &n->far[net_bytes_take_u32(&n->in)];
        for (uint32_t left = net_bytes_take_u32(&n->in); left > 0; left--) {
            struct slot *s = &e->slot[r->freed];
            net_bytes_take(&n->in, &s->time, sizeof s->time);
            wake(e, r->node, s->time);
            r->freed = ring_on(e, r->freed, 1);
            r->with_reader--;
        }
    }
}

static void take_mail(net_packet_engine *e, struct neighbour *n)
{
    for (uint32_t left = net_bytes_take_u32(&n->in); left > 0; left--) {
        uint32_t rank = net_bytes_take_u32(&n->in), count = net_bytes_take_u32(&n->in);
        const char *bytes = n->in.data + n->in.at;
        n->in.at += count;
        if (rank == e->rank)
            e->client.mail(e->client.context, bytes, count);
        else
            net_border_mail(e, rank, bytes, count);
    }
}

void net_border_receive(net_packet_engine *e)
{
    struct net_border *b = e->border;
    for (uint32_t i = 0; i < b->neighbours; i++)
        net_mpi_receive(b->neighbour[i].rank, &b->neighbour[i].in);
    net_mpi_finish_sends();
    for (uint32_t i = 0; i < b->neighbours; i++) {
        struct neighbour *n = &b->neighbour[i];
        learn_sizes(e, n);
        learn_routes(e, n);
        fill_slots(e, n);
        free_slots(e, n);
        take_mail(e, n);
    }
}
