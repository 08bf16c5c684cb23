/* Random states and differences for tests of mechanisms. */
#ifndef DAE_TESTS_MECHANICS_H
#define DAE_TESTS_MECHANICS_H

#include "test.h"

#include <daedalus/daedalus.h>

static unsigned long long mechanics_seed = 5;

static inline double random_number(void) /* -1 .. 1 */
{
    mechanics_seed = mechanics_seed * 6364136223846793005ULL + 1442695040888963407ULL;
    return (double)(mechanics_seed >> 11) / 4503599627370496.0 - 1;
}

static inline mbs_mechanism *compile(mbs_model *m)
{
    dae_error err = {0};
    mbs_mechanism *c = mbs_mechanism_create(m, &err);
    if (!c) fail_msg("%s", err.text);
    mbs_model_destroy(m);
    return c;
}

static inline void random_state(const dae_mech *s, double *y)
{
    int n = s->np + s->nv + s->nu;
    for (int i = 0; i < n; i++) y[i] = random_number();
    for (int k = 0; k < s->nquaternion; k++) {
        double *e = y + s->quaternion[k], sum = 0;
        for (int i = 0; i < 4; i++) sum += e[i] * e[i];
        for (int i = 0; i < 4; i++) e[i] /= sqrt(sum);
    }
}

/* p + h T v */
static inline void flow(const dae_mech *s, double t, const double *p, const double *v, double h, double *out)
{
    double *d = calloc((size_t)s->np, sizeof *d);
    dae_mech_point x = {.t = t, .p = p, .v = v};
    if (s->kinematics) s->kinematics(&x, d, s->user);
    else memcpy(d, v, (size_t)s->np * sizeof *d);
    for (int i = 0; i < s->np; i++) out[i] = p[i] + h * d[i];
    free(d);
}

/* G v + gI at (t, p) */
static inline void velocity_rows(const dae_mech *s, double t, const double *p, const double *v, double *out)
{
    size_t nl = (size_t)s->nlambda, nv = (size_t)s->nv;
    double *G = calloc(nl * nv + 1, sizeof *G), *gI = calloc(nl + 1, sizeof *gI);
    dae_mech_point x = {.t = t, .p = p};
    assert_int_equal(s->constraint(&x, NULL, G, s->user), 0);
    if (s->velocity) s->velocity(&x, gI, s->user);
    for (size_t i = 0; i < nl; i++) {
        out[i] = gI[i];
        for (size_t c = 0; c < nv; c++) out[i] += G[c * nl + i] * v[c];
    }
    free(G);
    free(gI);
}

/* dg/dt = G v + gI for the holonomic rows, d/dt (G v + gI) = gamma for all, the sparse form of G, and the derivative of
 * G^T lambda. */
static inline void check_rows(const mbs_mechanism *c, const char *what, const double *y, double tol)
{
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    size_t nl = (size_t)s->nlambda, np = (size_t)s->np, nv = (size_t)s->nv;
    const double *p = y, *v = y + np, h = 1e-5, t = 0.3;
    double *q = calloc(np, sizeof *q), *up = calloc(nl, sizeof *up), *down = calloc(nl, sizeof *down);
    double *rate = calloc(nl, sizeof *rate), *gamma = calloc(nl, sizeof *gamma);
    dae_mech_point x = {.t = t, .p = p, .v = v}, moved = {.t = t + h, .p = q};
    velocity_rows(s, t, p, v, rate);
    flow(s, t, p, v, h, q);
    s->constraint(&moved, up, NULL, s->user);
    moved.t = t - h;
    flow(s, t, p, v, -h, q);
    s->constraint(&moved, down, NULL, s->user);
    for (int i = 0; i < s->ng; i++) {
        double d = (up[i] - down[i]) / (2 * h);
        if (fabs(d - rate[i]) > tol)
            fail_msg("%s row %d: G v + gI = %.10g, differences %.10g", what, i, rate[i], d);
    }
    s->gamma(&x, gamma, s->user);
    flow(s, t, p, v, h, q);
    velocity_rows(s, t + h, q, v, up);
    flow(s, t, p, v, -h, q);
    velocity_rows(s, t - h, q, v, down);
    for (size_t i = 0; i < nl; i++) {
        double d = (up[i] - down[i]) / (2 * h);
        if (fabs(d - gamma[i]) > tol)
            fail_msg("%s row %zu: gamma = %.10g, differences %.10g", what, i, gamma[i], d);
    }
    double *G = calloc(nl * nv, sizeof *G), *sparse = calloc((size_t)s->G_colptr[nv] + 1, sizeof *sparse);
    s->constraint(&x, NULL, G, s->user);
    s->constraint_sparse(&x, NULL, sparse, s->user);
    for (size_t j = 0; j < nv; j++) {
        for (int k = s->G_colptr[j]; k < s->G_colptr[j + 1]; k++)
            G[j * nl + (size_t)s->G_rowind[k]] -= sparse[k];
    }
    for (size_t k = 0; k < nl * nv; k++) assert_near(G[k], 0, 1e-14);
    double *lambda = calloc(nl, sizeof *lambda), *K = calloc(nv * np, sizeof *K);
    for (size_t i = 0; i < nl; i++) lambda[i] = random_number();
    assert_int_equal(mbs_mechanism_constraint_stiffness(c, t, y, lambda, K), DAE_OK);
    memcpy(q, p, np * sizeof *q);
    moved.t = t;
    for (size_t j = 0; j < np; j++) {
        double *F[2] = {calloc(nv, sizeof(double)), calloc(nv, sizeof(double))};
        for (int side = 0; side < 2; side++) {
            q[j] = p[j] + (side ? h : -h);
            memset(G, 0, nl * nv * sizeof *G);
            s->constraint(&moved, NULL, G, s->user);
            for (size_t r = 0; r < nv; r++) {
                for (size_t i = 0; i < nl; i++) F[side][r] += G[r * nl + i] * lambda[i];
            }
        }
        q[j] = p[j];
        for (size_t r = 0; r < nv; r++) {
            double d = (F[1][r] - F[0][r]) / (2 * h);
            if (fabs(d - K[j * nv + r]) > tol)
                fail_msg("%s: d(G^T lambda)[%zu]/dp[%zu] = %.10g, differences %.10g", what, r, j,
                         K[j * nv + r], d);
        }
        free(F[0]);
        free(F[1]);
    }
    free(q), free(up), free(down), free(rate), free(gamma), free(G), free(sparse), free(lambda), free(K);
}

/* df/dp, df/dv, df/dlambda, df/dt by differences. */
static inline void check_forces(const mbs_mechanism *c, const char *what, double *y, double tol)
{
    const dae_mech *s = &mbs_mechanism_system(c)->mech;
    size_t nl = (size_t)s->nlambda, np = (size_t)s->np, nv = (size_t)s->nv;
    double *lambda = calloc(nl + 1, sizeof *lambda), *J = calloc(nv * (np + nl), sizeof *J);
    double *up = calloc(nv, sizeof *up), *down = calloc(nv, sizeof *down);
    for (size_t i = 0; i < nl; i++) lambda[i] = random_number();
    dae_mech_point x = {.t = 0.3, .p = y, .v = y + np, .u = y + np + nv, .lambda = lambda};
    struct {
        dae_mech_fn *fn;
        double *variable;
        size_t count;
        const char *name;
    } list[] = {{s->dfdp, y, np, "p"},
                {s->dfdv, y + np, nv, "v"},
                {s->dfdlambda, lambda, s->dfdlambda ? nl : 0, "lambda"},
                {s->dfdt, &x.t, 1, "t"}};
    for (int k = 0; k < 4; k++) {
        if (!list[k].count) continue;
        list[k].fn(&x, J, s->user);
        for (size_t j = 0; j < list[k].count; j++) {
            double h = 1e-6, keep = list[k].variable[j];
            list[k].variable[j] = keep + h;
            s->force(&x, up, s->user);
            list[k].variable[j] = keep - h;
            s->force(&x, down, s->user);
            list[k].variable[j] = keep;
            for (size_t r = 0; r < nv; r++) {
                double d = (up[r] - down[r]) / (2 * h);
                if (fabs(d - J[j * nv + r]) > tol * (1 + fabs(d)))
                    fail_msg("%s: df[%zu]/d%s[%zu] = %.10g, differences %.10g", what, r, list[k].name, j,
                             J[j * nv + r], d);
            }
        }
    }
    free(lambda), free(J), free(up), free(down);
}

#endif
