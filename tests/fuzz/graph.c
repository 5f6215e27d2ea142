/* Fuzz target: graph files of all formats (told apart by content). What is accepted is a sound
 * topology, and exported and read again it is written the same. */
#include <fcntl.h>
#include <unistd.h>

#include "base/log.h"
#include "tests/fuzz/fuzz.h"
#include "topo/graph.h"

/* A file without a name, so that none is left behind. */
static int open_file(void)
{
    char name[] = "/tmp/podsim-fuzz-XXXXXX";
    int fd = mkstemp(name);
    FUZZ_CHECK(fd >= 0 && unlink(name) == 0);
    sim_log_set_level(SIM_LOG_ERROR); /* defaults taken are worth a warning */
    return fd;
}

static enum sim_status read_text(const void *text, size_t bytes, struct sim_error *err, topo **out)
{
    static int fd = -1;
    char spec[64];
    if (fd < 0) fd = open_file();
    FUZZ_CHECK(ftruncate(fd, 0) == 0 && pwrite(fd, text, bytes, 0) == (ssize_t)bytes);
    snprintf(spec, sizeof spec, "graph:/proc/self/fd/%d", fd);
    return topo_create(spec, NULL, err, out);
}

static char *write_text(const topo *t, enum topo_graph_format format)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *file = open_memstream(&text, &bytes);
    topo_graph_write(t, format, file);
    FUZZ_CHECK(fclose(file) == 0);
    return text;
}

static void check_links(const topo *t)
{
    for (topo_link_id l = 0; l < topo_links(t); l++) {
        FUZZ_CHECK(topo_link_from(t, l) < topo_nodes(t) && topo_link_to(t, l) < topo_nodes(t));
        FUZZ_CHECK(topo_link_from(t, l) != topo_link_to(t, l));
        FUZZ_CHECK(topo_link_rate(t, l) > 0 && topo_link_latency_ps(t, l) >= 0);
    }
}

static void check_round_trip(const topo *t, enum topo_graph_format format)
{
    struct sim_error err = {0};
    topo *back = NULL;
    char *first = write_text(t, format);
    FUZZ_CHECK(read_text(first, strlen(first), &err, &back) == SIM_OK);
    char *second = write_text(back, format);
    FUZZ_CHECK(strcmp(first, second) == 0);
    topo_destroy(back);
    free(first);
    free(second);
}

/* A node number of a million makes a million nodes, which takes its time and finds nothing. */
static bool has_long_number(const uint8_t *data, size_t bytes)
{
    size_t digits = 0;
    for (size_t i = 0; i < bytes && digits < 4; i++)
        digits = isdigit(data[i]) ? digits + 1 : 0;
    return digits == 4;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct sim_error err = {0};
    topo *t = NULL;
    if (has_long_number(data, bytes)) return 0;
    enum sim_status status = read_text(data, bytes, &err, &t);
    fuzz_check_error(status, &err);
    if (status == SIM_OK) {
        check_links(t);
        check_round_trip(t, TOPO_GRAPH_GRAPHML);
        check_round_trip(t, TOPO_GRAPH_EDGES);
    }
    topo_destroy(t);
    return 0;
}
