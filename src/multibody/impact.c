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

/* w and r of the formula above; r follows w in the array. */
static dae_status respond(const mbs_mechanism *m, double t, const double *y, const mbs_coordinate *q,
                          double *w)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, n = nv + nl;
    double *K = calloc(n * n, sizeof *K), *b = calloc(n, sizeof *b), *G = calloc(nl * nv + 1, sizeof *G);
    double *r = w + nv, response = 0;
    dae_status status = K && b && G ? DAE_OK : DAE_ERR_MEMORY;
    if (!status) {
        mbs_context x = mbs_begin(m, t, y, y + m->np);
        mbs_coordinate_vector(&x, q, r);
        mbs_end(&x);
        memcpy(b, r, nv * sizeof *b);
        dae_mech_point point = {.t = t, .p = y};
        if (nl) m->system.mech.constraint(&point, NULL, G, m->system.mech.user);
        system_matrix(m, G, n, K);
        int rank = dae_least_squares((int)n, (int)n, K, b, 1e-13);
        if (rank < 0) status = rank == -1 ? DAE_ERR_MEMORY : DAE_ERR_SINGULAR;
        memcpy(w, b, nv * sizeof *w);
        for (size_t i = 0; i < nv; i++) response += r[i] * w[i];
        if (!status && !(response > 0)) status = DAE_ERR_SINGULAR; /* the coordinate cannot move */
    }
    free(K);
    free(b);
    free(G);
    return status;
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
