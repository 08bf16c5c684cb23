/* CVODE of SUNDIALS as two methods: variable-order variable-coefficient BDF with a modified Newton
 * iteration (cvode), and Adams-Moulton with functional iteration or Newton (cvode-adams). [CVODE]
 *
 * One step of this adapter is one internal step of CVODE. The Newton matrix I - gamma J is kept as
 * gamma (1/gamma I - J), the form that dae_shifted factors. */
#include "method/sundials/adapter.h"

#include "core/vector.h"

#include <cvode/cvode.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <sunnonlinsol/sunnonlinsol_newton.h>

/* ours: the tolerance from which undamped errors count more: DETEST B1 stays below 1000 tolerances */
#define UNDAMPED 3e-7
/* Ours, for BDF; CVODE has 0.1. Over 28 rows of the test set, 13 tolerances around each: 10 % fewer steps,
 * 4 % fewer evaluations and 0.3 digits more; rober at 1e-4 left its solution in a third of the runs. */
#define NEWTON_STOP 0.05

typedef struct cvode_options {
    const char *iteration; /* cvode-adams only */
    int max_order;
    int stability_detection; /* cvode only */
} cvode_options;

typedef struct cvode {
    dae_sun sun; /* first: it is the user data of every callback */
    const char *name;
    void *memory;
    SUNNonlinearSolver nonlinear;
    int (*solve)(SUNNonlinearSolver, N_Vector, N_Vector, N_Vector, realtype, booleantype,
                 void *); /* its own */
    double *moved;        /* n: the new point, projected */
    N_Vector newest;      /* where CVODE keeps it */
    int lmm;              /* CV_BDF or CV_ADAMS */
    int started;          /* a step was taken since the reset */
} cvode;

static const dae_sun_flag flags[] = {
    {CV_TOO_MUCH_ACC, DAE_ERR_INPUT, "CV_TOO_MUCH_ACC", "the tolerances ask for more than rounding allows"},
    {CV_ERR_FAILURE, DAE_ERR_STEP_TOO_SMALL, "CV_ERR_FAILURE",
     "the error test failed repeatedly or with the smallest step; a discontinuity or a singularity?"},
    {CV_CONV_FAILURE, DAE_ERR_CONVERGENCE, "CV_CONV_FAILURE",
     "the iteration for the new values failed repeatedly or with the smallest step"},
    {CV_LINIT_FAIL, DAE_ERR_INTERNAL, "CV_LINIT_FAIL", "the linear solver did not start"},
    {CV_LSETUP_FAIL, DAE_ERR_CALLBACK, "CV_LSETUP_FAIL", "the Jacobian asked to stop, or memory ran out"},
    {CV_LSOLVE_FAIL, DAE_ERR_INTERNAL, "CV_LSOLVE_FAIL", "a linear system could not be solved"},
    {CV_RHSFUNC_FAIL, DAE_ERR_CALLBACK, "CV_RHSFUNC_FAIL",
     "the right-hand side or the projection asked to stop"},
    {CV_FIRST_RHSFUNC_ERR, DAE_ERR_UNDEFINED, "CV_FIRST_RHSFUNC_ERR",
     "the right-hand side cannot be evaluated at the initial values"},
    {CV_REPTD_RHSFUNC_ERR, DAE_ERR_UNDEFINED, "CV_REPTD_RHSFUNC_ERR",
     "the right-hand side cannot be evaluated, even with ever smaller steps"},
    {CV_UNREC_RHSFUNC_ERR, DAE_ERR_UNDEFINED, "CV_UNREC_RHSFUNC_ERR",
     "the right-hand side cannot be evaluated after an error test failure"},
    {CV_NLS_INIT_FAIL, DAE_ERR_INTERNAL, "CV_NLS_INIT_FAIL", "the nonlinear solver did not start"},
    {CV_NLS_SETUP_FAIL, DAE_ERR_INTERNAL, "CV_NLS_SETUP_FAIL", "the nonlinear solver did not start"},
    {CV_NLS_FAIL, DAE_ERR_INTERNAL, "CV_NLS_FAIL", "the nonlinear solver failed"},
    {CV_MEM_FAIL, DAE_ERR_MEMORY, "CV_MEM_FAIL", "out of memory"},
    {CV_ILL_INPUT, DAE_ERR_INPUT, "CV_ILL_INPUT", "wrong input; is atol = 0 where a component is 0?"},
    {CV_TOO_CLOSE, DAE_ERR_INPUT, "CV_TOO_CLOSE", "the interval is too short to start"},
    {0, DAE_OK, NULL, NULL},
};

/* ---- Callbacks of CVODE ----------------------------------------------------------------------- */

static int right_hand_side(realtype t, N_Vector y, N_Vector f, void *user)
{
    dae_sun *s = user;
    int rc = dae_ivp_f(s->ivp, t, N_VGetArrayPointer(y), N_VGetArrayPointer(f));
    s->undefined = rc > 0;
    return rc;
}

/* CVODE asks for I - gamma J; jok: the saved J will do. The factorization follows in solver_setup. */
static int linear_system(realtype t, N_Vector y, N_Vector f, SUNMatrix A, booleantype jok, booleantype *jcur,
                         realtype gamma, void *user, N_Vector tmp1, N_Vector tmp2, N_Vector tmp3)
{
    dae_sun *s = user;
    (void)A, (void)tmp1, (void)tmp2, (void)tmp3;
    s->lambda = s->rhs_factor = 1 / gamma;
    *jcur = !jok;
    if (jok) return 0;
    int rc = dae_ivp_jacobian(s->ivp, t, N_VGetArrayPointer(y), N_VGetArrayPointer(f), s->J);
    if (rc == 0) dae_sun_see_jacobian(s, N_VGetArrayPointer(y));
    s->undefined = rc > 0;
    return rc;
}

/* The solver of the implicit formula, of which CVODE takes the correction x of the predicted y0. With a projection the new point is
 * projected here, so that a failure shortens the step. In BDF x leads to the projected point, and all of the history changes with it;
 * in Adams' formulas, which keep slopes, only the point itself, y0, may change, and that after the step (take_projected).
 * CVODE's own projection is for BDF alone. */
static int solve_and_project(SUNNonlinearSolver solver, N_Vector y0, N_Vector x, N_Vector w, realtype tol,
                             booleantype setup, void *memory)
{
    void *self = NULL;
    CVodeGetUserData(memory, &self);
    cvode *c = self;
    dae_ivp *ivp = c->sun.ivp;
    int flag = c->solve(solver, y0, x, w, tol, setup, memory);
    if (flag != SUN_NLS_SUCCESS || !ivp->project) return flag;
    double t = ivp->t, *to = N_VGetArrayPointer(x);
    const double *from = N_VGetArrayPointer(y0);
    CVodeGetCurrentTime(memory, &t);
    for (int i = 0; i < ivp->n; i++) c->moved[i] = from[i] + to[i];
    int bad = dae_ivp_project(ivp, t, c->moved);
    c->sun.undefined = bad > 0;
    if (bad) return bad < 0 ? CV_RHSFUNC_FAIL : SUN_NLS_CONV_RECVR;
    c->newest = y0;
    for (int i = 0; i < ivp->n && c->lmm == CV_BDF; i++) to[i] = c->moved[i] - from[i];
    return flag;
}

/* Adams: the point of an accepted step, which is y0 of solve_and_project. */
static void take_projected(cvode *c)
{
    dae_sun *s = &c->sun;
    size_t size = (size_t)s->ivp->n * sizeof *s->y;
    if (!s->ivp->project || c->lmm == CV_BDF || memcmp(N_VGetArrayPointer(c->newest), s->y, size) != 0)
        return;
    memcpy(N_VGetArrayPointer(c->newest), c->moved, size);
    memcpy(s->y, c->moved, size);
}

/* ---- Life ------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    cvode *c = self;
    if (!c) return;
    if (c->memory) CVodeFree(&c->memory);
    if (c->nonlinear) SUNNonlinSolFree(c->nonlinear);
    dae_sun_close(&c->sun);
    free(c);
}

static void *create(dae_ivp *ivp, const char *name, int lmm, int newton, const cvode_options *option,
                    dae_error *err)
{
    cvode *c = calloc(1, sizeof *c);
    if (!c) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for %s", name), NULL;
    dae_sun *s = &c->sun;
    c->name = name;
    c->lmm = lmm;
    if (!dae_sun_open(s, ivp, newton, err)) goto fail;
    c->memory = CVodeCreate(lmm, s->context);
    int bad = !c->memory;
    bad = bad || CVodeSetErrHandlerFn(c->memory, dae_sun_message, s);
    bad = bad || CVodeInit(c->memory, right_hand_side, 0, s->y_view);
    bad = bad || CVodeSetUserData(c->memory, s);
    bad = bad || CVodeWFtolerances(c->memory, dae_sun_weights);
    bad = bad || CVodeSetMaxOrd(c->memory, option->max_order);
    bad = bad || (lmm == CV_BDF && CVodeSetNonlinConvCoef(c->memory, NEWTON_STOP));
    bad = bad || CVodeSetMaxHnilWarns(c->memory, -1);
    bad = bad || CVodeSetMaxErrTestFails(c->memory, DAE_SUN_MAX_FAILURES);
    bad = bad || CVodeSetMaxConvFails(c->memory, DAE_SUN_MAX_FAILURES);
    bad = bad || (lmm == CV_BDF && CVodeSetStabLimDet(c->memory, option->stability_detection));
    bad = bad || (ivp->opt->h_max > 0 && CVodeSetMaxStep(c->memory, ivp->opt->h_max));
    bad = bad || (ivp->opt->h_min > 0 && CVodeSetMinStep(c->memory, ivp->opt->h_min));
    if (newton) {
        bad = bad || CVodeSetLinearSolver(c->memory, s->solver, s->matrix);
        bad = bad || CVodeSetLinSysFn(c->memory, linear_system);
    }
    c->moved = dae_arena_reals(ivp->arena, (size_t)ivp->n);
    c->nonlinear = newton ? SUNNonlinSol_Newton(s->y_view, s->context)
                          : SUNNonlinSol_FixedPoint(s->y_view, 0, s->context);
    bad = bad || !c->moved || !c->nonlinear;
    if (!bad) {
        c->solve = c->nonlinear->ops->solve;
        c->nonlinear->ops->solve = solve_and_project;
        bad = CVodeSetNonlinearSolver(c->memory, c->nonlinear);
    }
    if (bad) {
        dae_fail(err, c->memory && s->message[0] ? DAE_ERR_INPUT : DAE_ERR_MEMORY, NAN,
                 "%s could not be set up: %s", name, s->message[0] ? s->message : "out of memory");
        goto fail;
    }
    return c;
fail:
    destroy(c);
    return NULL;
}

static void *create_bdf(dae_ivp *ivp, const void *option, dae_error *err)
{
    return create(ivp, "cvode", CV_BDF, 1, option, err);
}

static void *create_adams(dae_ivp *ivp, const void *option, dae_error *err)
{
    const cvode_options *o = option;
    return create(ivp, "cvode-adams", CV_ADAMS, !strcmp(o->iteration, "newton"), o, err);
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    cvode *c = self;
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    (void)yp;
    dae_copy(ivp->n, y, s->y);
    ivp->t_old = ivp->t = t;
    ivp->y = s->y;
    ivp->order = 1;
    ivp->h_next = h != 0 ? copysign(h, ivp->direction) : 0;
    s->seen = (dae_sun_counts){0};
    s->singular = s->undefined = 0;
    s->message[0] = 0;
    c->started = 0;
    s->h = 0;
    if (s->w) dae_undamped_begin(&s->undamped, ivp, UNDAMPED, 0.25);
    int flag = CVodeReInit(c->memory, t, s->y_view);
    if (flag == CV_SUCCESS) flag = CVodeSetInitStep(c->memory, ivp->h_next);
    return flag < 0 ? dae_sun_fail(s, c->name, flags, flag, h) : DAE_OK;
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static int one(dae_sun *s, double *t)
{
    cvode *c = (cvode *)s;
    return CVode(c->memory, dae_sun_target(s->ivp), s->y_view, t, CV_ONE_STEP);
}

static const dae_sun_calls calls = {
    .steps = CVodeGetNumSteps,
    .error_failures = CVodeGetNumErrTestFails,
    .solve_failures = CVodeGetNumStepSolveFails,
    .iterations = CVodeGetNumNonlinSolvIters,
    .newton_failures = CVodeGetNumNonlinSolvConvFails,
    .set_stop = CVodeSetStopTime,
    .next_step = CVodeGetCurrentStep,
    .last_step = CVodeGetLastStep,
    .time = CVodeGetCurrentTime,
    .derivative = CVodeGetDky,
    .one = one,
};

static dae_status step(void *self)
{
    cvode *c = self;
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    double t, h;
    int flag;
    dae_status stuck = dae_sun_step(s, &calls, c->memory, &t, &h, &flag);
    if (stuck) return stuck;
    if (flag < 0) return dae_sun_fail(s, c->name, flags, flag, h);
    take_projected(c);
    c->started = 1;
    ivp->t_old = ivp->t;
    ivp->t = t;
    ivp->h_next = s->h = h;
    CVodeGetLastOrder(c->memory, &ivp->order);
    return DAE_OK;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    cvode *c = self;
    dae_sun *s = &c->sun;
    if (!c->started) {
        dae_copy(s->ivp->n, s->y, y);
        if (yp && dae_ivp_f(s->ivp, s->ivp->t, s->y, yp)) dae_zero(s->ivp->n, yp);
        return;
    }
    dae_sun_derivative(s, &calls, c->memory, t, 0, y);
    if (yp) dae_sun_derivative(s, &calls, c->memory, t, 1, yp);
}

/* ---- Descriptors ------------------------------------------------------------------------------ */

static const dae_option bdf_options[] = {
    {"max_order", DAE_OPTION_INT, offsetof(cvode_options, max_order), 5, NULL, 1, 5, NULL, "",
     "highest order"},
    {"stability_detection", DAE_OPTION_INT, offsetof(cvode_options, stability_detection), 0, NULL, 0, 1, NULL,
     "", "1: lower the order where eigenvalues near the imaginary axis make BDF of order 3 to 5 unstable"},
    {NULL, DAE_OPTION_REAL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

static const dae_option adams_options[] = {
    {"iteration", DAE_OPTION_NAME, offsetof(cvode_options, iteration), 0, "functional", 0, 0,
     "functional|newton", "",
     "how the implicit formula is solved; newton needs Jacobians and serves mildly stiff problems"},
    {"max_order", DAE_OPTION_INT, offsetof(cvode_options, max_order), 12, NULL, 1, 12, NULL, "",
     "highest order"},
    {NULL, DAE_OPTION_REAL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

const dae_method dae_method_cvode = {
    .info =
        {.name = "cvode",
         .title = "SUNDIALS CVODE, backward differentiation formulas of order 1 to 5",
         .literature =
             "S.D. Cohen, A.C. Hindmarsh, CVODE, a stiff/nonstiff ODE solver in C, Computers in Physics 10 "
             "(1996) 138-143; A.C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005) 363-396",
         .summary =
             "Variable-coefficient BDF with modified Newton, the C descendant of VODE; for stiff ODEs at low "
             "to medium accuracy",
         .order_min = 1,
         .order_max = 5,
         .kinds = 1u << DAE_KIND_ODE,
         .max_index = 0,
         .implicit = 1,
         .multistep = 1,
         .projects = 1,
         .options = bdf_options},
    .soft_end = 1,
    .option_size = sizeof(cvode_options),
    .create = create_bdf,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
};

const dae_method dae_method_cvode_adams = {
    .info =
        {.name = "cvode-adams",
         .title = "SUNDIALS CVODE, Adams-Moulton formulas of order 1 to 12",
         .literature =
             "S.D. Cohen, A.C. Hindmarsh, CVODE, a stiff/nonstiff ODE solver in C, Computers in Physics 10 "
             "(1996) 138-143; A.C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005) 363-396",
         .summary =
             "Variable-coefficient Adams with functional iteration (or Newton); for nonstiff ODEs whose "
             "right-hand side is expensive",
         .order_min = 1,
         .order_max = 12,
         .kinds = 1u << DAE_KIND_ODE,
         .max_index = 0,
         .implicit = 0,
         .multistep = 1,
         .projects = 1,
         .options = adams_options},
    .soft_end = 1,
    .option_size = sizeof(cvode_options),
    .create = create_adams,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
};
