/* Energies of a mechanism, and the power of all that is not in them. */
#include "multibody/acceleration.h"

#include <stdlib.h>
#include <string.h>

static double potential_at(const mbs_mechanism *m, double t, const double *p, const double *v)
{
    double kinetic, potential;
    mbs_context x = mbs_begin(m, t, p, v);
    mbs_energies(&x, &kinetic, &potential);
    mbs_end(&x);
    return potential;
}

/* Power of the applied forces and of moving constraints, without that of the potential: its rate is taken by central
 * differences along the motion. */
static dae_status power(const mbs_mechanism *m, mbs_acceleration_solver *c, double t, const double *y,
                        dae_energy *out)
{
    const dae_mech *s = &m->system.mech;
    size_t n = (size_t)(m->np + 2 * m->nv + 2 * m->nlambda);
    double *work = calloc(n + 1, sizeof *work), h = 1e-5, sum = 0;
    if (!work) return DAE_ERR_MEMORY;
    double *p = work, *f = p + m->np, *lambda = f + m->nv, *gI = lambda + m->nlambda, *rate = gI + m->nlambda;
    const double *v = y + m->np;
    dae_status status = DAE_OK;
    if (m->nlambda && (m->friction || s->velocity)) status = mbs_acceleration_at(c, t, y, NULL, lambda, NULL);
    dae_mech_point x = {.t = t, .p = y, .v = v, .u = v + m->nv, .lambda = lambda};
    s->force(&x, f, s->user);
    for (int i = 0; i < m->nv; i++) sum += f[i] * v[i];
    if (s->velocity) s->velocity(&x, gI, s->user);
    for (int i = 0; i < m->nlambda; i++) sum += lambda[i] * gI[i]; /* -lambda . G v */
    (void)rate;
    double V[2];
    for (int side = 0; side < 2; side++) {
        double step = side ? h : -h, *d = calloc((size_t)m->np, sizeof *d);
        if (!d) {
            free(work);
            return DAE_ERR_MEMORY;
        }
        if (s->kinematics) s->kinematics(&x, d, s->user);
        else memcpy(d, v, (size_t)m->nv * sizeof *d);
        for (int i = 0; i < m->np; i++) p[i] = y[i] + step * d[i];
        V[side] = potential_at(m, t, p, v);
        free(d);
    }
    out->total = sum;
    out->power = sum + (V[1] - V[0]) / (2 * h);
    free(work);
    return status;
}

dae_status mbs_energy_at(const mbs_mechanism *m, mbs_acceleration_solver *c, double t, const double *y,
                         dae_energy *out)
{
    mbs_context x = mbs_begin(m, t, y, y + m->np);
    x.u = y + m->np + m->nv;
    mbs_energies(&x, &out->kinetic, &out->potential);
    mbs_end(&x);
    return power(m, c, t, y, out);
}

dae_status mbs_mechanism_energy(const mbs_mechanism *m, double t, const double *y, dae_energy *out)
{
    mbs_acceleration_solver *c = mbs_acceleration_create(m, NULL);
    if (!c) return DAE_ERR_MEMORY;
    dae_status status = mbs_energy_at(m, c, t, y, out);
    mbs_acceleration_destroy(c);
    return status;
}
