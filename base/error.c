/*
 * The error record. A message is kept to one printable line whatever the caller formats into it:
 * control bytes become question marks, and what does not fit is cut at a character with "..." so
 * that nobody mistakes the rest for the whole.
 */
#include "base/error.h"

#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8_internal.h"

/* End `text` of `capacity` bytes with "..." without leaving half a character before it. */
static void cut_text(char *text, size_t capacity)
{
    size_t end = capacity - sizeof "...";

    while (end > 0 && ((unsigned char)text[end] & 0xC0) == 0x80)
        end--;
    memcpy(text + end, "...", sizeof "...");
}

static void make_one_line(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7F) *text = '?';
    }
}

/* Keep the end of a long path: it says more than the beginning. */
static void set_place(struct sim_error *err, const char *file, int line, int column)
{
    size_t length = file == NULL ? 0 : strlen(file);

    if (length < sizeof err->file) {
        memcpy(err->file, file == NULL ? "" : file, length + 1);
    } else {
        memcpy(err->file, "...", 3);
        memcpy(err->file + 3, file + length - (sizeof err->file - 4), sizeof err->file - 3);
    }
    err->line = line;
    err->column = column;
}

static void SIM_PRINTF(2, 0) set_text(struct sim_error *err, const char *format, va_list args)
{
    int length = vsnprintf(err->text, sizeof err->text, format, args);

    assert(length > 0);
    if (length >= (int)sizeof err->text) cut_text(err->text, sizeof err->text);
    make_one_line(err->text);
}

enum sim_status sim_error_set(struct sim_error *err, enum sim_status status, const char *format,
                              ...)
{
    va_list args;

    assert(status != SIM_OK);
    if (err == NULL || err->text[0] != '\0') return status;
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return status;
}

enum sim_status sim_error_at(struct sim_error *err, enum sim_status status, const char *file,
                             int line, int column, const char *format, ...)
{
    va_list args;

    assert(status != SIM_OK);
    if (err == NULL || err->text[0] != '\0') return status;
    set_place(err, file, line, column);
    va_start(args, format);
    set_text(err, format, args);
    va_end(args);
    return status;
}

enum sim_status sim_error_locate(struct sim_error *err, enum sim_status status, const char *file,
                                 int line, int column)
{
    if (err != NULL && err->text[0] != '\0' && err->file[0] == '\0' && err->line == 0) {
        set_place(err, file, line, column);
    }
    return status;
}

const char *sim_error_format(const struct sim_error *err, char *buffer, int buffer_bytes)
{
    char place[2 * sizeof ":-2147483648"] = "";
    const char *separator;

    assert(err != NULL && buffer != NULL && buffer_bytes > 0);
    separator = err->file[0] != '\0' || err->line > 0 ? ": " : "";
    if (err->line > 0 && err->column > 0) {
        snprintf(place, sizeof place, ":%d:%d", err->line, err->column);
    } else if (err->line > 0) {
        snprintf(place, sizeof place, ":%d", err->line);
    }
    snprintf(buffer, (size_t)buffer_bytes, "%s%s%s%s", err->file, place, separator, err->text);
    make_one_line(buffer);
    return buffer;
}

/* The printable form of the character at `text` into `out`; returns how many bytes of `text` it
 * took. */
static size_t quote_character(const char *text, char out[5])
{
    size_t length = sim_utf8_length(text, strlen(text));
    unsigned char byte = (unsigned char)text[0];
    bool is_c1 = length == 2 && byte == 0xC2 && (unsigned char)text[1] < 0xA0;

    if (byte == '"' || byte == '\\') {
        snprintf(out, 5, "\\%c", byte);
    } else if (byte == '\n' || byte == '\t' || byte == '\r') {
        snprintf(out, 5, "\\%c", byte == '\n' ? 'n' : byte == '\t' ? 't' : 'r');
    } else if (length == 0 || is_c1 || byte < 0x20 || byte == 0x7F) {
        snprintf(out, 5, "\\x%02x", byte);
        return 1;
    } else {
        memcpy(out, text, length);
        out[length] = '\0';
    }
    return length;
}

const char *sim_error_quote(const char *text, char *buffer)
{
    const size_t room = SIM_QUOTE_TEXT - sizeof "...\""; /* what the quoted text may reach */
    size_t end = 0;

    assert(text != NULL && buffer != NULL);
    buffer[end++] = '"';
    while (*text != '\0') {
        char shown[5];
        size_t taken = quote_character(text, shown), length = strlen(shown);

        if (end + length > room) {
            memcpy(buffer + end, "...", 3);
            end += 3;
            break;
        }
        memcpy(buffer + end, shown, length);
        end += length;
        text += taken;
    }
    buffer[end++] = '"';
    buffer[end] = '\0';
    return buffer;
}

int sim_status_exit_code(enum sim_status status)
{
    static const int exit_code[] = {
#define SIM_STATUS_EXIT(name, meaning, code) [SIM_##name] = (code),
        SIM_STATUS_MAP(SIM_STATUS_EXIT)
#undef SIM_STATUS_EXIT
    };

    assert((size_t)status < sizeof exit_code / sizeof exit_code[0]);
    return exit_code[status];
}
