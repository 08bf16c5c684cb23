/* Text that grows in pieces on its way to a dae_write_fn. */
#ifndef DAE_CORE_TEXT_H
#define DAE_CORE_TEXT_H

#include "core/error.h"

enum { DAE_TEXT_STARVED = 2 };

typedef struct dae_text {
    dae_write_fn *write;
    void *user;
    int failed; /* 1: write asked to stop; DAE_TEXT_STARVED: memory ran out */
    size_t used;
    char buffer[8192];
} dae_text;

void dae_text_print(dae_text *x, const char *format, ...) DAE_PRINTF(2, 3);
void dae_text_put(dae_text *x, const char *text);
/* "%.17g" */
void dae_text_real(dae_text *x, double value);
/* Fills with `count` times the letter. */
void dae_text_fill(dae_text *x, char letter, int count);
/* In double quotes for gnuplot. */
void dae_text_quoted(dae_text *x, const char *text);
/* gnuplot's terminal "svg", "png" or "pdf" for a picture of so many pixels. */
void dae_text_terminal(dae_text *x, const char *terminal, int width, int height);
/* A value of a line of comma-separated values, quoted where the format needs it; ends of lines become blanks. */
void dae_text_field(dae_text *x, const char *text);
/* A dae_write_fn that adds to a text, for the functions of core/escape.h. */
int dae_text_write(const char *text, size_t length, void *x);
/* Hands over the rest; DAE_OK, DAE_ERR_FILE or DAE_ERR_MEMORY. */
dae_status dae_text_end(dae_text *x);

/* Whether words of the system, as of dlerror, tell that memory ran out; NULL: no. */
int dae_says_no_memory(const char *why);

/* Text in memory: a dae_write_fn that adds to it, with a 0 behind; free text. */
typedef struct dae_bytes {
    char *text; /* NULL: nothing yet */
    size_t length, room;
    int starved; /* something was left out */
} dae_bytes;
int dae_bytes_write(const char *text, size_t length, void *bytes);

#endif
