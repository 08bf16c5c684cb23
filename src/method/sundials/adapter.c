#include "method/sundials/adapter.h"

#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Tolerances that take a variable of index 2 or 3 out of the error test, as the test set does for DASSL
 * ([TESTSET] wheel: atol = rtol = 1e10 for the multipliers). */
#define IGNORED 1e10

/* ---- Linear solver ---------------------------------------------------------------------------- */

static SUNMatrix_ID matrix_id(SUNMatrix A)
{
    (void)A;
    return SUNMATRIX_CUSTOM;
}

static int matrix_zero(SUNMatrix A)
{
    (void)A; /* dae_ivp_jacobian does it */
    return 0;
}

static SUNLinearSolver_Type solver_type(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_DIRECT;
}

static SUNLinearSolver_ID solver_id(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLINEARSOLVER_CUSTOM;
}

static int solver_initialize(SUNLinearSolver solver)
{
    (void)solver;
    return SUNLS_SUCCESS;
}

static int solver_setup(SUNLinearSolver solver, SUNMatrix A)
{
    (void)A;
    int rc = dae_sun_factor(solver->content);
    return rc == 0 ? SUNLS_SUCCESS : rc > 0 ? SUNLS_LUFACT_FAIL : SUNLS_MEM_FAIL;
}

static int solver_solve(SUNLinearSolver solver, SUNMatrix A, N_Vector x, N_Vector b, realtype tol)
{
    dae_sun *s = solver->content;
    double *to = N_VGetArrayPointer(x);
    const double *from = N_VGetArrayPointer(b);
    (void)A, (void)tol;
    for (int i = 0; i < s->ivp->n; i++) to[i] = s->rhs_factor * from[i];
    DAE_LINALG(s->ivp, dae_shifted_solve(s->shifted, to));
    s->ivp->stats->solves++;
    /* Overflow in a nearly singular system: SUNDIALS would carry it on as NaN. */
    return dae_all_finite(s->ivp->n, to) ? SUNLS_SUCCESS : SUNLS_PACKAGE_FAIL_REC;
}

static int solver_free(SUNLinearSolver solver)
{
    solver->content = NULL; /* ours */
    SUNLinSolFreeEmpty(solver);
    return SUNLS_SUCCESS;
}

int dae_sun_factor(dae_sun *s)
{
    int rc;
    if (s->A) {
        DAE_LINALG(s->ivp, rc = dae_shifted_factor_values(s->shifted, s->A));
    } else {
        DAE_LINALG(s->ivp, rc = dae_shifted_factor(s->shifted, s->lambda, 0, s->J));
    }
    s->ivp->stats->lu++;
    s->singular = rc > 0;
    return rc;
}

/* ---- Life ------------------------------------------------------------------------------------- */

static int open_solver(dae_sun *s, dae_error *err)
{
    dae_ivp *ivp = s->ivp;
    int ide = ivp->sys->kind == DAE_KIND_IDE;
    dae_shifted_spec spec = {.n = ivp->n, .jacobian = ivp->jacobian, .own = ivp->linear_solver};
    if (!ide) {
        spec.mass = dae_ivp_mass(ivp);
        spec.second_order = ivp->sys->structure.second_order;
    }
    s->shifted = dae_shifted_create(&spec, ivp->arena, err);
    if (!s->shifted) return 0;
    s->count = dae_pattern_count(&ivp->jacobian, ivp->n);
    s->J = dae_arena_reals(ivp->arena, (size_t)s->count);
    s->w = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    if (ide) {
        s->dfdyp = dae_arena_reals(ivp->arena, (size_t)s->count);
        s->A = dae_arena_reals(ivp->arena, (size_t)s->count);
    }
    s->rhs_factor = 1;

    s->matrix = SUNMatNewEmpty(s->context);
    s->solver = SUNLinSolNewEmpty(s->context);
    if (!s->matrix || !s->solver)
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for the linear solver"), 0;
    s->matrix->ops->getid = matrix_id;
    s->matrix->ops->zero = matrix_zero;
    s->matrix->ops->destroy = SUNMatFreeEmpty;
    s->solver->content = s;
    s->solver->ops->gettype = solver_type;
    s->solver->ops->getid = solver_id;
    s->solver->ops->initialize = solver_initialize;
    s->solver->ops->setup = solver_setup;
    s->solver->ops->solve = solver_solve;
    s->solver->ops->free = solver_free;
    return 1;
}

int dae_sun_open(dae_sun *s, dae_ivp *ivp, int with_matrix, dae_error *err)
{
    s->ivp = ivp;
    if (ivp->opt->fixed_step > 0) {
        dae_fail(err, DAE_ERR_UNSUPPORTED, NAN,
                 "fixed_step: the SUNDIALS methods choose their steps and orders themselves; "
                 "use a one-step method such as radau5 or dopri5");
        return 0;
    }
    if (SUNContext_Create(NULL, &s->context)) {
        s->context = NULL;
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for a SUNDIALS context"), 0;
    }
    s->y = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    s->yp = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    if (!s->y || !s->yp) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %d unknowns", ivp->n), 0;
    s->y_view = N_VMake_Serial(ivp->n, s->y, s->context);
    s->yp_view = N_VMake_Serial(ivp->n, s->yp, s->context);
    s->any_view = N_VMake_Serial(ivp->n, s->y, s->context);
    if (!s->y_view || !s->yp_view || !s->any_view) {
        return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for SUNDIALS vectors"), 0;
    }
    return !with_matrix || open_solver(s, err);
}

void dae_sun_close(dae_sun *s)
{
    if (s->solver) SUNLinSolFree(s->solver);
    if (s->matrix) SUNMatDestroy(s->matrix);
    dae_shifted_destroy(s->shifted);
    if (s->any_view) N_VDestroy(s->any_view);
    if (s->yp_view) N_VDestroy(s->yp_view);
    if (s->y_view) N_VDestroy(s->y_view);
    if (s->context) SUNContext_Free(&s->context);
}

/* ---- Weights, statistics, errors -------------------------------------------------------------- */

int dae_sun_weights(N_Vector y, N_Vector weight, void *self)
{
    dae_sun *s = self;
    const dae_ivp *ivp = s->ivp;
    const double *x = N_VGetArrayPointer(y);
    double *w = N_VGetArrayPointer(weight), factor = dae_undamped_factor(&s->undamped, s->h);
    for (int i = 0; i < ivp->n; i++) {
        double scale = ivp->rtol[i] * fabs(x[i]) + ivp->atol[i];
        if (ivp->index && ivp->index[i] >= 2) scale = IGNORED * (1 + fabs(x[i]));
        w[i] = factor / scale;
        if (!(scale > 0) || !isfinite(w[i])) return -1;
    }
    return 0;
}

void dae_sun_see_jacobian(dae_sun *s, const double *y)
{
    const dae_ivp *ivp = s->ivp;
    if (s->undamped.most <= 1) return;
    for (int i = 0; i < ivp->n; i++) s->w[i] = 1 / (ivp->rtol[i] * fabs(y[i]) + ivp->atol[i] + DBL_MIN);
    dae_undamped_see(&s->undamped, ivp, s->J, s->w);
}

void dae_sun_message(int code, const char *module, const char *function, char *text, void *self)
{
    dae_sun *s = self;
    (void)module, (void)function;
    if (code < 0) snprintf(s->message, sizeof s->message, "%s", text);
}

static void add_counts(dae_sun *s, const dae_sun_counts *now)
{
    dae_stats *stats = s->ivp->stats;
    stats->accepted += now->steps - s->seen.steps;
    stats->rejected += now->error_failures - s->seen.error_failures;
    stats->steps += now->steps - s->seen.steps + now->error_failures - s->seen.error_failures +
                    now->solve_failures - s->seen.solve_failures;
    stats->newton += now->iterations - s->seen.iterations;
    stats->newton_failures += now->newton_failures - s->seen.newton_failures;
    s->seen = *now;
}

double dae_sun_target(const dae_ivp *ivp)
{
    return ivp->direction * (ivp->t_end - ivp->t_stop) > 0 ? ivp->t_stop : ivp->t_end;
}

dae_status dae_sun_fail(dae_sun *s, const char *method, const dae_sun_flag *table, int flag, double h)
{
    const dae_sun_flag *line = table;
    while (line->name && line->flag != flag) line++;
    if (!line->name) {
        return dae_ivp_fail(s->ivp, DAE_ERR_INTERNAL, "t = %g: %s returned %d: %s", s->ivp->t, method, flag,
                            s->message);
    }
    dae_status status = line->status;
    const char *cause = "";
    if (status == DAE_ERR_CONVERGENCE && s->singular) {
        status = DAE_ERR_SINGULAR;
        cause = " (the iteration matrix is singular)";
    } else if (status == DAE_ERR_CONVERGENCE && s->undefined) {
        status = DAE_ERR_UNDEFINED;
        cause = " (the system could not be evaluated)";
    }
    if (status == DAE_ERR_INPUT || status == DAE_ERR_INTERNAL) {
        return dae_ivp_fail(s->ivp, status, "t = %g: %s in %s: %s; %s", s->ivp->t, line->name, method,
                            line->text, s->message);
    }
    return dae_ivp_fail(s->ivp, status, "t = %g, h = %.3g: %s in %s: %s%s", s->ivp->t, h, line->name, method,
                        line->text, cause);
}

/* Fails because steps do not move t any more. undefined: stats->undefined before them. */
static dae_status stuck_at(dae_sun *s, double h, long undefined)
{
    int border = s->ivp->stats->undefined > undefined;
    return dae_ivp_fail(s->ivp, border ? DAE_ERR_UNDEFINED : DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: %d steps did not move t, or by its rounding (h = %.3g); %s", s->ivp->t,
                        DAE_SUN_MAX_STUCK, h,
                        border ? "the system cannot be evaluated beyond this point"
                               : "a singularity? try other tolerances or another method");
}

/* ---- Steps ------------------------------------------------------------------------------------------- */

/* Adds what is new since the last call to the statistics of the run. */
static void count(dae_sun *s, const dae_sun_calls *call, void *memory)
{
    dae_sun_counts now;
    call->steps(memory, &now.steps);
    call->error_failures(memory, &now.error_failures);
    call->solve_failures(memory, &now.solve_failures);
    call->iterations(memory, &now.iterations);
    call->newton_failures(memory, &now.newton_failures);
    add_counts(s, &now);
}

static int set_wall(dae_sun *s, const dae_sun_calls *call, void *memory)
{
    const dae_ivp *ivp = s->ivp;
    if (isfinite(ivp->t_stop)) {
        s->stop_set = 1;
        return call->set_stop(memory, ivp->t_stop);
    }
    return s->stop_set ? call->set_stop(memory, ivp->direction * DAE_SUN_NEVER) : 0;
}

dae_status dae_sun_step(dae_sun *s, const dae_sun_calls *call, void *memory, double *t, double *h, int *flag)
{
    long undefined = s->ivp->stats->undefined;
    *t = s->ivp->t;
    *h = 0;
    *flag = set_wall(s, call, memory);
    for (int stuck = 0; *flag >= 0 && *t == s->ivp->t; stuck++) {
        if (stuck == DAE_SUN_MAX_STUCK) {
            call->next_step(memory, h);
            return stuck_at(s, *h, undefined);
        }
        *flag = call->one(s, t);
        count(s, call, memory);
    }
    call->next_step(memory, h);
    int blind = fabs(*t - s->ivp->t) <= DAE_SUN_BLIND * DBL_EPSILON * fabs(*t);
    s->blind = blind ? s->blind + 1 : 0;
    return *flag >= 0 && s->blind > DAE_SUN_MAX_STUCK ? stuck_at(s, *h, undefined) : DAE_OK;
}

void dae_sun_derivative(dae_sun *s, const dae_sun_calls *call, void *memory, double t, int k, double *x)
{
    N_VSetArrayPointer(x, s->any_view);
    if (call->derivative(memory, t, k, s->any_view) == 0) return;
    double end = s->ivp->t, h = 0;
    call->time(memory, &end);
    call->last_step(memory, &h);
    call->derivative(memory, fabs(t - end) < fabs(t - (end - h)) ? end : end - h, k, s->any_view);
}
