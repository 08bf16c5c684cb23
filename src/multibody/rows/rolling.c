/* A thin disc (or a sphere) of radius R rolls on a plane. Body i carries the plane through P_i with normal
 * h_i; body j the disc with center P_j and axis b (sphere: no axis).
 *
 *   rho = -R u,  u = (n - (n.b) b)/|...|  (sphere: u = n)      from the center to the contact
 *   normal row (holonomic):    g = n . (d + rho)
 *   slip rows (nonholonomic):  t_k . (velocity of disc - velocity of plane, both at the contact) = 0 */
#include "multibody/dual.h"

typedef struct contact {
    double n[3], n1[3];     /* normal and its derivative */
    double rho[3], rho1[3]; /* center to contact */
    double c[3];            /* contact relative to the center of body i */
} contact;

static contact contact_of(const mbs_row *r, const mbs_context *x)
{
    contact k;
    double h[3], b[3], b1[3], q[3], q1[3];
    mbs_column(r->i.C, 2, h);
    mbs_axis(x, r->i.body, h, k.n);
    mbs_axis_rate(x, r->i.body, h, k.n1);
    mbs_axis(x, r->j.body, r->b, b);
    mbs_axis_rate(x, r->j.body, r->b, b1);
    double nb = mbs_dot(k.n, b), nb1 = mbs_dot(k.n1, b) + mbs_dot(k.n, b1);
    for (int i = 0; i < 3; i++) {
        q[i] = k.n[i] - nb * b[i];
        q1[i] = k.n1[i] - nb1 * b[i] - nb * b1[i];
    }
    double length = mbs_norm(q), along = mbs_dot(q, q1) / length;
    double P[3];
    mbs_point_position(x, &r->j, P);
    for (int i = 0; i < 3; i++) {
        k.rho[i] = -r->radius * q[i] / length;
        k.rho1[i] = -r->radius * (q1[i] - q[i] * along / length) / length;
        k.c[i] = P[i] + k.rho[i] - x->pose[r->i.body].r[i];
    }
    return k;
}

/* The row of t . (relative velocity at the contact). */
static void contact_row(const mbs_row *r, const mbs_context *x, const contact *k, const double *t,
                        double *row)
{
    double n[3];
    mbs_row_of_point(x, &r->j, t, 1, row + 6);
    mbs_cross(k->rho, t, n);
    mbs_row_of_rotation(x, r->j.body, n, 1, row + 6);
    for (int i = 0; i < 3; i++) row[i] -= t[i];
    mbs_cross(k->c, t, n);
    mbs_row_of_rotation(x, r->i.body, n, -1, row);
}

static void cross_add(const double *a, const double *b, double sign, double *sum)
{
    double c[3];
    mbs_cross(a, b, c);
    for (int i = 0; i < 3; i++) sum[i] += sign * c[i];
}

/* Relative velocity at the contact and its derivative at fixed v (angular velocities are then constant). */
static void contact_motion(const mbs_row *r, const mbs_context *x, const contact *k, double *slip,
                           double *slip1)
{
    const mbs_pose *i = &x->pose[r->i.body], *j = &x->pose[r->j.body];
    double wi[3], wj[3], Pv[3], c1[3];
    mbs_rotate(i->A, i->w, wi);
    mbs_rotate(j->A, j->w, wj);
    mbs_point_velocity(x, &r->j, Pv);
    mbs_point_bias(x, &r->j, slip1);
    for (int m = 0; m < 3; m++) {
        slip[m] = Pv[m] - i->v[m];
        c1[m] = Pv[m] + k->rho1[m] - i->v[m];
    }
    cross_add(wj, k->rho, 1, slip);
    cross_add(wi, k->c, -1, slip);
    cross_add(wj, k->rho1, 1, slip1);
    cross_add(wi, c1, -1, slip1);
}

static void normal_residual(const mbs_row *r, const mbs_context *x, double *g)
{
    contact k = contact_of(r, x);
    double d[3];
    mbs_separation(x, &r->i, &r->j, d);
    g[0] = mbs_dot(k.n, d) + mbs_dot(k.n, k.rho);
}

static void normal_jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    contact k = contact_of(r, x);
    contact_row(r, x, &k, k.n, G);
}

static void normal_gamma(const mbs_row *r, const mbs_context *x, double *gamma)
{
    contact k = contact_of(r, x);
    double slip[3], slip1[3];
    contact_motion(r, x, &k, slip, slip1);
    gamma[0] = mbs_dot(k.n1, slip) + mbs_dot(k.n, slip1);
}

static void slip_jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    contact k = contact_of(r, x);
    for (int m = 0; m < 2; m++) {
        double f[3], t[3];
        mbs_column(r->i.C, m, f);
        mbs_axis(x, r->i.body, f, t);
        contact_row(r, x, &k, t, G + 24 * m);
    }
}

static void slip_gamma(const mbs_row *r, const mbs_context *x, double *gamma)
{
    contact k = contact_of(r, x);
    double slip[3], slip1[3];
    contact_motion(r, x, &k, slip, slip1);
    for (int m = 0; m < 2; m++) {
        double f[3], t[3], t1[3];
        mbs_column(r->i.C, m, f);
        mbs_axis(x, r->i.body, f, t);
        mbs_axis_rate(x, r->i.body, f, t1);
        gamma[m] = mbs_dot(t1, slip) + mbs_dot(t, slip1);
    }
}

/* ---- The constraint force with derivatives ------------------------------------------------------------- */

/* F at the contact: on j with the lever rho from P_j, the opposite on i with the lever d + rho from P_i. */
static void contact_force(const mbs_row *r, mbs_context *x, mbs_dual3 F)
{
    double h[3];
    mbs_column(r->i.C, 2, h);
    mbs_dual3 n = mbs_axis3(x, r->i.body, h), b = mbs_axis3(x, r->j.body, r->b);
    mbs_dual3 q = mbs_sum3(x, 1, n, -1, mbs_scale3(x, mbs_dot3(x, n, b), b));
    mbs_dual length = mbs_norm3(x, q);
    mbs_dual factor = mbs_chain(x, length, -r->radius / length.x, r->radius / (length.x * length.x));
    mbs_dual3 rho = mbs_scale3(x, factor, q);
    mbs_apply_force(x, &r->j, F, -1);
    mbs_apply_torque(x, r->j.body, mbs_cross3(x, rho, F), -1);
    mbs_apply_force(x, &r->i, F, 1);
    mbs_dual3 lever = mbs_sum3(x, 1, mbs_separation3(x, &r->i, &r->j), 1, rho);
    mbs_apply_torque(x, r->i.body, mbs_cross3(x, lever, F), 1);
}

static mbs_dual3 plane_axis(const mbs_row *r, mbs_context *x, int column)
{
    double c[3];
    mbs_column(r->i.C, column, c);
    return mbs_axis3(x, r->i.body, c);
}

static void normal_force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    contact_force(r, x, mbs_scale3(x, lambda[0], plane_axis(r, x, 2)));
}

static void slip_force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    for (int m = 0; m < 2; m++) contact_force(r, x, mbs_scale3(x, lambda[m], plane_axis(r, x, m)));
}

const mbs_row_class mbs_row_roll_normal = {"rolling",    1,           normal_residual, normal_jacobian,
                                           normal_gamma, normal_force};
const mbs_row_class mbs_row_roll_slip = {"no slip", 0, NULL, slip_jacobian, slip_gamma, slip_force};
