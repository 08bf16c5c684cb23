/* Planar joint: a plane on a, with the axis as its normal, and a plane on b stay on each other. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot2(b, &j->i, 2, &j->j, 0) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Relative motion: q = (travels along f and g, angle about h) --------------------------------------------------- */

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    mbs_turned(k, parent, q[2], A);
    slide[0] = q[0], slide[1] = q[1];
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double a[3];
    (void)k;
    for (int i = 0; i < 2; i++) {
        mbs_column(axes, i, a);
        mbs_slide_S(S + 6 * i, a);
    }
    mbs_column(axes, 2, a);
    mbs_turn_S(S + 12, a, x->w);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    mbs_turn_quaternion(k, q[2], d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    q[0] = x->slide[0], q[1] = x->slide[1], q[2] = x->angle;
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->slide_rate[0], s[1] = x->slide_rate[1], s[2] = x->turn;
}

static const mbs_relative in_plane = {.dof = 3,
                                      .slides = 3,
                                      .place = place,
                                      .columns = columns,
                                      .quaternion = quaternion,
                                      .fit = fit,
                                      .rates = rates};

const mbs_joint_type mbs_joint_planar = {
    .name = "planar",
    .doc = "planes with the axis as normal stay on each other",
    .spatial_rows = 3,
    .build = build,
    .space = &in_plane,
};
