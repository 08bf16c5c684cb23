/* Inside the statespace formulation: what its files share: statespace.c (life, states), statespace_motion.c (dependent
 * coordinates, right-hand side), statespace_choice.c (the coordinates), statespace_checkpoint.c and statespace_jacobian.c.
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
#include "formulation/split.h"

typedef struct statespace {
    dae_arena *keep; /* all arrays that change: what a checkpoint holds */
    int full;        /* full partitioning in the right-hand side; else the saddle-point system */
    int plain;       /* T = I */
    int affine;      /* T(p) v is affine in p */
    int holonomic;
    int sparse; /* G, T and K in compressed columns */
    int nw, ns; /* position functionals, velocities in the state (the same number in holonomic systems) */
    functionals position, velocity; /* velocity: nonholonomic systems only */
    functionals other;              /* a candidate for position */
    const int *first_index;         /* of the one that was taken first: they change places */
    int *other_velocity;
    int *wish, wished; /* independent positions that the user wants at the start */

    split_matrix *anchor; /* of positions, where the step began */
    split_matrix *here;   /* of velocities, at the last point */
    split_matrix *spare;
    split_matrix store[3];
    split_matrix basis;    /* sparse, T not I: work of the choice of coordinates */
    split_pattern pattern; /* sparse */
    int *group, groups;    /* nv: columns of T of the same group share no row */
    double anchor_t;
    double *anchor_p, *anchor_pdot; /* np */

    double *p, *v;                           /* np, nv: the last point that was recovered */
    double *G;                               /* nl x nv, or the values of the pattern */
    double *T;                               /* np x nv, or the values of the pattern; NULL: the identity */
    double *N;                               /* nv x ns: null space, K N = (0, I) */
    double *pdot, *step;                     /* np each */
    double *residual;                        /* ng + nw, at least nl + ns */
    double *va, *vb, *vc;                    /* nv each */
    double *pa, *pb, *pc;                    /* np each */
    double *la, *lb;                         /* nl each */
    double *MN;                              /* nv x ns */
    int mass_count, *mass_row, *mass_column; /* a constant M: its nonzeros */
    double *mass_value;
    double *reduced, *rhs; /* ns*ns and ns: N^T M N */
    dae_dense_lu reduced_lu;
    double *gefp; /* work of the choice of coordinates */
    int *rows, *cols;

    const dae_integrator *it;
    double limit[3];                         /* of eta, its growth, its improvement by other coordinates */
    double eta, eta_start;                   /* max |T N|, now and right after the choice */
    double *eta_p;                           /* np: where eta was computed */
    int slow;                                /* points in a row that needed many iterations */
    int iterations;                          /* of the last point */
    long points, newton, changes, by_newton; /* by_newton: changes because of slow iterations */
    double *jacobian;                        /* work of statespace_jacobian.c, which holds what belongs to */
    double jacobian_t, *jacobian_y;          /* this point, while */
    long jacobian_points;                    /* no other one was recovered */
} statespace;

/* p, v at (t, y), K of the velocities factored there. */
int dae_statespace_recover(dae_formulation *f, double t, const double *y);
/* y += sign M x; where M is not constant, that of the last dae_descriptor_mass. */
void dae_statespace_multiply_mass(const dae_formulation *f, double sign, const double *x, double *y);
/* N and the factors of N^T M N at the last point. */
int dae_statespace_reduce(dae_formulation *f, double t);
/* After it: x of [M G^T; G 0] (x, .) = (up, low) by K and N; up is overwritten. */
void dae_statespace_reduced_solve(dae_formulation *f, double *up, const double *low, double *x);
/* The derivative of T(t,p) v along the motion at fixed v; zero where T = I. */
int dae_statespace_turn(dae_formulation *f, double t, const double *p, const double *v, double *out);

/* statespace_motion.c: G and T at a point, K of the positions, products, the nonzeros of a constant M, the right-hand side. */
int dae_statespace_dense_G(dae_formulation *f, double t, const double *p);
int dae_statespace_kinematic_matrix(dae_formulation *f, double t, const double *p);
int dae_statespace_factor_position(dae_formulation *f, split_matrix *K, const functionals *S, double t,
                                   const double *p);
double dae_statespace_dot(int n, const double *restrict x, const double *restrict y);
void dae_statespace_list_mass(dae_formulation *f);
int dae_statespace_rhs(double t, const double *y, double *out, void *user);

/* statespace_choice.c: choose finds coordinates at (t, p) and their K (into a candidate, or the first ones), take_choice makes the candidate the
 * present one, influence is eta; words for messages; attach tells an integrator of the charts. */
void dae_statespace_print_point(char *out, size_t size, int n, const double *p);
void dae_statespace_note_trouble(dae_formulation *f, double t, const double *p, const char *what);
dae_status dae_statespace_read_wish(dae_formulation *f, dae_error *err);
int dae_statespace_choose(dae_formulation *f, double t, const double *p, int first, split_matrix *K,
                          int *rank);
double dae_statespace_influence(dae_formulation *f, double t, split_matrix *K);
double dae_statespace_velocity_influence(dae_formulation *f, int *index, split_matrix *K);
void dae_statespace_take_choice(statespace *s);
int dae_statespace_write_state(dae_formulation *f, double t, double *y);
int dae_statespace_set_anchor(dae_formulation *f, double t);
void dae_statespace_diagnose(dae_formulation *f, char *out, size_t size);
void dae_statespace_describe(dae_formulation *f);
dae_status dae_statespace_attach(dae_formulation *f, dae_integrator *it, dae_error *err);

/* statespace_checkpoint.c */
size_t dae_statespace_save(const dae_formulation *f, void *buffer);
int dae_statespace_load(dae_formulation *f, const void *buffer, size_t size);
void dae_statespace_forget(dae_formulation *f);

/* How far positions may be displaced for differences, times a small number. */
double dae_statespace_scale(int n, const double *p);

/* df/dy and df/dt of holonomic systems without further dynamics and friction. */
size_t dae_statespace_jacobian_size(const dae_descriptor *d);
int dae_statespace_jacobian(double t, const double *y, double *J, void *user);
int dae_statespace_dfdt(double t, const double *y, double *out, void *user);

#endif
