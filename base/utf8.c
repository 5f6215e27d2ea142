/*
 * Well-formed UTF-8 by lead byte: the lead byte gives the length and the range of the byte after it
 * (which is where overlong forms, surrogates and too large code points show); the rest are
 * continuation bytes. Unicode 15, table 3-7.
 */
#include "base/utf8_internal.h"

#include <assert.h>

size_t sim_utf8_length(const char *text, size_t bytes)
{
    const unsigned char *u = (const unsigned char *)text;
    size_t length;
    unsigned char low = 0x80, high = 0xBF;

    assert(text != NULL);
    if (bytes == 0) return 0;
    if (u[0] < 0x80) return 1;
    if (u[0] < 0xC2 || u[0] > 0xF4) return 0;
    length = u[0] < 0xE0 ? 2 : u[0] < 0xF0 ? 3 : 4;
    if (u[0] == 0xE0) low = 0xA0;
    if (u[0] == 0xED) high = 0x9F;
    if (u[0] == 0xF0) low = 0x90;
    if (u[0] == 0xF4) high = 0x8F;
    if (bytes < length || u[1] < low || u[1] > high) return 0;
    for (size_t i = 2; i < length; i++) {
        if ((u[i] & 0xC0) != 0x80) return 0;
    }
    return length;
}
