/**
 * What fuzz targets share. A target is one LLVMFuzzerTestOneInput(); it crashes on what must not
 * happen.
 */
#ifndef PODSIM_TESTS_FUZZ_FUZZ_H
#define PODSIM_TESTS_FUZZ_FUZZ_H

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"

/** Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define FUZZ_CHECK(condition)                                                                      \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/** The input as a text that ends with its first zero byte. Owned by the caller (sim_free). */
static inline char *fuzz_text(const uint8_t *data, size_t bytes)
{
    char *text = sim_alloc(bytes + 1, 1, "fuzz input");
    if (bytes > 0) memcpy(text, data, bytes);
    return text;
}

/** A failure has a message of one line, and a success has none. */
static inline void fuzz_check_error(enum sim_status status, const struct sim_error *err)
{
    FUZZ_CHECK((status == SIM_OK) == (err->text[0] == 0));
    for (const char *c = err->text; *c != 0; c++)
        FUZZ_CHECK((unsigned char)*c >= 0x20);
}

/** Does `text` have a shape ("8x8" behind a colon) of more chips than a test should build? Shapes
 * that do not fit 32 bits pass: they are refused before anything is built. */
static inline bool fuzz_is_large(const char *text)
{
    const double most = 512, refused = 4294967296.0;
    for (const char *at = strchr(text, ':'); at != NULL; at = strchr(at + 1, ':')) {
        const char *side = at + 1;
        double chips = 1;
        while (isdigit((unsigned char)*side)) {
            char *end;
            chips *= (double)strtoull(side, &end, 10);
            side = *end == 'x' ? end + 1 : end;
        }
        if (chips > most && chips < refused) return true;
    }
    return false;
}

#endif
