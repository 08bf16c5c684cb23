/* Joint coordinates of a mechanism: the tree of links, the way from bodies to joints and back, loops.
 *
 * What stays outside the tree (joints that close loops, drivers, gears, rolling) are rows G a = -gamma in the velocities of
 * the bodies. Their multipliers come from a small Schur complement: column j of -G H^-1 G^T is the acceleration that
 * the tree shows under the load of row j alone, one more walk over the links with the factors that are there. The same
 * system moves positions and velocities back onto the loops, in the metric of the mass matrix. */
#include "multibody/joint_coordinates.h"

#include "linalg/kernel.h"
#include "multibody/external.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

enum { max_corrections = 12 };
#define CLOSED 1e-13     /* loops: residual that is as good as zero, in SI units; ours */
#define ACCEPTABLE 1e-10 /* if rounding stops the iteration before; ours */
/* Loops near a singular pose, by the part of a diagonal that is left: looked at; decided by rounding; bent, times the residual; ours */
#define SUSPECT 1e-3
#define ROUNDED 1e-10
#define BENT 1e2
#define ON_TREE 1e-9    /* a state of the bodies whose joints are open by less is one of the tree; ours */
#define UNBALANCED 1e-9 /* of the forces on a body: what its joint may leave; ours */
#define SAME_POSE 1e-4  /* a pose that differs by more does not belong to the tree; ours */

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
                     mbs_work(m),
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

/* ---- From joints to bodies -------------------------------------------------------------------------------- */

/* The pose of a body that nothing holds is its coordinates. */
static void pose_of_lone(const mbs_tree *t, const workspace *w, int n, const double *q, const double *s,
                         mbs_pose *x)
{
    const mbs_link *k = &t->link[n];
    static const double none[6];
    q += k->q;
    s = s ? s + k->s : none;
    mbs_set(x->v, s);
    mbs_set(x->r, q);
    if (t->m->planar) {
        double c = cos(q[2]), d = sin(q[2]);
        x->r[2] = x->v[2] = x->w[0] = x->w[1] = 0;
        x->angle = q[2];
        x->w[2] = s[2];
        memset(x->A, 0, sizeof x->A);
        x->A[0] = x->A[4] = c, x->A[3] = d, x->A[1] = -d, x->A[8] = 1;
        return;
    }
    memcpy(x->A, ((const mbs_link_state *)w->state)[n].A, sizeof x->A);
    mbs_set(x->w, s + 3);
    x->angle = 0;
    x->e = w->e + 4 * n;
    k->motion->quaternion(k, q, w->e + 4 * n);
    for (int i = 0; i < 4; i++) w->e[4 * n + i] *= w->sign[n];
}

/* Poses of the bodies from the states of the links; held: without lone bodies. */
static void poses_of(const mbs_tree *t, const workspace *w, const double *q, const double *s, int held)
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
        if (k->lone) {
            if (!held) pose_of_lone(t, w, n, q, s, x);
            continue;
        }
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
            k->motion->quaternion(k, q + k->q, d);
            mbs_quaternion_product(w->e + 4 * k->parent, d, e);
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
    t->recursion->place(t, q, s, 1, NULL, w.state, w.pool);
    poses_of(t, &w, q, s, 1);
    for (int k = 1; k <= m->nbody; k++, p += m->bp, v += m->bv) {
        const mbs_pose *x = &w.pose[k];
        const mbs_link *link = &t->link[t->link_of[k]];
        if (link->lone) {
            memcpy(p, q + link->q, (size_t)m->bp * sizeof *p);
            memcpy(v, s + link->s, (size_t)m->bv * sizeof *v);
            if (m->planar) continue;
            mbs_quaternion_normalize(p + 3);
            for (int i = 0; i < 4; i++) p[3 + i] *= w.sign[t->link_of[k]];
            continue;
        }
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

/* Angle and orientation of a body against its parent. */
static void set_orientation(const mbs_tree *t, const mbs_link *k, mbs_fit *x)
{
    double a[4], b[4];
    if (t->m->planar) {
        x->angle = x->body->angle - x->parent->angle - k->offset;
        return;
    }
    const double ground[4] = {1, 0, 0, 0};
    mbs_quaternion_conjugate(x->parent->e ? x->parent->e : ground, a);
    mbs_quaternion_product(a, x->body->e, x->e);
    if (!k->hinge) mbs_quaternion_normalize(x->e); /* an angle has no length */
    mbs_quaternion_conjugate(k->ei, a);
    mbs_quaternion_product(a, x->e, b);
    mbs_quaternion_product(b, k->ej, a); /* of the joint frames */
    x->angle = 2 * (a[0] < 0 ? atan2(-a[3], -a[0]) : atan2(a[3], a[0]));
}

/* Relative angular velocity and its part along h. */
static void set_turning(const mbs_tree *t, const mbs_link *k, mbs_fit *x)
{
    double omega_p[3], omega[3], local[3] = {k->axis[2], k->axis[5], k->axis[8]}, h[3];
    if (t->m->planar) {
        x->omega[0] = x->omega[1] = 0;
        x->turn = x->omega[2] = x->body->w[2] - x->parent->w[2];
        return;
    }
    mbs_rotate(x->parent->A, x->parent->w, omega_p);
    mbs_rotate(x->body->A, x->body->w, omega);
    mbs_rotate(x->parent->A, local, h);
    for (int i = 0; i < 3; i++) x->omega[i] = omega[i] - omega_p[i];
    x->turn = mbs_dot(h, x->omega);
}

/* From point to point in the frame on the parent, and its rate. */
static void set_sliding(const mbs_link *k, mbs_fit *x)
{
    const mbs_pose *parent = x->parent, *body = x->body;
    double axes[9], u[3], b[3], d[3], omega_p[3], omega[3], sigma[3], l[3], r[3];
    mbs_multiply(parent->A, k->axis, axes);
    mbs_rotate(parent->A, k->si, u);
    mbs_rotate(body->A, k->sj, b);
    mbs_rotate(parent->A, parent->w, omega_p);
    mbs_rotate(body->A, body->w, omega);
    for (int i = 0; i < 3; i++) {
        d[i] = body->r[i] + b[i] - parent->r[i] - u[i];
        u[i] += d[i];
    }
    mbs_rotate_back(axes, d, x->slide);
    mbs_cross(omega, b, l);
    mbs_cross(omega_p, u, r);
    for (int i = 0; i < 3; i++) sigma[i] = body->v[i] + l[i] - parent->v[i] - r[i];
    mbs_rotate_back(axes, sigma, x->slide_rate);
}

/* The signs of the Euler parameters that follow from q, so that they come back as they are in p. */
static void set_signs(const mbs_tree *t, const workspace *w, const double *p, const double *q)
{
    for (int n = 1; n <= t->n && !t->m->planar; n++) {
        const mbs_link *k = &t->link[n];
        const double ground[4] = {1, 0, 0, 0}, *have = p + 7 * (k->body - 1) + 3;
        double d[4], e[4];
        int on = t->link[k->parent].body;
        k->motion->quaternion(k, q + k->q, d);
        mbs_quaternion_product(on ? p + 7 * (on - 1) + 3 : ground, d, e);
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

/* Coordinates and rates of the joints that come nearest to (p, v), and the links there; the poses are those of (p, v). only_links: of
 * hinges the links alone, q is not set. */
static void fit_joints(const mbs_tree *t, const workspace *w, const double *p, const double *v,
                       int only_links, double *q, double *s)
{
    memset(&w->pose[0], 0, sizeof w->pose[0]);
    w->pose[0].A[0] = w->pose[0].A[4] = w->pose[0].A[8] = 1;
    mbs_set_poses(t->m, p, v, w->pose);
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        int plain = k->hinge && only_links;
        mbs_fit fit;
        fit.parent = &w->pose[t->link[k->parent].body];
        fit.body = &w->pose[k->body];
        if (!plain) set_orientation(t, k, &fit);
        set_turning(t, k, &fit);
        if (!k->hinge) set_sliding(k, &fit);
        if (!plain) k->motion->fit(k, &fit, q + k->q);
        k->motion->rates(k, &fit, s + k->s);
    }
    t->recursion->place(t, q, s, 0, only_links ? w->pose : NULL, w->state, w->pool);
}

static int from_absolute(double time, const double *p, const double *v, double *q, double *s, void *work,
                         void *user)
{
    const mbs_tree *t = user;
    workspace w = open_work(t, work);
    (void)time;
    fit_joints(t, &w, p, v, 0, q, s);
    set_signs(t, &w, p, q);
    poses_of(t, &w, q, s, 0);
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

/* What row i can move were its bodies free: the size that G M^-1 G^T has in every pose. */
static double freedom_of(const mbs_tree *t, const workspace *w, const mbs_row *r, int i)
{
    const mbs_mechanism *m = t->m;
    double sum = 0;
    for (int b = 0; b < r->nbody; b++) {
        int k = r->body[b] - 1;
        const double *row = w->row + 24 * i + 6 * b;
        if (k < 0) continue;
        if (m->mass[k] > 0) sum += (row[0] * row[0] + row[1] * row[1] + row[2] * row[2]) / m->mass[k];
        for (int c = m->planar ? 2 : 0; c < 3; c++) {
            double I = m->inertia[9 * k + 4 * c];
            if (I > 0) sum += row[3 + c] * row[3 + c] / I;
        }
    }
    return sum;
}

/* -G H^-1 G^T, factored by Cholesky; n: rows that count. The least part that the other rows leave of a diagonal, by what free bodies would
 * have there: the square of how far the rows are from being dependent; 0: singular. */
static double factor_loops(const mbs_tree *t, const workspace *w, int n)
{
    int nl = t->nloop;
    double least = 1;
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
            if (i == j && !(sum > 1e-15 * whole)) return 0;
            L[i * nl + j] = i == j ? 1 / sqrt(sum) : sum * L[j * nl + j];
        }
    }
    for (int g = 0; g < t->nloop_group; g++) {
        for (int i = t->first_loop_row[g]; i < t->first_loop_row[g + 1] && i < n; i++) {
            double inverse = L[i * nl + i], free = freedom_of(t, w, &t->m->row[t->loop_group[g]], i);
            if (free > 0) least = fmin(least, 1 / (inverse * inverse * free));
        }
    }
    return least;
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
        int plain = k->motion->turns ? k->dof - 3 : k->dof;
        for (int i = 0; i < plain; i++) out[i] = w[i];
        if (!k->motion->turns) continue;
        out += plain, w += plain, e += plain;
        out[0] = 0.5 * (-e[1] * w[0] - e[2] * w[1] - e[3] * w[2]);
        out[1] = 0.5 * (e[0] * w[0] - e[3] * w[1] + e[2] * w[2]);
        out[2] = 0.5 * (e[3] * w[0] + e[0] * w[1] - e[1] * w[2]);
        out[3] = 0.5 * (-e[2] * w[0] + e[1] * w[1] + e[0] * w[2]);
    }
}

static mbs_context context_of(const mbs_tree *t, const workspace *w, double time, const double *u)
{
    return (mbs_context){.m = t->m,
                         .t = time,
                         .u = u,
                         .pose = w->pose,
                         .work = w->expression,
                         .scratch = w->expression + mbs_scratch_at(t->m),
                         .f = w->f};
}

static void forces_of(mbs_context *x)
{
    memset(x->f, 0, (size_t)x->m->nv * sizeof *x->f);
    mbs_apply_forces(x);
}

/* All loads of the bodies as bias forces. */
static void apply_loads(const mbs_tree *t, const workspace *w, mbs_context *x)
{
    const mbs_mechanism *m = t->m;
    forces_of(x);
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

/* Loads of placed links, or the acceleration of the ground: one that falls upwards has the effect of gravity. */
static void set_loads(const mbs_tree *t, const workspace *w, mbs_context *x, double *base)
{
    if (t->with_loads) apply_loads(t, w, x);
    for (int i = 0; !t->with_loads && i < (t->m->planar ? 2 : 3); i++) base[i] = -t->m->gravity[i];
}

/* Links at (q, s) with their loads. */
static void place_with_loads(const mbs_tree *t, const workspace *w, mbs_context *x, const double *q,
                             const double *s, double *base)
{
    t->recursion->place(t, q, s, 0, NULL, w->state, w->pool);
    if (t->with_loads) poses_of(t, w, q, s, 0);
    set_loads(t, w, x, base);
}

static int torques(double time, const double *y, const double *sdot, double *tau, void *work, void *user)
{
    const mbs_tree *t = user;
    workspace w = open_work(t, work);
    double base[6] = {0};
    mbs_context x = context_of(t, &w, time, y + t->nq + t->ns);
    place_with_loads(t, &w, &x, y, y + t->nq, base);
    t->recursion->torques(t, base, w.state, w.pool, sdot, tau);
    return 0;
}

/* Near a singular pose two motions cross (a slider-crank of equal lengths at 90 degrees: the slider goes on, or stays while crank and rod
 * turn together). Loops that are off by g, relative to the mechanism, bend each into the other where the rows are dependent but for less than
 * about sqrt(g): what was accurate there would be the motion of another mechanism. Such points are not evaluated; smaller steps
 * are off by less, and pass. Nor is what rounding decides. */
static int is_undecided(const mbs_tree *t, const workspace *w, mbs_context *x, double least)
{
    double size = DBL_MIN, off = 0;
    rows_of(t, w, x, LOOP_POSITION, w->gamma);
    for (int i = 0; i < t->nloop_g; i++) off = fmax(off, fabs(w->gamma[i]));
    for (int n = 1; n <= t->m->nbody; n++) {
        for (int i = 0; i < 3; i++) size = fmax(size, fabs(w->pose[n].r[i]));
    }
    return !(least > fmax(ROUNDED, BENT * off / size));
}

static int rates(double time, const double *y, double *yp, void *work, void *user)
{
    const mbs_tree *t = user;
    const mbs_mechanism *m = t->m;
    workspace w = open_work(t, work);
    const double *q = y, *s = q + t->nq, *u = s + t->ns;
    double *sdot = yp + t->nq, base[6] = {0};
    mbs_context x = context_of(t, &w, time, u);
    place_with_loads(t, &w, &x, q, s, base);
    if (t->recursion->eliminate(t, w.state, w.pool)) return 1;
    t->recursion->accelerate(t, base, w.state, w.pool, sdot);
    position_rates(t, q, s, yp);
    if (t->nloop) { /* G (a + da) = -gamma */
        rows_of(t, &w, &x, LOOP_ACCELERATION, w.gamma);
        rows_times(t, &w, w.lambda);
        for (int i = 0; i < t->nloop; i++) w.lambda[i] += w.gamma[i];
        double least = factor_loops(t, &w, t->nloop);
        if (least < SUSPECT && is_undecided(t, &w, &x, least)) return 1;
        solve_loops(t, &w, t->nloop, w.lambda);
        for (int i = 0; i < t->ns; i++) sdot[i] += w.sdot[i];
    }
    for (int k = 0; m->nu && k < m->nforce; k++) {
        if (m->force[k].type->dynamics)
            m->force[k].type->dynamics(&m->force[k], &x, sdot + t->ns + m->force[k].u);
    }
    mbs_external_dynamics(&x, sdot + t->ns + m->external_u);
    return 0;
}

/* ---- Accelerations of the bodies --------------------------------------------------------------------------- */

/* How far the axes of a hinge are apart in space: on the body, and as the parent has it. */
static double off_axis(const mbs_link *k, const mbs_pose *x, const double *S)
{
    double h[3];
    mbs_rotate(x->A, k->other, h);
    return fabs(h[0] - S[3]) + fabs(h[1] - S[4]) + fabs(h[2] - S[5]);
}

/* 1: (p, v) is not on the tree; what belongs to its joints would be an answer for another state. The links are placed by their joints, the
 * poses by (p, v): each body against the one that it hangs on. */
static int is_elsewhere(const mbs_tree *t, const workspace *w, const double *s)
{
    int planar = t->m->planar, bv = t->m->bv;
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        const mbs_pose *x = &w->pose[k->body], *parent = &w->pose[t->link[k->parent].body];
        const double *S = w->pool + k->pool, *c;
        double v[3], l[3], far = 0, fast = 0, size = 1, speed = 1;
        if (k->lone) continue;
        if (planar) {
            const mbs_plane_state *y = (const mbs_plane_state *)w->state + n;
            c = y->c;
            far = fabs(y->angle - x->angle);
            fast = fabs(y->omega - x->w[2]);
            speed += fabs(x->w[2]);
            l[0] = -parent->w[2] * c[1], l[1] = parent->w[2] * c[0];
        } else {
            const mbs_link_state *y = (const mbs_link_state *)w->state + n;
            c = y->c;
            mbs_cross(y[k->parent - n].omega, c, l); /* it was compared before */
            mbs_rotate(x->A, x->w, v);
            if (k->hinge) far = off_axis(k, x, S);
            for (int i = 0; i < 9 && !k->hinge; i++) far += fabs(y->A[i] - x->A[i]);
            for (int i = 0; i < 3; i++) fast += fabs(y->omega[i] - v[i]);
        }
        for (int i = 0; i < (planar ? 2 : 3); i++) {
            double rate = parent->v[i] + l[i];
            for (int j = 0; j < k->dof; j++) rate += S[bv * j + i] * s[k->s + j];
            far += fabs(parent->r[i] + c[i] - x->r[i]);
            fast += fabs(rate - x->v[i]);
            size += fabs(x->r[i]);
            speed += fabs(x->v[i]) + fabs(x->w[i]);
        }
        if (!(far <= ON_TREE * size && fast <= ON_TREE * speed)) return 1;
    }
    return 0;
}

/* (r'', A^T omega') of all bodies; base: the acceleration of the ground that stands for gravity. */
static void body_accelerations(const mbs_tree *t, const workspace *w, const double *base, double *a)
{
    for (int n = 1; n <= t->n; n++) {
        int body = t->link[n].body;
        const double *p = force_of(t, w, n);
        double *out = a + (size_t)t->m->bv * (size_t)(body - 1);
        for (int i = 0; i < 3; i++) out[i] = p[i] - (t->m->planar && i == 2 ? 0 : base[i]);
        if (!t->m->planar) mbs_rotate_back(((const mbs_link_state *)w->state)[n].A, p + 3, out + 3);
    }
}

/* f -= M a */
static void subtract_inertia(const mbs_mechanism *m, const double *a, double *f)
{
    for (int k = 0; k < m->nbody; k++, a += m->bv, f += m->bv) {
        const double *J = m->inertia + 9 * k;
        for (int i = 0; i < (m->planar ? 2 : 3); i++) f[i] -= m->mass[k] * a[i];
        if (m->planar) f[2] -= J[8] * a[2];
        for (int i = 0; i < 3 && !m->planar; i++) f[3 + i] -= mbs_dot(J + 3 * i, a + 3);
    }
}

/* The rows of the joint that a link hangs on: 6 velocities of its body and of the parent each. */
typedef struct joint_rows {
    int count, system[6]; /* rows that count, their numbers in the system */
    int at_point; /* the first so many hold a point in all directions, the others only turns; 0: none */
    const double *own[6], *parent[6];
    double value[6 * 24];
} joint_rows;

/* The velocities of a row that are looked at: x, y and the turn; all six; the turns. */
typedef enum velocities { PLANE, SPACE, TURNS } velocities;

DAE_KERNEL_BODY int velocity_of(const velocities of, int c)
{
    return of == PLANE && c == 2 ? 5 : of == TURNS ? 3 + c : c;
}

/* lambda = (G G^T)^-1 G f, G G^T = L D L^T; what G^T lambda leaves of f goes to `left`. 1: the rows are dependent. */
DAE_KERNEL_BODY int least(const int n, const velocities of, const double *const G[], const double *f,
                          double enough, double *lambda, double *left)
{
    const int bv = of == SPACE ? 6 : 3;
    double L[6][6], LD[6][6], inverse[6]; /* of D */
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = 0, whole;
            for (int c = 0; c < bv; c++) sum += G[i][velocity_of(of, c)] * G[j][velocity_of(of, c)];
            whole = sum;
            for (int l = 0; l < j; l++) sum -= L[i][l] * LD[j][l];
            LD[i][j] = sum;
            if (i == j && !(sum > 1e-8 * whole)) return 1;
            if (i == j) inverse[i] = 1 / sum;
            else L[i][j] = sum * inverse[j];
        }
        lambda[i] = 0;
    }
    for (int c = 0; c < bv; c++) left[c] = f[c];
    for (int pass = 0; pass < 2; pass++) { /* once more where the square of the condition is seen */
        double d[6];
        int seen = 0;
        for (int i = 0; i < n; i++) {
            d[i] = 0;
            for (int c = 0; c < bv; c++) d[i] += G[i][velocity_of(of, c)] * left[c];
            for (int l = 0; l < i; l++) d[i] -= L[i][l] * d[l];
        }
        for (int i = n - 1; i >= 0; i--) {
            d[i] *= inverse[i];
            for (int l = i + 1; l < n; l++) d[i] -= L[l][i] * d[l];
            lambda[i] += d[i];
            for (int c = 0; c < bv; c++) left[c] -= G[i][velocity_of(of, c)] * d[i];
        }
        for (int c = 0; c < bv; c++) seen |= !(fabs(left[c]) <= enough);
        if (!seen) break;
    }
    return 0;
}

/* The multipliers of a joint from the force f that it takes. Rows that hold a point have unit vectors there, so that their multipliers are
 * the force at it, and only turns are left. */
static int joint_multipliers(const mbs_mechanism *m, const joint_rows *rows, const double *f, double enough,
                             double *lambda, double *left)
{
    int n = rows->count, k = rows->at_point;
    const double *const *G = rows->own;
    if (!k) return least(n, m->planar ? PLANE : SPACE, G, f, enough, lambda, left);
    for (int c = 0; c < m->bv; c++) left[c] = c < k ? 0 : f[c];
    for (int i = 0; i < k; i++) lambda[i] = G[i][i] * f[i];
    for (int i = 0; i < k && m->planar; i++) left[2] -= G[i][5] * lambda[i];
    if (m->planar) return 0;
    for (int i = 0; i < k; i++) {
        for (int c = 3; c < 6; c++) left[c] -= G[i][c] * lambda[i];
    }
    double turn[3] = {left[3], left[4], left[5]};
    if (n == 5) return least(2, TURNS, G + 3, turn, enough, lambda + 3, left + 3);
    return least(n - k, TURNS, G + k, turn, enough, lambda + k, left + 3);
}

static void add_row(joint_rows *rows, int system, const double *own, const double *parent)
{
    rows->own[rows->count] = own;
    rows->parent[rows->count] = parent;
    rows->system[rows->count++] = system;
}

/* A row whose bodies are more than two, or one twice: parts of the same body are added. 1: it holds other bodies too. */
static int add_many(joint_rows *rows, const mbs_row *row, int i, int body, int parent, double *part)
{
    static const double nothing[6];
    double *own = NULL, *on_parent = NULL;
    for (int b = 0; b < row->nbody; b++, part += 6) {
        double **side = row->body[b] == body ? &own : &on_parent;
        if (row->body[b] != body && row->body[b] != parent) return 1;
        for (int c = 0; *side && c < 6; c++) (*side)[c] += part[c];
        if (!*side) *side = part;
    }
    add_row(rows, row->system[i], own ? own : nothing, on_parent ? on_parent : nothing);
    return 0;
}

/* The rows of one group; value: 24 numbers each. 1: they hold other bodies too. */
static int add_group(joint_rows *rows, const mbs_row *row, const mbs_context *x, int body, int parent,
                     double *value)
{
    int own = row->body[0] == body ? 0 : 1, pair = row->nbody == 2 && row->body[1 - own] != body;
    size_t used = pair ? 12 : 24;
    for (int i = 0; i < row->count; i++) memset(value + 24 * i, 0, used * sizeof *value);
    row->type->jacobian(row, x, value);
    if (pair && (row->body[own] != body || row->body[1 - own] != parent)) return 1;
    for (int i = 0; i < row->count; i++, value += 24) {
        if (row->system[i] < 0) continue;
        if (pair) add_row(rows, row->system[i], value + 6 * own, value + 6 * (1 - own));
        else if (add_many(rows, row, i, body, parent, value)) return 1;
    }
    return 0;
}

/* 1: they hold other bodies too. */
static int rows_of_joint(const mbs_tree *t, const mbs_link *k, const mbs_context *x, joint_rows *rows)
{
    const mbs_mechanism *m = t->m;
    const mbs_joint_data *j = k->joint >= 0 ? &m->joint[k->joint] : NULL;
    int parent = t->link[k->parent].body, used = 0;
    rows->count = rows->at_point = 0;
    for (int g = 0; j && g < j->count; g++) {
        const mbs_row *row = &m->row[j->first + g];
        if (used + row->count > 6) return 1;
        if (add_group(rows, row, x, k->body, parent, rows->value + 24 * used)) return 1;
        used += row->count;
        if (row->type == &mbs_row_coincide && g == 0 && rows->count == row->count)
            rows->at_point = row->count;
        else if (row->type != &mbs_row_dot1) rows->at_point = 0;
    }
    return 0;
}

/* f -= G^T lambda, G the rows on the parent. */
DAE_KERNEL_BODY void hand_on(const velocities of, const joint_rows *rows, const double *lambda, double *f)
{
    const int bv = of == SPACE ? 6 : 3;
    for (int c = 0; c < bv; c++) {
        double sum = f[c];
        for (int i = 0; i < rows->count; i++) sum -= rows->parent[i][velocity_of(of, c)] * lambda[i];
        f[c] = sum;
    }
}

/* From the leaves to the ground: what f - M a leaves on a body is G^T lambda of the joint that it hangs on. 1: it is not. */
static int multipliers(const mbs_tree *t, mbs_context *x, double *f, double *lambda)
{
    const mbs_mechanism *m = t->m;
    int bv = m->bv;
    for (int n = t->n; n > 0; n--) {
        const mbs_link *k = &t->link[n];
        joint_rows rows;
        double value[6], left[6], *own = f + (size_t)bv * (size_t)(k->body - 1), size = 1;
        int parent = t->link[k->parent].body;
        for (int c = 0; c < bv; c++) size += fabs(own[c]);
        if (rows_of_joint(t, k, x, &rows) ||
            joint_multipliers(m, &rows, own, 4 * DBL_EPSILON * size, value, left))
            return 1;
        for (int c = 0; c < bv; c++) {
            if (!(fabs(left[c]) <= UNBALANCED * size)) return 1;
        }
        for (int i = 0; i < rows.count; i++) lambda[rows.system[i]] = value[i];
        if (!parent) continue;
        double *on_parent = f + (size_t)bv * (size_t)(parent - 1);
        if (m->planar) hand_on(PLANE, &rows, value, on_parent);
        else hand_on(SPACE, &rows, value, on_parent);
    }
    return 0;
}

static int tree_acceleration(const mbs_tree *t, double time, const double *y, char *memory, double *a,
                             double *lambda)
{
    const mbs_mechanism *m = t->m;
    size_t nv = (size_t)m->nv;
    double *z = (double *)(void *)(memory + t->form.work_size), *out = z + t->nq + t->ns, base[6] = {0};
    const double *v = y + m->np, *u = v + m->nv;
    workspace w = open_work(t, memory);
    mbs_context x = context_of(t, &w, time, u);
    fit_joints(t, &w, y, v, 1, z, z + t->nq);
    if (is_elsewhere(t, &w, z + t->nq)) return 1;
    set_loads(t, &w, &x, base);
    if (t->recursion->eliminate(t, w.state, w.pool)) return 1;
    t->recursion->accelerate(t, base, w.state, w.pool, w.sdot);
    body_accelerations(t, &w, base, out);
    for (size_t i = 0; !lambda && i < nv; i++) {
        if (!isfinite(out[i])) return 1; /* multipliers would tell */
    }
    if (lambda) {
        if (!t->with_loads) forces_of(&x);
        subtract_inertia(m, out, w.f);
        if (multipliers(t, &x, w.f, lambda)) return 1;
    }
    if (a) memcpy(a, out, nv * sizeof *a);
    return 0;
}

int mbs_tree_acceleration(const mbs_mechanism *m, double time, const double *y, double *a, double *lambda)
{
    const mbs_tree *t = m->tree;
    if (!t || t->nloop || m->friction) return 1;
    mbs_data *d = mbs_take(m, 0); /* fresh pages for every call would take a seventh of it in long chains */
    size_t more = (size_t)(t->nq + t->ns + m->nv) * sizeof(double);
    if (!d->tree_work) d->tree_work = malloc(t->form.work_size + more);
    int bad = d->tree_work ? tree_acceleration(t, time, y, d->tree_work, a, lambda) : -1;
    mbs_give(m, d);
    return bad;
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
        if (k->motion->turns) mbs_quaternion_normalize(q + k->q + k->dof - 3);
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
        t->recursion->place(t, q, s, 0, NULL, w.state, w.pool);
        poses_of(t, &w, q, s, 0);
        rows_of(t, &w, &x, LOOP_POSITION, w.lambda);
        double worst = largest(t->nloop_g, w.lambda);
        if (t->recursion->eliminate(t, w.state, w.pool) || !(factor_loops(t, &w, t->nloop) > 0)) return 1;
        if (worst <= CLOSED || (worst <= ACCEPTABLE && worst > 0.5 * last)) break;
        if (pass == max_corrections || !isfinite(worst)) return 1;
        last = worst;
        if (t->nloop_g < t->nloop && !(factor_loops(t, &w, t->nloop_g) > 0)) return 1;
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

/* How a joint moves in coordinates of its own, NULL: it cannot carry a body. */
static const mbs_relative *motion_of(const mbs_mechanism *m, const mbs_joint_data *j)
{
    return m->planar ? j->type->plane : j->type->space;
}

/* The joint on which every body hangs: the one with its parent that leaves the least freedom; -1: none. */
static void choose_joints(const mbs_mechanism *m, int *joint)
{
    for (int k = 0; k <= m->nbody; k++) joint[k] = -1;
    for (int k = 0; k < m->njoint; k++) {
        const mbs_joint_data *j = &m->joint[k];
        int a = j->i.body, b = j->j.body;
        const mbs_relative *motion = motion_of(m, j);
        int son = b && m->parent[b - 1] == a - 1 ? b : a && m->parent[a - 1] == b - 1 ? a : 0;
        if (!motion || !son) continue;
        if (joint[son] >= 0 && motion_of(m, &m->joint[joint[son]])->dof <= motion->dof) continue;
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
}

static void set_link(const mbs_mechanism *m, int joint, mbs_link *k)
{
    const mbs_joint_data *j = &m->joint[joint];
    int turned = j->j.body != k->body; /* the joint goes from the body to its parent */
    const mbs_frame *i = turned ? &j->j : &j->i, *b = turned ? &j->i : &j->j;
    k->motion = motion_of(m, j);
    mbs_set(k->si, i->s);
    mbs_set(k->sj, b->s);
    memcpy(k->axis, i->C, sizeof k->axis);
    mbs_matrix_to_quaternion(i->C, k->ei);
    mbs_matrix_to_quaternion(b->C, k->ej);
    set_turn(i->C, b->C, k);
    if (k->motion->set) k->motion->set(m, j, turned, k);
}

/* Which of (p, v) have the scale of the coordinates: for tolerances. */
static void set_sources(mbs_tree *t)
{
    const mbs_mechanism *m = t->m;
    int turn_p = m->planar ? 2 : 3, turn_v = m->planar ? 2 : 3;
    for (int n = 1; n <= t->n; n++) {
        const mbs_link *k = &t->link[n];
        for (int i = 0; i < k->dof + k->motion->turns; i++) {
            int slides = k->motion->slides >> i & 1;
            t->source[k->q + i] = m->bp * (k->body - 1) + (slides ? 0 : turn_p);
            if (i < k->dof)
                t->source[t->nq + k->s + i] = m->np + m->bv * (k->body - 1) + (slides ? 0 : turn_v);
        }
    }
}

/* J^-1 by cofactors; 0: J is not positive definite. */
static int invert_inertia(int planar, const double *J, double *inverse)
{
    const double least = 1e-14; /* as the recursion wants it */
    double whole = J[0] * J[4] * J[8],
           c[6] = {J[4] * J[8] - J[5] * J[7], J[2] * J[7] - J[1] * J[8], J[1] * J[5] - J[2] * J[4],
                   J[0] * J[8] - J[2] * J[6], J[2] * J[3] - J[0] * J[5], J[0] * J[4] - J[1] * J[3]};
    double det = J[0] * c[0] + J[3] * c[1] + J[6] * c[2];
    if (planar) {
        inverse[8] = J[8] > 0 ? 1 / J[8] : 0;
        return J[8] > 0;
    }
    if (!(J[0] > 0 && c[5] > least * J[0] * J[4] && det > least * whole)) return 0;
    static const unsigned char at[9] = {0, 1, 2, 1, 3, 4, 2, 4, 5};
    for (int i = 0; i < 9; i++) inverse[i] = c[at[i]] / det;
    return 1;
}

static void set_links(mbs_tree *t, const int *joint)
{
    const mbs_mechanism *m = t->m;
    for (int n = 1; n <= t->n; n++) {
        mbs_link *k = &t->link[n];
        k->motion = m->planar ? &mbs_relative_free_plane : &mbs_relative_free_space;
        k->ei[0] = k->ej[0] = 1;
        memcpy(k->axis, identity, sizeof identity);
        if (joint[k->body] >= 0) set_link(m, joint[k->body], k);
        k->joint = joint[k->body];
        k->hinge = k->motion == &mbs_relative_turn;
        k->dof = k->motion->dof;
        k->q = t->nq;
        k->s = t->ns;
        k->pool = t->pool_size;
        k->mass = m->mass[k->body - 1];
        memcpy(k->J, m->inertia + 9 * (k->body - 1), sizeof k->J);
        t->nq += k->dof + k->motion->turns;
        t->ns += k->dof;
        t->pool_size += (size_t)(k->dof * (2 * m->bv + k->dof + 1));
        k->lone = joint[k->body] < 0 && k->mass > 0 && invert_inertia(m->planar, k->J, k->mobility);
        t->link[k->parent].lone = 0;
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
    int bad = q && work ? 0 : -1;
    if (!bad) {
        workspace w = open_work(t, work);
        from_absolute(0, t->m->p0, t->m->p0 + t->m->np, q, q + t->nq, work, (void *)t);
        t->recursion->place(t, q, NULL, 0, NULL, w.state, w.pool);
        bad = t->recursion->eliminate(t, w.state, w.pool);
    }
    free(q);
    free(work);
    return bad;
}

int mbs_build_joint_form(mbs_mechanism *m)
{
    size_t nb = (size_t)m->nbody + 1;
    mbs_tree *t = dae_arena_take(m->arena, 1, sizeof *t);
    int *joint = dae_arena_ints(m->arena, 3 * nb);
    if (m->friction || !t || !joint) return 0; /* friction needs the forces in the joints */
    t->m = m;
    t->recursion = m->planar ? &mbs_recursion_plane : &mbs_recursion_space;
    t->link = dae_arena_take(m->arena, nb, sizeof *t->link);
    t->link_of = dae_arena_ints(m->arena, nb);
    t->loop_group = dae_arena_ints(m->arena, (size_t)m->nrows + 1);
    t->first_loop_row = dae_arena_ints(m->arena, (size_t)m->nrows + 2);
    t->source = dae_arena_ints(m->arena, 13 * nb);
    if (dae_arena_failed(m->arena)) return -1;
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
                               .torques = torques,
                               .project = t->nloop || t->nq > t->ns ? project : NULL,
                               .user = t};
    int lacks = lacks_inertia(t);
    if (lacks) return lacks < 0 ? -1 : 0;
    m->tree = t;
    m->system.mech.joint = &t->form;
    return 0;
}

mbs_tree *mbs_tree_copy(const mbs_tree *t, mbs_mechanism *m, dae_arena *arena)
{
    mbs_tree *copy = dae_arena_copy(arena, t, 1, sizeof *t);
    if (!copy) return NULL;
    copy->m = m;
    copy->form.user = copy;
    return copy;
}
