/* A mechanical system in descriptor form as the formulations see it: its parts evaluated, consistent
 * accelerations and multipliers, and the projection onto the constraints.
 *
 * M is kept as diagonal blocks, G in its pattern where the system gives one (spec tells the layout). The
 * factors of the last saddle-point matrix are kept with the point they belong to, so that a projection can
 * use what the last evaluation left. All evaluations: 0 fine, > 0 cannot be evaluated here, < 0 stop. */
#ifndef DAE_MECHANICS_DESCRIPTOR_H
#define DAE_MECHANICS_DESCRIPTOR_H

#include "mechanics/least.h"
#include "mechanics/parts.h"

typedef struct dae_descriptor {
    dae_mech m; /* own copy */
    int np, nv, nu, ng, nl;
    dae_parts parts;
    dae_saddle_spec spec; /* of the saddle-point matrix: the layout of M and G, and how it is solved */
    dae_saddle *saddle;
    int nM, nG;   /* numbers of values */
    int constant; /* M does not depend on t and p */
    int friction; /* f depends on lambda */
    int starved;  /* a factorization had no memory */
    /* 1: a projection uses no factors of other points, so that it is a smooth function of the point, also where it moves it far: for
     * derivatives. Else its direction depends on where the last factors were made. */
    int smooth;

    /* What the last dae_descriptor_accelerations used; in an arena of its own, with the factors, for checkpoints. */
    dae_arena *keep;
    double *M, *G;  /* nM, nG */
    double *F, *U;  /* df/dlambda (nv*nl) and G - F^T (nG), where f depends on lambda */
    double at_t;    /* the factors belong to (at_t, at_p); NAN: none */
    double *at_p;   /* np */
    double *lambda; /* nl: the last multipliers, where the iteration for friction starts */

    dae_least *least;     /* projections without the saddle-point solver, or NULL */
    double *scratch_G;    /* nG */
    double *C;            /* ng*nv: dg/dp T where it is given apart from G, or NULL */
    double *g, *gI, *low; /* ng, nl, nl */
    double *up;           /* nv */
    double *pdot;         /* np */
    double *side;         /* nv + nl: right side of the saddle-point system */
    double *own;          /* nv + nl: what the system's own function says, or NULL */
    double *va, *vb;      /* nv each: unit vectors and forces */
    double *nothing;      /* nl + nu zeros: multipliers and dynamics that are not known */
} dae_descriptor;

/* Copies the description. mode: of the saddle-point solver, see linalg/saddle.h. */
dae_status dae_descriptor_init(dae_descriptor *d, const dae_mech *mech, const char *mode, dae_arena *arena,
                               dae_error *err);
void dae_descriptor_free(dae_descriptor *d); /* what is not in the arena */

/* Checkpoint of the kept factors, with which a projection or a solution by old pivots goes on. save: bytes needed,
 * written where buffer is not NULL; load: 0 fine. */
size_t dae_descriptor_save(const dae_descriptor *d, void *buffer);
int dae_descriptor_load(dae_descriptor *d, const void *buffer, size_t size);
/* After loading what another system kept: M is this one's again, and the factors are those of no point. */
void dae_descriptor_forget(dae_descriptor *d);

/* ---- The parts --------------------------------------------------------------------------------- */

int dae_descriptor_mass(dae_descriptor *d, double t, const double *p,
                        double *M); /* copies a constant M too */
/* g (ng) and G (layout of spec) may be NULL. */
int dae_descriptor_constraint(dae_descriptor *d, double t, const double *p, double *g, double *G);
int dae_descriptor_drift(dae_descriptor *d, double t, const double *p, double *gI); /* gI */
int dae_descriptor_kinematics(dae_descriptor *d, double t, const double *p, const double *v, double *pdot);
int dae_descriptor_force(dae_descriptor *d, double t, const double *p, const double *v, const double *u,
                         const double *lambda, double *f);
int dae_descriptor_dynamics(dae_descriptor *d, double t, const double *p, const double *v, const double *u,
                            const double *lambda, double *du);
/* d/dt (G v + gI) at fixed v: given, or by central differences along the motion. */
int dae_descriptor_gamma(dae_descriptor *d, double t, const double *p, const double *v, double *gamma);

/* ---- What is made of them ------------------------------------------------------------------------ */

/* a and lambda of M a = f - G^T lambda, G a + gamma + 2 alpha (G v + gI) + beta^2 g = 0. */
int dae_descriptor_accelerations(dae_descriptor *d, double t, const double *p, const double *v,
                                 const double *u, double alpha, double beta, double *a, double *lambda);
/* How far the system's own accelerations and multipliers are from the solution of the saddle-point system, which a and lambda
 * hold then, relative to the largest of each; 0 where there is nothing to compare. */
double dae_descriptor_deviation(dae_descriptor *d, double t, const double *p, const double *v,
                                const double *u, double *a, double *lambda);
/* Moves p onto g = 0 and then v onto G v + gI = 0, both to rounding level and by least corrections in the
 * metric of M; quaternions are normalized. > 0: no convergence. */
int dae_descriptor_project(dae_descriptor *d, double t, double *p, double *v);

/* How far the rows of G are from being dependent: 0 .. 1, the square of the least length that a combination of rows of unit length has, in
 * which all velocities count alike, found by inverse iteration from x (nl) on, which becomes that combination; 0: dependent, < 0: not
 * known. *off: the largest |g|. M and the factors are lost: for descriptors that do nothing else. */
double dae_descriptor_independence(dae_descriptor *d, double t, const double *p, double *x, double *off);

/* Largest |g|, |G v + gI| and, where a is not NULL, |G a + gamma|. */
typedef struct dae_residuals {
    double position, velocity, acceleration;
    int worst; /* position constraint with the largest residual, from 0; -1: none */
} dae_residuals;
int dae_descriptor_residuals(dae_descriptor *d, double t, const double *p, const double *v, const double *a,
                             dae_residuals *out);

#endif
