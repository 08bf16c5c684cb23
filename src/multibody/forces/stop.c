/* Unilateral stops of a joint coordinate: beyond min or max a spring and damper push back, never pull. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "a stop needs a joint with a coordinate");
    if (!(f->model->k > 0)) return mbs_wrong(b, "k must be positive");
    if (!(f->model->min < f->model->max)) return mbs_wrong(b, "min must be below max");
    return DAE_OK;
}

/* One end: s beyond it, F = k s + c s' while both are positive. */
static void push(const mbs_force_data *f, mbs_context *x, double end, double sign, int switching)
{
    int frozen = mbs_frozen(x, switching);
    if (!x->note && frozen != DAE_SIDE_FREE && frozen < 0) return;
    double s = sign * (mbs_coordinate_value(x, &f->q) - end), rate = sign * mbs_coordinate_rate(x, &f->q);
    if (mbs_branch(x, switching, fmin(s, s + f->model->c / f->model->k * rate)) < 0) return;
    mbs_dual q, q1;
    mbs_coordinate_dual(x, &f->q, &q, &q1);
    mbs_dual F = mbs_sum(x, -f->model->k, q, -f->model->c, q1);
    F.x += f->model->k * end;
    mbs_apply_coordinate(x, &f->q, F);
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    push(f, x, f->model->max, 1, f->side);
    mbs_dual_reset(x);
    push(f, x, f->model->min, -1, f->side + 1);
}

static double potential(const mbs_force_data *f, mbs_context *x)
{
    double q = mbs_coordinate_value(x, &f->q);
    double s = q > f->model->max ? q - f->model->max : q < f->model->min ? f->model->min - q : 0;
    return 0.5 * f->model->k * s * s;
}

const mbs_force_type mbs_force_stop = {"stop", "", 0, build, apply, potential, NULL, 2};
