#include "simulation/singular.h"

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* All ours: the table of docs/formulations/index1.md was made with them. */
#define SUDDEN 4    /* times the usual change of an acceleration: the rows are looked at */
#define AGAIN 0.1   /* and again where the mechanism has moved by this part of the way to a pose */
#define MEMORY 20   /* long steps over which the usual change is taken */
#define FADES 8     /* steps in which a long step is forgotten */
#define SLIGHT 1e-3 /* of the fastest change: bodies that change less are left alone */
#define SHORT 2     /* part of that in which the long steps exceed the present one: so short they are */
#define FAR 0.25    /* of the largest squared length of rows combined: no pose in a step between such */
#define SUSPECT 0.1 /* at some point of it: the step is searched */
#define NEAR 1e-2   /* and a pose may be singular */
#define TURNED 0.5  /* of the velocity of a body in one step: it may have gone over to the other branch */
#define STILL 1e-2  /* of the largest energy: what bodies with less do does not matter there */
#define OVER 1e-3   /* then a pose is passed from there on */
#define BENT 3e2    /* times the relative residual: the other branch is as near as that */
#define LEAST 1e-10 /* what rounding decides */
enum { INSIDE = 4, CLOSER = 4 }; /* intervals of a step in which it looks; steps of the search */

struct dae_singular {
    dae_arena *arena;
    dae_descriptor d;
    int nbody, found, steps; /* steps: 0, 1, or 2 and more */
    const int *size;         /* of the blocks of M; NULL: one */
    double *mass;            /* nv: the diagonal of M at the first step */
    double *p, *v, *a;       /* np, nv, nv: the end of the last step, and its accelerations */
    double *usual;           /* nbody: change of the accelerations from step to step */
    double *seen;            /* np: where the rows were looked at last, */
    double least;            /* and the least squared length there; 0: they were not */
    int turned;              /* a body changed most of its velocity in the last step */
    double length;           /* of the long steps */
    double regular;          /* the largest squared length of the shortest combination of rows */
    double time;
    double end, squared;  /* time and squared length of the last look at the end of a step */
    double *row, *inside; /* nl; np+nv+nu */
};

static dae_singular *starved(dae_singular *w, dae_error *err)
{
    if (err->status >= 0) dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory to watch for singular poses");
    dae_singular_destroy(w);
    return NULL;
}

dae_singular *dae_singular_create(const dae_formulation *f, dae_error *err)
{
    const dae_descriptor *of = &f->d;
    if (!f->type->astray || f->option.project || !of->nl) return NULL;
    dae_singular *w = calloc(1, sizeof *w);
    if (w) w->arena = dae_arena_create();
    if (!w || !w->arena || dae_descriptor_init(&w->d, &of->m, f->option.saddle, w->arena, err) < 0)
        return starved(w, err);
    w->size = w->d.spec.block;
    w->nbody = w->size ? w->d.spec.nblock : 1;
    w->mass = dae_arena_reals(w->arena, (size_t)of->nv);
    w->p = dae_arena_reals(w->arena, (size_t)of->np);
    w->seen = dae_arena_reals(w->arena, (size_t)of->np);
    w->v = dae_arena_reals(w->arena, (size_t)of->nv);
    w->a = dae_arena_reals(w->arena, (size_t)of->nv);
    w->usual = dae_arena_reals(w->arena, (size_t)w->nbody);
    w->row = dae_arena_reals(w->arena, (size_t)of->nl);
    w->inside = dae_arena_reals(w->arena, (size_t)(of->np + of->nv + of->nu));
    return dae_arena_failed(w->arena) ? starved(w, err) : w;
}

void dae_singular_destroy(dae_singular *w)
{
    if (!w) return;
    dae_descriptor_free(&w->d);
    dae_arena_destroy(w->arena);
    free(w);
}

void dae_singular_forget(dae_singular *w)
{
    if (w) w->steps = w->found = w->d.starved = 0;
}

/* How sudden the accelerations change in this step of length h, of the body where they do most, in units of what is usual for it; 0: nothing
 * is usual yet. */
static double suddenness(dae_singular *w, const double *v, double h)
{
    double fastest = 0, most = 0, moving = 0;
    w->turned = 0;
    for (int i = 0; i < w->d.nv; i++) moving = fmax(moving, w->mass[i] * v[i] * v[i]);
    w->length = fmax(h, w->length * exp(-h / (FADES * w->length + DBL_MIN)));
    double part = h / (h + MEMORY * w->length);
    for (int b = 0; b < w->nbody; b++) fastest = fmax(fastest, w->usual[b]);
    for (int b = 0, j = 0; b < w->nbody; b++) {
        int n = w->size ? w->size[b] : w->d.nv;
        double sum = 0, square = 0;
        for (int i = 0; i < n; i++, j++) {
            square += w->mass[j] * fmax(v[j] * v[j], w->v[j] * w->v[j]);
            double a = (v[j] - w->v[j]) / h, change = a - w->a[j];
            sum += w->mass[j] * change * change;
            w->a[j] = a;
        }
        double change = sqrt(sum), least = SLIGHT * fastest;
        w->turned |= square > STILL * moving && change * h > TURNED * sqrt(square);
        if (w->steps < 2) continue;
        if (w->usual[b] > 0 || least > 0) most = fmax(most, change / fmax(w->usual[b], least));
        w->usual[b] += w->usual[b] > 0 ? part * (change - w->usual[b]) : change;
    }
    w->steps += w->steps < 2;
    dae_copy(w->d.nv, v, w->v);
    if (h >= w->length && !w->turned) most = 0; /* steps grow: what is usual for them is not known */
    return fmax(most, w->length / h / SHORT);
}

/* At one point: the squared length of the shortest combination of rows. How near a singular pose is, relative to where the two branches can
 * be told apart (below 1 they cannot), is less than the least so far, with its time. */
static double look_at(dae_singular *w, double t, const double *p, double *near)
{
    double off = 0, size = fmax(dae_largest(w->d.np, p), DBL_MIN);
    double square = dae_descriptor_independence(&w->d, t, p, w->row, &off);
    w->regular = fmax(w->regular, square);
    double limit = fmax(LEAST, fmax(BENT * off / size, w->turned ? OVER * w->regular : 0));
    double ratio = square < 0 || square > NEAR * w->regular ? INFINITY : square / limit;
    if (ratio < *near) {
        *near = ratio;
        w->time = t;
    }
    return square < 0 ? INFINITY : square;
}

static int begin(dae_singular *w, double t, const double *p, const double *v)
{
    const dae_descriptor *d = &w->d;
    double near = INFINITY;
    if (dae_descriptor_mass(&w->d, t, p, d->M)) return 0;
    for (int b = 0, j = 0, at = 0; b < w->nbody; b++) {
        int n = w->size ? w->size[b] : d->nv;
        for (int i = 0; i < n; i++) w->mass[j++] = d->M[at + i * (n + 1)];
        at += n * n;
        w->usual[b] = 0;
    }
    dae_copy(d->np, p, w->p);
    dae_copy(d->nv, v, w->v);
    w->steps = 1;
    w->end = NAN;
    w->least = w->length = w->regular = 0;
    look_at(w, t, p, &near);
    return 0;
}

/* Inside the last step. */
typedef struct place {
    dae_singular_fn *state;
    void *user;
    double from, t;
} place;

/* The same at a time of the step. */
static double look_inside(dae_singular *w, const place *x, double t, double *near)
{
    t = x->t > x->from ? fmin(fmax(t, x->from), x->t) : fmax(fmin(t, x->from), x->t);
    return x->state(t, w->inside, x->user) ? INFINITY : look_at(w, t, w->inside, near);
}

/* The squared length is least, like a parabola, at a pose that is passed: the best of some points of the step from w->p to p, then between its
 * neighbors. */
static double nearest(dae_singular *w, const place *x, const double *p)
{
    double near = INFINITY, step = (x->t - x->from) / INSIDE, at = x->t;
    double first = x->from == w->end ? w->squared : look_at(w, x->from, w->p, &near);
    double least = look_at(w, x->t, p, &near);
    w->end = x->t;
    w->squared = least;
    w->least = fmin(least, first);
    if (w->least > FAR * w->regular) return near;
    if (first < least) {
        least = first;
        at = x->from;
    }
    for (int k = 1; k < INSIDE && near >= 1; k++) {
        double t = x->from + k * step, square = look_inside(w, x, t, &near);
        if (square < least) {
            least = square;
            at = t;
        }
    }
    w->least = least;
    if (!(least < SUSPECT * w->regular)) return near;
    for (int k = 0; k < CLOSER && near >= 1; k++) {
        double low = look_inside(w, x, at - step, &near), high = look_inside(w, x, at + step, &near);
        double curve = low - 2 * least + high, move = curve > 0    ? 0.5 * (low - high) / curve
                                                      : low < high ? -1
                                                                   : 1;
        at += fmax(-1, fmin(1, isfinite(move) ? move : 0)) * step;
        step /= 3;
        least = look_inside(w, x, at, &near);
    }
    return near;
}

/* Since the rows were looked at last, by a part of what could have led to a pose: lengths in units of the mechanism, angles as they are. */
static int has_moved(const dae_singular *w, const double *p)
{
    double moved = 0, size = fmin(fmax(dae_largest(w->d.np, p), DBL_MIN), 1);
    for (int i = 0; i < w->d.np; i++) moved = fmax(moved, fabs(p[i] - w->seen[i]));
    return moved > AGAIN * sqrt(w->least) * size;
}

int dae_singular_look(dae_singular *w, double from, double t, const double *pvu, dae_singular_fn *inside,
                      void *user)
{
    double h = fabs(t - from);
    if (w->found || !(h > 0)) return 0;
    if (!w->steps) return begin(w, t, pvu, pvu + w->d.np);
    double sudden = suddenness(w, pvu + w->d.np, h);
    if (sudden >= SUDDEN && has_moved(w, pvu)) {
        w->found = nearest(w, &(place){inside, user, from, t}, pvu) < 1;
        dae_copy(w->d.np, pvu, w->seen);
        if (w->d.starved) return DAE_ERR_MEMORY;
    }
    dae_copy(w->d.np, pvu, w->p);
    return w->found;
}

double dae_singular_time(const dae_singular *w)
{
    return w->time;
}

const double *dae_singular_rows(const dae_singular *w, int *count)
{
    *count = w->d.nl;
    return w->row;
}
