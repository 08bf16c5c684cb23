/* Coefficients of the BDF and Adams formulas of constant step in Nordsieck form, [Gear71] and the program LSODA. */
#ifndef DAE_METHOD_LSODA_COEFFICIENTS_H
#define DAE_METHOD_LSODA_COEFFICIENTS_H

enum { DAE_LSODA_BDF_MAX = 5, DAE_LSODA_ADAMS_MAX = 12, DAE_LSODA_WIDTH = DAE_LSODA_ADAMS_MAX + 2 };

/* z_j += l[j] a, j = 0 .. q, with l[1] = 1. The error at order q is |a|/t2; at order q-1 |z_q|/t1, at order q+1 the
 * difference of two corrections over t3. */
typedef struct dae_lsoda_formula {
    double l[DAE_LSODA_WIDTH];
    double t1, t2, t3;
} dae_lsoda_formula;

void dae_lsoda_bdf(int q, dae_lsoda_formula *out);   /* 1 .. 5 */
void dae_lsoda_adams(int q, dae_lsoda_formula *out); /* 1 .. 12 */

#endif
