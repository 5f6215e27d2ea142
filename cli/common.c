/*
 * Shared command-line pieces.
 */
#include "cli/common.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/quantity.h"
#include "cli/options.h"
#include "netsim/mpi.h"
#include "topo/fault.h"
#include "topo/routing.h"

enum sim_status cli_topology_option(const char *name, const char *value,
                                    struct topo_options *options, struct sim_error *err)
{
    if (strcmp(name, "routing") == 0) {
        options->routing = value;
        return SIM_OK;
    }
    if (strcmp(name, "fail") == 0)
        return cli_option_error(name, topo_options_fail(options, value, err), err);
    if (strcmp(name, "fail-random") == 0) {
        options->fail_random = value;
        return SIM_OK;
    }
    if (strcmp(name, "repair") == 0) {
        static const char *const ways[] = {"spare", NULL};
        int way;
        options->is_repaired = true;
        return cli_choice("--repair", value, ways, err, &way);
    }
    enum sim_status status = strcmp(name, "link") == 0
                                 ? sim_rate_parse(value, err, &options->link_bytes_per_s)
                                 : sim_time_parse(value, err, &options->latency_ps);
    return cli_option_error(name, status, err);
}

/* The folder that `path` lies in, as device and inode, and its name there. False when it cannot be
 * found. */
static bool locate(const char *path, struct stat *folder, const char **name)
{
    char copy[4096];
    const char *slash = strrchr(path, '/');
    *name = slash != NULL ? slash + 1 : path;
    size_t bytes = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (bytes >= sizeof copy) return false;
    memcpy(copy, path, bytes);
    copy[bytes] = 0;
    return stat(bytes > 0 ? copy : ".", folder) == 0;
}

static bool is_one_place(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

const char *cli_routing_text(const struct topo_options *options, const topo *t)
{
    if (options->routing != NULL) return options->routing;
    return topo_routing_name(t);
}

/* Do two paths name one regular file, be it through links, or one that does not exist yet? */
static bool is_same_file(const char *a, const char *b)
{
    struct stat x, y;
    const char *name_a, *name_b;
    if (a == NULL || b == NULL || strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    bool has_a = stat(a, &x) == 0, has_b = stat(b, &y) == 0;
    if (has_a && has_b) return S_ISREG(x.st_mode) && is_one_place(&x, &y);
    if (has_a || has_b) return false;
    return locate(a, &x, &name_a) && locate(b, &y, &name_b) && is_one_place(&x, &y) &&
           strcmp(name_a, name_b) == 0;
}

enum sim_status cli_check_outputs(const char *input, const char *const *output, int count,
                                  struct sim_error *err)
{
    for (int i = 0; i < count; i++) {
        if (is_same_file(input, output[i]))
            return sim_error_set(err, SIM_EUSAGE, "output %s is the input %s", output[i], input);
        for (int j = 0; j < i; j++)
            if (is_same_file(output[i], output[j]))
                return sim_error_set(err, SIM_EUSAGE, "two outputs go to %s", output[i]);
    }
    return SIM_OK;
}

enum sim_status cli_output_open(const char *path, struct sim_error *err, sim_output **out)
{
    *out = NULL;
    if (path == NULL || net_mpi_rank() != 0) return SIM_OK;
    return sim_output_open(path, err, out);
}

enum sim_status cli_output_commit(sim_output **output, struct sim_error *err)
{
    sim_output *taken = *output;
    *output = NULL;
    return taken == NULL ? SIM_OK : sim_output_commit(taken, err);
}

static struct cli_rank_usage usage_now(void)
{
    const struct net_mpi_counts mpi = net_mpi_counts();
    return (struct cli_rank_usage){sim_memory_peak_bytes(), mpi.messages, mpi.bytes, sim_cpu_s(),
                                   mpi.wait_s};
}

struct cli_usage cli_usage_start(void)
{
    return (struct cli_usage){.start = usage_now(), .wall_s = sim_wall_s()};
}

void cli_usage_finish(struct cli_usage *u, bool is_shared)
{
    struct cli_rank_usage now = usage_now();
    struct net_bytes mine = {0};
    now.mpi_messages -= u->start.mpi_messages;
    now.mpi_bytes -= u->start.mpi_bytes;
    now.mpi_wait_s -= u->start.mpi_wait_s;
    now.cpu_s -= u->start.cpu_s;
    net_bytes_put(&mine, &now, sizeof now);
    if (is_shared)
        net_mpi_gather(&mine, &u->ranks);
    else
        net_bytes_put(&u->ranks, &now, sizeof now);
    net_bytes_release(&mine);
    u->wall_s = sim_wall_s() - u->wall_s;
}

/* Sums, the largest memory, and memory rank by rank. */
static void write_usage(sim_json *json, struct cli_usage *u)
{
    struct cli_rank_usage sum = {0}, rank;
    size_t ranks = u->ranks.count / sizeof rank;
    for (u->ranks.at = 0; u->ranks.at < u->ranks.count;) {
        net_bytes_take(&u->ranks, &rank, sizeof rank);
        if (rank.peak_rss_bytes > sum.peak_rss_bytes) sum.peak_rss_bytes = rank.peak_rss_bytes;
        sum.mpi_messages += rank.mpi_messages;
        sum.mpi_bytes += rank.mpi_bytes;
        sum.cpu_s += rank.cpu_s;
        sum.mpi_wait_s += rank.mpi_wait_s;
    }
    sim_json_put_uint(json, "mpi_messages", sum.mpi_messages);
    sim_json_put_uint(json, "mpi_bytes", sum.mpi_bytes);
    sim_json_put_double(json, "mpi_wait_share",
                        u->wall_s > 0 ? sum.mpi_wait_s / (u->wall_s * (double)ranks) : 0);
    sim_json_put_uint(json, "peak_rss_bytes", sum.peak_rss_bytes);
    sim_json_key(json, "rank_peak_rss_bytes");
    sim_json_array_begin(json);
    for (u->ranks.at = 0; u->ranks.at < u->ranks.count;) {
        net_bytes_take(&u->ranks, &rank, sizeof rank);
        sim_json_uint(json, rank.peak_rss_bytes);
    }
    sim_json_array_end(json);
    sim_json_put_double(json, "wall_s", u->wall_s);
    sim_json_put_double(json, "cpu_s", sum.cpu_s);
}

static void write_stats(sim_json *json, const struct net_run_stats *stats, struct cli_usage *u)
{
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"events", stats->events},
                  {"messages", stats->messages},
                  {"packet_hops", stats->packet_hops},
                  {"windows", stats->windows},
                  {"trains", stats->trains},
                  {"cuts", stats->cuts},
                  {"shared_trains", stats->shared_trains},
                  {"shared_cuts", stats->shared_cuts},
                  {"flows", stats->flows},
                  {"solves", stats->solves},
                  {"levels", stats->levels},
                  {"instants", stats->instants},
                  {"classes", stats->classes},
                  {"parts", stats->parts},
                  {"parts_reused", stats->parts_reused},
                  {"ranks", net_mpi_ranks()},
                  {"cut_links", stats->cut_links},
                  {"most_nodes_a_rank", stats->most_nodes},
                  {"fewest_nodes_a_rank", stats->fewest_nodes}};
    sim_json_object_begin(json);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
        sim_json_put_uint(json, counts[i].key, counts[i].value);
    write_usage(json, u);
    sim_json_object_end(json);
}

void cli_stats_write(const struct net_run_stats *stats, struct cli_usage *u, FILE *out)
{
    if (out != NULL) {
        sim_json *json = sim_json_create(out);
        write_stats(json, stats, u);
        sim_json_destroy(json);
    }
    net_bytes_release(&u->ranks);
}
