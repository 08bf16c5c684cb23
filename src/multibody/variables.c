#include "multibody/variables.h"

#include "multibody/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { longest = 60000 }; /* of a law with its variables replaced: each may use the one before twice; ours */

typedef struct expansion {
    const mbs_model *m;
    char *out;
    size_t used, room;
    int starved, large;
} expansion;

static void put(expansion *x, const char *text, size_t length)
{
    if (x->used + length > longest) x->large = 1;
    if (x->large || x->starved) return;
    if (x->used + length + 1 > x->room) {
        char *more = realloc(x->out, x->room = 2 * (x->used + length) + 64);
        if (!more) {
            x->starved = 1;
            return;
        }
        x->out = more;
    }
    memcpy(x->out + x->used, text, length);
    x->out[x->used += length] = 0;
}

/* The variables before `count` may stand in the text. Units in brackets, numbers (1e3) and signals (body.x) are no names. */
static void expand(expansion *x, const char *text, int count)
{
    for (const char *c = text; *c && !x->large && !x->starved;) {
        size_t n = mbs_word_length(c);
        if (mbs_no_word_length(c)) n = mbs_no_word_length(c);
        else if (n && c[n] != '.' && c[n] != '(') {
            int k = count - 1;
            while (k >= 0 &&
                   (strlen(x->m->variable[k].name) != n || memcmp(x->m->variable[k].name, c, n) != 0))
                k--;
            if (k >= 0) {
                put(x, "(", 1);
                expand(x, x->m->variable[k].text, k);
                put(x, ")", 1);
                c += n;
                continue;
            }
        } else if (n && c[n] == '.') {
            while (c[n] == '.' && mbs_word_length(c + n + 1)) n += 1 + mbs_word_length(c + n + 1);
        }
        if (n == 0) n = 1;
        put(x, c, n);
        c += n;
    }
}

char *mbs_expand_variables(const mbs_model *m, const char *text, char *wrong, size_t size)
{
    expansion x = {.m = m};
    wrong[0] = 0;
    put(&x, "", 0);
    expand(&x, text, m->nvariable);
    if (!x.large && !x.starved) return x.out;
    if (x.large) snprintf(wrong, size, "with its variables the law has more than %d characters", longest);
    free(x.out);
    return NULL;
}
