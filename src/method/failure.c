#include "method/failure.h"

#include <float.h>
#include <math.h>

dae_status dae_says_stopped(dae_ivp *ivp, double t, const char *who)
{
    return dae_ivp_fail(ivp, DAE_ERR_CALLBACK, "t = %.10g: %s asked to stop", t, who);
}

dae_status dae_says_not_evaluated(dae_ivp *ivp, int r, double t, const char *who, const char *where)
{
    if (r < 0) return dae_ivp_fail(ivp, DAE_ERR_CALLBACK, "t = %.10g: %s asked to stop %s", t, who, where);
    return dae_ivp_fail(
        ivp, DAE_ERR_UNDEFINED,
        "t = %.10g: %s cannot be evaluated %s; check the state and the domain of the equations", t, who,
        where);
}

dae_status dae_says_not_converging(dae_ivp *ivp, double t, double h)
{
    return dae_ivp_fail(ivp, DAE_ERR_CONVERGENCE,
                        "t = %.10g: the iteration does not converge with the fixed step %g", t, h);
}

dae_status dae_says_no_memory_to_factor(dae_ivp *ivp, double t)
{
    return dae_ivp_fail(ivp, DAE_ERR_MEMORY, "t = %.10g: no memory to factor the iteration matrix", t);
}

dae_status dae_says_step_fell(dae_ivp *ivp, double t, double h, double least, int count, const char *of,
                              const char *hint)
{
    if (!hint) hint = "a singularity or a discontinuity may be near, or the tolerances are too tight";
    return dae_ivp_fail(ivp, DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: the step fell to %.3g (smallest %.3g) after %d failures of %s; %s", t,
                        fabs(h), least, count, of, hint);
}

dae_status dae_says_step_fell_in_a_row(dae_ivp *ivp, double h, double least, int count)
{
    return dae_ivp_fail(ivp, DAE_ERR_STEP_TOO_SMALL,
                        "t = %.10g: the step fell to %.3g (smallest %.3g) after %d failures in a row; a "
                        "singularity or a discontinuity may be near, or the initial values are inconsistent",
                        ivp->t, fabs(h), least, count);
}

int dae_rtol_too_small(const dae_ivp *ivp, const char *method, double least, dae_error *err)
{
    for (int i = 0; i < ivp->n; i++) {
        if (ivp->rtol[i] >= least) continue;
        dae_fail(err, DAE_ERR_INPUT, NAN, "%s: rtol of component %d is %g; below %g rounding decides", method,
                 i + 1, ivp->rtol[i], least);
        return 1;
    }
    return 0;
}

dae_status dae_check_weights(dae_ivp *ivp, double t, const double *y)
{
    for (int i = 0; i < ivp->n; i++) {
        if (y[i] == 0 && ivp->atol[i] == 0)
            return dae_ivp_fail(ivp, DAE_ERR_INPUT,
                                "t = %.10g: component %d is zero and its atol too; give it a positive atol",
                                t, i + 1);
    }
    return DAE_OK;
}

int dae_passes_wall(const dae_ivp *ivp, double t, double h, double slack, int fixed)
{
    double d = ivp->direction, stop = ivp->t_stop;
    return isfinite(stop) && d * (t + h * (1 + slack) - stop) > 0 &&
           (!fixed || d * (t + h - stop) > DAE_WALL_FIXED * fabs(h));
}

double dae_time_at_wall(const dae_ivp *ivp, double t, double h)
{
    return fabs(t - ivp->t_stop) <= 100 * DBL_EPSILON * (fabs(t) + fabs(h)) ? ivp->t_stop : t;
}
