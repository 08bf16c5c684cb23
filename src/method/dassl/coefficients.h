/* Coefficients of the BDF in fixed-leading-coefficient form over modified divided differences,
 * [BCP96] section 5.2.
 *
 * Arrays count from 0: psi[i] = t_(n+1) - t_(n-i), and likewise for the others, i = 0 .. k. */
#ifndef DAE_METHOD_DASSL_COEFFICIENTS_H
#define DAE_METHOD_DASSL_COEFFICIENTS_H

enum {
    DAE_DASSL_ORDER_MAX = 5,
    DAE_DASSL_WIDTH = DAE_DASSL_ORDER_MAX + 2 /* of arrays with one value per difference */
};

typedef struct dae_dassl_formula {
    double psi[DAE_DASSL_WIDTH];   /* distances of the past points from the new one */
    double alpha[DAE_DASSL_WIDTH]; /* h/psi */
    double beta[DAE_DASSL_WIDTH];  /* a difference of the old step times this is one of the new step */
    double slope[DAE_DASSL_WIDTH]; /* gamma beta: weights of the predicted derivative */
    double sigma[DAE_DASSL_WIDTH]; /* sigma[k]: error of order k from |y - predicted y| */
    double cj;                     /* leading coefficient over h: dy'/dy in the corrector */
    double ck;                     /* the error test is ck |y - predicted y| <= 1 */
} dae_dassl_formula;

/* For a step h at order k; old[i] = psi[i] of the last step. The first `same` differences belong to steps of the same
 * size and stay as they are; with same > k + 1 only cj and ck are set and the rest of *out must be that of the last
 * step. */
void dae_dassl_coefficients(int k, int same, double h, const double *old, dae_dassl_formula *out);

#endif
