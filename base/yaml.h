/**
 * YAML documents with a place for every value, and schemas that check them.
 *
 * Refused with line and column: unknown and double keys (the nearest known key is named), aliases
 * and anchors, tags, more than one document, nesting deeper than 64, files over 16 MiB or a million
 * values, text that is not UTF-8, anything libyaml calls an error. An empty value ("key:") is a
 * scalar with the text "", which the schema reader refuses.
 */
#ifndef PODSIM_BASE_YAML_H
#define PODSIM_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

typedef struct sim_yaml sim_yaml; /* a document; owns its nodes */

enum sim_yaml_kind { SIM_YAML_SCALAR, SIM_YAML_MAPPING, SIM_YAML_SEQUENCE };

/** Borrowed from the document. A mapping's children are its values in file order, each with its
 * key. */
struct sim_yaml_node {
    enum sim_yaml_kind kind;
    const char *file; /* as given to the loader, or "--set" */
    int line, column; /* of the value, 1-based; columns count characters; 0 from --set */
    const char *key;  /* NULL unless a child of a mapping */
    int key_line, key_column;
    const char *text; /* scalar only */
    bool is_quoted;   /* scalar only */
    uint32_t child_count;
    struct sim_yaml_node **child; /* [child_count] */
};

/** "-" is stdin. Errors: SIM_ENOINPUT (cannot read), SIM_EDATA (with place). An empty file is
 * SIM_EDATA. */
SIM_MUST_CHECK enum sim_status sim_yaml_load(const char *path, struct sim_error *err,
                                             sim_yaml **out);
/** The same from memory; `name` stands for the file in messages. */
SIM_MUST_CHECK enum sim_status sim_yaml_parse(const char *text, size_t bytes, const char *name,
                                              struct sim_error *err, sim_yaml **out);
void sim_yaml_destroy(sim_yaml *doc);
const struct sim_yaml_node *sim_yaml_root(const sim_yaml *doc);
/** NULL when absent. */
const struct sim_yaml_node *sim_yaml_find(const struct sim_yaml_node *mapping, const char *key);

/** Apply "a.b.c=value": replace or add the value (itself YAML, so "{x: 1}" works) at a path of
 * mapping keys; mappings on the way that are missing are made. Errors: SIM_EUSAGE. */
SIM_MUST_CHECK enum sim_status sim_yaml_override(sim_yaml *doc, const char *assignment,
                                                 struct sim_error *err);

/** A message at the node's place. Returns `status`. */
enum sim_status sim_yaml_error(const struct sim_yaml_node *node, struct sim_error *err,
                               enum sim_status status, const char *format, ...) SIM_PRINTF(4, 5);

enum sim_field_kind {
    SIM_FIELD_TEXT,    /* const char *, borrowed from the document */
    SIM_FIELD_COUNT,   /* uint64_t in [min, max] */
    SIM_FIELD_SHARE,   /* double in (0, 1] */
    SIM_FIELD_BYTES,   /* uint64_t */
    SIM_FIELD_RATE,    /* double, bytes/s */
    SIM_FIELD_FLOPS,   /* double */
    SIM_FIELD_TIME,    /* sim_ps */
    SIM_FIELD_BOOL,    /* bool; true/false only */
    SIM_FIELD_CHOICE,  /* int, index into `choices` */
    SIM_FIELD_MAPPING, /* nested: `fields` describe a struct at `offset` */
    SIM_FIELD_NODE     /* const struct sim_yaml_node *, read by the caller */
};

/** One key of a mapping and where its value goes. Tables end with a row whose key is NULL. */
struct sim_field {
    const char *key;
    enum sim_field_kind kind;
    size_t offset; /* into the struct given to sim_yaml_read */
    bool is_required;
    uint64_t min, max;              /* COUNT; max 0 = UINT64_MAX */
    const char *const *choices;     /* CHOICE; NULL-terminated */
    const struct sim_field *fields; /* MAPPING */
};

/** Check `mapping` against `fields` and fill `out`; what is absent keeps its value there. All
 * errors have a place; after one, what `out` holds is unspecified. */
SIM_MUST_CHECK enum sim_status sim_yaml_read(const struct sim_yaml_node *mapping,
                                             const struct sim_field *fields, struct sim_error *err,
                                             void *out);

/** The entry of NULL-terminated `names` closest to `text` by edit distance, or NULL when none is
 * near. Borrowed. */
const char *sim_nearest_name(const char *text, const char *const *names);

#endif
