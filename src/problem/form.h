/* Forms that a problem brings along: its system in other variables, which may change along the run (charts). Equation files have
 * them; the forms of mechanical systems are formulation/. A simulation makes one object per run and speaks the problem's
 * coordinates through it. */
#ifndef DAE_PROBLEM_FORM_H
#define DAE_PROBLEM_FORM_H

#include <daedalus/formulation.h>
#include <daedalus/problem.h>

typedef struct dae_form_type dae_form_type;

typedef struct dae_form {
    const dae_form_type *type;
    const void *model; /* of dae_forms */
    dae_system system; /* what is integrated; its functions get what create gave them */
    void *self;
    char text[200]; /* what was decided, in words */
} dae_form;

struct dae_form_type {
    dae_formulation_info info;
    dae_status (*create)(dae_form *f, dae_error *err);
    void (*destroy)(dae_form *f);
    /* The state z of the form from that of the problem, which is made consistent as far as it has to. */
    dae_status (*lift)(dae_form *f, double t, const double *y, double *z, dae_error *err);
    void (*slope)(const dae_form *f, double *zp); /* z' where lift was last; NULL: the method finds it */
    /* And back; zp, yp may be NULL. 0, or > 0: cannot be evaluated there. */
    int (*lower)(dae_form *f, double t, const double *z, const double *zp, double *y, double *yp);
    /* Tolerances of z from those of the problem. */
    void (*tolerance)(const dae_form *f, const double *given, double *out);
    dae_status (*attach)(dae_form *f, dae_integrator *it, dae_error *err); /* NULL: nothing */
};

typedef struct dae_forms {
    const void *model;
    const dae_form_type *const *type; /* ended by NULL */
    const char *as_written; /* the name of the system itself: "explicit", "mass", "labels", "residual" */
    /* The form for "auto"; m NULL: the method is open, and *method the one that goes with the form, where the rules for systems as they stand
     * do not know it. NULL: the system as it is written. *reason: in words. */
    const dae_form_type *(*choose)(const struct dae_forms *forms, const dae_method_info *m,
                                   const char **method, const char **reason);
} dae_forms;

/* The object of a run, and its options for the integrator: tolerances of the form are kept in it. NULL: see *err. */
dae_form *dae_form_open(const dae_form_type *type, const void *model, dae_error *err);
void dae_form_close(dae_form *f); /* NULL allowed */
/* The type by its name; NULL: there is none, or it is the system as written. *err names what there is. */
const dae_form_type *dae_forms_find(const dae_forms *forms, const char *name, dae_error *err);

#endif
