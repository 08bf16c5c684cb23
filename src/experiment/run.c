/* One run of a problem: integrator, wanted times, trajectory, score, diagnosis of a failure.
 *
 * The wanted times go through the driver's output; the trajectory is taken after every accepted step from the
 * dense output, so that one run can serve both. Mechanical systems are integrated as they stand by methods
 * made for them, and through a formulation by all others. A DAE that is a mechanism in disguise is integrated as the
 * mechanism by "auto", by methods that do not take DAEs, and wherever a formulation is asked for. Results are always in
 * the coordinates of the problem. */
#include <daedalus/experiment.h>

#include "experiment/solution.h"

#include "core/arena.h"
#include "core/error.h"
#include "core/number.h"
#include "formulation/formulation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    max_values_default = 1 << 23, /* 64 MiB of trajectory; ours */
    max_batch = 1000
};
static const double batch_seconds = 1e-3; /* a measurement of CPU time covers at least this much; ours */

typedef struct run {
    dae_run_result r; /* first: a run is handed out as its result */
    dae_arena *arena;
    const dae_run_options *opt;
    dae_options options; /* what the integrator gets */
    dae_integrator *it;
    dae_formulation *form;       /* NULL: the system is integrated as it stands */
    dae_formulation *multiplier; /* descriptor form: for accelerations and multipliers; or NULL */
    const dae_system *sys;       /* what is integrated */
    const char *stiff_reason;    /* why "auto" took an implicit method, or NULL */
    int as_mechanism;            /* 1: that is problem->mechanism, or a form of it */
    const dae_mech *mech;        /* the mechanical system behind it, or NULL */
    int nz;                      /* its size */
    double *z0, *zp0;            /* its initial values; zp0 may be NULL */
    double *z;                   /* nz, work */
    double *y;                   /* n, work */
    dae_events events;           /* formulated systems: those of the options in the variables of the form */
    double *ye, *ype;            /* n each: the state and its derivative as the events see them */
    double residual[3]; /* formulated systems: largest of position, velocity and acceleration constraints */
    double *times;      /* the wanted times, sorted */
    dae_sample *at;
    int nat;

    dae_solution_writer solution;
    double *point_t, *point_y; /* trajectory: npoint, n*npoint */
    size_t capacity;           /* in points */
    long seen, stride;
    double grid_next; /* number of the next equidistant point */
    long restarts;
    int out_of_memory;
    void *checkpoint;
    char linear_algebra[128];
    dae_balance energy;
} run;

dae_run_options dae_run_options_default(const dae_problem *p)
{
    dae_run_options o = {.options = dae_options_default(), .t_end = p->t_end, .repeat = 1};
    if (p->rtol > 0) o.options.rtol = p->rtol;
    if (p->atol > 0) o.options.atol = p->atol;
    o.options.h0 = p->h0;
    o.options.h_max = p->h_max;
    if (p->method) o.options.method = p->method;
    if (p->formulation) o.options.formulation = p->formulation;
    o.events = p->events;
    o.options.discontinuity = p->discontinuity;
    o.options.ndiscontinuity = p->ndiscontinuity;
    o.points = 4;
    o.max_values = max_values_default;
    return o;
}

/* ---- Coordinates ------------------------------------------------------------------------------- */

/* The state of the problem from that of what is integrated, where no accelerations are asked for. */
static void plain_state(run *x, double t, const double *z, double *y)
{
    if (!x->as_mechanism) {
        if (x->form) dae_formulation_lower(x->form, t, z, y, NULL, NULL, NULL);
        else memcpy(y, z, (size_t)x->nz * sizeof *y);
        return;
    }
    int npv = x->mech->np + x->mech->nv; /* y = (p, v, a, lambda) */
    double *a = y + npv, *lambda = a + x->mech->nv;
    if (x->form) {
        if (dae_formulation_lower(x->form, t, z, y, a, lambda, NULL) >= 0) return;
        dae_formulation_lower(x->form, t, z, y, NULL, NULL, NULL);
    } else {
        memcpy(y, z, (size_t)npv * sizeof *y);
        if (dae_integrator_multipliers(x->it, t, a, lambda) >= 0) return;
    }
    for (int i = npv; i < x->r.n; i++) y[i] = NAN;
}

/* Formulated systems: what is left of the acceleration constraint where accelerations are known. */
static void note_acceleration(run *x, const dae_sample *at)
{
    double r[3];
    if (dae_formulation_residuals(x->form, at->t, at->y, at->a, r, NULL) >= 0)
        x->residual[2] = fmax(x->residual[2], r[2]);
}

/* A sample in the coordinates of the problem, in memory of the run. */
static dae_status sample_at(run *x, double t, const double *z, dae_sample *out)
{
    const dae_problem *p = x->r.problem;
    int n = x->r.n, mech = p->system.kind == DAE_KIND_MECH;
    double *y = dae_arena_reals(x->arena, (size_t)n);
    double *a = mech ? dae_arena_reals(x->arena, (size_t)p->system.mech.nv) : NULL;
    double *lambda = mech ? dae_arena_reals(x->arena, (size_t)p->system.mech.nlambda + 1) : NULL;
    if (dae_arena_failed(x->arena)) {
        x->out_of_memory = 1;
        return DAE_ERR_MEMORY;
    }
    *out = (dae_sample){.t = t, .y = y};
    if (!mech) {
        plain_state(x, t, z, y);
        if (x->as_mechanism) {
            out->p = y;
            out->v = y + x->mech->np;
            out->a = out->v + x->mech->nv;
            out->lambda = out->a + x->mech->nv;
            if (x->form) note_acceleration(x, out);
        }
        return DAE_OK;
    }
    out->p = y;
    out->v = y + p->system.mech.np;
    dae_status known = DAE_ERR_UNSUPPORTED;
    if (x->form) {
        known = dae_formulation_lower(x->form, t, z, y, a, lambda, NULL);
        if (known < 0) dae_formulation_lower(x->form, t, z, y, NULL, NULL, NULL);
    } else {
        memcpy(y, z, (size_t)n * sizeof *y);
        known = dae_integrator_multipliers(x->it, t, a, lambda);
        if (known < 0 && x->multiplier) {
            int m = dae_system_size(dae_formulation_system(x->multiplier));
            double *lifted = calloc((size_t)m, sizeof *lifted), *again = calloc((size_t)n, sizeof *again);
            if (lifted && again && dae_formulation_lift(x->multiplier, t, y, lifted, NULL) >= 0) {
                known = dae_formulation_lower(x->multiplier, t, lifted, again, a, lambda, NULL);
            }
            free(lifted);
            free(again);
        }
    }
    if (known >= 0) {
        out->a = a;
        out->lambda = lambda;
        if (x->form) note_acceleration(x, out);
    }
    return DAE_OK;
}

/* A DAE with a mechanism behind it is left to methods that were made for DAEs if one of them is named and no form is. */
static int wants_mechanism(const run *x)
{
    const dae_problem *p = x->r.problem;
    const char *method = x->options.method, *form = x->options.formulation;
    if (!p->mechanism) return 0;
    if (!method || !strcmp(method, "auto") || (form && strcmp(form, "auto") != 0)) return 1;
    const dae_method_info *m = dae_method_find(method);
    return m && !(m->kinds & 1u << p->system.kind);
}

/* "auto" on a mechanism that is known to be stiff: the half-explicit methods, which it takes else, would crawl. */
static void choose_for_stiff(run *x)
{
    const dae_problem *p = x->r.problem;
    const char *method = x->options.method, *form = x->options.formulation;
    if (p->system.kind != DAE_KIND_MECH || !p->info || !p->info->stiff) return;
    if ((method && strcmp(method, "auto") != 0) ||
        (form && strcmp(form, "auto") != 0 && strcmp(form, "statespace") != 0))
        return;
    x->options.method = x->options.rtol < 1e-6 ? "radau5" : "rosnys4";
    x->options.formulation = "statespace";
    x->stiff_reason = "stiff mechanism: implicit method on the minimal coordinates";
}

/* Minimal coordinates: those that the problem names, unless a setting says how to choose them. */
static dae_status choose_coordinates(run *x, dae_error *err)
{
    const char *form = x->options.formulation, *method = x->options.method;
    int any = !form || !strcmp(form, "auto"), n = x->options.nsetting;
    const dae_formulation_info *info = any ? dae_formulation_choose(method) : dae_formulation_find(form);
    if (!x->r.problem->independent || !info || strcmp(info->name, "statespace") != 0) return DAE_OK;
    for (int i = 0; i < n; i++) {
        const char *name = x->options.setting[i].name, *dot = strrchr(name, '.');
        if (dot) name = dot + 1;
        if (!strcmp(name, "independent") || !strcmp(name, "coordinates") || !strcmp(name, "scale"))
            return DAE_OK;
    }
    dae_setting *more = dae_arena_take(x->arena, (size_t)n + 1, sizeof *more);
    if (!more) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (n) memcpy(more, x->options.setting, (size_t)n * sizeof *more);
    more[n] = (dae_setting){"formulation.independent", x->r.problem->independent};
    x->options.setting = more;
    x->options.nsetting = n + 1;
    return DAE_OK;
}

/* Sets sys, nz, z0, zp0: the system that is integrated and its initial values. */
static dae_status formulate(run *x, dae_error *err)
{
    const dae_problem *p = x->r.problem;
    const char *name = x->options.formulation;
    int any = !name || !strcmp(name, "auto");
    x->sys = &p->system;
    x->nz = x->r.n;
    if (wants_mechanism(x)) {
        x->as_mechanism = 1;
        x->sys = p->mechanism;
        x->nz = dae_system_size(x->sys);
        if (x->options.h0 == p->h0) x->options.h0 = 0; /* meant for the DAE */
    } else if (p->system.kind != DAE_KIND_MECH && !any) {
        return dae_fail(
            err, DAE_ERR_INPUT, NAN,
            "formulation \"%s\": %s is no mechanical system (its kind is %s); leave the formulation out",
            name, x->r.name, dae_kind_name(p->system.kind));
    }
    if (x->sys->kind == DAE_KIND_MECH) {
        dae_options inner;
        choose_for_stiff(x);
        if (choose_coordinates(x, err) < 0) return err->status;
        dae_formulation *f = dae_formulation_open(x->sys, &x->options, &inner, err);
        if (!f) return err->status;
        const dae_system *formed = dae_formulation_system(f);
        x->mech = &x->sys->mech;
        x->r.formulation = dae_formulation_type_of(f)->name;
        x->options = inner;
        if (formed->kind == DAE_KIND_MECH) {
            x->multiplier = f;
        } else {
            x->form = f;
            x->sys = formed;
            x->nz = dae_system_size(formed);
        }
    }
    x->z0 = dae_arena_reals(x->arena, (size_t)x->nz);
    x->z = dae_arena_reals(x->arena, (size_t)x->nz);
    x->y = dae_arena_reals(x->arena, (size_t)x->r.n);
    x->ye = dae_arena_reals(x->arena, (size_t)x->r.n);
    x->ype = dae_arena_reals(x->arena, (size_t)x->r.n);
    if (dae_arena_failed(x->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    if (x->form) return dae_formulation_lift(x->form, p->t0, p->y0, x->z0, err);
    memcpy(x->z0, p->y0, (size_t)x->nz * sizeof *x->z0);
    x->zp0 =
        p->yp0 && !x->as_mechanism ? dae_arena_copy(x->arena, p->yp0, (size_t)x->nz, sizeof(double)) : NULL;
    return DAE_OK;
}

/* Jumps have to be sorted in the direction of integration. */
static dae_status discontinuities(run *x, dae_error *err)
{
    int n = x->options.ndiscontinuity;
    const double *t = x->options.discontinuity;
    if (n < 2 || (t[n - 1] > t[0]) == (x->r.t_end > x->r.t0)) return DAE_OK;
    double *turned = dae_arena_reals(x->arena, (size_t)n);
    if (!turned) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    for (int i = 0; i < n; i++) turned[i] = t[n - 1 - i];
    x->options.discontinuity = turned;
    return DAE_OK;
}

/* ---- Tolerances and times ------------------------------------------------------------------------ */

static void tolerances(run *x)
{
    const dae_problem *p = x->r.problem;
    int n = x->r.n;
    double *rtol = dae_arena_reals(x->arena, (size_t)n), *atol = dae_arena_reals(x->arena, (size_t)n);
    if (!rtol || !atol) return;
    for (int i = 0; i < n; i++) {
        const dae_options *o = &x->opt->options;
        rtol[i] = o->rtol_vec ? o->rtol_vec[i] : p->rtol_factor ? o->rtol * p->rtol_factor[i] : o->rtol;
        atol[i] = o->atol_vec ? o->atol_vec[i] : p->atol_factor ? o->atol * p->atol_factor[i] : o->atol;
    }
    x->r.rtol_vec = rtol;
    x->r.atol_vec = atol;
    if (p->rtol_factor && !x->options.rtol_vec) x->options.rtol_vec = rtol;
    if (p->atol_factor && !x->options.atol_vec) x->options.atol_vec = atol;
}

static int compare_up(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static dae_status wanted_times(run *x, dae_error *err)
{
    const dae_run_options *o = x->opt;
    double lo = fmin(x->r.t0, x->r.t_end), hi = fmax(x->r.t0, x->r.t_end);
    for (int i = 0; i < o->nat; i++) {
        if (!(o->at[i] >= lo && o->at[i] <= hi)) {
            return dae_fail(err, DAE_ERR_INPUT, NAN, "the wanted time %.17g is outside the interval %g .. %g",
                            o->at[i], x->r.t0, x->r.t_end);
        }
    }
    if (o->nat < 1) return DAE_OK;
    x->times = dae_arena_copy(x->arena, o->at, (size_t)o->nat, sizeof(double));
    x->at = dae_arena_take(x->arena, (size_t)o->nat, sizeof *x->at);
    if (dae_arena_failed(x->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    qsort(x->times, (size_t)o->nat, sizeof(double), compare_up);
    if (x->r.t_end < x->r.t0) {
        for (int i = 0, j = o->nat - 1; i < j; i++, j--) {
            double t = x->times[i];
            x->times[i] = x->times[j];
            x->times[j] = t;
        }
    }
    return DAE_OK;
}

static int on_time(double t, const double *z, int n, void *user)
{
    run *x = user;
    (void)n;
    if (x->nat >= x->opt->nat) return 0;
    return sample_at(x, t, z, &x->at[x->nat++]) < 0 ? -1 : 0;
}

/* ---- Trajectory ---------------------------------------------------------------------------------- */

/* Keeps every second point. */
static void thin(run *x)
{
    int k = 0;
    size_t n = (size_t)x->r.n;
    for (int i = 0; i < x->r.npoint; i += 2, k++) {
        x->point_t[k] = x->point_t[i];
        memmove(x->point_y + (size_t)k * n, x->point_y + (size_t)i * n, n * sizeof(double));
    }
    x->r.npoint = k;
    x->stride *= 2;
}

static int grow(run *x)
{
    size_t n = (size_t)x->r.n, limit = x->opt->max_values / (n + 1);
    if (limit < 64) limit = 64;
    if (x->capacity >= limit) {
        thin(x);
        return 0;
    }
    size_t capacity = x->capacity ? 2 * x->capacity : 1024;
    if (capacity > limit) capacity = limit;
    double *t = realloc(x->point_t, capacity * sizeof *t);
    if (t) x->point_t = t;
    double *y = realloc(x->point_y, capacity * n * sizeof *y);
    if (y) x->point_y = y;
    if (!t || !y) {
        x->out_of_memory = 1;
        return -1;
    }
    x->capacity = capacity;
    return 0;
}

/* forced: not subject to thinning. */
static int put(run *x, double t, const double *z, int forced)
{
    if (!forced && x->seen++ % x->stride != 0) return 0;
    if ((size_t)x->r.npoint >= x->capacity && grow(x) < 0) return -1;
    double *y = x->point_y + (size_t)x->r.npoint * (size_t)x->r.n;
    plain_state(x, t, z, y);
    x->point_t[x->r.npoint++] = t;
    return 0;
}

static int put_interpolated(run *x, double t)
{
    double sign = x->r.t_end < x->r.t0 ? -1 : 1;
    if (sign * (t - x->r.t_end) > 0) return 0; /* a method may step beyond the end */
    if (dae_integrator_interpolate(x->it, t, x->z, NULL) < 0) return 0;
    return put(x, t, x->z, 0);
}

static int put_step(run *x)
{
    double a = dae_integrator_previous_time(x->it), b = dae_integrator_time(x->it);
    int k = x->opt->points, bad = 0;
    if (x->opt->trajectory == DAE_TRAJECTORY_EQUIDISTANT) {
        double sign = x->r.t_end < x->r.t0 ? -1 : 1, length = x->r.t_end - x->r.t0;
        for (; !bad && x->grid_next < k - 1; x->grid_next++) {
            double t = x->r.t0 + length * (x->grid_next / (k - 1));
            if (sign * (t - b) > 0) break;
            if (sign * (t - a) < 0) continue; /* before a resumed run */
            bad = put_interpolated(x, t);
        }
        return bad;
    }
    if (x->opt->trajectory == DAE_TRAJECTORY_MAX_INTERVAL)
        k = x->opt->interval > 0 ? (int)fmin(ceil(fabs(b - a) / x->opt->interval), 1e6) : 1;
    long restarts = dae_integrator_stats(x->it)->restarts;
    if (restarts != x->restarts) bad = put_interpolated(x, a); /* the other side of a jump */
    x->restarts = restarts;
    for (int j = 1; !bad && j < k; j++) bad = put_interpolated(x, a + (b - a) * j / k);
    return bad ? bad : put(x, b, dae_integrator_state(x->it), 0); /* dense output can cost evaluations */
}

/* Largest constraint residuals at the accepted points. */
static void note_residuals(run *x, double t)
{
    double r[3];
    if (dae_formulation_lower(x->form, t, dae_integrator_state(x->it), x->y, NULL, NULL, NULL) < 0) return;
    if (dae_formulation_residuals(x->form, t, x->y, NULL, r, NULL) < 0) return;
    x->residual[0] = fmax(x->residual[0], r[0]);
    x->residual[1] = fmax(x->residual[1], r[1]);
}

/* A piece of the solution in the coordinates of the problem. */
static int on_piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    run *x = user;
    if (dae_solution_begin(&x->solution, from, to, degree) < 0) return -1;
    for (int k = 0; k <= degree; k++) {
        double t = dae_solution_node(from, to, degree, k);
        if (dae_integrator_interpolate(it, t, x->z, NULL) < 0) return -1;
        plain_state(x, t, x->z, x->y);
        if (dae_solution_state(&x->solution, x->y) < 0) return -1;
    }
    return 0;
}

static int on_step(const dae_integrator *it, double t, double t_end, void *user)
{
    run *x = user;
    if (x->form) note_residuals(x, t);
    if (x->opt->trajectory != DAE_TRAJECTORY_NONE && put_step(x) < 0) return -1;
    return x->opt->progress ? x->opt->progress(it, t, t_end, x->opt->progress_user) : 0;
}

/* ---- Events of systems in other variables ---------------------------------------------------------------- */

/* The state of the mechanical system and its derivative, into x->ye and x->ype; zp may be NULL. */
static int lower_for_events(run *x, double t, const double *z, const double *zp)
{
    const dae_mech *m = x->mech;
    int npv = m->np + m->nv;
    double *v = x->ye + m->np, *a = x->ype + m->np;
    if (x->as_mechanism) { /* y = (p, v, a, lambda): a is in the derivative of (p, v) */
        for (int i = npv; i < x->r.n; i++) x->ye[i] = x->ype[i] = NAN;
    }
    if (!x->form) {
        memcpy(x->ye, z, (size_t)npv * sizeof *z);
        if (zp) memcpy(x->ype, zp, (size_t)npv * sizeof *zp);
        if (zp) memcpy(x->ye + npv, zp + m->np, (size_t)m->nv * sizeof *zp);
        return 0;
    }
    if (dae_formulation_lower(x->form, t, z, x->ye, zp ? a : NULL, NULL, NULL) < 0) return 1;
    if (!zp) return 0;
    if (x->as_mechanism) memcpy(x->ye + npv, a, (size_t)m->nv * sizeof *a);
    dae_mech_point at = {.t = t, .p = x->ye, .v = v};
    memcpy(a + m->nv, zp + dae_formulation_dynamics_at(x->form), (size_t)m->nu * sizeof *zp);
    if (m->kinematics) return m->kinematics(&at, x->ype, m->user);
    memcpy(x->ype, v, (size_t)m->np * sizeof *v);
    return 0;
}

static int on_switching(double t, const double *z, const double *zp, double *phi, void *user)
{
    run *x = user;
    int r = lower_for_events(x, t, z, zp);
    return r ? r : x->opt->events->phi(t, x->ye, zp ? x->ype : NULL, phi, x->opt->events->user);
}

/* A changed state is lifted again: its multipliers, or other coordinates. */
static int on_event(int i, double t, int rising, double *z, double *zp, void *user)
{
    run *x = user;
    if (lower_for_events(x, t, z, zp)) return -1;
    int r = x->opt->events->action(i, t, rising, x->ye, zp ? x->ype : NULL, x->opt->events->user);
    if (r != DAE_EVENT_RESTART) return r;
    if (!x->form) memcpy(z, x->ye, (size_t)x->nz * sizeof *z);
    else if (dae_formulation_lift(x->form, t, x->ye, z, NULL) < 0) return -1;
    return r;
}

/* What the integrator gets: NULL where there are no events. */
static const dae_events *events_of(run *x)
{
    const dae_events *given = x->opt->events;
    if (!given || (!x->form && !x->as_mechanism)) return given;
    x->events = *given;
    x->events.phi = on_switching;
    x->events.action = given->action ? on_event : NULL;
    x->events.user = x;
    return &x->events;
}

/* ---- The run ------------------------------------------------------------------------------------- */

/* CPU seconds of one run without output, or NAN. */
static double timed(run *x)
{
    double seconds = NAN;
    dae_integrator *it = dae_integrator_create(x->sys, &x->options, NULL);
    if (!it) return seconds;
    if (x->opt->running) x->opt->running(it, x->opt->running_user);
    int ready = !x->form || (dae_formulation_lift(x->form, x->r.t0, x->r.problem->y0, x->z0, NULL) >= 0 &&
                             dae_formulation_attach(x->form, it, NULL) >= 0);
    if (ready && (!x->opt->events || dae_integrator_set_events(it, events_of(x), NULL) >= 0) &&
        dae_integrator_start(it, x->r.t0, x->r.t_end, x->z0, x->zp0, NULL) >= 0) {
        dae_status s = dae_integrator_advance(it, x->r.t_end, NULL);
        if (s >= 0 && s != DAE_CANCELLED) seconds = dae_integrator_stats(it)->cpu_seconds;
    }
    if (x->opt->running) x->opt->running(NULL, x->opt->running_user);
    dae_integrator_destroy(it);
    return seconds;
}

/* [TESTSET] section II.4: several runs, largest and smallest dropped, the "medium" of the rest: the median, which
 * is that of all. A measurement covers as many runs as fill batch_seconds. */
static void repeat(run *x)
{
    double limit = x->opt->repeat_seconds, used = 0, *sample = calloc((size_t)x->opt->repeat, sizeof *sample);
    double first = x->r.cpu_seconds;
    int count = 0, batch = first > 0 && first < batch_seconds ? (int)ceil(batch_seconds / first) : 1;
    if (!sample) return;
    if (batch > max_batch) batch = max_batch;
    for (; count < x->opt->repeat; count++) {
        double sum = 0;
        if (limit > 0 && used + batch * first > limit) break;
        for (int k = 0; k < batch && sum >= 0; k++) sum += timed(x);
        if (!(sum >= 0)) break;
        sample[count] = sum / batch;
        used += sum;
    }
    if (count > 0) {
        qsort(sample, (size_t)count, sizeof *sample, compare_up);
        x->r.repeat = count;
        x->r.cpu_seconds = (sample[(count - 1) / 2] + sample[count / 2]) / 2;
    }
    free(sample);
}

/* What can be measured where a run stopped. */
static void diagnose(run *x)
{
    const dae_stats *s = &x->r.stats;
    double *yp = calloc((size_t)x->nz + 1, sizeof *yp), worst = 0;
    int n = x->r.n;
    if (!yp) return;
    if (x->nz == n && s->accepted > 0 && dae_integrator_interpolate(x->it, x->r.last.t, x->z, yp) >= 0) {
        for (int i = 0; i < n; i++) {
            double w = x->r.atol_vec[i] + x->r.rtol_vec[i] * fabs(x->r.last.y[i]);
            double moved = fabs(s->h_last * yp[i]) / w;
            if (moved > worst) {
                worst = moved;
                x->r.worst_component = i;
            }
        }
    }
    const dae_system *sys = x->sys;
    int bad = 0;
    double sum = 0;
    const double *y = dae_integrator_state(x->it);
    if (sys->kind == DAE_KIND_ODE) bad = sys->ode.f(x->r.last.t, y, yp, sys->ode.user);
    if (sys->kind == DAE_KIND_DAE) bad = sys->dae.f(x->r.last.t, y, yp, sys->dae.user);
    for (int i = 0; i < x->nz; i++) sum += yp[i] - yp[i];
    x->r.undefined = bad > 0 || sum != 0;
    free(yp);
}

static void keep_checkpoint(run *x)
{
    size_t size = dae_integrator_save(x->it, NULL, 0);
    if (!size) return;
    x->checkpoint = malloc(size);
    if (x->checkpoint && dae_integrator_save(x->it, x->checkpoint, size) == size) {
        x->r.checkpoint = x->checkpoint;
        x->r.checkpoint_size = size;
    }
}

/* Hands messages on, and keeps what a method says of its linear algebra. */
static void on_log(dae_log_level level, const char *text, void *user)
{
    static const char key[] = "linear_algebra=\"";
    run *x = user;
    const dae_options *o = &x->opt->options;
    const char *found = level == DAE_LOG_INFO ? strstr(text, key) : NULL;
    if (found) {
        found += sizeof key - 1;
        size_t n = strcspn(found, "\"");
        if (n >= sizeof x->linear_algebra) n = sizeof x->linear_algebra - 1;
        memcpy(x->linear_algebra, found, n);
        x->linear_algebra[n] = 0;
    }
    if (o->log && level <= o->log_level) o->log(level, text, o->log_user);
}

/* What the checkpoint of a run says besides what the integrator knows. */
static dae_status set_fingerprint(run *x, dae_error *err)
{
    const dae_problem *p = x->r.problem;
    const dae_parameter *q = p->info ? p->info->parameter : NULL;
    const char *own = x->opt->fingerprint ? x->opt->fingerprint : "",
               *name = p->info ? p->info->name : "system",
               *form = x->r.formulation ? x->r.formulation : "none";
    size_t room = strlen(own) + strlen(name) + strlen(form) + 96, used = 0;
    for (int i = 0; q && q[i].name; i++) room += strlen(q[i].name) + 48;
    int own_values = dae_problem_find(name) == p->info; /* those of a model stand in its list */
    char *text = malloc(room);
    if (!text) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    used += (size_t)snprintf(text, room, "problem %s\nmodel %016llx\n%s%s", name, p->hash, own,
                             own[0] && own[strlen(own) - 1] != '\n' ? "\n" : "");
    for (int i = 0; q && q[i].name; i++)
        used += (size_t)dae_snprintf(text + used, room - used, "parameter %s=%.17g\n", q[i].name,
                                     own_values ? p->parameter[i] : q[i].value);
    snprintf(text + used, room - used, "formulation %s\n", form);
    dae_status s = dae_integrator_set_fingerprint(x->it, text, err);
    free(text);
    return s;
}

static dae_status start(run *x, dae_error *err)
{
    const dae_run_options *o = x->opt;
    x->options.log = on_log;
    x->options.log_user = x;
    if (x->options.log_level < DAE_LOG_INFO || !o->options.log) x->options.log_level = DAE_LOG_INFO;
    tolerances(x);
    dae_status s = formulate(x, err);
    if (s < 0) return s;
    s = wanted_times(x, err);
    if (s >= 0) s = discontinuities(x, err);
    if (s < 0) return s;
    if (dae_arena_failed(x->arena)) return dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
    x->it = dae_integrator_create(x->sys, &x->options, err);
    if (!x->it) return err->status;
    s = set_fingerprint(x, err);
    if (s >= 0 && x->form) s = dae_formulation_attach(x->form, x->it, err);
    if (s < 0) return s;
    if (o->nat > 0) {
        dae_output out = {
            .mode = DAE_OUTPUT_TIMES, .times = x->times, .ntimes = o->nat, .write = on_time, .user = x};
        s = dae_integrator_set_output(x->it, &out, err);
    }
    if (s >= 0 && o->events) s = dae_integrator_set_events(x->it, events_of(x), err);
    if (o->trajectory != DAE_TRAJECTORY_NONE || o->progress || x->form)
        dae_integrator_set_progress(x->it, on_step, x);
    if (s >= 0 && o->solution) {
        x->solution = (dae_solution_writer){.write = o->solution, .user = o->solution_user, .n = x->r.n};
        s = dae_solution_head(&x->solution, &x->r, dae_integrator_method(x->it), err);
        dae_integrator_set_pieces(x->it, on_piece, x);
    }
    if (s >= 0) s = dae_integrator_start(x->it, x->r.t0, x->r.t_end, x->z0, x->zp0, err);
    if (s >= 0 && o->resume) {
        s = dae_integrator_load_changed(x->it, o->resume, o->resume_size, o->resume_changes, err);
        x->nat = 0; /* the start belongs to the run that was saved */
    }
    if (s < 0) return s;
    x->r.started = 1;
    if (o->trajectory != DAE_TRAJECTORY_NONE) {
        if (o->trajectory == DAE_TRAJECTORY_EQUIDISTANT) x->grid_next = 1;
        put(x, dae_integrator_time(x->it), dae_integrator_state(x->it), 1);
    }
    x->restarts = dae_integrator_stats(x->it)->restarts;
    return DAE_OK;
}

static void collect_events(run *x)
{
    int count = 0;
    const dae_event_record *e = dae_integrator_events(x->it, &count);
    if (count < 1) return;
    x->r.event = dae_arena_copy(x->arena, e, (size_t)count, sizeof *e);
    if (x->r.event) x->r.nevent = count;
    int names = x->opt->events ? x->opt->events->count : 0;
    const char **name = dae_arena_take(x->arena, (size_t)names + 1, sizeof *name);
    for (int i = 0; name && i < names; i++) name[i] = x->opt->events->event[i].name;
    x->r.event_name = name;
}

/* The time monitor of [MEXX] section 4.2. */
static void log_times(const run *x)
{
    const dae_stats *s = &x->r.stats;
    double rest = s->cpu_seconds - s->user_seconds - s->linalg_seconds - s->profile_seconds;
    if (!x->options.profile) return;
    dae_log(
        &x->options, DAE_LOG_INFO,
        "time total=%.4g equations=%.4g linear_algebra=%.4g measuring=%.4g rest=%.4g f=%ld lu=%ld solves=%ld",
        s->cpu_seconds, s->user_seconds, s->linalg_seconds, s->profile_seconds, fmax(rest, 0),
        s->f + s->f_jac, s->lu, s->solves);
}

static void finish(run *x)
{
    dae_run_result *r = &x->r;
    const dae_method_info *m = dae_integrator_method(x->it);
    if (m) r->solver = m->name;
    const char *reason = dae_integrator_reason(x->it);
    if (reason && reason[0]) r->reason = dae_arena_copy(x->arena, reason, strlen(reason) + 1, 1);
    if (!r->reason || !r->reason[0]) r->reason = x->stiff_reason ? x->stiff_reason : "";
    r->stats = *dae_integrator_stats(x->it);
    r->linear_algebra = x->linear_algebra;
    const dae_formulation *form = x->form ? x->form : x->multiplier;
    const char *text = form ? dae_formulation_describe(form) : "";
    r->form_text = dae_arena_copy(x->arena, text, strlen(text) + 1, 1);
    if (!r->form_text) r->form_text = "";
    if (text[0]) dae_log(&x->options, DAE_LOG_INFO, "formulation=%s text=\"%s\"", r->formulation, text);
    log_times(x);
    r->cpu_seconds = r->stats.cpu_seconds;
    double t = dae_integrator_time(x->it);
    const double *z = dae_integrator_state(x->it);
    sample_at(x, t, z, &r->last);
    if (x->form) {
        note_residuals(x, t); /* an event may have ended the run between two steps */
        r->stats.position_residual = x->residual[0];
        r->stats.velocity_residual = x->residual[1];
        r->stats.acceleration_residual = x->residual[2];
    }
    if (x->opt->trajectory != DAE_TRAJECTORY_NONE && r->npoint > 0 && x->point_t[r->npoint - 1] != t)
        put(x, t, z, 1);
    if (r->npoint > 1 && r->problem->derived.energy &&
        dae_problem_balance(r->problem, r->npoint, x->point_t, x->point_y, &x->energy, NULL) == DAE_OK)
        r->energy = &x->energy;
    collect_events(x);
    if (r->status < 0 && r->last.y) diagnose(x);
    if (r->status == DAE_OK && r->problem->reference && r->t_end == r->problem->t_end) {
        dae_options o = x->opt->options;
        o.rtol_vec = r->rtol_vec;
        o.atol_vec = r->atol_vec;
        dae_score score = dae_problem_score(r->problem, &o, r->problem->reference, r->last.y);
        r->scd = score.scd;
        r->mescd = score.mescd;
    }
    if (x->opt->checkpoint) keep_checkpoint(x);
}

static run *run_create(const dae_problem *p, const dae_run_options *opt)
{
    run *x = calloc(1, sizeof *x);
    if (!x || !(x->arena = dae_arena_create())) {
        free(x);
        return NULL;
    }
    const char *method = opt->options.method;
    x->opt = opt;
    x->options = opt->options;
    x->stride = 1;
    x->r = (dae_run_result){.problem = p, .name = p->info && p->info->name ? p->info->name : "system"};
    x->r.solver = method ? dae_arena_copy(x->arena, method, strlen(method) + 1, 1) : "auto";
    x->r.reason = x->r.form_text = x->r.linear_algebra = "";
    x->r.rtol = opt->options.rtol;
    x->r.atol = opt->options.atol;
    x->r.h0 = opt->options.h0;
    x->r.t0 = p->t0;
    x->r.t_end = opt->t_end;
    x->r.n = dae_system_size(&p->system);
    x->r.last.t = p->t0;
    x->r.scd = x->r.mescd = NAN;
    x->r.repeat = 1;
    x->r.worst_component = -1;
    x->residual[2] = NAN;
    return x;
}

dae_run_result *dae_run(const dae_problem *p, const dae_run_options *opt, dae_error *err)
{
    run *x = run_create(p, opt);
    if (!x) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return NULL;
    }
    dae_run_result *r = &x->r;
    dae_error *e = &r->error;
    e->t = NAN;
    r->status = dae_system_check(&p->system, e);
    if (r->status >= 0 && (!isfinite(r->t_end) || r->t_end == r->t0)) {
        r->status = dae_fail(e, DAE_ERR_INPUT, NAN,
                             "the end %g of the interval must be finite and differ from its start %g",
                             r->t_end, r->t0);
    }
    if (r->status >= 0 && opt->trajectory == DAE_TRAJECTORY_EQUIDISTANT && opt->points < 2) {
        r->status =
            dae_fail(e, DAE_ERR_INPUT, NAN, "points = %d: a trajectory needs at least 2", opt->points);
    }
    if (r->status >= 0) r->status = start(x, e);
    if (x->it && opt->running) opt->running(x->it, opt->running_user);
    if (r->status >= 0) {
        r->status = dae_integrator_advance(x->it, r->t_end, e);
        if (x->form) dae_formulation_explain(x->form, e);
        if (x->out_of_memory)
            r->status = dae_fail(e, DAE_ERR_MEMORY, dae_integrator_time(x->it), "out of memory");
    }
    if (x->solution.failed)
        r->status = dae_fail(e, DAE_ERR_FILE, NAN, "the continuous solution could not be written");
    if (x->it && (r->started || r->status >= 0)) finish(x);
    if (opt->running) opt->running(NULL, opt->running_user);
    r->at = x->at;
    r->nat = x->nat;
    r->point_t = x->point_t;
    r->point_y = x->point_y;
    r->thinned = x->stride;
    if (r->status >= 0 && r->status != DAE_CANCELLED && opt->repeat > 1 && !opt->resume) repeat(x);
    dae_integrator_destroy(x->it);
    x->it = NULL;
    if (r->formulation)
        r->formulation = dae_arena_copy(x->arena, r->formulation, strlen(r->formulation) + 1, 1);
    return r;
}

void dae_run_destroy(dae_run_result *r)
{
    run *x = (run *)r;
    if (!x) return;
    dae_formulation_destroy(x->form);
    dae_formulation_destroy(x->multiplier);
    free(x->point_t);
    free(x->point_y);
    free(x->checkpoint);
    dae_arena_destroy(x->arena);
    free(x);
}
