/* Spherical joint: two points coincide. In the plane it is the revolute joint. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    return mbs_add_coincide(b, &j->i, &j->j) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Relative motion: q Euler parameters against the parent, s relative rotation in axes of the body ---------------- */

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    double D[9];
    (void)k, (void)slide;
    mbs_quaternion_matrix(q, D);
    mbs_multiply(parent, D, A);
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    (void)k, (void)axes;
    mbs_turns_S(S, x);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    (void)k;
    memcpy(d, q, 4 * sizeof *d);
    mbs_quaternion_normalize(d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k;
    memcpy(q, x->e, sizeof x->e);
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    mbs_rotate_back(x->body->A, x->omega, s);
}

static const mbs_relative turns = {.dof = 3,
                                   .turns = 1,
                                   .place = place,
                                   .columns = columns,
                                   .quaternion = quaternion,
                                   .fit = fit,
                                   .rates = rates};

const mbs_joint_type mbs_joint_spherical = {
    .name = "spherical",
    .doc = "points coincide",
    .planar_rows = 2,
    .spatial_rows = 3,
    .build = build,
    .plane = &mbs_relative_turn,
    .space = &turns,
};
