/* Model files that are made of parts:
 *
 *     "include": ["motor.json"]                     the sections of other files, before the own ones
 *     "definitions": {"leg": {sections}}            what assemblies are made of
 *     "assemblies": [{"name": "left", "of": "leg" | "file": "leg.json", "parameters": {"L": "0.4[m]"},
 *                     "r": [...], "angle" | "q": ..., "on": "trunk"}]
 *
 * An assembly is a copy of the sections of its definition: every name in it gets the name of the assembly and _ before it (left_foot,
 * the parameter left_L), bodies stand where it is placed, and what is on the ground in the definition is on the body `on`. */
#ifndef MBS_STRUCTURE_H
#define MBS_STRUCTURE_H

#include "multibody/model.h"

#include <jansson.h>

typedef struct mbs_structure {
    json_t *root;     /* of the model: sections are added to it */
    const char *file; /* where it comes from, or NULL */
    const mbs_model *m;
    int most;    /* items of a section */
    char *wrong; /* what is wrong, with its place */
    size_t size;
    unsigned long long *files; /* hash of what is included: goes on */
} mbs_structure;

/* 0, or != 0: see wrong. Includes come before the parameters are read. */
int mbs_structure_include(mbs_structure *s);
/* The definition of an assembly without "repeat", to be released; and with their new names its parameters, and the values that the
 * assembly gives for some of them. NULL: see wrong. */
json_t *mbs_structure_definition(mbs_structure *s, const json_t *assembly, json_t **parameters,
                                 json_t **values);
/* With these parameters known: adds its items to the sections of root. */
int mbs_structure_place(mbs_structure *s, const json_t *assembly, const json_t *definition);

#endif
