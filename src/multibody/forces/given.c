#include "multibody/forces/given.h"

const mbs_field mbs_given_fields[] = {
    {.name = "frame",
     .kind = MBS_FIELD_CHOICE,
     .choice = "world|body",
     .doc = "axes of the components",
     .offset = offsetof(mbs_given, frame)},
    {.name = NULL},
};

int mbs_given_in_body(const mbs_force_data *f)
{
    return ((const mbs_given *)f->own)->frame;
}

mbs_dual3 mbs_given_value(const mbs_force_data *f, mbs_context *x)
{
    mbs_dual3 v;
    for (int k = 0; k < 3; k++)
        v.c[k] = f->value[k] >= 0 ? mbs_expression_dual(x, f->value[k], NULL) : mbs_constant(0);
    return v;
}

int mbs_given_along_joint(const mbs_force_data *f, mbs_context *x)
{
    if (f->joint < 0) return 0;
    mbs_apply_coordinate(x, &f->q, mbs_expression_dual(x, f->value[0], NULL));
    return 1;
}
