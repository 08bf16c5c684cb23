/* What the methods of the rodas family share: a table of coefficients, and the kernel that makes one attempt. */
#ifndef DAE_METHOD_RODAS_RODAS_H
#define DAE_METHOD_RODAS_RODAS_H

#include "linalg/shifted.h"
#include "linalg/small.h"
#include "method/method.h"

enum { DAE_RODAS_STAGES = 8, DAE_RODAS_DENSE = 3 };

/* Coefficients after the transformation u = Gamma k, [HW] (IV.7.25). All of these methods are stiffly accurate: the
 * arguments of the stages from `sum` on add up, Y_(i+1) = Y_i + u_i, y_new is the last of them plus u_s, and u_s is
 * the error estimate. What is not given is zero. */
typedef struct dae_rodas_table {
    int stages, order;
    int sum;   /* first stage (from 0) whose argument all later ones continue; the last row of a */
    int dense; /* rows of H */
    int blind; /* u_s = 0 for y' = f(t) */
    double gamma;
    double alpha[DAE_RODAS_STAGES], gamma_i[DAE_RODAS_STAGES];
    double a[DAE_RODAS_STAGES][DAE_RODAS_STAGES], c[DAE_RODAS_STAGES][DAE_RODAS_STAGES];
    double H[DAE_RODAS_DENSE][DAE_RODAS_STAGES];
} dae_rodas_table;

extern const dae_rodas_table dae_rodas4p2_table, dae_rodas5_table, dae_rodas5p_table;

/* One attempt: what it reads, its room, what it leaves. Vectors have n components. */
typedef struct dae_rodas_work {
    dae_ivp *ivp;
    const dae_rodas_table *table;
    int n, ld;             /* ld: distance of the vectors in u */
    int count;             /* stages to make: all, or one for a correction */
    const double *y0, *f0; /* where the step begins, and f there */
    const double *ft;      /* df/dt there; NULL: zero */
    const double *J;       /* df/dy there; fixed sizes: dense */
    double *u;             /* the stages */
    double *stage, *f, *x; /* room */
    double *y1;            /* the result */
    double square;         /* sum of the squares of the weighted errors */
    dae_matrix mass;       /* n = 0: identity */
    int second; /* fixed sizes: y'[i] = y[second+i] for i < second, rows of J that may not be filled */
    const dae_small_band *band; /* fixed sizes: M; NULL: identity */
    double *lu, *inverse;       /* fixed sizes: factors */
    int *perm;
    dae_shifted *linear; /* other sizes */
} dae_rodas_work;

enum { DAE_RODAS_SINGULAR = 1000 };

/* From y0 to y1 in a step of size h to t1 = t + h as rounded. 0: fine; DAE_RODAS_SINGULAR: the matrix cannot be factored;
 * else > 0: cannot be evaluated; < 0: stop. */
typedef int dae_rodas_attempt(dae_rodas_work *w, double t, double h, double t1);

/* The kernel for systems of size n: one made for this size (n = 2, 3, 4, 5, 6, 8), else NULL. Both make the same steps. */
dae_rodas_attempt *dae_rodas_fixed(int n, const dae_rodas_table *table);
dae_rodas_attempt *dae_rodas_general(void);

/* x := E^-1 x with the factors of the last attempt. */
void dae_rodas_solve(dae_rodas_work *w, double *x);

#endif
