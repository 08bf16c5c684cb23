/* Joint coordinates: the motion of a mechanism along a tree of its joints.
 *
 * Every body hangs on one other body (or the ground) by one joint, or is free. The joint has coordinates q and rates
 * s, as many as it leaves freedom, so that a tree has no constraints left: joint_coordinates.c builds it and goes from
 * bodies to joints and back, articulated.c finds the accelerations in a number of operations proportional to the
 * number of bodies. Joints outside the tree, drivers, gears remain rows of constraints. */
#ifndef MBS_JOINT_COORDINATES_H
#define MBS_JOINT_COORDINATES_H

#include "multibody/relative.h"

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
int mbs_build_joint_form(mbs_mechanism *m);

/* Accelerations of the bodies along the tree and, unless NULL, the multipliers of its joints, O(number of bodies). 0: done; > 0: there are
 * loops, friction, or (p, v) is not on the tree: they have to be found from all rows; < 0: no memory. */
int mbs_tree_acceleration(const mbs_mechanism *m, double t, const double *y, double *a, double *lambda);

/* ---- articulated.c (space), articulated_plane.c ------------------------------------------------------------- */

/* The recursion of a tree: walks over its links. state: n+1 states of the links; pool: S, U and factors, of lone bodies s'. */
typedef struct mbs_recursion {
    /* Positions, velocities and inertias at (q, s), and the bias forces p of bodies without loads; s NULL: rest. only_poses: no inertias,
     * no forces, and no lone bodies, whose coordinates are their poses. known: where the bodies are, by number; then hinges take the
     * orientations from there, and not from q. NULL: nobody knows. */
    void (*place)(const mbs_tree *tree, const double *q, const double *s, int only_poses,
                  const mbs_pose *known, void *state, double *pool);
    /* From the leaves to the ground: articulated inertias and bias forces. 1: a joint moves no inertia. */
    int (*eliminate)(const mbs_tree *tree, void *state, double *pool);
    /* The same with the factors of the last elimination, for other p and zeta = 0. */
    void (*reduce)(const mbs_tree *tree, void *state, double *pool);
    /* From the ground to the leaves: s' and, in place of p, the accelerations of the bodies. base: acceleration of
     * the ground; NULL: at rest, and zeta = 0. */
    void (*accelerate)(const mbs_tree *tree, const double *base, void *state, const double *pool,
                       double *sdot);
    /* After place, to the leaves and back: the forces tau along the joints that s' needs. */
    void (*torques)(const mbs_tree *tree, const double *base, void *state, const double *pool,
                    const double *sdot, double *tau);
} mbs_recursion;

extern const mbs_recursion mbs_recursion_space, mbs_recursion_plane;

/* Joints with several coordinates, bv = 6 or 3: U = I S, S^T U = L L^T, I -= U (S^T U)^-1 U^T. I is full. 1: singular. */
int mbs_eliminate_joint(int bv, int dof, double *I, double *pool);
/* x = (S^T U)^-1 x */
void mbs_solve_joint(int bv, int dof, const double *pool, double *x);

#endif
