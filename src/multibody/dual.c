/* Values with exact derivatives, and the kinematics and forces made of them. */
#include "multibody/dual.h"

#include <string.h>

static double *take(mbs_context *x)
{
    if (!x->nz) return NULL;
    double *g = x->heap + x->used;
    x->used += (size_t)x->nz;
    memset(g, 0, (size_t)x->nz * sizeof *g);
    return g;
}

void mbs_dual_reset(mbs_context *x)
{
    x->used = 0;
}

static void add(const mbs_context *x, double factor, const double *from, double *to)
{
    if (!from || !to) return;
    for (int k = 0; k < x->nz; k++) to[k] += factor * from[k];
}

/* ---- Arithmetic -------------------------------------------------------------------------------------- */

mbs_dual mbs_constant(double value)
{
    return (mbs_dual){value, NULL};
}

mbs_dual mbs_fresh(mbs_context *x, double value)
{
    return (mbs_dual){value, take(x)};
}

void mbs_accumulate(mbs_context *x, double factor, mbs_dual a, mbs_dual *sum)
{
    add(x, factor, a.g, sum->g);
}

mbs_dual mbs_sum(mbs_context *x, double p, mbs_dual a, double q, mbs_dual b)
{
    mbs_dual r = {p * a.x + q * b.x, a.g || b.g ? take(x) : NULL};
    add(x, p, a.g, r.g);
    add(x, q, b.g, r.g);
    return r;
}

mbs_dual mbs_product(mbs_context *x, mbs_dual a, mbs_dual b)
{
    mbs_dual r = {a.x * b.x, a.g || b.g ? take(x) : NULL};
    add(x, b.x, a.g, r.g);
    add(x, a.x, b.g, r.g);
    return r;
}

mbs_dual mbs_chain(mbs_context *x, mbs_dual a, double value, double derivative)
{
    mbs_dual r = {value, a.g ? take(x) : NULL};
    add(x, derivative, a.g, r.g);
    return r;
}

mbs_dual3 mbs_constant3(const double *v)
{
    return (mbs_dual3){{{v[0], NULL}, {v[1], NULL}, {v[2], NULL}}};
}

mbs_dual3 mbs_sum3(mbs_context *x, double p, mbs_dual3 a, double q, mbs_dual3 b)
{
    mbs_dual3 r;
    for (int k = 0; k < 3; k++) r.c[k] = mbs_sum(x, p, a.c[k], q, b.c[k]);
    return r;
}

mbs_dual3 mbs_scale3(mbs_context *x, mbs_dual a, mbs_dual3 v)
{
    mbs_dual3 r;
    for (int k = 0; k < 3; k++) r.c[k] = mbs_product(x, a, v.c[k]);
    return r;
}

mbs_dual mbs_dot3(mbs_context *x, mbs_dual3 a, mbs_dual3 b)
{
    mbs_dual r = {0, x->nz ? take(x) : NULL};
    for (int k = 0; k < 3; k++) {
        r.x += a.c[k].x * b.c[k].x;
        add(x, b.c[k].x, a.c[k].g, r.g);
        add(x, a.c[k].x, b.c[k].g, r.g);
    }
    return r;
}

mbs_dual3 mbs_cross3(mbs_context *x, mbs_dual3 a, mbs_dual3 b)
{
    mbs_dual3 r;
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3;
        r.c[k] = mbs_sum(x, 1, mbs_product(x, a.c[m], b.c[n]), -1, mbs_product(x, a.c[n], b.c[m]));
    }
    return r;
}

mbs_dual mbs_norm3(mbs_context *x, mbs_dual3 a)
{
    mbs_dual s = mbs_dot3(x, a, a);
    double length = sqrt(s.x);
    return mbs_chain(x, s, length, length > 0 ? 0.5 / length : 0);
}

/* ---- Kinematics -------------------------------------------------------------------------------------- */

/* Adds factor to the derivative by position (part 0) or velocity (part 1) c of a body. */
static void seed(const mbs_context *x, double *g, int part, int body, int c, double factor)
{
    int k = mbs_slot_of(x->m, body, c);
    if (g && k >= 0) g[part * x->m->nv + k] += factor;
}

/* Adds the matrix of a -> A (b x a)-like terms: by the rotation of the body, A c moves by -A c~. */
static void seed_rotation(const mbs_context *x, mbs_dual3 *r, int part, int body, const double *c,
                          double sign)
{
    const double *A = x->pose[body].A;
    for (int k = 0; k < 3; k++) {
        double row[3];
        mbs_cross(c, A + 3 * k, row); /* row k of -A c~ */
        for (int i = 0; i < 3; i++) seed(x, r->c[k].g, part, body, 3 + i, sign * row[i]);
    }
}

static mbs_dual3 fresh(mbs_context *x, const double *v)
{
    mbs_dual3 r;
    for (int k = 0; k < 3; k++) r.c[k] = (mbs_dual){v[k], take(x)};
    return r;
}

mbs_dual3 mbs_axis3(mbs_context *x, int body, const double *axis)
{
    double v[3];
    mbs_axis(x, body, axis, v);
    mbs_dual3 r = fresh(x, v);
    seed_rotation(x, &r, 0, body, axis, 1);
    return r;
}

mbs_dual3 mbs_to_global3(mbs_context *x, int body, mbs_dual3 a)
{
    double v[3] = {a.c[0].x, a.c[1].x, a.c[2].x};
    const double *A = x->pose[body].A;
    mbs_dual3 r = mbs_axis3(x, body, v);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 3; i++) add(x, A[3 * k + i], a.c[i].g, r.c[k].g);
    }
    return r;
}

/* A^T a moves by (A^T a)~ with the rotation of the body. */
mbs_dual3 mbs_to_body3(mbs_context *x, int body, mbs_dual3 a)
{
    double g[3] = {a.c[0].x, a.c[1].x, a.c[2].x}, v[3];
    const double *A = x->pose[body].A;
    mbs_rotate_back(A, g, v);
    mbs_dual3 r = fresh(x, v);
    for (int k = 0; k < 3; k++) {
        int m = (k + 1) % 3, n = (k + 2) % 3; /* v~: row k has -v_n at m and v_m at n */
        seed(x, r.c[k].g, 0, body, 3 + m, -v[n]);
        seed(x, r.c[k].g, 0, body, 3 + n, v[m]);
        for (int i = 0; i < 3; i++) add(x, A[3 * i + k], a.c[i].g, r.c[k].g);
    }
    return r;
}

mbs_dual3 mbs_position3(mbs_context *x, const mbs_frame *f)
{
    double v[3];
    mbs_point_position(x, f, v);
    mbs_dual3 r = fresh(x, v);
    seed_rotation(x, &r, 0, f->body, f->s, 1);
    for (int k = 0; k < 3; k++) seed(x, r.c[k].g, 0, f->body, k, 1);
    return r;
}

mbs_dual3 mbs_velocity3(mbs_context *x, const mbs_frame *f)
{
    double v[3], c[3];
    mbs_point_velocity(x, f, v);
    mbs_dual3 r = fresh(x, v);
    mbs_cross(x->pose[f->body].w, f->s, c);
    seed_rotation(x, &r, 0, f->body, c, 1);
    seed_rotation(x, &r, 1, f->body, f->s, 1);
    for (int k = 0; k < 3; k++) seed(x, r.c[k].g, 1, f->body, k, 1);
    return r;
}

mbs_dual3 mbs_omega3(mbs_context *x, int body)
{
    mbs_dual3 w = fresh(x, x->pose[body].w);
    for (int k = 0; k < 3; k++) seed(x, w.c[k].g, 1, body, 3 + k, 1);
    return mbs_to_global3(x, body, w);
}

mbs_dual3 mbs_separation3(mbs_context *x, const mbs_frame *i, const mbs_frame *j)
{
    return mbs_sum3(x, 1, mbs_position3(x, j), -1, mbs_position3(x, i));
}

mbs_dual3 mbs_separation_rate3(mbs_context *x, const mbs_frame *i, const mbs_frame *j)
{
    return mbs_sum3(x, 1, mbs_velocity3(x, j), -1, mbs_velocity3(x, i));
}

/* ---- Coordinates ------------------------------------------------------------------------------------- */

static mbs_dual3 frame_axis(mbs_context *x, const mbs_frame *f, int column)
{
    double c[3];
    mbs_column(f->C, column, c);
    return mbs_axis3(x, f->body, c);
}

/* The rotation vector in global axes: with w = sum_k (axis k of i) x (axis k of j) = 2 sin(theta) n and
 * cos(theta) = (trace - 1)/2,  psi = theta n = w theta/|w|. For theta below pi. */
mbs_dual3 mbs_rotation_vector3(mbs_context *x, const mbs_frame *i, const mbs_frame *j)
{
    static const double zero[3];
    mbs_dual3 w = mbs_constant3(zero);
    mbs_dual trace = mbs_constant(0);
    for (int k = 0; k < 3; k++) {
        mbs_dual3 a = frame_axis(x, i, k), b = frame_axis(x, j, k);
        w = mbs_sum3(x, 1, w, 1, mbs_cross3(x, a, b));
        trace = mbs_sum(x, 1, trace, 1, mbs_dot3(x, a, b));
    }
    mbs_dual length = mbs_norm3(x, w), factor;
    double s = length.x / 2, c = (trace.x - 1) / 2;
    if (c > 0 && s < 1e-4) { /* theta/(2 s) = 1/2 + s^2/12 + ... */
        factor = mbs_chain(x, length, 0.5 + s * s / 12, s / 12);
    } else { /* d theta = c ds - s dc */
        double theta = atan2(s, c);
        factor = mbs_sum(x, (c - theta / s) / (4 * s), length, -0.25, trace);
        factor.x = theta / (2 * s);
    }
    return mbs_scale3(x, factor, w);
}

mbs_dual mbs_atan2(mbs_context *x, mbs_dual s, mbs_dual c)
{
    double r2 = s.x * s.x + c.x * c.x;
    mbs_dual r = r2 > 0 ? mbs_sum(x, c.x / r2, s, -s.x / r2, c) : mbs_constant(0);
    r.x = atan2(s.x, c.x);
    return r;
}

/* de = L^T d(rotation)/2, L = [-e, -e~ + e0 I]; of the orientation, so whatever the length of e has become. */
mbs_dual mbs_quaternion_dual(mbs_context *x, int body, int k)
{
    const double *q = x->pose[body].e, n = 1 / sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const double e[4] = {n * q[0], n * q[1], n * q[2], n * q[3]};
    double LT[4][3] = {{-e[1], -e[2], -e[3]}, {e[0], -e[3], e[2]}, {e[3], e[0], -e[1]}, {-e[2], e[1], e[0]}};
    mbs_dual r = {e[k], take(x)};
    for (int c = 0; c < 3; c++) seed(x, r.g, 0, body, 3 + c, LT[k][c] / 2);
    return r;
}

static void angle_dual(mbs_context *x, const mbs_coordinate *q, mbs_dual *value, mbs_dual *rate)
{
    if (x->m->planar) {
        *value = (mbs_dual){mbs_coordinate_value(x, q), take(x)};
        *rate = (mbs_dual){x->pose[q->j.body].w[2] - x->pose[q->i.body].w[2], take(x)};
        seed(x, value->g, 0, q->j.body, 5, 1);
        seed(x, value->g, 0, q->i.body, 5, -1);
        seed(x, rate->g, 1, q->j.body, 5, 1);
        seed(x, rate->g, 1, q->i.body, 5, -1);
        return;
    }
    mbs_dual3 fj = frame_axis(x, &q->j, 0);
    *value = mbs_atan2(x, mbs_dot3(x, frame_axis(x, &q->i, 1), fj), mbs_dot3(x, frame_axis(x, &q->i, 0), fj));
    *rate = mbs_dot3(x, frame_axis(x, &q->i, 2),
                     mbs_sum3(x, 1, mbs_omega3(x, q->j.body), -1, mbs_omega3(x, q->i.body)));
}

void mbs_coordinate_dual(mbs_context *x, const mbs_coordinate *q, mbs_dual *value, mbs_dual *rate)
{
    if (q->kind == MBS_ANGLE) {
        angle_dual(x, q, value, rate);
        return;
    }
    mbs_dual3 d = mbs_separation3(x, &q->i, &q->j), d1 = mbs_separation_rate3(x, &q->i, &q->j);
    if (q->kind == MBS_LENGTH) {
        *value = mbs_norm3(x, d);
        double l = value->x > 0 ? value->x : 1;
        mbs_dual inverse = mbs_chain(x, *value, 1 / l, -1 / (l * l));
        *rate = mbs_product(x, inverse, mbs_dot3(x, d, d1));
        return;
    }
    mbs_dual3 h = frame_axis(x, &q->i, 2);
    *value = mbs_dot3(x, h, d);
    mbs_dual3 turn = mbs_cross3(x, mbs_omega3(x, q->i.body), h);
    *rate = mbs_sum(x, 1, mbs_dot3(x, h, d1), 1, mbs_dot3(x, turn, d));
}

mbs_dual mbs_state_dual(mbs_context *x, int k)
{
    mbs_dual r = {x->u ? x->u[k] : 0, take(x)};
    if (r.g) r.g[2 * x->m->nv + k] = 1;
    return r;
}

mbs_dual mbs_multiplier_dual(mbs_context *x, int k)
{
    if (k < 0 || !x->lambda) return mbs_constant(0);
    mbs_dual r = {x->lambda[k], take(x)};
    if (r.g) r.g[2 * x->m->nv + x->m->nu + k] = 1;
    return r;
}

void mbs_seed_time(const mbs_context *x, mbs_dual *a, double factor)
{
    if (a->g) a->g[x->nz - 1] += factor;
}

/* ---- Forces ------------------------------------------------------------------------------------------ */

static void put(mbs_context *x, int body, int c, mbs_dual f, double sign)
{
    int k = mbs_slot_of(x->m, body, c);
    if (k < 0) return;
    x->f[k] += sign * f.x;
    if (x->J) add(x, sign, f.g, x->J + (size_t)k * (size_t)x->nz);
}

static void measure_torque(mbs_context *x, int body, mbs_dual3 n, double sign)
{
    mbs_probe *p = x->probe;
    if (body == p->body) p->torque = mbs_sum3(x, 1, p->torque, sign, n);
    if (body) p->power = mbs_sum(x, 1, p->power, sign, mbs_dot3(x, n, mbs_omega3(x, body)));
}

static void measure_force(mbs_context *x, const mbs_frame *f, mbs_dual3 F, double sign)
{
    mbs_probe *p = x->probe;
    if (f->body == p->body) p->force = mbs_sum3(x, 1, p->force, sign, F);
    if (f->body) p->power = mbs_sum(x, 1, p->power, sign, mbs_dot3(x, F, mbs_velocity3(x, f)));
}

void mbs_apply_torque(mbs_context *x, int body, mbs_dual3 n, double sign)
{
    if (x->probe) measure_torque(x, body, n, sign);
    if (body == 0 || x->probe) return;
    mbs_dual3 b = mbs_to_body3(x, body, n);
    for (int k = 0; k < 3; k++) put(x, body, 3 + k, b.c[k], sign);
}

void mbs_apply_force(mbs_context *x, const mbs_frame *f, mbs_dual3 F, double sign)
{
    if (x->probe) measure_force(x, f, F, sign);
    if (f->body == 0 || x->probe) return;
    for (int k = 0; k < 3; k++) put(x, f->body, k, F.c[k], sign);
    mbs_dual3 b = mbs_to_body3(x, f->body, F), n = mbs_cross3(x, mbs_constant3(f->s), b);
    for (int k = 0; k < 3; k++) put(x, f->body, 3 + k, n.c[k], sign);
}

void mbs_apply_coordinate(mbs_context *x, const mbs_coordinate *q, mbs_dual force)
{
    static const double z[3] = {0, 0, 1};
    if (x->probe) {
        x->probe->along = mbs_sum(x, 1, x->probe->along, 1, force);
        x->probe->coordinate = 1;
    }
    if (q->kind == MBS_ANGLE) {
        mbs_dual3 h = x->m->planar ? mbs_constant3(z) : frame_axis(x, &q->i, 2);
        mbs_dual3 n = mbs_scale3(x, force, h);
        mbs_apply_torque(x, q->j.body, n, 1);
        mbs_apply_torque(x, q->i.body, n, -1);
        return;
    }
    mbs_dual3 d = mbs_separation3(x, &q->i, &q->j), F;
    if (q->kind == MBS_LENGTH) {
        mbs_dual l = mbs_norm3(x, d);
        double length = l.x > 0 ? l.x : 1;
        F = mbs_scale3(x, mbs_product(x, force, mbs_chain(x, l, 1 / length, -1 / (length * length))), d);
    } else {
        F = mbs_scale3(x, force, frame_axis(x, &q->i, 2));
        mbs_apply_torque(x, q->i.body, mbs_cross3(x, F, d), 1);
    }
    mbs_apply_force(x, &q->j, F, 1);
    mbs_apply_force(x, &q->i, F, -1);
}
