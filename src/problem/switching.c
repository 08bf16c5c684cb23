/* Switching functions in words, "beta=3:stop": a component or its derivative, the value at which it counts, and what
 * happens there. Of mechanisms also accelerations and multipliers, [MEXX] (2.16): where the state does not have them (or the run
 * integrates something else), they are those that belong to (t, p, v, u), at the start too. And what the problem derives from its
 * state: sensors and reactions. */
#include <daedalus/formulation.h>

#include "core/error.h"
#include "core/number.h"
#include "problem/problem.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* [MEXX] section 4.2: smaller values have no sign; or the absolute tolerance, if that is less */
#define RESIDUAL 1e-6
enum { longest = 80 };

typedef enum source { COMPONENT, DERIVATIVE, COLUMN, ACCELERATION, MULTIPLIER } source;

typedef struct function {
    source from;
    int at; /* the component, or the number of the derived column, acceleration or multiplier */
    source
        instead; /* a component that is not known in this run: ACCELERATION or MULTIPLIER, and its number; else COMPONENT */
    int instead_at;
    double value;
    char text[longest]; /* as given */
} function;

struct dae_switching {
    dae_events events;
    dae_events given; /* those of the model, which come first; count 0: none */
    dae_event *event;
    function *function;
    int count;
    dae_formulation *mechanics; /* NULL: no function is of accelerations or multipliers */
    double *state, *a, *lambda; /* of the mechanism, at one point */
    int size;                   /* of (p, v, u) */
    const dae_problem *problem;
    double *column; /* what it derives, at one point; NULL: no function is of that */
};

/* ---- Words ----------------------------------------------------------------------------------------- */

static const dae_system *mechanism_of(const dae_problem *p)
{
    return p->system.kind == DAE_KIND_MECH ? &p->system : p->mechanism;
}

/* The number behind a prefix, "lambda12": 12; 0: there is none. */
static long number_behind(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    char *end;
    if (strncmp(name, prefix, n) != 0 || !isdigit((unsigned char)name[n])) return 0;
    long i = strtol(name + n, &end, 10);
    return *end ? 0 : i;
}

/* "y3"; "p3", "v1", "a1", "lambda1" of a mechanism: 1 and what it is, or 0. */
static int by_number(const dae_problem *p, const char *name, function *f)
{
    const dae_system *sys = mechanism_of(p);
    const dae_mech *m = sys ? &sys->mech : NULL;
    const struct {
        const char *prefix;
        source from;
        int most, first;
    } kind[] = {{"y", COMPONENT, dae_system_size(&p->system), 0},
                {"p", COMPONENT, m ? m->np : 0, 0},
                {"v", COMPONENT, m ? m->nv : 0, m ? m->np : 0},
                {"a", ACCELERATION, m ? m->nv : 0, 0},
                {"lambda", MULTIPLIER, m ? m->nlambda : 0, 0}};
    for (size_t k = 0; k < sizeof kind / sizeof *kind; k++) {
        long i = number_behind(name, kind[k].prefix);
        if (i < 1 || i > kind[k].most) continue;
        f->from = kind[k].from;
        f->at = (int)i - 1 + kind[k].first;
        return 1;
    }
    return 0;
}

/* A component of a DAE with a mechanism behind it that a run of the mechanism has to compute. */
static void note_instead(const dae_problem *p, function *f)
{
    const dae_mech *m = p->mechanism ? &p->mechanism->mech : NULL;
    if (!m || f->from != COMPONENT) return;
    if (p->acceleration_at && f->at >= p->acceleration_at && f->at < p->acceleration_at + m->nv) {
        f->instead = ACCELERATION;
        f->instead_at = f->at - p->acceleration_at;
    } else if (p->multiplier_at && f->at >= p->multiplier_at && f->at < p->multiplier_at + m->nlambda) {
        f->instead = MULTIPLIER;
        f->instead_at = f->at - p->multiplier_at;
    }
}

static int by_name(const dae_problem *p, const char *name, function *f)
{
    char buffer[24];
    for (int i = 0; i < dae_system_size(&p->system); i++) {
        if (strcmp(dae_component_name(p, i, buffer, sizeof buffer), name) != 0) continue;
        f->from = COMPONENT;
        f->at = i;
        return 1;
    }
    for (int i = 0; p->derived.columns && i < p->derived.ncolumn; i++) {
        if (strcmp(p->derived.column[i], name) != 0) continue;
        f->from = COLUMN;
        f->at = i;
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
    if (!name[0] || !by_name(p, name, f) || (primed && f->from != COMPONENT)) {
        return wrong(text,
                     "there is no such component or sensor; those of the problem can be watched by their "
                     "names or as y1, y2, ..., "
                     "derivatives of components as NAME', and of mechanisms p1, v1, a1, lambda1, ...",
                     err);
    }
    if (primed) f->from = DERIVATIVE;
    note_instead(p, f);
    e->name = f->text;
    double factor = p->atol_factor && f->from <= DERIVATIVE ? p->atol_factor[f->at] : 1;
    e->residual = fmin(RESIDUAL, atol * factor);
    return DAE_OK;
}

/* ---- Functions ------------------------------------------------------------------------------------- */

/* Accelerations and multipliers that belong to the state; 0: fine. */
static int solve(dae_switching *s, double t, const double *y)
{
    dae_status r = dae_formulation_lower(s->mechanics, t, y, s->state, s->a, s->lambda, NULL);
    return r == DAE_ERR_MEMORY ? r : r == DAE_ERR_CALLBACK ? -1 : r < 0;
}

static int on_switching(double t, const double *y, const double *yp, double *phi, void *user)
{
    dae_switching *s = user;
    int first = s->given.count, solved = 0, derived = 0,
        r = first ? s->given.phi(t, y, yp, phi, s->given.user) : 0;
    for (int i = 0; i < s->count && !r; i++) {
        const function *f = &s->function[i];
        source from = f->from;
        int at = f->at;
        if (from == COMPONENT && f->instead != COMPONENT && !isfinite(y[at])) {
            from = f->instead;
            at = f->instead_at;
        }
        if (from == DERIVATIVE && !yp) return 1;
        if (from == COLUMN && !derived) {
            dae_status known = dae_problem_columns(s->problem, t, y, s->column, NULL);
            if (known < 0) return known == DAE_ERR_MEMORY ? known : 1;
            derived = 1;
        }
        if (from >= ACCELERATION && !solved) {
            r = solve(s, t, y);
            solved = 1;
        }
        phi[first + i] = (from == COMPONENT      ? y[at]
                          : from == DERIVATIVE   ? yp[at]
                          : from == COLUMN       ? s->column[at]
                          : from == ACCELERATION ? s->a[at]
                                                 : s->lambda[at]) -
                         f->value;
    }
    return r;
}

static int on_event(int i, double t, int rising, double *y, double *yp, void *user)
{
    dae_switching *s = user;
    if (i >= s->given.count || !s->given.action) return DAE_EVENT_GO_ON;
    return s->given.action(i, t, rising, y, yp, s->given.user);
}

/* Those of the problem among them; what follows from these is appended to all. */
static int on_instant(int *count, int room, int *index, int *rising, double t, double *y, double *yp,
                      void *user, dae_error *err)
{
    enum { most = 256 };
    dae_switching *s = user;
    int own[most], up[most], n = 0, limit = room < most ? room : most;
    for (int k = 0; k < *count && n < limit; k++) {
        if (index[k] < s->given.count) own[n] = index[k], up[n++] = rising[k];
    }
    int first = n;
    if (!n) return DAE_EVENT_GO_ON;
    int r = s->given.instant(&n, limit, own, up, t, y, yp, s->given.user, err);
    for (int k = first; k < n && *count < room; k++) {
        index[*count] = own[k];
        rising[(*count)++] = up[k];
    }
    return r;
}

/* What functions of accelerations and multipliers need. */
static dae_status prepare(dae_switching *s, const dae_problem *p, dae_error *err)
{
    const dae_system *sys = mechanism_of(p);
    int wanted = 0, derived = 0;
    for (int i = 0; i < s->count; i++) {
        wanted |= s->function[i].from >= ACCELERATION || s->function[i].instead != COMPONENT;
        derived |= s->function[i].from == COLUMN;
    }
    s->problem = p;
    if (derived && !(s->column = calloc((size_t)p->derived.ncolumn, sizeof *s->column)))
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (!wanted || !sys) return DAE_OK;
    s->size = dae_system_size(sys);
    s->mechanics = dae_formulation_create(sys, "descriptor", NULL, 0, err);
    if (!s->mechanics) return err && err->status < 0 ? err->status : DAE_ERR_MEMORY;
    s->state = calloc((size_t)(s->size + sys->mech.nv + sys->mech.nlambda) + 1, sizeof *s->state);
    if (!s->state) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    s->a = s->state + s->size;
    s->lambda = s->a + sys->mech.nv;
    return DAE_OK;
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
        s->events.no_slope = s->events.no_state = 0;
        memcpy(s->event, given->event, (size_t)first * sizeof *s->event);
    }
    for (int i = 0; i < count; i++) {
        if (read_one(p, atol, text[i], &s->function[i], &s->event[first + i], err) < 0) {
            dae_switching_destroy(s);
            return NULL;
        }
    }
    dae_error own = {0};
    if (prepare(s, p, err ? err : &own) < 0) {
        dae_switching_destroy(s);
        return NULL;
    }
    s->events.plain = (!given || given->plain || !given->count) && !s->column;
    s->events.count = first + count;
    s->events.event = s->event;
    s->events.phi = on_switching;
    s->events.action = s->given.action ? on_event : NULL;
    s->events.instant = s->given.instant ? on_instant : NULL;
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
    dae_formulation_destroy(s->mechanics);
    free(s->state);
    free(s->column);
    free(s->event);
    free(s->function);
    free(s);
}
