/* (lambda M - J) x = b without factors: GMRES [SS86] with a preconditioner P ~ lambda M - J from the left, lambda real or
 * complex. J is a function that multiplies a vector, or values in a sparse or banded layout.
 *
 * Vectors are measured in the tolerances of the caller, |x| = sqrt(mean (x_i/w_i)^2), and left preconditioning makes what is
 * left over an error of x: P^-1 (b - (lambda M - J) x) is stopped at |.| <= max(relative |P^-1 b|, absolute). A method that
 * iterates needs no more than a twentieth, since the next iteration mends the rest.
 *
 * It is a dae_linear_solver (daedalus/options.h), so that every method that takes one takes this. Memory: vectors + 2 arrays of
 * length n (twice as many where complex) beside the preconditioner. */
#ifndef DAE_LINALG_KRYLOV_H
#define DAE_LINALG_KRYLOV_H

#include <daedalus/options.h>

typedef enum dae_preconditioner { DAE_NO_PRECONDITIONER, DAE_BAND, DAE_ILU, DAE_USER } dae_preconditioner;

/* What the systems of one method share; lives as long as they do. */
typedef struct dae_krylov {
    int vectors; /* dimension of the space; then it starts again from what is left */
    int most;    /* iterations for one system */
    double relative, absolute;
    const double *tolerance; /* n: w */
    /* J v; 0: fine. NULL: with the values that factor gets, which must live until the next. */
    int (*product)(void *self, const double *v, double *Jv);
    void *self;
    int second_order; /* m: the first m rows of J are (0, I, 0), whatever its values say */
    /* DAE_BAND: the layout of the values is banded; DAE_ILU: it is sparse. */
    dae_preconditioner preconditioner;
    const dae_linear_solver *user; /* DAE_USER: solves P x = b */
    long *iterations;              /* counted here, where not NULL */
} dae_krylov;

/* k becomes the user of the solver. */
dae_linear_solver dae_krylov_solver(dae_krylov *k);

#endif
