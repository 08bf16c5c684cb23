/* Blocks: elements with states of their own that act on nothing; laws name their output, NAME.value. They are force types with
 * .acts = 0 and an .output, and stand in the section "blocks" of a model. */
#ifndef MBS_BLOCK_H
#define MBS_BLOCK_H

#include "multibody/dual.h"
#include "multibody/field.h"

void mbs_block_apply(const mbs_force_data *f, mbs_context *x); /* nothing */
mbs_dual mbs_block_input(const mbs_force_data *f, mbs_context *x);
dae_status mbs_block_build(mbs_builder *b, mbs_force_data *f);

#endif
