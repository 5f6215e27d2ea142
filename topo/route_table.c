/*
 * Routes from a file: a line a pair, "src dst: chip chip ...", the chips (or switches) passed on
 * the way, ends included or not. Blank lines and lines with # are skipped. A pair may have several
 * lines: its bytes are split evenly over them. Pairs without a line keep the default routing.
 *
 * Routes are kept sorted by pair; a route is found by bisection. All links use channel 0: whether a
 * table can deadlock is for the deadlock check to say.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/quantity.h"
#include "topo/topo_internal.h"

struct entry {
    topo_chip_id src, dst;
    uint32_t order;      /* of the line: keeps sorting total */
    uint32_t begin, end; /* into link */
};

struct topo_route_table {
    struct entry *entry;
    uint32_t count, capacity;
    topo_link_id *link;
    uint32_t link_count, link_capacity;
};

static int by_pair(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    if (a->src != b->src) return a->src < b->src ? -1 : 1;
    if (a->dst != b->dst) return a->dst < b->dst ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* First entry of a pair, or where it would be. */
static uint32_t find(const struct topo_route_table *table, topo_chip_id src, topo_chip_id dst)
{
    uint32_t low = 0, high = table->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        const struct entry *e = &table->entry[mid];
        if (e->src < src || (e->src == src && e->dst < dst))
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void table_route(const topo *t, topo_chip_id src, topo_chip_id dst, struct topo_paths *paths)
{
    const struct topo_route_table *table = t->route_table;
    uint32_t i = find(table, src, dst);
    if (src == dst || i == table->count || table->entry[i].src != src ||
        table->entry[i].dst != dst) {
        t->base_routing->route(t, src, dst, paths);
        return;
    }
    topo_paths_reset(paths);
    for (; i < table->count && table->entry[i].src == src && table->entry[i].dst == dst; i++) {
        for (uint32_t h = table->entry[i].begin; h < table->entry[i].end; h++)
            topo_paths_push(paths, table->link[h], 0);
        topo_paths_close(paths, 1);
    }
    topo_paths_share_evenly(paths);
}

static uint32_t table_distance(const topo *t, topo_chip_id src, topo_chip_id dst)
{
    return t->base_routing->distance(t, src, dst);
}

static const struct topo_routing table_routing = {
    .name = "table", .route = table_route, .distance = table_distance, .channels = 1};

/* ---- reading ---- */

static topo_link_id link_between(const topo *t, topo_node_id from, topo_node_id to)
{
    for (topo_link_id l = t->out_begin[from]; l < t->out_begin[from + 1]; l++)
        if (t->link_to[l] == to) return l;
    return TOPO_NONE;
}

static enum sim_status read_node(const topo *t, const char *word, uint32_t limit, const char *path,
                                 int line, struct sim_error *err, topo_node_id *out)
{
    uint64_t value;
    struct sim_error why = {0};
    (void)t;
    if (sim_count_parse(word, 0, limit - 1, &why, &value) != SIM_OK)
        return sim_error_at(err, SIM_EDATA, path, line, 0, "found \"%s\", want an id from 0 to %u",
                            word, limit - 1);
    *out = (topo_node_id)value;
    return SIM_OK;
}

static enum sim_status push_hop(const topo *t, struct topo_route_table *table, topo_node_id from,
                                topo_node_id to, const char *path, int line, struct sim_error *err)
{
    topo_link_id link = link_between(t, from, to);
    if (link == TOPO_NONE)
        return sim_error_at(err, SIM_EDATA, path, line, 0, "%s has no link from %u to %u", t->spec,
                            from, to);
    SIM_GROW(table->link, table->link_capacity, table->link_count + 1);
    table->link[table->link_count++] = link;
    return SIM_OK;
}

static enum sim_status read_line(const topo *t, struct topo_route_table *table, char *text,
                                 const char *path, int line, struct sim_error *err)
{
    static const char blanks[] = " \t\r\n:";
    char *rest = NULL, *word = strtok_r(text, blanks, &rest);
    struct entry e = {.order = (uint32_t)line, .begin = table->link_count};
    if (word == NULL || word[0] == '#') return SIM_OK;
    SIM_TRY(read_node(t, word, t->chips, path, line, err, &e.src));
    word = strtok_r(NULL, blanks, &rest);
    if (word == NULL)
        return sim_error_at(err, SIM_EDATA, path, line, 0, "want \"src dst: chip chip ...\"");
    SIM_TRY(read_node(t, word, t->chips, path, line, err, &e.dst));
    topo_node_id at = e.src;
    while ((word = strtok_r(NULL, blanks, &rest)) != NULL) {
        topo_node_id next;
        SIM_TRY(read_node(t, word, t->nodes, path, line, err, &next));
        if (next != at) SIM_TRY(push_hop(t, table, at, next, path, line, err));
        at = next;
    }
    if (at != e.dst) SIM_TRY(push_hop(t, table, at, e.dst, path, line, err));
    e.end = table->link_count;
    SIM_GROW(table->entry, table->capacity, table->count + 1);
    table->entry[table->count++] = e;
    return SIM_OK;
}

void topo_route_table_destroy(struct topo_route_table *table)
{
    if (table == NULL) return;
    sim_free(table->entry);
    sim_free(table->link);
    sim_free(table);
}

enum sim_status topo_table_routing(topo *t, const char *path, struct sim_error *err)
{
    FILE *in = fopen(path, "r");
    if (in == NULL)
        return sim_error_set(err, SIM_ENOINPUT,
                             "routing \"%s\" is no known name (dimension-order, balanced, "
                             "fault-tolerant, ecmp, up-down, "
                             "valiant) and no file: %s",
                             path, strerror(errno));
    struct stat place;
    if (fstat(fileno(in), &place) != 0 || S_ISDIR(place.st_mode) || S_ISCHR(place.st_mode)) {
        fclose(in);
        return sim_error_set(err, SIM_ENOINPUT, "routing \"%s\" is a folder or a device, no file",
                             path);
    }
    t->route_table = SIM_NEW(struct topo_route_table, 1);
    enum sim_status status = SIM_OK;
    char *text = NULL;
    size_t bytes = 0;
    for (int line = 1; status == SIM_OK && getline(&text, &bytes, in) >= 0; line++)
        status = read_line(t, t->route_table, text, path, line, err);
    if (status == SIM_OK && ferror(in))
        status = sim_error_set(err, SIM_ENOINPUT, "cannot read %s: %s", path, strerror(errno));
    free(text);
    fclose(in);
    if (status != SIM_OK) return status;
    if (t->route_table->count > 0)
        qsort(t->route_table->entry, t->route_table->count, sizeof t->route_table->entry[0],
              by_pair);
    t->routing = &table_routing;
    return SIM_OK;
}
