/* A thruster at point b: the force `value` along an axis fixed in the frame of the point, which turns with the body,
 *     F = value A C e. */
#include "multibody/dual.h"
#include "multibody/field.h"

typedef struct thruster {
    double axis[3];
} thruster;

static const mbs_field fields[] = {
    {.name = "axis",
     .kind = MBS_FIELD_VECTOR,
     .unit = "",
     .doc = "direction of the force in the frame of b; without it local x",
     .offset = offsetof(thruster, axis)},
    {.name = NULL},
};

static dae_status build(mbs_builder *b, mbs_force_data *f)
{
    const double *axis = ((const thruster *)f->own)->axis;
    if (b->m->planar && axis[2] != 0) return mbs_wrong(b, "axis: a planar axis has two components");
    if (f->j.body == 0) return mbs_wrong(b, "b: a thruster on the ground moves nothing");
    return DAE_OK;
}

static void apply(const mbs_force_data *f, mbs_context *x)
{
    const double *axis = ((const thruster *)f->own)->axis;
    double length = mbs_norm(axis), local[3] = {1, 0, 0}, e[3];
    for (int k = 0; length > 0 && k < 3; k++) local[k] = axis[k] / length;
    mbs_rotate(f->j.C, local, e);
    mbs_dual thrust = mbs_expression_dual(x, f->value[0], NULL);
    mbs_apply_force(x, &f->j, mbs_scale3(x, thrust, mbs_axis3(x, f->j.body, e)), 1);
}

const mbs_force_type mbs_force_thruster = {
    .name = "thruster",
    .doc = "force `value` along `axis`, which turns with the body of b",
    .acts = MBS_ACTS_AT,
    .value = MBS_VALUE_ONE,
    .value_unit = "N",
    .field = fields,
    .size = sizeof(thruster),
    .build = build,
    .apply = apply,
};
