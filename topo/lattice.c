/*
 * Shortest vectors of a coset of the closing lattice; see lattice.h.
 */
#include "topo/lattice.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define CLOSINGS_MAX 2 /* |c_a| tried for twisted axes */

bool topo_lattice_is_twisted(const struct topo_lattice *lattice)
{
    for (uint32_t a = 0; a < lattice->axes; a++)
        for (uint32_t b = 0; b < lattice->axes; b++)
            if (lattice->twist[a][b] != 0) return true;
    return false;
}

/* ---- plain tori: axis by axis ---- */

static uint32_t axis_ways(const struct topo_lattice *lattice, uint32_t axis, int32_t difference,
                          int32_t way[2])
{
    int32_t k = (int32_t)lattice->size[axis];
    way[0] = difference;
    if (!lattice->is_wrapped[axis] || difference == 0) return 1;
    int32_t positive = (difference + k) % k;
    way[0] = 2 * positive <= k ? positive : positive - k;
    way[1] = positive - k; /* used at a tie: k/2 hops either way */
    return 2 * positive == k ? 2 : 1;
}

static uint32_t plain_minimal(const struct topo_lattice *lattice,
                              const int32_t difference[TOPO_AXES_MAX],
                              int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX])
{
    int32_t way[TOPO_AXES_MAX][2];
    uint32_t ways[TOPO_AXES_MAX], count = 1;
    for (uint32_t a = 0; a < lattice->axes; a++) {
        ways[a] = axis_ways(lattice, a, difference[a], way[a]);
        count *= ways[a];
    }
    for (uint32_t i = 0; i < count; i++) { /* mixed-radix digits of i, the first axis slowest */
        uint32_t rest = i;
        for (uint32_t a = lattice->axes; a-- > 0; rest /= ways[a])
            hops[i][a] = way[a][rest % ways[a]];
    }
    return count;
}

/* ---- twisted tori: all axes together ---- */

static uint32_t length_of(const int32_t hops[TOPO_AXES_MAX], uint32_t axes)
{
    uint32_t length = 0;
    for (uint32_t a = 0; a < axes; a++)
        length += (uint32_t)abs(hops[a]);
    return length;
}

/* difference + sum of closings[a] L_a */
static void close_axes(const struct topo_lattice *lattice, const int32_t difference[TOPO_AXES_MAX],
                       const int32_t closings[TOPO_AXES_MAX], int32_t hops[TOPO_AXES_MAX])
{
    for (uint32_t b = 0; b < lattice->axes; b++) {
        hops[b] = difference[b] + closings[b] * (int32_t)lattice->size[b];
        for (uint32_t a = 0; a < lattice->axes; a++)
            hops[b] -= closings[a] * (int32_t)lattice->twist[a][b];
    }
}

/* The next combination of closings in rising order, axis 0 slowest; false after the last. */
static bool next_closings(const struct topo_lattice *lattice, int32_t closings[TOPO_AXES_MAX])
{
    for (uint32_t a = lattice->axes; a-- > 0;) {
        if (!lattice->is_wrapped[a]) continue;
        if (++closings[a] <= CLOSINGS_MAX) return true;
        closings[a] = -CLOSINGS_MAX;
    }
    return false;
}

static int by_falling_hops(const void *left, const void *right)
{
    const int32_t *a = left, *b = right;
    for (uint32_t i = 0; i < TOPO_AXES_MAX; i++)
        if (a[i] != b[i]) return a[i] > b[i] ? -1 : 1;
    return 0;
}

static uint32_t twisted_minimal(const struct topo_lattice *lattice,
                                const int32_t difference[TOPO_AXES_MAX],
                                int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX])
{
    int32_t closings[TOPO_AXES_MAX] = {0}, vector[TOPO_AXES_MAX] = {0};
    uint32_t count = 0, shortest = UINT32_MAX;
    for (uint32_t a = 0; a < lattice->axes; a++)
        closings[a] = lattice->is_wrapped[a] ? -CLOSINGS_MAX : 0;
    do {
        close_axes(lattice, difference, closings, vector);
        uint32_t length = length_of(vector, lattice->axes);
        if (length > shortest) continue;
        if (length < shortest) count = 0;
        shortest = length;
        assert(count < TOPO_VECTORS_MAX);
        memcpy(hops[count++], vector, sizeof vector);
    } while (next_closings(lattice, closings));
    qsort(hops, count, sizeof hops[0], by_falling_hops);
    return count;
}

uint32_t topo_lattice_minimal(const struct topo_lattice *lattice,
                              const int32_t difference[TOPO_AXES_MAX],
                              int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX])
{
    memset(hops, 0, sizeof(int32_t[TOPO_VECTORS_MAX][TOPO_AXES_MAX]));
    if (topo_lattice_is_twisted(lattice)) return twisted_minimal(lattice, difference, hops);
    return plain_minimal(lattice, difference, hops);
}

uint32_t topo_lattice_distance(const struct topo_lattice *lattice, uint32_t src, uint32_t dst)
{
    int32_t hops[TOPO_VECTORS_MAX][TOPO_AXES_MAX], difference[TOPO_AXES_MAX] = {0};
    for (uint32_t a = 0; a < lattice->axes; a++) {
        difference[a] = (int32_t)(dst % lattice->size[a]) - (int32_t)(src % lattice->size[a]);
        src /= lattice->size[a];
        dst /= lattice->size[a];
    }
    topo_lattice_minimal(lattice, difference, hops);
    return length_of(hops[0], lattice->axes);
}

bool topo_lattice_step(const struct topo_lattice *lattice, uint32_t coord[TOPO_AXES_MAX],
                       uint32_t port)
{
    uint32_t axis = port / 2, k = lattice->size[axis];
    bool is_positive = port % 2 == 0, is_at_edge = coord[axis] == (is_positive ? k - 1 : 0);
    if (k == 1 && !lattice->is_wrapped[axis]) return false;
    if (!is_at_edge) {
        coord[axis] += is_positive ? 1 : UINT32_MAX; /* modular: adds or subtracts 1 */
        return true;
    }
    if (!lattice->is_wrapped[axis]) return false;
    coord[axis] = is_positive ? 0 : k - 1;
    for (uint32_t b = 0; b < lattice->axes; b++) {
        uint32_t shift = lattice->twist[axis][b];
        coord[b] = (coord[b] + (is_positive ? shift : lattice->size[b] - shift)) % lattice->size[b];
    }
    return true;
}
