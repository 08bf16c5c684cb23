#include "multibody/forces/block.h"

#include "language/dimension.h"
#include "multibody/build.h"

void mbs_block_apply(const mbs_force_data *f, mbs_context *x)
{
    (void)f, (void)x;
}

mbs_dual mbs_block_input(const mbs_force_data *f, mbs_context *x)
{
    return mbs_expression_dual(x, f->value[0], NULL);
}

dae_status mbs_block_build(mbs_builder *b, mbs_force_data *f)
{
    (void)b, (void)f;
    return DAE_OK;
}

dae_dimension mbs_block_over_time(const dae_dimension *a, int power)
{
    static const dae_dimension second = {{0, 0, 1}, 0};
    dae_dimension d = *a;
    for (int i = 0; i < (power < 0 ? -power : power); i++)
        d = dae_dimension_times(&d, &second, power < 0 ? -1 : 1);
    if (a->soft == DAE_IMPLIED && power) d.soft = DAE_SCALED;
    return d;
}

dae_status mbs_block_add(mbs_builder *b, const char *field, dae_dimension *sum, const dae_dimension *term)
{
    dae_dimension before = *sum;
    char one[48], other[48];
    if (dae_dimension_agree(&before, term, sum)) return DAE_OK;
    dae_dimension_name(&before, one, sizeof one);
    dae_dimension_name(term, other, sizeof other);
    return b ? mbs_wrong(b, "%s: units do not fit: [%s] beside [%s]", field, other, one) : DAE_ERR_INPUT;
}

dae_status mbs_block_add_field(mbs_builder *b, const mbs_force_data *f, const char *field,
                               const dae_dimension *by, int power, dae_dimension *sum)
{
    dae_dimension d;
    if (!mbs_field_unit(f->model->field, MBS_FORCE_FIELDS, field, &d)) return DAE_OK;
    if (by) d = dae_dimension_times(&d, by, 1);
    d = mbs_block_over_time(&d, power);
    return mbs_block_add(b, field, sum, &d);
}
