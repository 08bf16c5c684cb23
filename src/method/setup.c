#include "method/setup.h"

#include "core/vector.h"

#include <float.h>
#include <math.h>

dae_shifted *dae_setup_solver(dae_ivp *ivp, const dae_matrix *mass, int second_order, dae_error *err)
{
    dae_shifted_spec spec = {
        .n = ivp->n, .jacobian = ivp->jacobian, .second_order = second_order, .own = ivp->linear_solver};
    if (mass) spec.mass = *mass;
    dae_shifted *s = dae_shifted_create(&spec, ivp->arena, err);
    if (s) dae_ivp_solves_with(ivp, dae_shifted_describe(s));
    return s;
}

double dae_setup_limited(const dae_ivp *ivp, double h)
{
    double h_max = ivp->opt->h_max;
    return ivp->direction * (h_max > 0 && fabs(h) > h_max ? h_max : fabs(h));
}

double dae_setup_digits(const dae_ivp *ivp)
{
    double least = INFINITY;
    for (int i = 0; i < ivp->n; i++) least = fmin(least, ivp->digits[i]);
    return least;
}

double dae_setup_speed(const dae_ivp *ivp, const double *y, const double *yp)
{
    double s = 0;
    for (int i = 0; i < ivp->n; i++) {
        double v = yp[i] / (ivp->atol[i] + ivp->rtol[i] * fabs(y[i]) + DBL_MIN);
        if (!ivp->index || ivp->index[i] == 1) s += v * v;
    }
    return sqrt(s / ivp->n);
}

dae_status dae_setup_rates(dae_ivp *ivp, double t, const double *y, const double *yp, double *f)
{
    if (ivp->sys->kind == DAE_KIND_ODE) {
        dae_copy(ivp->n, yp, f);
        ivp->stats->f++;
        return DAE_OK;
    }
    int bad = dae_ivp_f(ivp, t, y, f);
    if (!bad) return DAE_OK;
    return dae_ivp_fail(ivp, bad < 0 ? DAE_ERR_CALLBACK : DAE_ERR_UNDEFINED,
                        "t = %.10g: the right-hand side cannot be evaluated at the start", t);
}
