#include "multibody/import/xml.h"

#include "core/error.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 256, MOST_ATTRIBUTES = 64 };

typedef struct reader {
    const char *at, *end;
    int line, depth;
    dae_arena *arena;
    dae_error *err;
    int failed;
} reader;

static void *fail(reader *r, const char *what)
{
    if (!r->failed) dae_fail(r->err, DAE_ERR_INPUT, NAN, "line %d: no XML: %s", r->line, what);
    r->failed = 1;
    return NULL;
}

static void step(reader *r)
{
    if (*r->at++ == '\n') r->line++;
}

static int starts(const reader *r, const char *word)
{
    size_t n = strlen(word);
    return (size_t)(r->end - r->at) >= n && !memcmp(r->at, word, n);
}

/* Behind the next `word`; 0: there is none. */
static int pass(reader *r, const char *word)
{
    while (r->at < r->end && !starts(r, word)) step(r);
    if (r->at >= r->end) return 0;
    r->at += strlen(word);
    return 1;
}

static void blanks(reader *r)
{
    while (r->at < r->end && isspace((unsigned char)*r->at)) step(r);
}

static int in_name(int c)
{
    return isalnum(c) || c == '_' || c == '-' || c == '.' || c == ':' || c >= 128;
}

static const char *name(reader *r)
{
    const char *from = r->at;
    while (r->at < r->end && in_name((unsigned char)*r->at)) r->at++;
    size_t n = (size_t)(r->at - from);
    char *out = n ? dae_arena_take(r->arena, n + 1, 1) : NULL;
    if (!out) return fail(r, n ? "out of memory" : "a name is missing");
    memcpy(out, from, n);
    return out;
}

/* Text between two places, with its entities; appended to out. */
static size_t decode(const char *from, const char *to, char *out)
{
    static const char *const word[] = {"&lt;", "&gt;", "&amp;", "&quot;", "&apos;"};
    size_t n = 0;
    while (from < to) {
        int k = 0;
        for (; k < 5; k++) {
            size_t length = strlen(word[k]);
            if ((size_t)(to - from) >= length && !memcmp(from, word[k], length)) break;
        }
        if (k < 5) {
            out[n++] = "<>&\"'"[k];
            from += strlen(word[k]);
        } else if (to - from > 3 && from[0] == '&' && from[1] == '#') {
            char *end;
            int hex = from[2] == 'x';
            unsigned long c = strtoul(from + 2 + hex, &end, hex ? 16 : 10);
            if (end < to && *end == ';' && c > 0 && c < 128) {
                out[n++] = (char)c;
                from = end + 1;
            } else {
                out[n++] = *from++;
            }
        } else {
            out[n++] = *from++;
        }
    }
    return n;
}

static const char *value(reader *r)
{
    char quote = r->at < r->end ? *r->at : 0;
    if (quote != '"' && quote != '\'') return fail(r, "the value of an attribute has no quotes");
    r->at++;
    const char *from = r->at;
    while (r->at < r->end && *r->at != quote) step(r);
    if (r->at >= r->end) return fail(r, "the value of an attribute has no end");
    char *out = dae_arena_take(r->arena, (size_t)(r->at - from) + 1, 1);
    if (!out) return fail(r, "out of memory");
    decode(from, r->at, out);
    r->at++;
    return out;
}

static int attributes(reader *r, mbs_xml *e)
{
    const char *list[2 * MOST_ATTRIBUTES];
    for (;;) {
        blanks(r);
        if (r->at >= r->end) return fail(r, "an element has no end"), 0;
        if (*r->at == '>' || *r->at == '/') break;
        if (e->nattribute == MOST_ATTRIBUTES) return fail(r, "an element has too many attributes"), 0;
        const char *key = name(r);
        if (!key) return 0;
        blanks(r);
        if (r->at >= r->end || *r->at != '=') return fail(r, "an attribute has no value"), 0;
        r->at++;
        blanks(r);
        const char *text = value(r);
        if (!text) return 0;
        list[2 * e->nattribute] = key;
        list[2 * e->nattribute++ + 1] = text;
    }
    e->attribute = dae_arena_copy(r->arena, list, 2 * (size_t)e->nattribute + 1, sizeof *list);
    return e->attribute || (fail(r, "out of memory"), 0);
}

static mbs_xml *element(reader *r);

/* What is neither an element nor text: 1 passed, 0 none, -1 it has no end. */
static int other(reader *r)
{
    if (starts(r, "<!--")) return pass(r, "-->") ? 1 : -1;
    if (starts(r, "<?")) return pass(r, "?>") ? 1 : -1;
    if (starts(r, "<!DOCTYPE")) return pass(r, ">") ? 1 : -1;
    return 0;
}

static int only_blanks(const char *from, const char *to)
{
    while (from < to && isspace((unsigned char)*from)) from++;
    return from == to;
}

/* Children and text up to the closing tag. */
static int content(reader *r, mbs_xml *e)
{
    mbs_xml **last = &e->child;
    size_t used = 0;
    const char *from = r->at;
    char *text = NULL;
    for (;;) {
        while (r->at < r->end && *r->at != '<') step(r);
        if (r->at >= r->end) return fail(r, "an element is not closed"), 0;
        const char *word = from, *stop = r->at;
        int cdata = starts(r, "<![CDATA[");
        if (cdata) {
            word = r->at + 9;
            if (!pass(r, "]]>")) return fail(r, "CDATA has no end"), 0;
            stop = r->at - 3;
        }
        size_t more = (size_t)(stop - word);
        if (!cdata && only_blanks(word, stop)) more = 0;
        if (more) {
            char *longer = dae_arena_take(r->arena, used + more + 1, 1);
            if (!longer) return fail(r, "out of memory"), 0;
            if (used) memcpy(longer, text, used);
            text = longer;
            used += cdata ? (memcpy(text + used, word, more), more) : decode(word, stop, text + used);
            text[used] = 0;
            e->text = text;
        }
        int passed = cdata ? 1 : other(r);
        if (passed < 0) return fail(r, "a comment has no end"), 0;
        if (!passed && starts(r, "</")) break;
        if (!passed) {
            mbs_xml *x = element(r);
            if (!x) return 0;
            *last = x;
            last = &x->next;
        }
        from = r->at;
    }
    r->at += 2;
    const char *closing = name(r);
    if (!closing) return 0;
    blanks(r);
    if (strcmp(closing, e->name) != 0 || r->at >= r->end || *r->at != '>')
        return fail(r, "a closing tag does not belong to its element"), 0;
    r->at++;
    return 1;
}

static mbs_xml *element(reader *r)
{
    if (++r->depth > DEEPEST) return fail(r, "elements are nested too deeply");
    mbs_xml *e = dae_arena_take(r->arena, 1, sizeof *e);
    if (!e) return fail(r, "out of memory");
    e->line = r->line;
    e->text = "";
    r->at++; /* < */
    e->name = name(r);
    if (!e->name || !attributes(r, e)) return NULL;
    if (*r->at == '/') {
        if (++r->at >= r->end || *r->at != '>') return fail(r, "> is missing behind /");
        r->at++;
    } else {
        r->at++;
        if (!content(r, e)) return NULL;
    }
    r->depth--;
    return e;
}

mbs_xml *mbs_xml_read(const char *text, size_t length, dae_arena *arena, dae_error *err)
{
    reader r = {.at = text, .end = text + length, .line = 1, .arena = arena, .err = err};
    if (length >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) r.at += 3;
    for (int passed = 1; passed;) {
        blanks(&r);
        passed = r.at < r.end ? other(&r) : 0;
        if (passed < 0) return fail(&r, "a comment has no end");
    }
    if (r.at >= r.end || *r.at != '<') return fail(&r, "there is no element");
    return element(&r);
}

const char *mbs_xml_get(const mbs_xml *e, const char *attribute)
{
    for (int i = 0; e && i < e->nattribute; i++) {
        if (!strcmp(e->attribute[2 * i], attribute)) return e->attribute[2 * i + 1];
    }
    return NULL;
}

const mbs_xml *mbs_xml_child(const mbs_xml *e, const char *name)
{
    for (const mbs_xml *c = e ? e->child : NULL; c; c = c->next) {
        if (!strcmp(c->name, name)) return c;
    }
    return NULL;
}
