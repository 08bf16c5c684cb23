/* A knife edge (skate, wheel of a cart): the point P_j does not move sideways, b_j . d' = 0. Nonholonomic. */
#include "multibody/dual.h"

static void jacobian(const mbs_row *r, const mbs_context *x, double *G)
{
    double b[3];
    mbs_axis(x, r->j.body, r->b, b);
    mbs_row_of_point(x, &r->i, b, -1, G);
    mbs_row_of_point(x, &r->j, b, 1, G + 6);
}

static void gamma_of(const mbs_row *r, const mbs_context *x, double *gamma)
{
    double b[3], b1[3], d1[3], d2[3];
    mbs_axis(x, r->j.body, r->b, b);
    mbs_axis_rate(x, r->j.body, r->b, b1);
    mbs_separation_rate(x, &r->i, &r->j, d1);
    mbs_separation_bias(x, &r->i, &r->j, d2);
    gamma[0] = mbs_dot(b1, d1) + mbs_dot(b, d2);
}

static void force(const mbs_row *r, mbs_context *x, const mbs_dual *lambda)
{
    mbs_dual3 F = mbs_scale3(x, lambda[0], mbs_axis3(x, r->j.body, r->b));
    mbs_apply_force(x, &r->j, F, -1);
    mbs_apply_force(x, &r->i, F, 1);
}

const mbs_row_class mbs_row_knife = {"knife edge", 0, NULL, jacobian, gamma_of, force};
