/* Opening a problem, whatever it comes from. A kind of text is one line of the table: how files of it end, how its text is
 * told from the others, and what makes a problem of it. */
#include <daedalus/equations.h>
#include <daedalus/multibody.h>

#include "catalog/code_problem.h"
#include "core/error.h"
#include "core/escape.h"
#include "core/file.h"
#include "core/hash.h"
#include "problem/problem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct kind {
    const char *name, *ending;
    int (*is)(const char *text, size_t length); /* 1: the text is of this kind */
    dae_problem_open_fn *open;
} kind;

static size_t blanks(const char *text, size_t length)
{
    size_t i = 0;
    while (i < length && strchr(" \t\r\n", text[i])) i++;
    return i;
}

/* A JSON object. */
static int is_model(const char *text, size_t length)
{
    size_t i = blanks(text, length);
    return i < length && text[i] == '{';
}

/* XML: a robot. */
static int is_robot(const char *text, size_t length)
{
    size_t i = blanks(text, length);
    return i < length && text[i] == '<';
}

/* Lines of text that are no JSON object: equations say themselves what is wrong with them. */
static int is_equations(const char *text, size_t length)
{
    size_t i = blanks(text, length);
    return i < length && memchr(text, '\n', length) != NULL;
}

static const kind kinds[] = {
    {"model", ".json", is_model, mbs_problem_parse},
    {"robot", ".urdf", is_robot, mbs_import_problem},
    {"robot", ".xml", is_robot, mbs_import_problem},
    {"equations", ".deq", is_equations, dae_equations_problem},
};
enum { COUNT = sizeof kinds / sizeof *kinds };

static int ends_with(const char *text, const char *ending)
{
    size_t n = strlen(text), k = strlen(ending);
    return n > k && !strcmp(text + n - k, ending);
}

static const kind *kind_by_ending(const char *file)
{
    for (int i = 0; file && i < COUNT; i++) {
        if (ends_with(file, kinds[i].ending)) return &kinds[i];
    }
    return NULL;
}

static const kind *kind_by_content(const char *text, size_t length)
{
    for (int i = 0; i < COUNT; i++) {
        if (kinds[i].is(text, length)) return &kinds[i];
    }
    return NULL;
}

/* ---- What a text is told by ---------------------------------------------------------------------- */

/* Of the text and of what the settings change in it. */
static unsigned long long hash_of(const char *text, size_t length, const dae_setting *setting, int nsetting)
{
    unsigned long long h = dae_hash(DAE_HASH_BEGIN, text, length);
    for (int k = 0; k < nsetting; k++) {
        h = dae_hash(h, setting[k].name, strlen(setting[k].name));
        h = dae_hash(h, "=", 1);
        h = dae_hash(h, setting[k].value, strlen(setting[k].value)) * DAE_HASH_PRIME;
    }
    return h ? h : 1;
}

/* ---- Opening ---------------------------------------------------------------------------------------- */

dae_problem *dae_problem_open_text(const char *text, size_t length, const char *file,
                                   const dae_setting *setting, int nsetting, dae_error *err)
{
    size_t mark = dae_utf8_mark(text, length);
    const kind *k = kind_by_ending(file);
    text += mark;
    length -= mark;
    if (!k) k = kind_by_content(text, length);
    if (!k) {
        dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "%s: this is no text of a problem; expected a model, a JSON object {...}, or lines of equations",
            file ? file : "text");
        return NULL;
    }
    dae_problem *p = k->open(text, length, file, setting, nsetting, err);
    if (p)
        p->hash ^=
            hash_of(text, length, setting, nsetting); /* it has that of the files that the text names */
    if (p && dae_problem_remember(p, dae_problem_open_text, text, length, file, setting, nsetting, err) < 0) {
        dae_problem_destroy(p);
        return NULL;
    }
    return p;
}

/* Code: opened again by its path. */
static dae_problem *open_code(const char *text, size_t length, const char *file, const dae_setting *setting,
                              int nsetting, dae_error *err)
{
    (void)text;
    (void)length;
    dae_problem *p = dae_code_problem(file, setting, nsetting, err);
    if (p && dae_problem_remember(p, open_code, NULL, 0, file, setting, nsetting, err) < 0) {
        dae_problem_destroy(p);
        return NULL;
    }
    return p;
}

int dae_problem_is_file(const char *what)
{
    if (!what || strchr(what, '\n') || is_model(what, strlen(what))) return 0;
    return strchr(what, '/') || kind_by_ending(what) || ends_with(what, ".so");
}

dae_problem *dae_problem_open(const char *what, const dae_setting *setting, int nsetting, dae_error *err)
{
    if (!what || !what[0]) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "no problem was named");
        return NULL;
    }
    if (strchr(what, '\n') || is_model(what, strlen(what)))
        return dae_problem_open_text(what, strlen(what), NULL, setting, nsetting, err);
    if (!dae_problem_is_file(what)) return dae_problem_create(what, setting, nsetting, err);
    if (ends_with(what, ".so")) return open_code(NULL, 0, what, setting, nsetting, err);
    size_t length = 0;
    char *text = dae_read_file(what, &length, err);
    dae_problem *p = text ? dae_problem_open_text(text, length, what, setting, nsetting, err) : NULL;
    free(text);
    return p;
}
