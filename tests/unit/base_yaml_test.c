/* YAML: places, everything that is refused, schemas, overrides. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/rng.h"
#include "base/time.h"
#include "base/yaml.h"
#include "tests/unit/check_main.h"

#define COUNT_OF(array) ((int)(sizeof(array) / sizeof(array)[0]))

static sim_yaml *parse_or_fail(const char *text)
{
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char line[1024];

    ck_assert_msg(sim_yaml_parse(text, strlen(text), "study.yaml", &err, &doc) == SIM_OK, "%s",
                  sim_error_format(&err, line, sizeof line));
    return doc;
}

static void check_place(const struct sim_yaml_node *node, int key_line, int key_column, int line,
                        int column)
{
    ck_assert_ptr_nonnull(node);
    ck_assert_int_eq(node->key_line, key_line);
    ck_assert_int_eq(node->key_column, key_column);
    ck_assert_int_eq(node->line, line);
    ck_assert_int_eq(node->column, column);
}

static const char document[] = "# a study\n"
                               "system:\n"
                               "  topology: v5p:8x8x8   # a spec\n"
                               "  network: {hop_latency: 1us, link: \"45 GB/s\"}\n"
                               "sizes:\n"
                               "  - 1MiB\n"
                               "  - [a, b]\n"
                               "empty:\n"
                               "\xC3\xA9t\xC3\xA9: \xC3\xA9 # columns count characters\n"
                               "last: |\n"
                               "  block\n";

/* The same places whatever the line ends are, with a byte order mark or without. */
START_TEST(every_value_has_its_place)
{
    char text[2 * sizeof document + 3];
    size_t length = 0;
    const struct sim_yaml_node *root, *system, *network, *sizes;
    sim_yaml *doc;

    if (_i & 1) length = (size_t)snprintf(text, sizeof text, "\xEF\xBB\xBF");
    for (const char *p = document; *p != '\0'; p++) {
        if (*p == '\n' && (_i & 2)) text[length++] = '\r';
        text[length++] = *p;
    }
    text[length] = '\0';
    doc = parse_or_fail(text);
    root = sim_yaml_root(doc);
    ck_assert_int_eq(root->kind, SIM_YAML_MAPPING);
    ck_assert_uint_eq(root->child_count, 5);
    ck_assert_ptr_null(root->key);
    check_place(root, 0, 0, 2, 1);
    system = sim_yaml_find(root, "system");
    check_place(system, 2, 1, 3, 3);
    ck_assert_str_eq(system->file, "study.yaml");
    check_place(sim_yaml_find(system, "topology"), 3, 3, 3, 13);
    ck_assert_str_eq(sim_yaml_find(system, "topology")->text, "v5p:8x8x8");
    ck_assert(!sim_yaml_find(system, "topology")->is_quoted);
    network = sim_yaml_find(system, "network");
    check_place(network, 4, 3, 4, 12);
    check_place(sim_yaml_find(network, "hop_latency"), 4, 13, 4, 26);
    check_place(sim_yaml_find(network, "link"), 4, 31, 4, 37);
    ck_assert_str_eq(sim_yaml_find(network, "link")->text, "45 GB/s");
    ck_assert(sim_yaml_find(network, "link")->is_quoted);
    sizes = sim_yaml_find(root, "sizes");
    check_place(sizes, 5, 1, 6, 3);
    ck_assert_int_eq(sizes->kind, SIM_YAML_SEQUENCE);
    ck_assert_uint_eq(sizes->child_count, 2);
    check_place(sizes->child[0], 0, 0, 6, 5);
    ck_assert_ptr_null(sizes->child[0]->key);
    check_place(sizes->child[1]->child[1], 0, 0, 7, 9);
    check_place(sim_yaml_find(root, "empty"), 8, 1, 8, 7); /* just after the colon */
    ck_assert_str_eq(sim_yaml_find(root, "empty")->text, "");
    check_place(sim_yaml_find(root, "\xC3\xA9t\xC3\xA9"), 9, 1, 9, 6);
    check_place(root->child[4], 10, 1, 10, 7);
    ck_assert_str_eq(root->child[4]->text, "block\n");
    ck_assert_ptr_null(sim_yaml_find(root, "absent"));
    sim_yaml_destroy(doc);
    sim_yaml_destroy(NULL);
}
END_TEST

#define BYTES(literal) literal, sizeof(literal) - 1 /* with zero bytes inside */

static const struct {
    const char *text;
    size_t bytes;
    const char *line;
} refused_case[] = {
    {BYTES(""), "f: no content, want a YAML document"},
    {BYTES("\xEF\xBB\xBF"), "f: no content, want a YAML document"},
    {BYTES("# only this\n\n"), "f: no content, want a YAML document"},
    {BYTES("---\n"), "f: no content, want a YAML document"},
    {BYTES("a: 1\n---\nb: 2\n"), "f:2:1: a second document starts here, want only one"},
    {BYTES("a: 1\n...\n---\n"), "f:3:1: a second document starts here, want only one"},
    {BYTES("a: 1\nb:\n  c: 2\n  d: 3\n  c: 4\n"),
     "f:5:3: key \"c\" is there twice, first at line 3, column 3"},
    {BYTES("{a: 1, b: 2, \"a\": 3}"),
     "f:1:14: key \"a\" is there twice, first at line 1, column 2"},
    {BYTES("b: 1\na: 1\na: 2\nb: 2\na: 3\n"), /* the first mistake, not the first name */
     "f:3:1: key \"a\" is there twice, first at line 2, column 1"},
    {BYTES("a: *x\n"),
     "f:1:4: alias \"x\": anchors and aliases are not supported, want the value itself"},
    {BYTES("a: &x 1\n"),
     "f:1:4: anchor \"x\": anchors and aliases are not supported, want the value itself"},
    {BYTES("a: &x [*x]\n"),
     "f:1:4: anchor \"x\": anchors and aliases are not supported, want the value itself"},
    {BYTES("&k a: 1\n"),
     "f:1:1: anchor \"k\": anchors and aliases are not supported, want the value itself"},
    {BYTES("<<: *base\n"),
     "f:1:5: alias \"base\": anchors and aliases are not supported, want the value itself"},
    {BYTES("a: !!int 1\n"),
     "f:1:4: tag \"tag:yaml.org,2002:int\": tags are not supported, want the value alone"},
    {BYTES("a:\n  b: !x {c: 1}\n"),
     "f:2:6: tag \"!x\": tags are not supported, want the value alone"},
    {BYTES("- ! [1]\n"), "f:1:3: tag \"!\": tags are not supported, want the value alone"},
    {BYTES("? [a]\n: 1\n"), "f:1:3: a key is a list, want a name"},
    {BYTES("{{a: 1}: 1}"), "f:1:2: a key is a mapping, want a name"},
    {BYTES("\"\": 1\n"), "f:1:1: a key is empty, want a name"},
    {BYTES("a: \"x\\0y\"\n"), "f:1:4: a value holds a zero byte, want text"},
    {BYTES("\"x\\0\": 1\n"), "f:1:1: a value holds a zero byte, want text"},
    {BYTES("a: b\0\n"), "f:1:5: control characters are not allowed"},
    {BYTES("a: 1\nb: \xC3\xA9\x01\n"), "f:2:5: control characters are not allowed"},
    {BYTES("a: \xE9\n"), "f:1:4: byte 0xe9 is not UTF-8, want UTF-8 text"}, /* Latin-1 */
    {BYTES("a: 1\r\nb: \xC3\xA9\xC3\xA9 \xFF"), "f:2:7: byte 0xff is not UTF-8, want UTF-8 text"},
    {BYTES("\xEF\xBB\xBF"
           "a: \xC3"),
     "f:1:4: byte 0xc3 is not UTF-8, want UTF-8 text"},
    {BYTES("\xFF\xFE"
           "a\0:\0"),
     "f:1:1: byte 0xff is not UTF-8, want UTF-8 text"}, /* UTF-16 */
    {BYTES("a:\n\tb: 1\n"),
     "f:2:1: found character that cannot start any token while scanning for the next token"},
    {BYTES("a: 1\n b: 2\n"), "f:2:3: mapping values are not allowed in this context"},
    {BYTES("a: @x\n"),
     "f:1:4: found character that cannot start any token while scanning for the next token"},
    {BYTES("a: 1\nb: [1, 2\n\n"),
     "f:4:1: did not find expected ',' or ']' while parsing a flow sequence from line 2"},
    {BYTES("a: 'x\n"),
     "f:2:1: found unexpected end of stream while scanning a quoted scalar from line 1"},
    {BYTES("%YAML 3.0\n---\na: 1\n"), "f:1:1: found incompatible YAML document"},
};

START_TEST(refused_at_their_place)
{
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char line[1024];

    ck_assert_int_eq(sim_yaml_parse(refused_case[_i].text, refused_case[_i].bytes, "f", &err, &doc),
                     SIM_EDATA);
    ck_assert_ptr_null(doc);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), refused_case[_i].line);
    ck_assert_int_eq(sim_yaml_parse(refused_case[_i].text, refused_case[_i].bytes, "f", NULL, &doc),
                     SIM_EDATA);
}
END_TEST

/* A pattern repeated `count` times: what takes a naive reader minutes or gigabytes. */
static const struct {
    const char *start, *pattern;
    int count;
    const char *line;
} hostile_case[] = {
    {"", "[", 200000, "f:1:65: nested deeper than 64 levels"},
    {"", "[\n", 200000, "f:65:1: nested deeper than 64 levels"},
    {"", "- ", 200000, "f:1:129: nested deeper than 64 levels"},   /* 64 * 2 + 1 */
    {"", "{a: ", 200000, "f:1:257: nested deeper than 64 levels"}, /* 64 * 4 + 1 */
    {"", "{", 200000, "f:1:2: a key is a mapping, want a name"},
    {"", "? ", 200000, "f:1:3: a key is a mapping, want a name"},
    {"[", "a,", 1500000, "f:1:2000000: more than 1000000 values"}, /* the list is the first value */
    {"", "k: 1\n", 1100000, "f:1000000:4: more than 1000000 values"},
    {"", "#", 17 << 20, "f: larger than 16 MiB"},
};

START_TEST(hostile_files_end_early)
{
    size_t start_length = strlen(hostile_case[_i].start);
    size_t length = strlen(hostile_case[_i].pattern);
    size_t bytes = start_length + length * (size_t)hostile_case[_i].count;
    char *text = sim_alloc(bytes, 1, "test");
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char line[1024];

    memcpy(text, hostile_case[_i].start, start_length);
    for (size_t i = start_length; i < bytes; i += length) {
        memcpy(text + i, hostile_case[_i].pattern, length);
    }
    ck_assert_int_eq(sim_yaml_parse(text, bytes, "f", &err, &doc), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), hostile_case[_i].line);
    sim_free(text);
}
END_TEST

START_TEST(depth_64_is_fine)
{
    char text[200];
    sim_yaml *doc;

    memset(text, '[', 64);
    memset(text + 64, ']', 64);
    text[128] = '\0';
    doc = parse_or_fail(text);
    sim_yaml_destroy(doc);
}
END_TEST

/* 100,000 different keys take n log n; a pairwise comparison would need 5e9 steps and the test's
 * time limit. */
START_TEST(many_keys_are_quick)
{
    char *text = sim_alloc(2000000, 1, "test");
    size_t length = 0;
    sim_yaml *doc;

    for (int i = 0; i < 100000; i++)
        length += (size_t)sprintf(text + length, "key%d: %d\n", i, i);
    doc = parse_or_fail(text);
    ck_assert_uint_eq(sim_yaml_root(doc)->child_count, 100000);
    ck_assert_str_eq(sim_yaml_root(doc)->child[99999]->text, "99999");
    sim_yaml_destroy(doc);
    sim_free(text);
}
END_TEST

/* Random bytes near YAML: any answer, but never a crash or a leak, and a message exactly when
 * refused. */
START_TEST(random_texts_do_no_harm)
{
    static const char letters[] =
        "aab:: \n\n  --[]{},,?!&*#|>'\"%@\t\r.=\\0\xC3\xA9\xEF\xBB\xBF\x01";
    struct sim_rng rng;

    sim_rng_init(&rng, (uint64_t)_i, 0);
    for (int n = 0; n < 5000; n++) {
        struct sim_error err = {0};
        sim_yaml *doc = NULL;
        char text[64];
        size_t length = sim_rng_below(&rng, sizeof text);
        enum sim_status status;

        for (size_t i = 0; i < length; i++) {
            text[i] = letters[sim_rng_below(&rng, sizeof letters - 1)];
        }
        status = sim_yaml_parse(text, length, "f", &err, &doc);
        ck_assert(status == SIM_OK || status == SIM_EDATA);
        ck_assert_int_eq(status == SIM_OK, err.text[0] == '\0');
        ck_assert_int_eq(status == SIM_OK, doc != NULL);
        sim_yaml_destroy(doc);
    }
}
END_TEST

static const struct {
    const char *path, *line;
} unreadable_case[] = {
    {"/none/study.yaml", "/none/study.yaml: cannot open: No such file or directory"},
    {"/", "/: cannot read: Is a directory"},
};

START_TEST(unreadable_files)
{
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char line[1024];

    ck_assert_int_eq(sim_yaml_load(unreadable_case[_i].path, &err, &doc), SIM_ENOINPUT);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), unreadable_case[_i].line);
}
END_TEST

START_TEST(files_are_loaded_whole)
{
    char path[] = "/tmp/podsim_yaml_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct sim_error err = {0};
    sim_yaml *doc = NULL;

    /* more than one read of 64 KiB */
    for (int i = 0; i < 20000; i++)
        fprintf(file, "key%d: value\n", i);
    fclose(file);
    ck_assert_int_eq(sim_yaml_load(path, &err, &doc), SIM_OK);
    ck_assert_uint_eq(sim_yaml_root(doc)->child_count, 20000);
    ck_assert_str_eq(sim_yaml_root(doc)->file, path);
    sim_yaml_destroy(doc);
    ck_assert_int_eq(unlink(path), 0);
}
END_TEST

START_TEST(dash_is_stdin)
{
    char path[] = "/tmp/podsim_yaml_XXXXXX";
    FILE *file = fdopen(mkstemp(path), "w");
    struct sim_error err = {0};
    sim_yaml *doc = NULL;
    char line[1024];

    fputs("a: 1\na: 2\n", file);
    fclose(file);
    ck_assert_ptr_nonnull(freopen(path, "r", stdin));
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(sim_yaml_load("-", &err, &doc), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line),
                     "<stdin>:2:1: key \"a\" is there twice, first at line 1, column 1");
}
END_TEST

/* One field of each kind, in the shape of a study file. */
struct training {
    uint64_t batch, stages;
    bool is_causal;
    double dropout;
};

struct study {
    const char *model;
    struct training training;
    uint64_t hbm_bytes;
    double link_bytes_per_s, flops_per_s;
    sim_ps latency_ps;
    int engine;
    const struct sim_yaml_node *placement;
};

static const char *const engines[] = {"flow", "packet", "bound", NULL};

static const struct sim_field training_fields[] = {
    {"batch", SIM_FIELD_COUNT, offsetof(struct training, batch), .is_required = true, .min = 1},
    {"stages", SIM_FIELD_COUNT, offsetof(struct training, stages), .min = 1, .max = 64},
    {"causal", SIM_FIELD_BOOL, offsetof(struct training, is_causal)},
    {"dropout", SIM_FIELD_SHARE, offsetof(struct training, dropout)},
    {NULL}};

static const struct sim_field study_fields[] = {
    {"model", SIM_FIELD_TEXT, offsetof(struct study, model)},
    {"training", SIM_FIELD_MAPPING, offsetof(struct study, training), .fields = training_fields},
    {"hbm", SIM_FIELD_BYTES, offsetof(struct study, hbm_bytes)},
    {"link", SIM_FIELD_RATE, offsetof(struct study, link_bytes_per_s)},
    {"bf16", SIM_FIELD_FLOPS, offsetof(struct study, flops_per_s)},
    {"latency", SIM_FIELD_TIME, offsetof(struct study, latency_ps)},
    {"engine", SIM_FIELD_CHOICE, offsetof(struct study, engine), .choices = engines},
    {"placement", SIM_FIELD_NODE, offsetof(struct study, placement)},
    {NULL}};

START_TEST(schema_fills_a_struct)
{
    sim_yaml *doc = parse_or_fail("model: llama\n"
                                  "training: {batch: 2048, causal: true, dropout: 10%}\n"
                                  "hbm: 95GB\n"
                                  "link: 100 Gbps\n"
                                  "bf16: 459TFLOP/s\n"
                                  "latency: 1.5us\n"
                                  "engine: packet\n"
                                  "placement: {tensor: x}\n");
    struct study study = {.training.stages = 7};
    struct sim_error err = {0};

    ck_assert_msg(sim_yaml_read(sim_yaml_root(doc), study_fields, &err, &study) == SIM_OK, "%s",
                  err.text);
    ck_assert_str_eq(study.model, "llama");
    ck_assert_uint_eq(study.training.batch, 2048);
    ck_assert_uint_eq(study.training.stages, 7); /* absent: keeps its value */
    ck_assert(study.training.is_causal);
    ck_assert_double_eq(study.training.dropout, 0.1);
    ck_assert_uint_eq(study.hbm_bytes, 95000000000);
    ck_assert_double_eq(study.link_bytes_per_s, 12.5e9); /* 1e11 / 8 */
    ck_assert_double_eq(study.flops_per_s, 459e12);
    ck_assert_int_eq(study.latency_ps, 1500000);
    ck_assert_int_eq(study.engine, 1);
    ck_assert_str_eq(sim_yaml_find(study.placement, "tensor")->text, "x");
    sim_yaml_destroy(doc);
}
END_TEST

#define WANT_ENGINE "want one of \"flow\", \"packet\", \"bound\""

static const struct {
    const char *text, *line;
} schema_case[] = {
    {"training:\n  batch: 12x\n", "study.yaml:2:10: batch is \"12x\", want a whole number >= 1"},
    {"training: {batch: 0}", "study.yaml:1:19: batch is \"0\", want a whole number >= 1"},
    {"training: {batch: -3}", "study.yaml:1:19: batch is \"-3\", want a whole number >= 1"},
    {"training: {batch: [1]}", "study.yaml:1:19: batch is a list, want a whole number >= 1"},
    {"training: {batch: 1, stages: 65}",
     "study.yaml:1:30: stages is \"65\", want a whole number from 1 to 64"},
    {"training:\n  batch:\n", "study.yaml:2:9: batch: value is missing, want a whole number >= 1"},
    {"training:\n  batch: ~\n",
     "study.yaml:2:10: batch: value is missing, want a whole number >= 1"},
    {"training:\n  batch: \"\"\n", "study.yaml:2:10: batch is \"\", want a whole number >= 1"},
    {"training: {batch: 1, causal: yes}", "study.yaml:1:30: causal is \"yes\", want true or false"},
    {"training: {batch: 1, causal: }",
     "study.yaml:1:30: causal: value is missing, want true or false"},
    {"training: {batch: 1, dropout: 2}", "study.yaml:1:31: dropout: \"2\" is above 1, want a share "
                                         "above 0 and up to 1 such as \"0.6\" or "
                                         "\"60%\""},
    {"training: {stages: 2}", "study.yaml:1:1: missing key \"batch\" in training"},
    {"training: {}", "study.yaml:1:1: missing key \"batch\" in training"},
    {"training: 5", "study.yaml:1:11: training is \"5\", want a mapping"},
    {"training:", "study.yaml:1:10: training: value is missing, want a mapping"},
    {"training: [1]", "study.yaml:1:11: training is a list, want a mapping"},
    {"training:\n  tensr: 2\n", /* nothing near */
     "study.yaml:2:3: unknown key \"tensr\", want one of \"batch\", \"stages\", \"causal\", "
     "\"dropout\""},
    {"training:\n  bacth: 2\n", "study.yaml:2:3: unknown key \"bacth\", did you mean \"batch\"?"},
    {"<<: 1\n",
     "study.yaml:1:1: unknown key \"<<\", want one of \"model\", \"training\", \"hbm\", \"link\", "
     "\"bf16\", \"latency\", \"engine\", \"placement\""},
    {"link: 100Gps\n", "study.yaml:1:7: link: \"100Gps\" is not a rate, want a number with a unit "
                       "such as \"45GB/s\" or "
                       "\"100Gbps\""},
    {"link: {a: 1}\n",
     "study.yaml:1:7: link is a mapping, want a rate such as \"45GB/s\" or \"100Gbps\""},
    {"link:\n",
     "study.yaml:1:6: link: value is missing, want a rate such as \"45GB/s\" or \"100Gbps\""},
    {"hbm: 0.3B\n",
     "study.yaml:1:6: hbm: \"0.3B\" is not a whole number of bytes, want whole bytes such as "
     "\"1MiB\", \"4GB\" or \"512\""},
    {"bf16: 9\n",
     "study.yaml:1:7: bf16: \"9\" has no unit, want a number with a unit such as \"197TFLOP/s\" or "
     "\"400TOP/s\" (FLOP/s, GFLOP/s, TFLOP/s, PFLOP/s; OP/s likewise)"},
    {"latency: 1.5.2us\n",
     "study.yaml:1:10: latency: \"1.5.2us\" is not a duration, want a number with a unit such as "
     "\"1.5us\" or \"2ms\""},
    {"engine: flwo\n",
     "study.yaml:1:9: engine is \"flwo\", " WANT_ENGINE " (did you mean \"flow\"?)"},
    {"engine: warp\n", "study.yaml:1:9: engine is \"warp\", " WANT_ENGINE},
    {"engine: []\n", "study.yaml:1:9: engine is a list, " WANT_ENGINE},
    {"engine:\n", "study.yaml:1:8: engine: value is missing, " WANT_ENGINE},
    {"model: {a: 1}\n", "study.yaml:1:8: model is a mapping, want a text"},
    {"model:\n", "study.yaml:1:7: model: value is missing, want a text"},
    {"model: null\n", "study.yaml:1:8: model: value is missing, want a text"},
    {"placement:\n", "study.yaml:1:11: placement: value is missing, want a value"},
    {"model: \"a\\nb\"\nengine: \"a\\nb\"\n", /* found text never breaks the line */
     "study.yaml:2:9: engine is \"a\\nb\", " WANT_ENGINE},
    {"- 1\n", "study.yaml:1:1: the document is a list, want a mapping"},
    {"just words\n", "study.yaml:1:1: the document is \"just words\", want a mapping"},
};

START_TEST(schema_messages)
{
    sim_yaml *doc = parse_or_fail(schema_case[_i].text);
    struct study study = {0};
    struct sim_error err = {0};
    char line[1024];

    ck_assert_int_eq(sim_yaml_read(sim_yaml_root(doc), study_fields, &err, &study), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), schema_case[_i].line);
    sim_yaml_destroy(doc);
}
END_TEST

/* 60 choices of 10 letters do not fit into a message: cut between two names, and visibly. */
START_TEST(long_lists_of_names_are_cut)
{
    static char text[60][11];
    const char *choices[61] = {NULL};
    const struct sim_field fields[] = {{"model", SIM_FIELD_CHOICE, 0, .choices = choices}, {NULL}};
    sim_yaml *doc = parse_or_fail("model: x\n");
    struct sim_error err = {0};
    int choice = 0;

    for (int i = 0; i < 60; i++) {
        snprintf(text[i], sizeof text[i], "model-%04d", i);
        choices[i] = text[i];
    }
    ck_assert_int_eq(sim_yaml_read(sim_yaml_root(doc), fields, &err, &choice), SIM_EDATA);
    ck_assert_ptr_nonnull(strstr(err.text, "want one of \"model-0000\", \"model-0001\", "));
    ck_assert_str_eq(err.text + strlen(err.text) - 6, "\", ...");
    sim_yaml_destroy(doc);
}
END_TEST

START_TEST(missing_key_of_the_document)
{
    sim_yaml *doc = parse_or_fail("\nstages: 2\n");
    struct training training = {0};
    struct sim_error err = {0};

    ck_assert_int_eq(sim_yaml_read(sim_yaml_root(doc), training_fields, &err, &training),
                     SIM_EDATA);
    ck_assert_str_eq(err.text, "missing key \"batch\"");
    ck_assert_int_eq(err.line, 2);
    sim_yaml_destroy(doc);
}
END_TEST

START_TEST(error_at_a_node)
{
    sim_yaml *doc = parse_or_fail("a:\n  - 1\n");
    struct sim_error err = {0};
    char line[64];

    ck_assert_int_eq(sim_yaml_error(sim_yaml_root(doc)->child[0]->child[0], &err, SIM_ERESOURCE,
                                    "%d chips", 9216),
                     SIM_ERESOURCE);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), "study.yaml:2:5: 9216 chips");
    sim_yaml_destroy(doc);
}
END_TEST

START_TEST(nearest_names)
{
    static const char *const names[] = {"tensor", "data", "fsdp", "expert", "batch", NULL};
    static const char *const none[] = {NULL};
    char long_name[200];

    ck_assert_str_eq(sim_nearest_name("tensr", names), "tensor");  /* one letter missing */
    ck_assert_str_eq(sim_nearest_name("tesnor", names), "tensor"); /* two swapped */
    ck_assert_str_eq(sim_nearest_name("TENSOR", names), "tensor"); /* letter case */
    ck_assert_str_eq(sim_nearest_name("experts", names), "expert");
    ck_assert_str_eq(sim_nearest_name("dta", names), "data");
    ck_assert_str_eq(sim_nearest_name("fdsp", names), "fsdp");
    ck_assert_ptr_null(sim_nearest_name("pipeline", names));
    ck_assert_ptr_null(sim_nearest_name("dp", names)); /* two of four letters are not near */
    ck_assert_ptr_null(sim_nearest_name("", names));
    ck_assert_ptr_null(sim_nearest_name("tensor", none));
    memset(long_name, 'x', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    ck_assert_ptr_null(sim_nearest_name(long_name, names));
}
END_TEST

START_TEST(override_replaces_and_adds)
{
    sim_yaml *doc = parse_or_fail("model: llama\ntraining:\n  batch: 1\nempty:\n");
    const struct sim_yaml_node *root = sim_yaml_root(doc), *node;
    struct sim_error err = {0};

    ck_assert_int_eq(sim_yaml_override(doc, "training.batch=1024", &err), SIM_OK);
    node = sim_yaml_find(sim_yaml_find(root, "training"), "batch");
    ck_assert_str_eq(node->text, "1024");
    ck_assert_str_eq(node->file, "--set");
    ck_assert_str_eq(node->key, "batch");
    check_place(node, 0, 0, 0, 0);

    ck_assert_int_eq(sim_yaml_override(doc, "training.stages=4", &err), SIM_OK);
    ck_assert_uint_eq(sim_yaml_find(root, "training")->child_count, 2);
    ck_assert_int_eq(sim_yaml_override(doc, "system.network.link=45 GB/s", &err), SIM_OK);
    node = sim_yaml_find(sim_yaml_find(sim_yaml_find(root, "system"), "network"), "link");
    ck_assert_str_eq(node->text, "45 GB/s");
    ck_assert_int_eq(sim_yaml_override(doc, "empty.a.b={x: 1, y: [2, 3]}", &err), SIM_OK);
    node = sim_yaml_find(sim_yaml_find(sim_yaml_find(root, "empty"), "a"), "b");
    ck_assert_str_eq(sim_yaml_find(node, "y")->child[1]->text, "3");

    /* The value begins at the first '='; a spec with ':' and '=' is plain text. */
    ck_assert_int_eq(sim_yaml_override(doc, "topology=torus:4x4,link=45GB/s", &err), SIM_OK);
    ck_assert_str_eq(sim_yaml_find(root, "topology")->text, "torus:4x4,link=45GB/s");
    ck_assert_int_eq(sim_yaml_override(doc, "model={layers: 2}", &err), SIM_OK);
    ck_assert_str_eq(sim_yaml_find(sim_yaml_find(root, "model"), "layers")->text, "2");
    ck_assert_str_eq(root->child[0]->key, "model"); /* in its old place */
    ck_assert_uint_eq(root->child_count, 5);
    sim_yaml_destroy(doc);
}
END_TEST

static const struct {
    const char *assignment, *line;
} override_case[] = {
    {"training.batch", "--set: \"training.batch\" has no \"=\", want KEY.KEY=VALUE"},
    {"", "--set: \"\" has no \"=\", want KEY.KEY=VALUE"},
    {"training.batch=", "--set: \"training.batch=\" has no value, want KEY.KEY=VALUE"},
    {"=", "--set: \"=\" has no value, want KEY.KEY=VALUE"},
    {"=5", "--set: \"=5\" has an empty key, want KEY.KEY=VALUE"},
    {".batch=5", "--set: \".batch=5\" has an empty key, want KEY.KEY=VALUE"},
    {"training.=5", "--set: \"training.=5\" has an empty key, want KEY.KEY=VALUE"},
    {"training..batch=5", "--set: \"training..batch=5\" has an empty key, want KEY.KEY=VALUE"},
    {"model.layers=5",
     "--set: \"model.layers=5\" goes through a value that is no mapping, want KEY.KEY=VALUE"},
    {"list.a=5", "--set: \"list.a=5\" goes through a value that is no mapping, want KEY.KEY=VALUE"},
    {"a= ", "--set: \"a= \": no content, want a YAML document"},
    {"a=[1", "--set: \"a=[1\": did not find expected ',' or ']' while parsing a flow sequence"},
    {"a={b: 1, b: 2}", "--set: \"a={b: 1, b: 2}\": key \"b\" is there twice"},
    {"a=*x",
     "--set: \"a=*x\": alias \"x\": anchors and aliases are not supported, want the value itself"},
    {"a=\xFF", "--set: \"a=\\xff\": byte 0xff is not UTF-8, want UTF-8 text"},
};

START_TEST(override_refused)
{
    static const char text[] = "model: llama\nlist: [1]\ntraining: {batch: 1}\n";
    sim_yaml *doc = parse_or_fail(text);
    struct sim_error err = {0};
    char line[1024];

    ck_assert_int_eq(sim_yaml_override(doc, override_case[_i].assignment, &err), SIM_EUSAGE);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line), override_case[_i].line);
    ck_assert_uint_eq(sim_yaml_root(doc)->child_count, 3); /* untouched */
    ck_assert_str_eq(sim_yaml_find(sim_yaml_find(sim_yaml_root(doc), "training"), "batch")->text,
                     "1");
    sim_yaml_destroy(doc);
}
END_TEST

START_TEST(override_cannot_nest_too_deep)
{
    sim_yaml *doc = parse_or_fail("a: 1\n");
    struct sim_error err = {0};
    char path[256] = "k";

    for (int i = 1; i < 62; i++)
        strcat(path, ".k");
    strcat(path, "=[[1]]"); /* 62 mappings and 2 lists: 64 levels */
    ck_assert_int_eq(sim_yaml_override(doc, path, &err), SIM_OK);
    strcpy(strchr(path, '='), "=[[[1]]]");
    ck_assert_int_eq(sim_yaml_override(doc, path, &err), SIM_EUSAGE);
    err = (struct sim_error){0};
    strcpy(strchr(path, '='), ".k.k=1");
    ck_assert_int_eq(sim_yaml_override(doc, path, &err), SIM_EUSAGE);
    ck_assert_ptr_nonnull(strstr(err.text, "is nested too deep"));
    sim_yaml_destroy(doc);
}
END_TEST

START_TEST(schema_messages_of_overrides)
{
    sim_yaml *doc = parse_or_fail("training:\n  batch: 1\n");
    struct study study = {0};
    struct sim_error err = {0};
    char line[256];

    ck_assert_int_eq(sim_yaml_override(doc, "training.batch=12x", &err), SIM_OK);
    ck_assert_int_eq(sim_yaml_read(sim_yaml_root(doc), study_fields, &err, &study), SIM_EDATA);
    ck_assert_str_eq(sim_error_format(&err, line, sizeof line),
                     "--set: batch is \"12x\", want a whole number >= 1");
    sim_yaml_destroy(doc);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("base/yaml");
    TCase *tc = tcase_create("loader");

    tcase_add_loop_test(tc, every_value_has_its_place, 0, 4);
    tcase_add_loop_test(tc, refused_at_their_place, 0, COUNT_OF(refused_case));
    tcase_add_loop_test(tc, hostile_files_end_early, 0, COUNT_OF(hostile_case));
    tcase_add_test(tc, depth_64_is_fine);
    tcase_add_test(tc, many_keys_are_quick);
    tcase_add_loop_test(tc, random_texts_do_no_harm, 0, 3);
    tcase_add_loop_test(tc, unreadable_files, 0, COUNT_OF(unreadable_case));
    tcase_add_test(tc, files_are_loaded_whole);
    tcase_add_test(tc, dash_is_stdin);
    tcase_set_timeout(tc, 30); /* the hostile files under sanitizers */
    suite_add_tcase(s, tc);

    tc = tcase_create("schema");
    tcase_add_test(tc, schema_fills_a_struct);
    tcase_add_loop_test(tc, schema_messages, 0, COUNT_OF(schema_case));
    tcase_add_test(tc, long_lists_of_names_are_cut);
    tcase_add_test(tc, missing_key_of_the_document);
    tcase_add_test(tc, error_at_a_node);
    tcase_add_test(tc, nearest_names);
    suite_add_tcase(s, tc);

    tc = tcase_create("override");
    tcase_add_test(tc, override_replaces_and_adds);
    tcase_add_loop_test(tc, override_refused, 0, COUNT_OF(override_case));
    tcase_add_test(tc, override_cannot_nest_too_deep);
    tcase_add_test(tc, schema_messages_of_overrides);
    suite_add_tcase(s, tc);
    return run_suite(s);
}
