/*
 * The main() of a fuzz target under ctest: every file of a corpus as it is, then seeded mutations
 * of them.
 *
 *     fuzz_NAME CORPUS [MUTATIONS]     CORPUS: a folder, or one file
 *
 * On a crash the input goes to stderr, to be kept as a file of the corpus.
 */
#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rng.h"
#include "tests/fuzz/fuzz.h"

#define INPUT_MAX 4096
#define EDITS_MAX 6

struct input {
    size_t bytes;
    uint8_t data[INPUT_MAX];
};

static struct input current; /* what runs, for the handler */

static void on_crash(int signal_number)
{
    static const char text[] = "\nthe input was:\n";
    ssize_t ignored = write(STDERR_FILENO, text, sizeof text - 1);
    ignored = write(STDERR_FILENO, current.data, current.bytes);
    (void)ignored;
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

static void run(const struct input *input)
{
    current = *input;
    LLVMFuzzerTestOneInput(current.data, current.bytes);
}

/* What parsers look at, more often than chance would give it. */
static uint8_t likely_byte(struct sim_rng *rng)
{
    static const char likely[] = "0123456789x:,.-+eE%@/=\"'{}[]&*!#|>\n\t KMGTiBbps";
    if (sim_rng_below(rng, 4) == 0) return (uint8_t)sim_rng_below(rng, 256);
    return (uint8_t)likely[sim_rng_below(rng, sizeof likely - 1)];
}

static void insert(struct input *in, size_t at, const uint8_t *data, size_t bytes)
{
    if (in->bytes + bytes > INPUT_MAX) return;
    memmove(in->data + at + bytes, in->data + at, in->bytes - at);
    memcpy(in->data + at, data, bytes);
    in->bytes += bytes;
}

static void edit(struct input *in, const struct input *other, struct sim_rng *rng)
{
    uint8_t piece[64];
    size_t at = (size_t)sim_rng_below(rng, in->bytes + 1), left = in->bytes - at;
    size_t length = 1 + (size_t)sim_rng_below(rng, sizeof piece - 1);
    switch (sim_rng_below(rng, 5)) {
    case 0: /* replace a byte */
        if (left > 0) in->data[at] = likely_byte(rng);
        break;
    case 1: /* a few bytes more */
        length = length % 4 + 1;
        for (size_t i = 0; i < length; i++)
            piece[i] = likely_byte(rng);
        insert(in, at, piece, length);
        break;
    case 2: /* cut out */
        if (length > left) length = left;
        memmove(in->data + at, in->data + at + length, left - length);
        in->bytes -= length;
        break;
    case 3: /* twice */
        if (length > left) length = left;
        memcpy(piece, in->data + at, length);
        insert(in, at, piece, length);
        break;
    default: /* a piece of another */
        if (length > other->bytes) length = other->bytes;
        insert(in, at, other->data + sim_rng_below(rng, other->bytes - length + 1), length);
    }
}

static void read_file(const char *path, struct input *out)
{
    FILE *file = fopen(path, "rb");
    FUZZ_CHECK(file != NULL);
    out->bytes = fread(out->data, 1, INPUT_MAX, file);
    fclose(file);
}

/* Owned by the caller; in order of names. */
static struct input *read_corpus(const char *path, size_t *count)
{
    struct stat about;
    FUZZ_CHECK(stat(path, &about) == 0);
    if (!S_ISDIR(about.st_mode)) {
        struct input *one = SIM_NEW(struct input, 1);
        read_file(path, one);
        *count = 1;
        return one;
    }
    struct dirent **entry = NULL;
    int entries = scandir(path, &entry, NULL, alphasort);
    struct input *corpus = SIM_NEW(struct input, entries > 0 ? (size_t)entries : 1);
    *count = 0;
    for (int i = 0; i < entries; i++) {
        char name[1024];
        snprintf(name, sizeof name, "%s/%s", path, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') read_file(name, &corpus[(*count)++]);
        free(entry[i]);
    }
    free(entry);
    return corpus;
}

int main(int argc, char **argv)
{
    FUZZ_CHECK(argc == 2 || argc == 3);
    size_t count;
    struct input *corpus = read_corpus(argv[1], &count);
    FUZZ_CHECK(count > 0);
    signal(SIGABRT, on_crash);
    signal(SIGSEGV, on_crash);
    for (size_t i = 0; i < count; i++)
        run(&corpus[i]);
    unsigned long mutations = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
    for (unsigned long i = 0; i < mutations; i++) {
        struct sim_rng rng;
        sim_rng_init(&rng, 1, i);
        struct input input = corpus[sim_rng_below(&rng, count)];
        for (uint64_t edits = 1 + sim_rng_below(&rng, EDITS_MAX); edits > 0; edits--)
            edit(&input, &corpus[sim_rng_below(&rng, count)], &rng);
        run(&input);
    }
    printf("%zu files and %lu mutations\n", count, mutations);
    sim_free(corpus);
    return 0;
}
