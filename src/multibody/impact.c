/* Impacts: velocities jump so that the coordinate q leaves with restitution times the speed of approach, and all
 * constraints hold. With r the row of q' (q' = r v):
 *
 *     [M G^T; G 0] (w; .) = (r^T; 0),   v+ = v - w (1 + e) (r v)/(r w)                        (Newton's law) */
#include "multibody/mechanism.h"

#include "linalg/least_squares.h"

#include <stdlib.h>
#include <string.h>

static void system_matrix(const mbs_mechanism *m, const double *G, size_t n, double *K)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda;
    for (int k = 0; k < m->nbody; k++) {
        for (int i = 0; i < m->bv * m->bv; i++) {
            size_t r = (size_t)(k * m->bv + i % m->bv), c = (size_t)(k * m->bv + i / m->bv);
            K[c * n + r] = m->blocks[k * m->bv * m->bv + i];
        }
    }
    for (size_t c = 0; c < nv; c++) {
        for (size_t r = 0; r < nl; r++) K[c * n + nv + r] = K[(nv + r) * n + c] = G[c * nl + r];
    }
}

dae_status mbs_impact(const mbs_mechanism *m, double t, double *y, const mbs_coordinate *q,
                      double restitution, double *rebound)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, n = nv + nl;
    double *K = calloc(n * n, sizeof *K), *b = calloc(2 * n, sizeof *b), *G = calloc(nl * nv + 1, sizeof *G);
    double *r = b + n, *v = y + m->np, rows[12] = {0}, approach = 0, response = 0;
    dae_status status = K && b && G ? DAE_OK : DAE_ERR_MEMORY;
    if (!status) {
        mbs_context x = mbs_begin(m, t, y, v);
        mbs_coordinate_row(&x, q, 1, rows, rows + 6);
        mbs_end(&x);
        for (int c = 0; c < 6; c++) {
            int i = mbs_slot_of(m, q->i.body, c), j = mbs_slot_of(m, q->j.body, c);
            if (i >= 0) r[i] += rows[c];
            if (j >= 0) r[j] += rows[6 + c];
        }
        memcpy(b, r, nv * sizeof *b);
        dae_mech_point point = {.t = t, .p = y};
        if (nl) m->system.mech.constraint(&point, NULL, G, m->system.mech.user);
        system_matrix(m, G, n, K);
        if (dae_least_squares((int)n, (int)n, K, b, 1e-13) < 0) status = DAE_ERR_SINGULAR;
        for (size_t i = 0; i < nv; i++) {
            approach += r[i] * v[i];
            response += r[i] * b[i];
        }
        if (!(response > 0)) status = DAE_ERR_SINGULAR; /* the coordinate cannot move */
        for (size_t i = 0; i < nv && !status; i++) v[i] -= b[i] * (1 + restitution) * approach / response;
        *rebound = fabs(restitution * approach);
    }
    free(K);
    free(b);
    free(G);
    return status;
}
