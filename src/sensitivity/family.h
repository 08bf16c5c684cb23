/* A problem and its relatives: the same problem with one parameter, or one initial value, a little larger and a little smaller.
 * All have the same method and form; what each integrates is in the variables of that form. */
#ifndef DAE_SENSITIVITY_FAMILY_H
#define DAE_SENSITIVITY_FAMILY_H

#include <daedalus/sensitivity.h>

#include "problem/tangents.h"
#include "simulation/simulation.h"

typedef struct dae_relative {
    dae_problem *variant; /* opened for it, or NULL */
    dae_problem shifted;  /* the problem with another start, where variant is NULL */
    dae_simulation *sim;  /* never stepped: its system, form, start and events */
    double step;          /* what was added to the parameter; 0: it stands for the problem itself */
} dae_relative;

enum { DAE_WIDE = 8 };

/* B of dM/dp = B M (masses.h): entries, rows ascending. count 0: M does not depend on p; < 0: there is no such B. */
typedef struct dae_mass_factor {
    int count, *row, *column;
    double *value;
} dae_mass_factor;

typedef struct dae_direction_of {
    const char *name;
    double value;         /* of the parameter */
    int component;        /* >= 0: its initial value is meant */
    int parameter;        /* its number, else -1 */
    int exact;            /* 1: the tangents of the problem know it */
    int inside;           /* 1: those inside of its form do */
    dae_relative side[2]; /* [0] smaller, [1] larger */
    dae_relative
        wide[DAE_WIDE]; /* p - 4d .. p + 4d with a larger d, for differences of eighth order; or none */
    double width;       /* d; 0: none */
    dae_mass_factor mass;
} dae_direction_of;

typedef struct dae_family {
    const dae_problem *p;
    dae_arena *arena;
    dae_simulation_options options; /* with the method and form that were chosen */
    char method[40], form[40];
    dae_simulation *sim; /* of the problem itself */
    int n, nz, count;
    dae_direction_of *direction;
    /* exact derivatives of the system, which is integrated as it stands; NULL: there are none */
    const dae_tangents *tangents;
    /* or of what happens inside of a form that the problem brings along, where direction.inside says so */
    dae_form_tangents *inside;
    double *values; /* of it */
} dae_family;

/* A value of parameter k as a setting that dae_problem_variant reads back as it: equation files want the unit. */
void dae_parameter_text(const dae_problem *p, int k, double value, char *out, size_t size);

/* The problem alone; products: the names are theirs. NULL: see *err. */
dae_family *dae_family_open(const dae_problem *p, const dae_simulation_options *opt, const char *const *name,
                            int count, const dae_parameter_products *products, dae_error *err);
/* 1: all derivatives are exact, so that no relatives are needed; work: n values. */
int dae_family_exact(const dae_family *f, double *work);
/* dz0/dp_j (nz): exact where it is known, else the difference of the relatives. 0, or < 0: no memory. */
int dae_family_start(const dae_family *f, int j, double *s);
/* Its relatives; step: relative increment. */
dae_status dae_family_relatives(dae_family *f, double step, dae_error *err);
/* charts.c: m takes over the variables that the form chose for the problem itself, and has its start in them. 0, or < 0: no memory. */
int dae_family_take_over(const dae_family *f, dae_simulation *m);
void dae_family_alone(dae_family *f); /* without them again */
void dae_family_close(dae_family *f); /* NULL allowed */

/* What side 0 or 1 of direction j integrates. */
static inline dae_simulation *dae_family_side(const dae_family *f, int j, int side)
{
    dae_simulation *s = f->direction[j].side[side].sim;
    return s ? s : f->sim;
}
/* Weights of the values at place[k] d: their sum over d is the derivative, with an error of d^8. */
extern const double dae_family_weight[DAE_WIDE];
extern const int dae_family_place[DAE_WIDE]; /* -4 .. -1, 1 .. 4 */

/* The increment between the two sides. */
static inline double dae_family_width(const dae_family *f, int j)
{
    return f->direction[j].side[1].step - f->direction[j].side[0].step;
}

#endif
