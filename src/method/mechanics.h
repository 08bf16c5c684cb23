/* Mechanical systems as the half-explicit methods see them: evaluations of the parts of (1.1), the
 * projections onto the constraints, and consistent accelerations and multipliers ([MEXX] sections 1, 2.3).
 *
 * One dae_mechanics belongs to one thread; it counts by itself, and dae_mechanics_count adds that up.
 * Matrices are in the layout of parts.spec: M as diagonal blocks, G in its pattern where one is given. */
#ifndef DAE_METHOD_MECHANICS_H
#define DAE_METHOD_MECHANICS_H

#include "mechanics/parts.h"
#include "method/method.h"

/* What was done, until dae_mechanics_count adds it to the statistics. */
typedef struct dae_mechanics_counters {
    long nfcn, nsol; /* as [MEXX] counts */
    long f, lu, solves, undefined;
} dae_mechanics_counters;

typedef struct dae_mechanics {
    dae_ivp *ivp;
    const dae_mech *m;
    int np, nv, nu, nl, ng;
    dae_parts parts;

    /* Position Jacobian C: the first ng rows of G, or given apart. Its pattern and where its values are in G. */
    dae_saddle_spec cspec;
    int nC;
    int *C_at;

    double *M, *G, *C; /* scratch of the functions below */
    double *gI, *g;    /* nl, ng */
    double *vec;       /* 2 np + 3 nv + 2 nl: scratch */
    double *friction;  /* 2 nv nl: F and U, where f depends on lambda */

    dae_mechanics_counters n;
    int starved;                                 /* a factorization had no memory */
    unsigned long long user_ticks, linalg_ticks; /* options.profile */
    long user_timed, linalg_timed;
} dae_mechanics;

dae_status dae_mechanics_init(dae_mechanics *x, dae_ivp *ivp, dae_error *err);
/* Adds the counters to the statistics of the run and clears them. */
void dae_mechanics_count(dae_mechanics *x);
/* A solver for the systems with this shape. mode: the method's option; "auto" listens to
 * options.linear_algebra too. rows: nl, or ng for position projections. */
dae_saddle *dae_mechanics_saddle(dae_mechanics *x, const char *mode, int rows, int unsymmetric,
                                 dae_error *err);

/* Gives the solvers that ask for it the matrices at (t, p) to build on: s for all rows, position for the first ng (the
 * same solver where these are all). */
void dae_mechanics_renew_anchors(dae_mechanics *x, dae_saddle *s, dae_saddle *position, double t,
                                 const double *p);

/* ---- Evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop -------------------------------- */

/* Where M is constant *M is set to it, else to the buffer, which is filled. */
int dae_mechanics_mass(dae_mechanics *x, double t, const double *p, double *buffer, const double **M);
int dae_mechanics_jacobian(dae_mechanics *x, double t, const double *p, double *g,
                           double *G);                                            /* g, G may be NULL */
int dae_mechanics_position_jacobian(dae_mechanics *x, double t, const double *p); /* C, of G at p or given */
int dae_mechanics_drift(dae_mechanics *x, double t, const double *p, double *gI); /* gI */
int dae_mechanics_kinematics(dae_mechanics *x, double t, const double *p, const double *v, double *pdot);
int dae_mechanics_force(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                        const double *lambda, double *f);
int dae_mechanics_dynamics(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                           const double *lambda, double *d);
int dae_mechanics_friction(dae_mechanics *x, double t, const double *p, const double *v, const double *u,
                           const double *lambda, double *F); /* df/dlambda, nv x nl */
/* Factor and solve, counted and timed. The rhs is (w, l), in place. 0, or > 0: singular or not finite. */
int dae_mechanics_factor(dae_mechanics *x, dae_saddle *s, const double *M, const double *G, const double *U);
int dae_mechanics_solve(dae_mechanics *x, dae_saddle *s, double *w, double *l);
int dae_mechanics_factor_solve(dae_mechanics *x, dae_saddle *s, const double *M, const double *G,
                               const double *U, double *w, double *l);

/* ---- Projections, [MEXX] (2.9) to (2.12) ---------------------------------------------------------- */

typedef struct dae_projection {
    double position, velocity; /* weighted rms changes */
    int iterations;
    int largest;     /* where it failed: the constraint with the largest residual, */
    double residual; /* and that residual; NAN: the matrix is singular */
} dae_projection;

/* Moves p onto g = 0 (in the metric of M), w: weights of p (np). factored: s has the factors that
 * dae_mechanics_accelerations left there for (t, p). 0: fine, > 0: did not converge or cannot be
 * evaluated, < 0: stop. */
int dae_mechanics_project_position(dae_mechanics *x, dae_saddle *s, int factored, double t, double *p,
                                   const double *w, dae_projection *out);
/* Moves v onto G v + gI = 0 at p. w: weights of v, NULL: the change is not wanted. factored: s has the factors
 * of a point near to (t, p), with which v is corrected by iteration; the residuals that are left go to the
 * statistics. */
int dae_mechanics_project_velocity(dae_mechanics *x, dae_saddle *s, int factored, double t, const double *p,
                                   double *v, const double *w, dae_projection *out);
/* r: what a projection of the initial values returned (not 0). Fills the error. */
dae_status dae_mechanics_bad_start(dae_mechanics *x, const dae_saddle *s, int r, double t,
                                   const dae_projection *out);
/* Largest |g| and |G v + gI| at (t, p, v), into the statistics of the run. */
void dae_mechanics_residuals(dae_mechanics *x, double t, const double *p, const double *v);

/* ---- Consistent accelerations and multipliers, [MEXX] section 1 and (5) of the sheet -------------- */

/* gII = d/dt (G v + gI) at fixed v: given, or by differences along the motion that stay between
 * t_first and t_last. */
int dae_mechanics_gamma(dae_mechanics *x, double t, double t_first, double t_last, const double *p,
                        const double *v, double *gamma);
/* Solves M a = f - G^T lambda, G a + gII = 0; lambda: in a guess where f depends on it. s takes U where
 * f depends on lambda. */
int dae_mechanics_accelerations(dae_mechanics *x, dae_saddle *s, double t, double t_first, double t_last,
                                const double *p, const double *v, const double *u, double *a, double *lambda);
/* (p, v, u)' of that motion; lambda as above. */
int dae_mechanics_derivatives(dae_mechanics *x, dae_saddle *s, double t, double t_first, double t_last,
                              const double *y, double *yp, double *lambda);
/* Of the motions that decay the fastest rate at (t, y), 0: none, for a solver of its own; see choose.h. Allocates. */
double dae_mechanics_fastest_decay(const dae_ivp *ivp, double t, const double *y);

#endif
