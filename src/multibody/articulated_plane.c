/* The recursion of articulated.c in the plane: velocities (x', y', omega), inertia [A b; b^T c] of six numbers. A turn
 * moves the center along Sw = (-w_y, w_x); zeta = -omega_parent^2 u + 2 omega_parent S sigma - omega^2 w. */
#include "multibody/joint_coordinates.h"

#include <string.h>

static void place(const mbs_tree *tree, const double *q, const double *s, int only_poses,
                  const mbs_pose *known, void *state, double *pool)
{
    static const double none[3];
    mbs_plane_state *all = state;
    memset(all, 0, sizeof *all);
    all->cosine = 1;
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        const mbs_plane_state *parent = &all[k->parent];
        mbs_plane_state *x = &all[n];
        const double *rate = s ? s + k->s : none;
        double *S = pool + k->pool, pc = parent->cosine, ps = parent->sine, u[2], sigma[2] = {0, 0};
        if (k->lone) { /* q = (r, angle), s = (r', omega) */
            if (only_poses) continue;
            x->c[0] = q[k->q], x->c[1] = q[k->q + 1];
            memset(x->p, 0, sizeof x->p);
            continue;
        }
        u[0] = pc * k->si[0] - ps * k->si[1];
        u[1] = ps * k->si[0] + pc * k->si[1];
        x->angle = parent->angle + k->offset;
        x->omega = parent->omega;
        if (k->hinge) {
            x->angle = known ? known[k->body].angle : x->angle + q[k->q];
            x->omega += rate[0];
        } else {
            k->motion->plane(k, parent, q + k->q, rate, x, u, sigma, S);
        }
        if (k->hinge && known) {
            x->cosine = known[k->body].A[0];
            x->sine = known[k->body].A[3];
        } else {
            x->cosine = cos(x->angle);
            x->sine = sin(x->angle);
        }
        x->w[0] = -(x->cosine * k->sj[0] - x->sine * k->sj[1]);
        x->w[1] = -(x->sine * k->sj[0] + x->cosine * k->sj[1]);
        if (k->hinge) S[0] = -x->w[1], S[1] = x->w[0], S[2] = 1;
        double pp = parent->omega * parent->omega, oo = x->omega * x->omega;
        for (int i = 0; i < 2; i++) {
            x->c[i] = u[i] + x->w[i];
            x->zeta[i] = -pp * u[i] - oo * x->w[i];
        }
        x->zeta[0] -= 2 * parent->omega * sigma[1];
        x->zeta[1] += 2 * parent->omega * sigma[0];
        if (only_poses) continue;
        memset(x->I, 0, sizeof x->I);
        x->I[0] = x->I[2] = k->mass;
        x->I[5] = k->J[8];
        memset(x->p, 0, sizeof x->p);
    }
}

static inline double dot3(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* (F, n) -> (F, n + c x F) */
static inline void add_force(const double *p, const double *c, double *to)
{
    to[0] += p[0];
    to[1] += p[1];
    to[2] += p[2] + c[0] * p[1] - c[1] * p[0];
}

static inline void add_inertia(const double *I, const double *c, double *to)
{
    double x = c[0], y = c[1], n0 = I[3] + I[1] * x - I[0] * y, n1 = I[4] + I[2] * x - I[1] * y;
    to[0] += I[0];
    to[1] += I[1];
    to[2] += I[2];
    to[3] += n0;
    to[4] += n1;
    to[5] += I[5] + (x * I[4] - y * I[3]) + (x * n1 - y * n0);
}

static const unsigned char packed[9] = {0, 1, 3, 1, 2, 4, 3, 4, 5};

/* p -= U (S^T U)^-1 S^T p; the part of s' that does not depend on the parent is kept. */
static void release(const mbs_link *k, double *p, double *S)
{
    int dof = k->dof;
    double *U = S + 3 * dof, *rest = U + 3 * dof + dof * dof;
    for (int j = 0; j < dof; j++) rest[j] = -dot3(S + 3 * j, p);
    mbs_solve_joint(3, dof, S, rest);
    for (int j = 0; j < dof; j++) {
        for (int i = 0; i < 3; i++) p[i] += U[3 * j + i] * rest[j];
    }
}

/* s' = -(p/m, n/J) where the ground is at rest. */
static void release_lone(const mbs_link *k, const mbs_plane_state *x, double *rate)
{
    rate[0] = -x->p[0] / k->mass;
    rate[1] = -x->p[1] / k->mass;
    rate[2] = -x->p[2] * k->mobility[8];
}

static int eliminate(const mbs_tree *tree, void *state, double *pool)
{
    mbs_plane_state *all = state;
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        mbs_plane_state *x = &all[n], *parent = &all[k->parent];
        double *S = pool + k->pool, *U = S + 3, *I = x->I, *p = x->p;
        if (k->lone) {
            release_lone(k, x, S);
            continue;
        }
        if (k->dof == 1) {
            U[0] = I[0] * S[0] + I[1] * S[1] + I[3] * S[2];
            U[1] = I[1] * S[0] + I[2] * S[1] + I[4] * S[2];
            U[2] = I[3] * S[0] + I[4] * S[1] + I[5] * S[2];
            double d = dot3(S, U);
            if (!(d > 0)) return 1;
            U[3] = d = 1 / d;
            U[4] = -dot3(S, p) * d;
            I[0] -= U[0] * U[0] * d, I[1] -= U[0] * U[1] * d, I[2] -= U[1] * U[1] * d;
            I[3] -= U[0] * U[2] * d, I[4] -= U[1] * U[2] * d, I[5] -= U[2] * U[2] * d;
            for (int i = 0; i < 3; i++) p[i] += U[i] * U[4];
        } else if (k->dof) {
            double full[9];
            for (int i = 0; i < 9; i++) full[i] = I[packed[i]];
            if (mbs_eliminate_joint(3, k->dof, full, S)) return 1;
            release(k, p, S);
            for (int i = 0; i < 9; i++) I[packed[i]] = full[i];
        }
        p[0] += I[0] * x->zeta[0] + I[1] * x->zeta[1];
        p[1] += I[1] * x->zeta[0] + I[2] * x->zeta[1];
        p[2] += I[3] * x->zeta[0] + I[4] * x->zeta[1];
        add_inertia(I, x->c, parent->I);
        add_force(p, x->c, parent->p);
    }
    return 0;
}

static void reduce(const mbs_tree *tree, void *state, double *pool)
{
    mbs_plane_state *all = state;
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        if (k->lone) {
            release_lone(k, &all[n], pool + k->pool);
            continue;
        }
        release(k, all[n].p, pool + k->pool);
        add_force(all[n].p, all[n].c, all[k->parent].p);
    }
}

static void accelerate(const mbs_tree *tree, const double *base, void *state, const double *pool,
                       double *sdot)
{
    static const double none[3];
    mbs_plane_state *all = state;
    memcpy(all[0].p, base ? base : none, sizeof all[0].p);
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        mbs_plane_state *x = &all[n];
        const double *S = pool + k->pool, *a = all[k->parent].p, *zeta = base ? x->zeta : none;
        if (k->lone) { /* the ground does not turn */
            for (int i = 0; i < 3; i++) sdot[k->s + i] = i < 2 ? S[i] - a[i] : S[i];
            memcpy(x->p, S, sizeof x->p);
            continue;
        }
        double b[3] = {a[0] - a[2] * x->c[1] + zeta[0], a[1] + a[2] * x->c[0] + zeta[1], a[2]}, rate[3];
        int dof = k->dof;
        const double *U = S + 3 * dof, *rest = U + 3 * dof + dof * dof;
        if (dof == 1) {
            rate[0] = U[4] - dot3(U, b) * U[3];
            sdot[k->s] = rate[0];
            for (int i = 0; i < 3; i++) x->p[i] = b[i] + S[i] * rate[0];
            continue;
        }
        for (int j = 0; j < dof; j++) rate[j] = dot3(U + 3 * j, b);
        mbs_solve_joint(3, dof, S, rate);
        memcpy(x->p, b, sizeof b);
        for (int j = 0; j < dof; j++) {
            rate[j] = rest[j] - rate[j];
            sdot[k->s + j] = rate[j];
            for (int i = 0; i < 3; i++) x->p[i] += S[3 * j + i] * rate[j];
        }
    }
}

/* As in space; the accelerations take the place of the inertias, which are those of the bodies alone. */
static void torques(const mbs_tree *tree, const double *base, void *state, const double *pool,
                    const double *sdot, double *tau)
{
    mbs_plane_state *all = state;
    memcpy(all[0].I, base, 3 * sizeof *base);
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        mbs_plane_state *x = &all[n];
        const double *S = pool + k->pool, *parent = all[k->parent].I;
        double *a = x->I;
        if (k->lone) {
            for (int i = 0; i < 2; i++) tau[k->s + i] = x->p[i] + k->mass * (parent[i] + sdot[k->s + i]);
            tau[k->s + 2] = x->p[2] + k->J[8] * sdot[k->s + 2];
            continue;
        }
        a[0] = parent[0] - parent[2] * x->c[1] + x->zeta[0];
        a[1] = parent[1] + parent[2] * x->c[0] + x->zeta[1];
        a[2] = parent[2];
        for (int j = 0; j < k->dof; j++) {
            for (int i = 0; i < 3; i++) a[i] += S[3 * j + i] * sdot[k->s + j];
        }
        x->p[0] += k->mass * a[0];
        x->p[1] += k->mass * a[1];
        x->p[2] += k->J[8] * a[2];
    }
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        const double *S = pool + k->pool;
        if (k->lone) continue;
        for (int j = 0; j < k->dof; j++) tau[k->s + j] = dot3(S + 3 * j, all[n].p);
        if (k->parent) add_force(all[n].p, all[n].c, all[k->parent].p);
    }
}

const mbs_recursion mbs_recursion_plane = {place, eliminate, reduce, accelerate, torques};
