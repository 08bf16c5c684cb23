/* Impacts: velocities jump so that the coordinate q leaves with restitution times the speed of approach, and all
 * constraints hold. With r the row of q' (q' = r v):
 *
 *     [M G^T; G 0] (w; .) = (r^T; 0),   v+ = v - w (1 + e) (r v)/(r w)                        (Newton's law) */
#include "multibody/mechanism.h"

#include <stdlib.h>
#include <string.h>

/* Of r w without joints, below which r w is rounding: the slider of a slider-crank at a dead center, where the crank alone
 * tells how it moves. Ours: within 1e-6 rad of that pose; rounding makes 1e-15. */
#define IMMOBILE 1e-12

/* w and r of the formula above; r follows w in the array. */
static dae_status respond(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q,
                          double *w)
{
    double *r = w + m->nv, response = 0, unbound = 0;
    dae_status status = mbs_response(m, t, y, q, w, r);
    for (int i = 0; i < m->nv; i++) {
        double inertia = m->blocks[i / m->bv * m->bv * m->bv + i % m->bv * (m->bv + 1)];
        response += r[i] * w[i];
        if (inertia > 0) unbound += r[i] * r[i] / inertia;
    }
    return status ? status : response > IMMOBILE * unbound ? DAE_OK : DAE_ERR_SINGULAR; /* it cannot move */
}

dae_status mbs_mobility(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q,
                        double *mobility)
{
    double *w = calloc(2 * (size_t)m->nv, sizeof *w);
    dae_status status = w ? respond(m, t, y, q, w) : DAE_ERR_MEMORY;
    *mobility = 0;
    for (int i = 0; !status && i < m->nv; i++) *mobility += w[i] * w[m->nv + i];
    free(w);
    return status;
}

dae_status mbs_impact(const mbs_mechanism *m, double t, double *y, const mbs_coordinate *q,
                      double restitution, double *rebound)
{
    double *w = calloc(2 * (size_t)m->nv, sizeof *w), *v = y + m->np, approach = 0, response = 0;
    dae_status status = w ? respond(m, t, y, q, w) : DAE_ERR_MEMORY;
    for (int i = 0; !status && i < m->nv; i++) {
        approach += w[m->nv + i] * v[i];
        response += w[m->nv + i] * w[i];
    }
    for (int i = 0; i < m->nv && !status; i++) v[i] -= w[i] * (1 + restitution) * approach / response;
    *rebound = fabs(restitution * approach);
    free(w);
    return status;
}
