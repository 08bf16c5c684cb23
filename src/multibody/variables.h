/* Named variables of a model: laws that other laws name. A variable stands for its text in parentheses, so that units, derivatives and
 * where it is not smooth are those of the text; it may use the variables before it. */
#ifndef MBS_VARIABLES_H
#define MBS_VARIABLES_H

#include "multibody/model.h"

/* The text with the variables of the model in it replaced, to be freed. NULL: out of memory, or wrong (size bytes) says what is
 * wrong. */
char *mbs_expand_variables(const mbs_model *m, const char *text, char *wrong, size_t size);

#endif
