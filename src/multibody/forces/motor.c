/* A DC motor on the coordinate of a joint with its own dynamics: the current u,
 *     L u' = U(t, ...) - R u - K q',    force K u along q. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "a motor needs a joint with an angle or a slide");
    if (!(f->model->inductance > 0)) return mbs_wrong(b, "inductance must be positive");
    if (f->model->count != 1) return mbs_wrong(b, "value: expected the voltage as one expression");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual u = mbs_state_dual(x, f->u);
    mbs_apply_coordinate(x, &f->q, mbs_sum(x, f->model->constant, u, 0, u));
}

static void dynamics(const mbs_force_data *f, mbs_context *x, double *du)
{
    double U = mbs_expression_at(x, f->value[0]), rate = mbs_coordinate_rate(x, &f->q);
    du[0] = (U - f->model->resistance * x->u[f->u] - f->model->constant * rate) / f->model->inductance;
}

const mbs_force_type mbs_force_motor = {"motor", "", 1, build, apply, NULL, dynamics, 0};
