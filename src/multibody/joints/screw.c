/* Screw joint: cylindrical, and the slide is the pitch (travel per radian) times the angle. */
#include "multibody/field.h"
#include "multibody/relative.h"

typedef struct screw {
    double pitch;
} screw;

static const mbs_field fields[] = {
    MBS_REQUIRED(screw, pitch, "m", MBS_NOT_ZERO, "travel per radian"),
    {.name = NULL},
};

static double pitch_of(const mbs_joint_data *j)
{
    return ((const screw *)j->own)->pitch;
}

static dae_status build(mbs_builder *b, mbs_joint_data *j)
{
    if (mbs_add_dot1(b, &j->i, 0, &j->j, 2) || mbs_add_dot1(b, &j->i, 1, &j->j, 2)) return DAE_ERR_MEMORY;
    if (mbs_add_dot2(b, &j->i, 0, &j->j, 0) || mbs_add_dot2(b, &j->i, 1, &j->j, 0)) return DAE_ERR_MEMORY;
    double c = mbs_initial_value(b, &j->slide) - pitch_of(j) * mbs_initial_value(b, &j->angle);
    return mbs_add_coupling(b, &j->slide, 1, &j->angle, -pitch_of(j), c) ? DAE_OK : DAE_ERR_MEMORY;
}

/* ---- Relative motion: q the angle about h, travel = pitch q + offset ---------------------------------------------- */

static void set(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k)
{
    k->pitch = pitch_of(j);
    k->offset = (from ? -1 : 1) * mbs_held_value(m, j);
}

static void place(const mbs_link *k, const double *parent, const double *q, double *A, double *slide)
{
    mbs_turned(k, parent, q[0], A);
    slide[2] = k->pitch * q[0] + k->offset;
}

static void columns(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S)
{
    double h[3], l[3];
    mbs_column(axes, 2, h);
    mbs_cross(h, x->w, l);
    for (int i = 0; i < 3; i++) l[i] += k->pitch * h[i];
    mbs_column_S(S, l, h);
}

static void quaternion(const mbs_link *k, const double *q, double *d)
{
    mbs_turn_quaternion(k, q[0], d);
}

static void fit(const mbs_link *k, const mbs_fit *x, double *q)
{
    q[0] = (x->slide[2] - k->offset) / k->pitch;
}

static void rates(const mbs_link *k, const mbs_fit *x, double *s)
{
    (void)k;
    s[0] = x->turn;
}

static const mbs_relative helix = {.dof = 1,
                                   .set = set,
                                   .place = place,
                                   .columns = columns,
                                   .quaternion = quaternion,
                                   .fit = fit,
                                   .rates = rates};

const mbs_joint_type mbs_joint_screw = {
    .name = "screw",
    .doc = "cylindrical, with a `pitch`",
    .spatial_rows = 5,
    .main = MBS_SLIDE,
    .field = fields,
    .size = sizeof(screw),
    .build = build,
    .space = &helix,
};
