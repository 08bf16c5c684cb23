/* Bushing: springs and dampers in the three directions and three rotations between the frames of two points.
 *
 *     D = C_i^T A_i^T d, psi the rotation vector of j against i in the frame of i:
 *     force on j  F = -A_i C_i (k D + c D'),   torque on j  n = -A_i C_i (k_r psi + c_r omega_r)
 *
 * The opposite force acts on i at the same place (P_j), so that a bushing without damping conserves energy. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct bushing {
    double k, c, k_angular, c_angular;
} bushing;

static const mbs_field fields[] = {
    MBS_OPTIONAL(bushing, k, "N/m", 0, MBS_ANY, "stiffness in all directions"),
    MBS_OPTIONAL(bushing, c, "N s/m", 0, MBS_ANY, "damping"),
    MBS_OPTIONAL(bushing, k_angular, "N m", 0, MBS_ANY, "stiffness of all rotations"),
    MBS_OPTIONAL(bushing, c_angular, "N m s", 0, MBS_ANY, "their damping"),
    {.name = NULL},
};

static const bushing *own_of(const mbs_force_data *f)
{
    return f->own;
}

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    (void)b, (void)f;
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    const bushing *m = f->own;
    mbs_dual3 d = mbs_separation3(x, &f->i, &f->j), d1 = mbs_separation_rate3(x, &f->i, &f->j);
    mbs_dual3 wi = mbs_omega3(x, f->i.body);
    d1 = mbs_sum3(x, 1, d1, -1, mbs_cross3(x, wi, d)); /* as seen from i */
    mbs_dual3 F = mbs_sum3(x, -m->k, d, -m->c, d1);
    mbs_apply_force(x, &f->j, F, 1);
    mbs_apply_force(x, &f->i, F, -1);
    mbs_apply_torque(x, f->i.body, mbs_cross3(x, d, F), -1);
    if (m->k_angular == 0 && m->c_angular == 0) return;
    mbs_dual3 n;
    if (x->m->planar) {
        mbs_coordinate q = {.kind = MBS_ANGLE, .i = f->i, .j = f->j, .offset = f->q.offset};
        mbs_dual a, a1;
        mbs_coordinate_dual(x, &q, &a, &a1);
        n.c[0] = n.c[1] = mbs_constant(0);
        n.c[2] = mbs_sum(x, -m->k_angular, a, -m->c_angular, a1);
    } else {
        mbs_dual3 w = mbs_sum3(x, 1, mbs_omega3(x, f->j.body), -1, wi);
        n = mbs_sum3(x, -m->k_angular, mbs_rotation_vector3(x, &f->i, &f->j), -m->c_angular, w);
    }
    mbs_apply_torque(x, f->j.body, n, 1);
    mbs_apply_torque(x, f->i.body, n, -1);
}

static void measure(const mbs_force_data *f, mbs_context *x, mbs_measure *out)
{
    out->deflection = mbs_norm3(x, mbs_separation3(x, &f->i, &f->j));
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double d[3], angle2 = 0;
    mbs_separation(x, &f->i, &f->j, d);
    if (x->m->planar) {
        double a = x->pose[f->j.body].angle - x->pose[f->i.body].angle - f->q.offset;
        angle2 = a * a;
    } else if (own_of(f)->k_angular != 0) {
        mbs_context y = *x;
        y.nz = 0;
        mbs_dual3 psi = mbs_rotation_vector3(&y, &f->i, &f->j);
        for (int k = 0; k < 3; k++) angle2 += psi.c[k].x * psi.c[k].x;
    }
    return 0.5 * (own_of(f)->k * mbs_dot(d, d) + own_of(f)->k_angular * angle2);
}

const mbs_force_type mbs_force_bushing = {
    .name = "bushing",
    .doc = "springs and dampers in all directions and rotations between the frames of the points",
    .acts = MBS_ACTS_BETWEEN,
    .field = fields,
    .size = sizeof(bushing),
    .build = build,
    .apply = apply,
    .potential = potential,
    .measure = measure,
};
