/* Relative motion of two bodies in the coordinates of the joint between them.
 *
 * A joint type tells it by a mbs_relative: where the body is for given coordinates q (place), along which axes it moves
 * when they change (columns of S: relative velocity = S s), and both backwards (fit, rates). The recursions over a tree
 * (articulated.c, articulated_plane.c) and the way from bodies to joints and back (joint_coordinates.c) know no types.
 *
 * Frames: the joint has a frame on the parent (columns f, g, h of `axis`; h is its axis) and one on the body, parallel at
 * q = 0; u goes from the center of the parent to the joint, w from the joint to the center of the body. */
#ifndef MBS_RELATIVE_H
#define MBS_RELATIVE_H

#include "multibody/mechanism.h"

#include <string.h>

typedef struct mbs_relative mbs_relative;

/* One body with the joint on which it hangs. Link 0 is the ground; parents come first. */
typedef struct mbs_link {
    const mbs_relative *motion;
    int hinge;        /* 1: motion is mbs_relative_turn, which the recursions know by heart */
    int lone;         /* 1: a free body on which nothing hangs: its own inertia is all that it moves */
    int body, parent; /* parent: a link */
    int joint;        /* of the mechanism; -1: none */
    int q, s;         /* its first coordinate and rate */
    int dof;
    size_t
        pool; /* its place in the pool: S and U (dof columns each), factors of S^T U (dof*dof), dof numbers */
    double si[3];         /* the joint on the parent, */
    double sj[3];         /* on the body: each in axes of its body */
    double axis[9];       /* columns f, g, h of the joint on the parent, by rows */
    double other[3];      /* of the type: a second axis, in axes of the body */
    double K[27];         /* of the type; as set: orientation against the parent K0 + K1 cos q + K2 sin q */
    double ei[4], ej[4];  /* Euler parameters of the frames on parent and body */
    double pitch, offset; /* of the type; plane: constant angle */
    double mass, J[9];
    double mobility[9]; /* J^-1, of lone ones; plane: its last number */
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

/* How a body stands and moves against its parent, seen from their poses. */
typedef struct mbs_fit {
    const mbs_pose *parent, *body;
    double e[4];     /* space: Euler parameters of the body against its parent */
    double angle;    /* about h; space: -pi .. pi */
    double slide[3]; /* from point to point in the frame on the parent, */
    double slide_rate[3];
    double omega[3]; /* relative angular velocity, global axes, */
    double turn;     /* its part along h (plane: all of it) */
} mbs_fit;

struct mbs_relative {
    int dof;         /* rates s; coordinates are as many, */
    int turns;       /* or one more: 1: the last four are Euler parameters */
    unsigned slides; /* bit i: coordinate i is a length */
    /* Constants of a link beyond its frames. from: 1: the joint was described from the body to its parent. NULL: none. */
    void (*set)(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k);
    /* Space: orientation A of the body from that of its parent, and the slides along f, g, h (zero on entry). */
    void (*place)(const mbs_link *k, const double *parent, const double *q, double *A, double *slide);
    /* Columns of S (6 numbers each: velocity of the center, angular velocity); axes: f, g, h in global axes. */
    void (*columns)(const mbs_link *k, const mbs_link_state *x, const double *axes, double *S);
    /* Part of omega' against the parent that s' = 0 leaves beside omega_parent x omega_r. NULL: none. */
    void (*bias)(const double *S, const double *s, double *turn);
    /* Euler parameters of the body against its parent. */
    void (*quaternion)(const mbs_link *k, const double *q, double *d);
    /* Plane: adds to x->angle, x->omega, u and sigma (velocity of sliding), and sets the columns of S (3 numbers each). */
    void (*plane)(const mbs_link *k, const mbs_plane_state *parent, const double *q, const double *s,
                  mbs_plane_state *x, double *u, double *sigma, double *S);
    void (*fit)(const mbs_link *k, const mbs_fit *x, double *q);
    void (*rates)(const mbs_link *k, const mbs_fit *x, double *s);
};

extern const mbs_relative mbs_relative_turn; /* joints/revolute.c: one angle about h, plane and space */
extern const mbs_relative mbs_relative_free_plane, mbs_relative_free_space; /* free_body.c: without a joint */

/* ---- relative.c: what several types need ------------------------------------------------------------------------ */

/* set of a joint that keeps the orientation: K0 is it, and in the plane `offset`. */
void mbs_hold_turn(const mbs_mechanism *m, const mbs_joint_data *j, int from, mbs_link *k);
/* The value of the row that couples or holds a coordinate of the joint. */
double mbs_held_value(const mbs_mechanism *m, const mbs_joint_data *j);
/* Euler parameters of a turn about h. */
void mbs_turn_quaternion(const mbs_link *k, double angle, double *d);
void mbs_quaternion_product(const double *a, const double *b, double *c);
void mbs_quaternion_conjugate(const double *a, double *b);
void mbs_quaternion_normalize(double *e);
void mbs_matrix_to_quaternion(const double *A, double *e);
/* F: columns of a frame whose column `at` is the axis. */
void mbs_frame_about(const double *axis, int at, double *F);

static inline void mbs_column_S(double *S, const double *linear, const double *angular)
{
    mbs_set(S, linear);
    mbs_set(S + 3, angular);
}

static inline void mbs_slide_S(double *S, const double *axis)
{
    static const double none[3];
    mbs_column_S(S, axis, none);
}

static inline void mbs_turn_S(double *S, const double *axis, const double *w)
{
    double l[3];
    mbs_cross(axis, w, l);
    mbs_column_S(S, l, axis);
}

/* About the axes of the body. */
static inline void mbs_turns_S(double *S, const mbs_link_state *x)
{
    double a[3];
    for (int i = 0; i < 3; i++) {
        mbs_column(x->A, i, a);
        mbs_turn_S(S + 6 * i, a, x->w);
    }
}

/* A = A_parent (K0 + K1 cos q + K2 sin q) */
static inline void mbs_turned(const mbs_link *k, const double *parent, double q, double *A)
{
    double D[9], c = cos(q), s = sin(q);
    for (int i = 0; i < 9; i++) D[i] = k->K[i] + c * k->K[9 + i] + s * k->K[18 + i];
    mbs_multiply(parent, D, A);
}

#endif
