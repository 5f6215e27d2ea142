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

void cli_stats_write(const struct net_run_stats *stats, double wall_s, double cpu_s, FILE *out)
{
    sim_json *json = sim_json_create(out);
    const struct {
        const char *key;
        uint64_t value;
    } counts[] = {{"events", stats->events},
                  {"messages", stats->messages},
                  {"packet_hops", stats->packet_hops},
                  {"windows", stats->windows},
                  {"trains", stats->trains},
                  {"cuts", stats->cuts},
                  {"flows", stats->flows},
                  {"solves", stats->solves},
                  {"levels", stats->levels},
                  {"instants", stats->instants},
                  {"classes", stats->classes},
                  {"ranks", net_mpi_ranks()},
                  {"peak_rss_bytes", sim_memory_peak_bytes()}};
    sim_json_object_begin(json);
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        sim_json_key(json, counts[i].key);
        sim_json_uint(json, counts[i].value);
    }
    sim_json_key(json, "wall_s");
    sim_json_double(json, wall_s);
    sim_json_key(json, "cpu_s");
    sim_json_double(json, cpu_s);
    sim_json_object_end(json);
    sim_json_destroy(json);
}
