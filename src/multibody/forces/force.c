/* A given force at a point: on b at point b, the opposite on a if there is one; components in global axes or (in_body)
 * in those of the body of b. With a joint: a force along its coordinate. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct given {
    int frame;
} given;

static const mbs_field fields[] = {
    {.name = "frame",
     .kind = MBS_FIELD_CHOICE,
     .choice = "world|body",
     .doc = "axes of the components",
     .offset = offsetof(given, frame)},
    {.name = NULL},
};

static const given *own_of(const mbs_force_data *f)
{
    return f->own;
}

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
    if (f->joint >= 0) {
        mbs_apply_coordinate(x, &f->q, mbs_expression_dual(x, f->value[0], NULL));
        return;
    }
    mbs_dual3 F;
    for (int k = 0; k < 3; k++)
        F.c[k] = f->value[k] >= 0 ? mbs_expression_dual(x, f->value[k], NULL) : mbs_constant(0);
    if (own_of(f)->frame) F = mbs_to_global3(x, f->j.body, F);
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
    .field = fields,
    .size = sizeof(given),
    .build = build,
    .apply = apply,
};
