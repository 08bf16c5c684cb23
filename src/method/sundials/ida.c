/* IDA of SUNDIALS as a method: BDF of order 1 to 5 in fixed-leading-coefficient form for F(t,y,y') = 0,
 * the C descendant of DASSL and DASPK. [IDA]
 *
 * ODEs are taken as y' - f = 0 and DAEs as M y' - f = 0. One step of this adapter is one internal step
 * of IDA. The iteration matrix dF/dy + cj dF/dy' is cj M - J for ODEs and DAEs, the form that
 * dae_shifted factors; for IDEs its values are added up here.
 *
 * IDA is made for index 1. Variables of index 2 and 3 are kept out of the error test and of the
 * convergence test by their weights (dae_sun_weights), as the test set does for DASSL. */
#include "method/sundials/adapter.h"

#include "core/matrix.h"
#include "core/vector.h"
#include "method/damping.h"

#include <ida/ida.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ours: the tolerance from which undamped errors count more: DETEST B1 stays below 1000 tolerances */
#define UNDAMPED 1e-8
/* Initial values are corrected if a Newton step would change them by more than this part of the
 * tolerances, and refused if that is not possible and the change is above the tolerances. Value ours:
 * IDACalcIC itself iterates down to 0.0033. */
#define CONSISTENT 0.01
#define TINY 1e-3       /* ours: size of the steps that settle values, in units of the first step */
#define NEWTON_STOP 0.1 /* ours; IDA has 0.33. Transamp at 1e-4: 9581 -> 2870 steps and 0.4 digits more */

typedef struct ida_options {
    int max_order;
    int suppress_algebraic;
} ida_options;

typedef struct ida {
    dae_sun sun; /* first: it is the user data of every callback */
    const ida_options *option;
    void *memory;
    dae_matrix mass;
    double *f, *f_at; /* n each: ODEs and DAEs, the last f and the y it belongs to */
    double *F, *work; /* n each */
    double *id;       /* n: 1 differential, 0 algebraic */
    double *settled;  /* n: values before they are settled */
    double f_time;
    int f_known;
    dae_damping damping; /* behind a jump: order 1 */
    double correction;   /* size of a Newton correction to the initial values, in units of the tolerances */
    int started;         /* a step was taken since the reset */
} ida;

static const dae_sun_flag flags[] = {
    {IDA_TOO_MUCH_ACC, DAE_ERR_INPUT, "IDA_TOO_MUCH_ACC", "the tolerances ask for more than rounding allows"},
    {IDA_ERR_FAIL, DAE_ERR_STEP_TOO_SMALL, "IDA_ERR_FAIL",
     "the error test failed repeatedly or with the smallest step; a discontinuity, a singularity or a higher "
     "index?"},
    {IDA_CONV_FAIL, DAE_ERR_CONVERGENCE, "IDA_CONV_FAIL",
     "the iteration for the new values failed repeatedly or with the smallest step"},
    {IDA_LINIT_FAIL, DAE_ERR_INTERNAL, "IDA_LINIT_FAIL", "the linear solver did not start"},
    {IDA_LSETUP_FAIL, DAE_ERR_CALLBACK, "IDA_LSETUP_FAIL", "the Jacobian asked to stop, or memory ran out"},
    {IDA_LSOLVE_FAIL, DAE_ERR_INTERNAL, "IDA_LSOLVE_FAIL", "a linear system could not be solved"},
    {IDA_RES_FAIL, DAE_ERR_CALLBACK, "IDA_RES_FAIL", "the system asked to stop"},
    {IDA_REP_RES_ERR, DAE_ERR_UNDEFINED, "IDA_REP_RES_ERR",
     "the system cannot be evaluated, even with ever smaller steps"},
    {IDA_FIRST_RES_FAIL, DAE_ERR_UNDEFINED, "IDA_FIRST_RES_FAIL",
     "the system cannot be evaluated at the initial values"},
    {IDA_LINESEARCH_FAIL, DAE_ERR_INCONSISTENT, "IDA_LINESEARCH_FAIL",
     "no consistent values near the given ones"},
    {IDA_NO_RECOVERY, DAE_ERR_INCONSISTENT, "IDA_NO_RECOVERY", "no consistent values near the given ones"},
    {IDA_BAD_EWT, DAE_ERR_INPUT, "IDA_BAD_EWT", "atol = 0 where a component is 0?"},
    {IDA_NLS_INIT_FAIL, DAE_ERR_INTERNAL, "IDA_NLS_INIT_FAIL", "the nonlinear solver did not start"},
    {IDA_NLS_SETUP_FAIL, DAE_ERR_INTERNAL, "IDA_NLS_SETUP_FAIL", "the nonlinear solver did not start"},
    {IDA_NLS_FAIL, DAE_ERR_INTERNAL, "IDA_NLS_FAIL", "the nonlinear solver failed"},
    {IDA_MEM_FAIL, DAE_ERR_MEMORY, "IDA_MEM_FAIL", "out of memory"},
    {IDA_ILL_INPUT, DAE_ERR_INPUT, "IDA_ILL_INPUT",
     "wrong input, or an interval of a few rounding units of t, too short to start"},
    {0, DAE_OK, NULL, NULL},
};

/* ---- The system as IDA sees it ---------------------------------------------------------------- */

static int right_hand_side(ida *c, double t, const double *y)
{
    dae_ivp *ivp = c->sun.ivp;
    int rc = dae_ivp_f(ivp, t, y, c->f);
    c->f_known = rc == 0;
    c->f_time = t;
    dae_copy(ivp->n, y, c->f_at);
    return rc;
}

static int evaluate(ida *c, double t, const double *y, const double *yp, double *F)
{
    dae_ivp *ivp = c->sun.ivp;
    int rc;
    if (ivp->sys->kind == DAE_KIND_IDE) {
        rc = dae_ivp_residual(ivp, t, y, yp, F);
    } else {
        rc = right_hand_side(c, t, y);
        if (rc == 0) {
            dae_matrix_multiply(&c->mass, ivp->n, yp, F);
            dae_axpy(ivp->n, -1, c->f, F);
        }
    }
    c->sun.undefined = rc > 0;
    return rc;
}

/* Values of dF/dy + cj dF/dy', ready to be factored. F is known. */
static int iteration_matrix(ida *c, double t, double cj, const double *y, const double *yp, const double *F)
{
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    int rc = 0;
    s->lambda = cj;
    if (s->A) {
        rc = dae_ivp_residual_jacobian(ivp, t, y, yp, F, s->J, s->dfdyp);
        for (long k = 0; rc == 0 && k < s->count; k++) s->A[k] = s->J[k] + cj * s->dfdyp[k];
    } else {
        int same = c->f_known && c->f_time == t && !memcmp(y, c->f_at, (size_t)ivp->n * sizeof *y);
        if (!same) rc = right_hand_side(c, t, y);
        if (rc == 0) rc = dae_ivp_jacobian(ivp, t, y, c->f, s->J);
        if (rc == 0) dae_sun_see_jacobian(s, y);
    }
    s->undefined = rc > 0;
    return rc;
}

static int residual(realtype t, N_Vector y, N_Vector yp, N_Vector F, void *user)
{
    return evaluate(user, t, N_VGetArrayPointer(y), N_VGetArrayPointer(yp), N_VGetArrayPointer(F));
}

static int jacobian(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector F, SUNMatrix A, void *user,
                    N_Vector tmp1, N_Vector tmp2, N_Vector tmp3)
{
    (void)A, (void)tmp1, (void)tmp2, (void)tmp3;
    return iteration_matrix(user, t, cj, N_VGetArrayPointer(y), N_VGetArrayPointer(yp),
                            N_VGetArrayPointer(F));
}

/* ---- Life ------------------------------------------------------------------------------------- */

static void destroy(void *self)
{
    ida *c = self;
    if (!c) return;
    if (c->memory) IDAFree(&c->memory);
    dae_sun_close(&c->sun);
    free(c);
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    ida *c = calloc(1, sizeof *c);
    if (!c) return dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for ida"), NULL;
    dae_sun *s = &c->sun;
    size_t n = (size_t)ivp->n;
    c->option = option;
    if (!dae_sun_open(s, ivp, 1, err)) goto fail;
    c->f = dae_arena_reals(ivp->arena, n);
    c->f_at = dae_arena_reals(ivp->arena, n);
    c->F = dae_arena_reals(ivp->arena, n);
    c->work = dae_arena_reals(ivp->arena, n);
    c->id = dae_arena_reals(ivp->arena, n);
    c->settled = dae_arena_reals(ivp->arena, n);
    if (ivp->sys->kind != DAE_KIND_IDE) c->mass = dae_ivp_mass(ivp);
    c->memory = IDACreate(s->context);
    int bad = !c->memory || dae_arena_failed(ivp->arena);
    bad = bad || IDASetErrHandlerFn(c->memory, dae_sun_message, s);
    bad = bad || IDAInit(c->memory, residual, 0, s->y_view, s->yp_view);
    bad = bad || IDASetUserData(c->memory, c);
    bad = bad || IDAWFtolerances(c->memory, dae_sun_weights);
    bad = bad || IDASetNonlinConvCoef(c->memory, NEWTON_STOP);
    bad = bad || IDASetMaxOrd(c->memory, c->option->max_order);
    bad = bad || IDASetMaxErrTestFails(c->memory, DAE_SUN_MAX_FAILURES);
    bad = bad || IDASetMaxConvFails(c->memory, DAE_SUN_MAX_FAILURES);
    bad = bad || (ivp->opt->h_max > 0 && IDASetMaxStep(c->memory, ivp->opt->h_max));
    bad = bad || (ivp->opt->h_min > 0 && IDASetMinStep(c->memory, ivp->opt->h_min));
    bad = bad || IDASetLinearSolver(c->memory, s->solver, s->matrix);
    bad = bad || IDASetJacFn(c->memory, jacobian);
    N_VSetArrayPointer(c->id, s->any_view);
    bad = bad || IDASetId(c->memory, s->any_view); /* takes its memory now and not while stepping */
    bad = bad || IDASetSuppressAlg(c->memory, c->option->suppress_algebraic);
    if (bad) {
        dae_fail(err, c->memory && s->message[0] ? DAE_ERR_INPUT : DAE_ERR_MEMORY, NAN,
                 "ida could not be set up: %s", s->message[0] ? s->message : "out of memory");
        goto fail;
    }
    return c;
fail:
    destroy(c);
    return NULL;
}

/* ---- Consistent initial values ---------------------------------------------------------------- */

/* id[j] = 1 if column j of the matrix has a value that is not 0. Every storage keeps its columns one
 * after the other. */
static void nonzero_columns(const dae_matrix *M, int n, double *id)
{
    const dae_pattern *p = &M->pattern;
    for (int j = 0; j < n; j++) {
        id[j] = M->n == 0;
        if (M->n == 0) continue;
        long width = p->storage == DAE_DENSE ? n : p->storage == DAE_BANDED ? p->lower + 1 + p->upper : 1;
        long begin = p->storage == DAE_SPARSE ? p->colptr[j] : j * width;
        long end = p->storage == DAE_SPARSE ? p->colptr[j + 1] : begin + width;
        for (long k = begin; k < end; k++) {
            if (M->a[k] != 0) id[j] = 1;
        }
    }
}

/* Which variables are differential (id[i] = 1): from the description of the system, or from the columns of M or of
 * dF/dy' (which iteration_matrix has left in dfdyp). */
static void find_differential(const ida *c, double *id)
{
    const dae_sun *s = &c->sun;
    const dae_ivp *ivp = s->ivp;
    if (!s->A) {
        nonzero_columns(&c->mass, ivp->n, id);
    } else if (ivp->sys->ide.algebraic) {
        for (int i = 0; i < ivp->n; i++) id[i] = !ivp->sys->ide.algebraic[i];
    } else {
        nonzero_columns(&(dae_matrix){ivp->n, ivp->jacobian, s->dfdyp}, ivp->n, id);
    }
}

static int set_id(ida *c)
{
    find_differential(c, c->id);
    N_VSetArrayPointer(c->id, c->sun.any_view);
    return IDASetId(c->memory, c->sun.any_view);
}

/* Index 1, with algebraic variables? At a restart, when the matrices of the last piece are known. */
static int wants_damping(const ida *c)
{
    const dae_ivp *ivp = c->sun.ivp;
    if (ivp->sys->kind == DAE_KIND_ODE || dae_system_index(ivp->sys) > 1) return 0;
    find_differential(c, c->work);
    for (int i = 0; i < ivp->n; i++) {
        if (c->work[i] == 0) return 1;
    }
    return 0;
}

static double weighted_norm(const ida *c, const double *x)
{
    double sum = 0;
    for (int i = 0; i < c->sun.ivp->n; i++) sum += (x[i] * c->work[i]) * (x[i] * c->work[i]);
    return sqrt(sum / c->sun.ivp->n);
}

/* As IDA chooses it; work has the weights. */
static double first_step(const ida *c)
{
    const dae_ivp *ivp = c->sun.ivp;
    double rate = weighted_norm(c, c->sun.yp), h = 0.001 * fabs(dae_sun_target(ivp) - ivp->t);
    return rate * h > 0.5 ? 0.5 / rate : h;
}

/* The Newton correction that the first step would apply to the initial values, in units of the
 * tolerances: 0 if F is 0. Leaves F and the matrix. A negative value: see *rc; NAN: singular. */
static double measure(ida *c, double h, int *rc)
{
    dae_sun *s = &c->sun;
    const dae_ivp *ivp = s->ivp;
    *rc = evaluate(c, ivp->t, s->y, s->yp, c->F);
    if (*rc) return -1;
    double largest = 0;
    for (int i = 0; i < ivp->n; i++) largest = fmax(largest, fabs(c->F[i]));
    if (largest == 0 && !c->option->suppress_algebraic) return 0;

    N_VSetArrayPointer(c->work, s->any_view);
    if (dae_sun_weights(s->y_view, s->any_view, s)) return NAN; /* IDASolve will say so */
    if (h == 0) h = first_step(c);
    *rc = iteration_matrix(c, ivp->t, ivp->direction / fabs(h), s->y, s->yp, c->F);
    if (*rc) return -1;
    if (dae_sun_factor(s)) return NAN;
    dae_copy(ivp->n, c->F, c->f_at); /* borrowed for the correction */
    c->f_known = 0;
    dae_shifted_solve(s->shifted, c->f_at);
    s->ivp->stats->solves++;
    return weighted_norm(c, c->f_at);
}

static dae_status inconsistent(ida *c, const char *why)
{
    const dae_ivp *ivp = c->sun.ivp;
    int worst = 0;
    for (int i = 1; i < ivp->n; i++) {
        if (fabs(c->F[i]) > fabs(c->F[worst])) worst = i;
    }
    return dae_ivp_fail(
        c->sun.ivp, DAE_ERR_INCONSISTENT,
        "t = %g: the initial values do not satisfy the equations: the residual of equation %d is %.3g "
        "(numbered from 1), and a correction of %.3g times the tolerances is needed; %s",
        ivp->t, worst + 1, c->F[worst], c->correction, why);
}

/* One backward Euler step of size h at fixed t by Newton's method: M (y - y0)/h = f(t,y), in: y = y0, out: y, y'.
 * 0: converged, < 0: stop. */
static int settle_step(ida *c, double h, const double *y0)
{
    dae_sun *s = &c->sun;
    const dae_ivp *ivp = s->ivp;
    double old = INFINITY;
    for (int m = 0; m < 20; m++) {
        for (int i = 0; i < ivp->n; i++) s->yp[i] = (s->y[i] - y0[i]) / h;
        int rc = evaluate(c, ivp->t, s->y, s->yp, c->F);
        if (rc == 0) rc = iteration_matrix(c, ivp->t, 1 / h, s->y, s->yp, c->F);
        if (rc) return rc;
        if (dae_sun_factor(s)) return 1;
        dae_shifted_solve(s->shifted, c->F);
        ivp->stats->solves++;
        double size = weighted_norm(c, c->F);
        if (!(size <= 100 * old)) return 1;
        dae_axpy(ivp->n, -1, c->F, s->y);
        if (size <= 0.1 * CONSISTENT) return 0;
        old = size;
    }
    return 1;
}

/* Index 2 and 3, at a restart: what the last piece left off the constraints is taken out by three tiny steps with t kept
 * fixed, as dassl does; an error test would see it as an error that does not fall with h (charge pump at 1e-2). Where it
 * does not converge the values stay. < 0: stop. */
static int settle(ida *c, double h)
{
    dae_sun *s = &c->sun;
    const dae_ivp *ivp = s->ivp;
    double tiny = ivp->direction * TINY * fabs(h), *y0 = c->id;
    int n = ivp->n, rc = 0;
    dae_copy(n, s->y, c->settled);
    for (int k = 0; k < 3 && rc == 0; k++) {
        dae_copy(n, s->y, y0);
        rc = settle_step(c, tiny, y0);
    }
    c->f_known = 0;
    if (rc) {
        dae_copy(n, c->settled, s->y);
        return rc < 0 ? rc : 0;
    }
    for (int i = 0; i < n; i++) {
        int high = ivp->index && ivp->index[i] > 1;
        double change = s->y[i] - y0[i];
        if (!high) s->y[i] = y0[i] - 2 * change;
        s->yp[i] = high ? 0 : change / tiny;
    }
    return IDAReInit(c->memory, ivp->t, s->y_view, s->yp_view) < 0 ? -1 : 0;
}

/* Index 1: algebraic variables and derivatives of the others are computed where the given ones do not
 * fit. Higher index: taken as they are (IDACalcIC cannot do it); a failing first step tells. */
static dae_status make_consistent(ida *c, double h, int restart)
{
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    int rc;
    c->correction = measure(c, h, &rc);
    if (rc < 0) return dae_sun_fail(s, "ida", flags, IDA_RES_FAIL, h);
    if (rc > 0) return dae_sun_fail(s, "ida", flags, IDA_FIRST_RES_FAIL, h);
    int higher = dae_system_index(ivp->sys) >= 2;
    if (c->option->suppress_algebraic && set_id(c) < 0)
        return dae_sun_fail(s, "ida", flags, IDA_ILL_INPUT, h);
    if (higher && restart && c->correction > 1 && ivp->sys->kind == DAE_KIND_DAE) {
        if (settle(c, h != 0 ? h : first_step(c)) < 0) return dae_sun_fail(s, "ida", flags, IDA_RES_FAIL, h);
    }
    if (higher || !(c->correction > CONSISTENT)) return DAE_OK;

    int flag = set_id(c);
    if (flag == IDA_SUCCESS) flag = IDACalcIC(c->memory, IDA_YA_YDP_INIT, dae_sun_target(ivp));
    if (flag == IDA_SUCCESS) {
        dae_log(ivp->opt, DAE_LOG_INFO, "method=ida consistent=computed correction=%.3g", c->correction);
        IDAGetConsistentIC(c->memory, s->y_view, s->yp_view);
        c->correction = 0;
        return DAE_OK;
    }
    if (flag == IDA_RES_FAIL) return dae_sun_fail(s, "ida", flags, flag, h);
    if (c->correction > 1) {
        return inconsistent(c,
                            "check the algebraic equations, the flags of algebraic variables and the index");
    }
    flag = IDAReInit(c->memory, ivp->t, s->y_view, s->yp_view); /* within the tolerances: go on with them */
    return flag < 0 ? dae_sun_fail(s, "ida", flags, flag, h) : DAE_OK;
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    ida *c = self;
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    int rc = 0;
    dae_copy(ivp->n, y, s->y);
    ivp->t_old = ivp->t = t;
    ivp->y = s->y;
    ivp->order = 1;
    /* Ours: after a discontinuity h goes on from the last one, but for ODEs (nand at 1e-7: 7.0 -> 8.2 digits), and order 1
     * damps what it excites where there are algebraic variables. A tiny first step, or order 3 to 5 with a short one, follows
     * fast unstable modes of some circuits (tba below 1e-5). */
    double h_old = 0;
    int restart = c->started;
    if (restart && ivp->sys->kind != DAE_KIND_ODE) IDAGetCurrentStep(c->memory, &h_old);
    ivp->h_next = h != 0 ? copysign(h, ivp->direction) : h_old;
    s->seen = (dae_sun_counts){0};
    s->singular = s->undefined = 0;
    s->message[0] = 0;
    c->started = c->f_known = 0;
    s->h = 0;
    dae_undamped_begin(&s->undamped, ivp, UNDAMPED, 0.25);
    if (yp) {
        dae_copy(ivp->n, yp, s->yp);
        if (ivp->sys->kind == DAE_KIND_ODE) ivp->stats->f++; /* f(t,y), made by the driver */
    } else if (ivp->sys->kind == DAE_KIND_IDE) {
        dae_zero(ivp->n, s->yp);
    } else {
        rc = dae_ivp_derivative(ivp, t, y, s->yp);
    }
    if (rc) return dae_sun_fail(s, "ida", flags, rc < 0 ? IDA_RES_FAIL : IDA_FIRST_RES_FAIL, h);
    int flag = IDAReInit(c->memory, t, s->y_view, s->yp_view);
    if (flag == IDA_SUCCESS) flag = IDASetInitStep(c->memory, ivp->h_next);
    dae_damping_begin(&c->damping, restart && !ivp->kink && wants_damping(c));
    if (flag == IDA_SUCCESS) flag = IDASetMaxOrd(c->memory, c->damping.on ? 1 : c->option->max_order);
    if (flag < 0) return dae_sun_fail(s, "ida", flags, flag, h);
    return make_consistent(c, h, restart);
}

/* ---- Steps ------------------------------------------------------------------------------------ */

static int one(dae_sun *s, double *t)
{
    ida *c = (ida *)s;
    return IDASolve(c->memory, dae_sun_target(s->ivp), t, s->y_view, s->yp_view, IDA_ONE_STEP);
}

static const dae_sun_calls calls = {
    .steps = IDAGetNumSteps,
    .error_failures = IDAGetNumErrTestFails,
    .solve_failures = IDAGetNumStepSolveFails,
    .iterations = IDAGetNumNonlinSolvIters,
    .newton_failures = IDAGetNumNonlinSolvConvFails,
    .set_stop = IDASetStopTime,
    .next_step = IDAGetCurrentStep,
    .last_step = IDAGetLastStep,
    .time = IDAGetCurrentTime,
    .derivative = IDAGetDky,
    .one = one,
};

static dae_status step(void *self)
{
    ida *c = self;
    dae_sun *s = &c->sun;
    dae_ivp *ivp = s->ivp;
    double t, h;
    int flag;
    dae_status stuck = dae_sun_step(s, &calls, c->memory, &t, &h, &flag);
    if (stuck) return stuck;
    if (flag < 0 && !c->started && c->correction > 1) {
        return inconsistent(
            c, "the first step failed; for index 2 and 3 give values that satisfy the hidden constraints "
               "too");
    }
    if (flag < 0) return dae_sun_fail(s, "ida", flags, flag, h);
    c->started = 1;
    int damping = c->damping.on;
    dae_damping_accept(&c->damping, t - ivp->t);
    if (damping && !c->damping.on) IDASetMaxOrd(c->memory, c->option->max_order);
    ivp->t_old = ivp->t;
    ivp->t = t;
    ivp->h_next = s->h = h;
    IDAGetLastOrder(c->memory, &ivp->order);
    return DAE_OK;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    ida *c = self;
    dae_sun *s = &c->sun;
    if (!c->started) {
        dae_copy(s->ivp->n, s->y, y);
        if (yp) dae_copy(s->ivp->n, s->yp, yp);
        return;
    }
    dae_sun_derivative(s, &calls, c->memory, t, 0, y);
    if (yp) dae_sun_derivative(s, &calls, c->memory, t, 1, yp);
}

/* ---- Descriptor ------------------------------------------------------------------------------- */

static const dae_option options[] = {
    {"max_order", DAE_OPTION_INT, offsetof(ida_options, max_order), 5, NULL, 1, 5, NULL, "", "highest order"},
    {"suppress_algebraic", DAE_OPTION_INT, offsetof(ida_options, suppress_algebraic), 0, NULL, 0, 1, NULL, "",
     "1: keep all algebraic variables out of the error test, not only those of index 2 and 3"},
    {NULL, DAE_OPTION_REAL, 0, 0, NULL, 0, 0, NULL, NULL, NULL},
};

const dae_method dae_method_ida = {
    .info = {.name = "ida",
             .title = "SUNDIALS IDA, fixed-leading-coefficient BDF of order 1 to 5",
             .literature =
                 "K.E. Brenan, S.L. Campbell, L.R. Petzold, Numerical Solution of Initial-Value Problems in "
                 "Differential-Algebraic Equations, SIAM 1996; A.C. Hindmarsh et al., SUNDIALS, ACM TOMS 31 "
                 "(2005) 363-396",
             .summary = "BDF for F(t,y,y') = 0 with a Newton iteration, the C descendant of DASSL; for "
                        "implicit systems of "
                        "index 1 at low to medium accuracy",
             .order_min = 1,
             .order_max = 5,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_DAE | 1u << DAE_KIND_IDE,
             .max_index = 3,
             .controls_index = 2,
             .implicit = 1,
             .multistep = 1,
             .options = options},
    .soft_end = 1,
    .option_size = sizeof(ida_options),
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = destroy,
};
