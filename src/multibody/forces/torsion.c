/* Torsion spring and damper on the angle of a joint (RSDA), or a spring on its slide:
 *     F = -k (q - l0) - c q' - value(angle, rate, ...).
 * The angle of a spatial joint counts from -pi to pi. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "the joint has no angle or slide to act on");
    if (f->model->count > 1)
        return mbs_wrong(b, "value of a torsion spring is one expression (of angle and rate)");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual local[2];
    mbs_coordinate_dual(x, &f->q, &local[0], &local[1]);
    mbs_dual F = mbs_sum(x, -f->model->k, local[0], -f->model->c, local[1]);
    F.x += f->model->k * f->model->l0;
    if (f->value[0] >= 0) F = mbs_sum(x, 1, F, -1, mbs_expression_dual(x, f->value[0], local));
    mbs_apply_coordinate(x, &f->q, F);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double s = mbs_coordinate_value(x, &f->q) - f->model->l0;
    return 0.5 * f->model->k * s * s;
}

const mbs_force_type mbs_force_torsion = {"torsion", "angle rate", 0, build, apply, potential, NULL, 0};
