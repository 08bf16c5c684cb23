/* A work-precision study: every solver at every rung of a ladder of tolerances. */
#include <daedalus/path.h>
#include <daedalus/study.h>

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    slow_twice = 2
}; /* time limits in a row after which a solver's tighter tolerances are left out; ours */

typedef struct study {
    const dae_problem *problem;
    const dae_workprec_options *opt;
    dae_ladder ladder;
    int rungs, nsolver;
    dae_error *err;
} study;

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const dae_measurement *dae_measurement_find(const dae_measurement *m, const dae_measurement *list, int count)
{
    for (int i = count - 1; i >= 0; i--) {
        const dae_measurement *o = &list[i];
        if (!dae_measurement_same(o, m)) continue;
        if (o->status == DAE_ERR_MAX_SECONDS && o->max_seconds < m->max_seconds) continue;
        if (o->status == DAE_ERR_MEMORY) continue;
        return o;
    }
    return NULL;
}

/* Cancels a run that is on its way when the caller wants to stop. */
static int ask(const dae_integrator *it, double t, double t_end, void *user)
{
    const dae_workprec_options *opt = user;
    return (opt->cancel && *opt->cancel) || (opt->progress && opt->progress(it, t, t_end, opt->user));
}

static dae_status run_options(const study *s, const dae_solver *solver, int rung, dae_run_options *o)
{
    const dae_workprec_options *opt = s->opt;
    *o = dae_run_options_default(s->problem);
    dae_solver_apply(solver, &o->options);
    dae_ladder_rung(&s->ladder, rung, solver->method, &o->options);
    for (int k = 0; k < opt->noption; k++) {
        dae_status bad = dae_options_set(&o->options, opt->option[k].name, opt->option[k].value, s->err);
        if (bad < 0) return bad;
    }
    o->options.max_steps = 0;
    o->options.max_seconds = o->repeat_seconds = opt->max_seconds;
    o->repeat = opt->repeat > 1 ? opt->repeat : 1;
    o->running = opt->running;
    o->running_user = opt->user;
    o->progress = ask;
    o->progress_user = (void *)opt;
    if (!dae_problem_switches(s->problem)) o->events = NULL;
    return DAE_OK;
}

/* What is known of a run before it. */
static dae_measurement planned(const study *s, const dae_solver *solver, const dae_options *o)
{
    dae_measurement m = {.rtol = o->rtol,
                         .atol = o->atol,
                         .h0 = o->h0,
                         .max_seconds = s->opt->max_seconds,
                         .scd = NAN,
                         .mescd = NAN};
    const dae_problem_info *info = s->problem->info;
    snprintf(m.problem, sizeof m.problem, "%s", info && info->name ? info->name : "system");
    snprintf(m.settings, sizeof m.settings, "%s", s->opt->settings ? s->opt->settings : "");
    snprintf(m.solver, sizeof m.solver, "%s", solver->label);
    return m;
}

/* The run of *m, which becomes what it measured. DAE_OK, DAE_CANCELLED or an error. */
static dae_status measure(const study *s, dae_run_options *o, dae_measurement *m)
{
    const dae_workprec_options *opt = s->opt;
    if (opt->path) dae_path_ask(opt->path, o);
    dae_run_result *r = dae_run(s->problem, o, s->err);
    if (!r) return DAE_ERR_MEMORY;
    dae_measurement got = dae_measurement_of(r);
    if (opt->path && r->status == DAE_OK) dae_path_compare(opt->path, r, NULL, &got.scd, &got.mescd);
    dae_status status = r->status;
    if (status == DAE_ERR_INPUT || status == DAE_ERR_UNSUPPORTED) {
        *s->err = r->error;
        dae_run_destroy(r);
        char why[256];
        snprintf(why, sizeof why, "%.255s", s->err->text);
        return dae_fail(s->err, status, NAN, "%s with %s: %s", m->problem, m->solver, why);
    }
    dae_run_destroy(r);
    if (status == DAE_CANCELLED) return status;
    if (status == DAE_ERR_MEMORY) /* that is of this moment, not of the run: it is no measurement */
        return dae_fail(s->err, status, NAN, "%s, rtol %.3g: out of memory; what was measured is kept",
                        m->solver, m->rtol);
    got.max_seconds = m->max_seconds;
    memcpy(got.settings, m->settings, sizeof got.settings);
    memcpy(got.solver, m->solver, sizeof got.solver);
    memcpy(got.problem, m->problem, sizeof got.problem);
    dae_measurement_stamp(&got);
    *m = got;
    return DAE_OK;
}

static dae_status run_solver(const study *s, const dae_solver *solver, int number)
{
    const dae_workprec_options *opt = s->opt;
    double used = cpu();
    for (int i = 0, slow = 0; i < s->rungs; i++) {
        dae_run_options o;
        if (opt->cancel && *opt->cancel) return DAE_CANCELLED;
        dae_status status = run_options(s, solver, i, &o);
        if (status < 0) return status;
        dae_measurement m = planned(s, solver, &o.options);
        const dae_measurement *known = dae_measurement_find(&m, opt->known, opt->nknown);
        int stop = 0;
        if (known) {
            m = *known;
            stop = opt->taken && opt->taken(&m, opt->user);
        } else {
            if (opt->begin && opt->begin(&m, number * s->rungs + i, s->nsolver * s->rungs, opt->user))
                return DAE_CANCELLED;
            status = measure(s, &o, &m);
            if (opt->all && (status == DAE_ERR_INPUT || status == DAE_ERR_UNSUPPORTED)) return DAE_OK;
            if (status != DAE_OK) return status;
            stop = opt->done && opt->done(&m, opt->user);
        }
        if (stop) return DAE_CANCELLED;
        slow = m.status == DAE_ERR_MAX_SECONDS ? slow + 1 : 0;
        if (slow >= slow_twice || (opt->budget > 0 && cpu() - used > opt->budget)) break;
    }
    return DAE_OK;
}

dae_status dae_workprec_run(const dae_problem *p, const char *const *solver, int nsolver,
                            const dae_workprec_options *opt, dae_error *err)
{
    const dae_workprec_options standard = {0};
    dae_error own = {0};
    if (!opt) opt = &standard;
    study s = {.problem = p, .opt = opt, .nsolver = nsolver, .err = err ? err : &own};
    s.ladder = opt->ladder ? *opt->ladder : dae_ladder_default(p);
    s.rungs = dae_ladder_count(&s.ladder);
    for (int k = 0; k < nsolver; k++) {
        dae_solver one;
        dae_status status = dae_solver_parse(solver[k], strlen(solver[k]), opt->own, &one, s.err);
        if (status == DAE_OK) status = run_solver(&s, &one, k);
        if (status != DAE_OK) return status;
    }
    return DAE_OK;
}

/* ---- Of records ------------------------------------------------------------------------------------ */

static int by_solver(const void *a, const void *b)
{
    const dae_measurement *x = a, *y = b;
    int c = strcmp(x->solver, y->solver);
    return c ? c : (x->rtol < y->rtol) - (x->rtol > y->rtol);
}

int dae_workprec_select(const dae_measurement *list, int count, const char *problem, const char *settings,
                        dae_measurement *out)
{
    int n = 0;
    for (int i = 0; i < count; i++) {
        if (strcmp(list[i].problem, problem) != 0 || strcmp(list[i].settings, settings) != 0) continue;
        int k = 0; /* of runs that were repeated with another limit the last one counts */
        while (k < n && !dae_measurement_same(&out[k], &list[i])) k++;
        out[k] = list[i];
        n += k == n;
    }
    qsort(out, (size_t)n, sizeof *out, by_solver);
    return n;
}
