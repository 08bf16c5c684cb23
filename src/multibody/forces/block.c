#include "multibody/forces/block.h"

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
