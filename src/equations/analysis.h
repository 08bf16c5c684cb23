/* Structural analysis of equations: offsets, system Jacobian, differentiated equations; repair where the structure lies. */
#ifndef DAE_EQUATIONS_ANALYSIS_H
#define DAE_EQUATIONS_ANALYSIS_H

#include "equations/model.h"
#include "equations/sigma.h"

typedef struct dae_analysis {
    const dae_model *model;
    int n;                     /* equations and variables; more than in the model after an augmentation */
    int *node;                 /* n: the equations after repairs */
    const char **equation;     /* n: their names, "rod" or "line 7"; a replaced one has a * */
    const char **variable;     /* n */
    const dae_place *place_of; /* n: where equation i stands in the text */
    dae_sigma sigma;
    /* J by rows: entries row_start[i] .. row_start[i+1]-1 with their column and node. */
    int *row_start, *column, *entry;
    int *place;         /* n+1: x_j^(k), k = 0 .. d_j, stands at X[place[j] + k] */
    int total;          /* length of X */
    int *first, *value; /* n+1; value[first[i] + m] is the node of f_i^(m), m = 0 .. c_i; first[n] of them */
    int combinations, augmented;   /* repairs */
    int as_written;                /* the index before repairs, which was wrong where there are any */
    const double *augmented_start; /* n: start of variables that an augmentation added */
} dae_analysis;

/* The analysis of a model; everything lives in the arena. DAE_ERR_INPUT: the equations are too many, too few or contradict:
 * messages say which, and hold notes about repairs. */
dae_status dae_analyze(dae_model *model, dae_arena *arena, dae_analysis *out, dae_messages *messages);

/* The same analysis of equations that are `node` (n) instead, with the same structure. 0: no memory. */
int dae_analysis_of(const dae_analysis *a, const int *node, dae_arena *arena, dae_analysis *out);

/* Values of X (a->total) as the model gives them at the start: given values and guesses, 0 for the rest. */
void dae_analysis_start(const dae_analysis *a, double *X);

/* redundant.c: of the candidates (flags), one that follows from all other equations, where there is one equation more than variables;
 * -1: none is found. */
int dae_analysis_redundant(const dae_model *m, const unsigned char *candidate);

/* repair.c: where J is singular at all of seven points near the start and near 0, replaces one equation. 1: done, analyze again; 0: J is
 * regular; < 0: messages say why it cannot be mended. */
int dae_analysis_repair(dae_analysis *a, dae_arena *arena, dae_messages *messages);

#endif
