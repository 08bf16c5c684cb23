/* Cylindrical joint: the axes stay on one line. Leaves an angle and a slide. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    return DAE_OK;
}

/* ---- Relative motion: q = (angle about h, travel along h) --------------------------------------------------------- */

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    mbs_turned(k, parent, q[0], A);
    slide[2] = q[1];
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double h[3];
    (void)k;
    mbs_column(axes, 2, h);
    mbs_turn_S(S, h, x->w);
    mbs_slide_S(S + 6, h);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    mbs_turn_quaternion(k, q[0], d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    q[0] = x->angle, q[1] = x->slide[2];
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->turn, s[1] = x->slide_rate[2];
}

static const mbs_relative turn_and_slide = {.dof = 2,
                                            .slides = 2,
                                            .place = place,
                                            .columns = columns,
                                            .quaternion = quaternion,
                                            .fit = fit,
                                            .rates = rates};

const mbs_joint_type mbs_joint_cylindrical = {
    .name = "cylindrical",
    .doc = "sliding and rotation on the axis",
    .spatial_rows = 4,
    .main = MBS_SLIDE,
    .build = build,
    .space = &turn_and_slide,
};
