/* Exact derivatives of what a problem consists of, where it knows its own expressions (equation files). A direction is dt, dy (n
 * values) and one parameter k, which counts 1 (k < 0: none). All return 0, or else they cannot be evaluated there. */
#ifndef DAE_PROBLEM_TANGENTS_H
#define DAE_PROBLEM_TANGENTS_H

#include <daedalus/problem.h>

typedef struct dae_tangents {
    /* Makes them once, for all threads. 0: no memory. */
    int (*prepare)(const dae_problem *p);
    /* 1: whatever depends on parameter k is known as an expression of it. */
    int (*knows)(const dae_problem *p, int k);
    /* Of f in y' = f or M y' = f (M does not depend on parameters that are known); run: the system as it is bound to a run. */
    int (*rate)(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                const double *dy, int k, double *out);
    /* Of df/dy, in its layout. */
    int (*jacobian)(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                    const double *dy, int k, double *out);
    /* dy0/dp_k; NAN where it follows from more than an expression. */
    int (*start)(const dae_problem *p, int k, double *out);
    /* Of the quantity that decides about switch i, but for a factor. */
    int (*border)(const dae_problem *p, const dae_system *run, int i, double t, const double *y, double dt,
                  const double *dy, int k, double *out);
    /* Of the switching function of event i. */
    int (*event)(const dae_problem *p, int i, double t, const double *y, double dt, const double *dy, int k,
                 double *out);
    /* Of y after event i, which made `after` of y; out: n values. > 0: more happened than its own assignments. */
    int (*jump)(const dae_problem *p, int i, double t, const double *y, const double *after, double dt,
                const double *dy, int k, double *out);
    /* Of the derived columns. */
    int (*columns)(const dae_problem *p, double t, const double *y, double dt, const double *dy, int k,
                   double *out);
} dae_tangents;

#endif
