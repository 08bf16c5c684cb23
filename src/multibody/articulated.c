/* Accelerations of a tree of bodies in space by articulated inertias, [Fea83], [MEXX] (3.17): O(number of bodies).
 *
 * A body k with all that hangs on it behaves like one body: a force f_k through its joint and its acceleration a_k obey
 *
 *     f_k = I_k a_k + p_k,        a_k = (r'', omega') of its center, global axes.
 *
 * With the joint, a_k = X_k a_parent + S_k s'_k + zeta_k and S_k^T f_k = 0 (forces along the joint are loads of both
 * bodies), the rates s'_k are eliminated,
 *
 *     U = I S,   I_a = I - U (S^T U)^-1 U^T,   p_a = p + I_a zeta - U (S^T U)^-1 S^T p,
 *
 * and what is left is added to the parent: I_parent += X^T I_a X, p_parent += X^T p_a. X moves the reference point by
 * c = r_k - r_parent only, since all vectors have global axes:
 *
 *     I_a = [A B; B^T C]  ->  [A  B - A c~; .  C + (c~ B)^T + c~ (B - A c~)],    (F, n) -> (F, n + c x F).
 *
 * Most joints have one coordinate: one division, no pivoting. The terms of zeta: with u from the center of the parent to
 * the joint (slides included), w from there to the center of the body, sigma the velocity of sliding, omega_r the
 * relative rotation,
 *
 *     zeta_rotation = omega_parent x omega_r (+ the turn of the second axis of a universal joint)
 *     zeta_center   = omega_parent x (omega_parent x u + 2 sigma) + omega x (omega x w) + zeta_rotation x w.  */
#include "linalg/kernel.h"
#include "multibody/joint_coordinates.h"

#include <string.h>

/* ---- One link: where it is, how it moves ------------------------------------------------------------------ */

/* Adds omega x (omega x r) to out. */
static inline void add_centripetal(const double *omega, const double *r, double *out)
{
    double a[3], b[3];
    mbs_cross(omega, r, a);
    mbs_cross(omega, a, b);
    for (int i = 0; i < 3; i++) out[i] += b[i];
}

/* omega and zeta from the relative velocities omega_r and sigma. */
static inline void set_motion(const mbs_link_state *parent, const double *u, const double *omega_r,
                              const double *sigma, const double *turn, mbs_link_state *x)
{
    double l[3];
    for (int i = 0; i < 3; i++) x->omega[i] = parent->omega[i] + omega_r[i];
    mbs_cross(parent->omega, omega_r, x->zeta + 3);
    for (int i = 0; turn && i < 3; i++) x->zeta[3 + i] += turn[i];
    mbs_cross(x->zeta + 3, x->w, x->zeta);
    add_centripetal(parent->omega, u, x->zeta);
    add_centripetal(x->omega, x->w, x->zeta);
    if (!sigma) return;
    mbs_cross(parent->omega, sigma, l);
    for (int i = 0; i < 3; i++) x->zeta[i] += 2 * l[i];
}

static void move_general(const mbs_link *k, const mbs_link_state *parent, const double *s, const double *u,
                         const double *S, mbs_link_state *x)
{
    double omega_r[3] = {0, 0, 0}, sigma[3] = {0, 0, 0}, turn[3] = {0, 0, 0};
    for (int j = 0; j < k->dof; j++) {
        const double *h = S + 6 * j + 3;
        double l[3];
        mbs_cross(h, x->w, l); /* what is not the turn of w is sliding */
        for (int i = 0; i < 3; i++) {
            omega_r[i] += h[i] * s[j];
            sigma[i] += (S[6 * j + i] - l[i]) * s[j];
        }
    }
    if (k->motion->bias) k->motion->bias(S, s, turn);
    set_motion(parent, u, omega_r, sigma, turn, x);
}

/* A J A^T and omega x (J omega): inertia and bias force of the body alone. */
static inline void own_inertia(const mbs_link *k, mbs_link_state *x)
{
    const double *A = x->A;
    double T[9], *I = x->I, *C = I + 15, Jw[3];
    mbs_multiply(A, k->J, T);
    memset(I, 0, 15 * sizeof *I);
    I[0] = I[3] = I[5] = k->mass;
    C[0] = mbs_dot(T, A), C[1] = mbs_dot(T, A + 3), C[2] = mbs_dot(T, A + 6);
    C[3] = mbs_dot(T + 3, A + 3), C[4] = mbs_dot(T + 3, A + 6), C[5] = mbs_dot(T + 6, A + 6);
    const double *w = x->omega;
    Jw[0] = C[0] * w[0] + C[1] * w[1] + C[2] * w[2];
    Jw[1] = C[1] * w[0] + C[3] * w[1] + C[4] * w[2];
    Jw[2] = C[2] * w[0] + C[4] * w[1] + C[5] * w[2];
    x->p[0] = x->p[1] = x->p[2] = 0;
    mbs_cross(w, Jw, x->p + 3);
}

/* A body that nothing holds: q = (r, Euler parameters), s = (r', A^T omega), p = (0, omega x A J A^T omega). */
static void place_lone(const mbs_link *k, const double *q, const double *s, mbs_link_state *x)
{
    double Jw[3], n[3];
    mbs_quaternion_matrix(q + 3, x->A);
    mbs_set(x->c, q);
    mbs_rotate(k->J, s + 3, Jw);
    mbs_cross(s + 3, Jw, n);
    x->p[0] = x->p[1] = x->p[2] = 0;
    mbs_rotate(x->A, n, x->p + 3);
}

static void place(const mbs_tree *tree, const double *q, const double *s, int only_poses,
                  const mbs_pose *known, void *state, double *pool)
{
    static const double none[6];
    mbs_link_state *all = state;
    memset(all, 0, sizeof *all);
    all->A[0] = all->A[4] = all->A[8] = 1;
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        const mbs_link_state *parent = &all[k->parent];
        mbs_link_state *x = &all[n];
        const double *rate = s ? s + k->s : none;
        double *S = pool + k->pool, u[3], axes[9];
        if (k->lone) {
            if (!only_poses) place_lone(k, q + k->q, rate, x);
            continue;
        }
        if (k->hinge) {
            if (known) memcpy(x->A, known[k->body].A, sizeof x->A);
            else mbs_turned(k, parent->A, q[k->q], x->A);
            mbs_rotate(parent->A, k->si, u);
        } else {
            double slide[3] = {0, 0, 0};
            mbs_multiply(parent->A, k->axis, axes);
            k->motion->place(k, parent->A, q + k->q, x->A, slide);
            mbs_rotate(parent->A, k->si, u);
            for (int i = 0; i < 3; i++)
                u[i] += axes[3 * i] * slide[0] + axes[3 * i + 1] * slide[1] + axes[3 * i + 2] * slide[2];
        }
        mbs_rotate(x->A, k->sj, x->w);
        for (int i = 0; i < 3; i++) {
            x->w[i] = -x->w[i];
            x->c[i] = u[i] + x->w[i];
        }
        if (k->hinge) {
            double h[3], omega_r[3], local[3] = {k->axis[2], k->axis[5], k->axis[8]};
            mbs_rotate(parent->A, local, h);
            mbs_turn_S(S, h, x->w);
            for (int i = 0; i < 3; i++) omega_r[i] = h[i] * rate[0];
            set_motion(parent, u, omega_r, NULL, NULL, x);
        } else {
            k->motion->columns(k, x, axes, S);
            move_general(k, parent, rate, u, S, x);
        }
        if (!only_poses) own_inertia(k, x);
    }
}

/* ---- From the leaves to the ground --------------------------------------------------------------------------- */

/* y = I x */
static inline void times_inertia(const double *I, const double *x, double *y)
{
    const double *B = I + 6, *C = I + 15;
    y[0] = I[0] * x[0] + I[1] * x[1] + I[2] * x[2] + B[0] * x[3] + B[1] * x[4] + B[2] * x[5];
    y[1] = I[1] * x[0] + I[3] * x[1] + I[4] * x[2] + B[3] * x[3] + B[4] * x[4] + B[5] * x[5];
    y[2] = I[2] * x[0] + I[4] * x[1] + I[5] * x[2] + B[6] * x[3] + B[7] * x[4] + B[8] * x[5];
    y[3] = B[0] * x[0] + B[3] * x[1] + B[6] * x[2] + C[0] * x[3] + C[1] * x[4] + C[2] * x[5];
    y[4] = B[1] * x[0] + B[4] * x[1] + B[7] * x[2] + C[1] * x[3] + C[3] * x[4] + C[4] * x[5];
    y[5] = B[2] * x[0] + B[5] * x[1] + B[8] * x[2] + C[2] * x[3] + C[4] * x[4] + C[5] * x[5];
}

static inline double dot6(const double *a, const double *b)
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3] + a[4] * b[4] + a[5] * b[5];
}

/* I -= U U^T d */
static inline void subtract_square(double *I, const double *U, double d)
{
    double V[6];
    for (int i = 0; i < 6; i++) V[i] = U[i] * d;
    I[0] -= U[0] * V[0], I[1] -= U[0] * V[1], I[2] -= U[0] * V[2];
    I[3] -= U[1] * V[1], I[4] -= U[1] * V[2], I[5] -= U[2] * V[2];
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) I[6 + 3 * i + j] -= U[i] * V[3 + j];
    }
    I[15] -= U[3] * V[3], I[16] -= U[3] * V[4], I[17] -= U[3] * V[5];
    I[18] -= U[4] * V[4], I[19] -= U[4] * V[5], I[20] -= U[5] * V[5];
}

/* Adds X^T I X to the inertia of the parent. */
static inline void add_inertia(const double *I, const double *c, double *to)
{
    const double *B = I + 6, *C = I + 15;
    double N[9], x = c[0], y = c[1], z = c[2];
    /* N = B - A c~, rows of A c~: A_i x c */
    N[0] = B[0] - (I[1] * z - I[2] * y), N[1] = B[1] - (I[2] * x - I[0] * z),
    N[2] = B[2] - (I[0] * y - I[1] * x);
    N[3] = B[3] - (I[3] * z - I[4] * y), N[4] = B[4] - (I[4] * x - I[1] * z),
    N[5] = B[5] - (I[1] * y - I[3] * x);
    N[6] = B[6] - (I[4] * z - I[5] * y), N[7] = B[7] - (I[5] * x - I[2] * z),
    N[8] = B[8] - (I[2] * y - I[4] * x);
    for (int i = 0; i < 6; i++) to[i] += I[i];
    for (int i = 0; i < 9; i++) to[6 + i] += N[i];
    /* columns of c~ B: c x B_j; of (c~ B)^T + c~ N the upper triangle */
    to[15] += C[0] + (y * B[6] - z * B[3]) + (y * N[6] - z * N[3]);
    to[16] += C[1] + (z * B[0] - x * B[6]) + (y * N[7] - z * N[4]);
    to[17] += C[2] + (x * B[3] - y * B[0]) + (y * N[8] - z * N[5]);
    to[18] += C[3] + (z * B[1] - x * B[7]) + (z * N[1] - x * N[7]);
    to[19] += C[4] + (x * B[4] - y * B[1]) + (z * N[2] - x * N[8]);
    to[20] += C[5] + (x * B[5] - y * B[2]) + (x * N[5] - y * N[2]);
}

static inline void add_force(const double *p, const double *c, double *to)
{
    double n[3];
    mbs_cross(c, p, n);
    for (int i = 0; i < 3; i++) {
        to[i] += p[i];
        to[3 + i] += p[3 + i] + n[i];
    }
}

/* Where the 21 numbers stand in a full matrix. */
static const unsigned char packed[36] = {0, 1, 2,  6,  7,  8,  1, 3,  4,  9,  10, 11, 2, 4,  5,  12, 13, 14,
                                         6, 9, 12, 15, 16, 17, 7, 10, 13, 16, 18, 19, 8, 11, 14, 17, 19, 20};

/* p -= U (S^T U)^-1 S^T p; the part of s' that does not depend on the parent is kept. */
static void release(const mbs_link *k, double *p, double *S)
{
    int dof = k->dof;
    double *U = S + 6 * dof, *rest = U + 6 * dof + dof * dof;
    for (int j = 0; j < dof; j++) rest[j] = -dot6(S + 6 * j, p);
    mbs_solve_joint(6, dof, S, rest);
    for (int j = 0; j < dof; j++) {
        for (int i = 0; i < 6; i++) p[i] += U[6 * j + i] * rest[j];
    }
}

/* s' = -(p/m, J^-1 A^T n) where the ground is at rest. */
static void release_lone(const mbs_link *k, const mbs_link_state *x, double *rate)
{
    double n[3];
    for (int i = 0; i < 3; i++) rate[i] = -x->p[i] / k->mass;
    mbs_rotate_back(x->A, x->p + 3, n);
    mbs_rotate(k->mobility, n, rate + 3);
    for (int i = 3; i < 6; i++) rate[i] = -rate[i];
}

static int eliminate(const mbs_tree *tree, void *state, double *pool)
{
    mbs_link_state *all = state;
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        mbs_link_state *x = &all[n], *parent = &all[k->parent];
        double *S = pool + k->pool, *U = S + 6, Iz[6], p[6];
        if (k->lone) {
            release_lone(k, x, S);
            continue;
        }
        if (k->dof == 1) {
            times_inertia(x->I, S, U);
            double d = dot6(S, U);
            if (!(d > 0)) return 1;
            U[6] = 1 / d;
            U[7] = -dot6(S, x->p) * U[6];
            subtract_square(x->I, U, U[6]);
            times_inertia(x->I, x->zeta, Iz);
            for (int i = 0; i < 6; i++) p[i] = x->p[i] + Iz[i] + U[i] * U[7];
        } else {
            double I[36];
            memcpy(p, x->p, sizeof p);
            if (k->dof) {
                for (int i = 0; i < 36; i++) I[i] = x->I[packed[i]];
                if (mbs_eliminate_joint(6, k->dof, I, S)) return 1;
                release(k, p, S);
                for (int i = 0; i < 36; i++) x->I[packed[i]] = I[i];
            }
            times_inertia(x->I, x->zeta, Iz);
            for (int i = 0; i < 6; i++) p[i] += Iz[i];
        }
        if (k->parent == 0) continue;
        add_inertia(x->I, x->c, parent->I);
        add_force(p, x->c, parent->p);
    }
    return 0;
}

static void reduce(const mbs_tree *tree, void *state, double *pool)
{
    mbs_link_state *all = state;
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        mbs_link_state *x = &all[n];
        if (k->lone) {
            release_lone(k, x, pool + k->pool);
            continue;
        }
        release(k, x->p, pool + k->pool);
        add_force(x->p, x->c, all[k->parent].p);
    }
}

/* ---- From the ground to the leaves --------------------------------------------------------------------------- */

static void accelerate(const mbs_tree *tree, const double *base, void *state, const double *pool,
                       double *sdot)
{
    static const double none[6];
    mbs_link_state *all = state;
    memcpy(all[0].p, base ? base : none, sizeof all[0].p);
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        mbs_link_state *x = &all[n];
        const double *S = pool + k->pool, *a = all[k->parent].p, *zeta = base ? x->zeta : none;
        double l[3], b[6];
        int dof = k->dof;
        if (k->lone) { /* the ground does not turn */
            for (int i = 0; i < 6; i++) sdot[k->s + i] = i < 3 ? S[i] - a[i] : S[i];
            mbs_set(x->p, S);
            mbs_rotate(x->A, S + 3, x->p + 3);
            continue;
        }
        mbs_cross(a + 3, x->c, l);
        for (int i = 0; i < 3; i++) {
            b[i] = a[i] + l[i] + zeta[i];
            b[3 + i] = a[3 + i] + zeta[3 + i];
        }
        if (dof == 1) {
            const double *U = S + 6;
            double rate = U[7] - dot6(U, b) * U[6];
            sdot[k->s] = rate;
            for (int i = 0; i < 6; i++) x->p[i] = b[i] + S[i] * rate;
            continue;
        }
        const double *U = S + 6 * dof, *rest = U + 6 * dof + dof * dof;
        double rate[6];
        for (int j = 0; j < dof; j++) rate[j] = dot6(U + 6 * j, b);
        mbs_solve_joint(6, dof, S, rate);
        memcpy(x->p, b, sizeof b);
        for (int j = 0; j < dof; j++) {
            rate[j] = rest[j] - rate[j];
            sdot[k->s + j] = rate[j];
            for (int i = 0; i < 6; i++) x->p[i] += S[6 * j + i] * rate[j];
        }
    }
}

/* ---- Inverse dynamics ---------------------------------------------------------------------------------------- */

/* a = X a_parent + S s' + zeta takes the place of zeta; then f = I a + p + sum X^T f_child, tau = S^T f. */
static void torques(const mbs_tree *tree, const double *base, void *state, const double *pool,
                    const double *sdot, double *tau)
{
    mbs_link_state *all = state;
    memcpy(all[0].zeta, base, sizeof all[0].zeta);
    for (int n = 1; n <= tree->n; n++) {
        const mbs_link *k = &tree->link[n];
        mbs_link_state *x = &all[n];
        const double *S = pool + k->pool, *parent = all[k->parent].zeta, *C = x->I + 15;
        double l[3], *a = x->zeta, *p = x->p;
        if (k->lone) {
            for (int i = 0; i < 3; i++) tau[k->s + i] = p[i] + k->mass * (parent[i] + sdot[k->s + i]);
            mbs_rotate_back(x->A, p + 3, l);
            mbs_rotate(k->J, sdot + k->s + 3, tau + k->s + 3);
            for (int i = 0; i < 3; i++) tau[k->s + 3 + i] += l[i];
            continue;
        }
        mbs_cross(parent + 3, x->c, l);
        for (int i = 0; i < 3; i++) {
            a[i] += parent[i] + l[i];
            a[3 + i] += parent[3 + i];
        }
        for (int j = 0; j < k->dof; j++) {
            for (int i = 0; i < 6; i++) a[i] += S[6 * j + i] * sdot[k->s + j];
        }
        for (int i = 0; i < 3; i++) p[i] += k->mass * a[i];
        p[3] += C[0] * a[3] + C[1] * a[4] + C[2] * a[5];
        p[4] += C[1] * a[3] + C[3] * a[4] + C[4] * a[5];
        p[5] += C[2] * a[3] + C[4] * a[4] + C[5] * a[5];
    }
    for (int n = tree->n; n > 0; n--) {
        const mbs_link *k = &tree->link[n];
        const double *S = pool + k->pool;
        if (k->lone) continue;
        for (int j = 0; j < k->dof; j++) tau[k->s + j] = dot6(S + 6 * j, all[n].p);
        if (k->parent) add_force(all[n].p, all[n].c, all[k->parent].p);
    }
}

const mbs_recursion mbs_recursion_space = {place, eliminate, reduce, accelerate, torques};

/* ---- Joints with several coordinates ---------------------------------------------------------------------------- */

#define NO_INERTIA 1e-14 /* pivot against the diagonal; ours */

/* Loops over constants, where sizes are known when this is compiled. */
DAE_KERNEL_BODY int eliminate_joint(const int bv, const int dof, double *I, double *S)
{
    double *U = S + bv * dof, *L = U + bv * dof, W[36];
    for (int j = 0; j < dof; j++) {
        for (int i = 0; i < bv; i++) {
            double sum = 0;
            for (int l = 0; l < bv; l++) sum += I[bv * i + l] * S[bv * j + l];
            U[bv * j + i] = sum;
        }
    }
    for (int j = 0; j < dof; j++) { /* L by rows; its diagonal holds reciprocals */
        for (int i = j; i < dof; i++) {
            double sum = 0;
            for (int l = 0; l < bv; l++) sum += S[bv * i + l] * U[bv * j + l];
            double whole = sum;
            for (int l = 0; l < j; l++) sum -= L[dof * i + l] * L[dof * j + l];
            if (i == j && !(sum > NO_INERTIA * whole)) return 1;
            L[dof * i + j] = i == j ? 1 / sqrt(sum) : sum * L[dof * j + j];
        }
    }
    for (int i = 0; i < bv; i++) { /* W = L^-1 U^T, I -= W^T W */
        for (int j = 0; j < dof; j++) {
            double sum = U[bv * j + i];
            for (int l = 0; l < j; l++) sum -= L[dof * j + l] * W[bv * l + i];
            W[bv * j + i] = sum * L[dof * j + j];
        }
    }
    for (int i = 0; i < bv * bv; i++) {
        for (int j = 0; j < dof; j++) I[i] -= W[bv * j + i / bv] * W[bv * j + i % bv];
    }
    return 0;
}

int mbs_eliminate_joint(int bv, int dof, double *I, double *S)
{
    if (bv == 3) return dof == 3 ? eliminate_joint(3, 3, I, S) : eliminate_joint(3, dof, I, S);
    if (dof == 3) return eliminate_joint(6, 3, I, S);
    return dof == 6 ? eliminate_joint(6, 6, I, S) : eliminate_joint(bv, dof, I, S);
}

DAE_KERNEL_BODY void solve_joint(const int dof, const double *L, double *x)
{
    for (int j = 0; j < dof; j++) {
        for (int l = 0; l < j; l++) x[j] -= L[dof * j + l] * x[l];
        x[j] *= L[dof * j + j];
    }
    for (int j = dof - 1; j >= 0; j--) {
        for (int l = j + 1; l < dof; l++) x[j] -= L[dof * l + j] * x[l];
        x[j] *= L[dof * j + j];
    }
}

void mbs_solve_joint(int bv, int dof, const double *S, double *x)
{
    const double *L = S + 2 * bv * dof;
    switch (dof) {
    case 1: x[0] *= L[0]; break; /* written by the fast way: the reciprocal itself */
    case 3: solve_joint(3, L, x); break;
    case 6: solve_joint(6, L, x); break;
    default: solve_joint(dof, L, x);
    }
}
