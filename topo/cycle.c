/*
 * Hamiltonian cycles and snake lines over a group.
 *
 * Pick one factor as the columns (m of them) and order the rest as rows (R of them) by a snake, in
 * which consecutive rows are neighbours. Three cycles of an R x m grid are enough:
 *
 *   R = 1             the columns must close themselves
 *   R even            column 0 is the way back up; the rows snake over columns 1 .. m-1
 *                       0 > 1 > 2        row 0
 *                       ^       v
 *                       5   4 < 3   ...  (drawn for R = 2: 0 1 2 | 2' 1' 0')
 *   R odd, m even     the same, transposed
 *   both odd          the snake over columns 1 .. m-1 ends at column m-1, which a closed column
 *                     factor joins to column 0
 *
 * An odd grid in which no factor closes is bipartite with unequal sides: it has no cycle, and the
 * snake is the line.
 */
#include "base/arena.h"
#include "topo/group.h"

/* Snake order of factors 0 .. count-1 of `extent`: digits of position p into digit[]. Consecutive
 * differ by one step. */
static void snake_digits(uint32_t count, const uint32_t *extent, uint32_t position, uint32_t *digit)
{
    /* The fastest factor reverses whenever the position among the slower ones is odd. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t d = position % extent[i];
        position /= extent[i];
        digit[i] = position % 2 == 0 ? d : extent[i] - 1 - d;
    }
}

struct grid {
    uint32_t column; /* which factor the columns are */
    uint32_t count, extent[TOPO_FACTORS_MAX], stride[TOPO_FACTORS_MAX];
    uint32_t rows, columns;
};

/* Rank of (row, column): the row is a snake position over the other factors. */
static uint32_t grid_rank(const struct grid *g, uint32_t row, uint32_t column)
{
    uint32_t others = 0, extent[TOPO_FACTORS_MAX], factor[TOPO_FACTORS_MAX],
             digit[TOPO_FACTORS_MAX];
    for (uint32_t i = 0; i < g->count; i++) {
        if (i == g->column) continue;
        extent[others] = g->extent[i];
        factor[others++] = i;
    }
    snake_digits(others, extent, row, digit);
    uint32_t rank = column * g->stride[g->column];
    for (uint32_t i = 0; i < others; i++)
        rank += digit[i] * g->stride[factor[i]];
    return rank;
}

static struct grid grid_of(const struct topo_group *group, uint32_t column)
{
    struct grid g = {.column = column, .count = group->factor_count, .rows = 1, .columns = 1};
    for (uint32_t i = 0, stride = 1; i < group->factor_count; i++) {
        g.extent[i] = group->factor[i].extent;
        g.stride[i] = stride;
        stride *= g.extent[i];
        if (i == column)
            g.columns = g.extent[i];
        else
            g.rows *= g.extent[i];
    }
    return g;
}

/* Down the rows over columns 1 .. m-1, alternating; back up column 0. Closes when rows are even or
 * the columns do. */
static void comb(const struct grid *g, uint32_t *rank_at)
{
    uint32_t p = 0, m = g->columns;
    for (uint32_t r = 0; r < g->rows; r++)
        for (uint32_t j = 1; j < m; j++)
            rank_at[p++] = grid_rank(g, r, r % 2 == 0 ? j : m - j);
    for (uint32_t r = g->rows; r-- > 0;)
        rank_at[p++] = grid_rank(g, r, 0);
}

/* Across the columns over rows 1 .. R-1, alternating; back along row 0. Closes when columns are
 * even. */
static void comb_transposed(const struct grid *g, uint32_t *rank_at)
{
    uint32_t p = 0, rows = g->rows;
    for (uint32_t c = 0; c < g->columns; c++)
        for (uint32_t j = 1; j < rows; j++)
            rank_at[p++] = grid_rank(g, c % 2 == 0 ? j : rows - j, c);
    for (uint32_t c = g->columns; c-- > 0;)
        rank_at[p++] = grid_rank(g, 0, c);
}

static void line(const struct grid *g, uint32_t *rank_at)
{
    uint32_t p = 0;
    for (uint32_t r = 0; r < g->rows; r++)
        for (uint32_t j = 0; j < g->columns; j++)
            rank_at[p++] = grid_rank(g, r, r % 2 == 0 ? j : g->columns - 1 - j);
}

/* The factor the columns are made of: a closed one if there is one, else the longest. */
static uint32_t choose_column(const topo *t, const struct topo_group *group)
{
    uint32_t best = 0;
    bool is_best_closed = false;
    for (uint32_t i = 0; i < group->factor_count; i++) {
        const struct topo_factor *f = &group->factor[i];
        bool is_closed = f->extent > 1 && topo_factor_is_ring(t, f);
        bool is_better =
            is_closed == is_best_closed ? f->extent > group->factor[best].extent : is_closed;
        if (is_better) best = i;
        if (is_better) is_best_closed = is_closed;
    }
    return best;
}

bool topo_group_cycle(const topo *t, const struct topo_group *group, uint32_t *rank_at)
{
    if (group->size == 1) {
        rank_at[0] = 0;
        return true;
    }
    uint32_t column = choose_column(t, group);
    struct grid g = grid_of(group, column);
    bool is_closed = topo_factor_is_ring(t, &group->factor[column]);
    if (g.rows == 1) {
        line(&g, rank_at);
        return is_closed;
    }
    if (g.rows % 2 == 0 || (is_closed && g.columns > 1))
        comb(&g, rank_at);
    else if (g.columns % 2 == 0)
        comb_transposed(&g, rank_at);
    else
        line(&g, rank_at);
    return g.rows % 2 == 0 || is_closed || g.columns % 2 == 0;
}
