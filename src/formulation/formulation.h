/* What a formulation is inside the library: a type in the registry, an object with the system it made. */
#ifndef DAE_FORMULATION_FORMULATION_H
#define DAE_FORMULATION_FORMULATION_H

#include <daedalus/formulation.h>
#include <daedalus/plugin.h>

#include "core/error.h"
#include "mechanics/descriptor.h"

typedef struct dae_formulation_type dae_formulation_type;

/* The options of all formulations; each has a table with those that it knows. */
typedef struct dae_formulation_options {
    int project;                                               /* 1: every accepted point is projected */
    double alpha, beta;                                        /* Baumgarte; < 0: chosen */
    const char *saddle;                                        /* mode of the saddle-point solver */
    const char *partition, *coordinates, *independent, *scale; /* statespace */
    double eta, growth, hysteresis;
} dae_formulation_options;

struct dae_formulation {
    const dae_formulation_type *type;
    dae_formulation_options option;
    dae_arena *arena;
    dae_descriptor d;
    dae_system sys;     /* what came out */
    void *self;         /* of the type, from the arena */
    double *a, *lambda; /* nv, nl: results that nobody asked for */
    char text[200];     /* what was decided, in words */
    char trouble[240];  /* why the last evaluations failed; "" after a good step */
    dae_options log;    /* only the log of the run */
    dae_system own;     /* the mechanical system; its copy for this run where bound */
    int bound;
    int checked; /* G was compared with differences of g */
    double *pvu; /* np+nv+nu: where switches look */

    /* dae_formulation_open: what the options of the integrator point to. */
    double *rtol, *atol;
    dae_setting *rest;
};

struct dae_formulation_type {
    dae_formulation_info info;
    int astray; /* 1: nothing holds a run on its branch at a singular pose, unless it is projected */
    /* Sets f->sys (its user is f) and f->self. */
    dae_status (*create)(dae_formulation *f, dae_error *err);
    dae_status (*lift)(dae_formulation *f, double t, const double *pvu, double *y, dae_error *err);
    /* The state of the mechanical system; a and lambda where y has them, else *known stays 0. */
    dae_status (*lower)(dae_formulation *f, double t, const double *y, double *pvu, double *a, double *lambda,
                        int *known, dae_error *err);
    /* NULL: nothing. Tells an integrator what it needs besides the projection. */
    dae_status (*attach)(dae_formulation *f, dae_integrator *it, dae_error *err);
    /* Tolerances of the state from those of (p, v, u). NULL: (p, v, u) stand first in the state. */
    void (*tolerance)(const dae_formulation *f, const double *given, double *out);
    int (*dynamics_at)(const dae_formulation *f);            /* NULL: behind p and v */
    int (*project)(dae_formulation *f, double t, double *y); /* NULL: p and v come first and are projected */
    void (*release)(dae_formulation *f); /* NULL: all is in the arena. f->self may be NULL */
    /* What it keeps besides the descriptor's factors, for checkpoints; NULL: nothing. As in dae_memory. */
    size_t (*save)(const dae_formulation *f, void *buffer);
    int (*load)(dae_formulation *f, const void *buffer, size_t size);
    void (*forget)(
        dae_formulation *f); /* what belongs to points and follows from the system; NULL: nothing */
    /* After a failure with a text in f->trouble: what more is to be said, or "". NULL: nothing. */
    void (*diagnose)(dae_formulation *f, char *out, size_t size);
};

#define FORMULATION(name) extern const dae_formulation_type dae_formulation_##name;
#include "formulation/formulations.def"
#undef FORMULATION

/* As dae_formulation_choose, for a method that need not be in the registry; NULL: the method is open too. */
const dae_formulation_info *dae_formulation_for(const dae_method_info *m);

/* After loading what another system of the same structure kept: its variables, and nothing that it computed. */
void dae_formulation_forget(dae_formulation *f);

/* (a, lambda) consistent with (p, v, u), or the reason why there are none. */
dae_status dae_formulation_solve(dae_formulation *f, double t, const double *pvu, double *a, double *lambda,
                                 dae_error *err);

/* Where the variables u of the external dynamics begin in the state of the form. */
int dae_formulation_dynamics_at(const dae_formulation *f);

/* Adds to the message of a failed run why the system could not be evaluated, where that is known. */
void dae_formulation_explain(dae_formulation *f, dae_error *err);

/* Lines of the tables of options. */
/* clang-format off */
#define DAE_FORMULATION_PROJECT                                                                              \
    {"project", DAE_OPTION_INT, offsetof(dae_formulation_options, project), 0, NULL, 0, 1, NULL, "",         \
     "1: every accepted point is projected onto the position and velocity constraints"}
/* clang-format on */
/* clang-format off */
#define DAE_FORMULATION_SADDLE                                                                               \
    {"saddle", DAE_OPTION_NAME, offsetof(dae_formulation_options, saddle), 0, "auto", 0, 0, DAE_SADDLE_MODES, \
     "", "how the systems for accelerations and multipliers are solved"}
/* clang-format on */

#endif
