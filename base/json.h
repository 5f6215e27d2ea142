/**
 * Streaming JSON out. Doubles are the shortest text that reads back to the same bits; infinities
 * and NaN are a bug.
 */
#ifndef PODSIM_BASE_JSON_H
#define PODSIM_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct sim_json sim_json;

/** Writes to `out` (borrowed), indented by two spaces; a newline ends the document. */
sim_json *sim_json_create(FILE *out);
void sim_json_destroy(sim_json *json);

void sim_json_object_begin(sim_json *json);
void sim_json_object_end(sim_json *json);
void sim_json_array_begin(sim_json *json);
void sim_json_array_end(sim_json *json);
void sim_json_key(sim_json *json, const char *key);
void sim_json_text(sim_json *json, const char *value); /* bytes that are not UTF-8 are replaced */
void sim_json_double(sim_json *json, double value);
void sim_json_int(sim_json *json, int64_t value);
void sim_json_uint(sim_json *json, uint64_t value);
void sim_json_bool(sim_json *json, bool value);
void sim_json_null(sim_json *json);

/* A key and its value. */
void sim_json_put_text(sim_json *json, const char *key, const char *value);
void sim_json_put_double(sim_json *json, const char *key, double value);
void sim_json_put_uint(sim_json *json, const char *key, uint64_t value);

#endif
