/* The start behind a discontinuity of a system of index 1 with algebraic variables.
 *
 * A jump excites fast modes. The formula of lowest order damps them where h times their frequency is large; the higher
 * ones damp less, and BDF of orders 3 to 5 amplify oscillations up to h |lambda| = 3 to 10, also decaying ones. Once an
 * oscillation is seen by the error test h falls until it is resolved, and stays there. So the lowest order is kept until the
 * transients are over, which h tells: it comes near to the steps before the jump again, or grows well above the least
 * since. Meanwhile h is chosen with little safety, since short steps damp little. Constants ours; docs/problems/tba.md
 * has what was measured. */
#ifndef DAE_METHOD_DAMPING_H
#define DAE_METHOD_DAMPING_H

#include <math.h>

#define DAE_CALM_PART 0.02 /* over when h is this part of the largest step of the last piece, */
#define DAE_CALM_GROWTH 8  /* or so many times the least since the jump, */
#define DAE_CALM_LEVEL 2   /* which counts where so many steps in a row did not grow, */
#define DAE_CALM_STEPS 50  /* or after so many steps */

typedef struct dae_damping {
    int on;         /* the lowest order only */
    int steps;      /* accepted while on */
    int level;      /* the last so many did not grow */
    double h_top;   /* the largest step of this piece */
    double h_last;  /* the last one */
    double h_least; /* the least after CALM_LEVEL steps without growth, 0: none yet */
    double h_calm;  /* CALM_PART of the last piece's h_top */
} dae_damping;

/* A new piece begins; behind: at a discontinuity, with damping wanted. */
static inline void dae_damping_begin(dae_damping *x, int behind)
{
    *x = (dae_damping){.on = behind && x->h_top > 0, .h_calm = DAE_CALM_PART * x->h_top};
}

/* A step of size h was accepted. */
static inline void dae_damping_accept(dae_damping *x, double h)
{
    h = fabs(h);
    x->h_top = fmax(x->h_top, h);
    if (!x->on) return;
    x->level = h <= x->h_last * (1 + 1e-6) ? x->level + 1 : 0;
    x->h_last = h;
    if (x->level >= DAE_CALM_LEVEL) x->h_least = x->h_least > 0 ? fmin(x->h_least, h) : h;
    int grown = x->h_least > 0 && h >= DAE_CALM_GROWTH * x->h_least;
    x->on = h < x->h_calm && !grown && ++x->steps <= DAE_CALM_STEPS;
}

#endif
