/* One run of a problem: wanted times, trajectory, score, diagnosis of a failure.
 *
 * The wanted times go through the driver's output; the trajectory is taken after every accepted step from the
 * dense output, so that one run can serve both. Results are always in the coordinates of the problem. */
#include <daedalus/experiment.h>

#include "core/number.h"
#include "experiment/run_sensitivity.h"
#include "experiment/solution.h"
#include "experiment/work.h"
#include "method/driver.h"
#include "multibody/analyses.h"

#include "simulation/simulation.h"

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
    dae_simulation *sim;
    dae_integrator *it; /* of sim */
    double *y;          /* n, work */
    double *times;      /* the wanted times, sorted */
    dae_sample *at;
    int nat;

    dae_solution_writer solution;
    double *point_t, *point_y; /* trajectory: npoint, n*npoint */
    size_t capacity;           /* in points */
    long seen, stride;
    double grid_next; /* number of the next equidistant point */
    long restarts;
    int by_piece; /* 1: an event may end a step inside, where its dense output is gone afterwards: points are taken by pieces */
    double taken; /* by_piece: points are there up to this time */
    int out_of_memory;
    void *checkpoint;
    dae_energy_sum work; /* p NULL: nobody wants it */
    dae_balance energy;
} run;

dae_run_options dae_run_options_default(const dae_problem *p)
{
    dae_simulation_options s = dae_simulation_options_default(p);
    dae_run_options o = {.options = s.options, .t_end = s.t_end, .events = s.events, .repeat = 1};
    o.points = 4;
    o.max_values = max_values_default;
    return o;
}

/* ---- Samples ----------------------------------------------------------------------------------- */

/* A sample in the coordinates of the problem, in memory of the run. */
static dae_status sample_at(run *x, double t, const double *z, dae_sample *out)
{
    const dae_mech *mech = x->sim->mech;
    double *y = dae_arena_reals(x->arena, (size_t)x->r.n);
    double *a = mech ? dae_arena_reals(x->arena, (size_t)mech->nv) : NULL;
    double *lambda = mech ? dae_arena_reals(x->arena, (size_t)mech->nlambda + 1) : NULL;
    if (dae_arena_failed(x->arena)) {
        x->out_of_memory = 1;
        return DAE_ERR_MEMORY;
    }
    *out = (dae_sample){.t = t, .y = y};
    int known = dae_simulation_lower(x->sim, t, z, y, a, lambda);
    if (!mech) return DAE_OK;
    out->p = y;
    out->v = y + mech->np;
    if (known) {
        out->a = a;
        out->lambda = lambda;
    }
    if (out->a) dae_simulation_note(x->sim, t, y, out->a);
    return DAE_OK;
}

/* ---- Times --------------------------------------------------------------------------------------- */

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
    dae_simulation_lower(x->sim, t, z, y, NULL, NULL);
    x->point_t[x->r.npoint++] = t;
    return 0;
}

static int put_interpolated(run *x, double t)
{
    double sign = x->r.t_end < x->r.t0 ? -1 : 1;
    if (sign * (t - x->r.t_end) > 0) return 0; /* a method may step beyond the end */
    if (dae_integrator_interpolate(x->it, t, x->sim->z, NULL) < 0) return 0;
    return put(x, t, x->sim->z, 0);
}

/* Equidistant points from a up to b. */
static int put_grid(run *x, double a, double b)
{
    double sign = x->r.t_end < x->r.t0 ? -1 : 1, length = x->r.t_end - x->r.t0;
    int k = x->opt->points, bad = 0;
    for (; !bad && x->grid_next < k - 1; x->grid_next++) {
        double t = x->r.t0 + length * (x->grid_next / (k - 1));
        if (sign * (t - b) > 0) break;
        if (sign * (t - a) < 0) continue; /* before a resumed run */
        bad = put_interpolated(x, t);
    }
    return bad;
}

/* The points inside a .. b that belong to a step. */
static int put_inside(run *x, double a, double b)
{
    int k = x->opt->points, bad = 0;
    if (x->opt->trajectory == DAE_TRAJECTORY_MAX_INTERVAL)
        k = x->opt->interval > 0 ? (int)fmin(ceil(fabs(b - a) / x->opt->interval), 1e6) : 1;
    for (int j = 1; !bad && j < k; j++) bad = put_interpolated(x, a + (b - a) * j / k);
    return bad;
}

/* What lies before an event, while it can be seen. */
static int put_piece(run *x, double from, double to)
{
    if (x->opt->trajectory == DAE_TRAJECTORY_EQUIDISTANT) return put_grid(x, from, to);
    if (to == x->it->ivp.t) return 0; /* the end of the step: put_step has it */
    int bad = put_inside(x, from, to);
    x->taken = to;
    return bad ? bad : put_interpolated(x, to);
}

static int put_step(run *x)
{
    double a = dae_integrator_previous_time(x->it), b = dae_integrator_time(x->it);
    int bad = 0;
    if (x->opt->trajectory == DAE_TRAJECTORY_EQUIDISTANT) return x->by_piece ? 0 : put_grid(x, a, b);
    if (a == b) return 0; /* an event ended the step: its points are there */
    long restarts = dae_integrator_stats(x->it)->restarts;
    if (restarts != x->restarts) bad = put_interpolated(x, a); /* the other side of a jump */
    else if (x->by_piece && fabs(b - x->taken) < fabs(b - a)) a = x->taken;
    x->restarts = restarts;
    if (!bad) bad = put_inside(x, a, b);
    return bad ? bad : put(x, b, dae_integrator_state(x->it), 0); /* dense output can cost evaluations */
}

/* Points of a piece at which the energy and its balance are wanted. */
static int add_work(run *x, double from, double to)
{
    int events;
    dae_integrator_events(x->it, &events);
    for (int k = 0; k < DAE_WORK_POINTS; k++) {
        double t, *y = dae_work_point(&x->work, from, to, k, events, &t);
        if (dae_integrator_interpolate(x->it, t, x->sim->z, NULL) < 0) return -1;
        dae_simulation_lower(x->sim, t, x->sim->z, y, NULL, NULL);
    }
    return 0;
}

/* A piece of the solution in the coordinates of the problem. */
static int on_piece(dae_integrator *it, double from, double to, int degree, void *user)
{
    run *x = user;
    if (x->work.p && add_work(x, from, to) < 0) return -1;
    if (x->by_piece && put_piece(x, from, to) < 0) return -1;
    if (!x->opt->solution) return 0;
    if (dae_solution_begin(&x->solution, from, to, degree) < 0) return -1;
    for (int k = 0; k <= degree; k++) {
        double t = dae_solution_node(from, to, degree, k);
        if (dae_integrator_interpolate(it, t, x->sim->z, NULL) < 0) return -1;
        dae_simulation_lower(x->sim, t, x->sim->z, x->y, NULL, NULL);
        if (dae_solution_state(&x->solution, x->y) < 0) return -1;
    }
    return 0;
}

static int on_step(const dae_integrator *it, double t, double t_end, void *user)
{
    run *x = user;
    if (x->opt->trajectory != DAE_TRAJECTORY_NONE && put_step(x) < 0) return -1;
    return x->opt->progress ? x->opt->progress(it, t, t_end, x->opt->progress_user) : 0;
}

/* ---- The run ------------------------------------------------------------------------------------- */

/* CPU seconds of one run without output, or NAN. */
static double timed(run *x)
{
    dae_simulation *s = x->sim;
    double seconds = NAN;
    if (s->form && dae_formulation_lift(s->form, s->t0, s->p->y0, s->z0, NULL) < 0) return seconds;
    dae_integrator *it = dae_simulation_again(s, NULL);
    if (!it) return seconds;
    if (x->opt->running) x->opt->running(it, x->opt->running_user);
    if (dae_integrator_start(it, s->t0, s->t_end, s->z0, s->zp0, NULL) >= 0) {
        dae_status status = dae_integrator_advance(it, s->t_end, NULL);
        if (status >= 0 && status != DAE_CANCELLED) seconds = dae_integrator_stats(it)->cpu_seconds;
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
    int n = x->r.n, nz = x->sim->nz;
    double *yp = calloc((size_t)nz + 1, sizeof *yp), worst = 0;
    if (!yp) return;
    if (nz == n && s->accepted > 0 && dae_integrator_interpolate(x->it, x->r.last.t, x->sim->z, yp) >= 0) {
        for (int i = 0; i < n; i++) {
            double w = x->r.atol_vec[i] + x->r.rtol_vec[i] * fabs(x->r.last.y[i]);
            double moved = fabs(s->h_last * yp[i]) / w;
            if (moved > worst) {
                worst = moved;
                x->r.worst_component = i;
            }
        }
    }
    const dae_system *sys = x->sim->sys;
    int bad = 0;
    double sum = 0;
    const double *y = dae_integrator_state(x->it);
    if (sys->kind == DAE_KIND_ODE) bad = sys->ode.f(x->r.last.t, y, yp, sys->ode.user);
    if (sys->kind == DAE_KIND_DAE) bad = sys->dae.f(x->r.last.t, y, yp, sys->dae.user);
    for (int i = 0; i < nz; i++) sum += yp[i] - yp[i];
    x->r.undefined = bad > 0 || sum != 0;
    free(yp);
}

/* Where the system of a mechanism has no values any more: which force it is. */
static void name_force(run *x)
{
    const mbs_mechanism *m = mbs_problem_mechanism(x->r.problem);
    dae_error *e = &x->r.error;
    if (e->status != DAE_ERR_UNDEFINED || !m) return;
    const char *name =
        mbs_undefined_force(m, x->r.last.t, x->r.last.y, 1e-3 * fabs(x->sim->t_end - x->r.problem->t0));
    size_t used = strlen(e->text);
    if (name) snprintf(e->text + used, sizeof e->text - used, "; force \"%s\" has no value there", name);
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

static dae_status open_simulation(run *x, dae_error *err)
{
    const dae_run_options *o = x->opt;
    dae_simulation_options s = {
        .options = o->options, .t_end = o->t_end, .events = o->events, .fingerprint = o->fingerprint};
    x->sim = dae_simulation_open(x->r.problem, &s, err);
    if (!x->sim) return err->status;
    x->it = x->sim->it;
    x->y = dae_arena_reals(x->arena, (size_t)x->r.n);
    x->r.rtol_vec = x->sim->rtol;
    x->r.atol_vec = x->sim->atol;
    x->r.formulation = x->sim->formulation;
    return x->y ? wanted_times(x, err) : dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
}

static dae_status start(run *x, dae_error *err)
{
    const dae_run_options *o = x->opt;
    dae_status s = open_simulation(x, err);
    if (s < 0) return s;
    if (o->nat > 0) {
        dae_output out = {
            .mode = DAE_OUTPUT_TIMES, .times = x->times, .ntimes = o->nat, .write = on_time, .user = x};
        s = dae_integrator_set_output(x->it, &out, err);
    }
    if (o->trajectory != DAE_TRAJECTORY_NONE || o->progress) {
        x->sim->on_step = on_step;
        x->sim->on_step_user = x;
    }
    if (s >= 0 && o->solution) {
        x->solution = (dae_solution_writer){.write = o->solution, .user = o->solution_user, .n = x->r.n};
        s = dae_solution_head(&x->solution, &x->r, dae_integrator_method(x->it), err);
    }
    if (o->trajectory != DAE_TRAJECTORY_NONE && x->r.problem->derived.energy &&
        dae_work_begin(&x->work, x->r.problem, x->r.n))
        s = dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the balance of energy");
    x->by_piece =
        o->trajectory != DAE_TRAJECTORY_NONE && o->events && o->events->count > 0 && o->events->action;
    x->taken = x->r.t0;
    if (o->solution || x->work.p || x->by_piece) dae_integrator_set_pieces(x->it, on_piece, x);
    if (s >= 0) s = dae_simulation_start(x->sim, err);
    if (s >= 0 && o->resume) {
        s = dae_simulation_load(x->sim, o->resume, o->resume_size, o->resume_changes, err);
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
    if (!x->opt->options.profile) return;
    dae_log(
        &x->opt->options, DAE_LOG_INFO,
        "time total=%.4g equations=%.4g linear_algebra=%.4g measuring=%.4g rest=%.4g f=%ld lu=%ld solves=%ld",
        s->cpu_seconds, s->user_seconds, s->linalg_seconds, s->profile_seconds, fmax(rest, 0),
        s->f + s->f_jac, s->lu, s->solves);
}

static void starved(run *x, const char *what)
{
    dae_run_result *r = &x->r;
    if (r->status >= 0)
        r->status = dae_fail(&r->error, DAE_ERR_MEMORY, r->last.t, "out of memory for %s", what);
}

/* A text in the memory of the run. */
static const char *kept(run *x, const char *text)
{
    const char *copy = text ? dae_arena_copy(x->arena, text, strlen(text) + 1, 1) : NULL;
    if (text && !copy) starved(x, "what is told about the run");
    return copy ? copy : "";
}

/* What speaks against the method and against the tolerances, and what happened on the way. */
static const char *warned(run *x, const char *method)
{
    const dae_run_result *r = &x->r;
    char clock[300], all[1400];
    int late = dae_clock_warning(r->t0, r->t_end, r->rtol, clock, sizeof clock);
    const char *part[] = {method, late ? clock : NULL, dae_simulation_warning(x->sim)};
    size_t used = 0;
    all[0] = 0;
    for (int i = 0; i < 3; i++) {
        if (!part[i] || !part[i][0]) continue;
        used += (size_t)dae_snprintf(all + used, sizeof all - used, "%s%s", used ? "; " : "", part[i]);
    }
    return kept(x, all);
}

/* The evidence of "auto" in the memory of the run. */
static const char *explained(run *x)
{
    size_t size = dae_simulation_explain(x->sim, NULL, 0) + 1;
    char *text = size > 1 ? dae_arena_take(x->arena, size, 1) : NULL;
    if (size > 1 && !text) starved(x, "the evidence of the choice");
    if (!text) return "";
    dae_simulation_explain(x->sim, text, size);
    return text;
}

static void finish(run *x)
{
    dae_run_result *r = &x->r;
    dae_choice choice = dae_simulation_choice(x->sim);
    r->solver = kept(x, choice.method);
    const dae_method_info *method = dae_options_method(&x->opt->options, choice.method);
    r->solver_title = kept(x, method ? method->title : NULL);
    r->reason = kept(x, choice.reason);
    r->evidence = explained(x);
    int index =
        r->formulation ? !strcmp(r->formulation, "index3") ? 3 : 0 : dae_system_index(&r->problem->system);
    r->warnings = warned(x, dae_method_warning(method, index));
    r->linear_algebra = kept(x, choice.linear_algebra);
    r->form_text = kept(x, choice.coordinates);
    r->stats = dae_simulation_stats(x->sim);
    if (r->form_text[0])
        dae_log(&x->opt->options, DAE_LOG_INFO, "formulation=%s text=\"%s\"", r->formulation, r->form_text);
    log_times(x);
    r->cpu_seconds = r->stats.cpu_seconds;
    double t = dae_integrator_time(x->it);
    const double *z = dae_integrator_state(x->it);
    sample_at(x, t, z, &r->last);
    if (!r->last.y && r->status >= 0)
        r->status = dae_fail(&r->error, DAE_ERR_MEMORY, t, "out of memory for the last point of the run");
    if (x->sim->form) r->stats.acceleration_residual = x->sim->residual[2];
    if (x->opt->trajectory != DAE_TRAJECTORY_NONE && r->npoint > 0 && x->point_t[r->npoint - 1] != t)
        put(x, t, z, 1);
    const dae_balance *energy =
        x->work.p ? dae_work_balance(&x->work, r->stats.accepted, r->rtol + r->atol) : NULL;
    if (energy) {
        x->energy = *energy;
        r->energy = &x->energy;
    }
    if (x->work.p && x->work.out_of_memory && r->status >= 0)
        r->status = dae_fail(&r->error, DAE_ERR_MEMORY, t,
                             "out of memory for the balance of energy; the run itself was done");
    dae_work_end(&x->work);
    collect_events(x);
    if (r->status < 0 && r->last.y) {
        diagnose(x);
        name_force(x);
    }
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
    x->stride = 1;
    x->r = (dae_run_result){.problem = p, .name = p->info && p->info->name ? p->info->name : "system"};
    x->r.solver = method ? dae_arena_copy(x->arena, method, strlen(method) + 1, 1) : "auto";
    x->r.warnings = x->r.reason = x->r.evidence = x->r.form_text = x->r.linear_algebra = "";
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
    return x;
}

dae_run_result *dae_run(const dae_problem *p, const dae_run_options *opt, dae_error *err)
{
    dae_run_options standard;
    if (!p) {
        dae_fail(err, DAE_ERR_INPUT, NAN, "a run needs a problem");
        return NULL;
    }
    if (!opt) {
        standard = dae_run_options_default(p);
        opt = &standard;
    }
    run *x = run_create(p, opt);
    if (!x) {
        dae_fail(err, DAE_ERR_MEMORY, NAN, "out of memory");
        return NULL;
    }
    dae_run_result *r = &x->r;
    dae_error *e = &r->error;
    e->t = NAN;
    if (!isfinite(r->t_end) || r->t_end == r->t0) {
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
        r->status = dae_simulation_advance(x->sim, r->t_end, e);
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
    if (r->status >= 0 && r->status != DAE_CANCELLED && opt->nsensitivity > 0) {
        dae_status s = opt->resume ? dae_fail(e, DAE_ERR_UNSUPPORTED, NAN,
                                              "derivatives begin at the start; a resumed run has none")
                                   : dae_run_sensitivity(r, opt, x->arena, e);
        if (s < 0 || s == DAE_CANCELLED) r->status = s;
    }
    if (r->status >= 0 && r->status != DAE_CANCELLED && opt->nintegral > 0) {
        dae_status s = opt->resume ? dae_fail(e, DAE_ERR_UNSUPPORTED, NAN,
                                              "integrals begin at the start; a resumed run has none")
                                   : dae_run_integrals(r, opt, x->arena, e);
        if (s < 0 || s == DAE_CANCELLED) r->status = s;
    }
    if (r->status >= 0 && r->status != DAE_CANCELLED && opt->repeat > 1 && !opt->resume) repeat(x);
    x->it = NULL;
    return r;
}

void dae_run_destroy(dae_run_result *r)
{
    run *x = (run *)r;
    if (!x) return;
    dae_simulation_close(x->sim);
    dae_work_end(&x->work);
    free(x->point_t);
    free(x->point_y);
    free(x->checkpoint);
    dae_arena_destroy(x->arena);
    free(x);
}
