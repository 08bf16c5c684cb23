/* The least of a goal under conditions: NLopt's SLSQP (sequential quadratic programming, gradients of the solution), after a
 * search over the whole box by controlled random search with local mutation (CRS2) where asked for, conditions as a penalty. */
#include <daedalus/optimize.h>

#include "core/text.h"
#include "fit/goal.h"
#include "problem/problem.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef DAE_NLOPT_LIBRARY
#include <dlfcn.h>
#include <nlopt.h>
#endif

#define PENALTY 1e3 /* of a broken condition in the global search, in units of the first objective; ours */
#define THREAD_DATA 65536 /* bytes, more than the thread-local data of NLopt (2548 in 2.7); ours */
#define HOLDS 1e-8        /* how far a condition may be broken */

dae_optimize_options dae_optimize_options_default(const dae_problem *p)
{
    dae_fit_options f = dae_fit_options_default(p);
    return (dae_optimize_options){
        .sensitivity = f.sensitivity, .seed = 1, .points = 401, .max_evaluations = 200, .tolerance = 1e-6};
}

void dae_optimize_destroy(dae_optimize_result *r)
{
    if (!r) return;
    free(r->value);
    free(r->start);
    free(r->gradient);
    free(r);
}

#ifndef DAE_NLOPT_LIBRARY
dae_optimize_result *dae_optimize(const dae_problem *p, const dae_fit_free *free_list, int count,
                                  const char *minimize, const dae_optimize_options *opt, dae_error *err)
{
    (void)p, (void)free_list, (void)count, (void)minimize, (void)opt;
    dae_fail(err, DAE_ERR_UNSUPPORTED, NAN, "this build has no NLopt; install libnlopt-dev and build again");
    return NULL;
}
#else

/* NLopt is loaded when it is asked for: nobody else needs it. */
#define FUNCTIONS(X)                                                                    \
    X(nlopt_opt, create, (nlopt_algorithm, unsigned))                                   \
    X(void, destroy, (nlopt_opt))                                                       \
    X(nlopt_result, set_lower_bounds, (nlopt_opt, const double *))                      \
    X(nlopt_result, set_upper_bounds, (nlopt_opt, const double *))                      \
    X(nlopt_result, set_maxeval, (nlopt_opt, int))                                      \
    X(nlopt_result, set_xtol_rel, (nlopt_opt, double))                                  \
    X(nlopt_result, set_min_objective, (nlopt_opt, nlopt_func, void *))                 \
    X(nlopt_result, add_inequality_constraint, (nlopt_opt, nlopt_func, void *, double)) \
    X(nlopt_result, optimize, (nlopt_opt, double *, double *))                          \
    X(nlopt_result, force_stop, (nlopt_opt))                                            \
    X(void, srand, (unsigned long))

typedef struct nlopt {
#define X(type, name, arguments) type(*name) arguments;
    FUNCTIONS(X)
#undef X
} nlopt;

static dae_status load(nlopt *n, dae_error *err)
{
    void *library = dlopen(DAE_NLOPT_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE), *symbol;
    int bad = !library;
#define X(type, name, arguments)                          \
    symbol = bad ? NULL : dlsym(library, "nlopt_" #name); \
    bad = bad || !symbol;                                 \
    if (!bad) memcpy(&n->name, &symbol, sizeof symbol);
    FUNCTIONS(X)
#undef X
    if (!bad) return DAE_OK;
    const char *why = library ? NULL : dlerror();
    if (dae_says_no_memory(why)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    return dae_fail(
        err, DAE_ERR_UNSUPPORTED, NAN,
        "a design needs the library %s, which was not found; install it (Debian: apt install libnlopt0)",
        DAE_NLOPT_LIBRARY);
}

typedef struct search {
    nlopt call;
    const dae_fit_free *free;
    int np, ngoal; /* goal 0 is minimized, the others must be <= 0 */
    const dae_optimize_options *opt;
    dae_goals *goals;
    double *lower, *upper, *start, *scale; /* np */
    double *x, *value, *gradient;          /* the last point: np, ngoal, ngoal*np */
    int known, derived;                    /* what holds for x: values, gradients */
    double *best, best_objective, best_violation;
    double *best_gradient; /* np, of the objective; NAN: not known */
    double size;           /* of the objective at the start */
    int evaluations, failed, cancelled, starved;
    dae_error err;
    nlopt_opt going; /* to be stopped */
} search;

static double violation(const search *s)
{
    double worst = 0;
    for (int i = 1; i < s->ngoal; i++) worst = fmax(worst, s->value[i]);
    return worst;
}

static void stop(search *s, int *reason)
{
    *reason = 1;
    if (s->going) s->call.force_stop(s->going);
}

static void note(search *s)
{
    double broken = violation(s), f = s->value[0];
    int better =
        broken <= HOLDS && s->best_violation <= HOLDS ? f < s->best_objective : broken < s->best_violation;
    if (better || s->evaluations == 1) {
        memcpy(s->best, s->x, (size_t)s->np * sizeof *s->x);
        for (int j = 0; j < s->np; j++) s->best_gradient[j] = NAN;
        s->best_objective = f;
        s->best_violation = broken;
    }
    int here = 1;
    for (int j = 0; j < s->np; j++) here = here && s->x[j] == s->best[j];
    if (here && s->derived) memcpy(s->best_gradient, s->gradient, (size_t)s->np * sizeof *s->gradient);
    dae_optimize_progress at = {s->evaluations, f, broken, s->x, s->np};
    if (s->opt->progress && s->opt->progress(&at, s->opt->user)) stop(s, &s->cancelled);
}

/* The point z (in units of scale); 0: known now. */
static int visit(search *s, const double *z, int derive)
{
    int same = s->known;
    for (int j = 0; j < s->np; j++) {
        double x = fmin(fmax(z[j] * s->scale[j], s->lower[j]), s->upper[j]);
        same = same && x == s->x[j];
        s->x[j] = x;
    }
    if (same && (s->derived || !derive)) return 0;
    if (s->cancelled) return s->known = 0, -1; /* some searches go on for a while */
    dae_error err = {0};
    dae_status status = dae_goals_evaluate(s->goals, s->x, s->value, derive ? s->gradient : NULL, &err);
    s->evaluations++;
    s->known = status >= 0 && status != DAE_CANCELLED;
    s->derived = derive;
    if (!s->known) {
        if (status == DAE_CANCELLED) stop(s, &s->cancelled);
        s->failed++;
        s->err = err;
        if (status == DAE_ERR_MEMORY) stop(s, &s->starved); /* no property of the point */
        return -1;
    }
    note(s);
    return 0;
}

/* Goal number k as NLopt wants it. */
typedef struct wish {
    search *s;
    int k;
} wish;

static double ask(unsigned n, const double *z, double *gradient, void *data)
{
    const wish *w = data;
    search *s = w->s;
    if (visit(s, z, gradient != NULL)) return HUGE_VAL;
    double unit = w->k ? 1 : s->size;
    for (unsigned j = 0; gradient && j < n; j++)
        gradient[j] = s->gradient[w->k * s->np + (int)j] * s->scale[j] / unit;
    return s->value[w->k] / unit;
}

/* Objective and conditions in one, for searches that know no conditions. */
static double ask_all(unsigned n, const double *z, double *gradient, void *data)
{
    search *s = ((const wish *)data)->s;
    (void)n, (void)gradient;
    if (visit(s, z, 0)) return 1e30;
    return s->value[0] / s->size + PENALTY * violation(s);
}

static int bounded(const search *s)
{
    int all = 1;
    for (int j = 0; j < s->np; j++) all = all && isfinite(s->lower[j]) && isfinite(s->upper[j]);
    return all;
}

static nlopt_opt set_up(search *s, nlopt_algorithm what, double *z, double *lower, double *upper,
                        int evaluations)
{
    nlopt_opt o = s->call.create(what, (unsigned)s->np);
    for (int j = 0; j < s->np; j++) {
        lower[j] = s->lower[j] / s->scale[j];
        upper[j] = s->upper[j] / s->scale[j];
        z[j] = fmin(fmax(s->best[j] / s->scale[j], lower[j]), upper[j]);
    }
    if (!o) return NULL;
    s->call.set_lower_bounds(o, lower);
    s->call.set_upper_bounds(o, upper);
    s->call.set_maxeval(o, evaluations);
    s->call.set_xtol_rel(o, s->opt->tolerance);
    s->going = o;
    return o;
}

static nlopt_result search_all(search *s, double *z, double *lower, double *upper)
{
    wish w = {s, 0};
    nlopt_opt o = set_up(s, NLOPT_GN_CRS2_LM, z, lower, upper, 20 * s->opt->max_evaluations);
    double f;
    if (!o) return NLOPT_OUT_OF_MEMORY;
    s->call.set_min_objective(o, ask_all, &w);
    s->call.set_xtol_rel(o, 1e-3); /* the rest is the next search's */
    nlopt_result r = s->call.optimize(o, z, &f);
    s->going = NULL;
    if (o) s->call.destroy(o);
    return r;
}

static nlopt_result search_near(search *s, double *z, double *lower, double *upper)
{
    nlopt_opt o = set_up(s, NLOPT_LD_SLSQP, z, lower, upper, s->opt->max_evaluations);
    wish *w = calloc((size_t)s->ngoal, sizeof *w);
    nlopt_result r = NLOPT_OUT_OF_MEMORY;
    double f;
    if (o && w) {
        for (int k = 0; k < s->ngoal; k++) {
            w[k] = (wish){s, k};
            if (k) s->call.add_inequality_constraint(o, ask, &w[k], HOLDS);
        }
        s->call.set_min_objective(o, ask, &w[0]);
        s->known = 0;
        r = s->call.optimize(o, z, &f);
    }
    free(w);
    s->going = NULL;
    if (o) s->call.destroy(o);
    return r;
}

/* "a <= b" as "(a) - (b)", "a >= b" as "(b) - (a)". */
static dae_status condition(const char *text, char *out, size_t size, dae_error *err)
{
    const char *at = strstr(text, "<="), *other = strstr(text, ">=");
    if (!at == !other)
        return dae_fail(err, DAE_ERR_INPUT, NAN, "\"%.100s\": a condition has one <= or >= in it", text);
    const char *mid = at ? at : other;
    int left = (int)(mid - text);
    int n = at ? snprintf(out, size, "(%.*s) - (%s)", left, text, mid + 2)
               : snprintf(out, size, "(%s) - (%.*s)", mid + 2, left, text);
    return n > 0 && (size_t)n < size ? DAE_OK : dae_fail(err, DAE_ERR_INPUT, NAN, "a condition is too long");
}

static dae_status open_goals(search *s, const dae_problem *p, const char *minimize, dae_error *err)
{
    const dae_optimize_options *o = s->opt;
    enum { length = 2000 };
    char *text = calloc((size_t)o->nsubject + 1, length);
    const char **list = calloc((size_t)o->nsubject + 1, sizeof *list);
    dae_status status = text && list ? DAE_OK : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (status >= 0) list[0] = minimize;
    for (int i = 0; i < o->nsubject && status >= 0; i++) {
        list[i + 1] = text + (size_t)i * length;
        status = condition(o->subject[i], text + (size_t)i * length, length, err);
    }
    if (status >= 0) {
        s->goals = dae_goals_open(p, s->free, s->np, list, o->nsubject + 1, o->points, &o->sensitivity, err);
        if (!s->goals) status = err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    }
    free(text);
    free((void *)list);
    return status;
}

static dae_status find_bounds(search *s, const dae_problem *p, dae_error *err)
{
    for (int j = 0; j < s->np; j++) {
        const dae_fit_free *a = &s->free[j];
        const dae_parameter *q = p->info ? p->info->parameter : NULL;
        int k, c, is_parameter = dae_problem_variable(p, a->name, &k, &c) && k >= 0;
        double now = is_parameter ? p->parameter[k] : c >= 0 ? p->y0[c] : 0;
        s->lower[j] = fmax(a->min, is_parameter && q[k].min <= q[k].max ? q[k].min : -INFINITY);
        s->upper[j] = fmin(a->max, is_parameter && q[k].min <= q[k].max ? q[k].max : INFINITY);
        s->start[j] = isnan(a->start) ? fmin(fmax(now, s->lower[j]), s->upper[j]) : a->start;
        if (!(s->lower[j] < s->upper[j]) || s->start[j] < s->lower[j] || s->start[j] > s->upper[j])
            return dae_fail(err, DAE_ERR_INPUT, NAN, "%s: %g does not lie within the bounds %g .. %g",
                            a->name, s->start[j], s->lower[j], s->upper[j]);
        double width = s->upper[j] - s->lower[j];
        s->scale[j] = isfinite(width) ? width : s->start[j] != 0 ? fabs(s->start[j]) : 1;
        s->best[j] = s->start[j];
    }
    return DAE_OK;
}

static void tell_end(const search *s, nlopt_result code, dae_optimize_result *r)
{
    const char *text = code == NLOPT_XTOL_REACHED || code == NLOPT_FTOL_REACHED || code == NLOPT_SUCCESS
                           ? "converged"
                       : code == NLOPT_MAXEVAL_REACHED  ? "the limit on evaluations was hit"
                       : code == NLOPT_ROUNDOFF_LIMITED ? "converged as far as rounding allows"
                                                        : "the search ended without convergence";
    r->status = code == NLOPT_MAXEVAL_REACHED                ? DAE_ERR_MAX_STEPS
                : code > 0 || code == NLOPT_ROUNDOFF_LIMITED ? DAE_OK
                                                             : DAE_ERR_CONVERGENCE;
    if (s->cancelled) r->status = DAE_CANCELLED, text = "stopped";
    snprintf(r->message, sizeof r->message, "%s%s", text,
             s->best_violation > 1e-6 ? "; a condition does not hold" : "");
    if (s->best_violation > 1e-6 && r->status == DAE_OK) r->status = DAE_ERR_CONVERGENCE;
}

/* The loader gives a thread its part of a library's thread-local data when it is touched first, and ends the program where it has no
 * memory for it. There is some: it was just given back. */
static dae_status settle(const search *s)
{
    void *room = malloc(THREAD_DATA);
    if (!room) return DAE_ERR_MEMORY;
    free(room);
    s->call.srand(s->opt->seed);
    return DAE_OK;
}

static dae_status work(search *s, dae_optimize_result *r, dae_error *err)
{
    size_t n = (size_t)s->np + 1;
    double *z = settle(s) < 0 ? NULL : calloc(3 * n, sizeof *z);
    if (!z) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    nlopt_result code = NLOPT_SUCCESS;
    s->size = 1;
    for (int j = 0; j < s->np; j++) z[j] = s->start[j] / s->scale[j];
    dae_status status = DAE_OK;
    if (visit(s, z, 1) && !s->cancelled) {
        *err = s->err;
        status = err->status < 0 ? err->status : DAE_ERR_INTERNAL;
    } else if (!s->known) { /* stopped before anything was known */
        s->best_objective = s->best_violation = r->objective_start = NAN;
        for (int j = 0; j < s->np; j++) s->best_gradient[j] = NAN;
    } else {
        r->objective_start = s->value[0];
        s->size = fabs(s->value[0]) > DBL_MIN ? fabs(s->value[0]) : 1;
    }
    if (status >= 0 && s->opt->global && !bounded(s))
        status = dae_fail(err, DAE_ERR_INPUT, NAN, "a global search needs bounds of all free parameters");
    if (status >= 0 && s->opt->global && !s->cancelled) code = search_all(s, z, z + n, z + 2 * n);
    if (status >= 0 && !s->cancelled && !s->starved) code = search_near(s, z, z + n, z + 2 * n);
    if (status >= 0 && code != NLOPT_OUT_OF_MEMORY && !s->starved) {
        for (int j = 0; j < s->np; j++) z[j] = s->best[j] / s->scale[j];
        s->known = 0;
        const double *g = s->cancelled || visit(s, z, 1) ? s->best_gradient : s->gradient;
        memcpy(r->gradient, g, (size_t)s->np * sizeof *r->gradient);
        memcpy(r->value, s->best, (size_t)s->np * sizeof *r->value);
        memcpy(r->start, s->start, (size_t)s->np * sizeof *r->start);
        r->objective = s->best_objective;
        r->violation = s->best_violation;
        r->evaluations = s->evaluations;
        tell_end(s, code, r);
    }
    if (status >= 0 && (code == NLOPT_OUT_OF_MEMORY || s->starved))
        status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    free(z);
    return status;
}

dae_optimize_result *dae_optimize(const dae_problem *p, const dae_fit_free *free_list, int count,
                                  const char *minimize, const dae_optimize_options *opt, dae_error *err)
{
    dae_optimize_options o = opt ? *opt : dae_optimize_options_default(p);
    size_t n = (size_t)(count > 0 ? count : 0) + 1, goals = (size_t)o.nsubject + 1;
    search s = {.free = free_list, .np = count, .ngoal = o.nsubject + 1, .opt = &o};
    dae_optimize_result *r = calloc(1, sizeof *r);
    double *block = calloc(7 * n + goals * (n + 1), sizeof *block);
    dae_status status = DAE_OK;
    if (count < 1)
        status = dae_fail(err, DAE_ERR_INPUT, NAN, "nothing is free: name parameters to be chosen");
    if (status >= 0 && (!r || !block)) status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (status >= 0) {
        r->count = count;
        r->value = calloc(n, sizeof *r->value);
        r->start = calloc(n, sizeof *r->start);
        r->gradient = calloc(n, sizeof *r->gradient);
        if (!r->value || !r->start || !r->gradient)
            status = dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        double **array[] = {&s.lower, &s.upper, &s.start, &s.scale, &s.x, &s.best, &s.best_gradient};
        for (int k = 0; k < 7; k++) *array[k] = block + (size_t)k * n;
        s.value = block + 7 * n;
        s.gradient = s.value + goals;
    }
    if (status >= 0) status = load(&s.call, err);
    if (status >= 0) status = find_bounds(&s, p, err);
    if (status >= 0) status = open_goals(&s, p, minimize, err);
    if (status >= 0) status = work(&s, r, err);
    dae_goals_close(s.goals);
    free(block);
    if (status >= 0) return r;
    dae_optimize_destroy(r);
    return NULL;
}
#endif
