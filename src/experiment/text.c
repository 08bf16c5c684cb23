#include "experiment/text.h"

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

void dae_text_fill(dae_text *x, char letter, int count)
{
    for (int i = 0; i < count; i++) put(x, &letter, 1);
}

void dae_text_print(dae_text *x, const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int length = vsnprintf(line, sizeof line, format, args);
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
    vsnprintf(longer, (size_t)length + 1, format, args);
    va_end(args);
    put(x, longer, (size_t)length);
    free(longer);
}

dae_status dae_text_end(dae_text *x)
{
    flush(x);
    return x->failed ? DAE_ERR_FILE : DAE_OK;
}
