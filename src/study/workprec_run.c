/* A work-precision study: every solver at every rung of a ladder of tolerances. */
#include <daedalus/plugin.h>
#include <daedalus/study.h>

#include "core/error.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Cancels a run that is on its way when the caller wants to stop. */
static int ask(const dae_integrator *it, double t, double t_end, void *user)
{
    const dae_workprec_options *opt = user;
    (void)it, (void)t, (void)t_end;
    return opt->cancel && *opt->cancel;
}

static dae_status measure(const dae_problem *p, const dae_ladder *ladder, int rung, const char *solver,
                          const dae_workprec_options *opt, dae_measurement *m, dae_error *err)
{
    dae_run_options o = dae_run_options_default(p);
    o.options.own = opt->own;
    const dae_method_info *method = dae_options_method(&o.options, solver);
    if (!method) return dae_fail(err, DAE_ERR_INPUT, NAN, "there is no method \"%s\"", solver);
    o.options.method = solver;
    o.options.formulation = NULL;
    o.options.max_steps = 0;
    o.options.max_seconds = opt->max_seconds;
    o.repeat = opt->repeat > 1 ? opt->repeat : 1;
    if (!dae_problem_switches(p)) o.events = NULL;
    o.progress = ask;
    o.progress_user = (void *)opt;
    dae_ladder_rung(ladder, rung, method, &o.options);
    dae_run_result *r = dae_run(p, &o, err);
    if (!r) return DAE_ERR_MEMORY;
    *m = dae_measurement_of(r);
    dae_measurement_stamp(m);
    snprintf(m->solver, sizeof m->solver, "%s", solver);
    dae_status s = r->status;
    if (s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED) *err = r->error;
    dae_run_destroy(r);
    return s == DAE_CANCELLED || s == DAE_ERR_INPUT || s == DAE_ERR_UNSUPPORTED ? s : DAE_OK;
}

dae_status dae_workprec_run(const dae_problem *p, const char *const *solver, int nsolver,
                            const dae_workprec_options *opt, dae_error *err)
{
    dae_workprec_options standard = {0};
    dae_error own = {0};
    if (!opt) opt = &standard;
    if (!err) err = &own;
    dae_ladder ladder = opt->ladder ? *opt->ladder : dae_ladder_default(p);
    int rungs = dae_ladder_count(&ladder);
    for (int k = 0; k < nsolver; k++) {
        for (int i = 0; i < rungs; i++) {
            dae_measurement m;
            if (opt->cancel && *opt->cancel) return DAE_CANCELLED;
            dae_status s = measure(p, &ladder, i, solver[k], opt, &m, err);
            if (s != DAE_OK) return s;
            if (opt->done && opt->done(&m, opt->user)) return DAE_CANCELLED;
        }
    }
    return DAE_OK;
}
