/* Fixed joint: no relative motion. */
#include "multibody/relative.h"

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_coincide(b, &j->i, &j->j)) return DAE_ERR_MEMORY;
    if (b->m->planar)
        return mbs_add_coordinate(b, &j->angle, mbs_initial_value(b, &j->angle)) ? DAE_OK : DAE_ERR_MEMORY;
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    return mbs_add_dot1(b, &j->i, 0, &j->j, 1) ? DAE_ERR_MEMORY : DAE_OK;
}

/* ---- Relative motion: none ------------------------------------------------------------------------------------ */

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    (void)q, (void)slide;
    mbs_multiply(parent, k->K, A);
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    (void)k, (void)x, (void)axes, (void)S;
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    (void)q;
    mbs_turn_quaternion(k, 0, d);
}

static void plane(const mbs_link *k, const mbs_plane_state *parent, const double *q, const double *s,
                  mbs_plane_state *x, double *u, double *sigma, double *S)
{
    (void)k, (void)parent, (void)q, (void)s, (void)x, (void)u, (void)sigma, (void)S;
}

static void nothing(const mbs_link *k, const mbs_fit *x, double *q)
{
    (void)k, (void)x, (void)q;
}

static const mbs_relative rest = {.dof = 0,
                                  .set = mbs_hold_turn,
                                  .place = place,
                                  .columns = columns,
                                  .quaternion = quaternion,
                                  .plane = plane,
                                  .fit = nothing,
                                  .rates = nothing};

const mbs_joint_type mbs_joint_fixed = {
    .name = "fixed",
    .doc = "no relative motion",
    .planar_rows = 3,
    .spatial_rows = 6,
    .build = build,
    .plane = &rest,
    .space = &rest,
};
