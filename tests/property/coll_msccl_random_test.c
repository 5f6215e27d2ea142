/* Random algorithms: circles and races are found where reachability, worked out for every pair of
 * steps, says that there are some. */
#include <stdio.h>
#include <string.h>

#include "base/arena.h"
#include "base/rng.h"
#include "collectives/msccl_internal.h"
#include "tests/support.h"

enum { GPUS = 3, BLOCKS = 3, MESSAGES = 3, EXTRA = 3, CHUNKS = 24, STEPS_MAX = 64 };

static uint32_t below(struct sim_rng *rng, uint32_t limit)
{
    return (uint32_t)sim_rng_below(rng, limit);
}

static void add_step(coll_msccl *a, struct sim_rng *rng, enum msccl_type type)
{
    const struct msccl_block *block = &a->block[a->block_count - 1];
    int32_t index = (int32_t)(block->step_end - block->step_begin);
    struct msccl_step *step = msccl_add_step(a);
    step->type = type;
    step->index = index;
    step->src_buffer = (enum msccl_buffer)below(rng, MSCCL_BUFFERS);
    step->dst_buffer = (enum msccl_buffer)below(rng, MSCCL_BUFFERS);
    step->src_offset = (int32_t)below(rng, CHUNKS);
    step->dst_offset = (int32_t)below(rng, CHUNKS);
    step->count = 1;
}

/* Steps of a block: its sends or receives in order, copies and sums in between. */
static void add_steps(coll_msccl *a, struct sim_rng *rng, int kind)
{
    int messages = kind < 2 ? MESSAGES : 0, extra = (int)below(rng, EXTRA + 1);
    while (messages + extra > 0) {
        if ((int)below(rng, (uint32_t)(messages + extra)) < messages) {
            add_step(a, rng, kind == 0 ? MSCCL_SEND : MSCCL_RECEIVE);
            messages--;
        } else {
            add_step(a, rng, below(rng, 2) == 0 ? MSCCL_COPY : MSCCL_REDUCE);
            extra--;
        }
    }
}

/* A ring: block 0 of each gpu sends on, block 1 receives, block 2 works on its own. */
static coll_msccl *make_algorithm(struct sim_rng *rng)
{
    coll_msccl *a = msccl_create("random");
    a->op = COLL_OPS;
    a->gpus = GPUS;
    a->channels = 1;
    a->chunks = CHUNKS;
    for (uint32_t g = 0; g < GPUS; g++) {
        struct msccl_gpu *gpu = msccl_add_gpu(a, g);
        gpu->line = 1;
        for (int i = 0; i < MSCCL_BUFFERS; i++)
            gpu->chunks[i] = CHUNKS;
        for (int b = 0; b < BLOCKS; b++) {
            struct msccl_block *block = msccl_add_block(a);
            block->id = b;
            block->send = b == 0 ? (int32_t)(g + 1) % GPUS : -1;
            block->receive = b == 1 ? (int32_t)(g + GPUS - 1) % GPUS : -1;
            add_steps(a, rng, b);
        }
    }
    ck_assert_uint_le(a->step_count, STEPS_MAX);
    return a;
}

/* Dependences within gpus; backwards ones may close circles. */
static void add_dependences(coll_msccl *a, struct sim_rng *rng)
{
    for (uint32_t i = 0; i < a->step_count; i++) {
        uint32_t gpu = a->block[a->step[i].block].gpu, other = below(rng, a->step_count);
        const struct msccl_block *block = &a->block[a->step[other].block];
        bool is_back = a->step[other].index > a->step[i].index;
        if (block->gpu != gpu || other == i || (is_back && below(rng, 8) > 0)) continue;
        a->step[i].dep_block = block->id;
        a->step[i].dep_index = a->step[other].index;
    }
}

/* ---- the slow way ---- */

static bool reach[STEPS_MAX][STEPS_MAX]; /* from before to after */

static void find_reach(const coll_msccl *a)
{
    uint32_t n = a->step_count;
    memset(reach, 0, sizeof reach);
    for (uint32_t i = 0; i < n; i++) {
        if (i > a->block[a->step[i].block].step_begin) reach[i - 1][i] = true;
        if (a->step[i].dep != NET_NONE) reach[a->step[i].dep][i] = true;
        if (a->step[i].sender != NET_NONE) reach[a->step[i].sender][i] = true;
    }
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j < n; j++)
                reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
}

static bool touches(const struct msccl_step *s, uint32_t chunk, bool *is_write)
{
    const struct msccl_traits *t = &msccl_traits[s->type];
    uint32_t src = (uint32_t)s->src_buffer * CHUNKS + (uint32_t)s->src_offset;
    uint32_t dst = (uint32_t)s->dst_buffer * CHUNKS + (uint32_t)s->dst_offset;
    *is_write = t->writes_dst && dst == chunk;
    return *is_write || (t->reads_src && src == chunk);
}

static bool is_race(const coll_msccl *a, uint32_t i, uint32_t j)
{
    const struct msccl_step *x = &a->step[i], *y = &a->step[j];
    if (x->block == y->block || a->block[x->block].gpu != a->block[y->block].gpu) return false;
    if (reach[i][j] || reach[j][i]) return false;
    for (uint32_t c = 0; c < MSCCL_BUFFERS * CHUNKS; c++) {
        bool writes, also;
        if (touches(x, c, &writes) && touches(y, c, &also) && (writes || also)) return true;
    }
    return false;
}

struct found {
    const coll_msccl *a;
    uint32_t races;
};

/* What is reported is a race; one a gpu will do. */
static bool count_race(void *context, uint32_t earlier, uint32_t later)
{
    struct found *found = context;
    ck_assert(is_race(found->a, earlier, later));
    found->races++;
    return false;
}

static uint32_t gpus_with_races(const coll_msccl *a)
{
    bool has[GPUS] = {false};
    uint32_t count = 0;
    for (uint32_t i = 0; i < a->step_count; i++)
        for (uint32_t j = 0; j < i; j++)
            if (is_race(a, i, j)) has[a->block[a->step[i].block].gpu] = true;
    for (int g = 0; g < GPUS; g++)
        count += has[g];
    return count;
}

START_TEST(circles_and_races_are_those_of_reachability)
{
    struct sim_rng rng;
    int circles = 0, races = 0, clean = 0;
    sim_rng_init(&rng, 7, (uint64_t)_i);
    for (int k = 0; k < 400; k++) {
        struct sim_error err = {0};
        coll_msccl *a = make_algorithm(&rng);
        add_dependences(a, &rng);
        ck_assert_msg(msccl_check_structure(a, &err) == SIM_OK, "seed 7/%d: %s", _i, err.text);
        ck_assert_msg(msccl_match(a, &err) == SIM_OK, "seed 7/%d: %s", _i, err.text);
        find_reach(a);
        bool has_circle = false;
        for (uint32_t i = 0; i < a->step_count; i++)
            has_circle = has_circle || reach[i][i];
        struct msccl_order order = msccl_order_make(a, NULL, 0);
        ck_assert_int_eq(msccl_order_check(a, &order, &err) != SIM_OK, has_circle);
        struct found found = {a, 0};
        if (!has_circle) {
            msccl_find_races(a, &order, false, count_race, &found);
            ck_assert_uint_eq(found.races, gpus_with_races(a));
        }
        *(has_circle ? &circles : found.races > 0 ? &races : &clean) += 1;
        msccl_order_release(&order);
        coll_msccl_destroy(a);
    }
    ck_assert_msg(circles > 20 && races > 20 && clean > 20, "%d, %d, %d", circles, races, clean);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("msccl_random");
    TCase *sweep = tcase_create("sweep");
    tcase_set_timeout(sweep, 120);
    tcase_add_loop_test(sweep, circles_and_races_are_those_of_reachability, 0, 5);
    suite_add_tcase(suite, sweep);
    return run_suite(suite);
}
