/* Dense output as accurate as the steps, on demand.
 *
 * Implicit Runge-Kutta methods are more accurate at the ends of their steps than between them: the polynomial of s
 * stages is of order s there, y_(n+1) of order 2s-1. Where a point inside a step is wanted, its polynomial is the first
 * guess of collocation at k > s Radau points c_i of the same step with the known end,
 *
 *     U_i = h sum_j a_ij f(t_n + c_j h, y_n + U_j),  i = 1 .. k-1,      U_k = y_(n+1) - y_n,
 *
 * which is iterated by U_i += F (h sum_j a_ij f_j - U_i). The filter F = gamma/h inv(gamma/h I - J), with the factors that
 * the step left behind, makes it contract for stiff components too: by |z| |gamma lambda - 1| / |gamma - z| where z is an
 * eigenvalue of h J and lambda one of (a_ij). F = 1 for explicit methods. The polynomial through 0 and U has degree k.
 * Steps do not depend on any of this. */
#ifndef DAE_METHOD_REFINE_H
#define DAE_METHOD_REFINE_H

#include "core/vector.h"
#include "method/method.h"

enum { DAE_REFINE_MAX = 13 };

/* What survives a checkpoint; zero: nothing there. In the arena of the method. */
typedef struct dae_refine_state {
    double t, h; /* the step */
    int done;    /* 1: U is there, -1: it was tried in vain, or is not needed */
} dae_refine_state;

typedef struct dae_refine {
    dae_ivp *ivp;
    dae_refine_state *st;
    int k;          /* most points; 0: no memory was wanted */
    double *U, *f;  /* k vectors of n each */
    double *y, *y0; /* n each: room, where the step began */
    int points;     /* those of c, w and a */
    double c[DAE_REFINE_MAX], w[DAE_REFINE_MAX], a[DAE_REFINE_MAX][DAE_REFINE_MAX];
} dae_refine;

/* Takes its memory from the arena; the arena remembers a failure. */
void dae_refine_create(dae_refine *r, dae_ivp *ivp, int k);
/* A new step was accepted, which began at y0; NULL: there is none. */
static inline void dae_refine_begin(dae_refine *r, const double *y0)
{
    r->st->done = 0;
    if (y0) dae_copy(r->ivp->n, y0, r->y0);
}

typedef struct dae_refine_step {
    int k;                                          /* points, at most those of create */
    const double *y1;                               /* where it ended; begin and size are those of the run */
    void (*guess)(void *self, double t, double *y); /* the method's own polynomial */
    void (*filter)(void *self, double *x);          /* NULL: 1 */
    /* the same with y', NULL: not asked. Explicit methods: where it solves y' = f well enough there is nothing to refine */
    void (*slope)(void *self, double t, double *y, double *yp);
    void *self;
} dae_refine_step;

/* y and, unless NULL, y' at t on the refined polynomial of the last step, which is made now if the driver wants it to be.
 * 0: there is none, use your own. */
int dae_refine_interpolate(dae_refine *r, const dae_refine_step *step, double t, double *y, double *yp);

#endif
