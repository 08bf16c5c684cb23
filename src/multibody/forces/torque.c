/* A given torque: along the coordinate of a joint, or on a body (planar: one number, in space three components). */
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
    if (own_of(f)->frame && !x->m->planar) n = mbs_to_global3(x, f->body, n);
    mbs_apply_torque(x, f->body, n, 1);
}

const mbs_force_type mbs_force_torque = {
    .name = "torque",
    .doc = "`value`: about the coordinate of a joint, or on a body (spatial: 3 components)",
    .acts = MBS_ACTS_JOINT | MBS_ACTS_BODY,
    .value = MBS_VALUE_VECTOR,
    .value_unit = "N m",
    .field = fields,
    .size = sizeof(given),
    .build = build,
    .apply = apply,
};
