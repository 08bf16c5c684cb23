/* Kinematics of one evaluation: poses of the bodies, points, axes, coordinates of joints. */
#include "multibody/mechanism.h"

#include <string.h>

/* ---- Poses ------------------------------------------------------------------------------------------- */

static void set_position(const mbs_mechanism *m, const double *p, mbs_pose *x)
{
    if (m->planar) {
        x->r[0] = p[0], x->r[1] = p[1], x->r[2] = 0;
        x->angle = p[2];
        mbs_plane_matrix(p[2], x->A);
    } else {
        mbs_set(x->r, p);
        mbs_quaternion_matrix(p + 3, x->A);
        x->angle = 0;
        x->e = p + 3;
    }
}

static void set_velocities(const mbs_mechanism *m, const double *v, mbs_pose *pose)
{
    static const double none[6];
    for (int k = 1; k <= m->nbody; k++) {
        mbs_pose *x = &pose[k];
        const double *w = v ? v + (k - 1) * m->bv : none;
        if (m->planar) {
            x->v[0] = w[0], x->v[1] = w[1], x->v[2] = 0;
            x->w[0] = x->w[1] = 0, x->w[2] = w[2];
        } else {
            mbs_set(x->v, w);
            mbs_set(x->w, w + 3);
        }
    }
}

void mbs_set_poses(const mbs_mechanism *m, const double *p, const double *v, mbs_pose *pose)
{
    for (int k = 1; k <= m->nbody; k++) set_position(m, p + (k - 1) * m->bp, &pose[k]);
    set_velocities(m, v, pose);
}

mbs_context mbs_begin(const mbs_mechanism *m, double t, const double *p, const double *v)
{
    mbs_data *d = mbs_take(m, 0);
    mbs_set_poses(m, p, v, d->pose);
    return (mbs_context){.m = m,
                         .t = t,
                         .v = v,
                         .pose = d->pose,
                         .work = d->work,
                         .scratch = d->work + mbs_scratch_at(m),
                         .data = d};
}

/* A cache: poses (the ground first), the positions that they belong to, work space of expressions. */
size_t mbs_cache_size(const mbs_mechanism *m)
{
    return ((size_t)m->nbody + 1) * sizeof(mbs_pose) + ((size_t)m->np + mbs_work(m)) * sizeof(double);
}

mbs_context mbs_begin_at(const mbs_mechanism *m, const dae_mech_point *y)
{
    if (!y->cache) {
        mbs_context x = mbs_begin(m, y->t, y->p, y->v);
        x.u = y->u;
        x.lambda = y->lambda;
        return x;
    }
    mbs_pose *pose = y->cache;
    double *p = (double *)(pose + m->nbody + 1);
    if (pose[0].A[0] == 0 || memcmp(p, y->p, (size_t)m->np * sizeof *p) != 0) {
        pose[0].A[0] = pose[0].A[4] = pose[0].A[8] = 1;
        memcpy(p, y->p, (size_t)m->np * sizeof *p);
        for (int k = 1; k <= m->nbody; k++) set_position(m, p + (k - 1) * m->bp, &pose[k]);
    }
    if (y->v) set_velocities(m, y->v, pose);
    return (mbs_context){.m = m,
                         .t = y->t,
                         .v = y->v,
                         .u = y->u,
                         .lambda = y->lambda,
                         .pose = pose,
                         .work = p + m->np,
                         .scratch = p + m->np + mbs_scratch_at(m)};
}

static mbs_context clear_derivatives(const mbs_mechanism *m, mbs_data *s, double t, const double *p,
                                     const double *v)
{
    mbs_set_poses(m, p, v, s->pose);
    memset(s->f, 0, (size_t)m->nv * sizeof *s->f);
    memset(s->J, 0, (size_t)m->nv * (size_t)m->nz * sizeof *s->J);
    s->known = 0;
    return (mbs_context){.m = m,
                         .t = t,
                         .v = v,
                         .pose = s->pose,
                         .work = s->work,
                         .scratch = s->work + mbs_scratch_at(m),
                         .data = s,
                         .f = s->f,
                         .J = s->J,
                         .nz = m->nz,
                         .heap = s->heap};
}

mbs_context mbs_begin_derivatives(const mbs_mechanism *m, double t, const double *p, const double *v)
{
    return clear_derivatives(m, mbs_take(m, 1), t, p, v);
}

/* n numbers behind *at are those of from (zeros for NULL): 1; else they become it: 0. */
static int same(double **at, const double *from, int n)
{
    int equal = 1;
    for (int i = 0; i < n; i++) {
        double x = from ? from[i] : 0;
        equal &= (*at)[i] == x;
        (*at)[i] = x;
    }
    *at += n;
    return equal;
}

int mbs_begin_derivatives_at(const mbs_mechanism *m, const dae_mech_point *y, mbs_context *x)
{
    mbs_data *s = mbs_take(m, 1);
    double *at = s->key;
    int known = s->known;
    known &= same(&at, &y->t, 1);
    known &= same(&at, y->p, m->np);
    known &= same(&at, y->v, m->nv);
    known &= same(&at, y->u, m->nu);
    known &= same(&at, y->lambda, m->nlambda);
    unsigned sides = 2166136261u; /* FNV-1a */
    for (int i = 0; m->side && i < m->nside; i++) sides = (sides ^ (unsigned)m->side[i]) * 16777619u;
    known &= s->sides == sides;
    s->sides = sides;
    if (known) {
        *x = (mbs_context){.m = m, .t = y->t, .data = s, .f = s->f, .J = s->J, .nz = m->nz};
        return 1;
    }
    *x = clear_derivatives(m, s, y->t, y->p, y->v);
    x->u = y->u;
    x->lambda = y->lambda;
    s->known = 1;
    return 0;
}

void mbs_end(mbs_context *x)
{
    if (x->data) mbs_give(x->m, x->data);
}

/* ---- Points and axes --------------------------------------------------------------------------------- */

void mbs_column(const double *C, int k, double *out)
{
    for (int i = 0; i < 3; i++) out[i] = C[3 * i + k];
}

void mbs_axis_rate(const mbs_context *x, int body, const double *a, double *out)
{
    double c[3];
    mbs_cross(x->pose[body].w, a, c);
    mbs_rotate(x->pose[body].A, c, out);
}

void mbs_axis_bias(const mbs_context *x, int body, const double *a, double *out)
{
    double c[3], cc[3];
    mbs_cross(x->pose[body].w, a, c);
    mbs_cross(x->pose[body].w, c, cc);
    mbs_rotate(x->pose[body].A, cc, out);
}

void mbs_point_position(const mbs_context *x, const mbs_frame *f, double *out)
{
    mbs_axis(x, f->body, f->s, out);
    for (int k = 0; k < 3; k++) out[k] += x->pose[f->body].r[k];
}

void mbs_point_velocity(const mbs_context *x, const mbs_frame *f, double *out)
{
    mbs_axis_rate(x, f->body, f->s, out);
    for (int k = 0; k < 3; k++) out[k] += x->pose[f->body].v[k];
}

void mbs_point_bias(const mbs_context *x, const mbs_frame *f, double *out)
{
    mbs_axis_bias(x, f->body, f->s, out);
}

typedef void point_fn(const mbs_context *x, const mbs_frame *f, double *out);

static void difference(point_fn *fn, const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d)
{
    double a[3];
    fn(x, i, a);
    fn(x, j, d);
    for (int k = 0; k < 3; k++) d[k] -= a[k];
}

void mbs_separation(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d)
{
    difference(mbs_point_position, x, i, j, d);
}

void mbs_separation_rate(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d)
{
    difference(mbs_point_velocity, x, i, j, d);
}

void mbs_separation_bias(const mbs_context *x, const mbs_frame *i, const mbs_frame *j, double *d)
{
    difference(mbs_point_bias, x, i, j, d);
}

/* w . (v + A (omega x s)) = w . v + (s x A^T w) . omega */
double mbs_distance_bias(const mbs_context *x, int body, const double *axis, const mbs_frame *i,
                         const mbs_frame *j)
{
    double a[3], a1[3], a2[3], d[3], d1[3], d2[3];
    mbs_axis(x, body, axis, a);
    mbs_axis_rate(x, body, axis, a1);
    mbs_axis_bias(x, body, axis, a2);
    mbs_separation(x, i, j, d);
    mbs_separation_rate(x, i, j, d1);
    mbs_separation_bias(x, i, j, d2);
    return mbs_dot(a2, d) + 2 * mbs_dot(a1, d1) + mbs_dot(a, d2);
}

void mbs_row_of_point(const mbs_context *x, const mbs_frame *f, const double *w, double sign, double *row6)
{
    double b[3], c[3];
    mbs_rotate_back(x->pose[f->body].A, w, b);
    mbs_cross(f->s, b, c);
    for (int k = 0; k < 3; k++) {
        row6[k] += sign * w[k];
        row6[3 + k] += sign * c[k];
    }
}

/* ---- Coordinates of joints --------------------------------------------------------------------------- */

/* The global axis of an angle or slide. */
static void coordinate_axis(const mbs_context *x, const mbs_coordinate *q, double *h)
{
    double local[3] = {0, 0, 1};
    if (q->kind == MBS_ANGLE && x->m->planar) {
        mbs_set(h, local);
        return;
    }
    mbs_column(q->i.C, 2, local);
    mbs_axis(x, q->i.body, local, h);
}

static double spatial_angle(const mbs_context *x, const mbs_coordinate *q)
{
    double c[3], fi[3], gi[3], fj[3];
    mbs_column(q->i.C, 0, c);
    mbs_axis(x, q->i.body, c, fi);
    mbs_column(q->i.C, 1, c);
    mbs_axis(x, q->i.body, c, gi);
    mbs_column(q->j.C, 0, c);
    mbs_axis(x, q->j.body, c, fj);
    return atan2(mbs_dot(gi, fj), mbs_dot(fi, fj));
}

double mbs_coordinate_value(const mbs_context *x, const mbs_coordinate *q)
{
    double d[3], h[3];
    if (q->kind == MBS_ANGLE && x->m->planar)
        return x->pose[q->j.body].angle - x->pose[q->i.body].angle - q->offset;
    if (q->kind == MBS_ANGLE) return spatial_angle(x, q);
    mbs_separation(x, &q->i, &q->j, d);
    if (q->kind == MBS_LENGTH) return mbs_norm(d);
    coordinate_axis(x, q, h);
    return mbs_dot(h, d);
}

/* Angle: h . (omega_j - omega_i). Slide: d/dt (h . d). Length: u . d'. */
void mbs_coordinate_row(const mbs_context *x, const mbs_coordinate *q, double factor, double *row_i,
                        double *row_j)
{
    double d[3], h[3], n[3];
    if (q->kind == MBS_ANGLE) {
        coordinate_axis(x, q, h);
        mbs_row_of_rotation(x, q->j.body, h, factor, row_j);
        mbs_row_of_rotation(x, q->i.body, h, -factor, row_i);
        return;
    }
    mbs_separation(x, &q->i, &q->j, d);
    if (q->kind == MBS_LENGTH) {
        double length = mbs_norm(d);
        for (int k = 0; k < 3; k++) h[k] = d[k] / length;
    } else {
        coordinate_axis(x, q, h);
        mbs_cross(h, d, n);
        mbs_row_of_rotation(x, q->i.body, n, factor, row_i);
    }
    mbs_row_of_point(x, &q->j, h, factor, row_j);
    mbs_row_of_point(x, &q->i, h, -factor, row_i);
}

/* The same times the velocities. */
double mbs_coordinate_rate(const mbs_context *x, const mbs_coordinate *q)
{
    const mbs_pose *i = &x->pose[q->i.body], *j = &x->pose[q->j.body];
    double c[3], h[3], d[3], d1[3], w[3];
    if (q->kind == MBS_ANGLE && x->m->planar) return j->w[2] - i->w[2];
    mbs_column(q->i.C, 2, c);
    if (q->kind == MBS_ANGLE) { /* h = A_i c */
        mbs_axis(x, q->i.body, c, h);
        mbs_rotate(j->A, j->w, w);
        return mbs_dot(h, w) - mbs_dot(c, i->w);
    }
    mbs_separation(x, &q->i, &q->j, d);
    mbs_separation_rate(x, &q->i, &q->j, d1);
    if (q->kind == MBS_LENGTH) return mbs_dot(d, d1) / mbs_norm(d);
    mbs_axis(x, q->i.body, c, h);
    mbs_axis_rate(x, q->i.body, c, w);
    return mbs_dot(h, d1) + mbs_dot(w, d);
}

double mbs_coordinate_bias(const mbs_context *x, const mbs_coordinate *q)
{
    double d[3], d1[3], d2[3], h[3], c[3], w[3];
    const mbs_pose *i = &x->pose[q->i.body], *j = &x->pose[q->j.body];
    if (q->kind == MBS_ANGLE) {
        if (x->m->planar) return 0;
        mbs_column(q->i.C, 2, c);
        mbs_axis_rate(x, q->i.body, c, h);
        mbs_rotate(j->A, j->w, w);
        return mbs_dot(h, w);
    }
    (void)i;
    mbs_separation(x, &q->i, &q->j, d);
    mbs_separation_rate(x, &q->i, &q->j, d1);
    mbs_separation_bias(x, &q->i, &q->j, d2);
    if (q->kind == MBS_LENGTH) {
        double length = mbs_norm(d), rate = mbs_dot(d, d1) / length;
        return (mbs_dot(d1, d1) - rate * rate + mbs_dot(d, d2)) / length;
    }
    double h1[3], h2[3];
    mbs_column(q->i.C, 2, c);
    mbs_axis(x, q->i.body, c, h);
    mbs_axis_rate(x, q->i.body, c, h1);
    mbs_axis_bias(x, q->i.body, c, h2);
    return mbs_dot(h2, d) + 2 * mbs_dot(h1, d1) + mbs_dot(h, d2);
}

void mbs_motion(const mbs_context *x, int expression, double c[3])
{
    const dae_expression *e = x->m->expression[expression];
    double t = x->t, one = 1, zero = 0;
    c[0] = dae_expression_curve_on(e, mbs_expression_sides(x, expression), &t, &one, &zero, c + 1, x->work);
}
