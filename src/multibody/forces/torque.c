/* A given torque: along the coordinate of a joint, or on a body (planar: one number, in space three components). */
#include "multibody/dual.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    int n = b->m->planar ? 1 : 3;
    if (f->joint >= 0) {
        if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "the joint has no coordinate to act on");
        n = 1;
    }
    if (f->model->count != n)
        return mbs_wrong(b, "value: expected %d number%s or expression%s", n, n > 1 ? "s" : "",
                         n > 1 ? "s" : "");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    if (f->joint >= 0) {
        mbs_apply_coordinate(x, &f->q, mbs_expression_dual(x, f->value[0], NULL));
        return;
    }
    mbs_dual3 n;
    for (int k = 0; k < 3; k++)
        n.c[k] = f->value[k] >= 0 ? mbs_expression_dual(x, f->value[k], NULL) : mbs_constant(0);
    if (x->m->planar) {
        n.c[2] = n.c[0];
        n.c[0] = mbs_constant(0);
    }
    if (f->model->in_body && !x->m->planar) n = mbs_to_global3(x, f->body, n);
    mbs_apply_torque(x, f->body, n, 1);
}

const mbs_force_type mbs_force_torque = {"torque", "", 0, build, apply, NULL, NULL, 0};
