/* Unilateral stops of a joint coordinate: beyond min or max a spring and damper push back, never pull. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "a stop needs a joint with a coordinate");
    if (!(f->model->k > 0)) return mbs_wrong(b, "k must be positive");
    if (!(f->model->min < f->model->max)) return mbs_wrong(b, "min must be below max");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    double q0 = mbs_coordinate_value(x, &f->q), end = q0 > f->model->max ? f->model->max : f->model->min;
    if (q0 >= f->model->min && q0 <= f->model->max) return;
    mbs_dual q, rate;
    mbs_coordinate_dual(x, &f->q, &q, &rate);
    mbs_dual F = mbs_sum(x, -f->model->k, q, -f->model->c, rate);
    F.x += f->model->k * end;
    if ((F.x > 0) == (q0 < f->model->min)) mbs_apply_coordinate(x, &f->q, F);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double q = mbs_coordinate_value(x, &f->q);
    double s = q > f->model->max ? q - f->model->max : q < f->model->min ? f->model->min - q : 0;
    return 0.5 * f->model->k * s * s;
}

const mbs_force_type mbs_force_stop = {"stop", "", 0, build, apply, potential, NULL};
