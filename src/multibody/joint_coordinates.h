/* Joint coordinates: the motion of a mechanism along a tree of its joints.
 *
 * Every body hangs on one other body (or the ground) by one joint, or is free. The joint has coordinates q and rates
 * s, as many as it leaves freedom, so that a tree has no constraints left: joint_coordinates.c builds it and goes from
 * bodies to joints and back, articulated.c finds the accelerations in a number of operations proportional to the
 * number of bodies. Joints outside the tree, drivers, gears remain rows of constraints. */
#ifndef MBS_JOINT_COORDINATES_H
#define MBS_JOINT_COORDINATES_H

#include "multibody/mechanism.h"

typedef enum mbs_link_kind {
    MBS_LINK_FIXED,
    MBS_LINK_REVOLUTE,
    MBS_LINK_PRISMATIC,
    MBS_LINK_SCREW,
    MBS_LINK_CYLINDRICAL, /* angle, slide */
    MBS_LINK_PLANE,       /* two slides, angle */
    MBS_LINK_UNIVERSAL,   /* about the axis on the parent, about the axis on the body */
    MBS_LINK_SPHERICAL,   /* Euler parameters against the parent; s: relative rotation in axes of the body */
    MBS_LINK_FREE /* on the ground: position and angle or Euler parameters; s: the velocities of the body */
} mbs_link_kind;

/* One body with the joint on which it hangs. Link 0 is the ground; parents come first. */
typedef struct mbs_link {
    mbs_link_kind kind;
    int body, parent; /* parent: a link */
    int q, s;         /* its first coordinate and rate */
    int dof;
    size_t
        pool; /* its place in the pool: S and U (dof columns each), factors of S^T U (dof*dof), dof numbers */
    double si[3];         /* the joint on the parent, */
    double sj[3];         /* on the body: each in axes of its body */
    double axis[9];       /* columns f, g, h of the joint on the parent, by rows */
    double other[3];      /* universal: the second axis, in axes of the body */
    double K[27];         /* orientation against the parent: K0 + K1 cos q + K2 sin q */
    double ei[4], ej[4];  /* Euler parameters of the frames on parent and body */
    double pitch, offset; /* screw: slide = pitch q + offset; plane: constant angle */
    double mass, J[9];
} mbs_link;

/* Motion and inertia of a link in space, all in global axes; forces and velocities refer to the center of mass. */
typedef struct mbs_link_state {
    double A[9]; /* body axes to global ones */
    double c[3]; /* from the center of the parent to its own */
    double w[3]; /* from the joint to the center */
    double omega[3];
    double zeta[6]; /* acceleration against the parent at s' = 0 */
    double I[21];   /* articulated inertia: [A B; B^T C], A 00 01 02 11 12 22, B by rows, C as A */
    double p[6];    /* articulated bias force, then acceleration */
} mbs_link_state;

/* The same in the plane. */
typedef struct mbs_plane_state {
    double angle, cosine, sine, omega;
    double c[2], w[2], zeta[2];
    double I[6]; /* a00 a01 a11 b0 b1 c */
    double p[3];
} mbs_plane_state;

typedef struct mbs_tree {
    const mbs_mechanism *m;
    int n;                      /* links without the ground */
    int nq, ns, nloop, nloop_g; /* rows that close loops, holonomic ones among them (they come first) */
    mbs_link *link;             /* n+1 */
    int *link_of;               /* nbody+1 */
    int *loop_group;            /* groups of rows outside the tree, holonomic ones first */
    int nloop_group;
    int *first_loop_row; /* of every such group */
    int *source;         /* nq+ns: which of (p, v) resembles the coordinate */
    size_t pool_size;
    int with_loads; /* 1: forces besides gravity */
    const struct mbs_recursion *recursion;
    dae_joint_form form;
} mbs_tree;

/* Sets m->tree, and tells the system of it; it stays NULL where joint coordinates do not suit the mechanism (or there
 * is no memory: the arena knows). */
void mbs_build_joint_form(mbs_mechanism *m);

/* ---- articulated.c (space), articulated_plane.c ------------------------------------------------------------- */

/* The recursion of a tree: three walks over its links. state: n+1 states of the links; pool: S, U and factors. */
typedef struct mbs_recursion {
    /* Positions, velocities and inertias at (q, s), and the bias forces p of bodies without loads; s NULL: rest. */
    void (*place)(const mbs_tree *tree, const double *q, const double *s, void *state, double *pool);
    /* From the leaves to the ground: articulated inertias and bias forces. 1: a joint moves no inertia. */
    int (*eliminate)(const mbs_tree *tree, void *state, double *pool);
    /* The same with the factors of the last elimination, for other p and zeta = 0. */
    void (*reduce)(const mbs_tree *tree, void *state, double *pool);
    /* From the ground to the leaves: s' and, in place of p, the accelerations of the bodies. base: acceleration of
     * the ground; NULL: at rest, and zeta = 0. */
    void (*accelerate)(const mbs_tree *tree, const double *base, void *state, const double *pool,
                       double *sdot);
} mbs_recursion;

extern const mbs_recursion mbs_recursion_space, mbs_recursion_plane;

/* Joints with several coordinates, bv = 6 or 3: U = I S, S^T U = L L^T, I -= U (S^T U)^-1 U^T. I is full. 1: singular. */
int mbs_eliminate_joint(int bv, int dof, double *I, double *pool);
/* x = (S^T U)^-1 x */
void mbs_solve_joint(int bv, int dof, const double *pool, double *x);

#endif
