/* A function of one number through points: straight lines, a natural cubic spline, a cubic that keeps monotony, or steps.
 *
 * Between points k and k+1 it is  y = c0 + c1 s + c2 s^2 + c3 s^3,  s = x - x_k, so that all kinds are evaluated and
 * differentiated by one routine. */
#ifndef DAE_LANGUAGE_CURVE_H
#define DAE_LANGUAGE_CURVE_H

typedef enum dae_curve_kind {
    DAE_CURVE_LINEAR,
    DAE_CURVE_SPLINE,
    DAE_CURVE_PCHIP,
    DAE_CURVE_STEP
} dae_curve_kind;
/* Outside the points: the last value, the tangent at the end, NaN, or the same again (the last y counts as the first). */
typedef enum dae_curve_outside {
    DAE_CURVE_HOLD,
    DAE_CURVE_LINE,
    DAE_CURVE_ERROR,
    DAE_CURVE_PERIODIC
} dae_curve_outside;

typedef struct dae_curve {
    dae_curve_kind kind;
    dae_curve_outside outside;
    int n;              /* points */
    double *x;          /* n, increasing */
    double *c;          /* 4(n-1): the cubics */
    double left, right; /* slopes at the ends */
} dae_curve;

/* n >= 2 points with increasing x (>= 1 for steps); copies. NULL: no memory. */
dae_curve *dae_curve_create(dae_curve_kind kind, dae_curve_outside outside, int n, const double *x,
                            const double *y);
dae_curve *dae_curve_copy(const dae_curve *c); /* NULL: no memory */
void dae_curve_destroy(dae_curve *c);
/* The derivative of that order (0: the value) at x. */
double dae_curve_value(const dae_curve *c, double x, int order);

/* Segments: -1 before the first point, k between points k and k+1, n-1 behind the last; periodic curves count on over all turns.
 * The segment of x, and the ends of a segment (infinite where it has none). */
int dae_curve_segment(const dae_curve *c, double x);
void dae_curve_ends(const dae_curve *c, int segment, double *lo, double *hi);
/* The function of one segment continued beyond its ends. */
double dae_curve_piece(const dae_curve *c, int segment, double x, int order);

#endif
