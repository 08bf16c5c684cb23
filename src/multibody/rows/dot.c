/* Two axes stay perpendicular (dot1: a_i . b_j = 0), or a distance along an axis is kept
 * (dot2: a_i . d - value = 0). */
#include "multibody/dual.h"

/* ---- dot1 -------------------------------------------------------------------------------------------- */

static void residual1(const mbs_row *r, const mbs_context *x, double *g)
{
    double a[3], b[3];
    mbs_axis(x, r->i.body, r->a, a);
    mbs_axis(x, r->j.body, r->b, b);
    g[0] = mbs_dot(a, b);
}

/* d/dt (a . b) = (a x b) . (omega_i - omega_j) */
static void jacobian1(const mbs_row *r, const mbs_context *x, double *G)
{
    double a[3], b[3], n[3];
    mbs_axis(x, r->i.body, r->a, a);
    mbs_axis(x, r->j.body, r->b, b);
    mbs_cross(a, b, n);
    mbs_row_of_rotation(x, r->i.body, n, 1, G);
    mbs_row_of_rotation(x, r->j.body, n, -1, G + 6);
}

static void gamma1(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double a[3], b[3], a1[3], b1[3], a2[3], b2[3];
    mbs_axis(x, r->i.body, r->a, a);
    mbs_axis(x, r->j.body, r->b, b);
    mbs_axis_rate(x, r->i.body, r->a, a1);
    mbs_axis_rate(x, r->j.body, r->b, b1);
    mbs_axis_bias(x, r->i.body, r->a, a2);
    mbs_axis_bias(x, r->j.body, r->b, b2);
    gamma[0] = mbs_dot(a2, b) + 2 * mbs_dot(a1, b1) + mbs_dot(a, b2);
}

static void force1(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    mbs_dual3 a = mbs_axis3(x, r->i.body, r->a), b = mbs_axis3(x, r->j.body, r->b);
    mbs_dual3 n = mbs_scale3(x, lambda[0], mbs_cross3(x, a, b));
    mbs_apply_torque(x, r->i.body, n, -1);
    mbs_apply_torque(x, r->j.body, n, 1);
}

const mbs_row_class mbs_row_dot1 = {"dot1", 1, residual1, jacobian1, gamma1, force1};

int mbs_add_dot1(mbs_builder *b, const mbs_frame *i, int axis_i, const mbs_frame *j, int axis_j)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_dot1, 1, i, j);
    if (!r) return -1;
    mbs_column(i->C, axis_i, r->a);
    mbs_column(j->C, axis_j, r->b);
    return 0;
}

/* ---- dot2 -------------------------------------------------------------------------------------------- */

static void residual2(const mbs_row *r, const mbs_context *x, double *g)
{
    double a[3], d[3];
    mbs_axis(x, r->i.body, r->a, a);
    mbs_separation(x, &r->i, &r->j, d);
    g[0] = mbs_dot(a, d) - r->value;
}

static void jacobian2(const mbs_row *r, const mbs_context *x, double *G)
{
    double a[3], d[3], n[3];
    mbs_axis(x, r->i.body, r->a, a);
    mbs_separation(x, &r->i, &r->j, d);
    mbs_cross(a, d, n);
    mbs_row_of_point(x, &r->i, a, -1, G);
    mbs_row_of_rotation(x, r->i.body, n, 1, G);
    mbs_row_of_point(x, &r->j, a, 1, G + 6);
}

static void gamma2(const mbs_row *r, const mbs_context *x, double *gamma)
{
    gamma[0] = mbs_distance_bias(x, r->i.body, r->a, &r->i, &r->j);
}

static void force2(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    mbs_dual3 F = mbs_scale3(x, lambda[0], mbs_axis3(x, r->i.body, r->a));
    mbs_apply_force(x, &r->j, F, -1);
    mbs_apply_force(x, &r->i, F, 1);
    mbs_apply_torque(x, r->i.body, mbs_cross3(x, F, mbs_separation3(x, &r->i, &r->j)), -1);
}

const mbs_row_class mbs_row_dot2 = {"dot2", 1, residual2, jacobian2, gamma2, force2};

int mbs_add_dot2(mbs_builder *b, const mbs_frame *i, int axis_i, const mbs_frame *j, double value)
{
    mbs_row *r = mbs_add_row(b, &mbs_row_dot2, 1, i, j);
    if (!r) return -1;
    mbs_column(i->C, axis_i, r->a);
    r->value = value;
    return 0;
}
