/* Blocks: elements with states of their own that act on nothing; laws name their output, NAME.value. They are force types with
 * .acts = 0 and an .output, and stand in the section "blocks" of a model. */
#ifndef MBS_BLOCK_H
#define MBS_BLOCK_H

#include "multibody/dual.h"
#include "multibody/field.h"

void mbs_block_apply(const mbs_force_data *f, mbs_context *x); /* nothing */
mbs_dual mbs_block_input(const mbs_force_data *f, mbs_context *x);
dae_status mbs_block_build(mbs_builder *b, mbs_force_data *f);

/* ---- Units --------------------------------------------------------------------------------------------- */

/* a s^power: of an integral 1, of a rate -1. A law whose unit nobody wrote says less of its integral. */
dae_dimension mbs_block_over_time(const dae_dimension *a, int power);
/* The sum gets a term; where both are known and differ the field is told. */
dae_status mbs_block_add(mbs_builder *b, const char *field, dae_dimension *sum, const dae_dimension *term);
/* The same with a field, times `by` (NULL: 1) and s^power; a field that is not given adds nothing. */
dae_status mbs_block_add_field(mbs_builder *b, const mbs_force_data *f, const char *field,
                               const dae_dimension *by, int power, dae_dimension *sum);

#endif
