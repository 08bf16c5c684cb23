/* Static equilibrium, kinematics of driven mechanisms, small motions about a state. */
#include "multibody/analyses.h"

#include "linalg/eigenvalues.h"
#include "linalg/least_squares.h"
#include "linalg/null_space.h"
#include "multibody/rest.h"

#include <stdlib.h>
#include <string.h>

/* ---- Kinematics -------------------------------------------------------------------------------------- */

dae_status mbs_mechanism_kinematics(const mbs_mechanism *m, double t, double *y, dae_error *err)
{
    if (m->nv != m->nlambda)
        return dae_fail(
            err, DAE_ERR_INPUT, t,
            "the mechanism has %d degree%s of freedom that no driver moves: kinematics needs none",
            m->nv - m->nlambda, m->nv - m->nlambda == 1 ? "" : "s");
    return mbs_assemble(m, t, y, NULL, err);
}

/* ---- Equilibrium --------------------------------------------------------------------------------------- */

enum { max_newton = 300 };
#define BALANCED 1e-10   /* of forces, relative to their size; ours */
#define LARGEST_TURN 0.2 /* of one Newton step, m and rad; ours */
#define STABLE 1e-9      /* stiffness relative to the largest that still counts as one; ours */
#define NUDGE 1e-5       /* m and rad: displacement for differences; ours */

typedef struct rest {
    const mbs_mechanism *m;
    double t;
    double *work; /* all arrays */
    double *y, *f, *lambda, *g, *G, *J, *A, *b;
    double *r;             /* f - G^T lambda: what moves the bodies */
    double *basis, *N, *K; /* free directions, stiffness along them */
    double *d, *trial;
    double *at, *up, *down; /* a state, forces on both sides: differences by way of u */
    double *D, *rate;       /* nu*nu and nu: derivatives and values of u' */
    mbs_turning turning;    /* all bodies turn together; W = 0: they rest */
    int downhill;           /* 0: any balance will do, also an unstable one */
    const mbs_watch *watch; /* NULL: nobody looks on */
    int starved;            /* 1: memory ran out */
} rest;

static int least_squares(rest *x, int m, int n, double *a, double *b, double rcond)
{
    int rank = dae_least_squares(m, n, a, b, rcond);
    if (rank == -1) x->starved = 1;
    return rank;
}

/* The variables u of motors and the like in y take the values at which they rest. Newton's method; where it finds none they stay. */
static void settle(rest *x, double *y)
{
    const mbs_mechanism *m = x->m;
    const dae_mech *s = &m->system.mech;
    size_t nu = (size_t)m->nu;
    double *u = y + m->np + m->nv, *base = x->rate, *moved = base + nu, *start = moved + nu, size = 1;
    dae_mech_point at = {.t = x->t, .p = y, .v = y + m->np, .u = u, .lambda = x->lambda};
    if (!nu) return;
    memcpy(start, u, nu * sizeof *u);
    for (int k = 0; k < 8; k++) { /* u' is linear in u for motors: one step, one to see it */
        double largest = 0;
        if (s->dynamics(&at, base, s->user)) break;
        for (size_t i = 0; i < nu; i++) largest = fmax(largest, fabs(base[i]));
        size = fmax(size, largest);
        if (largest <= 1e-12 * size) return;
        for (size_t j = 0; j < nu; j++) {
            double was = u[j], h = 1e-4 * fmax(1, fabs(was));
            u[j] = was + h;
            int bad = s->dynamics(&at, moved, s->user);
            u[j] = was;
            for (size_t i = 0; i < nu; i++) x->D[j * nu + i] = bad ? 0 : (moved[i] - base[i]) / h;
        }
        if (least_squares(x, (int)nu, (int)nu, x->D, base, 1e-12) < 0) break;
        for (size_t i = 0; i < nu; i++) u[i] -= base[i];
    }
    memcpy(u, start, nu * sizeof *u);
}

/* Velocities of bodies that turn together: v = W x (r - c), w = A^T W; without W they rest. */
static void set_velocities(const rest *x, double *y)
{
    const mbs_mechanism *m = x->m;
    const double *W = x->turning.W;
    double *v = y + m->np;
    memset(v, 0, (size_t)m->nv * sizeof *v);
    if (mbs_dot(W, W) == 0) return;
    mbs_context c = mbs_begin(m, x->t, y, v);
    for (int b = 1; b <= m->nbody; b++, v += m->bv) {
        double d[3], n[3], w[3];
        for (int i = 0; i < 3; i++) d[i] = c.pose[b].r[i] - x->turning.center[i];
        mbs_cross(W, d, n);
        mbs_rotate_back(c.pose[b].A, W, w);
        for (int i = 0; i < 3; i++) {
            if (!m->planar) v[i] = n[i], v[3 + i] = w[i];
            else v[i] = i < 2 ? n[i] : W[2];
        }
    }
    mbs_end(&c);
}

/* f -= M v' of bodies that turn together: v' = W x (W x (r - c)), w' = 0 in their own axes. */
static void add_centrifugal(const rest *x, double *f)
{
    const mbs_mechanism *m = x->m;
    const double *W = x->turning.W, *v = x->y + m->np;
    if (mbs_dot(W, W) == 0) return;
    for (int b = 0; b < m->nbody; b++, f += m->bv, v += m->bv) {
        double u[3] = {v[0], v[1], m->planar ? 0 : v[2]}, a[3];
        mbs_cross(W, u, a);
        for (int i = 0; i < (m->planar ? 2 : 3); i++) f[i] -= m->mass[b] * a[i];
    }
}

/* Its derivative by small motions: -m W x (W x dr); and that of the gyroscopic torque -w x I w, with dw = w x dphi in body axes. */
static void add_centrifugal_stiffness(const rest *x, double *J)
{
    const mbs_mechanism *m = x->m;
    const double *W = x->turning.W;
    size_t nv = (size_t)m->nv;
    int n = m->bv;
    if (mbs_dot(W, W) == 0) return;
    for (int b = 0; b < m->nbody; b++) {
        const double *w = x->y + m->np + b * n + 3, *I = m->inertia + 9 * b;
        for (int c = 0; c < n && !(m->planar && c == 2); c++) {
            double e[3] = {0, 0, 0}, d1[3], out[3], L[3], dL[3], second[3];
            e[c % 3] = 1;
            if (c < 3) {
                mbs_cross(W, e, d1);
                mbs_cross(W, d1, out);
                for (int i = 0; i < 3; i++) out[i] *= m->mass[b];
            } else {
                mbs_cross(w, e, d1);
                mbs_rotate(I, w, L);
                mbs_rotate(I, d1, dL);
                mbs_cross(d1, L, out);
                mbs_cross(w, dL, second);
                for (int i = 0; i < 3; i++) out[i] += second[i];
            }
            for (int i = 0; i < (m->planar ? 2 : 3); i++)
                J[(size_t)(b * n + (c < 3 ? 0 : 3) + i) * nv + (size_t)(b * n + c)] -= out[i];
        }
    }
}

/* f(p, v) less the inertia and G, g; returns the size of f - G^T lambda relative to |f| + 1, with the best lambda. */
static double imbalance(rest *x)
{
    const mbs_mechanism *m = x->m;
    const dae_mech *s = &m->system.mech;
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda;
    settle(x, x->y);
    dae_mech_point at = {
        .t = x->t, .p = x->y, .v = x->y + m->np, .u = x->y + m->np + m->nv, .lambda = x->lambda};
    s->force(&at, x->f, s->user);
    add_centrifugal(x, x->f);
    memset(x->G, 0, nl * nv * sizeof *x->G);
    if (nl) s->constraint(&at, x->g, x->G, s->user);
    double worst = 0, size = 1;
    if (nl) { /* least squares G^T lambda = f */
        for (size_t c = 0; c < nv; c++) {
            for (size_t r = 0; r < nl; r++) x->A[r * nv + c] = x->G[c * nl + r];
        }
        memcpy(x->b, x->f, nv * sizeof *x->b);
        if (least_squares(x, (int)nv, (int)nl, x->A, x->b, 1e-12) < 0) return INFINITY;
        memcpy(x->lambda, x->b, nl * sizeof *x->lambda);
    }
    for (size_t c = 0; c < nv; c++) {
        double r = x->f[c];
        size = fmax(size, fabs(r));
        for (size_t i = 0; i < nl; i++) r -= x->G[c * nl + i] * x->lambda[i];
        x->r[c] = r;
        worst = fmax(worst, fabs(r));
    }
    return worst / size;
}

/* The smallest eigenvalue of the symmetric part of K (n*n); *largest: the size of K. A: n*n, b: 2n for work. */
static double least_stiffness(int n, const double *K, double *A, double *b, double *largest, int *starved)
{
    double least = INFINITY;
    *largest = 0;
    for (int c = 0; c < n; c++) {
        for (int r = 0; r < n; r++) {
            A[c * n + r] = (K[c * n + r] + K[r * n + c]) / 2;
            *largest = fmax(*largest, fabs(K[c * n + r]));
        }
    }
    int bad = dae_eigenvalues(n, A, b, b + n);
    if (bad <= DAE_EIGENVALUES_NO_MEMORY) *starved = 1;
    if (bad) return -*largest;
    for (int i = 0; i < n; i++) least = fmin(least, b[i]);
    return least;
}

/* Adds to J what positions do to the forces by way of u: a controller's motor holds its joint like a spring. */
static void add_stiffness_of_motors(rest *x)
{
    const mbs_mechanism *m = x->m;
    const dae_mech *s = &m->system.mech;
    size_t nv = (size_t)m->nv, all = (size_t)(m->np + m->nv + m->nu);
    for (size_t c = 0; m->nu && c < nv; c++) {
        memset(x->d, 0, nv * sizeof *x->d);
        x->d[c] = 1;
        for (int side = 0; side < 2; side++) {
            double *u = x->at + m->np + m->nv, *out = side ? x->down : x->up;
            memcpy(x->at, x->y, all * sizeof *x->at);
            mbs_move(m, x->d, side ? -NUDGE : NUDGE, x->at);
            settle(x, x->at);
            dae_mech_point at = {.t = x->t, .p = x->y, .v = x->y + m->np, .u = u, .lambda = x->lambda};
            s->force(&at, out, s->user);
        }
        for (size_t r = 0; r < nv; r++) x->J[r * nv + c] += (x->up[r] - x->down[r]) / (2 * NUDGE);
    }
}

/* Newton's step N (K + mu I)^-1 N^T r in the free directions N. Downhill, where the stiffness K is not positive, mu makes it so:
 * the step goes away from unstable poses. 0: fine. */
static int newton_step(rest *x)
{
    const mbs_mechanism *m = x->m;
    size_t nv = (size_t)m->nv;
    mbs_force_stiffness(m, x->t, x->y, x->lambda, x->J);
    add_stiffness_of_motors(x);
    add_centrifugal_stiffness(x, x->J);
    int nf = dae_null_space(m->nv, m->nlambda, m->nlambda, x->G, x->basis, x->N);
    size_t n = (size_t)nf;
    double length = 0, largest;
    memset(x->d, 0, nv * sizeof *x->d);
    if (!nf) return -1;
    for (size_t k = 0; k < n; k++) {
        for (size_t r = 0; r < nv; r++) { /* J n_k, rows of J */
            x->A[r] = 0;
            for (size_t c = 0; c < nv; c++) x->A[r] += x->J[r * nv + c] * x->N[k * nv + c];
        }
        for (size_t i = 0; i < n; i++) {
            x->K[k * n + i] = 0;
            for (size_t r = 0; r < nv; r++) x->K[k * n + i] -= x->N[i * nv + r] * x->A[r];
        }
    }
    double least = least_stiffness(nf, x->K, x->A, x->b, &largest, &x->starved);
    for (size_t i = 0; i < n; i++) {
        x->b[i] = 0;
        for (size_t r = 0; r < nv; r++) x->b[i] += x->N[i * nv + r] * x->r[r];
        length += x->b[i] * x->b[i];
    }
    memcpy(x->A, x->K, n * n * sizeof *x->A);
    if (x->downhill && !(least > STABLE * largest)) {
        for (size_t i = 0; i < n; i++) x->A[i * n + i] += fmax(0, -least) + sqrt(length) / LARGEST_TURN;
    }
    if (least_squares(x, nf, nf, x->A, x->b, x->downhill ? 1e-14 : STABLE) < 0) return -1;
    for (size_t k = 0; k < n; k++) {
        for (size_t c = 0; c < nv; c++) x->d[c] += x->b[k] * x->N[k * nv + c];
    }
    return 0;
}

static double along(const rest *x)
{
    double work = 0;
    for (int c = 0; c < x->m->nv; c++) work += x->d[c] * x->r[c];
    return work;
}

/* Steps that lower the imbalance or go on downhill: at their end the forces still push forward, or little back. */
static double relax(rest *x)
{
    const mbs_mechanism *m = x->m;
    size_t n = (size_t)(m->np + m->nv + m->nu);
    double off = imbalance(x);
    for (int k = 0; k < max_newton && off > BALANCED; k++) {
        double largest = 0, factor = 1, best = off;
        if (newton_step(x)) break;
        for (int c = 0; c < m->nv; c++) largest = fmax(largest, fabs(x->d[c]));
        if (!isfinite(largest)) break;
        if (largest > LARGEST_TURN) factor = LARGEST_TURN / largest;
        double before = along(x);
        memcpy(x->trial, x->y, n * sizeof *x->trial);
        for (int half = 0; half < 12; half++, factor /= 2) {
            memcpy(x->y, x->trial, n * sizeof *x->trial);
            mbs_move(m, x->d, factor, x->y);
            dae_status s = mbs_assemble(m, x->t, x->y, NULL, NULL);
            x->starved |= s == DAE_ERR_MEMORY;
            if (s == DAE_OK) {
                set_velocities(x, x->y);
                best = imbalance(x);
                if (best < off || (x->downhill && along(x) > -0.5 * before)) break;
            }
        }
        if (!x->downhill && !(best < off)) break;
        off = best;
        if (x->watch) x->watch->step(k + 1, off, x->watch->user);
    }
    return off;
}

/* Downhill from the pose in y; where that leads nowhere, to a balance near it that may be unstable. */
static dae_status find_rest(rest *x, double *start, dae_error *err)
{
    const mbs_mechanism *m = x->m;
    size_t all = (size_t)(m->np + m->nv + m->nu);
    double off[2] = {0, 0};
    memcpy(start, x->y, all * sizeof *start);
    for (int k = 0; k < 2; k++) {
        if (k) memcpy(x->y, start, all * sizeof *start);
        x->downhill = k == 0;
        if (k == 0 && mbs_dot(x->turning.W, x->turning.W) == 0 && mbs_rest_takes(m)) {
            x->starved = mbs_rest_downhill(m, x->t, BALANCED, x->watch, x->y, &off[k]) == DAE_ERR_MEMORY;
            if (!x->starved && off[k] > 1e3 * BALANCED)
                memcpy(x->y, start, all * sizeof *start), off[k] = relax(x);
        } else off[k] = relax(x);
        if (x->starved) return dae_fail(err, DAE_ERR_MEMORY, x->t, "out of memory");
        if (off[k] <= 1e3 * BALANCED) return DAE_OK;
    }
    int worst = 0;
    for (int c = 0; c < m->nv; c++) {
        if (fabs(x->r[c]) > fabs(x->r[worst])) worst = c;
    }
    return dae_fail(
        err, DAE_ERR_CONVERGENCE, x->t,
        "no equilibrium was found: downhill the forces stay out of balance by %.2g of their size, near the "
        "start by %.2g, where body "
        "%s is pushed with %.3g (N or N m) that nothing takes up; hold it, or start nearer to a rest",
        off[0], off[1], mbs_mechanism_body_name(m, 1 + worst / m->bv), fabs(x->r[worst]));
}

static dae_status rest_begin(rest *x, const mbs_mechanism *m, double t, dae_error *err)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, n = nv + nl, all = (size_t)(m->np + m->nv + m->nu);
    *x = (rest){.m = m, .t = t};
    if (!m->system.mech.dfdp)
        return dae_fail(err, DAE_ERR_UNSUPPORTED, t, "equilibrium: the mechanism is too large");
    size_t square = nl * nv + n * nv + (4 * nv + 2) * nv;
    size_t nu = (size_t)m->nu;
    x->work = calloc(5 * nv + 2 * nl + square + 2 * n + 3 * all + nu * nu + 3 * nu + 8, sizeof *x->work);
    if (!x->work) return dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    x->f = x->work;
    x->r = x->f + nv;
    x->d = x->r + nv;
    x->lambda = x->d + nv;
    x->g = x->lambda + nl;
    x->G = x->g + nl;
    x->J = x->G + nl * nv;
    x->A = x->J + nv * nv; /* nv*nl or nf*nf */
    x->b = x->A + n * nv;
    x->basis = x->b + 2 * n;
    x->N = x->basis + (nv + 1) * nv;
    x->K = x->N + nv * nv;
    x->trial = x->K + nv * nv;
    x->at = x->trial + 2 * all; /* behind trial: the start of a search */
    x->up = x->at + all;
    x->down = x->up + nv;
    x->D = x->down + nv;
    x->rate = x->D + nu * nu;
    return DAE_OK;
}

dae_status mbs_find_equilibrium(const mbs_mechanism *m, const mbs_turning *turning, const mbs_watch *watch,
                                double t, double *y, dae_error *err)
{
    rest x;
    dae_status s = rest_begin(&x, m, t, err);
    if (s) return s;
    x.y = y;
    x.watch = watch;
    if (turning) x.turning = *turning;
    memset(y + m->np, 0, (size_t)m->nv * sizeof *y);
    s = mbs_assemble(m, t, y, NULL, err);
    set_velocities(&x, y);
    if (!s) s = find_rest(&x, x.trial + m->np + m->nv + m->nu, err);
    free(x.work);
    return s;
}

dae_status mbs_find_multipliers(const mbs_mechanism *m, const mbs_turning *turning, double t, const double *y,
                                double *lambda, dae_error *err)
{
    rest x;
    dae_status s = rest_begin(&x, m, t, err);
    if (s) return s;
    x.y = x.trial;
    if (turning) x.turning = *turning;
    memcpy(x.y, y, (size_t)(m->np + m->nv + m->nu) * sizeof *y);
    set_velocities(&x, x.y);
    double off = imbalance(&x);
    if (x.starved) s = dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    else if (!(off <= 1e3 * BALANCED))
        s = dae_fail(err, DAE_ERR_INPUT, t, "no equilibrium: forces are out of balance by %.2g of their size",
                     off);
    memcpy(lambda, x.lambda, (size_t)m->nlambda * sizeof *lambda);
    free(x.work);
    return s;
}

dae_status mbs_mechanism_equilibrium(const mbs_mechanism *m, double t, double *y, dae_error *err)
{
    return mbs_find_equilibrium(m, NULL, NULL, t, y, err);
}

dae_status mbs_mechanism_static_multipliers(const mbs_mechanism *m, double t, const double *y, double *lambda,
                                            dae_error *err)
{
    return mbs_find_multipliers(m, NULL, t, y, lambda, err);
}

/* ---- Small motions -------------------------------------------------------------------------------------
 *
 * About a motion y(t) a neighbor is told by small translations dr and rotations dphi of the bodies and by the changes dv, dw of
 * their velocities, all in global axes. With the angular velocity w of a body
 *     dr' = dv,   dphi' = dw + w x dphi,   dv' and dw': the change of the accelerations at fixed v and w,
 * which are exact for spinning bodies: gyroscopic and centrifugal terms are in the change of the accelerations. In a frame that
 * turns with W all four lose W x their own. The coefficients are constant where the motion is steady: at rest; for bodies that
 * spin about an axis of symmetry (W = 0); where everything turns together (W = w). The first frame of these in which they
 * do not change along the motion is taken; if there is none they are those of the moment. */

#define DISTURBANCE 1e-5 /* m, rad, m/s, rad/s; relative to a speed above 1; ours */
#define AHEAD 0.05       /* rad that the fastest body turns between two looks at the coefficients; ours */
#define STEADY 1e-5      /* change of coefficients, relative to the largest; ours */

typedef struct small {
    const mbs_mechanism *m;
    double t;
    const double *y;
    double W[3]; /* of the frame */
    int np, nv;  /* independent positions and velocities */
    double *P, *V;
    double *z, *a, *lambda, *d, *rate;
} small;

/* x' of all bodies from global axes to body axes (back: the other way), rotations only, poses of y. */
static void turn(const mbs_mechanism *m, const double *y, int back, double *x)
{
    mbs_context c = mbs_begin(m, 0, y, y + m->np);
    for (int b = 1; b <= m->nbody && !m->planar; b++) {
        double *w = x + (b - 1) * m->bv + 3, old[3] = {w[0], w[1], w[2]};
        if (back) mbs_rotate(c.pose[b].A, old, w);
        else mbs_rotate_back(c.pose[b].A, old, w);
    }
    mbs_end(&c);
}

/* out -= W x x, translations and rotations of all bodies. */
static void less_turned(const mbs_mechanism *m, const double *W, const double *x, double *out)
{
    for (int b = 0; b < m->nbody; b++, x += m->bv, out += m->bv) {
        if (m->planar) {
            out[0] += W[2] * x[1];
            out[1] -= W[2] * x[0];
            continue;
        }
        for (int part = 0; part < 6; part += 3) {
            double n[3];
            mbs_cross(W, x + part, n);
            for (int i = 0; i < 3; i++) out[part + i] -= n[i];
        }
    }
}

/* Rates of (positions, velocities, u) when coordinate k is moved by h. */
static dae_status rates(small *s, int k, double h, double *out, dae_error *err)
{
    const mbs_mechanism *m = s->m;
    size_t nv = (size_t)m->nv, all = (size_t)m->np + nv + (size_t)m->nu;
    double *moved = s->d, *v = s->z + m->np, *w = s->rate;
    memcpy(s->z, s->y, all * sizeof *s->z);
    memcpy(w, s->y + m->np, nv * sizeof *w);
    turn(m, s->y, 1, w); /* velocities in global axes */
    memset(moved, 0, nv * sizeof *moved);
    if (k < s->np) {
        for (size_t c = 0; c < nv; c++) moved[c] = h * s->P[(size_t)k * nv + c];
        memcpy(v, moved, nv * sizeof *v);
        turn(m, s->y, 0, v);
        mbs_move(m, v, 1, s->z);
        memcpy(v, w, nv * sizeof *v);
    } else {
        memcpy(v, w, nv * sizeof *v);
        for (size_t c = 0; c < nv && k < s->np + s->nv; c++) v[c] += h * s->V[(size_t)(k - s->np) * nv + c];
        if (k >= s->np + s->nv) s->z[m->np + m->nv + k - s->np - s->nv] += h;
    }
    turn(m, s->z, 0, v);
    dae_status status = mbs_assemble(m, s->t, s->z, NULL, err);
    if (!status) status = mbs_mechanism_acceleration(m, s->t, s->z, s->a, s->lambda, err);
    dae_mech_point x = {.t = s->t, .p = s->z, .v = v, .u = v + m->nv, .lambda = s->lambda};
    if (m->nu) m->system.mech.dynamics(&x, out + s->np + s->nv, m->system.mech.user);
    turn(m, s->z, 1, v);
    turn(m, s->z, 1, s->a);
    less_turned(m, s->W, v, s->a);
    for (int b = 0; b < m->nbody && !m->planar; b++) { /* w x dphi; w is that of y */
        double n[3];
        mbs_cross(w + b * m->bv + 3, moved + b * m->bv + 3, n);
        for (int i = 0; i < 3; i++) v[b * m->bv + 3 + i] += n[i];
    }
    less_turned(m, s->W, moved, v);
    for (int i = 0; i < s->np + s->nv; i++) {
        const double *base = i < s->np ? s->P + (size_t)i * nv : s->V + (size_t)(i - s->np) * nv;
        const double *from = i < s->np ? v : s->a;
        out[i] = 0;
        for (size_t c = 0; c < nv; c++) out[i] += base[c] * from[c];
    }
    return status;
}

/* The coefficients A (n x n, n = np + nv + nu) at s->y. */
static dae_status linearize(small *s, double *A, double *up, double *down, dae_error *err)
{
    int n = s->np + s->nv + s->m->nu;
    double speed = 1;
    for (int c = 0; c < s->m->nv; c++) speed = fmax(speed, fabs(s->y[s->m->np + c]));
    for (int k = 0; k < n; k++) {
        double h = DISTURBANCE * (k >= s->np && k < s->np + s->nv ? speed : 1);
        dae_status status = rates(s, k, h, up, err);
        if (!status) status = rates(s, k, -h, down, err);
        if (status) return status;
        for (int i = 0; i < n; i++) A[k * n + i] = (up[i] - down[i]) / (2 * h);
    }
    return DAE_OK;
}

/* Directions that the constraints leave at y, in global axes. */
static void directions(small *s, double *G, double *basis)
{
    const mbs_mechanism *m = s->m;
    int nl = m->nlambda;
    dae_mech_point x = {.t = s->t, .p = s->y};
    if (nl) {
        memset(G, 0, (size_t)nl * (size_t)m->nv * sizeof *G);
        m->system.mech.constraint(&x, NULL, G, m->system.mech.user);
    }
    for (int i = 0; i < nl; i++) {
        for (int c = 0; c < m->nv; c++) s->d[c] = G[(size_t)c * (size_t)nl + (size_t)i];
        turn(m, s->y, 1, s->d);
        for (int c = 0; c < m->nv; c++) G[(size_t)c * (size_t)nl + (size_t)i] = s->d[c];
    }
    s->np = dae_null_space(m->nv, nl, m->ng, G, basis, s->P);
    s->nv = dae_null_space(m->nv, nl, nl, G, basis, s->V);
}

/* The angular velocity of the body that turns fastest. */
static double fastest(const mbs_mechanism *m, const double *y, double W[3])
{
    mbs_context c = mbs_begin(m, 0, y, y + m->np);
    double most = 0;
    W[0] = W[1] = W[2] = 0;
    for (int b = 1; b <= m->nbody; b++) {
        if (!(mbs_norm(c.pose[b].w) > most)) continue;
        most = mbs_norm(c.pose[b].w);
        mbs_rotate(c.pose[b].A, c.pose[b].w, W);
    }
    mbs_end(&c);
    return most;
}

/* The axis of a turning body is where its points do not move: c = r + W x v/W^2. */
dae_status mbs_turning_of(const mbs_mechanism *m, double t, const double *y, mbs_turning *turning,
                          dae_error *err)
{
    double most = fastest(m, y, turning->W);
    if (!(most > 0))
        return dae_fail(err, DAE_ERR_INPUT, t,
                        "nothing turns at the start: give a joint a driver or an initial speed");
    mbs_context c = mbs_begin(m, t, y, y + m->np);
    for (int b = 1; b <= m->nbody; b++) {
        double n[3];
        if (mbs_norm(c.pose[b].w) < most) continue;
        mbs_cross(turning->W, c.pose[b].v, n);
        for (int i = 0; i < 3; i++) turning->center[i] = c.pose[b].r[i] + n[i] / (most * most);
        break;
    }
    mbs_end(&c);
    return DAE_OK;
}

/* All directions turned by the rotation vector r. */
static void turn_directions(small *s, const double r[3])
{
    double angle = mbs_norm(r), c = cos(angle), f = angle > 0 ? sin(angle) / angle : 1,
           g = angle > 0 ? (1 - c) / (angle * angle) : 0.5;
    int bv = s->m->bv, step = s->m->planar ? bv : 3;
    for (int which = 0; which < 2; which++) {
        double *x = which ? s->V : s->P;
        for (int i = 0; i < (which ? s->nv : s->np) * s->m->nv; i += step) {
            double o[3] = {x[i], x[i + 1], s->m->planar ? 0 : x[i + 2]}, n[3];
            mbs_cross(r, o, n);
            double dot = mbs_dot(r, o);
            for (int j = 0; j < (s->m->planar ? 2 : 3); j++) x[i + j] = c * o[j] + f * n[j] + g * dot * r[j];
        }
    }
}

/* How much the coefficients A change while the motion goes from s->y on to `later`, after time dt; INFINITY: that is not known, and
 * *status why. */
static double change_of(small *s, const double *A, const double *later, double dt, double *B, double *up,
                        double *down, dae_status *status)
{
    int n = s->np + s->nv + s->m->nu;
    const double *now = s->y;
    double r[3] = {s->W[0] * dt, s->W[1] * dt, s->W[2] * dt}, back[3] = {-r[0], -r[1], -r[2]}, most = 0,
           off = 0;
    s->y = later;
    s->t += dt;
    turn_directions(s, r);
    *status = linearize(s, B, up, down, NULL);
    turn_directions(s, back);
    s->t -= dt;
    s->y = now;
    for (int i = 0; i < n * n; i++) {
        most = fmax(most, fabs(A[i]));
        off = fmax(off, fabs(A[i] - B[i]));
    }
    return *status || !(most > 0) ? INFINITY : off / most;
}

/* The frame in which the coefficients do not change; A: those in it. */
static dae_status steady_frame(small *s, double *A, double *B, double *up, double *down, dae_error *err)
{
    const mbs_mechanism *m = s->m;
    double W[3], turning = fastest(m, s->y, W), dt = AHEAD / turning;
    dae_status status = linearize(s, A, up, down, err);
    if (status || !(turning > 0)) return status;
    size_t all = (size_t)(m->np + m->nv + m->nu);
    double *later = malloc(all * sizeof *later);
    if (!later) return dae_fail(err, DAE_ERR_MEMORY, s->t, "out of memory");
    dae_options opt = dae_options_default();
    opt.rtol = opt.atol = 1e-11;
    memcpy(later, s->y, all * sizeof *later);
    dae_status seen = dae_solve(&m->system, &opt, s->t, s->t + dt, later, NULL, NULL);
    if (seen == DAE_OK && change_of(s, A, later, dt, B, up, down, &seen) > STEADY && seen != DAE_ERR_MEMORY) {
        memcpy(s->W, W, sizeof W);
        status = linearize(s, A, up, down, err);
        if (!status && change_of(s, A, later, dt, B, up, down, &seen) > STEADY) {
            memset(s->W, 0, sizeof s->W);
            status = linearize(s, A, up, down, err);
        }
    }
    free(later);
    return seen == DAE_ERR_MEMORY ? dae_fail(err, DAE_ERR_MEMORY, s->t, "out of memory") : status;
}

dae_status mbs_mechanism_eigenvalues(const mbs_mechanism *m, double t, const double *y, double *re,
                                     double *im, int *size, dae_error *err)
{
    size_t nv = (size_t)m->nv, nl = (size_t)m->nlambda, all = (size_t)(m->np + m->nv + m->nu),
           most = 2 * nv + (size_t)m->nu;
    double *work =
        calloc(nl * nv + (nv + 1) * nv + 2 * nv * nv + 3 * nv + nl + all + 2 * most * most + 2 * most + 8,
               sizeof *work);
    if (!work) return dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    double *G = work, *basis = G + nl * nv;
    small s = {.m = m, .t = t, .y = y, .P = basis + (nv + 1) * nv};
    s.V = s.P + nv * nv;
    s.a = s.V + nv * nv;
    s.d = s.a + nv;
    s.rate = s.d + nv;
    s.lambda = s.rate + nv;
    s.z = s.lambda + nl;
    double *A = s.z + all, *B = A + most * most, *up = B + most * most, *down = up + most;
    directions(&s, G, basis);
    *size = s.np + s.nv + m->nu;
    dae_status status = steady_frame(&s, A, B, up, down, err);
    int bad = status ? 0 : dae_eigenvalues(*size, A, re, im);
    if (bad <= DAE_EIGENVALUES_NO_MEMORY) status = dae_fail(err, DAE_ERR_MEMORY, t, "out of memory");
    else if (bad) status = dae_fail(err, DAE_ERR_CONVERGENCE, t, "the eigenvalues did not converge");
    free(work);
    return status;
}
