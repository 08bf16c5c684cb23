/* Revolute joint: two points coincide, and in space two axes stay parallel. Leaves one angle. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    if (b->m->planar) return DAE_OK;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return DAE_OK;
}

/* ---- Relative motion: q the angle about h ------------------------------------------------------------------ */

/* The axis on the body. */
static void set(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k)
{
    (void)m;
    mbs_column(from ? j->i.C : j->j.C, 2, k->other);
}

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    (void)slide;
    mbs_turned(k, parent, q[0], A);
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double h[3];
    (void)k;
    mbs_column(axes, 2, h);
    mbs_turn_S(S, h, x->w);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    mbs_turn_quaternion(k, q[0], d);
}

/* The recursion in the plane sets S itself, when w is known. */
static void plane(const mbs_link *k, const mbs_plane_state *parent, const double *q, const double *s,
                  mbs_plane_state *x, double *u, double *sigma, double *S)
{
    (void)k, (void)parent, (void)u, (void)sigma, (void)S;
    x->angle += q[0];
    x->omega += s[0];
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    q[0] = x->angle;
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->turn;
}

const mbs_relative mbs_relative_turn = {.dof = 1,
                                        .set = set,
                                        .place = place,
                                        .columns = columns,
                                        .quaternion = quaternion,
                                        .plane = plane,
                                        .fit = fit,
                                        .rates = rates};

const mbs_joint_type mbs_joint_revolute = {
    .name = "revolute",
    .doc = "points coincide; spatial: rotation about the axis only",
    .planar_rows = 2,
    .spatial_rows = 5,
    .main = MBS_ANGLE,
    .build = build,
    .plane = &mbs_relative_turn,
    .space = &mbs_relative_turn,
};
