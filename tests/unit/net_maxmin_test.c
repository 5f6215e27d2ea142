/* Rates worked out by hand. Links are numbered from 0; a flow is the list of links it crosses. */
#include "netsim/maxmin.h"
#include "tests/support.h"

#define LINKS_MAX 8
#define HOPS_MAX  32

struct problem {
    uint32_t links;
    double capacity[LINKS_MAX];
    uint32_t flows, begin[HOPS_MAX + 1], link[HOPS_MAX];
};

static void flow(struct problem *p, uint32_t hops, const uint32_t *link)
{
    uint32_t at = p->begin[p->flows];
    for (uint32_t i = 0; i < hops; i++)
        p->link[at++] = link[i];
    p->begin[++p->flows] = at;
}
#define FLOW(p, ...)                                                                               \
    flow((p), sizeof((uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t), (uint32_t[]){__VA_ARGS__})

static void assert_rates(const struct problem *p, const double *wanted)
{
    struct net_maxmin w;
    struct net_levels s = {0};
    net_maxmin_init(&w, p->links);
    for (uint32_t l = 0; l < p->links; l++) {
        w.link[l].capacity = p->capacity[l];
        net_maxmin_reset_link(&w, l);
    }
    for (uint32_t f = 0; f < p->flows; f++)
        net_levels_enter(&w, &s,
                         net_maxmin_add(&w, p->link + p->begin[f], p->begin[f + 1] - p->begin[f]));
    net_levels_solve(&w, &s);
    for (uint32_t f = 0; f < p->flows; f++)
        ck_assert_double_eq_tol(s.level[net_level_of(&w, &s, f)].rate, wanted[f], 1e-12);
    net_levels_release(&s);
    net_maxmin_release(&w);
}

START_TEST(three_flows_on_a_line)
{
    /* Links 1 and 1: the long flow and one short flow share each link, half each. */
    struct problem p = {.links = 2, .capacity = {1, 1}};
    FLOW(&p, 0, 1);
    FLOW(&p, 0);
    FLOW(&p, 1);
    assert_rates(&p, (double[]){0.5, 0.5, 0.5});
}
END_TEST

START_TEST(unequal_line_is_work_conserving)
{
    /* Links 1 and 10, A over both, B over the first, C over the second: A = B = 1/2, C takes the
     * rest, 9.5. */
    struct problem p = {.links = 2, .capacity = {1, 10}};
    FLOW(&p, 0, 1);
    FLOW(&p, 0);
    FLOW(&p, 1);
    assert_rates(&p, (double[]){0.5, 0.5, 9.5});
}
END_TEST

START_TEST(parking_lot)
{
    /* Three links of 1 in a row; one flow over all, one joining at each: every link is shared by
     * two. With a second flow on the last link its three users get 1/3, and the first two links'
     * own flows get 2/3. */
    struct problem p = {.links = 3, .capacity = {1, 1, 1}};
    FLOW(&p, 0, 1, 2);
    FLOW(&p, 0);
    FLOW(&p, 1);
    FLOW(&p, 2);
    FLOW(&p, 2);
    assert_rates(&p, (double[]){1.0 / 3, 2.0 / 3, 2.0 / 3, 1.0 / 3, 1.0 / 3});
}
END_TEST

START_TEST(two_bottleneck_levels)
{
    /* Link 0 (2) has flows a, b, c: 2/3 each. Link 1 (4) has c and d: d = 4 - 2/3. Link 2 (3) has d
     * and e: d is held to min(10/3, 3/2) = 3/2 by link 2, so d = e = 3/2 and link 1 is not full. */
    struct problem p = {.links = 3, .capacity = {2, 4, 3}};
    FLOW(&p, 0);
    FLOW(&p, 0);
    FLOW(&p, 0, 1);
    FLOW(&p, 1, 2);
    FLOW(&p, 2);
    assert_rates(&p, (double[]){2.0 / 3, 2.0 / 3, 2.0 / 3, 1.5, 1.5});
}
END_TEST

START_TEST(a_shared_bus)
{
    struct problem p = {.links = 1, .capacity = {64e9}};
    FLOW(&p, 0);
    FLOW(&p, 0);
    assert_rates(&p, (double[]){32e9, 32e9});
}
END_TEST

START_TEST(a_link_passed_twice_counts_twice)
{
    /* x + x + y <= 3 with x = y: 1 each. */
    struct problem p = {.links = 1, .capacity = {3}};
    FLOW(&p, 0, 0);
    FLOW(&p, 0);
    assert_rates(&p, (double[]){1, 1});
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {three_flows_on_a_line, unequal_line_is_work_conserving,
                                  parking_lot,           two_bottleneck_levels,
                                  a_shared_bus,          a_link_passed_twice_counts_twice};
    return run_suite(SUITE_OF("net_maxmin", tests));
}
