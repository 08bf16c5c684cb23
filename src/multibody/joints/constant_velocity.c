/* Constant-velocity joint (Rzeppa): two shafts whose centers coincide and that turn alike at every angle between them.
 *
 * The rotation from the frame of a to that of b has no part about the shaft: with f, g perpendicular to the shafts in both
 * frames, its antisymmetric part about h vanishes,
 *     f_i . g_j - g_i . f_j = 0,
 * so that the axis of that rotation lies in the plane normal to the shaft, and with it the bisecting plane of the balls. */
#include "multibody/dual.h"

/* f_i, g_i, and g_j, f_j: the pairs whose products are compared. */
static void axes_of(const mbs_row *r, double a[2][3], double b[2][3])
{
    for (int k = 0; k < 2; k++) {
        mbs_column(r->i.C, k, a[k]);
        mbs_column(r->j.C, 1 - k, b[k]);
    }
}

static void residual(const mbs_row *r, const mbs_context *x, double *g)
{
    double a[2][3], b[2][3], c[3], d[3];
    axes_of(r, a, b);
    g[0] = 0;
    for (int k = 0; k < 2; k++) {
        mbs_axis(x, r->i.body, a[k], c);
        mbs_axis(x, r->j.body, b[k], d);
        g[0] += (k ? -1 : 1) * mbs_dot(c, d);
    }
}

/* d/dt (a . b) = (a x b) . (omega_i - omega_j) */
static void jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    double a[2][3], b[2][3], c[3], d[3], n[3];
    axes_of(r, a, b);
    for (int k = 0; k < 2; k++) {
        double sign = k ? -1 : 1;
        mbs_axis(x, r->i.body, a[k], c);
        mbs_axis(x, r->j.body, b[k], d);
        mbs_cross(c, d, n);
        mbs_row_of_rotation(x, r->i.body, n, sign, G);
        mbs_row_of_rotation(x, r->j.body, n, -sign, G + 6);
    }
}

static void gamma_of(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double a[2][3], b[2][3], c[3][3], d[3][3];
    axes_of(r, a, b);
    gamma[0] = 0;
    for (int k = 0; k < 2; k++) {
        mbs_axis(x, r->i.body, a[k], c[0]);
        mbs_axis_rate(x, r->i.body, a[k], c[1]);
        mbs_axis_bias(x, r->i.body, a[k], c[2]);
        mbs_axis(x, r->j.body, b[k], d[0]);
        mbs_axis_rate(x, r->j.body, b[k], d[1]);
        mbs_axis_bias(x, r->j.body, b[k], d[2]);
        gamma[0] += (k ? -1 : 1) * (mbs_dot(c[2], d[0]) + 2 * mbs_dot(c[1], d[1]) + mbs_dot(c[0], d[2]));
    }
}

static void force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    double a[2][3], b[2][3];
    axes_of(r, a, b);
    for (int k = 0; k < 2; k++) {
        double sign = k ? -1 : 1;
        mbs_dual3 c = mbs_axis3(x, r->i.body, a[k]), d = mbs_axis3(x, r->j.body, b[k]);
        mbs_dual3 n = mbs_scale3(x, lambda[0], mbs_cross3(x, c, d));
        mbs_apply_torque(x, r->i.body, n, -sign);
        mbs_apply_torque(x, r->j.body, n, sign);
    }
}

static const mbs_row_class no_twist = {"no twist", 1, residual, jacobian, gamma_of, force};

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    return mbs_add_row(b, &no_twist, 1, &j->i, &j->j) ? DAE_OK : DAE_ERR_MEMORY;
}

const mbs_joint_type mbs_joint_constant_velocity = {
    .name = "constant_velocity",
    .doc =
        "points coincide, and b turns about its shaft as a about the axis, whatever the angle between them",
    .spatial_rows = 4,
    .build = build,
};
