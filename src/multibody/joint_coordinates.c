/* Joint coordinates of a mechanism: the tree of links, the way from bodies to joints and back, loops.
 *
 * What stays outside the tree (joints that close loops, drivers, gears, rolling) are rows G a = -gamma in the velocities of
 * the bodies. Their multipliers come from a small Schur complement: column j of -G H^-1 G^T is the acceleration that
 * the tree shows under the load of row j alone, one more walk over the links with the factors that are there. The same
 * system moves positions and velocities back onto the loops, in the metric of the mass matrix. */
#include "multibody/joint_coordinates.h"

#include <stdlib.h>
#include <string.h>

enum { max_corrections = 12 };
#define CLOSED 1e-13     /* loops: residual that is as good as zero, in SI units; ours */
#define ACCEPTABLE 1e-10 /* if rounding stops the iteration before; ours */
#define SAME_POSE 1e-4   /* a pose that differs by more does not belong to the tree; ours */

/* ---- Work space ------------------------------------------------------------------------------------------- */

typedef struct workspace {
    void *state; /* n+1 link states */
    double *pool, *sdot;
    double *sign;       /* n+1: of the Euler parameters that the run began with */
    double *e;          /* 4 (n+1) */
    double *f;          /* nv: loads */
    double *expression; /* of the mechanism */
    double *row;        /* nloop * 24: rows of the loops, rotations in global axes */
    double *schur, *lambda, *gamma;
    mbs_pose *pose; /* nbody+1 */
} workspace;

static size_t carve(const mbs_tree *t, double *base, workspace *w)
{
    const mbs_mechanism *m = t->m;
    size_t n = (size_t)t->n + 1, state = m->planar ? sizeof(mbs_plane_state) : sizeof(mbs_link_state);
    size_t nl = (size_t)t->nloop, used = 0;
    size_t size[] = {n * state / sizeof(double),
                     t->pool_size,
                     (size_t)t->ns + 1,
                     n,
                     4 * n,
                     (size_t)m->nv,
                     m->work_size + 1,
                     24 * nl,
                     nl * nl,
                     nl,
                     nl,
                     n * sizeof(mbs_pose) / sizeof(double)};
    double *at[12] = {NULL};
    for (int k = 0; k < 12; k++) {
        if (base) at[k] = base + used;
        used += (size[k] + 7) / 8 * 8; /* whole cache lines */
    }
    *w = (workspace){at[0], at[1], at[2], at[3], at[4],  at[5],
                     at[6], at[7], at[8], at[9], at[10], (mbs_pose *)at[11]};
    return used * sizeof(double);
}

static workspace open_work(const mbs_tree *t, void *work)
{
    workspace w;
    carve(t, work, &w);
    return w;
}

/* Bias force of a link, later its acceleration; component c of 0..5, in the plane 0, 1 and 5. */
static double *force_of(const mbs_tree *t, const workspace *w, int link)
{
    return t->m->planar ? ((mbs_plane_state *)w->state)[link].p : ((mbs_link_state *)w->state)[link].p;
}

/* ---- Euler parameters ------------------------------------------------------------------------------------- */

static void quaternion_product(const double *a, const double *b, double *c)
{
    c[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3];
    c[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2];
    c[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1];
    c[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0];
}

static void conjugate(const double *a, double *b)
{
    b[0] = a[0];
    for (int i = 1; i < 4; i++) b[i] = -a[i];
}

static void normalize(double *e)
{
    double n = 1 / sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3]);
    for (int i = 0; i < 4; i++) e[i] *= n;
}

/* Of a rotation matrix: the largest parameter first, so that nothing is divided by a small number. */
static void matrix_quaternion(const double *A, double *e)
{
    double trace = A[0] + A[4] + A[8];
    int k = trace > A[0] && trace > A[4] && trace > A[8] ? 3
            : A[0] >= A[4] && A[0] >= A[8]               ? 0
            : A[4] >= A[8]                               ? 1
                                                         : 2;
    if (k == 3) {
        e[0] = 1 + trace;
        e[1] = A[7] - A[5], e[2] = A[2] - A[6], e[3] = A[3] - A[1];
    } else {
        int i = (k + 1) % 3, j = (k + 2) % 3;
        e[0] = A[3 * j + i] - A[3 * i + j];
        e[1 + k] = 1 + A[4 * k] - A[4 * i] - A[4 * j];
        e[1 + i] = A[3 * k + i] + A[3 * i + k];
        e[1 + j] = A[3 * k + j] + A[3 * j + k];
    }
    normalize(e);
}

/* Of the body against its parent. */
static void relative_quaternion(const mbs_link *k, const double *q, double *d)
{
    double turn[4] = {1, 0, 0, 0}, second[4], a[4], b[4], angle = 0;
    switch (k->kind) {
    case MBS_LINK_SPHERICAL: memcpy(d, q, 4 * sizeof *d), normalize(d); return;
    case MBS_LINK_FREE: memcpy(d, q + 3, 4 * sizeof *d), normalize(d); return;
    case MBS_LINK_PLANE: angle = q[2]; break;
    case MBS_LINK_FIXED:
    case MBS_LINK_PRISMATIC: break;
    case MBS_LINK_REVOLUTE:
    case MBS_LINK_SCREW:
    case MBS_LINK_CYLINDRICAL:
    case MBS_LINK_UNIVERSAL: angle = q[0]; break;
    }
    turn[0] = cos(angle / 2), turn[3] = sin(angle / 2);
    quaternion_product(k->ei, turn, a);
    if (k->kind == MBS_LINK_UNIVERSAL) {
        second[0] = cos(q[1] / 2), second[1] = sin(q[1] / 2), second[2] = second[3] = 0;
        quaternion_product(a, second, b);
        memcpy(a, b, sizeof a);
    }
    conjugate(k->ej, b);
    quaternion_product(a, b, d);
}

/* ---- From joints to bodies -------------------------------------------------------------------------------- */

/* Poses of the bodies from the states of the links. */
static void poses_of(const mbs_tree *t, const workspace *w, const double *q, const double *s)
{
    mbs_pose *ground = &w->pose[0];
    int bv = t->m->bv;
    memset(ground, 0, sizeof *ground);
    ground->A[0] = ground->A[4] = ground->A[8] = 1;
    w->e[0] = 1, w->e[1] = w->e[2] = w->e[3] = 0;
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        const mbs_pose *parent = &w->pose[t->link[k->parent].body];
        mbs_pose *x = &w->pose[k->body];
        const double *S = w->pool + k->pool;
        double c[3] = {0, 0, 0}, omega[3] = {0, 0, 0}, l[3], d[4], *e = w->e + 4 * n;
        if (t->m->planar) {
            const mbs_plane_state *y = (const mbs_plane_state *)w->state + n;
            const mbs_plane_state *z = (const mbs_plane_state *)w->state + k->parent;
            c[0] = y->c[0], c[1] = y->c[1];
            omega[2] = z->omega;
            x->angle = y->angle;
            memset(x->A, 0, sizeof x->A);
            x->A[0] = x->A[4] = y->cosine, x->A[3] = y->sine, x->A[1] = -y->sine, x->A[8] = 1;
            x->w[0] = x->w[1] = 0, x->w[2] = y->omega;
        } else {
            const mbs_link_state *y = (const mbs_link_state *)w->state + n;
            const mbs_link_state *z = (const mbs_link_state *)w->state + k->parent;
            mbs_set(c, y->c);
            mbs_set(omega, z->omega);
            memcpy(x->A, y->A, sizeof x->A);
            mbs_rotate_back(y->A, y->omega, x->w);
            relative_quaternion(k, q + k->q, d);
            quaternion_product(w->e + 4 * k->parent, d, e);
            for (int i = 0; i < 4; i++) e[i] *= w->sign[n];
            x->angle = 0;
            x->e = e;
        }
        mbs_cross(omega, c, l);
        for (int i = 0; i < 3; i++) {
            x->r[i] = parent->r[i] + c[i];
            x->v[i] = parent->v[i] + l[i];
        }
        for (int j = 0; s && j < k->dof; j++) {
            for (int i = 0; i < (t->m->planar ? 2 : 3); i++) x->v[i] += S[bv * j + i] * s[k->s + j];
        }
    }
}

static int to_absolute(double time, const double *q, const double *s, double *p, double *v, void *work,
                       void *user)
{
    const mbs_tree *t = user;
    const mbs_mechanism *m = t->m;
    workspace w = open_work(t, work);
    (void)time;
    t->recursion->place(t, q, s, w.state, w.pool);
    poses_of(t, &w, q, s);
    for (int k = 1; k <= m->nbody; k++, p += m->bp, v += m->bv) {
        const mbs_pose *x = &w.pose[k];
        if (m->planar) {
            p[0] = x->r[0], p[1] = x->r[1], p[2] = x->angle;
            v[0] = x->v[0], v[1] = x->v[1], v[2] = x->w[2];
            continue;
        }
        mbs_set(p, x->r);
        memcpy(p + 3, x->e, 4 * sizeof *p);
        mbs_set(v, x->v);
        mbs_set(v + 3, x->w);
    }
    return 0;
}

/* ---- From bodies to joints -------------------------------------------------------------------------------- */

/* Coordinates of one link from the poses; slide: from point to point in the frame on the parent. */
static void coordinates_of(const mbs_tree *t, const mbs_link *k, const mbs_pose *parent, const mbs_pose *x,
                           const double *slide, double *q)
{
    if (t->m->planar) {
        double turn = x->angle - parent->angle - k->offset;
        if (k->kind == MBS_LINK_REVOLUTE) q[0] = turn;
        if (k->kind == MBS_LINK_PRISMATIC) q[0] = slide[2];
        if (k->kind == MBS_LINK_FREE) q[0] = x->r[0], q[1] = x->r[1], q[2] = x->angle;
        return;
    }
    double D[9], E[9], R[9], d[4], a[4], b[4], ground[4] = {1, 0, 0, 0};
    conjugate(parent->e ? parent->e : ground, a);
    quaternion_product(a, x->e, d);
    normalize(d);
    conjugate(k->ei, a);
    quaternion_product(a, d, b);
    quaternion_product(b, k->ej, a); /* of the joint frames */
    double angle = 2 * (a[0] < 0 ? atan2(-a[3], -a[0]) : atan2(a[3], a[0]));
    switch (k->kind) {
    case MBS_LINK_FIXED: break;
    case MBS_LINK_REVOLUTE: q[0] = angle; break;
    case MBS_LINK_PRISMATIC: q[0] = slide[2]; break;
    case MBS_LINK_SCREW: q[0] = (slide[2] - k->offset) / k->pitch; break;
    case MBS_LINK_CYLINDRICAL: q[0] = angle, q[1] = slide[2]; break;
    case MBS_LINK_PLANE: q[0] = slide[0], q[1] = slide[1], q[2] = angle; break;
    case MBS_LINK_UNIVERSAL:
        mbs_multiply_back(parent->A, x->A, D);
        mbs_multiply_back(k->K + 9, D, E);
        for (int i = 0; i < 9; i++) R[i] = k->K[18 + 3 * (i % 3) + i / 3]; /* F_j */
        mbs_multiply(E, R, D);
        q[0] = atan2(D[3], D[0]);
        q[1] = atan2(D[7], D[8]);
        break;
    case MBS_LINK_SPHERICAL: memcpy(q, d, sizeof d); break;
    case MBS_LINK_FREE:
        mbs_set(q, x->r);
        memcpy(q + 3, d, sizeof d);
        break;
    }
}

static void rates_of(const mbs_tree *t, const mbs_link *k, const mbs_pose *x, const double *axes,
                     const double *omega_r, const double *sigma, double *s)
{
    double f[3], g[3], h[3], a[3];
    mbs_column(axes, 0, f);
    mbs_column(axes, 1, g);
    mbs_column(axes, 2, h);
    switch (k->kind) {
    case MBS_LINK_FIXED: break;
    case MBS_LINK_REVOLUTE: s[0] = t->m->planar ? omega_r[2] : mbs_dot(h, omega_r); break;
    case MBS_LINK_SCREW: s[0] = mbs_dot(h, omega_r); break;
    case MBS_LINK_PRISMATIC: s[0] = mbs_dot(h, sigma); break;
    case MBS_LINK_CYLINDRICAL:
        s[0] = mbs_dot(h, omega_r);
        s[1] = mbs_dot(h, sigma);
        break;
    case MBS_LINK_PLANE:
        s[0] = mbs_dot(f, sigma);
        s[1] = mbs_dot(g, sigma);
        s[2] = mbs_dot(h, omega_r);
        break;
    case MBS_LINK_UNIVERSAL:
        mbs_rotate(x->A, k->other, a);
        s[0] = mbs_dot(h, omega_r);
        s[1] = mbs_dot(a, omega_r);
        break;
    case MBS_LINK_SPHERICAL: mbs_rotate_back(x->A, omega_r, s); break;
    case MBS_LINK_FREE:
        s[0] = x->v[0], s[1] = x->v[1];
        if (t->m->planar) {
            s[2] = x->w[2];
        } else {
            s[2] = x->v[2];
            mbs_set(s + 3, x->w);
        }
        break;
    }
}

/* The signs of the Euler parameters that follow from q, so that they come back as they are in p. */
static void set_signs(const mbs_tree *t, const workspace *w, const double *p, const double *q)
{
    for (int n = 1; n <= t->n && !t->m->planar; n++) {
        const mbs_link *k = &t->link[n];
        const double ground[4] = {1, 0, 0, 0}, *have = p + 7 * (k->body - 1) + 3;
        double d[4], e[4];
        int on = t->link[k->parent].body;
        relative_quaternion(k, q + k->q, d);
        quaternion_product(on ? p + 7 * (on - 1) + 3 : ground, d, e);
        w->sign[n] = e[0] * have[0] + e[1] * have[1] + e[2] * have[2] + e[3] * have[3] < 0 ? -1 : 1;
    }
}

/* 1: the pose is not one of the tree (its joints are open, or assembled the other way round). */
static int other_pose(const mbs_tree *t, const workspace *w, const double *p)
{
    const mbs_mechanism *m = t->m;
    for (int k = 1; k <= m->nbody; k++, p += m->bp) {
        const mbs_pose *x = &w->pose[k];
        double far = fabs(x->r[0] - p[0]) + fabs(x->r[1] - p[1]), size = 1 + mbs_norm(x->r);
        if (m->planar) far += fabs(x->angle - p[2]);
        else far += fabs(x->r[2] - p[2]);
        for (int i = 0; i < 4 && !m->planar; i++) far += fabs(x->e[i] - p[3 + i]);
        if (!(far <= SAME_POSE * size)) return 1;
    }
    return 0;
}

static int from_absolute(double time, const double *p, const double *v, double *q, double *s, void *work,
                         void *user)
{
    const mbs_tree *t = user;
    workspace w = open_work(t, work);
    (void)time;
    memset(&w.pose[0], 0, sizeof w.pose[0]);
    w.pose[0].A[0] = w.pose[0].A[4] = w.pose[0].A[8] = 1;
    mbs_set_poses(t->m, p, v, w.pose);
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        const mbs_pose *parent = &w.pose[t->link[k->parent].body], *x = &w.pose[k->body];
        double axes[9], u[3], b[3], d[3], slide[3], omega_p[3], omega[3], omega_r[3], sigma[3], l[3], r[3];
        mbs_multiply(parent->A, k->axis, axes);
        mbs_rotate(parent->A, k->si, u);
        mbs_rotate(x->A, k->sj, b);
        mbs_rotate(parent->A, parent->w, omega_p);
        mbs_rotate(x->A, x->w, omega);
        for (int i = 0; i < 3; i++) {
            d[i] = x->r[i] + b[i] - parent->r[i] - u[i];
            omega_r[i] = omega[i] - omega_p[i];
            u[i] += d[i];
        }
        mbs_rotate_back(axes, d, slide);
        mbs_cross(omega, b, l);
        mbs_cross(omega_p, u, r);
        for (int i = 0; i < 3; i++) sigma[i] = x->v[i] + l[i] - parent->v[i] - r[i];
        coordinates_of(t, k, parent, x, slide, q + k->q);
        rates_of(t, k, x, axes, omega_r, sigma, s + k->s);
    }
    set_signs(t, &w, p, q);
    t->recursion->place(t, q, s, w.state, w.pool);
    poses_of(t, &w, q, s);
    return other_pose(t, &w, p);
}

/* ---- Loops ------------------------------------------------------------------------------------------------- */

typedef enum loop_level { LOOP_POSITION, LOOP_VELOCITY, LOOP_ACCELERATION } loop_level;

static double row_times(const mbs_tree *t, const mbs_row *r, const double *row, const double *const x[4])
{
    double sum = 0;
    for (int b = 0; b < r->nbody; b++) {
        if (r->body[b] == 0) continue;
        const double *y = x[b];
        if (t->m->planar) sum += row[6 * b] * y[0] + row[6 * b + 1] * y[1] + row[6 * b + 5] * y[2];
        else sum += mbs_dot(row + 6 * b, y) + mbs_dot(row + 6 * b + 3, y + 3);
    }
    return sum;
}

/* Rows of the loops in global axes, and what they say: residual, G v + gI, or gamma. */
static void rows_of(const mbs_tree *t, const workspace *w, mbs_context *x, loop_level level, double *out)
{
    for (int n = 0; n < t->nloop_group; n++) {
        const mbs_row *r = &t->m->row[t->loop_group[n]];
        double rows[72] = {0}, value[3] = {0, 0, 0}, c[3] = {0, 0, 0};
        int at = t->first_loop_row[n];
        r->type->jacobian(r, x, rows);
        if (level == LOOP_POSITION && r->type->holonomic) r->type->residual(r, x, value);
        if (level == LOOP_ACCELERATION) r->type->gamma(r, x, value);
        if (level == LOOP_VELOCITY && r->motion >= 0) {
            mbs_motion(x, r->motion, c);
            value[0] = -c[1];
        }
        for (int i = 0; i < r->count; i++) {
            double *row = w->row + 24 * at;
            if (r->system[i] < 0) continue;
            for (int b = 0; b < r->nbody; b++) {
                const mbs_pose *pose = &w->pose[r->body[b]];
                mbs_set(row + 6 * b, rows + 24 * i + 6 * b);
                mbs_rotate(pose->A, rows + 24 * i + 6 * b + 3, row + 6 * b + 3);
                if (level != LOOP_VELOCITY || r->body[b] == 0) continue;
                value[i] += mbs_dot(row + 6 * b, pose->v) + mbs_dot(rows + 24 * i + 6 * b + 3, pose->w);
            }
            out[at++] = value[i];
        }
    }
}

static void clear_forces(const mbs_tree *t, const workspace *w)
{
    for (int n = 0; n <= t->n; n++) memset(force_of(t, w, n), 0, (size_t)t->m->bv * sizeof(double));
}

/* Adds G^T lambda to the bias forces; lambda NULL: the row `only` alone, with 1. */
static void load_rows(const mbs_tree *t, const workspace *w, int only, const double *lambda)
{
    for (int n = 0; n < t->nloop_group; n++) {
        const mbs_row *r = &t->m->row[t->loop_group[n]];
        int first = t->first_loop_row[n], last = t->first_loop_row[n + 1];
        for (int i = first; i < last; i++) {
            double l = lambda ? lambda[i] : i == only;
            const double *row = w->row + 24 * i;
            for (int b = 0; l != 0 && b < r->nbody; b++) {
                if (r->body[b] == 0) continue;
                double *p = force_of(t, w, t->link_of[r->body[b]]);
                if (t->m->planar)
                    p[0] += l * row[6 * b], p[1] += l * row[6 * b + 1], p[2] += l * row[6 * b + 5];
                for (int c = 0; c < 6 && !t->m->planar; c++) p[c] += l * row[6 * b + c];
            }
        }
    }
}

/* out = G a with the accelerations of the links. */
static void rows_times(const mbs_tree *t, const workspace *w, double *out)
{
    for (int n = 0; n < t->nloop_group; n++) {
        const mbs_row *r = &t->m->row[t->loop_group[n]];
        const double *a[4] = {NULL};
        for (int b = 0; b < r->nbody; b++) a[b] = force_of(t, w, t->link_of[r->body[b]]);
        for (int i = t->first_loop_row[n]; i < t->first_loop_row[n + 1]; i++)
            out[i] = row_times(t, r, w->row + 24 * i, a);
    }
}

/* -G H^-1 G^T, factored by Cholesky; n: rows that count. 1: singular. */
static int factor_loops(const mbs_tree *t, const workspace *w, int n)
{
    int nl = t->nloop;
    double *L = w->schur; /* by rows, reciprocals on the diagonal */
    for (int j = 0; j < n; j++) {
        clear_forces(t, w);
        load_rows(t, w, j, NULL);
        t->recursion->reduce(t, w->state, w->pool);
        t->recursion->accelerate(t, NULL, w->state, w->pool, w->sdot);
        rows_times(t, w, L + (size_t)j * (size_t)nl);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = -L[i * nl + j], whole = sum;
            for (int l = 0; l < j; l++) sum -= L[i * nl + l] * L[j * nl + l];
            if (i == j && !(sum > 1e-15 * whole)) return 1;
            L[i * nl + j] = i == j ? 1 / sqrt(sum) : sum * L[j * nl + j];
        }
    }
    return 0;
}

/* The change of rates, into w->sdot, that changes the rows by -b: multipliers replace b. */
static void solve_loops(const mbs_tree *t, const workspace *w, int n, double *b)
{
    int nl = t->nloop;
    const double *L = w->schur;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) b[i] -= L[i * nl + j] * b[j];
        b[i] *= L[i * nl + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int j = i + 1; j < n; j++) b[i] -= L[j * nl + i] * b[j];
        b[i] *= L[i * nl + i];
    }
    for (int i = n; i < nl; i++) b[i] = 0;
    clear_forces(t, w);
    load_rows(t, w, -1, b);
    t->recursion->reduce(t, w->state, w->pool);
    t->recursion->accelerate(t, NULL, w->state, w->pool, w->sdot);
}

/* ---- Rates ------------------------------------------------------------------------------------------------- */

/* q' = T(q) s */
static void position_rates(const mbs_tree *t, const double *q, const double *s, double *qdot)
{
    if (t->nq == t->ns) {
        memcpy(qdot, s, (size_t)t->ns * sizeof *s);
        return;
    }
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        const double *w = s + k->s, *e = q + k->q;
        double *out = qdot + k->q;
        if (k->kind != MBS_LINK_SPHERICAL && k->kind != MBS_LINK_FREE) {
            for (int i = 0; i < k->dof; i++) out[i] = w[i];
            continue;
        }
        if (k->kind == MBS_LINK_FREE) {
            mbs_set(out, w);
            out += 3, w += 3, e += 3;
        }
        out[0] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
        out[1] = 0.5 * (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]);
        out[2] = 0.5 * (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]);
        out[3] = 0.5 * (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]);
    }
}

static mbs_context context_of(const mbs_tree *t, const workspace *w, double time, const double *u)
{
    return (mbs_context){.m = t->m, .t = time, .u = u, .pose = w->pose, .work = w->expression, .f = w->f};
}

/* All loads of the bodies as bias forces. */
static void apply_loads(const mbs_tree *t, const workspace *w, mbs_context *x)
{
    const mbs_mechanism *m = t->m;
    memset(w->f, 0, (size_t)m->nv * sizeof *w->f);
    mbs_apply_forces(x);
    for (int n = 1; n <= t->n; n++) {
        int body = t->link[n].body;
        double *p = force_of(t, w, n);
        const double *f = w->f + (body - 1) * m->bv;
        for (int i = 0; i < 3; i++) p[i] = -f[i];
        if (m->planar) continue;
        mbs_rotate(w->pose[body].A, f + 3, p + 3);
        for (int i = 3; i < 6; i++) p[i] = -p[i];
    }
}

static int rates(double time, const double *y, double *yp, void *work, void *user)
{
    const mbs_tree *t = user;
    const mbs_mechanism *m = t->m;
    workspace w = open_work(t, work);
    const double *q = y, *s = q + t->nq, *u = s + t->ns;
    double *sdot = yp + t->nq, base[6] = {0};
    mbs_context x = context_of(t, &w, time, u);
    t->recursion->place(t, q, s, w.state, w.pool);
    if (t->with_loads) {
        poses_of(t, &w, q, s);
        apply_loads(t, &w, &x);
    } else { /* a ground that falls upwards has the effect of gravity */
        for (int i = 0; i < (m->planar ? 2 : 3); i++) base[i] = -m->gravity[i];
    }
    if (t->recursion->eliminate(t, w.state, w.pool)) return 1;
    t->recursion->accelerate(t, base, w.state, w.pool, sdot);
    position_rates(t, q, s, yp);
    if (t->nloop) { /* G (a + da) = -gamma */
        rows_of(t, &w, &x, LOOP_ACCELERATION, w.gamma);
        rows_times(t, &w, w.lambda);
        for (int i = 0; i < t->nloop; i++) w.lambda[i] += w.gamma[i];
        if (factor_loops(t, &w, t->nloop)) return 1;
        solve_loops(t, &w, t->nloop, w.lambda);
        for (int i = 0; i < t->ns; i++) sdot[i] += w.sdot[i];
    }
    for (int k = 0; m->nu && k < m->nforce; k++) {
        if (m->force[k].type->dynamics)
            m->force[k].type->dynamics(&m->force[k], &x, sdot + t->ns + m->force[k].u);
    }
    return 0;
}

/* ---- Projection -------------------------------------------------------------------------------------------- */

static double largest(int n, const double *x)
{
    double worst = 0;
    for (int i = 0; i < n; i++) worst = fabs(x[i]) > worst || !isfinite(x[i]) ? fabs(x[i]) : worst;
    return worst;
}

static void normalize_all(const mbs_tree *t, double *q)
{
    for (int n = 1; n <= t->n && !t->m->planar; n++) {
        const mbs_link *k = &t->link[n];
        if (k->kind == MBS_LINK_SPHERICAL) normalize(q + k->q);
        if (k->kind == MBS_LINK_FREE) normalize(q + k->q + 3);
    }
}

/* Least corrections of q, then of s, that close the loops; Euler parameters get the length 1. */
static int project(double time, double *q, double *s, void *work, void *user)
{
    const mbs_tree *t = user;
    workspace w = open_work(t, work);
    double last = INFINITY, *step = w.f;
    normalize_all(t, q);
    for (int pass = 0; t->nloop; pass++) {
        mbs_context x = context_of(t, &w, time, NULL);
        t->recursion->place(t, q, s, w.state, w.pool);
        poses_of(t, &w, q, s);
        rows_of(t, &w, &x, LOOP_POSITION, w.lambda);
        double worst = largest(t->nloop_g, w.lambda);
        if (t->recursion->eliminate(t, w.state, w.pool) || factor_loops(t, &w, t->nloop)) return 1;
        if (worst <= CLOSED || (worst <= ACCEPTABLE && worst > 0.5 * last)) break;
        if (pass == max_corrections || !isfinite(worst)) return 1;
        last = worst;
        if (t->nloop_g < t->nloop && factor_loops(t, &w, t->nloop_g)) return 1;
        solve_loops(t, &w, t->nloop_g, w.lambda);
        position_rates(t, q, w.sdot, step);
        for (int i = 0; i < t->nq; i++) q[i] += step[i];
        normalize_all(t, q);
    }
    if (!t->nloop) return 0;
    mbs_context x = context_of(t, &w, time, NULL);
    rows_of(t, &w, &x, LOOP_VELOCITY, w.lambda);
    solve_loops(t, &w, t->nloop, w.lambda);
    for (int i = 0; i < t->ns; i++) s[i] += w.sdot[i];
    return 0;
}

/* ---- Building ---------------------------------------------------------------------------------------------- */

static int kind_of(const mbs_mechanism *m, const char *type)
{
    static const struct {
        const char *name;
        mbs_link_kind kind;
    } list[] = {{"revolute", MBS_LINK_REVOLUTE},   {"prismatic", MBS_LINK_PRISMATIC},
                {"fixed", MBS_LINK_FIXED},         {"cylindrical", MBS_LINK_CYLINDRICAL},
                {"screw", MBS_LINK_SCREW},         {"planar", MBS_LINK_PLANE},
                {"universal", MBS_LINK_UNIVERSAL}, {"spherical", MBS_LINK_SPHERICAL}};
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        if (!strcmp(type, list[i].name))
            return m->planar && list[i].kind == MBS_LINK_SPHERICAL ? MBS_LINK_REVOLUTE : (int)list[i].kind;
    }
    return -1;
}

static int freedom(const mbs_mechanism *m, int kind)
{
    switch (kind) {
    case MBS_LINK_FIXED: return 0;
    case MBS_LINK_CYLINDRICAL:
    case MBS_LINK_UNIVERSAL: return 2;
    case MBS_LINK_PLANE:
    case MBS_LINK_SPHERICAL: return 3;
    case MBS_LINK_FREE: return m->bv;
    default: return 1;
    }
}

/* The joint on which every body hangs: the one with its parent that leaves the least freedom; -1: none. */
static void choose_joints(const mbs_mechanism *m, int *joint)
{
    for (int k = 0; k <= m->nbody; k++) joint[k] = -1;
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint_data *j = &m->joint[k];
        int a = j->i.body, b = j->j.body, kind = kind_of(m, j->type->name);
        int son = b && m->parent[b - 1] == a - 1 ? b : a && m->parent[a - 1] == b - 1 ? a : 0;
        if (kind < 0 || !son) continue;
        if (joint[son] >= 0 && freedom(m, kind_of(m, m->joint[joint[son]].type->name)) <= freedom(m, kind))
            continue;
        joint[son] = k;
    }
}

/* Links in an order in which parents come first. */
static void number_links(mbs_tree *t, const int *joint, int *first, int *next)
{
    const mbs_mechanism *m = t->m;
    int head = 0, tail = 0;
    for (int k = 0; k <= m->nbody; k++) first[k] = -1;
    for (int k = m->nbody; k > 0; k--) {
        int on = joint[k] >= 0 ? m->parent[k - 1] + 1 : 0;
        next[k] = first[on];
        first[on] = k;
    }
    t->link[tail++] = (mbs_link){.body = 0};
    for (; head < tail; head++) {
        for (int k = first[t->link[head].body]; k >= 0; k = next[k]) {
            t->link_of[k] = tail;
            t->link[tail++] = (mbs_link){.body = k, .parent = head};
        }
    }
    t->n = tail - 1;
}

static const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

/* F: columns of a frame whose column `at` is the axis. */
static void frame_about(const double *axis, int at, double *F)
{
    int small = fabs(axis[0]) <= fabs(axis[1]) && fabs(axis[0]) <= fabs(axis[2]) ? 0
                : fabs(axis[1]) <= fabs(axis[2])                                 ? 1
                                                                                 : 2;
    double other[3] = {small == 0, small == 1, small == 2}, a[3], b[3];
    mbs_cross(axis, other, a);
    double n = mbs_norm(a);
    for (int i = 0; i < 3; i++) a[i] /= n;
    mbs_cross(axis, a, b);
    for (int i = 0; i < 3; i++) {
        F[3 * i + at] = axis[i];
        F[3 * i + (at + 1) % 3] = a[i];
        F[3 * i + (at + 2) % 3] = b[i];
    }
}

/* K0 + K1 cos q + K2 sin q = C_i Rz(q) C_j^T */
static void set_turn(const double *Ci, const double *Cj, mbs_link *k)
{
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++) {
            k->K[3 * r + c] = Ci[3 * r + 2] * Cj[3 * c + 2];
            k->K[9 + 3 * r + c] = Ci[3 * r] * Cj[3 * c] + Ci[3 * r + 1] * Cj[3 * c + 1];
            k->K[18 + 3 * r + c] = Ci[3 * r + 1] * Cj[3 * c] - Ci[3 * r] * Cj[3 * c + 1];
        }
    }
    if (k->kind != MBS_LINK_FIXED && k->kind != MBS_LINK_PRISMATIC) return;
    for (int i = 0; i < 9; i++) k->K[i] += k->K[9 + i]; /* q = 0 */
}

/* The value of the row that couples or holds a coordinate of the joint. */
static double held_value(const mbs_mechanism *m, const mbs_joint_data *j)
{
    for (int r = j->first; r < j->first + j->count; r++) {
        if (m->row[r].type == &mbs_row_coordinate) return m->row[r].value;
    }
    return 0;
}

static void set_link(const mbs_mechanism *m, int joint, mbs_link *k)
{
    const mbs_joint_data *j = &m->joint[joint];
    int turned = j->j.body != k->body; /* the joint goes from the body to its parent */
    const mbs_frame *i = turned ? &j->j : &j->i, *b = turned ? &j->i : &j->j;
    double sign = turned ? -1 : 1;
    k->kind = (mbs_link_kind)kind_of(m, j->type->name);
    mbs_set(k->si, i->s);
    mbs_set(k->sj, b->s);
    memcpy(k->axis, i->C, sizeof k->axis);
    matrix_quaternion(i->C, k->ei);
    matrix_quaternion(b->C, k->ej);
    set_turn(i->C, b->C, k);
    if (m->planar && k->kind != MBS_LINK_REVOLUTE) k->offset = sign * (j->angle.offset + held_value(m, j));
    if (k->kind == MBS_LINK_SCREW) {
        k->pitch = j->model->pitch;
        k->offset = sign * held_value(m, j);
    }
    if (k->kind == MBS_LINK_UNIVERSAL) {
        const mbs_row *r = &m->row[j->first + j->count - 1];
        const double *on_parent = turned ? r->b : r->a, *on_body = turned ? r->a : r->b;
        mbs_set(k->other, on_body);
        double F[9];
        frame_about(on_parent, 2, k->axis);
        frame_about(on_body, 0, F);
        memcpy(k->K + 9, k->axis, sizeof k->axis);
        for (int e = 0; e < 9; e++) k->K[18 + e] = F[3 * (e % 3) + e / 3];
        matrix_quaternion(k->axis, k->ei);
        matrix_quaternion(F, k->ej);
    }
}

/* Which of (p, v) have the scale of the coordinates: for tolerances. */
static void set_sources(mbs_tree *t)
{
    const mbs_mechanism *m = t->m;
    int turn_p = m->planar ? 2 : 3, turn_v = m->planar ? 2 : 3;
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        int nq = k->dof + (!m->planar && (k->kind == MBS_LINK_SPHERICAL || k->kind == MBS_LINK_FREE));
        for (int i = 0; i < nq; i++) {
            int slides = k->kind == MBS_LINK_PRISMATIC || (k->kind == MBS_LINK_CYLINDRICAL && i == 1) ||
                         (k->kind == MBS_LINK_PLANE && i < 2) ||
                         (k->kind == MBS_LINK_FREE && i < m->bv - (m->planar ? 1 : 3));
            t->source[k->q + i] = m->bp * (k->body - 1) + (slides ? 0 : turn_p);
            if (i < k->dof)
                t->source[t->nq + k->s + i] = m->np + m->bv * (k->body - 1) + (slides ? 0 : turn_v);
        }
    }
}

static void set_links(mbs_tree *t, const int *joint)
{
    const mbs_mechanism *m = t->m;
    for (int n = 1; n <= t->n; n++) {
        mbs_link *k = &t->link[n];
        k->kind = MBS_LINK_FREE;
        k->ei[0] = k->ej[0] = 1;
        memcpy(k->axis, identity, sizeof identity);
        if (joint[k->body] >= 0) set_link(m, joint[k->body], k);
        k->dof = freedom(m, (int)k->kind);
        k->q = t->nq;
        k->s = t->ns;
        k->pool = t->pool_size;
        k->mass = m->mass[k->body - 1];
        memcpy(k->J, m->inertia + 9 * (k->body - 1), sizeof k->J);
        t->nq += k->dof + (!m->planar && (k->kind == MBS_LINK_SPHERICAL || k->kind == MBS_LINK_FREE));
        t->ns += k->dof;
        t->pool_size += (size_t)(k->dof * (2 * m->bv + k->dof + 1));
    }
}

/* Groups of rows that belong to no joint of the tree; holonomic ones first. */
static void find_loops(mbs_tree *t, const int *joint)
{
    const mbs_mechanism *m = t->m;
    for (int pass = 0; pass < 2; pass++) {
        for (int r = 0; r < m->nrows; r++) {
            const mbs_row *row = &m->row[r];
            int in_tree = 0, count = 0;
            if (row->type->holonomic != !pass) continue;
            for (int b = 0; b < row->nbody && row->joint >= 0; b++)
                in_tree |= row->body[b] > 0 && joint[row->body[b]] == row->joint;
            for (int i = 0; i < row->count; i++) count += row->system[i] >= 0;
            if (in_tree || !count) continue;
            t->loop_group[t->nloop_group] = r;
            t->first_loop_row[t->nloop_group++] = t->nloop;
            t->nloop += count;
        }
        if (pass == 0) t->nloop_g = t->nloop;
    }
    t->first_loop_row[t->nloop_group] = t->nloop;
}

/* 1: bodies without mass leave a joint without inertia in the described pose. */
static int lacks_inertia(const mbs_tree *t)
{
    double *q = calloc((size_t)(t->nq + t->ns) + 1, sizeof *q);
    void *work = calloc(1, t->form.work_size);
    int bad = !q || !work;
    if (!bad) {
        workspace w = open_work(t, work);
        from_absolute(0, t->m->p0, t->m->p0 + t->m->np, q, q + t->nq, work, (void *)t);
        t->recursion->place(t, q, NULL, w.state, w.pool);
        bad = t->recursion->eliminate(t, w.state, w.pool);
    }
    free(q);
    free(work);
    return bad;
}

void mbs_build_joint_form(mbs_mechanism *m)
{
    size_t nb = (size_t)m->nbody + 1;
    mbs_tree *t = dae_arena_take(m->arena, 1, sizeof *t);
    int *joint = dae_arena_ints(m->arena, 3 * nb);
    if (m->friction || !t || !joint) return; /* friction needs the forces in the joints */
    t->m = m;
    t->recursion = m->planar ? &mbs_recursion_plane : &mbs_recursion_space;
    t->link = dae_arena_take(m->arena, nb, sizeof *t->link);
    t->link_of = dae_arena_ints(m->arena, nb);
    t->loop_group = dae_arena_ints(m->arena, (size_t)m->nrows + 1);
    t->first_loop_row = dae_arena_ints(m->arena, (size_t)m->nrows + 2);
    t->source = dae_arena_ints(m->arena, 13 * nb);
    if (dae_arena_failed(m->arena)) return;
    choose_joints(m, joint);
    number_links(t, joint, joint + nb, joint + 2 * nb);
    set_links(t, joint);
    set_sources(t);
    find_loops(t, joint);
    t->with_loads = m->nforce > 0 || t->nloop > 0;
    workspace w;
    t->form = (dae_joint_form){.nq = t->nq,
                               .ns = t->ns,
                               .nloop = t->nloop,
                               .source = t->source,
                               .work_size = carve(t, NULL, &w),
                               .from_absolute = from_absolute,
                               .to_absolute = to_absolute,
                               .rates = rates,
                               .project = t->nloop || t->nq > t->ns ? project : NULL,
                               .user = t};
    if (lacks_inertia(t)) return;
    m->tree = t;
    m->system.mech.joint = &t->form;
}

mbs_tree *mbs_tree_copy(const mbs_tree *t, mbs_mechanism *m, dae_arena *arena)
{
    mbs_tree *copy = dae_arena_copy(arena, t, 1, sizeof *t);
    if (!copy) return NULL;
    copy->m = m;
    copy->form.user = copy;
    return copy;
}
