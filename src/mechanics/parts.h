/* The parts of a mechanical system in descriptor form (daedalus/system.h), evaluated:
 *
 *     p' = T(t,p) v,     M(t,p) v' = f(t,p,v,u,lambda) - G(t,p)^T lambda,     0 = g(t,p),   0 = G v + gI(t,p)
 *
 * M is kept as diagonal blocks, G in its pattern where the system gives one: spec tells the layout. Both the half-explicit
 * methods (method/mechanics.h) and the formulations (descriptor.h) are made of these functions.
 * All evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop. They do not look for numbers that are not finite
 * (dae_parts_judge does): in matrices these show in the factors. */
#ifndef DAE_MECHANICS_PARTS_H
#define DAE_MECHANICS_PARTS_H

#include <daedalus/system.h>

#include "core/arena.h"
#include "linalg/saddle.h"

typedef struct dae_parts {
    const dae_mech *m; /* borrowed */
    int np, nv, nu, ng, nl;
    dae_saddle_spec spec; /* layout of M and G; sparse unless f depends on lambda */
    int nM, nG;           /* numbers of values */
    double *constant;     /* nM: M where it does not depend on t and p, or NULL */
    double *dense;        /* nv*nv: where M comes dense and is kept in blocks, or NULL */
    void *cache;          /* for the user functions, or NULL */
    double *work;         /* 2 np + nl + nG: for differences, where gamma is not given */
} dae_parts;

/* The layout, and memory from the arena (which knows whether there was enough). */
void dae_parts_init(dae_parts *x, const dae_mech *m, dae_arena *a);

/* r: what an evaluation returned. > 0 also where one of n numbers is not finite. */
int dae_parts_judge(int r, int n, const double *out);

int dae_parts_mass(const dae_parts *x, double t, const double *p, double *M); /* copies a constant M too */
/* g (ng) and G (nG) may be NULL. */
int dae_parts_constraint(const dae_parts *x, double t, const double *p, double *g, double *G);
int dae_parts_position_jacobian(const dae_parts *x, double t, const double *p,
                                double *C); /* ng*nv, if given */
int dae_parts_drift(const dae_parts *x, double t, const double *p, double *gI);
int dae_parts_kinematics(const dae_parts *x, double t, const double *p, const double *v, double *pdot);
int dae_parts_force(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                    const double *lambda, double *f);
/* v' and lambda by the system's own function, which must be there. */
int dae_parts_accelerations(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                            double *out);
int dae_parts_dynamics(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                       const double *lambda, double *du);
int dae_parts_friction(const dae_parts *x, double t, const double *p, const double *v, const double *u,
                       const double *lambda, double *F); /* df/dlambda, nv x nl */
/* d/dt (G v + gI) at fixed v: given, or by differences along the motion that stay between t_first and t_last. */
int dae_parts_gamma(const dae_parts *x, double t, double t_first, double t_last, const double *p,
                    const double *v, double *gamma);

/* U = G - F^T in the layout of G (dense). */
void dae_parts_upper(const dae_parts *x, const double *G, const double *F, double *U);
/* Euler parameters: the row of g_p T that belongs to |e| = 1 vanishes, so they are normalized by hand. */
void dae_parts_normalize(const dae_parts *x, double *p);

#endif
