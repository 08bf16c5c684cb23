/* Prismatic joint: sliding along an axis without rotation. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (b->m->planar) {
        if (mbs_add_dot2(b, &j->i, 0, &j->j, 0)) return DAE_ERR_MEMORY;
        return mbs_add_coordinate(b, &j->angle, mbs_initial_value(b, &j->angle)) ? DAE_OK : DAE_ERR_MEMORY;
    }
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot1(b, &j->i, 0, &j->j, 1) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Relative motion: q the travel along h ------------------------------------------------------------------ */

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    mbs_multiply(parent, k->K, A);
    slide[2] = q[0];
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double h[3];
    (void)k, (void)x;
    mbs_column(axes, 2, h);
    mbs_slide_S(S, h);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    (void)q;
    mbs_turn_quaternion(k, 0, d);
}

static void plane(const mbs_link *k, const mbs_plane_state *parent, const double *q, const double *s,
                  mbs_plane_state *x, double *u, double *sigma, double *S)
{
    double pc = parent->cosine, ps = parent->sine;
    (void)x;
    S[0] = pc * k->axis[2] - ps * k->axis[5];
    S[1] = ps * k->axis[2] + pc * k->axis[5];
    S[2] = 0;
    for (int i = 0; i < 2; i++) {
        u[i] += q[0] * S[i];
        sigma[i] = s[0] * S[i];
    }
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    q[0] = x->slide[2];
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->slide_rate[2];
}

static const mbs_relative slide = {.dof = 1,
                                   .slides = 1,
                                   .set = mbs_hold_turn,
                                   .place = place,
                                   .columns = columns,
                                   .quaternion = quaternion,
                                   .plane = plane,
                                   .fit = fit,
                                   .rates = rates};

const mbs_joint_type mbs_joint_prismatic = {
    .name = "prismatic",
    .doc = "sliding along the axis, no rotation",
    .planar_rows = 2,
    .spatial_rows = 5,
    .main = MBS_SLIDE,
    .build = build,
    .plane = &slide,
    .space = &slide,
};
