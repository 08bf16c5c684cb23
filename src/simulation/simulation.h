/* What a simulation is inside the library: the run (experiment/run.c) takes its output from the integrator itself. */
#ifndef DAE_SIMULATION_SIMULATION_H
#define DAE_SIMULATION_SIMULATION_H

#include <daedalus/simulation.h>

#include "core/arena.h"
#include "core/error.h"
#include "formulation/formulation.h"
#include "method/choose.h"
#include "problem/form.h"
#include "simulation/singular.h"

struct dae_simulation {
    const dae_problem *p;
    dae_arena *arena;
    dae_options options; /* what the integrator gets */
    char *fingerprint;   /* lines of the caller for checkpoints, or NULL */
    dae_integrator *it;
    dae_formulation *form; /* NULL: the system is integrated as it stands */
    /* the system is a mechanism and integrated as it stands: that form; or NULL */
    dae_formulation *descriptor;
    const dae_form_type *own_type; /* the form that the problem brings along, or NULL */
    dae_form *own;                 /* and its object */
    const dae_system *sys;         /* what is integrated */
    int as_mechanism;              /* 1: that is p->mechanism, or a form of it */
    const dae_mech *mech;          /* the mechanical system behind it, or NULL */
    const char *formulation;       /* its form, or NULL */
    int n, nz;                     /* size of the problem, of what is integrated */
    double t0, t_end;
    double *z0, *zp0;          /* initial values of what is integrated; zp0 may be NULL */
    double *z, *zp;            /* nz each, work */
    double *y;                 /* n: the present state */
    const double *rtol, *atol; /* n each */
    dae_events given, events;  /* of the options; in the variables of the form */
    double *ye, *ype;          /* n each: the state and its derivative as the events see them */
    double *a, *lambda;        /* as_mechanism: accelerations and multipliers at one point */
    double residual[3]; /* formulated systems: largest of position, velocity and acceleration constraints */
    int quiet;          /* 1: nobody asks for statistics */
    dae_singular *singular; /* watches for singular poses, or NULL */
    char warning[400];      /* what it saw, or "" */
    int starved;            /* it had no memory to look */
    char reason[256];       /* why method and form, where they were chosen here */
    dae_evidence evidence;  /* what that was made of */
    dae_simulation_fn *progress;
    void *progress_user;
    dae_progress_fn *on_step; /* of a run, after the residuals; or NULL */
    void *on_step_user;
    int started;
    int chosen; /* 1: method and form were open */
};

/* The state of the problem from z, that of what is integrated; a (nv), lambda (nlambda): NULL, or wanted, NAN where they are
 * not known. Returns 1 if they are known. */
int dae_simulation_lower(dae_simulation *s, double t, const double *z, double *y, double *a, double *lambda);
/* Formulated systems: what is left of the acceleration constraint counts for the statistics. */
void dae_simulation_note(dae_simulation *s, double t, const double *y, const double *a);
/* A second integrator for the same run, without output and progress: for measurements. NULL: see *err. */
dae_integrator *dae_simulation_again(dae_simulation *s, dae_error *err);

/* choose.c: sets what is left open of s->options, s->as_mechanism and s->reason. */
dae_status dae_simulation_choose(dae_simulation *s, dae_error *err);

#endif
