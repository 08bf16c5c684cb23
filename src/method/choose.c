/* "auto": which method a system gets, and why. By kind and index first; an ODE is judged by the number
 * of its fastest time constants in the interval, L (t_end - t0) with L = |df/dy| estimated by a few
 * steps of the power method at the start. A method that is chosen as explicit and meets stiffness
 * later is replaced by the driver. */
#include "method/driver.h"
#include "method/method.h"

#include "core/number.h"
#include "core/vector.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* time constants in the interval above which an implicit method is taken; ours: below it an explicit
 * method needs a few hundred steps at most */
#define STIFF_LIMIT 1000
#define POWER_STEPS 8
#define POWER_LAST \
    4 /* the mean over so many of them: of y'' = -k y single ones give k and 1, the rate is sqrt(k) */
/* at and below this rtol dop853 is taken, else dopri5; ours: on the DETEST collections dop853 has 3.7 % of its errors above 100
 * tolerances, dopri5 10 % */
#define TIGHT 1.01e-2

const char dae_choose_no_memory[] = "out of memory";

/* The largest rate, the spectral radius of df/dy at (t,y), by the power method on differences; NAN where f cannot be
 * evaluated, < 0: out of memory. */
static double lipschitz(const dae_ode *ode, double t, const double *y)
{
    int n = ode->n;
    double *work = calloc(4 * (size_t)n, sizeof *work), L = NAN;
    if (!work) return -1;
    double *f0 = work, *f1 = work + n, *v = work + 2 * n, *x = work + 3 * n, size = 0;
    for (int i = 0; i < n; i++) {
        v[i] = 1 + 0.5 * sin(1.7 * i + 0.3);
        size += y[i] * y[i];
    }
    size = sqrt(size);
    if (ode->f(t, y, f0, ode->user) == 0 && dae_all_finite(n, f0)) {
        double rate[POWER_STEPS], mean = 0;
        int steps = 0;
        for (int k = 0; k < POWER_STEPS; k++) {
            double norm = 0, d = 0;
            for (int i = 0; i < n; i++) norm += v[i] * v[i];
            norm = sqrt(norm);
            if (!(norm > 0)) break;
            double eps = 1e-7 * (size > 0 ? size : 1);
            for (int i = 0; i < n; i++) x[i] = y[i] + eps * v[i] / norm;
            if (ode->f(t, x, f1, ode->user) != 0 || !dae_all_finite(n, f1)) break;
            for (int i = 0; i < n; i++) {
                v[i] = (f1[i] - f0[i]) / eps;
                d += v[i] * v[i];
            }
            rate[steps++] = sqrt(d);
        }
        for (int k = steps - 1; k >= 0 && k >= steps - POWER_LAST; k--)
            mean += log(rate[k] + DBL_MIN) / fmin(steps, POWER_LAST);
        L = steps ? exp(mean) : 0;
    }
    free(work);
    return L;
}

static const dae_method_info *first_of(const char *const *names)
{
    for (; *names; names++) {
        const dae_method_info *m = dae_method_find(*names);
        if (m) return m;
    }
    return NULL;
}

static double smallest_rtol(const dae_options *opt, int n)
{
    double rtol = opt->rtol_vec ? opt->rtol_vec[0] : opt->rtol;
    for (int i = 1; opt->rtol_vec && i < n; i++) rtol = fmin(rtol, opt->rtol_vec[i]);
    return rtol;
}

/* Half-explicit Runge-Kutta between 1e-4 and 1e-9, extrapolation elsewhere: bench_mechanics, seven bodies. */
static const dae_method_info *choose_mechanical(const dae_mech *mech, double rtol, char *reason, size_t size)
{
    static const char *const runge_kutta[] = {"phem56", "mexx", NULL}, *const extrapolation[] = {
                                                                           "mexx", "phem56", NULL};
    int middle = rtol >= 0.99e-9 && rtol <= 1.01e-4;
    if (mech->dfdlambda) {
        snprintf(reason, size,
                 "mechanical system whose forces depend on the multipliers: half-explicit extrapolation");
        return dae_method_find("mexx");
    }
    dae_snprintf(reason, size, "mechanical system, rtol %.2g: half-explicit %s", rtol,
                 middle ? "Runge-Kutta" : "extrapolation");
    return first_of(middle ? runge_kutta : extrapolation);
}

/* ODEs: the first row that holds. Measured with bench_solvers and with the test set, time at equal accuracy: rodas4p2 and
 * rodas5p need 0.4 to 0.8 of radau5's time on hires, pollu, vdpol, orego and rober down to 1e-6; below, radau with its
 * orders 9 and 13 needs 0.4 to 0.8 of it on all but hires and pollu, whose complex factors cost more (n = 8, 20). They take J at its word, so only where the system
 * gives one, and not where an atol far below rtol asks for digits of variables that have died out (e5: 2 digits instead
 * of 8). Pleiades: rkn8 0.6 to 0.8 of dop853, rkn12 and vern9 from 7 digits on. */
typedef struct rule {
    int stiff;         /* 1: the fastest time constants are short beside the interval */
    int no_velocities; /* 1: only y'' = f(t,y) */
    int exact; /* 1: only small systems with a Jacobian, and tolerances that do not ask for digits of nothing */
    int least;   /* equations */
    double rtol; /* smallest for this row */
    const char *method, *why;
} rule;

#define SMALL 32           /* ours: equations; beyond, every factorization counts */
#define LOOSE 3e-5         /* ours: rtol above which order 4 does it */
#define VERY_TIGHT 0.99e-7 /* ours: rtol of DAEs below which radau raises its order */
#define DEAD_ATOL 1e-10    /* ours: atol/rtol */

static const rule rules[] = {
    {1, 0, 1, 1, LOOSE, "rodas4p2", "small, with a Jacobian: one LU per step and no iteration"},
    {1, 0, 1, 1, 0.99e-6, "rodas5p", "small, with a Jacobian: one LU per step and no iteration"},
    {1, 0, 1, 8, 0.99e-8, "rodas5p", "with a Jacobian: one LU per step and no iteration"},
    {1, 0, 0, 1, 0.99e-6, "radau5", "implicit Runge-Kutta of order 5"},
    {1, 0, 0, 1, 0, "radau", "tight tolerance: implicit Runge-Kutta of orders 5 to 13"},
    {0, 1, 0, 1, 0.99e-7, "rkn8", "y'' = f(t,y): Nystrom pair"},
    {0, 1, 0, 1, 0, "rkn12", "y'' = f(t,y), tight tolerance: Nystrom pair"},
    {0, 0, 0, 1, 1.0001 * TIGHT, "dopri5", "explicit Runge-Kutta of order 5"},
    {0, 0, 0, 1, 0.99e-9, "dop853", "explicit Runge-Kutta of order 8"},
    {0, 0, 0, 1, 0, "vern9", "very tight tolerance: explicit Runge-Kutta of order 9"},
};

/* 1: a method that takes J for exact can have it. */
static int is_exact(const dae_system *sys, const dae_options *opt)
{
    int n = dae_system_size(sys);
    if (!(sys->kind == DAE_KIND_DAE ? sys->dae.jac : sys->ode.jac) || n > SMALL ||
        (opt->jacobian && !strcmp(opt->jacobian, "difference")))
        return 0;
    for (int i = 0; i < n; i++) {
        double rtol = opt->rtol_vec ? opt->rtol_vec[i] : opt->rtol,
               atol = opt->atol_vec ? opt->atol_vec[i] : opt->atol;
        if (atol < DEAD_ATOL * rtol) return 0;
    }
    return 1;
}

static const dae_method_info *choose_ode(const dae_system *sys, const dae_options *opt, int stiff,
                                         const char **why)
{
    double rtol = smallest_rtol(opt, sys->ode.n);
    int exact = is_exact(sys, opt);
    for (size_t k = 0; k < sizeof rules / sizeof *rules; k++) {
        const rule *r = &rules[k];
        if (r->stiff != stiff || (r->exact && !exact) || rtol < r->rtol || sys->ode.n < r->least) continue;
        if (r->no_velocities && !sys->structure.no_velocities) continue;
        *why = r->why;
        return dae_method_find(r->method);
    }
    return NULL;
}

const dae_method_info *dae_method_choose(const dae_system *sys, const dae_options *opt, double t0,
                                         double t_end, const double *y0, char *reason, size_t size)
{
    static const char *const implicit[] = {"radau5", NULL};
    static const char *const ide[] = {"dassl", "ida", NULL};
    const dae_method_info *m = NULL;
    int index = dae_system_index(sys);
    switch (sys->kind) {
    case DAE_KIND_MECH:
        m = choose_mechanical(&sys->mech, smallest_rtol(opt, dae_system_size(sys)), reason, size);
        break;
    case DAE_KIND_IDE:
        m = first_of(ide);
        snprintf(reason, size, "implicit equations F(t,y,y') = 0 of index %d", index);
        break;
    case DAE_KIND_DAE: { /* chemakzo, transamp: at 1e-3 and 1e-4 rodas4p2 0.4 to 0.85 of radau5's time, from 1e-8 on radau
                            0.4 to 1 of it */
        double rtol = smallest_rtol(opt, dae_system_size(sys));
        int linear = index <= 1 && is_exact(sys, opt) && rtol >= LOOSE,
            high = index <= 1 && rtol < VERY_TIGHT;
        m = linear ? dae_method_find("rodas4p2") : high ? dae_method_find("radau") : first_of(implicit);
        snprintf(reason, size, "M y' = f with variables of index %d: stiffly accurate %s", index,
                 linear ? "Rosenbrock method, one LU per step and no iteration"
                 : high ? "implicit Runge-Kutta of orders 5 to 13"
                        : "implicit Runge-Kutta");
        break;
    }
    case DAE_KIND_ODE: {
        double L = lipschitz(&sys->ode, t0, y0), count = L * fabs(t_end - t0);
        int stiff = !(count <= STIFF_LIMIT);
        if (L < 0) {
            snprintf(reason, size, "%s", dae_choose_no_memory);
            return NULL;
        }
        const char *why = "";
        m = choose_ode(sys, opt, stiff, &why);
        if (isfinite(count))
            dae_snprintf(reason, size, "ODE, about %.2g fast time constants in the interval: %s; %s", count,
                         stiff ? "treated as stiff" : "not stiff", why);
        else snprintf(reason, size, "ODE that cannot be judged at the start: treated as stiff; %s", why);
        break;
    }
    }
    if (m && !dae_method_takes(m, sys)) m = NULL;
    if (!m) snprintf(reason, size, "no method for %s systems of index %d", dae_kind_name(sys->kind), index);
    return m;
}
