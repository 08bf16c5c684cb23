#include "core/text.h"

#include "core/escape.h"
#include "core/number.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void flush(dae_text *x)
{
    if (!x->failed && x->used > 0 && x->write(x->buffer, x->used, x->user) < 0) x->failed = 1;
    x->used = 0;
}

static void put(dae_text *x, const char *text, size_t length)
{
    if (x->used + length > sizeof x->buffer) flush(x);
    if (length > sizeof x->buffer) {
        if (!x->failed && x->write(text, length, x->user) < 0) x->failed = 1;
        return;
    }
    memcpy(x->buffer + x->used, text, length);
    x->used += length;
}

void dae_text_put(dae_text *x, const char *text)
{
    put(x, text, strlen(text));
}

void dae_text_real(dae_text *x, double value)
{
    if (x->used + DAE_REAL_TEXT > sizeof x->buffer) flush(x);
    x->used += dae_real_text(value, x->buffer + x->used);
}

void dae_text_fill(dae_text *x, char letter, int count)
{
    for (int i = 0; i < count; i++) {
        if (x->used == sizeof x->buffer) flush(x);
        x->buffer[x->used++] = letter;
    }
}

void dae_text_print(dae_text *x, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = dae_vsnprintf(line, sizeof line, format, args);
    va_end(args);
    if (length >= 0 && (size_t)length < sizeof line) {
        put(x, line, (size_t)length);
        return;
    }
    char *longer = length > 0 ? malloc((size_t)length + 1) : NULL;
    if (!longer) {
        x->failed = 1;
        return;
    }
    va_start(args, format);
    dae_vsnprintf(longer, (size_t)length + 1, format, args);
    va_end(args);
    put(x, longer, (size_t)length);
    free(longer);
}

int dae_text_write(const char *text, size_t length, void *x)
{
    put(x, text, length);
    return ((dae_text *)x)->failed ? -1 : 0;
}

void dae_text_quoted(dae_text *x, const char *text)
{
    dae_escape_gnuplot(text, strlen(text), dae_text_write, x);
}

void dae_text_terminal(dae_text *x, const char *terminal, int width, int height)
{
    if (!strcmp(terminal, "png")) {
        dae_text_print(x, "set terminal pngcairo size %d,%d enhanced font \"Sans,11\"\n", width, height);
    } else if (!strcmp(terminal, "pdf")) {
        dae_text_print(x, "set terminal pdfcairo size %.2fin,%.2fin enhanced font \"Sans,10\"\n",
                       width / 100.0, height / 100.0);
    } else {
        dae_text_print(
            x, "set terminal svg size %d,%d dynamic enhanced background rgb \"white\" font \"Arial,14\"\n",
            width, height);
    }
}

void dae_text_field(dae_text *x, const char *text)
{
    if (!strpbrk(text, ",\"\n\r")) {
        dae_text_put(x, text);
        return;
    }
    dae_text_put(x, "\"");
    for (; *text; text++) {
        if (*text == '\n' || *text == '\r') dae_text_put(x, " ");
        else dae_text_fill(x, *text, *text == '"' ? 2 : 1);
    }
    dae_text_put(x, "\"");
}

dae_status dae_text_end(dae_text *x)
{
    flush(x);
    return x->failed == DAE_TEXT_STARVED ? DAE_ERR_MEMORY : x->failed ? DAE_ERR_FILE : DAE_OK;
}

int dae_bytes_write(const char *text, size_t length, void *bytes)
{
    dae_bytes *b = bytes;
    if (b->length + length + 1 > b->room) {
        size_t room = 2 * (b->length + length) + 4096;
        char *longer = realloc(b->text, room);
        if (!longer) {
            b->starved = 1;
            return -1;
        }
        b->text = longer;
        b->room = room;
    }
    memcpy(b->text + b->length, text, length);
    b->length += length;
    b->text[b->length] = 0;
    return 0;
}

int dae_says_no_memory(const char *why)
{
    static const char *const words[] = {"memory", "cannot create", "cannot allocate"}; /* glibc's */
    int found = 0;
    for (int k = 0; k < 3 && why; k++) found = found || strstr(why, words[k]) != NULL;
    return found;
}
