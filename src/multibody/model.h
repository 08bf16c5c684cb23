/* The model as it was described: copies of the public structs, in the order in which they were added. */
#ifndef MBS_MODEL_H
#define MBS_MODEL_H

#include <daedalus/multibody.h>

#include "core/arena.h"
#include "language/expression.h"

typedef struct mbs_parameter {
    const char *name;
    double value;
    dae_dimension dimension;
    int used;
    int input; /* 1: listed under "inputs": equations may give it a value that changes */
} mbs_parameter;

/* What the section "simulation" of a file says; NULL or 0: not given. */
typedef struct mbs_simulation {
    double t0, t1, rtol, atol, h0, h_max, every;
    const char *solver, *formulation;
    const dae_setting
        *tolerance; /* of single components, for dae_problem_tolerate: {"atol", "rod.angle=1e-12"} */
    int ntolerance;
} mbs_simulation;

typedef struct mbs_variable {
    const char *name, *text;
} mbs_variable;

/* Numbers of named items, by name: a hash table, free places are 0. */
typedef struct mbs_index {
    int *number; /* from 1 on */
    unsigned room;
} mbs_index;

struct mbs_model {
    dae_arena *arena;
    const char *name, *doc;
    int space; /* MBS_PLANAR or MBS_SPATIAL */
    double gravity[3];
    mbs_parameter *parameter;
    mbs_variable *variable; /* variables.h */
    mbs_body *body;         /* body[k-1] is body k */
    mbs_shape *shape;
    mbs_point *point;
    mbs_joint *joint;
    mbs_force *force;
    mbs_driver *driver;
    mbs_sensor *sensor;
    mbs_event *event;
    mbs_index body_index, point_index, joint_index;
    int nparameter, nvariable, nbody, nshape, npoint, njoint, nforce, ndriver, nsensor, nevent;
    mbs_simulation simulation;
    unsigned long long files; /* hash of the files that it was read from or names; 0: none */
    dae_error first;          /* the first error of building; status 0: none */
};

/* As mbs_model_parse; file: where the text comes from, for the files that it names, or NULL. */
mbs_model *mbs_model_parse_file(const char *json, size_t length, const char *file, const dae_setting *setting,
                                int nsetting, dae_error *err);
mbs_model *mbs_model_copy(const mbs_model *m); /* NULL: out of memory */
const char *mbs_copy_text(mbs_model *m, const char *text);
const char *mbs_name_at(const void *list, int i,
                        size_t size);                    /* of a list whose items begin with their names */
int mbs_find_body(const mbs_model *m, const char *name); /* number, -1: none; "ground" is 0 */
int mbs_find_point(const mbs_model *m, const char *name);
int mbs_find_joint(const mbs_model *m, const char *name);
int mbs_find_parameter(const mbs_model *m, const char *name);
int mbs_model_add_variable(mbs_model *m, const char *name,
                           const char *text); /* its number, -1: out of memory */

#endif
