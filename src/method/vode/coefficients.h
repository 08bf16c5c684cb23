/* Coefficients of the variable-coefficient BDF and Adams formulas in Nordsieck form, [BHB89] sections 2.1
 * to 2.3.
 *
 * tau[0], tau[1], ... are the past accepted steps, newest first; h is the step that is tried and
 * xi_i = 1 + (tau[0] + .. + tau[i-2])/h the distance of the i-th past point in units of h. */
#ifndef DAE_METHOD_VODE_COEFFICIENTS_H
#define DAE_METHOD_VODE_COEFFICIENTS_H

enum {
    DAE_VODE_BDF_MAX = 5,
    DAE_VODE_ADAMS_MAX = 12,
    DAE_VODE_WIDTH = DAE_VODE_ADAMS_MAX + 2, /* of arrays indexed by the order or by a power */
    DAE_VODE_TAU = DAE_VODE_ADAMS_MAX + 1    /* past steps kept */
};

/* l[0 .. q]: z_j += l_j a. The constants of the tests, all for norms of a: t2 (error test), t5 (to compare two
 * corrections), and where `all` is set t1 and t3 (error at orders q-1 and q+1). */
typedef struct dae_vode_formula {
    double l[DAE_VODE_WIDTH];
    double t1, t2, t3, t5;
} dae_vode_formula;

void dae_vode_bdf(int q, double h, const double *tau, int all, dae_vode_formula *out);
void dae_vode_adams(int q, double h, const double *tau, int all, dae_vode_formula *out);

/* Order q to q-1: z_j -= d[j] z_q, j = 2 .. q-1. slip = 1 (Adams): as the programs DVODE and CVODE form them. */
void dae_vode_bdf_lower(int q, double h, const double *tau, double *d);
void dae_vode_adams_lower(int q, double h, const double *tau, int slip, double *d);
/* BDF from q to q+1: z_(q+1) = (returned value) a, z_j += d[j] z_(q+1), j = 2 .. q. Adams: z_(q+1) = 0. */
double dae_vode_bdf_raise(int q, double h, const double *tau, double *d);

#endif
