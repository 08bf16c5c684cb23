/* DDASSL of L. Petzold, the Fortran code itself, as an own method.
 *
 *     ddassl(res, neq, t, y, yprime, tout, info, rtol, atol, idid, rwork, lrw, iwork, liw, rpar, ipar, jac)
 *
 * is the calling sequence of the report's driver dassld.f. Debian ships the code (SLATEC, public domain) inside of Octave's
 * numerical library; $(mkoctfile -p OCTLIBDIR) is where it is:
 *
 *     dir=$(mkoctfile -p OCTLIBDIR)
 *     cc -shared -fPIC -O2 $(pkg-config --cflags daedalus) -o ddassl.so ddassl.c -L$dir -loctave -Wl,-rpath,$dir
 *     daedalus table pollu --plugin ./ddassl.so --solvers ddassl,dassl
 *
 * It runs in the mode that returns after every step (INFO(3) = 1), up to a wall it must not pass (INFO(4) = 1), with one
 * tolerance per component (INFO(2) = 1). All its memory is RWORK and IWORK: they come from the arena, so that a run can be saved.
 * Dense output: DDATRP, the polynomial that the code itself interpolates with. */
#include <daedalus/plugin.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_ORDER = 5, INFO = 20, ROOM = 60, PSI = 28, ERRORS = 40 }; /* PSI: RWORK(29), ERRORS: RWORK(41) */

typedef void res_fn(double *t, double *y, double *yp, double *delta, int *ires, double *rpar, int *ipar);
typedef void jac_fn(double *t, double *y, double *yp, double *pd, double *cj, double *rpar, int *ipar);
extern void ddassl_(res_fn *res, int *neq, double *t, double *y, double *yp, double *tout, int *info,
                    double *rtol, double *atol, int *idid, double *rwork, int *lrw, int *iwork, int *liw,
                    double *rpar, int *ipar, jac_fn *jac);
extern void ddatrp_(double *x, double *xout, double *yout, double *ypout, int *neq, int *kold, double *phi,
                    double *psi);

typedef struct ddassl {
    dae_ivp *ivp;
    int n, lrw, liw;
    double *last;            /* 2: t_old, t; here and below in the arena */
    double *y, *yp;          /* n each: at t */
    double *rtol, *atol;     /* n each: the code may write to them */
    double *rwork, *f, *jac; /* jac: n x n */
    double *spare;           /* 2n: what interpolation is not asked for */
    int *info, *iwork;
} ddassl;

/* RES: F(t,y,y'), of an ODE y' - f(t,y). IPAR carries the run. */
static void residual(double *t, double *y, double *yp, double *delta, int *ires, double *rpar, int *ipar)
{
    ddassl *x = (ddassl *)(void *)ipar;
    int ode = x->ivp->sys->kind == DAE_KIND_ODE;
    int r = ode ? dae_ivp_f(x->ivp, *t, y, delta) : dae_ivp_residual(x->ivp, *t, y, yp, delta);
    (void)rpar;
    for (int i = 0; i < x->n && ode; i++) delta[i] = yp[i] - delta[i];
    if (r) *ires = r > 0 ? -1 : -2;
}

/* JAC: dF/dy + cj dF/dy', full. */
static void jacobian(double *t, double *y, double *yp, double *pd, double *cj, double *rpar, int *ipar)
{
    ddassl *x = (ddassl *)(void *)ipar;
    int n = x->n, r;
    (void)rpar;
    if (x->ivp->sys->kind == DAE_KIND_ODE) {
        r = dae_ivp_f(x->ivp, *t, y, x->f);
        if (!r) r = dae_ivp_jacobian(x->ivp, *t, y, x->f, pd);
        for (int i = 0; i < n * n && !r; i++) pd[i] = -pd[i] + (i % (n + 1) == 0 ? *cj : 0);
    } else {
        r = dae_ivp_residual(x->ivp, *t, y, yp, x->f);
        if (!r) r = dae_ivp_residual_jacobian(x->ivp, *t, y, yp, x->f, pd, x->jac);
        for (int i = 0; i < n * n && !r; i++) pd[i] += *cj * x->jac[i];
    }
    if (r) memset(pd, 0, (size_t)n * (size_t)n * sizeof *pd); /* singular: the code takes a smaller step */
}

static void *create(dae_ivp *ivp, const void *option, dae_error *err)
{
    ddassl *x = calloc(1, sizeof *x);
    size_t n = (size_t)ivp->n;
    (void)option;
    if (x) {
        x->ivp = ivp;
        x->n = ivp->n;
        x->lrw = ROOM + (MAX_ORDER + 4) * x->n + x->n * x->n;
        x->liw = ROOM + x->n;
        double **array[] = {&x->y, &x->yp, &x->rtol, &x->atol, &x->f};
        for (int k = 0; k < 5; k++) *array[k] = dae_arena_reals(ivp->arena, n);
        x->last = dae_arena_reals(ivp->arena, 2);
        x->rwork = dae_arena_reals(ivp->arena, (size_t)x->lrw);
        x->jac = dae_arena_reals(ivp->arena, n * n);
        x->spare = dae_arena_reals(ivp->arena, 2 * n);
        x->info = dae_arena_ints(ivp->arena, INFO);
        x->iwork = dae_arena_ints(ivp->arena, (size_t)x->liw);
        if (!dae_arena_failed(ivp->arena)) return x;
    }
    free(x);
    dae_fail(err, DAE_ERR_MEMORY, NAN, "no memory for DDASSL on %d equations", ivp->n);
    return NULL;
}

static void report(ddassl *x)
{
    x->ivp->t_old = x->last[0];
    x->ivp->t = x->last[1];
    x->ivp->y = x->y;
    x->ivp->h_next = x->rwork[2];
    x->ivp->order = x->iwork[7] > 0 ? x->iwork[7] : 1;
}

/* What the code has counted since its last start, IWORK(11) and on, added (sign = 1) or taken away again (-1). */
static void count(ddassl *x, int sign)
{
    dae_stats *s = x->ivp->stats;
    const int *counted = x->iwork + 10;
    s->accepted += sign * counted[0];
    s->rejected += sign * counted[3];
    s->newton_failures += sign * counted[4];
    s->steps += sign * (counted[0] + counted[3] + counted[4]);
    if (!x->info[4]) s->jac += sign * counted[2]; /* else dae_ivp_jacobian has counted it */
    s->lu += sign * counted[2];
}

static dae_status reset(void *self, double t, const double *y, const double *yp, double h)
{
    ddassl *x = self;
    memset(x->info, 0, INFO * sizeof *x->info);
    x->info[1] = x->info[2] = x->info[3] = 1; /* tolerance vectors, every step, a wall */
    x->info[4] = x->ivp->jacobian.storage == DAE_DENSE;
    if (x->ivp->opt->h_max > 0) {
        x->info[6] = 1;
        x->rwork[1] = x->ivp->opt->h_max;
    }
    if (h != 0) {
        x->info[7] = 1;
        x->rwork[2] = x->ivp->direction * fabs(h);
    }
    memmove(x->y, y, (size_t)x->n * sizeof *y);
    memmove(x->yp, yp, (size_t)x->n * sizeof *yp);
    memcpy(x->rtol, x->ivp->rtol, (size_t)x->n * sizeof *x->rtol);
    memcpy(x->atol, x->ivp->atol, (size_t)x->n * sizeof *x->atol);
    x->last[0] = x->last[1] = t;
    memset(x->iwork, 0, (size_t)x->liw * sizeof *x->iwork);
    report(x);
    return DAE_OK;
}

static dae_status step(void *self)
{
    ddassl *x = self;
    double t = x->last[1], tout = dae_ivp_piece_end(x->ivp), rpar = 0;
    int idid = 0;
    x->rwork[0] = tout; /* TSTOP */
    count(x, -1);
    ddassl_(residual, &x->n, &t, x->y, x->yp, &tout, x->info, x->rtol, x->atol, &idid, x->rwork, &x->lrw,
            x->iwork, &x->liw, &rpar, (int *)(void *)x, jacobian);
    count(x, 1);
    if (idid < 0) {
        dae_status s = idid == -8    ? DAE_ERR_SINGULAR
                       : idid == -6  ? DAE_ERR_STEP_TOO_SMALL
                       : idid == -11 ? DAE_ERR_CALLBACK
                                     : DAE_ERR_CONVERGENCE;
        return dae_ivp_fail(x->ivp, s, "DDASSL ended with IDID = %d at t = %.10g", idid, t);
    }
    x->last[0] = x->last[1];
    x->last[1] = t;
    report(x);
    return DAE_OK;
}

static void interpolate(void *self, double t, double *y, double *yp)
{
    ddassl *x = self;
    double *phi = x->rwork + ERRORS + 3 * x->n;
    if (x->last[1] == x->last[0]) { /* at the start */
        if (y) memcpy(y, x->y, (size_t)x->n * sizeof *y);
        if (yp) memcpy(yp, x->yp, (size_t)x->n * sizeof *yp);
        return;
    }
    ddatrp_(&x->rwork[3], &t, y ? y : x->spare, yp ? yp : x->spare + x->n, &x->n, &x->iwork[7], phi,
            x->rwork + PSI);
}

static const dae_method method = {
    .info = {.name = "ddassl",
             .title = "DDASSL, the Fortran code",
             .literature = "Petzold 1983",
             .summary = "BDF of orders 1 to 5 with variable coefficients, by the code of SLATEC",
             .order_min = 1,
             .order_max = MAX_ORDER,
             .kinds = 1u << DAE_KIND_ODE | 1u << DAE_KIND_IDE,
             .max_index = 1,
             .implicit = 1,
             .multistep = 1,
             .checkpoint = 1},
    .create = create,
    .reset = reset,
    .step = step,
    .interpolate = interpolate,
    .destroy = free,
    .interface = DAE_METHOD_INTERFACE,
};

extern dae_plugin_fn dae_plugin_methods;
DAE_API const dae_method *const *dae_plugin_methods(int interface)
{
    static const dae_method *const list[] = {&method, NULL};
    return interface >= DAE_METHOD_INTERFACE ? list : NULL;
}
