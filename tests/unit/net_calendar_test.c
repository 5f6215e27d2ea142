/* Timers come out in time order, in the order they were added within an instant, and cancelled ones
 * never. */
#include <stdlib.h>

#include "base/rng.h"
#include "netsim/calendar.h"
#include "tests/support.h"

START_TEST(order_and_cancelling)
{
    net_calendar *cal = net_calendar_create();
    net_calendar_add(cal, 5, 0, 50);
    net_calendar_add(cal, 3, 0, 30);
    net_timer_id gone = net_calendar_add(cal, 3, 0, 31);
    net_calendar_add(cal, 3, 1, 32);
    net_timer_id alone = net_calendar_add(cal, 1, 0, 10);
    net_calendar_cancel(cal, gone);
    net_calendar_cancel(cal, alone); /* takes the instant with it */
    sim_ps at;
    uint32_t kind, payload;
    ck_assert(net_calendar_next(cal, &at));
    ck_assert_int_eq(at, 3);
    ck_assert(net_calendar_take(cal, 3, &kind, &payload));
    ck_assert_uint_eq(payload, 30);
    ck_assert(net_calendar_take(cal, 3, &kind, &payload));
    ck_assert_uint_eq(payload, 32);
    ck_assert_uint_eq(kind, 1);
    ck_assert(!net_calendar_take(cal, 3, &kind, &payload));
    ck_assert(net_calendar_take(cal, 5, &kind, &payload));
    ck_assert(!net_calendar_next(cal, &at));
    net_calendar_destroy(cal);
}
END_TEST

struct expected {
    sim_ps at;
    uint32_t payload;
    net_timer_id timer;
    bool is_live;
};

static int by_time(const void *left, const void *right)
{
    const struct expected *a = left, *b = right;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    return a->payload < b->payload
               ? -1
               : a->payload > b->payload; /* payloads rise with time of adding */
}

START_TEST(random_against_a_sorted_list)
{
    enum { N = 5000 };
    static struct expected list[N];
    struct sim_rng rng;
    sim_rng_init(&rng, 7, (uint64_t)_i);
    net_calendar *cal = net_calendar_create();
    for (uint32_t i = 0; i < N; i++) {
        list[i] = (struct expected){
            .at = (sim_ps)sim_rng_below(&rng, 1000), .payload = i, .is_live = true};
        list[i].timer = net_calendar_add(cal, list[i].at, 0, i);
    }
    for (uint32_t i = 0; i < N; i++)
        if (sim_rng_below(&rng, 3) == 0) {
            net_calendar_cancel(cal, list[i].timer);
            list[i].is_live = false;
        }
    qsort(list, N, sizeof list[0], by_time);
    for (uint32_t i = 0; i < N; i++) {
        if (!list[i].is_live) continue;
        sim_ps at;
        uint32_t kind, payload;
        ck_assert(net_calendar_next(cal, &at));
        ck_assert_int_eq(at, list[i].at);
        ck_assert(net_calendar_take(cal, at, &kind, &payload));
        ck_assert_uint_eq(payload, list[i].payload);
    }
    sim_ps at;
    ck_assert(!net_calendar_next(cal, &at));
    net_calendar_destroy(cal);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {order_and_cancelling};
    Suite *suite = SUITE_OF("net_calendar", tests);
    TCase *random = tcase_create("random");
    tcase_add_loop_test(random, random_against_a_sorted_list, 0, 5);
    suite_add_tcase(suite, random);
    return run_suite(suite);
}
