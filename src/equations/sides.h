/* Sides of equations that are analyzed: what is not smooth (branches.h) in the forms of a system.
 *
 * The forms are made of equations in which each decision is a leaf, discrete value model->ndiscrete + i; its value, the side, is frozen
 * by the driver of a run (daedalus/system.h). */
#ifndef DAE_EQUATIONS_SIDES_H
#define DAE_EQUATIONS_SIDES_H

#include "equations/analysis.h"
#include "equations/evaluator.h"

#include <daedalus/system.h>

/* Constant after it was made; shared by all runs. */
typedef struct dae_smooth {
    dae_analysis analysis; /* with sides as leaves; that of the model where everything is smooth */
    struct dae_branches *branches;
    dae_evaluator *literal, *frozen; /* what decides, as written and with the other sides frozen */
    const char **name;               /* of switches */
    const double *parameter;
} dae_smooth;

/* discrete: ndiscrete values; *with becomes a copy with the sides that hold at (t, X) behind them. NULL: no memory. */
dae_smooth *dae_smooth_create(const dae_analysis *a, dae_arena *arena, double t, const double *X,
                              const double *parameter, const double *discrete, double **with);
void dae_smooth_destroy(dae_smooth *s); /* NULL allowed */
int dae_smooth_count(const dae_smooth *s);
/* 1: a decision depends on a variable that `yes` says; -1: no memory. */
int dae_smooth_decides_by(const dae_smooth *s, int (*yes)(const dae_node *leaf, const void *user),
                          const void *user);

/* What one run has: sides that its driver writes, and the discrete values with the sides behind them that evaluators are started with. */
typedef struct dae_sides dae_sides;
dae_sides *dae_sides_create(const dae_smooth *s, const double *with); /* NULL: no memory */
void dae_sides_destroy(dae_sides *x);                                 /* NULL allowed */
/* Takes discrete values (ndiscrete) and the present sides: 1 where they are others than before. */
int dae_sides_take(dae_sides *x, const double *discrete);
const double *dae_sides_discrete(const dae_sides *x);
int dae_sides_all(const dae_sides *x);                   /* how many they are */
void dae_sides_restore(dae_sides *x, const double *all); /* from a checkpoint */
/* Continuous kinks that stand on their corners at this point (flows that are zero), or decide by other values than the states, are not located
 * and follow the values. 0: no memory. */
int dae_sides_let_go(dae_sides *x, double t, const double *X, int nstate, const int *state);
/* Where these stand, 1: one of them changed its side. */
int dae_sides_follow(dae_sides *x, double t, const double *X);
/* The sides that hold at (t, X) whatever the run has frozen, until the next dae_sides_take: behind the end of its side a branch may be
 * undefined (sqrt(max(h, 0)) at h < 0). 1: one is another. */
int dae_sides_literal(dae_sides *x, double t, const double *X);
/* As dae_switch_fn, at (t, X). Continuous kinks that change their sides again and again are let go. */
void dae_sides_values(dae_sides *x, double t, const double *X, const int *side, double *margin, int *next);
/* The switches of a form, whose function finds X and asks dae_sides_values. */
dae_switches dae_sides_switches(dae_sides *x, dae_switch_fn *values, void *user,
                                const char *(*name)(int i, void *user));
const char *dae_sides_name(const dae_sides *x, int i);

#endif
