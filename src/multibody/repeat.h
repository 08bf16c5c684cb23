/* Arrays of bodies, points, joints, ...: an item of a model file with
 *
 *     "repeat": {"i": "1..N"}
 *
 * stands for one item per value of i (and of further counters, the last one fastest). In its texts {i}, {i+1}, {2*i-1}, ... are
 * replaced by the whole numbers that they are; bounds and braces may use parameters and the counters before. */
#ifndef MBS_REPEAT_H
#define MBS_REPEAT_H

#include "multibody/model.h"

#include <jansson.h>

/* A new list of the items without "repeat", or NULL: what is wrong. */
json_t *mbs_repeat(const mbs_model *m, const json_t *item, int most, char *wrong, size_t size);

#endif
