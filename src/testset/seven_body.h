/* The seven body mechanism, shared by seven-body and andrews. */
#ifndef DAE_TESTSET_SEVEN_BODY_H
#define DAE_TESTSET_SEVEN_BODY_H

#include "testset/testset.h"

/* Its constants, in the order of DAE_SQUEEZER_PARAMETERS, and what follows from them. */
typedef struct dae_squeezer {
    double mom; /* torque of the motor */
    double m1, m2, m3, m4, m5, m6, m7, I1, I2, I3, I4, I5, I6, I7;
    double xa, ya, xb, yb, xc, yc, c0;
    double d, da, e, ea, rr, ra, l0, ss, sa, sb, sc, sd, ta, tb, u, ua, ub, zf, zt, fa;

    double P, S, R;            /* coupling in M: P cos q2, S sin q4, R sin q6 */
    double dr, ze, uz;         /* da rr, zt (e - ea), u (zf - fa) */
    double a4, a6;             /* (e - ea)^2, (zf - fa)^2 */
    double K1, K5, K7;         /* m1 ra^2, m5 (ta^2 + tb^2), m7 (ua^2 + ub^2) */
    double M11, M55, M77;      /* the constant parts of these elements of M, */
    double M22, M33, M44, M66; /* and these, which are constant */
} dae_squeezer;

#define DAE_SQUEEZER_PARAMETERS                                                                             \
    {"mom", 0.033, 1, 0, NULL, 0, "N m", "driving torque"},                                                 \
        {"m1", 0.04325, 1e-9, 1e9, NULL, 0, "kg", "mass of body K1"},                                       \
        {"m2", 0.00365, 1e-9, 1e9, NULL, 0, "kg", "mass of body K2"},                                       \
        {"m3", 0.02373, 1e-9, 1e9, NULL, 0, "kg", "mass of body K3"},                                       \
        {"m4", 0.00706, 1e-9, 1e9, NULL, 0, "kg", "mass of body K4"},                                       \
        {"m5", 0.0705, 1e-9, 1e9, NULL, 0, "kg", "mass of body K5"},                                        \
        {"m6", 0.00706, 1e-9, 1e9, NULL, 0, "kg", "mass of body K6"},                                       \
        {"m7", 0.05498, 1e-9, 1e9, NULL, 0, "kg", "mass of body K7"},                                       \
        {"I1", 2.194e-6, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K1"},                     \
        {"I2", 4.410e-7, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K2"},                     \
        {"I3", 5.255e-6, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K3"},                     \
        {"I4", 5.667e-7, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K4"},                     \
        {"I5", 1.169e-5, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K5"},                     \
        {"I6", 5.667e-7, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K6"},                     \
        {"I7", 1.912e-5, 1e-9, 1e9, NULL, 0, "kg m^2", "moment of inertia of body K7"},                     \
        {"xa", -0.06934, 1, 0, NULL, 0, "m", "fixed point A, x"},                                           \
        {"ya", -0.00227, 1, 0, NULL, 0, "m", "fixed point A, y"},                                           \
        {"xb", -0.03635, 1, 0, NULL, 0, "m", "fixed point B, x"},                                           \
        {"yb", 0.03273, 1, 0, NULL, 0, "m", "fixed point B, y"},                                            \
        {"xc", 0.014, 1, 0, NULL, 0, "m", "end C of the spring, x"},                                        \
        {"yc", 0.072, 1, 0, NULL, 0, "m", "end C of the spring, y"},                                        \
        {"c0", 4530, 0, 1e9, NULL, 0, "N/m", "stiffness of the spring"},                                    \
        {"d", 0.028, 1, 0, NULL, 0, "m", "length of the rod K2"},                                           \
        {"da", 0.0115, 1, 0, NULL, 0, "m", "center of mass of K2"},                                         \
        {"e", 0.02, 1, 0, NULL, 0, "m", "length of K4"},                                                    \
        {"ea", 0.01421, 1, 0, NULL, 0, "m", "center of mass of K4"},                                        \
        {"rr", 0.007, 1, 0, NULL, 0, "m", "length of the crank K1"},                                        \
        {"ra", 0.00092, 1, 0, NULL, 0, "m", "center of mass of K1"},                                        \
        {"l0", 0.07785, 1, 0, NULL, 0, "m", "length of the unloaded spring"},                               \
        {"ss", 0.035, 1, 0, NULL, 0, "m", "length of K3"},                                                  \
        {"sa", 0.01874, 1, 0, NULL, 0, "m", "center of mass of K3, along"},                                 \
        {"sb", 0.01043, 1, 0, NULL, 0, "m", "center of mass of K3, across"},                                \
        {"sc", 0.018, 1, 0, NULL, 0, "m", "where the spring takes hold of K3, along"},                      \
        {"sd", 0.02, 1, 0, NULL, 0, "m", "the same, across"},                                               \
        {"ta", 0.02308, 1, 0, NULL, 0, "m", "center of mass of K5, along"},                                 \
        {"tb", 0.00916, 1, 0, NULL, 0, "m", "center of mass of K5, across"},                                \
        {"u", 0.04, 1, 0, NULL, 0, "m", "length of K7"},                                                    \
        {"ua", 0.01228, 1, 0, NULL, 0, "m", "center of mass of K7, along"},                                 \
        {"ub", 0.00449, 1, 0, NULL, 0, "m", "center of mass of K7, across"},                                \
        {"zf", 0.02, 1, 0, NULL, 0, "m", "length of K6"}, {"zt", 0.04, 1, 0, NULL, 0, "m", "length of K5"}, \
    {                                                                                                       \
        "fa", 0.01421, 1, 0, NULL, 0, "m", "center of mass of K6"                                           \
    }

/* The constants of the problem, whose table has them from position `first` on; NULL: out of memory. */
const dae_squeezer *dae_squeezer_take(dae_problem *p, int first);
/* In descriptor form; borrows the constants. */
dae_system dae_seven_body(const dae_squeezer *constants);
/* Consistent positions with Theta = 0 near those of the test set, and at rest accelerations and multipliers; lambda NULL: positions
 * only. 0, or -1: the bodies cannot be put together with these lengths. */
int dae_squeezer_start(const dae_squeezer *k, double q[7], double w[7], double lambda[6]);
/* The message of that. */
dae_status dae_squeezer_open(dae_error *err);

#endif
