/* A tire as a vertical spring and damper on a road, [RNY]: with the compression
 *     s = road(x, t) + radius - height of the point,    F = max(0, k s + c s') upwards for s > 0.
 * value: the height of the road, an expression of the local variable x (position of the point along the global x axis) and
 * of t; s' includes its exact slope and rate. pull: F = k s + c s' always, as that of a spring whose lower end slides on
 * the road. Up is y in the plane and z in space. */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    if (!(f->model->k > 0)) return mbs_wrong(b, "k must be positive");
    if (f->model->count != 1)
        return mbs_wrong(b, "value: expected the height of the road as one expression of x");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    int up = x->m->planar ? 1 : 2;
    mbs_dual3 P = mbs_position3(x, &f->j), V = mbs_velocity3(x, &f->j), F;
    mbs_dual road = mbs_expression_dual(x, f->value[0], P.c);
    mbs_dual slope = mbs_expression_partial(x, f->value[0], P.c, MBS_LOCAL);
    mbs_dual rise = mbs_expression_partial(x, f->value[0], P.c, MBS_TIME); /* of a road that moves */
    mbs_dual s = mbs_sum(x, 1, road, -1, P.c[up]);
    s.x += f->model->radius;
    int frozen = mbs_frozen(x, f->side);
    if (!x->note && !f->model->pull && (frozen == DAE_SIDE_FREE ? s.x <= 0 : frozen < 0)) return;
    mbs_dual rate = mbs_sum(x, 1, mbs_product(x, slope, V.c[0]), -1, V.c[up]);
    rate = mbs_sum(x, 1, rate, 1, rise);
    mbs_dual N = mbs_sum(x, f->model->k, s, f->model->c, rate);
    if (!f->model->pull && mbs_branch(x, f->side, fmin(s.x, N.x / f->model->k)) < 0) return;
    for (int k = 0; k < 3; k++) F.c[k] = mbs_constant(0);
    F.c[up] = N;
    mbs_apply_force(x, &f->j, F, 1);
}

const mbs_force_type mbs_force_tire = {"tire", "x", 0, build, apply, NULL, NULL, 1};
