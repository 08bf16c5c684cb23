/* Consistent values of all variables and their derivatives, at the start and after events. */
#ifndef DAE_EQUATIONS_INITIAL_H
#define DAE_EQUATIONS_INITIAL_H

#include "equations/analysis.h"

typedef struct dae_initial_task {
    const dae_analysis *analysis;
    double t;
    const double *parameter, *discrete;
    const unsigned char *bound; /* total flags: values of X that must stay as they are */
    const double *inertia;      /* total: how hard a value is to move against others; NULL: all 1 */
    int ninit;
    const int *init; /* further equations 0 = node */
} dae_initial_task;

typedef struct dae_initial_result {
    int converged;
    int equation;   /* that fits least: number of the equation, or n + number of the init equation */
    int derivative; /* how often it is differentiated there */
    double missing;
    int flat; /* its unknowns do not change it there: another guess is needed */
} dae_initial_result;

/* In: X with bound values and guesses; out: consistent, where *r says so. 0: no memory. */
int dae_initial_solve(const dae_initial_task *task, double *X, dae_initial_result *r);

/* What is said about the start: one line per variable (and derivative that matters). */
typedef struct dae_initial_line {
    int variable, order;
    double given; /* NAN: nothing was given */
    int bound;    /* 1: "=", 0: "~" */
    double found;
    const char *why; /* "given", "determined", "taken from a guess", "moved by least change" */
} dae_initial_line;

typedef struct dae_initial {
    double *X; /* total */
    int nline;
    dae_initial_line *line;
    int needed, given; /* degrees of freedom, bound values among them */
} dae_initial;

/* The start of a model. DAE_ERR_INCONSISTENT: messages say which values contradict which equation. */
dae_status dae_initial_find(const dae_analysis *a, const double *parameter, const double *discrete,
                            dae_arena *arena, dae_initial *out, dae_messages *messages);

#endif
