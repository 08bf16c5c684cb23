/* Values with their exact derivatives by all positions (as small rotations and translations of the bodies),
 * velocities, states u, multipliers and time: forward differentiation, so that every force is written once.
 *
 * The gradient of a value has x->nz numbers: nv by positions, nv by velocities, nu, nlambda, 1 by t. With x->nz = 0
 * (only forces are wanted) there are none and the operations cost next to nothing. Memory comes from the
 * context and is given back with mbs_dual_reset. */
#ifndef MBS_DUAL_H
#define MBS_DUAL_H

#include "multibody/mechanism.h"

struct mbs_dual {
    double x;
    double *g; /* nz, or NULL: constant */
};
typedef struct mbs_dual3 {
    mbs_dual c[3];
} mbs_dual3;

void mbs_dual_reset(mbs_context *x);
mbs_dual mbs_constant(double value);
mbs_dual mbs_fresh(mbs_context *x, double value);                              /* with a gradient of zeros */
void mbs_accumulate(mbs_context *x, double factor, mbs_dual a, mbs_dual *sum); /* to the gradient of sum */
mbs_dual mbs_sum(mbs_context *x, double p, mbs_dual a, double q, mbs_dual b);  /* p a + q b */
mbs_dual mbs_product(mbs_context *x, mbs_dual a, mbs_dual b);
mbs_dual mbs_chain(mbs_context *x, mbs_dual a, double value, double derivative); /* f(a) */
mbs_dual3 mbs_constant3(const double *v);
mbs_dual3 mbs_sum3(mbs_context *x, double p, mbs_dual3 a, double q, mbs_dual3 b);
mbs_dual3 mbs_scale3(mbs_context *x, mbs_dual a, mbs_dual3 v);
mbs_dual mbs_dot3(mbs_context *x, mbs_dual3 a, mbs_dual3 b);
mbs_dual3 mbs_cross3(mbs_context *x, mbs_dual3 a, mbs_dual3 b);
mbs_dual mbs_norm3(mbs_context *x, mbs_dual3 a);

/* Kinematics. */
mbs_dual3 mbs_axis3(mbs_context *x, int body, const double *axis); /* A a */
mbs_dual3 mbs_to_global3(mbs_context *x, int body, mbs_dual3 a);   /* A a */
mbs_dual3 mbs_to_body3(mbs_context *x, int body, mbs_dual3 a);     /* A^T a */
mbs_dual3 mbs_position3(mbs_context *x, const mbs_frame *f);
mbs_dual3 mbs_velocity3(mbs_context *x, const mbs_frame *f);
mbs_dual3 mbs_omega3(mbs_context *x, int body); /* global axes */
mbs_dual3 mbs_separation3(mbs_context *x, const mbs_frame *i, const mbs_frame *j);
mbs_dual3 mbs_separation_rate3(mbs_context *x, const mbs_frame *i, const mbs_frame *j);
mbs_dual3 mbs_rotation_vector3(mbs_context *x, const mbs_frame *i,
                               const mbs_frame *j); /* of j against i, global axes */
void mbs_coordinate_dual(mbs_context *x, const mbs_coordinate *q, mbs_dual *value, mbs_dual *rate);
mbs_dual mbs_quaternion_dual(mbs_context *x, int body, int k); /* Euler parameter k */
mbs_dual mbs_atan2(mbs_context *x, mbs_dual s, mbs_dual c);
mbs_dual mbs_state_dual(mbs_context *x, int k);                       /* u_k */
mbs_dual mbs_multiplier_dual(mbs_context *x, int k);                  /* lambda_k; k < 0: 0 */
void mbs_seed_time(const mbs_context *x, mbs_dual *a, double factor); /* adds to the derivative by t */
mbs_dual mbs_signal_dual(mbs_context *x, const mbs_signal *s, const mbs_dual *local);
mbs_dual mbs_expression_dual(mbs_context *x, int expression, const mbs_dual *local);
/* Its derivative by its first local variable (MBS_LOCAL) or by t (MBS_TIME), exact, with exact derivatives. */
mbs_dual mbs_expression_partial(mbs_context *x, int expression, const mbs_dual *local, mbs_signal_kind by);

/* Forces: F at the origin of the frame, n on the body (both global), the force along a coordinate. */
void mbs_apply_force(mbs_context *x, const mbs_frame *f, mbs_dual3 F, double sign);
void mbs_apply_torque(mbs_context *x, int body, mbs_dual3 n, double sign);
void mbs_apply_coordinate(mbs_context *x, const mbs_coordinate *q, mbs_dual force);

/* Instead of being applied, a force is measured: what it does to `body`, its power on all bodies, its value along a coordinate. */
typedef struct mbs_probe {
    int body;
    mbs_dual3 force, torque; /* global */
    mbs_dual power, along;
    int coordinate; /* 1: along was set */
} mbs_probe;

struct mbs_measure {
    mbs_dual deflection;
    mbs_dual3 direction; /* the force on b counts along it, */
    int directed;        /* if 1; else its magnitude, or its value along a coordinate */
};
/* One signal of a force; x->nz decides whether with derivatives. */
mbs_dual mbs_force_dual(mbs_context *x, int force, mbs_force_component component);

#endif
