/* The discrete adjoint: what its parts share.
 *
 * A run is a tape of nodes: steps (t, h, z), and jumps at events. Backwards, lambda = dG/dz goes from the end of a node to its
 * beginning, and dG/dp is collected. A kernel does one step of one family of methods (adjoint_step.c). */
#ifndef DAE_SENSITIVITY_ADJOINT_H
#define DAE_SENSITIVITY_ADJOINT_H

#include "linalg/shifted.h"
#include "method/erk/erk.h"
#include "method/rodas/rodas.h"
#include "sensitivity/jump.h"

enum { DAE_ADJOINT_STAGES = 26 }; /* the most of any method */

/* The system with its relatives as the kernels see it: n = nz + 1 where there is a running cost, whose integral is last. */
typedef struct dae_adjoint {
    const dae_family *f;
    const dae_functional *G;
    dae_arena *arena;
    int nz, n;
    const dae_erk_table *erk; /* one of these, or radau */
    const dae_rodas_table *rodas;
    int autonomous;
    dae_matrix mass; /* of the system (n = 0: identity) with 1 for the integral */
    double *M;       /* n*n where mass.n, else NULL */
    dae_pattern pattern,
        turned;        /* of df/dz as the kernels have it: the system's own, or dense; and of its transpose */
    int *turn;         /* sparse: value k of the transpose is value turn[k] */
    long count;        /* values */
    double *J, *K, *L; /* count each */
    double *values;    /* of the system's Jacobian as it comes */
    double *stage[DAE_ADJOINT_STAGES], *u[DAE_ADJOINT_STAGES], *v[DAE_ADJOINT_STAGES],
        *p[DAE_ADJOINT_STAGES];       /* n each */
    double *x, *w, *fl, *fh, *y, *dy; /* n each */
    double *fl1, *fh1, *rowz, *lift;  /* n each */
    double *now;                      /* n: f where something is collected */
    double *low, *lowdy, *lifted;     /* of the problem: its n each */
    const double *floor;              /* nz: sizes below which a component counts as this */
    double *mu;                       /* radau: n for each stage */
    dae_shifted *solver, *transposed; /* rodas */
    double *big;                      /* radau: the matrix of all stages */
    dae_shifted *stages[8];           /* radau: by the number of stages */
    double *gradient;                 /* count */
} dae_adjoint;

/* f (n values) of relative j, side (j < 0: the problem itself). */
int dae_adjoint_f(dae_adjoint *a, int j, int side, double t, const double *z, double *f);
int dae_adjoint_f_of(dae_adjoint *a, dae_simulation *m, double t, const double *z, double *f);
/* df/dz in the layout of a->pattern. */
int dae_adjoint_jacobian(dae_adjoint *a, int j, int side, double t, const double *z, double *J);

/* lambda (n) from the end of the step (t, h, z) to its beginning; Y: stages that the run left (radau; s of them), or NULL. */
int dae_adjoint_erk(dae_adjoint *a, double t, double h, const double *z, double *lambda);
int dae_adjoint_rodas(dae_adjoint *a, double t, double h, const double *z, double *lambda);
int dae_adjoint_radau(dae_adjoint *a, double t, double h, int s, const double *Y, double *lambda);
/* Nodes of Radau IIA with s = 3, 5, 7 stages. */
const double *dae_adjoint_radau_nodes(int s);

#endif
