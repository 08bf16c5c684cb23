/* What vanishes in a steady state, for every kind of system, as a function of the state and one parameter:
 *
 *     ODE   f(t,y)         DAE   f(t,y)         IDE   F(t,y,0)
 *     mechanisms, v = 0:   N^T (f(p,0,u) - G^T lambda),  g(p),  d(p,0,u)        N: directions that the constraints leave
 *
 * and, where the system has linear invariants w^T M y, w^T M (y - y_0). A step x of the unknowns has a number for every component, or
 * (mechanisms) for every velocity and u: p moves by T x. */
#ifndef DAE_STEADY_STATIONARY_H
#define DAE_STEADY_STATIONARY_H

#include <daedalus/steady.h>

#include "core/arena.h"

typedef struct dae_stationary {
    const dae_problem *base; /* as given */
    dae_problem *variant;    /* with another value of the parameter, or NULL */
    const dae_problem *p;    /* the one in use */
    int parameter;           /* its number; -1: none */
    double value;            /* of the parameter */
    double t;
    int n;               /* of y */
    int unknowns;        /* of a step */
    int rows, conserved; /* rows in all; the last of them belong to invariants */
    int free_directions; /* mechanisms: columns of N */
    int differences;     /* 1: derivatives are differences */
    int starved;         /* 1: memory ran out in a function that cannot tell */
    dae_arena *arena;
    double *N, *basis, *G, *lambda, *f, *g;   /* mechanisms */
    double *W, *anchor;                       /* invariants: n*conserved; y_0 */
    double *low, *high, *moved, *rate, *zero; /* work */
    double *J, *E, *values;                   /* n*n each; values of the system's own Jacobian */
    double *floor;                            /* n: sizes below which a component counts as this */
} dae_stationary;

dae_status dae_stationary_open(dae_stationary *s, const dae_problem *p, double t, const char *parameter,
                               dae_error *err);
void dae_stationary_close(dae_stationary *s);
dae_status dae_stationary_set(dae_stationary *s, double value, dae_error *err);
/* Looks for linear invariants and keeps them as they are at y. */
dae_status dae_stationary_anchor(dae_stationary *s, const double *y, dae_error *err);
/* Takes the directions N at y; the functions below use them until it is called again. */
int dae_stationary_frame(dae_stationary *s, const double *y);
/* rows values; 0: fine */
int dae_stationary_residual(dae_stationary *s, const double *y, double *r);
/* rows * unknowns, column-major */
int dae_stationary_jacobian(dae_stationary *s, const double *y, double *J);
void dae_stationary_move(const dae_stationary *s, const double *x, double *y); /* y moves by the step x */
/* Sizes of the unknowns at y. */
void dae_stationary_scale(const dae_stationary *s, const double *y, double *w);
/* Eigenvalues of the linearized system at y, real parts falling; their number (at most n + nv), -1: failed. */
int dae_stationary_eigenvalues(dae_stationary *s, const double *y, double *re, double *im);
/* Real parts above this are positive. */
double dae_stationary_noise(const dae_stationary *s, int count, const double *re, const double *im);

/* Newton's method with N, invariants and damping from y, in place. */
dae_status dae_stationary_solve(dae_stationary *s, double tolerance, int max_iterations, double *y,
                                int *iterations, dae_error *err);

#endif
