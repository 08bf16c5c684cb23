/* Switching functions in words, "beta=3:stop": a component or its derivative, the value at which it counts, and what
 * happens there. Derivatives of velocities are accelerations, which mechanical systems also have by number. */
#include <daedalus/problem.h>

#include "core/error.h"
#include "core/number.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [MEXX] section 4.2: smaller values have no sign; or the absolute tolerance, if that is less */
#define RESIDUAL 1e-6
enum { longest = 80 };

typedef struct function {
    int component, derivative;
    double value;
    char text[longest]; /* as given */
} function;

struct dae_switching {
    dae_events events;
    dae_events given; /* those of the model, which come first; count 0: none */
    dae_event *event;
    function *function;
    int count;
};

/* ---- Words ----------------------------------------------------------------------------------------- */

/* "y3"; "p3", "v1", "a1" of a mechanical system: 1 and the component, or 0. */
static int by_number(const dae_problem *p, const char *name, function *f)
{
    const dae_mech *m = p->system.kind == DAE_KIND_MECH ? &p->system.mech : NULL;
    char *end;
    if (!isdigit((unsigned char)name[1])) return 0;
    long i = strtol(name + 1, &end, 10);
    if (*end || i < 1) return 0;
    if (name[0] == 'y' && i <= dae_system_size(&p->system)) {
        f->component = (int)i - 1;
        return 1;
    }
    if (!m || (name[0] != 'p' && name[0] != 'v' && name[0] != 'a') || i > (name[0] == 'p' ? m->np : m->nv))
        return 0;
    f->component = (int)i - 1 + (name[0] == 'p' ? 0 : m->np);
    f->derivative = name[0] == 'a';
    return 1;
}

static int by_name(const dae_problem *p, const char *name, function *f)
{
    char buffer[24];
    for (int i = 0; i < dae_system_size(&p->system); i++) {
        if (strcmp(dae_component_name(p, i, buffer, sizeof buffer), name) != 0) continue;
        f->component = i;
        return 1;
    }
    return by_number(p, name, f);
}

static dae_status wrong(const char *text, const char *why, dae_error *err)
{
    return dae_fail(err, DAE_ERR_INPUT, NAN, "event \"%s\": %s", text, why);
}

/* The words after the function: stop, rising, falling. */
static dae_status read_words(char *word, const char *text, dae_event *e, dae_error *err)
{
    while (*word) {
        char *next = word + strcspn(word, ":");
        if (*next) *next++ = 0;
        if (!strcmp(word, "stop")) e->terminal = 1;
        else if (!strcmp(word, "rising")) e->direction = DAE_RISING;
        else if (!strcmp(word, "falling")) e->direction = DAE_FALLING;
        else return wrong(text, "expected NAME[=VALUE][:stop][:rising or :falling]", err);
        word = next;
    }
    return DAE_OK;
}

static dae_status read_one(const dae_problem *p, double atol, const char *text, function *f, dae_event *e,
                           dae_error *err)
{
    char name[longest];
    if (strlen(text) >= sizeof name) return wrong(text, "too long", err);
    memcpy(name, text, strlen(text) + 1);
    memcpy(f->text, text, strlen(text) + 1);
    size_t length = strcspn(name, ":");
    char *words = name + length, *equal = memchr(name, '=', length);
    if (*words) *words++ = 0;
    dae_status s = read_words(words, text, e, err);
    if (s < 0) return s;
    if (equal) {
        char *end;
        f->value = dae_strtod(equal + 1, &end);
        if (end == equal + 1 || *end || !isfinite(f->value))
            return wrong(text, "the value is not a number", err);
        *equal = 0;
    }
    length = strlen(name);
    int primed = length > 1 && name[length - 1] == '\'';
    if (primed) name[length - 1] = 0;
    if (!name[0] || !by_name(p, name, f) || (primed && f->derivative)) {
        return wrong(text,
                     "there is no such component; those of the problem can be watched by their names or as "
                     "y1, y2, ..., "
                     "their derivatives as NAME', and of mechanical systems p1, v1, a1, ...",
                     err);
    }
    f->derivative |= primed;
    e->name = f->text;
    double factor = p->atol_factor ? p->atol_factor[f->component] : 1;
    e->residual = fmin(RESIDUAL, atol * factor);
    return DAE_OK;
}

/* ---- Functions ------------------------------------------------------------------------------------- */

static int on_switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    dae_switching *s = user;
    int first = s->given.count, r = first ? s->given.phi(t, y, yp, phi, s->given.user) : 0;
    for (int i = 0; i < s->count && !r; i++) {
        const function *f = &s->function[i];
        if (f->derivative && !yp) return 1;
        phi[first + i] = (f->derivative ? yp : y)[f->component] - f->value;
    }
    return r;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    dae_switching *s = user;
    if (i >= s->given.count || !s->given.action) return DAE_EVENT_GO_ON;
    return s->given.action(i, t, rising, y, yp, s->given.user);
}

dae_switching *dae_switching_create(const dae_problem *p, double atol, const char *const *text, int count,
                                    const dae_events *given, dae_error *err)
{
    dae_switching *s = calloc(1, sizeof *s);
    int first = given ? given->count : 0;
    if (s) {
        s->count = count;
        s->event = calloc((size_t)(first + count) + 1, sizeof *s->event);
        s->function = calloc((size_t)count + 1, sizeof *s->function);
    }
    if (!s || !s->event || !s->function) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        dae_switching_destroy(s);
        return NULL;
    }
    if (given) {
        s->given = *given;
        s->events = *given; /* its check points and tolerance */
        memcpy(s->event, given->event, (size_t)first * sizeof *s->event);
    }
    for (int i = 0; i < count; i++) {
        if (read_one(p, atol, text[i], &s->function[i], &s->event[first + i], err) < 0) {
            dae_switching_destroy(s);
            return NULL;
        }
    }
    s->events.count = first + count;
    s->events.event = s->event;
    s->events.phi = on_switching;
    s->events.action = s->given.action ? on_event : NULL;
    s->events.user = s;
    return s;
}

const dae_events *dae_switching_events(const dae_switching *s)
{
    return &s->events;
}

void dae_switching_destroy(dae_switching *s)
{
    if (!s) return;
    free(s->event);
    free(s->function);
    free(s);
}
