/* Fields of a type of joints or forces beyond what all have: one line of a table each. The table drives reading and its
 * messages (load.c, fields.c), the JSON schema (schema.c) and the tables of docs/modelling.md. */
#ifndef MBS_FIELD_H
#define MBS_FIELD_H

#include <daedalus/multibody.h>

#include "language/expression.h"

typedef enum mbs_field_kind {
    MBS_FIELD_NUMBER, /* double */
    MBS_FIELD_FLAG,   /* int: true or false */
    MBS_FIELD_VECTOR, /* double[3], not zero where it is given */
    MBS_FIELD_CHOICE, /* int: which word of `choice` */
    MBS_FIELD_NAMES   /* const char *: names, separated by spaces, as many as `choice` has words */
} mbs_field_kind;

typedef enum mbs_field_range { MBS_ANY, MBS_NOT_NEGATIVE, MBS_POSITIVE, MBS_NOT_ZERO } mbs_field_range;

typedef struct mbs_field {
    const char *name;
    mbs_field_kind kind;
    mbs_field_range range; /* of a number that is given */
    int required;
    const char *unit; /* "m"; "N/m|N m": one of them; "": a number without unit; NULL: any */
    double missing;   /* value of a number that is not given */
    size_t offset;    /* in the struct of the type */
    const char *choice, *doc;
} mbs_field;

/* Lines of tables: a number that may be left out, one that must be given, a flag. */
#define MBS_OPTIONAL(type, member, unit_, missing_, range_, doc_)                          \
    {                                                                                      \
        .name = #member, .range = range_, .unit = unit_, .missing = missing_, .doc = doc_, \
        .offset = offsetof(type, member)                                                   \
    }
#define MBS_REQUIRED(type, member, unit_, range_, doc_)                              \
    {                                                                                \
        .name = #member, .range = range_, .unit = unit_, .required = 1, .doc = doc_, \
        .offset = offsetof(type, member)                                             \
    }
#define MBS_SWITCH(type, member, doc_)                                                         \
    {                                                                                          \
        .name = #member, .kind = MBS_FIELD_FLAG, .doc = doc_, .offset = offsetof(type, member) \
    }

/* Fills the struct of a type from what was given (count values; a value without a name ends them). 0, or != 0 with a text
 * such as "pitch: missing" in wrong. */
int mbs_fields_fill(const mbs_field *table, const char *type, const mbs_value *value, int count, void *own,
                    char *wrong, size_t size);
/* != 0: the value does not fit; why, without the name. */
int mbs_field_check(const mbs_field *f, const mbs_value *v, char *wrong, size_t size);
/* A number of a type's struct by its name, or what is told where the type has none. */
double mbs_field_number(const mbs_field *table, const void *own, const char *name, double otherwise);
/* The unit of a number among the fields of a model, where it was given with one (mbs_value.text); 0: the field is not given, *d is that
 * of a number without unit. */
int mbs_field_unit(const mbs_value *value, int count, const char *name, dae_dimension *d);
/* 1: the dimension is certain and none of a list such as "N m|N/m" (NULL: any); out says what the text has and what was expected. */
int mbs_unit_wrong(const char *units, const dae_dimension *d, const char *text, char *out, size_t size);
/* NULL: the type has no such field. */
const mbs_field *mbs_field_find(const mbs_field *table, const char *name);

#endif
