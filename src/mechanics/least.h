/* Least corrections of small systems with a constant diagonal M (mass points, planar bodies in their centres), for which a
 * saddle-point solver is more than is needed:
 *
 *     w = -W G^T (G W G^T)^-1 r,   W = M^-1
 *
 * of all w with G w = -r the one with the least w^T M w. G W G^T is made and factored at every point, which costs less
 * than to keep it. */
#ifndef DAE_MECHANICS_LEAST_H
#define DAE_MECHANICS_LEAST_H

#include "core/arena.h"

enum { DAE_LEAST_ROWS = 6, DAE_LEAST_COLUMNS = 24 }; /* ours: beyond, patterns of zeros count */

typedef struct dae_least {
    int nv, nl;
    double W[DAE_LEAST_COLUMNS],
        S[DAE_LEAST_ROWS * DAE_LEAST_ROWS]; /* S: the Cholesky factor of G W G^T, or its inverse */
} dae_least;

/* mass: the diagonal of M. 0: there is a mass that is not positive. */
int dae_least_init(dae_least *x, int nv, int nl, const double *mass);
/* G: nl x nv, column-major. 0: fine; 1: rows that depend on each other. */
int dae_least_factor(dae_least *x, const double *G);
/* value += w for r, nl values. The largest |w|, or a number that is not finite where one of them is not: then, or where it is not between
 * `least` and `most`, the value is as it was. */
double dae_least_correct(const dae_least *x, const double *G, const double *r, double least, double most,
                         double *value);
/* The same for r = low + G value, whatever finite numbers w has. */
double dae_least_correct_rate(const dae_least *x, const double *G, const double *low, double *value);

#endif
