/* A given torque: along the coordinate of a joint, or on a body (planar: one number, in space three components). */
#include "multibody/forces/given.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    int n = b->m->planar ? 1 : 3;
    if (f->joint >= 0) {
        if (b->m->planar && f->q.kind == MBS_NO_COORDINATE) f->q = b->m->joint[f->joint].angle;
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
    if (mbs_given_along_joint(f, x)) return;
    mbs_dual3 n = mbs_given_value(f, x);
    if (x->m->planar) {
        n.c[2] = n.c[0];
        n.c[0] = mbs_constant(0);
    }
    if (mbs_given_in_body(f) && !x->m->planar) n = mbs_to_global3(x, f->body, n);
    mbs_apply_torque(x, f->body, n, 1);
}

const mbs_force_type mbs_force_torque = {
    .name = "torque",
    .doc = "`value`: about the coordinate of a joint, or on a body (spatial: 3 components)",
    .acts = MBS_ACTS_JOINT | MBS_ACTS_BODY,
    .value = MBS_VALUE_VECTOR,
    .value_unit = "N m",
    .field = mbs_given_fields,
    .size = sizeof(mbs_given),
    .build = build,
    .apply = apply,
};
