/* Exact derivatives of what a problem consists of, where it knows its own expressions (equation files). A direction is dt, dy (n
 * values) and one parameter k, which counts 1 (k < 0: none). All return 0, or else they cannot be evaluated there. */
#ifndef DAE_PROBLEM_TANGENTS_H
#define DAE_PROBLEM_TANGENTS_H

#include <daedalus/problem.h>

#include "core/arena.h"
#include "problem/form.h"

/* Derivatives inside of a form: of all values that its state z determines. One per run. */
typedef struct dae_form_tangents dae_form_tangents;

typedef struct dae_tangents {
    /* Makes them once, for all threads. 0: no memory. */
    int (*prepare)(const dae_problem *p);
    /* 1: whatever depends on parameter k is known as an expression of it; < 0: no memory. */
    int (*knows)(const dae_problem *p, int k);
    /* Of f in y' = f or M y' = f; run: the system as it is bound to a run. */
    int (*rate)(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                const double *dy, int k, double *out);
    /* Of df/dy, in its layout. */
    int (*jacobian)(const dae_problem *p, const dae_system *run, double t, const double *y, double dt,
                    const double *dy, int k, double *out);
    /* Of M, in its layout. */
    int (*mass)(const dae_problem *p, int k, double *out);
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
    /* Of a form that the problem brings along; the object lives in the arena. NULL: they are not known, or (*starved) there is no memory. */
    dae_form_tangents *(*inside)(const dae_problem *p, dae_form *f, dae_arena *arena, int *starved);
    void (*leave)(dae_form_tangents *x); /* NULL allowed */
    int (*inside_count)(const dae_form_tangents *x);
    /* At z, along dz (NULL: 0) and parameter k: inside_count values. */
    int (*inside_values)(dae_form_tangents *x, double t, const double *z, const double *dz, int k,
                         double *out);
    /* At the start; > 0: it follows from more than equations and given values. */
    int (*inside_start)(dae_form_tangents *x, int k, double *out);
    /* Of the Jacobian of the form, in its layout. > 0: it has none. */
    int (*inside_jacobian)(dae_form_tangents *x, double t, const double *z, const double *dz, int k,
                           double *out);
    /* Of the projection that made z `after` of `before`: dz becomes that of `after`. */
    int (*inside_project)(dae_form_tangents *x, double t, const double *before, const double *after, int k,
                          double *dz);
    /* What is made of them: dz in the present variables, dz', dy; each may be NULL. */
    void (*inside_pick)(const dae_form_tangents *x, const double *values, double *dz, double *rate,
                        double *dy);
} dae_tangents;

#endif
