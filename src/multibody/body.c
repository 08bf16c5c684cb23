/* Bodies: mass, inertia, described position and velocity. */
#include "multibody/build.h"

#include <stdio.h>
#include <string.h>

static int finite_all(const double *x, int n)
{
    for (int i = 0; i < n; i++) {
        if (!isfinite(x[i])) return 0;
    }
    return 1;
}

/* How far a moment of inertia may exceed the sum of the other two before it is an error: published data of thin parts do
 * so by rounding and by axes that were left out (the arms of the HMMWV by 12 %). */
#define IMPOSSIBLE 1.25

/* 1 if one moment is larger than factor times the sum of the others. */
int mbs_lopsided(const double *J, double factor, int *which)
{
    for (int k = 0; k < 3; k++) {
        *which = k;
        if (J[4 * k] > (J[4 * ((k + 1) % 3)] + J[4 * ((k + 2) % 3)]) * factor) return 1;
    }
    return 0;
}

/* The inertia tensor must be positive semidefinite and obey the triangle inequality, more or less. */
static dae_status check_inertia(mbs_builder *b, const mbs_body *body, const double *J)
{
    if (b->m->planar) {
        if (body->inertia[2] < 0) return mbs_wrong(b, "inertia: %g must not be negative", body->inertia[2]);
        return DAE_OK;
    }
    for (int k = 0; k < 3; k++) {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        if (J[4 * k] < 0) return mbs_wrong(b, "inertia: the diagonal must not be negative (%g)", J[4 * k]);
        if (J[4 * i] * J[4 * j] - J[3 * i + j] * J[3 * i + j] < -1e-12 * J[4 * i] * J[4 * j])
            return mbs_wrong(b, "inertia: not positive definite");
    }
    int k;
    if (mbs_lopsided(J, IMPOSSIBLE, &k))
        return mbs_wrong(b, "inertia: %g is larger than the sum of the other two (%g + %g): no body has that",
                         J[4 * k], J[4 * ((k + 1) % 3)], J[4 * ((k + 2) % 3)]);
    double det = J[0] * (J[4] * J[8] - J[5] * J[5]) - J[1] * (J[1] * J[8] - J[5] * J[2]) +
                 J[2] * (J[1] * J[5] - J[4] * J[2]);
    if (det < -1e-12 * J[0] * J[4] * J[8]) return mbs_wrong(b, "inertia: not positive definite");
    return DAE_OK;
}

dae_status mbs_build_body(mbs_builder *b, int k)
{
    mbs_mechanism *m = b->m;
    const mbs_body *body = &m->model->body[k];
    double *J = m->inertia + 9 * k, *p = m->p0 + k * m->bp, *v = m->p0 + m->np + k * m->bv;
    const double *I = body->inertia;
    double tensor[9] = {I[0], -I[3], -I[4], -I[3], I[1], -I[5], -I[4], -I[5], I[2]};
    if (m->planar) memset(tensor, 0, 8 * sizeof *tensor);
    memcpy(J, tensor, sizeof tensor);
    snprintf(b->path, sizeof b->path, "bodies[%d]", k);
    if (!finite_all(&body->mass, 1) || body->mass < 0)
        return mbs_wrong(b, "mass: %g must not be negative", body->mass);
    if (!finite_all(I, 6)) return mbs_wrong(b, "inertia: not finite");
    if (!finite_all(body->center, 3)) return mbs_wrong(b, "r: not finite");
    m->mass[k] = body->mass;
    dae_status s = check_inertia(b, body, J);
    if (s) return s;
    mbs_set(p, body->center);
    mbs_set(v, body->v);
    if (m->planar) {
        p[2] = body->angle;
        v[2] = body->omega[2];
    } else {
        double n = sqrt(body->q[0] * body->q[0] + body->q[1] * body->q[1] + body->q[2] * body->q[2] +
                        body->q[3] * body->q[3]);
        for (int i = 0; i < 4; i++) p[3 + i] = n > 0 ? body->q[i] / n : i == 0;
        mbs_set(v + 3, body->omega);
    }
    double *M = m->blocks + k * m->bv * m->bv;
    for (int i = 0; i < (m->planar ? 2 : 3); i++) M[i * (m->bv + 1)] = body->mass;
    if (m->planar) M[8] = I[2];
    for (int i = 0; !m->planar && i < 9; i++) M[(3 + i / 3) * 6 + 3 + i % 3] = J[i];
    return DAE_OK;
}
