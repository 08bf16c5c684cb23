/* Inside the statespace formulation: what statespace.c (partition, dependent coordinates, right-hand side) and
 * statespace_jacobian.c share.
 *
 * Minimal coordinates are functionals of the positions, w = S p: a selection of coordinates, or combinations that span
 * the null space of G. All dependent quantities come from one matrix,
 *
 *     K = [ G   ]      g(t,p) = 0, S p = w:       Newton with K d = -(g, S p - w),  p += T d
 *         [ S T ]      G v + gI = 0, S T v = w':  K v = (-gI, w')
 *                      null space of G:           K N = (0, I),  so that p_w = T N and v_w' = N
 *
 * which for T = I and a selection is reduced to the columns of G of the dependent coordinates. In nonholonomic systems
 * positions and velocities have functionals of their own; elsewhere those of the velocities are S T v = w'. */
#ifndef DAE_FORMULATION_STATESPACE_H
#define DAE_FORMULATION_STATESPACE_H

#include "formulation/formulation.h"
#include "linalg/dense.h"

/* Functionals of a vector: its components index[0 .. count-1], or its products with the columns of Z. */
typedef struct functionals {
    int n, count;
    int *index;  /* count, ascending */
    double *Z;   /* n*count, or NULL: a selection */
} functionals;

/* K at one point, factored. */
typedef struct split_matrix {
    int m, n;          /* rows of G; unknowns */
    int reduced;       /* 1: lu is of the m dependent columns of G only */
    int *dep, *ind;    /* reduced: m and n - m columns */
    double *A;         /* reduced: the first m rows of G (m x n); else K (n x n) */
    dae_dense_lu lu;
    double *x;         /* n: work */
} split_matrix;

typedef struct statespace {
    int full;      /* full partitioning in the right-hand side; else the saddle-point system */
    int plain;     /* T = I */
    int holonomic;
    int nw, ns;    /* position functionals, velocities in the state (the same number in holonomic systems) */
    functionals position, velocity; /* velocity: nonholonomic systems only */
    functionals other;              /* a candidate for position */
    int *other_velocity;
    int *wish, wished;              /* independent positions that the user wants at the start */

    split_matrix *anchor;  /* of positions, where the step began */
    split_matrix *here;    /* of velocities, at the last point */
    split_matrix *spare;
    split_matrix store[3];
    double anchor_t;
    double *anchor_p, *anchor_pdot; /* np */

    double *p, *v;         /* np, nv: the last point that was recovered */
    double *G;             /* nl x nv, dense */
    double *T;             /* np x nv, or NULL: the identity */
    double *N;             /* nv x ns: null space, K N = (0, I) */
    double *pdot, *step;   /* np each */
    double *residual;      /* ng + nw, at least nl + ns */
    double *va, *vb, *vc;  /* nv each */
    double *pa, *pb, *pc;  /* np each */
    double *la, *lb;       /* nl each */
    double *MN;            /* nv x ns */
    double *reduced, *rhs; /* ns*ns and ns: N^T M N */
    dae_dense_lu reduced_lu;
    double *gefp;          /* work of the choice of coordinates */
    int *rows, *cols;

    double eta, eta_start; /* max |T N|, now and right after the choice */
    int slow;              /* points in a row that needed many iterations */
    int iterations;        /* of the last point */
    long points, newton, changes;
    double *jacobian;      /* work of statespace_jacobian.c */
} statespace;

/* p, v at (t, y), K of the velocities factored there. */
int dae_statespace_recover(dae_formulation *f, double t, const double *y);
/* The null space N of the last point. */
void dae_statespace_null_space(dae_formulation *f);

/* out = S x */
void dae_functionals_apply(const functionals *s, const double *x, double *out);
/* K x = (b1, b2); either may be NULL: zero. */
void dae_split_solve(split_matrix *K, const double *b1, const double *b2, double *x);
/* The derivative of T(t,p) v along the motion at fixed v; zero where T = I. */
int dae_statespace_turn(dae_formulation *f, double t, const double *p, const double *v, double *out);

/* How far positions may be displaced for differences, times a small number. */
double dae_statespace_scale(int n, const double *p);

/* df/dy and df/dt of holonomic systems without further dynamics and friction. */
size_t dae_statespace_jacobian_size(const dae_descriptor *d);
int dae_statespace_jacobian(double t, const double *y, double *J, void *user);
int dae_statespace_dfdt(double t, const double *y, double *out, void *user);

#endif
