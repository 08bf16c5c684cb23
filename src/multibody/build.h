/* From a model to a mechanism: one function per kind of thing, each in the file of that name. The messages of all name the
 * place in the model (b->path). */
#ifndef MBS_BUILD_H
#define MBS_BUILD_H

#include "multibody/mechanism.h"

static const double mbs_identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};

dae_status mbs_no_memory(mbs_builder *b);

/* names.c: the nearest name among count items of the given size, each beginning with its name. */
void mbs_nearest_name(const char *name, const void *list, int count, size_t size, char *out, size_t room);
dae_status mbs_check_names(mbs_builder *b);

/* body.c */
dae_status mbs_build_body(mbs_builder *b, int k);
int mbs_lopsided(const double *J, double factor,
                 int *which); /* one moment is larger than factor times the others */

/* frame.c: a point by name, C is its frame in the body; a point of a body at a global place of the described pose. */
dae_status mbs_point_frame(mbs_builder *b, const char *field, const char *name, mbs_frame *f, int *has_frame);
void mbs_place_frame(const mbs_builder *b, int body, const double *at, mbs_frame *f);
/* Turns the frame so that h is the axis given in it (zero: local x). */
dae_status mbs_set_axis(mbs_builder *b, mbs_frame *frame, const double *axis);
double mbs_frame_angle(const mbs_frame *f); /* planar: of local x */

/* joint.c: the struct of a type, filled. */
dae_status mbs_build_fields(mbs_builder *b, const char *type, const struct mbs_field *table, size_t size,
                            const mbs_value *value, int count, const void **own);
dae_status mbs_build_joint(mbs_builder *b, int k);
dae_status mbs_build_driver(mbs_builder *b, int k);
dae_status mbs_build_force(mbs_builder *b, int k);
dae_status mbs_build_block_units(mbs_builder *b);         /* what laws can say of them, by each other */
dae_status mbs_build_force_values(mbs_builder *b, int k); /* its expressions, when all forces are there */
/* force.c: the expression of a field has one of these units ("N m|N"), or none that is certain. */
dae_status mbs_check_unit(mbs_builder *b, const char *field, const char *text, int expression,
                          const char *unit);
dae_status mbs_build_sensors(mbs_builder *b); /* and events */

/* pattern.c: states of stick, slip and rest; numbers of rows (left_out NULL: all); G and M. */
void mbs_number_grips(mbs_mechanism *m);
void mbs_number_rows(mbs_mechanism *m, const unsigned char *left_out);
dae_status mbs_make_pattern(mbs_builder *b);
dae_status mbs_make_mass(mbs_builder *b);

dae_status mbs_look_for_mistakes(mbs_mechanism *m); /* mistakes.c: warnings; fails without memory only */

#endif
