/* An audit passes over what a run leaves, and names what has been broken by hand. */
#include <string.h>

#include "netsim/packet_internal.h"
#include "tests/support.h"

static bool no_more(void *context, uint32_t node, uint32_t port, net_ticks free,
                    struct net_packet *packet, net_ticks *ready)
{
    (void)context, (void)node, (void)port, (void)free, (void)packet, (void)ready;
    return false;
}

static void count_delivery(void *context, uint32_t node, uint32_t message, bool is_last,
                           net_ticks when)
{
    (void)node, (void)message, (void)is_last, (void)when;
    ++*(uint32_t *)context;
}

/* A packet from chip 0 of a ring of 5 to chip 2, stopped on its first link. */
struct half_way {
    topo *t;
    struct net_router router;
    net_packet_engine *engine;
    uint32_t delivered;
};

static void start(struct half_way *h)
{
    struct sim_error err = {0};
    struct topo_paths paths = {0};
    h->t = topo_or_fail("ring:5,latency=1us");
    h->router = *net_router_find("tpu");
    h->router.is_audited = true;
    h->delivered = 0;
    const struct net_packet_client client = {&h->delivered, NULL, no_more, count_delivery, NULL};
    ck_assert_int_eq(net_packet_create(h->t, &h->router, &client, NULL, &err, &h->engine), SIM_OK);
    topo_route(h->t, 0, 2, &paths);
    struct net_packet packet = {.route = net_packet_route(h->engine, &paths, 0),
                                .size = net_packet_size(h->engine, 4096),
                                .is_last = true};
    uint32_t port;
    net_packet_ports_of(h->engine, 0, packet.route, &port);
    net_packet_offer(h->engine, 0, port, &packet, 0);
    topo_paths_release(&paths);
    ck_assert(net_packet_run(h->engine, net_packet_ticks_per_ps(h->engine) * 500000));
    ck_assert_uint_eq(net_packet_in_flight(h->engine), 1);
}

static void finish(struct half_way *h, const char *fault)
{
    struct sim_error err = {0};
    net_packet_run(h->engine, NET_TICKS_NEVER - 1);
    enum sim_status status = net_packet_fault(h->engine, &err);
    ck_assert_int_eq(status, fault == NULL ? SIM_OK : SIM_EINTERNAL);
    if (fault != NULL) ck_assert_msg(strstr(err.text, fault) != NULL, "%s", err.text);
    ck_assert_uint_eq(h->delivered, fault == NULL);
    net_packet_destroy(h->engine);
    topo_destroy(h->t);
}

static struct slot *the_packet(const struct half_way *h)
{
    for (size_t i = 0; i < (size_t)h->engine->rings << h->engine->shift; i++)
        if (h->engine->slot[i].time >= OCCUPIED) return &h->engine->slot[i];
    return NULL;
}

START_TEST(a_run_is_whole)
{
    struct half_way h;
    start(&h);
    finish(&h, NULL);
}
END_TEST

START_TEST(a_lost_packet_is_missed)
{
    struct half_way h;
    start(&h);
    the_packet(&h)->time = 0;
    net_packet_audit(h.engine);
    finish(&h, "a credit is lost");
}
END_TEST

START_TEST(a_packet_too_many_is_found)
{
    struct half_way h;
    start(&h);
    h.engine->counts.injected--;
    net_packet_audit(h.engine);
    finish(&h, "packets are made");
}
END_TEST

START_TEST(a_packet_out_of_its_place_is_found)
{
    struct half_way h;
    start(&h);
    struct slot *s = the_packet(&h);
    s[3] = *s;
    net_packet_audit(h.engine);
    finish(&h, "packets are scattered");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {a_run_is_whole, a_lost_packet_is_missed,
                                  a_packet_too_many_is_found, a_packet_out_of_its_place_is_found};
    return run_suite(SUITE_OF("net_packet_audit", tests));
}
