/**
 * One step through text that may not be UTF-8.
 */
#ifndef PODSIM_BASE_UTF8_INTERNAL_H
#define PODSIM_BASE_UTF8_INTERNAL_H

#include <stddef.h>

/** Bytes (1-4) of the well-formed character at `text`, of which `bytes` are readable; 0 when there
 * is none. Overlong forms, surrogates and code points past U+10FFFF are not well-formed. */
size_t sim_utf8_length(const char *text, size_t bytes);

#endif
