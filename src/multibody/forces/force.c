/* A given force at a point: on b at point b, the opposite on a if there is one; components in global axes or (in_body)
 * in those of the body of b. With a joint: a force along its coordinate. */
#include "multibody/forces/given.h"

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    int n = b->m->planar ? 2 : 3;
    if (f->joint >= 0) {
        if (f->q.kind == MBS_NO_COORDINATE) return mbs_wrong(b, "the joint has no coordinate to act on");
        if (f->model->count != 1) return mbs_wrong(b, "value: expected one expression");
    } else if (f->model->count != n) {
        return mbs_wrong(b, "value: expected a list of %d numbers or expressions", n);
    }
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    if (mbs_given_along_joint(f, x)) return;
    mbs_dual3 F = mbs_given_value(f, x);
    if (mbs_given_in_body(f)) F = mbs_to_global3(x, f->j.body, F);
    mbs_apply_force(x, &f->j, F, 1);
    if (f->model->point_a) { /* the opposite one acts at the same place */
        mbs_apply_force(x, &f->i, F, -1);
        mbs_apply_torque(x, f->i.body, mbs_cross3(x, mbs_separation3(x, &f->i, &f->j), F), -1);
    }
}

const mbs_force_type mbs_force_force = {
    .name = "force",
    .doc = "`value`: 2 or 3 components at b (and the opposite on a), or one along the coordinate of a joint",
    .acts = MBS_ACTS_AT | MBS_ACTS_JOINT,
    .value = MBS_VALUE_VECTOR,
    .value_unit = "N",
    .field = mbs_given_fields,
    .size = sizeof(mbs_given),
    .build = build,
    .apply = apply,
};
