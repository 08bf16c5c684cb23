/* The balance of energy along a run, with the work integrated over the steps of the solver. */
#ifndef DAE_EXPERIMENT_WORK_H
#define DAE_EXPERIMENT_WORK_H

#include <daedalus/problem.h>

typedef struct dae_energy_sum {
    const dae_problem *p;
    int n, rows;
    double *t, *y; /* rows waiting to be evaluated */
    dae_energy *at;
    signed char *kind; /* of each: what it is for */
    double *weight;
    dae_balance balance;
    double kinetic, potential; /* at the start */
    double total, last,
        off; /* work of everything; kinetic energy and imbalance at the end of the last piece */
    double *worst_t, *worst; /* the points of the piece in which it grew most */
    double growth;           /* of the imbalance in one piece, the largest */
    int begun, failed, out_of_memory;
    long events; /* so many when the last piece was added */
} dae_energy_sum;

/* 0: fine, else out of memory. n: length of a state. */
int dae_work_begin(dae_energy_sum *w, const dae_problem *p, int n);
void dae_work_end(dae_energy_sum *w);
/* Room for the state at the next point of a piece [from, to]: call with k = 0 .. DAE_WORK_POINTS-1, fill y at *t.
 * events: how many were found so far; where they grew, what was lost at the beginning of the piece is the work of impacts. */
enum { DAE_WORK_POINTS = 7 };
double *dae_work_point(dae_energy_sum *w, double from, double to, int k, long events, double *t);
/* What the points so far say; NULL: they cannot be evaluated. steps, tol: of the run, for what is allowed. */
const dae_balance *dae_work_balance(dae_energy_sum *w, long steps, double tol);

#endif
